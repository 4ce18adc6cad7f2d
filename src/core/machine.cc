#include "core/machine.h"

#include "core/numbers.h"
#include "core/sha256.h"
#include "core/text.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace lauka {

namespace {

/// Adds a property of a machine to the hash of its class, unless it is missing.
void add_if_known(Sha256& hash, std::string_view name, const std::string& value) {
  if (!value.empty()) hash.add(fmt::format("{}={}\n", name, value));
}

/// Adds what a container or a CPU mask allows lauka, if it is only a part of the machine.
void add_allowance(Sha256& hash, const Machine& machine) {
  const auto& allowance = machine.allowance;
  if (!allowance) return;
  if (allows_only_some_cpus(machine))
    hash.add(fmt::format("allowed_cpus={}\n", allowance->cpus.size()));
  if (allowance->cpu_quota) hash.add(fmt::format("cpu_quota={:.4g}\n", *allowance->cpu_quota));
  if (allowance->memory_limit) hash.add(fmt::format("memory_limit={}\n", *allowance->memory_limit));
}

}  // namespace

std::string time_metric_name(const std::string& kind) {
  return lower_case(kind) + "_time";
}

std::string share_metric_name(const std::string& kind) {
  return lower_case(kind) + "_share";
}

std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text) {
  constexpr std::uint64_t last_cpu = 65'535;  // keeps "0-4294967295" from filling the memory
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  std::vector<std::uint32_t> cpus;
  if (text.empty()) return cpus;
  for (const std::string_view range : split(text, ',')) {
    const auto ends = split(range, '-');
    const auto first = parse_whole_number(ends.front(), 0, last_cpu);
    const auto last = parse_whole_number(ends.back(), 0, last_cpu);
    if (ends.size() > 2 || !first || !last || *last < *first) return std::nullopt;
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu)
      cpus.push_back(static_cast<std::uint32_t>(cpu));
  }
  std::ranges::sort(cpus);
  return cpus;
}

std::vector<std::uint32_t> common_cpus(const std::vector<std::uint32_t>& others,
                                       const std::vector<std::uint32_t>& all) {
  std::vector<std::uint32_t> both;
  std::ranges::set_intersection(all, others, std::back_inserter(both));
  return both;
}

std::vector<std::uint32_t> cpus_not_in(const std::vector<std::uint32_t>& others,
                                       const std::vector<std::uint32_t>& all) {
  std::vector<std::uint32_t> left;
  std::ranges::set_difference(all, others, std::back_inserter(left));
  return left;
}

std::string cpu_list_text(const std::vector<std::uint32_t>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += '-' + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

bool is_core_kind_metric(std::string_view name, const CorePlan& cores) {
  const auto is_of = [name](const std::string& kind) {
    return name == time_metric_name(kind) || name == share_metric_name(kind);
  };
  return name == kUnsplitTime || is_of("P") || is_of("E") ||
         std::ranges::any_of(cores.timed_kinds, is_of);
}

std::optional<QuotaWait> longest_quota_wait(const std::vector<QuotaWait>& before,
                                            const std::vector<QuotaWait>& after) {
  std::optional<QuotaWait> most;
  for (std::size_t i = 0; i < after.size() && before.size() == after.size(); ++i) {
    const QuotaWait grown{after[i].periods - before[i].periods,
                          after[i].throttled - before[i].throttled,
                          after[i].waited_ns - before[i].waited_ns};
    if (!most || grown.waited_ns > most->waited_ns) most = grown;
  }
  return most;
}

bool allows_only_some_cpus(const Machine& machine) {
  return machine.allowance && machine.allowance->cpus.size() < machine.cpus;
}

// Sessions of machines of one class have comparable times. The class is a hash of what is known to
// change times. The hash is stored in files, so the same machine must keep it in later versions.
std::string class_of(const Machine& machine) {
  // 16 hexadecimal digits have 64 bits, so that different classes hardly ever share a hash.
  constexpr std::size_t kept_digits = 16;
  Sha256 hash;

  for (const auto& [name, value] :
       {std::pair("system", machine.system), std::pair("architecture", machine.architecture),
        std::pair("cpu_model", machine.cpu_model), std::pair("kernel", machine.kernel),
        std::pair("governor", machine.governor), std::pair("hypervisor", machine.hypervisor)})
    hash.add(fmt::format("{}={}\n", name, value));
  hash.add(fmt::format("cpus={}\n", machine.cpus));

  // A property that is missing is left out. Earlier versions of lauka recorded fewer properties,
  // and their sessions must keep their classes.
  add_if_known(hash, "tuning", machine.tuning);
  add_if_known(hash, "cpu_identity", machine.cpu_identity);
  add_if_known(hash, "cpu_features", machine.cpu_features);
  add_allowance(hash, machine);

  return hash.hex_digest().substr(0, kept_digits);
}

std::string settings_in_force(const Tuning& tuning) {
  std::string text;
  for (const TunedSwitch& tuned : tuning.switched) {
    std::string value = tuned.during;
    std::erase(value, ' ');
    text.append(text.empty() ? "" : " ").append(tuned.name).append("=").append(value);
  }
  return text;
}

}  // namespace lauka
