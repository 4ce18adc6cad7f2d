#include "contract/program.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

// Commands that fail, take too long, or cannot be started, and interruptions.

namespace lauka::contract {
namespace {

/// A command that fails from its `n`th run on, the warm-up run included.
std::string failing_from(const Folder& folder, int n) {
  return "sh -c 'echo x >> " + folder.file("log") + "; test $(wc -l < " + folder.file("log") +
         ") -lt " + std::to_string(n) + " || { echo the reason >&2; exit 7; }'";
}

/// Tells a session that ends by itself from one that waits for a process of ten minutes.
class Stopwatch {
 public:
  bool shows_that_nothing_was_waited_for() const {
    return std::chrono::steady_clock::now() - began_ < std::chrono::minutes(5);
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};
/// A gate that decides by what the commands print, however fast they are.
const std::string kGate = "-i -w0 -r12 --scrape 'v=(\\d+)' --fail-if 'v > 5' ";
const std::string kWorks = "sh -c 'echo 100'";
const std::string kFails = "sh -c 'echo 50; exit 9'";

nlohmann::json json_in(const std::string& file) {
  return nlohmann::json::parse(text_of(file));
}

}  // namespace

TEST_CASE("a run that fails ends the benchmark with its command, run, status and standard error") {
  const Folder folder;
  const Said said =
      lauka("-r9 -n flaky --export-csv " + folder.file("out.csv"), {failing_from(folder, 5)});
  CHECK(said.status == 1);
  CHECK(said.err_has("run 4 of 'flaky'"));
  CHECK(said.err_has("status 7"));
  CHECK(said.err_has("the reason"));
  CHECK(said.out_has("Benchmark 1 (3 runs): flaky"));
  CHECK(csv_value(text_of(folder.file("out.csv")), "flaky", "wall_time", "runs") == "3");
}

TEST_CASE("a warm-up run that fails is reported as one") {
  const std::string said = failure("-r2", {fixture("fail") + " status 3"});
  CHECK(has(said, "warm-up run 1"));
  CHECK(has(said, "status 3"));
}

TEST_CASE("a run that dies of a signal is reported by the signal's name") {
  CHECK(has(failure("-r2", {fixture("fail") + " signal 15"}), "SIGTERM"));
}

TEST_CASE("-i goes on after failures and counts them") {
  const Folder folder;
  const Said said = completed("-i -r5 -n flaky", {failing_from(folder, 5)});
  CHECK(said.out_has("5 runs"));
  CHECK(said.out_has("2 failed"));
}

TEST_CASE("-i with statuses goes on after these alone") {
  completed("-i3,4 -r2", {fixture("fail") + " status 4"});
  CHECK(lauka("--ignore-failure=3 -r2", {fixture("fail") + " status 4"}).status == 1);
}

TEST_CASE("commands that cannot be started are reported as a shell would, before any run") {
  const Folder folder;
  const std::string mark = "touch " + folder.file("was-run");
  const std::vector<std::pair<std::string, std::string>> all = {
      {"nosuchprogram", ": command not found"},
      {folder.file("nosuch"), ": No such file"},
      {folder.path(), ": Is a directory"},
      {"/etc/passwd", ": Permission"},
  };
  for (const auto& [command, reason] : all) {
    const std::string said = failure("-r2", {mark, command});
    CAPTURE(said);
    CHECK(has(said, command + reason));
    CHECK(lines_of(said).size() == 1);
    CHECK(access(folder.file("was-run").c_str(), F_OK) != 0);
  }
}

TEST_CASE("a run that takes too long is killed with its tree and reported") {
  const Stopwatch watch;
  CHECK(has(failure("-r2 --timeout 300ms", {fixture("hang") + " --setsid-child --ignore-term"}),
            "300ms"));
  CHECK(watch.shows_that_nothing_was_waited_for());
}

TEST_CASE("an interrupt ends lauka with 128 + N, and the runs so far are shown and exported") {
  for (const int signal : {2, 15}) {
    const Folder folder;
    const Said said =
        lauka({.arguments = words("-r100 -w0 -n it --export-csv " + folder.file("out.csv"),
                                  {blocks_at(3, folder)}),
               .interrupt_when = [&] { return has_lines(folder.file("log"), 3); },
               .interrupt_signal = signal});
    CAPTURE(said.err);
    CHECK(said.status == 128 + signal);
    CHECK(said.out_has("wall_time"));
    CHECK(said.err_has(signal == 2 ? "SIGINT" : "SIGTERM"));
    CHECK_FALSE(said.err_has("--until"));  // the remedy for commands of which no run ends
    CHECK(csv_value(text_of(folder.file("out.csv")), "it", "wall_time", "runs") == "2");
  }
}

TEST_CASE("timeout(1), which signals lauka and then its whole group, loses no finished run") {
  const Folder folder;
  const std::string csv = folder.file("out.csv");
  const std::string pid = folder.file("pid");
  // Its time is over when the third run says so, which sends it the signal of its own timer.
  const std::string over = "sh -c 'echo run >> " + folder.file("log") + "; test $(wc -l < " +
                           folder.file("log") + ") -lt 3 || { kill -ALRM $(cat " + pid +
                           "); exec sleep 600; }; sleep 0.02'";
  const Said said =
      lauka({.before = {"sh", "-c", "echo $$ > " + pid + "; exec timeout -s INT 600 \"$@\"", "sh"},
             .arguments = words("-r100 -w0 -n it --export-csv " + csv, {over})});
  CAPTURE(said.err);
  CHECK(said.err_has("SIGINT"));
  CHECK(csv_value(text_of(csv), "it", "wall_time", "runs") == "2");
}

TEST_CASE("an interrupt during a run that would never end comes through at once") {
  const Folder folder;
  const Stopwatch watch;
  const std::string begun = folder.file("begun");
  const Said said = lauka(
      {.arguments = {"-r2", "--",
                     "sh -c 'echo >> " + begun + "; exec " + fixture("hang") + " --ignore-term'"},
       .interrupt_when = [&] { return has_lines(begun, 1); }});
  CHECK(said.status == 130);
  CHECK(watch.shows_that_nothing_was_waited_for());
}

TEST_CASE("a grandchild that outlives the command blocks nothing") {
  const Folder folder;
  const Stopwatch watch;
  const std::string leave = "sleep 600 & echo $! >> " + folder.file("pids");
  completed("-r2 -w0 -S", {leave});
  completed("-r2 -w0 -S --output=pipe", {"setsid " + leave});
  CHECK(watch.shows_that_nothing_was_waited_for());
  for (const std::string& pid : lines_of(text_of(folder.file("pids"))))
    kill(std::stoi(pid), SIGKILL);
}

TEST_CASE("what was measured is exported also when the reader of standard output has gone") {
  const Folder folder;
  const Said said =
      lauka({.arguments = words("-r2 --export-runs " + folder.file("runs.csv"), {"true"}),
             .deaf_output = true});
  CHECK(said.status == 1);
  CHECK(said.err_has("Broken pipe"));
  CHECK(lines_of(text_of(folder.file("runs.csv"))).size() == 3);
}

TEST_CASE("an export that fails at the end is an error, and the others are still written") {
  const Folder folder;
  CHECK(has(failure({"-r2", "--export-csv", "/dev/full", "--export-runs", folder.file("runs.csv"),
                     "--", "true"}),
            "/dev/full"));
  CHECK(lines_of(text_of(folder.file("runs.csv"))).size() == 3);
}

TEST_CASE("a command that fails every run passes no gate: lauka ends with 1") {
  const Folder folder;
  const Said said = lauka(kGate + "--export-json " + folder.file("s.json"), {kWorks, kFails});
  CHECK(said.status == 1);
  CHECK(said.err_has("exit 9"));
  CHECK(said.out_has("12 of 12 runs"));
  const auto document = json_in(folder.file("s.json"));
  const auto& gate = document.at("lauka").at("gates").at(0);
  CHECK(gate.at("verdict") == "inconclusive");
  CHECK(gate.at("obstacle") == "no_success");
  CHECK(gate.at("obstacle_side") == "candidate");
  const auto& failing = document.at("results").at(1).at("lauka");
  CHECK(failing.at("failed_runs") == 12);
  CHECK(failing.at("failures").at(0) ==
        nlohmann::json{{"outcome", "failed"}, {"exit_code", 9}, {"kind", "timed"}, {"runs", 12}});
  // Saved sessions are judged alike, by their own gates and by others.
  CHECK(lauka({"--from", folder.file("s.json")}).status == 1);
  CHECK(lauka({"--from", folder.file("s.json"), "--fail-if", "v > 10"}).status == 1);
}

TEST_CASE("a reference that fails more often leaves the gate inconclusive, and lauka with 0 or 4") {
  CHECK(completed(kGate, {kFails, kWorks}).out_has("--fail-if-inconclusive"));
  const Said said = lauka(kGate + "--fail-if-inconclusive", {kFails, kWorks});
  CHECK(said.status == 4);
  CHECK_FALSE(said.out_has("exit status 0"));
}

TEST_CASE("commands that fail alike are judged, and the gate's line has their failures") {
  const Folder folder;
  const std::string once = "sh -c 'echo 50; test -e $0 || { touch $0; exit 3; }' ";
  const Said said =
      completed(kGate, {once + folder.file("a") + " #", once + folder.file("b") + " ##"});
  CHECK(said.out_has("v > 5%: pass"));
  CHECK(said.out_has("1 of 12 runs"));
}

TEST_CASE("every export has the failed runs of its commands") {
  const Folder folder;
  std::vector<std::string> arguments = words("-i -w0 -r3 -n work");
  for (const char* kind : {"csv", "runs", "jsonl", "markdown", "asciidoc", "orgmode", "html",
                           "benchfmt", "bmf", "json"}) {
    arguments.emplace_back(std::string("--export-") + kind);
    arguments.push_back(folder.file(kind));
  }
  arguments.insert(arguments.end(), {"--", kFails});
  const Said said = lauka(arguments);
  CHECK(said.status == 0);
  CHECK(said.out_has("3 failed"));
  CHECK(csv_value(text_of(folder.file("csv")), "work", "wall_time", "failed_runs") == "3");
  CHECK(column_of(text_of(folder.file("runs")), "outcome") ==
        std::vector<std::string>{"failed", "failed", "failed"});
  CHECK(has(text_of(folder.file("jsonl")), R"("outcome":"failed")"));
  for (const char* kind : {"markdown", "asciidoc", "orgmode", "html"}) {
    CAPTURE(kind);
    CHECK(has(text_of(folder.file(kind)), "3 failed"));
  }
  CHECK(has(text_of(folder.file("benchfmt")), " 1 failed/op"));
  CHECK(json_in(folder.file("bmf")).at("work").at("failed_runs").at("value") == 3);
  CHECK(json_in(folder.file("json")).at("results").at(0).at("exit_codes") ==
        nlohmann::json{9, 9, 9});
}

TEST_CASE("a suite's row has failed runs, and a gate that they spoil ends it with 1") {
  const Folder folder;
  std::ofstream(folder.file("s.toml"))
      << "[defaults]\nignore-failure = true\nruns = 12\nwarmup = 0\nscrape = ['v=(\\d+)']\n"
         "fail-if = ['v > 5']\n"
         "[[benchmark]]\nname = 'good'\ncommands = [\"\"\"" +
             kWorks + "\"\"\", \"\"\"" + kWorks +
             " #\"\"\"]\n[[benchmark]]\nname = 'bad'\ncommands = [\"\"\"" + kWorks +
             "\"\"\", \"\"\"" + kFails + "\"\"\"]\n";
  const Said said =
      lauka({"--suite", folder.file("s.toml"), "--export-markdown", folder.file("table.md")});
  CAPTURE(said.err);
  CHECK(said.status == 1);
  CHECK(said.err_has("bad"));
  CHECK(said.out_has("candidate 12 of 12 (status 9)"));
  CHECK(has(text_of(folder.file("table.md")), "candidate 12 of 12 (status 9)"));
}

TEST_CASE("runs that time out are failures, not missing runs") {
  const Folder folder;
  const Said said =
      lauka("-i -w0 -r2 --timeout 50ms --export-json " + folder.file("s.json"), {fixture("hang")});
  CHECK(said.status == 0);
  CHECK(said.out_has("2 failed: timed out"));
  const auto document = json_in(folder.file("s.json"));
  const auto& ours = document.at("results").at(0).at("lauka");
  CHECK(
      ours.at("failures").at(0) ==
      nlohmann::json{{"outcome", "timed_out"}, {"exit_code", 137}, {"kind", "timed"}, {"runs", 2}});
  CHECK(ours.at("runs").at(1).at("outcome") == "timed_out");
}

TEST_CASE("a status that -i names is a success, and 128 + N covers signal N") {
  const Folder folder;
  const std::string file = folder.file("s.json");
  for (const auto& [option, ending, status] :
       {std::tuple("-i=9", "status 9", 9), std::tuple("-i=139", "signal 11", 139)}) {
    completed(std::string(option) + " -w0 -r2 --export-json " + file,
              {fixture("fail") + " " + ending});
    const auto document = json_in(file);
    const auto& ours = document.at("results").at(0).at("lauka");
    CHECK(ours.at("failed_runs") == 0);
    CHECK(ours.at("runs").at(0).at("exit_code") == status);
    CHECK(ours.at("runs").at(0).at("outcome") == "succeeded");
  }
  CHECK(lauka("-i=139 -w0 -r2", {fixture("fail") + " signal 15"}).status == 1);
}

TEST_CASE("the JSON has the run that ended the session, with its exit code") {
  const Folder folder;
  const std::string file = folder.file("s.json");
  for (const auto& [ending, status, outcome] :
       {std::tuple("status 9", 9, "failed"), std::tuple("signal 11", 139, "signalled")}) {
    failure("-w0 -r2 -n it --export-json " + file, {fixture("fail") + " " + ending});
    const auto run = json_in(file).at("lauka").at("failed_run");
    CHECK(run.at("name") == "it");
    CHECK(run.at("exit_code") == status);
    CHECK(run.at("outcome") == outcome);
  }
  completed("-w0 -r2 --export-json " + file, {"true"});
  CHECK(json_in(file).at("lauka").at("failed_run").is_null());
}

TEST_CASE("processes that outlive their runs are counted and warned of (Linux)") {
  if (!is_linux()) return;
  const Folder folder;
  const Said said = completed("-w0 -r2 --export-json " + folder.file("s.json"),
                              {fixture("leaves_a_child") + " 20000"});
  CHECK(said.err_has("outlived"));
  const auto document = json_in(folder.file("s.json"));
  for (const auto& run : document.at("results").at(0).at("lauka").at("runs"))
    CHECK(run.at("outlived") == 1);
  const auto& warnings = document.at("lauka").at("warnings");
  CHECK(std::ranges::count_if(warnings,
                              [](const auto& one) { return one.at("kind") == "outlived"; }) == 1);
}

}  // namespace lauka::contract
