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

/// A demand to repeat a run.
struct RepeatRequest {
  RedoReason reason = RedoReason::Counting;
  std::string why;            ///< completes "The run was repeated because ..."
  std::uint32_t at_most = 1;  ///< largest number of repetitions, after which the run is kept
};

/// The counts of one run.
struct Counted {
  /// Counts of the pass's events, in their order; nullopt: missing.
  std::vector<std::optional<std::uint64_t>> counts;
  std::optional<Error> missing{};  ///< reason why a count is missing; nullopt if no reason is known
  /// Reason to end the session, because nothing more can be counted; nullopt: go on.
  std::optional<Error> failure{};
  std::optional<RepeatRequest> redo{};
  std::optional<double> coverage{};
  std::vector<std::optional<std::uint64_t>> own_process_counts{};
  std::optional<Note> note{};
  /// Nanoseconds of CPU time on each of ArmedPass::timed_pmus; empty: unknown.
  std::vector<std::uint64_t> pmu_ns{};
  /// Counts by function, for the pass's events that are not of a single function; empty: unknown.
  std::vector<FunctionCounts> functions{};
};

/// An event that the kernel counts for every process, without hardware counters and permissions.
struct AccountedEvent {
  std::string_view name;
  std::string_view other_name;
  std::string_view meaning;
  std::optional<std::uint64_t> (*read)(const os::Ended&);
};

/// Counts the runs of one pass.
class ArmedPass : NonCopyable {
 public:
  virtual ~ArmedPass() = default;

  virtual std::vector<os::CounterRequest> requests() const { return {}; }

  virtual std::vector<os::RunObserver*> watches() { return {}; }

  virtual os::SampleListener* samples() { return nullptr; }

  /// Returns the command line to launch in place of `words`: a simulator's, or `words`.
  virtual std::vector<std::string> launched_as(const std::vector<std::string>& words) const {
    return words;
  }

  /// Returns os::Launch::counts_calling_threads for the runs of this pass.
  virtual bool counts_calling_threads() const { return false; }

  /// Returns the PMUs whose CPU times Counted::pmu_ns gives, in its order.
  virtual std::vector<std::string> timed_pmus() const { return {}; }

  /// Returns how many runs may be launched before finish() is called for them.
  virtual std::size_t runs_at_once() const = 0;

  /// Returns the counts of a run that has ended. `command`: index of its command, because the runs
  /// of a command are compared with each other.
  virtual Counted finish(const os::Ended& ended, std::size_t command) = 0;
};

/// Selects, programs and reads counters.
class CounterEngine : NonCopyable {
 public:
  virtual ~CounterEngine() = default;

  virtual std::string_view name() const = 0;

  /// Returns the events of which the engine knows, for --list-events.
  virtual Catalog catalog() const = 0;

  /// Selects the wanted events, in place of the last selection, and divides them into passes. Adds
  /// notes about events that are left out.
  virtual Result<EventSet> select(const EventRequest& wanted) = 0;

  /// Returns how the kernel accounts for an event of the last selection, given by index; null if
  /// the event is counted otherwise.
  virtual const AccountedEvent* accounted(std::size_t /*event*/) const { return nullptr; }

  /// Selects the wanted events and explains the passes and, if known, the counters.
  virtual Result<Explanation> explain(const EventRequest& wanted);

  /// Prepares a pass of the last selection. Called once per pass, before its first run.
  virtual Result<std::unique_ptr<ArmedPass>> arm(std::size_t pass) = 0;

  /// Returns the file because of which the kernel takes the counters away when `program` starts;
  /// nullopt if no such file is known. If there is one, later runs of `command` count only
  /// accounted events.
  virtual std::optional<UncountedFile> find_uncounted(std::size_t /*command*/,
                                                      const os::ProgramSpec& /*program*/) {
    return std::nullopt;
  }

  virtual bool counts_regions() const { return false; }

  /// Returns an error if counters of the cores cannot be used, usually because other programs hold
  /// them; nullopt if no such counters are known.
  virtual std::optional<Error> held_by_others() { return std::nullopt; }

  /// Switches off what would slow runs, until the next run of a pass that counts.
  virtual void pause() {}

  virtual std::vector<Note> notes() const { return {}; }
};

/// Wraps an engine, which does everything that a subclass does not override.
class EngineWrapper : public CounterEngine {
 public:
  explicit EngineWrapper(std::unique_ptr<CounterEngine> inner) : inner_(std::move(inner)) {}

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

  void replace(std::unique_ptr<CounterEngine> inner) { inner_ = std::move(inner); }

 private:
  std::unique_ptr<CounterEngine> inner_;
};

