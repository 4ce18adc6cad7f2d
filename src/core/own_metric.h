#pragma once

#include "core/metric.h"
#include "core/pattern.h"
#include "core/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka {

struct OwnUnit {
  std::string word{};
  Unit unit = Unit::Ratio;          ///< Ratio if `word` is empty or not a known unit
  double size_in_base_units = 1.0;  ///< number of base units in this unit
  const DisplayUnit* shown_in = nullptr;
  bool is_known() const { return word.empty() || unit != Unit::Ratio; }
};

/// Returns the unit named `word` ("ms", "%"). If `word` is not a known unit, OwnUnit::unit is
/// Ratio.
OwnUnit parse_own_unit(std::string_view word);

/// A value that a program reports about its region (lauka/region.h).
enum class RegionValue : unsigned char { Time, Entries };

struct OwnMetric {
  std::string name{};
  OwnUnit unit{};
  Better better = Better::Less;
  bool has_direction = false;        ///< true if the user or the program chose `better`
  std::string formula{};             ///< formula of a computed metric; else empty
  std::optional<Pattern> pattern{};  ///< finds the value in the command's output; nullopt: the
                                     ///< value is not read from the output
  std::optional<RegionValue> region{};
  Role role = Role::Other;

  bool is_scraped() const { return pattern.has_value(); }
  /// True if the value is expected in the file of LAUKA_METRICS, which the program writes.
  bool is_from_metrics_file() const { return formula.empty() && !pattern && !region; }
};

/// True if `name` has the form of a user's metric name: a letter or _, then letters, digits and
/// _ . - / %, at most 100 characters in all.
bool is_valid_own_metric_name(std::string_view name);

/// Reads NAME[:UNIT][:higher|lower]. The error is a predicate: "has '1x' for a name".
Result<OwnMetric> parse_own_metric(std::string_view head);

std::optional<Better> parse_better(std::string_view word);

/// Reads a value such as 1,234.5 or 12.5ms, and returns it in base units. A value without a unit is
/// in `unit`; another unit must be of the same kind. The error is a predicate: "is not a number".
Result<double> parse_own_value(std::string_view text, const OwnUnit& unit);

/// Returns `own` as a Metric with the formula `source`.
Metric make_metric(const OwnMetric& own, Formula source);

/// True if `value` is 0 or its magnitude is from 1e-30 to 1e30. Statistics of other values could
/// overflow.
bool is_in_numeric_range(double value);

enum class Combine : unsigned char { Mean, Sum, Last };

/// A line of the file of LAUKA_METRICS: NAME VALUE [UNIT] [higher|lower] [sum|mean|last].
struct ReportedLine {
  OwnMetric metric{};
  std::string_view value{};  ///< VALUE, a part of the line that was read
  std::optional<Combine> combine{};
};

/// Reads a line of the file of LAUKA_METRICS. The error is a predicate: "is not NAME VALUE".
Result<ReportedLine> parse_reported_line(std::string_view line);

/// A term of a formula as typed; a string is the name of a metric or event.
using ExpressionTerm = std::variant<double, std::string, Operation>;
/// A formula as typed, in postfix order.
using Expression = std::vector<ExpressionTerm>;

/// Parses a formula of names, numbers, + - * / and parentheses. A minus sign between two names
/// needs a blank beside it, because names may contain dashes (cache-misses). A name with characters
/// such as = must be in double quotes. The error is a predicate: "is too long".
Result<Expression> parse_expression(std::string_view text);

/// Returns the names in an expression, without duplicates.
std::vector<std::string> names_in(const Expression& expression);

}  // namespace lauka
