#pragma once

#include "core/choices.h"
#include "core/command.h"
#include "core/metric.h"
#include "gate/verdict.h"
#include "plan/plan.h"
#include "session/baseline.h"
#include "session/recording.h"
#include "stats/delta.h"
#include "stats/layouts.h"
#include "stats/quantiles.h"
#include "stats/summary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka {

/// The first run was slower than all that came after it.
struct SlowFirstRun {
  stats::FirstRun seen;
  std::uint64_t warmup = 0;      ///< runs that went before it, uncounted
  bool alone_read_disk = false;  ///< true if the first run alone read from the disk
};

/// Some runs were far slower or faster than the rest.
struct ManyOutliers {
  std::size_t count = 0;  ///< outliers as in the table's column: beyond 1.5 IQR from the quartiles
  std::size_t runs = 0;
};

/// The limit that kept the number of runs low; Ended: the session did not get that far.
enum class FewBecause : unsigned char { Runs, MinRuns, MaxRuns, Ended };

/// Too few runs for a reliable result.
struct FewRuns {
  std::size_t runs = 0;    ///< runs of the command with the fewest
  bool has_gates = false;  ///< true: too few runs to decide a gate; false: for a delta
  FewBecause because = FewBecause::MinRuns;
};

/// Deltas, or even gates, were made of runs that did not take turns.
struct NotInterleaved {
  bool has_gates = false;  ///< verdicts of gates rest on these deltas
  bool for_hooks = false;  ///< true if implied by a --setup or --cleanup, not requested
};

/// A fact about the machine, or lauka's version, that is another one than the baseline's.
struct Difference {
  std::string_view what;
  std::string then;
  std::string now;
};

/// Deltas, or even gates, were made with runs of another session.
struct AgainstBaseline {
  bool has_gates = false;  ///< verdicts of gates rest on these deltas
  bool is_joined = false;  ///< no baseline, but sessions that were joined
};

/// The baseline was measured on another machine than this session, or a joined session on another
/// one than the reference; or the machine is unknown.
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
  std::size_t runs = 0;  ///< all timed runs of the command
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
  double candidate_share = 0.0;
  double reference_share = 0.0;
  std::vector<Cycles> cycles{};  ///< cycles by kind of core; empty if not counted
};

/// Runs of a command that count although they stayed below --min-p-share even when repeated.
struct LowShare {
  std::string metric;  ///< "p_share"
  double least = 0.0;
  std::size_t runs = 0;  ///< runs below that share
  std::size_t all_runs = 0;
};

/// The engine saw too little of a command.
struct LowCoverage {
  double median = 0.0;  ///< fraction of its instructions
};

/// The mean's change is clearly outside the interval of the typical round's.
struct MeanDiffers {
  std::string metric;
  stats::Delta delta;
  bool has_tail = false;  ///< the command whose mean is too high has runs far above its others
};

/// Neighbouring rounds resemble each other, so that the interval of a delta is wider.
struct AlikeRounds {
  std::string metric;
  double widening = 1.0;  ///< the delta's
  bool is_own = false;    ///< the runs of the warning's command resemble each other
};

/// An event was 0 in every run, though the command ran instructions.
struct NeverCounted {
  std::string event;
};

/// Counting made the runs in which it was done longer.
struct SlowedByCounting {
  double ratio = 1.0;  ///< ratio of wall times
};

/// A command has no counts, as its program loses the counters when it starts.
struct LostCounts {
  UncountedFile file;
};

/// The quota of a control group kept processes of the session from running.
struct Throttled {
  Throttling seen;
};

/// The command most likely had to wait for a CPU.
struct BusyMachine {
  double median_wall_seconds = 0.0;
  double median_cpu_seconds = 0.0;
  double median_preemptions = 0.0;
};

/// A candidate is the same program as the reference: differences are noise, or come from elsewhere.
struct SamePrograms {
  std::string reference;  ///< name of the reference
};

/// Processes that runs left behind went on when these had ended.
struct OutlivedRuns {
  std::size_t runs = 0;    ///< runs that left some
  std::size_t of = 0;      ///< all kept runs of the command
  std::size_t fewest = 0;  ///< processes of one of `runs`
  std::size_t most = 0;
};

