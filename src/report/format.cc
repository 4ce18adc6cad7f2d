#include "report/format.h"

#include "core/choices.h"
#include "core/text.h"
#include "os/signals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::string_view kMinus = "−";
constexpr std::string_view kNoNumber = "n/a";  // for what is not finite
constexpr int kMaxDecimals = 6;
constexpr int kMostPlaces = 15;  // before the point, in a unit that was asked for
constexpr int kFewestDigits = 3;
constexpr int kMostOfRange = 6;
constexpr int kMostDigits = 7;          // of a mean
constexpr double kWrittenInFull = 1e4;  // counts below

/// A power of ten of the base unit, with its own name.
struct Scale {
  int exponent;
  std::string_view suffix;
};

constexpr auto kTimes = std::to_array<Scale>({{-9, "ns"}, {-6, "µs"}, {-3, "ms"}, {0, "s"}});
constexpr auto kEnergies =
    std::to_array<Scale>({{-9, "nJ"}, {-6, "µJ"}, {-3, "mJ"}, {0, "J"}, {3, "kJ"}, {6, "MJ"}});
constexpr auto kBytes = std::to_array<Scale>(
    {{0, "B"}, {3, "kB"}, {6, "MB"}, {9, "GB"}, {12, "TB"}, {15, "PB"}, {18, "EB"}});
constexpr auto kCounts =
    std::to_array<Scale>({{0, ""}, {3, "K"}, {6, "M"}, {9, "G"}, {12, "T"}, {15, "P"}, {18, "E"}});
constexpr auto kFractions = std::to_array<Scale>({{-2, "%"}});

/// Above 999 s, units that people use replace decimal prefixes.
struct LongTime {
  double seconds;
  std::string_view suffix;
};
constexpr auto kLongTimes = std::to_array<LongTime>({{60, "min"}, {3600, "h"}, {86400, "d"}});

std::span<const Scale> scales_of(Unit unit) {
  switch (unit) {
    case Unit::Seconds:
      return kTimes;
    case Unit::Bytes:
      return kBytes;
    case Unit::Fraction:
      return kFractions;
    case Unit::Joules:
      return kEnergies;
    case Unit::Count:
    case Unit::Ratio:
      break;
  }
  return kCounts;
}

std::string_view base_suffix(Unit unit) {
  if (unit == Unit::Joules) return "J";
  return unit == Unit::Seconds ? "s" : unit == Unit::Bytes ? "B" : "";
}

/// d.dd · 10^exponent. Moving the decimal point in the text, instead of multiplying by 1000, rounds
/// once only, and lets the unit be chosen after rounding.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal rounded(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const std::size_t e = text.find('e');
  Decimal decimal;
  decimal.digits = text.substr(0, e);
  std::erase(decimal.digits, '.');
  const std::size_t from = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + from, text.data() + text.size(), decimal.exponent);
  return decimal;
}

/// The digits with the decimal point where 10^`unit_exponent` is the unit.
std::string placed(const Decimal& decimal, int unit_exponent) {
  const int before = decimal.exponent - unit_exponent + 1;
  const auto size = static_cast<int>(decimal.digits.size());
  if (before <= 0)
    return "0." + std::string(static_cast<std::size_t>(-before), '0') + decimal.digits;
  if (before >= size)
    return decimal.digits + std::string(static_cast<std::size_t>(before - size), '0');
  std::string text = decimal.digits;
  text.insert(static_cast<std::size_t>(before), 1, '.');
  return text;
}

std::string positive_quantity(double value, Unit unit, int digits) {
  const Decimal decimal = rounded(value, digits);
  const std::span<const Scale> scales = scales_of(unit);
  for (const LongTime& longer : kLongTimes) {
    if (unit != Unit::Seconds || decimal.exponent < 3) break;
    const Decimal of_longer = rounded(value / longer.seconds, digits);
    if (of_longer.exponent < 3) return placed(of_longer, 0).append(longer.suffix);
  }
  const bool beyond_units = decimal.exponent < scales.front().exponent - 3 ||
                            decimal.exponent >= scales.back().exponent + 3;
  if (beyond_units) return fmt::format("{:.{}e}{}", value, digits - 1, base_suffix(unit));
  const Scale* best = &scales.front();
  for (const Scale& scale : scales)
    if (scale.exponent <= decimal.exponent) best = &scale;
  return placed(decimal, best->exponent).append(best->suffix);
}

