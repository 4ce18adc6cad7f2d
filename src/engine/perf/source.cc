#include "engine/perf/source.h"

#include "engine/perf/resolve.h"
#include "os/linux_calls.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::engine::perf {
namespace {

constexpr Rings kAllRings{};
constexpr Rings kUserOnly{true, false, false, false};

/// Errors that some architectures give for exclude_hv alone.
bool may_be_the_hypervisor_bit(int error) {
  return error == EINVAL || error == EPERM || error == EOPNOTSUPP;
}

/// The event exists here, but not in this code: another way to ask for it may do.
bool is_not_known(int error) {
  return error == ENOENT || error == EINVAL || error == EOPNOTSUPP || error == ENODEV;
}

std::string_view words_for(const Rings& rings) {
  static constexpr std::array<std::string_view, 8> kWords = {"nothing",
                                                             "user space only",
                                                             "kernel only",
                                                             "user space and kernel only",
                                                             "hypervisor only",
                                                             "user space and hypervisor only",
                                                             "kernel and hypervisor only",
                                                             ""};
  return kWords[(rings.user ? 1U : 0U) | (rings.kernel ? 2U : 0U) | (rings.hypervisor ? 4U : 0U)];
}

/// Whether it counts the same with and without the kernel.
bool is_clock(const Resolved& resolved) {
  return resolved.known != nullptr && resolved.known->without_kernel == WithoutKernel::Everything;
}

Role role_of(const Resolved& resolved) {
  return resolved.known != nullptr ? role_of_event(resolved.known->alias) : Role::Other;
}

struct Attempt {
  int error = 0;
  os::PerfEventAttr attributes;
};

/// Opens it, in a group of its own or in one of its leader's, and closes it. Gives 0 or errno.
int try_part(const os::LinuxCalls& calls, const os::Code& code,
             const std::optional<os::Code>& led_by, const Rings& rings) {
  if (!led_by) return try_counter(calls, attributes_of(code, rings));
  OpenCounters counters(calls);
  const int error = counters.open(as_leader(attributes_of(*led_by, rings)), 0);
  return error != 0 ? error : counters.open(attributes_of(code, rings), 0);
}

/// Tries it; where the hypervisor's bit is refused, without that bit.
Attempt attempt_to_open(const os::LinuxCalls& calls, const os::Code& code,
                        const std::optional<os::Code>& led_by, const Rings& rings) {
  const Attempt attempt{try_part(calls, code, led_by, rings), attributes_of(code, rings)};
  if (rings.hypervisor || !may_be_the_hypervisor_bit(attempt.error)) return attempt;
  Rings without_bit = rings;
  without_bit.hypervisor = true;
  if (try_part(calls, code, led_by, without_bit) != 0) return attempt;
  return {0, attributes_of(code, without_bit)};
}

/// "perf cpu-cycles (event=0x3c), sum of cpu_atom and cpu_core, user space only".
std::string meaning_of(const Resolved& resolved, const std::vector<Counter>& counters,
                       const Rings& rings) {
  std::string text = fmt::format("perf {}", resolved.own_name);
  if (resolved.parts.size() == 1 && !resolved.parts.front().encoding.empty())
    text += fmt::format(" ({})", resolved.parts.front().encoding);
  if (is_clock(resolved)) return fmt::format("{}, {}", text, resolved.description);
  if (resolved.parts.size() > 1) {
    std::vector<std::string> pmus;
    pmus.reserve(counters.size());
    for (const Counter& counter : counters) pmus.push_back(counter.pmu);
    text += pmus.size() > 1 ? fmt::format(", sum of {}", fmt::join(pmus, " and "))
                            : fmt::format(", on {} only", pmus.front());
  }
  if (const auto words = words_for(rings); !words.empty()) text += fmt::format(", {}", words);
  return text;
}

/// Why what was asked for with modifiers would not be what it says; none where it is.
std::optional<Error> refusal_of_rings(const Resolved& resolved, bool user_only) {
  const Rings& rings = resolved.rings;
  if (!rings.asked_for) return std::nullopt;
  if (user_only && (rings.kernel || rings.hypervisor))
    return Error{"it asks for more than user space, which --user-only leaves out",
                 "leave out the modifier or --user-only"};
  if (resolved.known == nullptr) return std::nullopt;
  const WithoutKernel kind = resolved.known->without_kernel;
  if (kind == WithoutKernel::Everything)
    return Error{"a clock runs in user space and kernel alike", "leave out the modifier"};
  if (kind == WithoutKernel::Nothing && !rings.kernel)
    return Error{"it happens in the kernel only, so this would always be 0",
                 "leave out the modifier"};
  return std::nullopt;
}

std::string described(const Resolved& resolved, const Source& source) {
  if (source.accounted != nullptr) return source.event.meaning;
  std::string text = resolved.description;
  if (resolved.known != nullptr && resolved.parts.size() == 1 &&
      !resolved.parts.front().encoding.empty())
    text += fmt::format(" ({})", resolved.parts.front().encoding);
  return text;
}

void add(Catalog& catalog, const std::string& name, const os::Sysfs& sysfs, const Prober& prober) {
  const auto resolved = resolve(name, sysfs);
  if (!resolved) return;
  const auto source = prober.probe(*resolved);
  if (!source) return;
  const std::string alias = resolved->known != nullptr ? resolved->known->alias : "";
  catalog.push_back(
      {resolved->own_name, alias, counters_in_words(*source), described(*resolved, *source)});
}

void add_known(Catalog& catalog, bool software, const os::Sysfs& sysfs, const Prober& prober) {
  for (const KnownEvent& event : known_events())
    if (event.alias.empty() && (event.type == os::kPerfTypeSoftware) == software)
      add(catalog, event.name, sysfs, prober);
}

}  // namespace

