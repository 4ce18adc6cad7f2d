#include "report/ending.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka::report {

TEST_CASE("a hook that failed is told with its command, its run and its output") {
  Session session;
  session.cut_short =
      HookFailed{HookKind::Prepare, 1, Step{1, 4, 0, false}, Exited{2}, "first\nsecond"};
  session.also_failed.push_back(HookFailed{HookKind::Cleanup, 0, {}, Signalled{9, false}, ""});
  CHECK(ending_lines(session, {"old", "new"}) ==
        "lauka: --prepare of 'new' (before run 5) exited with status 2; where that is all right, "
        "write '|| true' behind it\n"
        "  | first\n"
        "  | second\n"
        "lauka: --cleanup of 'old' was killed by SIGKILL; where that is all right, write '|| true' "
        "behind it\n");
}

TEST_CASE("the first reason comes first, and nothing is said where all went well") {
  Session session;
  CHECK(ending_lines(session, {"old"}).empty());
  session.cut_short = Interrupted{2};
  session.also_failed.push_back(
      HookFailed{HookKind::Conclude, 0, Step{0, 0, 0, true}, Exited{1}, ""});
  const std::string lines = ending_lines(session, {"old"});
  CHECK(lines.starts_with("lauka: interrupted by SIGINT\n"));
  CHECK(lines.find("--conclude of 'old' (after warm-up run 1) exited") != std::string::npos);
}

}  // namespace lauka::report
