#include "core/text.h"
#include "report/example.h"
#include "report/screen.h"
#include "stats/summary.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

std::vector<std::size_t> counts(const std::vector<Bin>& bins) {
  std::vector<std::size_t> all;
  for (const Bin& bin : bins) all.push_back(bin.count);
  return all;
}

std::vector<Bin> make_bins(const std::vector<double>& values, std::size_t most) {
  return report::make_bins(values, stats::summarize(values), most);
}

/// A command whose wall times are these, in seconds.
Results timed(const std::vector<double>& seconds) {
  Results results;
  results.session.metrics = {metric("cpu_time", Unit::Seconds), metric("wall_time", Unit::Seconds)};
  set_commands(results, {command("a", seconds.size(), {row(0, summary(1, 1, {}, 1, 1))})});
  if (!seconds.empty()) {
    results.commands[0].rows.push_back(row(1, stats::summarize(seconds)));
  }
  std::vector<MadeRun> runs;
  for (const double value : seconds) runs.push_back({{}, {1.0, value}});
  results.session.runs = made(std::move(runs));
  return results;
}

}  // namespace

TEST_CASE("bins are of one width and hold every value once") {
  // Quartiles of 1 … 8 are 2.75 and 6.25: 2 · 3.5 / cbrt(8) = 3.5, and 7 / 3.5 = 2 bins.
  const std::vector<Bin> bins = make_bins({8, 1, 2, 3, 4, 5, 6, 7}, 12);
  REQUIRE(bins.size() == 2);
  CHECK(bins[0].low == 1);
  CHECK(bins[0].high == 4.5);
  CHECK(bins[1].high == 8);
  CHECK(counts(bins) == std::vector<std::size_t>{4, 4});
}

TEST_CASE("a value far out does not stretch the bins") {
  const std::vector<Bin> bins = make_bins({1, 2, 3, 4, 5, 6, 7, 8, 1000}, 12);
  // Quartiles 3 and 7, so the bins end at 7 + 3 · 4 = 19; the last one reaches to the value.
  CHECK(bins.size() > 2);
  CHECK(bins.front().high < 10);
  CHECK(bins.back().high == 1000);
  CHECK(bins.back().count == 1);
}

TEST_CASE("equal values are one bin, and there are never more than asked for") {
  CHECK(counts(make_bins({3, 3, 3}, 12)) == std::vector<std::size_t>{3});
  // Most are equal: the quartiles are too, and give no width.
  CHECK(counts(make_bins({3, 3, 3, 3, 3, 3, 3, 5}, 4)) == std::vector<std::size_t>{7, 0, 0, 1});
}

TEST_CASE("a histogram has a line for each bin, as long as its count") {
  // Quartiles 3.25 and 5.75 ms: 2 · 2.5 / cbrt(10) = 2.32, so 7 ms are 4 bins of 1.75.
  CHECK(histogram(timed({0.008, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.0046, 0.0047}),
                  0, {false, 40, false}) ==
        "  1.0ms … 2.8ms  ██████████▌ 2\n"
        "  2.8ms … 4.5ms  ██████████▌ 2\n"
        "  4.5ms … 6.2ms  █████████████████████ 4\n"
        "  6.2ms … 8.0ms  ██████████▌ 2\n");
}

TEST_CASE("the histograms of a comparison share their axis, unless the commands are far apart") {
  const auto shown_with = [](double factor) {
    Results results;
    results.session.metrics = {metric("wall_time", Unit::Seconds)};
    std::vector<MadeRun> runs;
    for (std::size_t c = 0; c < 2; ++c) {
      std::vector<double> values;
      for (std::size_t i = 0; i < 12; ++i)
        values.push_back((0.010 + 0.001 * static_cast<double>(i)) * (c == 0 ? 1.0 : factor));
      for (const double value : values) runs.push_back({{.command = c}, {value}});
      add_command(command(c == 0 ? "old" : "new", 12, {row(0, stats::summarize(values))}), results);
    }
    results.session.runs = made(std::move(runs));
    return histograms(results, {.shows_histograms = true});
  };

  const auto labels = [](const std::string& text) {
    std::vector<std::string> all;
    for (const std::string_view line : split(text, '\n'))
      if (const std::size_t end = line.find("  ", 2); line.starts_with("  ") && end != line.npos)
        all.emplace_back(line.substr(0, end));
    return all;
  };
  const std::vector<std::string> near = labels(shown_with(1.3));
  REQUIRE(near.size() >= 6);
  const auto half = near.begin() + static_cast<std::ptrdiff_t>(near.size() / 2);
  CHECK(std::vector(near.begin(), half) == std::vector(half, near.end()));
  const std::vector<std::string> far = labels(shown_with(100.0));
  CHECK(std::ranges::count(far, far.front()) == 1);
}

TEST_CASE("a histogram keeps to the width of the terminal") {
  CHECK(widest_line(histogram(timed({0.001, 0.002, 0.003, 0.004}), 0, {false, 60, false})) <= 60);
  CHECK(histogram(timed({}), 0, {}).empty());
}

}  // namespace lauka::report
