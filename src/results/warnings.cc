#include "results/warnings.h"

#include "core/text.h"
#include "plan/command_layouts.h"
#include "results/analyse.h"
#include "results/results.h"
#include "session/baseline.h"
#include "session/setting_values.h"
#include "stats/distributions.h"
#include "stats/resemblance.h"

#include <cmath>
#include <utility>

namespace lauka {

namespace {

constexpr double kMinClockSteps = 100.0;  // of a run, so that the clock's steps hardly matter
constexpr double kMinTicks = 10.0;  // of CPU time, so that its split into user and system is usable
constexpr double kMaxEqualShareDifference = 0.05;  // of two shares of performance cores
/// The fewest severe outliers that cause a warning.
constexpr std::size_t kMinOutliers = 2;
constexpr std::size_t kMinForOutliers = 10;
// The tick of a kernel with 250 Hz, used if the tick is unknown.
constexpr std::chrono::nanoseconds kAssumedTick = std::chrono::milliseconds(4);

/// The accepted rate of false alarms of a test.
constexpr double kFalseAlarmRate = 0.01;

// The smallest coverage without a warning.
constexpr double kMinFullCoverage = 0.98;

/// True if candidate and reference are known to be the same program. Commands of one session with
/// different --setup count as different programs, because --setup may build them.
bool is_same_program(const Results& results, std::size_t candidate) {
  const Command& ours = results.session.commands[candidate];
  const Command& theirs = results.reference_of(candidate);
  return results.commands[candidate].runs > 0 && ours.fingerprint.is_same_as(theirs.fingerprint) &&
         (!results.session.reference.index_in_session(candidate) ||
          ours.hooks[HookKind::Setup] == theirs.hooks[HookKind::Setup]);
}

/// True if a metric that is shown or gated differs significantly from the reference's.
bool differs_significantly(const Results& results, std::size_t candidate) {
  const bool has_row =
      std::ranges::any_of(results.commands[candidate].rows, [&](const MetricResult& row) {
        return results.session.metrics[row.metric_index].shown == Shown::Always && row.delta &&
               row.delta->is_significant();
      });
  return has_row ||
         std::ranges::any_of(results.findings.verdicts, [&](const gate::Verdict& verdict) {
           return verdict.candidate == candidate && verdict.answer == gate::Answer::Fail;
         });
}

/// Returns the file name of the program of a command; empty if unknown.
std::string program_name_of(const Command& command) {
  const auto words = split_words(command.text);
  if (!words || words->empty()) return {};
  const std::string& path = words->front();
  return path.substr(path.rfind('/') + 1);
}

SamePrograms describe_same_programs(const Results& results, std::size_t candidate) {
  const Command& ours = results.session.commands[candidate];
  const Command& theirs = results.reference_of(candidate);
  // A baseline in a saved session has only the names of its commands.
  return {theirs.name, ours.fingerprint.program != ProgramKind::Launcher,
          program_name_of(ours) == program_name_of(theirs)};
}

bool is_of_split(Role role) {
  return role == Role::UserTime || role == Role::SystemTime;
}

Shown choose_shown_of_split(const Results& results) {
  const bool has_row = std::ranges::any_of(results.session.metrics, [](const Metric& metric) {
    return is_of_split(metric.role) && metric.shown == Shown::Always;
  });
  const bool has_gate =
      std::ranges::any_of(results.findings.verdicts, [&](const gate::Verdict& verdict) {
        return is_of_split(results.session.metrics[verdict.metric].role);
      });
  return has_row || has_gate ? Shown::Always : Shown::Verbose;
}

FewRunsReason explain_few_runs(const Results& results) {
  const StopRule& stop = results.session.setting.stop;
  if (!results.session.complete) return FewRunsReason::Ended;
  if (stop.exact_runs) return FewRunsReason::Runs;
  return stop.max_runs && *stop.max_runs < stats::kMinGateRoundsWithoutWarning
             ? FewRunsReason::MaxRuns
             : FewRunsReason::MinRuns;
}

std::optional<std::size_t> find_fewest_rounds_of_open_gates(const Results& results) {
  std::optional<std::size_t> fewest;
  for (const gate::Verdict& verdict : results.findings.verdicts) {
    if (verdict.answer != gate::Answer::Inconclusive || verdict.rounds == 0) continue;
    if (verdict.hindrance.obstacle != gate::Obstacle::None || verdict.delta.is_exact) continue;
    fewest = std::min(fewest.value_or(verdict.rounds), verdict.rounds);
  }
  return fewest;
}

std::optional<std::size_t> find_fewest_runs_of_deltas(const Results& results) {
  std::optional<std::size_t> fewest;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const MetricResult* candidate = metric_result_of(results, c, Role::WallTime);
    const std::size_t reference_index = results.session.reference.index_in_session(c).value_or(c);
    const MetricResult* reference = metric_result_of(results, reference_index, Role::WallTime);
    if (reference == nullptr || candidate == nullptr || !candidate->delta) continue;
    const std::size_t runs = std::min(reference->runs, candidate->runs);
    fewest = std::min(fewest.value_or(runs), runs);
  }
  return fewest;
}

/// True if shown and gated metrics have deltas, and all of these are exact. Warnings about the
/// uncertainty of deltas are of no use then.
bool are_deltas_exact(const Results& results) {
  bool has_delta = false;
  for (const CommandResult& command : results.commands) {
    for (const MetricResult& row : command.rows) {
      const bool is_of_interest =
          results.session.metrics[row.metric_index].shown == Shown::Always ||
          std::ranges::find(results.findings.verdicts, row.metric_index, &gate::Verdict::metric) !=
              results.findings.verdicts.end();
      if (!row.delta || !is_of_interest) continue;
      if (!row.delta->is_exact) return false;
      has_delta = true;
    }
  }
  return has_delta;
}

std::optional<FewRuns> check_for_few_runs(const Results& results) {
  FewRuns few{.limiting_option = explain_few_runs(results),
              .advised_runs = round_up_to_sweeps(stats::kMinGateRoundsWithoutWarning,
                                                 results.session.setting.layouts)};

  const auto rounds = find_fewest_rounds_of_open_gates(results);
  if (rounds && *rounds < stats::kMinGateRoundsWithoutWarning) {
    few.runs = *rounds;
    few.is_about_gate = true;
    return few;
  }

  const auto runs = are_deltas_exact(results) ? std::nullopt : find_fewest_runs_of_deltas(results);
  if (!runs || *runs >= stats::kMinDeltaRunsWithoutWarning) return std::nullopt;
  few.runs = *runs;
  return few;
}

std::optional<CoarseClock> check_for_coarse_clock(const Results& results, std::size_t command) {
  const auto median = median_of(results, command, Role::WallTime);
  const double step = to_seconds(results.session.timers.clock_step);
  // If a shell's start is subtracted, times are no longer multiples of the clock's step.
  if (!median || *median >= kMinClockSteps * step || !results.session.shell.empty())
    return std::nullopt;
  return CoarseClock{*median, step};
}

std::optional<UncertainSplit> check_for_uncertain_split(const Results& results,
                                                        std::size_t command) {
  const auto median = median_of(results, command, Role::CpuTime);
  const double tick = to_seconds(results.session.timers.kernel_tick.value_or(kAssumedTick));
  if (!median || *median >= kMinTicks * tick) return std::nullopt;
  return UncertainSplit{*median, tick};
}

constexpr double kMinWaitingRatio = 1.3;  // wall time by CPU time of a run that waits much
/// The longest plausible wait after a preemption, in seconds: the usual period of a control group's
/// quota, and the time slice of round-robin scheduling.
constexpr double kMaxSliceSeconds = 0.1;

QuotaWait find_worst_throttling(const Results& results) {
  QuotaWait worst = results.session.circumstances.throttling.value_or(QuotaWait{});
  for (const OriginSession& origin : results.session.origins) {
    const auto& seen = origin.circumstances.throttling;
    if (seen && seen->waited_ns > worst.waited_ns) worst = *seen;
  }
  return worst;
}

/// Returns a finding if the command probably had to wait for a CPU. Programs that sleep or read are
/// left out: they usually give up their CPU more often than they are preempted, or wait longer than
/// kMaxSliceSeconds per preemption.
std::optional<BusyMachine> check_for_busy_machine(const Results& results, std::size_t command) {
  const auto wall = median_of(results, command, Role::WallTime);
  const auto cpu = median_of(results, command, Role::CpuTime);
  const auto involuntary_switches = median_of(results, command, Role::InvoluntarySwitches);
  const auto voluntary_switches = median_of(results, command, Role::VoluntarySwitches);
  if (!wall || !cpu || !involuntary_switches || !voluntary_switches || *cpu <= 0.0)
    return std::nullopt;
  if (*wall < kMinWaitingRatio * *cpu || *involuntary_switches < 1.0 ||
      *involuntary_switches <= *voluntary_switches)
    return std::nullopt;
  if (*wall - *cpu > *involuntary_switches * kMaxSliceSeconds) return std::nullopt;
  return BusyMachine{*wall, *cpu, *involuntary_switches};
}

bool has_only_first_run_read_disk(const Recording& session, std::size_t command) {
  for (const std::string_view name : {"block_reads", "major_faults"}) {
    const auto metric = find_metric(session.metrics, name);
    if (!metric) continue;
    std::optional<double> of_first;
    double of_others = 0.0;
    for (const std::uint32_t run : session.runs.of_command(command)) {
      const auto value = session.runs.value(run, *metric);
      if (!value) continue;
      if (of_first) of_others = std::max(of_others, *value);
      of_first = of_first.value_or(*value);
    }
    if (of_first.value_or(0.0) > 0.0 && of_others == 0.0) return true;
  }
  return false;
}

bool does_quota_explain_wait(const QuotaWait& throttling, const BusyMachine& busy,
                             std::size_t runs) {
  const double waited =
      (busy.median_wall_seconds - busy.median_cpu_seconds) * static_cast<double>(runs);
  return to_seconds(throttling.waited_ns) >= waited / 2.0;
}

bool is_drift_most_of_spread(const stats::Drift& drift, std::span<const double> series) {
  const std::vector<double> ascending = stats::sorted(series);
  const double spread = stats::quantile(ascending, 0.75) - stats::quantile(ascending, 0.25);
  return std::abs(drift.change) * stats::median(ascending) > spread / 2.0;
}

std::optional<WarningFacts> find_unsteadiness(std::span<const double> series) {
  std::optional<ManyOutliers> outliers;
  if (series.size() >= kMinForOutliers) {
    const auto severe = stats::severe_outliers(series);
    if (severe.many && severe.count >= kMinOutliers) {
      outliers = ManyOutliers{stats::summarize(series).outliers, series.size()};
    }
  }
  const auto drift = stats::drift(series);
  if (drift && drift->drifting && (!outliers || is_drift_most_of_spread(*drift, series)))
    return *drift;
  if (const auto modes = stats::two_modes(series); modes && modes->is_bimodal) return *modes;
  if (outliers) return *outliers;
  if (const auto noise = stats::slow_noise(series); noise && noise->slow) return *noise;
  return std::nullopt;
}

/// Returns how prominently differences are shown: always if one of them is always shown.
Shown choose_shown(const std::vector<SettingDifference>& differences) {
  return std::ranges::any_of(differences, is_always_shown) ? Shown::Always : Shown::Verbose;
}

/// Returns a warning if a candidate and its reference differ within one session.
std::optional<Warning> check_for_other_circumstances(const Results& results,
                                                     std::size_t candidate) {
  const Recording& session = results.session;
  if (!session.reference.is_candidate(candidate) || !are_of_one_session(session, candidate))
    return std::nullopt;
  auto differences = find_command_differences(session, candidate);
  if (differences.empty()) return std::nullopt;
  const Shown shown = choose_shown(differences);
  return Warning{OtherCircumstances{results.reference_of(candidate).name, std::move(differences)},
                 candidate, shown};
}

bool shows_simulated_counts(const Recording& session) {
  return std::ranges::any_of(session.metrics, [](const Metric& metric) {
    return metric.kind == RoundKind::Simulated && metric.shown == Shown::Always;
  });
}

bool is_of_processor(const SettingDifference& difference) {
  return difference.kind == SettingKind::Processor ||
         difference.kind == SettingKind::ProcessorModel ||
         difference.kind == SettingKind::ProcessorFeatures;
}

/// Simulated counts do not depend on the processor's speed, but libc chooses some functions by the
/// processor's features. Returns a finding if such counts are compared with those of a session
/// (`file`) whose processor is another one. `differences`: what differs between both sessions.
std::optional<OtherProcessor> compare_processors(
    const Results& results, const std::string& file,
    const std::vector<SettingDifference>& differences) {
  if (!shows_simulated_counts(results.session)) return std::nullopt;
  if (std::ranges::none_of(differences, is_of_processor)) return std::nullopt;

  // The warning names features so that users can switch them off with GLIBC_TUNABLES, which is
  // possible on x86 only.
  OtherProcessor found{file};
  const bool is_x86 = results.session.circumstances.machine.architecture.starts_with("x86");
  for (const SettingDifference& difference : differences)
    if (is_x86 && difference.kind == SettingKind::ProcessorFeatures)
      found.differing_features =
          words_of_only_one(difference.reference_value, difference.candidate_value);
  return found;
}

/// A session that is compared with another one: a baseline, or a joined session.
struct ForeignSession {
  std::string file{};  ///< empty if the session is a baseline
  bool names_machine = true;
  /// Commands whose references are, or that are, in the session.
  std::vector<std::size_t> candidates{};
};

std::vector<ForeignSession> list_foreign_sessions(const Results& results) {
  const Recording& session = results.session;
  if (const auto reference = find_in_baseline(session.reference, 0))
    return {{"", reference->session.was_written_by_lauka, find_candidates(results)}};
  if (session.origins.empty()) return {};

  // The commands of a joined session follow one another.
  const OriginSession& here = origin_of(session, session.reference.index_for(0));
  std::vector<ForeignSession> others;
  const OriginSession* latest = nullptr;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const OriginSession& origin = origin_of(session, c);
    if (&origin == &here) continue;
    if (&origin != latest) others.push_back({origin.file, !origin.circumstances.version.empty()});
    latest = &origin;
    others.back().candidates.push_back(c);
  }
  return others;
}

