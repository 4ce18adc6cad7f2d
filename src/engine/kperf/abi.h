#pragma once

#include "os/darwin_calls.h"

#include <array>
#include <cstddef>
#include <cstdint>

// Layouts and numbers of kpc, kperf, kdebug and ktrace that no SDK has. Sources: XNU
// osfmk/kern/kpc.h, osfmk/kperf/{action,buffer,kptimer}.h, bsd/sys/{kdebug,kdebug_private}.h.

namespace lauka::engine::kperf {

using os::Timebase;

/// Classes of counters, as bits.
inline constexpr std::uint32_t kFixedClass = 1;
inline constexpr std::uint32_t kConfigurableClass = 2;
inline constexpr std::uint32_t kBothClasses = kFixedClass | kConfigurableClass;
/// kpc.counters: the values of all CPUs.
inline constexpr std::uint64_t kAllCpus = 0x80000000;

/// Values come class by class: cycles, instructions, then the configurable ones.
inline constexpr std::size_t kInstructionsValue = 1;
inline constexpr std::size_t kFixedCounters = 2;
inline constexpr std::size_t kConfigurableCounters = 8;
inline constexpr std::size_t kMaxUserCounters = 32;  ///< KPC_MAX_COUNTERS of the user's headers

/// Bits of a configuration word: the selector, and the privilege levels (none: all).
inline constexpr std::uint64_t kSelectorBits = 0xffff;
inline constexpr std::uint64_t kUserSpaceOnly = 0x20000;

/// kperf.action.samplers.
inline constexpr std::uint32_t kSampleThreadCounters = 1U << 4U;

/// The kernel raises a shorter period of a PET timer to this without a word
/// (kperf.limits.timer_min_pet_period_ns).
inline constexpr std::uint64_t kLeastPetPeriodNs = 1'000'000;

/// A record of the trace (kd_buf). `thread`: unique id of the thread that wrote it.
struct KdebugRecord {
  std::uint64_t timestamp = 0;  ///< mach units
  std::array<std::uint64_t, 4> arguments{};
  std::uint64_t thread = 0;
  std::uint32_t debugid = 0;
  std::uint32_t cpu = 0;
  std::uint64_t unused = 0;
};
static_assert(sizeof(KdebugRecord) == 64);
static_assert(offsetof(KdebugRecord, arguments) == 8);
static_assert(offsetof(KdebugRecord, thread) == 40);
static_assert(offsetof(KdebugRecord, debugid) == 48);
static_assert(offsetof(KdebugRecord, cpu) == 52);

/// The state of the trace (kbufinfo_t).
struct KdebugInfo {
  std::uint32_t capacity = 0;  ///< records
  std::uint32_t nolog = 0;     ///< 1: not recording
  std::uint32_t flags = 0;
  std::uint32_t threads = 0;
  std::int32_t owner = -1;  ///< pid
};
static_assert(sizeof(KdebugInfo) == 20);

/// KdebugInfo::flags.
inline constexpr std::uint32_t kKdebugWrapped = 0x8;
/// To be set: coprocessors are neither asked for records nor told what to trace.
inline constexpr std::uint32_t kKdebugNoCoprocessors = 0x400;
inline constexpr std::uint32_t kKdebugValueCheck = 0x200000;  ///< also KdebugFilter::type
inline constexpr std::uint32_t kKdebugReady = 0x80000000;

/// kKdSetReg (kd_regtype): up to four debugids without START and END.
struct KdebugFilter {
  std::uint32_t type = 0;
  std::array<std::uint32_t, 4> values{};
};
static_assert(sizeof(KdebugFilter) == 20);

/// kKdSetTypefilter: a bit for each class and subclass of records. The kernel adds class 7, which
/// has what threads do.
inline constexpr std::size_t kTypefilterBytes = 8192;

/// Function bits of a debugid.
inline constexpr std::uint32_t kStart = 1;
inline constexpr std::uint32_t kEnd = 2;

inline constexpr std::uint32_t kNewThread = 0x07000004;
inline constexpr std::uint32_t kExec = 0x07000008;
inline constexpr std::uint32_t kThreadTerminate = 0x0700000c;
inline constexpr std::uint32_t kThreadTerminatePid = 0x07000010;
inline constexpr std::uint32_t kLostEvents = 0x07020008;
inline constexpr std::uint32_t kThreadCountersData = 0x25060020;

/// kperf.kdebug.filter: what starts an action. 16 bytes hold a code of four bits for each of the
/// debugids that follow them, low nibble first.
struct KdebugTrigger {
  std::array<std::uint8_t, 16> codes{};
  std::uint32_t debugid = 0;
};
static_assert(sizeof(KdebugTrigger) == 20);
/// The code that matches an event without its START and END.
inline constexpr std::uint8_t kMatchEvent = 4;

}  // namespace lauka::engine::kperf
