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

// Answers that run no command.

namespace lauka::inquire {

/// Lists the events of `catalog` whose name, alias or description contains `filter` (in any case;
/// empty: all), in columns and the catalog's order. `columns`: the terminal's width, into which
/// descriptions are wrapped; 0 (a pipe): one line for each event.
std::string list_events(const Catalog& catalog, std::string_view filter, std::size_t columns);

/// A metric as --list-metrics shows it.
struct MetricLine {
  std::string name;
  std::string unit;
  std::string here;  ///< "yes", "no", or the option that it takes
  std::string meaning;
};

/// Lists all metrics with a name of their own; every event of --list-events is another.
std::vector<MetricLine> metrics_here(
    const std::function<bool(const std::vector<std::string>& events)>& can_count,
    bool has_tree_peak, const CoreUse& cores);

/// Prints them as a table, `columns` wide as in list_events.
std::string list_metrics(const std::vector<MetricLine>& lines, std::size_t columns);

/// Explains which event is counted where, pass by pass, and why one pass is not enough.
std::string explain_events(Explanation explanation);

/// Prints a table with a line for each thread and one of totals; "-" if unknown.
std::string threads_table(const cores::Threads& threads);

enum class Severity : unsigned char { Ok, Note, Problem };

/// "ok", "note", "problem".
std::string_view name_of(Severity standing);

/// One result of --check.
struct CheckLine {
  std::string topic;
  Severity standing = Severity::Ok;
  std::string finding;
  std::string remedy;  ///< a command or an act; empty: nothing to mend, or no way
};

/// Checks what can be measured on a machine and what makes measurements on it noisy, by topic. A
/// problem spoils or prevents numbers; a note informs.
std::vector<CheckLine> check(const MachineFacts& facts, std::span<const EngineFacts> engines);

/// Prints a line for each, and below it the remedy. `width` 0: no line is broken.
std::string check_text(const MachineFacts& facts, std::span<const CheckLine> lines,
                       std::size_t width);

/// Prints them as JSON.
std::string check_json(const MachineFacts& facts, std::span<const EngineFacts> engines,
                       std::span<const CheckLine> lines);

// --threads with --interval: the threads of running processes, as lines for programs.

/// Appends a line of JSON. `time`: of its end, since 1970 UTC. What is unknown is null.
void add_thread_line(const cores::ThreadSample& sample, const std::vector<std::string>& kinds,
                     std::chrono::nanoseconds time, std::string& text);

/// The loop's access to the world.
struct Watching {
  std::chrono::nanoseconds interval{};
  std::optional<std::chrono::nanoseconds> during{};  ///< nullopt: until the processes end
  std::chrono::nanoseconds time_ahead{};             ///< what the time of day is ahead of `now`
  std::function<std::chrono::nanoseconds()> now;
  std::function<void(std::chrono::nanoseconds)> wait;  ///< may come back early
  std::function<bool()> is_over;                       ///< the user wants an end
  std::function<Result<void>(std::string_view)> write;
};

/// Reads at whole intervals from the start on, however long a reading takes, and writes the results
/// at once. A late reading is left out: the next line covers a longer time.
Result<void> watch_threads(cores::ThreadStream& stream, const Watching& watching);

}  // namespace lauka::inquire
