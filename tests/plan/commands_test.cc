#include "plan/make_commands.h"
#include "plan/make_plan.h"
#include "plan/options_of.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using Words = std::vector<std::string>;

ParameterOption list(std::string name, Words values) {
  return {.name = std::move(name), .values = std::move(values)};
}

ParameterOption scan(std::string min, std::string max, std::string step = "") {
  return {.name = "n",
          .is_scan = true,
          .min = std::move(min),
          .max = std::move(max),
          .step = std::move(step)};
}

std::vector<Command> commands(const Options& options) {
  auto all = make_commands(options.commands);
  if (!all) FAIL("refused: " << all.error().line());
  return *std::move(all);
}

Words texts(const Options& options) {
  Words all;
  for (const Command& command : commands(options)) all.push_back(command.text);
  return all;
}

Words names(const Options& options) {
  Words all;
  for (const Command& command : commands(options)) all.push_back(command.name);
  return all;
}

std::string refusal(const Options& options) {
  const auto all = make_commands(options.commands);
  return all ? "accepted" : all.error().line();
}

}  // namespace

TEST_CASE("every value of a variable makes a command of its own, the typed ones in turns") {
  CHECK(texts(options_of({"old {n}", "new {n}"}, {list("n", {"1", "2"})})) ==
        Words{"old 1", "new 1", "old 2", "new 2"});
}

TEST_CASE("several variables are combined, the first one changing fastest") {
  CHECK(texts(options_of({"x {a}{b}"}, {list("a", {"1", "2"}), list("b", {"p", "q"})})) ==
        Words{"x 1p", "x 2p", "x 1q", "x 2q"});
}

TEST_CASE("a command is measured once for each combination of the variables that it uses") {
  CHECK(texts(options_of({"old", "new {n}"}, {list("n", {"1", "2"})})) ==
        Words{"old", "new 1", "new 2"});
  CHECK(texts(options_of({"p {a}", "q {b}"}, {list("a", {"1", "2"}), list("b", {"x", "y"})})) ==
        Words{"p 1", "q x", "p 2", "q y"});
}

TEST_CASE("what is used in a hook or a variable of the environment counts as used") {
  Options options = options_of({"x"}, {list("branch", {"a", "b"})});
  options.commands.hooks[HookKind::Prepare] = {"git checkout {branch}"};
  CHECK(commands(options).size() == 2);
  CHECK(commands(options)[1].hooks[HookKind::Prepare] == "git checkout b");
  options.commands.hooks[HookKind::Prepare].clear();
  options.commands.environment = {{"B={branch}"}};
  CHECK(commands(options)[1].environment == Words{"B=b"});
}

TEST_CASE("a variable that nothing uses is refused, also where a name has it") {
  Options options = options_of({"x {m}"}, {list("n", {"1"})});
  CHECK(refusal(options) == "no command uses the variable 'n'; write {n} where its value belongs");
  options.commands.names = {"run {n}"};
  CHECK(refusal(options).starts_with("no command uses "));
}

TEST_CASE("values go into names, hooks, variables and output files, and are not looked at again") {
  Options options = options_of({"x {a}"}, {list("a", {"{b}"}), list("b", {"1"})});
  options.commands.names = {"run {a} {c}"};
  options.commands.hooks[HookKind::Setup] = {"s {a}"};
  options.commands.hooks[HookKind::Prepare] = {"p {b}"};
  options.commands.hooks[HookKind::Conclude] = {"c {a}{b}"};
  options.commands.hooks[HookKind::Cleanup] = {"{x}"};
  options.commands.environment = {{"A=two {b}", "C={a}"}};
  options.commands.outputs = {{OutputKind::File, "out-{b}"}};
  const Command command = commands(options).at(0);
  CHECK(command.text == "x {b}");
  CHECK(command.hooks[HookKind::Setup] == "s {b}");
  CHECK(command.hooks[HookKind::Prepare] == "p 1");
  CHECK(command.hooks[HookKind::Conclude] == "c {b}1");
  CHECK(command.hooks[HookKind::Cleanup] == "{x}");
  CHECK(command.environment == Words{"A=two 1", "C={b}"});
  CHECK(command.output.path == "out-1");
  REQUIRE(command.parameters.size() == 2);
  CHECK(command.parameters[0].value == "{b}");
  CHECK(command.parameters[1].name == "b");
}

TEST_CASE("values that a name does not show follow it") {
  Options options = options_of({"x {n}"}, {list("n", {"1", "2"}), list("m", {"a"})});
  options.commands.hooks[HookKind::Setup] = {"{m}"};
  CHECK(names(options) == Words{"x 1 (m = a)", "x 2 (m = a)"});
  options.commands.names = {"it"};
  CHECK(names(options) == Words{"it (n = 1, m = a)", "it (n = 2, m = a)"});
  options.commands.names = {"{m}{n}"};
  CHECK(names(options) == Words{"a1", "a2"});
  options.commands.names = {"first", "second"};
  CHECK(names(options) == Words{"first", "second"});
  options.commands.names = {"first", "second", "third"};
  CHECK(refusal(options) ==
        "there are 3 names (-n) for 2 commands; give at most one name per command");
}

