#include "contract/program.h"
#include "contract/valgrind.h"

#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// The reasons why a gate is inconclusive (docs/ci.md): in a call, a suite, a saved session and
// JSON.

namespace lauka::contract {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;  // names without dashes, values
using Commands = std::vector<std::string>;

/// A gate that cannot decide, and what it says. `make_commands`: commands that may keep files in a
/// folder of their own.
struct Case {
  Options options;
  std::string gate;
  std::function<Commands(const Folder&)> make_commands;
  std::string reason;         ///< what the gate's line says
  nlohmann::json obstacle{};  ///< null: too few runs
  nlohmann::json side = nullptr;
};

std::vector<std::string> typed(const Case& it) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : it.options)
    arguments.push_back("--" + name + (value.empty() ? "" : "=" + value));
  arguments.push_back("--fail-if=" + it.gate);
  return arguments;
}

std::string as_suite(const Case& it, const Commands& commands) {
  std::string toml = "[defaults]\n";
  for (const auto& [name, value] : it.options)
    toml += name + " = " + (value.empty() ? "true" : "'" + value + "'") + "\n";
  toml += "fail-if = \"" + it.gate + "\"\n[[benchmark]]\nname = 'only'\ncommands = [";
  for (const std::string& command : commands) toml += "'''" + command + "''', ";
  return toml + "]\n";
}

void check_line(const Said& said, const Case& it) {
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 0);
  CHECK(said.out_has(": inconclusive: "));
  CHECK(said.out_has(it.reason));
}

void check_case(const Case& it) {
  CAPTURE(it.reason);
  const Folder folder;
  const std::string file = folder.file("session.json");

  std::vector<std::string> arguments = typed(it);
  arguments.insert(arguments.end(), {"--export-json", file, "--"});
  for (const std::string& command : it.make_commands(folder)) arguments.push_back(command);
  check_line(lauka(arguments), it);

  const auto gate = nlohmann::json::parse(text_of(file)).at("lauka").at("gates").at(0);
  CHECK(gate.at("verdict") == "inconclusive");
  CHECK(gate.at("obstacle") == it.obstacle);
  CHECK(gate.at("obstacle_side") == it.side);

  check_line(lauka({"--from", file}), it);
  check_line(lauka({"--from", file, "--fail-if", it.gate}), it);

  const Folder of_suite;
  std::ofstream(of_suite.file("s.toml")) << as_suite(it, it.make_commands(of_suite));
  check_line(lauka({"--suite", of_suite.file("s.toml")}), it);
}

const Options kTwelveRuns = {
    {"ignore-failure", ""}, {"warmup", "0"}, {"runs", "12"}, {"scrape", "v=(-?[0-9]+)"}};

std::function<Commands(const Folder&)> constantly(const Commands& commands) {
  return [commands](const Folder&) { return commands; };
}

/// A command that prints `value` and exits with 9 if its number, from 1, fulfils `condition`.
std::string prints_and_fails_if(const std::string& file, const std::string& condition) {
  return "sh -c \"echo run >> " + file + "; n=$(wc -l < " + file + "); echo v=50; if [ " +
         condition + " ]; then exit 9; fi\"";
}

/// Dies under Valgrind alone, by the signal of an instruction that Valgrind does not know.
const std::string kDiesUnderValgrind =
    "sh -c 'case $LD_PRELOAD in *vgpreload*) kill -ILL $$;; esac'";

}  // namespace

TEST_CASE("a gate says that its runs are too few") {
  check_case({.options = {{"warmup", "0"}, {"runs", "2"}, {"scrape", "v=([0-9]+)"}},
              .gate = "v > 5",
              .make_commands = constantly({"echo v=50", "echo v=50 #"}),
              .reason = "2 rounds"});
}

TEST_CASE("a gate says that no run of a command succeeded") {
  check_case(
      {.options = kTwelveRuns,
       .gate = "v > 5",
       .make_commands = constantly({"sh -c 'echo v=50; exit 9'", "echo v=100"}),
       .reason = "no run of one command succeeded; none of 12 runs of 'echo v=100', 12 of 12 runs",
       .obstacle = "no_success",
       .side = "reference"});
}

