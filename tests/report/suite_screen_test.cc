#include "report/suite_screen.h"

#include "report/example.h"
#include "report/exports.h"
#include "report/html.h"
#include "report/lines.h"
#include "report/screen.h"
#include "report/warning_lines.h"
#include "results/analyse.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

Results benchmark(std::string name, double base, double candidate, double change,
                  const Metric& first = metric("wall_time", Unit::Seconds)) {
  Results results;
  results.benchmark = std::move(name);
  results.session.metrics = {first};
  set_commands(
      results,
      {command("old", 9, {row(0, summary(9, base, base / 100, 0.99 * base, 1.01 * base))}),
       command("new", 9,
               {row(0, summary(9, candidate, candidate / 100, 0.99 * candidate, 1.01 * candidate),
                    changed(change, 0.001))})});
  return results;
}

Report suite_of_three() {
  return make_report({benchmark("parse", 0.4, 0.2, -0.5), benchmark("load", 0.1, 0.2, 1.0),
                      benchmark("heap", 4e6, 2e6, -0.5, metric("peak_rss", Unit::Bytes))},
                     gate::ErrorRate::AnyFalseFail);
}

gate::Verdict verdict(gate::Answer answer) {
  gate::Verdict made;
  made.condition.metric = "wall_time";
  made.condition.limit = GateLimit::of_change(1);
  made.candidate = 1;
  made.answer = answer;
  made.delta = changed(0.1, 0.01);
  made.rounds = 9;
  return made;
}

std::vector<std::string> first_words(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty()) words.emplace_back(line.substr(0, line.find(' ')));
  return words;
}

}  // namespace

TEST_CASE("a suite's table has a row for each candidate, and means of one metric alone") {
  const std::string text = screen(suite_of_three(), {}, false);
  CHECK(text ==
        "3 benchmarks\n"
        "benchmark       metric       base                 candidate            delta\n"
        "parse           wall_time    400.0ms ± 4.0ms      200.0ms ± 2.0ms      ⚡ −50.0% ± 0.1%\n"
        "load            wall_time    100.0ms ± 1.0ms      200.0ms ± 2.0ms      💩 +100.0% ± 0.1%\n"
        "heap            peak_rss     4.000MB ± 0.040MB    2.000MB ± 0.020MB    ⚡ −50.0% ± 0.1%\n"
        "geomean of 2    wall_time                                                 0.0% ± 0.1%\n");
}

TEST_CASE("where all benchmarks show one metric first, the title names it") {
  Report suite = suite_of_three();
  suite.benchmarks.pop_back();
  CHECK(suite_title(suite) == "wall_time of 2 benchmarks");
  CHECK_FALSE(has(screen(suite, {}, false), "metric"));
}

TEST_CASE("--sort time: the smallest base first, and no bytes among seconds") {
  Report suite = suite_of_three();
  suite.benchmarks.push_back(benchmark("tiny", 0.001, 0.002, 1.0));
  CHECK(first_words(screen(suite, {}, false))[2] == "parse");
  for (Results& one : suite.benchmarks) one.presentation.sort = SortChoice::Time;
  const std::vector<std::string> words = first_words(screen(suite, {}, false));
  CHECK(std::vector(words.begin() + 2, words.begin() + 6) ==
        std::vector<std::string>{"tiny", "load", "parse", "heap"});
}

TEST_CASE("a suite's gates: the worst of a row, a line for each that does not pass, and a count") {
  Report suite = suite_of_three();
  suite.benchmarks[0].findings.verdicts = {verdict(gate::Answer::Pass),
                                           verdict(gate::Answer::Fail)};
  suite.benchmarks[1].findings.verdicts = {verdict(gate::Answer::Pass)};
  const std::string text = screen(suite, {}, false);
  CAPTURE(text);
  CHECK(has(text, "parse: wall_time > 1%: fail: "));
  CHECK_FALSE(has(text, "load: wall_time"));
  CHECK(has(text, "3 gates: 1 fail, 2 pass (the chance of any false alarm is at most 5%)\n"));
  suite.job_error_rate = gate::ErrorRate::ShareOfFalseFails;
  CHECK(
      gates_in_one_line(suite) ==
      "3 gates: 1 fail, 2 pass (of those that fail, at most 5% are expected to be false alarms)\n");
  const std::string quiet = screen(suite, {}, true);
  CHECK(has(quiet, "parse: wall_time > 1%: fail: "));
  CHECK_FALSE(has(quiet, "load: wall_time"));
  CHECK(has(quiet, "3 gates: "));
}

