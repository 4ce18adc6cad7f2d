#include "report/example.h"
#include "report/exports.h"
#include "report/lines.h"
#include "report/screen.h"
#include "report/style.h"
#include "report/table.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

MadeCommand made(std::size_t typed, std::string pattern, std::vector<Parameter> parameters,
                 MetricResult wall) {
  MadeCommand one = command(pattern, 3, {std::move(wall)});
  one.command.typed_command_index = typed;
  one.command.unfilled_name = std::move(pattern);
  one.command.parameters = std::move(parameters);
  return one;
}

Results results_of(std::vector<MadeCommand> commands) {
  return report::results_of({metric("wall_time", Unit::Seconds)}, std::move(commands));
}

/// One command typed, with three values; a block of rows for each.
Results one_scan() {
  Results results =
      results_of({made(0, "old {n}", {{"n", "1"}}, row(0, summary(3, 0.100, 0.001, 0.099, 0.101))),
                  made(0, "old {n}", {{"n", "10"}},
                       row(0, summary(3, 0.050, 0.001, 0.049, 0.051), changed(-0.5, 0.01))),
                  made(0, "old {n}", {{"n", "100"}},
                       row(0, summary(3, 0.101, 0.002, 0.099, 0.103), changed(0.01, 0.02)))});
  results.presentation.table = TableChoice::Full;
  return results;
}

/// Two commands typed, at as many values; "new" is faster, except at the value 1.
Results two_commands(int values) {
  std::vector<MadeCommand> commands;
  std::vector<HeadlineComparison> rankings;
  std::vector<std::size_t> indices;
  for (int n = 1; n <= values; ++n) {
    const double base = 0.1 * n;
    const double change = n == 1 ? 0.5 : -0.5;
    const double candidate = base * (1 + change);
    commands.push_back(made(0, "old {n}", {{"n", std::to_string(n)}},
                            row(0, summary(3, base, 0.001, base, base))));
    commands.push_back(
        made(1, "new {n}", {{"n", std::to_string(n)}},
             row(0, summary(3, candidate, 0.001, candidate, candidate), changed(change, 0.01))));
    indices.insert(indices.end(), 2, commands.size() - 2);
    rankings.push_back(ranked(commands.size() - 1, n == 1 ? 1.5 : 2.0, 0.01, change < 0, true));
  }
  for (MadeCommand& one : commands)
    one.command.name = one.command.unfilled_name.substr(0, 4) + one.command.parameters[0].value;
  Results results = results_of(std::move(commands));
  results.session.reference.indices = std::move(indices);
  results.headline_comparisons = std::move(rankings);
  return results;
}

}  // namespace

TEST_CASE("--sort time sorts the commands of each value, not the values") {
  Results results = two_commands(3);
  using Order = std::vector<std::size_t>;
  CHECK(commands_in_table_order(results) == Order{0, 1, 2, 3, 4, 5});
  results.presentation.sort = SortChoice::Time;
  CHECK(commands_in_table_order(results) == Order{0, 1, 3, 2, 5, 4});
}

TEST_CASE("a line compares the commands of each value; of more than ten values, one counts them") {
  CHECK(comparison_lines(two_commands(3), {}) ==
        "new 1 ran 1.50 ± 0.01 times slower than old 1\n"
        "new 2 ran 2.00 ± 0.01 times faster than old 2\n"
        "new 3 ran 2.00 ± 0.01 times faster than old 3\n");
  CHECK(comparison_lines(two_commands(11), {}) ==
        "new {n} is significantly faster than old {n} at 10 of 11 values, and slower at 1\n");
}

TEST_CASE(
    "the values of one variable are compared with the first, and none is worse for its value") {
  CHECK(scan_table(one_scan(), {}) ==
        "n      wall_time          delta\n"
        "1      100.0ms ± 1.0ms\n"
        "10     50.0ms ± 1.0ms        −50.0% ± 1.0%\n"
        "100    101.0ms ± 2.0ms       +1.0% ± 2.0%\n");
  CHECK_FALSE(has(screen(one_scan(), {}, false), "⚡"));
  CHECK(has(screen(one_scan(), {}, false), "\n" + scan_table(one_scan(), {})));
  Results begins_with_it = one_scan();
  begins_with_it.presentation.table = TableChoice::Auto;
  CHECK(scan_table(begins_with_it, {}).empty());
}

