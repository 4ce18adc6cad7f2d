#pragma once

#include "core/call_paths.h"
#include "core/choices.h"
#include "core/event.h"
#include "core/function_table.h"
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

/// How often a run is repeated, at most, because something disturbed its counts.
inline constexpr std::uint32_t kMaxRepetitions = 3;

struct RepeatRequest {
  RedoReason reason = RedoReason::Counting;
  std::string why;  ///< clause that follows "The run was repeated because"
  std::uint32_t max_repetitions = 1;
  /// Reason to leave the counts out if the last repetition asks to be repeated, too; nullopt: they
  /// are kept.
  std::optional<Error> why_left_out{};
};

struct CountsOfRun {
  /// Counts of the pass's events, in the order of Pass::event_indices; nullopt: missing.
  std::vector<std::optional<std::uint64_t>> counts;
  /// Reason to report for missing counts; nullopt: no reason is reported.
  std::optional<Error> why_missing_counts{};
  std::optional<Error> session_error{};
  std::optional<RepeatRequest> redo{};
  std::optional<double> instruction_coverage{};
  std::vector<std::optional<std::uint64_t>> own_process_counts{};
  std::optional<Note> note{};
  /// Nanoseconds of CPU time on the cores of each PMU in ArmedPass::timed_pmus(); empty if unknown.
  std::vector<std::uint64_t> cpu_ns_by_pmu{};
  /// Counts of the pass's events in each function, without events that count a single function
  /// (Event::only_function); nullopt: not counted by function. Functions that are missing have 0.
  std::optional<std::vector<FunctionCounts>> functions{};
  /// Samples by call path; empty if call chains were not recorded.
  std::vector<PathCounts> paths{};
};

/// An event whose count `read` finds in the launcher's report of a run, without a counter that
/// lauka opens; nullopt if missing.
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

  /// Prepares the next run, and returns its observers. Called before each run, at most one pass's
  /// run at a time.
  virtual std::vector<os::RunObserver*> prepare_run() { return {}; }

  virtual os::SampleListener* samples() { return nullptr; }

  /// Returns the command line to launch for the command `words`: the command line of a simulator
  /// that runs the command, or `words` unchanged.
  virtual std::vector<std::string> launched_as(const std::vector<std::string>& words) const {
    return words;
  }

  /// True if threads count themselves in the region (os::Launch::counts_calling_threads).
  virtual bool counts_calling_threads() const { return false; }

  /// Returns the names of the PMUs to which the times in CountsOfRun::cpu_ns_by_pmu belong.
  virtual std::vector<std::string> timed_pmus() const { return {}; }

  /// Returns the largest number of runs that may be launched before finish() is called.
  virtual std::size_t max_batch_size() const = 0;

  /// Returns the counts of a run that has ended. `command`: index of the command that ran.
  virtual CountsOfRun finish(const os::Ended& ended, std::size_t command) = 0;
};

using OwnedPass = std::unique_ptr<ArmedPass>;

/// Selects events, and prepares the passes that count them.
class CounterEngine : NonCopyable {
 public:
  virtual ~CounterEngine() = default;

  virtual std::string_view name() const = 0;

  /// Returns the events for --list-events.
  virtual Catalog catalog() const = 0;

  /// Selects the wanted events, which replace the previous selection, and divides them into passes.
  virtual Result<EventSet> select(const EventRequest& wanted) = 0;

  /// Returns the accounted event for an event of the selection, given by index; null if the event
  /// is counted in another way.
  virtual const AccountedEvent* accounted(std::size_t /*event*/) const { return nullptr; }

  /// Explains the passes in which the wanted events are counted and, if known, their counters. May
  /// replace the selection.
  virtual Result<Explanation> explain(const EventRequest& wanted);

  /// Prepares a pass of the selection, given by index, before its first run.
  virtual Result<OwnedPass> arm(std::size_t pass) = 0;

  /// Returns the file because of which the kernel takes the counters away when `program` starts;
  /// nullopt if no such file is known. If there is such a file, remembers that `command` has no
  /// counters.
  virtual std::optional<CounterLossFile> find_counter_loss_file(
      std::size_t /*command*/, const os::ProgramSpec& /*program*/) {
    return std::nullopt;
  }

  virtual bool counts_regions() const { return false; }

  /// Returns an error that reports lost counters of the cores, usually lost to another program;
  /// nullopt if no loss is found.
  virtual std::optional<Error> held_by_others() { return std::nullopt; }

  /// Switches off counting that slows runs, until the next run that needs it.
  virtual void pause() {}

  virtual std::vector<Note> notes() const { return {}; }
};

using OwnedEngine = std::unique_ptr<CounterEngine>;

/// Forwards all calls to the wrapped engine.
class EngineWrapper : public CounterEngine {
 public:
  explicit EngineWrapper(OwnedEngine inner) : inner_(std::move(inner)) {}

