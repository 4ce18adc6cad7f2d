#include "darwin/kperf_bench.h"

#include <string>

#include <doctest/doctest.h>

// The kperf engine on the model of Darwin's kernel: what it counts is what the model's threads did.

namespace lauka::darwin {
namespace {

void check_truth(KperfBench& bench, const engine::Counted& counted) {
  const Truth truth = bench.truth();
  auto counts = bench.named(counted);
  CHECK(counts.at("cycles") == truth.cycles);
  CHECK(counts.at("instructions") == truth.instructions);
  CHECK(counts.at("inst_all") == truth.events.at("INST_ALL"));
  CHECK(counts.at("core_active_cycle") == truth.events.at("CORE_ACTIVE_CYCLE"));
  CHECK_FALSE(counted.redo.has_value());
  CHECK_FALSE(counted.missing.has_value());
}

}  // namespace

TEST_CASE("kperf's counts are those of every thread of the command, from birth to end") {
  for (const char* chip : {"m1", "m2", "m3", "m4", "m5"}) {
    CAPTURE(chip);
    KperfBench bench{machine(chip)};
    REQUIRE(bench.make() == "");
    REQUIRE(bench.select() == "");
    const auto counted = bench.run(kWork);
    check_truth(bench, counted);
    CHECK(counted.coverage.value() > 0.95);
    CHECK(counted.coverage.value() <= 1.0);
  }
}

TEST_CASE("what was taken of the system is given back") {
  KperfBench bench;
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  bench.run(kWork);
  CHECK_FALSE(bench.driver.host.still_held().empty());
  bench.armed.clear();
  bench.engine.reset();
  CHECK(bench.driver.host.still_held() == std::vector<std::string>{});
}

TEST_CASE("ten thousand threads of ten microseconds are counted to the last one") {
  KperfBench bench;
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  const auto counted = bench.run("repeat 100 {\nthreads 100 {\nrun 10us\n}\njoin\n}");
  CHECK(bench.truth().threads == 10'001);
  check_truth(bench, counted);
}

TEST_CASE("a tree of fifty processes is counted whole, and strangers are not") {
  Setup setup = machine("m2");
  setup.neighbours = true;
  KperfBench bench{std::move(setup)};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  const auto counted = bench.run(
      "repeat 7 {\nfork {\nrun 1ms\nrepeat 6 {\nfork {\nrun 300us\n}\n}\nwait\n}\n}\nrun "
      "2ms\nwait");
  check_truth(bench, counted);
}

TEST_CASE("an exec is no end, and counts nothing twice") {
  KperfBench bench;
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  const std::string inner = bench.folder.program("inner", "run 5ms\nthreads 3 {\nrun 1ms\n}\njoin");
  const auto counted = bench.run("run 2ms\nexec " + inner);
  check_truth(bench, counted);
  CHECK(counted.coverage.value() == doctest::Approx(1.0).epsilon(0.03));
}

TEST_CASE("sampling running threads shows by its coverage what it missed") {
  KperfBench bench;
  REQUIRE(bench.make(StrategyChoice::Pet) == "");
  REQUIRE(bench.select() == "");
  const auto counted = bench.run(kWork);
  const Truth truth = bench.truth();
  const auto counts = bench.named(counted);
  CHECK(counts.at("instructions").value() < truth.instructions);
  CHECK(counts.at("instructions").value() > truth.instructions / 2);
  CHECK(counted.redo.has_value() == (counted.coverage.value() < 0.95));
  CHECK(has(bench.notes(), "sampled every 1 ms"));
}

TEST_CASE("events that do not fit take turns, and each pass counts its own") {
  KperfBench bench;
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select({"INST_ALL", "INST_LDST", "instructions"}) == "");
  REQUIRE(bench.events.passes.size() == 2);
  bench.check_passes("run 4ms");
}

TEST_CASE("fixed counters alone need no configuration") {
  KperfBench bench;
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select({"cycles", "instructions", "energy", "page-faults"}) == "");
  const auto counted = bench.run(kWork);
  const auto counts = bench.named(counted);
  CHECK(counts.at("cycles") == bench.truth().cycles);
  CHECK(counts.at("instructions") == bench.truth().instructions);
  CHECK(counts.at("energy").value() > 0);
  CHECK(counts.at("page-faults").has_value());
}

TEST_CASE("words that take effect when counting is switched on are counted right") {
  Setup setup = machine("m4");
  setup.pmu.words_at_start = true;
  KperfBench bench{std::move(setup)};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  check_truth(bench, bench.run(kWork));
}

TEST_CASE("threads that outlive the command are sampled while they run from then on, and told") {
  KperfBench bench;
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  const std::string daemon = "daemon {\nrun 300ms\n}\nrun 30ms";
  const auto first = bench.run(daemon);
  REQUIRE(first.redo.has_value());
  CHECK(first.redo->at_most == 1);
  const auto second = bench.run(daemon);
  CHECK_FALSE(second.redo.has_value());
  CHECK(bench.named(second).at("instructions").value() >
        bench.named(first).at("instructions").value());
  CHECK(has(bench.notes(), "1 thread had not ended with the command"));
}

}  // namespace lauka::darwin
