#include "report/format.h"

#include "core/choices.h"
#include "core/text.h"
#include "os/signals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::string_view kMinus = "−";
constexpr std::string_view kNoNumber = "n/a";
constexpr int kMaxDecimals = 12;

/// A unit of `size` base units. Values of at least `limit` such units are shown in the next unit.
struct Scale {
  double size;
  std::string_view suffix;
  double limit = 1000.0;
};

constexpr auto kTimes = std::to_array<Scale>({{1e-9, "ns"},
                                              {1e-6, "µs"},
                                              {1e-3, "ms"},
                                              {1.0, "s"},
                                              {60.0, "min"},
                                              {3600.0, "h"},
                                              {86400.0, "d"}});
constexpr auto kEnergies = std::to_array<Scale>(
    {{1e-9, "nJ"}, {1e-6, "µJ"}, {1e-3, "mJ"}, {1.0, "J"}, {1e3, "kJ"}, {1e6, "MJ"}});
constexpr auto kBytes = std::to_array<Scale>(
    {{1.0, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}, {1e18, "EB"}});
constexpr auto kRatios = std::to_array<Scale>(
    {{1.0, ""}, {1e3, "K"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}, {1e18, "E"}});
constexpr auto kCounts = std::to_array<Scale>(
    {{1.0, "", 1e4}, {1e3, "K"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}, {1e18, "E"}});
constexpr auto kFractions = std::to_array<Scale>({{0.01, "%"}});

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
      return kCounts;
    case Unit::Ratio:
      break;
  }
  return kRatios;
}

const Scale& base_scale_of(Unit unit) {
  const std::span<const Scale> scales = scales_of(unit);
  const auto found = std::ranges::find(scales, 1.0, &Scale::size);
  return found == scales.end() ? scales.front() : *found;
}

/// Returns the metric's own scale, or the base scale of its unit.
Scale scale_of(const Metric& metric) {
  return metric.shown_in != nullptr ? Scale{metric.shown_in->in_base_units, metric.shown_in->suffix}
                                    : base_scale_of(metric.unit);
}

/// A number, and how many digits of it a notation must show.
struct SignificantDigits {
  double number = 0.0;
  int count = 0;
};

/// Returns the power of ten of the first digit after rounding: 1 for 9.96 with two digits.
int exponent_of(const SignificantDigits& digits) {
  const std::string text = fmt::format("{:.{}e}", digits.number, digits.count - 1);
  return std::atoi(text.c_str() + text.find('e') + 1);
}

/// Returns a notation in units of `size` with enough decimals for all of `digits`.
Notation make_notation(double size, std::string_view suffix,
                       std::span<const SignificantDigits> digits) {
  Notation notation{.divisor_of_base_units = size, .suffix = std::string(suffix)};
  for (const SignificantDigits& wanted : digits) {
    const double value = wanted.number / size;
    if (value > 0.0 && std::isfinite(value))
      notation.decimals =
          std::max(notation.decimals, wanted.count - 1 - exponent_of({value, wanted.count}));
  }
  return notation;
}

double rounded(double value, int decimals) {
  return std::strtod(fmt::format("{:.{}f}", value, decimals).c_str(), nullptr);
}

double rounded_in_notation(double value, const Notation& notation) {
  return rounded(value / notation.divisor_of_base_units, notation.decimals);
}

/// Returns a notation like 1.23e-07s, for numbers that no scale fits.
Notation make_notation_with_power(double leading, const Scale& scale,
                                  std::span<const SignificantDigits> digits) {
  constexpr int all_digits = 17;
  constexpr int min_power =
      -290;  // keeps the divisor, 1e-9 or more times this power, a normal double
  int power = std::max(exponent_of({leading / scale.size, all_digits}), min_power);
  const auto notation_with_power = [&] {
    Notation notation = make_notation(scale.size * std::pow(10.0, power), scale.suffix, digits);
    notation.power_of_ten_text = fmt::format("e{:+03d}", power);
    return notation;
  };
  // Rounding may add a digit in front: 9.996 becomes 10.0, which is 1.00 of the next power.
  if (rounded_in_notation(leading, notation_with_power()) >= 10.0) ++power;
  return notation_with_power();
}