TEST_CASE("in a narrow terminal the deltas of a scan lose their intervals, whole") {
  CHECK(scan_table(one_scan(), {.width = 30}) ==
        "n    wall_time       delta\n"
        "1    100.0ms… 1.0ms\n"
        "10   50.0ms ± 1.0ms     −50.0%\n"
        "100  101.0ms… 2.0ms     +1.0%\n");
}

TEST_CASE("several commands typed have a column each, without a delta") {
  const Results results = results_of(
      {made(0, "old {n}", {{"n", "1"}}, row(0, summary(3, 0.100, 0.001, 0.099, 0.101))),
       made(1, "./new", {{"n", "1"}},
            row(0, summary(3, 0.050, {}, 0.049, 0.051), changed(-0.5, 0.01))),
       made(2, "other", {}, row(0, summary(3, 0.9, {}, 0.9, 0.9))),
       made(0, "old {n}", {{"n", "2"}}, row(0, summary(3, 0.200, 0.001, 0.199, 0.201)))});
  CHECK(scan_table(results, {}) ==
        "n    old {n}            ./new\n"
        "1    100.0ms ± 1.0ms    50.0ms\n"
        "2    200.0ms ± 1.0ms    n/a\n");
}

TEST_CASE("the table is kept to its width") {
  Results results = one_scan();
  results.session.commands[1].parameters[0].value = std::string(100, 'x');
  CHECK(widest_line(scan_table(results, {.width = 70})) <= 70);
}

TEST_CASE("without parameters, with one value, and with two variables there is no such table") {
  CHECK(scan_table(manual_example(), {}).empty());
  Results one = one_scan();
  remove_commands(one, 1, one.commands.size());
  CHECK(scan_table(one, {}).empty());
  Results two = one_scan();
  two.session.commands[0].parameters.push_back({"m", "x"});
  CHECK(scan_table(two, {}).empty());
}

TEST_CASE("each variable has a column at the end of the CSV, empty where a command has it not") {
  Results results = one_scan();
  remove_commands(results, 2, results.commands.size());
  results.session.commands[1].parameters = {{"opt", "a,b"}};
  CHECK(
      written(write_summary_csv, results) ==
      "command,metric,unit,runs,mean,stddev,median,min,max,outliers,"
      "delta_percent,delta_low_percent,delta_high_percent,failed_runs,parameter_n,parameter_opt\r\n"
      "old {n},wall_time,s,3,0.1,0.001,0.1,0.099,0.101,0,,,,,1,\r\n"
      "old {n},wall_time,s,3,0.05,0.001,0.05,0.049,0.051,0,-50,-51,-49,,,\"a,b\"\r\n");
}

TEST_CASE("the shell's time is shown once, or for each command if it differs") {
  Results results = manual_example();
  CHECK(shell_start_time_lines(results).empty());
  results.session.shell = {"bash", "--norc"};
  results.session.overheads = {{1'200'000, 400'000, 300'000}, {1'200'000, 400'000, 300'000}};
  CHECK(shell_start_time_lines(results) ==
        "starting bash --norc takes 1.20ms (CPU time 700µs), which is subtracted from all times\n");
  results.session.setting.measures_region = true;  // which begins after the shell's start
  CHECK(has(shell_start_time_lines(results), " but region_time\n"));
  results.session.setting.measures_region = false;
  results.session.overheads[1].wall_ns = 2'000'000;
  check_order(shell_start_time_lines(results),
              {"'./build-old'", "1.20ms", "\n", "'./build-new -O2'", "2.00ms", "\n"});
}

TEST_CASE("the comparison closes the output, before what is said of the shell") {
  Results results = one_scan();
  results.session.shell = {"sh"};
  results.session.overheads.assign(3, {1'200'000, 400'000, 300'000});
  const std::string text = screen(results, {}, false);
  const std::size_t table = text.find("\n\nn      wall_time");
  REQUIRE(table != std::string::npos);
  CHECK(text.find(shell_start_time_lines(results)) > table);
  CHECK(screen(results, {}, true).empty());
}

TEST_CASE("a scan's table has the failed runs of each value, also where no run has a time") {
  Results results = one_scan();
  results.commands[1].endings = {3, {{Ending::Failed, 2, 1}}};
  results.commands[2].endings = {3, {{Ending::TimedOut, 137, 3}}};
  results.commands[2].rows[0].summary.reset();
  const std::string text = scan_table(results, {});
  CHECK(has(text, ", 1 failed: status 2"));
  CHECK(has(text, "n/a, 3 failed: timed out"));
}

}  // namespace lauka::report
