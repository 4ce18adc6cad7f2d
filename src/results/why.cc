// Times and counts are of different runs, so no run has all factors. The logarithms of the rows'
// deltas are added up, and two factors close the sum: clock = instructions - ipc - cpu_time and
// utilisation = cpu_time - wall_time. So the product is the wall time's delta, whatever estimates
// the rows have. Their intervals: for the clock, of independent estimates (Zou & Donner 2008); for
// the utilisation, of the quotient within runs.

#include "core/metric.h"
#include "results/results.h"
#include "session/baseline.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace lauka {
namespace {

/// A delta by logarithms, without bounds that reach -100%.
struct LogChange {
  double value = 0.0;
  std::optional<stats::ChangeBounds> bounds{};

  stats::Change change() const {
    stats::Change change{.change = std::expm1(value)};
    if (bounds)
      change.bounds = stats::ChangeBounds{std::expm1(bounds->low), std::expm1(bounds->high)};
    return change;
  }
};

std::optional<LogChange> log_of(const stats::Change& delta) {
  if (!delta.change || *delta.change <= -1.0) return std::nullopt;
  LogChange result{std::log1p(*delta.change)};
  if (delta.bounds && delta.bounds->low > -1.0)
    result.bounds =
        stats::ChangeBounds{std::log1p(delta.bounds->low), std::log1p(delta.bounds->high)};
  return result;
}

/// a - b of independent estimates.
LogChange difference(const LogChange& a, const LogChange& b) {
  LogChange result{a.value - b.value};
  if (!a.bounds || !b.bounds) return result;
  result.bounds = stats::ChangeBounds{
      result.value - std::hypot(a.value - a.bounds->low, b.bounds->high - b.value),
      result.value + std::hypot(a.bounds->high - a.value, b.value - b.bounds->low)};
  return result;
}

/// Counts of a region explain nothing of the time of the whole run.
std::optional<LogChange> delta_of_row(const Results& results, std::size_t command, Role role) {
  const MetricResult* row = row_of(results, command, role);
  if (row == nullptr || !row->delta || results.metrics[row->metric].note.starts_with(kRegionNote))
    return std::nullopt;
  return log_of(*row->delta);
}

const Metric* metric_of(const Results& results, Role role) {
  const auto place = find_metric(results.metrics, role);
  return place ? &results.metrics[*place] : nullptr;
}

/// CPU time / wall time of the runs of one command of a session.
Series utilisation_of(const RunTable& runs, std::size_t command, std::size_t cpu, std::size_t wall,
                      std::span<const std::uint32_t> rounds) {
  Series series;
  for (const std::uint32_t run : runs.of(command)) {
    const auto of_cpu = runs.value(run, cpu);
    const auto of_wall = runs.value(run, wall);
    if (!of_cpu || !of_wall || *of_wall <= 0.0) continue;
    series.values.push_back(*of_cpu / *of_wall);
    series.rounds.push_back(rounds.empty() ? 0 : rounds[run]);
  }
  return series;
}

std::optional<double> median_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return stats::median(stats::sorted(values));
}

/// The quotient within runs gives the interval, the rows' deltas the value; both are in the bounds.
WallFactor utilisation_factor(const Results& results, std::size_t command, const LogChange& cpu,
                              const LogChange& wall, std::span<const std::uint32_t> rounds) {
  const std::size_t of_cpu = *find_metric(results.metrics, Role::CpuTime);
  const std::size_t of_wall = *find_metric(results.metrics, Role::WallTime);
  const Series candidate = utilisation_of(*results.runs, command, of_cpu, of_wall, rounds);
  Series reference;
  if (const auto& baseline = results.reference.baseline) {
    if (baseline->metrics[of_cpu] && baseline->metrics[of_wall])
      reference = utilisation_of(*baseline->session->runs, baseline->commands[command],
                                 *baseline->metrics[of_cpu], *baseline->metrics[of_wall], {});
  } else {
    reference = utilisation_of(*results.runs, results.reference.command, of_cpu, of_wall, rounds);
  }
  LogChange closing{cpu.value - wall.value};
  const Comparison samples =
      compare(reference, candidate, compares_within_rounds(results, command));
  const auto within =
      samples.is_empty()
          ? std::nullopt
          : log_of(stats::delta_of(samples.reference, samples.candidate, samples.paired,
                                   stats::tails_of(results.confidence)));
  if (within && within->bounds) {
    const double shift = closing.value - within->value;
    closing.bounds = stats::ChangeBounds{within->bounds->low + std::min(0.0, shift),
                                         within->bounds->high + std::max(0.0, shift)};
  }
  return {WallPart::Utilisation, closing.change(), median_of(reference.values),
          median_of(candidate.values)};
}

