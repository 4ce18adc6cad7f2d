#pragma once

#include "os/linux_calls.h"
#include "os/process.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lauka::os {

/// Offsets of head and tail in the first page of a ring (Linux's perf_event_mmap_page).
inline constexpr std::size_t kRingHead = 1024;
inline constexpr std::size_t kRingTail = 1032;

/// The size of a ring's records in bytes. With the page in front, it is half of what
/// perf_event_mlock_kb (516) allows a user per CPU.
inline constexpr std::size_t kRingBytes = std::size_t{256} << 10U;

/// The counters of a sampled run, each with a ring of records for its CPU.
class SampleRings : NonCopyable {
 public:
  /// `calls` is null if this system has no counters.
  explicit SampleRings(const LinuxCalls* calls) : calls_(calls) {}
  ~SampleRings();

  /// Opens a counter of a process (0: this one) on each CPU that is online. The sampling period
  /// varies with the run number `run` by up to a quarter, because a program that repeats exactly
  /// would else be sampled at the same places each time. Returns 0, or the errno of the first
  /// refusal.
  int open(PerfEventAttr attributes, int process, std::uint32_t run);

  /// True if open() failed because a ring could not be mapped.
  bool lacks_memory() const { return lacks_memory_; }

  /// Returns the counters' descriptors. A descriptor is readable when its ring holds wakeup_bytes.
  const std::vector<int>& descriptors() const { return counters_; }

  /// Returns the reading of each counter. Needs the read_format kPerfReadEnabled |
  /// kPerfReadRunning. A counter that cannot be read has a reading of 0.
  std::vector<Reading> read() const;

  /// Moves all records from the rings to `listener`.
  void move_to(SampleListener& listener);

 private:
  const LinuxCalls* calls_;
  std::vector<int> counters_;
  std::vector<std::byte*> rings_;
  bool lacks_memory_ = false;
};

}  // namespace lauka::os
