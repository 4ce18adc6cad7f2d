#include "inquire/answers.h"

#include <algorithm>
#include <sstream>

#include <doctest/doctest.h>

namespace lauka::inquire {
namespace {

Catalog small_catalog() {
  return {{"cpu-cycles", "cycles", "cpu", "cycles in which the core was at work"},
          {"L1-dcache-load-misses", "l1d-cache-misses", "cpu",
           "first-level data cache: loads that miss (event=0x51,umask=0x1)"},
          {"task-clock", "", "software", "CPU time in nanoseconds"}};
}

}  // namespace

TEST_CASE("in a pipe each event is one line, whatever its length") {
  CHECK(list_events(small_catalog(), "", 0) ==
        "event                  alias             counters  description\n"
        "cpu-cycles             cycles            cpu       cycles in which the core was at work\n"
        "L1-dcache-load-misses  l1d-cache-misses  cpu       first-level data cache: loads that "
        "miss (event=0x51,umask=0x1)\n"
        "task-clock                               software  CPU time in nanoseconds\n");
}

TEST_CASE("on a terminal descriptions are wrapped into their column") {
  CHECK(list_events(small_catalog(), "", 80) ==
        "event                  alias             counters  description\n"
        "cpu-cycles             cycles            cpu       cycles in which the core was\n"
        "                                                   at work\n"
        "L1-dcache-load-misses  l1d-cache-misses  cpu       first-level data cache: loads\n"
        "                                                   that miss\n"
        "                                                   (event=0x51,umask=0x1)\n"
        "task-clock                               software  CPU time in nanoseconds\n");
}

TEST_CASE("where the terminal is too narrow for columns descriptions go below") {
  CHECK(list_events({{"cpu-cycles", "cycles", "cpu", "cycles in which the core was at work"}}, "",
                    40) ==
        "event       alias   counters\n"
        "    description\n"
        "cpu-cycles  cycles  cpu\n"
        "    cycles in which the core was at work\n");
}

TEST_CASE("a long name does not widen the column of all") {
  const std::string name = "armv8_cortex_a72/mem_access_of_a_rather_long_name/";
  const std::string text = list_events(
      {{"cpu-cycles", "cycles", "cpu", "work"}, {name, "", "a72", "event=0x13"}}, "", 80);
  CHECK(text ==
        "event       alias   counters  description\n"
        "cpu-cycles  cycles  cpu       work\n"
        "armv8_cortex_a72/mem_access_of_a_rather_long_name/          a72\n"
        "                              event=0x13\n");
}

TEST_CASE("terms without spaces are broken at commas") {
  const std::string text =
      list_events({{"e", "", "cpu", "event=0xcd,umask=0x1,ldlat=0x3,edge=1,cmask=0x2"}}, "", 50);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 50);
  CHECK(text.find("  event=0xcd,umask=0x1,\n") != std::string::npos);
}

TEST_CASE("a filter finds names, aliases and descriptions in any case") {
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  CHECK(lines(list_events(small_catalog(), "TASK", 0)) == 2);
  CHECK(lines(list_events(small_catalog(), "l1d", 0)) == 2);
  CHECK(lines(list_events(small_catalog(), "Nanoseconds", 0)) == 2);
  CHECK(lines(list_events(small_catalog(), "cycles", 0)) == 2);
  CHECK(list_events(small_catalog(), "xyz", 0) ==
        "no event that can be counted here contains 'xyz'\n");
}

TEST_CASE("where nothing can be counted this is said") {
  CHECK(list_events({}, "", 80) == "no event can be counted here\n");
  CHECK(list_events({}, "cyc", 0) == "no event can be counted here\n");
}

}  // namespace lauka::inquire
