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

// Layouts and numbers of kpc, kperf, kdebug and ktrace, which no SDK has. Sources: XNU
// osfmk/kern/kpc.h, osfmk/kperf/{action,buffer,kptimer}.h, bsd/sys/{kdebug,kdebug_private}.h.

namespace lauka::engine::kperf {

/// Bits for the classes of counters.
inline constexpr std::uint32_t kFixedClass = 1;
inline constexpr std::uint32_t kConfigurableClass = 2;
inline constexpr std::uint32_t kBothClasses = kFixedClass | kConfigurableClass;
/// The argument of kpc.counters that reads the counters of all CPUs.
inline constexpr std::uint64_t kAllCpus = 0x80000000;

/// Positions and numbers of values: cycles, instructions, then configurable counters.
inline constexpr std::size_t kInstructionsValue = 1;
inline constexpr std::size_t kFixedCounters = 2;
inline constexpr std::size_t kConfigurableCounters = 8;
inline constexpr std::size_t kMaxUserCounters =
    32;  ///< KPC_MAX_COUNTERS in the headers for programs

/// Bits of a configuration word: the event's selector, and its privilege levels (0: all levels).
inline constexpr std::uint64_t kSelectorBits = 0xffff;
inline constexpr std::uint64_t kUserSpaceOnly = 0x20000;

/// The bit of kperf.action.samplers that samples a thread's counters.
inline constexpr std::uint32_t kSampleThreadCounters = 1U << 4U;

/// The shortest period of a PET timer in nanoseconds; shorter periods are raised to it
/// (kperf.limits.timer_min_pet_period_ns).
inline constexpr std::uint64_t kMinPetPeriodNs = 1'000'000;

/// A record of the trace (kd_buf).
struct KdebugRecord {
  std::uint64_t timestamp = 0;  ///< time in mach units
  std::array<std::uint64_t, 4> arguments{};
  std::uint64_t thread = 0;   ///< unique id of the thread that wrote the record
  std::uint32_t debugid = 0;  ///< class, subclass and code of the event; kStart or kEnd
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
  std::uint32_t capacity = 0;  ///< number of records
  std::uint32_t nolog = 0;     ///< 1: the trace does not record
  std::uint32_t flags = 0;
  std::uint32_t threads = 0;
  std::int32_t owner = -1;  ///< id of the process that holds the trace; -1: none
};
static_assert(sizeof(KdebugInfo) == 20);

/// Bits of KdebugInfo::flags.
inline constexpr std::uint32_t kKdebugWrapped = 0x8;
// must be set, so that coprocessors give no records and do not get the filter
inline constexpr std::uint32_t kKdebugNoCoprocessors = 0x400;
inline constexpr std::uint32_t kKdebugValueCheck =
    0x200000;  ///< records only debugids of the filter; also used in KdebugFilter::type
inline constexpr std::uint32_t kKdebugReady = 0x80000000;

/// The argument of kKdSetReg (kd_regtype): up to four debugids, without kStart and kEnd.
struct KdebugFilter {
  std::uint32_t type = 0;
  std::array<std::uint32_t, 4> values{};
};
static_assert(sizeof(KdebugFilter) == 20);

/// The size of kKdSetTypefilter's argument: a bit for each class and subclass of records. The
/// kernel always adds class 7, the records about threads.
inline constexpr std::size_t kTypefilterBytes = 8192;

/// Bits of a debugid.
inline constexpr std::uint32_t kStart = 1;
inline constexpr std::uint32_t kEnd = 2;

inline constexpr std::uint32_t kNewThread = 0x07000004;
inline constexpr std::uint32_t kExec = 0x07000008;
inline constexpr std::uint32_t kThreadTerminatePid = 0x07000010;
inline constexpr std::uint32_t kLostEvents = 0x07020008;
inline constexpr std::uint32_t kThreadCountersData = 0x25060020;

/// An element of kperf.kdebug.filter: records that trigger an action. `codes` has four bits for
/// each debugid that follows, low nibble first.
struct KdebugTrigger {
  std::array<std::uint8_t, 16> codes{};
  std::uint32_t debugid = 0;
};
static_assert(sizeof(KdebugTrigger) == 20);
/// The code that matches a debugid without kStart and kEnd.
inline constexpr std::uint8_t kMatchEvent = 4;

/// The functions of Apple's private kperf.framework that lauka uses, with the framework's names.
/// Setters return 0, or -1 with errno. Configuration words and values of all CPUs are read by
/// sysctl instead, because the framework hides how many the kernel returned.
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

/// The kernel's counters (kpc) and their sampling (kperf). Uses Apple's framework if it is
/// complete, else the sysctls that the framework wraps. Timers and triggers are always set by
/// sysctl, because the framework's argument names are misleading. Functions that return int return
/// 0 or an errno. Source: XNU osfmk/kern/kern_kpc.c, osfmk/kperf/kperfbsd.c.
class Kernel {
 public:
  explicit Kernel(const os::DarwinCalls& calls);

  /// Returns the missing function of the framework ("kpc_set_config"), or "kperf.framework";
  /// nullopt if the framework is complete.
  const std::optional<std::string>& missing() const { return missing_; }

  // kpc
  bool has_counters() const;  ///< false if the kernel has none, as in a virtual machine
  int force_all_counters(bool on) const;
  std::uint32_t counter_count(std::uint32_t classes) const;  ///< 0: unknown
  int set_words(std::span<const std::uint64_t> words) const;
  int get_words(std::vector<std::uint64_t>& words) const;
  int set_counting(std::uint32_t classes) const;
  int set_thread_counting(std::uint32_t classes) const;
  std::uint32_t counting() const;
  std::uint32_t thread_counting() const;
  /// Reads the counters of both classes of all CPUs, CPU after CPU; offline CPUs have no values.
  int machine_counters(std::size_t cpus, std::vector<std::uint64_t>& values) const;

