#pragma once

#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/configure.h"
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

/// What came of one run. `values` has the fixed counters first, then the configurable ones that can
/// be used; empty: there is none, and `missing` says why.
struct RunValues {
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t> own{};  ///< likewise, of the command's own process where that is known
                                     ///< and not all; else empty
  std::optional<Error> missing{};
  std::optional<Redo> redo{};
  std::optional<double> coverage{};
};

/// A way to have the counts of runs. What it takes of the system belongs to the claim.
class Strategy : NonCopyable {
 public:
  virtual ~Strategy() = default;

  /// 0 or an errno, once before the first run.
  virtual int begin() = 0;

  /// Around each run, as os::RunWatch; `words` are those of the run's pass.
  virtual void before_start(const std::vector<std::uint64_t>& words) = 0;
  virtual void made(int pid) = 0;
  virtual void running() = 0;
  virtual RunValues finish(const os::Ended& ended) = 0;

  /// Switches off all that slows runs which are not counted; before_start switches it on again.
  virtual void pause() = 0;

  /// Between two calls of running.
  virtual std::chrono::nanoseconds interval() const { return std::chrono::seconds(1); }

  /// What every user of these counts has to know, one line each.
  virtual std::vector<std::string> notes() const = 0;
};

/// How threads are sampled: as they end, while they run, or both.
enum class Sampled : unsigned char {
  AtExit,
  Periodically,
  AtExitOrPeriodically,  ///< at exit; once a thread was seen to outlive a command, both
};

/// Counts by thread, out of the kernel's trace: exact at exit, a lower bound of it periodically.
std::unique_ptr<Strategy> make_thread_strategy(Claim& claim, Trace& trace, Sampled sampled,
                                               std::chrono::nanoseconds period);

/// Counts whatever the whole machine did while the command ran.
std::unique_ptr<Strategy> make_machine_strategy(Claim& claim, const Kernel& kernel);

/// A run without counts, which is made again at most `redo` times.
RunValues not_counted(const std::string& why, std::uint32_t redo);

/// The same where somebody else changed the counters.
RunValues changed_meanwhile();

/// How often a run is made again of which something was lost.
inline constexpr std::uint32_t kRedoAfterLoss = 3;

/// Runs of which less was seen than this are run again, once.
inline constexpr double kLeastCoverage = 0.95;

/// The part of the kernel's own instructions that was counted; none where the kernel has none.
std::optional<double> coverage_of(std::uint64_t instructions,
                                  const std::optional<os::KernelTotals>& totals);

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

/// A strategy that works here, and what has to be told about its being taken.
struct Tried {
  std::unique_ptr<Strategy> strategy;
  bool counts_machine = false;  ///< everything that runs meanwhile, not the command alone
  std::vector<std::string> notes;
};

/// Tries strategies on a command whose total the kernel knows, the best first, and takes the first
/// that saw it whole. Refused where none does, or where the one asked for does not.
Result<Tried> try_strategies(StrategyChoice choice, std::chrono::nanoseconds period, Claim& claim,
                             const Kernel& kernel, Trace& trace, os::Launcher& launcher);

}  // namespace lauka::engine::kperf
