#include "report/exports.h"

#include "report/example.h"

#include <doctest/doctest.h>

namespace lauka::report {
TEST_CASE("the CSV has one row for each command and metric, in base units") {
  Results results = manual_example();
  results.session.metrics[2] = metric("ipc", Unit::Ratio, Better::More, Shown::Verbose);
  results.commands[0].rows.resize(2);
  results.commands[1].rows = {
      row(0, summary(9, 0.130, 0.0083, 0.125, 0.141), changed(-0.75, 0.5)),
      row(2, summary(4, 2.5, 0.25, 2.25, 2.75, 1), changed(0.25, std::nullopt))};
  CHECK(written(write_summary_csv, results) ==
        "command,metric,unit,runs,mean,stddev,median,min,max,outliers,"
        "delta_percent,delta_low_percent,delta_high_percent,failed_runs\r\n"
        "./build-old,wall_time,s,9,0.591,0.0076,0.594,0.583,0.605,0,,,,\r\n"
        "./build-old,peak_rss,B,9,137000000,300000,137000000,136600000,137400000,0,,,,\r\n"
        "./build-new -O2,wall_time,s,9,0.13,0.0083,0.133,0.125,0.141,0,-75,-125,-25,\r\n"
        "./build-new -O2,ipc,ratio,4,2.5,0.25,2.5,2.25,2.75,1,25,,,\r\n");
}

TEST_CASE("what is undefined is an empty field, and a bound is a maximum") {
  const Results results = results_of(
      {metric("peak_rss", Unit::Bytes), metric("major_faults", Unit::Count),
       metric("cycles", Unit::Count)},
      {command("a", 1,
               {MetricResult{.runs = 1, .largest_bound_of_runs = 819200},
                row(1, summary(1, 3, std::nullopt, 3, 3), changed(std::nullopt, std::nullopt)),
                MetricResult{.metric_index = 2}})});
  CHECK(written(write_summary_csv, results) ==
        "command,metric,unit,runs,mean,stddev,median,min,max,outliers,"
        "delta_percent,delta_low_percent,delta_high_percent,failed_runs\r\n"
        "a,peak_rss,B,1,,,,,819200,,,,,\r\n"
        "a,major_faults,1,1,3,,3,3,3,0,,,,\r\n"
        "a,cycles,1,0,,,,,,,,,,\r\n");
}

TEST_CASE("a name is quoted where it must be, cannot steer, and is no formula of a spreadsheet") {
  const auto names_of = [&](const std::vector<std::string>& names) {
    Results results = results_of({metric("wall_time", Unit::Seconds)}, {});
    for (const std::string& name : names) add_command(command(name, 0, {{}}), results);
    const std::string csv = written(write_summary_csv, results);
    std::string cells;
    for (std::size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1)
      cells += csv.substr(at, csv.find(",wall_time", at) - at) + " ";
    return cells;
  };
  CHECK(names_of({"a,b", "say \"hi\"", "two\nlines", "größe ⚡"}) ==
        "\"a,b\" \"say \"\"hi\"\"\" two\\nlines größe ⚡ ");
  CHECK(names_of({"=1+2", "+cmd|x", "@SUM(A1)", "-1+2", "-x"}) ==
        "'=1+2 '+cmd|x '@SUM(A1) '-1+2 '-x ");
  CHECK(names_of({"-1.5", "+3", "a=b", "\x1b=1"}) == "-1.5 +3 a=b \\x1b=1 ");
  CHECK(names_of({"=A1,B1"}) == "\"'=A1,B1\" ");
}

TEST_CASE("the runs' CSV has one row for each run, in the order run") {
  Results results =
      results_of({metric("wall_time", Unit::Seconds), metric("cpu_core/cycles,u/", Unit::Count),
                  metric("instructions", Unit::Count)},
                 {command("old", 2, {}), command("new, too", 1, {})});
  results.session.runs =
      made({{{1, 0, 0, 0, Ending::Succeeded}, {0.25, 1000.0, std::nullopt}},
            {{0, 0, 0, 3, Ending::Failed}, {0.5, 2000.0, std::nullopt}},
            {{0, 1, 1, 137, Ending::TimedOut}, {0.1, std::nullopt, 12345678901.0}}});
  CHECK(written(write_runs_csv, results) ==
        "command,run,round,pass,status,outcome,wall_time,\"cpu_core/cycles,u/\",instructions\r\n"
        "\"new, too\",1,1,1,0,succeeded,0.25,1000,\r\n"
        "old,2,1,1,3,failed,0.5,2000,\r\n"
        "old,3,2,2,137,timed_out,0.1,,12345678901\r\n");
}

TEST_CASE("the Markdown is a table, and what was found below it") {
  Results results = manual_example();
  results.session.metrics[2].shown = Shown::Verbose;
  CHECK(
      written(write_markdown, results) ==
      "| command | measurement | mean ± σ | min … max | outliers | delta |\n"
      "|:--|:--|--:|--:|--:|--:|\n"
      "| `./build-old`<br>9 runs | wall_time | 591.0ms ± 7.6ms | 583.0ms … 605.0ms | 0 (0%) |  |\n"
      "|  | peak_rss | 137.00MB ± 0.30MB | 136.60MB … 137.40MB | 0 (0%) |  |\n"
      "| `./build-new -O2`<br>9 runs | wall_time | 130.0ms ± 8.3ms | 125.0ms … 141.0ms | 0 (0%) | "
      "**better −78.0% ± 0.5%** |\n"
      "|  | peak_rss | 141.00MB ± 0.40MB | 140.40MB … 141.90MB | 1 (11%) | **worse +3.1% ± 0.4%** "
      "|\n"
      "\n"
      "- ./build-new -O2 ran 4.55 ± 0.04 times faster than ./build-old\n");
}

TEST_CASE("the lines about layouts are in Markdown") {
  const Results results = example_over_layouts(changed(0.003, 0.009), changed(0.031, 0.002));
  CHECK(has(written(write_markdown, results),
            "\n- the change over 8 layouts is +0.3% ± 0.9%, but that of layout 1 alone is +3.1% ± "
            "0.2%\n"));
}

TEST_CASE("--marks emoji puts emoji into Markdown") {
  Results results = manual_example();
  results.presentation.marks = MarksChoice::Emoji;
  const std::string text = written(write_markdown, results);
  CHECK(has(text, "**⚡ −78.0% ± 0.5%**"));
  CHECK_FALSE(has(text, "better"));
}

TEST_CASE("without a second command there is no column for deltas") {
  Results results = manual_example();
  remove_commands(results, 1, results.commands.size());
  results.headline_comparisons.clear();
  const std::string text = written(write_markdown, results);
  CHECK_FALSE(has(text, "delta"));
  CHECK(has(text, "|:--|:--|--:|--:|--:|\n"));
}

TEST_CASE("code keeps its pipes and backticks in a cell") {
  const auto cell_of = [](const std::string& code) {
    std::string text;
    write_markdown(Table{.columns = {{.heading = {"c"}, .cell_content = CellContent::Code}},
                         .rows = {{{.text = code}}}},
                   [&](std::string_view part) { text += part; });
    return text.substr(text.find("|\n", text.find("|\n") + 1) + 2);
  };
  CHECK(cell_of("a | b") == "| `a \\| b` |\n");
  CHECK(cell_of("echo `date`") == "| `` echo `date` `` |\n");
  CHECK(cell_of("a ``x`` b") == "| ```a ``x`` b``` |\n");
  CHECK(cell_of("two\nlines") == "| `two\\nlines` |\n");
  CHECK(cell_of(" x ") == "| `  x  ` |\n");
}

TEST_CASE("a name below the table is text, whatever Markdown would make of it") {
  Results results = manual_example();
  results.session.commands[1].name = "a*b* <i> [x](y) __init__ snake_case";
  CHECK(has(written(write_markdown, results),
            "\n- a\\*b\\* \\<i\\> \\[x\\](y) \\_\\_init\\_\\_ snake_case ran 4.55"));
}

TEST_CASE("what GitHub would make live in a name is code: users, issues, addresses") {
  for (const std::string name : {"ask @someone", "fix #1", "GH-12", "see www.a.org", "a://b | c"}) {
    Results results = manual_example();
    results.session.commands[1].name = name;
    const std::string text = written(write_markdown, results);
    CHECK(has(text, "\n- `" + name + " ran 4.55"));
    CHECK(has(text, "faster than ./build-old`\n"));
  }
  Results results = manual_example();
  results.session.commands[1].name = "c# #x";
  CHECK(has(written(write_markdown, results), "\n- c\\# \\#x ran 4.55"));
}

TEST_CASE("caveats are code in Markdown, in one folded block") {
  Results results = manual_example();
  results.warnings = {{stats::Drift{0.9, 0.05, true}, 0U}};
  const std::string text = written(write_markdown, results);
  const std::size_t at = text.find("\n<details>\n<summary>1 caveat</summary>\n\n- `");
  REQUIRE(at != std::string::npos);
  CHECK(text.ends_with("`\n\n</details>\n"));
  results.warnings.clear();
  CHECK_FALSE(has(written(write_markdown, results), "<details>"));
}

TEST_CASE("a command that never ran has a row of its own") {
  Results results = manual_example();
  without_values(results.commands[1]);
  CHECK(has(written(write_markdown, results), "| `./build-new -O2`<br>no runs | | | | |\n"));
}

}  // namespace lauka::report
