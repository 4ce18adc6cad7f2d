#pragma once

#include "core/result.h"
#include "engine/kperf/kpep.h"
#include "os/darwin_calls.h"
#include "os/mac_queries.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Layouts and numbers of the kernel's interfaces kpc, kperf and kdebug. Sources: XNU
// osfmk/kern/kpc.h, osfmk/kperf/{action,buffer,kptimer}.h, bsd/sys/{kdebug,kdebug_private}.h.

namespace lauka::engine::kperf {

inline constexpr std::uint32_t kFixedClass = 1;
inline constexpr std::uint32_t kConfigurableClass = 2;
inline constexpr std::uint32_t kBothClasses = kFixedClass | kConfigurableClass;
inline constexpr std::uint64_t kAllCpus = 0x80000000;

/// Index of the instruction count among the values of a sample.
inline constexpr std::size_t kInstructionsIndex = 1;
inline constexpr std::size_t kFixedCounterCount = 2;
inline constexpr std::size_t kConfigurableCounterCount = 8;
inline constexpr std::size_t kMaxCountersPerCpu = 32;

inline constexpr std::uint64_t kSelectorBits = 0xffff;
inline constexpr std::uint64_t kUserSpaceOnly = 0x20000;

inline constexpr std::uint32_t kSampleThreadCounters = 1U << 4U;

/// Shortest period, in nanoseconds, with which the kernel samples running threads. Source: XNU
/// osfmk/kperf/kptimer.c.
inline constexpr std::uint64_t kMinPetPeriodNs = 1'000'000;

/// A record of the kernel's trace (XNU's kd_buf).
struct KdebugRecord {
  std::uint64_t timestamp = 0;
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

/// The state of the kernel's trace (XNU's kbufinfo_t).
struct KdebugInfo {
  std::uint32_t capacity = 0;
  std::uint32_t nolog = 0;
  std::uint32_t flags = 0;
  std::uint32_t threads = 0;
  std::int32_t owner = -1;
};
static_assert(sizeof(KdebugInfo) == 20);

inline constexpr std::uint32_t kKdebugWrapped = 0x8;
inline constexpr std::uint32_t kKdebugNoCoprocessors = 0x400;
inline constexpr std::uint32_t kKdebugValueCheck = 0x200000;
inline constexpr std::uint32_t kKdebugReady = 0x80000000;

/// The argument of os::kKdSetReg (XNU's kd_regtype). `values` are debugids without the bits
/// kFunctionStart and kFunctionEnd.
struct KdebugFilter {
  std::uint32_t type = 0;
  std::array<std::uint32_t, 4> values{};
};
static_assert(sizeof(KdebugFilter) == 20);

inline constexpr std::size_t kTypefilterBytes = 8192;

inline constexpr std::uint32_t kFunctionStart = 1;
inline constexpr std::uint32_t kFunctionEnd = 2;

inline constexpr std::uint32_t kNewThreadDebugid = 0x07000004;
inline constexpr std::uint32_t kExecDebugid = 0x07000008;
inline constexpr std::uint32_t kThreadTerminateDebugid = 0x07000010;
inline constexpr std::uint32_t kLostEventsDebugid = 0x07020008;
inline constexpr std::uint32_t kThreadCountersDebugid = 0x25060020;

/// The value of the sysctl kperf.kdebug.filter: records with `debugid` trigger an action.
struct KdebugTrigger {
  std::array<std::uint8_t, 16> codes{};
  std::uint32_t debugid = 0;
};
static_assert(sizeof(KdebugTrigger) == 20);
inline constexpr std::uint8_t kMatchEvent = 4;

/// The functions of Apple's private kperf.framework that lauka uses, with the framework's names.
/// Functions that return int return 0, or -1 with errno.
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

/// The kernel's counters (kpc) and their sampling (kperf). Functions that return int return 0 or an
/// errno. Source: XNU osfmk/kern/kern_kpc.c, osfmk/kperf/kperfbsd.c.
class Kernel {
 public:
  explicit Kernel(const os::DarwinCalls& calls);

  /// Returns the name of a function that kperf.framework lacks, or "kperf.framework" if the
  /// framework cannot be loaded. Sysctls are used instead of the framework then. Returns nullopt if
  /// nothing is missing.
  const std::optional<std::string>& missing_function() const { return missing_part_; }

  /// False if the kernel reports that there are no hardware counters, as in a virtual machine.
  bool has_counters() const;
  int force_all_counters(bool on) const;
  /// Returns the number of counters of `classes`; 0 if the kernel does not report it.
  std::uint32_t counter_count(std::uint32_t classes) const;
  int set_configuration_words(std::span<const std::uint64_t> words) const;
  int read_configuration_words(std::vector<std::uint64_t>& words) const;
  int set_counting(std::uint32_t classes) const;
  int set_thread_counting(std::uint32_t classes) const;
  std::uint32_t counting_classes() const;
  std::uint32_t thread_counting_classes() const;
  /// Reads the fixed and configurable counters of all CPUs that are online, CPU after CPU. `cpus`:
  /// largest number of CPUs.
  int machine_counters(std::size_t cpus, std::vector<std::uint64_t>& values) const;

