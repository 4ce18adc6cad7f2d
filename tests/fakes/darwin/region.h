#pragma once

#include "fakes/darwin/process.h"
#include "fakes/darwin/work.h"
#include "os/darwin_calls.h"

#include <cstdint>
#include <memory>

struct lauka_region_memory_;

namespace lauka::darwin {

/// A process's use of lauka/region.h: the header's own code for macOS, on the memory of the
/// descriptor it was given.
class Region {
 public:
  /// Returns null if the process gets none, or would not inherit it.
  static std::shared_ptr<Region> of(const os::SpawnRequest& request);

  explicit Region(lauka_region_memory_* memory) : memory_(memory) {}
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  /// The calling thread, its work so far, and the time since the machine was started.
  struct Calling {
    Tid thread = 0;
    Work work{};
    std::uint64_t now_ns = 0;
  };

  /// lauka_region_begin or lauka_region_end.
  void call(bool begins, const Calling& calling);

 private:
  lauka_region_memory_* memory_;
};

/// Sets the answers of libSystem's functions that the header calls (region_calls.cc). They are
/// plain functions, which learn their caller in no other way.
void set_calling(const Region::Calling& calling);

/// The answer of thread_selfcounts from now on.
enum class SelfCounts : std::uint8_t { Reported, Zero, Refused };
void set_self_counts(SelfCounts how);

}  // namespace lauka::darwin
