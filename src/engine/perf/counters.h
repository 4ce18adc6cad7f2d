#pragma once

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

struct PerfConditions {
  std::optional<int> paranoid{};  ///< value of kernel.perf_event_paranoid; nullopt if unknown
  bool has_core_pmu = false;
  bool watchdog = false;  ///< true if there is a core PMU and the NMI watchdog is known to be on

  bool operator==(const PerfConditions&) const = default;
};

/// Reads the conditions of this system. `sysfs` must use the same `calls`.
PerfConditions read_conditions(const os::LinuxCalls& calls, const os::Sysfs& sysfs);
inline PerfConditions read_conditions(const os::LinuxCalls& calls) {
  return read_conditions(calls, os::Sysfs(calls));
}

struct RequestedCounter {
  bool core = false;
  bool kernel_excluded = true;
};

/// Explains why perf_event_open failed with the errno `error`.
Error why_not_opened(int error, const RequestedCounter& asked, const PerfConditions& conditions);

/// An event on one PMU, with the attributes that perf_event_open needs.
struct Counter {
  std::string pmu;
  bool core = false;
  /// Attributes of a group's member; as_leader() makes a leader's attributes from them.
  os::PerfEventAttr attributes{};
  Role role = Role::Other;
  std::uint64_t scale = 1;
  /// Attributes of the event that must lead this counter's group; nullopt: any event may lead it.
  std::optional<os::PerfEventAttr> required_leader{};
};

/// Counters that are open; the destructor closes all of them.
class OpenCounters : NonCopyable {
 public:
  explicit OpenCounters(const os::LinuxCalls& calls) : calls_(calls) {}
  /// Closes members before leaders: without its leader, each member would become a group.
  ~OpenCounters() {
    while (!descriptors_.empty()) close_last();
  }

  /// Opens a counter in the group of the counter with index `leader`, or in a new group if `leader`
  /// is size(). Returns 0 or the errno.
  int open(const os::PerfEventAttr& attributes, std::size_t leader, os::CounterPlace place = {});

  void close_last() {
    calls_.close_descriptor(descriptors_.back());
    descriptors_.pop_back();
  }

  std::size_t size() const { return descriptors_.size(); }
  int descriptor(std::size_t index) const { return descriptors_[index]; }

 private:
  const os::LinuxCalls& calls_;
  std::vector<int> descriptors_;
};

/// Returns the attributes of a counter that child processes inherit. A read of the counter gives
/// the counts of its group, and the times for which the group was enabled and ran.
os::PerfEventAttr make_attributes(const os::EventCode& code, const PrivilegeLevels& levels);

/// Returns `attributes` for a group's leader. The leader keeps the group off until execve.
os::PerfEventAttr as_leader(os::PerfEventAttr attributes);

/// Returns a request for the launcher; `leader` is the index of the request for the group's leader.
os::CounterRequest make_request(const os::PerfEventAttr& attributes, std::size_t leader);

/// Opens a counter alone and closes it. Returns 0 or the errno.
int try_counter(const os::LinuxCalls& calls, const os::PerfEventAttr& attributes);

/// Returns an error if the kernel refuses even a software event in user space only.
Result<void> can_count(const os::LinuxCalls& calls);

bool has_perf_event_open(const os::LinuxCalls& calls);

/// True if counters ran as long as they were enabled. `several_kinds`: true if `running_ns` is a
/// sum over core kinds; the sum may be slightly too small.
bool ran_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds);

/// The source of an event's count: a sum of counters, or the kernel's accounting.
struct EventCountSource {
  Event event;
  std::vector<Counter> counters{};
  const AccountedEvent* accounted_source = nullptr;
  /// True if the kernel's part is missing although the user did not exclude it.
  bool lacks_wanted_kernel_part = false;
  bool has_modifier = false;

  bool is_on_cores() const { return std::ranges::any_of(counters, &Counter::core); }
  bool is_of_several_kinds() const { return counters.size() > 1 && is_on_cores(); }
};

/// True if both sources have equal counters, or the same accounted event.
bool same_source(const EventCountSource& left, const EventCountSource& right);

/// Finds events by name and tests if this machine can count them.
class Prober {
 public:
  Prober(const os::LinuxCalls& calls, bool user_only)
      : calls_(calls),
        sysfs_(calls),
        user_only_(user_only),
        conditions_(read_conditions(calls, sysfs_)) {}

  const os::LinuxCalls& calls() const { return calls_; }
  const os::Sysfs& sysfs() const { return sysfs_; }
  const PerfConditions& conditions() const { return conditions_; }

  /// Returns the source of the event called `name`; an error if it cannot be counted here.
  Result<EventCountSource> find(std::string_view name) const;
  Result<EventCountSource> probe(const ResolvedEvent& resolved) const;

  /// Returns the known events and the events in sysfs that can be counted here for a single
  /// program.
  Catalog catalog() const;

 private:
  struct ProbedCounter {
    Counter counter;
    PrivilegeLevels levels;
  };
  Result<ProbedCounter> probe_on_pmu(const EventOnPmu& event_on_pmu, const PrivilegeLevels& levels,
                                     Role role, bool may_leave_kernel_out) const;
  Result<EventCountSource> probe_counters(const ResolvedEvent& resolved,
                                          const PrivilegeLevels& levels,
                                          bool may_leave_kernel_out) const;
  Result<EventCountSource> probe_kernel_event(const ResolvedEvent& resolved) const;

  const os::LinuxCalls& calls_;
  os::Sysfs sysfs_;
  bool user_only_;
  PerfConditions conditions_;
};

/// Returns the names of the PMUs that count an event ("cpu_atom, cpu_core"), or "accounting".
std::string counters_in_words(const EventCountSource& source);

struct Tally {
  std::string_view event;
  Role role = Role::Other;
  /// PerfEventAttr::flags of the event's first counter; they show the excluded privilege levels.
  std::uint64_t attribute_flags = 0;
  std::uint64_t count = 0;
  /// Sum of the nanoseconds for which the event's core counters ran; 0 without core counters.
  std::uint64_t core_ns = 0;
};

/// Finds implausible counts, because the host of a virtual machine may take counters away
/// unnoticed. Each pass needs its own CountChecker.
class CountChecker {
 public:
  /// `fastest_clock`: largest number of cycles per nanosecond in long runs so far, which the
  /// CountCheckers of all passes update; 0: unknown.
  explicit CountChecker(double& fastest_clock) : fastest_clock_(fastest_clock) {}

  /// Returns for each tally the reason to doubt its count; an empty reason means no doubt.
  /// Remembers the counts without doubt, to judge later ones by them. `command`: index of the
  /// command that ran.
  std::vector<std::string> doubts(std::size_t command, std::span<const Tally> tallies);

 private:
  struct History {
    std::uint64_t least_count_above_zero = 0;
    unsigned doubted_zeros = 0;
  };

  double max_plausible_instructions(const Tally& instructions, std::span<const Tally> all) const;
  static std::string check_zero(const Tally& tally, History& history);
  std::string check_count(const Tally& tally, std::span<const Tally> all, History& history) const;
  void learn(const Tally& tally, History& history);

  double& fastest_clock_;
  std::map<std::pair<std::size_t, std::size_t>, History> histories_;
};

inline constexpr const char* kHolderRemedy =
    "end it (sudo find /proc/[0-9]*/fd -lname '*perf_event*' finds it), or count fewer events";

}  // namespace lauka::engine::perf
