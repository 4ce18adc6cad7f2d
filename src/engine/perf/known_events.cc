#include "core/text.h"
#include "engine/perf/resolve.h"
#include "os/linux_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace lauka::engine::perf {
namespace {

constexpr std::uint32_t kHardware = os::kPerfTypeHardware;
constexpr std::uint32_t kSoftware = os::kPerfTypeSoftware;
constexpr std::uint32_t kCache = os::kPerfTypeCache;

enum Operation : unsigned char { Read = 0, Write = 1, Prefetch = 2 };

struct CacheUnit {
  std::string_view name;
  std::string_view meaning;
  std::uint64_t number;
  std::array<bool, 3> has;  ///< read, write, prefetch: as in perf's own list
};

constexpr std::array<CacheUnit, 7> kUnits = {{
    {"L1-dcache", "first-level data cache", 0, {true, true, true}},
    {"L1-icache", "first-level instruction cache", 1, {true, false, true}},
    {"LLC", "last-level cache", 2, {true, true, true}},
    {"dTLB", "data address translation", 3, {true, true, true}},
    {"iTLB", "instruction address translation", 4, {true, false, false}},
    {"branch", "branch prediction unit", 5, {true, false, false}},
    {"node", "memory of the node", 6, {true, true, true}},
}};

struct Names {
  std::string_view alias;
  std::string_view arm;
};

/// Aliases of cache events, and what Arm's kernel driver maps them to.
Names names_of_cache_event(std::uint64_t unit, Operation operation, bool miss) {
  if (operation != Read) return {};
  switch (unit) {
    case 0:
      return miss ? Names{"l1d-cache-misses", "l1d_cache_refill"} : Names{"", "l1d_cache"};
    case 1:
      return miss ? Names{"l1i-cache-misses", "l1i_cache_refill"} : Names{"", "l1i_cache"};
    case 3:
      return miss ? Names{"l1d-tlb-misses", "l1d_tlb_refill"} : Names{"", "l1d_tlb"};
    case 4:
      return miss ? Names{"l1i-tlb-misses", "l1i_tlb_refill"} : Names{"", "l1i_tlb"};
    default:
      return {};
  }
}

KnownEvent cache_event(const CacheUnit& unit, Operation operation, bool miss) {
  static constexpr std::array<std::string_view, 3> kMany = {"-loads", "-stores", "-prefetches"};
  static constexpr std::array<std::string_view, 3> kMisses = {"-load-misses", "-store-misses",
                                                              "-prefetch-misses"};
  static constexpr std::array<std::string_view, 3> kWords = {"loads", "stores", "prefetches"};
  const auto [alias, arm] = names_of_cache_event(unit.number, operation, miss);
  KnownEvent event;
  event.alias = alias;
  event.name = std::string(unit.name) + std::string(miss ? kMisses[operation] : kMany[operation]);
  event.type = kCache;
  event.config = unit.number | (std::uint64_t{operation} << 8U) | (miss ? 1ULL << 16U : 0ULL);
  event.description = std::string(unit.meaning) + ": " + std::string(kWords[operation]) +
                      (miss ? " that miss" : "");
  if (!arm.empty()) event.arm_names.emplace_back(arm);
  return event;
}

void add_hardware(std::vector<KnownEvent>& to) {
  const auto add = [&to](KnownEvent event) { to.push_back(std::move(event)); };
  add({"cycles",
       "cpu-cycles",
       "",
       kHardware,
       0,
       "cycles in which the core was at work",
       {"cpu_cycles"}});
  add({"instructions",
       "instructions",
       "",
       kHardware,
       1,
       "instructions that were completed",
       {"inst_retired"}});
  add({"branches",
       "branch-instructions",
       "",
       kHardware,
       4,
       "branches that were completed",
       {"br_retired", "pc_write_retired"}});
  add({"branch-misses",
       "branch-misses",
       "",
       kHardware,
       5,
       "branches that were predicted wrongly",
       {"br_mis_pred"}});
  add({"cache-references",
       "cache-references",
       "",
       kHardware,
       2,
       "cache accesses, mostly of the last level",
       {"l1d_cache"}});
  add({"cache-misses",
       "cache-misses",
       "",
       kHardware,
       3,
       "cache misses, mostly of the last level",
       {"l1d_cache_refill"}});
  add({"", "bus-cycles", "", kHardware, 6, "cycles of the bus", {"bus_cycles"}});
  add({"",
       "stalled-cycles-frontend",
       "idle-cycles-frontend",
       kHardware,
       7,
       "cycles without new instructions to work on",
       {"stall_frontend"}});
  add({"",
       "stalled-cycles-backend",
       "idle-cycles-backend",
       kHardware,
       8,
       "cycles in which instructions waited for results or memory",
       {"stall_backend"}});
  add({"", "ref-cycles", "", kHardware, 9, "cycles of a clock that keeps its frequency"});
}

void add_cache(std::vector<KnownEvent>& to) {
  for (const CacheUnit& unit : kUnits) {
    for (const Operation operation : {Read, Write, Prefetch}) {
      if (!unit.has[operation]) continue;
      to.push_back(cache_event(unit, operation, false));
      to.push_back(cache_event(unit, operation, true));
    }
  }
}

void add_software(std::vector<KnownEvent>& to) {
  const auto add = [&to](std::string_view alias, std::string_view name, std::string_view other,
                         std::uint64_t config, WithoutKernel without_kernel,
                         std::string_view description) {
    to.push_back({std::string(alias),
                  std::string(name),
                  std::string(other),
                  kSoftware,
                  config,
                  std::string(description),
                  {},
                  without_kernel});
  };
  add("page-faults", "page-faults", "faults", 2, WithoutKernel::TooLittle,
      "pages that had to be provided");
  add("context-switches", "context-switches", "cs", 3, WithoutKernel::Nothing,
      "times the core went to another thread");
  add("", "task-clock", "", 1, WithoutKernel::Everything, "CPU time in nanoseconds");
  add("", "cpu-clock", "", 0, WithoutKernel::Everything,
      "CPU time in nanoseconds, by the high-resolution timer");
  add("", "cpu-migrations", "migrations", 4, WithoutKernel::Nothing,
      "times a thread was moved to another core");
  add("", "minor-faults", "", 5, WithoutKernel::TooLittle, "page faults without input");
  add("", "major-faults", "", 6, WithoutKernel::TooLittle, "page faults that had to read");
  add("", "alignment-faults", "", 7, WithoutKernel::UserPart,
      "unaligned accesses that the kernel had to correct");
  add("", "emulation-faults", "", 8, WithoutKernel::UserPart,
      "instructions that the kernel had to emulate");
  add("", "cgroup-switches", "", 11, WithoutKernel::Nothing,
      "times the core went to a thread of another cgroup");
  add("", "dummy", "", 9, WithoutKernel::Everything, "counts nothing");
}

std::vector<KnownEvent> make_known_events() {
  std::vector<KnownEvent> events;
  add_hardware(events);
  add_cache(events);
  add_software(events);
  std::stable_partition(events.begin(), events.end(),
                        [](const KnownEvent& event) { return !event.alias.empty(); });
  return events;
}

}  // namespace

const std::vector<KnownEvent>& known_events() {
  static const std::vector<KnownEvent> kEvents = make_known_events();
  return kEvents;
}

const KnownEvent* find_known(std::string_view name) {
  if (name.empty()) return nullptr;
  const auto& events = known_events();
  const auto found = std::ranges::find_if(events, [name](const KnownEvent& event) {
    return same_ignoring_case(name, event.alias) || same_ignoring_case(name, event.name) ||
           same_ignoring_case(name, event.other_name);
  });
  return found == events.end() ? nullptr : &*found;
}

}  // namespace lauka::engine::perf