/// `value` with a fixed number of decimals, as text and as the number that the text shows.
struct Fixed {
  std::string text;
  double value = 0.0;
};

Fixed fixed(double value, int decimals) {
  Fixed result{fmt::format("{:.{}f}", value, decimals)};
  result.value = std::strtod(result.text.c_str(), nullptr);
  return result;
}

/// True if a half width is shown well enough. Half widths are themselves known to about a quarter
/// (from ten runs, σ is); 0.05 shown as 0.1 would be twice as much.
bool is_close(double shown, double half_width) {
  return std::fabs(shown - half_width) <= 0.25 * half_width;
}

/// From here on percentages are written as counts are ("+123K%").
constexpr double kLargePercent = 1e5;

std::string percent(double magnitude, int decimals) {
  if (magnitude >= kLargePercent) return quantity(magnitude, Unit::Count) + "%";
  return fixed(magnitude, decimals).text + "%";
}

/// A number with its interval, and its value if nothing changes: 0 for percent, 1 for a ratio.
struct Estimate {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
  double neutral = 0.0;

  double above() const { return high - value; }
  double below() const { return value - low; }
  double half() const { return std::max(above(), below()); }
  double distance() const { return std::fabs(value - neutral); }
  bool is_significant() const { return low > neutral || high < neutral; }
  double bound_nearest_neutral() const { return low > neutral ? low : high; }

  /// True if one half width is enough: at most a quarter longer than the interval's sides, and, if
  /// significant, not reaching the neutral value.
  bool is_even() const {
    constexpr double most = 5.0 / 3.0;
    constexpr double rounding = 1e-10;
    const bool alike = half() <= most * std::min(above(), below()) + rounding;
    return alike && (!is_significant() || distance() > half());
  }

  bool shows_bounds(int decimals) const {
    const double allowed = (high - low) / 8;
    return std::fabs(fixed(low, decimals).value - low) <= allowed &&
           std::fabs(fixed(high, decimals).value - high) <= allowed &&
           (!is_significant() || fixed(bound_nearest_neutral(), decimals).value != neutral);
  }
};

template <typename IsEnough>
int decimals_from(int decimals, IsEnough is_enough) {
  while (decimals < kMaxDecimals && !is_enough(decimals)) ++decimals;
  return decimals;
}

int decimals_of_delta(const Estimate& delta) {
  const bool integers_say_it = (delta.high - delta.low) / 2 >= 10;
  return decimals_from(integers_say_it ? 0 : 1, [&](int n) {
    if (!delta.is_even()) return delta.shows_bounds(n);
    const double half = fixed(delta.half(), n).value;
    return is_close(half, delta.half()) &&
           (!delta.is_significant() || fixed(delta.distance(), n).value > half);
  });
}

int decimals_of_ratio(const Estimate& ratio) {
  const double width = (ratio.high - ratio.low) / 2;
  return decimals_from(
      width >= 10  ? 0
      : width >= 1 ? 1
                   : 2,
      [&](int n) {
        const bool differs = ratio.value == 1 || fixed(ratio.value, n).value != 1;
        return differs && (ratio.is_even() ? is_close(fixed(ratio.half(), n).value, ratio.half())
                                           : ratio.shows_bounds(n));
      });
}

bool are_finite(const std::optional<stats::ChangeBounds>& bounds) {
  return bounds && std::isfinite(100 * bounds->low) && std::isfinite(100 * bounds->high);
}

Estimate to_percent(double change, const stats::ChangeBounds& bounds) {
  return {100 * change, 100 * bounds.low, 100 * bounds.high, 0.0};
}

/// Returns decimals that show `value` (above 0) with two significant digits; 0 from a hundred on.
int decimals_of_two(double value) {
  const double rounded_up = value * (1 + 0.005);  // 9.96 is "10"
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(rounded_up))), 0, kMaxDecimals);
}

std::string two_digits(double value) {
  return value > 0 ? fixed(value, decimals_of_two(value)).text : "0";
}

