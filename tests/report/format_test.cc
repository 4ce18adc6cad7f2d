#include "report/format.h"

#include "core/choices.h"
#include "core/numbers.h"
#include "report/example.h"
#include "stats/golden.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

/// Returns the value of a shown quantity, read by hand: digits, then the unit.
double read_back(const std::string& text) {
  const std::map<std::string, double> units = {
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
  CHECK(quantity(1536.5, Unit::Count) == "1.54K");
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
  CHECK(range(2112, 2114, metric("m", Unit::Count)) ==
        std::pair<std::string, std::string>{"2112", "2114"});
}

TEST_CASE("a mean has the digits that its σ leaves sure, and σ two significant ones") {
  const auto text = [](double mean, double stddev, Unit unit) {
    return mean_text(mean, stddev, metric("m", unit));
  };
  CHECK(text(1.66382e9, 213e3, Unit::Count) == "1.6638G ± 0.2M");
  CHECK(text(1.0, 83e-6, Unit::Seconds) == "1.0000s ± 83µs");
  CHECK(text(0.591, 0.0076, Unit::Seconds) == "591ms ± 7.6ms");
  CHECK(text(0.130, 0.0083, Unit::Seconds) == "130ms ± 8.3ms");
  CHECK(text(137.02e6, 300e3, Unit::Bytes) == "137MB ± 0.3MB");
  CHECK(text(137.02e6, 250e3, Unit::Bytes) == "137.0MB ± 0.2MB");
  CHECK(text(2.51e9, 22.1e6, Unit::Count) == "2.51G ± 22M");
  CHECK(text(2.51e9, 141e3, Unit::Count) == "2.5100G ± 0.14M");   // 0.1 would be a third too little
  CHECK(text(351e-6, 130e-6, Unit::Seconds) == "351µs ± 130µs");  // no larger unit than the mean's
  CHECK(text(1.5, 1e-9, Unit::Seconds) == "1.500000s ± 1.0ns");   // seven digits at most
  CHECK(text(0.5, 0, Unit::Seconds) == "500ms ± 0s");
  CHECK(text(1663812345, 0, Unit::Count) == "1.66381G ± 0");
  CHECK(text(59, 0, Unit::Count) == "59 ± 0");
  CHECK(text(2113.2, 0.9, Unit::Count) == "2113 ± 0.90");
  CHECK(text(49.8, 0.9, Unit::Count) == "49.8 ± 0.90");
  CHECK(text(0.926, 0.47, Unit::Count) == "0.93 ± 0.47");
  CHECK(text(2112.3, 213, Unit::Count) == "2112 ± 213");
  CHECK(text(2.3456, 0.083, Unit::Ratio) == "2.35 ± 0.083");
  CHECK(text(0.5, 0.0123, Unit::Fraction) == "50.0% ± 1.2%");
  CHECK(mean_text(0.591, std::nullopt, metric("m", Unit::Seconds)) == "591ms");
  Metric in_seconds = metric("m", Unit::Seconds);
  in_seconds.shown_in = find_display_unit("s");
  CHECK(mean_text(0.591, 0.0076, in_seconds) == "0.591s ± 0.0076s");
}

TEST_CASE("rounding up to 1000 goes to the next unit") {
  CHECK(quantity(0.9999, Unit::Seconds) == "1.00s");
  CHECK(quantity(0.9994, Unit::Seconds) == "999ms");
  CHECK(quantity(999.9, Unit::Count) == "1.00K");
  CHECK(quantity(999.4, Unit::Count) == "999");
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
    CHECK(digits_of(text) == 3);
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

TEST_CASE("a range has the fewest digits that distinguish its ends") {
  using Ends = std::pair<std::string, std::string>;
  CHECK(range(0.583, 0.605, metric("m", Unit::Seconds)) == Ends{"583ms", "605ms"});
  CHECK(range(136.6e6, 137.4e6, metric("m", Unit::Bytes)) == Ends{"136.6MB", "137.4MB"});
  CHECK(range(1000001, 1000002, metric("m", Unit::Count)) == Ends{"1.00M", "1.00M"});
  CHECK(range(1000010, 1000020, metric("m", Unit::Count)) == Ends{"1.00001M", "1.00002M"});
  CHECK(range(5, 5, metric("m", Unit::Count)) == Ends{"5", "5"});
  CHECK(range(0, 12, metric("m", Unit::Count)) == Ends{"0", "12"});
}

TEST_CASE("a range keeps the digit that the deviation of its values earns") {
  using Ends = std::pair<std::string, std::string>;
  const Metric seconds{.name = "m", .unit = Unit::Seconds, .source = CountedEvent{}};
  CHECK(range(14.826, 14.944, seconds) == Ends{"14.8s", "14.9s"});
  CHECK(range(14.826, 14.944, seconds, 0.01) == Ends{"14.83s", "14.94s"});
  Metric in_seconds = seconds;
  in_seconds.shown_in = find_display_unit("s");
  CHECK(range(148.26, 148.64, in_seconds, 0.1) == Ends{"148.3s", "148.6s"});
  CHECK(range(148.26, 148.64, in_seconds) == Ends{"148s", "149s"});
  CHECK(range(0.583, 0.605, seconds, 0.0076) == Ends{"583ms", "605ms"});
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
  CHECK(ratio_text({1.0202, stats::ChangeBounds{1.00003, 1.04209}}) == "1.0202 (1.0000 … 1.0421)");
  CHECK(ratio_text(ranked(1, 4.5512, std::nullopt, true, true).speed) == "4.55");
  CHECK(ratio_text(ranked(1, 2.0, 0.0, true, true).speed) == "2.00 ± 0.00");
}

TEST_CASE("deltas and ratios are written as the golden cases say") {
  const auto texts_of = [](double change, double low, double high) {
    const stats::Change delta{change, stats::ChangeBounds{low, high}};
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
    CHECK(std::strtod(full_precision(value).c_str(), nullptr) == value);
  }
  CHECK(full_precision(0.1) == "0.1");
  CHECK(full_precision(1048576) == "1048576");
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
  CHECK(range(0.5831, 0.5834, in("ms")) ==
        std::pair<std::string, std::string>("583.1ms", "583.4ms"));
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
    CHECK(delta_text({value, stats::ChangeBounds{0.0, 1.0}}) == "n/a");
    CHECK(delta_text({0.5, stats::ChangeBounds{0.0, value}}) == "+50.0%");
    CHECK(interval_text({0.5, stats::ChangeBounds{0.0, value}}) == "");
  }
}

}  // namespace lauka::report
