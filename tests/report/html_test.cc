#include "report/html.h"

#include "core/text.h"
#include "report/charts.h"
#include "report/example.h"
#include "report/format.h"
#include "report/lines.h"
#include "report/scan_chart.h"
#include "results/analyse.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

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
Results drawn_example(std::size_t rounds,
                      const std::function<void(std::vector<MadeRun>&)>& change = {}) {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds)};
  const auto last = static_cast<double>(rounds);
  set_commands(
      results,
      {command("old", rounds, {row(0, summary(rounds, (1 + last) / 2, 1.0, 1, last))}),
       command("new", rounds,
               {row(0, summary(rounds, 1 + last, 2.0, 2, 2 * last), changed(1.0, 0.25))})});
  for (std::size_t c = 0; c < 2; ++c) {
    stats::Summary& s = *results.commands[c].rows[0].summary;
    s.q1 = s.min + (s.max - s.min) / 4;
    s.q3 = s.min + (s.max - s.min) * 3 / 4;
  }
  std::vector<MadeRun> runs;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t c = 0; c < 2; ++c)
      runs.push_back({{c, round}, {static_cast<double>((round + 1) * (c + 1))}});
  }
  if (change) change(runs);
  results.session.runs = made(std::move(runs));
  return results;
}

/// Adds a metric with the values of the first.
void add_metric(Results& results) {
  const std::size_t added = results.session.metrics.size();
  results.session.metrics.push_back(metric(fmt::format("metric {}", added), Unit::Seconds));
  for (CommandResult& command : results.commands) {
    command.rows.push_back(command.rows[0]);
    command.rows.back().metric_index = added;
  }
}

/// Returns the rows of the first metric's drawings, as the page's script gets them.
std::vector<std::string> rows_of(const Results& results, std::size_t max_points = kMaxDrawnPoints) {
  const std::string attributes = MetricDrawings(results, max_points).make_attributes(0);
  const std::size_t begin = attributes.find("data-rows=\"") + 11;
  return lines_with_text(attributes.substr(begin, attributes.find('"', begin) - begin));
}

/// Returns one of the fields of a row.
std::string field(const std::string& row, std::size_t number) {
  return std::string(split(row, ';').at(number));
}

}  // namespace

TEST_CASE("the page has what was tuned, and how the machine was before and after the runs") {
  Results results = drawn_example(5);
  CHECK(count_of("Tuned machine", written(write_html, results)) == 0);
  results.session.circumstances.tuning = Tuning{.switched = {{"turbo", "0", "1", 1}},
                                                .not_possible = {{"smt", "the kernel <refuses>"}},
                                                .before = {.throttles = 3, .celsius = 41.5},
                                                .after = {.throttles = 4},
                                                .compare = {{.command = "a <b>",
                                                             .tuned_runs = 30,
                                                             .untuned_runs = 10,
                                                             .stddev = {-0.5, -0.75, -0.25},
                                                             .mean = {-0.01, {}, {}}}}};
  const std::string page = written(write_html, results);
  for (const std::string_view part :
       {"<summary>Tuned machine</summary>",
        "<tr><th scope=\"row\">turbo</th><td>0</td><td>1</td></tr>",
        "<tr><th scope=\"row\">throttle events</th><td>3</td><td>4</td></tr>",
        "<tr><th scope=\"row\">temperature, °C</th><td>41.5</td><td>not known</td></tr>",
        "not changed: smt, the kernel &lt;refuses&gt;",
        "<div class=\"who\">a &lt;b&gt;, σ</div><div class=\"value\">−50% ± 25%</div>"}) {
    CAPTURE(part);
    CHECK(count_of(part, page) == 1);
  }
  CHECK(count_of("stolen ticks", page) == 0);
}

