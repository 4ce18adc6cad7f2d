#pragma once

#include "core/record.h"
#include "os/clock.h"
#include "plan/plan.h"
#include "run/kept_rounds.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

/// Sets Progress::remaining and Progress::done, given that the session takes `seconds` more;
/// Progress::elapsed must be set.
void enter_remaining(double seconds, Progress& progress);

/// Watches differences of wall time for the progress line. Uses the mean difference of logarithms
/// within rounds, which is cheap after each run, while the final delta uses all pairs.
class DifferenceWatch {
 public:
  /// `plan` must outlive this object.
  explicit DifferenceWatch(const Plan& plan)
      : plan_(plan),
        all_(plan.commands.size(), {.of_layout = std::vector<Spread>(plan.setting.layouts)}) {}

  /// Adds a run; ignores all but timed runs.
  void add_run(const RunRecord& run);

  /// Returns the difference of `command`, or of the first candidate that has one if `command` has
  /// none. nullopt if it is unknown: before five rounds (before the first sweep with --layouts), or
  /// if the reference is in another session.
  std::optional<DifferenceSoFar> of_command(std::size_t command) const;

 private:
  struct Spread {
    std::uint64_t rounds = 0;
    double mean = 0.0;
    double squares = 0.0;  // sum of squared deviations from the mean
  };
  struct OfCommand {
    std::vector<Spread> of_layout{};  // one element without --layouts
    std::optional<double> latest{};   // logarithm of the latest wall time; nullopt before the first
    std::uint32_t round = 0;          // round of `latest`
  };

  void compare(std::size_t command, const Step& step);
  std::optional<DifferenceSoFar> over_layouts(std::size_t command) const;

  const Plan& plan_;
  std::vector<OfCommand> all_;
};

/// The progress of a suite, of which each benchmark knows only its own part.
class SuiteProgress : NonCopyable {
 public:
  /// `shown` and `clock` must outlive this object.
  SuiteProgress(Observer& shown, const os::Clock& clock, std::size_t benchmarks)
      : shown_(shown), clock_(clock), began_(clock.now()), left_(benchmarks), open_(benchmarks) {}

  bool is_wanted() const { return shown_.wants_progress(); }

  /// Shows the progress of the benchmark with index `benchmark` and name `name` as the suite's.
  void show(std::size_t benchmark, const std::string& name, const Progress& own);

  void counts_lost(const Command& command, const UncountedFile& file) {
    shown_.counts_lost(command, file);
  }

  /// Records that a benchmark has ended.
  void finish(std::size_t benchmark);

 private:
  void enter(std::size_t benchmark, std::optional<std::chrono::nanoseconds> left);
  std::optional<double> seconds_left() const;

  Observer& shown_;
  const os::Clock& clock_;
  std::chrono::nanoseconds began_;
  std::vector<std::optional<double>>
      left_;            // remaining seconds of each benchmark; nullopt: unknown
  double known_ = 0.0;  // sum of the known elements of left_
  std::size_t known_parts_ = 0;
  std::size_t open_;
};

/// The observer of one benchmark in a suite.
class PartObserver final : public Observer {
 public:
  /// `all` must outlive this object.
  PartObserver(SuiteProgress& all, std::size_t benchmark, std::string name)
      : all_(all), benchmark_(benchmark), name_(std::move(name)) {}

  bool wants_progress() const override { return all_.is_wanted(); }
  void progress(const Progress& own) override { all_.show(benchmark_, name_, own); }
  void counts_lost(const Command& command, const UncountedFile& file) override {
    all_.counts_lost(command, file);
  }
  void finished() override { all_.finish(benchmark_); }

 private:
  SuiteProgress& all_;
  std::size_t benchmark_;
  std::string name_;
};

}  // namespace lauka
