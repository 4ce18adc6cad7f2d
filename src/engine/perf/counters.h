#pragma once

// Counters of Linux' perf_event_open: how they are found, opened and judged.

#include "core/event.h"
#include "core/result.h"
#include "engine/engine.h"
#include "engine/perf/resolve.h"
#include "os/linux_calls.h"
#include "os/process.h"
#include "os/sysfs.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::engine::perf {

/// The facts that decide why a counter cannot be opened.
struct Situation {
  std::optional<int> paranoid{};  ///< kernel.perf_event_paranoid; nullopt: no such setting
  bool has_core_pmu = false;
  bool watchdog = false;  ///< the NMI watchdog holds a counter

  bool operator==(const Situation&) const = default;
};

/// Reads it from the system. `sysfs` must be of the same `calls`; it keeps what it has read.
Situation read_situation(const os::LinuxCalls& calls, const os::Sysfs& sysfs);
inline Situation read_situation(const os::LinuxCalls& calls) {
  return read_situation(calls, os::Sysfs(calls));
}

/// A request to perf_event_open.
struct Asked {
  bool core = false;            ///< a counter of the cores, not of the kernel
  bool kernel_excluded = true;  ///< user space only
};

/// Explains why perf_event_open answered `error` (an errno), and what would help.
Error why_not_opened(int error, const Asked& asked, const Situation& situation);

/// One event on one PMU, in the form for opening.
struct Counter {
  std::string pmu;
  bool core = false;
  os::PerfEventAttr attributes{};  ///< a group member's; lay_out makes the leaders
  Role role = Role::Other;
  std::uint64_t scale = 1;                    ///< factor of the counts
  std::optional<os::PerfEventAttr> led_by{};  ///< the only leader of whose group it may be a part
};

/// Counters that were opened together; all are closed with this.
class OpenCounters {
 public:
  explicit OpenCounters(const os::LinuxCalls& calls) : calls_(&calls) {}
  OpenCounters(const OpenCounters&) = delete;
  OpenCounters& operator=(const OpenCounters&) = delete;
  OpenCounters(OpenCounters&& other) noexcept
      : calls_(other.calls_), descriptors_(std::exchange(other.descriptors_, {})) {}
  OpenCounters& operator=(OpenCounters&&) = delete;
  ~OpenCounters();

  /// Opens one more; returns 0 or errno. `leader`: the index of its group's leader, its own for a
  /// new group.
  int open(const os::PerfEventAttr& attributes, std::size_t leader, os::CounterPlace place = {});

  void close_last();

  std::size_t size() const { return descriptors_.size(); }
  int descriptor(std::size_t index) const { return descriptors_[index]; }

 private:
  const os::LinuxCalls* calls_;
  std::vector<int> descriptors_;
};

/// Returns the settings that every counter of ours has: inherited, read with its group and times.
os::PerfEventAttr make_attributes(const os::Code& code, const Rings& rings);

/// Makes a group's leader of a member: off until the command is executed.
os::PerfEventAttr as_leader(os::PerfEventAttr attributes);

/// Returns a request for the launcher. `leader`: the index of the group's first request.
os::CounterRequest make_request(const os::PerfEventAttr& attributes, std::size_t leader);

/// Opens the counter alone and closes it; returns 0 or errno.
int try_counter(const os::LinuxCalls& calls, const os::PerfEventAttr& attributes);

/// The source of an event's count: counters to be summed, or the kernel's accounting.
struct Source {
  Event event;
  std::vector<Counter> counters{};
  const AccountedEvent* accounted = nullptr;  ///< null if there are counters
  bool kernel_left_out =
      false;  ///< true if the kernel was left out though the user did not ask for that
  bool has_modifier = false;  ///< ":u" after its name, or another one

  bool is_on_cores() const;
  bool is_of_several_kinds() const { return counters.size() > 1 && is_on_cores(); }
};

/// True if both count the same.
bool same_source(const Source& left, const Source& right);

/// Turns the meaning of a name into counters that could be opened on this machine.
class Prober {
 public:
  Prober(const os::LinuxCalls& calls, bool user_only)
      : calls_(calls),
        sysfs_(calls),
        user_only_(user_only),
        situation_(read_situation(calls, sysfs_)) {}

  const os::LinuxCalls& calls() const { return calls_; }
  const os::Sysfs& sysfs() const { return sysfs_; }
  const Situation& situation() const { return situation_; }

  /// Resolves `name` and opens its counters once. The error does not name the event if it is known
  /// but cannot be counted.
  Result<Source> find(std::string_view name) const;
  Result<Source> probe(const Resolved& resolved) const;

  /// Lists the events that can be counted here: those with an alias, generic ones, those of caches
  /// and PMUs, and software events.
  Catalog catalog() const;

 private:
  struct Opened {
    Counter counter;
    Rings rings;  ///< levels that the counter counts
  };
  Result<Opened> open_part(const Part& part, const Rings& rings, Role role,
                           bool may_leave_kernel_out) const;
  Result<Source> probe_counters(const Resolved& resolved, const Rings& rings,
                                bool may_leave_kernel_out) const;
  Result<Source> probe_kernel_event(const Resolved& resolved) const;
  void add(Catalog& catalog, std::string_view name) const;

  const os::LinuxCalls& calls_;
  os::Sysfs sysfs_;
  bool user_only_;
  Situation situation_;
};

/// Returns the counters of an event: "cpu_atom, cpu_core", "software", "accounting".
std::string counters_in_words(const Source& source);

/// The counts of one event in a run.
struct Tally {
  std::string_view event;
  Role role = Role::Other;
  std::uint64_t rings = 0;  ///< the levels that the counter leaves out, as PerfEventAttr::flags
  std::uint64_t count = 0;
  std::uint64_t ns = 0;  ///< nanoseconds for which the counters were on
};

/// Finds counts that cannot be true, although their counters claim to have been on all the time:
/// the host of a virtual machine may take its counters. One for each pass, as it compares a run
/// with the other runs of its command.
class Judge {
 public:
  /// `fastest_clock`: the most cycles in a nanosecond so far; 0: unknown. The passes share it, and
  /// it outlives them.
  explicit Judge(double& fastest_clock) : fastest_clock_(fastest_clock) {}

  /// Returns for each event why its count is not believed; empty if it is.
  std::vector<std::string> doubts(std::size_t command, std::span<const Tally> tallies);

 private:
  struct History {
    std::uint64_t least = 0;  ///< the least count above 0; 0 if all are 0
    unsigned zeros = 0;       ///< doubted before there was any other count
  };

  double most_instructions(const Tally& instructions, std::span<const Tally> all) const;
  std::string doubt(const Tally& tally, std::span<const Tally> all, History& history) const;
  void learn(const Tally& tally, History& history);

  double& fastest_clock_;
  std::map<std::pair<std::size_t, std::size_t>, History> histories_;  ///< keys: command and event
};

/// The remedy if other programs hold counters.
inline constexpr const char* kEndOthers =
    "end it (sudo find /proc/[0-9]*/fd -lname '*perf_event*' finds it), or count fewer events";

}  // namespace lauka::engine::perf
