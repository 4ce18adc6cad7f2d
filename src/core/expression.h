#pragma once

#include "core/metric.h"
#include "core/result.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka {

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
