#include "report/format.h"

#include "core/choices.h"
#include "core/numbers.h"
#include "report/example.h"
#include "report/table.h"
#include "stats/golden.h"
#include "stats/summary.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

/// Returns the value of a shown quantity, read by hand: digits, then the unit.
double read_back(const std::string& text) {
  const std::map<std::string, double> units = {
      {"nJ", 1e-9}, {"µJ", 1e-6}, {"mJ", 1e-3}, {"J", 1},    {"kJ", 1e3}, {"MJ", 1e6},
      {"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1},    {"min", 60}, {"h", 3600},
      {"d", 86400}, {"B", 1},     {"kB", 1e3},  {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
      {"PB", 1e15}, {"EB", 1e18}, {"", 1},      {"K", 1e3},  {"M", 1e6},  {"G", 1e9},
      {"T", 1e12},  {"P", 1e15},  {"E", 1e18}};
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string unit = end == std::string::npos ? "" : text.substr(end);
  REQUIRE_MESSAGE(units.count(unit) == 1, text);
  return std::strtod(text.substr(0, end).c_str(), nullptr) * units.at(unit);
}

/// Significant digits of a shown quantity.
std::size_t digits_of(const std::string& text) {
  const std::size_t first = text.find_first_of("123456789");
  std::size_t count = 0;
  for (std::size_t i = first; i < text.size(); ++i) {
    if (text[i] >= '0' && text[i] <= '9') ++count;
  }
  return count;
}

/// Half a unit of the third digit of `value`.
double half_of_third_digit(double value) {
  return 0.5 * std::pow(10.0, std::floor(std::log10(value)) - 2);
}

}  // namespace

TEST_CASE("a quantity has three significant digits and the unit that suits it") {
  CHECK(quantity(0.591, Unit::Seconds) == "591ms");
  CHECK(quantity(1.15203, Unit::Joules) == "1.15J");
  CHECK(quantity(0.01463, Unit::Joules) == "14.6mJ");
  CHECK(quantity(4200.0, Unit::Joules) == "4.20kJ");
  CHECK(quantity(0.0076, Unit::Seconds) == "7.60ms");
  CHECK(quantity(0.001, Unit::Seconds) == "1.00ms");
  CHECK(quantity(0.012, Unit::Seconds) == "12.0ms");
  CHECK(quantity(0.0000456, Unit::Seconds) == "45.6µs");
  CHECK(quantity(789e-9, Unit::Seconds) == "789ns");
  CHECK(quantity(2.5, Unit::Seconds) == "2.50s");
  CHECK(quantity(137e6, Unit::Bytes) == "137MB");
  CHECK(quantity(4096, Unit::Bytes) == "4.10kB");
  CHECK(quantity(512, Unit::Bytes) == "512B");
  CHECK(quantity(2.51e9, Unit::Count) == "2.51G");
  CHECK(quantity(22.1e6, Unit::Count) == "22.1M");
  CHECK(quantity(15365.0, Unit::Count) == "15.4K");
  CHECK(quantity(3.2, Unit::Count) == "3.20");
  CHECK(quantity(2.3456, Unit::Ratio) == "2.35");
  CHECK(quantity(0.12345, Unit::Ratio) == "0.123");
}

TEST_CASE("whole counts below 10,000 are written in full") {
  CHECK(quantity(59, Unit::Count) == "59");
  CHECK(quantity(2112, Unit::Count) == "2112");
  CHECK(quantity(9999, Unit::Count) == "9999");
  CHECK(quantity(10000, Unit::Count) == "10.0K");
  CHECK(quantity(-3, Unit::Count) == "−3");
  CHECK(quantity(4000, Unit::Bytes) == "4.00kB");
}

TEST_CASE("a row's σ has two significant digits, and its mean and range as many decimals") {
  const auto text = [](double mean, double stddev, Unit unit, const char* in = nullptr) {
    Metric of = metric("m", unit);
    if (in != nullptr) of.shown_in = find_display_unit(in);
    const stats::Summary values = summary(9, mean, stddev, mean - 2 * stddev, mean + stddev);
    return mean_text(mean, stddev, of) + "   " + range_text(values, of);
  };
  CHECK(text(1.66382e9, 213e3, Unit::Count) == "1.66382G ± 0.00021G   1.66339G … 1.66403G");
  CHECK(text(0.591, 0.0076, Unit::Seconds) == "591.0ms ± 7.6ms   575.8ms … 598.6ms");
  CHECK(text(1.0, 83e-6, Unit::Seconds) == "1.000000s ± 0.000083s   0.999834s … 1.000083s");
  CHECK(text(351e-6, 130e-6, Unit::Seconds) == "351µs ± 130µs   91µs … 481µs");
  CHECK(text(2113.2, 0.9, Unit::Count) == "2113.20 ± 0.90   2111.40 … 2114.10");
  CHECK(text(0.5, 0.0123, Unit::Fraction) == "50.0% ± 1.2%   47.5% … 51.2%");
  // The mean has three digits also where σ is large, but none if it is all noise.
  CHECK(text(5.12, 3.4, Unit::Seconds) == "5.12s ± 3.40s   −1.68s … 8.52s");
  CHECK(text(0.001, 3.4, Unit::Ratio) == "0.00 ± 3.40   −6.80 … 3.40");
  CHECK(text(0.0, 3.4, Unit::Ratio) == "0 ± 3.40   −6.80 … 3.40");
  // What one rule for each number had made of these.
  CHECK(text(48.14982e-3, 5.9e-9, Unit::Seconds) ==
        "48.1498200ms ± 0.0000059ms   48.1498082ms … 48.1498259ms");
  CHECK(text(100030700, 8.4, Unit::Count) ==
        "100.0307000M ± 0.0000084M   100.0306832M … 100.0307084M");
  CHECK(text(0.219314, 0.013738, Unit::Seconds, "us") ==
        "219314µs ± 13738µs   191838µs … 233052µs");
  CHECK(text(3.1e-7, 1.2e-8, Unit::Ratio) == "3.10e-07 ± 0.12e-07   2.86e-07 … 3.22e-07");
  CHECK(text(1.02e15, 4.0824829046386e13, Unit::Seconds) ==
        "1.020e+15s ± 0.041e+15s   0.938e+15s … 1.061e+15s");
}

TEST_CASE("equal counts are exact, with all digits in groups, and their range is not repeated") {
  const auto text = [](double value, Unit unit, const char* in = nullptr) {
    Metric of = metric("m", unit);
    if (in != nullptr) of.shown_in = find_display_unit(in);
    const stats::Summary equal = summary(3, value, 0.0, value, value);
    return mean_text(equal, of) + "|" + range_text(equal, of);
  };
  CHECK(text(59, Unit::Count) == "59 exact|");
  CHECK(text(0, Unit::Count) == "0 exact|");
  CHECK(text(9999, Unit::Count) == "9999 exact|");
  CHECK(text(10000, Unit::Count) == "10,000 exact|");
  CHECK(text(294635992, Unit::Count) == "294,635,992 exact|");
  CHECK(text(-16172215, Unit::Count) == "−16,172,215 exact|");
  CHECK(text(1048577, Unit::Bytes) == "1,048,577B exact|");
  CHECK(text(1048577, Unit::Bytes, "B") == "1,048,577B exact|");
  // Six digits where not all are shown; zeros only if they are digits.
  CHECK(text(1048577, Unit::Bytes, "MiB") == "1.00000MiB exact|");
  CHECK(text(1048576, Unit::Bytes, "MiB") == "1MiB exact|");
  CHECK(text(1.23456789, Unit::Ratio) == "1.23457 exact|");
  CHECK(text(1.0, Unit::Fraction) == "100% exact|");
  // A number without a unit is not scaled.
  CHECK(text(2000.497, Unit::Ratio) == "2000.50 exact|");
  CHECK(text(12000.5, Unit::Count) == "12,000.5 exact|");
  CHECK(text(2000500, Unit::Ratio) == "2,000,500 exact|");
}

TEST_CASE("equal times are not exact, nor are two equal counts") {
  const Metric time = metric("wall_time", Unit::Seconds);
  const stats::Summary times = summary(9, 0.5, 0.0, 0.5, 0.5);
  CHECK(mean_text(times, time) == "500ms ± 0ms");
  CHECK(range_text(times, time) == "500ms … 500ms");
  const Metric count = metric("m", Unit::Count);
  const stats::Summary two = summary(2, 59, 0.0, 59, 59);
  CHECK(mean_text(two, count) == "59 ± 0");
  CHECK(range_text(two, count) == "59 … 59");
  CHECK(mean_text(summary(9, 59, 0.5, 58, 60), count) == "59.00 ± 0.50");
}

TEST_CASE("a number without σ has three digits") {
  CHECK(mean_text(1663812345, std::nullopt, metric("m", Unit::Count)) == "1.66G");
  CHECK(mean_text(0.591, std::nullopt, metric("m", Unit::Seconds)) == "591ms");
}

TEST_CASE("an exact delta has three digits, and enough to show how far it is from -100%") {
  const auto exact = [](double change) { return delta_text({.change = change, .is_exact = true}); };
  CHECK(exact(0.0203456) == "+2.03% exact");
  CHECK(exact(14.0 / 79289.0 - 1.0) == "−99.98% exact");
  CHECK(exact(-0.995) == "−99.5% exact");
  CHECK(exact(-1.0) == "−100% exact");
  CHECK(exact(0.0) == "0% exact");
  CHECK(exact(0.00214505268) == "+0.215% exact");
  CHECK(exact(1.0 / 294635992.0) == "+0.000000339% exact");
  CHECK(exact(0.123456) == "+12.3% exact");
  CHECK(exact(25.934) == "+2593% exact");
  CHECK(short_delta_text({.change = 0.0203456, .is_exact = true}) == "+2.03%");
  CHECK(interval_text({0.02, stats::IntervalEnds{0.02, 0.02}, true}).empty());
  CHECK(delta_text({.change = std::nullopt, .is_exact = true}) == "new");
}

TEST_CASE("an exact change that a gate judges has the digits that tell it from the limit") {
  const auto text = [](double change, double limit) {
    return change_texts({change, stats::IntervalEnds{change, change}, true}, limit).change;
  };
  CHECK(text(0.0203456, 0.01) == "+2.03% exact");
  CHECK(text(0.0100001, 0.01) == "+1.00001% exact");
  CHECK(text(0.01, 0.01) == "+1.00% exact");
}

TEST_CASE("an exact ratio has three digits of its distance from 1, and no interval") {
  const auto text = [](double factor) {
    return ratio_text({.speed_factor = factor, .is_exact = true});
  };
  CHECK(text(1.0203456) == "1.0203");
  CHECK(text(5663.5) == "5664");
  CHECK(text(2.0) == "2.00");
}

namespace {

/// A number as it is shown, read by hand.
struct ShownNumber {
  long double value = 0.0L;  // in base units
  long double step = 0.0L;   // of its last decimal
  std::string unit{};        // with its power of ten; empty for an exact 0 too
};

ShownNumber parse_shown(std::string text, const DisplayUnit* shown_in) {
  const bool is_negative = text.starts_with("−");
  if (is_negative) text.erase(0, std::string("−").size());
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string digits = text.substr(0, end);
  ShownNumber number{.unit = end == std::string::npos ? "" : text.substr(end)};
  std::string unit = number.unit;
  long double size = 1.0L;
  if (unit.size() > 2 && unit[0] == 'e' && (unit[1] == '+' || unit[1] == '-')) {
    std::size_t used = 0;
    size = std::pow(10.0L, static_cast<long double>(std::stoi(unit.substr(1), &used)));
    unit.erase(0, 1 + used);
  }
  if (shown_in != nullptr)
    size *= shown_in->in_base_units;
  else
    size *= unit == "%" ? 0.01L : static_cast<long double>(read_back("1" + unit));
  number.value = std::strtold(digits.c_str(), nullptr) * size * (is_negative ? -1 : 1);
  const std::size_t point = digits.find('.');
  const std::size_t decimals = point == std::string::npos ? 0 : digits.size() - point - 1;
  number.step = std::pow(10.0L, -static_cast<long double>(decimals)) * size;
  if (digits == "0") number = {};
  return number;
}

std::vector<double> random_series(std::mt19937_64& random) {
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto one_of = [&](std::size_t count) { return random() % count; };
  const bool is_extreme = one_of(4) == 0;
  const double size = std::pow(10.0, is_extreme ? between(-140, 140) : between(-12, 22));
  const double noise = one_of(6) == 0 ? 0.0 : std::pow(10.0, between(-17, 1));
  const double shift = one_of(8) == 0 ? 0.0 : one_of(5) == 0 ? -1.0 : 1.0;
  const bool is_whole = one_of(3) == 0 && size < 1e15;
  std::vector<double> values(1 + one_of(40));
  for (double& value : values) {
    value = size * (shift + noise * between(-1, 1));
    if (one_of(20) == 0) value = one_of(2) == 0 ? 0.0 : value * 30;
    if (is_whole) value = std::round(value);
  }
  return values;
}

const DisplayUnit* random_unit(std::mt19937_64& random, Unit unit) {
  std::vector<const DisplayUnit*> units(3, nullptr);
  for (const DisplayUnit& one : kDisplayUnits)
    if (one.unit == unit) units.push_back(&one);
  return units[random() % units.size()];
}

void check_row(const std::vector<double>& values, const Metric& of) {
  const stats::Summary values_of = stats::summarize(values);
  const Results results = results_of({of}, {command("a", values.size(), {row(0, values_of)})});
  const Table table = full_table(results, 0, false);
  const std::string mean_cell = table.rows.at(0).at(1).text;
  const std::string range_cell = table.rows.at(0).at(2).text;
  CAPTURE(mean_cell);
  CAPTURE(range_cell);
  if (are_exact(values_of, of)) {
    CHECK(range_cell.empty());
    CHECK(mean_cell == with_uncertainty(exact_quantity(values.front(), of), {.is_exact = true}));
    return;
  }
  const auto parsed = [&](const std::string& text) { return parse_shown(text, of.shown_in); };
  const std::size_t plus = mean_cell.find(" ± ");
  const std::size_t dots = range_cell.find(" … ");
  const ShownNumber mean = parsed(mean_cell.substr(0, plus));
  const ShownNumber low = parsed(range_cell.substr(0, dots));
  const ShownNumber high = parsed(range_cell.substr(dots + std::string(" … ").size()));
  const auto is_rounded = [](const ShownNumber& shown, double value) {
    return std::fabs(shown.value - static_cast<long double>(value)) <=
           0.5L * shown.step + 1e-12L * std::fabs(static_cast<long double>(value));
  };
  CHECK(low.value <= mean.value);
  CHECK(mean.value <= high.value);
  CHECK(is_rounded(mean, values_of.mean));
  CHECK(is_rounded(low, values_of.min));
  CHECK(is_rounded(high, values_of.max));
  std::vector<ShownNumber> all = {mean, low, high};
  const double stddev = values_of.stddev().value_or(0.0);
  if (plus != std::string::npos) {
    const ShownNumber deviation = parsed(mean_cell.substr(plus + std::string(" ± ").size()));
    CHECK(std::fabs(deviation.value - static_cast<long double>(stddev)) <= 0.0501L * stddev);
    all.push_back(deviation);
  }
  std::erase_if(all, [](const ShownNumber& one) { return one.value == 0.0L && one.step == 0.0L; });
  for (const ShownNumber& one : all) {
    CHECK(one.unit == all.front().unit);
    CHECK(one.step == all.front().step);
  }
  const double magnitude = std::fabs(values_of.mean);
  const bool is_whole = magnitude == std::round(magnitude) && magnitude < 9e15;
  if (magnitude >= stddev / 100 && !(is_whole && stddev == 0.0)) {
    CHECK(mean.step <= static_cast<long double>(magnitude) * 1.0101L / 100);
  }
  const bool is_counted = of.unit == Unit::Count || of.unit == Unit::Bytes;
  const bool is_plain = of.shown_in == nullptr || of.shown_in->in_base_units == 1.0;
  if (is_counted && is_plain && is_whole && values.size() > 1 && values_of.min == values_of.max) {
    CHECK(mean.value == static_cast<long double>(values_of.mean));
  }
}

}  // namespace

TEST_CASE("no row of 3,000 random ones hides its σ, excludes its mean or falsifies a number") {
  constexpr std::array units = {Unit::Seconds, Unit::Bytes,    Unit::Count,
                                Unit::Ratio,   Unit::Fraction, Unit::Joules};
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Metric of = metric("m", units.at(random() % units.size()));
    of.shown_in = random_unit(random, of.unit);
    check_row(random_series(random), of);
  }
}

