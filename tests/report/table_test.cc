#include "report/table.h"

#include "core/choices.h"
#include "report/example.h"
#include "report/exports.h"
#include "report/screen.h"
#include "report/style.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

/// Numbers of the greatest width, a long metric name, and a row with its own number of runs.
Results wide_example() {
  Results results;
  results.session.metrics = {
      metric("wall_time", Unit::Seconds),
      metric("involuntary_switches", Unit::Count),
      metric("L1D_CACHE_MISS_LD_NONSPEC", Unit::Count, Better::Less, Shown::Always, "(user)"),
  };
  set_commands(
      results,
      {command("./old", 12345,
               {row(0, summary(12345, 12.34e-6, 45.6e-6, 12.3412e-6, 12.3418e-6, 1234)),
                row(1, summary(12345, 12300, 23.4e3, 12341.2, 12341.8, 1234)),
                row(2, summary(6172, 12300, 23.4e3, 12341.2, 12341.8, 1234))}),
       command("./new", 12345,
               {row(0, summary(12345, 12.34e-6, 45.6e-6, 12.3412e-6, 12.3418e-6, 1234),
                    changed(-0.7812, 0.0512)),
                row(1, summary(12345, 12300, 23.4e3, 12341.2, 12341.8, 1234), changed(0.1, 0.2)),
                row(2, summary(6172, 12300, 23.4e3, 12341.2, 12341.8, 1234),
                    changed(-0.7812, 0.000512))})});
  return results;
}

/// The manual's example from its second table on.
std::string second_table(std::size_t width) {
  const std::string text = table(manual_example(), {.width = width});
  return text.substr(text.find("Benchmark 2"));
}

}  // namespace

TEST_CASE("the table has the manual's shape") {
  CHECK(table(manual_example(), {}) ==
        R"(Benchmark 1 (9 runs): ./build-old
measurement                 mean ± σ             min … max              outliers
wall_time                   591.0ms ± 7.6ms      583.0ms … 605.0ms      0 (0%)
peak_rss                    137.00MB ± 0.30MB    136.60MB … 137.40MB    0 (0%)
core_active_cycle           2.510G ± 0.022G      2.480G … 2.540G        0 (0%)

Benchmark 2 (9 runs): ./build-new -O2
measurement                 mean ± σ             min … max              outliers    delta
wall_time                   130.0ms ± 8.3ms      125.0ms … 141.0ms      0 (0%)      ⚡ −78.0% ± 0.5%
peak_rss                    141.00MB ± 0.40MB    140.40MB … 141.90MB    1 (11%)     💩 +3.1% ± 0.4%
core_active_cycle           2.500G ± 0.031G      2.410G … 2.590G        0 (0%)         −0.4% ± 1.1%

./build-new -O2 ran 4.55 ± 0.04 times faster than ./build-old
)");
  CHECK(table(manual_example(), {.width = 200}) == table(manual_example(), {}));
}

TEST_CASE("at 80 columns the spacing gives way") {
  CHECK(second_table(80) ==
        R"(Benchmark 2 (9 runs): ./build-new -O2
measurement        mean ± σ           min … max            out  delta
wall_time          130.0ms ± 8.3ms    125.0ms … 141.0ms    0    ⚡ −78.0% ± 0.5%
peak_rss           141.00MB ± 0.40MB  140.40MB … 141.90MB  1    💩 +3.1% ± 0.4%
core_active_cycle  2.500G ± 0.031G    2.410G … 2.590G      0       −0.4% ± 1.1%

./build-new -O2 ran 4.55 ± 0.04 times faster than ./build-old
)");
}

TEST_CASE("at 60 columns the outliers and the range give way") {
  CHECK(second_table(60) ==
        R"(Benchmark 2 (9 runs): ./build-new -O2
measurement        mean ± σ           delta
wall_time          130.0ms ± 8.3ms    ⚡ −78.0% ± 0.5%
peak_rss           141.00MB ± 0.40MB  💩 +3.1% ± 0.4%
core_active_cycle  2.500G ± 0.031G       −0.4% ± 1.1%

./build-new -O2 ran 4.55 ± 0.04 times faster than
  ./build-old
)");
}

