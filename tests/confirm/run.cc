#include "confirm/run.h"

#include "confirm/confirm.h"
#include "confirm/unknown.h"
#include "os/spawning_launcher.h"

#include <cstdio>
#include <utility>

namespace lauka::confirm {

int refuse(const Error& error) {
  std::fprintf(stderr, "lauka_confirm: %s\n", error.line().c_str());
  return 2;
}

int run(const os::DarwinCalls& calls, Result<engine::kperf::KpepDatabase> database,
        const std::string& fixtures) {
  if (calls.geteuid() != 0) return refuse({"counting needs root", "run it with sudo"});
  if (!database) return refuse(database.error());
  auto launcher = os::start_spawning_launcher(calls);
  if (!launcher) return refuse(launcher.error());
  const Setting setting{calls, **launcher, *std::move(database), fixtures};
  std::string text;
  for (const std::string& fact : facts(setting)) text += "- " + fact + "\n";
  for (const std::string& fact : left_by_others(calls)) text += "- " + fact + "\n";
  const auto rows = confirm(setting);
  if (!rows) return refuse(rows.error());
  text += "\n" + table(*rows) + "\n";
  for (const std::string& fact : unknowns(setting)) text += "- " + fact + "\n";
  std::fputs(text.c_str(), stdout);
  return all_hold(*rows) ? 0 : 1;
}

}  // namespace lauka::confirm