TEST_CASE("a line sums up what tuning changed, of several commands by geometric means") {
  TunedComparison one{.command = "a",
                      .tuned_runs = 30,
                      .untuned_runs = 10,
                      .stddev = {-0.5, -0.75, -0.25},
                      .interval_width = {-0.4, -0.5, -0.3},
                      .mean = {-0.01, {}, {}}};
  CHECK(tuning_line({one}) ==
        "compared with 10 untuned runs, --tune changed σ by −50% ± 25%, the width of the interval "
        "by −40% ± 10%, and the mean by −1.0%");
  TunedComparison other = one;
  other.stddev = {1.0, 0.5, 1.5};
  other.interval_width = {};
  // Down: e^-(√(ln 2² + ln(4/3)²) / 2) − 1 = −31%; up: e^(√(ln 1.5² + ln 1.25²) / 2) − 1 = +26%.
  check_order(tuning_line({one, other}),
              {"20 untuned runs, ", "σ by 0% ± 31%", "−1.0% (geometric means)"});
}

TEST_CASE("the page needs nothing from elsewhere, and one script that is in it") {
  const std::string page = written(write_html, drawn_example(5));
  CHECK(page.starts_with("<!DOCTYPE html>\n"));
  for (const std::string_view outside :
       {"http://", "https://", "src=", "url(", "@import", "<link", "fetch("}) {
    CAPTURE(outside);
    CHECK_FALSE(has(page, outside));
  }
  CHECK(count_of("<script>", page) == 1);
  CHECK(has(page, "prefers-color-scheme: dark"));
  CHECK(has(page, "@media print"));
  CHECK(has(page, "width=device-width"));
}

TEST_CASE("with layouts the overview has means with their intervals over layouts") {
  Results results = example_over_layouts(changed(0.003, 0.009), changed(0.031, 0.002));
  std::vector<MadeRun> runs;
  for (std::uint32_t run = 0; run < 16; ++run)
    runs.push_back(
        {{.command = run % 2, .round = run / 2, .layout = run / 2}, {0.5 + run / 100.0}});
  results.session.runs = made(runs);
  const std::string page = written(write_html, results);
  CHECK(has(page, "<title>./build-old: mean over layouts 591ms (561ms … 621ms)</title>"));
  CHECK(has(page, "The dot is the mean over layouts, the bar is its 95% confidence interval"));
  CHECK(has(page, "Values are means over layouts."));
}

TEST_CASE("the page begins with the verdict, the gates and the overview; the tables come last") {
  Results results = drawn_example(8);
  results.headline_comparisons = {ranked(1, 2.0, 0.1, false, true)};
  gate::Verdict verdict;
  verdict.condition = {"wall_time", GateLimit::of_change(10)};
  verdict.candidate = 1;
  verdict.answer = gate::Answer::Fail;
  verdict.delta = changed(1.0, 0.25);
  verdict.rounds = 8;
  results.findings.verdicts = {verdict};
  results.presentation.title = "Old & new";
  results.presentation.description = "As of today";
  const std::string page = written(write_html, results);
  check_order(
      page, {"<title>Old &amp; new</title>", "<h1>Old &amp; new</h1>", "<p>As of today</p>",
             "<p class=\"answer\">new ran 2.00\u00a0±\u00a00.10 times slower than old</p>",
             "<span class=\"mark worse\">fail</span> wall_time &gt; 10%: more than 10% slower",
             "<h2>wall_time</h2>", "class=\"bars view from-zero\"", "class=\"bars view close-up\"",
             "<h2>Differences from <code>old</code></h2>", "<table class=\"matrix\">",
             "<h2>Charts</h2>", "<summary>wall_time</summary>", "<summary>Tables</summary>"});
}

TEST_CASE("without a title of its own the page has the commands' names, or how many there are") {
  Results results = drawn_example(3);
  CHECK(has(written(write_html, results), "<h1>old and new</h1>"));
  repeat_command(results, 1);
  CHECK(has(written(write_html, results), "<h1>3 commands compared</h1>"));
}