TEST_CASE("many equal gate lines of benchmarks are one") {
  Report suite = suite_of_three();
  for (int i = 0; i < 3; ++i) suite.benchmarks.push_back(suite.benchmarks[0]);
  for (Results& results : suite.benchmarks) {
    results.findings.verdicts = {verdict(gate::Answer::Inconclusive)};
    results.findings.verdicts[0].hindrance = {gate::Obstacle::NoSamples};
    results.findings.verdicts[0].rounds = 0;
  }
  CHECK(suite_gate_lines(suite, ListedGates::AllButPlainPasses, false) ==
        "6 benchmarks: wall_time > 1%: inconclusive: no sample of this event was taken\n");
}

TEST_CASE("a suite has the lines about layouts of each benchmark, in Markdown, too") {
  Report suite = suite_of_three();
  suite.benchmarks[1] = example_over_layouts(changed(0.003, 0.009), changed(0.031, 0.002));
  suite.benchmarks[1].benchmark = "placed";
  const std::string line = "placed: the change over 8 layouts is ";
  CHECK(has(screen(suite, {}, false), line));
  CHECK(has(written(write_markdown, suite), line));
  CHECK_FALSE(has(screen(suite, {}, false), "parse: the change over"));
}

TEST_CASE("a suite's row shows the metric that its gate is on, with the gate's limit") {
  Results parse = benchmark("parse", 0.4, 0.2, -0.5);
  parse.session.metrics.push_back(metric("cpu_time", Unit::Seconds));
  parse.commands[0].rows.push_back(row(1, summary(9, 0.3, 0.003, 0.3, 0.3)));
  parse.commands[1].rows.push_back(row(1, summary(9, 0.33, 0.003, 0.33, 0.33), changed(0.1, 0.01)));
  gate::Verdict failed = verdict(gate::Answer::Fail);
  failed.metric = 1;
  failed.condition.metric = "cpu_time";
  parse.findings.verdicts = {failed};
  const Report suite =
      make_report({parse, benchmark("load", 0.1, 0.2, 1.0)}, gate::ErrorRate::AnyFalseFail);
  const std::string text = screen(suite, {}, false);
  CAPTURE(text);
  CHECK(has(text,
            "parse        cpu_time     300.0ms ± 3.0ms    330.0ms ± 3.0ms    💩 +10.0% ± 1.0%     "
            "fail, limit 1%\n"));
  CHECK(has(text, "load         wall_time "));
  CHECK(has(screen(suite, {.width = 80}, false), " fail, limit 1%\n"));
  CHECK(has(screen(suite, {.width = 60}, false), " fail\n"));
  const std::string markdown = written(write_markdown, suite);
  CHECK_FALSE(has(markdown, "| cpu\\_time |"));
  CHECK(has(markdown, "| cpu_time | 300.0ms ± 3.0ms |"));
  CHECK(has(markdown, "| fail, limit 1% |"));
  const std::string page = written(write_html, suite);
  CHECK(has(page,
            "<span class=\"mark worse\">fail</span> <span class=\"reason\">limit 1%</span></td>"));
}

