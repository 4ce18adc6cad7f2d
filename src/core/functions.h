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

/// The name under which code without symbols is shown.
inline constexpr std::string_view kNoSymbols = "(code without symbols)";

/// Separates an event and the function in which it is counted: "instructions@parse".
inline constexpr char kInFunction = '@';

/// Returns the name of a function without what compilers and linkers append, so that two builds'
/// names match: the suffixes of clones (".constprop.0", ".part.0", ".llvm.123", "[clone .cold]"),
/// Rust's hashes and versions of symbols ("@@GLIBC_2.34"). The variants of one function of libc for
/// several processors have one name: "memcpy" for "__memcpy_avx_unaligned_erms".
std::string normalized_function(std::string_view name);

/// Functions that users asked for by name. A name without parameters means all overloads: "parse"
/// is "parse(char const*)", too.
class WantedFunctions {
 public:
  /// `names` are normalized; empty ones mean no function.
  explicit WantedFunctions(std::span<const std::string> names);

  /// Returns the indices of the names that mean `function`, which is normalized.
  std::vector<std::size_t> find(std::string_view function) const;

 private:
  std::multimap<std::string, std::size_t, std::less<>> places_;
};

/// The counts of one function in one run, in the order of the run's events.
struct FunctionCounts {
  std::string name;
  std::vector<std::uint64_t> counts;

  bool operator==(const FunctionCounts&) const = default;
};

/// Rounds from which values that vary are compared: with fewer, normal variation looks like a
/// difference too often or never.
inline constexpr std::size_t kMinFunctionRounds = 6;

/// The values of one metric of one function: empty if it is 0 in every round, one value if it is
/// the same in every round, else a value for each round.
using RoundValues = std::vector<double>;

/// Returns the value in a round.
double value_in(const RoundValues& values, std::size_t round);

/// Returns the mean over `rounds`.
double mean_of(const RoundValues& values, std::size_t rounds);

/// A metric that is known for each function, and the number of its rounds.
struct FunctionMetric {
  std::string name;
  std::size_t rounds = 0;

  bool operator==(const FunctionMetric&) const = default;
};

/// The functions of one command. Their values add up to the values of the whole command, round by
/// round.
struct FunctionTable {
  std::vector<FunctionMetric> metrics{};
  /// By normalized name; the values are in the order of `metrics`.
  std::map<std::string, std::vector<RoundValues>, std::less<>> functions{};

  bool empty() const { return metrics.empty(); }

  /// Returns the index of a metric; the number of metrics if it is missing.
  std::size_t find(std::string_view metric) const;

  /// Adds a round of `names`, which are metrics; a function without counts has 0. `per_unit`: the
  /// counts that are one base unit of the metrics.
  void add_round(std::span<const std::string> names, std::span<const FunctionCounts> run,
                 double per_unit = 1.0);
};

}  // namespace lauka
