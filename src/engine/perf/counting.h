#pragma once

#include "core/event.h"
#include "core/machine.h"
#include "core/result.h"
#include "engine/engine.h"
#include "engine/perf/opening.h"
#include "engine/perf/reasons.h"
#include "engine/perf/source.h"
#include "os/linux_calls.h"
#include "os/process.h"
#include "os/sysfs.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::perf {

/// Counters that the kernel schedules whole or not at all: those of one PMU.
struct Group {
  std::size_t leader = 0;  ///< index of its first counter; the members follow it
  bool core = false;
};

/// Counters that are opened for no event: they take what is free on a PMU some of whose counters
/// are dead (seats.h).
struct Filling {
  std::size_t leader = 0;               ///< of the group that is filled up
  std::vector<std::size_t> counters{};  ///< indices, behind those of events
  std::size_t dead =
      0;  ///< so many of them count nothing: where fewer do, an event is on a dead one
};

/// The counters of one pass, in the order in which they are opened.
struct Layout {
  std::vector<Counter> counters{};
  std::vector<std::size_t> leaders{};  ///< one per counter: the index of its group's leader
  std::vector<Group> groups{};
  std::vector<Filling> fillings{};
  std::vector<std::vector<std::size_t>> of_event{};  ///< one per event: the counters to be summed
};

/// Places the events `chosen` (indices into `sources`) in groups. A group never mixes PMUs: the
/// kernel refuses it, and a kernel's count in a group of one kind of core would stop on the others.
/// `witnesses` holds one counter for each kind of core where there are several: a kind that none of
/// the events is counted on gets its witness, so that the times of all kinds add up to the run's.
Layout lay_out(std::span<const Source> sources, std::span<const std::size_t> chosen,
               std::span<const Counter> witnesses);

/// What the launcher is asked to open: counters that execve starts, or, `of_region`, the program.
std::vector<os::CounterRequest> requests_of(const Layout& layout, bool of_region = false);

/// Whether a filler that was on for `ns` counted nothing, but for what processors add on the way.
bool is_dead(std::uint64_t value, std::uint64_t ns);

/// Whether the kernel takes the layout and has counters for all of it now, live ones for its
/// events. An error where it fails for another reason than too many events.
Result<bool> fits_at_once(const Layout& layout, const os::LinuxCalls& calls,
                          const Situation& situation);

/// How many counters one event found, opened several times as one group around a loop whose counts
/// are known.
struct Trial {
  std::size_t listed = 0;   ///< the largest group that the kernel takes; 0: nothing is known
  std::size_t running = 0;  ///< the largest that it had room for: somebody else has the others
  std::size_t alive = 0;    ///< how many of that one counted
  std::size_t usable = 0;   ///< the largest that counted whole

  std::size_t dead() const { return running - alive; }
};

/// The counters of one PMU of the cores.
///
/// A virtual machine may list counters that its host holds: they run all the time and count
/// nothing. Where there are such, a pass is filled up with counters of its own (fillers) until
/// nothing is free, so that nobody can take one unnoticed, and each run has to show as many dead
/// fillers as there are dead counters: then no event was on one.
struct Seats {
  std::string pmu{};
  Trial trial{};  ///< by instructions

  // Of the counters that take any event, where some are dead:
  Trial general{};
  bool own_cycles = false;  ///< cycles (instructions) have a counter of their own beside them
  bool own_instructions = false;
  Counter filler{};

  bool has_dead() const { return general.dead() > 0; }
};

/// Tries the counters of each PMU of the cores, with this
/// thread bound to the PMU's CPUs where there are several: 50 to 100 microseconds where all are
/// alive.
std::vector<Seats> find_seats(const os::Sysfs& sysfs, const Prober& prober,
                              const os::LinuxCalls& calls);

/// Whether the counters that are alive are enough for the layout.
bool has_room(const Layout& layout, std::span<const Seats> seats);

/// Fills up the layout's groups where there are dead counters. There is room.
void fill_up(Layout& layout, std::span<const Seats> seats);

/// Names who holds counters of `now`, or how many cannot be used; none if all can be, but for the
/// NMI watchdog's. `before`: the same PMUs, earlier in the session.
std::optional<Error> who_holds(std::span<const Seats> now, const Situation& situation_now,
                               std::span<const Seats> before, const Situation& situation_before);

/// As --check tells it.
std::vector<CounterFacts> facts_of(std::span<const Seats> seats, const Situation& situation);

/// Whether a group of counters saw too little of a run to have been on all the time: it did not
/// survive the exec of the command, or of a child. `enabled_ns`: how long it was on; `counters`:
/// how many were open.
bool was_lost(std::uint64_t enabled_ns, const Usage& usage, std::size_t counters);

/// Whether counters of cores held their events all the time that they were on. `running_ns`: summed
/// over the kinds of core.
bool held_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds);

/// One pass, counted by the launcher. The counts of a run are what its counters show when all of
/// them held their events for the whole run.
class PerfCounting final : public Counting {
 public:
  /// `sources`: the events of the pass. `parts`: counters (indices into the layout's) whose own
  /// counts are told behind those of the events. `fastest_clock`: as Judge's. `of_region`: counted
  /// between lauka_region_begin and lauka_region_end. `situation`: as the counters were chosen.
  PerfCounting(Layout layout, std::vector<Source> sources, std::vector<std::size_t> parts,
               const os::LinuxCalls& calls, Situation situation, double& fastest_clock,
               bool of_region = false)
      : layout_(std::move(layout)),
        sources_(std::move(sources)),
        parts_(std::move(parts)),
        calls_(calls),
        situation_(situation),
        judge_(fastest_clock),
        of_region_(of_region),
        several_kinds_(!PerfCounting::timed_pmus().empty()) {}

  std::vector<os::CounterRequest> requests() const override {
    return requests_of(layout_, of_region_);
  }
  std::vector<std::string> timed_pmus() const override;
  std::size_t runs_at_once() const override { return os::Launcher::kMaxBatch; }
  Counted finish(const os::Ended& ended, std::size_t command) override;

 private:
  /// Why a run has no counts, and whether another run may have them.
  struct Absent {
    Error why;
    std::string redo{};  ///< empty: another would have none either
  };

  std::optional<Absent> why_none(const os::Ended& ended) const;
  std::optional<Absent> why_group_is_not_exact(const os::Ended& ended) const;
  bool events_were_on_dead_ones(const os::Ended& ended) const;
  Tally tally_of(std::size_t event, const os::Ended& ended) const;
  void fill(Counted& counted, const os::Ended& ended, std::size_t command);
  void ask_again(Counted& counted, std::string why);

  Layout layout_;
  std::vector<Source> sources_;
  std::vector<std::size_t> parts_;
  const os::LinuxCalls& calls_;
  Situation situation_;
  Judge judge_;
  unsigned bad_in_a_row_ = 0;  ///< runs whose counts were not good
  bool of_region_;
  bool several_kinds_;
};

/// `source` where it can be counted in a region: by a counter, since what the kernel accounts to a
/// process is of its whole life.
Result<Source> in_region(Source source);

/// Says beside each event's row that it is of the region.
void mark_region(EventSet& set);

/// Adds the first `count` events of `set` again, of the whole run, and behind all of its passes one
/// of theirs for each.
void add_whole_run(EventSet& set, std::size_t count);

}  // namespace lauka::engine::perf
