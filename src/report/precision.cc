#include "report/cells.h"
#include "report/lines.h"

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
      return "--max-runs was reached";
    case PrecisionEnd::Duration:
      return "--duration was used up";
    case PrecisionEnd::ReferenceGone:
      return "in sequential order no command is run again; --order random takes turns";
    case PrecisionEnd::Gates:
      return "the further rounds of the gates were noisier";
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
  const std::string start =
      fmt::format("precision of {}: {} after {}", spoken(precision.metric), reached, runs);
  if (precision.end == PrecisionEnd::Reached)
    return fmt::format("{} (asked for: ±{})\n", start, wanted);
  return fmt::format("{}, short of the ±{} asked for: {}\n", start, wanted,
                     limit_of(precision.end));
}

}  // namespace lauka::report
