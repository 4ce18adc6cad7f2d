#pragma once

#include "core/event.h"
#include "core/machine.h"
#include "core/result.h"
#include "cores/threads.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Answers to questions for which no command runs.

namespace lauka::inquire {

/// Lists the events whose name, alias or description contains `filter` (ignoring case; empty: all
/// events), in the catalog's order, or says that there is none. `columns` is the terminal's width,
/// to which descriptions are wrapped; 0 (a pipe): one line per event.
std::string list_events(const Catalog& catalog, std::string_view filter, std::size_t columns);

struct MetricLine {
  std::string name;
  std::string unit;
  std::string here;  ///< "yes", "no", or the option that adds the metric
  std::string meaning;
};

/// Returns all metrics except events, which --list-events shows.
std::vector<MetricLine> metrics_here(
    const std::function<bool(const std::vector<std::string>& events)>& can_count,
    bool has_tree_peak, const CoreUse& cores);

/// Prints the metrics as a table that is `columns` wide; 0 (a pipe): one line per metric.
std::string list_metrics(const std::vector<MetricLine>& lines, std::size_t columns);

/// Explains on which counter each event is counted, pass by pass, and why one pass is not enough.
std::string explain_events(Explanation explanation);

/// Prints a table with a line for each thread and a line of totals; "-" stands for unknown values.
std::string threads_table(const cores::Threads& threads);

enum class Severity : unsigned char { Ok, Note, Problem };

/// Returns "ok", "note" or "problem".
std::string_view name_of(Severity standing);

/// One result of --check.
struct CheckLine {
  std::string topic;
  Severity standing = Severity::Ok;
  std::string finding;
  std::string remedy;  ///< command or action; empty if nothing is wrong, or nothing helps
};

/// Checks, topic by topic, what can be measured on a machine and what makes its measurements noisy.
/// A problem falsifies or prevents results; a note only informs.
std::vector<CheckLine> check(const MachineFacts& facts, std::span<const EngineFacts> engines);

/// Prints each result of --check on a line, with the remedy below it. Breaks lines at `width` cells
/// (0: none), but no remedy.
std::string check_text(const MachineFacts& facts, std::span<const CheckLine> lines,
                       std::size_t width);

/// Prints the results of --check as JSON.
std::string check_json(const MachineFacts& facts, std::span<const EngineFacts> engines,
                       std::span<const CheckLine> lines);

// --threads with --interval: lines for programs about the threads of running processes.

/// Appends a line of JSON. `time`: end of the sample's interval, since 1970 (UTC). Unknown values
/// are null.
void add_thread_line(const cores::ThreadSample& sample, const std::vector<std::string>& kinds,
                     std::chrono::nanoseconds time, std::string& text);

/// The settings of watch_threads, and its access to clock, user and output.
struct Watching {
  std::chrono::nanoseconds interval{};
  std::optional<std::chrono::nanoseconds> during{};  ///< nullopt: until the processes end
  std::chrono::nanoseconds
      time_ahead{};  ///< difference between the time since 1970 (UTC) and `now`
  std::function<std::chrono::nanoseconds()> now;
  std::function<void(std::chrono::nanoseconds)> wait;  ///< may return early
  std::function<bool()> is_over;                       ///< true if the user wants to end
  std::function<Result<void>(std::string_view)> write;
};

/// Reads the threads at whole intervals since the start, however long a reading takes, and writes
/// each result at once. Skips a reading that would be late: the next line then covers a longer
/// time.
Result<void> watch_threads(cores::ThreadStream& stream, const Watching& watching);

}  // namespace lauka::inquire
