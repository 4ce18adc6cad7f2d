#include "contract/program.h"

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include <doctest/doctest.h>

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

}  // namespace lauka::contract