/// Returns the notation in a unit that the user chose (--unit), so that its prefix stays. A number
/// that would need too many decimals or too many digits before the point gets a power of ten:
/// 1.2e-09.
Notation make_notation_in_chosen_unit(double leading, const Scale& unit,
                                      std::span<const SignificantDigits> digits) {
  constexpr int max_decimals = 6;
  constexpr int max_digits_before_point = 15;
  constexpr int usual_digits = 3;
  const int exponent = exponent_of({leading / unit.size, usual_digits});
  const bool is_readable = exponent >= -max_decimals && exponent < max_digits_before_point;
  return is_readable ? make_notation(unit.size, unit.suffix, digits)
                     : make_notation_with_power(leading, unit, digits);
}

/// Returns the notation in the first scale, such as ns, µs or ms, in which the rounded number is
/// below the scale's limit. Returns nullopt if the number is too small even for the first scale, or
/// too large for the last.
std::optional<Notation> find_notation_that_fits(double leading, std::span<const Scale> scales,
                                                std::span<const SignificantDigits> digits) {
  constexpr double smallest_shown = 1e-3;
  for (const Scale& scale : scales) {
    Notation notation = make_notation(scale.size, scale.suffix, digits);
    const double shown = rounded_in_notation(leading, notation);
    const bool is_first_scale = &scale == &scales.front();
    if (is_first_scale && shown < smallest_shown) return std::nullopt;
    if (shown < scale.limit) return notation;
  }
  return std::nullopt;
}

/// Returns the notation (unit prefix, decimals, power of ten) for all numbers that stand together,
/// such as a mean with its standard deviation. `leading` decides the prefix, so that it has a
/// readable size: 1.5 ms. `digits` says how many digits each of the numbers needs.
Notation choose_notation(double leading, const Metric& metric,
                         std::span<const SignificantDigits> digits) {
  const Scale base = scale_of(metric);
  if (metric.shown_in != nullptr) return make_notation_in_chosen_unit(leading, base, digits);
  if (auto notation = find_notation_that_fits(leading, scales_of(metric.unit), digits))
    return *std::move(notation);
  return make_notation_with_power(leading, base, digits);
}

/// True for a whole number of counts or bytes that is written without a prefix such as K or kB.
/// Values that are `all_equal` are exact, so even a large one keeps all digits.
bool shows_all_digits(double value, bool all_equal, const Metric& metric) {
  constexpr double max_integer =
      9007199254740992.0;  // 2^53; doubles represent every integer up to it
  if (metric.unit != Unit::Count && metric.unit != Unit::Bytes) return false;
  if (scale_of(metric).size != 1.0) return false;
  const double magnitude = std::fabs(value);
  if (magnitude != std::floor(magnitude) || magnitude > max_integer) return false;
  return all_equal || magnitude < base_scale_of(metric.unit).limit;
}

std::string strip_trailing_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

/// True if a half width that is shown as `shown` is off by at most a quarter.
bool rounds_closely(double shown, double half_width) {
  return std::fabs(shown - half_width) <= 0.25 * half_width;
}

constexpr double kMinLargePercent = 1e5;  // from here on with a prefix: 120K%

std::string format_percent(double magnitude, int decimals) {
  if (magnitude >= kMinLargePercent) return quantity(magnitude, Unit::Count) + "%";
  return fmt::format("{:.{}f}%", magnitude, decimals);
}

/// Returns enough decimals for two digits; none from 10% on.
int choose_rough_decimals(double fraction) {
  constexpr int max_decimals = 9;
  const double magnitude = std::fabs(100.0 * fraction);
  if (magnitude == 0.0 || magnitude >= 10.0) return 0;
  return std::min(1 - static_cast<int>(std::floor(std::log10(magnitude))), max_decimals);
}

/// A change in percent, or a ratio, with the ends of its interval.
struct Estimate {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
  double neutral = 0.0;  ///< the value that means no difference: 0 for a change, 1 for a ratio

