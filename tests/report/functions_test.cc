#include "report/example.h"
#include "report/exports.h"
#include "report/format.h"
#include "report/function_lines.h"
#include "report/html.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

using Counts = std::vector<FunctionCounts>;

FunctionTable table_of(std::size_t rounds, const Counts& counts) {
  FunctionTable table;
  for (std::size_t i = 0; i < rounds; ++i)
    table.add_round(std::vector<std::string>{"instructions"}, counts);
  return table;
}

double sum_of(const Counts& counts) {
  double sum = 0.0;
  for (const FunctionCounts& function : counts) sum += static_cast<double>(function.counts[0]);
  return sum;
}

/// Results of commands whose instructions are those of their functions, the first the reference.
Results results_of_functions(const std::vector<Counts>& commands) {
  std::vector<MadeCommand> made;
  Results results;
  for (const Counts& counts : commands) {
    const double sum = sum_of(counts);
    const double change = sum / sum_of(commands.front()) - 1.0;
    const std::string name = made.empty() ? "./old" : made.size() == 1 ? "./new" : "./other";
    made.push_back(command(name, 3, {row(0, summary(3, sum, 0.0, sum, sum))}));
    if (made.size() > 1) made.back().result.rows[0].delta = changed(change, 0.0);
  }
  results = results_of({metric("instructions", Unit::Count)}, std::move(made));
  for (const Counts& counts : commands)
    results.session.function_tables.push_back(table_of(3, counts));
  results.session.confidence = 0.95;
  compare_functions(results);
  return results;
}

/// Six sampled runs of two commands, of which parse takes 12 ms more. The whole's difference is
/// within its noise.
Results sampled_results() {
  const std::vector<std::uint64_t> parse_ms = {20, 32};
  std::vector<MadeCommand> made;
  for (const std::uint64_t ms : parse_ms) {
    const double mean = 0.001 * static_cast<double>(ms + 81);
    made.push_back(command(
        made.empty() ? "./old" : "./new", 6,
        {row(0, summary(6, mean, 0.0, mean, mean)), row(1, summary(6, 0.1, 0.0, 0.1, 0.1))}));
  }
  made[1].result.rows[0].delta = changed(0.12, 0.2);
  Results results = results_of(
      {metric("sampled_time", Unit::Seconds), metric("cpu_time", Unit::Seconds)}, std::move(made));
  results.session.metrics[0].role = Role::SampledTime;
  results.session.metrics[1].role = Role::CpuTime;
  for (const std::uint64_t ms : parse_ms) {
    FunctionTable& table = results.session.function_tables.emplace_back();
    for (std::uint64_t round = 0; round < 6; ++round)
      table.add_round(std::vector<std::string>{"sampled_time"},
                      Counts{{"parse", {1'000'000 * (ms + round % 2)}},
                             {"read", {1'000'000 * (81 - round % 2)}}},
                      1e9);
  }
  results.session.confidence = 0.95;
  compare_functions(results);
  return results;
}