TEST_CASE("the page has the tables, and each run of each command as a point of two drawings") {
  const std::string page = written(write_html, drawn_example(5));
  CHECK(has(page, "<th scope=\"row\">wall_time</th><td>3.00s ± 1.00s</td>"));
  CHECK(has(page,
            "<td class=\"worse\"><svg class=\"sign\" role=\"img\" aria-label=\"worse\">"
            "<use href=\"#worse\"/></svg>\u00a0+100%\u00a0±\u00a025%</td>"));
  CHECK(count_of("<symbol id=\"worse\"", page) == 1);
  CHECK_FALSE(has(page, "💩"));
  CHECK(count_of("class=\"estimate\"", page) == 1);
}

TEST_CASE("a metric is drawn from places in base 36, and each run's distance from the one before") {
  // 1 … 10 on an axis with 4 % of the range at each end: 1 is at 0.36 / 9.72 of 1000, 37 = "11".
  CHECK(rows_of(drawn_example(5)) ==
        std::vector<std::string>{"0;3.00s;113w6r9mch;0 2 2 2 2;113w6r9mch;",
                                 "1;6.00s;3w9mfbl1qr;1 2 2 2 2;3w9mfbl1qr;"});
  const std::string page = written(write_html, drawn_example(5));
  CHECK(has(page, "<details open data-axis=\"0.64 10.36 1 0 s|14.0 2s|"));
  CHECK(has(page, "<div data-runs=\"10\" data-commands=\"c0|old\nc1|new\">"));
  CHECK(count_of("<noscript>", page) == 1);
}

TEST_CASE("runs that all metrics share are in a page once") {
  Results results = drawn_example(5, [](std::vector<MadeRun>& runs) {
    for (MadeRun& run : runs) run.values.push_back(run.values[0]);
  });
  add_metric(results);
  MetricDrawings drawings(results, kMaxDrawnPoints);
  CHECK(has(drawings.make_attributes(0), "1;6.00s;3w9mfbl1qr;1 2 2 2 2;"));
  CHECK(has(drawings.make_attributes(1), "1;6.00s;3w9mfbl1qr;;3w9mfbl1qr;"));
}

TEST_CASE("long series are thinned, but outliers are drawn") {
  const Results results = drawn_example(5000, [](std::vector<MadeRun>& runs) {
    runs[4001].values[0] = 1e6;  // of the second command
  });
  const std::vector<std::string> rows = rows_of(results);
  REQUIRE(rows.size() == 2);
  for (const std::string& row : rows) {
    const std::size_t points = field(row, 4).size() / 2;
    CHECK(points <= kMaxDrawnPoints / 2);
    CHECK(points > kMaxDrawnPoints / 2 - 100);
  }
  CHECK(count_of("qr", field(rows[1], 4)) == 1);
  CHECK(has(MetricDrawings(results, kMaxDrawnPoints).make_attributes(0), " data-thinned"));
}

TEST_CASE("of many runs, and of thinned ones, the distribution is a shape") {
  CHECK(field(rows_of(drawn_example(150))[0], 5).empty());
  CHECK(field(rows_of(drawn_example(151))[0], 5).size() == 60);
  const std::string shape = field(rows_of(drawn_example(20), 8)[0], 5);
  CHECK(shape.size() == 12);
  CHECK(has(shape, "z"));
}

TEST_CASE("a scan has a colour for each line, the stronger the larger the parameter is") {
  Results results = drawn_example(5);
  CHECK(command_classes(results) == std::vector<std::string>{"c0", "c1"});
  repeat_command(results, 1, 6);
  for (std::size_t c = 0; c < 8; ++c)
    results.session.commands[c].parameters = {{"n", std::to_string(10 * (c / 2 + 1))},
                                              {"way", c % 2 == 0 ? "a" : "b"}};
  for (Command& command : results.session.commands) command.unfilled_name = "work {n} {way}";
  CHECK(command_classes(results) == std::vector<std::string>{"c0 g0", "c1 g0", "c0 g1", "c1 g1",
                                                             "c0 g3", "c1 g3", "c0 g4", "c1 g4"});
}