TEST_CASE("equal names say what the commands differ in") {
  Options options = options_of({"sort f", "sort f", "wc f"});
  options.commands.working_folders = {"d1", "d2", "d1"};
  options.commands.environment = {{"A=1", "LC_ALL=C"}, {"A=1"}, {"A=1"}};
  const auto commands = make_commands(options.commands).value();
  CHECK(commands[0].name == "sort f (cwd d1, LC_ALL=C)");
  CHECK(commands[1].name == "sort f (cwd d2)");
  CHECK(commands[2].name == "wc f");
  options.commands.inputs = {"x", "y", ""};
  CHECK(names(options) ==
        Words{"sort f (cwd d1, LC_ALL=C, input x)", "sort f (cwd d2, input y)", "wc f"});
  options.commands.inputs = {"x", "y"};
  CHECK(refusal(options).starts_with("--input is given 2 times for 3 "));
  Options scanned = options_of({"sort"}, {list("n", {"1", "2"})});
  scanned.commands.inputs = {"f{n}"};
  CHECK(make_commands(scanned.commands).value()[1].input == "f2");
}

TEST_CASE("a scan counts exactly") {
  CHECK(texts(options_of({"x {n}"}, {scan("0.1", "0.3", "0.1")})) ==
        Words{"x 0.1", "x 0.2", "x 0.3"});
  CHECK(texts(options_of({"x {n}"}, {scan("1", "3")})) == Words{"x 1", "x 2", "x 3"});
}

TEST_CASE("parameters that make no sense are refused") {
  CHECK(
      refusal(options_of({"x {n}"}, {scan("1", "3", "0")})) ==
      "--parameter-scan n 1 3: the step '0' is not above 0; write a step above 0, and the smaller "
      "end first");
  CHECK(refusal(options_of({"x {n}"}, {scan("3", "1")})) ==
        "--parameter-scan n 3 1: '3' is above '1'; write the smaller number first");
  CHECK(refusal(options_of({"x {n}"}, {scan("0.1", "0.5")})) ==
        "--parameter-scan n 0.1 0.5 needs a step; give a step, such as -D 0.5");
  CHECK(refusal(options_of({"x {n}"}, {list("n", {"1"}), list("n", {"2"})})) ==
        "the variable 'n' is given twice; use each name once");
  CHECK(
      refusal(options_of({"x {n}"}, {list("{n}", {"1"})})).starts_with("--parameter-list '{n}' "));
  CHECK(
      refusal(options_of({"x {n}"}, {list("", {"1"})})).starts_with("--parameter-list '' cannot"));
  Options many = options_of({"x {n}{a}"}, {scan("1", "1000"), list("a", Words(11, "1"))});
  CHECK(refusal(many) == "the parameters make more than 10000 commands; give fewer values");
}

TEST_CASE("a variable that only --output mentions is used") {
  Options options = options_of({"old", "new"}, {list("n", {"1", "2"})});
  options.commands.outputs = {{OutputKind::File, "out-{n}"}};
  const auto all = commands(options);
  REQUIRE(all.size() == 4);
  CHECK(all.at(3).output.path == "out-2");
}

TEST_CASE("hooks, variables and outputs are given once for all, or once per command") {
  Options options = options_of({"old", "new"});
  options.commands.hooks[HookKind::Prepare] = {"both"};
  options.commands.hooks[HookKind::Conclude] = {"first", "second"};
  options.commands.environment = {{"A=1"}, {"A=2"}};
  options.commands.outputs = {{OutputKind::Pipe}, {OutputKind::Inherit}};
  const auto all = commands(options);
  CHECK(all[1].hooks[HookKind::Prepare] == "both");
  CHECK(all[0].hooks[HookKind::Conclude] == "first");
  CHECK(all[1].hooks[HookKind::Conclude] == "second");
  CHECK(all[1].environment == Words{"A=2"});
  CHECK(all[0].output.kind == OutputKind::Pipe);
  CHECK(all[1].output.kind == OutputKind::Inherit);
  CHECK_FALSE(all[0].hooks[HookKind::Setup].has_value());
}

TEST_CASE("with parameters, once per command may also mean once per command measured") {
  Options options = options_of({"x {n}"}, {list("n", {"1", "2"})});
  options.commands.hooks[HookKind::Prepare] = {"a", "b"};
  CHECK(commands(options)[1].hooks[HookKind::Prepare] == "b");
}

TEST_CASE("an empty hook or build is none for its command, also where a value was filled in") {
  Options options = options_of({"a {n}", "b {n}"}, {list("n", {"1", ""})});
  for (const HookRow& row : kHookKinds) options.commands.hooks[row.kind] = {"", "sync {n}"};
  options.commands.hooks[HookKind::Conclude] = {"{n}"};
  options.commands.build_commands = {"make", ""};
  const auto all = commands(options);
  REQUIRE(all.size() == 4);
  for (const HookKind kind : {HookKind::Setup, HookKind::Prepare, HookKind::Cleanup}) {
    CHECK_FALSE(all[0].hooks[kind].has_value());
    CHECK(all[1].hooks[kind] == "sync 1");
  }
  CHECK(all[0].hooks[HookKind::Conclude] == "1");
  CHECK_FALSE(all[2].hooks[HookKind::Conclude].has_value());
  CHECK(all[0].build == "make");
  CHECK_FALSE(all[1].build.has_value());
}

