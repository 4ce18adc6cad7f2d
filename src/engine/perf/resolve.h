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

/// The meaning of an event's count if exclude_kernel is set.
enum class WithoutKernel : unsigned char {
  UserPart,    ///< the part of the count in user space
  Everything,  ///< the full count, because clocks ignore the setting
  TooLittle,   ///< too little for its name, because the event also happens in the kernel
  Nothing,     ///< nothing, because the event happens in the kernel only
};

/// An event with a number that is the same on every machine, even if this machine lacks the event.
struct KnownEvent {
  std::string_view alias;       ///< portable name; may be empty
  std::string_view name;        ///< perf's name
  std::string_view other_name;  ///< perf's second name; may be empty
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::string_view description;
  std::string_view
      arm_names{};  ///< names in sysfs with Arm's driver, separated by blanks; may be empty
  WithoutKernel without_kernel = WithoutKernel::UserPart;

  /// Returns the alias if there is one, else perf's name.
  std::string_view usual_name() const { return alias.empty() ? name : alias; }
};

/// Returns all known events: those with an alias, then generic, cache and software events.
std::span<const KnownEvent> known_events();

/// Finds an event by its alias or one of perf's names, ignoring case; null if missing.
const KnownEvent* find_known(std::string_view name);

/// The privilege levels that a modifier after an event's name selects.
struct Rings {
  bool user = true;
  bool kernel = true;
  bool hypervisor = true;
  bool asked_for = false;  ///< true if there was a modifier

  bool operator==(const Rings&) const = default;
};

/// An event on one PMU.
struct Part {
  std::string pmu;    ///< name of the PMU; "software" for the kernel's own counts
  bool core = false;  ///< true if the PMU is of the cores
  std::vector<os::Code>
      codes;  ///< alternative encodings, of which the first that the kernel accepts is used
  std::string encoding{};   ///< terms in sysfs ("event=0x2e,umask=0x41"), or Arm's name of the
                            ///< event; empty: unknown
  std::uint64_t scale = 1;  ///< factor by which the count is multiplied
  std::optional<os::Code> led_by{};  ///< event that must lead the group of this one; nullopt: any
};

/// The event that a name stands for, not yet tried on this machine.
struct ResolvedEvent {
  std::string name;      ///< name as shown
  std::string own_name;  ///< perf's name for the event
  std::string description{};
  Rings rings{};
  const KnownEvent* known = nullptr;  ///< null: an event of a PMU or from sysfs, or a raw event
  std::vector<Part>
      parts{};  ///< parts whose counts are summed: one part, or one for each core kind that has it
};

/// Finds the event that `name` stands for: an alias, an event of perf, pmu/event/, pmu/term=1,.../,
/// rHEX or an event of a core PMU, each with optional modifiers. Refuses an event that cannot count
/// one task, and an unknown one, with the nearest names.
Result<ResolvedEvent> resolve(std::string_view name, const os::Sysfs& sysfs);

}  // namespace lauka::engine::perf