TEST_CASE("rounding up to 1000 goes to the next unit") {
  CHECK(quantity(0.9999, Unit::Seconds) == "1.00s");
  CHECK(quantity(0.9994, Unit::Seconds) == "999ms");
  CHECK(quantity(999.9, Unit::Ratio) == "1.00K");
  CHECK(quantity(999.4, Unit::Ratio) == "999");
  CHECK(quantity(9999.6, Unit::Count) == "10.0K");
  CHECK(quantity(999999, Unit::Count) == "1.00M");
  CHECK(quantity(999.9e3, Unit::Bytes) == "1.00MB");
  CHECK(quantity(9.996, Unit::Ratio) == "10.0");
  CHECK(quantity(99.96, Unit::Ratio) == "100");
}

TEST_CASE("times beyond 999 s go on in minutes, hours and days") {
  CHECK(quantity(999.4, Unit::Seconds) == "999s");
  CHECK(quantity(999.6, Unit::Seconds) == "16.7min");
  CHECK(quantity(59960, Unit::Seconds) == "999min");
  CHECK(quantity(59985, Unit::Seconds) == "16.7h");
  CHECK(quantity(3.6e6, Unit::Seconds) == "41.7d");
}

TEST_CASE("zero, tiny, huge and negative quantities can be read too") {
  CHECK(quantity(0, Unit::Seconds) == "0s");
  CHECK(quantity(0, Unit::Bytes) == "0B");
  CHECK(quantity(0, Unit::Count) == "0");
  CHECK(quantity(0.35e-9, Unit::Seconds) == "0.350ns");
  CHECK(quantity(0.0123, Unit::Count) == "0.0123");
  CHECK(quantity(1.23e-14, Unit::Seconds) == "1.23e-14s");
  CHECK(quantity(1.5e18, Unit::Count) == "1.50E");
  CHECK(quantity(1.5e21, Unit::Count) == "1.50e+21");
  CHECK(quantity(1e9, Unit::Seconds) == "1.00e+09s");
  CHECK(quantity(-0.5, Unit::Seconds) == "−500ms");
}

