#include "inquire/answers.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka::inquire {
namespace {

using cores::ThreadPart;
using cores::Threads;

ThreadPart part(double user, double system, std::uint64_t cycles, std::uint64_t instructions) {
  return {user, system, std::nullopt, cycles, instructions};
}

}  // namespace

// The rows are those of the article on thread-counters.
TEST_CASE(
    "threads are shown with times, cycles, instructions and IPC by kind of core, and totals") {
  Threads threads;
  threads.columns = {{"PERFORMANCE", true, false, true}, {"EFFICIENCY", true, false, true}};
  threads.lines = {
      {12801,
       "",
       0,
       {part(1268.98, 240.38, 4326344607684, 7641724509498),
        part(624.59, 249.13, 1555603231945, 1082602205470)}},
      {12826,
       "com.apple.NSEventThread",
       0,
       {part(34.08, 27.24, 151211531442, 167413362041),
        part(36.63, 53.61, 152207562562, 82421607487)}},
      {49215,
       "caulk.messenger.shared:high",
       0,
       {part(0.0, 0.0, 7387, 16106), part(0.0, 0.0, 0, 0)}},
  };
  CHECK(
      threads_table(threads) ==
      R"(        |                      PERFORMANCE                      |                      EFFICIENCY                       |
    TID |      usr      sys          cycles           insns IPC |      usr      sys          cycles           insns IPC |
  12801 |  1268.98   240.38   4326344607684   7641724509498 1.8 |   624.59   249.13   1555603231945   1082602205470 0.7 |
  12826 |    34.08    27.24    151211531442    167413362041 1.1 |    36.63    53.61    152207562562     82421607487 0.5 | com.apple.NSEventThread
  49215 |     0.00     0.00            7387           16106 2.2 |     0.00     0.00               0               0 0.0 | caulk.messenger.shared:high
  total |  1303.06   267.62   4477556146513   7809137887645 1.7 |   661.22   302.74   1707810794507   1165023812957 0.7 | 3 threads
)");
}

TEST_CASE("what is not known is a dash, and adds nothing to the total") {
  Threads threads;
  threads.columns = {{"ALL", true, false, false}, {"P", false, true, false}};
  threads.lines = {{7, "a\x1b[2Jb", 0, {{}, {std::nullopt, std::nullopt, 0.25}}},
                   {8, "", 0, {part(1.0, 0.5, 0, 0), {}}}};
  const std::string text = threads_table(threads);
  CHECK(text.find("      7 |        -        - |     0.25 |") != std::string::npos);
  CHECK(text.find("      8 |     1.00     0.50 |        - |") != std::string::npos);
  CHECK(text.find("  total |     1.00     0.50 |     0.25 | 2 threads") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
}

}  // namespace lauka::inquire