TEST_CASE("a suite's geometric mean is of the metric of its rows") {
  const auto gated = [](const std::string& name, double change) {
    Results one = benchmark(name, 0.4, 0.2, -0.5);
    one.session.metrics.push_back(metric("rate", Unit::Ratio));
    one.commands[0].rows.push_back(row(1, summary(9, 100, 1, 100, 100)));
    one.commands[1].rows.push_back(row(1, summary(9, 31, 1, 31, 31), changed(change, 0.001)));
    one.findings.verdicts = {verdict(gate::Answer::Fail)};
    one.findings.verdicts[0].metric = 1;
    return one;
  };
  const Report suite =
      make_report({gated("parse", -0.69), gated("load", -0.69)}, gate::ErrorRate::AnyFalseFail);
  REQUIRE(suite.geomeans.size() == 1);
  CHECK(suite.geomeans[0].metric == "rate");
  CHECK(*suite.geomeans[0].change.change == doctest::Approx(-0.69));
  CHECK(screen(suite, {}, false).starts_with("rate of 2 benchmarks\n"));

  const Report mixed = make_report({gated("parse", -0.69), gated("load", -0.69),
                                    benchmark("a", 0.1, 0.2, 1.0), benchmark("b", 0.1, 0.2, 1.0)},
                                   gate::ErrorRate::AnyFalseFail);
  const std::string markdown = written(write_markdown, mixed);
  check_order(markdown, {"| **geomean of 2** | rate |", "−69.0", "| **geomean of 2** | wall_time |",
                         "+100.0"});
}

TEST_CASE("a suite's page opens with what changed, its gates and a forest plot") {
  Report suite = suite_of_three();
  suite.benchmarks[0].findings.verdicts = {verdict(gate::Answer::Fail)};
  suite.benchmarks[1].findings.verdicts = {verdict(gate::Answer::Pass)};
  const std::string page = written(write_html, suite);
  check_order(
      page,
      {"<p class=\"answer\">1 worse, 2 better, 0 ", "<p>2 gates: 1 fail, 1 pass",
       "fail</span> <b>parse</b>: wall_time &gt; 1%: ", "<h2>Changes</h2>",
       "<b>parse</b> <span class=\"aside\">wall_time</span>", "−50.0%", "<path class=\"limit\"",
       "<b>load</b>", "<path class=\"limit\"", "<b>heap</b> <span class=\"aside\">peak_rss</span>",
       "<b>geomean of 2</b>", "<h2>3 benchmarks</h2>", "<th scope=\"col\">metric</th>",
       "fail</span> <span class=\"reason\">limit 1%", "pass</span> <span class=\"reason\">limit 1%",
       "<td>peak_rss</td>", "<h2>Benchmarks</h2>"});
}

TEST_CASE("a page has metrics as rows, and a row for each command where there are more of these") {
  Results parse = benchmark("", 0.4, 0.2, -0.5);
  parse.session.metrics.push_back(metric("cpu_time", Unit::Seconds));
  parse.session.metrics.push_back(metric("block_reads", Unit::Count));
  for (CommandResult& command : parse.commands) {
    command.rows.push_back(row(1, summary(9, 0.33, 0.003, 0.33, 0.33), changed(0.1, 0.01)));
    command.rows.push_back(row(2, summary(9, 0, 0, 0, 0)));
  }
  parse.commands[0].rows[1].delta.reset();
  const std::string page = written(write_html, parse);
  check_order(page, {"<table class=\"matrix metrics\">", "<th scope=\"col\">delta</th>",
                     "<th scope=\"row\">wall_time</th><td>400.0ms", "<td>200.0ms",
                     "<th scope=\"row\">cpu_time</th>", "</table>"});
  const std::size_t table = page.find("matrix metrics");
  CHECK_FALSE(has(page.substr(table, page.find("</table>", table) - table), "block_reads"));
  repeat_command(parse, 1, 3);
  CHECK(has(written(write_html, parse), "<table class=\"matrix\">"));
}

