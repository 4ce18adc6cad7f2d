#include "contract/program.h"
#include "contract/valgrind.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

// Functions of --engine cachegrind with the real Valgrind, if installed.

namespace lauka::contract {

TEST_CASE("a change is in the function that makes it, also of a saved session") {
  if (!has_valgrind()) return;
  const Folder folder;
  const std::string file = folder.file("out.json");
  const Said said = lauka(
      "--engine cachegrind -e instructions --metrics instructions --functions=3 "
      "--fail-if 'instructions > 1' --export-json " +
          file,
      {"ls /", "ls -l /"});
  CHECK(said.status == 3);
  CHECK(said.out_has("\ninstructions by function"));
  CHECK(said.out_has(" other functions)"));
  CHECK(said.out_has("\n(total) "));
  CHECK(said.out_has("instructions > 1%: fail: "));
  const Said again =
      lauka({"--from", file, "--functions=3", "--fail-if", "instructions@malloc > -99.9"});
  CHECK(again.out_has("\ninstructions by function"));
  CHECK(again.out_has("instructions@malloc > -99.9%: "));
  const Said none = lauka({"--from", file, "--fail-if", "instructions@no_such_function > 1"});
  CHECK(none.status == 2);
  CHECK(none.err_has("'no_such_function'"));
}

TEST_CASE("commands that are compared with a baseline each have their own reference's functions") {
  if (!has_valgrind()) return;
  const Folder folder;
  const std::string file = folder.file("base.json");
  const std::vector<std::string> commands = {"ls /", "true"};
  completed("-q --engine cachegrind --metrics instructions --export-json " + file, commands);
  const Said said =
      lauka("-q --engine cachegrind --metrics instructions --functions=9 --baseline " + file +
                " --export-markdown -",
            commands);
  CHECK(said.status == 0);
  const std::string heading =
      "| function | ls / | ls / | difference | of the reference | true | true |";
  CHECK_MESSAGE(said.out_has(heading), said.out);
}

TEST_CASE("a function with several names is one row, known to gates by each of them") {
  if (!has_valgrind()) return;
  if (lauka({"-q", "-r1", "-w0", "--profile", "true"}).err_has("without elfutils"))
    return skip("this lauka was built without elfutils or libiberty");
  const std::string aliased = fixture("aliased") + " 100000";
  const Said said = lauka(
      "--engine cachegrind -e instructions --metrics instructions --functions='fold' "
      "--fail-if 'instructions@fold > 1' --fail-if 'instructions@fold_other > 1' "
      "--fail-if 'instructions@_fold_internal > 1'",
      {aliased, aliased});
  CHECK(said.status == 0);
  CHECK_MESSAGE(said.out_has("\nfold = fold_old and 1 more "), said.out);
}

TEST_CASE("a function that has other names in one of two builds is the same function") {
  if (!has_valgrind()) return;
  const Said said =
      lauka("--engine cachegrind -e instructions --metrics instructions --functions='fold'",
            {fixture("renamed") + " 100000", fixture("aliased") + " 100000"});
  CHECK(said.status == 0);
  CHECK(said.out_has("\nfold_old"));
  CHECK_FALSE(said.out_has(", new"));
  CHECK_FALSE(said.out_has(", gone"));
}

TEST_CASE("a gate on a function that no command has ends after the first simulated runs") {
  if (!has_valgrind()) return;
  const Said said = lauka("--engine cachegrind -e instructions --fail-if 'instructions@exi > 1'",
                          {"true", "true"});
  CHECK(said.status == 1);
  CHECK(said.err_has("'exi'"));
  CHECK(said.out_has("Benchmark 1"));  // what was measured is not lost
}

}  // namespace lauka::contract