TEST_CASE("a shown quantity reads back within half a unit of its third digit") {
  std::mt19937_64 random(20240611);
  std::uniform_real_distribution<double> exponent(-9, 0);
  const auto check = [](double value, Unit unit) {
    const std::string text = quantity(value, unit);
    CAPTURE(text);
    const bool has_no_prefix = unit == Unit::Count && value >= 999.5 && value < 9999.5;
    CHECK(digits_of(text) == (has_no_prefix ? 4 : 3));
    CHECK(std::fabs(read_back(text) - value) <= half_of_third_digit(value) * (1 + 1e-9));
  };
  for (int i = 0; i < 20000; ++i) {
    const double u = exponent(random);
    check(std::pow(10.0, u + 2.9), Unit::Seconds);
    check(std::pow(10.0, 9 + u * 1.2), Unit::Bytes);
    check(std::pow(10.0, 18 + u * 2.2), Unit::Count);
    check(std::pow(10.0, 3 + u * 0.5), Unit::Ratio);
  }
}

TEST_CASE("no rounding at the edge of a unit loses a digit or shows 1000") {
  for (int power = -9; power <= 2; ++power) {
    for (const double factor : {0.9990, 0.9994, 0.9995, 0.99951, 0.9999, 1.0, 1.004, 1.006}) {
      const double value = factor * std::pow(10.0, power);
      const std::string text = quantity(value, Unit::Seconds);
      CAPTURE(text);
      CHECK(digits_of(text) == 3);
      CHECK_FALSE(has(text, "1000"));
      CHECK(std::fabs(read_back(text) - value) <= half_of_third_digit(value) * (1 + 1e-9));
    }
  }
}