TEST_CASE("a parameter with numbers for values is drawn against, with the power law that fits") {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds)};
  std::vector<MadeRun> runs;
  for (const std::size_t n : {10U, 20U, 40U, 80U}) {
    const auto value = static_cast<double>(n * n) * 1e-3;
    MadeCommand one = command("work " + std::to_string(n), 1,
                              {row(0, summary(1, value, std::nullopt, value, value))});
    one.command.unfilled_name = "work {n}";
    one.command.parameters = {{"n", std::to_string(n)}};
    runs.push_back({{results.commands.size(), 0}, {value}});
    add_command(std::move(one), results);
  }
  results.session.runs = made(std::move(runs));
  const std::string chart = scan_chart(results, 0);
  CHECK(has(chart,
            "<code>work {n}</code> grows as n<sup>2.00</sup> <span class=\"aside\">(95% "
            "interval of the exponent: 2.00 … 2.00)</span>"));
  CHECK(count_of("class=\"fitted\"", chart) == 1);
  CHECK(count_of(">10<", chart) == 2);  // ticks are where values were measured
  CHECK(count_of(">60<", chart) == 0);
  CHECK(has(written(write_html, results), "<div class=\"scanned\">"));
  CHECK_FALSE(has(written(write_html, drawn_example(5)), "<div class=\"scanned\">"));
  CHECK(count_of("data-labels=\"n = 10|n = 20|n = 40|n = 80\"", chart) == 2);  // both views
  CHECK(count_of("h0", chart) == 8);
  results.session.commands[1].parameters[0].value = "many";
  CHECK(scan_chart(results, 0).empty());
}

TEST_CASE("of many commands nothing below the overview is unfolded, and no row has many elements") {
  Results results = drawn_example(10);
  add_metric(results);
  const std::string page = written(write_html, results);
  CHECK(count_of("<details open", page) == 1);
  CHECK(count_of("<h3>Differences", page) == 2);
  repeat_command(results, 1, 98);
  const std::string large = written(write_html, results);
  CHECK(count_of("<details open", large) == 0);
  CHECK(count_of("<h3>Differences", large) == 1);
  CHECK(count_of("<", large) < 100 * 170);  // elements and their ends
}

TEST_CASE("why is a table of several candidates where counts exist, and one line where none do") {
  Results results = drawn_example(5);
  repeat_command(results, 1);
  const WallTimeExplanation fewer{.command = 1,
                                  .factors = {{WallFactorKind::Instructions, changed(-0.5, 0.01)},
                                              {WallFactorKind::Utilisation, changed(0.001, 0.1)}},
                                  .is_simulated = true};
  WallTimeExplanation busier{
      .command = 2,
      .factors = {{WallFactorKind::Clock, changed(-0.2, 0.01), 4.0e9, 3.2e9}},
      .is_simulated = true};
  results.explanations = {fewer, busier};
  const std::string page = written(write_html, results);
  for (const std::string_view part :
       {"<th scope=\"col\">command</th><th scope=\"col\">wall time</th><th "
        "scope=\"col\">instructions"
        "</th><th scope=\"col\">clock</th><th scope=\"col\">CPU use</th>",
        "<td class=\"better\">2.00\u00a0±\u00a00.04x\u00a0fewer</td><td></td>",
        "<td class=\"worse\">1.250\u00a0±\u00a00.016x\u00a0lower "
        "(4.00\u00a0→\u00a03.20\u00a0GHz)</td>",
        "<p class=\"faint\">instructions are simulated</p>"}) {
    CAPTURE(part);
    CHECK(count_of(part, page) == 1);
  }
  CHECK(count_of("why:", page) == 0);
  for (WallTimeExplanation& why : results.explanations)
    why.lacks_instructions = why.leaves_out_cycles = true;
  const std::string uncounted = written(write_html, results);
  CHECK_FALSE(has(uncounted, "why:"));
  CHECK(count_of("CPU use", uncounted) == 0);
  results.explanations.resize(1);
  CHECK(count_of("<p>why: new: ", written(write_html, results)) == 1);
}