void add_warnings_about_session(const Results& results, const ForeignSession& other,
                                std::vector<Warning>& warnings) {
  OtherConditions found{other.names_machine, other.file};
  std::vector<SettingDifference>& all = found.differences;
  for (const std::size_t c : other.candidates)
    for (SettingDifference& difference : find_command_differences(results.session, c))
      if (other.names_machine && std::ranges::find(all, difference) == all.end())
        all.push_back(std::move(difference));
  std::ranges::stable_sort(all, {}, &SettingDifference::kind);
  const auto other_processor = compare_processors(results, other.file, all);
  if (!other.names_machine || !all.empty()) {
    const Shown shown = other.names_machine ? choose_shown(all) : Shown::Always;
    warnings.push_back({std::move(found), std::nullopt, shown});
  }
  if (other_processor) warnings.push_back({*other_processor});
}

std::vector<DifferentCoreShares::Cycles> list_cycles_by_core_kind(const Results& results,
                                                                  std::size_t command) {
  std::vector<DifferentCoreShares::Cycles> cycles;
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m) {
    const Metric& metric = results.session.metrics[m];
    if (metric.role != Role::Cycles || !metric.is_part) continue;
    const MetricResult* candidate = metric_result_of(results.commands[command], m);
    const MetricResult* reference =
        metric_result_of(results.commands[results.session.reference.index_for(command)], m);
    if (candidate == nullptr || !candidate->summary || !reference->summary) continue;
    cycles.push_back({metric.name, candidate->summary->mean, reference->summary->mean});
  }
  return cycles;
}

