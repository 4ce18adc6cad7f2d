#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace lauka::os {

/// perf_event_attr as the kernel takes it, so that what builds it is compiled on every system.
/// Source: include/uapi/linux/perf_event.h of Linux 6.3 (PERF_ATTR_SIZE_VER8); linux_calls.cc
/// asserts that the system's header agrees.
struct PerfEventAttr {
  std::uint32_t type = 0;
  std::uint32_t size = 0;
  std::uint64_t config = 0;
  std::uint64_t sample_period = 0;
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  std::uint64_t flags = 0;
  std::uint32_t wakeup_events = 0;
  std::uint32_t bp_type = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t sample_regs_user = 0;
  std::uint32_t sample_stack_user = 0;
  std::int32_t clockid = 0;
  std::uint64_t sample_regs_intr = 0;
  std::uint32_t aux_watermark = 0;
  std::uint16_t sample_max_stack = 0;
  std::uint16_t reserved_2 = 0;
  std::uint32_t aux_sample_size = 0;
  std::uint32_t aux_action = 0;
  std::uint64_t sig_data = 0;
  std::uint64_t config3 = 0;
};

static_assert(sizeof(PerfEventAttr) == 136);
static_assert(offsetof(PerfEventAttr, config) == 8);
static_assert(offsetof(PerfEventAttr, read_format) == 32);
static_assert(offsetof(PerfEventAttr, flags) == 40);
static_assert(offsetof(PerfEventAttr, config1) == 56);
static_assert(offsetof(PerfEventAttr, config2) == 64);
static_assert(offsetof(PerfEventAttr, sample_regs_intr) == 96);
static_assert(offsetof(PerfEventAttr, sig_data) == 120);
static_assert(offsetof(PerfEventAttr, config3) == 128);

/// PerfEventAttr::size of the first kernels that know config1, config2 and config3.
inline constexpr std::uint32_t kPerfSizeWithConfig1 = 64;
inline constexpr std::uint32_t kPerfSizeWithConfig2 = 72;
inline constexpr std::uint32_t kPerfSizeWithConfig3 = 136;

/// Bits of PerfEventAttr::flags. The kernel's header has them as bit-fields, which little-endian
/// systems fill from the lowest bit.
static_assert(std::endian::native == std::endian::little);
inline constexpr std::uint64_t kPerfDisabled = std::uint64_t{1} << 0;
inline constexpr std::uint64_t kPerfInherit = std::uint64_t{1} << 1;
inline constexpr std::uint64_t kPerfExcludeUser = std::uint64_t{1} << 4;
inline constexpr std::uint64_t kPerfExcludeKernel = std::uint64_t{1} << 5;
inline constexpr std::uint64_t kPerfExcludeHypervisor = std::uint64_t{1} << 6;
inline constexpr std::uint64_t kPerfEnableOnExec = std::uint64_t{1} << 12;

/// PerfEventAttr::type of the events that are the same on every machine.
inline constexpr std::uint32_t kPerfTypeHardware = 0;
inline constexpr std::uint32_t kPerfTypeSoftware = 1;
inline constexpr std::uint32_t kPerfTypeCache = 3;
inline constexpr std::uint32_t kPerfTypeRaw = 4;

/// PerfEventAttr::read_format. A group's leader reads {number, enabled, running, values...}, the
/// values in the order in which the group was opened.
inline constexpr std::uint64_t kPerfReadEnabled = 1;
inline constexpr std::uint64_t kPerfReadRunning = 2;
inline constexpr std::uint64_t kPerfReadGroup = 8;

}  // namespace lauka::os
