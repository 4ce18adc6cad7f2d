#include "report/paths.h"

#include "report/call_path_example.h"
#include "report/function_lines.h"
#include "report/lines.h"
#include "report/stacks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

const FunctionChange& change_of(const Results& results, const std::string& function) {
  const MetricByFunction* changes = find_changes(results, 0, 1);
  REQUIRE(changes != nullptr);
  const auto found = std::ranges::find(changes->functions, function, &FunctionChange::name);
  REQUIRE(found != changes->functions.end());
  return *found;
}

bool is_near(double value, double expected) {
  return std::fabs(value - expected) < 1e-9;
}

}  // namespace

TEST_CASE("a function's total is its time with what it called, and has an interval of its own") {
  const Results results = grown_through_first();
  const FunctionChange& first = change_of(results, "first");
  CHECK_FALSE(first.has_own_value());
  REQUIRE(first.total.has_value());
  CHECK(is_near(first.total->reference_mean, 0.0505));
  CHECK(is_near(first.total->candidate_mean, 0.0625));
  CHECK(first.total->is_certain());
  CHECK(first.total->half_width.has_value());
  CHECK(is_near(change_of(results, "main").total->difference(), 0.012));
  CHECK_FALSE(change_of(results, "second").total->is_certain());
  CHECK(is_near(change_of(results, "work").total->difference(), 0.012));
}

TEST_CASE("no total is certain if many callers of a side are not known") {
  FunctionTable unknown = table_of_paths("new", {62, 30, 20});
  unknown.paths.add_path(0, std::string(kIncompleteStack), {}, 6);
  unknown.paths.add_path(static_cast<std::uint32_t>(unknown.paths.size() - 1), "work", {0.03}, 6);
  const Results results = results_of_tables({table_of_paths("old", {50, 30, 20}), unknown});
  CHECK_FALSE(change_of(results, "first").total->is_certain());
  CHECK_FALSE(change_of(results, "main").total->is_certain());
  for (const PathChange& path : find_changes(results, 0, 1)->paths) CHECK_FALSE(path.is_certain);
}

TEST_CASE("a function that calls itself, also through others, is counted once in its total") {
  FunctionTable table;
  for (std::uint64_t round = 0; round < 6; ++round) {
    table.add_round(std::vector<std::string>{"sampled_time"},
                    std::vector<FunctionCounts>{{"f", {3 * kMs}}, {"g", {kMs}}}, 1e9);
    table.paths.add_round(
        std::vector<PathCounts>{
            {kNoCaller, "f", 0}, {0, "f", kMs}, {1, "g", kMs}, {2, "f", 2 * kMs}},
        1e9);
  }
  const Results results = results_of_tables({table, table});
  // The program has the function's name, but is no function.
  CHECK(is_near(change_of(results, "f").total->candidate_mean, 0.004));
  CHECK(is_near(change_of(results, "g").total->candidate_mean, 0.003));
}

TEST_CASE("paths of two builds are paired though their programs have different names") {
  const Results results = grown_through_first();
  const std::vector<PathChange>& paths = find_changes(results, 0, 1)->paths;
  REQUIRE(paths.size() == 8);
  CHECK(paths[0].name == "new");
  CHECK(paths[0].caller == kNoCaller);
  CHECK(is_near(paths[0].reference_mean, 0.1015));
  // The largest path comes first.
  CHECK(paths[2].name == "first");
  CHECK(paths[3].name == "work");
  CHECK(paths[3].caller == 2);
  CHECK(paths[3].is_own_certain);
  CHECK(paths[2].is_certain);
  CHECK_FALSE(paths[2].is_own_certain);
  CHECK(paths[4].name == "second");
  CHECK_FALSE(paths[5].is_certain);
}

TEST_CASE("the line of a function names the callers through which most of its change came") {
  CHECK(function_summary(grown_through_first()).find("%, most of it in first)\n") !=
        std::string::npos);
  const Results both = results_of_tables(
      {table_of_paths("prog", {50, 30, 20}), table_of_paths("prog", {54, 34, 24})});
  CHECK(function_summary(both).find("most of it: work") != std::string::npos);
  CHECK(function_summary(both).find("most of it in") == std::string::npos);
}

