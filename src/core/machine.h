#pragma once

#include "core/choices.h"
#include "core/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

struct CoreKind {
  std::string name;
  std::vector<std::uint32_t> cpus;  ///< Linux: CPU numbers, ascending; macOS: empty
  std::string pmu{};  ///< Linux: name of the PMU that counts on exactly these CPUs; may be empty

  bool operator==(const CoreKind&) const = default;
};

/// A machine's core kinds, usually the fastest first; may be empty.
using CoreKinds = std::vector<CoreKind>;

enum class CorePreference : unsigned char { Any, Performance, Efficiency };

struct CorePlan {
  std::vector<std::string> timed_kinds{};  ///< names of the core kinds whose times are measured,
                                           ///< usually the fastest first
  /// Linux: CPUs to which commands are restricted; empty: no restriction.
  std::vector<std::uint32_t> command_cpus{};
  bool measures_unsplit_time = false;  ///< true if the session also measures kUnsplitTime
  /// True: times by core kind are measured only in counting runs.
  bool times_kinds_only_in_counting_runs = false;
  CorePreference prefer = CorePreference::Any;
  /// Smallest allowed fraction of a run's CPU time that is spent on the first core kind; nullopt:
  /// no limit.
  std::optional<double> min_share_on_first_kind{};
};

/// Returns the index of the counting pass that measures times by core kind. The pass follows all
/// other passes, and is never the first pass.
constexpr std::size_t core_time_pass(std::size_t other_passes) {
  return other_passes == 0 ? 1 : other_passes;
}

/// Returns "p_time" for "P".
std::string time_metric_name(const std::string& kind);
/// Returns "p_share" for "P".
std::string share_metric_name(const std::string& kind);
/// Name of the metric of CPU time on cores of unknown kind.
inline constexpr std::string_view kUnsplitTime = "unsplit_time";

/// True if `name` is kUnsplitTime, or the time or share of a core kind: P, E or a kind in `cores`.
bool is_core_kind_metric(std::string_view name, const CorePlan& cores);

/// Reads a list of CPU numbers below 65536 as Linux writes it ("0-3,8"; may be empty). Returns the
/// numbers in ascending order; nullopt if `text` is not such a list.
std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text);

/// Writes CPU numbers as Linux does: "0-3,8". `cpus` must be ascending.
std::string cpu_list_text(const std::vector<std::uint32_t>& cpus);

/// Returns the CPUs of `all` that are also in `others`. All lists are ascending.
std::vector<std::uint32_t> common_cpus(const std::vector<std::uint32_t>& others,
                                       const std::vector<std::uint32_t>& all);
/// Returns the CPUs of `all` that are not in `others`. All lists are ascending.
std::vector<std::uint32_t> cpus_not_in(const std::vector<std::uint32_t>& others,
                                       const std::vector<std::uint32_t>& all);

struct Allowance {
  std::vector<std::uint32_t> cpus{};
  std::optional<double> cpu_quota{};  ///< limit of CPU time, in seconds per second of wall time;
                                      ///< nullopt: no known limit
  std::optional<std::uint64_t> memory_limit{};  ///< limit in bytes; nullopt: no known limit

  bool operator==(const Allowance&) const = default;
};

/// The waiting of a control group for its CPU quota.
struct QuotaWait {
  std::uint64_t periods = 0;
  std::uint64_t throttled = 0;  ///< number of quota periods in which the group had to wait
  std::uint64_t waited_ns = 0;  ///< waiting time, summed over CPUs

  bool operator==(const QuotaWait&) const = default;
};

/// Returns the increase from `before` to `after` of the control group that waited longest between
/// them; nullopt if unknown. Both lists have the same control groups in the same order.
std::optional<QuotaWait> longest_quota_wait(const std::vector<QuotaWait>& before,
                                            const std::vector<QuotaWait>& after);

/// The machine of a session. A field is empty or 0 if unknown or not needed.
struct Machine {
  std::string name{};    ///< name of the host
  std::string system{};  ///< name of the kernel: "Linux"
  std::string os{};
  std::string kernel{};  ///< release of the kernel
  std::string architecture{};
  std::string cpu_model{};
  unsigned cpus = 0;  ///< number of logical CPUs
  std::string governor{};
  std::string hypervisor{};  ///< name of the hypervisor, or "unknown"; empty: none found
  std::string tuning{};      ///< --tune's settings: "cpus=1 governor=performance"; may be empty
  std::optional<Allowance> allowance{};
  /// What tells apart processors of the same name: "family 25, model 1, stepping 1"; on Arm
  /// "implementer 0x41, part 0xd0c, revision 1".
  std::string cpu_identity{};
  /// The processor's features by which libc chooses its functions, separated by blanks: "avx2
  /// erms".
  std::string cpu_features{};
  std::string microcode{};  ///< version of the processor's microcode: "0x2006a08"
};

/// The priority of lauka's process, which the commands inherit.
struct Priority {
  int nice = 0;
  std::string scheduling_policy{};  ///< name of the policy: "other", "batch", "fifo"

  bool operator==(const Priority&) const = default;
};

/// True if the allowance has fewer CPUs than the machine.
bool allows_only_some_cpus(const Machine& machine);

