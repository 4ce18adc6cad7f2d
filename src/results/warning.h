#pragma once

#include "core/metric.h"
#include "stats/delta.h"
#include "stats/summary.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka {

/// The first run was slower than all that came after it.
struct SlowFirstRun {
  stats::FirstRun seen;
  std::uint64_t warmup = 0;  ///< runs that went before it, uncounted
};

/// Some runs were far slower or faster than the rest.
struct ManyOutliers {
  std::size_t count = 0;  ///< as in the table's column: 1.5 IQR beyond the quartiles
  std::size_t runs = 0;
};

/// The limit that kept the number of runs low; Ended: the session did not get that far.
enum class FewBecause : unsigned char { Runs, MinRuns, MaxRuns, Ended };

/// Too few runs for a reliable result.
struct FewRuns {
  std::size_t runs = 0;  ///< of the command that has the fewest
  bool gated = false;    ///< a gate could not be decided; else: deltas are shown
  FewBecause because = FewBecause::MinRuns;
};

/// Deltas, or even gates, were made of runs that did not take turns.
struct SequentialRuns {
  bool gated = false;
  bool for_hooks = false;  ///< not requested: implied by a --setup or --cleanup
};

/// A fact about the machine, or lauka's version, that is another one than the baseline's.
struct Difference {
  std::string_view what;
  std::string then;
  std::string now;
};

/// Deltas, or even gates, were made with runs of another session.
struct AgainstBaseline {
  bool gated = false;
  bool is_joined = false;  ///< no baseline, but sessions that were joined
};

/// The baseline, or a joined session other than the reference's, was measured on another machine,
/// or an unknown one.
struct ForeignBaseline {
  bool names_machine = true;  ///< the file names its machine
  std::string file{};         ///< the session's file; empty for the baseline
  std::vector<Difference> differences{};
};

/// The clock steps so widely that the wall time of a run is a few steps.
struct CoarseClock {
  double median_seconds = 0.0;
  double step_seconds = 0.0;
};

/// So little CPU time that its division into user and system is a matter of luck.
struct UncertainSplit {
  double median_cpu_seconds = 0.0;
  double tick_seconds = 0.0;
};

/// Runs took no longer than the shell alone, so that a time became 0.
struct BelowShell {
  std::size_t runs = 0;  ///< of all of them
  std::size_t below = 0;
};

/// A candidate spent another part of its CPU time on the fast cores than the reference did.
struct OtherCores {
  /// Mean cycles on one kind of core.
  struct Cycles {
    std::string event;  ///< "cycles (P)"
    double candidate = 0.0;
    double reference = 0.0;
  };
  std::string metric;  ///< "p_share"
  double candidate = 0.0;
  double reference = 0.0;
  std::vector<Cycles> cycles{};  ///< by kind; empty if not counted
};

/// Runs that stayed below --min-p-share even when repeated, and count.
struct LowShare {
  std::string metric;  ///< "p_share"
  double least = 0.0;
  std::size_t runs = 0;  ///< with less
  std::size_t of = 0;
};

/// The engine saw too little of a command.
struct LowCoverage {
  double median = 0.0;  ///< fraction of its instructions
};

/// The mean's change is clearly outside the interval of the typical round's: rare long runs.
struct MeanDiffers {
  std::string metric;
  stats::Delta delta;
};

/// An event was 0 in every run, though the command ran instructions.
struct NeverCounted {
  std::string event;
};

/// Counting made the runs in which it was done longer.
struct SlowedByCounting {
  double ratio = 1.0;  ///< of wall times
};

/// The command had to wait for a CPU so much that its CPU time is by far the quieter metric.
struct BusyMachine {
  double median_wall_seconds = 0.0;
  double median_cpu_seconds = 0.0;
};

/// A candidate is the same program as the reference: differences are noise, or come from elsewhere.
struct SamePrograms {
  std::string reference;  ///< its name
};

/// An observation with its numbers; report/ has the words.
using Finding =
    std::variant<SlowFirstRun, stats::Drift, stats::TwoModes, ManyOutliers, stats::SlowNoise,
                 CoarseClock, UncertainSplit, BelowShell, FewRuns, SequentialRuns, AgainstBaseline,
                 ForeignBaseline, OtherCores, LowShare, LowCoverage, NeverCounted, MeanDiffers,
                 SlowedByCounting, BusyMachine, SamePrograms>;

/// Caveats.
struct Warning {
  Finding finding;
  std::optional<std::size_t> command{};  ///< its index; nullopt: all of them
  Shown shown = Shown::Always;           ///< Verbose: of hidden rows; exports have it anyway
};

}  // namespace lauka