TEST_CASE("at 48 columns deltas lose their intervals, and no number or name is broken") {
  CHECK(second_table(48) ==
        R"(Benchmark 2 (9 runs): ./build-new -O2
measurement        mean ± σ           delta
wall_time          130.0ms ± 8.3ms    ⚡ −78.0%
peak_rss           141.00MB ± 0.40MB  💩 +3.1%
core_active_cycle  2.500G ± 0.031G       −0.4%
the terminal is too narrow to show the intervals
  of deltas

./build-new -O2 ran 4.55 ± 0.04 times faster
  than ./build-old
)");
}

TEST_CASE("no line is wider than the terminal from 60 columns on") {
  Results wide = wide_example();
  wide.session.commands[0].name = "sh -c '" + std::string(300, 'x') + "'";
  wide.session.commands[1].name = "漢字 " + std::string(300, 'y');
  for (const HeadlineComparison& ranking :
       {ranked(1, 4.5512, 0.0411, true, true), ranked(1, 123456.0, 0.1, false, true),
        ranked(1, 1.001, 0.01, true, false), ranked(1, 1.5, std::nullopt, true, false)}) {
    wide.headline_comparisons = {ranking};
    for (std::size_t width = 60; width <= 250; ++width) {
      CAPTURE(width);
      CHECK(widest_line(table(wide, {.width = width})) <= width);
    }
  }
}

TEST_CASE("what a narrow terminal costs: percentages, then outliers, and the range") {
  const auto row_at = [](std::size_t width) {
    const std::string text = table(manual_example(), {.width = width});
    const std::size_t from = text.find("peak_rss");
    return text.substr(from, text.find('\n', from) - from);
  };
  // Columns of 17, 17, 19, 8 (3 without percentages) and 16 cells; gaps of 2.
  CHECK(row_at(85) == "peak_rss           137.00MB ± 0.30MB  136.60MB … 137.40MB  0 (0%)");
  CHECK(row_at(84) == "peak_rss           137.00MB ± 0.30MB  136.60MB … 137.40MB  0");
  CHECK(row_at(80) == "peak_rss           137.00MB ± 0.30MB  136.60MB … 137.40MB  0");
  CHECK(row_at(79) == "peak_rss           137.00MB ± 0.30MB  136.60MB … 137.40MB");
  CHECK(row_at(75) == "peak_rss           137.00MB ± 0.30MB  136.60MB … 137.40MB");
  CHECK(row_at(74) == "peak_rss           137.00MB ± 0.30MB");
}

TEST_CASE("a name that is too long loses its middle") {
  Results results = manual_example();
  remove_commands(results, 1, results.commands.size());
  results.headline_comparisons.clear();
  results.session.commands[0].name = "./build --target=" + std::string(80, 'x') + " --size=1";
  results.commands[0].rows.resize(1);
  CHECK(table(results, {.width = 60}) ==
        "Benchmark 1 (9 runs): ./build --target=xx…xxxxxxxxx --size=1\n"
        "measurement   mean ± σ          min … max           outliers\n"
        "wall_time     591.0ms ± 7.6ms   583.0ms … 605.0ms   0 (0%)\n");
}

TEST_CASE("--marks text writes better and worse in any terminal") {
  const std::string text = table(manual_example(), {.shows_marks_as_words = true});
  CHECK(has(text, "    better −78.0% ± 0.5%\n"));
  CHECK(has(text, "    worse  +3.1% ± 0.4%\n"));
  CHECK(has(text, "           −0.4% ± 1.1%\n"));
}

TEST_CASE("better is green, worse is red, what is not significant is dim") {
  const std::string text = table(manual_example(), {.color = true});
  for (const char* part :
       {"\x1b[1mBenchmark 2 (9 runs): ./build-new -O2\x1b[0m\n\x1b[1mmeasurement ",
        " outliers    delta\x1b[0m\n", "0 (0%)      \x1b[32m⚡ −78.0% ± 0.5%\x1b[0m\n",
        "1 (11%)     \x1b[31m💩 +3.1% ± 0.4%\x1b[0m\n",
        "0 (0%)      \x1b[2m   −0.4% ± 1.1%\x1b[0m\n",
        "\x1b[1m./build-new -O2\x1b[0m ran 4.55 ± 0.04 times faster than "
        "\x1b[1m./build-old\x1b[0m\n"})
    CHECK_MESSAGE(has(text, part), part);
}

