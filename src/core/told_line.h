#pragma once

#include "core/own_metric.h"
#include "core/result.h"

#include <optional>
#include <string_view>

namespace lauka {

/// What becomes of several values of a run.
enum class Combine : unsigned char { Mean, Sum, Last };

/// A line that a program wrote to LAUKA_METRICS: NAME VALUE [UNIT] [higher|lower] [sum|mean|last].
struct ToldLine {
  OwnMetric metric{};
  std::string_view value{};          ///< as written, part of the line; see parse_own_value
  std::optional<Better> better{};    ///< as written
  std::optional<Combine> combine{};  ///< none: the mean, unless another line says otherwise
};

/// The error is a predicate, as in numbers.h.
Result<ToldLine> parse_told_line(std::string_view line);

}  // namespace lauka
