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

/// The kinds of core of a machine, the fastest first; one or none: there is nothing to tell apart.
using CoreKinds = std::vector<CoreKind>;

/// On which kind of core commands are to run.
enum class CorePreference : unsigned char { Any, Performance, Efficiency };

/// What a session does about kinds of core.
struct CoreUse {
  std::vector<std::string> timed{};   ///< names of the kinds whose times are measured in each run,
                                      ///< the fastest first; none: they are not told apart
  std::vector<std::uint32_t> cpus{};  ///< Linux: commands run on these only; empty: on any
  bool has_unsplit = false;           ///< macOS: there may be time of which the kind is not known
  bool apart = false;  ///< the times are measured in counting runs: the clocks cost too much for
                       ///< timed ones
  CorePreference prefer = CorePreference::Any;  ///< macOS: by their quality-of-service class
  std::optional<double> min_share{};  ///< of its CPU time that a run is to spend on the first kind
};

/// The counting pass of the times, where they are apart: behind the passes of what else is counted,
/// of which one at least is timed.
constexpr std::size_t core_time_pass_of(std::size_t other_passes) {
  return other_passes == 0 ? 1 : other_passes;
}

/// The metric of the time spent on cores of that kind ("p_time"), and of the part of the CPU time
/// that this is ("p_share").
std::string time_metric_of(const std::string& kind);
std::string share_metric_of(const std::string& kind);
/// The time of which the kind is not known.
inline constexpr std::string_view kUnsplitTime = "unsplit_time";

/// Whether a metric by kind of core has that name: of the usual kinds, or of a session's own.
bool is_by_kind_of_core(std::string_view name, const CoreUse& cores);

/// Numbers of CPUs as Linux writes them: "0-3,8,10-11", maybe with a line break behind it.
/// Ascending, and as often as they stand there; none where it is anything else. Empty text is an
/// empty list.
std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text);

/// The same in the other direction; `cpus` ascending.
std::string cpu_list_text(const std::vector<std::uint32_t>& cpus);

/// Where the numbers were taken. What the system does not tell is empty, or 0.
struct Machine {
  std::string name{};          ///< the host's
  std::string system{};        ///< "Linux", "Darwin"
  std::string os{};            ///< with its version: "Debian GNU/Linux 12 (bookworm)", "macOS 14.5"
  std::string kernel{};        ///< its release
  std::string architecture{};  ///< "x86_64", "arm64"
  std::string cpu_model{};
  unsigned cpus = 0;         ///< logical ones, online
  std::string governor{};    ///< of the clock frequency; several where CPUs differ in it
  std::string hypervisor{};  ///< its name, "unknown" where it does not tell; empty: none is known
  std::string tuning{};      ///< settings_in_force of --tune; empty: not tuned
};

/// The class of machines that give comparable times: a hash of processor, number of CPUs, system,
/// kernel, governor, hypervisor and tuning, as 16 hexadecimal digits. The same on every system.
std::string class_of(const Machine& machine);

/// CPUs of one speed.
struct CoreKindFacts {
  std::string name;
  std::size_t cpus = 0;
};

/// How the clock frequency of some CPUs is chosen (Linux).
struct GovernorFacts {
  std::string name;
  std::size_t cpus = 0;
};

/// A setting of the processor, and the command that turns it off.
struct SwitchFacts {
  bool on = false;
  std::string turn_off;  ///< empty: not known
};

/// Counting that nobody seems to own any more (macOS).
struct TracingFacts {
  bool readable = false;         ///< what follows could be asked for
  bool thread_counting = false;  ///< on, which slows every context switch
  std::int64_t owner = 0;        ///< process that holds tracing; 0: none
  std::string owner_name{};
};

/// What there is to know of a machine that decides what can be measured on it, and how steadily.
/// What cannot be found out is none.
struct MachineFacts {
  Machine machine;       ///< what it is
  bool is_linux = true;  ///< else macOS: which commands mend things
  std::vector<CoreKindFacts> core_kinds;

  std::optional<std::string> clock_source{};
  std::vector<std::string> better_clock_sources{};  ///< that could be chosen instead
  std::chrono::nanoseconds clock_step{};            ///< what two readings can tell apart

  std::vector<GovernorFacts> governors;  ///< none: the system does not tell
  std::string governor_driver{};
  std::optional<SwitchFacts> turbo{};
  std::optional<SwitchFacts> smt{};

  std::optional<double> load{};       ///< of the last minute
  std::optional<double> cpu_quota{};  ///< CPUs that the control group may use; none: all
  std::optional<bool> on_battery{};
  std::optional<std::string> power_saving{};  ///< the profile in force, where it saves power

  std::optional<std::string> hypervisor{};  ///< its name; empty: there is one
  bool knows_hypervisor = false;            ///< false: it cannot be told whether there is one
  std::optional<double> stolen{};           ///< fraction of CPU time the hypervisor gave to others
  std::optional<std::string> container{};

  /// Why tree_peak_memory cannot be measured, without words where it can; none: nobody looked.
  std::optional<Error> tree_peak{};
  std::vector<std::string> tunable{};  ///< switches of --tune that would change something; those
                                       ///< by name only with a "+"
  std::optional<bool> aslr{};
  std::optional<TracingFacts> tracing{};
};

/// The counters of one PMU of the cores.
struct CounterFacts {
  std::string pmu;
  std::size_t listed = 0;  ///< the kernel says there are
  std::size_t free = 0;    ///< nobody else holds
  std::size_t alive = 0;   ///< of those, count
  bool watchdog = false;   ///< the NMI watchdog holds one
};

/// Whether an engine counts here.
struct EngineFacts {
  EngineChoice engine = EngineChoice::None;
  std::vector<std::string> events{};     ///< that it counts by default
  std::vector<std::string> notes{};      ///< what restricts it
  std::optional<Error> missing{};        ///< why it counts nothing
  std::vector<CounterFacts> counters{};  ///< where they can be tried
};

}  // namespace lauka
