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

/// Separates an event and a function in a name: "instructions@parse".
inline constexpr char kFunctionSeparator = '@';

inline constexpr std::string_view kSampledTime = "sampled_time";

/// Returns a function's name without parts that may differ between builds or processors: "f" for
/// "f.part.0", "memcpy" for "__memcpy_avx_unaligned_erms". Returns kNoSymbols if `name` is empty or
/// "???".
std::string normalized_function(std::string_view name);

/// The functions that the user asked for. A name without parameters also matches names with
/// parameters: "f" matches "f(int)".
class WantedFunctions {
 public:
  /// `names` must be normalized; an empty name matches no function.
  explicit WantedFunctions(std::span<const std::string> names);

  /// Returns the indices of the wanted names that match `function`, a normalized name.
  std::vector<std::size_t> find(std::string_view function) const;

 private:
  std::multimap<std::string, std::size_t, std::less<>> places_;
};

struct FunctionCounts {
  std::string name;
  std::vector<std::uint64_t> counts;

  bool operator==(const FunctionCounts&) const = default;
};

/// Fewest rounds from which a difference of a function's values is tested, without --layouts.
inline constexpr std::size_t kMinFunctionRounds = 6;

/// The values of one metric for one function, by round. An empty vector means 0 in every round; a
/// single value means this value in every round.
using RoundValues = std::vector<double>;

double value_in(const RoundValues& values, std::size_t round);

double mean_of(const RoundValues& values, std::size_t rounds);

struct FunctionMetric {
  std::string name;
  std::size_t rounds = 0;

  bool operator==(const FunctionMetric&) const = default;
};

struct FunctionTable {
  std::vector<FunctionMetric> metrics{};
  /// Values by the name of the function, in the order of `metrics`.
  std::map<std::string, std::vector<RoundValues>, std::less<>> functions{};

  bool empty() const { return metrics.empty(); }

  /// Returns the index in `metrics` of the metric named `metric`; the number of metrics if missing.
  std::size_t find(std::string_view metric) const;

  /// Adds a round of the metrics `names`. Each function in `run` has a count for each of `names`,
  /// in this order; functions that are missing from `run` get 0. Stores counts divided by
  /// `per_unit`.
  void add_round(std::span<const std::string> names, std::span<const FunctionCounts> run,
                 double per_unit = 1.0);
};

}  // namespace lauka
