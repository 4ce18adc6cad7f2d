#pragma once

#include "core/choices.h"
#include "core/command.h"
#include "core/metric.h"
#include "core/recording.h"
#include "gate/verdict.h"
#include "results/function_changes.h"
#include "session/baseline.h"
#include "stats/delta.h"
#include "stats/layouts.h"
#include "stats/quantiles.h"
#include "stats/summary.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lauka {

struct SlowFirstRun {
  stats::FirstRun first_run_times;
  std::uint64_t warmup = 0;  ///< number of warm-up runs before the first timed run; 0 if unknown
  /// True if the metric block_reads or the metric major_faults is known to be above 0 in the first
  /// run only.
  bool only_first_run_read_disk = false;
};

struct ManyOutliers {
  std::size_t count = 0;
  std::size_t all_runs = 0;
};

/// The option that a warning about few runs advises to raise; Ended if the session was cut short.
enum class FewRunsReason : unsigned char { Runs, MinRuns, MaxRuns, Ended };

struct FewRuns {
  std::size_t runs = 0;
  /// True: `runs` is the smallest number of rounds of an undecided gate. False: `runs` is the
  /// smallest number of runs on a side of a wall time delta.
  bool is_about_gate = false;
  FewRunsReason limiting_option = FewRunsReason::MinRuns;
  /// Number of runs that the warning advises; with layouts, a number of whole sweeps.
  std::size_t advised_runs = 10;
};

/// Finding: commands were run one after the other, so deltas do not compare runs of the same round.
struct NotInterleaved {
  bool has_gates = false;
  /// True if --setup or --cleanup caused the order.
  bool is_caused_by_hooks = false;
};

/// Finding: deltas compare runs of different sessions. `is_joined`: true for joined sessions, false
/// for a baseline.
struct SeparateSessions {
  bool has_gates = false;
  bool is_joined = false;
};

/// Finding: the baseline or a joined session names no machine, or was measured under other
/// conditions.
struct OtherConditions {
  bool names_machine = true;
  std::string file{};  ///< file of the joined session; empty for the baseline
  std::vector<SettingDifference> differences{};
};

/// Finding: a candidate's program or process differs from the reference's, in the same session, in
/// something that could explain a delta.
struct OtherCircumstances {
  std::string reference{};
  std::vector<SettingDifference> differences{};
};

/// Finding: simulated counts of two processors are compared. libc chooses its functions by the
/// processor, so the counts may differ although the programs do not.
struct OtherProcessor {
  std::string file{};  ///< file of the joined session; empty for the baseline
  /// Features that only one of the processors has, in the words of /proc/cpuinfo; may be empty.
  std::vector<std::string> differing_features{};
};

struct CoarseClock {
  double median_seconds = 0.0;
  double step_seconds = 0.0;
};

/// Finding: CPU time is so short that its split into user and system time may be random.
struct UncertainSplit {
  double median_cpu_seconds = 0.0;
  double tick_seconds = 0.0;  ///< tick of the kernel; an assumed value if unknown
};

/// Finding: `runs_below_shell_time` of `all_timed_runs` timed runs took less time than starting the
/// shell alone, in wall or CPU time. This time counts as 0.
struct BelowShell {
  std::size_t all_timed_runs = 0;
  std::size_t runs_below_shell_time = 0;
};

/// Finding: candidate and reference spent different shares of their CPU time on the fastest kind of
/// core.
struct DifferentCoreShares {
  struct Cycles {
    std::string event;
    double candidate = 0.0;
    double reference = 0.0;
  };
  std::string metric;
  double candidate_share = 0.0;
  double reference_share = 0.0;
  std::vector<Cycles> cycles{};
};

/// Finding: in `runs_below_min_share` of `all_runs` runs, the share of CPU time on the first kind
/// of core was below `min_core_share`.
struct LowCoreShare {
  std::string metric;
  double min_core_share = 0.0;  ///< --min-p-share as a fraction
  std::size_t runs_below_min_share = 0;
  std::size_t all_runs = 0;
};

struct LowCoverage {
  double median = 0.0;  ///< median over runs of the fraction of instructions that was counted
};

struct MeanDiffers {
  std::string metric;
  stats::Delta delta;
  /// True if the command with the raised mean is known to have high outliers.
  bool has_high_outliers = false;
};

/// Finding: neighbouring rounds resemble each other, which widens the interval of one or more
/// deltas.
struct AlikeRounds {
  std::string metric;
  /// Factor by which the interval is wider than for independent rounds. If the finding covers
  /// several deltas: the largest of their factors.
  double widening = 1.0;
  /// True if neighbouring runs of Warning::command resemble each other, and the other command's
  /// runs are not known to do so.
  bool is_of_one_command = false;
};

/// Finding: an event was 0 in every run of a command, and was probably not counted.
struct NeverCounted {
  std::string event;
};

