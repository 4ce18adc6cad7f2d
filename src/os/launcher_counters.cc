#include "os/launcher_counters.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>

namespace lauka::os {

int LauncherCounters::open(SharedCounters* set) {
  optional_error_ = 0;
  if (set == nullptr) return 0;
  if (calls_ == nullptr) return ENOSYS;
  for (std::size_t i = 0; i < set->count; ++i) set->descriptors[i] = -1;
  for (std::size_t i = 0; i < set->count; ++i) {
    const int error = open_request(*set, i);
    if (error == 0) continue;
    if (!set->requests[i].optional) return error;
    optional_error_ = error;
    close_optional(*set);
    return 0;
  }
  return 0;
}

/// 0 or errno. A CPU that is switched off runs nothing: what counts there is not opened, and reads
/// 0.
int LauncherCounters::open_request(SharedCounters& set, std::size_t index) {
  const CounterRequest& request = set.requests[index];
  const auto attributes = std::bit_cast<PerfEventAttr>(request.attributes);
  if (set.guards[index] < 0 && request.cpu < 0) {
    PerfEventAttr guard = attributes;
    guard.flags = (guard.flags & ~(kPerfInherit | kPerfEnableOnExec)) | kPerfDisabled;
    guard.read_format = 0;
    set.guards[index] = open_one(guard, {}, -1);
    if (set.guards[index] < 0) return -set.guards[index];
  }
  const int leader = request.leader == index ? -1 : set.descriptors[request.leader];
  const CounterPlace place{request.system_wide ? -1 : 0, request.cpu};
  const int opened = open_one(attributes, place, leader);
  if (opened == -ENODEV && request.cpu >= 0 && !request.system_wide) return 0;
  set.descriptors[index] = opened;
  return opened < 0 ? -opened : 0;
}

int LauncherCounters::open_one(const PerfEventAttr& attributes, const CounterPlace& place,
                               int leader) {
  const int opened = calls_->open_counter(attributes, place, leader);
  if (opened != -EMFILE || limit_was_raised_ || getrlimit(RLIMIT_NOFILE, &original_limit_) != 0)
    return opened;
  rlimit raised = original_limit_;
  raised.rlim_cur = raised.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &raised) != 0) return opened;
  limit_was_raised_ = true;
  return calls_->open_counter(attributes, place, leader);
}

int LauncherCounters::read(const SharedCounters& set, Reading* readings) const {
  for (std::size_t i = 0; i < set.count; ++i) {
    if (set.requests[i].leader != i) continue;
    readings[i] = Reading{};  // the place had another run's
    if (set.descriptors[i] < 0) continue;
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

void LauncherCounters::close_optional(SharedCounters& set) const {
  for (std::size_t i = set.count; i-- > 0;) {
    if (!set.requests[i].optional || set.descriptors[i] < 0) continue;
    calls_->close_counter(set.descriptors[i]);
    set.descriptors[i] = -1;
  }
}

void LauncherCounters::close(SharedCounters* set) const {
  if (set == nullptr || calls_ == nullptr) return;
  for (std::size_t i = set->count; i-- > 0;) {
    if (set->descriptors[i] >= 0) calls_->close_counter(set->descriptors[i]);
    set->descriptors[i] = -1;
  }
}

int share_region(const SharedLaunch& launch, RegionPage& page) {
  if (launch.program->region == nullptr) return 0;
  if (!page.hand_down()) return errno;
  *launch.program->region = page.variable();
  const SharedCounters* set = launch.counters;
  for (std::size_t i = 0; set != nullptr && i < set->count; ++i) {
    const CounterRequest& request = set->requests[i];
    // Its members are off with it.
    if (!request.of_region || request.leader != i || set->descriptors[i] < 0) continue;
    if (!page.hand_down_counter(set->descriptors[i])) return errno;
  }
  return 0;
}

}  // namespace lauka::os
