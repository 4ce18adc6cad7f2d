#pragma once

#include "core/numbers.h"
#include "core/own_metric.h"
#include "core/record.h"
#include "core/result.h"
#include "plan/plan.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
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
  RunningMean whole;    ///< of a run, warm-up runs included
  RunningMean between;  ///< of the hooks between two runs
  RunningMean wall;     ///< wall time of a timed run
};

/// The result of some rounds that were run together: all that decides about later ones.
struct KeptRounds {
  Step first{};                     ///< the first of them
  std::uint64_t steps = 0;          ///< how many there were
  std::chrono::nanoseconds time{};  ///< that they took of the budget
  std::vector<RunRecord> runs{};
  std::vector<RedoneRun> redone{};
  // The state at that time.
  std::vector<Pace> paces{};
  std::vector<std::string> notes{};
  std::vector<Uncounted> uncounted{};
  std::vector<OwnMetric> discovered{};
  std::vector<ShellOverhead> overheads{};
};

/// Converts rounds to a line of JSON, and back; nullopt for other lines.
std::string to_line(std::size_t benchmark, KeptRounds rounds);
std::optional<std::pair<std::size_t, KeptRounds>> parse_rounds(std::string_view line);

/// Begins a log of rounds.
struct KeptHead {
  /// Names and values of everything that decides which rounds there are.
  std::vector<std::pair<std::string, std::string>> made_of{};
  std::uint64_t seed = 0;
  TimeOfDay began{};

  static constexpr std::string_view kBegin = "[\"lauka-rounds-3\",";
};

std::string to_line(const KeptHead& head);
std::optional<KeptHead> parse_head(std::string_view line);

/// Checks that rounds can be those of `plan`, which must outlive it: the log may have been edited.
class KeptRoundsCheck {
 public:
  explicit KeptRoundsCheck(const Plan& plan) : plan_(plan) {}

  /// True if `next` can follow the rounds before it: its steps are the plan's next ones, each has
  /// its one run (or no run, if it is thrown away), and all sizes and times are possible.
  bool accept(const KeptRounds& next);

  /// Rounds so far that are not thrown away.
  std::uint64_t rounds() const { return rounds_; }

 private:
  bool has_possible_steps(const KeptRounds& next);
  bool is_possible(const RunRecord& run, const KeptRounds& next) const;
  bool has_possible_state(const KeptRounds& next);

  const Plan& plan_;
  std::map<std::pair<RoundKind, std::uint32_t>, std::uint64_t> next_round_;  // by first command
  std::uint64_t rounds_ = 0;
  std::chrono::nanoseconds time_{};
  std::size_t discovered_ = 0;
};

/// The rounds of one plan that an earlier process finished, and the place for this one's.
struct RoundKeeper {
  std::deque<KeptRounds> finished{};  ///< in order, to be taken instead of run
  std::function<void(const KeptRounds&)> keep{};
};

}  // namespace lauka
