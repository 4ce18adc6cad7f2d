#include "core/metric.h"
#include "inquire/answers.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::inquire {

namespace {

std::vector<MetricLine> lines_with(const std::vector<std::string>& countable, bool tree_peak) {
  const CoreUse cores;
  const auto can_count = [&](const std::vector<std::string>& events) {
    return std::ranges::all_of(events, [&](const std::string& event) {
      return std::ranges::find(countable, event) != countable.end();
    });
  };
  return metrics_here({can_count, tree_peak, cores});
}

std::string here(const std::vector<MetricLine>& lines, std::string_view name) {
  const auto found = std::ranges::find(lines, name, &MetricLine::name);
  return found == lines.end() ? "not listed" : found->here;
}

}  // namespace

TEST_CASE("the list of metrics has every built-in metric in its unit") {
  const auto lines = lines_with({}, true);
  for (const BuiltInMetric& metric : kBuiltInMetrics) {
    CAPTURE(metric.name);
    const auto found = std::ranges::find(lines, metric.name, &MetricLine::name);
    REQUIRE(found != lines.end());
    CHECK(found->unit == unit_symbol(metric.unit));
    CHECK(found->here == "yes");
  }
}

TEST_CASE("a metric is measured here if all its events can be counted") {
  const auto lines = lines_with({"instructions"}, false);
  CHECK(here(lines, "instructions") == "yes");
  CHECK(here(lines, "ipc") == "no");
  CHECK(here(lines, "tree_peak_memory") == "no");
  CHECK(here(lines, "p_share") == "no");
  CHECK(here(lines, "throughput") == "--jobs");
}

TEST_CASE("the list of metrics wraps meanings in their column") {
  CHECK(list_metrics({{"wall_time", "s", "yes", "time from start to the very end"}}, 40)
            .starts_with("metric     unit  here  meaning\n"
                         "wall_time  s     yes   time from start to the\n"
                         "                       very end\n\n"));
}

}  // namespace lauka::inquire
