#include "engine/perf/resolve.h"
#include "os/linux_calls.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

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

namespace lauka::engine::perf {

TEST_CASE("the codes of cache events are made of the kernel's numbers, as their names say") {
  constexpr auto units = std::to_array<std::pair<std::string_view, std::uint64_t>>(
      {{"L1-dcache", PERF_COUNT_HW_CACHE_L1D},
       {"L1-icache", PERF_COUNT_HW_CACHE_L1I},
       {"LLC", PERF_COUNT_HW_CACHE_LL},
       {"dTLB", PERF_COUNT_HW_CACHE_DTLB},
       {"iTLB", PERF_COUNT_HW_CACHE_ITLB},
       {"branch", PERF_COUNT_HW_CACHE_BPU},
       {"node", PERF_COUNT_HW_CACHE_NODE}});
  constexpr auto operations =
      std::to_array<std::pair<std::array<std::string_view, 2>, std::uint64_t>>(
          {{{"-loads", "-load-misses"}, PERF_COUNT_HW_CACHE_OP_READ},
           {{"-stores", "-store-misses"}, PERF_COUNT_HW_CACHE_OP_WRITE},
           {{"-prefetches", "-prefetch-misses"}, PERF_COUNT_HW_CACHE_OP_PREFETCH}});
  std::size_t known = 0;
  for (const auto& [unit, unit_number] : units) {
    for (const auto& [names, operation] : operations) {
      for (const std::uint64_t result :
           {PERF_COUNT_HW_CACHE_RESULT_ACCESS, PERF_COUNT_HW_CACHE_RESULT_MISS}) {
        const std::string name = std::string(unit).append(names.at(result));
        const KnownEvent* event = find_known(name);
        if (event == nullptr) continue;
        CAPTURE(name);
        CHECK(event->type == PERF_TYPE_HW_CACHE);
        CHECK(event->config == (unit_number | operation << 8U | result << 16U));
        ++known;
      }
    }
  }
  CHECK(known == 32);  // all of perf's own list; the others do not exist
}

TEST_CASE("the codes of generic and software events are the kernel's") {
  struct Coded {
    std::string_view name;
    std::uint32_t type;
    std::uint64_t config;
  };
  constexpr auto events = std::to_array<Coded>(
      {{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
       {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
       {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
       {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
       {"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
       {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
       {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
       {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
       {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
       {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
       {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
       {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
       {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
       {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
       {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
       {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
       {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
       {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
       {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
       {"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY}});
  for (const Coded& one : events) {
    CAPTURE(one.name);
    const KnownEvent* event = find_known(one.name);
    REQUIRE(event != nullptr);
    CHECK(event->type == one.type);
    CHECK(event->config == one.config);
  }
}

}  // namespace lauka::engine::perf
#endif
