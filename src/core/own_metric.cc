#include "core/own_metric.h"

#include "core/choices.h"
#include "core/numbers.h"
#include "core/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

constexpr std::size_t kMaxNameBytes = 100;
constexpr std::size_t kMaxUnitBytes = 20;
constexpr std::size_t kMaxNumberBytes = 400;

std::size_t count_digits_at(std::string_view text, std::size_t from) {
  return std::min(text.find_first_not_of("0123456789", from), text.size()) - from;
}

/// Returns the length of the groups at `begin` that follow commas between thousands: 8 for the
/// groups of "1,234,567".
std::size_t measure_groups(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && text[end] == ',' && count_digits_at(text, end + 1) == 3) end += 4;
  return end - begin;
}

/// Returns the length of a number of the form -1,234.5e6 at the beginning of `text`; 0 if there is
/// no number.
std::size_t measure_number(std::string_view text) {
  std::size_t end = 0;
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  if (has_sign) ++end;

  // Only one to three digits can be the first group of thousands.
  const std::size_t digits_before_point = count_digits_at(text, end);
  end += digits_before_point;
  if (digits_before_point >= 1 && digits_before_point <= 3) end += measure_groups(text, end);

  // "5." and ".5" are numbers, but "." is none.
  const bool has_point = end < text.size() && text[end] == '.';
  const std::size_t digits_after_point = has_point ? count_digits_at(text, end + 1) : 0;
  if (digits_before_point == 0 && digits_after_point == 0) return 0;
  if (has_point) end += 1 + digits_after_point;
  return end + exponent_length(text, end);
}

constexpr const char* kReportedLineExample = "write, for example, 'requests 1234 higher sum'";

std::optional<Combine> parse_combine(std::string_view word) {
  if (word == "sum") return Combine::Sum;
  if (word == "mean") return Combine::Mean;
  if (word == "last") return Combine::Last;
  return std::nullopt;
}

constexpr const char* kFormulaExample = "write, for example, 'mpki=1000*cache-misses/instructions'";
constexpr std::size_t kMaxExpressionBytes = 10'000;

bool may_be_in_name(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == ':';
}

bool binds_tighter(Operation operation) {
  return operation == Operation::Multiply || operation == Operation::Divide;
}

std::optional<Operation> parse_operation(char c) {
  const std::size_t place = std::string_view("+-*/").find(c);  // in the order of Operation
  if (place == std::string_view::npos) return std::nullopt;
  return static_cast<Operation>(place);
}

/// Parses a formula by Dijkstra's shunting-yard algorithm.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : rest_(text) {}

  Result<Expression> parse() {
    if (rest_.size() > kMaxExpressionBytes)
      return Error{"is too long", "split it into several formulas"};
    for (skip_blanks(); !rest_.empty(); skip_blanks()) {
      auto taken = expects_operand_ ? take_operand() : take_operation();
      if (!taken) return taken.error();
    }
    if (expects_operand_)
      return Error{"ends where a metric or a number is missing", kFormulaExample};
    for (; !waiting_operations_.empty(); waiting_operations_.pop_back()) {
      if (!waiting_operations_.back()) return Error{"has a ( without a matching )", "add it"};
      expression_.emplace_back(*waiting_operations_.back());
    }
    return std::move(expression_);
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) consume(1);
  }

  std::string_view consume(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  Result<void> take_operand() {
    const char c = rest_.front();
    if (c == '(') {
      consume(1);
      waiting_operations_.emplace_back(std::nullopt);
      return {};
    }
    if (c == '-') return Error{"has a minus with nothing before it", "write 0 - x"};
    expects_operand_ = false;
    if (c == '"') return take_quoted();
    if (is_digit(c) || c == '.') return take_number();
    if (may_be_in_name(c)) return take_name();
    return Error{"has " + cited(consume(1)) + " where a metric or a number is missing",
                 kFormulaExample};
  }

  Result<void> take_operation() {
    const std::string_view sign = consume(1);
    if (sign.front() == ')') return close_parenthesis();
    const auto operation = parse_operation(sign.front());
    if (!operation)
      return Error{"has " + cited(sign) + " where + - * or / is missing", kFormulaExample};
    while (!waiting_operations_.empty() && waiting_operations_.back() &&
           (binds_tighter(*waiting_operations_.back()) || !binds_tighter(*operation))) {
      expression_.emplace_back(*waiting_operations_.back());
      waiting_operations_.pop_back();
    }
    waiting_operations_.emplace_back(operation);
    expects_operand_ = true;
    return {};
  }

  Result<void> close_parenthesis() {
    while (!waiting_operations_.empty() && waiting_operations_.back()) {
      expression_.emplace_back(*waiting_operations_.back());
      waiting_operations_.pop_back();
    }
    if (waiting_operations_.empty()) return Error{"has a ) without a matching (", "leave it out"};
    waiting_operations_.pop_back();
    return {};
  }

  Result<void> take_quoted() {
    const std::size_t end = rest_.find('"', 1);
    if (end == std::string_view::npos || end == 1)
      return Error{"has a \" that does not begin a name in double quotes", "write \"NAME\""};
    expression_.emplace_back(std::string(rest_.substr(1, end - 1)));
    consume(end + 1);
    return {};
  }

  Result<void> take_number() {
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789."), rest_.size());
    const std::string number(consume(end + exponent_length(rest_, end)));
    const bool is_number = std::ranges::count(number, '.') <= 1 && number != ".";
    const double value = is_number ? std::strtod(number.c_str(), nullptr) : HUGE_VAL;
    if (!std::isfinite(value) || (!rest_.empty() && may_be_in_name(rest_.front())))
      return Error{
          "has " + cited(number + std::string(rest_.substr(0, 1))) + ", which is not a number",
          "write 1000, 0.5 or 1e6; put a name that begins with a digit in double quotes"};
    expression_.emplace_back(value);
    return {};
  }

  Result<void> take_name() {
    std::size_t end = 0;
    while (end < rest_.size() &&
           (may_be_in_name(rest_[end]) ||
            (rest_[end] == '-' && end + 1 < rest_.size() && may_be_in_name(rest_[end + 1]))))
      ++end;
    expression_.emplace_back(std::string(consume(end)));
    return {};
  }

  std::string_view rest_;
  bool expects_operand_ = true;
  Expression expression_;  // in postfix order: operands, then their operation
  std::vector<std::optional<Operation>> waiting_operations_;  // nullopt: an open parenthesis
};

