#include "contract/program.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// --accept. What is gated is what commands print, so that the answer is known on any machine.

namespace lauka::contract {
namespace {

std::string entry_for(const std::string& condition, const std::string& until,
                      const std::string& benchmark = "") {
  return "[[accept]]\n" + (benchmark.empty() ? "" : "benchmark = '" + benchmark + "'\n") +
         "condition = '" + condition + "'\nreason = 'new parser'\nuntil = " + until + "\n";
}

/// A folder with a file of accepted regressions, `a.toml`.
struct Accepting {
  Folder folder;

  explicit Accepting(const std::string& text) { std::ofstream(folder.file("a.toml")) << text; }

  /// A gate of 2% on commands that print 100 and `value`.
  Said judged(int value, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "-q", "-r12", "-w0", "--fail-if", "v > 2", "--accept", folder.file("a.toml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {kScrape, "--", "echo 100", "echo " + std::to_string(value)});
    return lauka(arguments);
  }
};

}  // namespace

TEST_CASE("a gate passes between its own limit and the accepted one, and fails beyond it") {
  const Accepting accepting(entry_for("v > 5", "2999-03-01"));
  const Said between = accepting.judged(103);
  CAPTURE(between.out);
  CHECK(between.status == 0);
  CHECK(between.out_has("v > 2%: pass: accepted: measured +3"));
  CHECK(between.out_has(", and at most +5% is accepted (new parser, until 2999-03-01)\n"));

  const Said beyond = accepting.judged(107);
  CAPTURE(beyond.out);
  CHECK(beyond.status == 3);
  CHECK(beyond.out_has("v > 2%: fail: more than 5% higher"));
  CHECK(beyond.out_has("; at most +5% is accepted (new parser, until 2999-03-01)\n"));
}

TEST_CASE("an entry that is no longer needed is named, and the gate passes") {
  const Accepting accepting(entry_for("v > 5", "2999-03-01"));
  const Said said = accepting.judged(101);
  CAPTURE(said.out);
  CHECK(said.status == 0);
  CHECK(said.out_has("v > 2%: pass: "));
  CHECK(said.out_has("a.toml:1 (new parser) is no longer needed, because the whole interval is "));
}

TEST_CASE("an expired entry is named, and the gate's own limit applies again") {
  const Accepting accepting(entry_for("v > 5", "2020-03-01"));
  const Said said = accepting.judged(103);
  CAPTURE(said.out);
  CHECK(said.status == 3);
  CHECK(said.out_has("v > 2%: fail: more than 2% higher"));
  CHECK(said.out_has(
      "a.toml:1 (new parser) expired on 2020-03-01, so the gate's own limit applies again"));
}

TEST_CASE("a suite, its Markdown and JSON, and a saved session say what was accepted") {
  const Accepting accepting(entry_for("v > 5", "2999-03-01", "parse"));
  const Folder& folder = accepting.folder;
  std::ofstream(folder.file("s.toml"))
      << "[defaults]\nruns = 12\nwarmup = 0\nscrape = 'v=(\\d+)'\nfail-if = 'v > 2'\n"
         "[[benchmark]]\nname = 'parse'\ncommands = ['echo 100', 'echo 103']\n"
         "[[benchmark]]\nname = 'print'\ncommands = ['echo 100', 'echo 103']\n";
  const Said said =
      lauka({"-q", "--suite", folder.file("s.toml"), "--accept", folder.file("a.toml"),
             "--export-markdown", folder.file("s.md"), "--export-json", folder.file("s.json")});
  CAPTURE(said.out);
  CHECK(said.status == 3);
  CHECK(said.out_has("parse: v > 2%: pass: accepted: measured +3"));
  CHECK(said.out_has("print: v > 2%: fail: "));
  CHECK(has(text_of(folder.file("s.md")), "new parser, until 2999-03-01"));
  CHECK(has(text_of(folder.file("s.json")), "\"use\": \"used\""));

  // Without new gates, the saved verdicts hold, with what they accepted.
  const Said shown = lauka({"-q", "--from", folder.file("s.json")});
  CAPTURE(shown.out);
  CHECK(shown.status == 3);
  CHECK(shown.out_has("parse: v > 2%: pass: accepted: measured +3"));

  // New gates are judged by what is accepted now.
  std::ofstream(folder.file("a.toml")) << entry_for("v > 4", "2999-03-01");
  const Said judged = lauka({"-q", "--from", folder.file("s.json"), "--fail-if", "v > 1",
                             "--accept", folder.file("a.toml")});
  CAPTURE(judged.out);
  CHECK(judged.status == 0);
  CHECK(judged.out_has("v > 1%: pass: accepted: measured +3"));
}

TEST_CASE("a bad file is refused before anything is run, with its line") {
  const Accepting accepting("[[accept]]\ncondition = 'v > 5'\n");
  const std::string mark = accepting.folder.file("mark");
  const std::vector<std::string> commands = {"touch " + mark, "true"};
  const std::string options = "-N --fail-if 'wall_time > 2' --accept ";
  const std::string error = refusal(options + accepting.folder.file("a.toml"), commands);
  CHECK(has(error, "a.toml:1: an accepted regression has no reason; write reason = "));
  CHECK_FALSE(std::filesystem::exists(mark));
  CHECK(has(refusal(options + accepting.folder.file("missing.toml"), commands), "--accept "));
}

TEST_CASE("--accept without a gate is refused, and an entry without a gate is named") {
  const Accepting accepting(entry_for("v > 5", "2999-03-01") +
                            entry_for("w > 5", "2999-03-01", "x"));
  const std::string file = accepting.folder.file("a.toml");
  CHECK(has(refusal("--accept " + file, {"true", "true"}),
            "--accept has no effect without a gate; add --fail-if-slower=PCT"));
  const Said said = lauka({"-r12", "-w0", "--fail-if", "v > 2", "--accept", file, kScrape, "--",
                           "echo 100", "echo 103"});
  CAPTURE(said.err);
  CHECK(said.err_has("a.toml:5 (new parser) has no effect, because 'x' has no gate on w"));
}

TEST_CASE("what is accepted keeps no candidate, and an entry for all is not shadowed") {
  const Accepting accepting(entry_for("v > 50", "2999-03-01"));
  const std::string file = accepting.folder.file("a.toml");
  CHECK(has(refusal("--keep-if 'v < 0' --accept " + file, {"true", "true"}),
            "--accept has no effect without a gate"));
  const Said said = lauka({"-q", "-r20", "-w0", "--keep-if", "v < 0", "--fail-if", "v > 20",
                           "--accept", file, kScrape, "--", "echo 100", "echo 103"});
  CAPTURE(said.out);
  CHECK(said.status == 5);
  CHECK(said.out_has("keep if v < 0%: not kept, worse"));

  const Accepting narrow(entry_for("v > 50", "2999-03-01") +
                         entry_for("v > 40", "2020-03-01", "parse"));
  const Folder& folder = narrow.folder;
  std::ofstream(folder.file("s.toml"))
      << "[defaults]\nruns = 12\nwarmup = 0\nscrape = 'v=(\\d+)'\nfail-if = 'v > 20'\n"
         "[[benchmark]]\nname = 'parse'\ncommands = ['echo 100', 'echo 103']\n";
  const Said suite = lauka({"--suite", folder.file("s.toml"), "--accept", folder.file("a.toml")});
  CHECK_FALSE(suite.err_has("has no effect"));
}

}  // namespace lauka::contract