TEST_CASE("where more is better an increase is green, and where neither is, nothing is") {
  const stats::Delta up = changed(0.1, 0.01);
  const std::string text =
      table(results_of({metric("ipc", Unit::Ratio, Better::More),
                        metric("p_share", Unit::Ratio, Better::Neither)},
                       {command("a", 2,
                                {row(0, summary(2, 2.0, 0.1, 1.9, 2.1), up),
                                 row(1, summary(2, 0.5, 0.1, 0.4, 0.6), up)})}),
            {.color = true});
  CHECK(has(text, "\x1b[32m⚡ +10.0% ± 1.0%\x1b[0m\n"));
  CHECK(has(text, "0 (0%)         +10.0% ± 1.0%\n"));
}

TEST_CASE("one run has no σ, and its delta no interval") {
  Results results = results_of(
      {metric("wall_time", Unit::Seconds)},
      {command("a", 1, {row(0, summary(1, 0.2, std::nullopt, 0.2, 0.2))}),
       command("b", 1,
               {row(0, summary(1, 0.1, std::nullopt, 0.1, 0.1), changed(-0.5, std::nullopt))})});
  results.headline_comparisons = {ranked(1, 2.0, std::nullopt, true, false)};
  CHECK(table(results, {}) ==
        R"(Benchmark 1 (1 run): a
measurement                 mean ± σ          min … max            outliers
wall_time                   200ms             200ms … 200ms        0 (0%)

Benchmark 2 (1 run): b
measurement                 mean ± σ          min … max            outliers    delta
wall_time                   100ms             100ms … 100ms        0 (0%)         −50.0%

b: there are too few runs to tell whether it differs from a in wall time
)");
}

TEST_CASE("a row shows its number of runs if they differ, and whether it is a bound") {
  const Results results = results_of(
      {metric("peak_rss", Unit::Bytes),
       metric("cycles", Unit::Count, Better::Less, Shown::Always, "(user)"),
       metric("instructions", Unit::Count)},
      {command("a", 4,
               {MetricResult{.metric_index = 0, .runs = 4, .largest_bound_of_runs = 819200},
                row(1, summary(2, 5e9, 0.0, 5e9, 5e9)), MetricResult{.metric_index = 2}})});
  CHECK(table(results, {}) ==
        R"(Benchmark 1 (4 runs): a
measurement                 mean ± σ          min … max                  outliers
peak_rss                    ≤ 819kB
cycles (user) (2 runs)      5000000000 ± 0    5000000000 … 5000000000    0 (0%)
instructions (0 runs)       n/a
)");
}