  double above() const { return high - value; }
  double below() const { return value - low; }
  double half_width() const { return std::max(above(), below()); }
  double distance() const { return std::fabs(value - neutral); }
  bool is_significant() const { return low > neutral || high < neutral; }
  double bound_nearest_neutral() const { return low > neutral ? low : high; }

  /// True if "± half()" describes both sides: the longer side is at most 5/3 of the shorter, and
  /// the half width of a significant value does not reach the neutral value.
  bool is_symmetric() const {
    constexpr double max_asymmetry = 5.0 / 3.0;
    constexpr double rounding = 1e-10;
    const bool are_sides_alike =
        half_width() <= max_asymmetry * std::min(above(), below()) + rounding;
    return are_sides_alike && (!is_significant() || distance() > half_width());
  }

  /// True if rounding moves no end by more than an eighth of the interval, and none onto the
  /// neutral value.
  bool shows_bounds_well(int decimals) const {
    const double allowed = (high - low) / 8;
    return std::fabs(rounded(low, decimals) - low) <= allowed &&
           std::fabs(rounded(high, decimals) - high) <= allowed &&
           (!is_significant() || rounded(bound_nearest_neutral(), decimals) != neutral);
  }
};

/// Returns the first number of decimals, beginning with `decimals`, that is enough.
template <typename IsEnough>
int find_decimals(int decimals, IsEnough is_enough) {
  while (decimals < kMaxDecimals && !is_enough(decimals)) ++decimals;
  return decimals;
}

int choose_delta_decimals(const Estimate& delta) {
  const bool are_integers_enough = (delta.high - delta.low) / 2 >= 10;
  return find_decimals(are_integers_enough ? 0 : 1, [&](int n) {
    if (!delta.is_symmetric()) return delta.shows_bounds_well(n);
    const double shown_half_width = rounded(delta.half_width(), n);
    return rounds_closely(shown_half_width, delta.half_width()) &&
           (!delta.is_significant() || rounded(delta.distance(), n) > shown_half_width);
  });
}

/// Returns enough decimals for three digits of an exact change in percent, and for the first digit
/// of its distance from -100%.
int choose_exact_decimals(double change) {
  constexpr int digits_of_change = 3;
  const auto decimals_for = [](int digits, double percent) {
    if (percent == 0.0 || !std::isfinite(percent)) return 0;
    return digits - 1 - static_cast<int>(std::floor(std::log10(percent)));
  };
  const double magnitude = 100 * std::fabs(change);
  const int decimals = std::max(decimals_for(digits_of_change, magnitude), magnitude < 100 ? 1 : 0);
  const double rest_percent = change < 0.0 ? 100 * (1.0 + change) : 0.0;
  return std::clamp(std::max(decimals, decimals_for(1, std::max(rest_percent, 0.0))), 0,
                    kMaxDecimals);
}

int choose_ratio_decimals(const Estimate& ratio) {
  const double width = (ratio.high - ratio.low) / 2;
  const int first = width >= 10 ? 0 : width >= 1 ? 1 : 2;
  return find_decimals(first, [&](int n) {
    const bool differs = ratio.value == 1 || rounded(ratio.value, n) != 1;
    return differs && (ratio.is_symmetric()
                           ? rounds_closely(rounded(ratio.half_width(), n), ratio.half_width())
                           : ratio.shows_bounds_well(n));
  });
}

/// Returns how many decimals a ratio with three digits has. A ratio says how far it is from 1, so
/// its digits are counted from the first one that differs from 1: 1.00123 has three digits.
int max_ratio_decimals(double ratio) {
  constexpr int max_digits = 3;
  const double distance = std::fabs(ratio - 1.0);
  return distance > 0.0 ? max_digits - 1 - static_cast<int>(std::floor(std::log10(distance)))
                        : max_digits;
}