bool differ_significantly(const stats::Summary& a, const stats::Summary& b) {
  if (!a.variance || !b.variance) return false;
  const double squared_error_of_a = *a.variance / static_cast<double>(a.count);
  const double squared_error_of_b = *b.variance / static_cast<double>(b.count);
  const double t = stats::student_t_quantile_above(
      kFalseAlarmRate / 2.0,
      stats::welch_degrees(squared_error_of_a, a.count, squared_error_of_b, b.count));
  return std::abs(a.mean - b.mean) > t * std::sqrt(squared_error_of_a + squared_error_of_b);
}

double difference_of(const DifferentCoreShares& shares) {
  return std::abs(shares.candidate_share - shares.reference_share);
}

/// Returns the shares of their time that a command and its reference spent on fast cores. Returns
/// nullopt if the shares are unknown, or do not clearly differ.
std::optional<DifferentCoreShares> find_other_core_shares(const Results& results,
                                                          std::size_t command) {
  // A command without a reference in this session is compared with itself, which finds nothing.
  const std::size_t reference_index =
      results.session.reference.index_in_session(command).value_or(command);
  const MetricResult* reference = metric_result_of(results, reference_index, Role::CoreShare);
  const MetricResult* candidate = metric_result_of(results, command, Role::CoreShare);

  // All commands of a session have rows of the same metrics.
  if (candidate == nullptr || !candidate->summary || !reference->summary) return std::nullopt;
  DifferentCoreShares shares{.metric = results.session.metrics[candidate->metric_index].name,
                             .candidate_share = candidate->summary->mean,
                             .reference_share = reference->summary->mean};
  if (difference_of(shares) <= kMaxEqualShareDifference) return std::nullopt;
  if (!differ_significantly(*candidate->summary, *reference->summary)) return std::nullopt;

  shares.cycles = list_cycles_by_core_kind(results, command);
  return shares;
}