/// An observation with its numbers; report/ has the words.
using Finding = std::variant<SlowFirstRun, stats::Drift, stats::TwoModes, ManyOutliers,
                             stats::SlowNoise, CoarseClock, UncertainSplit, BelowShell, FewRuns,
                             NotInterleaved, AgainstBaseline, ForeignBaseline, OtherCores, LowShare,
                             LowCoverage, NeverCounted, MeanDiffers, AlikeRounds, SlowedByCounting,
                             BusyMachine, SamePrograms, LostCounts, Throttled, OutlivedRuns>;

/// Caveats.
struct Warning {
  Finding finding;
  std::optional<std::size_t> command{};  ///< index of the command; nullopt: all commands
  Shown shown = Shown::Always;           ///< Verbose: of hidden rows; exports have it anyway
};

/// The factors of a wall time: instructions / instructions per cycle / clock / utilisation, and
/// substitutes for those that were not counted.
enum class WallPart : unsigned char {
  Instructions,
  InstructionsPerCycle,  ///< divides
  Cycles,                ///< cycles, without counted instructions
  Clock,                 ///< divides: cycles per CPU time
  CpuTimePerCycle,       ///< CPU time per cycle instead of the clock: counts and CPU time are of
                         ///< different runs
  CpuTimePerInstruction,
  CpuTime,
  Utilisation,  ///< divides: CPU time / wall time
};

/// One factor of a candidate's wall time over the reference's.
struct WallFactor {
  WallPart part = WallPart::CpuTime;
  /// The candidate's over the reference's, less 1.
  stats::Change change{};
  std::optional<double> reference{};  ///< median of the runs, if worth showing
  std::optional<double> candidate{};

  /// Returns the factor's share of the wall time's logarithm.
  double log_of_wall_time() const;
};

/// Why a candidate is faster or slower: its factors, whose product is the wall time's ratio.
struct Why {
  std::size_t command = 0;
  std::vector<WallFactor> factors{};
  bool lacks_instructions =
      false;  ///< true if instructions were not counted, so that no factor is about them
  bool lacks_cycles = false;
  bool is_simulated = false;                            ///< instructions are
  CountedLevels levels = CountedLevels::UserAndKernel;  ///< levels at which events were counted;
                                                        ///< times have both levels
  bool has_other_levels = false;  ///< cycles are left out: instructions have other levels
  bool counted_kernel = false;    ///< an event was counted in the kernel only
  bool has_shell = false;         ///< counts have the shell in them, times have not
  bool is_of_all_kinds = false;   ///< cycles were counted on several kinds of core, and added up
};

/// The estimates of a metric over a command's layouts.
struct LayoutResult {
  std::optional<stats::LayoutEstimate> mean{};  ///< estimate of the command's own values
  std::optional<stats::LayoutEstimate>
      compared{};  ///< estimate of the logarithms of candidate to reference
  std::optional<stats::Delta> first_alone{};  ///< delta of the first layout alone
};

/// One metric of one command.
struct MetricResult {
  std::size_t metric = 0;  ///< index into Recording::metrics
  std::size_t runs = 0;    ///< runs of the row; differs from the command's with several passes
  std::optional<stats::Summary>
      summary{};             ///< nullopt: no run has a value, or the values are bounds only
  bool is_doubtful = false;  ///< 0 in every run, and most likely not counted; without a summary
  std::optional<stats::QuantileEstimate> quantile{};  ///< nullopt: no percentile, or too few runs
  std::size_t fewest_runs = 0;                        ///< fewest runs that a percentile needs
  std::optional<double> only_mean{};    ///< mean of runs whose single values are not known
  std::optional<double> at_most{};      ///< a bound of every run's value, if none is known
  std::optional<stats::Delta> delta{};  ///< nullopt: the reference, or nothing to compare
  std::shared_ptr<const LayoutResult> layouts{};  ///< null without --layouts

  /// Returns the mean of the runs; nullopt if it is not known.
  std::optional<double> mean() const { return summary ? std::optional(summary->mean) : only_mean; }
};

/// The results of a command, the one at the same place in Recording::commands.
struct CommandResult {
  std::size_t runs = 0;              ///< timed runs
  Endings endings{};                 ///< endings of the command's runs of all kinds
  std::size_t redone_runs = 0;       ///< run again and not counted
  std::optional<double> coverage{};  ///< median of RunRecord::coverage; nullopt: unknown
  std::optional<double> slowdown{};  ///< slow-down by counting: median wall time of the counting
                                     ///< runs over the timed ones' mean; nullopt: no counting runs
  std::vector<MetricResult> rows{};  ///< one per metric, in the order of Recording::metrics
};

