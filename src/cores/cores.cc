#include "cores/cores.h"

#include "core/text.h"
#include "cores/threads.h"
#include "os/sysfs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::cores {
namespace {

using Cpus = std::vector<std::uint32_t>;

constexpr std::string_view kCpuFolder = "/sys/devices/system/cpu";
constexpr std::string_view kPmuFolder = "/sys/bus/event_source/devices";

/// Cores of one kind may differ by this part of the capacity: favoured cores had 1024, others 1009.
constexpr double kSameKind = 0.10;

/// PMUs of x86, the fastest first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kIntelPmus = {
    {{"cpu_core", "P"}, {"cpu_atom", "E"}, {"cpu_lowpower", "LP"}}};

std::optional<Cpus> read_list(const os::LinuxCalls& calls, const std::string& path) {
  const auto text = calls.read_file(path);
  return text ? parse_cpu_list(*text) : std::nullopt;
}

std::optional<Cpus> online_cpus(const os::LinuxCalls& calls) {
  return read_list(calls, fmt::format("{}/online", kCpuFolder));
}

std::optional<std::uint64_t> read_of_cpu(const os::LinuxCalls& calls, std::uint32_t cpu,
                                         std::string_view file) {
  const auto text = calls.read_file(fmt::format("{}/cpu{}/{}", kCpuFolder, cpu, file));
  return text ? parse_number(trimmed(*text)) : std::nullopt;
}

/// Returns the largest value among the CPUs; nullopt if none of them has it.
std::optional<std::uint64_t> largest(const os::LinuxCalls& calls, const Cpus& cpus,
                                     std::string_view file) {
  std::optional<std::uint64_t> most;
  for (const std::uint32_t cpu : cpus)
    if (const auto value = read_of_cpu(calls, cpu, file)) most = std::max(most.value_or(0), *value);
  return most;
}

bool holds_all(const CoreKinds& kinds, const Cpus& cpus) {
  return std::ranges::all_of(cpus, [&](std::uint32_t cpu) {
    return std::ranges::any_of(
        kinds, [&](const CoreKind& kind) { return std::ranges::binary_search(kind.cpus, cpu); });
  });
}

/// Makes a kind of each PMU of the cores, if there are several and they have all CPUs; unnamed and
/// in no order.
CoreKinds kinds_of_pmus(const os::LinuxCalls& calls) {
  CoreKinds kinds;
  for (const os::Pmu& pmu : os::Sysfs(calls).core_pmus()) {
    auto cpus = read_list(calls, fmt::format("{}/{}/cpus", kPmuFolder, pmu.name));
    if (cpus && !cpus->empty()) kinds.push_back({"", *std::move(cpus), pmu.name});
  }
  if (kinds.size() < 2) return {};
  const auto online = online_cpus(calls);
  if (online && !holds_all(kinds, *online)) return {};
  return kinds;
}

/// Names and sorts the kinds if all are Intel's; else false.
bool name_as_intel(CoreKinds& kinds) {
  CoreKinds named;
  for (const auto& known : kIntelPmus) {
    const auto kind =
        std::ranges::find_if(kinds, [&](const CoreKind& one) { return one.pmu == known.first; });
    if (kind != kinds.end()) named.push_back({std::string(known.second), kind->cpus, kind->pmu});
  }
  if (named.size() != kinds.size()) return false;
  kinds = std::move(named);
  return true;
}

/// Names at least two kinds: P the first, E the last, between them M, or M1, M2 and so on.
void name_by_rank(CoreKinds& kinds) {
  for (std::size_t i = 1; i + 1 < kinds.size(); ++i)
    kinds[i].name = kinds.size() == 3 ? std::string("M") : fmt::format("M{}", i);
  kinds.back().name = "E";
  kinds.front().name = "P";
}