TEST_CASE("the labels of an axis show its steps in one unit") {
  const auto label = [](double value, double largest, double step, Unit unit) {
    return notation_of_steps(largest, step, metric("m", unit), 1).text(value);
  };
  CHECK(label(0.5, 1.5, 0.5, Unit::Seconds) == "0.5s");
  CHECK(label(0.0, 1.5, 0.5, Unit::Seconds) == "0s");
  CHECK(label(0.6, 0.8, 0.2, Unit::Seconds) == "600ms");
  CHECK(label(1000020, 1000030, 10, Unit::Count) == "1.00002M");
  CHECK(label(12, 14, 2, Unit::Count) == "12");
}

TEST_CASE("a percentile and the ends of its interval have the notation of a row") {
  MetricResult values = row(0, summary(40, 0.5, 0.1, 0.1, 0.9));
  values.quantile = {0.498, 0.4431, 0.608};
  Metric of = metric("m", Unit::Seconds);
  of.percentile = Percentile{};
  CHECK(quantile_with_interval(values, of) == "498ms (443ms … 608ms)");
  values.quantile = {0.498, 0.4979, 0.49812};
  CHECK(quantile_with_interval(values, of) == "498.00ms (497.90ms … 498.12ms)");
  CHECK(quantile_text(values, of) == "498.00ms");
}

