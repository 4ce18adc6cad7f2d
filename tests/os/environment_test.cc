#include "os/process.h"
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

/// A fixture's own state is in files; this program reports its environment by its status.
Ended ended_with(const ProgramSpec& spec, const std::string& value = "") {
  auto launcher = start_launcher();
  REQUIRE(launcher.has_value());
  const auto id = (*launcher)->add_program(spec);
  if (!id) FAIL(id.error().line());
  const Launch launch{.program = *id, .value = value};
  auto all = (*launcher)->run({&launch, 1}, false, {});
  REQUIRE(all.has_value());
  return all->front();
}

ProgramSpec shell(const std::string& text) {
  ProgramSpec spec;
  spec.words = {"/bin/sh", "-c", text};
  return spec;
}

}  // namespace

TEST_CASE("a program's own variables replace lauka's, and appear once") {
  ProgramSpec spec = shell("");
  REQUIRE(setenv("LAUKA_TEST_OLD", "old", 1) == 0);  // NOLINT(concurrency-mt-unsafe): one thread
  spec.environment = {"LAUKA_TEST_OLD=new", "LAUKA_TEST_MORE=two words"};
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
  spec.environment = {"A=two words"};
  spec.launch_variable = "RUN";
  CHECK(succeeded(ended_with(spec, "7").outcome));
  CHECK_FALSE(succeeded(ended_with(spec, "8").outcome));
}

TEST_CASE("launches of one batch each have their own value") {
  auto launcher = start_launcher();
  REQUIRE(launcher.has_value());
  ProgramSpec spec = shell("exit $RUN");
  spec.launch_variable = "RUN";
  const auto id = (*launcher)->add_program(spec);
  REQUIRE(id.has_value());
  const std::vector<Launch> launches = {{.program = *id, .value = "3"},
                                        {.program = *id, .value = "4"}};
  const auto all = (*launcher)->run(launches, true, {});
  REQUIRE(all->size() == 2);
  CHECK(std::get<Exited>((*all)[0].outcome).status == 3);
  CHECK(std::get<Exited>((*all)[1].outcome).status == 4);
}

TEST_CASE("a program is looked for in the PATH of its own variables") {
  ProgramSpec spec;
  spec.words = {"sh", "-c", "exit 0"};
  spec.environment = {"PATH=/nowhere"};
  auto launcher = start_launcher();
  REQUIRE(launcher.has_value());
  const auto refused = (*launcher)->add_program(spec);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().what == "sh: command not found");
  spec.environment = {"PATH=/nowhere:/bin"};
  CHECK((*launcher)->add_program(spec).has_value());
}

TEST_CASE("what is captured is both outputs, in the order written") {
  auto launcher = start_launcher();
  REQUIRE(launcher.has_value());
  ProgramSpec spec = shell("echo first; echo second >&2; exit 3");
  spec.output.sink = Sink::Capture;
  const auto id = (*launcher)->add_program(spec);
  REQUIRE(id.has_value());
  const Launch launch{*id};
  REQUIRE((*launcher)->run({&launch, 1}, false, {}).has_value());
  CHECK((*launcher)->error_output_end() == "first\nsecond");
}

TEST_CASE("a program of another user has that user's ids and groups and no way back (needs root)") {
  if (geteuid() != 0) {
    skip("only root can become another user");
    return;
  }
  ProgramSpec spec = shell(
      "test \"$(id -u)/$(id -g)/$(id -G)\" = '12345/23456/23456 34567' && test $HOME = /nowhere && "
      "grep -q '^Uid:.12345.12345.12345.12345' /proc/self/status");
  spec.user = User{12345, 23456, {23456, 34567}, "12345", "/nowhere"};
  spec.output.sink = Sink::Capture;
  CHECK(succeeded(ended_with(spec).outcome));
}

TEST_CASE("without root no other user's program is started") {
  if (geteuid() == 0) {
    skip("root may");
    return;
  }
  ProgramSpec spec = shell("");
  spec.user = User{12345, 12345, {12345}, "ann", "/"};
  auto launcher = start_launcher();
  REQUIRE(launcher.has_value());
  CHECK_FALSE((*launcher)->add_program(spec).has_value());
}

}  // namespace lauka::os
