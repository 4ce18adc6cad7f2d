#include "core/metric.h"

#include "core/record.h"

#include <vector>

#include <doctest/doctest.h>

namespace lauka {
TEST_CASE("nanoseconds become the nearest number of seconds, which exports print without a tail") {
  Usage usage;
  usage.wall_ns = 1'097'222;  // times 1e-9 it is 0.0010972220000000001
  CHECK(kBuiltInMetrics[0].read(usage) == 0.001097222);
}

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

}  // namespace

TEST_CASE("only rounds in which both commands have a value are compared") {
  const Series reference{{1, 2, 3, 4}, {0, 1, 3, 4}, {}};
  const Series candidate{{20, 30, 50}, {1, 3, 5}, {}};
  const Comparison pairs = pair_samples(reference, candidate, true);
  CHECK(pairs.reference == std::vector<double>{2, 3});
  CHECK(pairs.candidate == std::vector<double>{20, 30});
  const Comparison all = pair_samples(reference, candidate, false);
  CHECK(all.reference == reference.values);
  CHECK(all.candidate == candidate.values);
}

TEST_CASE("a series keeps values and the largest bound, and a bound compares with nothing") {
  const Metric peak{
      .name = "peak_rss",
      .source = UsageFunction{[](const Usage& u) { return static_cast<double>(u.peak_rss_bytes); }},
      .role = Role::PeakRss};
  MetricSeries series(peak, {}, 2);
  series.add_run(run_of(0, 0, 900, 500));
  series.add_run(run_of(1, 0, 300, 500));
  series.add_run(run_of(1, 1, 400, 500));
  series.add_run(run_of(1, 2, 350, 500));
  CHECK(series.of_command(0).values == std::vector<double>{900});
  CHECK(series.of_command(1).values.empty());
  CHECK(series.of_command(1).largest_bound == 400);
  CHECK(pair_samples(series.of_command(0), series.of_command(1), true).is_empty());
  CHECK(pair_samples(series.of_command(0), series.of_command(1), false).is_empty());
}

TEST_CASE("values and bounds of failed runs are kept, and not compared") {
  const Metric peak{
      .name = "peak_rss",
      .source = UsageFunction{[](const Usage& u) { return static_cast<double>(u.peak_rss_bytes); }},
      .role = Role::PeakRss};
  MetricSeries series(peak, {}, 2);
  for (std::uint32_t round = 0; round < 4; ++round) {
    RunRecord run = run_of(0, round, 900 + round, 500);
    if (round == 1) run.outcome = Exited{3};
    series.add_run(run);
    series.add_run(run_of(1, round, 700 + round, 500));
  }
  RunRecord bounded = run_of(1, 4, 300, 500);
  bounded.outcome = Exited{3};
  series.add_run(bounded);

  const Series& failing = series.of_command(0);
  CHECK(failing.values == std::vector<double>{900, 901, 902, 903});
  CHECK(failing.failed_runs == 1);
  CHECK(failing.runs_with_ending == 4);
  CHECK(series.of_command(1).largest_bound_of_failed_runs == 300);
  const Comparison pairs = pair_samples(failing, series.of_command(1), true);
  CHECK(pairs.reference == std::vector<double>{900, 902, 903});
  CHECK(pairs.candidate == std::vector<double>{700, 702, 703});
  CHECK(pair_samples(failing, series.of_command(1), false).reference ==
        std::vector<double>{900, 902, 903});
}

TEST_CASE("a failure that -i names is a success") {
  const Metric peak{.name = "peak_rss", .source = UsageFunction{[](const Usage& u) {
                                          return static_cast<double>(u.peak_rss_bytes);
                                        }}};
  MetricSeries series(peak, {}, 1, 1, IgnoreFailure{false, {3}});
  RunRecord run = run_of(0, 0, 900, 500);
  run.outcome = Exited{3};
  series.add_run(run);
  CHECK(series.of_command(0).failed_runs == 0);
  CHECK(pair_samples(series.of_command(0), series.of_command(0), true).candidate ==
        std::vector<double>{900});
}

}  // namespace lauka
