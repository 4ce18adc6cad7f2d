#include "contract/program.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// tests/data/newcomer.txt has the command lines of someone who has not read the manual, each with
// all that lauka says about it: the one thing to change. `scripts/make messages --newcomer` lists
// them.

namespace lauka::contract {
namespace {

struct CommandLine {
  std::string typed;
  std::string answer{};  ///< all messages, then the exit status in brackets
};

std::vector<CommandLine> command_lines() {
  std::vector<CommandLine> all;
  for (const std::string& line : lines_of(text_of(data("newcomer.txt")))) {
    if (line.starts_with("$ ")) {
      all.push_back({line.substr(2)});
    } else if (!line.empty() && !line.starts_with("#")) {
      all.back().answer += line + "\n";
    }
  }
  return all;
}

/// Returns the part that is the same on every machine: without its noise and missing counters.
std::string answer_of(const Said& said) {
  std::string answer;
  for (const std::string& line : lines_of(said.err)) {
    if (line.starts_with("lauka: warning: ") || has(line, "more warning") ||
        has(line, "hardware counters"))
      continue;
    answer += line + "\n";
  }
  return answer + "[" + std::to_string(said.status) + "]\n";
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("a newcomer's command line ends with what was meant, or with the one thing to change") {
  const Folder folder;
  write_file(folder.file("f"), "b\na\n");
  write_file(folder.file("mytool"), "#!/bin/sh\n");
  write_file(folder.file("my prog"), "#!/bin/sh\n");
  write_file(folder.file("bench.toml"), "");
  write_file(folder.file("run.json"), "{}");
  write_file(folder.file("duration.toml"), "[defaults]\nduration = 500ms\n");
  const std::string path =
      std::filesystem::path(places::kProgram).parent_path().string() + ":" + std::getenv("PATH");
  const auto all = command_lines();
  CHECK(all.size() >= 80);
  for (const CommandLine& one : all) {
    CAPTURE(one.typed);
    const Said said = lauka(Start{.arguments = {"-c", one.typed},
                                  .environment = {{"PATH", path}},
                                  .folder = folder.path(),
                                  .program = "/bin/sh"});
    CHECK(answer_of(said) == one.answer);
    CHECK_FALSE(exists(folder.file("FILE")));
  }
}

TEST_CASE("what works in hyperfine by another spelling works here") {
  CHECK(lauka({"-r2", "-u", "millisecond", "true"}).out_has("ms ± "));
  completed({"-r2", "--metrics", "cpu_time, wall_time", "true"});
  CHECK_FALSE(has(lauka({"-r2", "-S", "true | cat"}).err, "without quotes"));
}

TEST_CASE("an option after the command leaves the remedy of another error as it is") {
  const std::string said = refusal({"-e", "nosuchevent", "true", "-r", "3"});
  CHECK(has(said, "; lauka --list-events lists them; "));
  CHECK(has(said, "if '-r' belongs to 'true', quote the command as 'true -r 3'"));
}

TEST_CASE("an unknown shell is not answered with another shell") {
  const Said said = lauka({"--shell", "nosuchshell", "echo 1"});
  CHECK(said.status != 0);
  CHECK(
      said.err_has("nosuchshell: command not found; name a shell in PATH, write its path, or "
                   "use -N to run without a shell"));
}

TEST_CASE("a list without hardware events says why there are none") {
  const Said list = lauka({"-l", "cache"});
  CHECK(list.status == 0);
  if (lauka({"--check"}).out_has("there are no counters here"))
    CHECK(list.err_has("no hardware events can be listed: there are no counters here"));
}

TEST_CASE("a likely slip is reported before the first run, and not under --quiet") {
  const Said said = lauka({"-r2", "--output=inherit", "echo first | cat"});
  CHECK(said.err_has("lauka: note: 'echo first | cat'"));
  CHECK_FALSE(completed({"-q", "-r2", "echo first | cat"}).err_has("without quotes"));
}

}  // namespace lauka::contract
