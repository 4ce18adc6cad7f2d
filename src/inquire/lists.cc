#include "inquire/lists.h"

#include "core/machine.h"
#include "core/metric.h"
#include "core/text.h"
#include "format/json_text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>

#include <fmt/format.h>

namespace lauka::inquire {

namespace {

constexpr std::size_t kMinDescriptionWidth = 24;

/// Longer names do not widen their column, because that would move all descriptions.
constexpr std::size_t kMaxNameWidth = 32;

/// A row of a list: a name, two short columns and a description.
using Row = std::array<std::string, 4>;

/// Returns the widths of the columns before the description.
std::array<std::size_t, 3> measure_columns(const std::vector<Row>& rows) {
  std::array<std::size_t, 3> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool is_long_name = i == 0 && row[i].size() > kMaxNameWidth;
      if (!is_long_name) widths[i] = std::max(widths[i], row[i].size());
    }
  return widths;
}

/// Where the last column of a list is, which describes the row.
enum class DescriptionPlace : unsigned char { Beside, BelowIfNarrow };

/// How a list fits into the terminal.
struct ListLayout {
  bool wraps = false;
  std::array<std::size_t, 3> widths{};  ///< of the columns before the description
  bool is_beside = true;                ///< true: descriptions stand beside the other columns
  std::size_t description_column = 0;   ///< where descriptions begin if they stand beside
  std::size_t indent = 0;               ///< where the further lines of a description begin
  std::size_t description_width = 0;    ///< 0: unlimited, as wrapped() takes it
};

/// Returns the width of descriptions, which take the rest of a line. If that is too little to be
/// readable, their lines are longer than the terminal is wide.
std::size_t choose_description_width(const ListLayout& layout, std::size_t terminal_width) {
  if (!layout.wraps) return 0;
  constexpr std::size_t min_width_below = 8;
  const std::size_t min_width = layout.is_beside ? kMinDescriptionWidth : min_width_below;
  const std::size_t width_left =
      terminal_width > layout.indent ? terminal_width - layout.indent : 0;
  return std::max(width_left, min_width);
}

ListLayout choose_layout(const std::vector<Row>& rows, std::size_t terminal_width,
                         DescriptionPlace place) {
  ListLayout layout{.wraps = terminal_width != 0, .widths = measure_columns(rows)};

  // Two blanks follow each column.
  const auto& widths = layout.widths;
  layout.description_column = widths[0] + 2 + widths[1] + 2 + widths[2] + 2;
  const bool has_room_beside =
      !layout.wraps || layout.description_column + kMinDescriptionWidth <= terminal_width;
  layout.is_beside = has_room_beside || place == DescriptionPlace::Beside;

  constexpr std::size_t indent_below = 4;
  layout.indent = layout.is_beside ? layout.description_column : indent_below;
  layout.description_width = choose_description_width(layout, terminal_width);
  return layout;
}

void append_line_without_final_blanks(std::string& text, std::string_view line) {
  text.append(line.substr(0, line.find_last_not_of(' ') + 1)) += '\n';
}

/// Appends a row to a text. Its description, the last column, may take several lines.
void append_row(std::string& text, const Row& row, const ListLayout& layout) {
  const auto& widths = layout.widths;
  std::string beginning_of_line = fmt::format("{:<{}}  {:<{}}  {:<{}}  ", row[0], widths[0], row[1],
                                              widths[1], row[2], widths[2]);
  const std::string& description = row[3];
  if (description.empty()) {
    append_line_without_final_blanks(text, beginning_of_line);
    return;
  }

  // A name that is too long for its column takes up the place of the description, which then begins
  // in the next line. Without wrapping, each row stays a single line.
  const std::string beginning_of_further_lines(layout.indent, ' ');
  const bool has_long_name = beginning_of_line.size() != layout.description_column;
  const bool starts_below = layout.wraps && (!layout.is_beside || has_long_name);
  if (starts_below) {
    append_line_without_final_blanks(text, beginning_of_line);
    beginning_of_line = beginning_of_further_lines;
  }

  for (const std::string_view line : wrapped(description, layout.description_width)) {
    append_line_without_final_blanks(text, beginning_of_line + std::string(line));
    beginning_of_line = beginning_of_further_lines;
  }
}

/// Returns the rows as a table. The descriptions stand in the last column, beside the other
/// columns. With DescriptionPlace::BelowIfNarrow, they stand below each row if the terminal is too
/// narrow. Wraps the descriptions for a terminal of `terminal_width` cells; 0: does not wrap them.
std::string list_text(const std::vector<Row>& rows, std::size_t terminal_width,
                      DescriptionPlace place) {
  const ListLayout layout = choose_layout(rows, terminal_width, place);
  std::string text;
  for (const Row& row : rows) append_row(text, row, layout);
  return text;
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  return lower_case(text).find(lower_case(part)) != std::string::npos;
}

struct KnownMetric {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  /// Events separated by commas, or an option; empty: the metric needs nothing.
  std::string_view needs{};
};

/// The metrics that lauka makes from events, or that an option adds.
constexpr auto kKnownMetrics = std::to_array<KnownMetric>({
    {"cycles", "1", "clock cycles", "cycles"},
    {"instructions", "1", "instructions executed", "instructions"},
    {"branches", "1", "branches executed", "branches"},
    {"branch-misses", "1", "branches predicted wrongly", "branch-misses"},
    {"cache-references", "1", "accesses to the last-level cache", "cache-references"},
    {"cache-misses", "1", "accesses that missed the last-level cache", "cache-misses"},
    {"ipc", "ratio", "instructions per cycle", "instructions,cycles"},
    {"clock", "ratio", "cycles per second of CPU time", "cycles"},
    {"mpki", "ratio", "cache-misses per 1000 instructions", "cache-misses,instructions"},
    {"branch_miss_rate", "fraction", "branch-misses / branches", "branch-misses,branches"},
    {"cache_miss_rate", "fraction", "cache-misses / cache-references",
     "cache-misses,cache-references"},
    {"cpu_utilization", "fraction", "cpu_time / wall_time (two busy CPUs give 200%)"},
    {"topdown_retiring", "fraction", "pipeline slots that did work", "topdown-retiring,slots"},
    {"topdown_bad_speculation", "fraction", "pipeline slots that were lost to wrong predictions",
     "topdown-bad-spec,slots"},
    {"topdown_frontend_bound", "fraction", "pipeline slots that waited for instructions",
     "topdown-fe-bound,slots"},
    {"topdown_backend_bound", "fraction", "pipeline slots that waited for data or execution units",
     "topdown-be-bound,slots"},
    {"wall_time.p99", "s",
     "the time that 99 % of the runs do not exceed (other percentiles work, too)", "--percentiles"},
    {"throughput", "1/s", "copies of the command per second", "--jobs"},
    {kRegionTime, "s", "time in the part that the program marks", "--region"},
    {"region_entries", "1", "how often the program entered the marked part", "--region"},
});

std::string yes_or_no(bool yes) {
  return yes ? "yes" : "no";
}

/// Adds the metrics of the core kinds. A machine with one kind shows those of P and E cores, which
/// it lacks.
void add_lines_on_core_kinds(const CorePlan& cores, std::vector<MetricLine>& lines) {
  const bool are_here = !cores.timed_kinds.empty();
  const std::string availability = yes_or_no(are_here);
  const auto kinds = are_here ? cores.timed_kinds : std::vector<std::string>{"P", "E"};
  for (const std::string& kind : kinds)
    lines.push_back({time_metric_name(kind), "s", availability, "CPU time on " + kind + " cores"});
  lines.push_back({share_metric_name(kinds.front()), "fraction", availability,
                   "share of the CPU time on " + kinds.front() + " cores"});
}

/// Returns whether the machine has a metric that needs an option, some events or nothing. An option
/// is shown in place of "yes".
std::string describe_availability(
    const KnownMetric& metric,
    const std::function<bool(const std::vector<std::string>& events)>& can_count) {
  if (metric.needs.starts_with("--")) return std::string(metric.needs);
  const auto events = split(metric.needs, ',');
  return yes_or_no(metric.needs.empty() || can_count({events.begin(), events.end()}));
}

struct ExplanationWidths {
  std::size_t counter = 0;
  std::size_t event = 0;
};

/// Makes each text of an explanation printable in a cell. Returns the widths of the columns.
ExplanationWidths make_printable(Explanation& explanation) {
  ExplanationWidths widths;
  for (auto& pass : explanation.passes) {
    for (ExplainedCounter& row : pass) {
      row = {one_line(row.counter), one_line(row.event), one_line(row.explanation)};
      widths.counter = std::max(widths.counter, row.counter.size());
      widths.event = std::max(widths.event, row.event.size());
    }
  }
  return widths;
}

/// Says how many passes the events need and, if it is known, why not fewer: they compete for
/// counters.
std::string describe_pass_count(const Explanation& explanation) {
  const std::size_t pass_count = explanation.passes.size();
  if (pass_count == 1) return "lauka needs 1 pass, in which every run counts all of these events\n";

  std::string text = fmt::format(
      "lauka needs {} passes, and each run counts the events of one of them\n", pass_count);
  if (explanation.competition)
    text += fmt::format("fewer passes are not possible: {}\n", one_line(*explanation.competition));
  return text;
}

/// Appends a line with a counter, its event and, if it says more than the event, its explanation.
void append_counter_line(std::string& text, const ExplainedCounter& row,
                         const ExplanationWidths& widths) {
  text += "  ";
  if (widths.counter > 0) text += fmt::format("{:<{}}  ", row.counter, widths.counter);
  if (row.event.empty())
    text += "-";
  else if (row.explanation.empty() || row.explanation == row.event)
    text += row.event;
  else
    text += fmt::format("{:<{}}  {}", row.event, widths.event, row.explanation);
  text += '\n';
}

using cores::ColumnGroup;
using cores::ThreadRow;
using cores::ThreadTable;
using cores::ThreadWork;

std::string seconds_cell(std::optional<double> value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string count_cell(std::optional<std::uint64_t> value) {
  return value ? fmt::format("{}", *value) : "-";
}

std::string ipc_cell(const ThreadWork& part) {
  if (!part.cycles || !part.instructions) return "-";
  const double ipc = *part.cycles == 0 ? 0.0
                                       : static_cast<double>(*part.instructions) /
                                             static_cast<double>(*part.cycles);
  return fmt::format("{:.1f}", ipc);
}

struct ThreadColumn {
  std::string heading;
  int width = 0;
  std::string cell{};
};

/// Returns the columns that a group says it has, with the cells of one row.
std::vector<ThreadColumn> list_columns(const ColumnGroup& group, const ThreadWork& work) {
  constexpr int time_width = 8;
  std::vector<ThreadColumn> columns;
  if (group.has_user_and_system) {
    columns.push_back({"usr", time_width, seconds_cell(work.user_seconds)});
    columns.push_back({"sys", time_width, seconds_cell(work.system_seconds)});
  }
  if (group.has_cpu_time) columns.push_back({"cpu", time_width, seconds_cell(work.cpu_seconds)});
  if (group.has_cycle_columns) {
    constexpr int count_width = 15;
    constexpr int ipc_width = 3;
    columns.push_back({"cycles", count_width, count_cell(work.cycles)});
    columns.push_back({"insns", count_width, count_cell(work.instructions)});
    columns.push_back({"IPC", ipc_width, ipc_cell(work)});
  }
  return columns;
}

/// Writes the headings or the cells of columns beside each other.
std::string write_columns(const std::vector<ThreadColumn>& columns,
                          std::string ThreadColumn::*heading_or_cell) {
  std::string text;
  for (const ThreadColumn& column : columns)
    text += fmt::format("{}{:>{}}", text.empty() ? "" : " ", column.*heading_or_cell, column.width);
  return text;
}

std::string write_cells(const ColumnGroup& group, const ThreadWork& work) {
  return write_columns(list_columns(group, work), &ThreadColumn::cell);
}

std::string write_headings(const ColumnGroup& group) {
  return write_columns(list_columns(group, {}), &ThreadColumn::heading);
}

std::string write_first_cell(std::string_view text) {
  return fmt::format("{:>7} |", text);
}

/// Writes the titles of column groups above their headings.
std::string write_titles(const std::vector<ColumnGroup>& groups) {
  std::string text = write_first_cell("");
  for (const ColumnGroup& group : groups)
    text += fmt::format(" {:^{}} |", group.title, write_headings(group).size());
  return text + "\n";
}

std::string write_thread_row(const ThreadRow& row, const std::vector<ColumnGroup>& groups) {
  std::string text = write_first_cell(fmt::format("{}", row.id));
  for (std::size_t i = 0; i < groups.size(); ++i)
    text += " " + write_cells(groups[i], row.work_by_column_group[i]) + " |";
  return text + (row.name.empty() ? "" : " " + one_line(row.name)) + "\n";
}

/// Writes the row with the work of all threads, and their number.
std::string write_total_row(const ThreadTable& threads) {
  const std::vector<ColumnGroup>& groups = threads.column_groups;
  std::string text = write_first_cell("total");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    ThreadWork total;
    for (const ThreadRow& row : threads.thread_rows) total.add(row.work_by_column_group[i]);
    text += " " + write_cells(groups[i], total) + " |";
  }
  return text + " " + plural(threads.thread_rows.size(), "thread") + "\n";
}

using cores::ThreadSample;
using std::chrono::nanoseconds;

/// Appends the members of a JSON object to a text, without a JSON document, because a line is
/// written for each thread in each interval.
class JsonMembers {
 public:
  explicit JsonMembers(std::string& text) : text_(text) {}