TEST_CASE("failed runs, repeated runs, and a benchmark without runs, are in the header") {
  Results results = results_of({metric("wall_time", Unit::Seconds)},
                               {command("a", 2, {row(0, summary(2, 0.2, 0.01, 0.19, 0.21))}),
                                command("b", 0, {MetricResult{}})});
  results.commands[0].endings = {2, {{Ending::Signalled, 139, 1}}};
  results.commands[0].discarded_runs = 3;
  CHECK(table(results, {})
            .starts_with(
                R"(Benchmark 1 (2 runs, 1 failed: SIGSEGV, 3 redone): a
measurement                 mean ± σ          min … max            outliers
wall_time                   200ms ± 10ms      190ms … 210ms        0 (0%)

Benchmark 2 (no runs): b
)"));
}

TEST_CASE("a delta to a reference of zero is new, or nothing where both are zero") {
  const std::string text = table(
      results_of(
          {metric("major_faults", Unit::Count), metric("block_reads", Unit::Count)},
          {command("a", 2,
                   {row(0, summary(2, 2.0, 0.0, 2.0, 2.0), changed(std::nullopt, std::nullopt)),
                    row(1, summary(2, 0.0, 0.0, 0.0, 0.0), changed(0.0, std::nullopt))})}),
      {});
  CHECK(has(text, "2 … 2                0 (0%)         new\n"));
  CHECK(has(text, "0 … 0                0 (0%)         0%\n"));
}

TEST_CASE("rows for the curious need verbose") {
  const auto values = summary(2, 0.2, 0.01, 0.19, 0.21);
  const Results results =
      results_of({metric("wall_time", Unit::Seconds),
                  metric("user_time", Unit::Seconds, Better::Less, Shown::Verbose)},
                 {command("a", 2, {row(0, values), row(1, values)})});
  CHECK_FALSE(has(table(results, {}), "user_time"));
  CHECK(has(table(results, {.verbose = true}), "user_time  "));
}

TEST_CASE("names keep to one line and cannot steer the terminal") {
  Results results = manual_example();
  results.session.commands[0].name = "sh -c 'a\nb\x1b[2J'";
  const std::string text = table(results, {});
  CHECK(text.find("Benchmark 1 (9 runs): sh -c 'a\\nb\\x1b[2J'\n") == 0);
  CHECK(has(text, "faster than sh -c 'a\\nb\\x1b[2J'\n"));
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("few outliers among many runs are not rounded away") {
  const auto wall = row(0, summary(1000, 0.2, 0.01, 0.19, 0.21, 3));
  CHECK(
      has(table(results_of({metric("wall_time", Unit::Seconds)}, {command("a", 1000, {wall})}), {}),
          "3 (<1%)"));
}

TEST_CASE("the summary has a line for each candidate, fastest first") {
  Results results =
      results_of({metric("wall_time", Unit::Seconds)},
                 {command("ref", 9, {}), command("slow", 9, {}), command("same", 9, {}),
                  command("fast", 9, {}), command("faster", 9, {})});
  results.headline_comparisons = {
      ranked(1, 1.5, 0.02, false, true), ranked(2, 1.003, 0.01, true, false),
      ranked(3, 2.0, 0.1, true, true), ranked(4, 12.34, 1.5, true, true)};
  results.presentation.table = TableChoice::Full;
  CHECK(comparison_lines(results, {}) ==
        "faster ran 12.3 ± 1.5 times faster than ref\nfast ran 2.00 ± 0.10 times faster than "
        "ref\nsame does not differ significantly from ref in wall time\nslow ran 1.50 ± 0.02 "
        "times slower than ref\n");
  results.session.metrics = {metric("cpu_time", Unit::Seconds)};
  CHECK(comparison_lines(results, {}) ==
        "faster: CPU time is 12.3 ± 1.5 times lower than in ref\nfast: CPU time is 2.00 ± 0.10 "
        "times lower than in ref\nsame does not differ significantly from ref in CPU time\nslow: "
        "CPU time is 1.50 ± 0.02 times higher than in ref\n");
}

TEST_CASE("a candidate that nothing can be said of has a line in the summary, too") {
  Results results = results_of({metric("wall_time", Unit::Seconds)},
                               {command("ref", 2, {}), command("new", 2, {})});
  results.headline_comparisons = {ranked(1, 1.5, std::nullopt, false, false)};
  CHECK(comparison_lines(results, {}) ==
        "new: there are too few runs to tell whether it differs from ref in wall time\n");
  // A gate looks at one side, which takes fewer runs: it must not be contradicted.
  results.findings.verdicts = {{.candidate = 1, .answer = gate::Answer::Fail}};
  CHECK(!has(comparison_lines(results, {}), "whether"));
  results.findings.verdicts = {{.candidate = 1, .answer = gate::Answer::Inconclusive}};
  CHECK(has(comparison_lines(results, {}), "whether"));
  results.findings.verdicts.clear();
  results.commands[1].runs = 10;
  CHECK(comparison_lines(results, {}) ==
        "new: the runs differ too much to tell whether it differs from ref in wall time\n");
  results.commands[1].runs = 2;
  add_command(command("third", 2, {}), results);
  results.headline_comparisons.push_back(ranked(2, 1.5, std::nullopt, false, false));
  results.presentation.table = TableChoice::Compact;
  CHECK(comparison_lines(results, {}) ==
        "there are too few runs to tell whether a command differs from ref in wall time\n");
}

TEST_CASE("where the means differ the other way than the delta, a line says why") {
  Results results = manual_example();
  stats::Delta& delta = *results.commands[1].rows[0].delta;
  delta = changed(0.002, 0.001);
  delta.basis = stats::Basis::Typical;
  CHECK_FALSE(has(table(results, {}), "the delta is "));
  delta.change_of_mean.change = -0.016;
  CHECK(has(table(results, {}),
            "\nthe delta is the change of the typical round; the means of wall_time differ by "
            "−1.6%, because a few runs of the reference took much longer\n"));
  delta.change_of_mean.change = 0.716;
  check_order(table(results, {}), {"\nthe delta is ", "wall_time", "+71.6%", "\n"});
}

TEST_CASE("a significant change below 0.1% has no mark") {
  Results results = manual_example();
  results.commands[1].rows[2].delta = changed(0.00002, 0.000001);
  const std::string text = table(results, {.color = true});
  CHECK(has(text, "   +0.0020% ± 0.0001%"));
  CHECK_FALSE(has(text, "💩 +0.0020%"));
}

namespace {

constexpr auto kNames = {"./old", "./new", "./new -O2", "./new -O3", "./new -Os"};

/// Five commands, of which the second is slower and the third the fastest.
Results five() {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds), metric("peak_rss", Unit::Bytes)};
  const std::vector<double> means = {0.100, 0.110, 0.050, 0.080, 0.100};
  std::size_t c = 0;
  for (const char* name : kNames) {
    const double mean = means[c];
    const auto values = summary(10, mean, 0.001, mean - 0.002, mean + 0.002);
    const auto delta = changed(mean / 0.1 - 1, 0.01);
    add_command(command(name, 10,
                        {c == 0 ? row(0, values) : row(0, values, delta),
                         row(1, summary(10, 2e6, 1e3, 1.9e6, 2.1e6))}),
                results);
    results.session.commands.back().typed_command_index = c;
    if (c > 0)
      results.headline_comparisons.push_back(
          ranked(c, mean < 0.1 ? 0.1 / mean : mean / 0.1, 0.01, mean < 0.1, mean != 0.100));
    ++c;
  }
  return results;
}

/// One command typed, with all values of two variables.
Results two_variables() {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds)};
  for (const std::string level : {"1", "9"}) {
    for (const std::string file : {"a.txt", "b.txt", "c.txt"}) {
      const bool is_reference = results.commands.empty();
      const auto values = summary(10, level == "1" ? 0.1 : 0.2, 0.001, 0.098, 0.202);
      MadeCommand one =
          command("gzip -" + level + " " + file, 10,
                  {is_reference ? row(0, values)
                                : row(0, values, changed(level == "1" ? 0.0 : 1.0, 0.02))});
      one.command.unfilled_name = "gzip -{level} {file}";
      one.command.parameters = {{"level", level}, {"file", file}};
      add_command(std::move(one), results);
    }
  }
  return results;
}

}  // namespace

