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
  const Said said = lauka("-r5 --expect-output same -n old -n new",
                          {prints("a\\nb\\nc\\n", log), prints("a\\nX\\nc\\nd\\n", log)});
  CHECK(said.status == 1);
  CHECK(said.err_has(
      "lauka: --expect-output: 'new' does not write what 'old' writes: line 2: expected 'b', got "
      "'X' (6 bytes expected, 8 written); correct the command, or leave out --expect-output\n"));
  CHECK(said.out.empty());
  CHECK(lines_of(text_of(log)).size() == 2);
}

TEST_CASE("equal output costs no run but the first warm-up run, standard error is no part of it") {
  const Folder folder;
  const std::string log = folder.file("log");
  completed({"-r2", "-w1", "--expect-output", "same", "-p", "echo $LAUKA_ITERATION >> " + log, "--",
             "sh -c 'echo a; echo 1 >&2'", "sh -c 'echo 2 >&2; echo a'"});
  CHECK(lines_of(text_of(log)).size() == 6);
  CHECK(lines_of(text_of(log))[1] == "warmup-0");
  completed({"-r1", "-w0", "--expect-output", "same", "-p", "echo again >> " + log, "--", "true",
             "sh -c :"});
  CHECK(lines_of(text_of(log)).size() == 10);
}

TEST_CASE("output is compared with a file or a hash, for all commands or each its own") {
  const Folder folder;
  const std::string file = folder.file("expected");
  completed({"-r1", "--output", file, "printf 'one\\n'"});
  const std::string hash =
      "sha256:2C8B08DA5CE60398E1F19AF0E5DCCC744DF274B826ABE585EABA68C525434806";
  completed("-r1 --expect-output " + file + " --expect-output " + hash,
            {"printf 'one\\n'", "echo one"});
  CHECK(has(failure("-r1 --expect-output " + hash, {"echo two"}),
            "sha256:27dd8ed44a83ff94d557f9fd0412ed5a8"));
  CHECK(lauka("-r1 --expect-output " + file, {"echo one", "printf one"}).err_has("line 1"));
  for (const std::string& own : {file, hash}) {
    const std::string said =
        failure("-r1 --expect-output " + own + " --expect-output same", {"echo one", "echo two"});
    CHECK_MESSAGE(has(said, "'echo two'"), said);
    CHECK_MESSAGE(has(said, "line 1"), said);
  }
}

TEST_CASE("a command that writes to its file of expected output is compared with the earlier one") {
  const Folder folder;
  const std::string file = folder.file("expected");
  completed({"-r1", "--output", file, "echo one"});
  const std::string said =
      failure("-r1 --expect-output " + file, {"sh -c 'echo two; echo two >" + file + "'"});
  CHECK_MESSAGE(has(said, "line 1"), said);
  CHECK_MESSAGE(has(said, "'two'"), said);
}

TEST_CASE("each combination of parameters is compared with its own reference") {
  completed("-r1 -w0 -L n 1,2 --expect-output same", {"echo {n}", "printf '{n}\\n'"});
  CHECK(has(failure("-r1 -L n 1,2 --expect-output same", {"echo {n}", "echo 2"}), "line 1"));
  completed("-r1 -L n 1,2 --expect-output same", {"sh -c 'echo a # {n}'"});
}

TEST_CASE("the compared run still writes where --output says, between its hooks") {
  const Folder folder;
  const std::string out = folder.file("out");
  completed({"-r1", "-w0", "--expect-output", "same", "--output", out, "-C", "grep -q a " + out,
             "--", "sh -c 'echo a; echo e >&2'", "echo a"});
  const Said shown =
      lauka("-r1 -w0 -q --expect-output same --output inherit", {"echo ab", "echo ab"});
  CHECK(shown.out == "ab\nab\nab\nab\n");
}

TEST_CASE("with setups each command is compared when its turn comes, before it is timed") {
  const Folder folder;
  const std::string log = folder.file("log");
  CHECK(has(failure({"-r1", "-w1", "-s", "echo setup >> " + log, "-c", "echo cleanup >> " + log,
                     "--expect-output", "same", "--", "echo a", "echo b"}),
            "'echo b'"));
  CHECK(text_of(log) == "setup\ncleanup\nsetup\ncleanup\n");
}

