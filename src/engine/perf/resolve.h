#pragma once

#include "core/result.h"
#include "os/sysfs.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::perf {

/// The meaning of an event's count when opened with exclude_kernel.
enum class WithoutKernel : unsigned char {
  UserPart,    ///< events of user space
  Everything,  ///< the same as with the kernel: clocks ignore the setting
  TooLittle,   ///< less than what it is named after, since that happens in the kernel as well
  Nothing,     ///< always 0, since it happens in the kernel only
};

/// An event that the kernel knows by number on every machine, even if this one lacks it.
struct KnownEvent {
  std::string_view alias;       ///< the portable name; may be empty
  std::string_view name;        ///< perf's name
  std::string_view other_name;  ///< perf's second name; may be empty
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::string_view description;
  std::string_view arm_names{};  ///< event's names in sysfs with Arm's driver, separated by blanks
  WithoutKernel without_kernel = WithoutKernel::UserPart;

  /// Returns the name it goes by here: the alias if it has one.
  std::string_view usual_name() const { return alias.empty() ? name : alias; }
};

/// Returns all of them: those with an alias, then generic, cache and software events.
std::span<const KnownEvent> known_events();

/// Finds the event of that name (any of its names, in any case); null if missing.
const KnownEvent* find_known(std::string_view name);

/// The rings that a modifier after an event's name selects.
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
  std::vector<os::Code> codes;  ///< ways to ask for it: the first that the kernel takes
  std::string encoding{};       ///< encoding from sysfs ("event=0x2e,umask=0x41"); may be empty
  std::uint64_t scale = 1;      ///< factor of the count
  std::optional<os::Code> led_by{};  ///< counts only in a group that this event leads
};

/// The meaning of a name; not tried on this machine.
struct Resolved {
  std::string name;      ///< name as shown
  std::string own_name;  ///< perf's name for it
  std::string description{};
  Rings rings{};
  const KnownEvent* known = nullptr;  ///< null: from sysfs, or raw
  std::vector<Part> parts{};  ///< parts to be summed: a single one, or a part for each kind of core
};

/// Finds what `name` stands for: an alias, an event of perf's, pmu/event/, pmu/term=1,.../, rHEX or
/// an event of a core PMU, each with modifiers. Refused if it is unknown (with the nearest names)
/// or cannot count one task.
Result<Resolved> resolve(std::string_view name, const os::Sysfs& sysfs);

}  // namespace lauka::engine::perf
