#include "contract/program.h"

#include <string>

#include <doctest/doctest.h>

// --expect-output.

namespace lauka::contract {
namespace {

/// A command that prints `text`, and writes a line into `log`.
std::string prints(const std::string& text, const std::string& log) {
  return "sh -c 'echo run >> " + log + "; printf \"" + text + "\"'";
}

}  // namespace

TEST_CASE("a command that writes another output than the reference is refused before any timing") {
  const Folder folder;
  const std::string log = folder.file("log");
  const Said said = lauka({"-r5", "--expect-output", "same", "-n", "old", "-n", "new", "--",
                           prints("a\\nb\\nc\\n", log), prints("a\\nX\\nc\\nd\\n", log)});
  CHECK(said.status == 1);
  CHECK(said.err_has(
      "lauka: --expect-output: 'new' does not write what 'old' writes: line 2: expected 'b', got "
      "'X' (6 bytes expected, 8 written); mend it, or leave --expect-output out\n"));
  CHECK(said.out.empty());
  CHECK(lines_of(text_of(log)).size() == 2);
}

TEST_CASE("equal output costs no run but the first warm-up run, standard error is no part of it") {
  const Folder folder;
  const std::string log = folder.file("log");
  const Said said =
      lauka({"-r2", "-w1", "--expect-output", "same", "-p", "echo $LAUKA_ITERATION >> " + log, "--",
             "sh -c 'echo a; echo 1 >&2'", "sh -c 'echo 2 >&2; echo a'"});
  CAPTURE(said.err);
  CHECK(said.status == 0);
  CHECK(lines_of(text_of(log)).size() == 6);
  CHECK(lines_of(text_of(log))[1] == "warmup-0");
  CHECK(lauka({"-r1", "-w0", "--expect-output", "same", "-p", "echo again >> " + log, "--", "true",
               "sh -c :"})
            .status == 0);
  CHECK(lines_of(text_of(log)).size() == 10);
}

TEST_CASE("output is compared with a file or a hash, for all commands or each its own") {
  const Folder folder;
  const std::string file = folder.file("expected");
  REQUIRE(lauka({"-r1", "--output", file, "printf 'one\\n'"}).status == 0);
  const std::string hash =
      "sha256:2C8B08DA5CE60398E1F19AF0E5DCCC744DF274B826ABE585EABA68C525434806";
  CHECK(lauka({"-r1", "--expect-output", file, "--expect-output", hash, "--", "printf 'one\\n'",
               "echo one"})
            .status == 0);
  const Said wrong = lauka({"-r1", "--expect-output", hash, "--", "echo two"});
  CHECK(wrong.status == 1);
  CHECK(wrong.err_has("'echo two' writes 4 bytes with sha256:27dd8ed44a83ff94d557f9fd0412ed5a8"));
  CHECK(lauka({"-r1", "--expect-output", file, "--", "echo one", "printf one"})
            .err_has("line 1: expected 'one\\n', got 'one' (4 bytes expected, 3 written)"));
  CHECK(lauka({"-r1", "--expect-output", file, "--", "true"})
            .err_has("line 1: expected 'one', got the end"));
  CHECK(lauka({"-r1", "--expect-output", file, "--", "printf 'one\\ntwo'"})
            .err_has("line 2: expected the end, got 'two'"));
  for (const std::string& own : {file, hash})
    CHECK(lauka({"-r1", "--expect-output", own, "--expect-output", "same", "--", "echo one",
                 "echo two"})
              .err_has("'echo two' does not write what 'echo one' writes: line 1"));
}

TEST_CASE("each combination of parameters is compared with its own reference") {
  CHECK(lauka({"-r1", "-w0", "-L", "n", "1,2", "--expect-output", "same", "--", "echo {n}",
               "printf '{n}\\n'"})
            .status == 0);
  const Said said =
      lauka({"-r1", "-L", "n", "1,2", "--expect-output", "same", "--", "echo {n}", "echo 2"});
  CHECK(said.status == 1);
  CHECK(lauka({"-r1", "-L", "n", "1,2", "--expect-output", "same", "--", "sh -c 'echo a # {n}'"})
            .status == 0);
}

TEST_CASE("the compared run still writes where --output says, between its hooks") {
  const Folder folder;
  const std::string out = folder.file("out");
  const Said said = lauka({"-r1", "-w0", "--expect-output", "same", "--output", out, "-C",
                           "grep -q a " + out, "--", "sh -c 'echo a; echo e >&2'", "echo a"});
  CAPTURE(said.err);
  CHECK(said.status == 0);
  const Said shown = lauka({"-r1", "-w0", "-q", "--expect-output", "same", "--output", "inherit",
                            "--", "echo ab", "echo ab"});
  CHECK(shown.out == "ab\nab\nab\nab\n");
}

TEST_CASE("with setups each command is compared when its turn comes, before it is timed") {
  const Folder folder;
  const std::string log = folder.file("log");
  const Said said =
      lauka({"-r1", "-w1", "-s", "echo setup >> " + log, "-c", "echo cleanup >> " + log,
             "--expect-output", "same", "--", "echo a", "echo b"});
  CHECK(said.status == 1);
  CHECK(said.err_has("'echo b' does not write what 'echo a' writes"));
  CHECK(text_of(log) == "setup\ncleanup\nsetup\ncleanup\n");
}

TEST_CASE("what cannot be compared is refused with what to type instead") {
  const Folder folder;
  CHECK(lauka({"--expect-output", "same", "--", "true"}).status == 2);
  CHECK(lauka({"--expect-output", "sha256:12", "--", "true"}).err ==
        "lauka: --expect-output 'sha256:12' has no hash of 64 hexadecimal digits; sha256sum FILE "
        "prints it; write ./ before a file of that name\n");
  const Said none = lauka({"--expect-output", folder.file("none"), "--", "true"});
  CHECK(none.status == 2);
  CHECK(none.err_has("none' cannot be read: No such file or directory"));
  CHECK(lauka({"--expect-output", folder.path(), "--", "true"}).err_has("is no regular file"));
  CHECK(lauka({"--expect-output", "a", "--expect-output", "b", "--", "true"}).status == 2);
}

TEST_CASE("a difference far into a large output is found, and lauka does not hold it") {
  const std::string many =
      "sh -c 'i=0; while [ $i -lt 17 ]; do yes 0123456789abcde | head -c 4194304; i=$((i+1)); "
      "done; echo ";
  const Said said =
      lauka({"-r1", "-w0", "--expect-output", "same", "--", many + "a'", many + "b'"});
  CHECK(said.status == 1);
  CHECK(said.err_has("beyond the first 64 MB (71303170 bytes expected, 71303170 written)"));
}

}  // namespace lauka::contract