TEST_CASE("what cannot be compared is refused with what to type instead") {
  const Folder folder;
  CHECK(lauka("--expect-output same", {"true"}).status == 2);
  CHECK(lauka("--expect-output sha256:12", {"true"}).err ==
        "lauka: --expect-output 'sha256:12' has no hash of 64 hexadecimal digits; sha256sum FILE "
        "prints the hash; if you mean a file of this name, write ./ before it\n");
  for (const std::string& file : {folder.file("none"), folder.path()})
    CHECK(has(refusal("--expect-output " + file, {"true"}), "'" + file + "'"));
  CHECK(lauka("--expect-output a --expect-output b", {"true"}).status == 2);
}

TEST_CASE("a difference far into a large output is found, and lauka does not hold it") {
  const std::string many =
      "sh -c 'i=0; while [ $i -lt 17 ]; do yes 0123456789abcde | head -c 4194304; i=$((i+1)); "
      "done; echo ";
  CHECK(has(failure("-r1 -w0 --expect-output same", {many + "a'", many + "b'"}), "64 MB"));
}

// --until.

TEST_CASE("a run is over when a line of its output matches, on either stream, and has succeeded") {
  const Folder folder;
  const std::string csv = folder.file("r.csv");
  const Said said = completed("-r2 -w0 --until '^ready \\d+$' --export-csv " + csv,
                              {"sh -c 'echo starting; echo ready 1; exec sleep 600'",
                               "sh -c 'printf \"ready 2\\r\\n\" >&2; sleep 600'"});
  CHECK(has(text_of(csv), ",wall_time,"));
  CHECK(said.out_has("wall_time"));
}

TEST_CASE("what the run started is ended with it, also where SIGTERM is ignored") {
  const Folder folder;
  const std::string pids = folder.file("pids");
  completed("-r1 -w0 --until ready", {"sh -c 'sleep 600 & echo $! >> " + pids +
                                      "; trap \"\" TERM; (trap - TERM; "
                                      "exec sleep 601) & echo $! >> " +
                                      pids + "; echo ready; exit 0'"});
  const auto started = lines_of(text_of(pids));
  CHECK(started.size() == 2);
  for (const std::string& pid : started) CHECK_MESSAGE(has_ended(pid), pid);
}

TEST_CASE("a run that ends before its line has failed, and shows what it wrote last") {
  const std::string failed = failure(
      {"-r2", "-w0", "-i", "--until", "ready", "--", "sh -c 'echo one; echo two >&2; exit 3'"});
  for (const char* part : {"status 3", "--until 'ready'", "  | one\n  | two\n"})
    CHECK_MESSAGE(has(failed, part), part);
  const std::string silent = failure("-r1 -w0 --until ready", {"true"});
  CHECK(has(silent, "status 0"));
  CHECK_FALSE(has(silent, "  | "));
  // In a short time a slow machine may not even have begun it.
  std::string late;
  for (const char* limit : {"50ms", "500ms", "5s", "50s"}) {
    late = failure(std::string("-r1 -w0 --timeout ") + limit + " --until ready",
                   {"sh -c 'printf ready; sleep 600'"});
    CHECK(has(late, limit));
    if (has(late, "  | ready\n")) break;
  }
  CHECK(has(late, "  | ready\n"));
}

TEST_CASE("output still goes where --output says") {
  const Folder folder;
  const std::string out = folder.file("out");
  const std::string command = "sh -c 'echo a; echo e >&2; echo ready; exec sleep 600'";
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
                    {"sh -c 'echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab; sleep 600'"}),
            "--until '(a+)+$'"));
}

TEST_CASE("an interrupt ends a session that waits for a line") {
  const Folder folder;
  const std::string begun = folder.file("begun");
  CHECK(lauka({.arguments =
                   words("-r1 -w0 --until ready", {"sh -c 'echo >> " + begun + "; exec yes'"}),
               .interrupt_when = [&] { return has_lines(begun, 1); }})
            .status == 130);
}

TEST_CASE("what --until does not go with is refused with the reason") {
  CHECK(lauka("--until '('", {"true"}).status == 2);
  CHECK(lauka("--until ''", {"true"}).status == 2);
  CHECK(has(refusal("--until a --scrape 'x=(a)'", {"true"}), "--scrape"));
  CHECK(has(refusal("--until a --expect-output same", {"true", "true"}), "--expect-output"));
}

}  // namespace lauka::contract
