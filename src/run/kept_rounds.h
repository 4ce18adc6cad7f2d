#pragma once

#include "core/call_paths.h"
#include "core/function_table.h"
#include "core/numbers.h"
#include "core/own_metric.h"
#include "core/record.h"
#include "core/result.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka {

struct UncountedRuns {
  /// Beginning of messages: a command's name and ": "; may be empty.
  std::string subject;
  Error why;
  std::size_t runs = 0;
  std::string events{};  ///< events without a count, as messages list them; may be empty
};

struct RunningMean {
  std::uint64_t count = 0;
  double mean = 0.0;
  void add(double value) { mean += (value - mean) / static_cast<double>(++count); }
};

/// Mean times of a command's runs, in seconds. Counting and simulated runs are left out.
struct Pace {
  RunningMean run_seconds;   ///< time of a run with all preparation and clean-up
  RunningMean hook_seconds;  ///< time of the prepare and conclude hooks of a run
  RunningMean wall_time_seconds;
};

struct FunctionsOfRun {
  Step step{};
  std::vector<FunctionCounts> functions{};
  std::vector<PathCounts> paths{};
  std::vector<std::size_t> uncounted_events{};  ///< indices of events that the run has no counts of
};

/// The result of rounds that were run together, and the state on which later rounds depend.
struct FinishedRounds {
  Step first{};
  std::uint64_t step_count = 0;
  std::chrono::nanoseconds time{};  ///< time of the steps and their prepare and conclude hooks
  std::vector<RunRecord> runs{};
  std::vector<RedoneRun> redone{};
  std::vector<FunctionsOfRun> functions{};
  // The state after these rounds. StepRunner::kept_part sets all but `paces`.
  std::vector<Pace> paces{};
  std::vector<Note> notes{};
  std::vector<UncountedRuns> uncounted{};
  std::vector<OwnMetric> discovered{};
  std::vector<ShellOverhead> overheads{};
};

/// Encodes finished rounds of benchmark number `benchmark` as a line of JSON.
std::string to_line(std::size_t benchmark, const FinishedRounds& rounds);
/// Decodes a benchmark's number and the rounds; nullopt if `line` is not a line of rounds.
std::optional<std::pair<std::size_t, FinishedRounds>> parse_rounds(std::string_view line);

/// The first line of a log of rounds.
struct LogHead {
  /// Names and values of the settings that determine the rounds.
  std::vector<std::pair<std::string, std::string>> settings{};
  /// Names and values of what does not determine the rounds, but may affect the measured values.
  std::vector<std::pair<std::string, std::string>> circumstances{};
  std::uint64_t seed = 0;
  UtcTime measuring_began{};
};

std::string to_line(const LogHead& head);
/// Decodes a head; nullopt if `line` is not the head of a log in the present format.
std::optional<LogHead> parse_head(std::string_view line);

/// True if `line` may be a head, perhaps cut off at its end.
bool may_be_cut_head(std::string_view line);

/// The rounds of one plan that an earlier process finished, and the log of the present process.
struct RoundKeeper {
  std::deque<FinishedRounds> rounds_to_replay{};  ///< rounds that need not be run, in order
  /// Adds rounds to the log; may be empty.
  std::function<void(const FinishedRounds&)> append_to_log{};
};

}  // namespace lauka