  std::string_view name() const override { return inner_->name(); }
  Catalog catalog() const override { return inner_->catalog(); }
  Result<EventSet> select(const EventRequest& wanted) override { return inner_->select(wanted); }
  const AccountedEvent* accounted(std::size_t event) const override {
    return inner_->accounted(event);
  }
  Result<Explanation> explain(const EventRequest& wanted) override {
    return inner_->explain(wanted);
  }
  Result<OwnedPass> arm(std::size_t pass) override { return inner_->arm(pass); }
  std::optional<CounterLossFile> find_counter_loss_file(std::size_t command,
                                                        const os::ProgramSpec& program) override {
    return inner_->find_counter_loss_file(command, program);
  }
  bool counts_regions() const override { return inner_->counts_regions(); }
  std::optional<Error> held_by_others() override { return inner_->held_by_others(); }
  void pause() override { inner_->pause(); }
  std::vector<Note> notes() const override { return inner_->notes(); }

 protected:
  CounterEngine& wrapped_engine() const { return *inner_; }

  void replace(OwnedEngine inner) { inner_ = std::move(inner); }

 private:
  OwnedEngine inner_;
};

/// Name of what counts accounted events (CountingMethod::engine).
inline constexpr std::string_view kAccountingEngine = "the kernel";

/// Suffix of an accounted event's name: the count includes the work of execve.
inline constexpr const char* kWithExec = "(with exec)";

void mark_as_region_event(Event& event);

/// Returns an event set without events. `why`: reason (EventSet::why_empty). Adds a note if the
/// reason has a remedy.
EventSet make_empty_event_set(const Error& why);

std::span<const AccountedEvent> accounted_events();

/// Finds one of `events` by either of its names, ignoring case; null if unknown.
const AccountedEvent* find_accounted(std::string_view name,
                                     std::span<const AccountedEvent> events = accounted_events());

/// Adds `event` to `taken`. Adds an event called `name` (in lower case) to `set` and to the first
/// pass of `set`, which must exist, and returns the added event. If `taken` already has `event`,
/// adds nothing and returns null.
Event* add_accounted(const AccountedEvent& event, std::string_view name,
                     std::vector<const AccountedEvent*>& taken, EventSet& set);

void add_to_catalog(std::span<const AccountedEvent> events, Catalog& catalog);

/// Makes a pass that counts accounted events. `also` may change the counts of each run that
/// started; may be empty. `counts_calling_threads`: result of ArmedPass::counts_calling_threads().
OwnedPass make_accounting_pass(std::vector<const AccountedEvent*> events,
                               std::function<void(const os::Ended&, CountsOfRun&)> also = {},
                               bool counts_calling_threads = false);

/// Makes an engine that counts accounted events only. `why`: reason why other events cannot be
/// counted; nullopt: --engine none excludes them.
OwnedEngine make_accounted_engine(std::optional<Error> why);

/// Adds the events of Linux's power PMU (RAPL), such as energy-pkg, to an engine. These events
/// cover all programs on the machine, and have a pass of their own. Returns `engine` unchanged if
/// `calls` is null.
OwnedEngine with_energy(OwnedEngine engine, const os::LinuxCalls* calls);

using Choice = EngineChoice;

/// The engine of a session. `note`: message to users that explains why Auto chose neither perf nor
/// kperf; nullopt if there is nothing to explain.
struct ChosenEngine {
  OwnedEngine engine;
  std::optional<std::string> note{};
};

struct MacosEngineOptions {
  const os::DarwinCalls* calls = os::darwin_calls();
  /// Launcher of trial runs; null: the engine only answers questions, and counts nothing.
  os::Launcher* launcher = nullptr;
  KperfStrategyChoice strategy = KperfStrategyChoice::Auto;
  std::chrono::nanoseconds macos_sampling_period = std::chrono::milliseconds(1);
  /// True if the engine gives the counters back in pause().
  bool gives_counters_back = false;
};

struct EngineRequest {
  Choice choice = Choice::Auto;
  bool counts_user_space_only = false;
  const os::LinuxCalls* calls = os::linux_calls();  ///< null if this is not Linux
  CoreKinds kinds{};
  std::optional<User> user{};  ///< user who runs the commands; nullopt: lauka's user
  MacosEngineOptions macos{};
};

/// Makes an engine. Returns an error if the chosen engine is known not to work here; Auto never
/// gives an error.
Result<ChosenEngine> choose(const EngineRequest& request);

std::vector<EngineFacts> try_engines(bool user_only,
                                     const os::LinuxCalls* calls = os::linux_calls(),
                                     const MacosEngineOptions& macos = MacosEngineOptions{});

/// Moves the counting of `engine` out of timed runs: timed passes that need counters become
/// counting passes. If there are any such passes, adds a timed pass for the accounted events.
OwnedEngine separate_counting(OwnedEngine engine);

/// Wraps `engine`, which cannot count in a region, in an engine that counts no events and refuses
/// events requested by name.
OwnedEngine make_uncounting_engine(OwnedEngine engine);

}  // namespace lauka::engine