  /// Appends the name of a member. Returns the text, to which the caller must append the value.
  std::string& begin(std::string_view name) {
    text_.append(is_first_ ? "\"" : ",\"").append(name).append("\":");
    is_first_ = false;
    return text_;
  }
  template <typename Number>
  void add(std::string_view name, const std::optional<Number>& value) {
    constexpr const char* format = std::is_floating_point_v<Number> ? "{:.9g}" : "{}";
    begin(name);
    if (value)
      fmt::format_to(std::back_inserter(text_), format, *value);
    else
      text_ += "null";
  }
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  void add(std::string_view name, Number value) { add(name, std::optional(value)); }
  void add(std::string_view name, bool value) { begin(name).append(value ? "true" : "false"); }

 private:
  std::string& text_;
  bool is_first_ = true;
};

/// Returns nullopt if a value is unknown, or the divisor is 0.
std::optional<double> divide(std::optional<double> dividend, std::optional<double> divisor) {
  if (!dividend || !divisor || *divisor <= 0.0) return std::nullopt;
  return *dividend / *divisor;
}

void add_work(const ThreadWork& work, nanoseconds interval, JsonMembers& members) {
  members.add("cpu_time", work.cpu_seconds);
  members.add("user_time", work.user_seconds);
  members.add("system_time", work.system_seconds);
  members.add("cycles", work.cycles);
  members.add("instructions", work.instructions);
  std::optional<double> cycles;
  if (work.cycles) cycles = static_cast<double>(*work.cycles);
  members.add("clock", divide(cycles, work.cpu_seconds));
  members.add("energy", work.joules);
  members.add("power", divide(work.joules, to_seconds(interval)));
}

/// Returns the share of the CPU time on the fastest core kind, which is the first; nullopt if there
/// is only one kind.
std::optional<double> compute_share_of_fastest(const ThreadSample& sample) {
  if (sample.work_by_kind.size() < 2) return std::nullopt;
  double cpu_seconds_of_all = 0.0;
  for (const ThreadWork& work : sample.work_by_kind)
    cpu_seconds_of_all += work.cpu_seconds.value_or(0.0);
  return divide(sample.work_by_kind.front().cpu_seconds, cpu_seconds_of_all);
}

/// Appends an object that has a member for each core kind: what a thread has done there. With fewer
/// than two kinds, it would say no more than the work on all kinds, so it has no members.
void append_work_by_kind(std::string& text, const ThreadSample& sample,
                         const std::vector<std::string>& kinds) {
  const bool has_several_kinds = kinds.size() >= 2;
  const std::size_t kind_count =
      has_several_kinds ? std::min(kinds.size(), sample.work_by_kind.size()) : 0;

  text += "{";
  for (std::size_t kind = 0; kind < kind_count; ++kind) {
    if (kind > 0) text += ",";
    add_string(kinds[kind], text);
    text += ":{";
    JsonMembers members_of_kind(text);
    add_work(sample.work_by_kind[kind], sample.since_previous_read, members_of_kind);
    text += "}";
  }
  text += "}";
}

/// Returns when the watch ends. Limits the duration, so that adding it cannot overflow.
nanoseconds find_end(nanoseconds began, const ThreadWatch& watching) {
  const nanoseconds longest = nanoseconds::max() - began;
  return began + std::min(watching.max_duration.value_or(longest), longest);
}

/// Waits until `time`, unless the watch must stop before. Returns the time then.
nanoseconds wait_until(nanoseconds time, const ThreadWatch& watching) {
  nanoseconds now = watching.now();
  while (now < time && !watching.must_stop()) {
    watching.wait(time - now);
    now = watching.now();
  }
  return now;
}

}  // namespace

