#include "engine/cachegrind/cachegrind_engine.h"
#include "must.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine::cachegrind {

namespace {

using Names = std::vector<std::string>;

/// A file of counts as Cachegrind 3.19 writes it, reduced to the parts that are read.
OutputFile counts_of(int pid, int number, const std::string& command, const std::string& summary,
                     const std::string& events = "Ir Bc Bcm Bi Bim") {
  return {"out." + std::to_string(pid) + "." + std::to_string(number),
          "desc: I1 cache:         32768 B, 64 B, 8-way associative\ncmd: " + command +
              "\nevents: " + events + "\nfl=./work.c\nfn=main\n12 7 1 0 0 0\nsummary: " + summary +
              "\n"};
}

OutputFile log_of(int pid, int number, int parent) {
  const std::string head = "==" + std::to_string(pid) + "== ";
  return {"log." + std::to_string(pid) + "." + std::to_string(number),
          head + "Cachegrind, a cache and branch-prediction profiler\n" + head + "Command: ./x\n" +
              head + "Parent PID: " + std::to_string(parent) + "\n" + head + "\n"};
}

std::vector<const SimulatedEvent*> simulated(const Names& names) {
  std::vector<const SimulatedEvent*> events;
  for (const std::string& name : names) events.push_back(find_simulated(name));
  return events;
}

Counted sum(const std::vector<OutputFile>& files, const Names& names) {
  return sum_counts(files, simulated(names));
}

EventSet selected(const Names& names) {
  return must(make_cachegrind_engine("/usr/bin/valgrind")->select({names, false}));
}

}  // namespace

TEST_CASE("by default everything that can be simulated is, in runs of its own") {
  const EventSet set = selected({});
  REQUIRE(set.events.size() == 6);
  CHECK(set.events.front().name == "instructions");
  CHECK(std::all_of(set.events.begin(), set.events.end(),
                    [](const Event& e) { return e.simulated; }));
  CHECK(set.passes_of(RoundKind::Timed) == 1);
  REQUIRE(set.passes.size() == 2);
  CHECK(set.passes[0].events.empty());
  CHECK(set.passes[1].events.size() == 6);
}

TEST_CASE("what the kernel accounts is taken from the timed runs") {
  const EventSet set = selected({"page-faults", "Instructions", "page-faults", "instructions"});
  REQUIRE(set.events.size() == 2);
  CHECK_FALSE(set.events[0].simulated);
  CHECK(set.passes.at(0).events == std::vector<std::size_t>{0});
  CHECK(set.passes.at(1).events == std::vector<std::size_t>{1});
  CHECK(selected({"page-faults"}).passes.size() == 1);
}

TEST_CASE("an event that cannot be simulated is refused with those that can") {
  CHECK(make_cachegrind_engine("/usr/bin/valgrind")->select({{"cycles"}, false}).error().line() ==
        "'cycles' cannot be simulated; --engine cachegrind counts instructions, branches, "
        "branch-misses, l1d-cache-misses, l1i-cache-misses and cache-misses");
}

TEST_CASE("only the models are run that an event needs") {
  const auto words = [](const Names& names) {
    return valgrind_words("valgrind", "/tmp/50%", simulated(names), {"-odd", "an argument"});
  };
  CHECK(words({"instructions"}) ==
        Names{"valgrind", "--command-line-only=yes", "--tool=cachegrind", "--trace-children=yes",
              "--vgdb=no", "--cache-sim=no", "--branch-sim=no", "--log-file=/tmp/50%%/log.%p.%n",
              "--cachegrind-out-file=/tmp/50%%/out.%p.%n", "--", "-odd", "an argument"});
  const Names caches = words({"cache-misses"});
  for (const char* word : {"--cache-sim=yes", "--LL=8388608,16,64", "--branch-sim=no"})
    CHECK_MESSAGE(std::count(caches.begin(), caches.end(), word) == 1, word);
  const Names branches = words({"branches", "instructions"});
  for (const char* word : {"--branch-sim=yes", "--cache-sim=no"})
    CHECK_MESSAGE(std::count(branches.begin(), branches.end(), word) == 1, word);
}

