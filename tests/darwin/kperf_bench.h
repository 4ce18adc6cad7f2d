#pragma once

#include "darwin/launched.h"
#include "engine/kperf/kperf_engine.h"
#include "fakes/darwin/kernel.h"
#include "must.h"
#include "notes.h"
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

/// Returns the chip's name of an event that lauka shows in lower case.
inline std::string upper_case(std::string name) {
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return name;
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
    entry.selector_number = event.number;
    entry.mask = event.mask;
    entry.is_fixed = event.fixed;
    database.events.push_back(std::move(entry));
  }
  return database;
}

/// The kperf engine on the model, with the launcher of macOS.
struct KperfBench : Launched {
  using Launched::Launched;

  /// Makes the engine; its refusal, or an empty line.
  std::string make(KperfStrategyChoice strategy = KperfStrategyChoice::Auto,
                   bool user_only = false) {
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

  /// Makes the engine, selects and arms.
  void begin(const std::vector<std::string>& names = {},
             KperfStrategyChoice strategy = KperfStrategyChoice::Auto) {
    REQUIRE(make(strategy) == "");
    REQUIRE(select(names) == "");
  }

  /// Ends counting; returns what is still held.
  std::vector<std::string> end() {
    armed.clear();
    engine.reset();
    return driver.host.still_held();
  }

  /// Runs a script once and returns the result of the run.
  engine::CountsOfRun run(const std::string& script, std::size_t pass = 0) {
    os::Launch launch;
    launch.run_observers = armed.at(pass)->prepare_run();
    return armed.at(pass)->finish(run_once(program(script), launch), 0);
  }

  /// Runs a script once; the counts by the names of their events.
  std::map<std::string, std::optional<std::uint64_t>> counts_of(const std::string& script) {
    return named(run(script));
  }

  /// Counts by the names of their events.
  std::map<std::string, std::optional<std::uint64_t>> named(const engine::CountsOfRun& counted,
                                                            std::size_t pass = 0) const {
    std::map<std::string, std::optional<std::uint64_t>> by_name;
    for (std::size_t i = 0; i < counted.counts.size(); ++i)
      by_name[events.events.at(events.passes.at(pass).event_indices.at(i)).name] =
          counted.counts[i];
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
        CHECK(one.second ==
              (name == "instructions" ? did.instructions : did.events.at(upper_case(name))));
      }
    }
  }

  /// Returns lauka's latest command; lauka itself if it has started none.
  const Process& latest() const {
    const auto& processes = driver.host.kernel.processes();
    const Process* found = processes.at(1).get();
    for (const auto& process : processes)
      if (process->parent == processes.at(1)->pid) found = process.get();
    return *found;
  }

  /// Returns the work of the latest command and all its descendants.
  Truth truth() const { return tree_of(driver.host.kernel, latest().unique_id); }

  /// All notes so far.
  std::vector<Note> notes() const {
    std::vector<Note> all = events.notes;
    for (Note& note : engine->notes()) all.push_back(std::move(note));
    return all;
  }

  std::chrono::nanoseconds period = std::chrono::milliseconds(1);  // of sampling
  const os::DarwinCalls* calls = &driver.calls;                    // the engine's calls
  std::unique_ptr<engine::CounterEngine> engine;
  std::vector<std::unique_ptr<engine::ArmedPass>> armed;
  EventSet events;
};

}  // namespace lauka::darwin
