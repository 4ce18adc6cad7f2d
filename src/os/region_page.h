#pragma once

#include "core/result.h"
#include "os/process.h"

#include <array>
#include <cstddef>

struct lauka_region_memory_;

namespace lauka::os {

/// The memory in which a run notes its region (lauka/region.h), new for each run, so that what an
/// earlier one left behind writes into nothing. Internal to os/.
class RegionPage : NonCopyable {
 public:
  ~RegionPage();

  /// Makes it, with a descriptor that the next program gets. False with errno.
  bool hand_down();

  /// The same for a counter that the region switches. False with errno.
  bool hand_down_counter(int descriptor);

  /// The threads that call in note what they counted of themselves, where they can (macOS).
  void count_threads();

  /// The descriptor that the next program is to have; -1: there is none.
  int descriptor() const { return count_ > 0 ? handed_.front() : -1; }

  /// NAME=VALUE that tells a program of it; as long as this lives.
  char* variable() { return variable_.data(); }

  /// What the program noted so far.
  RegionUse use() const;

 private:
  int hand_down(int descriptor);

  lauka_region_memory_* memory_ = nullptr;
  std::array<int, 17> handed_{};  // the memory's and the counters'
  std::size_t count_ = 0;
  std::array<char, 32> variable_{};
};

}  // namespace lauka::os