/// Names and sorts the kinds if `file` shows a different speed for each; else false.
bool name_by(std::string_view file, CoreKinds& kinds, const os::LinuxCalls& calls) {
  std::vector<std::pair<std::uint64_t, CoreKind>> ranked;
  for (const CoreKind& kind : kinds) {
    const auto speed = largest(calls, kind.cpus, file);
    if (!speed) return false;
    ranked.emplace_back(*speed, kind);
  }
  std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 1; i < ranked.size(); ++i)
    if (ranked[i].first == ranked[i - 1].first) return false;
  for (std::size_t i = 0; i < ranked.size(); ++i) kinds[i] = ranked[i].second;
  name_by_rank(kinds);
  return true;
}

/// Sorts CPUs by capacity, and divides them at drops of more than a tenth.
CoreKinds kinds_of_capacity(const os::LinuxCalls& calls) {
  const auto online = online_cpus(calls);
  if (!online) return {};
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_capacity;
  for (const std::uint32_t cpu : *online) {
    const auto capacity = read_of_cpu(calls, cpu, "cpu_capacity");
    if (!capacity) return {};  // one without it: nothing can be said of the machine
    by_capacity.emplace_back(*capacity, cpu);
  }
  std::sort(by_capacity.rbegin(), by_capacity.rend());
  CoreKinds kinds;
  std::uint64_t before = 0;
  for (const auto& [capacity, cpu] : by_capacity) {
    const auto limit = static_cast<double>(before) * (1.0 - kSameKind);
    if (kinds.empty() || static_cast<double>(capacity) < limit) kinds.emplace_back();
    kinds.back().cpus.push_back(cpu);
    before = capacity;
  }
  if (kinds.size() < 2) return {};
  for (CoreKind& kind : kinds) std::ranges::sort(kind.cpus);
  name_by_rank(kinds);
  return kinds;
}

template <typename Kinds>
auto find_named(Kinds& kinds, std::string_view name) {
  return std::ranges::find_if(
      kinds, [&](const CoreKind& kind) { return same_ignoring_case(kind.name, name); });
}

Error not_on_this_system(const CoreRequest& wanted) {
  if (!wanted.by_hand.empty())
    return {"--core-kinds is for Linux; here the system knows the kinds of core", "leave it out"};
  return {"this system does not distinguish kinds of core", "leave out --cores and --min-p-share"};
}

/// Refuses --min-p-share, whose time cannot be measured.
Error no_share(const std::string& note) {
  if (note.empty())
    return {"--min-p-share: this machine has one kind of core",
            "leave it out, or name the kinds with --core-kinds"};
  return {"--min-p-share: " + note, ""};
}

Result<Decided> decide_on_linux(const CoreRequest& wanted, const os::LinuxCalls& calls) {
  Decided decided;
  if (wanted.by_hand.empty()) {
    auto [kinds, why_none] = find_kinds(calls);
    decided.kinds = std::move(kinds);
    decided.note = std::move(why_none);
  } else {
    auto kinds = check_kinds(wanted.by_hand, calls);
    if (!kinds) return kinds.error();
    decided.kinds = *std::move(kinds);
  }
  auto cpus = cpus_of(wanted.prefer, decided.kinds, calls);
  if (!cpus) return cpus.error();
  decided.use.cpus = *std::move(cpus);
  decided.use.prefer = wanted.prefer;
  decided.use.min_share = wanted.min_share;
  // A clock of the kernel costs what a software event costs, which is up to 40% of a short run.
  decided.use.apart = wanted.apart && !wanted.min_share;
  if (decided.kinds.size() > 1) {
    if (const auto why = why_no_core_time(calls)) {
      decided.note = why->of("no time by kind of core").line();
    } else {
      for (const CoreKind& kind : decided.kinds) decided.use.timed.push_back(kind.name);
    }
  }
  if (wanted.min_share && decided.use.timed.empty()) return no_share(decided.note);
  return decided;
}

