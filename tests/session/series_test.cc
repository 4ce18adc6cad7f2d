#include "session/series.h"

#include "fakes/made_session.h"

#include <cstdint>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

RunRecord run_of(std::uint32_t command, std::uint32_t round, std::uint64_t peak,
                 std::uint64_t floor) {
  RunRecord run;
  run.step = {command, round, 0, RoundKind::Timed};
  run.outcome = Exited{0};
  run.usage.peak_rss_bytes = peak;
  run.usage.peak_rss_floor_bytes = floor;
  return run;
}

/// Returns the series of peak_rss of two commands.
std::vector<Series> series_of(const std::vector<RunRecord>& runs,
                              const std::optional<IgnoreFailure>& ignored = {}) {
  Plan plan;
  plan.commands.resize(2);
  plan.metrics = {{.name = "peak_rss",
                   .source = UsageFunction{value_of<&Usage::peak_rss_bytes>},
                   .role = Role::PeakRss}};
  plan.ignore_failure = ignored;
  return make_all_series(plan, runs_of(plan, runs), 0);
}

}  // namespace

TEST_CASE("a series keeps values and the largest bound, and a bound compares with nothing") {
  const auto series = series_of({run_of(0, 0, 900, 500), run_of(1, 0, 300, 500),
                                 run_of(1, 1, 400, 500), run_of(1, 2, 350, 500)});
  CHECK(series[0].values == std::vector<double>{900});
  CHECK(series[1].values.empty());
  CHECK(series[1].largest_bound == 400);
  CHECK(pair_samples(series[0], series[1], true).is_empty());
  CHECK(pair_samples(series[0], series[1], false).is_empty());
}

TEST_CASE("values and bounds of failed runs are kept, and not compared") {
  std::vector<RunRecord> runs;
  for (std::uint32_t round = 0; round < 4; ++round) {
    RunRecord run = run_of(0, round, 900 + round, 500);
    if (round == 1) run.outcome = Exited{3};
    runs.push_back(run);
    runs.push_back(run_of(1, round, 700 + round, 500));
  }
  RunRecord bounded = run_of(1, 4, 300, 500);
  bounded.outcome = Exited{3};
  runs.push_back(bounded);
  const auto series = series_of(runs);

  const Series& failing = series[0];
  CHECK(failing.values == std::vector<double>{900, 901, 902, 903});
  CHECK(failing.failed_runs == 1);
  CHECK(failing.runs_with_ending == 4);
  CHECK(series[1].largest_bound_of_failed_runs == 300);
  const Comparison pairs = pair_samples(failing, series[1], true);
  CHECK(pairs.reference == std::vector<double>{900, 902, 903});
  CHECK(pairs.candidate == std::vector<double>{700, 702, 703});
  CHECK(pair_samples(failing, series[1], false).reference == std::vector<double>{900, 902, 903});
}

TEST_CASE("a failure that -i names is a success") {
  RunRecord run = run_of(0, 0, 900, 500);
  run.outcome = Exited{3};
  const auto series = series_of({run}, IgnoreFailure{false, {3}});
  CHECK(series[0].failed_runs == 0);
  CHECK(pair_samples(series[0], series[0], true).candidate == std::vector<double>{900});
}

}  // namespace lauka
