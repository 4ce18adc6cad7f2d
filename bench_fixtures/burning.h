#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace fixture {

/// CPU time of the calling thread, user and system.
inline std::chrono::nanoseconds thread_cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

/// Uses `cpu_time` on the calling thread, at most about 10 microseconds more. The clock is a system
/// call: it is read every few microseconds only, so that nearly all of the time is user time.
inline void burn(std::chrono::nanoseconds cpu_time) {
  static constexpr int kStepsBetweenReadings = 4000;
  const auto end = thread_cpu_time() + cpu_time;
  volatile std::uint64_t kept = 1;
  while (thread_cpu_time() < end) {
    std::uint64_t state = kept;
    for (int step = 0; step < kStepsBetweenReadings; ++step) {
      state = state * 6364136223846793005U + 1442695040888963407U;
    }
    kept = state;
  }
}

}  // namespace fixture
