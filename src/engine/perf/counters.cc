#include "engine/perf/counters.h"

#include "core/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::engine::perf {
namespace {

std::optional<int> read_integer(const os::LinuxCalls& calls, const std::string& path) {
  const auto text = calls.read_file(path);
  if (!text) return std::nullopt;
  std::string_view digits = trimmed(*text);
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const auto number = parse_number(digits);
  constexpr std::uint64_t largest_level = 1000;  // the settings that are read have small values
  if (!number || *number > largest_level) return std::nullopt;
  return negative ? -static_cast<int>(*number) : static_cast<int>(*number);
}

/// Explains EACCES.
Error make_access_error(const RequestedCounter& asked, const PerfConditions& conditions) {
  const int level = conditions.paranoid.value_or(0);
  if (!asked.kernel_excluded && level >= 2)
    return {fmt::format("perf_event_paranoid is {}, which hides the kernel from users", level),
            "run sudo sysctl kernel.perf_event_paranoid=1"};
  // Levels above 2 have a meaning only in kernels of distributions, such as Debian's and Ubuntu's.
  if (level >= 3)
    return {fmt::format("perf_event_paranoid is {}, which denies users all counters", level),
            "run sudo sysctl kernel.perf_event_paranoid=1 (2 is enough with --user-only)"};
  return {"a security module forbids perf_event_open", "allow it in its policy, or run as root"};
}

/// Explains ENOENT.
Error make_missing_error(const RequestedCounter& asked, const PerfConditions& conditions) {
  if (asked.core && !conditions.has_core_pmu)
    return {"there are no counters here, as in most virtual machines",
            "switch on the virtual counters (PMU) in the hypervisor (KVM: -cpu host,pmu=on), or "
            "count instructions with --engine cachegrind"};
  return {"this machine has no counter for it", "lauka --list-events shows what it counts"};
}

/// Explains EINVAL.
Error make_invalid_error(const RequestedCounter& asked) {
  if (asked.kernel_excluded)
    return {"the kernel cannot count it for a single program in user space only",
            "leave out --user-only or the modifier"};
  return {"the kernel cannot count it for a single program",
          "lauka --list-events shows which events it can count"};
}

/// What an errno of perf_event_open means for any counter.
struct ErrorMeaning {
  int error = 0;
  std::string_view what;
  std::string_view remedy;
};

constexpr auto kErrorMeanings = std::to_array<ErrorMeaning>({
    {.error = EPERM,
     .what = "perf_event_open is blocked, as in most containers",
     .remedy = "start the container with --cap-add PERFMON; an older Podman needs "
               "--security-opt seccomp=unconfined, too"},
    {.error = ENOSYS,
     .what = "this kernel has no perf_event_open",
     .remedy = "use a kernel with CONFIG_PERF_EVENTS"},
    {.error = ENODEV,
     .what = "this processor cannot count it",
     .remedy = "lauka --list-events shows what it can"},
    {.error = EOPNOTSUPP,
     .what = "this processor cannot count it",
     .remedy = "lauka --list-events shows what it can"},
    {.error = EMFILE,
     .what = "the limit of open files leaves no room for counters",
     .remedy = "raise it with ulimit -n, or count fewer events"},
    {.error = ENFILE,
     .what = "the system has reached its limit of open files",
     .remedy = "raise it with sudo sysctl fs.file-max, or close programs"},
    {.error = EBUSY, .what = "another program has reserved the counters", .remedy = "end it"},
    // The attributes have a member that the kernel does not know. The newest one is config3.
    {.error = E2BIG,
     .what = "this kernel does not support config3",
     .remedy = "Linux 6.3 and later do"},
});

std::uint32_t attribute_bytes_for(const os::EventCode& code) {
  if (code.config3 != 0) return os::kPerfSizeWithConfig3;
  return code.config2 != 0 ? os::kPerfSizeWithConfig2 : os::kPerfSizeWithConfig1;
}

// The nanoseconds that may be missing in the sum of the times of several core kinds.
constexpr std::uint64_t kClocksApartNs = 2'000;
// In addition, the enabled time divided by this number may be missing in the sum.
constexpr std::uint64_t kClocksApartDivisor = 500;

constexpr double kMaxInstructionsPerCycle = 16.0;
constexpr double kMaxCyclesPerNs = 10.0;
// The factor by which the clock may exceed the fastest clock of earlier runs.
constexpr double kMaxClockRise = 1.25;
// The number of events by which a count may exceed a limit that was computed from a time, because
// counter and time may begin and end at different moments.
constexpr double kMaxEventsAtEdges = 10'000.0;

// A count of 0 is doubtful if the event's smallest earlier count above 0 is at least this large.
constexpr std::uint64_t kMinCountToDoubtZero = 50;
// A run is long if an event's core counters ran for at least this many nanoseconds.
constexpr std::uint64_t kMinLongRunNs = 1'000'000;
// If an event's count was never above 0, this many zeros in long runs are doubtful; later zeros are
// believed.
constexpr unsigned kMaxDoubtedZeros = 3;

constexpr std::uint64_t kUserAndKernel = os::kPerfExcludeUser | os::kPerfExcludeKernel;

constexpr PrivilegeLevels kAllLevels{};
constexpr PrivilegeLevels kUserOnly{true, false, false, false};

/// Returns "" for all levels.
std::string describe_levels(const PrivilegeLevels& levels) {
  if (levels.user && levels.kernel && levels.hypervisor) return "";
  std::vector<std::string> names;
  if (levels.user) names.emplace_back("user space");
  if (levels.kernel) names.emplace_back("kernel");
  if (levels.hypervisor) names.emplace_back("hypervisor");
  return listed(names) + " only";
}

bool is_clock(const ResolvedEvent& resolved) {
  return resolved.known_entry != nullptr &&
         resolved.known_entry->without_kernel == WithoutKernel::Everything;
}

Role role_of(const ResolvedEvent& resolved) {
  return resolved.known_entry != nullptr ? role_of_event(resolved.known_entry->alias) : Role::Other;
}

struct OpenAttempt {
  int error = 0;
  os::PerfEventAttr attributes;
  /// The levels in which to count, even if the kernel refused to leave out the hypervisor.
  PrivilegeLevels levels{};
};

/// Opens a counter in the group of a leader for a moment. Returns 0, or the errno with which the
/// kernel refused one of them.
int try_counter_in_group(const os::LinuxCalls& calls, const os::PerfEventAttr& attributes,
                         const os::PerfEventAttr& attributes_of_leader) {
  constexpr std::size_t leader = 0;
  OpenCounters group(calls);
  const int error_of_leader = group.open(as_leader(attributes_of_leader), leader);
  return error_of_leader != 0 ? error_of_leader : group.open(attributes, leader);
}

/// Tries to open a counter for the event `code`, in a group that the event `leader_code` leads if
/// that is set. The result has the attributes with which the counter can be opened.
OpenAttempt attempt_to_open(const os::LinuxCalls& calls, const os::EventCode& code,
                            const std::optional<os::EventCode>& leader_code,
                            const PrivilegeLevels& levels) {
  const os::PerfEventAttr attributes = make_attributes(code, levels);
  const int error =
      leader_code ? try_counter_in_group(calls, attributes, make_attributes(*leader_code, levels))
                  : try_counter(calls, attributes);
  const OpenAttempt attempt{.error = error, .attributes = attributes, .levels = levels};

  // Some architectures cannot exclude the hypervisor from counting.
  const bool excludes_hypervisor = !levels.hypervisor;
  const bool may_be_why_refused = error == EINVAL || error == EPERM || error == EOPNOTSUPP;
  if (!excludes_hypervisor || !may_be_why_refused) return attempt;

  // Tries again without the exclusion. The levels that are wanted stay the same.
  PrivilegeLevels with_hypervisor = levels;
  with_hypervisor.hypervisor = true;
  OpenAttempt again = attempt_to_open(calls, code, leader_code, with_hypervisor);
  again.levels = levels;
  return again.error == 0 ? again : attempt;
}

/// Does what attempt_to_open() does, but in user space only if this user may not count in the
/// kernel.
OpenAttempt attempt_to_open_what_is_allowed(const os::LinuxCalls& calls, const os::EventCode& code,
                                            const std::optional<os::EventCode>& leader_code,
                                            const PrivilegeLevels& levels) {
  const OpenAttempt attempt = attempt_to_open(calls, code, leader_code, levels);
  if (attempt.error != EACCES) return attempt;

  // EINVAL: the event cannot be counted in user space alone, so EACCES is the reason to report.
  const OpenAttempt in_user_space = attempt_to_open(calls, code, leader_code, kUserOnly);
  return in_user_space.error == EINVAL ? attempt : in_user_space;
}

/// True if the kernel or the processor does not know an event's code, so that another code of the
/// same event may help.
bool is_code_unknown(int error) {
  return error == ENOENT || error == EINVAL || error == EOPNOTSUPP || error == ENODEV;
}

/// Returns the counter of an event on a PMU, after it could be opened.
Counter make_counter(const EventOnPmu& event_on_pmu, const OpenAttempt& opened, Role role) {
  Counter counter{.pmu = event_on_pmu.pmu,
                  .core = event_on_pmu.core,
                  .attributes = opened.attributes,
                  .role = role,
                  .scale = event_on_pmu.scale};
  // Some events can be counted only in a group that a certain event leads. The kernel has accepted
  // these flags for both.
  if (event_on_pmu.leader_code) {
    counter.required_leader = make_attributes(*event_on_pmu.leader_code, opened.levels);
    counter.required_leader->flags = opened.attributes.flags;
  }
  return counter;
}

CountedPrivilegeLevels levels_of(const ResolvedEvent& resolved, const PrivilegeLevels& counted) {
  if (is_clock(resolved) || (counted.user && counted.kernel))
    return CountedPrivilegeLevels::UserAndKernel;
  if (counted.user) return CountedPrivilegeLevels::UserOnly;
  return counted.kernel ? CountedPrivilegeLevels::KernelOnly
                        : CountedPrivilegeLevels::HypervisorOnly;
}

std::string describe_meaning(const ResolvedEvent& resolved, const std::vector<Counter>& counters,
                             const PrivilegeLevels& levels) {
  std::string text = fmt::format("perf {}", resolved.perf_name);
  if (resolved.events_on_pmus.size() == 1 && !resolved.events_on_pmus.front().encoding_text.empty())
    text += fmt::format(" ({})", resolved.events_on_pmus.front().encoding_text);
  if (is_clock(resolved)) return fmt::format("{}, {}", text, resolved.description);
  if (resolved.events_on_pmus.size() > 1) {
    std::vector<std::string> pmus;
    pmus.reserve(counters.size());
    for (const Counter& counter : counters) pmus.push_back(counter.pmu);
    text += pmus.size() > 1 ? fmt::format(", sum of {}", fmt::join(pmus, " and "))
                            : fmt::format(", on {} only", pmus.front());
  }
  if (const auto words = describe_levels(levels); !words.empty())
    text += fmt::format(", {}", words);
  return text;
}

/// Returns the event whose count is the sum of these counters.
Event make_event(const ResolvedEvent& resolved, const std::vector<Counter>& counters,
                 const PrivilegeLevels& counted) {
  Event event{.name = resolved.name,
              .meaning = describe_meaning(resolved, counters, counted),
              .is_time = is_clock(resolved),
              .privilege_levels = levels_of(resolved, counted)};

  // The event stands for the program's cycles, instructions and so on only if it counts in user
  // space. A clock does so even if user space is excluded.
  if (counted.user || is_clock(resolved)) event.role = role_of(resolved);
  return event;
}

/// Returns why the event cannot be counted at the levels of its modifier; nullopt if it can.
std::optional<Error> find_refusal_of_levels(const ResolvedEvent& resolved, bool user_only) {
  const PrivilegeLevels& levels = resolved.levels;
  if (!levels.are_by_modifier) return std::nullopt;
  if (user_only && (levels.kernel || levels.hypervisor))
    return Error{"it asks for events outside user space, which --user-only leaves out",
                 "leave out the modifier or --user-only"};
  if (resolved.known_entry == nullptr) return std::nullopt;
  const WithoutKernel kind = resolved.known_entry->without_kernel;
  if (kind == WithoutKernel::Everything)
    return Error{"a clock runs in user space and in the kernel", "leave out the modifier"};
  if (kind == WithoutKernel::Nothing && !levels.kernel)
    return Error{"it happens in the kernel only, so its count would always be 0",
                 "leave out the modifier"};
  return std::nullopt;
}

std::string describe_event(const ResolvedEvent& resolved, const EventCountSource& source) {
  if (source.accounted_source != nullptr) return source.event.meaning;
  std::string text = resolved.description;
  if (resolved.known_entry != nullptr && resolved.events_on_pmus.size() == 1 &&
      !resolved.events_on_pmus.front().encoding_text.empty())
    text += fmt::format(" ({})", resolved.events_on_pmus.front().encoding_text);
  return text;
}

}  // namespace

