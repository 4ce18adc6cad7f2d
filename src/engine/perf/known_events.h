#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::perf {

/// What a counter of an event shows that was opened with exclude_kernel.
enum class WithoutKernel : unsigned char {
  UserPart,    ///< what happened in user space
  Everything,  ///< the same as with the kernel: clocks ignore the setting
  TooLittle,   ///< less than what it is named after, since that happens in the kernel as well
  Nothing,     ///< always 0, since it happens in the kernel only
};

/// An event that the kernel knows by number on every machine, whether or not this one has it.
struct KnownEvent {
  std::string alias{};       ///< the portable name; may be empty
  std::string name{};        ///< perf's name
  std::string other_name{};  ///< perf's second name; may be empty
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::string description{};
  std::vector<std::string> arm_names{};  ///< what Arm's driver takes for it, in sysfs' names
  WithoutKernel without_kernel = WithoutKernel::UserPart;

  /// The name it goes by here: the alias where it has one.
  const std::string& usual_name() const { return alias.empty() ? name : alias; }
};

/// All of them: those with an alias, then generic, cache and software events.
const std::vector<KnownEvent>& known_events();

/// The one of that name (any of its names, in any case); null where there is none.
const KnownEvent* find_known(std::string_view name);

}  // namespace lauka::engine::perf
