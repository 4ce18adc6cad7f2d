#include "report/precision.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// Three significant digits, so that what is hardly too wide does not read as what was asked for.
std::string percent_of(double fraction) {
  const double percent = 100 * fraction;
  const double magnitude = percent > 0 ? std::floor(std::log10(percent)) : 0.0;
  return fmt::format("±{:.{}f}%", percent, std::clamp(2 - static_cast<int>(magnitude), 0, 9));
}

std::string_view limit_of(PrecisionEnd end) {
  switch (end) {
    case PrecisionEnd::MaxRuns:
      return "--max-runs ended it first";
    case PrecisionEnd::Duration:
      return "--duration ended it first";
    case PrecisionEnd::ReferenceGone:
      return "no command comes back after its cleanup; --order random takes turns";
    case PrecisionEnd::Gates:
      return "the rounds that the gates took are noisier";
    case PrecisionEnd::Reached:
    case PrecisionEnd::Unfinished:
      break;
  }
  return "the session was cut short";
}

}  // namespace

std::string precision_line(const Results& results) {
  if (!results.precision) return "";
  const Precision& precision = *results.precision;
  const std::string reached =
      precision.half_width ? percent_of(*precision.half_width) : "no interval";
  // As typed: 100 * (0.0001 / 100) is not 0.0001.
  const std::string wanted = fmt::format("{:.6g}%", 100 * precision.wanted);
  const std::string runs = fmt::format("{} run{}", precision.runs, precision.runs == 1 ? "" : "s");
  if (precision.end == PrecisionEnd::Reached)
    return fmt::format("precision: {} after {} (asked for: {})\n", reached, runs, wanted);
  return fmt::format("precision: {} after {}, not {}: {}\n", reached, runs, wanted,
                     limit_of(precision.end));
}

}  // namespace lauka::report
