#include "darwin/kperf_bench.h"
#include "engine/engine.h"
#include "places.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

namespace lauka::darwin {

// The kperf engine on the model of Darwin's kernel. That it counts what the model's threads did is
// tested on the whole program: on_model/counts_test.cc.

TEST_CASE("what was taken of the system is given back") {
  KperfBench bench;
  bench.begin();
  bench.run(kWork);
  CHECK_FALSE(bench.driver.host.still_held().empty());
  CHECK(bench.end() == std::vector<std::string>{});
}

TEST_CASE("an exec is no end, and counts nothing twice") {
  KperfBench bench;
  bench.begin();
  const std::string inner = bench.folder.program("inner", "run 5ms\nthreads 3 {\nrun 1ms\n}\njoin");
  const auto counted = bench.run("run 2ms\nexec " + inner);
  CHECK(bench.named(counted).at("inst_all") == bench.truth().events.at("INST_ALL"));
  CHECK(counted.instruction_coverage.value() == doctest::Approx(1.0).epsilon(0.03));
}

TEST_CASE("fixed counters alone need no configuration") {
  KperfBench bench;
  bench.begin({"cycles", "instructions", "energy", "page-faults"});
  const auto counts = bench.counts_of(kWork);
  CHECK(counts.at("cycles") == bench.truth().cycles);
  CHECK(counts.at("instructions") == bench.truth().instructions);
  CHECK(counts.at("energy").value() > 0);
  CHECK(counts.at("page-faults").has_value());
}

TEST_CASE("threads that outlive the command are sampled while they run from then on, with a note") {
  KperfBench bench;
  bench.begin();
  const std::string daemon = "daemon {\nrun 300ms\n}\nrun 30ms";
  const auto first = bench.run(daemon);
  REQUIRE(first.redo.has_value());
  CHECK(first.redo->max_repetitions == 1);
  const auto second = bench.run(daemon);
  CHECK_FALSE(second.redo.has_value());
  CHECK(bench.named(second).at("instructions").value() >
        bench.named(first).at("instructions").value());
  CHECK(has(bench.notes(), "orphans"));
}

// The engine's choice on macOS, and counts without root.

namespace {

using engine::Choice;

/// A machine without root on which engine::choose is asked.
struct Chooser {
  Chooser() : bench(without_root()) {
    macos.calls = &bench.driver.calls;
    macos.launcher = bench.launcher.get();
    std::filesystem::copy_file(std::string(places::kRepository) + "/tests/data/kpep/m1.plist",
                               bench.folder.file("cpu_100000c_2_1b588bb3.plist"));
    setenv("KPEP_DB_PATH", bench.folder.file("").c_str(), 1);
  }
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;
  ~Chooser() { unsetenv("KPEP_DB_PATH"); }

  static Setup without_root() {
    Setup setup = machine("m1");
    setup.is_root = false;
    return setup;
  }

  /// The name of the engine, or the refusal.
  std::string choose(Choice choice = Choice::Auto) {
    auto chosen = engine::choose({.choice = choice, .calls = nullptr, .macos = macos});
    if (!chosen) return chosen.error().line();
    bench.engine = std::move(chosen->engine);
    return std::string(bench.engine->name());
  }

  KperfBench bench;
  engine::MacosEngineOptions macos;
};

constexpr const char* kNeedsRoot =
    "counting events needs root; run 'sudo lauka ...', which still runs the commands as you";

}  // namespace

TEST_CASE("an event that needs root, asked for by name without it, is refused with the way out") {
  Chooser chooser;
  REQUIRE(chooser.choose() == "kernel");
  CHECK(chooser.bench.select({"INST_ALL"}) ==
        std::string("'INST_ALL' cannot be counted: ") + kNeedsRoot);
  CHECK(chooser.bench.select({"instructions", "Cycles", "energy", "page-faults"}) == "");
  CHECK(chooser.bench.events.events.size() == 4);
  CHECK(chooser.choose(Choice::Kperf) == std::string("--engine kperf: ") + kNeedsRoot);
}

TEST_CASE("a note says that the kernel's own counts lack children") {
  Chooser chooser;
  REQUIRE(chooser.choose() == "kernel");
  REQUIRE(chooser.bench.select() == "");
  chooser.bench.run("run 2ms\nfork {\nrun 6ms\n}\nwait");
  CHECK(has(chooser.bench.notes(), "one_process_only"));
}

}  // namespace lauka::darwin
