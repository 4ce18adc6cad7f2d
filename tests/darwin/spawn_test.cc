#include "darwin/driver.h"
#include "darwin/folder.h"
#include "fakes/darwin/programs.h"
#include "os/descriptor.h"
#include "os/spawning_launcher.h"
#include "skip.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

// NOLINTNEXTLINE: POSIX wants this global declared by whoever uses it
extern char** environ;

// What the launcher of macOS asks posix_spawn for.

namespace lauka::os {
namespace {

/// The last request, copied: what it points to is gone when the run is over.
struct Asked {
  bool own_environment = false;
  std::vector<std::string> environment{};
  std::optional<User> user{};
  bool same_output = false;
  bool closes_others = false;
  std::vector<int> inherited{};
};

// A table of calls is made of plain functions, which reach what they write down in no other way.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
Asked asked;
const DarwinCalls* model_calls = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

int spawn_and_note(const SpawnRequest& request, pid_t* pid) {
  asked = Asked{};
  asked.own_environment = request.environment == environ;
  for (char* const* variable = request.environment; *variable != nullptr; ++variable)
    asked.environment.emplace_back(*variable);
  if (request.identity != nullptr) {
    const SpawnIdentity& identity = *request.identity;
    asked.user = User{identity.user,
                      identity.group,
                      {identity.groups, identity.groups + identity.group_count},
                      "",
                      ""};
  }
  asked.same_output = request.output == request.error;
  asked.closes_others = (request.flags & 0x4000U) != 0;  // POSIX_SPAWN_CLOEXEC_DEFAULT
  asked.inherited = {request.inherited, request.inherited + request.inherited_count};
  return model_calls->spawn(request, pid);
}

struct SpawnBench {
  SpawnBench() : driver(darwin::machine("m1"), {}) {
    driver.host.kernel.load = darwin::loader_of_files();
    model_calls = &driver.calls;
    calls = driver.calls;
    calls.spawn = &spawn_and_note;
    auto started = start_spawning_launcher(calls);
    REQUIRE(started.has_value());
    launcher = *std::move(started);
    spec.words = {folder.program("work", "run 1ms")};
  }

  Ended run(const std::string& value = "") {
    const auto id = launcher->add_program(spec);
    if (!id) FAIL(id.error().line());
    const Launch launch{.program = *id, .value = value};
    const auto all = launcher->run({&launch, 1}, false, {});
    REQUIRE(all->size() == 1);
    return all->front();
  }

  darwin::Driver driver;
  darwin::Folder folder;
  DarwinCalls calls{};
  std::unique_ptr<Launcher> launcher;
  ProgramSpec spec;
};

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::count(all.begin(), all.end(), one) == 1;
}

}  // namespace

TEST_CASE("macOS: a command gets lauka's own environment as it is, unless something is set") {
  SpawnBench bench;
  CHECK(succeeded(bench.run().outcome));
  CHECK(asked.own_environment);
  bench.spec.environment = {"A=two words"};
  bench.spec.launch_variable = "RUN";
  CHECK(succeeded(bench.run("warmup-0").outcome));
  CHECK(has(asked.environment, "A=two words"));
  CHECK(has(asked.environment, "RUN=warmup-0"));
  CHECK_FALSE(asked.user.has_value());
}

TEST_CASE("macOS: what is captured is both outputs") {
  SpawnBench bench;
  bench.spec.output.sink = Sink::Capture;
  CHECK(succeeded(bench.run().outcome));
  CHECK(asked.same_output);
}

TEST_CASE("macOS: a command inherits what lauka was started with, and nothing of lauka's own") {
  const Descriptor given(dup(STDIN_FILENO));
  SpawnBench bench;
  const Descriptor own(dup(STDIN_FILENO));
  CHECK(succeeded(bench.run().outcome));
  CHECK(asked.closes_others);
  CHECK(std::count(asked.inherited.begin(), asked.inherited.end(), given.get()) == 1);
  CHECK(std::count(asked.inherited.begin(), asked.inherited.end(), own.get()) == 0);
}

TEST_CASE("macOS: of more than 16 groups a command gets the first 16 (needs root)") {
  if (geteuid() != 0) {
    skip("only root can become another user");
    return;
  }
  SpawnBench bench;
  REQUIRE(chmod(bench.folder.file("").c_str(), 0755) == 0);
  bench.spec.user = User{54321, 100, {}, "somebody", "/nowhere"};
  for (std::uint32_t group = 100; group < 119; ++group) bench.spec.user->groups.push_back(group);
  CHECK(succeeded(bench.run().outcome));
  REQUIRE(asked.user.has_value());
  CHECK(asked.user->groups == std::vector<std::uint32_t>{100, 101, 102, 103, 104, 105, 106, 107,
                                                         108, 109, 110, 111, 112, 113, 114, 115});
}

TEST_CASE("macOS: a command of another user is spawned with that user's ids (needs root)") {
  if (geteuid() != 0) {
    skip("only root can become another user");
    return;
  }
  SpawnBench bench;
  REQUIRE(chmod(bench.folder.file("").c_str(), 0755) == 0);
  bench.spec.user = User{54321, 54322, {54322, 7}, "somebody", "/nowhere"};
  CHECK(succeeded(bench.run().outcome));
  REQUIRE(asked.user.has_value());
  CHECK(asked.user->id == 54321);
  CHECK(asked.user->group == 54322);
  CHECK(asked.user->groups == std::vector<std::uint32_t>{54322, 7});
  CHECK(has(asked.environment, "HOME=/nowhere"));
  CHECK(has(asked.environment, "LOGNAME=somebody"));
  CHECK(geteuid() == 0);
}

}  // namespace lauka::os
