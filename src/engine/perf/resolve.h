#pragma once

#include "core/result.h"
#include "engine/perf/known_events.h"
#include "engine/perf/sysfs.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::perf {

/// What a modifier behind an event's name asks for. "cycles:u" is {true, false, false, true}.
struct Rings {
  bool user = true;
  bool kernel = true;
  bool hypervisor = true;
  bool asked_for = false;  ///< there was a modifier

  bool operator==(const Rings&) const = default;
};

/// An event on one PMU.
struct Part {
  std::string pmu;  ///< "software" for the kernel's own counts
  bool core = false;
  std::vector<Code> codes;  ///< ways to ask for it: the first that the kernel takes
  std::string encoding{};   ///< what sysfs says it is ("event=0x2e,umask=0x41"); may be empty
};

/// What a name stands for; whether this machine can count it has not been tried.
struct Resolved {
  std::string name;      ///< as shown
  std::string own_name;  ///< perf's name for it
  std::string description{};
  Rings rings{};
  const KnownEvent* known = nullptr;  ///< null: from sysfs, or raw
  std::vector<Part> parts{};          ///< to be summed: one, or one for each kind of core
};

/// What `name` stands for: an alias, an event of perf's, pmu/event/, pmu/term=1,.../, rHEX or an
/// event of a core PMU, each with modifiers. Refused where it is unknown (with the nearest names)
/// or cannot count one task.
Result<Resolved> resolve(std::string_view name, const Sysfs& sysfs);

}  // namespace lauka::engine::perf
