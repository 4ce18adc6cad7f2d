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
  std::vector<std::uint32_t> cpus;  ///< Linux: CPU numbers, ascending
  std::string pmu{};  ///< Linux: the PMU that counts on exactly these cores; may be empty

  bool operator==(const CoreKind&) const = default;
};

/// A machine's core kinds, the fastest first; may be empty.
using CoreKinds = std::vector<CoreKind>;

enum class CorePreference : unsigned char { Any, Performance, Efficiency };

struct CorePlan {
  std::vector<std::string>
      timed{};  ///< names of the core kinds whose times are measured, the fastest first
  std::vector<std::uint32_t> cpus{};  ///< Linux: the only CPUs on which commands run; empty: any
  bool has_unsplit = false;           ///< true if the session also measures kUnsplitTime
  bool in_counting_runs = false;  ///< true: times by core kind are measured only in counting runs
  CorePreference prefer = CorePreference::Any;
  std::optional<double> min_share{};  ///< smallest fraction of a run's CPU time on the fastest core
                                      ///< kind; nullopt: no limit
};

/// Returns the index of the counting pass that measures times by core kind. At least one other pass
/// precedes it.
constexpr std::size_t core_time_pass(std::size_t other_passes) {
  return other_passes == 0 ? 1 : other_passes;
}

/// Returns "p_time" for "P".
std::string time_metric_name(const std::string& kind);
/// Returns "p_share" for "P".
std::string share_metric_name(const std::string& kind);
/// The metric of the time on cores of unknown kind.
inline constexpr std::string_view kUnsplitTime = "unsplit_time";

/// True if `name` is the name of a time or share by core kind.
bool is_core_kind_metric(std::string_view name, const CorePlan& cores);

/// Reads CPU numbers below 65536 as Linux writes them ("0-3,8"), and returns them ascending. Empty
/// for empty text; nullopt for other text.
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
  std::optional<double>
      cpu_quota{};  ///< limit of CPU time per second, in seconds; nullopt: no known limit
  std::optional<std::uint64_t> memory_limit{};  ///< in bytes; nullopt: no known limit

  bool operator==(const Allowance&) const = default;
};

struct Throttling {
  std::uint64_t periods = 0;
  std::uint64_t throttled = 0;  ///< number of quota periods in which the group had to wait
  std::uint64_t waited_ns = 0;  ///< summed over CPUs

  bool operator==(const Throttling&) const = default;
};

/// Returns the increase between two readings for the control group that waited longest; nullopt if
/// unknown. Both readings list the groups in the same order.
std::optional<Throttling> throttled_between(const std::vector<Throttling>& before,
                                            const std::vector<Throttling>& after);

/// The machine of a session. A field is empty or 0 if unknown or not needed.
struct Machine {
  std::string name{};
  std::string system{};
  std::string os{};
  std::string kernel{};
  std::string architecture{};
  std::string cpu_model{};
  unsigned cpus = 0;
  std::string governor{};
  std::string hypervisor{};  ///< name of the hypervisor, or "unknown"; empty: none found
  std::string tuning{};      ///< settings by --tune: "cpus=1 governor=performance"
  std::optional<Allowance> allowance{};
};

/// True if the process is known to be limited to some of the machine's CPUs.
bool has_fewer_cpus(const Machine& machine);

/// Returns the class of machines with comparable times: a hash of the properties that affect times,
/// as 16 hexadecimal digits.
std::string class_of(const Machine& machine);

struct NamedCpus {
  std::string name;
  std::size_t cpus = 0;
};

struct SwitchFacts {
  bool on = false;
  std::string turn_off;
};

/// macOS: counting that another process may have left on.
struct TracingFacts {
  bool readable = false;  ///< true if `thread_counting` could be read
  bool thread_counting =
      false;  ///< true if the kernel counts by thread, which slows every context switch
  std::int64_t owner = 0;  ///< id of a process that keeps others from tracing; 0 if none
  std::string owner_name{};
};

