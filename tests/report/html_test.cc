#include "report/html.h"

#include "report/charts.h"
#include "report/example.h"

#include <cmath>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

std::size_t count_of(std::string_view what, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

/// Two commands, `rounds` runs of each in turns, with wall times 1 … rounds and twice that.
Results drawn_example(std::size_t rounds) {
  Results results;
  results.metrics = {metric("wall_time", Unit::Seconds)};
  const auto last = static_cast<double>(rounds);
  results.commands = {
      command("old", rounds, {row(0, summary(rounds, (1 + last) / 2, 1.0, 1, last))}),
      command(
          "new", rounds,
          {row(0, summary(rounds, 1 + last, 2.0, 2, 2 * last), stats::Delta{1.0, 0.25, true})})};
  for (std::size_t c = 0; c < 2; ++c) {
    stats::Summary& s = *results.commands[c].rows[0].summary;
    s.q1 = s.min + (s.max - s.min) / 4;
    s.q3 = s.min + (s.max - s.min) * 3 / 4;
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t c = 0; c < 2; ++c) {
      results.runs.push_back({c, round, 0, 0, {static_cast<double>((round + 1) * (c + 1))}});
    }
  }
  return results;
}

}  // namespace

TEST_CASE("the page needs nothing from elsewhere and no script") {
  const std::string page = results_html(drawn_example(5));
  CHECK(page.starts_with("<!DOCTYPE html>\n"));
  for (const std::string_view outside :
       {"<script", "http://", "https://", "src=", "url(", "@import", "<link"}) {
    CAPTURE(outside);
    CHECK(page.find(outside) == std::string::npos);
  }
  CHECK(page.find("prefers-color-scheme: dark") != std::string::npos);
  CHECK(page.find("width=device-width") != std::string::npos);
}

TEST_CASE("the page has the tables, and each run of each command as a point of two drawings") {
  const std::string page = results_html(drawn_example(5));
  CHECK(page.find("<td>wall_time</td><td>3.00s ± 1.00s</td><td>1.00s … 5.00s</td>") !=
        std::string::npos);
  CHECK(page.find("<td class=\"worse\">💩 +100% ± 25%</td>") != std::string::npos);
  CHECK(count_of("class=\"point c0\"", page) == 2 * 5);
  CHECK(count_of("class=\"point c1\"", page) == 2 * 5);
  CHECK(count_of("class=\"estimate worse\"", page) == 1);
}

TEST_CASE("points lie where their values are") {
  // 1 … 10 on an axis with 4 % of the range beside each end: 1 is at 0.36 / 9.72.
  const std::string chart = distribution_chart(drawn_example(5), 0);
  CHECK(chart.find("<circle cx=\"3.70%\" cy=\"27.0\" r=\"2.5\" class=\"point c0\"><title>run 1: "
                   "1.000s</title>") != std::string::npos);
  CHECK(chart.find("<circle cx=\"96.30%\"") != std::string::npos);
  CHECK(chart.find("class=\"point c1\"><title>run 10: 10.00s</title>") != std::string::npos);
}

TEST_CASE("long series are thinned, but what lies far out is drawn") {
  Results results = drawn_example(5000);
  results.commands[0].rows[0].summary->q1 = 2000;
  results.commands[0].rows[0].summary->q3 = 3000;
  results.runs[4001].values[0] = 1e6;  // of the second command, at a place that is left out
  const std::string chart = distribution_chart(results, 0);
  CHECK(count_of("<circle", chart) < 2500);
  CHECK(chart.find("run 4002: 277.8h") != std::string::npos);
  CHECK(chart.find("evenly spread") != std::string::npos);
}

TEST_CASE("names cannot become part of the page") {
  Results results = drawn_example(3);
  results.commands[1].name = "<b>&\"x\"\x1b[2J";
  const std::string page = results_html(results);
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(page.find("&lt;b&gt;&amp;&quot;x&quot;\\x1b[2J") != std::string::npos);
}

TEST_CASE("what has no value is not drawn") {
  Results results = drawn_example(3);
  results.metrics.push_back(metric("cycles", Unit::Count));
  for (RunRow& run : results.runs) run.values.emplace_back(std::nullopt);
  CHECK(distribution_chart(results, 1).empty());
  CHECK(order_chart(results, 1).empty());
  CHECK(delta_chart(results, 1).empty());
  CHECK(results_html(results).find("<summary>cycles") == std::string::npos);
}

TEST_CASE("deltas are drawn around the line of no difference") {
  // From 0 to 125 %: 4 % of that beside each end.
  const std::string chart = delta_chart(drawn_example(5), 0);
  CHECK(chart.find("<line x1=\"3.70%\" y1=\"0.0\" x2=\"3.70%\" y2=\"22.0\" class=\"zero\"/>") !=
        std::string::npos);
  CHECK(
      chart.find(
          "<line x1=\"59.26%\" y1=\"11.0\" x2=\"96.30%\" y2=\"11.0\" class=\"interval worse\"/>") !=
      std::string::npos);
  CHECK(chart.find(">+100%</text>") != std::string::npos);
}

}  // namespace lauka::report