/// Returns "4.55 ± 0.04x" or "1.37x (1.19 … 1.73)".
std::string estimated_ratio_text(const Estimate& ratio, int decimals, const std::string& sign) {
  const auto format = [decimals](double value) { return fmt::format("{:.{}f}", value, decimals); };
  if (ratio.is_symmetric())
    return with_uncertainty(format(ratio.value), {.half_width = format(ratio.half_width())}) + sign;
  return with_uncertainty(format(ratio.value) + sign,
                          {.low = format(ratio.low), .high = format(ratio.high)});
}

/// True if two fractions differ, but look equal in percent with so many decimals.
bool only_look_equal(double fraction, double other, int decimals) {
  return fraction != other && rounded(100 * fraction, decimals) == rounded(100 * other, decimals);
}

/// Returns an exact change other than 0 in percent, with so many decimals that it does not look
/// like `other`.
std::string exact_change_text(double change, double other) {
  const int decimals = find_decimals(choose_exact_decimals(change), [&](int candidate) {
    return !only_look_equal(change, other, candidate);
  });
  return with_uncertainty(signed_percent(change, decimals), {.is_exact = true});
}

bool are_finite(const std::optional<stats::IntervalEnds>& bounds) {
  return bounds && std::isfinite(100 * bounds->low) && std::isfinite(100 * bounds->high);
}

Estimate to_percent(double change, const stats::IntervalEnds& bounds) {
  return {
      .value = 100 * change, .low = 100 * bounds.low, .high = 100 * bounds.high, .neutral = 0.0};
}

/// Returns the standard deviation; nullopt if it is unknown or was lost.
std::optional<double> find_spread(const stats::Summary& summary) {
  const std::optional<double> stddev = summary.stddev();
  if (!stddev || !std::isfinite(*stddev)) return std::nullopt;
  // The standard deviation of very small numbers may underflow to 0.
  const bool is_lost = *stddev == 0.0 && summary.min != summary.max;
  return is_lost ? std::nullopt : stddev;
}

/// Returns the mean, which rounding errors may have put outside of the range of equal values.
double clamped_mean(const stats::Summary& summary) {
  return std::clamp(summary.mean, summary.min, summary.max);
}

struct FailureReason {
  std::string_view before;  ///< stands between a number of runs and `text`: "3 with status 1"
  std::string text;
};

FailureReason describe_failure(const FailureGroup& failed) {
  constexpr int signalled = 128;  // the status is that of a shell: 128 + N for signal N
  switch (failed.ending) {
    case Ending::TimedOut:
      return {"", "timed out"};
    case Ending::Signalled:
      return {"by ", os::signal_name(failed.status - signalled)};
    case Ending::Stopped:
      return {"", "stopped by " + os::signal_name(failed.status - signalled)};
    case Ending::NotStarted:
      return {"", "not started"};
    case Ending::Failed:
    case Ending::Succeeded:
    case Ending::Unknown:
      break;
  }
  return {"with ", fmt::format("status {}", failed.status)};
}

std::string list_reasons(const Endings& endings) {
  if (endings.failed_run_groups.size() == 1)
    return describe_failure(endings.failed_run_groups.front()).text;
  std::string text;
  for (const FailureGroup& failed : endings.failed_run_groups) {
    const FailureReason reason = describe_failure(failed);
    text +=
        fmt::format("{}{} {}{}", text.empty() ? "" : ", ", failed.runs, reason.before, reason.text);
  }
  return text;
}

/// Returns the kind of round of endings that are of one kind.
RoundKind kind_of(const Endings& of_kind) {
  const auto& untimed = of_kind.untimed_runs_with_ending;
  return untimed.empty() ? RoundKind::Timed : untimed.begin()->first;
}

/// Returns "12 runs", "3 simulated runs".
std::string runs_of_kind(const Endings& of_kind) {
  return plural(of_kind.runs_with_ending, run_of_kind(kind_of(of_kind)));
}

Notation notation_of_quantile(const stats::QuantileEstimate& quantile, const Metric& metric) {
  return notation_of(quantile.value, (quantile.high - quantile.low) / 2.0, metric);
}

}  // namespace