struct MachineFacts {
  Machine machine;
  bool is_linux = true;
  std::vector<NamedCpus> core_kinds;

  std::optional<std::string> clock_source{};
  std::vector<std::string>
      better_clock_sources{};  ///< good clock sources of the kernel; may include `clock_source`
  std::chrono::nanoseconds clock_step{};

  std::vector<NamedCpus> governors;
  std::string governor_driver{};
  std::optional<SwitchFacts> turbo{};
  std::optional<SwitchFacts> smt{};

  std::optional<double> load{};  ///< load average of the last minute
  std::optional<bool> on_battery{};
  std::optional<std::string> power_saving{};

  std::optional<std::string>
      hypervisor{};  ///< name of the hypervisor; empty: name unknown; nullopt: none found
  bool knows_hypervisor = false;  ///< false: there may be a hypervisor that was not found
  std::optional<double>
      stolen{};  ///< fraction of CPU time since boot that the hypervisor gave to other machines
  std::optional<std::string> container{};

  /// Reason why tree_peak_memory cannot be measured; an Error without text if it can be; nullopt:
  /// not checked.
  std::optional<Error> why_no_tree_peak{};
  /// The clock that --profile samples ("the CPU clock"), or why it cannot sample; nullopt: not
  /// checked.
  std::optional<Result<std::string>> profile{};
  std::vector<std::string>
      tunable{};  ///< names of useful --tune switches, with "+" if --tune alone leaves them out
  std::optional<bool> aslr{};
  std::optional<TracingFacts> tracing{};
};

struct CounterFacts {
  std::string pmu;
  std::size_t listed = 0;
  std::size_t free = 0;
  std::size_t alive = 0;  ///< number of free counters that really count
  bool watchdog = false;
};

struct EngineFacts {
  EngineChoice engine = EngineChoice::None;
  std::vector<std::string> events{};
  std::vector<std::string> notes{};
  std::optional<Error> missing{};
  std::vector<CounterFacts> counters{};
};

struct TuneRequest {
  struct Choice {
    std::string name;
    bool on = true;
  };
  std::vector<Choice> choices{};
  std::vector<std::uint32_t> cpus{};
  bool compares = false;  ///< true: some runs are not tuned, for comparison
};

struct TunedSwitch {
  std::string name{};
  std::string before{};
  std::string during{};
  std::size_t files = 0;

  bool operator==(const TunedSwitch&) const = default;
};

struct UntunedSwitch {
  std::string name{};
  std::string why{};

  bool operator==(const UntunedSwitch&) const = default;
};

/// Readings of a machine's state; nullopt if the system does not report them.
struct Vitals {
  std::optional<std::uint64_t> throttles{};
  std::optional<double> celsius{};              ///< of the hottest thermal zone
  std::optional<std::uint64_t> stolen_ticks{};  ///< clock ticks of the commands' CPUs that the
                                                ///< hypervisor gave to other machines
  std::optional<std::uint64_t> ticks{};

  bool operator==(const Vitals&) const = default;
};

/// The change from untuned to tuned runs as a fraction, with an interval; nullopt if undefined.
struct TunedChange {
  std::optional<double> change{};
  std::optional<double> low{};
  std::optional<double> high{};

  bool operator==(const TunedChange&) const = default;
};

struct TunedComparison {
  std::string benchmark{};
  std::string command{};
  std::size_t tuned_runs = 0;
  std::size_t untuned_runs = 0;
  TunedChange stddev{};
  TunedChange width{};  ///< change of the width of the confidence interval of the delta or the mean
  TunedChange mean{};

  bool operator==(const TunedComparison&) const = default;
};

struct Tuning {
  std::vector<TunedSwitch> switched{};
  std::vector<UntunedSwitch> untuned{};
  std::vector<std::uint32_t> cpus{};
  Vitals before{};
  Vitals after{};
  std::vector<TunedComparison> compared{};
};

/// Returns the settings that --tune made: "cpus=1 governor=performance".
std::string settings_in_force(const Tuning& tuning);

}  // namespace lauka
