#pragma once

#include "os/launcher_shared.h"
#include "os/linux_calls.h"
#include "os/region_page.h"

#include <sys/resource.h>

namespace lauka::os {

/// The kernel counters of the launcher process: opened anew on itself for each run, inherited by
/// the command, started by its execve. Counters that stay open from run to run go silent after two
/// or three, because the kernel swaps the launcher's events with the clones its child got; what
/// keeps that from happening also makes opening cheap: one event of each kind that is not inherited
/// is held for the whole session.
class LauncherCounters {
 public:
  /// `calls` null: this system has none.
  explicit LauncherCounters(const LinuxCalls* calls) : calls_(calls) {}

  /// Opens those of `set` (null: none). 0, or the errno of the one that could not be opened.
  int open(SharedCounters* set);

  /// errno of the optional counter that the last open had to do without; 0: it had them all.
  int optional_error() const { return optional_error_; }

  /// Fills one reading per counter of `set`. 0 or errno.
  int read(const SharedCounters& set, Reading* readings) const;

  void close(SharedCounters* set) const;

  /// The limit of descriptors that commands are to get where it had to be raised for counters;
  /// null: it was not.
  const rlimit* original_limit() const { return limit_was_raised_ ? &original_limit_ : nullptr; }

 private:
  int open_request(SharedCounters& set, std::size_t index);
  int open_one(const PerfEventAttr& attributes, const CounterPlace& place, int leader);
  void close_optional(SharedCounters& set) const;

  const LinuxCalls* calls_;
  int optional_error_ = 0;
  bool limit_was_raised_ = false;
  rlimit original_limit_{};
};

/// Where the program has a region: hands down what this is noted in, and its counters, which are
/// open. 0 or errno.
int share_region(const SharedLaunch& launch, RegionPage& page);

}  // namespace lauka::os
