#pragma once

#include "os/linux_calls.h"
#include "os/process.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lauka::os {

/// Offsets of data_head and data_tail in Linux's perf_event_mmap_page, a ring's first page.
inline constexpr std::size_t kRingHead = 1024;
inline constexpr std::size_t kRingTail = 1032;

/// The size of a ring's records in bytes: about half of what perf_event_mlock_kb (516) allows a
/// user per CPU.
inline constexpr std::size_t kRingBytes = std::size_t{256} << 10U;

class SampleRings : NonCopyable {
 public:
  explicit SampleRings(const LinuxCalls* calls) : calls_(calls) {}
  ~SampleRings();

  /// Opens a counter of a process (0: this one) on each CPU that is online. The sampling period
  /// varies with the run number `run` by up to a quarter, so that programs that repeat exactly are
  /// sampled at different places. Returns 0, or the errno of the first refusal.
  int open(PerfEventAttr attributes, int process, std::uint32_t run);

  bool lacks_memory() const { return lacks_memory_; }

  /// Returns the counters' descriptors. Each is readable when its ring holds wakeup_bytes bytes.
  const std::vector<int>& descriptors() const { return counters_; }

  /// Returns the reading of each counter; 0 for a counter that cannot be read. Needs the
  /// read_format kPerfReadEnabled | kPerfReadRunning.
  std::vector<Reading> read() const;

  void move_to(SampleListener& listener);

 private:
  const LinuxCalls* calls_;
  std::vector<int> counters_;
  std::vector<std::byte*> rings_;
  bool lacks_memory_ = false;
};

}  // namespace lauka::os