TEST_CASE("the counts of all programs of a run are added up") {
  const Counted counted =
      sum({log_of(10, 1, 1), counts_of(10, 2, "sh -c x", "1000 100 10 20 2"),
           // forked, then a program of its own
           log_of(11, 2, 10), log_of(11, 1, 10), counts_of(11, 2, "./x", "500 50 5 6 1")},
          {"instructions", "branches", "branch-misses"});
  CHECK(counted.counts == std::vector<std::optional<std::uint64_t>>{1500, 176, 18});
  CHECK_FALSE(counted.missing.has_value());
  CHECK_FALSE(counted.note.has_value());
}

TEST_CASE("what a forked process may count a second time is no number where it is more than 1%") {
  const std::vector<OutputFile> files = {
      log_of(10, 1, 1), counts_of(10, 2, "./x", "1000 100 10 0 0"), log_of(11, 2, 10),
      counts_of(11, 3, "./x", "9000 100 0 0 0")};
  const Counted counted = sum(files, {"instructions", "branch-misses"});
  CHECK_FALSE(counted.counts.at(0).has_value());
  CHECK(counted.counts.at(1) == 10);  // the child has none, so it has none of its parent's
  CHECK(counted.missing.value().what.find("forked processes") != std::string::npos);
}

TEST_CASE("a forked process that may count twice is reported if it is less than 1%") {
  const Counted counted = sum({log_of(10, 1, 1), counts_of(10, 2, "./x", "1000 0 0 0 0"),
                               log_of(11, 2, 10), counts_of(11, 3, "./x", "200000 0 0 0 0")},
                              {"instructions"});
  CHECK(counted.counts.at(0) == 201000);
  CHECK_FALSE(counted.missing.has_value());
  CHECK(counted.note.value().kind == NoteKind::SimulationInexact);
}

TEST_CASE("a parent that became another program says nothing about what its child began with") {
  CHECK_FALSE(sum({log_of(10, 1, 1), counts_of(10, 2, "true", "1000 0 0 0 0"), log_of(11, 2, 10),
                   counts_of(11, 3, "./x", "200000 0 0 0 0")},
                  {"instructions"})
                  .counts.at(0));
}

TEST_CASE("a process without counts leaves none for the run") {
  const std::vector<OutputFile> whole = {log_of(10, 1, 1), counts_of(10, 2, "sh", "1000 0 0 0 0")};
  CHECK(sum(whole, {"instructions"}).counts.at(0) == 1000);
  auto killed = whole;
  killed.push_back(log_of(11, 1, 10));
  CHECK_FALSE(sum(killed, {"instructions"}).counts.at(0).has_value());
  CHECK(sum(killed, {"instructions"}).missing.has_value());
  auto cut_off = whole;
  cut_off.push_back({"out.11.2", "cmd: ./x\nevents: Ir\nfn=main\n12 7\n"});
  CHECK_FALSE(sum(cut_off, {"instructions"}).counts.at(0).has_value());
  CHECK(sum({}, {"instructions"}).missing.has_value());
}

TEST_CASE("files that are cut off, as on a full disk, are a measurement that could not be made") {
  const std::vector<OutputFile> whole = {log_of(10, 1, 1), counts_of(10, 2, "sh", "1000 0 0 0 0")};
  CHECK_FALSE(sum(whole, {"instructions"}).failure.has_value());
  CHECK(sum({whole[0], {"out.10.2", ""}}, {"instructions"}).failure.has_value());
  CHECK(sum({whole[0], {"out.10.2", "cmd: ./x\nevents: Ir\n"}}, {"instructions"}).failure);
  CHECK(sum({{"log.10.1", ""}, whole[1]}, {"instructions"}).failure.has_value());
  CHECK(sum({whole[0], counts_of(10, 2, "sh", "1000 0 0 0 0 7")}, {"instructions"}).failure);
  // Killed, it has written nothing of its counts, which is no fault of the disk.
  CHECK_FALSE(sum({whole[0]}, {"instructions"}).failure.has_value());
}

TEST_CASE("an event that this Valgrind did not write is not made up") {
  const Counted counted = sum({log_of(10, 1, 1), counts_of(10, 2, "./x", "1000", "Ir")},
                              {"instructions", "cache-misses"});
  CHECK(counted.counts.at(0) == 1000);
  CHECK_FALSE(counted.counts.at(1).has_value());
  CHECK(counted.missing.has_value());
}

}  // namespace lauka::engine::cachegrind
