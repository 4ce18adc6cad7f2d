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

/// Cores that have the same speed.
struct CoreKind {
  std::string name;                 ///< "P", "E", or the user's own name
  std::vector<std::uint32_t> cpus;  ///< ascending; CPUs may be offline
  std::string pmu{};  ///< Linux: the PMU that counts on exactly these cores; may be empty
};

/// A machine's core kinds, the fastest first; at most one if all cores have the same speed.
using CoreKinds = std::vector<CoreKind>;

/// The kind of core on which commands should run.
enum class CorePreference : unsigned char { Any, Performance, Efficiency };

/// A session's treatment of core kinds.
struct CoreUse {
  std::vector<std::string>
      timed{};  ///< core kinds whose times are measured, the fastest first; may be empty
  std::vector<std::uint32_t> cpus{};  ///< Linux: the only CPUs on which commands run; empty: any
  bool has_unsplit = false;       ///< macOS: true if some time may belong to an unknown core kind
  bool in_counting_runs = false;  ///< true if times by core kind are measured in counting runs,
                                  ///< because reading them slows timed runs
  CorePreference prefer = CorePreference::Any;  ///< macOS: core kind that the commands'
                                                ///< quality-of-service class asks for
  std::optional<double> min_share{};  ///< smallest share of CPU time that a run must spend on the
                                      ///< fastest core kind; nullopt: no limit
};

/// Returns the index of the counting pass that measures times by core kind. It follows all other
/// passes, of which there is at least one, as timed runs need a pass even without events.
constexpr std::size_t core_time_pass(std::size_t other_passes) {
  return other_passes == 0 ? 1 : other_passes;
}

/// Returns the name of the metric of the time on a core kind: "p_time".
std::string time_metric_name(const std::string& kind);
/// Returns the name of the metric of a core kind's share of the CPU time: "p_share".
std::string share_metric_name(const std::string& kind);
/// The metric of the time on cores of unknown kind.
inline constexpr std::string_view kUnsplitTime = "unsplit_time";

/// True if `name` is a metric by core kind: of P or E, or of the session's own core kinds.
bool is_by_kind_of_core(std::string_view name, const CoreUse& cores);

/// Reads CPU numbers below 65536 as Linux writes them: "0-3,8,10-11", with blanks or newlines at
/// the end. Returns them ascending, with duplicates; empty for empty text; nullopt for any other
/// text.
std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text);

/// Writes CPU numbers as parse_cpu_list reads them; `cpus` must be ascending.
std::string cpu_list_text(const std::vector<std::uint32_t>& cpus);

/// Returns the CPUs of `all` that are also in `others`. All lists are ascending.
std::vector<std::uint32_t> cpus_also_in(const std::vector<std::uint32_t>& others,
                                        const std::vector<std::uint32_t>& all);
/// Returns the CPUs of `all` that are not in `others`. All lists are ascending.
std::vector<std::uint32_t> cpus_not_in(const std::vector<std::uint32_t>& others,
                                       const std::vector<std::uint32_t>& all);

/// The part of its machine that the system lets a process use.
struct Allowance {
  std::vector<std::uint32_t> cpus{};  ///< CPUs that the process may run on, ascending
  std::optional<double>
      cpu_quota{};  ///< CPU time per second that control groups grant, in CPUs; nullopt: no limit
  std::optional<std::uint64_t>
      memory_limit{};  ///< bytes that control groups grant; nullopt: no limit

  bool operator==(const Allowance&) const = default;
};

/// Counters of a control group's CPU quota.
struct Throttling {
  std::uint64_t periods = 0;  ///< quota periods in which the group had something to run
  std::uint64_t throttled =
      0;  ///< quota periods in which the group used up its quota and had to wait
  std::uint64_t waited_ns = 0;  ///< waiting time in nanoseconds, summed over CPUs

  bool operator==(const Throttling&) const = default;
};

/// Returns the increase of the group that waited longest; nullopt if no group has a quota, or
/// their number changed. `before` and `after` have an entry for each group with a quota, in the
/// same order.
std::optional<Throttling> throttled_between(const std::vector<Throttling>& before,
                                            const std::vector<Throttling>& after);

