#pragma once

// Counters of Linux's perf_event_open: how they are found, opened and judged.

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

/// The facts that explain why a counter cannot be opened.
struct Situation {
  std::optional<int> paranoid{};  ///< value of kernel.perf_event_paranoid; nullopt: unknown
  bool has_core_pmu = false;
  bool watchdog = false;  ///< true if the NMI watchdog holds a counter

  bool operator==(const Situation&) const = default;
};

/// Reads the situation from the system. `sysfs` must use the same `calls`; it caches the core PMUs.
Situation read_situation(const os::LinuxCalls& calls, const os::Sysfs& sysfs);
inline Situation read_situation(const os::LinuxCalls& calls) {
  return read_situation(calls, os::Sysfs(calls));
}

/// A counter that was requested from perf_event_open.
struct RequestedCounter {
  bool core = false;            ///< true: a counter of the cores; false: the kernel's own
  bool kernel_excluded = true;  ///< true: counts user space only
};

/// Explains why perf_event_open failed with `error` (an errno), and what would help.
Error why_not_opened(int error, const RequestedCounter& asked, const Situation& situation);

/// One event on one PMU, with the attributes to open it.
struct Counter {
  std::string pmu;
  bool core = false;
  os::PerfEventAttr attributes{};  ///< attributes of a group member; lay_out makes leaders
  Role role = Role::Other;
  std::uint64_t scale = 1;  ///< factor by which counts are multiplied
  std::optional<os::PerfEventAttr>
      led_by{};  ///< event that must lead the group of this one; nullopt: any
};

/// Counters that are open; the destructor closes all of them.
class OpenCounters {
 public:
  explicit OpenCounters(const os::LinuxCalls& calls) : calls_(&calls) {}
  OpenCounters(const OpenCounters&) = delete;
  OpenCounters& operator=(const OpenCounters&) = delete;
  OpenCounters(OpenCounters&& other) noexcept
      : calls_(other.calls_), descriptors_(std::exchange(other.descriptors_, {})) {}
  OpenCounters& operator=(OpenCounters&&) = delete;
  ~OpenCounters();

  /// Opens another counter. `leader` is the index of its group's leader, or its own index for a new
  /// group. Returns 0 or errno.
  int open(const os::PerfEventAttr& attributes, std::size_t leader, os::CounterPlace place = {});

  void close_last();

  std::size_t size() const { return descriptors_.size(); }
  int descriptor(std::size_t index) const { return descriptors_[index]; }

 private:
  const os::LinuxCalls* calls_;
  std::vector<int> descriptors_;
};

/// Returns attributes with the settings of all lauka's counters: inherited by child processes, read
/// with the group and its times.
os::PerfEventAttr make_attributes(const os::Code& code, const Rings& rings);

/// Turns attributes of a group member into attributes of a leader, which stays off until execve.
os::PerfEventAttr as_leader(os::PerfEventAttr attributes);

/// Returns a request for the launcher. `leader` is the index of the group's first request.
os::CounterRequest make_request(const os::PerfEventAttr& attributes, std::size_t leader);

/// Opens the counter alone and closes it. Returns 0 or errno.
int try_counter(const os::LinuxCalls& calls, const os::PerfEventAttr& attributes);

/// The source of an event's count: the sum of counters, or the kernel's accounting.
struct Source {
  Event event;
  std::vector<Counter> counters{};
  const AccountedEvent* accounted = nullptr;  ///< null if there are counters
  bool kernel_left_out =
      false;  ///< true if the kernel's part is missing although the user did not exclude it
  bool has_modifier = false;  ///< true if the name has a modifier, such as ":u"

  bool is_on_cores() const;
  bool is_of_several_kinds() const { return counters.size() > 1 && is_on_cores(); }
};

/// True if both sources count the same thing.
bool same_source(const Source& left, const Source& right);

/// Finds the counters of events and tries whether this machine can open them.
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

  /// Finds the event called `name` and opens its counters once. An error about a known event that
  /// cannot be counted does not name the event.
  Result<Source> find(std::string_view name) const;
  /// Opens the counters of an event once.
  Result<Source> probe(const ResolvedEvent& resolved) const;

  /// Returns the events that can be counted here: those with an alias, generic events, cache
  /// events, events of PMUs, and software events.
  Catalog catalog() const;

 private:
  struct OpenedCounter {
    Counter counter;
    Rings rings;  ///< privilege levels that the counter counts
  };
  Result<OpenedCounter> open_part(const Part& part, const Rings& rings, Role role,
                                  bool may_leave_kernel_out) const;
  Result<Source> probe_counters(const ResolvedEvent& resolved, const Rings& rings,
                                bool may_leave_kernel_out) const;
  Result<Source> probe_kernel_event(const ResolvedEvent& resolved) const;
  void add(Catalog& catalog, std::string_view name) const;

  const os::LinuxCalls& calls_;
  os::Sysfs sysfs_;
  bool user_only_;
  Situation situation_;
};

/// Returns where an event is counted, in words: "cpu_atom, cpu_core", "software", "accounting".
std::string counters_in_words(const Source& source);

/// The count of one event in a run.
struct Tally {
  std::string_view event;
  Role role = Role::Other;
  std::uint64_t rings =
      0;  ///< PerfEventAttr::flags, whose bits say which privilege levels the counter excludes
  std::uint64_t count = 0;
  std::uint64_t ns = 0;  ///< nanoseconds for which counters of cores were on; 0 for other counters
};

/// Finds counts that cannot be true although their counters seem to have been on all the time: the
/// host of a virtual machine may take counters away. Each pass needs its own Judge, which compares
/// runs of the same command.
class Judge {
 public:
  /// `fastest_clock`: the most cycles per nanosecond seen so far, shared by all passes; 0: unknown.
  /// It must outlive this object.
  explicit Judge(double& fastest_clock) : fastest_clock_(fastest_clock) {}

  /// Returns a reason for each event whose count is doubtful, and an empty text for the others.
  std::vector<std::string> doubts(std::size_t command, std::span<const Tally> tallies);

 private:
  struct History {
    std::uint64_t least = 0;  ///< smallest count above 0 that was not doubted; 0 if there was none
    unsigned zeros = 0;       ///< number of zeros that were doubted before the first other count
  };

  double most_instructions(const Tally& instructions, std::span<const Tally> all) const;
  std::string doubt(const Tally& tally, std::span<const Tally> all, History& history) const;
  void learn(const Tally& tally, History& history);

  double& fastest_clock_;
  std::map<std::pair<std::size_t, std::size_t>, History>
      histories_;  ///< histories by command, then by index of the event in the pass
};

/// The remedy if another program holds counters.
inline constexpr const char* kEndOthers =
    "end it (sudo find /proc/[0-9]*/fd -lname '*perf_event*' finds it), or count fewer events";

}  // namespace lauka::engine::perf
