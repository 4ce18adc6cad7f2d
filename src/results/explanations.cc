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
  for (const std::uint32_t run : runs.of_command(command.index)) {
    const RunFacts facts = runs.facts(run);
    RunOfSeries run_of_series{.round = static_cast<std::uint32_t>(facts.round),
                              .layout = facts.layout,
                              .ending = facts.ending};

    // A run without a value is added, too, because the series counts how runs ended.
    const auto cpu_seconds = runs.value(run, *cpu_time_in_session);
    const auto wall_seconds = runs.value(run, *wall_time_in_session);
    if (cpu_seconds && wall_seconds && *wall_seconds > 0.0)
      run_of_series.value = *cpu_seconds / *wall_seconds;
    utilisation.add(run_of_series, has_layouts);
  }
  return utilisation;
}

std::optional<double> median_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return stats::median(stats::sorted(values));
}

/// Computes the change of the utilisation (CPU time / wall time), as one of the factors that
/// explain a candidate's change of wall time. Both times have changed by `cpu_change` and
/// `wall_change`, which are logarithms.
WallFactor make_utilisation_factor(const Results& results, std::size_t candidate_index,
                                   const LogChange& cpu_change, const LogChange& wall_change) {
  // A metric that has changed is one of the session.
  const std::size_t cpu_time_index = *find_metric(results.session.metrics, Role::CpuTime);
  const std::size_t wall_time_index = *find_metric(results.session.metrics, Role::WallTime);
  const Pair pair = pair_of(results.session, candidate_index);
  const auto make_series_of = [&](std::size_t command_index) {
    return make_utilisation(find_measured(results.session, command_index), cpu_time_index,
                            wall_time_index);
  };
  const Series reference = make_series_of(pair.reference);
  const Series candidate = make_series_of(pair.candidate);

  // Wall time is CPU time / utilisation. So that the factors explain all of the change of the wall
  // time, the logarithm of this one must be exactly the difference of both changes.
  LogChange factor{.value = cpu_change.value - wall_change.value};

  // The interval comes from the utilisation of single runs. Much of the noise of CPU time and wall
  // time is common to both, and cancels out in their ratio. An interval that was computed from the
  // intervals of both times would be wider.
  const Comparison samples = pair_samples(reference, candidate, pair.is_within_rounds);
  std::optional<LogChange> change_by_runs;
  if (!samples.is_empty()) {
    const stats::IntervalTails tails = stats::tails_of(results.session.confidence);
    constexpr std::optional<double> share_of_percentile = std::nullopt;  // this is no percentile
    change_by_runs = to_log_change(estimate_delta(samples, tails, share_of_percentile));
  }

  // The change by single runs may differ slightly from the value. The interval is widened by this
  // difference, on the side of the value.
  if (change_by_runs && change_by_runs->bounds) {
    const double difference = factor.value - change_by_runs->value;
    factor.bounds = stats::IntervalEnds{change_by_runs->bounds->low + std::min(0.0, difference),
                                        change_by_runs->bounds->high + std::max(0.0, difference)};
  }

  return {.factor_kind = WallFactorKind::Utilisation,
          .change = factor.change(),
          .reference_median = median_of(reference.values),
          .candidate_median = median_of(candidate.values)};
}

CountedPrivilegeLevels find_levels(const Results& results, Role role) {
  return results.session.metrics[*find_metric(results.session.metrics, role)]
      .counted_privilege_levels;
}

void describe_counts(const Results& results, bool has_instructions, bool has_cycles,
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

/// Adds the factors that explain a candidate's change of CPU time: CPU time = instructions /
/// instructions per cycle / clock. Where a count is missing or covers something else than the CPU
/// time, a factor stands for all that cannot be separated. `cpu_time`: change of the CPU time.
void add_factors_of_cpu_time(const Results& results, const LogChange& cpu_time,
                             WallTimeExplanation& why) {
  const std::size_t candidate = why.command;
  const auto instructions = find_log_change(results, candidate, Role::Instructions);
  auto cycles = find_log_change(results, candidate, Role::Cycles);

  // Counts of different privilege levels give no instructions per cycle.
  if (instructions && cycles) {
    const auto levels_of_cycles = find_levels(results, Role::Cycles);
    why.cycles_have_other_levels = find_levels(results, Role::Instructions) != levels_of_cycles;
    if (why.cycles_have_other_levels) cycles.reset();
  }

  describe_counts(results, instructions.has_value(), cycles.has_value(), why);

  const auto add_factor = [&why](WallFactorKind kind, const LogChange& change) {
    why.factors.push_back({kind, change.change()});
  };

  // Without cycles, the last factor is all that the instructions do not explain.
  if (instructions) add_factor(WallFactorKind::Instructions, *instructions);
  if (!cycles && instructions) {
    add_factor(WallFactorKind::CpuTimePerInstruction,
               subtract_independent(cpu_time, *instructions));
    return;
  }
  if (!cycles) {
    add_factor(WallFactorKind::CpuTime, cpu_time);
    return;
  }

  LogChange adjusted_cycles = *cycles;
  if (instructions) {
    const auto measured_ipc = find_log_change(results, candidate, Role::Ipc);
    const LogChange ipc =
        measured_ipc ? *measured_ipc : subtract_independent(*instructions, *cycles);
    add_factor(WallFactorKind::InstructionsPerCycle, ipc);

    // Instructions and instructions per cycle may be estimates from different runs than cycles. The
    // factors only multiply to the CPU time if the rest is computed with the cycles that they
    // imply.
    adjusted_cycles.value = instructions->value - ipc.value;
    if (auto& bounds = adjusted_cycles.bounds) {
      bounds->low = std::min(bounds->low, adjusted_cycles.value);
      bounds->high = std::max(bounds->high, adjusted_cycles.value);
    }
  } else {
    add_factor(WallFactorKind::Cycles, *cycles);
  }

  // The clock (cycles / CPU time) is known only if the cycles cover the whole CPU time, in the
  // kernel, too, and nothing else. Times do not include the start of a shell.
  const bool cover_cpu_time =
      why.levels == CountedPrivilegeLevels::UserAndKernel && !why.counts_include_shell_start;
  if (!cover_cpu_time) {
    add_factor(WallFactorKind::CpuTimePerCycle, subtract_independent(cpu_time, adjusted_cycles));
    return;
  }

  WallFactor clock{.factor_kind = WallFactorKind::Clock,
                   .change = subtract_independent(adjusted_cycles, cpu_time).change()};
  clock.candidate_median = median_of(results, candidate, Role::Clock);
  if (const auto reference = results.session.reference.index_in_session(candidate))
    clock.reference_median = median_of(results, *reference, Role::Clock);
  why.factors.push_back(clock);
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