TEST_CASE("the tree has the paths that differ significantly with their callers, and no others") {
  Results results = grown_through_first();
  results.presentation.paths = 40;
  const std::string text = path_text(results, {});
  CHECK(text.find("sampled_time by call path, significant changes\n") != std::string::npos);
  CHECK(text.find("\nnew ") != std::string::npos);
  CHECK(text.find("\n  main ") != std::string::npos);
  CHECK(text.find("\n    first ") != std::string::npos);
  CHECK(text.find("\n      work ") != std::string::npos);
  CHECK(text.find("second") == std::string::npos);

  results.presentation.paths = 2;
  const std::string cut = path_text(results, {});
  CHECK(cut.find("--paths=4 shows more") != std::string::npos);
  CHECK(cut.find("first") == std::string::npos);

  results.presentation.paths.reset();
  CHECK(path_text(results, {}).empty());
}

TEST_CASE("folded stacks have the times of both sides, in microseconds of a run") {
  CHECK(written(write_first_folded, grown_through_first()) ==
        "new;main;first;work 50500 62500\n"
        "new;main;second;work 30500 30500\n"
        "new;main;third;work 20500 20500\n");
}

TEST_CASE("folded stacks of one command have one number") {
  CHECK(written(write_first_folded, results_of_tables({table_of_paths("prog", {5, 3, 2})})) ==
        "prog;main;first;work 5500\n"
        "prog;main;second;work 3500\n"
        "prog;main;third;work 2500\n");
}

TEST_CASE("names in folded stacks hold no separator, and no number at their end") {
  FunctionTable table;
  table.add_round(std::vector<std::string>{"sampled_time"},
                  std::vector<FunctionCounts>{{"a;b\nc", {kMs}}, {"f 12", {kMs}}}, 1e9);
  table.paths.add_round(
      std::vector<PathCounts>{{kNoCaller, "prog", 0}, {0, "a;b\nc", kMs}, {1, "f 12", kMs}}, 1e9);
  const std::string text = written(write_first_folded, results_of_tables({table}));
  CHECK(text.find(";f_12 1000\n") != std::string::npos);
  CHECK(std::ranges::count(text, '\n') == 2);
  CHECK(std::ranges::count(text, ';') == 3);
}

TEST_CASE("total times that are certain are marked, also among functions without own times") {
  Results results = grown_through_first();
  results.presentation.functions = FunctionChoice{.pattern = "^(first|second)$"};
  for (FunctionChange& change : results.function_changes.front().functions)
    if (change.name == "second") {
      change.total->candidate_mean += 1e-4;
      change.total->certainty = Certainty::Unproven;
    }
  const std::string text = function_text(results, {});
  const auto line_of_function = [&](const std::string& name) {
    const std::size_t at = text.find("\n" + name + " ") + 1;
    REQUIRE(at != 0);
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK(line_of_function("first").find('*') != std::string::npos);
  CHECK(line_of_function("second").find('*') == std::string::npos);
}

TEST_CASE("paths that do not fit are not said to be equal") {
  Results results = grown_through_first();
  results.presentation.paths = 2;
  for (PathChange& change : results.function_changes.front().paths)
    if (change.name != "work") change.is_certain = false;
  const std::string text = path_text(results, {});
  CHECK(text.find("no call path differs") == std::string::npos);
}

TEST_CASE("most of a change came through the path with the largest part of it") {
  const std::vector<PathChange> paths = {
      {.name = "new", .is_certain = true},
      {.name = "main", .caller = 0},
      {.name = "a", .caller = 1},
      {.name = "f", .caller = 2, .candidate_own = 6.0, .is_own_certain = true},
      {.name = "b", .caller = 1},
      {.name = "f", .caller = 4, .candidate_own = 9.0, .is_own_certain = true},
      {.name = "c", .caller = 1},
      {.name = "f", .caller = 6, .reference_own = 5.0, .is_own_certain = true}};
  CHECK(callers_with_most_of({.name = "f", .own = {.candidate_mean = 10.0}}, paths) == "b");
}

}  // namespace lauka::report
