#pragma once

#include "core/record.h"
#include "fakes/made_session.h"
#include "plan/plan.h"
#include "results/results.h"
#include "stats/noise.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

// Simulated sessions of two commands, which go straight into lauka's analysis: no process runs.

namespace lauka::simulation {

/// Relative times of so many consecutive runs, about 1.
using Times = std::function<std::vector<double>(noise::Source&, std::size_t runs)>;

/// What a run takes besides its wall time.
struct RunOf {
  double wall = 0.01;        ///< seconds
  double cpu_share = 0.95;   ///< of the wall time
  std::uint64_t waits = 2;   ///< voluntary switches
  std::uint64_t pushes = 0;  ///< involuntary switches
  std::uint64_t disk_reads = 0;
};

/// The runs of both commands, each in its own order.
struct Simulated {
  std::vector<RunOf> reference;
  std::vector<RunOf> candidate;
  std::vector<RunOf> counting_reference{};
  std::vector<RunOf> counting_candidate{};
};

/// Makes one session of so many rounds.
using Make = std::function<Simulated(noise::Source&, std::size_t rounds)>;

/// The noise of the machine: a coin decides in each round which command runs first. The candidate
/// takes `truth` times as long.
Make of_machine(Times times, double truth = 1.0);

/// Noise of the candidate alone; the reference's runs are independent, and steady unless another
/// sigma is given.
Make of_candidate(Times times, double truth = 1.0, double sigma_of_reference = 1e-4);

// Noise.
std::vector<double> normal(noise::Source& source, std::size_t runs);      ///< sigma 2 %
std::vector<double> log_normal(noise::Source& source, std::size_t runs);  ///< sigma of the log 0.3
std::vector<double> t3(noise::Source& source, std::size_t runs);          ///< 3 degrees of freedom
std::vector<double> bimodal(noise::Source& source, std::size_t runs);     ///< 15 % apart, 70:30
std::vector<double> spikes(noise::Source& source, std::size_t runs);  ///< 5 %, up to twice as long
std::vector<double> ticks(noise::Source& source, std::size_t runs);   ///< of a tenth of the time
std::vector<double> drift(noise::Source& source, std::size_t runs);   ///< by 20 % in all
Times waves(double persistence);  ///< a first-order autoregression, sigma 2 %

/// Returns lauka's analysis of a session.
class Analysis {
 public:
  Analysis();
  Results of(const Simulated& simulated);

 private:
  Plan plan_;
  MadeSession session_;
};

}  // namespace lauka::simulation
