#include "run/program_facts.h"

#include "core/text.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

/// The program that is finally run, as a shell takes its words; "unknown".
std::string final_of(const std::string& command) {
  const auto words = split_words(command);
  REQUIRE(words);
  const auto found = find_final_program({.words = *words});
  return found ? shell_quoted(found->words) : "unknown";
}

}  // namespace

TEST_CASE("programs that only change how another one is run are looked through") {
  CHECK(final_of("./prog -n 5") == "./prog -n 5");
  CHECK(final_of("nice ./prog") == "./prog");
  CHECK(final_of("nice -n5 ./prog -x") == "./prog -x");
  CHECK(final_of("nice -n 5 ./prog") == "./prog");
  CHECK(final_of("nice -5 ./prog") == "./prog");
  CHECK(final_of("nice --adjustment=5 ./prog") == "./prog");
  CHECK(final_of("/usr/bin/nice --adjustment 5 -- ./prog") == "./prog");
  CHECK(final_of("taskset -c 1 ./prog 2") == "./prog 2");
  CHECK(final_of("taskset 0x3 ./prog") == "./prog");
  CHECK(final_of("chrt -b 0 taskset -ac 0-3 ./prog") == "./prog");
  CHECK(final_of("timeout -k 5 -s INT 10 ./prog") == "./prog");
  CHECK(final_of("env A=1 B=2 ./prog C=3") == "./prog C=3");
  CHECK(final_of("env -u A -C /tmp nohup ./prog") == "./prog");
}

TEST_CASE("what a wrapper runs is unknown if it runs nothing, or splits a word itself") {
  CHECK(final_of("nice") == "unknown");
  CHECK(final_of("env A=1") == "unknown");
  CHECK(final_of("taskset 1") == "unknown");
  CHECK(final_of("env -S './prog a'") == "unknown");
  CHECK(final_of("env --split-string='./prog a'") == "unknown");
}

TEST_CASE("env changes the environment and the folder of the program") {
  const auto found = find_final_program(
      {{"env", "-u", "B", "--chdir=in", "C=3", "A=2", "./prog"}, {"A=1", "B=1", "D=1"}, "here"});
  REQUIRE(found);
  std::vector<std::string> environment = found->environment;
  std::ranges::sort(environment);
  CHECK(environment == std::vector<std::string>{"A=2", "C=3", "D=1"});
  CHECK(found->folder == "here/in");

  const auto alone = find_final_program({{"env", "-i", "C=3", "./prog"}, {"A=1"}, ""});
  REQUIRE(alone);
  CHECK(alone->environment == std::vector<std::string>{"C=3"});
}

TEST_CASE("the libraries that a dynamic loader lists have names and files") {
  // As glibc 2.36 and musl 1.2 print it.
  const auto of_glibc = parse_libraries(
      "\tlinux-vdso.so.1 (0x00007faf2053d000)\n"
      "\t/opt/own/pre load.so (0x00007faf20511000)\n"
      "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007faf20425000)\n"
      "\tlibgone.so => not found\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007faf2053f000)\n");
  CHECK(of_glibc == std::map<std::string, std::string>{
                        {"pre load.so", "/opt/own/pre load.so"},
                        {"libm.so.6", "/lib/x86_64-linux-gnu/libm.so.6"},
                        {"ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2"}});
  const auto of_musl = parse_libraries(
      "\t/lib/ld-musl-x86_64.so.1 (0x7f3c2a9f5000)\n"
      "\tlibc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f3c2a9f5000)\n");
  CHECK(of_musl ==
        std::map<std::string, std::string>{{"ld-musl-x86_64.so.1", "/lib/ld-musl-x86_64.so.1"},
                                           {"libc.musl-x86_64.so.1", "/lib/ld-musl-x86_64.so.1"}});
}

TEST_CASE("values are stored of variables that change how a program is linked, allocates or runs") {
  for (const char* name : {"LD_PRELOAD", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX",
                           "OMP_NUM_THREADS", "LANG", "LC_ALL"})
    CHECK_MESSAGE(is_value_stored(name), name);
  for (const char* name : {"AWS_SECRET_ACCESS_KEY", "PATH", "LANGUAGE", "MY_LD_PRELOAD",
                           "GLIBC_TUNABLES_TOKEN", "OMP"})
    CHECK_FALSE_MESSAGE(is_value_stored(name), name);
}

TEST_CASE("a program that several commands run is looked at once for each environment") {
  Plan plan;
  plan.commands = {{"plain", "", {"/bin/true"}},
                   {"with an argument", "", {"/bin/true", "x"}},
                   {"in another environment", "", {"env", "LC_ALL=nosuch", "/bin/true"}}};
  const std::optional<User> same_user;
  const std::function<int()> no_interrupt = [] { return 0; };
  const ReadContext reader{same_user, no_interrupt};
  KnownPrograms known;
  const SettingValues plain = look_at_program(plan, 0, reader, known);
  CHECK(plain[SettingKind::TextSize].has_value());
  CHECK(look_at_program(plan, 1, reader, known) == plain);
  CHECK(known.size() == 1);
  CHECK(look_at_program(plan, 2, reader, known)[SettingKind::Variables] !=
        plain[SettingKind::Variables]);
  CHECK(known.size() == 2);
}

TEST_CASE("the state of a process becomes settings in words") {
  const SettingValues values = settings_of_process({.nice = 5,
                                                    .scheduling_policy = "batch",
                                                    .cpus = {0, 1, 2, 8},
                                                    .limits = {{"stack", 8192}, {"cpu", {}}}});
  CHECK(values[SettingKind::Nice] == "5");
  CHECK(values[SettingKind::SchedulingPolicy] == "batch");
  CHECK(values[SettingKind::Affinity] == "0-2,8");
  CHECK(values[SettingKind::Limits] == "stack=8192 cpu=unlimited");
  CHECK_FALSE(values[SettingKind::Libraries]);
}

}  // namespace lauka
