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

inline constexpr std::string_view kNoSymbols = "(code without symbols)";

/// Separates an event from a function: "instructions@parse".
inline constexpr char kFunctionSeparator = '@';

inline constexpr std::string_view kSampledTime = "sampled_time";

/// Returns a function's name without the parts that differ between builds or processors: "f" for
/// "f.part.0", "memcpy" for "__memcpy_avx_unaligned_erms". Returns kNoSymbols if the name is
/// unknown.
std::string normalized_function(std::string_view name);

/// The functions that the user asked for. A name without parameters stands for all overloads.
class WantedFunctions {
 public:
  /// `names` are normalized; an empty name matches no function.
  explicit WantedFunctions(std::span<const std::string> names);

  /// Returns the indices of the names that match `function`, a normalized name.
  std::vector<std::size_t> find(std::string_view function) const;

 private:
  std::multimap<std::string, std::size_t, std::less<>> places_;
};

struct FunctionCounts {
  std::string name;
  std::vector<std::uint64_t> counts;

  bool operator==(const FunctionCounts&) const = default;
};

/// The fewest rounds for a test of values that vary from round to round (without --layouts).
inline constexpr std::size_t kMinFunctionRounds = 6;

/// One metric's values for one function, by round. Two short forms: empty means 0 in every round;
/// one value means this value in every round.
using RoundValues = std::vector<double>;

/// Returns the value in `round`, counted from 0.
double value_in(const RoundValues& values, std::size_t round);

/// Returns the mean over `rounds` rounds.
double mean_of(const RoundValues& values, std::size_t rounds);

struct FunctionMetric {
  std::string name;
  std::size_t rounds = 0;

  bool operator==(const FunctionMetric&) const = default;
};

struct FunctionTable {
  std::vector<FunctionMetric> metrics{};
  /// Values by the function's normalized name, in the order of `metrics`.
  std::map<std::string, std::vector<RoundValues>, std::less<>> functions{};

  bool empty() const { return metrics.empty(); }

  /// Returns the index of a metric in `metrics`; the number of metrics if missing.
  std::size_t find(std::string_view metric) const;

  /// Adds one round, in which a function has a count for each metric in `names`; functions missing
  /// from `run` get 0. `per_unit`: counts per base unit of the metric.
  void add_round(std::span<const std::string> names, std::span<const FunctionCounts> run,
                 double per_unit = 1.0);
};

}  // namespace lauka