TEST_CASE("a delta has as many digits as its interval and its significance need") {
  CHECK(delta_text(changed(3.5512, 0.2231)) == "+355% ± 22%");
  CHECK(delta_text(changed(-0.003, 0.02)) == "−0.3% ± 2.0%");
  CHECK(delta_text(changed(0.00512, 0.00004)) == "+0.512% ± 0.004%");
  CHECK(delta_text(changed(0.1, 0.000512)) == "+10.00% ± 0.05%");
  CHECK(delta_text(changed(0.0052, 0.0051)) == "+0.52% ± 0.51%");
  CHECK(delta_text(changed(0.000001, 0.0)) == "+0.0001% ± 0.0000%");
  CHECK(delta_text(changed(0.0, 0.0)) == "0.0% ± 0.0%");
  CHECK(delta_text(changed(-0.0004, 0.01)) == "0.0% ± 1.0%");
}

TEST_CASE("a delta without an interval is shown alone and one of zero as new") {
  CHECK(delta_text(changed(0.05, std::nullopt)) == "+5.0%");
  CHECK(delta_text(changed(2.5, std::nullopt)) == "+250%");
  CHECK(delta_text(changed(-0.78, std::nullopt)) == "−78.0%");
  CHECK(delta_text(changed(0.0, std::nullopt)) == "0%");
  CHECK(delta_text(changed(std::nullopt, std::nullopt)) == "new");
  CHECK(delta_text(changed(12345.0, 0.5)) == "+1.23M% ± 50%");
}