/// A comparison in one line: by the primary metric, or by a gated or own one that alone differs.
struct Ranking {
  std::size_t command = 0;
  std::size_t metric = 0;        ///< index into Recording::metrics
  stats::RelativeSpeed speed{};  ///< the other face of that row's delta
  bool significant = false;      ///< significance, the same as that delta's
};

/// All that reports and exports are made from: a session, the findings made while it ran, and
/// conclusions from both.
struct Results {
  Recording session{};
  gate::Findings findings{};
  std::string benchmark{};                ///< benchmark's name in a suite; empty: a plain call's
  std::vector<CommandResult> commands{};  ///< one for each of the session's
  std::vector<Ranking> rankings{};        ///< one per candidate that can be compared
  std::vector<Why> explanations{};        ///< one per candidate whose wall time can be taken apart
  bool paired = true;                     ///< deltas were taken within rounds
  Presentation presentation{};
  bool is_inconclusive_ok = false;  ///< an inconclusive gate alone leaves the exit status 0
  std::vector<Warning>
      warnings{};  ///< warnings in the order of Finding's kinds, then of the commands

  /// Returns what `command` is compared with.
  const Command& reference_of(std::size_t command) const {
    const auto& baseline = session.reference.baseline;
    return baseline ? baseline->session->commands[baseline->commands[command]]
                    : session.commands[session.reference.command];
  }

  /// Returns the endings of the runs of what `command` is compared with.
  Endings endings_of_reference(std::size_t command) const {
    const auto& baseline = session.reference.baseline;
    return baseline ? count_endings(*baseline->session->runs, baseline->commands[command])
                    : commands[session.reference.command].endings;
  }
};

/// Returns the row of a metric (an index into Recording::metrics); null if missing.
inline const MetricResult* row_of(const CommandResult& command, std::optional<std::size_t> metric) {
  const auto found = std::ranges::find(command.rows, metric, &MetricResult::metric);
  return found == command.rows.end() ? nullptr : &*found;
}

/// Returns the row of the metric that is `role`; null if not measured.
inline const MetricResult* row_of(const Results& results, std::size_t command, Role role) {
  return row_of(results.commands[command], find_metric(results.session.metrics, role));
}

/// Returns the row of what `command` is compared with, be it in the session or in the baseline.
MetricResult row_of_reference(const Results& results, std::size_t command, std::size_t metric);

/// The overall change of a suite's candidates from their references.
struct Geomean {
  std::size_t place = 0;       ///< place of the candidate in its benchmark
  std::string candidate{};     ///< candidate's name if all benchmarks have the same; else empty
  std::size_t benchmarks = 0;  ///< number of benchmarks covered, 2 or more
  std::string metric{};
  Better better = Better::Less;
  stats::Change change{};
};

/// All that the screen and the exports are made from: the benchmarks of a suite, or the single
/// unnamed one of a plain call.
struct Report {
  std::vector<Results> benchmarks;    ///< benchmarks, at least one
  std::vector<Geomean> geomeans{};    ///< one per place and metric that two benchmarks have
  gate::Risk risk = gate::Risk::Any;  ///< error rate that the gates share

  bool is_suite() const { return !benchmarks.front().benchmark.empty(); }
  bool complete() const;
  std::vector<gate::Verdict> verdicts() const;
};

/// The commands of a benchmark that are compared with its reference.
std::vector<std::size_t> find_candidates(const Results& results);

/// Returns the metrics of a candidate's rows in a suite (indices into Results::metrics): those of
/// its gates, else the primary one; nullopt for a row without a metric.
std::vector<std::optional<std::size_t>> suite_metrics(const Results& results,
                                                      std::size_t candidate);

/// Adds the geometric means of the metrics of the suite's rows. A benchmark whose candidate has no
/// row of that metric, or no delta, is left out.
Report make_report(std::vector<Results> benchmarks, gate::Risk risk);

/// Makes verdicts inconclusive whose two commands differ in their failure rates. To be called
/// before a job is settled.
void hold_back_verdicts(const Recording& session, gate::Findings& findings);

