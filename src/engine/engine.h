#pragma once

#include "core/choices.h"
#include "core/event.h"
#include "core/functions.h"
#include "core/machine.h"
#include "core/record.h"
#include "core/result.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"
#include "os/process.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::engine {

/// A run that must be run again instead of entering the statistics.
struct Redo {
  RedoReason reason = RedoReason::Counting;
  std::string why;            ///< "the trace lost records"; the same words each time
  std::uint32_t at_most = 1;  ///< a run that was repeated this often is kept as it is
};

/// The counts of one run.
struct Counted {
  /// One per event of the pass; nullopt: not counted exactly.
  std::vector<std::optional<std::uint64_t>> counts;
  std::optional<Error> missing{};  ///< why a count is missing
  std::optional<Error> failure{};  ///< the measurement could not be made: no run follows
  std::optional<Redo> redo{};
  std::optional<double> coverage{};  ///< RunRecord::coverage
  std::vector<std::optional<std::uint64_t>>
      own_process_counts{};    ///< RunRecord::own_process_counts
  std::optional<Note> note{};  ///< note for users of these counts; nullopt: nothing to explain
  /// CPU time on the cores of each of ArmedPass::timed_pmus; empty: unknown.
  std::vector<std::uint64_t> pmu_ns{};
  /// The functions of a simulated or sampled run, for each event of the pass that is not of one
  /// function;
  /// empty: not known.
  std::vector<FunctionCounts> functions{};
};

/// An event that the kernel accounts to every process, without counters and without permission.
struct AccountedEvent {
  std::string_view name;
  std::string_view other_name;  ///< perf's short one; may be empty
  std::string_view meaning;
  std::optional<std::uint64_t> (*read)(const os::Ended&);
};

/// One pass of the session, ready to be counted.
class ArmedPass : NonCopyable {
 public:
  virtual ~ArmedPass() = default;

  /// Returns the counters that the launcher opens for each run; none if the engine counts itself.
  virtual std::vector<os::CounterRequest> requests() const { return {}; }

  /// Returns what follows each run of this pass.
  virtual std::vector<os::RunWatch*> watches() { return {}; }

  /// Returns what receives the samples of each run of this pass, whose only request samples; null
  /// for another pass.
  virtual os::SampleListener* samples() { return nullptr; }

  /// Returns the program launched for a command: itself, or one that simulates it.
  virtual std::vector<std::string> launched_as(const std::vector<std::string>& words) const {
    return words;
  }

  /// True if the runs need os::Launch::counts_calling_threads.
  virtual bool counts_calling_threads() const { return false; }

  /// Returns the PMUs of the kinds of core whose time each run shows (Counted::pmu_ns).
  virtual std::vector<std::string> timed_pmus() const { return {}; }

  /// Returns how many runs may be launched before finish is called for them.
  virtual std::size_t runs_at_once() const = 0;

  /// Returns the counts of a run that has ended: complete, or a reason; never of a part, never an
  /// estimate. `command`: its index, as a run is compared with its other runs.
  virtual Counted finish(const os::Ended& ended, std::size_t command) = 0;
};

/// The mechanism that programs and reads counters.
class CounterEngine : NonCopyable {
 public:
  virtual ~CounterEngine() = default;

  virtual std::string_view name() const = 0;

  /// Lists what can be counted here; each entry was tried.
  virtual Catalog catalog() const = 0;

  /// Resolves the wanted events and divides them into the fewest passes. Default events that do not
  /// exist here are left out with one note for all; a wanted one that does not exist, or
  /// --single-pass with too many, is an error.
  virtual Result<EventSet> select(const EventRequest& wanted) = 0;

  /// Returns the account of an event of the last selection (its index); null: it must be counted.
  virtual const AccountedEvent* accounted(std::size_t /*event*/) const { return nullptr; }

  /// Selects the wanted events and explains where they would be counted, in several passes if
  /// needed. An engine that does not know the counters shows the passes.
  virtual Result<Explanation> explain(const EventRequest& wanted);

