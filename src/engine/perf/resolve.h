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

/// The meaning of an event's count if perf_event's exclude_kernel is set.
enum class WithoutKernel : unsigned char {
  UserPart,    ///< the count in user space
  Everything,  ///< the full count, as for a clock
  TooLittle,   ///< less than the event's name promises
  Nothing,     ///< 0, because the event happens only in the kernel
};

/// An event whose perf type and config are the same on every machine.
struct KnownEvent {
  std::string_view alias;  ///< lauka's portable name for the event; may be empty
  std::string_view name;
  std::string_view other_name;
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::string_view description;
  /// Names of the event in the sysfs of Arm's PMU driver, separated by blanks; may be empty.
  std::string_view arm_names{};
  WithoutKernel without_kernel = WithoutKernel::UserPart;

  std::string_view usual_name() const { return alias.empty() ? name : alias; }
};

/// Returns all known events; events with an alias come first.
std::span<const KnownEvent> known_events();

/// Finds an event by its alias or one of perf's names, ignoring case; null if unknown.
const KnownEvent* find_known(std::string_view name);

/// The privilege levels in which an event is counted.
struct PrivilegeLevels {
  bool user = true;
  bool kernel = true;
  bool hypervisor = true;
  bool are_by_modifier = false;

  bool operator==(const PrivilegeLevels&) const = default;
};

/// An event as one PMU counts it.
struct EventOnPmu {
  std::string pmu;  ///< name of the PMU; "software" for the kernel's own counts
  bool core = false;
  /// Alternative encodings of the event; the first that the kernel accepts is used.
  std::vector<os::EventCode> codes;
  /// The event's terms in sysfs ("event=0x2e,umask=0x41"), or its Arm name; empty if unknown.
  std::string encoding_text{};
  std::uint64_t scale = 1;
  /// Encoding of the event that must lead this event's group; nullopt: any event may lead it.
  std::optional<os::EventCode> leader_code{};
};

/// An event that has a name. This machine may be unable to count it.
struct ResolvedEvent {
  std::string name;
  std::string perf_name;
  std::string description{};
  PrivilegeLevels levels{};
  /// Entry of known_events() that has the name; null if no entry has the name.
  const KnownEvent* known_entry = nullptr;
  std::vector<EventOnPmu> events_on_pmus{};  ///< one element for each PMU that has the event; the
                                             ///< counts on all PMUs are added
};

/// Finds the event called `name`: an alias, an event of perf, pmu/event/, pmu/term=1,.../,
/// rHEX or an event of a core PMU; each may have modifiers, such as :u.
Result<ResolvedEvent> resolve(std::string_view name, const os::Sysfs& sysfs);

}  // namespace lauka::engine::perf
