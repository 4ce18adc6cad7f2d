#include "plan/make_plan.h"
#include "plan/options_of.h"
#include "plan/rounds.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Options race_of(std::vector<std::string> commands, std::vector<ParameterOption> parameters = {}) {
  Options options = options_of(std::move(commands), std::move(parameters));
  options.run.race_limit = 0.02;
  return options;
}

}  // namespace

TEST_CASE("a race is by the first metric, and all its commands have one reference") {
  const ParameterOption sizes{.name = "n", .values = {"1", "2"}};
  const auto plan =
      make_plan(race_of({"./a {n}", "./b {n}"}, {sizes}), no_events, {.clock_seed = 1});
  REQUIRE(plan);
  REQUIRE(plan->race);
  CHECK(plan->race->limit == 0.02);
  CHECK(plan->metrics[plan->race->metric].name == "wall_time");
  for (std::size_t c = 0; c < plan->commands.size(); ++c) CHECK(plan->reference.index_for(c) == 0);
}

TEST_CASE("the commands of a race alternate, although they have a setup") {
  Options options = race_of({"./a", "./b"});
  options.commands.hooks[HookKind::Setup] = {"make"};
  CHECK(make_plan(options, no_events, {.clock_seed = 1})->setting.order == Order::Random);
  options.run.race_limit.reset();
  CHECK(make_plan(options, no_events, {.clock_seed = 1})->setting.order == Order::Sequential);
}

TEST_CASE("a race of one command is refused") {
  CHECK(answer_to(race_of({"./a"})) ==
        "--race has nothing to compare './a' with; add another command, or a parameter with -L or "
        "-P");
}

TEST_CASE("a race of commands that would run the same program is refused") {
  CHECK(answer_to(race_of({"./a", "./b", "./a"})) ==
        "--race would run the same program twice, because commands 1 and 3 are both './a'; leave "
        "one of them out");

  // All setups run first, so that only the last build would be there.
  const ParameterOption levels{.name = "opt", .values = {"O1", "O2"}};
  Options built = race_of({"./prog"}, {levels});
  built.commands.hooks[HookKind::Setup] = {"make OPT={opt}"};
  CHECK(answer_to(built) ==
        "--race would run the same program twice, because commands 1 and 2 are both './prog'; put "
        "{opt} into the command, so that each value runs a different program");
}

TEST_CASE("commands with the same text but another folder or prepare hook may race") {
  const ParameterOption levels{.name = "opt", .values = {"O1", "O2"}};
  Options elsewhere = race_of({"./prog"}, {levels});
  elsewhere.commands.working_folders = {"build-{opt}"};
  CHECK(answer_to(elsewhere) == "accepted");

  Options prepared = race_of({"./prog"}, {levels});
  prepared.commands.hooks[HookKind::Prepare] = {"cp prog-{opt} prog"};
  CHECK(answer_to(prepared) == "accepted");
}

TEST_CASE("a round of a race has the steps of those that are left, in an order of its own") {
  const auto plan = make_plan(race_of({"./a", "./b", "./c", "./d"}), no_events, {.clock_seed = 1});
  const std::vector<std::uint32_t> left = {1, 3};
  for (std::uint32_t round = 0; round < 8; ++round) {
    std::vector<std::uint32_t> commands;
    for (const Step& step : steps_of_round(*plan, RoundKind::Timed, round, left))
      commands.push_back(step.command);
    std::ranges::sort(commands);
    CHECK(commands == left);
  }
}

}  // namespace lauka
