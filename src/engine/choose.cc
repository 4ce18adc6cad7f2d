#include "engine/cachegrind/cachegrind_engine.h"
#include "engine/engine.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/kpep.h"
#include "engine/kperf/kperf_engine.h"
#include "engine/perf/perf_engine.h"
#include "os/files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine {

namespace {

/// The arguments of engines' makers.
struct Setting {
  bool user_only = false;
  const os::LinuxCalls* linux = nullptr;
  const CoreKinds& kinds;
  const std::optional<User>& user;
  const OnMacos& macos;
};

/// Loads the database of this machine's processor.
Result<kperf::KpepDatabase> database_of(const OnMacos& here, const kperf::Kernel& kernel) {
  const std::string cpu = kperf::cpu_name(kernel.number("hw.cputype").value_or(0),
                                          kernel.number("hw.cpusubtype").value_or(0),
                                          kernel.number("hw.cpufamily").value_or(0));
  auto paths = kperf::kpep_paths(cpu);
  // Apple's own framework looks there first, and its users put a newer database there.
  if (const auto folder = os::variable("KPEP_DB_PATH"); folder && !folder->empty())
    paths.insert(paths.begin(), fmt::format("{}/{}.plist", *folder, cpu));
  auto database = kperf::load_kpep_of(cpu, paths);
  // --kpep is for questions; this machine's processor may have other events.
  const bool is_missing = std::ranges::none_of(paths, os::is_there);
  if (is_missing && here.launcher != nullptr)
    return Error{database.error().what, "name the folder that has it in KPEP_DB_PATH"};
  return database;
}

/// True if the kernel's totals will do if counters fail later on: the user named neither counters
/// nor a strategy.
bool may_do_without(Choice choice, const OnMacos& here) {
  return choice == Choice::Auto && here.launcher != nullptr &&
         here.strategy == StrategyChoice::Auto;
}

/// Chooses on macOS. Without root, or without counters, `Auto` takes the kernel's accounts of each
/// process.
Result<Chosen> choose_on_macos(Choice choice, bool user_only, const OnMacos& here) {
  const kperf::Kernel kernel(*here.calls);
  auto database = database_of(here, kernel);
  Error why;
  if (!kernel.has_counters()) {
    why = kperf::reason_of(kperf::Asked::Count, ENOENT, kernel);
  } else if (!database) {
    why = database.error();
  } else {
    auto engine = kperf::make_kperf_engine(here, user_only, *database);
    if (engine && may_do_without(choice, here))
      return Chosen{kperf::make_kperf_or_totals(*std::move(engine), *std::move(database)),
                    std::nullopt};
    if (engine) return Chosen{*std::move(engine), std::nullopt};
    why = engine.error();
  }
  if (choice == Choice::Kperf) return why.of("--engine kperf");
  if (!kernel.has_counters() && here.launcher != nullptr)
    return Chosen{make_none_engine(why), why.line()};
  std::optional<kperf::KpepDatabase> known;
  if (database) known = *std::move(database);
  return Chosen{kperf::make_totals_engine(why, std::move(known)), why.line()};
}

Chosen perf_of(const Setting& setting) {
  return {perf::make_perf_engine(*setting.linux, setting.user_only, setting.kinds), std::nullopt};
}

/// The user named it, so a kernel that refuses all counters is an error, not a note.
Result<Chosen> make_perf(const Setting& setting) {
  if (const auto able = perf::can_count(*setting.linux); !able)
    return able.error().of("--engine perf");
  return perf_of(setting);
}

Result<Chosen> make_cachegrind(const Setting& setting) {
  auto valgrind = os::find_program("valgrind");
  if (!valgrind) {
    return Error{"--engine cachegrind needs Valgrind, which is not in PATH",
                 "install the package valgrind (Debian, Ubuntu: apt-get install valgrind)"};
  }
  return Chosen{cachegrind::make_cachegrind_engine(*std::move(valgrind), setting.user),
                std::nullopt};
}

/// A row of kEngines and the function that makes its engine.
struct Maker {
  Choice choice;
  std::string_view system;  ///< that it is meant for; empty: any
  Result<Chosen> (*make)(const Setting&);
  std::vector<CounterFacts> (*counters)(const Setting&) =
      nullptr;  ///< tried; null without counters
};

/// The order is that in which --check tries them.
constexpr auto kMakers = std::to_array<Maker>({
    {Choice::Kperf, "macOS",
     [](const Setting& setting) {
       return choose_on_macos(Choice::Kperf, setting.user_only, setting.macos);
     }},
    {Choice::Perf, "Linux", make_perf,
     [](const Setting& setting) { return perf::counters_here(*setting.linux, setting.user_only); }},
    {Choice::Cachegrind, "", make_cachegrind},
    {Choice::None, "",
     [](const Setting&) -> Result<Chosen> {
       return Chosen{make_none_engine(std::nullopt), std::nullopt};
     }},
});

bool is_meant(const Maker& maker, const Setting& setting) {
  return maker.system.empty() ||
         (maker.system == "Linux" ? setting.linux != nullptr : setting.macos.calls != nullptr);
}

Result<Chosen> make(const Maker& maker, const Setting& setting) {
  if (is_meant(maker, setting)) return maker.make(setting);
  return Error{fmt::format("--engine {} works on {} only", row_of(maker.choice).name, maker.system),
               "leave it out"};
}

Chosen without_counters(const Error& why) {
  return Chosen{make_none_engine(why),
                fmt::format("no hardware counters: {}; {}", why.line(), kSimulationHint)};
}

EngineFacts missing(Choice engine, const Error& error) {
  return {.engine = engine, .missing = error};
}

EngineFacts facts_of(Choice choice, CounterEngine& engine) {
  const auto set = engine.select({});
  if (!set) return missing(choice, set.error());
  if (set->events.empty()) {
    // A refusal by name has the reason and its remedy separately.
    const auto one = engine.select({{"instructions"}, false});
    if (one) return missing(choice, Error{"counts nothing by default", ""});
    Error why = one.error();
    if (const std::size_t colon = why.what.find(": "); why.what.starts_with("'instructions'"))
      why.what.erase(0, colon + 2);
    return missing(choice, why);
  }
  EngineFacts facts{.engine = choice, .notes = set->notes};
  for (const Event& event : set->events) facts.events.push_back(event.name);
  return facts;
}

}  // namespace

