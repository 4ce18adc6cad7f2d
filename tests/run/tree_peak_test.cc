#include "core/metric.h"
#include "os/setting_files.h"
#include "run/bench.h"

#include <optional>
#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

class FakeGroups final : public os::MemoryGroups {
 public:
  int made = 0;
  std::optional<std::uint64_t> peak{4096};
  Result<std::string> begin() override { return "/group/" + std::to_string(made++); }
  std::optional<std::uint64_t> end() override { return peak; }
};

}  // namespace

TEST_CASE("each run has a control group of its own, whose peak is its value, or it has none") {
  Bench bench;
  FakeGroups groups;
  bench.groups = &groups;
  Plan plan = plan_of({"a", "b"});
  plan.metrics = make_metrics({}, MetricSelection::Default, false, true);
  const auto session = bench.carry_out(plan);
  REQUIRE(session);
  REQUIRE(session->runs.size() == 4);
  CHECK(groups.made == 4);
  CHECK(session->runs[3].usage.tree_peak_bytes == 4096);
  CHECK(bench.launcher.requests() == 4);
  const auto place = find_metric(plan.metrics, kTreePeakMemory);
  REQUIRE(place);
  const MetricReader reader(plan.metrics[*place], plan.events);
  CHECK(reader.value(session->runs[0]) == 4096.0);
  groups.peak.reset();
  const auto without = bench.carry_out(plan);
  REQUIRE(without);
  CHECK_FALSE(reader.value(without->runs[0]));
}

}  // namespace lauka