/// A processor may have fast and slow cores. Warns if a candidate and its reference spent clearly
/// different shares of their time on the fast ones, because that alone can explain a difference of
/// times. Only the candidate with the largest difference is named.
std::optional<Warning> check_for_other_cores(const Results& results) {
  std::optional<Warning> worst;
  double largest_difference = 0.0;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    auto shares = find_other_core_shares(results, c);
    if (!shares || difference_of(*shares) <= largest_difference) continue;
    largest_difference = difference_of(*shares);
    worst = Warning{.finding = *std::move(shares), .command = c};
  }
  return worst;
}

/// What the warnings of all commands have in common.
struct CommonFindings {
  Shown shown_split = Shown::Always;  ///< of the warning about user and system time
  QuotaWait throttling{};
};

void add_warnings_of_command(const Results& results, std::size_t c, const CommonFindings& common,
                             std::vector<Warning>& warnings) {
  const auto wall_time = find_metric(results.session.metrics, Role::WallTime);
  const Shown shown_wall_time =
      wall_time ? results.session.metrics[*wall_time].shown : Shown::Verbose;
  if (const auto coarse = check_for_coarse_clock(results, c))
    warnings.push_back({*coarse, c, shown_wall_time});
  if (const auto split = check_for_uncertain_split(results, c))
    warnings.push_back({*split, c, common.shown_split});
  if (const auto busy = check_for_busy_machine(results, c);
      busy && !does_quota_explain_wait(common.throttling, *busy, results.commands[c].runs))
    warnings.push_back({*busy, c, shown_wall_time});
  if (const auto& lost = results.session.commands[c].lost_counts)
    warnings.push_back(
        {LostCounts{*lost}, c, results.session.file.empty() ? Shown::Verbose : Shown::Always});
  if (results.session.reference.is_candidate(c) && is_same_program(results, c) &&
      !differs_significantly(results, c))
    warnings.push_back({describe_same_programs(results, c), c});
}