PerfConditions read_conditions(const os::LinuxCalls& calls, const os::Sysfs& sysfs) {
  PerfConditions conditions;
  conditions.paranoid = read_integer(calls, "/proc/sys/kernel/perf_event_paranoid");
  conditions.has_core_pmu = !sysfs.core_pmus().empty();
  if (conditions.has_core_pmu)
    conditions.watchdog = read_integer(calls, "/proc/sys/kernel/nmi_watchdog").value_or(0) > 0;
  return conditions;
}

/// Turns an errno of the kernel into a reason and a remedy. Where the errno alone is ambiguous, the
/// counter that was asked for and the `conditions` of this machine decide.
Error why_not_opened(int error, const RequestedCounter& asked, const PerfConditions& conditions) {
  if (error == EACCES) return make_access_error(asked, conditions);
  if (error == ENOENT) return make_missing_error(asked, conditions);
  if (error == EINVAL) return make_invalid_error(asked);

  const auto meaning = std::ranges::find(kErrorMeanings, error, &ErrorMeaning::error);
  if (meaning != kErrorMeanings.end())
    return {std::string(meaning->what), std::string(meaning->remedy)};
  return {fmt::format("perf_event_open: {}", std::generic_category().message(error)), ""};
}

int OpenCounters::open(const os::PerfEventAttr& attributes, std::size_t leader,
                       os::CounterPlace place) {
  const int group = leader < descriptors_.size() ? descriptors_[leader] : -1;
  const int descriptor = calls_.open_counter(attributes, place, group);
  if (descriptor < 0) return -descriptor;
  descriptors_.push_back(descriptor);
  return 0;
}

