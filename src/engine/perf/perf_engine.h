#pragma once

#include "core/event.h"
#include "core/machine.h"
#include "core/result.h"
#include "engine/engine.h"
#include "engine/perf/resolve.h"
#include "os/linux_calls.h"
#include "os/process.h"
#include "os/sysfs.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
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
  os::PerfEventAttr attributes{};  ///< as a member of a group; lay_out makes the leaders
  Role role = Role::Other;
  std::uint64_t scale = 1;                    ///< what its counts are multiplied by
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
  bool kernel_left_out = false;               ///< not because the user wanted it
  bool has_modifier = false;                  ///< ":u" after its name, or another one

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
    Rings rings;  ///< what it counts
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
  std::uint64_t ns = 0;  ///< its counters were on
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
    unsigned zeros = 0;       ///< that were doubted before there was any other count
  };

  double most_instructions(const Tally& instructions, std::span<const Tally> all) const;
  std::string doubt(const Tally& tally, std::span<const Tally> all, History& history) const;
  void learn(const Tally& tally, History& history);

  double& fastest_clock_;
  std::map<std::pair<std::size_t, std::size_t>, History> histories_;  ///< by command and event
};

/// Checks that this kernel counts anything at all for this user.
Result<void> can_count(const os::LinuxCalls& calls);

/// True if this kernel has perf_event_open.
bool is_there(const os::LinuxCalls& calls);

/// Tries the counters of the cores, for --check; empty if there are none.
std::vector<CounterFacts> counters_here(const os::LinuxCalls& calls, bool user_only);

/// Counts with Linux' perf_event_open. `calls` must outlive it. `kinds`: how the kinds of core are
/// called; a kind that is not in it goes by its PMU's name.
std::unique_ptr<CounterEngine> make_perf_engine(const os::LinuxCalls& calls, bool user_only,
                                                CoreKinds kinds = {});

/// True if counters of cores held their events all the time. `running_ns`: summed over the kinds of
/// core.
bool held_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds);

// Which counters the events of a pass take (layout.cc).

/// Counters that are opened for no event: they occupy the free ones of a PMU with dead counters.
struct Fillers {
  std::size_t leader = 0;               ///< of the group that is filled up
  std::vector<std::size_t> counters{};  ///< indices, after those of events
  std::size_t dead = 0;                 ///< how many must count nothing

  /// True if the fillers have taken all dead counters, so that every event is on a live one.
  /// `values`: the fillers', in their order, after `ns` on.
  bool have_dead_ones(std::span<const std::uint64_t> values, std::uint64_t ns) const;
};

/// The counters of one pass, in the order in which they are opened. Those of one PMU are a group,
/// which the kernel schedules whole or not at all.
struct Layout {
  std::vector<Counter> counters{};
  std::vector<std::size_t> leaders{};  ///< one per counter: the index of its group's leader
  std::vector<std::size_t> groups{};   ///< the index of each one's leader; its members follow it
  std::vector<Fillers> fillers{};
  std::vector<std::vector<std::size_t>> of_event{};  ///< one per event: the counters to be summed
};

/// Places the events `chosen` (indices into `sources`) in groups. A group never mixes PMUs: the
/// kernel refuses it, and a kernel's count in a group of one kind of core would stop on the others.
/// `witnesses` holds one counter for each kind of core if there are several: a kind without events
/// gets its witness, so that the times of all kinds add up to the run's.
Layout lay_out(std::span<const Source> sources, std::span<const std::size_t> chosen,
               std::span<const Counter> witnesses);

/// Asks whether the kernel takes the layout and has counters for all of it now, live ones for its
/// events. Refused if it fails for another reason than too many events.
Result<bool> fits_at_once(const Layout& layout, const os::LinuxCalls& calls,
                          const Situation& situation);

/// The counters that one event found, opened several times as a group around a known loop.
struct Trial {
  std::size_t listed = 0;   ///< the largest group that the kernel takes; 0: nothing is known
  std::size_t running = 0;  ///< the largest number that fit: other programs have the rest
  std::size_t alive = 0;    ///< how many of that one counted
  std::size_t usable = 0;   ///< the largest that counted whole

  std::size_t dead() const { return running - alive; }
  bool operator==(const Trial&) const = default;
};

/// The counters of one PMU of the cores.
///
/// A virtual machine may list dead counters, which its host holds: they run all the time and count
/// nothing. Then a pass is filled up with counters of its own (fillers) until nothing is free, and
/// each run must show as many dead fillers as there are dead counters: then no event was on one.
struct PmuCounters {
  std::string pmu{};
  Trial trial{};  ///< by instructions

  /// For counters that take any event, if some are dead:
  Trial general{};
  bool own_cycles = false;  ///< cycles (instructions) have a counter of their own in addition
  bool own_instructions = false;
  Counter filler{};

  bool has_dead() const { return general.dead() > 0; }
};

/// Tries the counters of each PMU of the cores. If there are several PMUs, this thread is bound to
/// the CPUs of each in turn. Takes 50 to 100 microseconds if all counters are alive.
std::vector<PmuCounters> try_pmus(const Prober& prober);

/// True if the counters that are alive are enough for the layout.
bool has_room(const Layout& layout, std::span<const PmuCounters> pmus);

/// Fills up the layout's groups on PMUs with dead counters. There must be room.
void fill_up(Layout& layout, std::span<const PmuCounters> pmus);

/// Names the program that holds counters of `now`, or says how many are unusable; nullopt if all
/// are usable, except the NMI watchdog's. `before`: the same PMUs, earlier in the session.
std::optional<Error> find_counter_holder(std::span<const PmuCounters> now,
                                         const Situation& situation_now,
                                         std::span<const PmuCounters> before,
                                         const Situation& situation_before);

/// The remedy if other programs hold counters.
inline constexpr const char* kEndOthers =
    "end it (sudo find /proc/[0-9]*/fd -lname '*perf_event*' finds it), or count fewer events";

}  // namespace lauka::engine::perf
