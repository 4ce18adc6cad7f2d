#include "contract/program.h"

#include <string>

#include <doctest/doctest.h>

// Warnings go to standard error, and only for a reason.

namespace lauka::contract {
namespace {

/// A shell command that sleeps when it is run for the first time.
std::string slow_at_first(const Folder& folder) {
  const std::string marker = folder.file("has-run");
  return "sh -c 'test -e " + marker + " || { : > " + marker + "; sleep 0.4; }'";
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

TEST_CASE("in a terminal warnings are below the table") {
  const Folder cold;
  const Said said =
      lauka_in_terminal({"-r8", "-w0", "--no-progress", "-n", "it", "--", slow_at_first(cold)}, 0);
  const std::size_t warning = said.out.find("lauka: warning: 'it': the first run took ");
  REQUIRE(warning != std::string::npos);
  CHECK(said.out.find("wall_time") < warning);
}

}  // namespace lauka::contract