TEST_CASE("more, or fewer, than one per command is refused") {
  Options options = options_of({"a", "b", "c"});
  options.commands.hooks[HookKind::Prepare] = {"1", "2"};
  CHECK(refusal(options) ==
        "--prepare is given 2 times for 3 commands; give it once for all commands, or once per "
        "command");
  options.commands.hooks[HookKind::Prepare] = {"1", "2", "3", "4"};
  CHECK(refusal(options).starts_with("--prepare is given 4 times for 3 "));
  options.commands.hooks[HookKind::Prepare].clear();
  options.commands.outputs = {{OutputKind::Null}, {OutputKind::Null}};
  CHECK(refusal(options).starts_with("--output is given 2 times for 3 "));
}

TEST_CASE("setups and cleanups make the order sequential, unless one was asked for") {
  const auto plan_of = [](const Options& options) {
    return make_plan(options, no_events, {.clock_seed = 1}).value();
  };
  Options options = options_of({"a", "b"});
  options.commands.hooks[HookKind::Prepare] = {"p"};
  CHECK(plan_of(options).setting.order == Order::Random);
  options.commands.hooks[HookKind::Setup] = {"", ""};
  CHECK(plan_of(options).setting.order == Order::Random);
  options.commands.hooks[HookKind::Cleanup] = {"c"};
  CHECK(plan_of(options).setting.order == Order::Sequential);
  CHECK(plan_of(options).setting.order_for_hooks);
  options.run.order = Order::Random;
  CHECK(plan_of(options).setting.order == Order::Random);
  CHECK_FALSE(plan_of(options).setting.order_for_hooks);
}

TEST_CASE("shell syntax without a shell is pointed out, once of a kind, with what runs it") {
  Options options = options_of({"ls | wc -l", "ls | wc -c", "echo $HOME", "ls"});
  CHECK(make_hints(options, {}) ==
        Words{"'ls | wc -l' has | without quotes, which the program gets unchanged; use -S to run "
              "the command in a shell",
              "'echo $HOME' has $HOME without quotes, which the program gets unchanged; use -S to "
              "run the command in a shell"});
  options.commands.shell = Shell{{"sh"}};
  CHECK(make_hints(options, {}).empty());
}

TEST_CASE("a grep whose output is thrown away may stop early, and no other command") {
  const auto hints = [](const std::string& text, OutputChoice output = {}) {
    Options options = options_of({text});
    options.commands.outputs = {std::move(output)};
    return make_hints({}, commands(options)).size();
  };
  CHECK(hints("grep -r x .") == 1);
  CHECK(hints("/usr/bin/egrep x file") == 1);
  CHECK(hints("grep x file", {OutputKind::Pipe}) == 0);
  CHECK(hints("ripgrep x file") == 0);
  CHECK(hints("cat grep") == 0);
  Options shell = options_of({"grep x file | wc -l"});
  shell.commands.shell = Shell{{"sh"}};
  CHECK(make_hints({}, commands(shell)).empty());
}

TEST_CASE("a folder is given once for all commands or once per command, with the values in it") {
  Options options = options_of({"a {v}", "b {v}"}, {list("v", {"1", "2"})});
  options.commands.working_folders = {"of-{v}"};
  CHECK(commands(options)[2].folder == "of-2");
  options.commands.working_folders = {"x", "y"};
  CHECK(commands(options)[1].folder == "y");
  CHECK(commands(options)[2].folder == "x");
  options.commands.working_folders = {"x", "y", "z"};
  CHECK(refusal(options).starts_with("--cwd is given 3 times for 4 "));
  Options only = options_of({"a"}, {list("v", {"1", "2"})});
  only.commands.working_folders = {"of-{v}"};
  CHECK(commands(only).size() == 2);
}

namespace {

std::string text_of(const std::vector<Label>& labels) {
  std::string text;
  for (const Label& label : labels) text += label.key + "=" + label.value + " ";
  return text;
}

}  // namespace

TEST_CASE("of git's HEAD come commit and branch, if there are any") {
  CHECK(text_of(labels_of_git_head("12ab\nrefs/heads/main\n")) == "commit=12ab branch=main ");
  CHECK(text_of(labels_of_git_head("12ab\nrefs/heads/heads/a\n")) == "commit=12ab branch=heads/a ");
  CHECK(text_of(labels_of_git_head("12ab\nHEAD\n")) == "commit=12ab ");
  CHECK(labels_of_git_head("").empty());
}

TEST_CASE("a given label wins over what was found, and they are sorted") {
  CHECK(text_of(merge_labels({{"os", "x"}, {"commit", "mine"}},
                             {{"branch", "b"}, {"commit", "c"}})) == "branch=b commit=mine os=x ");
}

}  // namespace lauka
