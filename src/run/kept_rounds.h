#pragma once

#include "core/own_metric.h"
#include "core/record.h"
#include "core/result.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Runs that have no counts for one reason.
struct Uncounted {
  std::string subject;  ///< empty, or a simulated command and ": "
  Error why;
  std::size_t runs = 0;
};

/// Mean of what was seen so far.
struct RunningMean {
  std::uint64_t count = 0;
  double mean = 0.0;
  void add(double value) { mean += (value - mean) / static_cast<double>(++count); }
};

/// How long a command's runs take, in seconds.
struct Pace {
  RunningMean whole;    ///< of a run, warm-up runs included
  RunningMean between;  ///< of the hooks between two runs
  RunningMean wall;     ///< wall time of a timed run
};

/// What came of some rounds that were run together: all that decides about those after them.
struct KeptRounds {
  Step first{};                     ///< of them
  std::uint64_t steps = 0;          ///< of all of them
  std::chrono::nanoseconds time{};  ///< that they took of the budget
  std::vector<RunRecord> runs{};
  std::vector<RedoneRun> redone{};
  // How these stood then.
  std::vector<Pace> paces{};
  std::vector<std::string> notes{};
  std::vector<Uncounted> uncounted{};
  std::vector<OwnMetric> discovered{};
  std::vector<ShellOverhead> overheads{};
};

/// Rounds as a line of JSON, and the rounds of such a line; none where it is none.
std::string line_of(std::size_t benchmark, const KeptRounds& rounds);
std::optional<std::pair<std::size_t, KeptRounds>> rounds_of(std::string_view line);

/// The rounds of one plan that an earlier process finished, and where those of this one are kept.
struct RoundKeeper {
  std::deque<KeptRounds> finished{};  ///< in order, to be taken instead of run
  std::function<void(const KeptRounds&)> keep{};
};

}  // namespace lauka
