#include "engine/choose.h"

#include "engine/accounting.h"
#include "engine/cachegrind/cachegrind_engine.h"
#include "engine/perf/perf_engine.h"

#include <utility>

#include <fmt/format.h>

namespace lauka::engine {
namespace {

Result<Chosen> simulated(const std::optional<User>& user) {
  auto valgrind = os::find_program("valgrind");
  if (!valgrind) {
    return Error{"--engine cachegrind needs Valgrind, which is not in PATH",
                 "install the package valgrind (Debian, Ubuntu: apt-get install valgrind)"};
  }
  return Chosen{cachegrind::make_cachegrind_engine(*std::move(valgrind), user), std::nullopt};
}

Chosen without_counters(const Unavailable& why) {
  std::string note = fmt::format("no hardware counters: {}", why.why);
  if (!why.remedy.empty()) note += fmt::format("; {}", why.remedy);
  note += fmt::format("; {}", kSimulationHint);
  return Chosen{make_none_engine(why), std::move(note)};
}

EngineFacts missing(const char* name, const Error& error) {
  return {.name = name, .events = {}, .missing = Unavailable{error.what, error.remedy}};
}

EngineFacts facts_of(const char* name, CounterEngine& engine) {
  const auto set = engine.select({});
  if (!set) return missing(name, set.error());
  if (set->events.empty()) {
    // By name the reason comes with its remedy apart.
    const auto one = engine.select({{"instructions"}, false});
    if (one) return missing(name, Error{"counts nothing by default", ""});
    Error why = one.error();
    if (const std::size_t colon = why.what.find(": "); why.what.starts_with("'instructions'"))
      why.what.erase(0, colon + 2);
    return missing(name, why);
  }
  EngineFacts facts{.name = name, .events = {}, .notes = set->notes};
  for (const Event& event : set->events) facts.events.push_back(event.name);
  return facts;
}

}  // namespace

Result<Chosen> choose(Choice choice, bool user_only, const os::LinuxCalls* calls,
                      const CoreKinds& kinds, const std::optional<User>& user,
                      const OnMacos& macos) {
  if (choice == Choice::None) return Chosen{make_none_engine(std::nullopt), std::nullopt};
  if (choice == Choice::Cachegrind) return simulated(user);
  if (macos.calls != nullptr && choice != Choice::Perf)
    return choose_on_macos(choice, user_only, macos);
  if (choice == Choice::Kperf) return Error{"--engine kperf works on macOS only", "leave it out"};
  if (calls == nullptr) {
    if (choice == Choice::Perf) return Error{"--engine perf works on Linux only", "leave it out"};
    return without_counters({"there is no engine for this system", ""});
  }
  if (choice == Choice::Perf) {
    // Asked for by name, so a kernel that refuses all counters is an error, not a note.
    if (const auto able = perf::can_count(*calls); !able)
      return Error{fmt::format("--engine perf: {}", able.error().what), able.error().remedy};
  } else if (!perf::is_there(*calls)) {
    const auto able = perf::can_count(*calls);
    return without_counters({able.error().what, able.error().remedy});
  }
  return Chosen{perf::make_perf_engine(*calls, user_only, kinds), std::nullopt};
}

std::vector<EngineFacts> try_engines(bool user_only, const os::LinuxCalls* calls,
                                     const OnMacos& macos) {
  std::vector<EngineFacts> engines;
  const auto add = [&](const char* name, Choice choice) {
    auto chosen = choose(choice, user_only, calls, {}, {}, macos);
    engines.push_back(chosen ? facts_of(name, *chosen->engine) : missing(name, chosen.error()));
  };
  if (macos.calls != nullptr) add("kperf", Choice::Kperf);
  if (calls != nullptr) {
    add("perf", Choice::Perf);
    engines.back().counters = perf::counters_here(*calls, user_only);
  }
  add("cachegrind", Choice::Cachegrind);
  return engines;
}

}  // namespace lauka::engine
