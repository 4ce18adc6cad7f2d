#include "inquire/lists.h"

#include "core/metric.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::inquire {

namespace {

Catalog small_catalog() {
  return {{"cpu-cycles", "cycles", "cpu", "cycles in which the core was busy"},
          {"L1-dcache-load-misses", "l1d-cache-misses", "cpu",
           "first-level data cache: loads that miss (event=0x51,umask=0x1)"},
          {"task-clock", "", "software", "CPU time in nanoseconds"}};
}

}  // namespace

TEST_CASE("in a pipe each event is one line, whatever its length") {
  CHECK(list_events(small_catalog(), "", 0) ==
        "event                  alias             counters  description\n"
        "cpu-cycles             cycles            cpu       cycles in which the core was busy\n"
        "L1-dcache-load-misses  l1d-cache-misses  cpu       first-level data cache: loads that "
        "miss (event=0x51,umask=0x1)\n"
        "task-clock                               software  CPU time in nanoseconds\n");
}

TEST_CASE("on a terminal descriptions are wrapped into their column") {
  CHECK(list_events(small_catalog(), "", 80) ==
        "event                  alias             counters  description\n"
        "cpu-cycles             cycles            cpu       cycles in which the core was\n"
        "                                                   busy\n"
        "L1-dcache-load-misses  l1d-cache-misses  cpu       first-level data cache: loads\n"
        "                                                   that miss\n"
        "                                                   (event=0x51,umask=0x1)\n"
        "task-clock                               software  CPU time in nanoseconds\n");
}

TEST_CASE("where the terminal is too narrow for columns descriptions go below") {
  CHECK(
      list_events({{"cpu-cycles", "cycles", "cpu", "cycles in which the core was busy"}}, "", 40) ==
      "event       alias   counters\n"
      "    description\n"
      "cpu-cycles  cycles  cpu\n"
      "    cycles in which the core was busy\n");
}

TEST_CASE("a long name does not widen the column of all") {
  const std::string name = "armv8_cortex_a72/mem_access_of_a_rather_long_name/";
  const std::string text = list_events(
      {{"cpu-cycles", "cycles", "cpu", "work"}, {name, "", "a72", "event=0x13"}}, "", 80);
  CHECK(text ==
        "event       alias   counters  description\n"
        "cpu-cycles  cycles  cpu       work\n"
        "armv8_cortex_a72/mem_access_of_a_rather_long_name/          a72\n"
        "                              event=0x13\n");
}

TEST_CASE("terms without spaces are broken at commas") {
  const std::string text =
      list_events({{"e", "", "cpu", "event=0xcd,umask=0x1,ldlat=0x3,edge=1,cmask=0x2"}}, "", 50);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 50);
  CHECK(text.find("  event=0xcd,umask=0x1,\n") != std::string::npos);
}

TEST_CASE("a filter finds names, aliases and descriptions in any case") {
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  CHECK(lines(list_events(small_catalog(), "TASK", 0)) == 2);
  CHECK(lines(list_events(small_catalog(), "l1d", 0)) == 2);
  CHECK(lines(list_events(small_catalog(), "Nanoseconds", 0)) == 2);
  CHECK(lines(list_events(small_catalog(), "cycles", 0)) == 2);
  CHECK(list_events(small_catalog(), "xyz", 0) ==
        "no event that can be counted here contains 'xyz'\n");
}

TEST_CASE("where nothing can be counted this is said") {
  CHECK(list_events({}, "", 80) == "no event can be counted here\n");
  CHECK(list_events({}, "cyc", 0) == "no event can be counted here\n");
}

namespace {

std::vector<MetricLine> lines_with(const std::vector<std::string>& countable, bool tree_peak) {
  const CorePlan cores;
  const auto can_count = [&](const std::vector<std::string>& events) {
    return std::ranges::all_of(events, [&](const std::string& event) {
      return std::ranges::find(countable, event) != countable.end();
    });
  };
  return list_available_metrics(can_count, tree_peak, cores);
}

std::string find_availability(const std::vector<MetricLine>& lines, std::string_view name) {
  const auto found = std::ranges::find(lines, name, &MetricLine::name);
  return found == lines.end() ? "not listed" : found->availability;
}

}  // namespace

TEST_CASE("the list of metrics has every built-in metric in its unit") {
  const auto lines = lines_with({}, true);
  for (const BuiltInMetric& metric : kBuiltInMetrics) {
    CAPTURE(metric.name);
    const auto found = std::ranges::find(lines, metric.name, &MetricLine::name);
    REQUIRE(found != lines.end());
    CHECK(found->unit == unit_symbol(metric.unit));
    CHECK(found->availability == "yes");
  }
}

TEST_CASE("a metric is measured here if all its events can be counted") {
  const auto lines = lines_with({"instructions"}, false);
  CHECK(find_availability(lines, "instructions") == "yes");
  CHECK(find_availability(lines, "ipc") == "no");
  CHECK(find_availability(lines, "tree_peak_memory") == "no");
  CHECK(find_availability(lines, "p_share") == "no");
  CHECK(find_availability(lines, "throughput") == "--jobs");
}

TEST_CASE("the list of metrics wraps meanings in their column") {
  CHECK(list_metrics({{"wall_time", "s", "yes", "time from start to the very end"}}, 40)
            .starts_with("metric     unit  here  meaning\n"
                         "wall_time  s     yes   time from start to the\n"
                         "                       very end\n\n"));
}

namespace {

TEST_CASE("one pass is drawn counter by counter, idle ones too") {
  const Explanation explanation{
      {{{"PMC2", ""}, {"PMC7", "inst_all", "INST_ALL, which may use PMC7"}}}, {}, {}};
  CHECK(explain_events(explanation) ==
        "lauka needs 1 pass, in which every run counts all of these events\n  PMC2  -\n  PMC7  "
        "inst_all  INST_ALL, which may use PMC7\n");
}

TEST_CASE("several passes are drawn one after the other, with the reason") {
  const Explanation explanation{{{{"PMC7", "inst_all"}}, {{"PMC7", "inst_ldst"}}},
                                "inst_all and inst_ldst compete for PMC7",
                                {{"events_left_out", "not counted: a"}}};
  CHECK(explain_events(explanation) ==
        "not counted: a\nlauka needs 2 passes, and each run counts the events of one of "
        "them\nfewer passes are not possible: inst_all and inst_ldst compete for PMC7\n\npass 1\n  "
        "PMC7  inst_all\n\npass 2\n  PMC7  inst_ldst\n");
}

TEST_CASE("an engine that leaves the counters to the kernel shows none") {
  CHECK(
      explain_events({{{{"", "page-faults", "pages"}}}, {}, {}}) ==
      "lauka needs 1 pass, in which every run counts all of these events\n  page-faults  pages\n");
}

TEST_CASE("an empty list of events is reported as such") {
  CHECK(explain_events({}) == "there are no events to count\n");
}

}  // namespace

}  // namespace lauka::inquire
