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

/// Cores of one speed.
struct CoreKind {
  std::string name;                 ///< "P", "E", or as the user calls it
  std::vector<std::uint32_t> cpus;  ///< ascending; may hold some that are switched off
  std::string pmu{};                ///< Linux: the PMU of exactly these cores; may be empty
};

/// The kinds of core of a machine, the fastest first; fewer than two if all cores are equal.
using CoreKinds = std::vector<CoreKind>;

/// The kind of core on which commands should run.
enum class CorePreference : unsigned char { Any, Performance, Efficiency };

/// The treatment of kinds of core in a session.
struct CoreUse {
  std::vector<std::string> timed{};   ///< kinds whose times are measured, fastest first; or empty
  std::vector<std::uint32_t> cpus{};  ///< Linux: commands run on these only; empty: on any
  bool has_unsplit = false;           ///< macOS: some time may be of an unknown kind
  bool in_counting_runs = false;      ///< the times: the clocks cost too much for timed runs
  CorePreference prefer = CorePreference::Any;  ///< macOS: by their quality-of-service class
  std::optional<double> min_share{};  ///< share of the CPU time that a run must spend on the first
                                      ///< kind of core; nullopt: no limit
};

/// Returns the counting pass of the times, if they have one of their own: it follows the other
/// passes, of which at least one is timed.
constexpr std::size_t core_time_pass(std::size_t other_passes) {
  return other_passes == 0 ? 1 : other_passes;
}

/// Returns the name of the metric of the time on cores of that kind ("p_time"), and of its share of
/// the CPU time ("p_share").
std::string time_metric_name(const std::string& kind);
std::string share_metric_name(const std::string& kind);
/// Time on cores of an unknown kind.
inline constexpr std::string_view kUnsplitTime = "unsplit_time";

/// True if `name` is a metric by kind of core: of the usual kinds, or of the session's own.
bool is_by_kind_of_core(std::string_view name, const CoreUse& cores);

/// Reads numbers of CPUs as Linux writes them: "0-3,8,10-11", perhaps with a line break at the end.
/// Ascending, with repetitions; nullopt if it is anything else. Empty text is an empty list.
std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text);

/// Writes such a list; `cpus` must be ascending.
std::string cpu_list_text(const std::vector<std::uint32_t>& cpus);

/// The CPUs of `all` that are in `others`, and those that are not. All lists are ascending.
std::vector<std::uint32_t> cpus_also_in(const std::vector<std::uint32_t>& others,
                                        const std::vector<std::uint32_t>& all);
std::vector<std::uint32_t> cpus_not_in(const std::vector<std::uint32_t>& others,
                                       const std::vector<std::uint32_t>& all);

/// The part of its machine that the system lets a process use.
struct Allowance {
  std::vector<std::uint32_t> cpus{};  ///< numbers of the CPUs it may run on, ascending
  std::optional<double>
      cpu_quota{};  ///< CPUs' worth of time that control groups grant; nullopt: all
  std::optional<std::uint64_t> memory_limit{};  ///< bytes that control groups grant; nullopt: all

  bool operator==(const Allowance&) const = default;
};

/// The work of a control group's CPU quota.
struct Throttling {
  std::uint64_t periods = 0;  ///< periods of the quota in which the group had something to run
  std::uint64_t throttled =
      0;  ///< periods in which the quota was used up, so that processes waited
  std::uint64_t waited_ns = 0;  ///< time in which they waited, summed over CPUs

  bool operator==(const Throttling&) const = default;
};

/// Returns the growth of the group that waited most; nullopt if no group has a quota. Both have one
/// entry for each group with a quota, in the same order.
std::optional<Throttling> throttled_between(const std::vector<Throttling>& before,
                                            const std::vector<Throttling>& after);

/// The machine of a session. What the system does not report is empty, or 0.
struct Machine {
  std::string name{};    ///< the host's
  std::string system{};  ///< "Linux", "Darwin"
  std::string
      os{};  ///< operating system with its version: "Debian GNU/Linux 12 (bookworm)", "macOS 14.5"
  std::string kernel{};        ///< kernel's release
  std::string architecture{};  ///< "x86_64", "arm64"
  std::string cpu_model{};
  unsigned cpus = 0;         ///< logical ones, online
  std::string governor{};    ///< governor of the clock frequency; several if the CPUs differ
  std::string hypervisor{};  ///< hypervisor's name, or "unknown"; empty: none was found
  std::string tuning{};      ///< settings_in_force of --tune; empty: not tuned
  std::optional<Allowance> allowance{};  ///< nullopt: unknown
};

/// True if the process may run on some of the machine's CPUs only.
bool has_fewer_cpus(const Machine& machine);

/// Returns the class of machines with comparable times: a hash of processor, number of CPUs,
/// system, kernel, governor, hypervisor, tuning, and what limits the process (number of CPUs, CPU
/// quota, memory), as 16 hexadecimal digits. The same on every system.
std::string class_of(const Machine& machine);

/// CPUs of one speed, or with one frequency governor (Linux).
struct NamedCpus {
  std::string name;
  std::size_t cpus = 0;
};

/// A setting of the processor, and the command that turns it off.
struct SwitchFacts {
  bool on = false;
  std::string turn_off;  ///< empty if not known
};

/// Counting that a process may have left on (macOS).
struct TracingFacts {
  bool readable = false;  ///< the rest could be read
  bool thread_counting =
      false;               ///< true if thread counting is on, which slows every context switch
  std::int64_t owner = 0;  ///< process that holds tracing; 0 if none
  std::string owner_name{};
};