std::string Notation::text(double value) const {
  if (!std::isfinite(value)) return std::string(kNoNumber);
  if (value == 0.0) return "0" + suffix;
  std::string text = fmt::format("{:.{}f}", std::fabs(value / divisor_of_base_units), decimals);
  const bool is_negative = value < 0.0 && text.find_first_of("123456789") != text.npos;
  return fmt::format("{}{}{}{}", is_negative ? kMinus : "", text, power_of_ten_text, suffix);
}

Notation notation_of(double value, std::optional<double> spread, const Metric& metric) {
  constexpr double least_spread =
      1e-20;  // as a fraction of the value; a smaller spread is a rounding error
  constexpr int digits_of_value = 3;
  constexpr int digits_of_spread = 2;
  double leading = std::isfinite(value) ? std::fabs(value) : 0.0;
  const double noise =
      spread && std::isfinite(*spread) && *spread > least_spread * leading ? *spread : 0.0;
  if (noise == 0.0 && shows_all_digits(leading, spread == 0.0, metric))
    return {.suffix = std::string(scale_of(metric).suffix)};
  if (leading < noise / 100.0) leading = noise;
  if (leading == 0.0) leading = scale_of(metric).size;
  return choose_notation(
      leading, metric,
      std::array<SignificantDigits, 2>{{{leading, digits_of_value}, {noise, digits_of_spread}}});
}

Notation notation_of_steps(double largest, double step, const Metric& metric, int digits) {
  if (!(largest > 0.0) || !std::isfinite(largest)) return notation_of(0.0, std::nullopt, metric);
  return choose_notation(largest, metric, std::array<SignificantDigits, 1>{{{step, digits}}});
}

/// Returns a notation with all digits of a whole number, or else with six.
Notation exact_notation(double value, const Metric& metric) {
  if (shows_all_digits(value, true, metric) || value == 0.0) return notation_of(value, 0.0, metric);

  constexpr int digits = 6;
  constexpr double most = 1e15;
  const double magnitude = std::fabs(value);
  const std::array<SignificantDigits, 1> six{{{magnitude, digits}}};

  // "2.00050K exact" would look as if it were rounded.
  const bool has_unit =
      metric.shown_in != nullptr || (metric.unit != Unit::Count && metric.unit != Unit::Ratio);
  return !has_unit && magnitude >= 1.0 && magnitude < most
             ? make_notation(1.0, "", six)
             : choose_notation(magnitude, metric, six);
}

std::string quantity(double value, const Metric& metric) {
  return notation_of(value, std::nullopt, metric).text(value);
}

std::string quantity(double value, Unit unit) {
  return quantity(value, {.name = {}, .unit = unit});
}

std::string time_text(double seconds, const DisplayUnit* unit) {
  return quantity(seconds, {.name = {}, .unit = Unit::Seconds, .shown_in = unit});
}

std::string with_uncertainty(const std::string& number, const UncertaintyTexts& uncertainty) {
  if (uncertainty.is_exact) return number + " exact";
  if (!uncertainty.half_width.empty()) return number + " ± " + uncertainty.half_width;
  if (uncertainty.low.empty()) return number;
  return fmt::format("{} ({} … {})", number, uncertainty.low, uncertainty.high);
}

std::string difference_of_means(double difference, const std::optional<double>& half_width,
                                const Metric& metric) {
  const std::string_view sign = difference == 0.0 ? "" : difference < 0.0 ? "−" : "+";
  const std::string number =
      difference == 0.0 ? "0" : fmt::format("{}{}", sign, quantity(std::fabs(difference), metric));
  return with_uncertainty(
      number, {.half_width = half_width ? quantity(*half_width, metric) : std::string()});
}

std::string exact_quantity(double value, const Metric& metric) {
  const Notation notation = exact_notation(value, metric);

  // The unit and a power of ten stay behind the grouped digits.
  const std::string unit = notation.power_of_ten_text + notation.suffix;
  std::string text = notation.text(value);
  if (!text.ends_with(unit)) return text;
  text.erase(text.size() - unit.size());
  // Zeros at the end of a rounded number are digits; those of 0.500000 are not.
  if (rounded_in_notation(value, notation) * notation.divisor_of_base_units == value)
    text = strip_trailing_zeros(std::move(text));
  return group_digits(std::move(text)) + unit;
}

