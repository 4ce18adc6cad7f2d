#pragma once

#include "core/result.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/kpep.h"
#include "engine/kperf/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lauka::engine::kperf {

/// The configurable counters that can be used, given how many the kernel says there are once all
/// are forced: all of `configurable`, or those that the power manager does not hold. None where the
/// number fits neither.
std::optional<CounterMask> usable_counters(CounterMask configurable, CounterMask power,
                                           std::uint32_t count);

/// How threads' counters get into the trace.
struct Sampling {
  bool at_exit = true;                       ///< of each thread as it ends
  std::optional<std::uint64_t> period_ns{};  ///< and of running threads, about once per period
  std::uint32_t records = 0;                 ///< of the trace's buffer
};

/// All that counting takes of the system: the counters, their words, sampling and the trace. It is
/// given back when this is destroyed, at exit(), and when a signal ends lauka at once; after
/// SIGKILL the next claim finds what is left and resets it. There is one claim at a time.
class Claim : NonCopyable {
 public:
  Claim(const Kernel& kernel, Trace& trace) : kernel_(kernel), trace_(trace) {}
  ~Claim();

  /// Takes all counters, and resets what a killed run left switched on.
  Result<void> take_counters();

  /// Whether a killed run had left something switched on.
  bool had_leftovers() const { return had_leftovers_; }

  /// Has `words` counted on the configurable counters (none: only the fixed ones count), for
  /// threads that are born from now on, or with `by_thread` off by CPU only. 0 or an errno.
  int program(std::span<const std::uint64_t> words, bool by_thread);

  /// Whether the kernel and the processor take these words: 0, EPERM where not, or another errno.
  /// They are found out to be refused when set, when counting begins, or by reading them back.
  int try_words(std::span<const std::uint64_t> words);

  /// Whether the kernel still counts what was programmed: nobody else changed it.
  bool is_as_programmed() const;

  /// Values of a sample.
  std::size_t values() const { return values_; }

  /// 0 or an errno. Called again, it starts anew.
  int start_sampling(const Sampling& sampling);

  /// Ends what start_sampling began; without it, nothing.
  void end_sampling();

  /// Counts and samples nothing until it is programmed and started anew; the counters stay taken.
  void pause();

  void give_back();

 private:
  int set_words(std::span<const std::uint64_t> words);
  bool has_words() const;
  int begin_sampling(const Sampling& sampling);
  int stop_sampling() const;

  const Kernel& kernel_;
  Trace& trace_;
  bool has_counters_ = false;
  bool has_tracing_ = false;
  bool had_leftovers_ = false;
  bool by_thread_ = false;
  std::uint32_t classes_ = 0;
  std::size_t values_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace lauka::engine::kperf
