#include "fakes/darwin/region.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

// The functions of libSystem for lauka/region.h, in the model.

namespace lauka::darwin {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
Region::Calling now_calling;
SelfCounts self_counts = SelfCounts::Reported;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

void set_calling(const Region::Calling& calling) {
  now_calling = calling;
}

void set_self_counts(SelfCounts how) {
  self_counts = how;
}

extern "C" {

int lauka_model_thread_selfcounts(std::uint32_t kind, void* counts, std::size_t size);
std::uint64_t lauka_model_clock_gettime_nsec_np(unsigned clock);
int lauka_model_pthread_threadid_np(void* thread, std::uint64_t* id);

/// Kind 1: instructions, then cycles, of the calling thread. Source: XNU bsd/kern/sys_recount.c.
int lauka_model_thread_selfcounts(std::uint32_t kind, void* counts, std::size_t size) {
  if (kind != 1 || self_counts == SelfCounts::Refused) {
    errno = kind != 1 ? EINVAL : ENOTSUP;
    return -1;
  }
  std::array<std::uint64_t, 2> reported{};
  if (self_counts == SelfCounts::Reported)
    reported = {instructions_of(now_calling.work, kBothModes),
                cycles_of(now_calling.work, kBothModes)};
  std::memcpy(counts, reported.data(), std::min(size, sizeof reported));
  return 0;
}

/// Clock 8: CLOCK_UPTIME_RAW, which is mach_absolute_time in nanoseconds.
std::uint64_t lauka_model_clock_gettime_nsec_np(unsigned clock) {
  return clock == 8 ? now_calling.now_ns : 0;
}

int lauka_model_pthread_threadid_np(void* thread, std::uint64_t* id) {
  if (thread != nullptr) return ESRCH;
  *id = now_calling.thread;
  return 0;
}
}

}  // namespace lauka::darwin