struct SlowedByCounting {
  /// Typical ratio of a counting run's wall time to a timed run's.
  double ratio = 1.0;
};

struct LostCounts {
  CounterLossFile file;
};

struct Throttled {
  QuotaWait quota_waits;  ///< throttling of the session, or of the joined session whose processes
                          ///< waited longest
};

/// Finding: the command probably had to wait for a CPU.
struct BusyMachine {
  double median_wall_seconds = 0.0;
  double median_cpu_seconds = 0.0;
  double median_preemptions = 0.0;
};

struct SamePrograms {
  std::string reference;
  bool is_native = true;      ///< false: the file is a script, or a program that runs another
  bool has_same_name = true;  ///< false: the files have different names
};

/// Finding: processes outlived `outlived_runs` of `examined_runs` runs. Each of these runs
/// had `fewest_processes` to `most_processes` such processes.
struct OutlivedRuns {
  std::size_t outlived_runs = 0;
  std::size_t examined_runs = 0;
  std::size_t fewest_processes = 0;
  std::size_t most_processes = 0;
};

/// A finding with its numbers, but without text.
using WarningFacts =
    std::variant<SlowFirstRun, stats::Drift, stats::TwoModes, ManyOutliers, stats::SlowNoise,
                 CoarseClock, UncertainSplit, BelowShell, OtherCircumstances, OtherConditions,
                 FewRuns, NotInterleaved, SeparateSessions, OtherProcessor, DifferentCoreShares,
                 LowCoreShare, LowCoverage, NeverCounted, MeanDiffers, AlikeRounds,
                 SlowedByCounting, BusyMachine, SamePrograms, LostCounts, Throttled, OutlivedRuns>;

struct Warning {
  WarningFacts finding;
  /// Index of the command that the finding is about; nullopt if the finding is about several
  /// commands, an event or the session.
  std::optional<std::size_t> command{};
  Shown shown = Shown::Always;
};

/// A factor of the wall time, which is Instructions / InstructionsPerCycle / Clock / Utilisation.
/// The other kinds replace factors that are unknown or cannot be combined.
enum class WallFactorKind : unsigned char {
  Instructions,
  InstructionsPerCycle,
  Cycles,  ///< replaces Instructions / InstructionsPerCycle
  Clock,   ///< cycles / CPU time, a divisor
  /// Replaces Clock if cycles and CPU time may cover different parts of a run.
  CpuTimePerCycle,
  CpuTimePerInstruction,
  CpuTime,
  Utilisation,  ///< CPU time / wall time, a divisor
};

struct WallFactor {
  WallFactorKind factor_kind = WallFactorKind::CpuTime;
  /// Change of the factor: the candidate's factor divided by the reference's, minus 1.
  stats::Change change{};
  /// Median of the factor over the reference's runs; nullopt if unknown, or for kinds other than
  /// Clock and Utilisation.
  std::optional<double> reference_median{};
  std::optional<double> candidate_median{};

  /// Returns what the factor adds to the logarithm of the wall times' ratio.
  double log_contribution() const;
};

/// The factors of a candidate's wall time. The sum of the factors' log_contribution() is the
/// logarithm of the candidate's wall time divided by the reference's.
struct WallTimeExplanation {
  std::size_t command = 0;
  std::vector<WallFactor> factors{};
  /// True if the change of instructions is unknown.
  bool lacks_instructions = false;
  /// True if the change of cycles is unknown, or cycles and instructions were counted at different
  /// privilege levels.
  bool leaves_out_cycles = false;
  bool is_simulated = false;
  /// Privilege levels of the counts that the factors use; UserAndKernel if there are no counts.
  CountedPrivilegeLevels levels = CountedPrivilegeLevels::UserAndKernel;
  /// True if cycles were left out because they and instructions were counted at different privilege
  /// levels.
  bool cycles_have_other_levels = false;
  bool has_kernel_only_metric = false;
  /// True if counts include the start of the shell, while times do not.
  bool counts_include_shell_start = false;
  bool sums_core_kinds = false;  ///< true if cycles are a sum over several core kinds
};

struct LayoutResult {
  /// Mean of the command's values over layouts; nullopt if unknown or for a percentile.
  std::optional<stats::LayoutEstimate> mean{};
  /// Mean of log(candidate / reference) over layouts; nullopt if unknown.
  std::optional<stats::LayoutEstimate> mean_log_ratio{};
  /// Delta from the runs of the first layout alone; nullopt if unknown.
  std::optional<stats::Delta> delta_of_first_layout{};
};