TEST_CASE("a gate says that the commands failed at different rates") {
  check_case(
      {.options = kTwelveRuns,
       .gate = "v > 5",
       .make_commands =
           [](const Folder& folder) {
             return Commands{prints_and_fails_if(folder.file("runs"), "$n -le 9"), "echo v=50"};
           },
       .reason = "the commands failed at different rates; none of 12 runs of 'echo v=50', 9 of 12 "
                 "runs of",
       .obstacle = "failure_rates"});
}

TEST_CASE("a gate says that no run gave its metric") {
  check_case({.options = kTwelveRuns,
              .gate = "v > 5",
              .make_commands = constantly({"echo v=50", "true"}),
              .reason = "no run of 'true' gave a value for this metric",
              .obstacle = "no_value",
              .side = "candidate"});
}

TEST_CASE("a gate says that no round gave its metric of both commands") {
  const auto in_rounds = [](const std::string& file, const std::string& remainder) {
    return "sh -c \"echo run >> " + file + "; n=$(wc -l < " + file +
           "); [ $((n % 2)) = " + remainder + " ] && echo v=50; true\"";
  };
  check_case(
      {.options = kTwelveRuns,
       .gate = "v > 5",
       .make_commands =
           [&](const Folder& folder) {
             return Commands{in_rounds(folder.file("a"), "0"), in_rounds(folder.file("b"), "1")};
           },
       .reason = "no round measured both commands",
       .obstacle = "no_common_round"});
}

TEST_CASE("a gate says that a value is only an upper bound (Linux)") {
  if (!is_linux()) return;
  check_case({.options = {{"warmup", "0"}, {"runs", "12"}},
              .gate = "peak_rss > 5",
              .make_commands = constantly({fixture("tiny"), fixture("tiny") + " again"}),
              .reason = "' is below what can be measured here",
              .obstacle = "upper_bounds"});
}

TEST_CASE("a gate says that values below 0 have no percentage") {
  check_case({.options = kTwelveRuns,
              .gate = "v > 5",
              .make_commands = constantly({"echo v=-5", "echo v=5"}),
              .reason = "the metric has values below 0, so a change in percent is not defined",
              .obstacle = "no_percentage"});
}

TEST_CASE("a gate says that too few layouts have no failed run") {
  check_case({.options = {{"ignore-failure", ""},
                          {"warmup", "0"},
                          {"runs", "8"},
                          {"layouts", "4"},
                          {"scrape", "v=([0-9]+)"}},
              .gate = "v > 5",
              .make_commands =
                  [](const Folder& folder) {
                    return Commands{
                        prints_and_fails_if(folder.file("runs"), "$n -le 4") + " {layout}",
                        "echo v=50 {layout}"};
                  },
              .reason = "too few layouts ran without failures",
              .obstacle = "few_layouts",
              .side = "reference"});
}

TEST_CASE("a gate says that no simulated run succeeded, whatever the timed runs do") {
  if (!has_valgrind()) return;
  const Options options = {{"ignore-failure", ""},
                           {"warmup", "0"},
                           {"runs", "3"},
                           {"engine", "cachegrind"},
                           {"metrics", "instructions,cpu_time"}};
  check_case({.options = options,
              .gate = "instructions > 1",
              .make_commands = constantly({"true", kDiesUnderValgrind}),
              .reason = "no simulated run of one command succeeded; 3 of 3 simulated runs of",
              .obstacle = "no_success",
              .side = "candidate"});
  check_case({.options = options,
              .gate = "instructions > 1",
              .make_commands = constantly({kDiesUnderValgrind, kDiesUnderValgrind + " #"}),
              .reason = "no simulated run succeeded; 3 of 3 simulated runs of",
              .obstacle = "no_success"});
}

TEST_CASE("the table has no delta of simulated runs that all failed, and one of the timed runs") {
  if (!has_valgrind()) return;
  for (const Commands& commands : {Commands{"true", kDiesUnderValgrind},
                                   Commands{kDiesUnderValgrind, kDiesUnderValgrind + " #"}}) {
    const Folder folder;
    const std::string file = folder.file("s.json");
    const Said said = completed(
        "-i -w0 -r12 --engine cachegrind --metrics instructions,cpu_time --export-json " + file,
        commands);
    CHECK(said.out_has("3 of 3 simulated runs"));
    CHECK(said.out_has("deltas leave them out"));
    const auto metrics =
        nlohmann::json::parse(text_of(file)).at("results").at(1).at("lauka").at("metrics");
    CHECK(metrics.at("instructions").at("delta").is_null());
    CHECK_FALSE(metrics.at("cpu_time").at("delta").is_null());
  }
}