const Counts kOld = {
    {"main", {1'000'000}}, {"parse", {8'000'000}}, {"read", {1'000'000}}, {"old_hash", {2'000}}};
const Counts kNew = {
    {"main", {1'000'000}}, {"parse", {8'400'000}}, {"read", {990'000}}, {"new_hash", {1'000}}};

}  // namespace

TEST_CASE("the functions with the largest differences are named in three lines") {
  const Results results = results_of_functions({kOld, kNew});
  CHECK(function_lines(results, 0, 1) ==
        "  most of it: parse +400K (+4.0%)\n"
        "  also: read −10.0K (−0.100%)\n"
        "  also: old_hash −2000 (−0.020%, gone)\n");
  CHECK(function_summary(results) ==
        "instructions +3.9% ± 0.0%:\n" + function_lines(results, 0, 1));
}

TEST_CASE("the largest difference is named where it is not certain, before the certain ones") {
  Results results = results_of_functions({kOld, kNew});
  results.session.function_tables[1].functions.at("parse")[0] = {8'300'000, 8'400'000, 8'500'000};
  compare_functions(results);
  CHECK(function_lines(results, 0, 1) ==
        "  the largest, but not certain: parse +400K (+4.0%)\n"
        "  certain: read −10.0K (−0.100%)\n"
        "  also: old_hash −2000 (−0.020%, gone)\n"
        "  also: new_hash +1000 (+0.0100%, new)\n");
}

TEST_CASE("a table has the largest difference first, and marks what is certain if not all is") {
  Results results = results_of_functions({kOld, kNew});
  results.presentation.functions = FunctionChoice{.most = 2};
  CHECK(function_text(results, {}).find("*") == std::string::npos);
  results.session.function_tables[1].functions.at("parse")[0] = {8'300'000, 8'400'000, 8'500'000};
  compare_functions(results);
  const std::string text = function_text(results, {});
  CHECK(text.starts_with("\ninstructions by function (*: certain)\n"));
  CHECK(text.find("+400K (varies) ") < text.find("−10.0K * "));
  CHECK(text.find("−10.0K * ") < text.size());
  CHECK(text.find("+389K * ") == std::string::npos);
}

TEST_CASE("a function with several names has one row with those that programmers write") {
  Results results = results_of_functions(
      {{{"step", {5'000}}, {"__libc_malloc", {1'000}}},
       {{"Neu::step", {5'100}, {"step", "__step"}}, {"malloc", {1'100}, {"__libc_malloc"}}}});
  results.presentation.functions = FunctionChoice{};
  const std::string text = function_text(results, {});
  CHECK(text.find("\nstep = Neu::step ") != std::string::npos);
  CHECK(text.find("\nmalloc ") != std::string::npos);
  CHECK(text.find("gone") == std::string::npos);
}

TEST_CASE("a function that is paired by order is marked") {
  Results results = results_of_functions(
      {{{"f.1", {5'000}}, {"f.2", {1'000}}}, {{"f.2", {5'100}}, {"f.3", {1'000}}}});
  results.presentation.functions = FunctionChoice{};
  CHECK(function_text(results, {}).find("+100, paired by order") != std::string::npos);
  CHECK(function_lines(results, 0, 1).find(", paired by order)") != std::string::npos);
}

TEST_CASE("long names are shortened in a pipe, in Markdown and on a page, which has them whole") {
  const std::string name = "a::" + std::string(2'500, 'f') + "(int)";
  Results results = results_of_functions({{{name, {5'000}}}, {{name, {5'100}}}});
  results.presentation.functions = FunctionChoice{};
  std::string markdown;
  write_markdown(Report{.benchmarks = {results}},
                 [&](std::string_view piece) { markdown += piece; });
  for (const std::string& text : {function_text(results, {}), markdown}) {
    CHECK(text.find(name) == std::string::npos);
    CHECK(text.find("a::fff") != std::string::npos);
    CHECK(text.find("fff…fff") != std::string::npos);
  }
  std::string page;
  write_html(Report{.benchmarks = {results}}, [&](std::string_view piece) { page += piece; });
  CHECK(page.find("title=\"" + name + "\"><code>a::fff") != std::string::npos);
  CHECK(page.find("<code>" + name) == std::string::npos);
}

TEST_CASE("a wanted row is found by any name of the function") {
  Results results = results_of_functions(
      {kOld, {{"main", {1'000'000}}, {"parse", {8'400'000}, {"parse_number"}}}});
  results.presentation.functions = FunctionChoice{.pattern = "^parse_number$"};
  CHECK(function_text(results, {}).find("\nparse = parse_number ") != std::string::npos);
}

TEST_CASE("a failed gate has the functions below it, and other verdicts have none") {
  Results results = results_of_functions({kOld, kNew});
  gate::Verdict verdict;
  verdict.candidate = 1;
  verdict.answer = gate::Answer::Fail;
  CHECK(functions_of_failed_gate(results, verdict) == function_lines(results, 0, 1));
  results.findings.verdicts.push_back(verdict);
  CHECK(function_summary(results).empty());  // not twice
  verdict.answer = gate::Answer::Pass;
  CHECK(functions_of_failed_gate(results, verdict).empty());
}

TEST_CASE("no function is named where nothing differs, or functions are not known") {
  CHECK(function_summary(results_of_functions({kOld, kOld})).empty());
  Results unknown = results_of_functions({kOld, kNew});
  unknown.session.function_tables.clear();
  compare_functions(unknown);
  CHECK(function_summary(unknown).empty());
}

TEST_CASE("a table of functions has the rest in one row, so that rows add up") {
  Results results = results_of_functions({kOld, kNew});
  CHECK(function_sections(results).empty());
  results.presentation.functions = FunctionChoice{.most = 2};
  CHECK(function_text(results, {}) ==
        "\ninstructions by function\n"
        "function              ./old   ./new   difference   of the reference\n"
        "parse                 8.00M   8.40M   +400K        +4.0%\n"
        "read                  1.00M   990K    −10.0K       −0.100%\n"
        "(3 other functions)   1.00M   1.00M   −1000        −0.0100%\n"
        "(total)               10.0M   10.4M   +389K        +3.9%\n");
}

TEST_CASE("a table of functions has columns for each candidate, and rows that match") {
  Results results = results_of_functions({kOld, kNew, kOld});
  results.presentation.functions = FunctionChoice{.pattern = "hash|^read$"};
  CHECK(
      function_text(results, {}) ==
      "\ninstructions by function\n"
      "function              ./old   ./new   difference    of the reference   ./other   "
      "difference   of the reference\n"
      "read                  1.00M   990K    −10.0K        −0.100%            1.00M     0         "
      "   0%\n"
      "old_hash              2000    0       −2000, gone   −0.020%            2000      0         "
      "   0%\n"
      "new_hash              0       1000    +1000, new    +0.0100%           0         0         "
      "   0%\n"
      "(2 other functions)   9.00M   9.40M   +400K         +4.0%              9.00M     0         "
      "   0%\n"
      "(total)               10.0M   10.4M   +389K         +3.9%              10.0M     0         "
      "   0%\n");
}

TEST_CASE("a function that grew has a positive share, though the whole got smaller") {
  Results results = results_of_functions({kNew, {{"main", {3'000'000}}}});
  results.presentation.functions = FunctionChoice{.pattern = "main"};
  const std::string text = function_text(results, {});
  CHECK(has(text, "main                  1.00M   3.00M   +2.00M       +19%\n"));
  CHECK(has(text, "(total)               10.4M   3.00M   −7.39M       −71%\n"));
}

TEST_CASE("sums of functions have no differences that are rounding errors") {
  // 0.1 + 0.2 is not 0.3, so that the other functions' sums differ in the last digit.
  Results results = results_of_functions({kOld, kOld});
  FunctionTable& old = results.session.function_tables[0];
  FunctionTable& candidate = results.session.function_tables[1];
  for (auto* table : {&old, &candidate})
    for (auto& [name, values] : table->functions) values[0] = {1.0};
  old.functions.at("parse")[0] = {1e6 + 0.3};
  candidate.functions.at("parse")[0] = {1e6 + 0.1 + 0.2};
  for (std::size_t c = 0; c < 2; ++c)
    results.commands[c].rows[0].summary = summary(3, 1e6 + 3.3, 0.0, 1e6 + 3.3, 1e6 + 3.3);
  compare_functions(results);
  results.presentation.functions = FunctionChoice{.pattern = "main"};
  const std::string text = function_text(results, {});
  CHECK(has(text, "(3 other functions)"));
  CHECK_FALSE(has(text, "e-"));
}

TEST_CASE("the functions of a single command are its parts") {
  Results results = results_of_functions({kOld});
  results.presentation.functions = FunctionChoice{.most = 1};
  CHECK(function_text(results, {}) ==
        "\ninstructions by function\n"
        "function              ./old   share\n"
        "parse                 8.00M   80.0%\n"
        "(3 other functions)   2.00M   20.0%\n"
        "(total)               10.0M   100.0%\n");
}

TEST_CASE("a table of functions is written in Markdown, and sorted in a page") {
  Results results = results_of_functions({kOld, kNew});
  results.presentation.functions = FunctionChoice{.most = 1};
  std::string text;
  write_markdown(Report{.benchmarks = {results}}, [&](std::string_view piece) { text += piece; });
  CHECK(text.find("| `parse` | 8.00M | 8.40M | **+400K** |") != std::string::npos);
  std::string page;
  write_html(Report{.benchmarks = {results}}, [&](std::string_view piece) { page += piece; });
  CHECK(page.find("<table class=\"sortable\">") != std::string::npos);
  CHECK(page.find("data-number=\"400000\"") != std::string::npos);
}

TEST_CASE("in a suite's page the largest differences of all are above the gates") {
  Report suite{
      .benchmarks = {results_of_functions({kOld, kNew}), results_of_functions({kOld, kNew})}};
  suite.benchmarks[0].benchmark = "small";
  suite.benchmarks[1].benchmark = "large";
  auto& functions = suite.benchmarks[1].session.function_tables[1].functions;
  functions.at("parse") = {{9'000'000}};
  compare_functions(suite.benchmarks[1]);
  suite.benchmarks[1].findings.verdicts = {{.candidate = 1, .answer = gate::Answer::Fail}};
  CHECK(largest_function_change_lines(suite).starts_with("large: instructions of parse +1.00M "));
  std::string page;
  write_html(suite, [&](std::string_view piece) { page += piece; });
  CHECK(page.find("large: instructions of parse") < page.find("<li>"));
}

TEST_CASE("a page's longest bar is of the largest difference") {
  Results results = results_of_functions({kOld, kNew});
  results.presentation.functions = FunctionChoice{.most = 2};
  std::string page;
  write_html(Report{.benchmarks = {results}}, [&](std::string_view piece) { page += piece; });
  CHECK(page.find("style=\"--bar: 100.0%\"") != std::string::npos);
  CHECK(page.find("style=\"--bar: 2.5%\"") != std::string::npos);
}

TEST_CASE("functions of sampled time have intervals, and are named though the whole hides them") {
  Results results = sampled_results();
  CHECK(function_summary(results) == "sampled_time " +
                                         delta_text(*results.commands[1].rows[0].delta) +
                                         ":\n  most of it: parse +12.0ms ± 705µs (+12%)\n");
  results.presentation.functions = FunctionChoice{};
  CHECK(function_text(results, {}) ==
        "\nsampled_time by function\n"
        "function                   ./old    ./new    difference        of the reference\n"
        "parse                      20.5ms   32.5ms   +12.0ms ± 705µs   +12%\n"
        "(1 other function)         80.5ms   80.5ms   0                 0%\n"
        "(total)                    101ms    113ms    +12.0ms           +12%\n"
        "(cpu_time of timed runs)   100ms    100ms    0                 0%\n");
}

TEST_CASE("the row of other functions is 0 where only rounding is left of the total") {
  Results results = sampled_results();
  FunctionTable& reference = results.session.function_tables[0];
  FunctionTable& candidate = results.session.function_tables[1];
  reference = candidate = {};
  const Counts counts = {{"a", {100'000'000}}, {"b", {200'000'000}}, {"c", {300'000'000}}};
  Counts more = counts;
  more.push_back({"other", {1'000}});
  for (int round = 0; round < 6; ++round) {
    reference.add_round(std::vector<std::string>{"sampled_time"}, counts, 1e9);
    candidate.add_round(std::vector<std::string>{"sampled_time"}, more, 1e9);
  }
  // As it is added up: 0.1 + 0.2 + 0.3 is not 0.6.
  results.commands[0].rows[0].summary = summary(6, 0.1 + 0.2 + 0.3, 0.0, 0.6, 0.6);
  results.commands[1].rows[0].summary = summary(6, 0.6 + 1e-6, 0.0, 0.6, 0.6);
  compare_functions(results);
  results.presentation.functions = FunctionChoice{.pattern = "^[abc]$"};
  CHECK(function_text(results, {}).find("(1 other function)         0s ") != std::string::npos);
}

TEST_CASE("a line says that no function's sampled time differs for certain") {
  Results results = sampled_results();
  results.session.function_tables[1] = results.session.function_tables[0];
  compare_functions(results);
  CHECK(function_summary(results).find("sampled_time: no function") == 0);
}

TEST_CASE("without functions a line says whose are missing") {
  Results results = results_of_functions({kOld, kNew});
  results.session.function_tables.clear();
  compare_functions(results);
  results.session.file = "old.json";
  CHECK(why_no_functions(results).empty());
  results.presentation.functions = FunctionChoice{};
  CHECK(why_no_functions(results).find("'old.json'") != std::string::npos);
}

TEST_CASE("where --metrics leaves out the metric of the functions, a line says so") {
  Results results = sampled_results();
  results.presentation.functions = FunctionChoice{};
  compare_functions(results);
  REQUIRE_FALSE(function_sections(results).empty());
  results.session.metrics[0].shown = Shown::Verbose;
  CHECK(function_sections(results).empty());
  CHECK(why_no_functions(results) ==
        "there is no table of functions, because --metrics leaves out sampled_time");
}

}  // namespace lauka::report