os::PerfEventAttr make_attributes(const os::EventCode& code, const PrivilegeLevels& levels) {
  os::PerfEventAttr attributes;
  attributes.type = code.type;
  attributes.size = attribute_bytes_for(code);
  attributes.config = code.config;
  attributes.config1 = code.config1;
  attributes.config2 = code.config2;
  attributes.config3 = code.config3;
  attributes.read_format = os::kPerfReadEnabled | os::kPerfReadRunning | os::kPerfReadGroup;
  attributes.flags = os::kPerfInherit;
  if (!levels.user) attributes.flags |= os::kPerfExcludeUser;
  if (!levels.kernel) attributes.flags |= os::kPerfExcludeKernel;
  if (!levels.hypervisor) attributes.flags |= os::kPerfExcludeHypervisor;
  return attributes;
}

os::PerfEventAttr as_leader(os::PerfEventAttr attributes) {
  attributes.flags |= os::kPerfDisabled | os::kPerfEnableOnExec;
  return attributes;
}

os::CounterRequest make_request(const os::PerfEventAttr& attributes, std::size_t leader) {
  os::CounterRequest request;
  static_assert(sizeof attributes == sizeof request.attributes);
  std::memcpy(request.attributes.data(), &attributes, sizeof attributes);
  request.leader = leader;
  return request;
}

