#pragma once

#include "core/result.h"
#include "engine/kperf/kpep.h"
#include "os/darwin_calls.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Layouts and numbers of kpc, kperf, kdebug and ktrace that no SDK has. Sources: XNU
// osfmk/kern/kpc.h, osfmk/kperf/{action,buffer,kptimer}.h, bsd/sys/{kdebug,kdebug_private}.h.

namespace lauka::engine::kperf {

/// Classes of counters, as bits.
inline constexpr std::uint32_t kFixedClass = 1;
inline constexpr std::uint32_t kConfigurableClass = 2;
inline constexpr std::uint32_t kBothClasses = kFixedClass | kConfigurableClass;
/// kpc.counters: the values of all CPUs.
inline constexpr std::uint64_t kAllCpus = 0x80000000;

/// Values come class by class: cycles, instructions, then the configurable ones.
inline constexpr std::size_t kInstructionsValue = 1;
inline constexpr std::size_t kFixedCounters = 2;
inline constexpr std::size_t kConfigurableCounters = 8;
inline constexpr std::size_t kMaxUserCounters = 32;  ///< KPC_MAX_COUNTERS of the user's headers

/// Bits of a configuration word: the selector, and the privilege levels (no bit: all).
inline constexpr std::uint64_t kSelectorBits = 0xffff;
inline constexpr std::uint64_t kUserSpaceOnly = 0x20000;

/// kperf.action.samplers.
inline constexpr std::uint32_t kSampleThreadCounters = 1U << 4U;

/// Shorter periods of a PET timer are raised to this (kperf.limits.timer_min_pet_period_ns).
inline constexpr std::uint64_t kMinPetPeriodNs = 1'000'000;

/// A record of the trace (kd_buf). `thread`: unique id of the thread that wrote it.
struct KdebugRecord {
  std::uint64_t timestamp = 0;  ///< mach units
  std::array<std::uint64_t, 4> arguments{};
  std::uint64_t thread = 0;
  std::uint32_t debugid = 0;
  std::uint32_t cpu = 0;
  std::uint64_t unused = 0;
};
static_assert(sizeof(KdebugRecord) == 64);
static_assert(offsetof(KdebugRecord, arguments) == 8);
static_assert(offsetof(KdebugRecord, thread) == 40);
static_assert(offsetof(KdebugRecord, debugid) == 48);
static_assert(offsetof(KdebugRecord, cpu) == 52);

/// The state of the trace (kbufinfo_t).
struct KdebugInfo {
  std::uint32_t capacity = 0;  ///< records
  std::uint32_t nolog = 0;     ///< 1: not recording
  std::uint32_t flags = 0;
  std::uint32_t threads = 0;
  std::int32_t owner = -1;  ///< pid
};
static_assert(sizeof(KdebugInfo) == 20);

/// KdebugInfo::flags.
inline constexpr std::uint32_t kKdebugWrapped = 0x8;
// Must be set: then coprocessors neither give records nor learn the filter.
inline constexpr std::uint32_t kKdebugNoCoprocessors = 0x400;
inline constexpr std::uint32_t kKdebugValueCheck =
    0x200000;  ///< value check; the same as KdebugFilter::type
inline constexpr std::uint32_t kKdebugReady = 0x80000000;

/// kKdSetReg (kd_regtype): up to four debugids without START and END.
struct KdebugFilter {
  std::uint32_t type = 0;
  std::array<std::uint32_t, 4> values{};
};
static_assert(sizeof(KdebugFilter) == 20);

/// kKdSetTypefilter: a bit for each class and subclass of records. The kernel adds class 7, the
/// threads' records.
inline constexpr std::size_t kTypefilterBytes = 8192;

/// Function bits of a debugid.
inline constexpr std::uint32_t kStart = 1;
inline constexpr std::uint32_t kEnd = 2;

inline constexpr std::uint32_t kNewThread = 0x07000004;
inline constexpr std::uint32_t kExec = 0x07000008;
inline constexpr std::uint32_t kThreadTerminatePid = 0x07000010;
inline constexpr std::uint32_t kLostEvents = 0x07020008;
inline constexpr std::uint32_t kThreadCountersData = 0x25060020;

/// kperf.kdebug.filter: the triggers of an action. `codes` has four bits for each debugid that
/// follows, low nibble first.
struct KdebugTrigger {
  std::array<std::uint8_t, 16> codes{};
  std::uint32_t debugid = 0;
};
static_assert(sizeof(KdebugTrigger) == 20);
/// The code that matches an event without its START and END.
inline constexpr std::uint8_t kMatchEvent = 4;

/// The part of Apple's private kperf.framework that lauka uses, under the framework's own names.
/// Setters return 0, or -1 with errno. Words and values of all CPUs are read by sysctl instead, as
/// the framework hides how many the kernel returned.
struct KperfCalls {
  int (*kpc_force_all_ctrs_set)(int on);
  int (*kpc_set_counting)(std::uint32_t classes);
  std::uint32_t (*kpc_get_counting)();
  int (*kpc_set_thread_counting)(std::uint32_t classes);
  std::uint32_t (*kpc_get_thread_counting)();
  std::uint32_t (*kpc_get_counter_count)(std::uint32_t classes);
  int (*kpc_set_config)(std::uint32_t classes, std::uint64_t* words);
  int (*kperf_action_samplers_set)(std::uint32_t action, std::uint32_t samplers);
  int (*kperf_action_filter_set_by_pid)(std::uint32_t action, std::int32_t pid);
  int (*kperf_sample_set)(std::uint32_t on);
  int (*kperf_reset)();
};

/// The kernel's counters (kpc) and its sampling of them (kperf): through Apple's framework if all
/// of it is there, else by the sysctls that it wraps. Timers and triggers always go by sysctl,
/// since the framework's names for their arguments are misleading. Functions that return an int
/// return 0 or an errno. Source: XNU osfmk/kern/kern_kpc.c, osfmk/kperf/kperfbsd.c.
class Kernel {
 public:
  explicit Kernel(const os::DarwinCalls& calls);

