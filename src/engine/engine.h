#pragma once

#include "core/choices.h"
#include "core/event.h"
#include "core/record.h"
#include "core/result.h"
#include "os/process.h"

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

/// A run that is to be run again instead of entering the statistics.
struct Redo {
  std::string why;            ///< "the trace lost records"; the same words each time
  std::uint32_t at_most = 1;  ///< a run that was run again so often enters as it is
};

/// The counts of one run.
struct Counted {
  std::vector<std::optional<std::uint64_t>>
      counts;                      ///< one per event of the pass; none: not counted exactly
  std::optional<Error> missing{};  ///< why there is none, where there is none
  std::optional<Error> failure{};  ///< the measurement could not be made: no run follows
  std::optional<Redo> redo{};
  std::optional<double> coverage{};                 ///< RunRecord::coverage
  std::vector<std::optional<std::uint64_t>> own{};  ///< RunRecord::own
  std::optional<std::string> note{};    ///< what has to be known of those that are there
  std::vector<std::uint64_t> pmu_ns{};  ///< CPU time on the cores of each of Counting::timed_pmus;
                                        ///< empty: not known
};

/// Reads what the kernel keeps of an event for every run, without counting.
using FreeReader = std::function<std::optional<std::uint64_t>(const os::Ended&)>;

/// One pass of the session, ready to be counted.
class Counting : NonCopyable {
 public:
  virtual ~Counting() = default;

  /// Counters that the launcher is to open for each run of this pass; none where the engine counts
  /// by itself.
  virtual std::vector<os::CounterRequest> requests() const { return {}; }

  /// What is to follow each run of this pass; null: nothing.
  virtual os::RunWatch* watch() { return nullptr; }

  /// What is launched for a command in this pass: itself, or a program that simulates it.
  virtual std::vector<std::string> launched_as(const std::vector<std::string>& words) const {
    return words;
  }

  /// Whether threads that enter their program's region are to count themselves
  /// (os::Launch::counts_calling_threads).
  virtual bool counts_calling_threads() const { return false; }

  /// The PMUs of kinds of core whose time each run's counters tell (Counted::pmu_ns); none: they do
  /// not.
  virtual std::vector<std::string> timed_pmus() const { return {}; }

  /// How many runs may be launched before finish is called for them.
  virtual std::size_t runs_at_once() const = 0;

  /// The counts of one run of this pass that has ended: all of it, or a reason; never a part, never
  /// an estimate. `command`: which one it was, as it is compared with its other runs.
  virtual Counted finish(const os::Ended& ended, std::size_t command) = 0;
};

/// The mechanism that programs and reads counters.
class CounterEngine : NonCopyable {
 public:
  virtual ~CounterEngine() = default;

  virtual std::string_view name() const = 0;

  /// What can be counted here; each entry was tried.
  virtual Catalog catalog() const = 0;

  /// Resolves the wanted events and divides them into the fewest passes. A default event that is
  /// not there is left out with one note for all; a wanted one that is not there, or --single-pass
  /// with too many, is an error.
  virtual Result<EventSet> select(const EventRequest& wanted) = 0;

  /// How to read an event of what was selected last (its index) where that costs nothing; empty
  /// where it has to be counted.
  virtual FreeReader free_reader(std::size_t /*event*/) const { return {}; }

  /// Where the wanted events would be counted. Selects them, but does not refuse what needs several
  /// passes. An engine that does not know the counters tells the passes.
  virtual Result<Explanation> explain(const EventRequest& wanted);

  /// Prepares one pass of what was selected last. Called once for each pass, before its first run.
  virtual Result<std::unique_ptr<Counting>> arm(std::size_t pass) = 0;

  /// Whether it can count in a region alone (EventRequest::counted_in).
  virtual bool counts_regions() const { return false; }

  /// Whether somebody else holds counters that the selected events need, as far as can be told now;
  /// asked before the first counting run, once in each block of them, and after the last.
  virtual std::optional<Error> held_by_others() { return std::nullopt; }

  /// Counting is over for now: nothing is left on that would slow the runs up to the next one of a
  /// pass that counts.
  virtual void pause() {}

  /// What the counts of the runs so far are to be read with, one line each.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// An engine around another, which answers all that is not overridden.
class EngineAround : public CounterEngine {
 public:
  explicit EngineAround(std::unique_ptr<CounterEngine> inner) : inner_(std::move(inner)) {}

  std::string_view name() const override { return inner_->name(); }
  Catalog catalog() const override { return inner_->catalog(); }
  Result<EventSet> select(const EventRequest& wanted) override { return inner_->select(wanted); }
  FreeReader free_reader(std::size_t event) const override { return inner_->free_reader(event); }
  Result<Explanation> explain(const EventRequest& wanted) override {
    return inner_->explain(wanted);
  }
  Result<std::unique_ptr<Counting>> arm(std::size_t pass) override { return inner_->arm(pass); }
  bool counts_regions() const override { return inner_->counts_regions(); }
  std::optional<Error> held_by_others() override { return inner_->held_by_others(); }
  void pause() override { inner_->pause(); }
  std::vector<std::string> notes() const override { return inner_->notes(); }

 protected:
  CounterEngine& other() const { return *inner_; }

  /// Another one inside. The one before gives back all it took, as it is destroyed.
  void replace(std::unique_ptr<CounterEngine> inner) { inner_ = std::move(inner); }

 private:
  std::unique_ptr<CounterEngine> inner_;
};

}  // namespace lauka::engine