TEST_CASE("five commands are a table of five rows, with the best below it") {
  CHECK(table(five(), {}) ==
        "wall_time of 5 commands, 10 runs each\ncommand      mean ± σ           min … max          "
        "  delta\n./old        100.0ms ± 1.0ms    98.0ms … 102.0ms        reference\n./new        "
        "110.0ms ± 1.0ms    108.0ms … 112.0ms    💩 +10.0% ± 1.0%\n./new -O2    50.0ms ± 1.0ms     "
        "48.0ms … 52.0ms      ⚡ −50.0% ± 1.0%\n./new -O3    80.0ms ± 1.0ms     78.0ms … 82.0ms     "
        " ⚡ −20.0% ± 1.0%\n./new -Os    100.0ms ± 1.0ms    98.0ms … 102.0ms        0.0% ± "
        "1.0%\nnot shown: peak_rss; use --table full to see all\n\n./new -O2 ran 2.00 ± 0.01 times "
        "faster than ./old\n");
}

TEST_CASE("four commands have a table each, unless a compact one is asked for, and the reverse") {
  Results results = five();
  results.presentation.table = TableChoice::Full;
  CHECK(has(table(results, {}), "Benchmark 5 (10 runs): ./new -Os\n"));
  results.presentation.table = TableChoice::Auto;
  remove_commands(results, 4, 5);
  CHECK_FALSE(compact_table_replaces_full_tables(results));
  CHECK(has_compact_table_first(results));
  check_order(table(results, {}),
              {"wall_time of 4 commands, 10 runs each\n", "\nBenchmark 1 ", "\nBenchmark 4 "});
  remove_commands(results, 2, 4);
  CHECK(table(results, {}).starts_with("Benchmark 1 "));
  results.presentation.table = TableChoice::Compact;
  CHECK(table(results, {}).starts_with("wall_time of 2 commands, 10 runs each\n"));
}