TEST_CASE("without -i a run that dies under Valgrind ends lauka with 1, and -i is no remedy") {
  if (!has_valgrind()) return;
  const std::string said = failure("-w0 -r2 --engine cachegrind --fail-if 'instructions > 1'",
                                   {"true", kDiesUnderValgrind});
  CHECK(has(said, "SIGILL"));
  CHECK(has(said, "try it without --engine"));
  CHECK_FALSE(has(said, "-i"));
}

TEST_CASE("a gate says with which other settings its baseline was measured") {
  const Folder earlier;
  const std::string file = earlier.file("b.json");
  const Options common = {
      {"warmup", "0"}, {"runs", "12"}, {"scrape", "v=([0-9]+)"}, {"baseline", file}};
  const std::string expected = earlier.file("expected");
  std::ofstream(expected) << "v=50\n";
  completed({"-q", "-w0", "-r12", "--scrape=v=([0-9]+)", "--export-json", file, "echo v=50"});
  for (const auto& [option, difference] :
       {std::pair(Options::value_type{"jobs", "2"},
                  std::string("--jobs: 1 for 'echo v=50', 2 for ")),
        std::pair(Options::value_type{"expect-output", expected},
                  "--expect-output: none for 'echo v=50', " + expected + " for ")}) {
    Options options = common;
    options.push_back(option);
    check_case(
        {.options = options,
         .gate = "v > 5",
         .make_commands = constantly({"echo v=50"}),
         .reason = std::string("the two sides were measured with different settings, and cannot be "
                               "compared; ") +
                   difference,
         .obstacle = "other_settings"});
  }
}

TEST_CASE("a gate says that its baseline was measured without --until") {
  const Folder earlier;
  const std::string file = earlier.file("b.json");
  completed({"-q", "-w0", "-r12", "--export-json", file, "echo ready"});
  check_case({.options = {{"warmup", "0"}, {"runs", "12"}, {"baseline", file}, {"until", "ready"}},
              .gate = "wall_time > 5",
              .make_commands = constantly({"echo ready"}),
              .reason = "--until: none for 'echo ready', ready for ",
              .obstacle = "other_settings"});
}

TEST_CASE("a gate says that a command has no function of its name") {
  if (!has_valgrind()) return;
  const Options options = {{"warmup", "0"}, {"runs", "3"}, {"engine", "cachegrind"}};
  check_case({.options = options,
              .gate = "instructions@main > 1",
              .make_commands = constantly({fixture("work") + " 1", "true"}),
              .reason = "no run of 'true' was in a function of this name",
              .obstacle = "no_function",
              .side = "candidate"});
  check_case({.options = options,
              .gate = "instructions@main > 1",
              .make_commands = constantly({"true", fixture("work") + " 1"}),
              .reason = "no run of 'true' was in a function of this name",
              .obstacle = "no_function",
              .side = "reference"});
}

TEST_CASE("a gate says that no sample was taken") {
  if (lauka({"--profile", "-q", "-r1", "-w0", "true"}).status != 0) return;  // profile_test skips
  check_case({.options = {{"warmup", "0"}, {"runs", "6"}, {"profile", "1s"}},
              .gate = "sampled_time > 5",
              .make_commands = constantly({"true", "true #"}),
              .reason = "no sample of this event was taken",
              .obstacle = "no_samples"});
}

TEST_CASE("a gate on sampled time says that a command has no function of its name") {
  if (lauka({"--profile", "-q", "-r1", "-w0", "true"}).status != 0) return;  // profile_test skips
  const std::string burns = fixture("work") + " 300";
  for (const auto& [commands, side] :
       {std::pair{Commands{burns, "true"}, "candidate"}, {Commands{"true", burns}, "reference"}})
    check_case({.options = {{"warmup", "0"}, {"runs", "6"}, {"profile", "50us"}},
                .gate = "sampled_time@main > 5",
                .make_commands = constantly(commands),
                .reason = "no sample of 'true' was in a function of this name",
                .obstacle = "no_function",
                .side = side});
}

}  // namespace lauka::contract
