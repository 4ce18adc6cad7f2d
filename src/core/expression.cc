#include "core/expression.h"

#include "core/foreign_text.h"
#include "core/numbers.h"
#include "core/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>

namespace lauka {
namespace {

constexpr const char* kExample = "write, for example, 'mpki=1000*cache-misses/instructions'";
constexpr std::size_t kLongest = 10'000;  // characters

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.' ||
         c == ':';
}

bool binds_tighter(Operation operation) {
  return operation == Operation::Multiply || operation == Operation::Divide;
}

std::optional<Operation> operation_of(char c) {
  switch (c) {
    case '+':
      return Operation::Add;
    case '-':
      return Operation::Subtract;
    case '*':
      return Operation::Multiply;
    case '/':
      return Operation::Divide;
    default:
      return std::nullopt;
  }
}

/// Dijkstra's shunting yard: without recursion, so that no text is too deep.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : rest_(text) {}

  Result<Expression> parse() {
    if (rest_.size() > kLongest) return Error{"is too long", "divide it into several"};
    for (skip_blanks(); !rest_.empty(); skip_blanks()) {
      auto taken = expects_operand_ ? take_operand() : take_operation();
      if (!taken) return taken.error();
    }
    if (expects_operand_) return Error{"ends where a metric or a number is missing", kExample};
    for (; !waiting_.empty(); waiting_.pop_back()) {
      if (!waiting_.back()) return Error{"has a ( without its )", "add it"};
      done_.emplace_back(*waiting_.back());
    }
    return std::move(done_);
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) take(1);
  }

  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  Result<void> take_operand() {
    const char c = rest_.front();
    if (c == '(') {
      take(1);
      waiting_.emplace_back(std::nullopt);
      return {};
    }
    if (c == '-') {  // of what follows: 0 minus that, before * and / as well
      return Error{"has a minus with nothing before it", "write 0 - x"};
    }
    expects_operand_ = false;
    if (c == '"') return take_quoted();
    if (is_digit(c) || c == '.') return take_number();
    if (is_of_name(c)) return take_name();
    return Error{"has " + cited(take(1)) + " where a metric or a number is missing", kExample};
  }

  Result<void> take_operation() {
    const std::string_view sign = take(1);
    if (sign.front() == ')') return close();
    const auto operation = operation_of(sign.front());
    if (!operation) return Error{"has " + cited(sign) + " where + - * or / is missing", kExample};
    while (!waiting_.empty() && waiting_.back() &&
           (binds_tighter(*waiting_.back()) || !binds_tighter(*operation))) {
      done_.emplace_back(*waiting_.back());
      waiting_.pop_back();
    }
    waiting_.emplace_back(operation);
    expects_operand_ = true;
    return {};
  }

  Result<void> close() {
    while (!waiting_.empty() && waiting_.back()) {
      done_.emplace_back(*waiting_.back());
      waiting_.pop_back();
    }
    if (waiting_.empty()) return Error{"has a ) without its (", "leave it out"};
    waiting_.pop_back();
    return {};
  }

  Result<void> take_quoted() {
    const std::size_t end = rest_.find('"', 1);
    if (end == std::string_view::npos || end == 1)
      return Error{"has a \" without a name and another one", "write \"NAME\""};
    done_.emplace_back(std::string(rest_.substr(1, end - 1)));
    take(end + 1);
    return {};
  }

  Result<void> take_number() {
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789."), rest_.size());
    const std::string number(take(end + exponent_at(rest_, end)));
    const bool is_number = std::ranges::count(number, '.') <= 1 && number != ".";
    const double value = is_number ? std::strtod(number.c_str(), nullptr) : HUGE_VAL;
    if (!std::isfinite(value) || (!rest_.empty() && is_of_name(rest_.front())))
      return Error{
          "has " + cited(number + std::string(rest_.substr(0, 1))) + ", which is not a number",
          "write 1000, 0.5 or 1e6; put a name that begins with a digit in double quotes"};
    done_.emplace_back(value);
    return {};
  }

  /// A dash between two characters of a name belongs to it.
  Result<void> take_name() {
    std::size_t end = 0;
    while (end < rest_.size() &&
           (is_of_name(rest_[end]) ||
            (rest_[end] == '-' && end + 1 < rest_.size() && is_of_name(rest_[end + 1]))))
      ++end;
    done_.emplace_back(std::string(take(end)));
    return {};
  }

  std::string_view rest_;
  bool expects_operand_ = true;
  Expression done_;
  std::vector<std::optional<Operation>> waiting_;  // none: a parenthesis
};

}  // namespace

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
