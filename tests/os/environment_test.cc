#include "must.h"
#include "os/process.h"
#include "os/running.h"
#include "skip.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <unistd.h>

namespace lauka::os {
namespace {

bool has(const std::vector<std::string>& environment, const std::string& variable) {
  return std::count(environment.begin(), environment.end(), variable) == 1;
}

}  // namespace

TEST_CASE("a program's own variables replace lauka's, and appear once") {
  ProgramSpec spec = shell("");
  REQUIRE(setenv("LAUKA_TEST_OLD", "old", 1) == 0);  // NOLINT(concurrency-mt-unsafe): one thread
  spec.environment_changes = {"LAUKA_TEST_OLD=new", "LAUKA_TEST_MORE=two words"};
  spec.launch_variable = "LAUKA_TEST_RUN";
  const auto all = program_environment(spec, "warmup-0");
  CHECK(has(all, "LAUKA_TEST_OLD=new"));
  CHECK_FALSE(has(all, "LAUKA_TEST_OLD=old"));
  CHECK(has(all, "LAUKA_TEST_MORE=two words"));
  CHECK(has(all, "LAUKA_TEST_RUN=warmup-0"));
  unsetenv("LAUKA_TEST_OLD");  // NOLINT(concurrency-mt-unsafe): one thread
}

TEST_CASE("a user's HOME, USER and LOGNAME take the place of root's") {
  ProgramSpec spec = shell("");
  spec.user = User{1234, 1234, {1234}, "ann", "/home/ann"};
  const auto all = program_environment(spec, "");
  CHECK(has(all, "HOME=/home/ann"));
  CHECK(has(all, "USER=ann"));
  CHECK(has(all, "LOGNAME=ann"));
  CHECK(std::count_if(all.begin(), all.end(),
                      [](const std::string& one) { return one.starts_with("HOME="); }) == 1);
}

TEST_CASE("a program is started with its variables, and with what its launch sets") {
  ProgramSpec spec = shell("test \"$A/$RUN\" = 'two words/7'");
  spec.environment_changes = {"A=two words"};
  spec.launch_variable = "RUN";
  CHECK(succeeded(run_once(spec, {.launch_variable_value = "7"}).outcome));
  CHECK_FALSE(succeeded(run_once(spec, {.launch_variable_value = "8"}).outcome));
}

TEST_CASE("launches of one batch each have their own value") {
  const auto launcher = must(start_launcher());
  ProgramSpec spec = shell("exit $RUN");
  spec.launch_variable = "RUN";
  const ProgramId id = must(launcher->add_program(spec));
  const std::vector<Launch> launches = {{.program = id, .launch_variable_value = "3"},
                                        {.program = id, .launch_variable_value = "4"}};
  const auto all = must(launcher->run(launches, AfterFailure::GoOn, {}));
  REQUIRE(all.size() == 2);
  CHECK(std::get<Exited>(all[0].outcome).status == 3);
  CHECK(std::get<Exited>(all[1].outcome).status == 4);
}

TEST_CASE("a program is looked for in the PATH of its own variables") {
  ProgramSpec spec;
  spec.words = {"sh", "-c", "exit 0"};
  spec.environment_changes = {"PATH=/nowhere"};
  const auto launcher = must(start_launcher());
  CHECK(launcher->add_program(spec).error().what == "sh: command not found");
  spec.environment_changes = {"PATH=/nowhere:/bin"};
  CHECK(launcher->add_program(spec).has_value());
}

TEST_CASE("what is captured is both outputs, in the order written") {
  const auto launcher = must(start_launcher());
  ProgramSpec spec = shell("echo first; echo second >&2; exit 3");
  spec.output.sink = OutputKind::Capture;
  run_once(*launcher, spec);
  CHECK(launcher->error_output_end() == "first\nsecond");
}

TEST_CASE("a program of another user has that user's ids and groups and no way back (needs root)") {
  if (geteuid() != 0) return skip("only root can become another user");
  ProgramSpec spec = shell(
      "test \"$(id -u)/$(id -g)/$(id -G)\" = '12345/23456/23456 34567' && test $HOME = /nowhere && "
      "grep -q '^Uid:.12345.12345.12345.12345' /proc/self/status");
  spec.user = User{12345, 23456, {23456, 34567}, "12345", "/nowhere"};
  spec.output.sink = OutputKind::Capture;
  CHECK(succeeded(run_once(spec).outcome));
}

TEST_CASE("without root no other user's program is started") {
  if (geteuid() == 0) return skip("root may");
  ProgramSpec spec = shell("");
  spec.user = User{12345, 12345, {12345}, "ann", "/"};
  CHECK_FALSE(must(start_launcher())->add_program(spec).has_value());
}

}  // namespace lauka::os