TEST_CASE("a ratio of times has the digits that its interval allows") {
  CHECK(ratio_text(ranked(1, 4.5512, 0.0411, true, true).speed) == "4.55 ± 0.04");
  CHECK(ratio_text(ranked(1, 123.4, 12.3, true, true).speed) == "123 ± 12");
  CHECK(ratio_text(ranked(1, 23.44, 1.23, true, true).speed) == "23.4 ± 1.2");
  CHECK(ratio_text(ranked(1, 1.00031, 0.00012, true, true).speed) == "1.0003 ± 0.0001");
  CHECK(ratio_text({1.0202, stats::IntervalEnds{1.00003, 1.04209}}) == "1.0202 (1.0000 … 1.0421)");
  CHECK(ratio_text(ranked(1, 4.5512, std::nullopt, true, true).speed) == "4.55");
  CHECK(ratio_text(ranked(1, 2.0, 0.0, true, true).speed) == "2.00 ± 0.00");
}

TEST_CASE("deltas and ratios are written as the golden cases say") {
  const auto texts_of = [](double change, double low, double high) {
    const stats::Change delta{change, stats::IntervalEnds{low, high}};
    const auto speed = stats::relative_speed(delta);
    const bool has_line = speed && speed->bounds;
    return std::pair{delta_text(delta), has_line ? ratio_text(*speed) : ""};
  };
  for (const golden::Json& c : golden::section_2("text")) {
    INFO(c.dump());
    const auto [delta, speed] = texts_of(c.at("delta"), c.at("low"), c.at("high"));
    CHECK(delta == c.at("text").get<std::string>());
    CHECK(speed == c.at("speed").get<std::string>());
  }
  for (const golden::Json& c : golden::section_2("delta")) {
    INFO(c.at("name").get<std::string>());
    const golden::Json& expected = c.at("expected");
    if (expected.at("low").is_null()) continue;
    const auto [delta, speed] =
        texts_of(expected.at("delta"), expected.at("low"), expected.at("high"));
    CHECK(delta == expected.at("text").get<std::string>());
    const golden::Json& line = expected.at("speed").at("text");
    CHECK(speed == (line.is_null() ? "" : line.get<std::string>()));
  }
  for (const golden::Json& c : golden::section_2("gate")) {
    const golden::Json& shown = c.at("expected").at("interval");
    CHECK(texts_of(shown.at("delta"), shown.at("low"), shown.at("high")).first ==
          shown.at("text").get<std::string>());
  }
}

