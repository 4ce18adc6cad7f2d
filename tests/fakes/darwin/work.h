#pragma once

#include "fakes/darwin/chip.h"

#include <array>
#include <cstddef>
#include <cstdint>

// The work of the model's processors in a time. Every count of the model is a function of the time
// that a thread has run, so that no order of switches, samples and readings can change a sum.

namespace lauka::darwin {

enum class Level : std::uint8_t { Performance = 0, Efficiency = 1 };
enum class Mode : std::uint8_t { User = 0, Kernel = 1 };
inline constexpr std::size_t kLevels = 2;

/// Nanoseconds on a processor, by kind of core and mode.
struct Work {
  std::array<std::array<std::uint64_t, 2>, kLevels> ns{};

  std::uint64_t& at(Level level, Mode mode) {
    return ns.at(static_cast<std::size_t>(level)).at(static_cast<std::size_t>(mode));
  }
  std::uint64_t at(Level level, Mode mode) const {
    return ns.at(static_cast<std::size_t>(level)).at(static_cast<std::size_t>(mode));
  }
  std::uint64_t of(Mode mode) const {
    return at(Level::Performance, mode) + at(Level::Efficiency, mode);
  }
  std::uint64_t total() const { return of(Mode::User) + of(Mode::Kernel); }
  Work& operator+=(const Work& other);
};

/// The modes that a counter counts.
struct Modes {
  bool user = true;
  bool kernel = true;
};
inline constexpr Modes kUserOnly{true, false};
inline constexpr Modes kBothModes{true, true};

/// 3.5 cycles in a nanosecond on a performance core, 2 on an efficiency core.
std::uint64_t cycles_of(const Work& work, Level level, Modes modes);
std::uint64_t cycles_of(const Work& work, Modes modes);

/// 11.2 instructions in a nanosecond of user space on a performance core, 2.2 on an efficiency
/// core; the kernel's take longer: 3.15 and 1.8.
std::uint64_t instructions_of(const Work& work, Level level, Modes modes);
std::uint64_t instructions_of(const Work& work, Modes modes);

/// 3.4 W on a performance core, 0.16 W on an efficiency core.
std::uint64_t energy_nj_of(const Work& work, Level level);

/// Returns how often `event` happens in `work`: a share of the instructions that is the event's
/// own.
std::uint64_t event_count(const ChipEvent& event, const Work& work, Modes modes);

}  // namespace lauka::darwin