TEST_CASE("commands that are far apart are drawn on a logarithmic axis") {
  Results results = drawn_example(8);
  CHECK_FALSE(has(written(write_html, results), "logarithmic<"));
  for (double* value :
       {&results.commands[1].rows[0].summary->median, &results.commands[1].rows[0].summary->max})
    *value *= 1000;
  std::vector<MadeRun> runs;
  for (std::size_t round = 0; round < 8; ++round)
    for (std::size_t c = 0; c < 2; ++c)
      runs.push_back({{c, round}, {static_cast<double>(round + 1) * (c == 0 ? 1e-6 : 1e-3)}});
  results.session.runs = made(std::move(runs));
  const std::string page = written(write_html, results);
  CHECK(count_of("id=\"overview-close\" checked><label for=\"overview-close\">logarithmic<",
                 page) == 1);
  CHECK(has(page, " 0.001 1 ms|"));  // of the drawings: the unit, and that they are logarithmic
  CHECK(has(page, " 100µs|"));
}

TEST_CASE("a screen reader finds one heading of the page, and headings of rows and columns") {
  const std::string page = written(write_html, drawn_example(5));
  CHECK(count_of("<h1>", page) == 1);
  CHECK(count_of("<main>", page) == 1);
  CHECK(count_of("<th>", page) == 0);
  CHECK(count_of("<th scope=\"row\">", page) > 0);
  CHECK(count_of("<svg", page) == count_of("role=\"img\"", page) +
                                      count_of("aria-hidden=\"true\"", page) +
                                      count_of("<svg class=\"plot\"", page));
}

TEST_CASE("the page explains a delta that the means contradict") {
  Results results = drawn_example(5);
  CHECK(lines_about_contradicting_means(results, {}).empty());
  stats::Delta& delta = *results.commands[1].rows[0].delta;
  delta.basis = stats::Basis::Typical;
  delta.change_of_mean = changed(-0.016, 0.01);
  results.commands[0].rows[0].summary->max *= 3;
  std::string line = lines_about_contradicting_means(results, {});
  REQUIRE(line.ends_with("\n"));
  line.pop_back();
  CHECK(count_of("<p class=\"faint\">" + line + "</p>", written(write_html, results)) == 1);
}

TEST_CASE("names cannot become part of the page") {
  Results results = drawn_example(3);
  results.session.commands[1].name = "<b>&\"x\"\x1b[2J";
  const std::string page = written(write_html, results);
  CHECK_FALSE(has(page, "<b>"));
  CHECK(has(page, "&lt;b&gt;&amp;&quot;x&quot;\\x1b[2J"));
}

TEST_CASE("what has no value is not drawn") {
  Results results = drawn_example(3);
  results.session.metrics.push_back(metric("cycles", Unit::Count));
  CHECK(has_any_summary(results, 0));
  CHECK_FALSE(has_any_summary(results, 1));
  CHECK(delta_chart(results, 1).empty());
  CHECK_FALSE(has(written(write_html, results), "<summary>cycles"));
}

TEST_CASE("deltas are drawn around the line of no difference") {
  // From 0 to 125 %: 4 % of that at each end.
  const std::string chart = delta_chart(drawn_example(5), 0);
  CHECK(has(chart, "<svg class=\"line worse\" height=\"22\" viewBox=\"0 0 1000 22\""));
  CHECK(has(chart, "<path class=\"zero\" d=\"M37.0 0v22\"/>"));
  CHECK(has(chart, "<path class=\"interval\" d=\"M592.6 6v10M963.0 6v10M592.6 11H963.0\"/>"));
  CHECK(has(chart, ">+100%</text>"));
}

