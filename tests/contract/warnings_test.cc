#include "contract/program.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

// Warnings go to standard error, and only for a reason.

namespace lauka::contract {
namespace {

/// A shell command that sleeps when it is run for the first time.
std::string slow_at_first(const Folder& folder) {
  const std::string marker = folder.file("has-run");
  return "sh -c 'test -e " + marker + " || { : > " + marker + "; sleep 0.4; }'";
}

std::vector<std::string> warnings_in(const Said& said) {
  std::vector<std::string> warnings;
  for (const std::string& line : lines_of(said.err)) {
    if (line.rfind("lauka: warning: ", 0) == 0) warnings.push_back(line);
  }
  return warnings;
}

bool warns_of_first_run(const Said& said) {
  return said.err_has("lauka: warning: 'it': the first run took ");
}

}  // namespace

TEST_CASE("a slow first run is warned of, on standard error only") {
  const Folder cold;
  const Said said = completed("-r8 -w0 -n it", {slow_at_first(cold)});
  CHECK(warns_of_first_run(said));
  CHECK(said.err_has("; use --warmup 1, unless cold starts are what you measure\n"));
  CHECK_FALSE(said.out_has("warning"));
}

TEST_CASE("a few runs of one command, which do not show its steadiness, have no warning") {
  const Said said = completed("-r4 -w1 -n it", {"sleep 0.1"});
  CHECK(warnings_in(said).empty());
}

TEST_CASE("in a terminal warnings are below the table") {
  const Folder cold;
  const Said said =
      lauka_in_terminal({"-r8", "-w0", "--no-progress", "-n", "it", "--", slow_at_first(cold)}, 0);
  const std::size_t warning = said.out.find("lauka: warning: 'it': the first run took ");
  REQUIRE(warning != std::string::npos);
  CHECK(said.out.find("wall_time") < warning);
}

TEST_CASE(
    "too few runs and a sequential order are warned of once, whatever the number of commands") {
  const std::string tiny = fixture("tiny");
  const Said said = lauka("-r2 --order sequential", {tiny, tiny, tiny});
  CAPTURE(said.err);
  auto warnings = warnings_in(said);
  std::erase_if(warnings, [](const std::string& warning) {
    return has(warning, "the machine is busy");  // as it may be
  });
  CHECK(
      warnings ==
      std::vector<std::string>{
          "lauka: warning: 2 runs per command say little about a difference; use --runs 10 or more",
          "lauka: warning: the commands were run one after the other, so deltas include the "
          "drift of the machine; --order random compares runs of the same round"});
}

TEST_CASE("the division of CPU time is warned of where its rows are shown") {
  const auto says = [](std::vector<std::string> options) {
    options.insert(options.end(), {"-r3", "-n", "it", "--", fixture("tiny")});
    return lauka(options).err_has("'it': user_time and system_time are estimates, ");
  };
  CHECK(says({"-v"}));
  CHECK(says({"--metrics", "all"}));
  CHECK(says({"--metrics", "time"}));
  CHECK_FALSE(says({}));
}

}  // namespace lauka::contract