TEST_CASE("of all metrics the rows of zeros are left out, in compact tables too") {
  Results results = five();
  remove_commands(results, 2, 5);
  for (CommandResult& command : results.commands) command.rows[1].summary = summary(10, 0, 0, 0, 0);
  CHECK(has(table(results, {}), "peak_rss"));
  results.presentation.hides_all_zero_rows = true;
  const std::string text = table(results, {});
  CHECK_FALSE(has(text, "peak_rss"));
  CHECK(has(text, "-v"));
  results.commands[1].rows[1].summary = summary(10, 1, 0, 1, 1);
  CHECK(has(table(results, {}), "peak_rss"));
  results = five();
  for (CommandResult& command : results.commands) command.rows[1].summary = summary(10, 0, 0, 0, 0);
  results.presentation.compact_shows_all_metrics = true;
  CHECK(has(table(results, {}), "peak_rss of 5"));
  results.presentation.hides_all_zero_rows = true;
  CHECK_FALSE(has(table(results, {}), "peak_rss"));
}

TEST_CASE("--sort time lists the fastest first, and keeps equal ones in order") {
  Results results = five();
  CHECK(commands_in_table_order(results) == std::vector<std::size_t>{0, 1, 2, 3, 4});
  results.presentation.sort = SortChoice::Time;
  CHECK(commands_in_table_order(results) == std::vector<std::size_t>{2, 3, 0, 4, 1});
  without_values(results.commands[2]);
  CHECK(commands_in_table_order(results) == std::vector<std::size_t>{3, 0, 4, 1, 2});
}

TEST_CASE("rows that were asked for all get a table, and so do all under --verbose") {
  Results results = five();
  results.presentation.compact_shows_all_metrics = true;
  const std::string text = table(results, {});
  CHECK(has(text, "\npeak_rss of 5 commands, 10 runs each\n"));
  CHECK_FALSE(has(text, "not shown"));
  results.presentation.compact_shows_all_metrics = false;
  results.session.metrics[1].shown = Shown::Verbose;
  CHECK_FALSE(has(table(results, {}), "peak_rss"));
  CHECK(has(table(results, {.verbose = true}), "\npeak_rss of 5"));
}

TEST_CASE("runs get a column where their numbers differ") {
  Results results = five();
  results.commands[1].runs = 12;
  results.commands[2].endings = {15, {{Ending::Failed, 2, 3}}};
  const std::string text = table(results, {});
  CHECK(text.starts_with("wall_time of 5 commands\ncommand      runs "));
  CHECK(has(text, "./new        12  "));
  CHECK(has(text, "./new -O2    10, 3 of 15 failed: status 2    50.0ms"));
  without_values(results.commands[4]);
  CHECK(has(table(results, {}), "./new -Os    0  "));
}

TEST_CASE("the headline of many commands never names a loser as the winner") {
  Results results = five();
  results.headline_comparisons = {ranked(1, 1.1, 0.01, false, true),
                                  ranked(2, 1.0, 0.01, true, false)};
  CHECK(comparison_lines(results, {}) == "no command is significantly faster than ./old\n");
  results.headline_comparisons = {ranked(1, 1.01, 0.02, false, false),
                                  ranked(2, 1.0, 0.01, true, false)};
  CHECK(comparison_lines(results, {}) ==
        "no command differs significantly from ./old in wall time\n");
}