std::string list_events(const Catalog& catalog, std::string_view filter,
                        std::size_t terminal_width) {
  if (catalog.empty()) return "no event can be counted here\n";
  std::vector<Row> rows{Row{"event", "alias", "counters", "description"}};
  for (const CatalogEntry& entry : catalog)
    if (contains_ignoring_case(entry.name, filter) || contains_ignoring_case(entry.alias, filter) ||
        contains_ignoring_case(entry.description, filter))
      rows.push_back({one_line(entry.name), one_line(entry.alias), one_line(entry.counters_text),
                      one_line(entry.description)});
  if (rows.size() == 1)
    return fmt::format("no event that can be counted here contains {}\n", cited(filter));
  return list_text(rows, terminal_width, DescriptionPlace::BelowIfNarrow);
}

// A processor has only a few counters, so many events need several passes: each run counts the
// events of one pass.
std::string explain_events(Explanation explanation) {
  const ExplanationWidths widths = make_printable(explanation);
  std::string text;
  for (const Note& note : explanation.notes) text += one_line(note.text) + '\n';

  const std::size_t pass_count = explanation.passes.size();
  if (pass_count == 0) return text + "there are no events to count\n";
  text += describe_pass_count(explanation);

  for (std::size_t i = 0; i < pass_count; ++i) {
    if (pass_count > 1) text += fmt::format("\npass {}\n", i + 1);
    for (const ExplainedCounter& row : explanation.passes[i])
      append_counter_line(text, row, widths);
  }

  return text;
}

