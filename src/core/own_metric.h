#pragma once

#include "core/metric.h"
#include "core/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka {

/// The unit of a metric of the user's own. A value is told in it; known ones are converted.
struct OwnUnit {
  std::string word{};                     ///< as typed; empty: none
  Unit unit = Unit::Ratio;                ///< what lauka takes it for
  double size = 1.0;                      ///< in base units
  const DisplayUnit* shown_in = nullptr;  ///< null: the one that fits each value
  bool is_known() const { return word.empty() || unit != Unit::Ratio; }
};

/// "ms", "MiB", "%", "J", "1" or any other word, which is shown beside the name.
OwnUnit own_unit_of(std::string_view word);

/// What a program notes of its region (lauka/region.h).
enum class RegionValue : unsigned char { Time, Entries };

/// A metric of the user's own, as typed: NAME[:UNIT][:higher|lower]=TEXT.
struct OwnMetric {
  std::string name{};
  OwnUnit unit{};
  Better better = Better::Less;
  std::string text{};  ///< a formula, or a regular expression; empty: the program writes it to
                       ///< LAUKA_METRICS, or it is of the region
  std::optional<RegionValue> region{};  ///< that it is
  Role role = Role::Other;

  bool is_scraped() const { return !text.empty(); }
  bool is_written() const { return text.empty() && !region; }
};

/// Whether a unit may be written so: a word without blanks, digits (but for "1") and , = : ( ).
bool is_unit_word(std::string_view word);

/// Whether a metric may be called so: letters, digits, _ . - / and % behind a letter or _, at most
/// 100 of them.
bool is_own_name(std::string_view name);

/// What stands before the =, or alone in --metrics. The error is a predicate, as in numbers.h.
Result<OwnMetric> parse_own_metric(std::string_view head);

/// "higher" or "lower"; none where it is neither.
std::optional<Better> better_of(std::string_view word);

/// The value that `text` is, in base units: 1,234.5 or 1.2e6, with or without a unit behind it
/// (12.5ms, 3 MiB), which has to be of the same kind as `unit`; without one it is in `unit`.
/// Refused: what is no number, nan, and what is not is_measurable. The error is a predicate.
Result<double> parse_own_value(std::string_view text, const OwnUnit& unit);

/// The row of `own`, whose values `source` gives.
Metric metric_of(const OwnMetric& own, Formula source);

/// Beyond 1e30, or nearer to 0 than 1e-30, a value is an accident, and statistics would overflow.
bool is_measurable(double value);

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

/// A formula as typed, in postfix order; names are those of metrics and events.
using ExpressionTerm = std::variant<double, std::string, Operation>;
using Expression = std::vector<ExpressionTerm>;

/// The expression that `text` is: names, numbers (1000, 1.5e6), + - * / and parentheses. A name may
/// have dashes inside (cache-misses), so that a minus has a blank before or behind it; one in
/// double quotes may have anything ("cpu/event=0x3c/"). The error is a predicate, as in numbers.h.
Result<Expression> parse_expression(std::string_view text);

/// The names in it, each once.
std::vector<std::string> names_in(const Expression& expression);

}  // namespace lauka
