#include "contract/program.h"

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// The parts "Deltas and the gate" and --precision of the contract. What is gated is what commands
// print, so that the answer is known on any machine.

namespace lauka::contract {
namespace {

/// The runs of each command, from the head of its table.
int runs_of(const Said& said) {
  const std::size_t begin = said.out.find("Benchmark 1 (");
  REQUIRE(begin != std::string::npos);
  return std::atoi(said.out.c_str() + begin + std::string("Benchmark 1 (").size());
}

}  // namespace

TEST_CASE("--fail-if fails a command that is slower than its limit, with status 3") {
  const Said said = lauka(with_echoes({"-r20", "--fail-if", "v > 10"}, 50, 75));
  CAPTURE(said.out);
  CHECK(said.status == 3);
  CHECK(said.out_has("\nv > 10%: fail: "));
}

TEST_CASE("--fail-if passes equal commands, each gate with a line of its own") {
  const Said said = completed(
      with_echoes({"-r20", "--fail-if", "v>50%", "--fail-if", "minor_faults > 400"}, 50, 50));
  CHECK(said.out_has("\nv > 50%: pass: "));
  CHECK(said.out_has("\nminor_faults > 400%: pass: "));
  CHECK_FALSE(said.out_has("\nminor_faults  "));  // gated, not shown
}

TEST_CASE("with open gates the rounds go on past the budget, up to four times") {
  // That three gates of 0 are all decided at the first look happens once in thousands.
  const std::string it = "sh -c 'sleep 0.03; od -An -N2 -tu2 /dev/urandom'";
  const auto began = std::chrono::steady_clock::now();
  const Said said =
      lauka(words("-d 150ms -m 1 '--scrape=v=([0-9]+)' --fail-if 'wall_time > 0' "
                  "--fail-if 'cpu_time > 0' --fail-if 'v > 0'",
                  {it, it}));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  CAPTURE(said.out);
  CHECK(elapsed.count() > 1.9 * 0.3);  // both commands may use 0.3 s where nothing is gated
  CHECK(runs_of(said) <= 4 * 0.3 / (2 * 0.03) + 1);
}

TEST_CASE("a gate that is decided ends the rounds") {
  const Said clear = lauka(with_echoes({"-m", "24", "-d", "1h", "--fail-if", "v > 10"}, 50, 150));
  CAPTURE(clear.out);
  CHECK(runs_of(clear) == 24);
  CHECK(clear.status == 3);
}

TEST_CASE("a gate on a value needs one command, and ends the runs as soon as it knows") {
  const auto status_of = [](const char* gate, const char* line) {
    const Said said = lauka({"-q", "-d", "1h", "--fail-if", gate, "--", "true"});
    CHECK(said.out_has(line));
    return said.status;
  };
  CHECK(status_of("wall_time > 1ns", "wall_time > 1ns: fail: ") == 3);
  CHECK(status_of("wall_time < 1ns", "wall_time < 1ns: pass: ") == 0);
  CHECK(status_of("peak_rss > 64 GiB", "peak_rss > 64GiB: pass: ") == 0);
  CHECK(lauka("--fail-if 'wall_time > 2MB'", {"true"}).status == 2);
}

TEST_CASE("a gate of a drop passes equal commands and fails a gain of the candidate's") {
  const Said same = completed(with_echoes({"-q", "-r20", "--fail-if", "v < -40"}, 50, 50));
  CHECK(same.out_has("v < -40%: pass: "));
  CHECK(lauka(with_echoes({"-q", "-r20", "--fail-if", "v < -10"}, 75, 50)).status == 3);
}

TEST_CASE("--fail-if-inconclusive gives status 4 where a gate is open and none failed") {
  // One round decides nothing.
  CHECK(
      lauka(with_echoes({"-r1", "--fail-if-inconclusive", "--fail-if", "v > 1"}, 50, 50)).status ==
      4);
  completed(with_echoes({"-r1", "--fail-if", "v > 1"}, 50, 50));
  CHECK(lauka(with_echoes({"-r10", "--fail-if-inconclusive", "--fail-if", "v > 10"}, 50, 100))
            .status == 3);
  completed(with_echoes({"-r10", "--fail-if-inconclusive", "--fail-if", "v > 50"}, 50, 50));
}

TEST_CASE("--precision ends long before the time is used and reports how narrow the interval is") {
  const Said said = completed({"-d", "1h", "--precision", "60", "sleep 0.05", "sleep 0.05"});
  CHECK(runs_of(said) >= 10);
  CHECK(said.out_has("±60%"));
}

}  // namespace lauka::contract
