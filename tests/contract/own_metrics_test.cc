#include "contract/program.h"

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// Metrics of the user's own, in the built program.

namespace lauka::contract {
namespace {

/// The values of a column of --export-runs.
std::vector<double> column(const std::string& csv, const std::string& name) {
  std::vector<double> values;
  for (const std::string& value : column_of(csv, name))
    if (!value.empty()) values.push_back(std::stod(value));
  return values;
}

}  // namespace

TEST_CASE("own metrics: a formula is worked out in each run, shown, exported and gated") {
  const Folder folder;
  const Said said = completed(
      "-r5 --derive 'busy:%=cpu_time / wall_time' --derive 'idle:ms=wall_time - cpu_time' --derive "
      "'cost:$=idle * 0.5 + 1' --export-runs " +
          folder.file("runs.csv") + " --export-json " + folder.file("it.json") +
          " --fail-if 'cost > 1000000'",
      {fixture("burn") + " 3ms", fixture("burn") + " 6ms"});
  CHECK(said.out_has("\nbusy "));
  CHECK(said.out_has("\ncost ($) "));
  const std::string csv = text_of(folder.file("runs.csv"));
  const auto wall = column(csv, "wall_time");
  const auto cpu = column(csv, "cpu_time");
  const auto busy = column(csv, "busy");
  const auto cost = column(csv, "cost");
  REQUIRE(wall.size() == 10);
  REQUIRE(cost.size() == 10);
  for (std::size_t i = 0; i < wall.size(); ++i) {
    CHECK(busy[i] == doctest::Approx(cpu[i] / wall[i]).epsilon(1e-12));
    CHECK(cost[i] == doctest::Approx((wall[i] - cpu[i]) * 0.5 + 1).epsilon(1e-12));
  }
  // It can be compared with later.
  completed({"-r3", "--derive", "cost:$=(wall_time - cpu_time) * 0.5 + 1", "-n",
             fixture("burn") + " 6ms", "--baseline", folder.file("it.json"), "--fail-if",
             "cost > 1000000", "--", fixture("burn") + " 6ms"});
}

TEST_CASE("own metrics: what a program prints is scraped in each run, and comes to --output") {
  const Folder folder;
  const Said said = completed(
      "-r4 -w1 -n it --scrape 'rate:higher=rate ([0-9.,]+)' --scrape 'took:ms=took (\\S+)' "
      "--derive 'product=rate*took' --export-runs " +
          folder.file("runs.csv") + " --output " + folder.file("out"),
      {"sh -c 'echo rate 1; echo rate 1,234.5; echo took 12.5ms >&2'"});
  CHECK(said.out_has("\ntook "));
  CHECK(said.out_has("12.5ms"));
  const std::string csv = text_of(folder.file("runs.csv"));
  CHECK(column(csv, "rate") == std::vector<double>(4, 1234.5));
  CHECK(column(csv, "took") == std::vector<double>(4, 0.0125));
  CHECK(column(csv, "product")[0] == doctest::Approx(15.43125));
  CHECK(text_of(folder.file("out")) == "rate 1\nrate 1,234.5\ntook 12.5ms\n");
  const Said inherited = lauka("-q -r2 -w0 --scrape 'n=n=(.)' --show-output", {"echo n=3"});
  CHECK(inherited.out.starts_with("n=3\nn=3\n"));
}

TEST_CASE("own metrics: a run without a match ends the session, and with -i has no value") {
  CHECK(has(failure("-r3 --scrape 'rate=rate (.*)'", {"echo hello"}),
            "lauka: 'echo hello': --scrape 'rate=rate (.*)' matches nothing that it wrote; "
            "that ends with 'hello'; use -i to go on without the value\n"));
  const Said ignoring = completed("-r3 -i --scrape 'rate=rate (.*)'", {"echo hello"});
  CHECK(ignoring.out_has("\nrate (0 runs) "));
  CHECK(lauka("--scrape 'rate=rate .*'", {"echo hello"}).status == 2);
}

TEST_CASE("own metrics: output without a line break, NULs and an explosive expression do no harm") {
  const Said zeros = completed("-q -r1 -w0 -S --export-csv - --scrape 'n=n=(\\d+)'",
                               {"echo n=7; head -c 3000000 /dev/zero"});
  CHECK(zeros.out_has(",n,ratio,1,7,"));
  CHECK(has(
      failure("-q -r1 -w0 -S --scrape 'n=((a+)+)[bc]'", {"head -c 100000 /dev/zero | tr '\\0' a"}),
      "takes too many steps"));
}

TEST_CASE("own metrics: loops that count by themselves (lauka/counters.h) hand their values over") {
  const std::string loop = fixture("counted_loop");
  const Said said =
      completed("-r3 -n epochs -n loop --export-csv -", {loop + " epochs", loop + " loop"});
  for (const char* name : {"epochs", "loop"}) {
    const double seconds =
        std::strtod(csv_value(said.out, name, "turn_time", "mean").c_str(), nullptr);
    CHECK(seconds > 1e-11);
    CHECK(seconds < 1e-7);
  }
}

TEST_CASE("own metrics: what a program writes to LAUKA_METRICS appears by itself") {
  const Folder folder;
  const std::string command =
      "sh -c 'echo served 100 higher >> $LAUKA_METRICS; echo part 1 ms sum >> $LAUKA_METRICS; "
      "echo part 2 ms >> $LAUKA_METRICS'";
  const Said said = completed("-r5 --export-runs " + folder.file("runs.csv") + " --export-json " +
                                  folder.file("it.json") + " -n it",
                              {command});
  CHECK(said.out_has("\nserved "));
  CHECK(said.out_has("3.00ms"));
  const std::string csv = text_of(folder.file("runs.csv"));
  CHECK(column(csv, "served") == std::vector<double>(5, 100.0));
  CHECK(column(csv, "part")[4] == doctest::Approx(0.003));
  const Said later = lauka("-r5 --baseline " + folder.file("it.json") +
                               " --metrics wall_time,served:higher --fail-if 'served < -5' -n it",
                           {"sh -c 'echo served 50 >> $LAUKA_METRICS'"});
  CAPTURE(later.err);
  CHECK(later.status == 3);
  CHECK(later.out_has("served < -5%: fail"));
}

TEST_CASE("own metrics: a line that cannot be read ends the session with its number") {
  CHECK(has(failure("-r2", {"sh -c 'echo served many >> $LAUKA_METRICS'"}),
            "line 1 of LAUKA_METRICS, 'served many', is not a number"));
  completed("-r2 -i", {"sh -c 'echo served many >> $LAUKA_METRICS'"});
  CHECK(has(failure("-r2", {"sh -c 'mkdir $LAUKA_METRICS'"}), "LAUKA_METRICS is no file"));
}

TEST_CASE("own metrics: the file is fresh for each run, and nothing is left of it") {
  const Folder folder;
  completed(Start{.arguments = {"-q", "-r20", "-n", "it", "--export-runs", folder.file("runs.csv"),
                                "--", "sh -c 'echo n 1 sum >> $LAUKA_METRICS'"},
                  .environment = {{"TMPDIR", folder.path()}}});
  CHECK(column(text_of(folder.file("runs.csv")), "n") == std::vector<double>(20, 1.0));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

}  // namespace lauka::contract