/// Facts about a machine that decide what can be measured on it, and how steadily. Unknown ones are
/// nullopt.
struct MachineFacts {
  Machine machine;
  bool is_linux = true;  ///< else macOS: which commands mend things
  std::vector<NamedCpus> core_kinds;

  std::optional<std::string> clock_source{};
  std::vector<std::string> better_clock_sources{};  ///< better clock sources that the kernel offers
  std::chrono::nanoseconds clock_step{};            ///< between two distinguishable readings

  std::vector<NamedCpus> governors;  ///< empty if the system does not report them
  std::string governor_driver{};
  std::optional<SwitchFacts> turbo{};
  std::optional<SwitchFacts> smt{};

  std::optional<double> load{};  ///< mean of the last minute
  std::optional<bool> on_battery{};
  std::optional<std::string> power_saving{};  ///< the profile in force, where it saves power

  std::optional<std::string> hypervisor{};  ///< hypervisor's name; empty: unknown; nullopt: none
  bool knows_hypervisor = false;            ///< false: it is unknown whether there is one
  std::optional<double> stolen{};           ///< fraction of CPU time the hypervisor gave to others
  std::optional<std::string> container{};

  /// Why tree_peak_memory cannot be measured; without text if it can; nullopt: not checked.
  std::optional<Error> tree_peak{};
  std::vector<std::string> tunable{};  ///< --tune switches that would help; "+": by name only
  std::optional<bool> aslr{};
  std::optional<TracingFacts> tracing{};
};

/// The counters of one PMU of the cores.
struct CounterFacts {
  std::string pmu;
  std::size_t listed = 0;  ///< according to the kernel
  std::size_t free = 0;    ///< number of counters that other programs do not hold
  std::size_t alive = 0;   ///< number of the free counters that really count
  bool watchdog = false;   ///< the NMI watchdog holds one
};

/// The abilities of an engine on this machine.
struct EngineFacts {
  EngineChoice engine = EngineChoice::None;
  std::vector<std::string> events{};     ///< events that the engine counts by default
  std::vector<std::string> notes{};      ///< restrictions of the engine, as sentences
  std::optional<Error> missing{};        ///< why it counts nothing; nullopt if it does
  std::vector<CounterFacts> counters{};  ///< empty if they cannot be tried
};

/// The request of --tune. Names are not checked: the table of switches has them (tune/tune.h).
struct TuneRequest {
  struct Choice {
    std::string name;
    bool on = true;
  };
  std::vector<Choice> choices{};      ///< choices in the order typed; a later choice wins
  std::vector<std::uint32_t> cpus{};  ///< ascending; empty: chosen by topology
  bool compares = false;              ///< a quarter of the runs is not tuned
};

/// A switch that was tuned for a session.
struct TunedSwitch {
  std::string name{};
  std::string before{};   ///< several values are joined by "; "
  std::string during{};   ///< value while it was tuned, as `before`
  std::size_t files = 0;  ///< number of files that have the setting: policies, IRQs, ...

  bool operator==(const TunedSwitch&) const = default;
};

/// A switch that could not be tuned.
struct UntunedSwitch {
  std::string name{};
  std::string why{};

  bool operator==(const UntunedSwitch&) const = default;
};

/// The state of a machine. What the system does not report is nullopt.
struct Vitals {
  std::optional<std::uint64_t> throttles{};  ///< throttling events of the commands' CPUs since they
                                             ///< were started; nullopt: unknown
  std::optional<double> celsius{};           ///< temperature of the hottest thermal zone
  std::optional<std::uint64_t> stolen_ticks{};  ///< clock ticks of the commands' CPUs that went to
                                                ///< other virtual machines; nullopt: unknown
  std::optional<std::uint64_t>
      ticks{};  ///< all clock ticks of the commands' CPUs; nullopt: unknown

  bool operator==(const Vitals&) const = default;
};

/// A change from untuned to tuned runs as a fraction, with its interval; nullopt if not defined.
struct TunedChange {
  std::optional<double> change{};
  std::optional<double> low{};
  std::optional<double> high{};

  bool operator==(const TunedChange&) const = default;
};

/// The findings of --tune=compare for a command, by its wall times.
struct TunedComparison {
  std::string benchmark{};  ///< empty if there is only one
  std::string command{};
  std::size_t tuned_runs = 0;
  std::size_t untuned_runs = 0;
  TunedChange stddev{};
  TunedChange width{};  ///< change of the delta's interval at the same number of rounds; without a
                        ///< reference, of the mean's interval, like `stddev`; empty for a reference
  TunedChange mean{};

  bool operator==(const TunedComparison&) const = default;
};

/// The changes of a session to its machine.
struct Tuning {
  std::vector<TunedSwitch> switched{};
  std::vector<UntunedSwitch> not_possible{};
  std::vector<std::uint32_t> cpus{};        ///< the commands' own; empty if not chosen
  Vitals before{};                          ///< the first run
  Vitals after{};                           ///< the last one
  std::vector<TunedComparison> compared{};  ///< comparisons of --tune=compare, one for each command
};

/// Names the settings in force in one word each: "cpus=1 governor=performance". Sessions with
/// different ones are not compared without a warning.
std::string settings_in_force(const Tuning& tuning);

}  // namespace lauka
