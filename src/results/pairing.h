#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// A row of one side's table of functions.
struct FunctionToPair {
  std::string_view name{};
  std::vector<std::string> other_names{};  ///< see FunctionName
  double mean = 0.0;                       ///< over the rounds
};

/// How the rows of two sides were found to be the same function.
enum class PairedBy : unsigned char {
  Name,  ///< by a name that both have; also the pairing of a function that one side lacks
  /// By the name without the numbers that a compiler gives to functions, which is unique.
  NameWithoutNumbers,
  /// By their order among the functions that differ in such numbers only, and by their counts.
  OrderAndCounts,
};

/// A function and its rows on each side; several rows if the other side has them as one function.
/// Empty if the side lacks the function.
struct PairedFunction {
  std::string name{};
  std::vector<std::string> other_names{};
  std::vector<std::size_t> reference_rows{};
  std::vector<std::size_t> candidate_rows{};
  PairedBy paired_by = PairedBy::Name;
};

/// Pairs the functions of two sides. Each row is in exactly one element of the result.
///
/// Functions that share a name are one function. A name with a compiler's numbers (see
/// split_numbers) says nothing if the sides have other numbers of it, because a function that was
/// added renames the functions below it. Such functions are paired by the name without numbers.
std::vector<PairedFunction> pair_functions(std::span<const FunctionToPair> reference,
                                           std::span<const FunctionToPair> candidate);

}  // namespace lauka