// Lists all metrics that lauka knows, and says which of them this machine has.
std::vector<MetricLine> list_available_metrics(
    const std::function<bool(const std::vector<std::string>& events)>& can_count,
    bool can_measure_tree_peak, const CorePlan& cores) {
  std::vector<MetricLine> lines;

  // Of the built-in metrics, only tree_peak_memory needs something that a machine may lack: control
  // groups.
  for (const BuiltInMetric& metric : kBuiltInMetrics) {
    const bool is_available = metric.name != kTreePeakMemory || can_measure_tree_peak;
    lines.push_back({.name = std::string(metric.name),
                     .unit = std::string(unit_symbol(metric.unit)),
                     .availability = yes_or_no(is_available),
                     .meaning = std::string(metric.meaning)});
  }
  add_lines_on_core_kinds(cores, lines);

  for (const KnownMetric& metric : kKnownMetrics)
    lines.push_back({.name = std::string(metric.name),
                     .unit = std::string(metric.unit),
                     .availability = describe_availability(metric, can_count),
                     .meaning = std::string(metric.meaning)});

  return lines;
}

std::string list_metrics(const std::vector<MetricLine>& lines, std::size_t terminal_width) {
  std::vector<Row> rows{Row{"metric", "unit", "here", "meaning"}};
  for (const MetricLine& line : lines)
    rows.push_back({line.name, line.unit, line.availability, line.meaning});
  return list_text(rows, terminal_width, DescriptionPlace::Beside) +
         "\nEvery event of lauka --list-events is also a metric. --scrape, --derive and "
         "LAUKA_METRICS\nadd others. If the list says no for an event, lauka --check says why.\n";
}