TEST_CASE("a headline without a difference says which one would have been found") {
  Results results = five();
  const auto like_reference = [](std::size_t command) {
    return ranked(command, 1.0, 0.01, true, false);
  };
  results.headline_comparisons = {like_reference(1)};
  CHECK(comparison_lines(results, {}) ==
        "./new does not differ significantly from ./old in wall time\n");
  results.commands[1].rows[0].detectable = 0.0081;
  CHECK(comparison_lines(results, {}) ==
        "./new does not differ significantly from ./old in wall time; a difference of 0.81% would "
        "have been found in four of five such sessions\n");

  // With several commands, it is the difference that would have been found of each of them.
  results.headline_comparisons.push_back(like_reference(2));
  CHECK(comparison_lines(results, {}) ==
        "no command differs significantly from ./old in wall time\n");
  results.commands[2].rows[0].detectable = 0.02;
  CHECK(comparison_lines(results, {}) ==
        "no command differs significantly from ./old in wall time; a difference of 2.0% would have "
        "been found in four of five such sessions\n");

  results.commands[2].rows[0].detectable = 1.5;
  CHECK(has(comparison_lines(results, {}), "; an increase of 150% would have been found in four"));

  results.headline_comparisons = {ranked(1, 1.5, 0.1, false, true)};
  CHECK(comparison_lines(results, {}) == "./new ran 1.50 ± 0.10 times slower than ./old\n");
}

TEST_CASE("the headline of many is about another metric where nothing differs by the primary one") {
  Results results = five();
  results.session.metrics[1] = metric("rate", Unit::Ratio);
  results.session.metrics[1].better = Better::More;
  const auto by_rate = [](std::size_t command, double ratio, bool faster) {
    HeadlineComparison ranking = ranked(command, ratio, 0.1, faster, true);
    ranking.metric = 1;
    return ranking;
  };
  const HeadlineComparison same = ranked(3, 1.0, 0.01, true, false);
  results.headline_comparisons = {same, by_rate(1, 3.2, true), by_rate(2, 1.5, true)};
  CHECK(has(comparison_lines(results, {}), ": rate is 3.20 ± 0.10 times lower than in ./old\n"));
  results.headline_comparisons = {same, by_rate(1, 3.2, true), by_rate(2, 1.5, false)};
  CHECK(has(comparison_lines(results, {}), ": rate is 1.50 ± 0.10 times higher than in ./old\n"));
  results.headline_comparisons[0].is_significant = true;
  CHECK(has(comparison_lines(results, {}), " faster than ./old\n"));
}

TEST_CASE("a scan's headline has the law and the fastest value") {
  Results scan = five();
  const std::vector<double> means = {0.080, 0.020, 0.010, 0.040, 0.160};
  const std::vector<std::string> values = {"80", "20", "10", "40", "160"};
  for (std::size_t c = 0; c < 5; ++c) {
    Command& command = scan.session.commands[c];
    command.typed_command_index = 0;
    command.unfilled_name = "work {n}";
    command.parameters = {{"n", values[c]}};
    scan.commands[c].rows[0].summary = summary(10, means[c], 0.001, means[c], means[c]);
  }
  CHECK(comparison_lines(scan, {}) ==
        "wall time grows as n^1.00 (1.00 … 1.00); fastest at n = 10 (mean 10.0ms)\n");
  for (const std::size_t c : {0U, 1U, 3U}) {  // no law: a valley
    scan.commands[c].rows[0].summary->median = c == 0 ? 0.5 : 0.011;
    scan.commands[c].rows[0].summary->mean = c == 0 ? 0.5 : 0.011;
  }
  CHECK(comparison_lines(scan, {}) == "fastest at n = 10 (mean 10.0ms)\n");
  scan.commands[2].rows[0].delta = changed(-0.5, 0.6);
  CHECK(comparison_lines(scan, {}) ==
        "fastest at n = 10 (mean 10.0ms), not significantly different from n = 80\n");
  scan.session.commands[4].parameters[0].value = "many";
  CHECK_FALSE(has(comparison_lines(scan, {}), "fastest at"));
}

