#include "contract/program.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// The parts "Deltas and the gate" and --precision of the contract. CPU time is gated if the answer
// must be known: other programs on the machine hardly change it.

namespace lauka::contract {
namespace {

std::vector<std::string> arguments(std::vector<std::string> options, int old_units, int new_units) {
  options.insert(options.end(), {"--", work(old_units), work(new_units)});
  return options;
}

/// The runs of each command, from the head of its table.
int runs_of(const Said& said) {
  const std::size_t begin = said.out.find("Benchmark 1 (");
  REQUIRE(begin != std::string::npos);
  return std::atoi(said.out.c_str() + begin + std::string("Benchmark 1 (").size());
}

}  // namespace

TEST_CASE("--fail-if fails a command that is slower than its limit, with status 3") {
  const Said said = lauka(arguments({"-d", "300ms", "--fail-if", "cpu_time > 10"}, 50, 75));
  CAPTURE(said.out);
  CHECK(said.status == 3);
  CHECK(said.out_has("\ncpu_time > 10%: fail: more than 10% higher, with confidence (measured "));
}

TEST_CASE("--fail-if passes equal commands, each gate with a line of its own") {
  const Said said = completed(arguments({"-d", "300ms", "--fail-if", "cpu_time>50%",
                                         "--fail-if-slower=400", "--fail-if", "minor_faults > 400"},
                                        50, 50));
  CHECK(said.out_has("\nwall_time > 400%: pass: "));
  CHECK(said.out_has("\ncpu_time > 50%: pass: "));
  CHECK(said.out_has("\nminor_faults > 400%: pass: "));
  CHECK_FALSE(said.out_has("\nminor_faults  "));  // gated, not shown
}

TEST_CASE("with open gates the rounds go on past the budget, up to four times") {
  // That three gates of 0 are all decided at the first look happens once in thousands.
  const Folder folder;
  const Said said = lauka(arguments(
      {"-d", "150ms", "-n", "old", "-n", "new", "--export-csv", folder.file("out.csv"), "--fail-if",
       "wall_time > 0", "--fail-if", "cpu_time > 0", "--fail-if", "peak_rss > 0"},
      10, 10));
  CAPTURE(said.out);
  const std::string csv = text_of(folder.file("out.csv"));
  double seconds = 0;  // of both commands, which may use 0.3 s where nothing is gated
  for (const char* name : {"old", "new"})
    seconds += std::stod(csv_value(csv, name, "wall_time", "runs")) *
               std::stod(csv_value(csv, name, "wall_time", "mean"));
  CHECK(seconds > 0.4);
  CHECK(seconds < 1.5);
}

TEST_CASE("a gate that is decided ends the rounds") {
  const Said clear =
      lauka(arguments({"-m", "24", "-d", "100ms", "--fail-if", "cpu_time > 10"}, 50, 150));
  CAPTURE(clear.out);
  CHECK(runs_of(clear) == 24);
  CHECK(clear.status == 3);
  CHECK(clear.out_has("; 24 rounds)"));
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
  const Said same =
      completed(arguments({"-q", "-d", "300ms", "--fail-if", "cpu_time < -40"}, 50, 50));
  CHECK(same.out_has("cpu_time < -40%: pass: "));
  CHECK(lauka(arguments({"-q", "-d", "300ms", "--fail-if", "cpu_time < -10"}, 75, 50)).status == 3);
}

TEST_CASE("--fail-if-inconclusive gives status 4 where a gate is open and none failed") {
  // One round decides nothing.
  CHECK(lauka(arguments({"-r1", "--fail-if-inconclusive", "--fail-if", "cpu_time > 1"}, 50, 50))
            .status == 4);
  completed(arguments({"-r1", "--fail-if", "cpu_time > 1"}, 50, 50));
  CHECK(lauka(arguments({"-r10", "--fail-if-inconclusive", "--fail-if", "cpu_time > 10"}, 50, 100))
            .status == 3);
  completed(arguments({"-r10", "--fail-if-inconclusive", "--fail-if", "cpu_time > 50"}, 50, 50));
}

TEST_CASE("--precision ends long before the time is used and reports how narrow the interval is") {
  const Said said = completed(arguments({"-d", "1h", "--precision", "60"}, 50, 50));
  CHECK(runs_of(said) >= 10);
  CHECK(said.out_has("\nprecision of wall time: ±"));
  CHECK(said.out_has(" (asked for: ±60%)\n"));
}

}  // namespace lauka::contract
