#include "contract/program.h"
#include "contract/schema.h"
#include "places.h"
#include "skip.h"

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sys/wait.h>
#include <unistd.h>

namespace lauka::contract {
namespace {

const std::string kTwoKinds = "P=0,E=1";

/// True if two equal CPUs, on which lauka may run, can stand for two kinds here; else the test case
/// is skipped.
bool has_two_kinds() {
  for (const char* kind : {"p", "e"}) {
    const Said said =
        lauka({"--core-kinds", kTwoKinds, "-w0", "-r1", "--cores", kind, "--engine", "none",
               "--export-csv", "-", "--", fixture("on_cpus") + " 0:1ms 1:1ms"});
    if (said.status == 0 && said.out_has("p_share")) continue;
    skip(said.err.empty() ? "no times by kind of core" : said.err);
    return false;
  }
  return true;
}

double value_of(const std::string& csv, const std::string& metric, const std::string& command) {
  return std::strtod(csv_value(csv, command, metric, "mean").c_str(), nullptr);
}

Said measured(std::vector<std::string> options, const std::string& command) {
  std::vector<std::string> words = {"--core-kinds", kTwoKinds, "-w0", "-r3", "--export-csv", "-"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"-n", "it", "--", command});
  return lauka(words);
}

}  // namespace

TEST_CASE("time on each CPU is what was spent there, and no more than passed, with every engine") {
  if (!has_two_kinds()) return;
  for (const char* engine : {"auto", "none"}) {
    CAPTURE(engine);
    const Said said = measured({"-r1", "--counting", "together", "--engine", engine},
                               fixture("on_cpus") + " 0:60ms 1:20ms");
    REQUIRE(said.status == 0);
    const double fast = value_of(said.out, "p_time", "it");
    const double slow = value_of(said.out, "e_time", "it");
    CHECK(fast >= 0.99 * 0.060);  // the clocks are not the same
    CHECK(slow >= 0.99 * 0.020);
    // Not of cpu_time, which may leave out interrupts, and what a hypervisor takes.
    CHECK(fast + slow <= 1.01 * value_of(said.out, "wall_time", "it"));
    CHECK(value_of(said.out, "p_share", "it") == doctest::Approx(fast / (fast + slow)));
  }
}

TEST_CASE("threads under a millisecond, descendants and whole trees are on the preferred cores") {
  if (!has_two_kinds()) return;
  for (const std::string program : {"short_threads 20 200", "family 3 1ms", "burn 3ms 2"}) {
    CAPTURE(program);
    const Said fast = measured({"--cores", "p"}, fixture(program));
    REQUIRE(fast.status == 0);
    CHECK(value_of(fast.out, "p_share", "it") == 1.0);
    const Said slow = measured({"--cores", "e"}, fixture(program));
    REQUIRE(slow.status == 0);
    CHECK(value_of(slow.out, "p_share", "it") == 0.0);
    CHECK(value_of(slow.out, "e_time", "it") > 0.0);
  }
}

TEST_CASE("with --metrics time the times by kind are rows of the table") {
  if (!has_two_kinds()) return;
  const Said said = completed({"--core-kinds", kTwoKinds, "--metrics", "time", "-w0", "-r2", "--",
                               fixture("burn") + " 2ms"});
  CHECK(said.out_has("\np_time "));
  CHECK(said.out_has("\ne_time "));
}

TEST_CASE("runs below the least share are run again three times, counted apart and warned of") {
  if (!has_two_kinds()) return;
  const Said said = completed({"--core-kinds", kTwoKinds, "--min-p-share", "90", "-w0", "-r2",
                               "--engine", "none", "--", fixture("on_cpus") + " 0:2ms 1:2ms"});
  CHECK(said.out_has("(2 runs, 6 redone)"));
  CHECK(said.err_has("6 runs"));
  CHECK(said.err_has("2 of 2 runs"));
  const Said kept = completed({"--core-kinds", kTwoKinds, "--min-p-share", "90", "--cores", "p",
                               "-w0", "-r2", "--engine", "none", "--", fixture("burn") + " 2ms"});
  CHECK_FALSE(kept.out_has("redone"));
}

TEST_CASE("--threads shows the threads of a running process, and refuses one that is gone") {
  if (!is_linux()) return;
  const Said own = completed({"--threads", std::to_string(getpid())});
  CHECK(own.out_has("TID |"));
  CHECK(own.out_has("test_contract"));
  CHECK(own.out_has("total |"));
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  REQUIRE(gone > 0);
  waitpid(gone, nullptr, 0);
  const Said said = lauka({"--threads", std::to_string(gone)});
  CHECK(said.status == 1);
  CHECK(said.out.empty());
  CHECK(said.err_has(std::to_string(gone)));
}

TEST_CASE("--threads with -d shows what the threads did in that time") {
  if (!is_linux()) return;
  const Said said = lauka({"--threads", std::to_string(getpid()), "-d", "50ms"});
  if (said.status != 0) return skip(said.err);
  CHECK(said.out_has("test_contract"));
}

namespace {

/// Checks each line against docs/threads.schema.json.
void check_lines(const std::vector<std::string>& lines) {
  const auto schema = nlohmann::json::parse(
      text_of(std::string(places::kRepository) + "/docs/threads.schema.json"));
  for (const std::string& line : lines)
    for (const std::string& fault : faults(nlohmann::json::parse(line), schema)) FAIL_CHECK(fault);
}

}  // namespace

TEST_CASE("--threads with --interval and kinds of core shows the moves that it saw") {
  if (!is_linux()) return;
  const Said said = completed({"--threads", std::to_string(getpid()), "--core-kinds", kTwoKinds,
                               "-d", "20ms", "--interval", "10ms"});
  const auto lines = lines_of(said.out);
  REQUIRE_FALSE(lines.empty());
  check_lines(lines);
  const auto line = nlohmann::json::parse(lines.front());
  CHECK(line.at("kinds").size() == 2);
  CHECK(line.at("moves").is_number());
}

TEST_CASE("--threads with --interval prints a line of JSON per thread and interval") {
  if (!is_linux()) return;
  const std::string own = std::to_string(getpid());
  const Said said = completed({"--threads", own, "-d", "30ms", "--interval", "10ms"});
  const auto lines = lines_of(said.out);
  CHECK(lines.size() >= 1);
  CHECK(lines.size() <= 4);
  for (const std::string& line : lines) {
    CHECK(line.starts_with("{\"time\":"));
    CHECK(has(line, "\"pid\":" + own + ",\"tid\":" + own + ","));
    CHECK(line.ends_with("}}"));
  }
  check_lines(lines);
  // A reader that goes, and the user's wish, end it.
  const auto endless = words("--interval 5ms --threads " + own);
  completed({.arguments = endless, .deaf_output = true});
  const Folder folder;
  const std::string written = folder.file("lines");
  const Said ended = lauka({.before = {"sh", "-c", "exec \"$@\" > " + written, "sh"},
                            .arguments = endless,
                            .interrupt_when = [&] { return has_lines(written, 2); }});
  CHECK(ended.status == 128 + 2);
  CHECK(text_of(written).ends_with("}}\n"));
}

}  // namespace lauka::contract