TEST_CASE("ten times the runs, or the commands, do not make ten times the page") {
  const std::size_t of_thousands = written(write_html, drawn_example(2000)).size();
  CHECK(of_thousands < 80'000);
  CHECK(written(write_html, drawn_example(20'000)).size() < of_thousands + of_thousands / 5);
  Results results = drawn_example(2000);
  repeat_command(results, 0, 998);
  std::size_t points = 0;
  for (const std::string& row : rows_of(results)) points += field(row, 4).size() / 2;
  CHECK(points <= kMaxDrawnPoints);
}

TEST_CASE("a page of 1,000 benchmarks has the metrics of all, in at most 5 MB") {
  Results example = drawn_example(60, [](std::vector<MadeRun>& runs) {
    for (MadeRun& run : runs) run.values.resize(8, run.values[0]);
  });
  for (int metric = 1; metric < 8; ++metric) add_metric(example);
  std::vector<Results> all(1000, example);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].benchmark = fmt::format("benchmark {}", i);
  const std::string page = written(write_html, make_report(all, gate::ErrorRate::AnyFalseFail));
  CHECK(count_of("<details", page) == 9 * 1000);
  CHECK(count_of("<td>30.5s ± 1.0s</td>", page) == 8 * 1000);
  CHECK(page.size() <= 5'000'000);
}

using doctest::Approx;

TEST_CASE("an axis holds its values with room on both sides, and round numbers") {
  const Axis axis = linear_axis(0.125, 0.605);
  CHECK(axis.low == Approx(0.125 - 0.04 * 0.48));
  CHECK(axis.high == Approx(0.605 + 0.04 * 0.48));
  REQUIRE(axis.ticks.size() == 3);
  CHECK(axis.ticks[0] == Approx(0.2));
  CHECK(axis.ticks[2] == Approx(0.6));
  CHECK(axis.percent(0.125) == Approx(100 * 0.0192 / 0.5184));
  CHECK(axis.percent(axis.low) == 0.0);
  CHECK(axis.percent(axis.high) == 100.0);
}

TEST_CASE("equal values are in the middle of their axis") {
  CHECK(linear_axis(5, 5).percent(5) == Approx(50));
  CHECK(linear_axis(0, 0).percent(0) == Approx(50));
  CHECK(linear_axis(5, 5).ticks.size() >= 1);
}

TEST_CASE("an axis never has more ticks than fit") {
  for (const double high : {1.1, 2.3, 4.9, 5.1, 9.9, 1234.5, 1e-9}) {
    CAPTURE(high);
    CHECK(linear_axis(0, high).ticks.size() <= 6);
    CHECK(linear_axis(0, high).ticks.size() >= 2);
  }
}

TEST_CASE("a logarithmic axis has powers of ten, or 1, 2 and 5 of them where it is short") {
  const Axis wide = logarithmic_axis(3e-6, 9e-2);
  CHECK(wide.percent(3e-6) == Approx(100 * 0.04 / 1.08));
  CHECK(wide.percent(9e-2) == Approx(100 * 1.04 / 1.08));
  REQUIRE(wide.ticks.size() == 5);
  CHECK(wide.ticks[0] == Approx(1e-5));
  CHECK(wide.ticks[4] == Approx(1e-1));
  const Axis narrow = logarithmic_axis(10, 80);
  REQUIRE(narrow.ticks.size() == 3);
  CHECK(narrow.ticks[1] == Approx(20));
  CHECK(logarithmic_axis(1e-12, 1e12).ticks.size() <= 6);
}

TEST_CASE("values a factor of more than 50 apart span decades, and zero never does") {
  CHECK(needs_logarithmic_axis(1, 51));
  CHECK_FALSE(needs_logarithmic_axis(1, 49));
  CHECK_FALSE(needs_logarithmic_axis(0, 1));
}

}  // namespace lauka::report
