#pragma once

#include "report/style.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

/// A warning in words: what the JSON lists, and what the lines below are made from.
struct WordedWarning {
  std::optional<std::size_t> command;  ///< its index; none: all of them
  std::string_view kind;               ///< for programs: "first_run_slow"
  std::string text;                    ///< what was seen, with numbers; no full stop
  std::string advice;                  ///< what to do about it; no full stop
};

/// All of them, in the order of Results::warnings; also those of rows that the table leaves out.
std::vector<WordedWarning> worded_warnings(const Results& results);

/// A text for each kind of warning about what `style` shows, one line for all commands that it is
/// about.
std::vector<std::string> warning_texts(const Results& results, const Style& style);

/// Such a text, and what is said in it whatever the command, which other benchmarks may share.
struct WarningLine {
  std::string text;
  std::string general;
};

/// ByWeight: those about deltas and gates first.
enum class WarningOrder : unsigned char { AsFound, ByWeight };

std::vector<WarningLine> warnings_of(const Results& results, const Style& style,
                                     WarningOrder order);

/// The same as lines for standard error, broken between words at the style's width.
std::string warning_lines(const Results& results, const Style& style);

}  // namespace lauka::report
