#include "plan/ways.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace lauka {
namespace {

Result<void> check_until(const Options& options, const Plan& plan) {
  if (!options.until) return {};
  if (plan.jobs > 1)
    return Error{
        "--until ends a run at its first line, so that --jobs would not wait for the others",
        "use only one of them"};
  if (std::ranges::any_of(options.scraped,
                          [](const OwnMetric& metric) { return metric.is_scraped(); }))
    return Error{
        "--until reads along, and --scrape takes what nobody reads: they contradict each other",
        "use only one of them; a program can write its metrics to LAUKA_METRICS"};
  if (!options.expected.empty())
    return Error{"--until ends runs early, so that --expect-output has no whole output to compare",
                 "use only one of them"};
  if (plan.events.passes_of(RoundKind::Simulated) > 0)
    return Error{"--until ends runs early, and Valgrind counts only those that end by themselves",
                 "use only one of --until and --engine cachegrind"};
  return {};
}

Result<void> check_expected(const Options& options, const Plan& plan) {
  const bool is_same = std::ranges::any_of(options.expected, [](const ExpectedOutput& one) {
    return one.kind == ExpectedOutput::Kind::Same;
  });
  if (is_same && plan.commands.size() < 2)
    return Error{"--expect-output same has nothing to compare with",
                 "add another command, or name a FILE with the output"};
  return {};
}

}  // namespace

Options with_throughput(Options options) {
  if (!options.jobs) return options;
  OwnMetric throughput{.name = "throughput", .better = Better::More, .role = Role::Throughput};
  throughput.unit.word = "1/s";
  throughput.text = fmt::format("{}/wall_time", *options.jobs);
  options.derived.insert(options.derived.begin(), std::move(throughput));
  return options;
}

Result<void> check_ways_of_running(const Options& options, const Plan& plan) {
  if (auto until = check_until(options, plan); !until) return until;
  return check_expected(options, plan);
}

}  // namespace lauka