  /// Returns the missing part of the framework ("kpc_set_config", or "kperf.framework"), if any.
  const std::optional<std::string>& missing() const { return missing_; }

  // kpc
  bool has_counters() const;  ///< false in a virtual machine
  int force_all_counters(bool on) const;
  std::uint32_t counter_count(std::uint32_t classes) const;  ///< 0: unknown
  int set_words(std::span<const std::uint64_t> words) const;
  int get_words(std::vector<std::uint64_t>& words) const;
  int set_counting(std::uint32_t classes) const;
  int set_thread_counting(std::uint32_t classes) const;
  std::uint32_t counting() const;
  std::uint32_t thread_counting() const;
  /// Reads the counters of both classes, CPU by CPU: fewer values if a CPU is switched off.
  int machine_counters(std::size_t cpus, std::vector<std::uint64_t>& values) const;

  // kperf: actions are numbered from 1
  /// Ensures that the count `name` is at least 1. The kernel's counts of actions and timers never
  /// shrink before a restart: larger ones, from an earlier tool, are kept.
  int set_count(const char* name) const;
  int set_action(std::uint32_t action,
                 std::uint32_t samplers) const;  ///< configures an action for all processes
  int set_sampling(bool on) const;
  int reset_sampling() const;
  /// Samples each thread that comes on a CPU by `action`, once per period.
  int start_pet(std::uint64_t period_ns, std::uint32_t action) const;
  /// Takes `action` on each thread that ends, just after the trace's record of its end.
  int trigger_at_thread_end(std::uint32_t action) const;

  // facts
  std::optional<std::uint32_t> number(const char* name) const;  ///< nullopt: no such sysctl
  std::string text(const char* name) const;
  /// Returns the holder of the kernel's tracing, "Instruments (process 77)"; empty if it is free.
  /// It is free, too, if its owner has ended, whose pid stays, or is in the background and gives
  /// way.
  std::string owner_of_tracing() const;