/// The machine of a session. A field is empty or 0 if the system does not report it, or nobody
/// needs it.
struct Machine {
  std::string name{};          ///< host name
  std::string system{};        ///< "Linux", "Darwin"
  std::string os{};            ///< name and version of the operating system: "Debian GNU/Linux 12
                               ///< (bookworm)", "macOS 14.5"
  std::string kernel{};        ///< kernel's release
  std::string architecture{};  ///< "x86_64", "arm64"
  std::string cpu_model{};
  unsigned cpus = 0;         ///< number of logical CPUs that are online
  std::string governor{};    ///< clock frequency governor; several are listed if CPUs differ
  std::string hypervisor{};  ///< name of the hypervisor, or "unknown"; empty: none found
  std::string tuning{};      ///< result of settings_in_force (--tune); empty: not tuned
  std::optional<Allowance> allowance{};  ///< nullopt: unknown or not needed
};

/// True if the process is known to be limited to some of the machine's CPUs.
bool has_fewer_cpus(const Machine& machine);

/// Returns a class of machines whose times can be compared, as 16 hexadecimal digits: a hash of
/// processor, architecture, number of CPUs, system, kernel, governor, hypervisor, tuning, and the
/// process's limits (number of CPUs, CPU quota, memory).
std::string class_of(const Machine& machine);

/// A number of CPUs with the same speed, or with the same frequency governor (Linux).
struct NamedCpus {
  std::string name;
  std::size_t cpus = 0;
};

/// A setting of the processor, and the command that turns it off.
struct SwitchFacts {
  bool on = false;
  std::string turn_off;  ///< command that turns it off; empty if unknown
};

/// macOS: counting that another process may have left on.
struct TracingFacts {
  bool readable = false;  ///< false if the other fields could not be read
  bool thread_counting =
      false;                 ///< true if thread counting is on, which slows every context switch
  std::int64_t owner = 0;    ///< id of the process that holds tracing; 0 if none
  std::string owner_name{};  ///< name of that process; may be empty
};

/// Facts about a machine that limit what can be measured on it, and how steadily. Unknown facts are
/// nullopt.
struct MachineFacts {
  Machine machine;
  bool is_linux = true;  ///< true: Linux; false: macOS. Remedies differ.
  std::vector<NamedCpus> core_kinds;

  std::optional<std::string> clock_source{};
  std::vector<std::string> better_clock_sources{};  ///< good clock sources that the kernel has;
                                                    ///< `clock_source` may be one
  std::chrono::nanoseconds clock_step{};  ///< smallest difference between two readings of the clock

  std::vector<NamedCpus> governors;  ///< empty if the system does not report them
  std::string governor_driver{};
  std::optional<SwitchFacts> turbo{};
  std::optional<SwitchFacts> smt{};

  std::optional<double> load{};  ///< load average of the last minute
  std::optional<bool> on_battery{};
  std::optional<std::string>
      power_saving{};  ///< name of the active power profile, if it saves power; else nullopt

  std::optional<std::string>
      hypervisor{};  ///< name of the hypervisor; empty: name unknown; nullopt: no hypervisor
  bool knows_hypervisor =
      false;  ///< true if `hypervisor` is known to be right; false: there may be a hypervisor
  std::optional<double>
      stolen{};  ///< fraction of CPU time since boot that the hypervisor gave to others
  std::optional<std::string> container{};

  /// Reason why tree_peak_memory cannot be measured; an Error without text if it can; nullopt: not
  /// checked.
  std::optional<Error> tree_peak{};
  /// The clock that --profile samples ("the CPU clock"), or why it cannot sample; nullopt: not
  /// checked.
  std::optional<Result<std::string>> profile{};
  std::vector<std::string> tunable{};  ///< names of --tune switches that would help; a "+" marks a
                                       ///< switch that --tune does not include by itself
  std::optional<bool> aslr{};
  std::optional<TracingFacts> tracing{};
};

