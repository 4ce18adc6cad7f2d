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

/// Runs that have no counts for one reason.
struct Uncounted {
  std::string subject;  ///< empty, or a simulated command and ": "
  Error why;
  std::size_t runs = 0;
};

/// Mean of the values so far.
struct RunningMean {
  std::uint64_t count = 0;
  double mean = 0.0;
  void add(double value) { mean += (value - mean) / static_cast<double>(++count); }
};

/// The time of a command's runs, in seconds.
struct Pace {
  RunningMean whole;    ///< time of a run, warm-up runs included
  RunningMean between;  ///< time of the hooks between two runs
  RunningMean wall;     ///< wall time of a timed run
};

/// The functions of a simulated run.
struct KeptFunctions {
  Step step{};
  std::vector<FunctionCounts> functions{};
};

/// The result of some rounds that were run together: all that decides about later ones.
struct FinishedRounds {
  Step first{};                     ///< the first of them
  std::uint64_t steps = 0;          ///< number of steps
  std::chrono::nanoseconds time{};  ///< time that the steps took of the budget
  std::vector<RunRecord> runs{};
  std::vector<RedoneRun> redone{};
  std::vector<KeptFunctions> functions{};  ///< functions of the simulated runs among `runs`
  // The state at that time.
  std::vector<Pace> paces{};
  std::vector<Note> notes{};
  std::vector<Uncounted> uncounted{};
  std::vector<OwnMetric> discovered{};
  std::vector<ShellOverhead> overheads{};
};

/// Converts rounds to a line of JSON, and back; nullopt for other lines.
std::string to_line(std::size_t benchmark, FinishedRounds rounds);
std::optional<std::pair<std::size_t, FinishedRounds>> parse_rounds(std::string_view line);

/// Begins a log of rounds.
struct KeptHead {
  /// Names and values of everything that decides which rounds there are.
  std::vector<std::pair<std::string, std::string>> made_of{};
  std::uint64_t seed = 0;
  TimeOfDay began{};
};

/// Converts a head to a line, and back; nullopt for other lines, and for heads of logs whose rounds
/// have another layout.
std::string to_line(const KeptHead& head);
std::optional<KeptHead> parse_head(std::string_view line);

/// True if `line`, which has no line break, may be the beginning of a head.
bool may_be_cut_head(std::string_view line);

/// The seals at the ends of a log's lines. Each depends on all lines up to its own, so that an
/// edited log is noticed.
class Seals {
 public:
  /// Returns the next line with its seal.
  std::string seal(std::string line);

  /// Returns the next line without its seal; nullopt if the seal is wrong.
  std::optional<std::string_view> open(std::string_view sealed);

 private:
  std::string latest_;
};

/// The rounds of one plan that an earlier process finished, and the place for this one's.
struct RoundKeeper {
  std::deque<FinishedRounds> finished{};  ///< rounds in order, used instead of new runs
  std::function<void(const FinishedRounds&)> keep{};
};

}  // namespace lauka
