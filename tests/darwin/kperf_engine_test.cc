#include "darwin/kperf_bench.h"
#include "engine/engine.h"
#include "places.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

namespace lauka::darwin {

// The kperf engine on the model of Darwin's kernel: it must count what the model's threads did.

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

TEST_CASE("kperf counts every thread of the command, from birth to end") {
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

TEST_CASE("threads that outlive the command are sampled while they run from then on, with a note") {
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

// The engine's choice on macOS, and counts without root.

namespace {

using engine::Choice;

/// A machine on which engine::choose is asked.
struct Chooser {
  explicit Chooser(Setup setup = machine("m1")) : bench(std::move(setup)) {
    macos.calls = &bench.driver.calls;
    macos.launcher = bench.launcher.get();
    std::filesystem::copy_file(std::string(places::kRepository) + "/tests/data/kpep/m1.plist",
                               bench.folder.file("cpu_100000c_2_1b588bb3.plist"));
    setenv("KPEP_DB_PATH", bench.folder.file("").c_str(), 1);
  }
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;
  ~Chooser() { unsetenv("KPEP_DB_PATH"); }

  /// The name of the engine, or the refusal.
  std::string choose(Choice choice = Choice::Auto) {
    auto chosen = engine::choose(choice, false, nullptr, {}, std::nullopt, macos);
    if (!chosen) return chosen.error().line();
    bench.engine = std::move(chosen->engine);
    return std::string(bench.engine->name());
  }

  KperfBench bench;
  engine::OnMacos macos;
};

Setup without_root() {
  Setup setup = machine("m1");
  setup.is_root = false;
  return setup;
}

constexpr const char* kNeedsRoot =
    "counting events needs root; run 'sudo lauka ...'; the commands still run as you";

}  // namespace

TEST_CASE("as root, macOS gets kperf, with the processor's own events") {
  Chooser chooser;
  REQUIRE(chooser.choose() == "kperf");
  REQUIRE(chooser.bench.select() == "");
  const auto counted = chooser.bench.run("run 5ms");
  CHECK(chooser.bench.named(counted).at("inst_all") == chooser.bench.truth().events.at("INST_ALL"));
}

TEST_CASE("without root the kernel's own counts are shown, and one line says what root would add") {
  Chooser chooser(without_root());
  REQUIRE(chooser.choose() == "kernel");
  REQUIRE(chooser.bench.select() == "");
  CHECK(chooser.bench.notes() ==
        std::string("only cycles, instructions and energy are counted: ") + kNeedsRoot + "\n");
  os::ProgramSpec spec;
  spec.words = {chooser.bench.folder.program("work", "run 5ms\nthreads 3 {\nrun 1ms e\n}\njoin")};
  const auto id = chooser.bench.launcher->add_program(spec);
  REQUIRE(id.has_value());
  const os::Launch launch{*id};
  const auto ended = chooser.bench.launcher->run({&launch, 1}, false, {});
  REQUIRE(ended.has_value());
  const auto counts = chooser.bench.named(chooser.bench.armed.at(0)->finish(ended->at(0), 0));
  const Truth truth = chooser.bench.truth();
  // The kernel's totals hold a sliver more, of the exit itself.
  CHECK(counts.at("instructions").value() >= truth.instructions);
  CHECK(static_cast<double>(counts.at("instructions").value()) <
        1.02 * static_cast<double>(truth.instructions));
  CHECK(counts.at("cycles").value() >= truth.cycles);
  CHECK(counts.at("energy").value() > 0);
  CHECK(chooser.bench.driver.host.still_held() == std::vector<std::string>{});
}

TEST_CASE("an event that needs root, asked for by name without it, is refused with the way out") {
  Chooser chooser(without_root());
  REQUIRE(chooser.choose() == "kernel");
  CHECK(chooser.bench.select({"INST_ALL"}) ==
        std::string("'INST_ALL' cannot be counted: ") + kNeedsRoot);
  CHECK(chooser.bench.select({"instructions", "Cycles", "energy", "page-faults"}) == "");
  CHECK(chooser.bench.events.events.size() == 4);
  CHECK(chooser.choose(Choice::Kperf) == std::string("--engine kperf: ") + kNeedsRoot);
}

TEST_CASE("a note says that the kernel's own counts lack children") {
  Chooser chooser(without_root());
  REQUIRE(chooser.choose() == "kernel");
  REQUIRE(chooser.bench.select() == "");
  os::ProgramSpec spec;
  spec.words = {chooser.bench.folder.program("work", "run 2ms\nfork {\nrun 6ms\n}\nwait")};
  const auto id = chooser.bench.launcher->add_program(spec);
  const os::Launch launch{*id};
  const auto ended = chooser.bench.launcher->run({&launch, 1}, false, {});
  REQUIRE(ended.has_value());
  static_cast<void>(chooser.bench.armed.at(0)->finish(ended->at(0), 0));
  CHECK(chooser.bench.notes().find("its children, with up to 7") != std::string::npos);
}

TEST_CASE("in a virtual machine there are no counts, and no note: there is nothing to mend") {
  Setup setup = machine("m1");
  setup.is_virtual = true;
  Chooser chooser(std::move(setup));
  REQUIRE(chooser.choose() == "none");
  REQUIRE(chooser.bench.select() == "");
  CHECK(chooser.bench.events.events.empty());
  CHECK(chooser.bench.notes().empty());
}

TEST_CASE("an inquiry takes nothing of the system and needs no root") {
  Chooser chooser(without_root());
  chooser.macos.launcher = nullptr;
  REQUIRE(chooser.choose() == "kperf");
  CHECK(chooser.bench.engine->catalog().size() > 50);
  CHECK(chooser.bench.engine->explain({{"INST_ALL", "INST_LDST"}, false})->passes.size() == 2);
  CHECK(chooser.bench.driver.host.still_held() == std::vector<std::string>{});
}

TEST_CASE("a processor without a database keeps the kernel's own counts") {
  Chooser chooser;
  std::filesystem::remove(chooser.bench.folder.file("cpu_100000c_2_1b588bb3.plist"));
  REQUIRE(chooser.choose() == "kernel");
  CHECK(has(chooser.bench.select({"INST_ALL"}),
            "there is no kpep database for this processor, cpu_100000c_2_1b588bb3"));
}

}  // namespace lauka::darwin
