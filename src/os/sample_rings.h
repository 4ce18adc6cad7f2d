#pragma once

#include "os/linux_calls.h"
#include "os/process.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lauka::os {

/// Places in the first page of a ring, which Linux describes as perf_event_mmap_page.
inline constexpr std::size_t kRingHead = 1024;
inline constexpr std::size_t kRingTail = 1032;

/// Bytes for the records of a ring: with the page before them half of what perf_event_mlock_kb
/// (516) allows a user for each CPU.
inline constexpr std::size_t kRingBytes = std::size_t{256} << 10U;

/// The counters of a sampled run, each with a ring of records on its CPU.
class SampleRings : NonCopyable {
 public:
  /// `calls` null: this system has none.
  explicit SampleRings(const LinuxCalls* calls) : calls_(calls) {}
  ~SampleRings();

  /// Opens a counter of a process (0: this one) on each CPU that is on. Its period varies with the
  /// number of the run by up to a quarter, or programs that repeat exactly would be sampled at the
  /// same places each time. Returns 0, or the errno of the first refusal.
  int open(PerfEventAttr attributes, int process, std::uint32_t run);

  /// True if open was refused the memory for a ring.
  bool lacks_memory() const { return lacks_memory_; }

  /// Returns the counters; each is readable when its ring is filled to wakeup_bytes.
  const std::vector<int>& descriptors() const { return counters_; }

  /// Removes all records.
  void move_to(SampleListener& listener);

 private:
  const LinuxCalls* calls_;
  std::vector<int> counters_;
  std::vector<std::byte*> rings_;
  bool lacks_memory_ = false;
};

}  // namespace lauka::os