  /// Makes the sysctl `name`, a number of actions or timers, at least 1.
  int raise_to_one(const char* name) const;
  int set_action(std::uint32_t action, std::uint32_t samplers) const;
  int set_sampling(bool on) const;
  int reset_sampling() const;
  /// Sets up a timer that runs `action` on the running threads once per period, while sampling is
  /// on.
  int sample_running_threads(std::uint64_t period_ns, std::uint32_t action) const;
  /// Makes the kernel run `action` on each ending thread, after the record kThreadTerminateDebugid
  /// of the thread.
  int trigger_at_thread_end(std::uint32_t action) const;

  std::optional<std::uint32_t> read_sysctl_number(const char* name) const;
  std::string read_sysctl_text(const char* name) const {
    return os::sysctl_text(calls_, name).value_or("");
  }
  /// Names the process that holds the kernel's tracing in the foreground, as "Instruments (process
  /// 77)"; empty if no such process is known.
  std::string owner_of_tracing() const;

  template <typename T>
  int set(const char* name, const T& value) const;

 private:
  template <typename T>
  int get(const char* name, T& value) const;
  int get_words(const char* name, std::uint64_t request, std::size_t most,
                std::vector<std::uint64_t>& words) const;

  const os::DarwinCalls& calls_;
  std::optional<KperfCalls> framework_;
  std::optional<std::string> missing_part_;
};

enum class KernelRequest : unsigned char { TakeCounters, Count, Trace };

/// Explains why the kernel refused a request with the errno `error`.
Error explain_refusal(KernelRequest request, int error, const Kernel& kernel);

/// The kernel's trace (kdebug). Functions that return int return 0 or an errno. Source: XNU
/// bsd/kern/kdebug.c.
class Trace {
 public:
  explicit Trace(const os::DarwinCalls& calls) : calls_(calls) {}

  /// Starts a trace with a buffer for `records` records, after removing an older trace.
  int set_up(std::uint32_t records);

  int remove() const;

  using RecordSink = std::function<void(std::span<const KdebugRecord>)>;

  /// True if the trace is at least half full, or if the kernel does not report this. Waits up to a
  /// millisecond until the trace is half full.
  bool is_half_full() const;

  /// Passes the records in the trace to `reader`, in order of time. Sets `wrapped` to true if the
  /// kernel overwrote records because the buffer was full; else leaves `wrapped` unchanged. May
  /// miss the newest records.
  int read(bool& wrapped, const RecordSink& reader);

  /// Returns the state of the trace; default values if the kernel does not report it.
  KdebugInfo info() const;

 private:
  int set_record_filter() const;
  int call(int operation, void* value, std::size_t* length) const;
  int call_with_value(int operation, int value) const;

  const os::DarwinCalls& calls_;
  std::vector<KdebugRecord> buffer_;
};

/// Returns the counters that can be used if the kernel has `count` configurable counters: all of
/// `configurable`, or `configurable` without `power`. nullopt if neither set has `count` counters.
/// `power`: the power manager's counters; 0: the power manager's counters in M4 and M5.
std::optional<CounterMask> usable_counters(CounterMask configurable, CounterMask power,
                                           std::uint32_t count);

struct Sampling {
  bool samples_ending_threads = true;
  std::optional<std::uint64_t> period_ns{};  ///< nanoseconds between samples of running threads;
                                             ///< nullopt: running threads are not sampled
  std::uint32_t trace_records = 0;
};

/// Owns what counting takes from the system: counters, sampling and the trace. Releases everything
/// when destroyed. After take_counters(), a claim that holds the counters also releases everything
/// at exit() and in the final action (os::set_forced_end_action). Only one claim of a process can
/// hold the counters: a claim that takes the counters makes the other claim release everything.
class Claim : NonCopyable {
 public:
  Claim(const Kernel& kernel, Trace& trace) : kernel_(kernel), trace_(trace) {}
  ~Claim() { give_back(); }

  /// Takes all counters, and switches off any counting and sampling.
  Result<void> take_counters();

  /// Takes the counters if this claim does not hold them, even from another claim of this process.
  /// Returns 0 or an errno.
  int ensure_held();
  bool is_held() const { return has_counters_; }

  /// True if take_counters() found counting switched on, perhaps by a killed process.
  bool had_leftovers() const { return had_leftovers_; }

  /// Starts counting with the configuration words `words` (empty: only fixed counters count).
  /// `by_thread`: true if the counts of each thread are needed, too. Returns 0 or an errno; EAGAIN
  /// if the kernel does not count as requested afterwards.
  int program(std::span<const std::uint64_t> words, bool by_thread);

  /// Tries configuration words, and leaves counting off. Returns 0 if the words took effect, EPERM
  /// if the words did not take effect, or another errno.
  int try_words(std::span<const std::uint64_t> words);

  /// True if the kernel still counts as program() requested.
  bool is_as_programmed() const;

  /// Returns the number of values in a sample; 0 before program().
  std::size_t values_per_sample() const { return values_; }

  /// Starts or restarts sampling. Returns 0 or an errno.
  int start_sampling(const Sampling& sampling);

  void end_sampling() {
    if (has_tracing_) stop_sampling();
    has_tracing_ = false;
  }

  /// Stops counting and sampling. Keeps the counters.
  void pause();

  void give_back();

 private:
  int set_words(std::span<const std::uint64_t> words);
  bool kernel_keeps_words() const;
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
