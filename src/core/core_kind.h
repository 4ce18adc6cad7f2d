#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
  CorePreference prefer = CorePreference::Any;  ///< macOS: by their quality-of-service class
  std::optional<double> min_share{};  ///< of its CPU time that a run is to spend on the first kind
};

/// The metric of the time spent on cores of that kind ("p_time"), and of the part of the CPU time
/// that this is ("p_share").
std::string time_metric_of(const std::string& kind);
std::string share_metric_of(const std::string& kind);

}  // namespace lauka
