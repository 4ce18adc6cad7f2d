#pragma once

#include "core/record.h"
#include "os/clock.h"
#include "plan/plan.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

/// Sets Progress::remaining and Progress::elapsed_share. `seconds`: estimated time that remains.
void set_remaining_and_elapsed_share(double seconds, Progress& progress);

/// Estimates differences of wall time for the progress line.
class DifferenceWatch {
 public:
  explicit DifferenceWatch(const Plan& plan);

  /// Adds a run. Ignores runs that are not timed.
  void add_run(const RunRecord& run);

  /// Returns the difference of `command` or, if `command` has none, of the first candidate that has
  /// a difference. nullopt if no difference is known.
  std::optional<DifferenceSoFar> find_shown_difference(std::size_t command) const;

 private:
  struct Spread {
    std::uint64_t rounds = 0;
    double mean = 0.0;
    double squared_deviations = 0.0;
  };
  struct OfCommand {
    std::vector<Spread> of_layout{};
    std::vector<std::size_t> candidates{};  ///< commands that are compared with this one
    std::optional<double> latest_log_wall_time{};
    std::uint32_t round = 0;
  };

  void compare_with_reference(std::size_t command, const Step& step);
  bool has_difference(std::size_t command) const;
  /// Returns `command` or, if it has no difference, the first candidate that has one; nullopt if
  /// none has.
  std::optional<std::size_t> choose_shown(std::size_t command) const;
  std::optional<DifferenceSoFar> over_layouts(std::size_t command) const;
  DifferenceSoFar over_rounds(std::size_t command) const;

  const Plan& plan_;
  std::vector<OfCommand> commands_;
};

/// Adds up the progress of a suite's benchmarks.
class SuiteProgress : NonCopyable {
 public:
  SuiteProgress(Observer& shown, const os::Clock& clock, std::size_t benchmarks)
      : observer_(shown),
        clock_(clock),
        began_(clock.now()),
        left_(benchmarks),
        open_(benchmarks) {}

  Observer& observer() { return observer_; }

  /// Shows the suite's progress, given the progress `own` of one benchmark.
  void show(std::size_t benchmark, const std::string& name, const Progress& own);

  void finish(std::size_t benchmark);

 private:
  void record_time_left(std::size_t benchmark, std::optional<std::chrono::nanoseconds> left);
  std::optional<double> seconds_left() const;

  Observer& observer_;
  const os::Clock& clock_;
  std::chrono::nanoseconds began_;
  std::vector<std::optional<double>> left_;
  double known_seconds_left_ = 0.0;
  std::size_t known_parts_ = 0;
  std::size_t open_;
};

/// Passes the progress of one benchmark on to the suite.
class PartObserver final : public Observer {
 public:
  PartObserver(SuiteProgress& suite, std::size_t benchmark, std::string name)
      : suite_(suite), benchmark_(benchmark), name_(std::move(name)) {}

  bool wants_progress() const override { return suite_.observer().wants_progress(); }
  void progress(const Progress& own) override { suite_.show(benchmark_, name_, own); }
  void counts_lost(const Command& command, const CounterLossFile& file) override {
    suite_.observer().counts_lost(command, file);
  }
  void finished() override { suite_.finish(benchmark_); }

 private:
  SuiteProgress& suite_;
  std::size_t benchmark_;
  std::string name_;
};

}  // namespace lauka