  /// Prepares one pass of the last selection. Called once for each pass, before its first run.
  virtual Result<std::unique_ptr<ArmedPass>> arm(std::size_t pass) = 0;

  /// Looks up, before the first run of a command, whether the system takes its counters away when
  /// `program` starts. Runs of the command then have no counts, and no reason why. nullopt: the
  /// counters stay, or there are none.
  virtual std::optional<UncountedFile> find_uncounted(std::size_t /*command*/,
                                                      const os::ProgramSpec& /*program*/) {
    return std::nullopt;
  }

  /// True if it can count in a region alone (EventRequest::counted_in).
  virtual bool counts_regions() const { return false; }

  /// Reports which other programs hold counters that the selected events need; called before the
  /// first counting run, once in each block of them, and after the last.
  virtual std::optional<Error> held_by_others() { return std::nullopt; }

  /// Switches off everything that would slow runs, until the next run of a pass that counts.
  virtual void pause() {}

  /// Returns notes for users about the counts so far.
  virtual std::vector<Note> notes() const { return {}; }
};

/// An engine around another, which does all that is not overridden.
class EngineAround : public CounterEngine {
 public:
  explicit EngineAround(std::unique_ptr<CounterEngine> inner) : inner_(std::move(inner)) {}

  std::string_view name() const override { return inner_->name(); }
  Catalog catalog() const override { return inner_->catalog(); }
  Result<EventSet> select(const EventRequest& wanted) override { return inner_->select(wanted); }
  const AccountedEvent* accounted(std::size_t event) const override {
    return inner_->accounted(event);
  }
  Result<Explanation> explain(const EventRequest& wanted) override {
    return inner_->explain(wanted);
  }
  Result<std::unique_ptr<ArmedPass>> arm(std::size_t pass) override { return inner_->arm(pass); }
  std::optional<UncountedFile> find_uncounted(std::size_t command,
                                              const os::ProgramSpec& program) override {
    return inner_->find_uncounted(command, program);
  }
  bool counts_regions() const override { return inner_->counts_regions(); }
  std::optional<Error> held_by_others() override { return inner_->held_by_others(); }
  void pause() override { inner_->pause(); }
  std::vector<Note> notes() const override { return inner_->notes(); }

 protected:
  CounterEngine& other() const { return *inner_; }

  /// Replaces the inner engine. The old one gives back all it took, as it is destroyed.
  void replace(std::unique_ptr<CounterEngine> inner) { inner_ = std::move(inner); }

 private:
  std::unique_ptr<CounterEngine> inner_;
};

/// Shown next to accounted events. Unlike counters, they include execve: a fault for each page of
/// arguments and environment, and a switch if it changes the CPU.
inline constexpr const char* kWithExec = "(with exec)";

/// Makes an event one of the program's region; its row shows that.
void mark_of_region(Event& event);

/// Makes the selection of a session without hardware counters, with a note if --check has a remedy.
EventSet nothing_to_count(const Error& why);

/// Returns all accounted events.
std::span<const AccountedEvent> accounted_events();

/// Finds the event of that name (either of its two, ignoring case); null if missing.
const AccountedEvent* find_accounted(std::string_view name);

/// Adds an event to the first pass of `set`, under the user's `name` for it, and to `taken`.
/// Returns null, and adds nothing, if it is in `taken` already.
Event* add_accounted(const AccountedEvent& event, std::string_view name,
                     std::vector<const AccountedEvent*>& taken, EventSet& set);

/// Returns the entry of an accounted event in --list-events.
CatalogEntry make_catalog_entry(const AccountedEvent& event);

/// Makes a pass of accounted events. `also` is called after each run, with its counts.
/// `counts_calling_threads`: as in ArmedPass.
std::unique_ptr<ArmedPass> count_free(std::vector<const AccountedEvent*> events,
                                      std::function<void(const os::Ended&, Counted&)> also = {},
                                      bool counts_calling_threads = false);

