#pragma once

#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/kperf_engine.h"
#include "os/process.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lauka::engine::kperf {

/// The result of one run. `values` has the fixed counters first, then the usable configurable ones;
/// empty: it was not counted, and `missing` says why.
struct RunValues {
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t> own{};  ///< likewise, of the command's own process if that is known
                                     ///< and not all; else empty
  std::optional<Error> missing{};
  std::optional<Redo> redo{};
  std::optional<double> coverage{};
};

/// A way to count runs. The claim holds what it takes of the system.
class Strategy : NonCopyable {
 public:
  virtual ~Strategy() = default;

  /// Called once before the first run; returns 0 or an errno.
  virtual int begin() = 0;

  /// Called around each run, as os::RunWatch; `words` are for the run's pass.
  virtual void before_start(const std::vector<std::uint64_t>& words) = 0;
  virtual void made(int pid) = 0;
  virtual void running() {}
  virtual RunValues finish(const os::Ended& ended) = 0;

  /// Switches off all that slows runs which are not counted; before_start switches it on again.
  virtual void pause();

  /// Time between two calls of running.
  virtual std::chrono::nanoseconds interval() const { return std::chrono::seconds(1); }

  /// Returns what every user of these counts must know, one line each.
  virtual std::vector<std::string> notes() const = 0;

 protected:
  explicit Strategy(Claim& claim) : claim_(claim) {}

  /// Keeps the error of a step, and its explanation.
  void try_to(const char* failed, int error);

  /// Takes the counters again if they were given back.
  void hold();

  /// Programs the counters with `words`, unless they have them already.
  void program(const std::vector<std::uint64_t>& words, bool by_thread);

  /// Returns why the run has no counts if a step failed, or if the counters were programmed by
  /// another program meanwhile.
  std::optional<RunValues> failed_run();

  Claim& claim() const { return claim_; }

  /// Returns 0, or the errno of the step that failed since the run began.
  int error() const { return error_; }

 private:
  Claim& claim_;
  int error_ = 0;
  bool is_programmed_ = false;
  const char* failed_ = "";  // what gave error_
  std::vector<std::uint64_t> words_;
};

/// The moments at which threads are sampled: as they end, while they run, or both.
enum class Sampled : unsigned char {
  AtExit,
  Periodically,
  AtExitOrPeriodically,  ///< at exit; once a thread was seen to outlive a command, both
};

/// Counts by thread, from the kernel's trace: exact at exit, periodically a lower bound.
std::unique_ptr<Strategy> make_thread_strategy(Claim& claim, Trace& trace, Sampled sampled,
                                               std::chrono::nanoseconds period);

/// Counts whatever the whole machine did while the command ran.
std::unique_ptr<Strategy> make_machine_strategy(Claim& claim, const Kernel& kernel);

/// Passes a run on to the strategy that counts it.
class StrategyWatch final : public os::RunWatch {
 public:
  StrategyWatch(Strategy& strategy, std::vector<std::uint64_t> words)
      : strategy_(strategy), words_(std::move(words)) {}

  void before_start() override { strategy_.before_start(words_); }
  void made(int pid) override { strategy_.made(pid); }
  void running(int /*pid*/) override { strategy_.running(); }
  std::chrono::nanoseconds interval() const override { return strategy_.interval(); }

 private:
  Strategy& strategy_;
  std::vector<std::uint64_t> words_;
};

/// A strategy that works here, and notes for users about the choice.
struct Tried {
  std::unique_ptr<Strategy> strategy;
  bool counts_machine = false;  ///< all programs that run meanwhile, not the command alone
  std::vector<std::string> notes;
};

/// Tries strategies on a command whose total the kernel knows, the best first, and takes the first
/// that saw it whole. Refused if none does, or if the user's choice does not.
Result<Tried> try_strategies(StrategyChoice choice, std::chrono::nanoseconds period, Claim& claim,
                             const Kernel& kernel, Trace& trace, os::Launcher& launcher);

}  // namespace lauka::engine::kperf
