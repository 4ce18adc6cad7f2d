#include "core/machine.h"
#include "core/metric.h"
#include "core/text.h"
#include "inquire/answers.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace lauka::inquire {

namespace {

// Names are ASCII (they come from the kernel's tables and sysfs), so bytes are cells.

/// A description is at least this wide.
constexpr std::size_t kNarrowest = 24;
/// Longer names (of PMUs with long names) do not widen the column for all.
constexpr std::size_t kWidestName = 32;

/// Three cells, and a description that is wrapped into its column.
struct Row {
  std::array<std::string, 3> cells;
  std::string description;
};

/// Returns the widths of the columns but the description's; longer names do not widen theirs.
std::array<std::size_t, 3> widths_of(const std::vector<Row>& rows) {
  std::array<std::size_t, 3> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (i > 0 || row.cells[i].size() <= kWidestName)
        widths[i] = std::max(widths[i], row.cells[i].size());
  return widths;
}

/// Prints `rows` in columns, the heading first. `columns`: the terminal's width; 0: nothing is
/// wrapped. `below`: in a narrow terminal descriptions go below the other cells.
std::string printed(const std::vector<Row>& rows, std::size_t columns, bool below) {
  const std::array<std::size_t, 3> widths = widths_of(rows);
  const std::size_t before = widths[0] + widths[1] + widths[2] + 6;
  const bool beside = columns == 0 || !below || before + kNarrowest <= columns;
  const std::size_t indent = beside ? before : 4;
  const std::size_t room =
      columns == 0 ? 0 : std::max(columns, indent + (beside ? kNarrowest : 8)) - indent;
  std::string text;
  const auto add_line = [&text](std::string_view line) {
    text.append(line.substr(0, line.find_last_not_of(' ') + 1)) += '\n';
  };
  for (const Row& row : rows) {
    std::string front = fmt::format("{:<{}}  {:<{}}  {:<{}}  ", row.cells[0], widths[0],
                                    row.cells[1], widths[1], row.cells[2], widths[2]);
    // A longer name keeps the rest of its line for itself, unless lines may be of any length.
    const bool is_too_long = columns != 0 && (!beside || front.size() != indent);
    if (is_too_long || row.description.empty()) {
      add_line(front);
      front.assign(indent, ' ');
    }
    if (row.description.empty()) continue;
    for (const std::string_view line : wrapped(row.description, room)) {
      add_line(front + std::string(line));
      front.assign(indent, ' ');
    }
  }
  return text;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

bool matches(const CatalogEntry& entry, std::string_view filter) {
  return contains(entry.name, filter) || contains(entry.alias, filter) ||
         contains(entry.description, filter);
}

/// A metric that every machine has, or that events or an option make.
struct KnownMetric {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  std::string_view needs{};  ///< events with commas between them, or an option; empty: nothing
};

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
  std::vector<std::string> events;
  if (metric.needs.empty()) return "yes";
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

struct Widths {
  std::size_t counter = 0;
  std::size_t event = 0;
};

Widths widths_of(const Explanation& explanation) {
  Widths widths;
  for (const auto& pass : explanation.passes) {
    for (const ExplainedCounter& row : pass) {
      widths.counter = std::max(widths.counter, row.counter.size());
      widths.event = std::max(widths.event, row.event.size());
    }
  }
  return widths;
}

/// Makes names safe for display: events come from the user, a database or a table of the kernel.
Explanation shown(Explanation explanation) {
  for (auto& pass : explanation.passes) {
    for (ExplainedCounter& row : pass)
      row = {one_line(row.counter), one_line(row.event), one_line(row.detail)};
  }
  return explanation;
}

void add_counter(std::string& text, const ExplainedCounter& row, const Widths& widths) {
  text += "  ";
  if (widths.counter > 0) text += fmt::format("{:<{}}  ", row.counter, widths.counter);
  if (row.event.empty())
    text += "-";
  else if (row.detail.empty() || row.detail == row.event)
    text += row.event;
  else
    text += fmt::format("{:<{}}  {}", row.event, widths.event, row.detail);
  text += '\n';
}

}  // namespace

std::string list_events(const Catalog& catalog, std::string_view filter, std::size_t columns) {
  if (catalog.empty()) return "no event can be counted here\n";
  std::vector<Row> rows{{{"event", "alias", "counters"}, "description"}};
  // A database or a table of the kernel may hold anything.
  for (const CatalogEntry& entry : catalog)
    if (matches(entry, filter))
      rows.push_back({{one_line(entry.name), one_line(entry.alias), one_line(entry.counters)},
                      one_line(entry.description)});
  if (rows.size() == 1)
    return fmt::format("no event that can be counted here contains {}\n", cited(filter));
  return printed(rows, columns, true);
}

std::string explain_events(const Explanation& found) {
  const Explanation explanation = shown(found);
  std::string text;
  for (const std::string& note : explanation.notes) text += one_line(note) + '\n';
  const std::size_t passes = explanation.passes.size();
  if (passes == 0) return text + "no events to count\n";
  if (passes == 1) {
    text += "1 pass: every run counts all of these\n";
  } else {
    text += fmt::format(
        "{} passes: the runs take turns, and each run counts the events of one pass\n", passes);
    if (explanation.competition)
      text += fmt::format("fewer are not possible: {}\n", one_line(*explanation.competition));
  }
  const Widths widths = widths_of(explanation);
  for (std::size_t i = 0; i < passes; ++i) {
    if (passes > 1) text += fmt::format("\npass {}\n", i + 1);
    for (const ExplainedCounter& row : explanation.passes[i]) add_counter(text, row, widths);
  }
  return text;
}

std::vector<MetricLine> metrics_here(const MetricsHere& here) {
  std::vector<MetricLine> lines;
  lines.reserve(std::size(kBuiltInMetrics) + std::size(kMade));
  for (const BuiltInMetric& one : kBuiltInMetrics)
    lines.push_back({std::string(one.name), std::string(unit_symbol(one.unit)),
                     std::string(yes_or_no(one.name != kTreePeakMemory || here.has_tree_peak)),
                     std::string(one.meaning)});
  add_core_lines(here.cores, lines);
  for (const KnownMetric& one : kMade)
    lines.push_back({std::string(one.name), std::string(one.unit), here_of(one, here),
                     std::string(one.meaning)});
  return lines;
}

std::string list_metrics(const std::vector<MetricLine>& lines, std::size_t columns) {
  std::vector<Row> rows{{{"metric", "unit", "here"}, "meaning"}};
  for (const MetricLine& line : lines)
    rows.push_back({{line.name, line.unit, line.here}, line.meaning});
  return printed(rows, columns, false) +
         "\nEvery event of lauka --list-events is a metric too; --scrape, --derive and "
         "LAUKA_METRICS\nadd others. Where an event says no, lauka --check says why.\n";
}

}  // namespace lauka::inquire
