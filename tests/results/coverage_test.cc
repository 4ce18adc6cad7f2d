#include "results/results.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {

namespace {

/// A plan that counts one event of one command, with a counter that may not be able to count it.
Plan counting_plan() {
  Plan plan;
  plan.commands.push_back({"a", "./a", {"./a"}});
  Event event;
  event.name = "inst_all";
  event.zero_is_doubtful = true;
  plan.events.events.push_back(event);
  plan.events.passes.push_back({{0}});
  Metric metric;
  metric.name = "inst_all";
  metric.source = CountedEvent{0};
  metric.event = 0;
  plan.metrics.push_back(metric);
  return plan;
}

Session session_of(const std::vector<std::uint64_t>& counts, const std::vector<double>& coverage) {
  Session session;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    RunRecord run;
    run.step.round = static_cast<std::uint32_t>(i);
    run.outcome = Exited{0};
    run.counts = {counts[i]};
    if (i < coverage.size()) run.coverage = coverage[i];
    session.runs.push_back(run);
  }
  return session;
}

template <typename Kind>
const Kind* warning_of(const Results& results) {
  for (const Warning& warning : results.warnings)
    if (const auto* found = std::get_if<Kind>(&warning.finding)) return found;
  return nullptr;
}

Results analysed(const Session& session, const Plan& plan = counting_plan()) {
  return analyse(plan, session, {}, Timers{}, Circumstances{});
}

}  // namespace

TEST_CASE("a median coverage under 98% is warned of with its figure") {
  const Session session = session_of({5, 5, 5}, {0.99, 0.93, 0.96});
  const Results low = analysed(session);
  REQUIRE(warning_of<LowCoverage>(low) != nullptr);
  CHECK(warning_of<LowCoverage>(low)->median == doctest::Approx(0.96));
  CHECK(low.commands[0].coverage == doctest::Approx(0.96));
  CHECK(low.runs->row(1).coverage == doctest::Approx(0.93));
  CHECK(warning_of<LowCoverage>(analysed(session_of({5, 5, 5}, {0.97, 0.98, 0.99}))) == nullptr);
  const Results unknown = analysed(session_of({5, 5, 5}, {}));
  CHECK(warning_of<LowCoverage>(unknown) == nullptr);
  CHECK_FALSE(unknown.commands[0].coverage.has_value());
}

TEST_CASE("an event that is 0 in every run, while instructions are not, is doubted") {
  const Results never = analysed(session_of({0, 0, 0}, {1.0, 1.0, 1.0}));
  CHECK(never.commands[0].rows[0].is_doubtful);
  CHECK_FALSE(never.commands[0].rows[0].summary.has_value());
  REQUIRE(warning_of<NeverCounted>(never) != nullptr);
  CHECK(warning_of<NeverCounted>(never)->event == "inst_all");

  CHECK_FALSE(analysed(session_of({0, 1, 0}, {1.0, 1.0, 1.0})).commands[0].rows[0].is_doubtful);
  CHECK_FALSE(analysed(session_of({0, 0, 0}, {})).commands[0].rows[0].is_doubtful);
  Plan sure = counting_plan();
  sure.events.events[0].zero_is_doubtful = false;
  const Results zero = analysed(session_of({0, 0, 0}, {1.0, 1.0, 1.0}), sure);
  CHECK(zero.commands[0].rows[0].summary.has_value());
}

}  // namespace lauka