void add_warnings_of_coverage(const Results& results, std::vector<Warning>& warnings) {
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const auto& coverage = results.commands[c].coverage;
    if (coverage && *coverage < kMinFullCoverage) warnings.push_back({LowCoverage{*coverage}, c});
  }
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m) {
    const bool is_doubtful = std::ranges::any_of(
        results.commands,
        [m](const CommandResult& command) { return command.rows.at(m).is_probably_uncounted; });
    if (is_doubtful) warnings.push_back({NeverCounted{results.session.metrics[m].name}});
  }
}

double count_at_least_one_run(const Series& series) {
  return static_cast<double>(std::max<std::size_t>(series.values.size(), 1));
}

/// Returns the probability that the first runs of all commands are their slowest by chance; nullopt
/// if not all are slow.
std::optional<double> find_chance_that_all_are_slowest(std::span<const Series> series) {
  double chance_of_all = 1.0;
  for (const Series& command : series) {
    const auto first_run = stats::first_run(command.values);
    if (!first_run || !first_run->slow) return std::nullopt;
    chance_of_all /= count_at_least_one_run(command);
  }
  return chance_of_all;
}

/// Returns a finding if values of different sessions are compared, which differ by what changed on
/// the machine in between. Exact values, such as counts that never vary, do not.
std::optional<SeparateSessions> check_for_separate_sessions(
    const Results& results, const std::vector<ForeignSession>& foreign) {
  if (foreign.empty() || are_deltas_exact(results)) return std::nullopt;
  // A baseline has no file here, and there is only one. All joined sessions have files.
  return SeparateSessions{.has_gates = !results.findings.verdicts.empty(),
                          .is_joined = !foreign.front().file.empty()};
}

