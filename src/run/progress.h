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

/// Sets Progress::remaining and ::done of a session that needs `seconds` more; its elapsed time is
/// there.
void enter_remaining(double seconds, Progress& progress);

/// Watches the differences of wall time for the progress line: the mean of the logarithms'
/// differences within rounds costs little after each run, whereas the final delta uses all pairs.
class DifferenceWatch {
 public:
  /// `plan` must outlive it.
  explicit DifferenceWatch(const Plan& plan)
      : plan_(plan),
        all_(plan.commands.size(), {.of_layout = std::vector<Spread>(plan.setting.layouts)}) {}

  /// Enters a kept run.
  void add_run(const RunRecord& run);

  /// Returns the difference of `command`, or of the first candidate if that has none. nullopt
  /// before five rounds, with --layouts before the first sweep, or if the reference is of another
  /// session.
  std::optional<DifferenceSoFar> of_command(std::size_t command) const;

 private:
  struct Spread {
    std::uint64_t rounds = 0;
    double mean = 0.0;
    double squares = 0.0;  // squared deviations from the mean
  };
  struct OfCommand {
    std::vector<Spread> of_layout{};  // one without --layouts
    std::optional<double> latest{};   // logarithm of the latest wall time
    std::uint32_t round = 0;          // of that time
  };

  void compare(std::size_t command, const Step& step);
  std::optional<DifferenceSoFar> over_layouts(std::size_t command) const;

  const Plan& plan_;
  std::vector<OfCommand> all_;
};

/// The progress of a suite, of which each benchmark knows only its own part.
class SuiteProgress : NonCopyable {
 public:
  /// `shown` and `clock` must outlive it.
  SuiteProgress(Observer& shown, const os::Clock& clock, std::size_t benchmarks)
      : shown_(shown), clock_(clock), began_(clock.now()), left_(benchmarks), open_(benchmarks) {}

  bool is_wanted() const { return shown_.wants_progress(); }

  /// Shows the progress of `benchmark`, which is called `name`, as the suite's.
  void show(std::size_t benchmark, const std::string& name, const Progress& own);

  void counts_lost(const Command& command, const UncountedFile& file) {
    shown_.counts_lost(command, file);
  }

  /// Enters the end of `benchmark`.
  void finish(std::size_t benchmark);

 private:
  void enter(std::size_t benchmark, std::optional<std::chrono::nanoseconds> left);
  std::optional<double> seconds_left() const;

  Observer& shown_;
  const os::Clock& clock_;
  std::chrono::nanoseconds began_;
  std::vector<std::optional<double>> left_;  // seconds, of each benchmark
  double known_ = 0.0;                       // their sum
  std::size_t known_parts_ = 0;
  std::size_t open_;
};

/// The observer of a suite's benchmark.
class PartObserver final : public Observer {
 public:
  /// `all` must outlive it.
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