TEST_CASE("one caveat of many benchmarks is one sentence") {
  Report suite = suite_of_three();
  for (std::size_t i = 0; i < 3; ++i) suite.benchmarks[i].warnings = {{ManyOutliers{i + 1, 9}, 1}};
  const WarningText one = make_warning_texts(suite.benchmarks[0]).at(0);
  const std::string general = one.text_for_all_commands + "; " + one.advice;
  CHECK(warning_texts(suite, {}) == std::vector<std::string>{general});
  suite.benchmarks[1].warnings.clear();
  CHECK(warning_texts(suite, {}) == std::vector<std::string>{"'parse' and 'heap': " + general});
  suite.benchmarks[2].warnings.clear();
  CHECK(warning_texts(suite, {}) ==
        std::vector<std::string>{"'parse': 'new': " + one.text + "; " + one.advice});
  CHECK(one.text != one.text_for_all_commands);
}

TEST_CASE("an anchor has a row in a suite's table") {
  Report suite = suite_of_three();
  Results& parse = suite.benchmarks[0];
  add_command(command("libc", 9, {row(0, summary(9, 0.3, 0.003, 0.3, 0.3))}), parse);
  parse.session.reference.anchor_index = 2;
  const std::string text = screen(suite, {}, false);
  CAPTURE(text);
  CHECK(has(text,
            "                libc       wall_time                         300.0ms ± 3.0ms         "
            "anchor\n"));
}

TEST_CASE("a note of all benchmarks is printed once, another one after their names") {
  Report suite = suite_of_three();
  for (Results& one : suite.benchmarks) one.session.notes = {{"no_counters", "of all"}};
  suite.benchmarks[0].session.notes.push_back({"orphans", "of some"});
  suite.benchmarks[2].session.notes.push_back({"orphans", "of some"});
  CHECK(note_texts(suite) == std::vector<std::string>{"of all", "'parse' and 'heap': of some"});
  CHECK(note_texts(suite, "no_counters") ==
        std::vector<std::string>{"'parse' and 'heap': of some"});
}

TEST_CASE("in a terminal too narrow for both a suite shows deltas without their values") {
  const Report suite = suite_of_three();
  const std::string wide = screen(suite, {.width = 80}, false);
  CHECK(has(wide, " candidate "));
  const std::string narrow = screen(suite, {.width = 30}, false);
  CHECK_FALSE(has(narrow, " candidate "));
  CHECK(has(narrow, " delta"));
}

TEST_CASE("a suite of which nothing was run shows nothing") {
  Report suite = suite_of_three();
  for (Results& one : suite.benchmarks)
    for (CommandResult& command : one.commands) command = {};
  CHECK(screen(suite, {}, false).empty());
}

TEST_CASE("a suite's exports have its benchmarks, a plain call's do not") {
  const std::string csv = written(write_summary_csv, suite_of_three());
  CHECK(csv.starts_with("benchmark,command,metric,"));
  CHECK(has(csv, "\r\nheap,new,peak_rss,B,"));
  CHECK(written(write_summary_csv, benchmark("", 0.4, 0.2, -0.5)).starts_with("command,metric,"));
  const std::string markdown = written(write_markdown, suite_of_three());
  CHECK(markdown.starts_with("3 benchmarks\n\n| benchmark | metric | base |"));
  CHECK(has(markdown, "| **geomean of 2** | wall_time |"));
}

TEST_CASE("a suite's row shows exact counts with all digits, and less of them where it is narrow") {
  Report suite = make_report(
      {benchmark("parse", 16172215, 16206904, 0.00214505268, metric("instructions", Unit::Count))},
      gate::ErrorRate::AnyFalseFail);
  Results& results = suite.benchmarks[0];
  for (const auto& [c, count] : {std::pair{0U, 16172215.0}, std::pair{1U, 16206904.0}})
    results.commands[c].rows[0].summary = summary(3, count, 0.0, count, count);
  results.commands[1].rows[0].delta->is_exact = true;
  CHECK(has(screen(suite, Style{}, false),
            "16,172,215 exact    16,206,904 exact    💩 +0.215% exact"));
  const std::string narrow = screen(suite, Style{.width = 50}, false);
  CHECK(has(narrow, "16.2M"));
  CHECK(widest_line(narrow) <= 50);
}

}  // namespace lauka::report
