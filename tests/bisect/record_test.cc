#include "../must.h"
#include "bisect/search_record.h"
#include "bisect/words.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka::bisect {
namespace {

Commit commit(char digit, const std::string& subject) {
  return {std::string(40, digit), "2026-11-02", subject};
}

MeasuredChange change(double low, double middle, double high) {
  MeasuredChange measured{.rounds = 30};
  measured.change.change = middle;
  measured.change.bounds = {{low, high}};
  return measured;
}

SearchRecord found() {
  SearchRecord search{.good = commit('a', "one"),
                      .bad = commit('d', "four"),
                      .commit_count = 3,
                      .ends = change(0.04, 0.05, 0.06)};
  search.steps = {{.commit = commit('b', "two"),
                   .answer = StepAnswer::Before,
                   .limit = 0.02,
                   .change = change(-0.01, 0.0, 0.01)},
                  {.commit = commit('c', "three | bars"),
                   .answer = StepAnswer::Untestable,
                   .reason = "does not build"}};
  search.answer = SearchAnswer::Commit;
  search.suspects = {commit('d', "four")};
  search.parent = commit('c', "three | bars");
  search.from_parent = change(0.035, 0.04, 0.045);
  return search;
}

TEST_CASE("what the log keeps of a search is read again") {
  const SearchRecord before = found();
  const auto after = parse_search(to_entry(before));
  REQUIRE(after);
  CHECK(to_entry(*after) == to_entry(before));
  CHECK(after->steps.at(1).reason == "does not build");
  CHECK(after->ends->change.bounds->high == 0.06);
  CHECK(after->culprit()->subject == "four");

  const auto step = parse_step(to_entry(before.steps.front()));
  REQUIRE(step);
  CHECK(step->answer == StepAnswer::Before);
  CHECK(step->change->change.bounds->low == -0.01);
  CHECK_FALSE(parse_search("nonsense"));
}

TEST_CASE("ends that do not differ come with the difference that would have been found") {
  SearchRecord search = found();
  search.answer = SearchAnswer::NoChange;
  search.ends = change(-0.004, 0.001, 0.006);
  CHECK(answer_text(search, "v").find("four of five") == std::string::npos);

  search.ends->detectable = 0.008;
  CHECK(
      answer_text(search, "v")
          .find("; a difference of 0.80% would have been found in four of five such sessions\n") !=
      std::string::npos);
  CHECK(parse_search(to_entry(search))->ends->detectable == 0.008);
}

TEST_CASE("a commit explains its share of the change of both ends") {
  CHECK(found().share_explained() == doctest::Approx(0.8));
  SearchRecord range = found();
  range.answer = SearchAnswer::Range;
  CHECK_FALSE(range.share_explained());
}

TEST_CASE("a step is told to the rules as a level between both ends") {
  const EndsChange ends = to_ends(found().ends->change);
  CHECK(ends.near_end == 0.04);
  const StepResult result = to_result(found().steps.front(), 1, ends);
  CHECK(result.commit == 1);
  CHECK(result.level->high == doctest::Approx(0.25));
}

TEST_CASE("the answer names commit, date, subject and change, and functions if they were counted") {
  SearchRecord search = found();
  const std::string plain = answer_text(search, "cpu_time");
  CHECK(plain.find("subject: four\n") != std::string::npos);
  CHECK(plain.find("changed:") == std::string::npos);

  search.functions_of = "instructions";
  CHECK(answer_text(search, "cpu_time")
            .find("changed: none of the functions differs significantly in instructions") !=
        std::string::npos);
  search.functions = {{"parse", 1000, 1500}};
  CHECK(answer_text(search, "cpu_time").find("changed: parse (instructions from ") !=
        std::string::npos);
}

TEST_CASE("a range is listed with the reasons why its commits could not be told apart") {
  SearchRecord search = found();
  search.answer = SearchAnswer::Range;
  search.suspects = {commit('c', "three | bars"), commit('d', "four")};
  CHECK(answer_text(search, "v") ==
        "the change is in one of 2 commits:\n"
        "  2026-11-02 cccccccccccc three | bars (does not build)\n"
        "  2026-11-02 dddddddddddd four\n");
}

TEST_CASE("a range with commits that were not tested says why the search ended") {
  SearchRecord search = found();
  search.answer = SearchAnswer::Range;
  search.suspects = {commit('c', "three"), commit('e', "not tested"), commit('d', "four")};
  CHECK(answer_text(search, "v").find("because a commit stayed undecided. Give --duration") !=
        std::string::npos);
}

TEST_CASE("the Markdown has the answer and a row for each step") {
  const std::string text =
      to_markdown({.metric = "cpu_time", .confidence = 0.95, .searches = {found()}});
  CAPTURE(text);
  CHECK(text.starts_with("the commit that made the change:\n\n- commit:"));
  CHECK(text.find("| `bbbbbbbbbbbb` | 2026-11-02 | two |") != std::string::npos);
  CHECK(text.find("three \\| bars |  |  | does not build |\n") != std::string::npos);
}

}  // namespace
}  // namespace lauka::bisect
