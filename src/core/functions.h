#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// The name under which all code without symbols is counted.
inline constexpr std::string_view kNoSymbols = "(code without symbols)";

/// Separates an event from the function in which it is counted: "instructions@parse".
inline constexpr char kFunctionSeparator = '@';

/// The event of --profile.
inline constexpr std::string_view kSampledTime = "sampled_time";

/// Returns a function's name without the parts that differ between builds: clone suffixes
/// (".constprop.0", ".part.0", ".llvm.123", "[clone .cold]"), Rust's hashes and symbol versions
/// ("@@GLIBC_2.34"). Variants that libc has for several processors get one name: "memcpy" for
/// "__memcpy_avx_unaligned_erms".
std::string normalized_function(std::string_view name);

/// The functions that the user asked for by name. A name without parameters means all overloads:
/// "parse" includes "parse(char const*)".
class WantedFunctions {
 public:
  /// `names` are normalized; an empty name matches no function.
  explicit WantedFunctions(std::span<const std::string> names);

  /// Returns the indices of the names that match the normalized name `function`.
  std::vector<std::size_t> find(std::string_view function) const;

 private:
  std::multimap<std::string, std::size_t, std::less<>> places_;  ///< indices of the names, by name
};

/// The counts of one function in one run, in the order of the run's events.
struct FunctionCounts {
  std::string name;
  std::vector<std::uint64_t> counts;

  bool operator==(const FunctionCounts&) const = default;
};

/// The fewest rounds from which varying values are compared. With fewer rounds, a test of normal
/// variation reports a difference too often or never.
inline constexpr std::size_t kMinFunctionRounds = 6;

/// One metric's value for one function in each round. Two short forms: empty means 0 in every
/// round; one value means the same in every round.
using RoundValues = std::vector<double>;

/// Returns the value in `round`, counted from 0.
double value_in(const RoundValues& values, std::size_t round);

/// Returns the mean over `rounds` rounds.
double mean_of(const RoundValues& values, std::size_t rounds);

/// A metric with a value for each function, and the number of rounds that measured it.
struct FunctionMetric {
  std::string name;
  std::size_t rounds = 0;

  bool operator==(const FunctionMetric&) const = default;
};

/// The values of each function of one command. In every round they add up to the command's value.
struct FunctionTable {
  std::vector<FunctionMetric> metrics{};
  /// Values of each function by its normalized name, in the order of `metrics`.
  std::map<std::string, std::vector<RoundValues>, std::less<>> functions{};

  bool empty() const { return metrics.empty(); }

  /// Returns the index of a metric in `metrics`; the number of metrics if it is missing.
  std::size_t find(std::string_view metric) const;

  /// Adds one round's counts of the metrics `names`; functions missing from `run` get 0. `per_unit`
  /// is the number of counts in one base unit of the metric.
  void add_round(std::span<const std::string> names, std::span<const FunctionCounts> run,
                 double per_unit = 1.0);
};

}  // namespace lauka
