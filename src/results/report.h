#pragma once

#include "core/choices.h"
#include "core/metric.h"
#include "gate/verdict.h"
#include "results/results.h"
#include "stats/delta.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lauka {

/// How the candidates of a suite differ from their references on the whole.
struct Geomean {
  std::size_t place = 0;       ///< of the candidate among those of its benchmark
  std::string candidate{};     ///< its name, where all have the same; else empty
  std::size_t benchmarks = 0;  ///< behind it, 2 or more
  std::string metric{};
  Better better = Better::Less;
  stats::Delta change{};
};

/// All that the screen and the exports are made from: the benchmarks of a suite, or the one without
/// a name of a plain call.
struct Report {
  std::vector<Results> benchmarks;    ///< at least one
  std::vector<Geomean> geomeans{};    ///< one for each place that has two benchmarks
  gate::Risk risk = gate::Risk::Any;  ///< how the gates share the rate of false alarms

  bool is_suite() const { return !benchmarks.front().benchmark.empty(); }
  bool complete() const;
  std::vector<gate::Verdict> verdicts() const;
};

/// The commands of a benchmark that are compared with its reference.
std::vector<std::size_t> candidates_of(const Results& results);

/// Adds the geometric means of the first metric shown. A benchmark that shows another one first, or
/// has no delta, is in none.
Report report_of(std::vector<Results> benchmarks, gate::Risk risk);

}  // namespace lauka
