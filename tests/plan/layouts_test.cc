#include "has.h"
#include "plan/command_layouts.h"
#include "plan/make_plan.h"
#include "plan/options_of.h"
#include "plan/rounds.h"

#include <map>
#include <set>
#include <utility>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Options layouts_of(std::vector<std::string> commands, std::uint64_t layouts = 4) {
  Options options = options_of(std::move(commands));
  options.run.layouts = layouts;
  return options;
}

/// The layouts of the rounds from `first` on, `count` of them.
std::vector<std::uint32_t> layouts_of_rounds(const Plan& plan, RoundKind kind, std::uint32_t first,
                                             std::uint32_t count) {
  std::vector<std::uint32_t> layouts;
  for (std::uint32_t round = first; round < first + count; ++round) {
    const auto steps = steps_of_round(plan, kind, round, list_commands(plan));
    CHECK(steps[0].layout == steps[1].layout);
    layouts.push_back(steps[0].layout);
  }
  return layouts;
}

}  // namespace

TEST_CASE("each layout has one round of a sweep, at a random place") {
  const auto plan =
      make_plan(layouts_of({"./a-{layout}", "./b-{layout}"}, 6), no_events, {.clock_seed = 1});
  REQUIRE(plan);
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint32_t sweep = 0; sweep < 20; ++sweep) {
    const auto layouts = layouts_of_rounds(*plan, RoundKind::Timed, 6 * sweep, 6);
    CHECK(std::set(layouts.begin(), layouts.end()).size() == 6);
    orders.insert(layouts);
  }
  CHECK(orders.size() > 15);
}

TEST_CASE("layouts follow each other by their numbers where nothing is shuffled") {
  Options options = layouts_of({"./a-{layout}", "./b-{layout}"});
  options.run.order = Order::Interleaved;
  const auto plan = make_plan(options, no_events, {.clock_seed = 1});
  CHECK(layouts_of_rounds(*plan, RoundKind::Timed, 4, 8) ==
        std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("all rounds of a sweep serve the same pass") {
  Plan plan;
  plan.setting.layouts = 4;
  plan.commands.resize(1);
  plan.setting.events.passes = {{{}, RoundKind::Counting}, {{}, RoundKind::Counting}};
  std::map<std::uint32_t, std::set<std::uint32_t>> layouts;  // by pass
  for (std::uint32_t round = 0; round < 8; ++round)
    for (const Step& step : steps_of_round(plan, RoundKind::Counting, round, std::array{0U}))
      layouts[step.pass].insert(step.layout);
  CHECK(layouts[0].size() == 4);
  CHECK(layouts[1].size() == 4);
}

TEST_CASE("{layout} is a layout's number in all that is run for it") {
  Options options = layouts_of({"./old-{layout} 'a {layout}'"});
  options.commands.names = {"old"};
  options.commands.build_commands = {"make {layout}"};
  options.commands.working_folders = {"d{layout}"};
  options.commands.environment = {{"N={layout}"}};
  options.commands.hooks[HookKind::Prepare] = {"echo {layout}"};
  const auto plan = make_plan(options, no_events, {.clock_seed = 1});
  REQUIRE(plan);
  const Command third = *command_in_layout(*plan, 0, 2);
  CHECK(third.words == std::vector<std::string>{"./old-3", "a 3"});
  CHECK(*third.build == "make 3");
  CHECK(third.folder == "d3");
  CHECK(third.environment == std::vector<std::string>{"N=3"});
  CHECK(*third.hooks[HookKind::Prepare] == "echo 3");
  CHECK(third.name == "old (layout 3)");
  CHECK(plan->commands[0].name == "old");
}

TEST_CASE("without --layouts {layout} is text") {
  const auto plan = make_plan(options_of({"./old {layout}"}), no_events, {.clock_seed = 1});
  CHECK(command_in_layout(*plan, 0, 0)->words.back() == "{layout}");
}

TEST_CASE("a command whose layouts would be one program is refused") {
  CHECK(answer_to(layouts_of({"./a-{layout}", "./b"})).find("'./b'") != std::string::npos);
  Options by_folder = layouts_of({"./a"});
  by_folder.commands.working_folders = {"d{layout}"};
  CHECK(answer_to(by_folder) == "accepted");
  Options by_variable = layouts_of({"./a {layout}"});
  by_variable.commands.parameters = {{.name = "layout", .values = {"1"}}};
  CHECK(answer_to(by_variable).find("'layout'") != std::string::npos);
}

}  // namespace lauka
