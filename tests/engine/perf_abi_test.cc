#include "os/linux_calls.h"

#include <cstring>

#include <doctest/doctest.h>

// The bit-fields of the kernel's header cannot be compared at compile time: if the header is
// installed, they are set one by one.
#if __has_include(<linux/perf_event.h>)
#include <linux/perf_event.h>

namespace lauka::os {

TEST_CASE("our flags are the bit-fields of the kernel's header") {
  const auto flags_with = [](auto set) {
    perf_event_attr attributes{};
    set(attributes);
    std::uint64_t flags = 0;
    const auto* bytes = reinterpret_cast<const char*>(&attributes);
    std::memcpy(&flags, bytes + offsetof(PerfEventAttr, flags), sizeof flags);
    return flags;
  };
  CHECK(flags_with([](auto& a) { a.disabled = 1; }) == kPerfDisabled);
  CHECK(flags_with([](auto& a) { a.inherit = 1; }) == kPerfInherit);
  CHECK(flags_with([](auto& a) { a.exclude_user = 1; }) == kPerfExcludeUser);
  CHECK(flags_with([](auto& a) { a.exclude_kernel = 1; }) == kPerfExcludeKernel);
  CHECK(flags_with([](auto& a) { a.exclude_hv = 1; }) == kPerfExcludeHypervisor);
  CHECK(flags_with([](auto& a) { a.enable_on_exec = 1; }) == kPerfEnableOnExec);
}

}  // namespace lauka::os
#endif
