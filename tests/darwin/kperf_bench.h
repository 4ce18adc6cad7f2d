#pragma once

#include "darwin/driver.h"
#include "darwin/folder.h"
#include "engine/kperf/kperf_engine.h"
#include "fakes/darwin/kernel.h"
#include "os/process.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::darwin {

/// Twenty short threads on the cores of both kinds, alongside a long one.
inline constexpr const char* kWork =
    "run 3ms\nthreads 20 {\nrun 10us\nsleep 20us\nrun 700us e kernel=500\n}\n"
    "run 12ms\njoin";

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A chip's table as a kpep database.
inline engine::kperf::KpepDatabase database_of(const Chip& chip) {
  engine::kperf::KpepDatabase database;
  database.name = chip.database;
  database.marketing_name = chip.marketing_name;
  database.fixed_counters = 0x3;
  database.config_counters = 0x3fc;
  for (const ChipEvent& event : chip.events) {
    engine::kperf::KpepEvent entry;
    entry.name = event.name;
    entry.number = event.number;
    entry.mask = event.mask;
    entry.is_fixed = event.fixed;
    database.events.push_back(std::move(entry));
  }
  return database;
}

/// The kperf engine on the model, with the launcher of macOS.
struct KperfBench {
  explicit KperfBench(Setup setup = machine("m1"), CallRules rules = {})
      : driver(std::move(setup), std::move(rules)) {
    driver.host.kernel.load = loader_of_files();
    auto started = os::start_spawning_launcher(driver.calls);
    REQUIRE(started.has_value());
    launcher = *std::move(started);
  }

  /// Makes the engine; its refusal, or an empty line.
  std::string make(StrategyChoice strategy = StrategyChoice::Auto, bool user_only = false) {
    auto made =
        engine::kperf::make_kperf_engine({calls, launcher.get(), strategy, period}, user_only,
                                         database_of(driver.host.kernel.setup.chip));
    if (!made) return made.error().line();
    engine = *std::move(made);
    return "";
  }

  /// Selects and arms; the refusal, or an empty line.
  std::string select(const std::vector<std::string>& names = {}) {
    auto selected = engine->select({names, false});
    if (!selected) return selected.error().line();
    events = *std::move(selected);
    armed.clear();
    for (std::size_t pass = 0; pass < events.passes.size(); ++pass) {
      auto one = engine->arm(pass);
      if (!one) return one.error().line();
      armed.push_back(*std::move(one));
    }
    return "";
  }

  /// Runs a script once and returns the result of the run.
  engine::Counted run(const std::string& script, std::size_t pass = 0) {
    os::ProgramSpec spec;
    spec.words = {folder.program("work" + std::to_string(programs++), script)};
    const auto id = launcher->add_program(spec);
    REQUIRE(id.has_value());
    os::Launch launch{*id};
    launch.watches = armed.at(pass)->watches();
    const auto ended = launcher->run({&launch, 1}, true, {});
    REQUIRE(ended.has_value());
    return armed.at(pass)->finish(ended->at(0), 0);
  }

  /// Counts by the names of their events.
  std::map<std::string, std::optional<std::uint64_t>> named(const engine::Counted& counted,
                                                            std::size_t pass = 0) const {
    std::map<std::string, std::optional<std::uint64_t>> by_name;
    for (std::size_t i = 0; i < counted.counts.size(); ++i)
      by_name[events.events.at(events.passes.at(pass).events.at(i)).name] = counted.counts[i];
    return by_name;
  }

  /// Runs `script` once for each pass: every count must be the command's own.
  void check_passes(const std::string& script) {
    for (std::size_t pass = 0; pass < events.passes.size(); ++pass) {
      const auto counts = named(run(script, pass), pass);
      const Truth did = truth();
      for (const auto& one : counts) {  // doctest captures no structured binding
        const std::string& name = one.first;
        CAPTURE(name);
        std::string own;
        for (const char c : name)
          own += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        CHECK(one.second == (name == "instructions" ? did.instructions : did.events.at(own)));
      }
    }
  }

  /// Returns the work of lauka's latest command and all its descendants.
  Truth truth() const {
    const auto& processes = driver.host.kernel.processes();
    const Process* command = nullptr;
    for (const auto& process : processes)
      if (process->parent == processes.at(1)->pid) command = process.get();
    REQUIRE(command != nullptr);
    Truth sum;
    for (const auto& process : processes) {
      if (process->unique_id != command->unique_id && process->root_id != command->unique_id)
        continue;
      sum.threads += process->truth.threads;
      sum.cycles += process->truth.cycles;
      sum.instructions += process->truth.instructions;
      for (const auto& [name, count] : process->truth.events) sum.events[name] += count;
    }
    return sum;
  }

  /// All notes so far, one a line.
  std::string notes() const {
    std::string all;
    for (const std::string& note : events.notes) all += note + "\n";
    for (const std::string& note : engine->notes()) all += note + "\n";
    return all;
  }

  std::chrono::nanoseconds period = std::chrono::milliseconds(1);  // of sampling
  Driver driver;
  const os::DarwinCalls* calls = &driver.calls;  // the engine's calls
  Folder folder;
  std::unique_ptr<os::Launcher> launcher;
  std::unique_ptr<engine::CounterEngine> engine;
  std::vector<std::unique_ptr<engine::Counting>> armed;
  EventSet events;
  int programs = 0;
};

}  // namespace lauka::darwin