/// Formats σ in the largest unit in which it is at least 0.1, and which is not above the unit of
/// `mean`. One decimal is enough if it shows σ to a quarter, which is as well as ten runs know it.
std::string deviation_text(double stddev, double mean, Unit unit) {
  if (stddev <= 0) return quantity(0, unit);
  const std::span<const Scale> scales = scales_of(unit);
  const Scale* best = &scales.front();
  for (const Scale& scale : scales) {
    const double size = std::pow(10.0, scale.exponent);
    if (stddev >= 0.0995 * size && (mean == 0 || std::fabs(mean) >= size)) best = &scale;
  }
  const double value = stddev / std::pow(10.0, best->exponent);
  const bool is_part = value >= 0.0995 && value < 1 && is_close(fixed(value, 1).value, value);
  return (is_part ? fixed(value, 1).text : two_digits(value)).append(best->suffix);
}

/// The power of ten of a mean's last reliable digit: σ is 0.28 to 2.8 times that.
int last_digit(double stddev) {
  return static_cast<int>(std::floor(std::log10(stddev) + 0.55));
}

int digits_of_mean(double mean, double stddev, Unit unit) {
  if (mean == 0) return kFewestDigits;
  if (stddev <= 0) return unit == Unit::Count ? kMostDigits - 1 : kFewestDigits;
  const int first = rounded(std::fabs(mean), kMostDigits).exponent;
  return std::clamp(first - last_digit(stddev) + 1, kFewestDigits, kMostDigits);
}

/// Formats a count below 10,000, whose σ has no unit either.
std::string small_count(double mean, double stddev) {
  int decimals = 0;
  if (stddev > 0 || mean != std::round(mean)) {
    const int first = mean == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::fabs(mean))));
    const int sure = stddev > 0 ? decimals_of_two(stddev) : kMaxDecimals;
    decimals = std::clamp(kFewestDigits - 1 - first, 0, sure);
  }
  return std::string(mean < 0 ? kMinus : "") + fixed(std::fabs(mean), decimals).text + " ± " +
         two_digits(stddev);
}

}  // namespace

std::string quantity(double value, Unit unit, int digits) {
  if (!std::isfinite(value)) return std::string(kNoNumber);
  if (value == 0) return "0" + std::string(unit == Unit::Fraction ? "%" : base_suffix(unit));
  if (unit == Unit::Count && std::fabs(value) < kWrittenInFull && value == std::round(value))
    return std::string(value < 0 ? kMinus : "") + fmt::format("{:.0f}", std::fabs(value));
  const std::string text = positive_quantity(std::fabs(value), unit, digits);
  return value < 0 ? std::string(kMinus) + text : text;
}

std::string quantity(double value, const Metric& metric, int digits) {
  if (metric.shown_in == nullptr || !std::isfinite(value))
    return quantity(value, metric.unit, digits);
  if (value == 0) return "0" + std::string(metric.shown_in->suffix);
  const Decimal decimal = rounded(std::fabs(value) / metric.shown_in->size, digits);
  const bool is_readable = decimal.exponent >= -kMaxDecimals && decimal.exponent < kMostPlaces;
  const std::string text =
      is_readable ? placed(decimal, 0)
                  : fmt::format("{:.{}e}", std::fabs(value) / metric.shown_in->size, digits - 1);
  return std::string(value < 0 ? kMinus : "").append(text).append(metric.shown_in->suffix);
}

std::string time_text(double seconds, const DisplayUnit* unit) {
  Metric metric;
  metric.unit = Unit::Seconds;
  metric.shown_in = unit;
  return quantity(seconds, metric);
}

std::string mean_text(double mean, std::optional<double> stddev, const Metric& metric) {
  if (!stddev || !std::isfinite(*stddev) || !std::isfinite(mean)) return quantity(mean, metric);
  const int digits = digits_of_mean(mean, *stddev, metric.unit);
  if (metric.shown_in != nullptr) {
    const DisplayUnit& unit = *metric.shown_in;
    return quantity(mean, metric, digits) + " ± " +
           two_digits(*stddev / unit.size).append(unit.suffix);
  }
  if (metric.unit == Unit::Count && std::fabs(mean) < kWrittenInFull)
    return small_count(mean, *stddev);
  return quantity(mean, metric.unit, digits) + " ± " + deviation_text(*stddev, mean, metric.unit);
}