/// True if a gate is on a command whose every run failed: its numbers mean nothing.
bool has_failed_throughout(const Results& results, const gate::Verdict& verdict);
bool has_failed_throughout(const Report& report);

/// Analyses the commands of a session, whole or cut short. Commands without a counted run have 0
/// runs and rows without values. A run that failed under `--ignore-failure` counts as any other.
/// `results` has the session and its findings.
void analyse(Results& results);
Results analyse(Recording session, gate::Findings findings);

/// Analyses a session that was just run on the machine of `timers`. `circumstances` go with the
/// numbers.
Results analyse(const Plan& plan, Session session, const gate::Findings& findings,
                const Timers& timers = {}, Circumstances circumstances = {});

/// Returns the ratio of a metric's values, `of` (a command) to `to` (another one of the session),
/// within rounds where runs were interleaved; nullopt if one is not above 0 or is known as a bound.
std::optional<stats::LogRatio> log_ratio(const Recording& session, std::size_t metric,
                                         std::size_t of, std::size_t to);

/// Judges the gates of a session in one look: its number of runs must not have depended on them.
/// The rate of false fails is divided among them, or among `gates_of_job` if there are more.
gate::Findings judge(const Recording& session, const std::vector<Gate>& gates,
                     std::size_t gates_of_job = 0);

/// Returns how the tuned runs of a session differ from the untuned ones; empty if there are none
/// (they are made by --tune=compare).
std::vector<TunedComparison> compare_tuned(const Plan& plan, const Session& session);

/// Returns lauka's exit status by the gates; `if_inconclusive`: the status if one is inconclusive
/// and none failed.
int exit_status_of(const std::vector<gate::Verdict>& verdicts, std::optional<int> if_inconclusive);

/// Returns the same for a session that was just run; a signal or a failure comes first.
int exit_status_of(const Session& session, const std::vector<gate::Verdict>& verdicts,
                   std::optional<int> if_inconclusive);

/// Facts about a command's first run besides its wall time.
struct FirstRunFacts {
  std::uint64_t warmup = 0;      ///< the same as SlowFirstRun's
  bool alone_read_disk = false;  ///< the same as SlowFirstRun's
  /// The probability that first runs are the slowest, in as many commands as they are, if their
  /// order is chance.
  double chance = 1.0;
};

/// Finds unsteady wall times of `command`; `series` is in the order run. Returns at most a slow
/// first run (if it alone read from the disk, or chance is improbable) and one finding about the
/// rest, since one cause shows as several: drift (unless there are outliers and it is small against
/// the spread), else two modes, outliers or slow noise.
std::vector<Warning> warnings_of_series(std::size_t command, std::span<const double> series,
                                        const FirstRunFacts& first);

/// Returns the facts about the first runs of all commands, whose wall times are `series`.
std::vector<FirstRunFacts> facts_of_first_runs(const Recording& session,
                                               std::span<const Series> series);

/// Returns a finding about the delta of `metric` if more than chance makes the rounds of `samples`
/// resemble each other. `tests`: of this kind in the session, which share the rate of false alarms.
std::optional<AlikeRounds> find_alike_rounds(const Metric& metric, const stats::Delta& delta,
                                             const Comparison& samples, std::size_t tests);

/// Returns the command to be named in it: the only one of both whose own series shows it.
/// `reference` is nullopt if it is not of this session.
std::optional<std::size_t> find_cause(std::span<const Series> series, std::size_t candidate,
                                      std::optional<std::size_t> reference);

/// True if the mean that makes the mean's change other than the delta (an index into
/// Recording::metrics, a candidate with both) is of a command whose largest values are outliers. A
/// baseline's values are not known.
bool mean_has_tail(const Results& results, std::size_t metric, std::size_t candidate);

/// Finds out if counting slowed a command's runs by more than 5%: the interval of the ratio is
/// above that. `timed` and `counting` are wall times, in the order run.
std::optional<SlowedByCounting> slowed_by_counting(std::span<const double> timed,
                                                   std::span<const double> counting);

/// Finds other weaknesses of `results`, whose rows, rankings and verdicts are complete: the clocks,
/// the number of runs, the order.
std::vector<Warning> warnings_of_results(const Results& results);

}  // namespace lauka
