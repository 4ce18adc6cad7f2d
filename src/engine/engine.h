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

/// A demand to repeat a run instead of counting it.
struct Redo {
  RedoReason reason = RedoReason::Counting;
  std::string why;  ///< completes "was repeated because": "the trace lost records"; the same words
                    ///< for the same reason
  std::uint32_t at_most = 1;  ///< a run that was repeated this often is kept
};

/// The counts of one run, or the reasons why they are missing.
struct Counted {
  /// Counts of the pass's events, in their order; nullopt: missing.
  std::vector<std::optional<std::uint64_t>> counts;
  std::optional<Error>
      missing{};  ///< reason why a count is missing; nullopt: unknown, or none is missing
  std::optional<Error>
      failure{};  ///< reason why nothing can be counted any more, so that no run follows
  std::optional<Redo> redo{};        ///< nullopt: the run is kept
  std::optional<double> coverage{};  ///< RunRecord::coverage
  std::vector<std::optional<std::uint64_t>>
      own_process_counts{};    ///< RunRecord::own_process_counts
  std::optional<Note> note{};  ///< note for users about these counts; nullopt: nothing to explain
  /// CPU time in nanoseconds on the cores of each of ArmedPass::timed_pmus; empty: unknown.
  std::vector<std::uint64_t> pmu_ns{};
  /// Functions of a simulated or sampled run, with counts for the pass's events, except events that
  /// are counted in one function only; empty: unknown.
  std::vector<FunctionCounts> functions{};
};

/// An event that the kernel counts for every process, without hardware counters and permissions.
struct AccountedEvent {
  std::string_view name;
  std::string_view other_name;  ///< perf's short name; may be empty
  std::string_view meaning;
  /// Returns the count; nullopt if it is missing.
  std::optional<std::uint64_t> (*read)(const os::Ended&);
};

/// Counts the runs of one pass.
class ArmedPass : NonCopyable {
 public:
  virtual ~ArmedPass() = default;

  /// Returns the counters that the launcher opens for each run; empty if it opens none.
  virtual std::vector<os::CounterRequest> requests() const { return {}; }

  /// Returns the objects that follow each run of this pass.
  virtual std::vector<os::RunWatch*> watches() { return {}; }

  /// Returns the receiver of samples, if the pass has a sampling counter; else null.
  virtual os::SampleListener* samples() { return nullptr; }

  /// Returns the command line to launch for the command line `words`: a simulator's, or `words`
  /// itself.
  virtual std::vector<std::string> launched_as(const std::vector<std::string>& words) const {
    return words;
  }

  /// True if os::Launch::counts_calling_threads is needed.
  virtual bool counts_calling_threads() const { return false; }

  /// Returns the PMUs of the core kinds whose times each run gives (Counted::pmu_ns).
  virtual std::vector<std::string> timed_pmus() const { return {}; }

  /// Returns how many runs may be launched before finish() is called for them.
  virtual std::size_t runs_at_once() const = 0;

  /// Returns the counts of a run that has ended. A count that is not complete is missing, unless a
  /// note says what it lacks. `command` is the command's index, because a run is compared with
  /// other runs of its command.
  virtual Counted finish(const os::Ended& ended, std::size_t command) = 0;
};

/// Selects, programs and reads counters.
class CounterEngine : NonCopyable {
 public:
  virtual ~CounterEngine() = default;

  virtual std::string_view name() const = 0;

  /// Returns the events that can be counted here (perf has tried its own), or of which the engine
  /// knows, to answer questions.
  virtual Catalog catalog() const = 0;

  /// Resolves the wanted events and divides them into the fewest passes. Leaves out missing default
  /// events, with one note for all of them, and events that a Mac's kernel forbids, with a note for
  /// each. Refuses other wanted events that do not exist here, and more events than fit into one
  /// pass if --single-pass is set.
  virtual Result<EventSet> select(const EventRequest& wanted) = 0;

  /// Returns the kernel's account for an event of the last selection, given by index; null if it
  /// is counted otherwise.
  virtual const AccountedEvent* accounted(std::size_t /*event*/) const { return nullptr; }

  /// Selects the wanted events and explains on which counters and in which passes they would be
  /// counted. An engine that cannot choose counters explains the passes only.
  virtual Result<Explanation> explain(const EventRequest& wanted);

  /// Prepares a pass of the last selection. Called once per pass, before its first run.
  virtual Result<std::unique_ptr<ArmedPass>> arm(std::size_t pass) = 0;

  /// Checks, before a command's first run, if the system takes the counters away when `program`
  /// starts; nullopt if it does not, if that is unknown, or if there are no counters. If it
  /// does, the command's runs have counts of accounted events only, and Counted::missing stays
  /// empty.
  virtual std::optional<UncountedFile> find_uncounted(std::size_t /*command*/,
                                                      const os::ProgramSpec& /*program*/) {
    return std::nullopt;
  }

  /// True if the engine can count in a region alone (EventRequest::counted_in).
  virtual bool counts_regions() const { return false; }

  /// Returns an error if counters of the cores cannot be used that selected events may need, mostly
  /// because other programs hold them; nullopt if they can, or if that is unknown. Called at the
  /// start of each block of counting runs, and after the last run.
  virtual std::optional<Error> held_by_others() { return std::nullopt; }

  /// Switches off what would slow runs, until the next run of a pass that counts.
  virtual void pause() {}

  /// Returns notes for users about the counts so far.
  virtual std::vector<Note> notes() const { return {}; }
};

