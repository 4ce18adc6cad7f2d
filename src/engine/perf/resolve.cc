#include "engine/perf/resolve.h"

#include "core/text.h"
#include "os/linux_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine::perf {

namespace {

constexpr std::uint32_t kHardware = os::kPerfTypeHardware;
constexpr std::uint32_t kCache = os::kPerfTypeCache;
constexpr std::uint32_t kSoftware = os::kPerfTypeSoftware;

// The config of a cache event is the cache, plus 0x100 times the operation, plus 0x10000 for
// misses.
constexpr auto kKnownEvents = std::to_array<KnownEvent>({
    {"cycles", "cpu-cycles", "", kHardware, 0, "cycles in which the core was busy", "cpu_cycles"},
    {"instructions", "instructions", "", kHardware, 1, "instructions that were completed",
     "inst_retired"},
    {"branches", "branch-instructions", "", kHardware, 4, "branches that were completed",
     "br_retired pc_write_retired"},
    {"branch-misses", "branch-misses", "", kHardware, 5, "branches that were predicted wrongly",
     "br_mis_pred"},
    {"cache-references", "cache-references", "", kHardware, 2,
     "cache accesses, mostly of the last level", "l1d_cache"},
    {"cache-misses", "cache-misses", "", kHardware, 3, "cache misses, mostly of the last level",
     "l1d_cache_refill"},
    {"l1d-cache-misses", "L1-dcache-load-misses", "", kCache, 0x10000,
     "first-level data cache: loads that miss", "l1d_cache_refill"},
    {"l1i-cache-misses", "L1-icache-load-misses", "", kCache, 0x10001,
     "first-level instruction cache: loads that miss", "l1i_cache_refill"},
    {"l1d-tlb-misses", "dTLB-load-misses", "", kCache, 0x10003,
     "data address translation: loads that miss", "l1d_tlb_refill"},
    {"l1i-tlb-misses", "iTLB-load-misses", "", kCache, 0x10004,
     "instruction address translation: loads that miss", "l1i_tlb_refill"},
    {"page-faults", "page-faults", "faults", kSoftware, 2, "pages that the kernel had to provide",
     "", WithoutKernel::TooLittle},
    {"context-switches", "context-switches", "cs", kSoftware, 3,
     "how often a core switched to another thread", "", WithoutKernel::Nothing},
    {"", "bus-cycles", "", kHardware, 6, "cycles of the bus", "bus_cycles"},
    {"", "stalled-cycles-frontend", "idle-cycles-frontend", kHardware, 7,
     "cycles without new instructions to work on", "stall_frontend"},
    {"", "stalled-cycles-backend", "idle-cycles-backend", kHardware, 8,
     "cycles in which instructions waited for results or memory", "stall_backend"},
    {"", "ref-cycles", "", kHardware, 9, "cycles of a clock that keeps its frequency"},
    {"", "L1-dcache-loads", "", kCache, 0x0, "first-level data cache: loads", "l1d_cache"},
    {"", "L1-dcache-stores", "", kCache, 0x100, "first-level data cache: stores"},
    {"", "L1-dcache-store-misses", "", kCache, 0x10100, "first-level data cache: stores that miss"},
    {"", "L1-dcache-prefetches", "", kCache, 0x200, "first-level data cache: prefetches"},
    {"", "L1-dcache-prefetch-misses", "", kCache, 0x10200,
     "first-level data cache: prefetches that miss"},
    {"", "L1-icache-loads", "", kCache, 0x1, "first-level instruction cache: loads", "l1i_cache"},
    {"", "L1-icache-prefetches", "", kCache, 0x201, "first-level instruction cache: prefetches"},
    {"", "L1-icache-prefetch-misses", "", kCache, 0x10201,
     "first-level instruction cache: prefetches that miss"},
    {"", "LLC-loads", "", kCache, 0x2, "last-level cache: loads"},
    {"", "LLC-load-misses", "", kCache, 0x10002, "last-level cache: loads that miss"},
    {"", "LLC-stores", "", kCache, 0x102, "last-level cache: stores"},
    {"", "LLC-store-misses", "", kCache, 0x10102, "last-level cache: stores that miss"},
    {"", "LLC-prefetches", "", kCache, 0x202, "last-level cache: prefetches"},
    {"", "LLC-prefetch-misses", "", kCache, 0x10202, "last-level cache: prefetches that miss"},
    {"", "dTLB-loads", "", kCache, 0x3, "data address translation: loads", "l1d_tlb"},
    {"", "dTLB-stores", "", kCache, 0x103, "data address translation: stores"},
    {"", "dTLB-store-misses", "", kCache, 0x10103, "data address translation: stores that miss"},
    {"", "dTLB-prefetches", "", kCache, 0x203, "data address translation: prefetches"},
    {"", "dTLB-prefetch-misses", "", kCache, 0x10203,
     "data address translation: prefetches that miss"},
    {"", "iTLB-loads", "", kCache, 0x4, "instruction address translation: loads", "l1i_tlb"},
    {"", "branch-loads", "", kCache, 0x5, "branch prediction unit: loads"},
    {"", "branch-load-misses", "", kCache, 0x10005, "branch prediction unit: loads that miss"},
    {"", "node-loads", "", kCache, 0x6, "memory of the node: loads"},
    {"", "node-load-misses", "", kCache, 0x10006, "memory of the node: loads that miss"},
    {"", "node-stores", "", kCache, 0x106, "memory of the node: stores"},
    {"", "node-store-misses", "", kCache, 0x10106, "memory of the node: stores that miss"},
    {"", "node-prefetches", "", kCache, 0x206, "memory of the node: prefetches"},
    {"", "node-prefetch-misses", "", kCache, 0x10206, "memory of the node: prefetches that miss"},
    {"", "task-clock", "", kSoftware, 1, "CPU time in nanoseconds", "", WithoutKernel::Everything},
    {"", "cpu-clock", "", kSoftware, 0, "CPU time in nanoseconds, by the high-resolution timer", "",
     WithoutKernel::Everything},
    {"", "cpu-migrations", "migrations", kSoftware, 4,
     "how often a thread was moved to another core", "", WithoutKernel::Nothing},
    {"", "minor-faults", "", kSoftware, 5, "page faults that were served from memory", "",
     WithoutKernel::TooLittle},
    {"", "major-faults", "", kSoftware, 6, "page faults that had to read from a disk", "",
     WithoutKernel::TooLittle},
    {"", "alignment-faults", "", kSoftware, 7, "unaligned accesses that the kernel had to correct"},
    {"", "emulation-faults", "", kSoftware, 8, "instructions that the kernel had to emulate"},
    {"", "cgroup-switches", "", kSoftware, 11,
     "how often a core switched to a thread of another cgroup", "", WithoutKernel::Nothing},
    {"", "dummy", "", kSoftware, 9, "counts nothing", "", WithoutKernel::Everything},
});

std::pair<std::string_view, std::string_view> split_modifiers(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash != std::string_view::npos && slash != name.find('/')) {
    std::string_view rest = name.substr(slash + 1);
    if (rest.starts_with(':')) rest.remove_prefix(1);
    return {name.substr(0, slash + 1), rest};
  }
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || slash != std::string_view::npos) return {name, {}};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

