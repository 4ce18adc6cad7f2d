#pragma once

#include "os/linux_calls.h"
#include "os/process.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lauka::os {

/// The offset of data_head in Linux's perf_event_mmap_page, the first page of a ring.
inline constexpr std::size_t kRingHeadOffset = 1024;
inline constexpr std::size_t kRingTailOffset = 1032;

/// The space for records in a ring, in bytes: about half of what perf_event_mlock_kb (by default
/// 516) allows a user per CPU.
inline constexpr std::size_t kRingBytes = std::size_t{256} << 10U;

class SampleRings : NonCopyable {
 public:
  explicit SampleRings(const LinuxCalls* calls) : calls_(calls) {}
  ~SampleRings();

  /// Opens a counter of a process (0: the calling process) on each CPU that is online. Multiplies
  /// the sampling period by a factor from 0.75 to 1.25 that depends on the run number `run`, so
  /// that equal runs are sampled at different places. Returns 0, or the errno of the first failure.
  int open(PerfEventAttr attributes, int process, std::uint32_t run);

  bool lacks_memory() const { return lacks_memory_; }

  /// Returns the counters' descriptors. A descriptor becomes readable when the counter's ring holds
  /// PerfEventAttr::wakeup_bytes bytes.
  const std::vector<int>& descriptors() const { return counters_; }

  /// Returns a reading of each counter, with zeros if it cannot be read. Needs the read_format
  /// kPerfReadEnabled | kPerfReadRunning.
  std::vector<Reading> read_counters() const;

  void move_to(SampleListener& listener);

 private:
  int open_ring(const PerfEventAttr& attributes, const CounterPlace& place);

  const LinuxCalls* calls_;
  int guard_ = -1;  // keeps the events of copies (--jobs), see guard_of()
  std::vector<int> counters_;
  std::vector<std::byte*> rings_;
  bool lacks_memory_ = false;
};

}  // namespace lauka::os
