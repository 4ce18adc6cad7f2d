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

/// The unit of a metric of the user's own. Values are in it; known units are converted.
struct OwnUnit {
  std::string word{};       ///< unit as typed; may be empty
  Unit unit = Unit::Ratio;  ///< unit if lauka knows it; Ratio: a plain number, or unknown
  double size = 1.0;        ///< size of the typed unit in base units
  const DisplayUnit* shown_in = nullptr;  ///< null: the one that fits each value
  bool is_known() const { return word.empty() || unit != Unit::Ratio; }
};

/// Returns the unit of "ms", "MiB", "%", "J", "1" or any other word, which is shown next to the
/// name.
OwnUnit parse_own_unit(std::string_view word);

/// A value that a program writes about its region (lauka/region.h).
enum class RegionValue : unsigned char { Time, Entries };

/// A metric of the user's own, as typed: NAME[:UNIT][:higher|lower]=TEXT.
struct OwnMetric {
  std::string name{};
  OwnUnit unit{};
  Better better = Better::Less;
  bool has_direction = false;           ///< higher or lower was written
  std::string text{};                   ///< the formula of a derived metric; empty: it has none
  std::optional<Pattern> pattern{};     ///< finds it in the output; nullopt: it is not scraped
  std::optional<RegionValue> region{};  ///< nullopt: not of the region
  Role role = Role::Other;

  bool is_scraped() const { return pattern.has_value(); }
  /// True if the program writes it to LAUKA_METRICS.
  bool is_written() const { return text.empty() && !pattern && !region; }
};

/// True if `name` can be a metric's: a letter or _, then letters, digits, _ . - / and %, at most
/// 100 characters.
bool is_own_name(std::string_view name);

/// Reads NAME[:UNIT][:higher|lower]. The error is a predicate, as in numbers.h.
Result<OwnMetric> parse_own_metric(std::string_view head);

/// Reads "higher" or "lower"; nullopt for another word.
std::optional<Better> parse_better(std::string_view word);

/// Reads a value, returned in base units: 1,234.5 or 1.2e6, with an optional unit after it
/// (12.5ms, 3 MiB), which must be of the same kind as `unit`; without one it is in `unit`. Refuses
/// other text, nan, and values that are not is_measurable. The error is a predicate.
Result<double> parse_own_value(std::string_view text, const OwnUnit& unit);

/// Returns the row of `own` with the values of `source`.
Metric make_metric(const OwnMetric& own, Formula source);

/// True if `value` is 0 or from 1e-30 to 1e30: statistics of others would overflow.
bool is_measurable(double value);

/// The way in which several values of a run are combined.
enum class Combine : unsigned char { Mean, Sum, Last };

/// A line that a program wrote to LAUKA_METRICS: NAME VALUE [UNIT] [higher|lower] [sum|mean|last].
struct ReportedLine {
  OwnMetric metric{};
  std::string_view value{};          ///< value as written, a part of the line; see parse_own_value
  std::optional<Combine> combine{};  ///< nullopt: the mean, unless another line has one
};

/// Reads such a line. The error is a predicate, as in numbers.h.
Result<ReportedLine> parse_reported_line(std::string_view line);

/// A formula as typed, in postfix order; a name is a metric's or an event's.
using ExpressionTerm = std::variant<double, std::string, Operation>;
using Expression = std::vector<ExpressionTerm>;

/// Parses an expression: names, numbers (1000, 1.5e6), + - * / and parentheses. A name may have
/// dashes inside (cache-misses), so a minus needs a blank before or after it; a name in double
/// quotes may have anything ("cpu/event=0x3c/"). The error is a predicate, as in numbers.h.
Result<Expression> parse_expression(std::string_view text);

/// Returns the names in it, each once.
std::vector<std::string> names_in(const Expression& expression);

}  // namespace lauka