int try_counter(const os::LinuxCalls& calls, const os::PerfEventAttr& attributes) {
  OpenCounters counters(calls);
  return counters.open(as_leader(attributes), 0);
}

bool ran_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds) {
  const std::uint64_t slack =
      several_kinds ? kClocksApartNs + enabled_ns / kClocksApartDivisor : std::uint64_t{0};
  return running_ns + slack >= enabled_ns;
}

bool has_perf_event_open(const os::LinuxCalls& calls) {
  // Asks for an event that no kernel has, because opening an event may take Linux milliseconds.
  constexpr std::uint64_t no_event = ~std::uint64_t{0};
  return try_counter(calls, make_attributes(os::EventCode{os::kPerfTypeSoftware, no_event}, {})) !=
         ENOSYS;
}

Result<void> can_count(const os::LinuxCalls& calls) {
  const KnownEvent& dummy = *find_known("dummy");
  const int error =
      try_counter(calls, make_attributes({dummy.type, dummy.config}, {true, false, false}));
  if (error == 0) return {};
  return why_not_opened(error, {}, read_conditions(calls));
}

bool same_source(const EventCountSource& left, const EventCountSource& right) {
  return left.accounted_source == right.accounted_source &&
         std::ranges::equal(left.counters, right.counters, [](const Counter& a, const Counter& b) {
           return std::memcmp(&a.attributes, &b.attributes, sizeof a.attributes) == 0;
         });
}

