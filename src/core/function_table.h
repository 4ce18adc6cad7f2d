#pragma once

#include "core/call_paths.h"
#include "core/round_values.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

inline constexpr std::string_view kNoSymbols = "(code without symbols)";

/// Separates an event and a function in a name: "instructions@parse".
inline constexpr char kFunctionSeparator = '@';

inline constexpr std::string_view kSampledTime = "sampled_time";

/// The sampled time of a function with what it called: "total_time@parse".
inline constexpr std::string_view kTotalTime = "total_time";

/// Returns a function's name without parts that may differ between builds or processors: "f" for
/// "f.part.0", and "memcpy" for "__memcpy_avx_unaligned_erms" of the GNU C library. Returns
/// kNoSymbols if `name` is empty or "???".
std::string normalized_function(std::string_view name);

/// Returns the name without the last pair of parentheses and what follows it: "f" for "f(int)
/// const".
std::string_view without_parameters(std::string_view name);

/// A normalized name, taken apart into what the programmer wrote and the numbers that a compiler
/// added: "camlProg__parse" and 81 of "camlProg__parse_81". Another build may give the function
/// other numbers.
struct NumberedName {
  std::string without_numbers{};
  std::vector<std::uint64_t> numbers{};  ///< empty if the compiler added none
};

NumberedName split_numbers(std::string_view function);

/// The names of one function, normalized and all different: several names for one address, or
/// several functions that the linker folded into one.
struct FunctionName {
  std::string name{};  ///< the name that a programmer would most likely write
  std::vector<std::string> other_names{};

  bool operator==(const FunctionName&) const = default;
};

/// True if a programmer would rather write `name` than `other`: "malloc" than "__libc_malloc".
bool is_more_natural(std::string_view name, std::string_view other);

/// Returns a function's names, without duplicates, the most natural as the name. `names`: not
/// empty, normalized.
FunctionName make_function_name(std::vector<std::string> names);

/// The functions that the user asked for. A name without parameters also matches names with
/// parameters, and a name without a compiler's numbers matches names with numbers: "f" matches
/// "f(int)", and "camlProg__parse" matches "camlProg__parse_81".
class WantedFunctions {
 public:
  /// `names` must be normalized; an empty name matches no function.
  explicit WantedFunctions(std::span<const std::string> names);

  /// Returns the indices of the wanted names that match `function`, or one of its `other_names`, in
  /// ascending order. All are normalized names.
  std::vector<std::size_t> find(std::string_view function,
                                std::span<const std::string> other_names = {}) const;

 private:
  std::multimap<std::string, std::size_t, std::less<>> indices_by_name_;
};

struct FunctionCounts {
  std::string name;
  std::vector<std::uint64_t> counts;
  std::vector<std::string> other_names{};  ///< see FunctionName

  bool operator==(const FunctionCounts&) const = default;
};

/// Fewest rounds from which a difference of a function's values is tested, without --layouts.
inline constexpr std::size_t kMinFunctionRounds = 6;

struct FunctionMetric {
  std::string name;
  std::size_t rounds = 0;

  bool operator==(const FunctionMetric&) const = default;
};

struct FunctionTable {
  std::vector<FunctionMetric> metrics{};
  /// Values by the name of the function, in the order of `metrics`.
  std::map<std::string, std::vector<RoundValues>, std::less<>> functions{};
  /// Other names of functions, by the name in `functions`; only of functions that have several.
  std::map<std::string, std::set<std::string>, std::less<>> other_names{};
  /// Sampled time by call path, in the rounds of kSampledTime; empty if it was not recorded. All
  /// functions of its paths are in `functions`.
  PathTable paths{};

  bool empty() const { return metrics.empty(); }

  /// Returns the index in `metrics` of the metric named `metric`; the number of metrics if missing.
  std::size_t find(std::string_view metric) const;

  std::vector<std::string> other_names_of(std::string_view function) const;

  /// Adds a round of the metrics `metric_names`. Each function has a count for each of these names,
  /// in this order; counts for an empty name are ignored. Functions of the table that are missing
  /// from `functions_of_run` get 0. Stores counts divided by `counts_per_unit`.
  void add_round(std::span<const std::string> metric_names,
                 std::span<const FunctionCounts> functions_of_run, double counts_per_unit = 1.0);
};

}  // namespace lauka
