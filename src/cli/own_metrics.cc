#include "cli/values.h"
#include "core/own_metric.h"
#include "core/pattern.h"

#include <cstddef>
#include <utility>

namespace lauka::cli {
namespace {

/// With what stands behind the = as its text.
Result<OwnMetric> own_metric(const Given& given, const char* example) {
  const std::size_t sign = given.value.find('=');
  if (sign == std::string::npos || sign + 1 == given.value.size())
    return refused(given, {sign == std::string::npos ? "has no =" : "has nothing behind the =",
                           std::string("write, for example, ") + example});
  auto metric = parse_own_metric(std::string_view(given.value).substr(0, sign));
  if (!metric) return refused(given, metric.error());
  metric->text = given.value.substr(sign + 1);
  return metric;
}

}  // namespace

Result<OwnMetric> derived_metric(const Given& given) {
  auto metric = own_metric(given, "'mpki=1000*cache-misses/instructions'");
  if (!metric) return metric;
  if (const auto expression = parse_expression(metric->text); !expression)
    return refused(given, expression.error());
  return metric;
}

Result<OwnMetric> scraped_metric(const Given& given) {
  auto metric = own_metric(given, "'rate:higher=([0-9.]+) requests/s'");
  if (!metric) return metric;
  if (const auto pattern = Pattern::compile(metric->text); !pattern)
    return refused(given, pattern.error());
  return metric;
}

Result<std::string> line_pattern(const Given& given) {
  if (auto given_text = text(given); !given_text) return given_text;
  if (const auto pattern = Pattern::compile(given.value, Pattern::Groups::Idle); !pattern)
    return refused(given, pattern.error());
  return given.value;
}

}  // namespace lauka::cli
