#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <thread>

namespace lauka::simulation {

/// Calls `work` with 0..count-1, on two threads.
template <typename Work>
void in_parallel(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::thread second(loop);
  loop();
  second.join();
}

/// Returns three standard errors of a share in so many sessions.
inline double allowance(double share, std::size_t sessions) {
  return 3.0 * std::sqrt(share * (1.0 - share) / static_cast<double>(sessions));
}

/// Prints how often intervals hold the truth; returns how many limits are broken.
int simulate_coverage(std::size_t sessions);

}  // namespace lauka::simulation