Error make_name_error(std::string_view name) {
  return {fmt::format("has the name {}", cited(name)),
          "begin a name with a letter, and continue with letters, digits, _ . - / or %"};
}

/// Removes a last word that says how values of a run are combined, and returns what it says;
/// nullopt if there is none.
std::optional<Combine> take_combine(std::vector<std::string_view>& words) {
  const auto combine = words.empty() ? std::nullopt : parse_combine(words.back());
  if (combine) words.pop_back();
  return combine;
}

/// Removes a last word "higher" or "lower", and sets the metric's direction from it.
void take_direction(std::vector<std::string_view>& words, OwnMetric& metric) {
  const auto better = words.empty() ? std::nullopt : parse_better(words.back());
  if (!better) return;
  metric.better = *better;
  metric.has_direction = true;
  words.pop_back();
}

bool is_unit_word(std::string_view word) {
  if (word == "1") return true;
  return !word.empty() && word.size() <= kMaxUnitBytes && one_line(word) == word &&
         word.find_first_of(" \t,=:()0123456789") == std::string_view::npos;
}

Error make_other_unit_error(const OwnUnit& written, const OwnUnit& expected) {
  const bool may_be_metrics_unit = written.is_known() && expected.word.empty();
  return Error{
      fmt::format("has {} after the number, but the metric's unit is {}", cited(written.word),
                  expected.word.empty() ? "none" : cited(expected.word)),
      may_be_metrics_unit ? fmt::format("give the metric this unit (NAME:{})", written.word)
                          : "leave it out, or give another unit"};
}

/// Returns the size of the unit that is written behind a number, in base units of the metric's
/// unit; an error if it is a unit of something else. A number without a unit is in the metric's
/// unit.
Result<double> find_unit_size(std::string_view written_unit, const OwnUnit& unit) {
  // "1" is the unit of plain numbers, so for a metric without a unit it is the same as none.
  const bool says_no_unit = written_unit == "1" && unit.word.empty();
  if (written_unit.empty() || written_unit == unit.word || says_no_unit)
    return unit.size_in_base_units;

  // A value in ms can be converted for a metric in s, but not for one in MiB.
  const OwnUnit written = parse_own_unit(written_unit);
  const bool can_be_converted = written.unit == unit.unit && written.is_known() && unit.is_known();
  if (!can_be_converted) return make_other_unit_error(written, unit);
  return written.size_in_base_units;
}

/// Returns the unit that is left of the words of a reported line; an error if something else is
/// left.
Result<OwnUnit> parse_unit_word(const std::vector<std::string_view>& words) {
  const std::string_view unit = words.front();
  if (words.size() > 1 || !is_unit_word(unit))
    return Error{fmt::format("has {}, which is not a unit, higher, lower, sum, mean or last",
                             cited(words.back())),
                 kReportedLineExample};
  return parse_own_unit(unit);
}

/// Returns the unit that follows a number directly, as in 12ms; nullopt if there is none, or an
/// unknown one (Unit::Ratio), which is an error that the parser of the value reports.
std::optional<OwnUnit> find_unit_in(std::string_view value) {
  const std::size_t after_number = value.find_last_of("0123456789.") + 1;
  const bool has_number = after_number > 0;
  OwnUnit unit = parse_own_unit(value.substr(after_number));
  if (!has_number || unit.unit == Unit::Ratio) return std::nullopt;
  return unit;
}

}  // namespace