bool Source::is_on_cores() const {
  return std::ranges::any_of(counters, [](const Counter& counter) { return counter.core; });
}

bool same_source(const Source& left, const Source& right) {
  return left.accounted == right.accounted &&
         std::ranges::equal(left.counters, right.counters, [](const Counter& a, const Counter& b) {
           return std::memcmp(&a.attributes, &b.attributes, sizeof a.attributes) == 0;
         });
}

Result<Prober::Opened> Prober::open_part(const Part& part, const Rings& rings, Role role,
                                         bool may_leave_kernel_out) const {
  int error = ENOENT;
  Rings counted = rings;
  for (const os::Code& code : part.codes) {
    counted = rings;
    Attempt attempt = attempt_to_open(calls_, code, part.led_by, counted);
    if (attempt.error == EACCES && may_leave_kernel_out) {
      const Attempt in_user_space = attempt_to_open(calls_, code, part.led_by, kUserOnly);
      // EINVAL: it cannot be had without the kernel's part, so the missing right is the reason.
      if (in_user_space.error != EINVAL) {
        attempt = in_user_space;
        counted = kUserOnly;
      }
    }
    if (attempt.error == 0) {
      Opened opened{{part.pmu, part.core, attempt.attributes, role, part.scale}, counted};
      if (part.led_by) {
        opened.counter.led_by = attributes_of(*part.led_by, counted);
        opened.counter.led_by->flags = attempt.attributes.flags;
      }
      return opened;
    }
    error = attempt.error;
    if (!is_not_known(error)) break;
  }
  return why_not_opened(error, {part.core, !counted.kernel}, situation_);
}

Result<Source> Prober::probe_counters(const Resolved& resolved, const Rings& rings,
                                      bool may_leave_kernel_out) const {
  Source source;
  std::optional<Error> first_error;
  Rings counted = rings;
  for (const Part& part : resolved.parts) {
    auto opened = open_part(part, rings, role_of(resolved), may_leave_kernel_out);
    if (opened) {
      counted = opened->rings;
      source.counters.push_back(std::move(opened->counter));
    } else if (!first_error) {
      first_error = opened.error();
    }
  }
  if (source.counters.empty()) return *first_error;
  source.kernel_left_out = rings.kernel && !counted.kernel && !is_clock(resolved);
  source.event = {resolved.name, meaning_of(resolved, source.counters, counted)};
  source.event.is_time = is_clock(resolved);
  if (!resolved.rings.asked_for) source.event.role = role_of(resolved);
  return source;
}

/// An event that reads wrong without the kernel's part: all of it, the kernel's accounting, or a
/// reason.
Result<Source> Prober::probe_kernel_event(const Resolved& resolved) const {
  const AccountedEvent* accounted = find_accounted(resolved.known->name);
  if (!user_only_) {
    auto source = probe_counters(resolved, kAllRings, false);
    if (source || accounted == nullptr) return source;
  }
  if (accounted == nullptr)
    return Error{"it happens in the kernel only, which --user-only leaves out",
                 "leave out --user-only"};
  Source source;
  source.event = {
      .name = resolved.name, .meaning = std::string(accounted->meaning), .note = kWithExec};
  source.accounted = accounted->read;
  return source;
}

Result<Source> Prober::probe(const Resolved& resolved) const {
  if (auto refusal = refusal_of_rings(resolved, user_only_)) return *std::move(refusal);
  const bool asked_for = resolved.rings.asked_for;
  if (resolved.known != nullptr && !asked_for &&
      (resolved.known->without_kernel == WithoutKernel::TooLittle ||
       resolved.known->without_kernel == WithoutKernel::Nothing))
    return probe_kernel_event(resolved);
  if (asked_for) return probe_counters(resolved, resolved.rings, false);
  return probe_counters(resolved, user_only_ ? kUserOnly : kAllRings, !user_only_);
}

std::string counters_in_words(const Source& source) {
  std::string words;
  for (const Counter& counter : source.counters) words += (words.empty() ? "" : ", ") + counter.pmu;
  return words.empty() ? "accounting" : words;
}

Catalog catalog_of(const os::Sysfs& sysfs, const Prober& prober) {
  Catalog catalog;
  for (const KnownEvent& event : known_events())
    if (!event.alias.empty()) add(catalog, event.alias, sysfs, prober);
  add_known(catalog, false, sysfs, prober);
  for (const os::Pmu& pmu : sysfs.all_pmus()) {
    if (pmu.kind == os::PmuKind::PerPackage) continue;
    for (const std::string& event : sysfs.events(pmu))
      add(catalog, fmt::format("{}/{}/", pmu.name, event), sysfs, prober);
  }
  add_known(catalog, true, sysfs, prober);
  return catalog;
}

}  // namespace lauka::engine::perf
