#include "core/machine.h"
#include "core/metric.h"
#include "core/text.h"
#include "inquire/answers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace lauka::inquire {

namespace {

/// A metric that every machine has, or that events or an option make.
struct KnownMetric {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  std::string_view needs{};  ///< events with commas between them, or an option; empty: nothing
};

constexpr auto kOfKernel = std::to_array<KnownMetric>({
    {"wall_time", "s", "time from start to end"},
    {"cpu_time", "s", "user_time + system_time, of the command and all it waited for"},
    {"user_time", "s", "CPU time in the program itself"},
    {"system_time", "s", "CPU time in the kernel on its behalf"},
    {"peak_rss", "B", "largest resident memory of one process"},
    {kTreePeakMemory, "B", "largest memory of all its processes together (cgroup v2)"},
    {"minor_faults", "1", "page faults that read no disk"},
    {"major_faults", "1", "page faults that read a disk"},
    {"voluntary_switches", "1", "times that it waited for something"},
    {"involuntary_switches", "1", "times that another program took its CPU"},
    {"block_reads", "1", "reads of a disk, in blocks"},
    {"block_writes", "1", "writes to a disk, in blocks"},
});

constexpr auto kMade = std::to_array<KnownMetric>({
    {"cycles", "1", "clock cycles", "cycles"},
    {"instructions", "1", "instructions executed", "instructions"},
    {"branches", "1", "branches executed", "branches"},
    {"branch-misses", "1", "branches predicted wrongly", "branch-misses"},
    {"cache-references", "1", "accesses to the last cache", "cache-references"},
    {"cache-misses", "1", "accesses that this cache could not serve", "cache-misses"},
    {"ipc", "ratio", "instructions per cycle", "instructions,cycles"},
    {"clock", "ratio", "cycles per second of CPU time", "cycles"},
    {"mpki", "ratio", "cache-misses per 1000 instructions", "cache-misses,instructions"},
    {"branch_miss_rate", "fraction", "branch-misses / branches", "branch-misses,branches"},
    {"cache_miss_rate", "fraction", "cache-misses / cache-references",
     "cache-misses,cache-references"},
    {"cpu_utilization", "fraction", "cpu_time / wall_time: 2 is two busy CPUs"},
    {"topdown_retiring", "fraction", "pipeline slots that did work", "topdown-retiring,slots"},
    {"topdown_bad_speculation", "fraction", "slots lost to wrong guesses",
     "topdown-bad-spec,slots"},
    {"topdown_frontend_bound", "fraction", "slots that waited for instructions",
     "topdown-fe-bound,slots"},
    {"topdown_backend_bound", "fraction", "slots that waited for data or units",
     "topdown-be-bound,slots"},
    {"wall_time.p99", "s", "the time that 99 % of the runs do not exceed; any other percentile too",
     "--percentiles"},
    {"throughput", "1/s", "copies per second", "--jobs"},
    {kRegionTime, "s", "time in the part that the program marks", "--region"},
    {"region_entries", "1", "how often it entered this part", "--region"},
});

std::string_view yes_or_no(bool yes) {
  return yes ? "yes" : "no";
}

std::string here_of(const KnownMetric& metric, const MetricsHere& here) {
  if (metric.needs.starts_with("--")) return std::string(metric.needs);
  if (metric.needs.empty())
    return std::string(yes_or_no(metric.name != kTreePeakMemory || here.has_tree_peak));
  std::vector<std::string> events;
  for (const std::string_view event : split(metric.needs, ',')) events.emplace_back(event);
  return std::string(yes_or_no(here.can_count(events)));
}

void add_core_lines(const CoreUse& cores, std::vector<MetricLine>& lines) {
  const std::string here(yes_or_no(!cores.timed.empty()));
  const auto kinds = cores.timed.empty() ? std::vector<std::string>{"P", "E"} : cores.timed;
  for (const std::string& kind : kinds)
    lines.push_back({time_metric_of(kind), "s", here, "CPU time on " + kind + " cores"});
  lines.push_back({share_metric_of(kinds.front()), "fraction", here,
                   "part of the CPU time on " + kinds.front() + " cores"});
}

}  // namespace

std::vector<MetricLine> metrics_here(const MetricsHere& here) {
  std::vector<MetricLine> lines;
  const auto add = [&](const KnownMetric& one) {
    lines.push_back({std::string(one.name), std::string(one.unit), here_of(one, here),
                     std::string(one.meaning)});
  };
  std::ranges::for_each(kOfKernel, add);
  add_core_lines(here.cores, lines);
  std::ranges::for_each(kMade, add);
  return lines;
}

std::string list_metrics(const std::vector<MetricLine>& lines, std::size_t columns) {
  const MetricLine header{"metric", "unit", "here", "meaning"};
  MetricLine widest = header;
  const auto widen = [](std::string& cell, const std::string& other) {
    if (other.size() > cell.size()) cell = other;
  };
  for (const MetricLine& line : lines) {
    widen(widest.name, line.name);
    widen(widest.unit, line.unit);
    widen(widest.here, line.here);
  }
  std::string text;
  const auto add = [&](const MetricLine& line) {
    std::string front = fmt::format("{:<{}}  {:<{}}  {:<{}}  ", line.name, widest.name.size(),
                                    line.unit, widest.unit.size(), line.here, widest.here.size());
    const std::size_t indent = front.size();
    const std::size_t room = columns == 0 ? 0 : std::max(columns, indent + 24) - indent;
    for (const std::string_view part : wrapped(line.meaning, room)) {
      text += front.append(part) + "\n";
      front.assign(indent, ' ');
    }
  };
  add(header);
  for (const MetricLine& line : lines) add(line);
  return text +
         "\nEvery event of lauka --list-events is a metric too; --scrape, --derive and "
         "LAUKA_METRICS\nadd others. Where an event says no, lauka --check says why.\n";
}

}  // namespace lauka::inquire
