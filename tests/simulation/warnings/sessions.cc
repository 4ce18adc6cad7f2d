#include "simulation/warnings/sessions.h"

#include "core/metric.h"
#include "fakes/analysed.h"
#include "plan/rows.h"
#include "results/analyse.h"

#include <array>
#include <chrono>
#include <cmath>
#include <string_view>
#include <utility>

namespace lauka::simulation {
namespace {

constexpr double kSeconds = 0.01;  // of a run

std::vector<RunOf> runs_of(const std::vector<double>& times, double truth) {
  std::vector<RunOf> runs;
  runs.reserve(times.size());
  for (const double time : times) runs.push_back({.wall = kSeconds * truth * time});
  return runs;
}

RunRecord record_of(std::uint32_t command, std::uint32_t round, RoundKind kind, const RunOf& run) {
  constexpr double nanoseconds = 1e9;
  RunRecord record;
  record.step = {command, round, 0, kind};
  record.outcome = Exited{0};
  record.usage.wall_ns = static_cast<std::uint64_t>(std::llround(run.wall * nanoseconds));
  record.usage.user_ns =
      static_cast<std::uint64_t>(std::llround(run.wall * run.cpu_share * nanoseconds));
  record.usage.voluntary_switches = run.waits;
  record.usage.involuntary_switches = run.pushes;
  record.usage.block_reads = run.disk_reads;
  return record;
}

}  // namespace

std::vector<double> normal(noise::Source& source, std::size_t runs) {
  return source.normals(runs, 1.0, 0.02);
}

std::vector<double> log_normal(noise::Source& source, std::size_t runs) {
  std::vector<double> values = source.normals(runs, 0.0, 0.3);
  for (double& value : values) value = std::exp(value);
  return values;
}

std::vector<double> t3(noise::Source& source, std::size_t runs) {
  std::vector<double> values(runs);
  for (double& value : values) {
    double squares = 0.0;
    for (int i = 0; i < 3; ++i) squares += std::pow(source.normal(), 2);
    value = std::exp(0.03 * source.normal() / std::sqrt(squares / 3.0));
  }
  return values;
}

std::vector<double> bimodal(noise::Source& source, std::size_t runs) {
  std::vector<double> values = source.normals(runs, 1.0, 0.01);
  for (double& value : values) value *= source.uniform() < 0.3 ? 1.15 : 1.0;
  return values;
}

std::vector<double> spikes(noise::Source& source, std::size_t runs) {
  std::vector<double> values = source.normals(runs, 1.0, 0.02);
  for (double& value : values) value *= source.uniform() < 0.05 ? 1.0 + source.uniform() : 1.0;
  return values;
}

std::vector<double> ticks(noise::Source& source, std::size_t runs) {
  std::vector<double> values = source.normals(runs, 1.0, 0.025);
  for (double& value : values) value = std::round(10.0 * value) / 10.0;
  return values;
}

std::vector<double> drift(noise::Source& source, std::size_t runs) {
  std::vector<double> values = source.normals(runs, 1.0, 0.02);
  for (std::size_t i = 0; i < runs; ++i)
    values[i] *= 1.0 + 0.2 * static_cast<double>(i) / static_cast<double>(runs);
  return values;
}

Times waves(double persistence) {
  return [persistence](noise::Source& source, std::size_t runs) {
    std::vector<double> values = source.waves(runs, persistence);
    for (double& value : values) value = std::exp(0.02 * value);
    return values;
  };
}

Make of_machine(Times times, double truth) {
  return [times = std::move(times), truth](noise::Source& source, std::size_t rounds) {
    const std::vector<double> all = times(source, 2 * rounds);
    std::vector<double> reference;
    std::vector<double> candidate;
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::size_t first = source.uniform() < 0.5 ? 0 : 1;
      reference.push_back(all[2 * round + first]);
      candidate.push_back(all[2 * round + 1 - first]);
    }
    return Simulated{runs_of(reference, 1.0), runs_of(candidate, truth)};
  };
}

Make of_candidate(Times times, double truth, double sigma_of_reference) {
  return [times = std::move(times), truth, sigma_of_reference](noise::Source& source,
                                                               std::size_t rounds) {
    return Simulated{runs_of(source.normals(rounds, 1.0, sigma_of_reference), 1.0),
                     runs_of(times(source, rounds), truth)};
  };
}

Analysis::Analysis() {
  for (const std::string name : {"old", "new"})
    plan_.commands.push_back({.name = name, .text = name, .words = {name}});
  constexpr auto needed = std::to_array<std::string_view>(
      {"wall_time", "cpu_time", "voluntary_switches", "involuntary_switches", "block_reads"});
  for (Metric& metric : make_metrics({}, MetricSelection::Default, false))
    if (std::ranges::find(needed, metric.name) != needed.end())
      plan_.metrics.push_back(std::move(metric));
}

Results Analysis::of(const Simulated& simulated) {
  session_.runs.clear();
  for (std::uint32_t round = 0; round < simulated.reference.size(); ++round) {
    session_.runs.push_back(record_of(0, round, RoundKind::Timed, simulated.reference[round]));
    session_.runs.push_back(record_of(1, round, RoundKind::Timed, simulated.candidate[round]));
  }
  for (std::uint32_t round = 0; round < simulated.counting_reference.size(); ++round) {
    session_.runs.push_back(
        record_of(0, round, RoundKind::Counting, simulated.counting_reference[round]));
    session_.runs.push_back(
        record_of(1, round, RoundKind::Counting, simulated.counting_candidate[round]));
  }
  using namespace std::chrono_literals;
  return analyse(plan_, session_, {}, TimerResolutions{1ns, 1ms});
}

}  // namespace lauka::simulation