// On a machine with several core kinds, the table has a group of columns for each of them, such as
// "P" and "E", with the group's title above its columns.
std::string threads_table(const ThreadTable& threads) {
  const std::vector<ColumnGroup>& groups = threads.column_groups;
  std::string text;

  // A single group needs no title.
  if (groups.size() > 1) text += write_titles(groups);
  text += write_first_cell("TID");
  for (const ColumnGroup& group : groups) text += " " + write_headings(group) + " |";
  text += "\n";

  for (const ThreadRow& row : threads.thread_rows) text += write_thread_row(row, groups);
  return text + write_total_row(threads);
}

// Appends a JSON object that says what a thread has done in one interval. `kinds`: names of the
// machine's core kinds, in the order of `sample.work_by_kind`.
void add_thread_line(const ThreadSample& sample, const std::vector<std::string>& kinds,
                     nanoseconds utc_end, std::string& text) {
  text += "{";

  // add() writes a whole member. After begin(), the value must still be appended to the text.
  JsonMembers members(text);
  fmt::format_to(std::back_inserter(members.begin("time")), "{:.6f}", to_seconds(utc_end));
  members.add("interval", to_seconds(sample.since_previous_read));
  members.add("pid", sample.process_id);
  members.add("tid", sample.thread_id);
  add_string(sample.name, members.begin("name"));
  members.add("new", sample.is_new);
  members.add("ended", sample.has_ended);

  add_work(sample.work_on_all_kinds, sample.since_previous_read, members);
  members.add("wait_time", sample.runnable_wait_seconds);
  members.add("p_share", compute_share_of_fastest(sample));
  members.add("moves", sample.core_kind_moves);

  append_work_by_kind(members.begin("kinds"), sample, kinds);
  text += "}\n";
}

// Reads at fixed times, which lie whole intervals after the beginning, so that delays do not add
// up.
Result<void> watch_threads(cores::ThreadStream& stream, const ThreadWatch& watching) {
  // A read returns what happened since the previous read. The first one only sets the beginning, so
  // its result is not needed.
  const nanoseconds began = watching.now();
  static_cast<void>(stream.read(began));

  const nanoseconds end = find_end(began, watching);
  std::string text;
  nanoseconds next_read = began + watching.interval;
  while (stream.has_live_process() && next_read <= end) {
    const nanoseconds now = wait_until(next_read, watching);
    if (watching.must_stop()) break;

    text.clear();
    const nanoseconds utc_now = now + watching.utc_minus_now;
    for (const ThreadSample& sample : stream.read(now))
      add_thread_line(sample, stream.kinds(), utc_now, text);
    if (!text.empty()) {
      if (auto written = watching.write(text); !written) return written;
    }

    // Skips the reads that became due meanwhile, instead of reading several times in a row.
    const std::int64_t overdue_reads = (watching.now() - next_read) / watching.interval;
    next_read += watching.interval * (std::max<std::int64_t>(0, overdue_reads) + 1);
  }

  return {};
}

}  // namespace lauka::inquire
