#include "contract/program.h"

#include <string>

#include <doctest/doctest.h>

// --until.

namespace lauka::contract {

TEST_CASE("a run is over when a line of its output matches, on either stream, and has succeeded") {
  const Folder folder;
  const std::string csv = folder.file("r.csv");
  const Said said = completed("-r2 -w0 --until '^ready \\d+$' --export-csv " + csv,
                              {"sh -c 'echo starting; echo ready 1; exec sleep 30'",
                               "sh -c 'printf \"ready 2\\r\\n\" >&2; sleep 30'"});
  CHECK(has(text_of(csv), ",wall_time,"));
  CHECK(said.out_has("wall_time"));
}

TEST_CASE("what the run started is ended with it, also where SIGTERM is ignored") {
  const Folder folder;
  const std::string pids = folder.file("pids");
  completed("-r1 -w0 --until ready", {"sh -c 'sleep 30 & echo $! >> " + pids +
                                      "; trap \"\" TERM; (trap - TERM; "
                                      "exec sleep 31) & echo $! >> " +
                                      pids + "; echo ready; exit 0'"});
  for (const std::string& pid : lines_of(text_of(pids)))
    CHECK_FALSE(exists("/proc/" + pid + "/exe"));
}

TEST_CASE("a run that ends before its line has failed, and shows what it wrote last") {
  CHECK(has(failure({"-r2", "-w0", "-i", "--until", "ready", "--",
                     "sh -c 'echo one; echo two >&2; exit 3'"}),
            "exited with status 3 before a line of its output matched --until 'ready'; "
            "what it wrote last:\n  | one\n  | two\n"));
  const Said silent = lauka("-r1 -w0 --until ready", {"true"});
  CHECK(
      silent.err_has("exited with status 0 before a line of its output matched --until 'ready'; it "
                     "wrote nothing"));
  const std::string late =
      failure("-r1 -w0 --timeout 50ms --until ready", {"sh -c 'printf ready; sleep 30'"});
  CHECK(has(late, "took longer than 50ms and was killed before a line"));
  CHECK(has(late, "  | ready\n"));
}

TEST_CASE("output still goes where --output says") {
  const Folder folder;
  const std::string out = folder.file("out");
  const std::string command = "sh -c 'echo a; echo e >&2; echo ready; exec sleep 30'";
  completed("-r1 -w0 --until ready --output " + out, {command});
  CHECK(has(text_of(out), "a\n"));
  CHECK(has(text_of(out), "ready\n"));
  const Said shown = lauka("-r1 -w0 -q --until ready --show-output", {command});
  CHECK(shown.out == "a\nready\n");
  CHECK(shown.err == "e\n");
}

TEST_CASE("output without a line break, of NULs or without an end does no harm to --until") {
  completed("-r1 -w0 --until '^ready$'",
            {"sh -c 'head -c 30000000 /dev/zero; echo; echo ready; exec cat /dev/zero'"});
  CHECK(has(failure("-r1 -w0 --until '(a+)+$'",
                    {"sh -c 'echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab; sleep 30'"}),
            "--until '(a+)+$' takes too many steps"));
}

TEST_CASE("an interrupt ends a session that waits for a line") {
  Start start;
  start.arguments = {"-r1", "-w0", "--until", "ready", "--", "yes"};
  start.interrupt_after_ms = 300;
  CHECK(lauka(start).status == 130);
}

TEST_CASE("what --until does not go with is refused with the reason") {
  CHECK(lauka("--until '('", {"true"}).status == 2);
  CHECK(lauka("--until ''", {"true"}).status == 2);
  CHECK(
      lauka("--until a --scrape 'x=(a)'", {"true"}).err_has("--until reads output during the run"));
  CHECK(lauka("--until a --expect-output same", {"true", "true"})
            .err_has("no whole output to compare"));
}

}  // namespace lauka::contract