/// Wraps an engine, which does everything that a subclass does not override.
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

  /// Replaces the wrapped engine. The destructor of the old engine releases everything that it took
  /// from the system.
  void replace(std::unique_ptr<CounterEngine> inner) { inner_ = std::move(inner); }

 private:
  std::unique_ptr<CounterEngine> inner_;
};

/// The note next to accounted events: unlike counters, they include execve's work, which is a page
/// fault per page of arguments and environment, and a switch if execve changes the CPU.
inline constexpr const char* kWithExec = "(with exec)";

/// Marks an event as counted in the program's region, also in the note next to its row.
void mark_of_region(Event& event);

/// Returns the selection of a session without hardware counters, with a note if --check shows a
/// remedy.
EventSet nothing_to_count(const Error& why);

std::span<const AccountedEvent> accounted_events();

/// Finds an accounted event by either of its names, ignoring case; null if missing.
const AccountedEvent* find_accounted(std::string_view name);

/// Adds an event to the first pass of `set`, which must exist, under the user's `name` for it in
/// lower case, and to `taken`. Returns null and adds nothing if `taken` already has it.
Event* add_accounted(const AccountedEvent& event, std::string_view name,
                     std::vector<const AccountedEvent*>& taken, EventSet& set);

/// Returns the entry of an accounted event in --list-events.
CatalogEntry make_catalog_entry(const AccountedEvent& event);

/// Makes an ArmedPass for accounted events. Calls `also` after each run that started, with its
/// counts. `counts_calling_threads`: the result of ArmedPass::counts_calling_threads().
std::unique_ptr<ArmedPass> count_free(std::vector<const AccountedEvent*> events,
                                      std::function<void(const os::Ended&, Counted&)> also = {},
                                      bool counts_calling_threads = false);

/// Makes an engine that counts accounted events on request. `why`: reason why no other engine
/// works; nullopt: the user chose this engine.
std::unique_ptr<CounterEngine> make_none_engine(std::optional<Error> why);

/// Adds the events of Linux's power PMU (RAPL), such as energy-pkg, to an engine. They cover whole
/// processor packages and all programs on them, and are counted in separate runs. Returns `engine`
/// if `calls` is null.
std::unique_ptr<CounterEngine> with_energy(std::unique_ptr<CounterEngine> engine,
                                           const os::LinuxCalls* calls);

/// Indices of events, ascending.
using EventIndices = std::vector<std::size_t>;

/// True if these events fit on the counters at the same time. Called with at least two events.
using Fits = std::function<Result<bool>(const EventIndices&)>;

/// Divides the events 0..count-1 into the fewest sets that fit. Two events of a pair in `together`
/// share a set if that needs no additional set; earlier pairs come first. Returns the error of
/// `fits`, if it has one.
///
/// The number is proven to be the smallest in two cases: if each event needs one of certain
/// counters (a transversal matroid, whose partition by augmenting paths is optimal: Edmonds,
/// "Minimum partition of a matroid into independent subsets", 1965), and for up to ten events,
/// where all divisions are tried. In other cases there may be a smaller number of sets.
Result<std::vector<EventIndices>> partition(
    std::size_t count, const Fits& fits,
    const std::vector<std::pair<std::size_t, std::size_t>>& together);

/// Finds a minimal set of events that do not fit: without any one of them, the others do. Empty if
/// all events 0..count-1 fit. Returns the error of `fits`, if it has one.
Result<EventIndices> competing(std::size_t count, const Fits& fits);

using Choice = EngineChoice;

/// The engine of a session. `note` says what is missing if Auto found no hardware counters; else
/// nullopt.
struct ChosenEngine {
  std::unique_ptr<CounterEngine> engine;
  std::optional<std::string> note;
};

/// The means and options for engines on macOS.
struct OnMacos {
  const os::DarwinCalls* calls = os::darwin_calls();  ///< null: this is not macOS
  /// Launcher for trying a strategy; null: nothing will be counted, only questions are answered.
  os::Launcher* launcher = nullptr;
  StrategyChoice strategy = StrategyChoice::Auto;
  std::chrono::nanoseconds period = std::chrono::milliseconds(1);
  /// True if other engines of this process also count, so that each takes the counters for a block
  /// of runs only.
  bool takes_turns = false;
};

/// Makes the engine. Auto takes the best engine that works here, and notes what is missing. An
/// engine that was named but does not work is an error with its remedy. `calls`: null if this is
/// not Linux. `kinds`: the machine's core kinds. `user`: who runs the commands (nullopt: lauka's
/// own user).
Result<ChosenEngine> choose(Choice choice, bool user_only,
                            const os::LinuxCalls* calls = os::linux_calls(),
                            const CoreKinds& kinds = {},
                            const std::optional<User>& user = std::nullopt,
                            const OnMacos& macos = OnMacos{});

/// Tries each engine for this system, for --check.
std::vector<EngineFacts> try_engines(bool user_only,
                                     const os::LinuxCalls* calls = os::linux_calls(),
                                     const OnMacos& macos = OnMacos{});

/// Moves the counting of `engine` out of timed runs: its counting passes follow a timed pass, which
/// has only the accounted events.
std::unique_ptr<CounterEngine> separate_counting(std::unique_ptr<CounterEngine> engine);

/// Counts cycles and instructions in a region (lauka/region.h) without root, because macOS shows
/// each thread its own counts. `engine` counts whole runs.
std::unique_ptr<CounterEngine> count_calling_threads(std::unique_ptr<CounterEngine> engine);

/// Replaces `engine`, which counts whole runs only, if a region must be counted: counts nothing,
/// and refuses events that the user named.
std::unique_ptr<CounterEngine> without_regions(std::unique_ptr<CounterEngine> engine);

}  // namespace lauka::engine