/// Opens a counter for an event on one PMU, to find out how the kernel lets it be counted.
/// `levels`: the privilege levels in which to count. If this user may not count in the kernel,
/// counts in user space only, if that is allowed.
Result<Prober::ProbedCounter> Prober::probe_on_pmu(const EventOnPmu& event_on_pmu,
                                                   const PrivilegeLevels& levels, Role role,
                                                   bool may_leave_kernel_out) const {
  auto* const attempt_to_open_code =
      may_leave_kernel_out ? attempt_to_open_what_is_allowed : attempt_to_open;
  OpenAttempt attempt{.error = ENOENT, .attributes = {}, .levels = levels};

  // The codes are alternatives. The first that the kernel accepts is used.
  for (const os::EventCode& code : event_on_pmu.codes) {
    attempt = attempt_to_open_code(calls_, code, event_on_pmu.leader_code, levels);
    if (attempt.error == 0)
      return ProbedCounter{make_counter(event_on_pmu, attempt, role), attempt.levels};
    if (!is_code_unknown(attempt.error)) break;
  }

  return why_not_opened(attempt.error,
                        {.core = event_on_pmu.core, .kernel_excluded = !attempt.levels.kernel},
                        conditions_);
}

/// Opens a counter for an event on each PMU that has it, and describes the sum of those that could
/// be opened. Returns the first error if none could be opened. `may_leave_kernel_out`: true if a
/// user who may not count in the kernel counts in user space only.
Result<EventCountSource> Prober::probe_counters(const ResolvedEvent& resolved,
                                                const PrivilegeLevels& levels,
                                                bool may_leave_kernel_out) const {
  EventCountSource source;
  std::optional<Error> first_error;
  PrivilegeLevels counted_levels = levels;

  for (const EventOnPmu& event_on_pmu : resolved.events_on_pmus) {
    auto probed = probe_on_pmu(event_on_pmu, levels, role_of(resolved), may_leave_kernel_out);
    if (probed) {
      // What this user may count is the same on all PMUs, so these are the levels of all counters.
      counted_levels = probed->levels;
      source.counters.push_back(std::move(probed->counter));
    } else if (!first_error) {
      first_error = probed.error();
    }
  }

  if (source.counters.empty()) return *first_error;

  // A clock runs in the kernel, too, even if the kernel is excluded.
  const bool includes_kernel = counted_levels.kernel || is_clock(resolved);
  source.lacks_wanted_kernel_part = levels.kernel && !includes_kernel;
  source.has_modifier = resolved.levels.are_by_modifier;
  source.event = make_event(resolved, source.counters, counted_levels);
  return source;
}