std::string mean_text(double mean, std::optional<double> stddev, const Metric& metric) {
  const Notation notation = notation_of(mean, stddev, metric);
  const bool has_deviation = stddev && std::isfinite(*stddev) && std::isfinite(mean);
  return with_uncertainty(notation.text(mean),
                          {.half_width = has_deviation ? notation.text(*stddev) : std::string()});
}

bool are_exact(const stats::Summary& summary, const Metric& metric) {
  return summary.is_exact() && can_be_exact(metric.unit);
}

std::string mean_text(const stats::Summary& summary, const Metric& metric) {
  return are_exact(summary, metric)
             ? with_uncertainty(exact_quantity(summary.min, metric), {.is_exact = true})
             : mean_text(clamped_mean(summary), find_spread(summary), metric);
}

std::string range_text(const stats::Summary& summary, const Metric& metric) {
  if (are_exact(summary, metric)) return "";
  const Notation notation = notation_of(clamped_mean(summary), find_spread(summary), metric);
  return notation.text(summary.min) + " … " + notation.text(summary.max);
}

std::string signed_percent(double fraction, int decimals) {
  const double value = 100 * fraction;
  if (!std::isfinite(value)) return std::string(kNoNumber);
  std::string text = format_percent(std::fabs(value), decimals);
  if (text.find_first_of("123456789") == std::string::npos) return text;
  return std::string(value < 0 ? kMinus : "+") + text;
}

std::string detectable_text(std::optional<double> detectable, std::string_view sessions) {
  if (!detectable) return "";
  // Nothing can decrease by 100% or more.
  return fmt::format("; {} of {} would have been found in four of five such {}",
                     *detectable < 1.0 ? "a difference" : "an increase", rough_percent(*detectable),
                     sessions);
}

std::string rough_percent(double fraction) {
  return format_percent(100.0 * fraction, choose_rough_decimals(fraction));
}

std::string signed_rough_percent(double fraction) {
  return signed_percent(fraction, choose_rough_decimals(fraction));
}

std::string short_delta_text(const stats::Change& delta) {
  if (!delta.change) return "new";
  const double change = *delta.change;
  if (delta.is_exact && std::isfinite(change))
    return change == 0 ? "0%" : signed_percent(change, choose_exact_decimals(change));
  if (!are_finite(delta.bounds) || !std::isfinite(change))
    return change == 0 ? "0%" : signed_percent(change, 100 * std::fabs(change) >= 100 ? 0 : 1);
  return signed_percent(change, choose_delta_decimals(to_percent(change, *delta.bounds)));
}

std::string delta_text(const stats::Change& delta) {
  std::string text = short_delta_text(delta);
  if (delta.is_exact && delta.change) return with_uncertainty(text, {.is_exact = true});
  if (!delta.change || !are_finite(delta.bounds) || !std::isfinite(*delta.change)) return text;
  const Estimate estimate = to_percent(*delta.change, *delta.bounds);
  const int decimals = choose_delta_decimals(estimate);
  if (estimate.is_symmetric())
    return with_uncertainty(text, {.half_width = format_percent(estimate.half_width(), decimals)});
  return with_uncertainty(text, {.low = signed_percent(delta.bounds->low, decimals),
                                 .high = signed_percent(delta.bounds->high, decimals)});
}

/// The texts have enough decimals that a reader sees on which side of `other` the change lies: a
/// change of 5.04% that exceeds a limit of 5% must not be shown as 5.0%.
ChangeTexts change_texts(const stats::Change& delta, double other) {
  const bool is_exact_difference = delta.change && delta.is_exact && *delta.change != 0.0;
  if (is_exact_difference) return {exact_change_text(*delta.change, other)};

  const bool has_interval = delta.change && delta.bounds && !delta.is_exact;
  if (!has_interval) return {delta_text(delta)};

  // What is compared with `other` is not the change itself, but the ends of its interval.
  const stats::IntervalEnds& ends = *delta.bounds;
  const int usual_decimals = choose_delta_decimals(to_percent(*delta.change, ends));
  const int decimals = find_decimals(usual_decimals, [&](int candidate) {
    return !only_look_equal(ends.low, other, candidate) &&
           !only_look_equal(ends.high, other, candidate);
  });
  return {signed_percent(*delta.change, decimals), signed_percent(ends.low, decimals),
          signed_percent(ends.high, decimals)};
}