/// Counts accounted events on request. `why`: why no other engine works; nullopt: the user wants
/// this one.
std::unique_ptr<CounterEngine> make_none_engine(std::optional<Error> why);

/// Adds the events of Linux's power PMU (RAPL), energy-pkg and others, which cover whole processor
/// packages and all their programs, in runs of their own. `calls` null: adds nothing.
std::unique_ptr<CounterEngine> with_energy(std::unique_ptr<CounterEngine> engine,
                                           const os::LinuxCalls* calls);

/// Indices of events, ascending.
using EventIndices = std::vector<std::size_t>;

/// True if these events fit the counters at once. Each event alone does and is not tried.
using Fits = std::function<Result<bool>(const EventIndices&)>;

/// Divides the events 0..count-1 into the fewest sets that fit. Two events of `together` share a
/// set if that needs no further one; earlier pairs are served first. Refused if `fits` refuses.
///
/// The number is proven to be the fewest if each event needs one of certain counters (a transversal
/// matroid, whose partition by augmenting paths is optimal: Edmonds, "Minimum partition of a
/// matroid into independent subsets", 1965), and for up to ten events, where all divisions are
/// tried. Otherwise all sets fit, but fewer might do.
Result<std::vector<EventIndices>> partition(
    std::size_t count, const Fits& fits,
    const std::vector<std::pair<std::size_t, std::size_t>>& together);

/// Finds events that do not fit at once, although without any one of them the others do; empty if
/// all of 0..count-1 fit. Refused if `fits` refuses.
Result<EventIndices> competing(std::size_t count, const Fits& fits);

using Choice = EngineChoice;

/// The engine of a session, and what is missing if `Auto` had to do without hardware counters.
struct Chosen {
  std::unique_ptr<CounterEngine> engine;
  std::optional<std::string> note;
};

/// The options that matter on macOS.
struct OnMacos {
  const os::DarwinCalls* calls = os::darwin_calls();  ///< null: this is not macOS
  /// Launcher for the trial of a strategy; null: nothing will be counted, only asked about.
  os::Launcher* launcher = nullptr;
  StrategyChoice strategy = StrategyChoice::Auto;
  std::chrono::nanoseconds period = std::chrono::milliseconds(1);
  /// Others of this process count, too: each takes the counters for a block of runs.
  bool takes_turns = false;
};

/// Makes the engine. `Auto` takes the best that works here and reports what is missing; a named
/// engine that does not work is an error with its remedy. `calls`: null if this is not Linux.
/// `kinds`: the names of the kinds of core here. `user`: the commands' user, if not lauka's own.
Result<Chosen> choose(Choice choice, bool user_only,
                      const os::LinuxCalls* calls = os::linux_calls(), const CoreKinds& kinds = {},
                      const std::optional<User>& user = std::nullopt,
                      const OnMacos& macos = OnMacos{});

/// Tries each engine that is meant for this system, for --check.
std::vector<EngineFacts> try_engines(bool user_only,
                                     const os::LinuxCalls* calls = os::linux_calls(),
                                     const OnMacos& macos = OnMacos{});

/// Keeps the counting of `engine` out of the timed runs: passes that count become counting passes.
/// Before them comes a timed pass without counters, which has the accounted events.
std::unique_ptr<CounterEngine> separate_counting(std::unique_ptr<CounterEngine> engine);

/// Counts cycles and instructions in a region (lauka/region.h), without root: macOS shows its own
/// to each thread that calls into the region. `engine` counts the whole runs.
std::unique_ptr<CounterEngine> count_calling_threads(std::unique_ptr<CounterEngine> engine);

/// Takes the place of `engine`, which can count whole runs but no region, when a region must be
/// counted: it counts nothing, and refuses named events.
std::unique_ptr<CounterEngine> without_regions(std::unique_ptr<CounterEngine> engine);

}  // namespace lauka::engine
