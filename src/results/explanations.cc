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
  const MetricResult* row = row_of(results, command, role);
  if (row == nullptr || !row->delta || results.session.metrics[row->metric].of_region)
    return std::nullopt;
  return to_log_change(*row->delta);
}

/// Returns CPU time divided by wall time for each run of a command, with the layouts of the runs if
/// its session has layouts; empty if these metrics cannot be compared.
Series make_utilisation(const MeasuredCommand& command, std::size_t cpu_time,
                        std::size_t wall_time) {
  Series series;
  const auto place_of_cpu_time = command.place_of(cpu_time);
  const auto place_of_wall_time = command.place_of(wall_time);
  if (!place_of_cpu_time || !place_of_wall_time) return series;

  const Runs& runs = command.session.runs;
  const bool has_layouts = count_layouts(command.session, command.index) > 1;
  for (const std::uint32_t run : runs.of_command(command.index)) {
    const RunFacts facts = runs.facts(run);
    RunOfSeries read{.round = static_cast<std::uint32_t>(facts.round),
                     .layout = facts.layout,
                     .ending = facts.ending};

    const auto cpu_seconds = runs.value(run, *place_of_cpu_time);
    const auto wall_seconds = runs.value(run, *place_of_wall_time);
    if (cpu_seconds && wall_seconds && *wall_seconds > 0.0)
      read.value = *cpu_seconds / *wall_seconds;
    series.add(read, has_layouts);
  }
  return series;
}

std::optional<double> median_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return stats::median(stats::sorted(values));
}

/// Computes the value from the deltas, and the interval from the quotients within runs. The
/// interval is extended to include the value.
WallFactor make_utilisation_factor(const Results& results, std::size_t command,
                                   const LogChange& cpu, const LogChange& wall) {
  const std::size_t cpu_time = *find_metric(results.session.metrics, Role::CpuTime);
  const std::size_t wall_time = *find_metric(results.session.metrics, Role::WallTime);
  const Pair pair = pair_of(results.session, command);
  const auto make_series_of = [&](std::size_t command_index) {
    return make_utilisation(find_measured(results.session, command_index), cpu_time, wall_time);
  };
  const Series reference = make_series_of(pair.reference);
  const Series candidate = make_series_of(pair.candidate);

  LogChange factor{cpu.value - wall.value};
  const Comparison samples = pair_samples(reference, candidate, pair.is_within_rounds);
  std::optional<LogChange> within_runs;
  if (!samples.is_empty()) {
    const stats::IntervalTails tails = stats::tails_of(results.session.confidence);
    within_runs = to_log_change(estimate_delta(samples, tails, std::nullopt));
  }

  if (within_runs && within_runs->bounds) {
    const double shift = factor.value - within_runs->value;
    factor.bounds = stats::IntervalEnds{within_runs->bounds->low + std::min(0.0, shift),
                                        within_runs->bounds->high + std::max(0.0, shift)};
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

void add_factors_of_cpu_time(const Results& results, const LogChange& cpu,
                             WallTimeExplanation& why) {
  const std::size_t c = why.command;
  const auto instructions = find_log_change(results, c, Role::Instructions);
  auto cycles = find_log_change(results, c, Role::Cycles);

  // Counts of different privilege levels give no instructions per cycle.
  if (instructions && cycles) {
    const auto levels_of_cycles = find_levels(results, Role::Cycles);
    why.cycles_have_other_levels = find_levels(results, Role::Instructions) != levels_of_cycles;
    if (why.cycles_have_other_levels) cycles.reset();
  }

  auto ipc = find_log_change(results, c, Role::Ipc);
  if (!ipc && instructions && cycles) ipc = subtract_independent(*instructions, *cycles);
  describe_counts(results, instructions.has_value(), cycles.has_value(), why);

  const auto add = [&why](WallFactorKind kind, const LogChange& change) {
    why.factors.push_back({kind, change.change()});
  };

  // The product of the factors is the change of the CPU time. Without cycles, the last factor is
  // all that the instructions do not explain.
  if (instructions) add(WallFactorKind::Instructions, *instructions);
  if (instructions && !cycles)
    return add(WallFactorKind::CpuTimePerInstruction, subtract_independent(cpu, *instructions));
  if (!cycles) return add(WallFactorKind::CpuTime, cpu);

  LogChange of_cycles = *cycles;
  if (instructions) {
    add(WallFactorKind::InstructionsPerCycle, *ipc);
    of_cycles.value = instructions->value - ipc->value;
    // The interval must contain the value, which comes from other metrics.
    if (of_cycles.bounds) {
      of_cycles.bounds->low = std::min(of_cycles.bounds->low, of_cycles.value);
      of_cycles.bounds->high = std::max(of_cycles.bounds->high, of_cycles.value);
    }
  } else {
    add(WallFactorKind::Cycles, *cycles);
  }

  // Only cycles that cover the whole CPU time and nothing else tell the clock.
  if (why.levels != CountedPrivilegeLevels::UserAndKernel || why.counts_include_shell_start)
    return add(WallFactorKind::CpuTimePerCycle, subtract_independent(cpu, of_cycles));

  WallFactor clock{WallFactorKind::Clock, subtract_independent(of_cycles, cpu).change()};
  clock.candidate_median = median_of(results, c, Role::Clock);
  if (const auto reference = results.session.reference.index_in_session(c))
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
