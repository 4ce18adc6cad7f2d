#include "os/launcher_counters.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>

namespace lauka::os {

int LauncherCounters::open(SharedCounters* set) {
  if (set == nullptr) return 0;
  if (calls_ == nullptr) return ENOSYS;
  for (std::size_t i = 0; i < set->count; ++i) set->descriptors[i] = -1;
  for (std::size_t i = 0; i < set->count; ++i) {
    const auto attributes = std::bit_cast<PerfEventAttr>(set->requests[i].attributes);
    if (set->guards[i] < 0) {
      PerfEventAttr guard = attributes;
      guard.flags = (guard.flags & ~(kPerfInherit | kPerfEnableOnExec)) | kPerfDisabled;
      guard.read_format = 0;
      set->guards[i] = open_one(guard, -1);
      if (set->guards[i] < 0) return -set->guards[i];
    }
    const std::size_t leader = set->requests[i].leader;
    set->descriptors[i] = open_one(attributes, leader == i ? -1 : set->descriptors[leader]);
    if (set->descriptors[i] < 0) return -set->descriptors[i];
  }
  return 0;
}

int LauncherCounters::open_one(const PerfEventAttr& attributes, int leader) {
  const int opened = calls_->open_counter(attributes, leader);
  if (opened != -EMFILE || limit_was_raised_ || getrlimit(RLIMIT_NOFILE, &original_limit_) != 0)
    return opened;
  rlimit raised = original_limit_;
  raised.rlim_cur = raised.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &raised) != 0) return opened;
  limit_was_raised_ = true;
  return calls_->open_counter(attributes, leader);
}

int LauncherCounters::read(const SharedCounters& set, Reading* readings) const {
  for (std::size_t i = 0; i < set.count; ++i) {
    if (set.requests[i].leader != i) continue;
    // Number, enabled, running, then values in the order of opening.
    std::array<std::uint64_t, 3 + kMaxCounters> group{};
    const long words = calls_->read_counter(set.descriptors[i], group.data(), group.size());
    if (words < 0) return static_cast<int>(-words);
    std::size_t next = 3;
    for (std::size_t k = i; k < set.count; ++k) {
      if (set.requests[k].leader != i) continue;
      if (next >= static_cast<std::size_t>(words)) return EIO;
      readings[k] = Reading{group[next++], group[1], group[2]};
    }
  }
  return 0;
}

void LauncherCounters::close(SharedCounters* set) const {
  if (set == nullptr || calls_ == nullptr) return;
  for (std::size_t i = set->count; i-- > 0;) {
    if (set->descriptors[i] >= 0) calls_->close_counter(set->descriptors[i]);
    set->descriptors[i] = -1;
  }
}

}  // namespace lauka::os
