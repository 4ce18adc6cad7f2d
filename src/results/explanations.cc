#include "results/explanations.h"

#include "results/results.h"
#include "session/baseline.h"

#include <cmath>
#include <utility>

namespace lauka {

namespace {

// Times and counts may be of different runs, so that no run has all factors. The last factors are
// computed from the logarithms of other deltas: utilisation = cpu_time - wall_time, and clock =
// instructions - ipc - cpu_time (without instructions, cycles - cpu_time). So all factors together
// give the ratio of wall times. The clock's interval is for independent estimates (Zou & Donner
// 2008).

/// A change as the logarithm of its ratio, so that factors add up.
struct LogChange {
  double value = 0.0;
  std::optional<stats::IntervalEnds> bounds{};
  bool is_exact = false;

  stats::Change change() const {
    stats::Change change{.change = std::expm1(value), .is_exact = is_exact};
    if (bounds)
      change.bounds = stats::IntervalEnds{std::expm1(bounds->low), std::expm1(bounds->high)};
    return change;
  }
};

std::optional<LogChange> to_log_change(const stats::Change& delta) {
  if (!delta.change || *delta.change <= -1.0) return std::nullopt;
  LogChange result{.value = std::log1p(*delta.change), .is_exact = delta.is_exact};
  if (delta.bounds && delta.bounds->low > -1.0)
    result.bounds =
        stats::IntervalEnds{std::log1p(delta.bounds->low), std::log1p(delta.bounds->high)};
  return result;
}

/// Returns a - b for independent estimates.
LogChange subtract_independent(const LogChange& a, const LogChange& b) {
  LogChange result{.value = a.value - b.value, .is_exact = a.is_exact && b.is_exact};
  if (!a.bounds || !b.bounds) return result;
  result.bounds = stats::IntervalEnds{
      result.value - std::hypot(a.value - a.bounds->low, b.bounds->high - b.value),
      result.value + std::hypot(a.bounds->high - a.value, b.value - b.bounds->low)};
  return result;
}

/// Returns the logarithm of 1 + delta; nullopt if unknown, or for counts of a region, which do not
/// explain the time of whole runs.
std::optional<LogChange> find_log_change(const Results& results, std::size_t command, Role role) {
  const MetricResult* row = metric_result_of(results, command, role);
  if (row == nullptr || !row->delta || results.session.metrics[row->metric_index].of_region)
    return std::nullopt;
  return to_log_change(*row->delta);
}

/// Returns CPU time divided by wall time of a run, without a value if one of the times is unknown.
/// `cpu_time`, `wall_time`: indices of these metrics in the run's session.
RunOfSeries find_utilisation(const Runs& runs, std::uint32_t run, std::size_t cpu_time,
                             std::size_t wall_time) {
  const RunFacts facts = runs.facts(run);
  RunOfSeries utilisation{.round = static_cast<std::uint32_t>(facts.round),
                          .layout = facts.layout,
                          .ending = facts.ending};
  const auto cpu_seconds = runs.value(run, cpu_time);
  const auto wall_seconds = runs.value(run, wall_time);
  if (cpu_seconds && wall_seconds && *wall_seconds > 0.0)
    utilisation.value = *cpu_seconds / *wall_seconds;
  return utilisation;
}

/// Returns CPU time divided by wall time for each run of a command, with the layouts of the runs if
/// its session has layouts; empty if these metrics cannot be compared.
Series make_utilisation(const MeasuredCommand& command, std::size_t cpu_time,
                        std::size_t wall_time) {
  Series utilisation;

  // The command may be one of a baseline, which may lack a metric or have it at another index.
  const auto cpu_time_in_session = command.place_of(cpu_time);
  const auto wall_time_in_session = command.place_of(wall_time);
  if (!cpu_time_in_session || !wall_time_in_session) return utilisation;

  const Runs& runs = command.session.runs;
  const bool has_layouts = count_layouts(command.session, command.index) > 1;
  // A run without a value is added, too, because the series counts how runs ended.
  for (const std::uint32_t run : runs.of_command(command.index))
    utilisation.add(find_utilisation(runs, run, *cpu_time_in_session, *wall_time_in_session),
                    has_layouts);
  return utilisation;
}

/// Returns the utilisation of each run of a command of the session, or of a reference in a
/// baseline. The session must have both times.
Series make_utilisation(const Recording& session, std::size_t command) {
  return make_utilisation(find_measured(session, command),
                          *find_metric(session.metrics, Role::CpuTime),
                          *find_metric(session.metrics, Role::WallTime));
}

std::optional<double> median_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return stats::median(stats::sorted(values));
}

/// Returns the change of the utilisation of single runs; nullopt if it is unknown. Much of the
/// noise of CPU time and wall time is common to both, and cancels out in their ratio. So its
/// interval is narrower than one that was computed from the intervals of both times.
std::optional<LogChange> find_change_by_runs(const Recording& session, const Pair& pair,
                                             const Series& reference, const Series& candidate) {
  const Comparison samples = pair_samples(reference, candidate, pair.is_within_rounds);
  if (samples.is_empty()) return std::nullopt;
  const stats::IntervalTails tails = stats::tails_of(session.confidence);
  constexpr std::optional<double> share_of_percentile = std::nullopt;  // this is no percentile
  return to_log_change(estimate_delta(samples, tails, share_of_percentile));
}

/// Returns the interval of `change`, widened on the side of `value` by the difference of both
/// values.
std::optional<stats::IntervalEnds> widen_to(double value, const LogChange& change) {
  if (!change.bounds) return std::nullopt;
  const double difference = value - change.value;
  return stats::IntervalEnds{change.bounds->low + std::min(0.0, difference),
                             change.bounds->high + std::max(0.0, difference)};
}

/// Computes the change of the utilisation (CPU time / wall time), as one of the factors that
/// explain a candidate's change of wall time. Both times have changed by `cpu_change` and
/// `wall_change`, which are logarithms.
WallFactor make_utilisation_factor(const Results& results, std::size_t candidate_index,
                                   const LogChange& cpu_change, const LogChange& wall_change) {
  const Pair pair = pair_of(results.session, candidate_index);
  const Series reference = make_utilisation(results.session, pair.reference);
  const Series candidate = make_utilisation(results.session, pair.candidate);

  // Wall time is CPU time / utilisation. So that the factors explain all of the change of the wall
  // time, the logarithm of this one must be exactly the difference of both changes.
  LogChange factor{.value = cpu_change.value - wall_change.value};

  // The change by single runs gives the interval, but may differ slightly from the value.
  const auto change_by_runs = find_change_by_runs(results.session, pair, reference, candidate);
  if (change_by_runs) factor.bounds = widen_to(factor.value, *change_by_runs);

  return {.factor_kind = WallFactorKind::Utilisation,
          .change = factor.change(),
          .reference_median = median_of(reference.values),
          .candidate_median = median_of(candidate.values)};
}

CountedPrivilegeLevels find_levels(const Results& results, Role role) {
  return results.session.metrics[*find_metric(results.session.metrics, role)]
      .counted_privilege_levels;
}

void set_facts_about_counts(const Results& results, bool has_instructions, bool has_cycles,
                            WallTimeExplanation& why) {
  why.lacks_instructions = !has_instructions;
  why.leaves_out_cycles = !has_cycles;
  why.has_kernel_only_metric =
      std::ranges::any_of(results.session.metrics, [](const Metric& metric) {
        return metric.counted_privilege_levels == CountedPrivilegeLevels::KernelOnly;
      });
  why.sums_core_kinds =
      has_cycles && std::ranges::any_of(results.session.metrics, [](const Metric& metric) {
        return metric.role == Role::Cycles && metric.is_part;
      });
  if (!has_instructions && !has_cycles) return;
  const Metric& counted = results.session.metrics[*find_metric(
      results.session.metrics, has_instructions ? Role::Instructions : Role::Cycles)];
  why.is_simulated = counted.kind == RoundKind::Simulated;
  why.levels = counted.counted_privilege_levels;
  why.counts_include_shell_start = !results.session.shell.empty();
}

/// Returns the change of the instructions per cycle of a candidate whose instructions and cycles
/// have changed.
LogChange find_change_of_ipc(const Results& results, std::size_t candidate,
                             const LogChange& instructions, const LogChange& cycles) {
  const auto measured = find_log_change(results, candidate, Role::Ipc);
  return measured ? *measured : subtract_independent(instructions, cycles);
}

/// Returns the change of the cycles that instructions and instructions per cycle imply. These may
/// be estimates from different runs than cycles. The factors only multiply to the CPU time if the
/// rest is computed with the implied cycles.
LogChange adjust_cycles(LogChange cycles, const LogChange& instructions, const LogChange& ipc) {
  cycles.value = instructions.value - ipc.value;
  if (auto& bounds = cycles.bounds) {
    bounds->low = std::min(bounds->low, cycles.value);
    bounds->high = std::max(bounds->high, cycles.value);
  }
  return cycles;
}

/// Returns the factor that the cycles leave of the CPU time. This is the clock (cycles / CPU time)
/// only if the cycles cover the whole CPU time, in the kernel, too, and nothing else. Times do not
/// include the start of a shell.
WallFactor make_factor_beside_cycles(const Results& results, const WallTimeExplanation& why,
                                     const LogChange& cycles, const LogChange& cpu_time) {
  const bool cover_cpu_time =
      why.levels == CountedPrivilegeLevels::UserAndKernel && !why.counts_include_shell_start;
  if (!cover_cpu_time)
    return {WallFactorKind::CpuTimePerCycle, subtract_independent(cpu_time, cycles).change()};

  WallFactor clock{.factor_kind = WallFactorKind::Clock,
                   .change = subtract_independent(cycles, cpu_time).change()};
  clock.candidate_median = median_of(results, why.command, Role::Clock);
  if (const auto reference = results.session.reference.index_in_session(why.command))
    clock.reference_median = median_of(results, *reference, Role::Clock);
  return clock;
}

/// Adds the factors that explain the change of a candidate's cycles. Returns the change of cycles
/// to which the added factors multiply. `instructions`: nullopt if their change is unknown.
LogChange add_factors_of_cycles(const Results& results,
                                const std::optional<LogChange>& instructions,
                                const LogChange& cycles, WallTimeExplanation& why) {
  if (!instructions) {
    why.factors.push_back({WallFactorKind::Cycles, cycles.change()});
    return cycles;
  }
  why.factors.push_back({WallFactorKind::Instructions, instructions->change()});
  const LogChange ipc = find_change_of_ipc(results, why.command, *instructions, cycles);
  why.factors.push_back({WallFactorKind::InstructionsPerCycle, ipc.change()});
  return adjust_cycles(cycles, *instructions, ipc);
}

/// Adds factors of the CPU time without cycles. The last one is all that the instructions do not
/// explain.
void add_factors_without_cycles(const std::optional<LogChange>& instructions,
                                const LogChange& cpu_time, WallTimeExplanation& why) {
  if (!instructions) {
    why.factors.push_back({WallFactorKind::CpuTime, cpu_time.change()});
    return;
  }
  why.factors.push_back({WallFactorKind::Instructions, instructions->change()});
  why.factors.push_back({WallFactorKind::CpuTimePerInstruction,
                         subtract_independent(cpu_time, *instructions).change()});
}

/// Adds the factors that explain a candidate's change of CPU time, which is instructions /
/// instructions per cycle / clock. If a count is missing, or covers something else than the CPU
/// time, one factor stands for those that cannot be separated. `cpu_time`: change of the CPU time.
void add_factors_of_cpu_time(const Results& results, const LogChange& cpu_time,
                             WallTimeExplanation& why) {
  const std::size_t candidate = why.command;
  const auto instructions = find_log_change(results, candidate, Role::Instructions);
  auto cycles = find_log_change(results, candidate, Role::Cycles);

  // Counts of different privilege levels give no instructions per cycle, so only the instructions
  // are used.
  why.cycles_have_other_levels =
      instructions && cycles &&
      find_levels(results, Role::Instructions) != find_levels(results, Role::Cycles);
  if (why.cycles_have_other_levels) cycles.reset();

  set_facts_about_counts(results, instructions.has_value(), cycles.has_value(), why);

  if (!cycles) {
    add_factors_without_cycles(instructions, cpu_time, why);
    return;
  }
  const LogChange implied_cycles = add_factors_of_cycles(results, instructions, *cycles, why);
  why.factors.push_back(make_factor_beside_cycles(results, why, implied_cycles, cpu_time));
}

}  // namespace

double WallFactor::log_contribution() const {
  const double log = std::log1p(change.change.value_or(0.0));
  const bool divides = factor_kind == WallFactorKind::InstructionsPerCycle ||
                       factor_kind == WallFactorKind::Clock ||
                       factor_kind == WallFactorKind::Utilisation;
  return divides ? -log : log;
}

std::vector<WallTimeExplanation> make_explanations(const Results& results) {
  std::vector<WallTimeExplanation> explanations;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    if (!results.session.reference.is_candidate(c)) continue;
    const auto wall = find_log_change(results, c, Role::WallTime);
    const auto cpu = find_log_change(results, c, Role::CpuTime);
    if (!wall || !cpu) continue;
    WallTimeExplanation why{.command = c};
    add_factors_of_cpu_time(results, *cpu, why);
    why.factors.push_back(make_utilisation_factor(results, c, *cpu, *wall));
    explanations.push_back(std::move(why));
  }
  return explanations;
}

}  // namespace lauka