Result<Chosen> choose(Choice choice, bool user_only, const os::LinuxCalls* calls,
                      const CoreKinds& kinds, const std::optional<User>& user,
                      const OnMacos& macos) {
  const Setting setting{user_only, calls, kinds, user, macos};
  const auto* const maker = std::ranges::find(kMakers, choice, &Maker::choice);
  if (maker != kMakers.end()) return make(*maker, setting);
  if (macos.calls != nullptr) return choose_on_macos(choice, user_only, macos);
  if (calls == nullptr) return without_counters({"there is no engine for this system", ""});
  if (perf::is_there(*calls)) return perf_of(setting);
  return without_counters(perf::can_count(*calls).error());
}

std::vector<EngineFacts> try_engines(bool user_only, const os::LinuxCalls* calls,
                                     const OnMacos& macos) {
  const CoreKinds kinds;
  const std::optional<User> user;
  const Setting setting{user_only, calls, kinds, user, macos};
  std::vector<EngineFacts> engines;
  for (const Maker& maker : kMakers) {
    if (maker.choice == Choice::None || !is_meant(maker, setting)) continue;
    auto chosen = maker.make(setting);
    engines.push_back(chosen ? facts_of(maker.choice, *chosen->engine)
                             : missing(maker.choice, chosen.error()));
    if (maker.counters != nullptr) engines.back().counters = maker.counters(setting);
  }
  return engines;
}

}  // namespace lauka::engine