/// Returns an identifier of the class of machines that have comparable times: 16 hexadecimal digits
/// of a hash of properties that affect times.
std::string class_of(const Machine& machine);

struct CpuCountByName {
  std::string name;
  std::size_t number_of_cpus = 0;
};

struct SwitchFacts {
  bool on = false;
  std::string turn_off_command;
};

/// The state of the kernel's counting and tracing on macOS.
struct TracingFacts {
  bool readable = false;  ///< true if `thread_counting` could be read
  /// True if the kernel counts by thread, which slows every context switch.
  bool thread_counting = false;
  std::int64_t owner_pid = 0;  ///< id of a process that keeps lauka from tracing; 0 if none
  std::string owner_name{};
};

struct MachineFacts {
  Machine machine;
  bool is_linux = true;
  std::vector<CpuCountByName> core_kinds;

  std::optional<std::string> clock_source{};
  std::vector<std::string> good_clock_sources{};  ///< names of good clock sources that are
                                                  ///< available; may include `clock_source`
  std::chrono::nanoseconds clock_step{};

  std::vector<CpuCountByName> governors;
  std::string governor_driver{};
  std::optional<SwitchFacts> turbo{};
  std::optional<SwitchFacts> smt{};

  std::optional<double> load{};  ///< load average of the last minute
  std::optional<bool> on_battery{};
  std::optional<std::string> power_saving{};

  std::optional<std::string> hypervisor{};  ///< name of the hypervisor; empty: its name is unknown;
                                            ///< nullopt: no hypervisor was found
  bool hypervisor_is_certain = false;  ///< false: there may be a hypervisor although none was found
  std::optional<double> stolen_share{};  ///< fraction of CPU time since boot that the hypervisor
                                         ///< gave to other machines
  std::optional<std::string> container{};

  /// Reason why tree_peak_memory cannot be measured; an Error without text if it can be; nullopt:
  /// not checked.
  std::optional<Error> why_no_tree_peak{};
  /// Name of what --profile samples ("the CPU clock"), or the reason why it cannot sample; nullopt:
  /// not checked.
  std::optional<Result<std::string>> profile_source{};
  /// Names of --tune switches that may help; "+" before a name: only --tune=+NAME uses the switch.
  std::vector<std::string> helpful_switches{};
  std::optional<bool> aslr{};
  std::optional<TracingFacts> tracing{};
};

struct CounterFacts {
  std::string pmu;
  std::size_t listed_counter_count = 0;
  std::size_t free_counters = 0;
  std::size_t working_counters = 0;  ///< number of free counters that were seen to count
  bool watchdog = false;
};

struct EngineFacts {
  EngineChoice engine = EngineChoice::None;
  std::vector<std::string> default_event_names{};
  std::vector<std::string> notes{};
  std::optional<Error> why_unusable{};
  std::vector<CounterFacts> counters{};
};

struct TuneRequest {
  struct Choice {
    std::string name;
    bool on = true;
  };
  std::vector<Choice> choices{};
  std::vector<std::uint32_t> cpus{};
  bool compares = false;  ///< true: untuned runs are made for comparison
};

struct TunedSwitch {
  std::string name{};
  std::string before{};   ///< value before the session
  std::string during{};   ///< value during the session
  std::size_t files = 0;  ///< number of files that have the setting

  bool operator==(const TunedSwitch&) const = default;
};

struct UntunedSwitch {
  std::string name{};
  std::string why{};

  bool operator==(const UntunedSwitch&) const = default;
};

/// Readings of the state of a machine or some of its CPUs; nullopt if not reported by the system.
struct Vitals {
  std::optional<std::uint64_t> throttles{};
  std::optional<double> celsius{};              ///< temperature of the hottest thermal zone
  std::optional<std::uint64_t> stolen_ticks{};  ///< clock ticks since boot that the hypervisor gave
                                                ///< to other machines
  std::optional<std::uint64_t> ticks{};         ///< all clock ticks since boot

  bool operator==(const Vitals&) const = default;
};

/// The change from untuned to tuned runs as a fraction, and its confidence interval; nullopt if
/// undefined.
struct TunedChange {
  std::optional<double> change{};
  std::optional<double> low{};
  std::optional<double> high{};

  bool operator==(const TunedChange&) const = default;
};

/// How tuned runs of a command differ from untuned ones.
struct TunedComparison {
  std::string benchmark{};
  std::string command{};
  std::size_t tuned_runs = 0;
  std::size_t untuned_runs = 0;
  TunedChange stddev{};          ///< change of the standard deviation
  TunedChange interval_width{};  ///< change of the width of the delta's confidence interval;
                                 ///< without a delta, may be equal to stddev
  TunedChange mean{};            ///< change of the mean

  bool operator==(const TunedComparison&) const = default;
};

struct Tuning {
  std::vector<TunedSwitch> switched{};
  std::vector<UntunedSwitch> not_possible{};
  std::vector<std::uint32_t> cpus{};  ///< the commands' own CPUs; may be empty
  Vitals before{};                    ///< vitals before the runs
  Vitals after{};                     ///< vitals after the runs
  std::vector<TunedComparison> compare{};
};

/// Returns --tune's settings during the session: "cpus=1 governor=performance".
std::string settings_in_force(const Tuning& tuning);

}  // namespace lauka
