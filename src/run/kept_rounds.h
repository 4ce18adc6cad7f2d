#pragma once

#include "core/functions.h"
#include "core/numbers.h"
#include "core/own_metric.h"
#include "core/record.h"
#include "core/result.h"
#include "plan/plan.h"

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

/// Runs without counts, and the reason that they share.
struct UncountedRuns {
  std::string subject;  ///< empty, or the name of a simulated command and ": "
  Error why;
  std::size_t runs = 0;
};

/// The mean of the values added so far.
struct RunningMean {
  std::uint64_t count = 0;
  double mean = 0.0;
  void add(double value) { mean += (value - mean) / static_cast<double>(++count); }
};

/// The mean times that a command's runs take, in seconds.
struct Pace {
  RunningMean whole;    ///< a run, except counting and simulated runs
  RunningMean between;  ///< hooks before and after such a run
  RunningMean wall;     ///< wall time of a timed run
};

/// The functions of one simulated or sampled run.
struct KeptFunctions {
  Step step{};
  std::vector<FunctionCounts> functions{};
};

/// The result of rounds that were run together, with everything that decides about later rounds.
struct FinishedRounds {
  Step first{};                     ///< first step of the first round
  std::uint64_t steps = 0;          ///< number of steps
  std::chrono::nanoseconds time{};  ///< time that the steps took, with their hooks
  std::vector<RunRecord> runs{};
  std::vector<RedoneRun> redone{};
  std::vector<KeptFunctions>
      functions{};  ///< functions of the simulated and sampled runs in `runs`
  // State after these rounds; all but `paces` is set by StepRunner::kept_part.
  std::vector<Pace> paces{};
  std::vector<Note> notes{};
  std::vector<UncountedRuns> uncounted{};
  std::vector<OwnMetric> discovered{};
  std::vector<ShellOverhead> overheads{};
};

/// Encodes the finished rounds of benchmark number `benchmark` as a line of JSON.
std::string to_line(std::size_t benchmark, FinishedRounds rounds);
/// Decodes a line of to_line into the benchmark's number and its rounds; nullopt for other lines.
std::optional<std::pair<std::size_t, FinishedRounds>> parse_rounds(std::string_view line);

/// The first line of a log of rounds.
struct KeptHead {
  /// Names and values of everything that decides which rounds there are.
  std::vector<std::pair<std::string, std::string>> made_of{};
  std::uint64_t seed = 0;
  TimeOfDay began{};
};

/// Encodes a head as a line.
std::string to_line(const KeptHead& head);
/// Decodes a head; nullopt for other lines, and for logs with another format of rounds.
std::optional<KeptHead> parse_head(std::string_view line);

/// True if `line`, which has no line break, may be the beginning of a head, or a whole one.
bool may_be_cut_head(std::string_view line);

/// Seals at the ends of a log's lines. Each seal depends on all lines up to its own, so that
/// changes to a log are noticed.
class Seals {
 public:
  /// Returns the next line with its seal added.
  std::string seal(std::string line);

  /// Returns the next line without its seal; nullopt if the seal is wrong.
  std::optional<std::string_view> open(std::string_view sealed);

 private:
  std::string latest_;
};

/// The rounds of one plan that an earlier process finished, and a log for the rounds of this
/// process.
struct RoundKeeper {
  std::deque<FinishedRounds> finished{};              ///< rounds in order, used instead of new runs
  std::function<void(const FinishedRounds&)> keep{};  ///< adds rounds to the log; may be empty
};

}  // namespace lauka
