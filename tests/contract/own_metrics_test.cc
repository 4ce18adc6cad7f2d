#include "contract/program.h"
#include "skip.h"

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// Metrics of one's own, in the built program.

namespace lauka::contract {
namespace {

/// The rows of a CSV without quotes, the head among them.
std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    rows.emplace_back();
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

/// The values of a column of --export-runs.
std::vector<double> column(const std::string& csv, const std::string& name) {
  const auto rows = rows_of(csv);
  std::size_t place = 0;
  while (place < rows.at(0).size() && rows[0][place] != name) ++place;
  REQUIRE(place < rows[0].size());
  std::vector<double> values;
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (place < rows[i].size() && !rows[i][place].empty())
      values.push_back(std::stod(rows[i][place]));
  return values;
}

}  // namespace

TEST_CASE("own metrics: a formula is worked out in each run, shown, exported and gated") {
  const Folder folder;
  const Said said =
      lauka({"-r5", "--derive", "busy:%=cpu_time / wall_time", "--derive",
             "idle:ms=wall_time - cpu_time", "--derive", "cost:$=idle * 0.5 + 1", "--export-runs",
             folder.file("runs.csv"), "--export-json", folder.file("it.json"), "--fail-if",
             "cost > 1000000", "--", fixture("burn") + " 3ms", fixture("burn") + " 6ms"});
  CAPTURE(said.err);
  REQUIRE(said.status == 0);
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
  const Said later = lauka({"-r3", "--derive", "cost:$=(wall_time - cpu_time) * 0.5 + 1", "-n",
                            fixture("burn") + " 6ms", "--baseline", folder.file("it.json"),
                            "--fail-if", "cost > 1000000", "--", fixture("burn") + " 6ms"});
  CAPTURE(later.err);
  CHECK(later.status == 0);
}

TEST_CASE("own metrics: what is built in comes with --metrics all, or by its name") {
  CHECK_FALSE(lauka({"-r2", "--", fixture("tiny")}).out_has("cpu_utilization"));
  CHECK(lauka({"-r2", "--metrics", "all", "--", fixture("tiny")}).out_has("\ncpu_utilization "));
  const Said named = lauka({"-r2", "--metrics", "cpu_utilization", "--", fixture("tiny")});
  CHECK(named.out_has("\ncpu_utilization "));
  CHECK_FALSE(named.out_has("\nwall_time "));
}

TEST_CASE("own metrics: a formula that cannot be measured is refused before anything is run") {
  const Said said = lauka({"--derive", "x=wall_time-cpu_time", "--", fixture("tiny")});
  CHECK(said.status == 2);
  CHECK(said.err ==
        "lauka: a formula (--derive) needs 'wall_time-cpu_time', which is not measured; a minus "
        "needs blanks around it\n");
}

}  // namespace lauka::contract