struct MetricResult {
  std::size_t metric_index = 0;  ///< index into Recording::metrics
  /// Number of runs with a value; with `largest_bound_of_runs` or `mean_without_run_values`, number
  /// of all timed runs.
  std::size_t runs = 0;
  /// Summary of the values; nullopt for a percentile, or if there are no usable values.
  std::optional<stats::Summary> summary{};
  /// True: the value is 0 in every run, and was probably not counted.
  bool is_probably_uncounted = false;
  /// Estimate of a percentile; nullopt for other metrics, or if there are too few usable runs.
  std::optional<stats::QuantileEstimate> quantile{};
  /// Number of runs that the percentile needs; 0 for other metrics, or if unknown.
  std::size_t runs_needed_for_percentile = 0;
  /// Mean from a file without the runs' values; else nullopt.
  std::optional<double> mean_without_run_values{};
  /// Upper bound of all values if some values are known only as upper bounds; else nullopt.
  std::optional<double> largest_bound_of_runs{};
  /// Change from the reference; nullopt if unknown, or for the reference itself.
  std::optional<stats::Delta> delta{};
  /// Smallest increase, as a fraction of the reference, that four of five such sessions would have
  /// found. nullopt if unknown, for a percentile without layouts, or if gates ended the session.
  std::optional<double> detectable{};
  std::shared_ptr<const LayoutResult> layouts{};

  /// Returns the mean of the runs (harmonic for a throughput without zeros); nullopt if unknown or
  /// for a percentile.
  std::optional<double> mean() const {
    return summary ? std::optional(summary->mean) : mean_without_run_values;
  }
};

/// The results of the command with the same index in Recording::commands.
struct CommandResult {
  std::size_t runs = 0;  ///< number of timed runs, without discarded runs
  Endings endings{};
  std::size_t discarded_runs = 0;
  std::optional<double> coverage{};
  /// Median wall time of counting runs, divided by the median of timed runs; nullopt if unknown.
  std::optional<double> counting_slowdown{};
  std::vector<MetricResult> rows{};
};

/// A comparison of a candidate in one line. `metric` is the primary metric or, if that metric does
/// not differ significantly, a gated or added metric that clearly differs.
struct HeadlineComparison {
  std::size_t command = 0;
  std::size_t metric = 0;
  stats::RelativeSpeed speed{};
  bool is_significant = false;
};

struct Results {
  Recording session{};
  gate::Findings findings{};
  std::string benchmark{};  ///< name of the benchmark in a suite; empty outside suites
  std::vector<CommandResult> commands{};
  std::vector<HeadlineComparison> headline_comparisons{};
  std::vector<WallTimeExplanation> explanations{};
  std::vector<MetricByFunction> function_changes{};
  bool are_all_deltas_paired = true;  ///< true if all deltas compare values within rounds
  Presentation presentation{};
  bool is_inconclusive_ok = false;  ///< true: inconclusive gates do not change the exit status
  std::vector<Warning> warnings{};

  /// Returns the reference of `command`, in this session or in the baseline.
  const Command& reference_of(std::size_t command) const {
    return find_measured(session, pair_of(session, command).reference).command();
  }

  /// Returns the endings of the reference of `command`, in this session or in the baseline.
  Endings endings_of_reference(std::size_t command) const {
    if (const auto here = session.reference.index_in_session(command))
      return commands[*here].endings;
    const MeasuredCommand reference = find_measured(session, pair_of(session, command).reference);
    return count_endings(reference.session.runs, reference.index);
  }
};

/// Returns the command's results of a metric (index into Recording::metrics); null if missing.
inline const MetricResult* metric_result_of(const CommandResult& command,
                                            std::optional<std::size_t> metric) {
  const auto found = std::ranges::find(command.rows, metric, &MetricResult::metric_index);
  return found == command.rows.end() ? nullptr : &*found;
}

/// Returns the command's results of the metric with that role; null if missing.
inline const MetricResult* metric_result_of(const Results& results, std::size_t command,
                                            Role role) {
  return metric_result_of(results.commands[command], find_metric(results.session.metrics, role));
}

/// Returns the command's median of the metric with that role; nullopt if unknown.
inline std::optional<double> median_of(const Results& results, std::size_t command, Role role) {
  const MetricResult* row = metric_result_of(results, command, role);
  return row != nullptr && row->summary ? std::optional(row->summary->median) : std::nullopt;
}

struct Geomean {
  std::size_t candidate_place = 0;  ///< index among the candidates of each reference
  std::string candidate{};  ///< name of the candidate; empty if it differs between benchmarks
  std::size_t benchmark_count = 0;
  std::string metric{};
  Better better = Better::Less;
  stats::Change change{};
};

/// The results of a suite's benchmarks, or of a single unnamed benchmark.
struct Report {
  std::vector<Results> benchmarks;
  /// Geometric means over two or more benchmarks; empty outside suites.
  std::vector<Geomean> geomeans{};
  gate::ErrorRate job_error_rate = gate::ErrorRate::AnyFalseFail;

  bool is_suite() const { return !benchmarks.front().benchmark.empty(); }
  bool complete() const;
  std::vector<gate::Verdict> verdicts() const;
};

}  // namespace lauka
