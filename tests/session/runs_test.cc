#include "session/runs.h"

#include <memory>
#include <utility>
#include <variant>

#include <doctest/doctest.h>

namespace lauka {

TEST_CASE("what was reported unannounced is added after the other metrics, and to the baseline's") {
  Plan plan;
  plan.commands = {{"a", "a", {"a"}}};
  plan.metrics = metrics_of({}, MetricSelection::Default, false);
  plan.reference.baseline = Baseline{.session = std::make_shared<Recording>()};
  const auto requests = parse_own_metric("requests:1:higher");
  REQUIRE(requests);
  const Recording recording =
      recording_of(plan, Session{}, Timers{}, Circumstances{}, {{*requests}, false});
  REQUIRE(recording.metrics.size() == plan.metrics.size() + 1);
  const Metric& added = recording.metrics.back();
  CHECK(added.name == "requests");
  CHECK(std::get<ToldValue>(added.source.terms.front()).place == 0);
  CHECK(added.unit == Unit::Count);
  CHECK(added.shown == Shown::Verbose);
  CHECK(recording.reference.baseline->metrics.size() == recording.metrics.size());
}

}  // namespace lauka