/// The note next to accounted events: unlike counters, the kernel's accounts include the work of
/// execve.
inline constexpr const char* kWithExec = "(with exec)";

void mark_of_region(Event& event);

/// Returns an event set without events, with the reason `why`. Adds a note if `why` has a remedy.
EventSet make_empty_event_set(const Error& why);

std::span<const AccountedEvent> accounted_events();

/// Finds an accounted event by either of its names, ignoring case; null if missing.
const AccountedEvent* find_accounted(std::string_view name);

/// Adds `event` to `taken` and, with `name` in lower case, to the first pass of `set`, which must
/// exist. Returns null and adds nothing if `taken` already has the event.
Event* add_accounted(const AccountedEvent& event, std::string_view name,
                     std::vector<const AccountedEvent*>& taken, EventSet& set);

CatalogEntry make_catalog_entry(const AccountedEvent& event);

/// Makes an ArmedPass for accounted events. Calls `also` with the counts of each run that started.
/// `counts_calling_threads`: result of ArmedPass::counts_calling_threads().
std::unique_ptr<ArmedPass> make_accounting_pass(
    std::vector<const AccountedEvent*> events,
    std::function<void(const os::Ended&, Counted&)> also = {}, bool counts_calling_threads = false);

/// Makes an engine that counts accounted events only. `why`: error for other events; nullopt: the
/// user chose this engine.
std::unique_ptr<CounterEngine> make_none_engine(std::optional<Error> why);

/// Adds the events of Linux's power PMU (RAPL), such as energy-pkg, to an engine. They cover all
/// programs on the machine, and have a pass of their own. Returns `engine` if `calls` is null.
std::unique_ptr<CounterEngine> with_energy(std::unique_ptr<CounterEngine> engine,
                                           const os::LinuxCalls* calls);

using EventIndices = std::vector<std::size_t>;

/// A test whether the events fit on the counters at the same time. Called with at least two events.
using FitTest = std::function<Result<bool>(const EventIndices&)>;

/// Divides the events 0..count-1 into sets that fit: the fewest sets for up to ten events, or if
/// each event needs one of certain counters. Joins the two events of each pair in `together`,
/// earlier pairs first, if that needs no additional set.
Result<std::vector<EventIndices>> partition(
    std::size_t count, const FitTest& fits,
    const std::vector<std::pair<std::size_t, std::size_t>>& together);

/// Finds a minimal set of events that do not fit: without any one of them, the others fit. Empty if
/// all events 0..count-1 fit.
Result<EventIndices> find_competing_events(std::size_t count, const FitTest& fits);

using Choice = EngineChoice;

/// The engine of a session. `note` explains to users why Auto found no hardware counters; else
/// nullopt.
struct ChosenEngine {
  std::unique_ptr<CounterEngine> engine;
  std::optional<std::string> note;
};

struct MacosEngineOptions {
  const os::DarwinCalls* calls = os::darwin_calls();
  /// Launcher for trying a strategy; null: only questions are answered, and nothing is counted.
  os::Launcher* launcher = nullptr;
  StrategyChoice strategy = StrategyChoice::Auto;
  std::chrono::nanoseconds period = std::chrono::milliseconds(1);
  /// True if other engines of this process also count, so that each takes the counters for a block
  /// of runs only.
  bool takes_turns = false;
};

/// Makes an engine. Auto always succeeds; any other choice is an error if it cannot work here.
/// `calls`: null if this is not Linux. `user`: user who runs the commands; nullopt: lauka's own.
Result<ChosenEngine> choose(Choice choice, bool user_only,
                            const os::LinuxCalls* calls = os::linux_calls(),
                            const CoreKinds& kinds = {},
                            const std::optional<User>& user = std::nullopt,
                            const MacosEngineOptions& macos = MacosEngineOptions{});

std::vector<EngineFacts> try_engines(bool user_only,
                                     const os::LinuxCalls* calls = os::linux_calls(),
                                     const MacosEngineOptions& macos = MacosEngineOptions{});

/// Moves the counting of `engine` out of timed runs: its counting passes follow a timed pass, which
/// has only the accounted events.
std::unique_ptr<CounterEngine> separate_counting(std::unique_ptr<CounterEngine> engine);

/// Counts cycles and instructions in a region (lauka/region.h) without root, because macOS shows
/// each thread its own counts. `engine` counts whole runs, if they are wanted.
std::unique_ptr<CounterEngine> with_region_of_threads(std::unique_ptr<CounterEngine> engine);

/// Replaces `engine`, which cannot count in a region, by an engine that counts nothing and refuses
/// events requested by name.
std::unique_ptr<CounterEngine> without_regions(std::unique_ptr<CounterEngine> engine);

}  // namespace lauka::engine