  // kperf: actions are numbered from 1
  /// Raises the kernel's count `name` to at least 1. Counts of actions and timers never shrink
  /// until a restart, so larger counts from another tool are kept.
  int set_count(const char* name) const;
  int set_action(std::uint32_t action,
                 std::uint32_t samplers) const;  ///< for all processes
  int set_sampling(bool on) const;
  int reset_sampling() const;
  /// Samples each thread that runs on a CPU with `action`, once per period.
  int start_pet(std::uint64_t period_ns, std::uint32_t action) const;
  /// Samples each thread that ends with `action`, just after the trace's record of its end.
  int trigger_at_thread_end(std::uint32_t action) const;

  // facts
  std::optional<std::uint32_t> number(const char* name) const;  ///< nullopt: unknown
  std::string text(const char* name) const;
  /// Returns the process that holds the kernel's tracing: "Instruments (process 77)". Empty if
  /// tracing is free, which includes a holder that has ended (the kernel keeps its id) or runs in
  /// the background and gives way.
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

enum class KernelRequest : unsigned char {
  Force,  ///< all counters
  Count,  ///< words and counting (kpc)
  Trace,  ///< sampling and tracing (kperf, kdebug)
};

/// Explains why the kernel refused a request with `error`, and what to do.
Error explain_refusal(KernelRequest asked, int error, const Kernel& kernel);

/// The kernel's trace (kdebug). Functions that return int return 0 or an errno. Source: XNU
/// bsd/kern/kdebug.c.
class Trace {
 public:
  explicit Trace(const os::DarwinCalls& calls) : calls_(calls) {}

  /// Removes an older trace, allocates a buffer for `records` records, selects records of threads'
  /// creation, ends and samples and of exec (perhaps more), and starts recording. Takes 200 ms in
  /// the kernel.
  int set_up(std::uint32_t records);

  /// Stops recording and frees the buffer.
  int remove() const;

  /// Receives records of the trace, in the order written.
  using Reader = std::function<void(std::span<const KdebugRecord>)>;

  /// True if the trace is half full, so that it must be read; waits for that up to a millisecond.
  /// True, too, if the kernel refuses to tell.
  /// Reading rarely matters: a record written during a read may be lost unnoticed (it gets its time
  /// before its place).
  bool is_half_full() const;

  /// Passes all available records to `reader`. Sets `wrapped` if the buffer wrapped, so that
  /// records are lost.
  int read(bool& wrapped, const Reader& reader);

  /// Returns the state of the trace; KdebugInfo's defaults if the kernel does not report it.
  KdebugInfo info() const;

 private:
  int let_in() const;
  int call(int operation, void* value, std::size_t* length) const;
  int call_with_value(int operation, int value) const;

  const os::DarwinCalls& calls_;
  std::vector<KdebugRecord> room_;
};

/// Returns the configurable counters that can be used. `count` is their number as the kernel
/// reports it once all are forced: either all, or those outside `power` (0: those that M4 and M5
/// hold back). nullopt if it is neither.
std::optional<CounterMask> usable_counters(CounterMask configurable, CounterMask power,
                                           std::uint32_t count);

/// The times at which threads' counters are written to the trace.
struct Sampling {
  bool at_exit = true;                       ///< samples each thread as it ends
  std::optional<std::uint64_t> period_ns{};  ///< nanoseconds between samples of running threads;
                                             ///< nullopt: running threads are not sampled
  std::uint32_t records = 0;                 ///< size of the trace's buffer, in records
};

/// Owns what counting takes from the system: counters, configuration words, sampling and the trace.
/// Releases it all when destroyed, at exit(), and if a signal ends lauka at once; after SIGKILL,
/// the next claim cleans up. Only one claim of a process holds the counters: another claim that
/// takes them makes this one release them first.
class Claim : NonCopyable {
 public:
  Claim(const Kernel& kernel, Trace& trace) : kernel_(kernel), trace_(trace) {}
  ~Claim();

  /// Takes all counters, and resets what a killed run left switched on.
  Result<void> take_counters();

  /// Takes the counters unless this claim has them, also from another claim of this process.
  /// Returns 0 or an errno.
  int hold();
  bool is_held() const { return has_counters_; }

  /// True if counting was on when the counters were taken, as a killed run leaves it.
  bool had_leftovers() const { return had_leftovers_; }

  /// Programs the configurable counters with `words` (empty: only fixed counters count).
  /// `by_thread`: counts in threads that start from now on; false: by CPU only. Returns 0 or an
  /// errno: EAGAIN if the kernel then does not count what was asked for.
  int program(std::span<const std::uint64_t> words, bool by_thread);

  /// Tries configuration words, and leaves counting off. Returns 0 if kernel and processor accept
  /// them, EPERM if not, or another errno.
  int try_words(std::span<const std::uint64_t> words);

  /// True if the kernel still counts what program() asked for, because no other program changed it.
  bool is_as_programmed() const;

  /// Returns the number of values in a sample; 0 before program().
  std::size_t values() const { return values_; }

  /// Starts or restarts sampling. Returns 0 or an errno.
  int start_sampling(const Sampling& sampling);

  void end_sampling();

  /// Stops counting and sampling until program() and start_sampling(). Keeps the counters.
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