std::string interval_text(const stats::Change& delta) {
  if (!delta.change || !std::isfinite(*delta.change) || !are_finite(delta.bounds) || delta.is_exact)
    return "";
  const int decimals = choose_delta_decimals(to_percent(*delta.change, *delta.bounds));
  return signed_percent(delta.bounds->low, decimals) + " … " +
         signed_percent(delta.bounds->high, decimals);
}

/// Says how many times faster a command is. `sign` is the "x" that may follow the ratio.
std::string ratio_text(const stats::RelativeSpeed& speed, const std::string& sign) {
  const double factor = speed.speed_factor;
  const bool has_bounds = speed.is_exact || are_finite(speed.bounds);
  // A huge ratio is written with a prefix, as in 120K, and without an interval.
  const bool is_small_enough = factor < kMinLargePercent;
  if (!has_bounds || !is_small_enough) return quantity(factor, Unit::Ratio) + sign;

  // An exact ratio has all its digits, and an estimate only those that its interval makes
  // meaningful.
  const int max_decimals = max_ratio_decimals(factor);
  if (speed.is_exact)
    return fmt::format("{:.{}f}{}", factor, std::clamp(max_decimals, 0, kMaxDecimals), sign);

  const Estimate ratio{
      .value = factor, .low = speed.bounds->low, .high = speed.bounds->high, .neutral = 1.0};
  const int decimals = std::min(choose_ratio_decimals(ratio), std::max(max_decimals, 0));
  return estimated_ratio_text(ratio, decimals, sign);
}

std::string group_digits(std::string number, std::size_t longest_without_groups) {
  constexpr std::size_t group = 3;
  const std::size_t first = number.find_first_of("0123456789");
  const std::size_t end = std::min(number.find_first_not_of("0123456789", first), number.size());
  if (end - first <= longest_without_groups) return number;
  for (std::size_t place = end; place > first + group; place -= group)
    number.insert(place - group, ",");
  return number;
}

std::string exact_decimal(double value) {
  return fmt::to_string(value);
}

std::string quantile_text(const MetricResult& row, const Metric& metric) {
  if (!row.quantile) return "n/a";
  return notation_of_quantile(*row.quantile, metric).text(row.quantile->value);
}

std::string quantile_with_interval(const MetricResult& row, const Metric& metric) {
  if (!row.quantile)
    return fmt::format("n/a (needs {})", plural(row.runs_needed_for_percentile, "run"));

  const auto [value, low, high] = *row.quantile;
  const Notation notation = notation_of_quantile(*row.quantile, metric);
  return with_uncertainty(notation.text(value),
                          {.low = notation.text(low), .high = notation.text(high)});
}

std::string mean_cell_text(const MetricResult& row, const Metric& metric) {
  if (row.largest_bound_of_runs) return "≤ " + quantity(*row.largest_bound_of_runs, metric);
  if (row.mean_without_run_values) return quantity(*row.mean_without_run_values, metric);
  if (row.is_probably_uncounted) return "0 (not counted?)";
  if (metric.percentile) return quantile_with_interval(row, metric);
  if (!row.summary) return "n/a";
  return mean_text(*row.summary, metric);
}

std::string short_mean_text(const MetricResult& row, const Metric& metric) {
  if (row.quantile) return quantile_text(row, metric);
  return row.summary ? quantity(row.summary->mean, metric) : mean_cell_text(row, metric);
}

std::string metric_in_words(std::string_view metric) {
  if (metric == metric_name_of(Role::PeakRss)) return "peak RSS";
  if (metric == metric_name_of(Role::CpuTime)) return "CPU time";
  std::string name = one_line(metric);
  if (built_in_metric(metric) != nullptr) std::ranges::replace(name, '_', ' ');
  return name;
}