/// Returns a finding if the commands of a session ran one after the other instead of alternating,
/// so that drifts of the machine look like differences. Only then are its deltas unpaired.
std::optional<NotInterleaved> check_for_commands_in_sequence(const Results& results) {
  const bool has_unpaired_deltas =
      !results.are_all_deltas_paired && !results.headline_comparisons.empty();
  if (!has_unpaired_deltas || are_deltas_exact(results)) return std::nullopt;
  return NotInterleaved{.has_gates = !results.findings.verdicts.empty(),
                        .is_caused_by_hooks = results.session.setting.order_for_hooks};
}

/// Adds warnings about comparisons whose sides were not measured in turns: in different sessions,
/// or in one session one after the other.
void add_warnings_of_order(const Results& results, std::vector<Warning>& warnings) {
  const std::vector<ForeignSession> foreign = list_foreign_sessions(results);
  if (const auto separate = check_for_separate_sessions(results, foreign))
    warnings.push_back({*separate});
  for (const ForeignSession& other : foreign) add_warnings_about_session(results, other, warnings);

  // Other sessions leave deltas unpaired, too, so the order says nothing then.
  if (!foreign.empty()) return;
  if (const auto in_sequence = check_for_commands_in_sequence(results))
    warnings.push_back({*in_sequence});
}

}  // namespace

std::vector<Warning> warnings_of_series(std::size_t command, std::span<const double> series,
                                        const FirstRunFacts& facts) {
  const auto first = stats::first_run(series);
  const bool is_first_slow =
      first && first->slow &&
      (facts.only_first_run_read_disk || facts.chance_of_slowest <= kFalseAlarmRate);
  const auto unsteady = find_unsteadiness(is_first_slow ? series.subspan(1) : series);
  // After a warm-up, a slow first run among many outliers is probably one of them.
  const bool is_one_of_many =
      facts.warmup > 0 && unsteady && std::holds_alternative<ManyOutliers>(*unsteady);
  std::vector<Warning> warnings;
  if (is_first_slow && !is_one_of_many)
    warnings.push_back(
        {SlowFirstRun{*first, facts.warmup, facts.only_first_run_read_disk}, command});
  if (unsteady) warnings.push_back({*unsteady, command});
  return warnings;
}

