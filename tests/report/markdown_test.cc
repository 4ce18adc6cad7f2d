#include "report/example.h"
#include "report/table.h"

#include <doctest/doctest.h>

namespace lauka::report {

TEST_CASE("the Markdown is a table, and what was found below it") {
  Results results = manual_example();
  results.metrics[2].shown = Shown::Verbose;
  CHECK(written(write_markdown, results) ==
        "| command | measurement | mean ± σ | min … max | outliers | delta |\n"
        "|:--|:--|--:|--:|--:|--:|\n"
        "| `./build-old`<br>9 runs | wall_time | 591ms ± 7.6ms | 583ms … 605ms | 0 (0%) |  |\n"
        "|  | peak_rss | 137MB ± 0.3MB | 136.6MB … 137.4MB | 0 (0%) |  |\n"
        "| `./build-new -O2`<br>9 runs | wall_time | 130ms ± 8.3ms | 125ms … 141ms | 0 (0%) | "
        "**better −78.0% ± 0.5%** |\n"
        "|  | peak_rss | 141MB ± 0.4MB | 140MB … 142MB | 1 (11%) | **worse +3.1% ± 0.4%** |\n"
        "\n"
        "- ./build-new -O2 ran 4.55 ± 0.04 times faster than ./build-old\n");
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
  results.commands.resize(1);
  results.rankings.clear();
  const std::string text = written(write_markdown, results);
  CHECK_FALSE(has(text, "delta"));
  CHECK(has(text, "|:--|:--|--:|--:|--:|\n"));
}

TEST_CASE("code keeps its pipes and backticks in a cell") {
  CHECK(code_cell("a | b") == "`a \\| b`");
  CHECK(code_cell("echo `date`") == "`` echo `date` ``");
  CHECK(code_cell("a ``x`` b") == "```a ``x`` b```");
  CHECK(code_cell("two\nlines") == "`two\\nlines`");
  CHECK(code_cell(" x ") == "`  x  `");
}

TEST_CASE("a name below the table is text, whatever Markdown would make of it") {
  Results results = manual_example();
  results.commands[1].name = "a*b* <i> [x](y) __init__ snake_case";
  CHECK(has(written(write_markdown, results),
            "\n- a\\*b\\* \\<i\\> \\[x\\](y) \\_\\_init\\_\\_ snake_case ran 4.55"));
}

TEST_CASE("a command that never ran has a row of its own") {
  Results results = manual_example();
  without_values(results.commands[1]);
  CHECK(has(written(write_markdown, results), "| `./build-new -O2`<br>0 runs | | | | |\n"));
}

}  // namespace lauka::report
