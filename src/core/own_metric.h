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

/// The unit of a metric that the user defined.
struct OwnUnit {
  std::string word{};       ///< unit as typed; may be empty
  Unit unit = Unit::Ratio;  ///< base unit of a known unit; Ratio if the unit is empty or unknown
  double size = 1.0;        ///< number of base units in the typed unit
  const DisplayUnit* shown_in = nullptr;  ///< display unit of the typed unit; null: fits each value
  bool is_known() const { return word.empty() || unit != Unit::Ratio; }
};

/// Returns the unit that `word` names: "ms", "MiB", "%", "J", "1". Any other word becomes an
/// unknown unit, which tables show next to the metric's name.
OwnUnit parse_own_unit(std::string_view word);

/// A value that a program reports about its region (lauka/region.h).
enum class RegionValue : unsigned char { Time, Entries };

/// A metric that the user defined as NAME[:UNIT][:higher|lower]=TEXT.
struct OwnMetric {
  std::string name{};
  OwnUnit unit{};
  Better better = Better::Less;
  bool has_direction = false;  ///< true if the user wrote higher or lower
  std::string text{};          ///< formula of a computed metric; empty: not computed
  std::optional<Pattern>
      pattern{};  ///< finds the value in the command's output; nullopt: not read from the output
  std::optional<RegionValue> region{};  ///< nullopt: not a value about the region
  Role role = Role::Other;

  bool is_scraped() const { return pattern.has_value(); }
  /// True if the program itself writes the value to LAUKA_METRICS.
  bool is_written() const { return text.empty() && !pattern && !region; }
};

/// True if a metric may have this name: a letter or _, then letters, digits and _ . - / %, at most
/// 100 characters in all.
bool is_own_name(std::string_view name);

/// Reads NAME[:UNIT][:higher|lower]. The error is a predicate; the caller adds the subject.
Result<OwnMetric> parse_own_metric(std::string_view head);

/// Reads "higher" or "lower"; nullopt for any other text.
std::optional<Better> parse_better(std::string_view word);

/// Reads a value such as 1,234.5 or 1.2e6 and returns it in base units. A unit may follow (12.5ms,
/// 3 MiB); its kind must be the kind of `unit`. Without a unit the value is in `unit`. Refuses
/// other text and values that is_measurable refuses. The error is a predicate; the caller adds the
/// subject.
Result<double> parse_own_value(std::string_view text, const OwnUnit& unit);

/// Returns the metric `own` as a row whose values `source` computes.
Metric make_metric(const OwnMetric& own, Formula source);

/// True if `value` is 0 or its magnitude is from 1e-30 to 1e30: beyond, statistics would overflow.
bool is_measurable(double value);

/// The operation that makes one value of several that one run reported.
enum class Combine : unsigned char { Mean, Sum, Last };

/// A line that a program wrote to LAUKA_METRICS: NAME VALUE [UNIT] [higher|lower] [sum|mean|last].
struct ReportedLine {
  OwnMetric metric{};
  std::string_view
      value{};  ///< value as written, to be read by parse_own_value; points into the line
  std::optional<Combine>
      combine{};  ///< nullopt: the mean, unless another line of this metric says how
};

/// Reads one line of LAUKA_METRICS. The error is a predicate; the caller adds the subject.
Result<ReportedLine> parse_reported_line(std::string_view line);

/// A term of a formula as typed; a string is the name of a metric or event.
using ExpressionTerm = std::variant<double, std::string, Operation>;
/// A formula as typed, in postfix order.
using Expression = std::vector<ExpressionTerm>;

/// Parses a formula: names, numbers (1000, 1.5e6), + - * / and parentheses. Names may contain
/// dashes (cache-misses), so a minus sign between names needs a blank before or after it. A name in
/// double quotes may contain any other characters ("cpu/event=0x3c/"). The error is a predicate;
/// the caller adds the subject.
Result<Expression> parse_expression(std::string_view text);

/// Returns the names in an expression, without duplicates.
std::vector<std::string> names_in(const Expression& expression);

}  // namespace lauka