/// The counters of one PMU.
struct CounterFacts {
  std::string pmu;
  std::size_t listed = 0;  ///< number of counters according to the kernel
  std::size_t free = 0;    ///< number of counters that no other program holds
  std::size_t alive = 0;   ///< number of free counters that really count
  bool watchdog = false;   ///< true if the NMI watchdog holds a counter
};

/// The abilities of an engine on this machine.
struct EngineFacts {
  EngineChoice engine = EngineChoice::None;
  std::vector<std::string> events{};  ///< names of the events that the engine counts by default
  std::vector<std::string> notes{};   ///< the engine's restrictions, as sentences
  std::optional<Error> missing{};  ///< reason why the engine counts nothing; nullopt if it counts
  std::vector<CounterFacts> counters{};  ///< counters of each PMU; empty if they cannot be tested
};

/// The user's request for --tune. Names are checked later, against the table in tune/tune.h.
struct TuneRequest {
  struct Choice {
    std::string name;
    bool on = true;
  };
  std::vector<Choice>
      choices{};  ///< switches to turn on or off, in the order typed; a later entry wins
  std::vector<std::uint32_t>
      cpus{};             ///< CPUs for the commands, ascending; empty: lauka chooses by topology
  bool compares = false;  ///< --tune=compare: a quarter of the runs is not tuned
};

/// A switch that --tune set for a session; `before` equals `during` if it was set already.
struct TunedSwitch {
  std::string name{};
  std::string before{};   ///< values before tuning, joined by "; "
  std::string during{};   ///< values while tuned, joined by "; "
  std::size_t files = 0;  ///< number of files that hold the setting (one per policy, IRQ, ...)

  bool operator==(const TunedSwitch&) const = default;
};

/// A switch that could not be tuned.
struct UntunedSwitch {
  std::string name{};
  std::string why{};

  bool operator==(const UntunedSwitch&) const = default;
};

/// Readings of a machine's state. Values are nullopt if the system does not report them. The
/// commands' CPUs are all that are online, if lauka chose none.
struct Vitals {
  std::optional<std::uint64_t>
      throttles{};  ///< throttling events on the commands' CPUs since each CPU was started
  std::optional<double> celsius{};  ///< temperature of the hottest thermal zone, in degrees Celsius
  std::optional<std::uint64_t>
      stolen_ticks{};  ///< clock ticks of the commands' CPUs that the hypervisor gave to others
  std::optional<std::uint64_t> ticks{};  ///< all clock ticks of the commands' CPUs

  bool operator==(const Vitals&) const = default;
};

/// The change from untuned to tuned runs as a fraction, with its confidence interval; nullopt where
/// undefined.
struct TunedChange {
  std::optional<double> change{};
  std::optional<double> low{};
  std::optional<double> high{};

  bool operator==(const TunedChange&) const = default;
};

/// The result of --tune=compare for one command, from its wall times.
struct TunedComparison {
  std::string benchmark{};  ///< name of the benchmark; empty if there is only one
  std::string command{};
  std::size_t tuned_runs = 0;
  std::size_t untuned_runs = 0;
  TunedChange stddev{};  ///< change of the standard deviation
  TunedChange width{};   ///< change of the width of the delta's interval at the same number of
                         ///< rounds; with a baseline or a single command, of the mean's interval;
                         ///< else empty for a command that is no candidate
  TunedChange mean{};    ///< change of the mean

  bool operator==(const TunedComparison&) const = default;
};

/// The changes that lauka made to the machine for a session.
struct Tuning {
  std::vector<TunedSwitch> switched{};
  std::vector<UntunedSwitch> not_possible{};
  std::vector<std::uint32_t> cpus{};  ///< CPUs for the commands alone; empty if lauka chose none
  Vitals before{};                    ///< readings before the first run
  Vitals after{};                     ///< readings after the last run
  std::vector<TunedComparison> compared{};  ///< results of --tune=compare, one per command with
                                            ///< runs of both kinds
};

/// Returns the settings in force: "cpus=1 governor=performance". lauka warns before comparing
/// sessions whose settings differ.
std::string settings_in_force(const Tuning& tuning);

}  // namespace lauka
