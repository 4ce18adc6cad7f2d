#include "fakes/darwin/script.h"

#include "fakes/darwin/kernel.h"

#include <cerrno>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <unistd.h>

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
  return static_cast<std::uint64_t>(std::llround(number * scale));
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

std::string rest_of(const std::vector<std::string>& words, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < words.size(); ++i) text += (i > from ? " " : "") + words[i];
  return text;
}

Step write_step(const std::vector<std::string>& words) {
  Step step{Do::Write};
  step.count = words.at(1) == "out" ? 1 : 2;
  step.text = rest_of(words, 2) + '\n';
  return step;
}

/// Steps that are a word and its arguments.
Step plain_step(const std::vector<std::string>& words) {
  static const std::map<std::string, Do> kSteps = {
      {"sleep", Do::Sleep},   {"spawn", Do::Spawn},
      {"exec", Do::Exec},     {"name", Do::Name},
      {"join", Do::Join},     {"wait", Do::Wait},
      {"exit", Do::Exit},     {"failed_exec", Do::FailedExec},
      {"ignore", Do::Ignore}, {"signal", Do::Signal},
      {"region", Do::Region}};
  if (words.front() == "run") return run_step(words);
  if (words.front() == "write") return write_step(words);
  const auto found = kSteps.find(words.front());
  if (found == kSteps.end()) throw std::runtime_error("no such step: " + words.front());
  Step step{found->second};
  switch (step.what) {
    case Do::Sleep:
      step.ns = ns_of(words.at(1));
      break;
    case Do::Name:
      step.text = rest_of(words, 1);
      break;
    case Do::Spawn:
    case Do::Exec:
      step.words.assign(words.begin() + 1, words.end());
      break;
    case Do::Region:
      step.count = words.at(1) == "begin" ? 1 : 0;
      break;
    case Do::Exit:
    case Do::Ignore:
    case Do::Signal:
      step.count = number_of(words);
      break;
    default:
      break;
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
    step.own_group = step.detached || words.at(1) == "group";
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

namespace {

/// Returns the script of `sh -c TEXT`: words without quotes, and a few words of its own.
// NOLINTNEXTLINE(misc-no-recursion): once
Script shell_script(const std::string& text) {
  std::istringstream words(text);
  std::string first;
  words >> first;
  if (first.empty() || first == "true" || first == ":") return read_script("run 300us kernel=300");
  if (first == "exec") return shell_script(text.substr(text.find("exec") + 4));
  if (first == "i=0;") return read_script("run 12ms kernel=50");  // a loop
  if (first == "false") return read_script("run 300us kernel=300\nexit 1");
  if (first == "exit") return read_script("run 300us kernel=300\n" + text);
  return read_script("run 400us kernel=300\nexec " + text);
}

}  // namespace

Kernel::Loader loader_of_files() {
  return [](const std::string& path, const std::vector<std::string>& words, Script& script) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name == "sh" && words.size() == 3 && words[1] == "-c") {
      script = shell_script(words[2]);
      return 0;
    }
    // a relative exec turns an absolute path into "folder//bin/x"
    const std::size_t twice = path.find("//");
    const std::string file = twice == std::string::npos ? path : path.substr(twice + 1);
    if (access(file.c_str(), F_OK) != 0) return ENOENT;
    if (access(file.c_str(), X_OK) != 0) return EACCES;
    std::ifstream input(file);
    std::string head;
    std::getline(input, head);
    if (head != "# model") return ENOEXEC;
    std::stringstream text;
    text << input.rdbuf();
    script = read_script(text.str());
    return 0;
  };
}

}  // namespace lauka::darwin