bool is_in_numeric_range(double value) {
  const double magnitude = std::fabs(value);
  return value == 0.0 || (magnitude >= 1e-30 && magnitude <= 1e30);
}

OwnUnit parse_own_unit(std::string_view word) {
  OwnUnit unit{.word = std::string(word)};
  if (const DisplayUnit* known = find_display_unit(word)) {
    unit.unit = known->unit;
    unit.size_in_base_units = known->in_base_units;
    unit.shown_in = word == "1" ? nullptr : known;
  } else if (word == "%") {
    unit.unit = Unit::Fraction;
    unit.size_in_base_units = 0.01;
  } else if (word == "J") {
    unit.unit = Unit::Joules;
  }
  return unit;
}

bool is_valid_own_metric_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         (is_letter(name.front()) || name.front() == '_') && std::ranges::all_of(name, [](char c) {
           return is_letter(c) || is_digit(c) ||
                  std::string_view("_.-/%").find(c) != std::string_view::npos;
         });
}

std::optional<Better> parse_better(std::string_view word) {
  if (word == "higher") return Better::More;
  if (word == "lower") return Better::Less;
  return std::nullopt;
}

Result<OwnMetric> parse_own_metric(std::string_view head) {
  std::vector<std::string_view> parts = split(head, ':');
  OwnMetric metric{.name = std::string(trimmed(parts.front()))};
  if (!is_valid_own_metric_name(metric.name)) return make_name_error(metric.name);
  parts.erase(parts.begin());
  take_direction(parts, metric);
  if (parts.size() > 1)
    return Error{fmt::format("has {}, which is neither higher nor lower", cited(parts.back())),
                 "write higher or lower"};
  if (parts.empty()) return metric;

  const std::string_view unit = parts.front();
  if (!is_unit_word(unit))
    return Error{fmt::format("has the unit {}", cited(unit)),
                 "write a unit such as ms, MiB, % or $, or leave out the colon"};
  metric.unit = parse_own_unit(unit);
  return metric;
}

// Reads a value of a metric that a user defined, from the output of a program: a number, perhaps
// with a unit. `unit`: the metric's unit, in whose base unit the value is returned.
Result<double> parse_own_value(std::string_view text, const OwnUnit& unit) {
  text = trimmed(text);
  const std::size_t number_length = text.size() <= kMaxNumberBytes ? measure_number(text) : 0;
  if (number_length == 0) return Error{"is not a number", "write it as 1234.5, 1,234.5 or 1.2e6"};
  const auto unit_size = find_unit_size(trimmed(text.substr(number_length)), unit);
  if (!unit_size) return unit_size.error();

  // std::strtod understands no commas.
  std::string plain_number(text.substr(0, number_length));
  std::erase(plain_number, ',');
  const double value = std::strtod(plain_number.c_str(), nullptr) * *unit_size;
  if (!is_in_numeric_range(value))
    return Error{"is larger than 1e30 or smaller than 1e-30", "use another unit"};
  return value;
}

Metric make_metric(const OwnMetric& own, Formula source) {
  Metric metric{.name = own.name,
                .unit = own.unit.unit,
                .better = own.better,
                .source = std::move(source),
                .shown_in = own.unit.shown_in,
                .role = own.role};
  if (!own.unit.is_known()) metric.metric_suffix = "(" + own.unit.word + ")";
  return metric;
}

// Reads a line with which a program reports a metric of its own, such as "requests 1234 higher":
// NAME VALUE [UNIT] [higher|lower] [sum|mean|last].
Result<ReportedLine> parse_reported_line(std::string_view line) {
  std::vector<std::string_view> words = blank_separated(line);
  if (words.size() < 2) return Error{"is not of the form NAME VALUE", kReportedLineExample};
  if (!is_valid_own_metric_name(words[0])) return make_name_error(words[0]);

  ReportedLine reported{.metric = {.name = std::string(words[0])}, .value = words[1]};
  words.erase(words.begin(), words.begin() + 2);

  // The words after the value are optional. Those with a fixed spelling are removed from the end,
  // and what is left is the unit.
  reported.combine = take_combine(words);
  take_direction(words, reported.metric);

  // Without a word for the unit, the value itself may end with one: "12ms".
  const bool has_unit_word = !words.empty();
  if (!has_unit_word) {
    if (auto unit = find_unit_in(reported.value)) reported.metric.unit = *std::move(unit);
    return reported;
  }

  auto unit = parse_unit_word(words);
  if (!unit) return unit.error();
  reported.metric.unit = *std::move(unit);
  return reported;
}

Result<Expression> parse_expression(std::string_view text) {
  return ExpressionParser(text).parse();
}

std::vector<std::string> names_in(const Expression& expression) {
  std::vector<std::string> names;
  for (const ExpressionTerm& term : expression) {
    const auto* name = std::get_if<std::string>(&term);
    if (name != nullptr && std::ranges::find(names, *name) == names.end()) names.push_back(*name);
  }
  return names;
}

}  // namespace lauka