Result<PrivilegeLevels> parse_levels(std::string_view modifiers, std::string_view name) {
  if (modifiers.empty()) return PrivilegeLevels{};
  const std::size_t unknown = modifiers.find_first_not_of("ukh");
  if (unknown != std::string_view::npos)
    return Error{fmt::format("'{}' has an unknown modifier '{}'", name, modifiers[unknown]),
                 "modifiers are u (user space), k (kernel) and h (hypervisor)"};
  const auto has = [&](char letter) { return modifiers.find(letter) != std::string_view::npos; };
  return PrivilegeLevels{has('u'), has('k'), has('h'), true};
}

/// Returns the event's encoding in sysfs, for kernels that accept no PMU number in config; nullopt
/// if missing.
std::optional<os::EventCode> find_code_by_sysfs_name(const KnownEvent& event, const os::Pmu& pmu,
                                                     const os::Sysfs& sysfs) {
  std::vector<std::string_view> names = blank_separated(event.arm_names);
  names.insert(names.begin(), {event.name, event.usual_name()});
  for (const std::string_view name : names) {
    if (!sysfs.read_terms(pmu, name)) continue;
    if (const auto code = sysfs.encode(pmu, name)) return *code;
  }
  return std::nullopt;
}

std::string read_encoding_text(const KnownEvent& event, const os::Pmu& pmu,
                               const os::Sysfs& sysfs) {
  for (const std::string_view name : {event.name, event.usual_name()})
    if (const auto terms = sysfs.read_terms(pmu, name)) return *terms;
  if (pmu.name.starts_with("armv") && !event.arm_names.empty())
    return std::string(blank_separated(event.arm_names).front());
  return {};
}