Result<EventCountSource> Prober::probe_kernel_event(const ResolvedEvent& resolved) const {
  const AccountedEvent* accounted = find_accounted(resolved.known_entry->name);
  if (!user_only_) {
    auto source = probe_counters(resolved, kAllLevels, false);
    if (source || accounted == nullptr) return source;
  }
  if (accounted == nullptr)
    return Error{"it happens in the kernel only, which --user-only leaves out",
                 "leave out --user-only"};
  EventCountSource source;
  source.event = {.name = resolved.name,
                  .meaning = std::string(accounted->meaning),
                  .privilege_levels = CountedPrivilegeLevels::UserAndKernel,
                  .name_suffix = kWithExec};
  source.accounted_source = accounted;
  return source;
}

Result<EventCountSource> Prober::find(std::string_view name) const {
  const auto resolved = resolve(name, sysfs_);
  return resolved ? probe(*resolved) : Result<EventCountSource>(resolved.error());
}

Result<EventCountSource> Prober::probe(const ResolvedEvent& resolved) const {
  if (auto refusal = find_refusal_of_levels(resolved, user_only_)) return *std::move(refusal);
  const bool asked_for = resolved.levels.are_by_modifier;
  if (resolved.known_entry != nullptr && !asked_for &&
      (resolved.known_entry->without_kernel == WithoutKernel::TooLittle ||
       resolved.known_entry->without_kernel == WithoutKernel::Nothing))
    return probe_kernel_event(resolved);
  if (asked_for) return probe_counters(resolved, resolved.levels, false);
  return probe_counters(resolved, user_only_ ? kUserOnly : kAllLevels, !user_only_);
}

std::string counters_in_words(const EventCountSource& source) {
  std::string words;
  for (const Counter& counter : source.counters) words += (words.empty() ? "" : ", ") + counter.pmu;
  return words.empty() ? "accounting" : words;
}

namespace {

/// Adds the event `name` to the catalog if this machine can count it.
void add_if_countable(std::string_view name, const Prober& prober, Catalog& catalog) {
  const auto resolved = resolve(name, prober.sysfs());
  if (!resolved) return;
  const auto source = prober.probe(*resolved);
  if (!source) return;

  const std::string_view alias =
      resolved->known_entry != nullptr ? resolved->known_entry->alias : "";
  catalog.push_back({.name = resolved->perf_name,
                     .alias = std::string(alias),
                     .counters_text = counters_in_words(*source),
                     .description = describe_event(*resolved, *source)});
}

}  // namespace

/// Lists the events that this machine can count, for --list-events.
Catalog Prober::catalog() const {
  Catalog catalog;
  const auto add = [&](std::string_view name) { add_if_countable(name, *this, catalog); };

  const auto is_of_kernel = [](const KnownEvent& event) {
    return event.type == os::kPerfTypeSoftware;
  };

  // First come the events that most users want, which have an alias.
  for (const KnownEvent& event : known_events())
    if (!event.alias.empty()) add(event.alias);

  // Then come the other events of the hardware that the kernel knows by name.
  for (const KnownEvent& event : known_events())
    if (event.alias.empty() && !is_of_kernel(event)) add(event.name);

  // Then come the events that only this machine's PMUs have. A PMU that counts for a whole package
  // cannot count for a single program.
  for (const os::Pmu& pmu : sysfs_.all_pmus()) {
    if (pmu.kind == os::PmuKind::PerPackage) continue;
    for (const std::string& event : sysfs_.events(pmu)) add(fmt::format("{}/{}/", pmu.name, event));
  }

  // The events that the kernel itself counts come last.
  for (const KnownEvent& event : known_events())
    if (event.alias.empty() && is_of_kernel(event)) add(event.name);

  return catalog;
}