std::vector<std::string> lines_with_text(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty()) lines.emplace_back(line);
  return lines;
}

bool has_values(const CommandResult& command) {
  return command.runs > 0 ||
         std::ranges::any_of(command.rows, [](const MetricResult& row) { return row.runs > 0; });
}

std::string_view round_kind_word(RoundKind kind, bool are_samples_taken) {
  constexpr std::array<std::string_view, 6> names = {"warm-up",   "",         "counting",
                                                     "simulated", "settling", "untuned"};
  if (kind == RoundKind::Counting && are_samples_taken) return "sampled";
  return names.at(static_cast<std::size_t>(kind));
}

std::string run_of_kind(RoundKind kind, bool are_samples_taken) {
  const std::string_view word = round_kind_word(kind, are_samples_taken);
  return fmt::format("{}{}run", word, word.empty() ? "" : " ");
}

std::string failed_runs_text(const Endings& endings, bool with_reasons) {
  std::string text;
  for (const Endings& of_kind : endings.by_kind_with_failures())
    text += fmt::format("{}{} of {}{}{}{}", text.empty() ? "" : ", ", of_kind.failed_runs(),
                        of_kind.runs_with_ending, kind_of(of_kind) == RoundKind::Timed ? "" : " ",
                        round_kind_word(kind_of(of_kind)),
                        with_reasons ? fmt::format(" ({})", list_reasons(of_kind)) : "");
  return text;
}

std::string failures_text(const Endings& endings, std::string_view whose) {
  std::string text;
  for (const Endings& of_kind : endings.by_kind_with_failures())
    text += fmt::format("{}{} of {}{} failed ({})", text.empty() ? "" : ", ", of_kind.failed_runs(),
                        runs_of_kind(of_kind), whose, list_reasons(of_kind));
  return text;
}

std::string failed_and_redone_text(const CommandResult& command) {
  std::string text;
  for (const Endings& endings : command.endings.by_kind_with_failures()) {
    const bool are_timed = kind_of(endings) == RoundKind::Timed;
    text += fmt::format(", {}{} failed: {}", endings.failed_runs(),
                        !are_timed ? " of " + runs_of_kind(endings)
                        : endings.runs_with_ending == command.runs
                            ? ""
                            : fmt::format(" of {}", endings.runs_with_ending),
                        list_reasons(endings));
  }
  if (command.discarded_runs > 0) text += fmt::format(", {} redone", command.discarded_runs);
  return text;
}

std::string run_words(const Metric& metric) {
  return run_of_kind(metric.kind, metric.role == Role::SampledTime);
}

std::size_t count_runs(const Results& results, std::size_t command, std::size_t metric) {
  if (results.session.metrics[metric].kind == RoundKind::Timed)
    return results.commands[command].runs;
  const MetricResult* row = metric_result_of(results.commands[command], metric);
  return row == nullptr ? 0 : row->runs;
}

std::size_t count_runs(const CommandResult& command) {
  std::size_t runs = command.runs;
  if (runs == 0)
    for (const MetricResult& row : command.rows) runs = std::max(runs, row.runs);
  return runs;
}

std::string runs_text(const Results& results, std::size_t index) {
  const CommandResult& command = results.commands[index];
  const std::size_t runs = count_runs(command);
  if (command.runs > 0) return plural(runs, "run");
  if (runs == 0) return "no runs";
  const auto row = std::ranges::find(command.rows, runs, &MetricResult::runs);
  return plural(runs, run_words(results.session.metrics[row->metric_index]));
}

std::string command_title(const Results& results, std::size_t index) {
  return fmt::format("{} {} ({}{})", results.benchmark.empty() ? "Benchmark" : "Command", index + 1,
                     runs_text(results, index), failed_and_redone_text(results.commands[index]));
}

std::int64_t to_microseconds(double seconds) {
  constexpr double microseconds_per_second = 1e6;
  return std::llround(seconds * microseconds_per_second);
}

}  // namespace lauka::report
