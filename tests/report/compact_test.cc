#include "core/choices.h"
#include "report/example.h"
#include "report/screen.h"
#include "report/style.h"
#include "report/table.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {

namespace {

constexpr auto kNames = {"./old", "./new", "./new -O2", "./new -O3", "./new -Os"};

/// Five commands, of which the second is slower and the third the fastest.
Results five() {
  Results results;
  results.metrics = {metric("wall_time", Unit::Seconds), metric("peak_rss", Unit::Bytes)};
  const std::vector<double> means = {0.100, 0.110, 0.050, 0.080, 0.100};
  std::size_t c = 0;
  for (const char* name : kNames) {
    const double mean = means[c];
    const auto values = summary(10, mean, 0.001, mean - 0.002, mean + 0.002);
    const auto delta = changed(mean / 0.1 - 1, 0.01);
    results.commands.push_back(command(name, 10,
                                       {c == 0 ? row(0, values) : row(0, values, delta),
                                        row(1, summary(10, 2e6, 1e3, 1.9e6, 2.1e6))}));
    results.commands.back().typed = c;
    if (c > 0)
      results.rankings.push_back(
          ranked(c, mean < 0.1 ? 0.1 / mean : mean / 0.1, 0.01, mean < 0.1, mean != 0.100));
    ++c;
  }
  return results;
}

/// One command typed, with all values of two variables.
Results two_variables() {
  Results results;
  results.metrics = {metric("wall_time", Unit::Seconds)};
  for (const std::string level : {"1", "9"}) {
    for (const std::string file : {"a.txt", "b.txt", "c.txt"}) {
      const bool is_reference = results.commands.empty();
      const auto values = summary(10, level == "1" ? 0.1 : 0.2, 0.001, 0.098, 0.202);
      CommandResult one =
          command("gzip -" + level + " " + file, 10,
                  {is_reference ? row(0, values)
                                : row(0, values, changed(level == "1" ? 0.0 : 1.0, 0.02))});
      one.pattern = "gzip -{level} {file}";
      one.parameters = {{"level", level}, {"file", file}};
      results.commands.push_back(std::move(one));
    }
  }
  return results;
}

}  // namespace

TEST_CASE("five commands are a table of five rows, with the best below it") {
  CHECK(table(five(), {}) ==
        "wall_time of 5 commands, 10 runs each\n"
        "command      mean ± σ          min … max          delta\n"
        "./old        100ms ± 1.0ms     98.0ms … 102ms        reference\n"
        "./new        110ms ± 1.0ms     108ms … 112ms      💩 +10.0% ± 1.0%\n"
        "./new -O2    50.0ms ± 1.0ms    48.0ms … 52.0ms    ⚡ −50.0% ± 1.0%\n"
        "./new -O3    80.0ms ± 1.0ms    78.0ms … 82.0ms    ⚡ −20.0% ± 1.0%\n"
        "./new -Os    100ms ± 1.0ms     98.0ms … 102ms        0.0% ± 1.0%\n"
        "not shown: peak_rss; see --table full\n"
        "\n"
        "./new -O2 ran 2.00 ± 0.01 times faster than ./old\n");
}

TEST_CASE("four commands have a table each, unless a compact one is asked for, and the reverse") {
  Results results = five();
  results.presentation.table = TableChoice::Full;
  CHECK(has(table(results, {}), "Benchmark 5 (10 runs): ./new -Os\n"));
  results.presentation.table = TableChoice::Auto;
  results.commands.pop_back();
  CHECK_FALSE(is_compact(results));
  results.presentation.table = TableChoice::Compact;
  CHECK(table(results, {}).starts_with("wall_time of 4 commands, 10 runs each\n"));
}

TEST_CASE("--sort time lists the fastest first, and keeps equal ones in order") {
  Results results = five();
  CHECK(order_rows(results) == std::vector<std::size_t>{0, 1, 2, 3, 4});
  results.presentation.sort = SortChoice::Time;
  CHECK(order_rows(results) == std::vector<std::size_t>{2, 3, 0, 4, 1});
  without_values(results.commands[2]);
  CHECK(order_rows(results) == std::vector<std::size_t>{3, 0, 4, 1, 2});
}

TEST_CASE("rows that were asked for all get a table, and so do all under --verbose") {
  Results results = five();
  results.presentation.every_row = true;
  const std::string text = table(results, {});
  CHECK(has(text, "\npeak_rss of 5 commands, 10 runs each\n"));
  CHECK_FALSE(has(text, "not shown"));
  results.presentation.every_row = false;
  results.metrics[1].shown = Shown::Verbose;
  CHECK_FALSE(has(table(results, {}), "peak_rss"));
  CHECK(has(table(results, {.verbose = true}), "\npeak_rss of 5"));
}

TEST_CASE("runs get a column where their numbers differ") {
  Results results = five();
  results.commands[1].runs = 12;
  results.commands[2].failed_runs = 3;
  const std::string text = table(results, {});
  CHECK(text.starts_with("wall_time of 5 commands\ncommand      runs            mean ± σ"));
  CHECK(has(text, "./new        12              110ms"));
  CHECK(has(text, "./new -O2    10, 3 failed    50.0ms"));
  without_values(results.commands[4]);
  CHECK(has(table(results, {}), "./new -Os    0               n/a"));
}