TEST_CASE("a scan's law and fastest value are those of the runs that succeeded") {
  const std::vector<std::string> values = {"10", "20", "40", "80", "160"};
  Results scan = five();
  std::vector<MadeRun> runs;
  for (std::size_t c = 0; c < 5; ++c) {
    Command& command = scan.session.commands[c];
    command.typed_command_index = 0;
    command.unfilled_name = "work {n}";
    command.parameters = {{"n", values[c]}};
    const double mean = 0.010 * static_cast<double>(1U << c);
    scan.commands[c].rows[0].summary = summary(10, mean, 0.001, mean, mean);
    runs.push_back({{.command = c, .ending = Ending::Succeeded}, {mean}});
  }

  // With the greatest n, the command often dies at once.
  scan.commands[4].rows[0].summary = summary(10, 0.002, 0.001, 0.001, 0.003);
  RunRow failed{.command = 4, .round = 1, .status = 139, .ending = Ending::Signalled};
  runs.push_back({failed, {0.001}});
  scan.commands[4].endings.add(failed);
  scan.session.runs = made(std::move(runs));
  CHECK(comparison_lines(scan, {}).starts_with(
      "wall time grows as n^1.00 (1.00 … 1.00); fastest at n = 10 (mean 10.0ms)\n"));
}

TEST_CASE("a parameter is a column, and two of one command make a matrix") {
  Results matrix = two_variables();
  matrix.presentation.table = TableChoice::Compact;
  CHECK(tables(matrix, {}) ==
        "wall_time of gzip -{level} {file}, 10 runs each\nlevel \\ file    a.txt                   "
        "              b.txt                                 c.txt\n1               100.0ms ± "
        "1.0ms                       100.0ms ± 1.0ms  0.0% ± 2.0%          100.0ms ± 1.0ms  0.0% ± "
        "2.0%\n9               200.0ms ± 1.0ms  💩 +100.0% ± 2.0%    200.0ms ± 1.0ms  💩 +100.0% ± "
        "2.0%    200.0ms ± 1.0ms  💩 +100.0% ± 2.0%\npercentages are differences from level = 1, "
        "file = a.txt; use --reference to choose another\n");
  CHECK(has(tables(matrix, {.width = 100}), "200.0ms ± 1.0ms  💩 +100.0%  "));
  CHECK(has(tables(matrix, {.width = 80}), "200ms  💩 +100.0%"));
  for (Command& one : matrix.session.commands) one.parameters.resize(1);
  remove_commands(matrix, 1, 3);
  const std::string text = tables(matrix, {});
  CHECK(has(text, "command          level    mean ± σ"));
  CHECK(has(text, "gzip -9 a.txt    9        200.0ms"));
}

TEST_CASE("a compact table fits any terminal of 40 columns or more, and cuts no number") {
  Results results = five();
  results.session.commands[3].name = "./new --with-a-very-long-list-of-options --and-one-more=17";
  for (std::size_t width = 40; width <= 140; ++width) {
    CAPTURE(width);
    const std::string text = table(results, {.width = width});
    CHECK(widest_line(tables(results, {.width = width})) <= width);
    CHECK(has(text, width < 48 ? "−20.0%" : "−20.0% ± 1.0%"));
    CHECK((has(text, "98.0ms … 102.0ms")) == (width >= 78));
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
        "| `./old` | 100.0ms ± 1.0ms | 98.0ms … 102.0ms | reference |\n"
        "| `./new -Os` | 100.0ms ± 1.0ms | 98.0ms … 102.0ms | 0.0% ± 1.0% |\n"
        "| `./new` | 110.0ms ± 1.0ms | 108.0ms … 112.0ms | **worse +10.0% ± 1.0%** |\n"
        "\n"
        "- ./new -O2 ran 2.00 ± 0.01 times faster than ./old\n");
}

}  // namespace lauka::report