/// True if the kernel's part is in the times, but not in the counts.
bool is_user_only(const Results& results, const Metric& metric) {
  if (metric.note.find("user") != std::string::npos) return true;
  return metric.event && *metric.event < results.setting.events.events.size() &&
         results.setting.events.events[*metric.event].meaning.find("user") != std::string::npos;
}

bool has_parts(const Results& results) {
  return std::ranges::any_of(results.metrics, [](const Metric& metric) {
    return metric.role == Role::Cycles && metric.is_part;
  });
}

/// Returns cycles / CPU time of the counting runs, a metric of its own if available.
std::optional<double> clock_of(const Results& results, std::size_t command) {
  const MetricResult* row =
      row_of(results.commands[command], find_metric(results.metrics, "clock"));
  if (row == nullptr || !row->summary) return std::nullopt;
  return row->summary->median;
}

/// Adds the factors of CPU time.
void add_factors_of_cpu_time(const Results& results, const LogChange& cpu, Why& why) {
  const std::size_t c = why.command;
  const auto instructions = delta_of_row(results, c, Role::Instructions);
  const auto cycles = delta_of_row(results, c, Role::Cycles);
  auto ipc = delta_of_row(results, c, Role::Ipc);
  if (!ipc && instructions && cycles) ipc = difference(*instructions, *cycles);  // of other runs
  why.lacks_instructions = !instructions;
  why.lacks_cycles = !cycles;
  const Metric* counted = metric_of(results, instructions ? Role::Instructions : Role::Cycles);
  if (counted != nullptr && (instructions || cycles)) {
    why.is_simulated = counted->note == kSimulatedNote;
    why.is_user_only = is_user_only(results, *counted);
    why.has_shell = !results.shell.empty();
  }
  why.is_of_all_kinds = !why.lacks_cycles && has_parts(results);
  if (instructions) why.factors.push_back({WallPart::Instructions, instructions->change()});
  if (instructions && why.lacks_cycles) {
    why.factors.push_back(
        {WallPart::CpuTimePerInstruction, difference(cpu, *instructions).change()});
    return;
  }
  if (why.lacks_cycles) {
    why.factors.push_back({WallPart::CpuTime, cpu.change()});
    return;
  }
  LogChange of_cycles = *cycles;
  if (instructions) {
    why.factors.push_back({WallPart::InstructionsPerCycle, ipc->change()});
    of_cycles.value = instructions->value - ipc->value;
    if (of_cycles.bounds) {
      of_cycles.bounds->low = std::min(of_cycles.bounds->low, of_cycles.value);
      of_cycles.bounds->high = std::max(of_cycles.bounds->high, of_cycles.value);
    }
  } else {
    why.factors.push_back({WallPart::Cycles, cycles->change()});
  }
  if (why.is_user_only || why.has_shell) {
    why.factors.push_back({WallPart::CpuTimePerCycle, difference(cpu, of_cycles).change()});
    return;
  }
  WallFactor clock{WallPart::Clock, difference(of_cycles, cpu).change()};
  clock.candidate = clock_of(results, c);
  if (!results.reference.baseline) clock.reference = clock_of(results, results.reference.command);
  why.factors.push_back(clock);
}

}  // namespace

double WallFactor::log_of_wall_time() const {
  const double log = std::log1p(change.change.value_or(0.0));
  const bool divides = part == WallPart::InstructionsPerCycle || part == WallPart::Clock ||
                       part == WallPart::Utilisation;
  return divides ? -log : log;
}

std::vector<Why> explanations_of(const Results& results, std::span<const std::uint32_t> rounds) {
  std::vector<Why> explanations;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    if (!results.reference.is_candidate(c)) continue;
    const auto wall = delta_of_row(results, c, Role::WallTime);
    const auto cpu = delta_of_row(results, c, Role::CpuTime);
    if (!wall || !cpu) continue;
    Why why{.command = c};
    add_factors_of_cpu_time(results, *cpu, why);
    why.factors.push_back(utilisation_factor(results, c, *cpu, *wall, rounds));
    explanations.push_back(std::move(why));
  }
  return explanations;
}

}  // namespace lauka