double CountChecker::max_plausible_instructions(const Tally& instructions,
                                                std::span<const Tally> all) const {
  const auto cycles = std::ranges::find_if(all, [&](const Tally& other) {
    return other.role == Role::Cycles && other.attribute_flags == instructions.attribute_flags &&
           other.core_ns == instructions.core_ns;
  });
  if (cycles != all.end() && cycles->count > 0)
    return kMaxInstructionsPerCycle * static_cast<double>(cycles->count);
  const double clock = fastest_clock_ > 0.0 ? kMaxClockRise * fastest_clock_ : kMaxCyclesPerNs;
  return kMaxInstructionsPerCycle * clock * static_cast<double>(instructions.core_ns) +
         kMaxEventsAtEdges;
}

/// Returns why a count of 0 is implausible; "" if it is plausible. Counts the doubted zeros in
/// `history`, which has earlier runs of the same command.
std::string CountChecker::check_zero(const Tally& tally, History& history) {
  // If only the hypervisor's work is counted, the program may cause none.
  const bool excludes_program = (tally.attribute_flags & kUserAndKernel) == kUserAndKernel;
  if (excludes_program) return "";

  const bool is_never_zero = tally.role == Role::Cycles || tally.role == Role::Instructions;
  if (is_never_zero) return fmt::format("{} was 0", tally.event);

  // A program may cause no event of another kind. Such a 0 is doubtful after runs with many events.
  // Without such runs, the first few zeros of long runs are doubted.
  bool is_doubtful = false;
  if (history.least_count_above_zero > 0) {
    is_doubtful = history.least_count_above_zero >= kMinCountToDoubtZero;
  } else if (tally.core_ns >= kMinLongRunNs) {
    is_doubtful = history.doubted_zeros < kMaxDoubtedZeros;
    ++history.doubted_zeros;
  }
  return is_doubtful ? fmt::format("{} was 0, so its counter seems not to work", tally.event) : "";
}

/// Returns why the count of an event is implausible; "" if it is plausible. `all`: the counts of
/// all events of the run.
std::string CountChecker::check_count(const Tally& tally, std::span<const Tally> all,
                                      History& history) const {
  if (tally.count == 0) return check_zero(tally, history);

  const auto count = static_cast<double>(tally.count);
  const double max_cycles =
      kMaxCyclesPerNs * static_cast<double>(tally.core_ns) + kMaxEventsAtEdges;
  if (tally.role == Role::Cycles && count > max_cycles)
    return fmt::format("{} was larger than is possible in the time for which it was counted",
                       tally.event);

  if (tally.role == Role::Instructions && count > max_plausible_instructions(tally, all))
    return fmt::format(
        "{} was larger than is possible in the counted cycles or the time for which it was counted",
        tally.event);
  return "";
}

void CountChecker::learn(const Tally& tally, History& history) {
  if (tally.count == 0) return;
  history.least_count_above_zero = history.least_count_above_zero == 0
                                       ? tally.count
                                       : std::min(history.least_count_above_zero, tally.count);
  if (tally.role == Role::Cycles && tally.core_ns >= kMinLongRunNs &&
      (tally.attribute_flags & kUserAndKernel) == 0)
    fastest_clock_ = std::max(
        fastest_clock_, static_cast<double>(tally.count) / static_cast<double>(tally.core_ns));
}

std::vector<std::string> CountChecker::doubts(std::size_t command, std::span<const Tally> tallies) {
  std::vector<std::string> doubts(tallies.size());
  for (std::size_t i = 0; i < tallies.size(); ++i)
    if (tallies[i].core_ns > 0)
      doubts[i] = check_count(tallies[i], tallies, histories_[{command, i}]);
  // If there are too many instructions, the count of cycles may be wrong instead.
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    if (tallies[i].role != Role::Instructions || doubts[i].empty() || tallies[i].count == 0)
      continue;
    for (std::size_t k = 0; k < tallies.size(); ++k)
      if (tallies[k].role == Role::Cycles && doubts[k].empty()) doubts[k] = doubts[i];
  }
  for (std::size_t i = 0; i < tallies.size(); ++i)
    if (doubts[i].empty()) learn(tallies[i], histories_[{command, i}]);
  return doubts;
}

}  // namespace lauka::engine::perf