// Collects for each command what decides if a slow first run is worth a warning, above all how
// probable it is without a cause. `series`: wall times of each command.
std::vector<FirstRunFacts> facts_of_first_runs(const Recording& session,
                                               std::span<const Series> series) {
  const std::optional<double> chance_of_all = find_chance_that_all_are_slowest(series);

  std::vector<FirstRunFacts> facts;
  const auto commands = static_cast<double>(series.size());
  for (std::size_t c = 0; c < series.size(); ++c) {
    // By chance, the first of a command's n runs is its slowest with probability 1 / n. With
    // several commands, it is more probable that some first run is slow (Bonferroni's bound).
    const double chance_of_any = commands / count_at_least_one_run(series[c]);
    facts.push_back(
        {.warmup = session.setting.warmup_runs,
         .only_first_run_read_disk = has_only_first_run_read_disk(session, c),
         .chance_of_slowest = std::min(chance_of_any, chance_of_all.value_or(chance_of_any))});
  }
  return facts;
}

std::optional<AlikeRounds> find_alike_rounds(const Metric& metric, const stats::Delta& delta,
                                             const Comparison& samples, std::size_t tests) {
  if (delta.widening <= 1.0) return std::nullopt;
  const double error = kFalseAlarmRate / 2.0 / static_cast<double>(std::max<std::size_t>(tests, 1));
  const auto is_clear = [&](std::span<const double> series) {
    return stats::neighbour_resemblance(series).is_clear(error);
  };
  const bool is_found =
      samples.paired ? is_clear(stats::relative_differences(samples.reference, samples.candidate))
                     : is_clear(samples.reference) || is_clear(samples.candidate);
  if (!is_found) return std::nullopt;
  return AlikeRounds{metric.name, delta.widening};
}

std::optional<std::size_t> find_command_with_alike_runs(std::span<const Series> series,
                                                        std::size_t candidate,
                                                        std::optional<std::size_t> reference) {
  const auto shows_it = [&](std::size_t command) {
    return stats::neighbour_resemblance(series[command].values).is_clear(kFalseAlarmRate / 2.0);
  };
  const bool is_of_candidate = shows_it(candidate);
  const bool is_of_reference = reference && shows_it(*reference);
  if (is_of_candidate == is_of_reference) return std::nullopt;
  return is_of_candidate ? candidate : *reference;
}

bool outliers_explain_mean(const Results& results, std::size_t metric, std::size_t candidate) {
  const stats::Delta& delta = *results.commands[candidate].rows[metric].delta;
  const bool is_of_candidate = *delta.change_of_mean.change > *delta.change;
  const auto command = is_of_candidate ? std::optional(candidate)
                                       : results.session.reference.index_in_session(candidate);
  if (!command) return false;
  const auto& summary = results.commands[*command].rows[metric].summary;
  if (!summary) return false;
  const double range = std::max(summary->smallest_step, summary->q3 - summary->q1);
  return summary->max > summary->q3 + stats::kOutlierReach * range;
}

std::optional<SlowedByCounting> slowed_by_counting(std::span<const double> timed,
                                                   std::span<const double> counting) {
  constexpr double min_slowdown = 0.05;
  const auto change = stats::typical_change(
      {.reference = timed, .candidate = counting, .paired = false}, kFalseAlarmRate / 2.0,
      stats::widening_of({.reference = timed, .candidate = counting, .paired = false}));
  if (!change || change->bounds.low <= min_slowdown) return std::nullopt;
  return SlowedByCounting{1.0 + change->change};
}

// Returns the warnings about the session and about whole commands, such as few runs.
std::vector<Warning> warnings_of_results(const Results& results) {
  std::vector<Warning> warnings;

  // A container's CPU quota may have made processes wait. Warnings about single commands take this
  // into account, so that they do not give other causes.
  const CommonFindings common{.shown_split = choose_shown_of_split(results),
                              .throttling = find_worst_throttling(results)};
  if (common.throttling.throttled > 0) warnings.push_back({Throttled{common.throttling}});
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    add_warnings_of_command(results, c, common, warnings);

  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (auto other = check_for_other_circumstances(results, c))
      warnings.push_back(*std::move(other));
  if (const auto few = check_for_few_runs(results)) warnings.push_back({*few});

  add_warnings_of_order(results, warnings);
  if (auto cores = check_for_other_cores(results)) warnings.push_back(*std::move(cores));
  add_warnings_of_coverage(results, warnings);
  return warnings;
}

}  // namespace lauka
