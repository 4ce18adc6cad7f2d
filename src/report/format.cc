#include "report/format.h"

#include "core/display_unit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::string_view kMinus = "−";
constexpr int kMaxDecimals = 6;
constexpr int kMostPlaces = 15;  // before the point, in a unit that was asked for

/// A power of ten of the base unit that has a name of its own.
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

/// Above 999 s the decimal prefixes nobody uses give way to these.
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
  if (before <= 0) {
    return "0." + std::string(static_cast<std::size_t>(-before), '0') + decimal.digits;
  }
  if (before >= size) {
    return decimal.digits + std::string(static_cast<std::size_t>(before - size), '0');
  }
  std::string text = decimal.digits;
  text.insert(static_cast<std::size_t>(before), 1, '.');
  return text;
}

std::optional<std::string> long_time(double seconds, int digits) {
  for (const LongTime& unit : kLongTimes) {
    const Decimal decimal = rounded(seconds / unit.seconds, digits);
    if (decimal.exponent < 3) return placed(decimal, 0).append(unit.suffix);
  }
  return std::nullopt;
}

std::string positive_quantity(double value, Unit unit, int digits) {
  const Decimal decimal = rounded(value, digits);
  const std::span<const Scale> scales = scales_of(unit);
  if (unit == Unit::Seconds && decimal.exponent >= 3) {
    if (const auto text = long_time(value, digits)) return *text;
  }
  const bool beyond_units = decimal.exponent < scales.front().exponent - 3 ||
                            decimal.exponent >= scales.back().exponent + 3;
  if (beyond_units) return fmt::format("{:.{}e}{}", value, digits - 1, base_suffix(unit));
  const Scale* best = &scales.front();
  for (const Scale& scale : scales) {
    if (scale.exponent <= decimal.exponent) best = &scale;
  }
  return placed(decimal, best->exponent).append(best->suffix);
}

/// `value` with a fixed number of decimals, and what that text is worth.
struct Fixed {
  std::string text;
  double value = 0.0;
};

Fixed fixed(double value, int decimals) {
  Fixed result{fmt::format("{:.{}f}", value, decimals)};
  result.value = std::strtod(result.text.c_str(), nullptr);
  return result;
}

/// Whether a half width is shown well enough. Half widths are themselves known to about a quarter
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

int decimals_of(double change, std::optional<double> half, bool significant) {
  if (!half) return change >= 100 ? 0 : 1;
  int decimals = percent_decimals(*half / 100);
  const auto tells_enough = [&](int n) {
    const double shown_half = fixed(*half, n).value;
    return is_close(shown_half, *half) && (!significant || fixed(change, n).value > shown_half);
  };
  while (decimals < kMaxDecimals && !tells_enough(decimals)) ++decimals;
  return decimals;
}

}  // namespace

std::string quantity(double value, Unit unit, int digits) {
  if (value == 0) return "0" + std::string(unit == Unit::Fraction ? "%" : base_suffix(unit));
  const std::string text = positive_quantity(std::fabs(value), unit, digits);
  return value < 0 ? std::string(kMinus) + text : text;
}

std::string quantity(double value, const Metric& metric, int digits) {
  if (metric.shown_in == nullptr) return quantity(value, metric.unit, digits);
  if (value == 0) return "0" + std::string(metric.shown_in->suffix);
  const Decimal decimal = rounded(std::fabs(value) / metric.shown_in->size, digits);
  const bool is_readable = decimal.exponent >= -kMaxDecimals && decimal.exponent < kMostPlaces;
  const std::string text =
      is_readable ? placed(decimal, 0)
                  : fmt::format("{:.{}e}", std::fabs(value) / metric.shown_in->size, digits - 1);
  return std::string(value < 0 ? kMinus : "").append(text).append(metric.shown_in->suffix);
}

namespace {

template <typename Kind>
std::pair<std::string, std::string> range_in(double low, double high, const Kind& kind) {
  for (int digits = 3; digits <= 6; ++digits) {
    std::pair<std::string, std::string> ends{quantity(low, kind, digits),
                                             quantity(high, kind, digits)};
    if (ends.first != ends.second) return ends;
  }
  return {quantity(low, kind), quantity(high, kind)};
}

}  // namespace

std::pair<std::string, std::string> range(double low, double high, Unit unit) {
  return range_in(low, high, unit);
}

std::pair<std::string, std::string> range(double low, double high, const Metric& metric) {
  return range_in(low, high, metric);
}

int percent_decimals(double half_width) {
  const bool integers_say_it = std::fabs(half_width) >= 0.1;
  return integers_say_it ? 0 : 1;
}

std::string signed_percent(double fraction, int decimals) {
  const double value = 100 * fraction;
  std::string text = percent(std::fabs(value), decimals);
  if (text.find_first_of("123456789") == std::string::npos) return text;
  return std::string(value < 0 ? kMinus : "+") + text;
}

std::string delta_text(const stats::Delta& delta) {
  if (!delta.change) return "new";
  if (*delta.change == 0 && !delta.half_width) return "0%";
  std::optional<double> half;
  if (delta.half_width) half = 100 * *delta.half_width;
  const int decimals = decimals_of(100 * std::fabs(*delta.change), half, delta.significant);
  const std::string change = signed_percent(*delta.change, decimals);
  return half ? change + " ± " + percent(*half, decimals) : change;
}

std::string ratio_text(double ratio, std::optional<double> half_width) {
  if (!half_width || ratio >= kLargePercent) return quantity(ratio, Unit::Ratio);
  int decimals = *half_width >= 10 ? 0 : *half_width >= 1 ? 1 : 2;
  const auto tells_enough = [&](int n) {
    return is_close(fixed(*half_width, n).value, *half_width) &&
           (ratio == 1 || fixed(ratio, n).value != 1);
  };
  while (decimals < kMaxDecimals && !tells_enough(decimals)) ++decimals;
  return fixed(ratio, decimals).text + " ± " + fixed(*half_width, decimals).text;
}

std::string exact_duration(std::chrono::nanoseconds duration) {
  struct Named {
    std::int64_t nanoseconds;
    std::string_view suffix;
  };
  constexpr std::array<Named, 4> units{
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "µs"}, {1, "ns"}}};
  const std::int64_t count = duration.count();
  const auto* const unit = std::find_if(units.begin(), units.end() - 1, [&](const Named& named) {
    return count >= named.nanoseconds;
  });
  const std::string whole = fmt::format("{}", count / unit->nanoseconds);
  std::string rest = fmt::format("{}", unit->nanoseconds + count % unit->nanoseconds).substr(1);
  rest.erase(rest.find_last_not_of('0') + 1);
  const std::string point = rest.empty() ? "" : ".";
  return whole + point + rest + std::string(unit->suffix);
}

std::string full_precision(double value) {
  return fmt::format("{}", value);
}

std::string rfc3339(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace lauka::report
