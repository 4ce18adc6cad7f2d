#include "contract/program.h"
#include "places.h"

#include <cstdlib>
#include <future>
#include <list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// Bad input: one line on standard error that names the culprit, status 2, and nothing is run.

namespace lauka::contract {
namespace {

struct Refused {
  std::vector<std::string> arguments;
  std::string culprit;
};

}  // namespace

TEST_CASE("bad input gets one line that names the culprit, status 2, and nothing is run") {
  const Folder folder;
  const std::string mark = folder.file("was-run");
  const std::string command = "touch " + mark;
  const std::vector<Refused> all = {
      {{"--nosuch", "--", command}, "--nosuch"},
      {{"-r", "x", "--", command}, "'x'"},
      {{"-m", "20", "-M", "10", "--", command}, "--max-runs"},
      {{"--fail-if-slower=5", "--", command}, "--fail-if-slower"},
      {{"--metrics", "some", "--", command}, "some"},
      {{"--engine", "steam", "--", command}, "steam"},
      {{"-e", "nosuchevent", "--", command}, "nosuchevent"},
      {{"--fail-if", "nosuch > 5", "--", command, command}, "nosuch"},
      {{"--core-kinds", "P=0,E=60000", "--", command}, "60000"},
      {{"-P", "n", "4", "1", "--", command + " {n}"}, "'4'"},
      {{"-n", "a", "-n", "b", "--", command}, "-n"},
      {{"--", "'unterminated"}, "unterminated"},
      {{"--", command, "   "}, "command"},
      {{}, "command"},
      {{"--export-csv", "/nosuch/folder/out.csv", "--", command}, "/nosuch/folder/out.csv"},
      {{"--export-runs", folder.path(), "--", command}, folder.path()},
      {{"--export-csv", "-", "--export-runs", "-", "--", command}, "--export-"},
      {{"--export-csv", folder.file("x"), "--export-runs", folder.path() + "/./x", "--", command},
       "/./x"},
      {{"--output", folder.file("x"), "--export-csv", folder.file("x"), "--", command}, "/x"},
      {{"--input", "/nosuch/input", "--", command}, "/nosuch/input"},
      {{"--output", "/nosuch/folder/out", "--", command}, "/nosuch/folder/out"},
      {{"--shell", "", "--", command}, "--shell"},
  };
  for (const Refused& one : all) {
    const Said said = lauka(one.arguments);
    CAPTURE(one.culprit);
    CAPTURE(said.err);
    CHECK(said.status == 2);
    CHECK(lines_of(said.err).size() == 1);
    CHECK(said.err.rfind("lauka: ", 0) == 0);
    CHECK(said.err_has(one.culprit));
    CHECK(said.out.empty());
    CHECK_FALSE(exists(mark));
  }
}

TEST_CASE("nothing is exported when nothing was run") {
  const Folder folder;
  const Said said = lauka("--export-csv " + folder.file("out.csv") + " -e nosuchevent", {"true"});
  CHECK(said.status == 2);
  CHECK_FALSE(exists(folder.file("out.csv")));
}

TEST_CASE("help and version need nothing of this machine, nor of what else is asked for") {
  const std::vector<std::vector<std::string>> besides = {
      {"--engine", "kperf"},        {"--engine", "perf"},  {"--engine", "cachegrind"},
      {"--kpep", "/nosuch/folder"}, {"--cores", "e"},      {"--core-kinds", "P=0,E=4096"},
      {"--min-p-share", "90"},      {"-e", "nosuchevent"}, {"--baseline", "/nosuch/file"}};
  for (std::vector<std::string> words : besides) {
    for (const std::string inquiry : {"--help", "--version"}) {
      CAPTURE(words.back());
      words.push_back(inquiry);
      const Said said =
          lauka({.arguments = words,
                 .environment = {{"PATH", "/nosuch/folder"}, {"SUDO_UID", "nobody at all"}}});
      words.pop_back();
      CHECK(said.status == 0);
      CHECK(said.err.empty());
      CHECK(said.out_has(inquiry == "--help" ? "Usage:" : "lauka "));
    }
  }
}

TEST_CASE("the examples of the help run as printed") {
  struct Example {
    std::string line{};
    Folder folder{};
    std::future<int> status{};
  };
  std::list<Example> examples;  // at once: most of them sleep
  for (const std::string& line : lines_of(lauka({"--help"}).out)) {
    if (line.rfind("  lauka ", 0) != 0) continue;
    Example& one = examples.emplace_back();
    one.line = line;
    // A shell splits the line as the user's would; the name is the only thing that is replaced.
    const std::string command = "cd '" + one.folder.path() + "' && " + places::kProgram +
                                line.substr(7) + " >out.txt 2>err.txt </dev/null";
    one.status = std::async(std::launch::async, [command] { return std::system(command.c_str()); });
  }
  CHECK(examples.size() >= 3);
  for (Example& one : examples) {
    CAPTURE(one.line);
    CHECK(one.status.get() == 0);
    CAPTURE(text_of(one.folder.file("err.txt")));
  }
}

TEST_CASE("the version is one line") {
  for (const char* option : {"-V", "--version"}) {
    const Said said = completed({option});
    CHECK(said.out == std::string("lauka ") + places::kVersion + "\n");
  }
}

}  // namespace lauka::contract