  template <typename T>
  int set(const char* name, const T& value) const;

 private:
  template <typename T>
  int get(const char* name, T& value) const;

  const os::DarwinCalls& calls_;
  std::optional<KperfCalls> framework_;
  std::optional<std::string> missing_;
};

/// The request that the kernel refused.
enum class Asked : unsigned char {
  Force,  ///< all counters for lauka
  Count,  ///< kpc: words, counting
  Trace,  ///< kperf and kdebug
};

/// Explains why the kernel refused with `error`, and the way out.
Error explain_refusal(Asked asked, int error, const Kernel& kernel);

/// The kernel's trace (kdebug). Functions that return an int return 0 or an errno. Source: XNU
/// bsd/kern/kdebug.c.
class Trace {
 public:
  explicit Trace(const os::DarwinCalls& calls) : calls_(calls) {}

  /// Removes an older set-up, makes a buffer for `records`, admits records of threads' ends,
  /// creation and samples, and switches recording on. Takes 200 ms in the kernel.
  int set_up(std::uint32_t records);

  /// Switches recording off and frees the buffer.
  int remove() const;

  using Reader = std::function<void(std::span<const KdebugRecord>)>;

  /// True if the trace is half full and must be read; waits up to a millisecond for that. Reads are
  /// kept rare: a record that is written during one may be lost without a sign (its time is taken
  /// before its place).
  bool is_half_full() const;

  /// Passes on all present records. Sets `wrapped` if the buffer wrapped, so that some are lost.
  int read(bool& wrapped, const Reader& reader);

  /// Returns the state; all zero if the kernel does not report it.
  KdebugInfo info() const;

 private:
  int let_in() const;
  int call(int operation, void* value, std::size_t* length) const;
  int call_with_value(int operation, int value) const;

  const os::DarwinCalls& calls_;
  std::vector<KdebugRecord> room_;
};

/// Returns the usable configurable counters, by the kernel's number `count` once all are forced:
/// all, or those that the power manager does not hold; nullopt if the number fits neither.
std::optional<CounterMask> usable_counters(CounterMask configurable, CounterMask power,
                                           std::uint32_t count);

/// The way in which threads' counters get into the trace.
struct Sampling {
  bool at_exit = true;  ///< true: each thread's counters are sampled as it ends
  std::optional<std::uint64_t>
      period_ns{};  ///< time between two samples of running threads; nullopt: no such samples
  std::uint32_t records = 0;  ///< records that the trace's buffer holds
};

/// Holds all that counting takes of the system: the counters, their words, sampling and the trace.
/// Gives it back when destroyed, at exit(), and when a signal ends lauka at once; after SIGKILL the
/// next claim resets what is left. One claim of a process holds at a time: a new one makes the
/// other give back first.
class Claim : NonCopyable {
 public:
  Claim(const Kernel& kernel, Trace& trace) : kernel_(kernel), trace_(trace) {}
  ~Claim();

  /// Takes all counters, and resets those that a killed run left switched on.
  Result<void> take_counters();

  /// Takes the counters again if they were given back meanwhile; returns 0 or an errno.
  int hold();
  bool is_held() const { return has_counters_; }

  /// True if a killed run had left something switched on.
  bool had_leftovers() const { return had_leftovers_; }

  /// Programs `words` on the configurable counters (empty: only the fixed ones count), for threads
  /// born from now on, or with `by_thread` off by CPU only. Returns 0 or an errno.
  int program(std::span<const std::uint64_t> words, bool by_thread);

  /// Returns 0 if the kernel and the processor take these words, EPERM if not, or another errno.
  int try_words(std::span<const std::uint64_t> words);

  /// True if the kernel still counts the programmed events: no other program changed them.
  bool is_as_programmed() const;

  /// Returns the number of values of a sample.
  std::size_t values() const { return values_; }

  /// Starts it, or starts it again; returns 0 or an errno.
  int start_sampling(const Sampling& sampling);

  void end_sampling();

  /// Counts and samples nothing until it is programmed and started again; the counters stay taken.
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