Result<Decided> decide_on_mac(const CoreRequest& wanted, const os::DarwinCalls& calls) {
  if (!wanted.by_hand.empty()) return not_on_this_system(wanted);
  Decided decided;
  for (std::size_t level = level_names(calls).size(); level > 0; --level)
    decided.kinds.emplace_back();
  if (decided.kinds.size() < 2) {
    if (wanted.prefer != CorePreference::Any)
      return Error{"--cores: this machine has one kind of core", "leave it out"};
    return wanted.min_share ? no_share("") : Result<Decided>(Decided{});
  }
  name_by_rank(decided.kinds);
  for (const CoreKind& kind : decided.kinds) decided.use.timed.push_back(kind.name);
  decided.use.has_unsplit = true;
  decided.use.prefer = wanted.prefer;
  decided.use.min_share = wanted.min_share;
  return decided;
}

}  // namespace

FoundKinds find_kinds(const os::LinuxCalls& calls) {
  CoreKinds kinds = kinds_of_pmus(calls);
  if (kinds.empty()) return {kinds_of_capacity(calls)};
  if (name_as_intel(kinds) || name_by("cpu_capacity", kinds, calls) ||
      name_by("cpufreq/cpuinfo_max_freq", kinds, calls))
    return {std::move(kinds)};
  std::vector<std::string> pmus;
  pmus.reserve(kinds.size());
  for (const CoreKind& kind : kinds) pmus.push_back(kind.pmu);
  return {{},
          fmt::format("no time by kind of core: the kernel does not say which of {} is the fast "
                      "one; name them with --core-kinds",
                      listed(pmus))};
}

Result<CoreKinds> check_kinds(const CoreKinds& by_hand, const os::LinuxCalls& calls) {
  auto there = read_list(calls, fmt::format("{}/present", kCpuFolder));
  if (!there) there = online_cpus(calls);
  if (!there) return Error{"/sys does not list the CPUs of this machine", "mount /sys"};
  Cpus named;
  for (const CoreKind& kind : by_hand)
    named.insert(named.end(), kind.cpus.begin(), kind.cpus.end());
  std::ranges::sort(named);
  if (const Cpus unknown = cpus_not_in(*there, named); !unknown.empty())
    return Error{fmt::format("--core-kinds names CPU {}, which this machine does not have",
                             cpu_list_text(unknown)),
                 fmt::format("this machine has {}", cpu_list_text(*there))};
  const Cpus online = online_cpus(calls).value_or(*there);
  if (const Cpus left_out = cpus_not_in(named, online); !left_out.empty())
    return Error{fmt::format("--core-kinds leaves out CPU {}", cpu_list_text(left_out)),
                 "put each CPU into a kind"};
  CoreKinds kinds = by_hand;
  if (const auto fast = find_named(kinds, "P"); fast != kinds.end())
    std::rotate(kinds.begin(), fast, fast + 1);
  return kinds;
}

Result<Cpus> cpus_of(CorePreference prefer, const CoreKinds& kinds, const os::LinuxCalls& calls) {
  if (prefer == CorePreference::Any) return Cpus{};
  const bool fast = prefer == CorePreference::Performance;
  const std::string option = fast ? "--cores p" : "--cores e";
  if (kinds.size() < 2)
    return Error{option + ": this machine has one kind of core",
                 "leave it out, or name the kinds with --core-kinds"};
  const auto slow = find_named(kinds, "E");
  const CoreKind& kind = fast ? kinds.front() : slow == kinds.end() ? kinds.back() : *slow;
  const Cpus allowed = calls.allowed_cpus();
  const Cpus both = cpus_also_in(allowed, kind.cpus);
  if (both.empty())
    return Error{fmt::format("{}: lauka was started for CPU {} only, and the {} cores are {}",
                             option, cpu_list_text(allowed), kind.name, cpu_list_text(kind.cpus)),
                 "change taskset or the container's cpuset"};
  return both;
}

Result<Decided> decide(const CoreRequest& wanted, const os::LinuxCalls* linux,
                       const os::DarwinCalls* darwin) {
  if (linux != nullptr) return decide_on_linux(wanted, *linux);
  if (darwin != nullptr) return decide_on_mac(wanted, *darwin);
  const bool wants_nothing =
      wanted.by_hand.empty() && !wanted.min_share && wanted.prefer == CorePreference::Any;
  return wants_nothing ? Result<Decided>(Decided{}) : not_on_this_system(wanted);
}

}  // namespace lauka::cores