EventOnPmu make_event_on_pmu(const KnownEvent& event, const os::Pmu& pmu, bool one_of_several,
                             const os::Sysfs& sysfs) {
  EventOnPmu part{pmu.name,
                  true,
                  {os::EventCode{event.type, event.config}},
                  read_encoding_text(event, pmu, sysfs)};
  if (one_of_several) {
    // Puts the PMU's number into the upper half of config (Intel since Linux 5.13, Arm since 6.6).
    part.codes.front().config |= std::uint64_t{pmu.type} << 32U;
    if (const auto code = find_code_by_sysfs_name(event, pmu, sysfs)) part.codes.push_back(*code);
  }
  return part;
}

ResolvedEvent resolve_known(const KnownEvent& event, const os::Sysfs& sysfs) {
  ResolvedEvent resolved;
  resolved.perf_name = event.name;
  resolved.description = event.description;
  resolved.known_entry = &event;
  const os::EventCode plain{event.type, event.config};
  if (event.type == os::kPerfTypeSoftware) {
    resolved.events_on_pmus.push_back({"software", false, {plain}});
    return resolved;
  }
  const std::vector<os::Pmu> cores = sysfs.core_pmus();
  if (cores.empty()) resolved.events_on_pmus.push_back({"cpu", true, {plain}});
  for (const os::Pmu& pmu : cores)
    resolved.events_on_pmus.push_back(make_event_on_pmu(event, pmu, cores.size() > 1, sysfs));
  return resolved;
}

/// Returns Intel's event slots, which must lead the group of a topdown event; nullopt if `event` is
/// not a topdown event, or if the PMU has no event slots.
std::optional<os::EventCode> find_leader(std::string_view event, const os::Pmu& pmu,
                                         const os::Sysfs& sysfs) {
  constexpr std::string_view slots = "slots";
  if (!event.starts_with("topdown-") || !sysfs.read_terms(pmu, slots)) return std::nullopt;
  const auto code = sysfs.encode(pmu, slots);
  return code ? std::optional(*code) : std::nullopt;
}

/// Sets what a topdown event needs besides its code. Other events of a core stay as they are.
void set_topdown_facts(std::string_view event, const os::Pmu& pmu, const os::Sysfs& sysfs,
                       EventOnPmu& on_pmu) {
  on_pmu.scale = sysfs.read_topdown_scale(pmu, event);
  on_pmu.leader_code = find_leader(event, pmu, sysfs);
}

/// Returns which PMUs the cores have, as a remedy; empty if they have none.
std::string make_core_pmus_remedy(const os::Sysfs& sysfs) {
  std::vector<std::string> cores;
  for (const os::Pmu& core : sysfs.core_pmus()) cores.push_back(core.name);
  if (cores.empty()) return "";
  return cores.size() == 1 ? fmt::format("the PMU of the cores is {}", listed(cores))
                           : fmt::format("the PMUs of the cores are {}", listed(cores));
}