TEST_CASE("a limit is shown as it was typed") {
  using std::chrono::milliseconds;
  CHECK(exact_duration(std::chrono::seconds(2)) == "2s");
  CHECK(exact_duration(milliseconds(1500)) == "1.5s");
  CHECK(exact_duration(milliseconds(500)) == "500ms");
  CHECK(exact_duration(std::chrono::seconds(120)) == "120s");
  CHECK(exact_duration(std::chrono::nanoseconds(1'000'000'001)) == "1.000000001s");
  CHECK(exact_duration(std::chrono::nanoseconds(0)) == "0ns");
}

TEST_CASE("numbers for programs read back as the same double") {
  for (const double value : {0.1, 1.0 / 3.0, 591234567e-9, 2.5e9, 1e-9, 0.0}) {
    CHECK(std::strtod(exact_decimal(value).c_str(), nullptr) == value);
  }
  CHECK(exact_decimal(0.1) == "0.1");
  CHECK(exact_decimal(1048576) == "1048576");
}

TEST_CASE("a metric can be shown in a unit that was asked for, with three digits all the same") {
  const auto in = [](const char* unit) {
    const DisplayUnit* found = find_display_unit(unit);
    REQUIRE(found != nullptr);
    return Metric{.name = "m", .unit = found->unit, .source = CountedEvent{}, .shown_in = found};
  };
  CHECK(quantity(0.591, in("s")) == "0.591s");
  CHECK(quantity(0.591, in("ms")) == "591ms");
  CHECK(quantity(0.591, in("us")) == "591000µs");
  CHECK(quantity(0.0000591, in("ms")) == "0.0591ms");
  CHECK(quantity(90.0, in("min")) == "1.50min");
  CHECK(quantity(1536.0, in("KiB")) == "1.50KiB");
  CHECK(quantity(137e6, in("MiB")) == "131MiB");
  CHECK(quantity(137e6, in("MB")) == "137MB");
  CHECK(quantity(2.51e9, in("M")) == "2510M");
  CHECK(quantity(0.0, in("ms")) == "0ms");
  CHECK(quantity(1e-12, in("s")) == "1.00e-12s");
  Metric plain;
  plain.unit = Unit::Seconds;
  CHECK(quantity(0.591, plain) == "591ms");
}

TEST_CASE("a fraction is shown in percent, with three digits") {
  CHECK(quantity(0.7848, Unit::Fraction) == "78.5%");
  CHECK(quantity(1.0, Unit::Fraction) == "100%");
  CHECK(quantity(0.0, Unit::Fraction) == "0%");
  CHECK(quantity(0.00215, Unit::Fraction) == "0.215%");
}

TEST_CASE("a number that is not finite is not shown") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const Metric time = metric("wall_time", Unit::Seconds);
  for (const double value : {infinite, -infinite, none}) {
    CHECK(quantity(value, Unit::Seconds) == "n/a");
    CHECK(quantity(value, time) == "n/a");
    CHECK(signed_percent(value, 1) == "n/a");
    CHECK(mean_text(value, 1.0, time) == "n/a");
    CHECK(mean_text(1.0, value, time) == "1.00s");
    CHECK(delta_text({value, stats::IntervalEnds{0.0, 1.0}}) == "n/a");
    CHECK(delta_text({0.5, stats::IntervalEnds{0.0, value}}) == "+50.0%");
    CHECK(interval_text({0.5, stats::IntervalEnds{0.0, value}}) == "");
  }
}

}  // namespace lauka::report
