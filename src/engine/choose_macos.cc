#include "engine/accounting.h"
#include "engine/choose.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/kpep.h"
#include "engine/kperf/kperf_engine.h"
#include "os/files.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine {
namespace {

/// The database of this machine's processor.
Result<kperf::KpepDatabase> database_of(const OnMacos& here, const kperf::Kernel& kernel) {
  const std::string cpu = kperf::cpu_name(kernel.number("hw.cputype").value_or(0),
                                          kernel.number("hw.cpusubtype").value_or(0),
                                          kernel.number("hw.cpufamily").value_or(0));
  auto paths = kperf::kpep_paths(cpu);
  // Where Apple's own framework looks first, and its users put a newer database.
  if (const auto folder = os::variable("KPEP_DB_PATH"); folder && !folder->empty())
    paths.insert(paths.begin(), fmt::format("{}/{}.plist", *folder, cpu));
  auto database = kperf::load_kpep_of(cpu, paths);
  // --kpep is for questions; it does not say what this machine's processor counts.
  const bool is_missing = std::ranges::none_of(paths, os::is_there);
  if (is_missing && here.launcher != nullptr)
    return Error{database.error().what, "name the folder that has it in KPEP_DB_PATH"};
  return database;
}

kperf::Setting setting_of(const OnMacos& here, bool user_only) {
  return {*here.calls, here.launcher, user_only, here.strategy, here.period};
}

/// Whether the kernel's totals will do where counters fail later on: neither they nor how they are
/// read was asked for by name.
bool may_do_without(Choice choice, const OnMacos& here) {
  return choice == Choice::Auto && here.launcher != nullptr &&
         here.strategy == StrategyChoice::Auto;
}

}  // namespace

Result<Chosen> choose_on_macos(Choice choice, bool user_only, const OnMacos& here) {
  const kperf::Kernel kernel(*here.calls);
  auto database = database_of(here, kernel);
  Error why;
  if (!kernel.has_counters()) {
    why = kperf::reason_of(kperf::Asked::Count, ENOENT, kernel);
  } else if (!database) {
    why = database.error();
  } else {
    auto engine = kperf::make_kperf_engine(setting_of(here, user_only), *database);
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

}  // namespace lauka::engine
