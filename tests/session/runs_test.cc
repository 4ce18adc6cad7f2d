#include "session/recording.h"

#include <memory>
#include <utility>
#include <variant>

#include <doctest/doctest.h>

namespace lauka {

TEST_CASE("what was reported unannounced is added after the other metrics, and to the baseline's") {
  Plan plan;
  plan.commands = {{"a", "a", {"a"}}};
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  plan.reference.baseline = Baseline{.session = std::make_shared<Recording>()};
  const auto requests = parse_own_metric("requests:1:higher");
  REQUIRE(requests);
  const Recording recording =
      make_recording(plan, Session{}, Timers{}, Circumstances{}, {{*requests}, false});
  REQUIRE(recording.metrics.size() == plan.metrics.size() + 1);
  const Metric& added = recording.metrics.back();
  CHECK(added.name == "requests");
  CHECK(std::get<ReportedValue>(added.source.terms.front()).place == 0);
  CHECK(added.unit == Unit::Count);
  CHECK(added.shown == Shown::Verbose);
  CHECK(recording.reference.baseline->metrics.size() == recording.metrics.size());
}

TEST_CASE("each run of a long session keeps its own values, in whatever order they are read") {
  Plan plan;
  plan.commands = {{"a", "a", {"a"}}};
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  Session session;
  constexpr std::size_t count = 1000;
  for (std::uint32_t i = 0; i < count; ++i) {
    RunRecord run{};
    run.step.round = i;
    run.outcome = Exited{0};
    run.usage.wall_ns = 1'000'000'000ULL * (i + 1);
    session.runs.push_back(run);
  }
  const Recording recording = make_recording(plan, session, Timers{}, Circumstances{}, {});
  const auto wall_time = find_metric(recording.metrics, Role::WallTime);
  REQUIRE(wall_time);
  for (const std::size_t step : {1U, 7U, 999U})
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = i * step % count;
      REQUIRE(recording.runs->value(at, *wall_time) == static_cast<double>(at + 1));
      REQUIRE(recording.runs->row(at).round == at);
    }
}

}  // namespace lauka
