#include "has.h"
#include "report/lines.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

/// The lines about a session that ended so, of a first timed run where it failed.
std::string lines_of(std::optional<CutShort> cut_short, const std::string& name,
                     std::size_t width = 0) {
  Session session;
  session.cut_short = std::move(cut_short);
  return ending_lines(session, {name}, width);
}

RunFailed failed(Outcome outcome, std::string written = "", std::string until = "") {
  return {Step{0, 0, 0, RoundKind::Timed}, outcome, std::move(written), std::move(until)};
}

}  // namespace

TEST_CASE("a failed hook is reported with its command, its run and its output") {
  Session session;
  session.cut_short =
      HookFailed{HookKind::Prepare, 1, Step{1, 4, 0, RoundKind::Timed}, Exited{2}, "first\nsecond"};
  session.also_failed.push_back(HookFailed{HookKind::Cleanup, 0, {}, Signalled{9, false}, ""});
  CHECK(ending_lines(session, {"old", "new"}) ==
        "lauka: --prepare of 'new' (before run 5) exited with status 2; append '|| true' "
        "to ignore that\n"
        "  | first\n"
        "  | second\n"
        "lauka: --cleanup of 'old' was killed by SIGKILL; append '|| true' to ignore that\n");
}

TEST_CASE("the first reason comes first, and nothing is said where all went well") {
  CHECK(lines_of({}, "old").empty());
  Session session;
  session.cut_short = Interrupted{2};
  session.also_failed.push_back(
      HookFailed{HookKind::Conclude, 0, Step{0, 0, 0, RoundKind::Warmup}, Exited{1}, ""});
  const std::string lines = ending_lines(session, {"old"});
  CHECK(
      lines.starts_with("lauka: interrupted by SIGINT; no timed run of 'old' ended: use "
                        "--timeout or --until\n"));
  CHECK(has(lines, "--conclude of 'old' (after warm-up run 1) exited"));
}

TEST_CASE("what a failed run wrote is shown line by line, with nothing in it that steers") {
  CHECK(lines_of(failed(Exited{1}, "10%\r\x1b[2Jb\n\xff"), "a\nb") ==
        "lauka: run 1 of 'a\\nb' exited with status 1; use -i to ignore failures\n"
        "  | 10%\\x0d\\x1b[2Jb\n"
        "  | \\xff\n");
}

TEST_CASE("the reason is broken between words at the terminal's width, what a run wrote is not") {
  CHECK(lines_of(failed(Exited{2}, "one line that is as long as it was"), "ls /none", 30) ==
        "lauka: run 1 of 'ls /none'\n"
        "  exited with status 2; use -i\n"
        "  to ignore failures\n"
        "  | one line that is as long as it was\n");
}

TEST_CASE("a status that is an answer is explained, with what accepts it alone") {
  CHECK(lines_of(failed(Exited{1}), "/bin/grep aa f") ==
        "lauka: run 1 of '/bin/grep aa f' exited with status 1; 1 means no match for grep: use "
        "-i=1\n");
  CHECK(lines_of(failed(Exited{2}), "grep aa f").ends_with("use -i to ignore failures\n"));
}

TEST_CASE("an interruption after a run is reported without a remedy") {
  Session session;
  session.cut_short = Interrupted{2};
  session.runs.push_back(RunRecord{});
  CHECK(ending_lines(session, {"old"}) == "lauka: interrupted by SIGINT\n");
}

TEST_CASE("-i is not offered where a process could not be killed") {
  CHECK_FALSE(has(lines_of(failed(TimedOut{std::chrono::seconds(1), true, 7}), "a"), "use -i"));
}

TEST_CASE(
    "a run that ended before its line is reported with the expression, and cannot be ignored") {
  CHECK(lines_of(failed(Exited{1}, "a\nb\x1b", "rea(dy"), "x") ==
        "lauka: run 1 of 'x' exited with status 1 before a line of its output matched --until "
        "'rea(dy'; what it wrote last:\n"
        "  | a\n"
        "  | b\\x1b\n");
  CHECK(lines_of(failed(Exited{0}, "", "x"), "x").ends_with("--until 'x'; it wrote nothing\n"));
}

}  // namespace lauka::report
