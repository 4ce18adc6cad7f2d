#include "fakes/darwin/script.h"

#include <sstream>
#include <stdexcept>
#include <utility>

namespace lauka::darwin {
namespace {

std::uint64_t ns_of(const std::string& text) {
  std::size_t end = 0;
  const double number = std::stod(text, &end);
  const std::string unit = text.substr(end);
  double scale = 0;
  if (unit == "ns") scale = 1;
  if (unit == "us") scale = 1e3;
  if (unit == "ms") scale = 1e6;
  if (unit == "s") scale = 1e9;
  if (scale == 0) throw std::runtime_error("not a time: " + text);
  return static_cast<std::uint64_t>(number * scale + 0.5);
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream input(line);
  std::vector<std::string> words;
  for (std::string word; input >> word;) words.push_back(word);
  return words;
}

unsigned number_of(const std::vector<std::string>& words) {
  return static_cast<unsigned>(std::stoul(words.at(1)));
}

Step run_step(const std::vector<std::string>& words) {
  Step step{Do::Run, ns_of(words.at(1))};
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "e") step.level = Level::Efficiency;
    if (words[i].rfind("kernel=", 0) == 0)
      step.kernel_permille = static_cast<unsigned>(std::stoul(words[i].substr(7)));
  }
  return step;
}

Step write_step(const std::vector<std::string>& words) {
  Step step{Do::Write};
  step.count = words.at(1) == "out" ? 1 : 2;
  for (std::size_t i = 2; i < words.size(); ++i) step.text += (i > 2 ? " " : "") + words[i];
  step.text += '\n';
  return step;
}

/// Steps that are a word and its arguments.
Step plain_step(std::vector<std::string> words) {
  const std::string what = words.front();
  Step step;
  if (what == "run") return run_step(words);
  if (what == "write") return write_step(words);
  if (what == "sleep") {
    step.what = Do::Sleep;
    step.ns = ns_of(words.at(1));
  } else if (what == "spawn" || what == "exec") {
    step.what = what == "exec" ? Do::Exec : Do::Spawn;
    words.erase(words.begin());
    step.words = std::move(words);
  } else if (what == "memory") {
    step.what = Do::Memory;
    step.ns = std::stoull(words.at(1));
  } else if (what == "name") {
    step.what = Do::Name;
    for (std::size_t i = 1; i < words.size(); ++i) step.text += (i > 1 ? " " : "") + words[i];
  } else if (what == "join") {
    step.what = Do::Join;
  } else if (what == "wait") {
    step.what = Do::Wait;
  } else if (what == "failed_exec") {
    step.what = Do::FailedExec;
  } else if (what == "ignore" || what == "exit" || what == "signal") {
    step.what = what == "exit" ? Do::Exit : what == "ignore" ? Do::Ignore : Do::Signal;
    step.count = number_of(words);
  } else {
    throw std::runtime_error("no such step: " + what);
  }
  return step;
}

Step block_step(const std::vector<std::string>& words, Script body) {
  Step step;
  step.body = std::move(body);
  if (words.front() == "threads") {
    step.what = Do::Threads;
    step.count = number_of(words);
  } else if (words.front() == "repeat") {
    step.what = Do::Repeat;
    step.count = number_of(words);
  } else if (words.front() == "fork" || words.front() == "daemon") {
    step.what = Do::Fork;
    step.detached = words.front() == "daemon";
  } else {
    throw std::runtime_error("no such block: " + words.front());
  }
  return step;
}

// NOLINTNEXTLINE(misc-no-recursion): blocks hold blocks
Script read_block(std::istream& lines, bool inner) {
  std::vector<Step> steps;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    if (words.front() == "}") {
      if (!inner) throw std::runtime_error("a } too many");
      return std::make_shared<const std::vector<Step>>(std::move(steps));
    }
    steps.push_back(words.back() == "{" ? block_step(words, read_block(lines, true))
                                        : plain_step(words));
  }
  if (inner) throw std::runtime_error("a } is missing");
  return std::make_shared<const std::vector<Step>>(std::move(steps));
}

}  // namespace

Script read_script(const std::string& text) {
  std::istringstream lines(text);
  return read_block(lines, false);
}

}  // namespace lauka::darwin
