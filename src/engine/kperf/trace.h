#pragma once

#include "engine/kperf/abi.h"
#include "os/darwin_calls.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lauka::engine::kperf {

/// The kernel's trace (kdebug). Functions that give an int give 0 or an errno. Source: XNU
/// bsd/kern/kdebug.c.
class Trace {
 public:
  explicit Trace(const os::DarwinCalls& calls) : calls_(calls) {}

  /// Makes a buffer for `records`, lets the ends, makings and samples of threads in, and switches
  /// recording on. What was there before is removed. Takes 200 ms in the kernel.
  int set_up(std::uint32_t records);

  /// Switches recording off and frees the buffer.
  int remove() const;

  using Reader = std::function<void(std::span<const KdebugRecord>)>;

  /// Whether so much is there that it is time to read; waits up to a millisecond for it. A record
  /// that is being written while others are read may be lost without a sign (its time is taken
  /// before its place), so it is read as seldom as can be.
  bool is_half_full() const;

  /// Hands on all records that are there. `wrapped` is set where the buffer wrapped since it was
  /// last read, so that records are lost; it is left alone otherwise.
  int read(bool& wrapped, const Reader& reader);

  /// The state; all zero where the kernel does not tell.
  KdebugInfo info() const;

 private:
  int let_in() const;
  int call(int operation, void* value, std::size_t* length) const;
  int call_with_value(int operation, int value) const;

  const os::DarwinCalls& calls_;
  std::vector<KdebugRecord> room_;
};

}  // namespace lauka::engine::kperf