TEST_CASE("the headline of many commands never names a loser as the winner") {
  Results results = five();
  results.rankings = {ranked(1, 1.1, 0.01, false, true), ranked(2, 1.0, 0.01, true, false)};
  CHECK(summary_lines(results, {}) == "no command is significantly faster than ./old\n");
  results.rankings = {ranked(1, 1.01, 0.02, false, false), ranked(2, 1.0, 0.01, true, false)};
  CHECK(summary_lines(results, {}) == "no command differs significantly from ./old in wall time\n");
}

TEST_CASE("a scan's headline has the law and the fastest value") {
  Results scan = five();
  const std::vector<double> means = {0.080, 0.020, 0.010, 0.040, 0.160};
  const std::vector<std::string> values = {"80", "20", "10", "40", "160"};
  for (std::size_t c = 0; c < 5; ++c) {
    CommandResult& command = scan.commands[c];
    command.typed = 0;
    command.pattern = "work {n}";
    command.parameters = {{"n", values[c]}};
    command.rows[0].summary = summary(10, means[c], 0.001, means[c], means[c]);
  }
  CHECK(summary_lines(scan, {}) ==
        "wall time grows as n^1.00 (1.00 … 1.00); fastest at n = 10 (mean 10.0ms)\n");
  for (const std::size_t c : {0U, 1U, 3U}) {  // no law: a valley
    scan.commands[c].rows[0].summary->median = c == 0 ? 0.5 : 0.011;
    scan.commands[c].rows[0].summary->mean = c == 0 ? 0.5 : 0.011;
  }
  CHECK(summary_lines(scan, {}) == "fastest at n = 10 (mean 10.0ms)\n");
  scan.rankings[1].significant = false;
  CHECK(summary_lines(scan, {}) ==
        "fastest at n = 10 (mean 10.0ms), not significantly different from n = 80\n");
  scan.commands[4].parameters[0].value = "many";
  CHECK_FALSE(has(summary_lines(scan, {}), "fastest at"));
}

TEST_CASE("a parameter is a column, and two of one command make a matrix") {
  Results matrix = two_variables();
  matrix.presentation.table = TableChoice::Compact;
  CHECK(tables(matrix, {}) ==
        "wall_time of gzip -{level} {file}, 10 runs each\n"
        "level \\ file    a.txt                               b.txt                               "
        "c.txt\n"
        "1               100ms ± 1.0ms                       100ms ± 1.0ms  0.0% ± 2.0%          "
        "100ms ± 1.0ms  0.0% ± 2.0%\n"
        "9               200ms ± 1.0ms  💩 +100.0% ± 2.0%    200ms ± 1.0ms  💩 +100.0% ± 2.0%    "
        "200ms ± 1.0ms  💩 +100.0% ± 2.0%\n"
        "percentages: the difference from level = 1, file = a.txt; --reference chooses another\n");
  CHECK(has(tables(matrix, {.width = 100}), "200ms ± 1.0ms  💩 +100.0%  "));
  CHECK(has(tables(matrix, {.width = 80}), "200ms  💩 +100.0%"));
  for (CommandResult& one : matrix.commands) one.parameters.resize(1);
  matrix.commands.erase(matrix.commands.begin() + 1, matrix.commands.begin() + 3);
  const std::string text = tables(matrix, {});
  CHECK(has(text, "command          level    mean ± σ"));
  CHECK(has(text, "gzip -9 a.txt    9        200ms"));
}

TEST_CASE("a compact table fits any terminal of 40 columns or more, and cuts no number") {
  Results results = five();
  results.commands[3].name = "./new --with-a-very-long-list-of-options --and-one-more=17";
  for (std::size_t width = 40; width <= 140; ++width) {
    CAPTURE(width);
    const std::string text = table(results, {.width = width});
    CHECK(widest_line(tables(results, {.width = width})) <= width);
    CHECK(has(text, width < 48 ? "−20.0%" : "−20.0% ± 1.0%"));
    CHECK((has(text, "98.0ms … 102ms")) == (width >= 75));
  }
  for (std::size_t width = 40; width <= 140; width += 10)
    CHECK(widest_line(tables(two_variables(), {.width = width})) <= width);
}

TEST_CASE("the Markdown of many commands has a row for each") {
  Results results = five();
  results.presentation.sort = SortChoice::Time;
  CHECK(written(write_markdown, results) ==
        "wall_time of 5 commands, 10 runs each\n"
        "\n"
        "| command | mean ± σ | min … max | delta |\n"
        "|:--|--:|--:|--:|\n"
        "| `./new -O2` | 50.0ms ± 1.0ms | 48.0ms … 52.0ms | **better −50.0% ± 1.0%** |\n"
        "| `./new -O3` | 80.0ms ± 1.0ms | 78.0ms … 82.0ms | **better −20.0% ± 1.0%** |\n"
        "| `./old` | 100ms ± 1.0ms | 98.0ms … 102ms | reference |\n"
        "| `./new -Os` | 100ms ± 1.0ms | 98.0ms … 102ms | 0.0% ± 1.0% |\n"
        "| `./new` | 110ms ± 1.0ms | 108ms … 112ms | **worse +10.0% ± 1.0%** |\n"
        "\n"
        "- ./new -O2 ran 2.00 ± 0.01 times faster than ./old\n");
}

}  // namespace lauka::report