/// Finds the PMU that counts the event `text`. Returns an error if there is none that can count for
/// one program.
Result<os::Pmu> find_pmu(std::string_view text, std::string_view pmu_name, const os::Sysfs& sysfs) {
  auto pmu = sysfs.find(pmu_name);
  if (!pmu)
    return Error{fmt::format("'{}' names the PMU '{}', which does not exist here", text, pmu_name),
                 make_core_pmus_remedy(sysfs)};
  if (pmu->kind != os::PmuKind::PerPackage) return *std::move(pmu);

  // This PMU (RAPL) has only events of energy, which lauka measures if they are named without the
  // PMU.
  constexpr std::string_view pmu_of_energy = "power";
  return Error{
      fmt::format("'{}' cannot be counted for one program, because {} counts for a whole package",
                  text, pmu->name),
      pmu->name == pmu_of_energy ? "write -e energy-pkg or another name of energy alone"
                                 : "use perf stat -a to count it"};
}

/// Finds an event that the kernel has for cores without listing it in sysfs; null if unknown.
/// Software events are not counted by a PMU of the cores.
const KnownEvent* find_known_to_cores(std::string_view name) {
  const KnownEvent* known = find_known(name);
  return known != nullptr && known->type != os::kPerfTypeSoftware ? known : nullptr;
}

/// Returns an event that consists of terms, or that sysfs lists. `listed_terms`: the terms of a
/// listed event, which describe it; else empty.
Result<EventOnPmu> encode_event(std::string_view name_or_terms, std::string listed_terms,
                                const os::Pmu& pmu, const os::Sysfs& sysfs) {
  const auto code = sysfs.encode(pmu, name_or_terms);
  if (!code) return code.error();
  EventOnPmu event{.pmu = pmu.name,
                   .core = pmu.kind == os::PmuKind::Core,
                   .codes = {*code},
                   .encoding_text = std::move(listed_terms)};

  // Intel's topdown events are counted together with an event that leads their group.
  if (event.core) set_topdown_facts(name_or_terms, pmu, sysfs, event);
  return event;
}

/// Finds an event of a PMU that has this name, or that consists of these terms.
Result<ResolvedEvent> find_event_of_pmu(std::string_view name_or_terms, const os::Pmu& pmu,
                                        const os::Sysfs& sysfs) {
  // sysfs, the kernel's description of its devices, lists a PMU's events by name. The kernel also
  // knows some events of cores that are not listed there.
  const auto listed_terms = sysfs.read_terms(pmu, name_or_terms);
  const bool may_be_unlisted = pmu.kind == os::PmuKind::Core && !listed_terms;
  const KnownEvent* const known = may_be_unlisted ? find_known_to_cores(name_or_terms) : nullptr;

  ResolvedEvent resolved;
  if (known != nullptr) {
    // With several PMUs, the code of the event must also tell which of them is to count it.
    const bool has_several_core_pmus = sysfs.core_pmus().size() > 1;
    resolved.description = known->description;
    resolved.events_on_pmus.push_back(make_event_on_pmu(*known, pmu, has_several_core_pmus, sysfs));
    return resolved;
  }

  auto event = encode_event(name_or_terms, listed_terms.value_or(""), pmu, sysfs);
  if (!event) return event.error();
  resolved.description = event->encoding_text;
  resolved.events_on_pmus.push_back(*std::move(event));
  return resolved;
}

/// Finds out how the kernel encodes an event that users write as "pmu/event/", with the name of a
/// performance monitoring unit (PMU), or as "pmu/term=1,.../". `text`: what users wrote, which has
/// a slash.
Result<ResolvedEvent> resolve_on_pmu(std::string_view text, const os::Sysfs& sysfs) {
  const std::size_t slash = text.find('/');
  std::string_view event_or_terms = text.substr(slash + 1);
  if (!event_or_terms.ends_with('/'))
    return Error{fmt::format("'{}' has no closing slash", text), "write pmu/event/"};
  event_or_terms.remove_suffix(1);

  const auto pmu = find_pmu(text, text.substr(0, slash), sysfs);
  if (!pmu) return pmu.error();

  auto resolved = find_event_of_pmu(event_or_terms, *pmu, sysfs);
  if (!resolved) return resolved.error().prefixed(fmt::format("'{}'", text));
  resolved->perf_name = text;
  return resolved;
}

