#pragma once

#include "fakes/darwin/process.h"

#include <cstdint>
#include <functional>
#include <string>

namespace lauka::darwin {

inline constexpr std::uint32_t kKperfPart = 1;
inline constexpr std::uint32_t kKdebugPart = 2;

/// Who may configure kperf and kdebug: facts, 3.3.
struct Ktrace {
  enum class State : std::uint32_t { Off = 0, Foreground = 1, Background = 2 };

  State state = State::Off;
  Pid owner = 0;
  Pid blessed = -1;
  std::string configured_by{};
  std::uint32_t active = 0;  ///< parts that are configured

  /// `who` wants to configure `part`: 0, EPERM or EBUSY. `is_alive` tells of a pid; `reset` clears
  /// all parts of a background tracer that is thrown out.
  int configure(std::uint32_t part, const Process& who, bool is_root,
                const std::function<bool(Pid)>& is_alive, const std::function<void()>& reset);

  /// A part was reset; with the last one ownership ends.
  void give_up(std::uint32_t part);
};

}  // namespace lauka::darwin
