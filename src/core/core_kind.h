#pragma once

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

}  // namespace lauka