std::pair<std::string, std::string> range(double low, double high, const Metric& metric,
                                          std::optional<double> stddev) {
  const double largest = std::max(std::fabs(low), std::fabs(high));
  const bool has_digit = stddev && std::isfinite(*stddev) && std::isfinite(largest);
  const int fewest = has_digit ? digits_of_mean(largest, *stddev, metric.unit) : kFewestDigits;
  for (int digits = std::min(fewest, kMostOfRange); low != high && digits <= kMostOfRange;
       ++digits) {
    std::pair<std::string, std::string> ends{quantity(low, metric, digits),
                                             quantity(high, metric, digits)};
    if (ends.first != ends.second) return ends;
  }
  return {quantity(low, metric), quantity(high, metric)};
}

std::string signed_percent(double fraction, int decimals) {
  const double value = 100 * fraction;
  if (!std::isfinite(value)) return std::string(kNoNumber);
  std::string text = percent(std::fabs(value), decimals);
  if (text.find_first_of("123456789") == std::string::npos) return text;
  return std::string(value < 0 ? kMinus : "+") + text;
}

std::string short_delta_text(const stats::Change& delta) {
  if (!delta.change) return "new";
  const double change = *delta.change;
  if (!are_finite(delta.bounds) || !std::isfinite(change))
    return change == 0 ? "0%" : signed_percent(change, 100 * std::fabs(change) >= 100 ? 0 : 1);
  return signed_percent(change, decimals_of_delta(to_percent(change, *delta.bounds)));
}

std::string delta_text(const stats::Change& delta) {
  const std::string text = short_delta_text(delta);
  if (!delta.change || !are_finite(delta.bounds) || !std::isfinite(*delta.change)) return text;
  const Estimate estimate = to_percent(*delta.change, *delta.bounds);
  if (estimate.is_even())
    return text + " ± " + percent(estimate.half(), decimals_of_delta(estimate));
  return text + " (" + interval_text(delta) + ")";
}

ChangeTexts change_texts(const stats::Change& delta, double other) {
  if (!delta.change || !delta.bounds) return {delta_text(delta)};
  const auto is_other = [&](double end, int decimals) {
    return end != other && fixed(100 * end, decimals).value == fixed(100 * other, decimals).value;
  };
  const int decimals =
      decimals_from(decimals_of_delta(to_percent(*delta.change, *delta.bounds)), [&](int enough) {
        return !is_other(delta.bounds->low, enough) && !is_other(delta.bounds->high, enough);
      });
  return {signed_percent(*delta.change, decimals), signed_percent(delta.bounds->low, decimals),
          signed_percent(delta.bounds->high, decimals)};
}

std::string interval_text(const stats::Change& delta) {
  if (!delta.change || !std::isfinite(*delta.change) || !are_finite(delta.bounds)) return "";
  const int decimals = decimals_of_delta(to_percent(*delta.change, *delta.bounds));
  return signed_percent(delta.bounds->low, decimals) + " … " +
         signed_percent(delta.bounds->high, decimals);
}

std::string ratio_text(const stats::RelativeSpeed& speed, const std::string& sign) {
  if (!are_finite(speed.bounds) || !(speed.ratio < kLargePercent))
    return quantity(speed.ratio, Unit::Ratio) + sign;
  const Estimate ratio{speed.ratio, speed.bounds->low, speed.bounds->high, 1.0};
  constexpr int most_digits = 3;  // of how far it is from 1
  const double away = std::fabs(speed.ratio - 1.0);
  const int most =
      away > 0.0 ? most_digits - 1 - static_cast<int>(std::floor(std::log10(away))) : most_digits;
  const int decimals = std::min(decimals_of_ratio(ratio), std::max(most, 0));
  const auto text = [decimals](double value) { return fixed(value, decimals).text; };
  if (ratio.is_even()) return text(ratio.value) + " ± " + text(ratio.half()) + sign;
  return text(ratio.value) + sign + " (" + text(ratio.low) + " … " + text(ratio.high) + ")";
}

std::string full_precision(double value) {
  return fmt::to_string(value);
}

std::string quantile_cell(const MetricResult& row, const Metric& metric, bool with_interval) {
  if (!row.quantile)
    return with_interval ? fmt::format("n/a (needs {})", plural(row.fewest_runs, "run")) : "n/a";
  const auto [value, low, high] = *row.quantile;
  std::string text = quantity(value, metric, 4);
  if (!with_interval) return text;
  const auto ends = range(low, high, metric);
  return fmt::format("{} ({} … {})", text, ends.first, ends.second);
}

