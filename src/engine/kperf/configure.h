#pragma once

#include "core/result.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/kpep.h"
#include "os/darwin_calls.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace lauka::engine::kperf {

/// The kernel's trace (kdebug). Functions that give an int give 0 or an errno. Source: XNU
/// bsd/kern/kdebug.c.
class Trace {
 public:
  explicit Trace(const os::DarwinCalls& calls) : calls_(calls) {}

  /// Makes a buffer for `records`, lets the ends, makings and samples of threads in, and switches
  /// recording on. What was there before is removed. Takes 200 ms in the kernel.
  int set_up(std::uint32_t records);

  /// Switches recording off and frees the buffer.
  int remove() const;

  using Reader = std::function<void(std::span<const KdebugRecord>)>;

  /// Whether so much is there that it is time to read; waits up to a millisecond for it. A record
  /// that is being written while others are read may be lost without a sign (its time is taken
  /// before its place), so it is read as seldom as can be.
  bool is_half_full() const;

  /// Hands on all records that are there. `wrapped` is set where the buffer wrapped since it was
  /// last read, so that records are lost; it is left alone otherwise.
  int read(bool& wrapped, const Reader& reader);

  /// The state; all zero where the kernel does not tell.
  KdebugInfo info() const;

 private:
  int let_in() const;
  int call(int operation, void* value, std::size_t* length) const;
  int call_with_value(int operation, int value) const;

  const os::DarwinCalls& calls_;
  std::vector<KdebugRecord> room_;
};

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
/// SIGKILL the next claim finds what is left and resets it. One claim holds at a time: another one
/// of this process gives back what it has first.
class Claim : NonCopyable {
 public:
  Claim(const Kernel& kernel, Trace& trace) : kernel_(kernel), trace_(trace) {}
  ~Claim();

  /// Takes all counters, and resets what a killed run left switched on.
  Result<void> take_counters();

  /// Takes the counters again if they were given back meanwhile; 0 or an errno.
  int hold();
  bool is_held() const { return has_counters_; }

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