ResolvedEvent resolve_raw(std::string_view text, std::uint64_t code, const os::Sysfs& sysfs) {
  ResolvedEvent resolved;
  resolved.perf_name = text;
  resolved.description = "raw event";
  const std::vector<os::Pmu> cores = sysfs.core_pmus();
  if (cores.empty())
    resolved.events_on_pmus.push_back({"cpu", true, {os::EventCode{os::kPerfTypeRaw, code}}});
  for (const os::Pmu& pmu : cores)
    resolved.events_on_pmus.push_back(
        {pmu.name, true, {os::EventCode{cores.size() > 1 ? pmu.type : os::kPerfTypeRaw, code}}});
  return resolved;
}

Result<ResolvedEvent> resolve_bare(std::string_view text, const os::Sysfs& sysfs) {
  ResolvedEvent resolved;
  resolved.perf_name = text;
  for (const os::Pmu& pmu : sysfs.core_pmus()) {
    const auto terms = sysfs.read_terms(pmu, text);
    if (!terms) continue;
    auto event = encode_event(text, *terms, pmu, sysfs);
    if (!event) return event.error().prefixed(fmt::format("'{}'", text));
    resolved.events_on_pmus.push_back(*std::move(event));
    resolved.description = *terms;
  }
  // A core kind's shares of slots cannot be added to another core kind's plain events.
  const auto is_led = [](const EventOnPmu& part) { return part.leader_code.has_value(); };
  if (std::ranges::any_of(resolved.events_on_pmus, is_led))
    std::erase_if(resolved.events_on_pmus, [&](const EventOnPmu& part) { return !is_led(part); });
  return resolved;
}

Error unknown(std::string_view name, std::string_view text, const os::Sysfs& sysfs) {
  std::vector<std::string> candidates;
  for (const KnownEvent& event : known_events())
    for (const std::string_view spelling : {event.alias, event.name})
      if (!spelling.empty()) candidates.emplace_back(spelling);
  for (const os::Pmu& pmu : sysfs.core_pmus())
    for (std::string& known : sysfs.events(pmu)) candidates.push_back(std::move(known));
  const auto near = nearest_names(text, candidates);
  return Error{fmt::format("there is no event '{}'", name),
               near.empty() ? std::string("lauka --list-events lists them")
                            : fmt::format("did you mean {}?", listed(near, "or")),
               std::string(name), !near.empty()};
}

Result<ResolvedEvent> resolve_event(std::string_view name, std::string_view text,
                                    const os::Sysfs& sysfs) {
  if (text.find('/') != std::string_view::npos) return resolve_on_pmu(text, sysfs);
  if (const KnownEvent* known = find_known(text)) return resolve_known(*known, sysfs);
  auto bare = resolve_bare(text, sysfs);
  if (!bare || !bare->events_on_pmus.empty()) return bare;
  if (text.starts_with('r'))
    if (const auto raw = parse_hex(text.substr(1))) return resolve_raw(text, *raw, sysfs);
  return unknown(name, text, sysfs);
}

std::string shown_name(std::string_view typed, const KnownEvent* known) {
  if (known != nullptr)
    for (const std::string_view name : {known->alias, known->name, known->other_name})
      if (same_ignoring_case(typed, name)) return std::string(name);
  return std::string(typed);
}

}  // namespace

std::span<const KnownEvent> known_events() {
  return kKnownEvents;
}

const KnownEvent* find_known(std::string_view name) {
  if (name.empty()) return nullptr;
  const auto* const found = std::ranges::find_if(kKnownEvents, [name](const KnownEvent& event) {
    return same_ignoring_case(name, event.alias) || same_ignoring_case(name, event.name) ||
           same_ignoring_case(name, event.other_name);
  });
  return found == kKnownEvents.end() ? nullptr : found;
}

Result<ResolvedEvent> resolve(std::string_view name, const os::Sysfs& sysfs) {
  const auto [event, modifiers] = split_modifiers(trimmed(name));
  auto resolved = resolve_event(name, event, sysfs);
  if (!resolved) return resolved;
  const auto levels = parse_levels(modifiers, name);
  if (!levels) return levels.error();
  resolved->levels = *levels;
  resolved->name = shown_name(event, resolved->known_entry);
  if (!modifiers.empty()) resolved->name += fmt::format(":{}", modifiers);
  return resolved;
}

}  // namespace lauka::engine::perf
