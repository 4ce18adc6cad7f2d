#include "inquire/answers.h"

#include <doctest/doctest.h>

namespace lauka::inquire {
namespace {

TEST_CASE("one pass is drawn counter by counter, idle ones too") {
  const Explanation explanation{
      {{{"PMC2", ""}, {"PMC7", "inst_all", "INST_ALL, which may use PMC7"}}}, {}, {}};
  CHECK(explain_events(explanation) ==
        "1 pass: every run counts all of these\n"
        "  PMC2  -\n"
        "  PMC7  inst_all  INST_ALL, which may use PMC7\n");
}

TEST_CASE("several passes are drawn one after the other, with the reason") {
  const Explanation explanation{{{{"PMC7", "inst_all"}}, {{"PMC7", "inst_ldst"}}},
                                "inst_all and inst_ldst compete for PMC7",
                                {"not counted: a"}};
  CHECK(explain_events(explanation) ==
        "not counted: a\n"
        "2 passes: the runs take turns, and each run counts the events of one pass\n"
        "fewer are not possible: inst_all and inst_ldst compete for PMC7\n"
        "\n"
        "pass 1\n"
        "  PMC7  inst_all\n"
        "\n"
        "pass 2\n"
        "  PMC7  inst_ldst\n");
}

TEST_CASE("an engine that leaves the counters to the kernel shows none") {
  CHECK(explain_events({{{{"", "page-faults", "pages"}}}, {}, {}}) ==
        "1 pass: every run counts all of these\n"
        "  page-faults  pages\n");
}

TEST_CASE("no events are reported as that") {
  CHECK(explain_events({}) == "no events to count\n");
}

}  // namespace
}  // namespace lauka::inquire
