// What lauka/region.h calls of macOS's libSystem, answered by Linux: a thread's CPU time in
// nanoseconds stands for its cycles, and it has two instructions in each.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::uint64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

extern "C" {

int lauka_model_thread_selfcounts(std::uint32_t kind, void* counts, std::size_t size);
std::uint64_t lauka_model_clock_gettime_nsec_np(unsigned clock);
int lauka_model_pthread_threadid_np(void* thread, std::uint64_t* id);

int lauka_model_thread_selfcounts(std::uint32_t kind, void* counts, std::size_t size) {
  const std::uint64_t ns = now(CLOCK_THREAD_CPUTIME_ID);
  const std::array<std::uint64_t, 2> reported = {2 * ns, ns};
  if (kind != 1) return -1;
  std::memcpy(counts, reported.data(), std::min(size, sizeof reported));
  return 0;
}

std::uint64_t lauka_model_clock_gettime_nsec_np(unsigned clock) {
  return clock == 8 ? now(CLOCK_MONOTONIC) : 0;
}

int lauka_model_pthread_threadid_np(void* /*thread*/, std::uint64_t* id) {
  *id = static_cast<std::uint64_t>(syscall(SYS_gettid));
  return 0;
}
}
