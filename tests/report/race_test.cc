#include "report/example.h"
#include "report/race_lines.h"
#include "report/table.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

Results race_of(gate::RaceEnd end) {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds)};
  for (const char* name : {"a", "b", "c"})
    add_command(command(name, 10, {row(0, summary(10, 1.0, 0.1, 0.9, 1.1))}), results);
  results.findings.race = gate::RaceResult{.metric = "wall_time",
                                           .limit = 0.01,
                                           .rounds = 1000,
                                           .left = {2, 0},
                                           .exits = {{1, 15, 2}},
                                           .end = end};
  return results;
}

}  // namespace

TEST_CASE("the line of a race names what is left, and how many runs it took of how many") {
  CHECK(race_line(race_of(gate::RaceEnd::Equal)) ==
        "fastest, or within 1% of it, with 95% confidence: c and a (2,015 of 3,000 runs)\n");
  CHECK(race_line(race_of(gate::RaceEnd::Duration)) ==
        "the time ran out before the race was decided; with 95% confidence, the fastest is one of: "
        "c and a (2,015 of 3,000 runs)\n");
  CHECK(race_line(race_of(gate::RaceEnd::Unfinished)) ==
        "the race was cut short with these commands left: c and a (2,015 of 3,000 runs)\n");
  CHECK(race_line(Results{}).empty());
}

TEST_CASE("the line of a race names a metric that is not a time") {
  Results results = race_of(gate::RaceEnd::OneLeft);
  results.session.metrics = {metric("rate", Unit::Count, Better::More)};
  results.findings.race->metric = "rate";
  results.findings.race->left = {2};
  results.findings.race->exits = {{1, 15, 2}, {0, 20, 2}};
  CHECK(race_line(results) == "best (rate), with 95% confidence: c (1,035 of 3,000 runs)\n");
}

TEST_CASE("the line of a race over one parameter has its values and its name") {
  Results results = race_of(gate::RaceEnd::Equal);
  for (std::size_t c = 0; c < 3; ++c)
    results.session.commands[c].parameters = {{"threads", std::to_string(4 * c)}};
  CHECK(has(race_line(results), ": 8, 0 threads ("));
  results.session.commands[2].parameters = {{"threads", "all"}};
  CHECK(has(race_line(results), ": threads all, 0 ("));
}

TEST_CASE("the line of a race names the best ten of many that are left") {
  Results results = race_of(gate::RaceEnd::Duration);
  std::vector<MadeCommand> commands;
  for (char name = 'a'; name <= 'l'; ++name)
    commands.push_back(command(std::string(1, name), 9, {}));
  set_commands(results, std::move(commands));
  gate::RaceResult& race = *results.findings.race;
  race.exits.clear();
  race.left = {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  CHECK(has(race_line(results), "l, k, j, i, h, g, f, e, d, c and b ("));
  race.left.push_back(0);
  CHECK(has(race_line(results), "l, k, j, i, h, g, f, e, d, c and 2 more ("));
}

TEST_CASE("the table of a race is in the order of the result, with the round of each exit") {
  const Results results = race_of(gate::RaceEnd::Equal);
  CHECK(commands_in_table_order(results) == std::vector<std::size_t>{2, 0, 1});
  const std::string text = screen(results, {}, false);
  CHECK(has(text, "left in"));
  CHECK(has(text, "round 15"));
  CHECK(text.find("\nc ") < text.find("\na "));
  CHECK(text.find("\na ") < text.find("\nb "));
  CHECK(text.ends_with("c and a (2,015 of 3,000 runs)\n"));
}

TEST_CASE("a suite's races have a line each, and one about all") {
  Report suite;
  suite.benchmarks = {race_of(gate::RaceEnd::Equal), race_of(gate::RaceEnd::Equal)};
  suite.benchmarks[0].benchmark = "one";
  suite.benchmarks[1].benchmark = "two";
  const std::string lines = suite_race_lines(suite);
  CHECK(lines.starts_with("one: fastest, or within 1% of it, "));
  CHECK(has(lines, "\ntwo: fastest, or within 1% of it, "));
  CHECK(lines.ends_with("\n2 races: the chance that any of these lines is wrong is at most 5%\n"));
}

}  // namespace lauka::report
