#pragma once

#include "core/event.h"
#include "core/machine.h"
#include "core/result.h"
#include "cores/threads.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::inquire {

/// Returns a table of the events whose name, alias or description contains `filter`, ignoring case;
/// a message if there are no such events. Descriptions are wrapped for a terminal of
/// `terminal_width` cells; 0: not wrapped.
std::string list_events(const Catalog& catalog, std::string_view filter,
                        std::size_t terminal_width);

struct MetricLine {
  std::string name;
  std::string unit;
  std::string availability;  ///< "yes", "no", or the option that adds the metric
  std::string meaning;
};

/// Returns the metrics that --list-metrics shows.
std::vector<MetricLine> list_available_metrics(
    const std::function<bool(const std::vector<std::string>& events)>& can_count,
    bool can_measure_tree_peak, const CorePlan& cores);

/// Returns a table of the metrics. Descriptions are wrapped for a terminal of `terminal_width`
/// cells; 0: not wrapped.
std::string list_metrics(const std::vector<MetricLine>& lines, std::size_t terminal_width);

/// Returns a text that shows the passes, and the counter of each event in its pass.
std::string explain_events(Explanation explanation);

/// Returns a table with a line per thread and a line of totals; unknown values are "-".
std::string threads_table(const cores::ThreadTable& threads);

/// Appends a line of JSON to `text`. `utc_end`: end of the sample's interval, since 1970 (UTC).
void add_thread_line(const cores::ThreadSample& sample, const std::vector<std::string>& kinds,
                     std::chrono::nanoseconds utc_end, std::string& text);

struct ThreadWatch {
  std::chrono::nanoseconds interval{};
  std::optional<std::chrono::nanoseconds> max_duration{};  ///< nullopt: until the processes end
  std::chrono::nanoseconds utc_minus_now{};                ///< time since 1970 (UTC) minus `now`
  std::function<std::chrono::nanoseconds()> now;
  std::function<void(std::chrono::nanoseconds)> wait;
  std::function<bool()> must_stop;
  std::function<Result<void>(std::string_view)> write;
};

/// Reads the threads once per interval, and writes each result at once. Skips readings that became
/// due during a slow reading or write.
Result<void> watch_threads(cores::ThreadStream& stream, const ThreadWatch& watching);

}  // namespace lauka::inquire
