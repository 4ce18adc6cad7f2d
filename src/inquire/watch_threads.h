#pragma once

#include "core/result.h"
#include "cores/thread_stream.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// --threads with --interval: what the threads of running processes do, as lines for programs.

namespace lauka::inquire {

/// Appends a line of JSON. `time`: of its end, since 1970 UTC. What is not known is null.
void add_thread_line(const cores::ThreadSample& sample, const std::vector<std::string>& kinds,
                     std::chrono::nanoseconds time, std::string& text);

/// What the loop needs of the world.
struct Watching {
  std::chrono::nanoseconds interval{};
  std::optional<std::chrono::nanoseconds> during{};  ///< none: until the processes end
  std::chrono::nanoseconds time_ahead{};             ///< of the time of day to `now`
  std::function<std::chrono::nanoseconds()> now;
  std::function<void(std::chrono::nanoseconds)> wait;  ///< may come back early
  std::function<bool()> is_over;                       ///< the user wants an end
  std::function<Result<void>(std::string_view)> write;
};

/// Reads at whole intervals from the start on, whatever a reading takes, and writes what came of
/// each at once. One that could not be made in time is left out: the next line is of a longer time.
Result<void> watch_threads(cores::ThreadStream& stream, const Watching& watching);

}  // namespace lauka::inquire