namespace {

/// "status 9", "SIGSEGV", "timed out": how a run failed, and the words before it after a number.
struct Reason {
  std::string_view before;
  std::string text;
};

Reason reason_of(const FailedRuns& one) {
  constexpr int signalled = 128;
  switch (one.ending) {
    case Ending::TimedOut:
      return {"", "timed out"};
    case Ending::Signalled:
      return {"by ", os::signal_name(one.status - signalled)};
    case Ending::Stopped:
      return {"", "stopped by " + os::signal_name(one.status - signalled)};
    case Ending::NotStarted:
      return {"", "not started"};
    case Ending::Failed:
    case Ending::Succeeded:
    case Ending::Unknown:
      break;
  }
  return {"with ", fmt::format("status {}", one.status)};
}

/// "status 9"; of several kinds "2 with status 9, 1 by SIGSEGV".
std::string reasons_text(const Endings& endings) {
  if (endings.failed.size() == 1) return reason_of(endings.failed.front()).text;
  std::string text;
  for (const FailedRuns& one : endings.failed) {
    const Reason reason = reason_of(one);
    text +=
        fmt::format("{}{} {}{}", text.empty() ? "" : ", ", one.runs, reason.before, reason.text);
  }
  return text;
}

}  // namespace

std::string mean_cell(const MetricResult& row, const Metric& metric) {
  if (row.at_most) return "≤ " + quantity(*row.at_most, metric);
  if (row.only_mean) return quantity(*row.only_mean, metric);
  if (row.is_doubtful) return "0 (not counted?)";
  if (metric.percentile) return quantile_cell(row, metric, true);
  if (!row.summary) return "n/a";
  return mean_text(row.summary->mean, row.summary->stddev, metric);
}

std::string short_mean_cell(const MetricResult& row, const Metric& metric) {
  if (row.quantile) return quantile_cell(row, metric, false);
  return row.summary ? quantity(row.summary->mean, metric) : mean_cell(row, metric);
}

std::string spoken(std::string_view metric) {
  if (metric == metric_name_of(Role::PeakRss)) return "peak RSS";
  if (metric == metric_name_of(Role::CpuTime)) return "CPU time";
  std::string name = one_line(metric);
  if (built_in_metric(metric) != nullptr) std::ranges::replace(name, '_', ' ');
  return name;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty()) lines.emplace_back(line);
  return lines;
}

bool has_values(const CommandResult& command) {
  return command.runs > 0 ||
         std::ranges::any_of(command.rows, [](const MetricResult& row) { return row.runs > 0; });
}

std::string failed_share(const Endings& endings, bool with_reasons) {
  if (endings.failed.empty()) return "";
  return fmt::format("{} of {}", endings.failed_runs(), endings.runs) +
         (with_reasons ? fmt::format(" ({})", reasons_text(endings)) : "");
}

std::string failures_text(const Endings& endings, std::string_view whose) {
  if (endings.failed.empty()) return "";
  return fmt::format("{} of {}{} failed ({})", endings.failed_runs(), plural(endings.runs, "run"),
                     whose, reasons_text(endings));
}

std::string failed_and_redone(const CommandResult& command) {
  std::string text;
  const Endings& endings = command.endings;
  if (!endings.failed.empty()) {
    const bool are_timed = endings.runs == command.runs;
    text = fmt::format(", {}{} failed: {}", endings.failed_runs(),
                       are_timed ? "" : fmt::format(" of {}", endings.runs), reasons_text(endings));
  }
  if (command.redone_runs > 0) text += fmt::format(", {} redone", command.redone_runs);
  return text;
}

std::string benchmark_title(const Results& results, std::size_t index) {
  const CommandResult& command = results.commands[index];
  const std::string runs = command.runs == 0 ? "no timed runs" : plural(command.runs, "run");
  // A suite's benchmarks have names, and commands below them.
  return fmt::format("{} {} ({}{})", results.benchmark.empty() ? "Benchmark" : "Command", index + 1,
                     runs, failed_and_redone(command));
}

}  // namespace lauka::report
