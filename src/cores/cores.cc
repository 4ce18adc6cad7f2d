#include "cores/cores.h"

#include "core/text.h"
#include "cores/mac_threads.h"
#include "engine/perf/resolve.h"
#include "os/mac_queries.h"
#include "os/program_files.h"
#include "os/sysfs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka::cores {

namespace {

using Cpus = std::vector<std::uint32_t>;

constexpr std::string_view kCpuFolder = "/sys/devices/system/cpu";

/// Largest relative difference in capacity between a CPU and the next slower CPU of the same core
/// kind. A clearer fall means another kind.
constexpr double kMaxCapacityFallInKind = 0.10;

/// Intel's core PMUs and lauka's names of their core kinds, the fastest first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kIntelPmus = {
    {{"cpu_core", "P"}, {"cpu_atom", "E"}, {"cpu_lowpower", "LP"}}};

std::optional<Cpus> read_list(const os::LinuxCalls& calls, const std::string& path) {
  const auto text = calls.read_file(path);
  return text ? parse_cpu_list(*text) : std::nullopt;
}

std::optional<Cpus> read_online_cpus(const os::LinuxCalls& calls) {
  return read_list(calls, fmt::format("{}/online", kCpuFolder));
}

std::optional<std::uint64_t> read_cpu_number(const os::LinuxCalls& calls, std::uint32_t cpu,
                                             std::string_view file) {
  const auto text = calls.read_file(fmt::format("{}/cpu{}/{}", kCpuFolder, cpu, file));
  return text ? parse_number(trimmed(*text)) : std::nullopt;
}

/// Returns the largest number that the file of a CPU has; nullopt if none has one.
std::optional<std::uint64_t> find_largest(const os::LinuxCalls& calls, const Cpus& cpus,
                                          std::string_view file) {
  std::optional<std::uint64_t> most;
  for (const std::uint32_t cpu : cpus)
    if (const auto value = read_cpu_number(calls, cpu, file))
      most = std::max(most.value_or(0), *value);
  return most;
}

Cpus list_cpus(const CoreKinds& kinds) {
  Cpus cpus;
  for (const CoreKind& kind : kinds) cpus.insert(cpus.end(), kind.cpus.begin(), kind.cpus.end());
  std::ranges::sort(cpus);
  return cpus;
}

/// Returns the kinds of core that have PMUs of their own, still without names. Returns no kinds if
/// there is only one, or if a CPU that is online belongs to none.
CoreKinds find_kinds_by_pmu(const os::LinuxCalls& calls) {
  CoreKinds kinds;
  for (const os::Pmu& pmu : os::Sysfs(calls).core_pmus()) {
    auto cpus = read_list(calls, fmt::format("/sys/bus/event_source/devices/{}/cpus", pmu.name));
    if (cpus && !cpus->empty()) kinds.push_back({"", *std::move(cpus), pmu.name});
  }
  if (kinds.size() < 2) return {};
  const auto online = read_online_cpus(calls);
  if (online && !cpus_not_in(list_cpus(kinds), *online).empty()) return {};
  return kinds;
}

/// Names and orders Intel's kinds. Returns false, and changes nothing, if a PMU is not Intel's.
bool name_as_intel(CoreKinds& kinds) {
  CoreKinds named;
  for (const auto& [pmu, name] : kIntelPmus)
    for (const CoreKind& kind : kinds)
      if (kind.pmu == pmu) named.push_back({std::string(name), kind.cpus, kind.pmu});
  if (named.size() != kinds.size()) return false;
  kinds = std::move(named);
  return true;
}

/// Names kinds that are ordered by speed: P, then M (or M1, M2 ...), and at last E.
void name_by_rank(CoreKinds& kinds) {
  for (std::size_t i = 1; i + 1 < kinds.size(); ++i)
    kinds[i].name = kinds.size() == 3 ? std::string("M") : fmt::format("M{}", i);
  kinds.back().name = "E";
  kinds.front().name = "P";
}

/// Names and orders the kinds by the number that a file of their CPUs has. Returns false, and
/// changes nothing, if a kind has none, or two kinds have the same.
bool name_by_speed(std::string_view file, CoreKinds& kinds, const os::LinuxCalls& calls) {
  std::vector<std::pair<std::uint64_t, CoreKind>> ranked;
  for (const CoreKind& kind : kinds) {
    const auto speed = find_largest(calls, kind.cpus, file);
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

/// The kernel's number for the speed of a CPU, and the number of the CPU.
using CapacityAndCpu = std::pair<std::uint64_t, std::uint32_t>;

/// Returns the CPUs that are online, the fastest first; none if a capacity is unknown.
std::vector<CapacityAndCpu> list_by_capacity(const os::LinuxCalls& calls) {
  std::vector<CapacityAndCpu> cpus;
  for (const std::uint32_t cpu : read_online_cpus(calls).value_or(Cpus{})) {
    const auto capacity = read_cpu_number(calls, cpu, "cpu_capacity");
    if (!capacity) return {};
    cpus.emplace_back(*capacity, cpu);
  }
  std::sort(cpus.rbegin(), cpus.rend());
  return cpus;
}

/// Returns the kinds of core (such as P and E cores) that the kernel's capacities of CPUs show, the
/// fastest first. Returns no kinds if there is only one, or if a capacity is unknown.
CoreKinds find_kinds_by_capacity(const os::LinuxCalls& calls) {
  // From the fastest CPU to the slowest, each clear fall in capacity begins a new kind. Small
  // differences do not, because the cores of one kind may have slightly different clocks.
  CoreKinds kinds;
  std::uint64_t previous_capacity = 0;
  for (const auto& [capacity, cpu] : list_by_capacity(calls)) {
    const double least_of_kind =
        static_cast<double>(previous_capacity) * (1.0 - kMaxCapacityFallInKind);
    const bool is_slower_kind = static_cast<double>(capacity) < least_of_kind;
    if (kinds.empty() || is_slower_kind) kinds.emplace_back();
    kinds.back().cpus.push_back(cpu);
    previous_capacity = capacity;
  }
  if (kinds.size() < 2) return {};

  for (CoreKind& kind : kinds) std::ranges::sort(kind.cpus);
  name_by_rank(kinds);
  return kinds;
}

Error make_unsupported_error(const CoreRequest& wanted) {
  if (!wanted.user_named_kinds.empty())
    return {
        "--core-kinds works only on Linux, because this system itself tells lauka the kinds of "
        "core",
        "leave it out"};
  return {"this system does not tell kinds of core apart", "leave out --cores and --min-p-share"};
}

Error make_one_kind_error(const std::string& option) {
  return {option + " has no effect, because this machine has only one kind of core",
          "leave it out, or name the kinds with --core-kinds"};
}

/// Returns the kinds of core of the session, or why there are none if their order is unknown.
/// Those that the user named take the place of those that the system reports.
Result<LinuxCoreKinds> find_session_kinds(const CoreRequest& wanted, const os::LinuxCalls& calls) {
  if (wanted.user_named_kinds.empty()) return detect_linux_kinds(calls);
  auto kinds = check_user_kinds(wanted.user_named_kinds, calls);
  if (!kinds) return kinds.error();
  return LinuxCoreKinds{*std::move(kinds)};
}

/// Adds the kinds of core that are timed, or a note that says why there are none. A single kind
/// needs neither.
void add_timed_kinds_or_note(CoreDecision& decided, const os::LinuxCalls& calls) {
  const bool has_kinds_to_time = decided.session_kinds.size() > 1;
  if (!has_kinds_to_time) return;
  if (const auto can_count = engine::perf::can_count(calls); !can_count) {
    decided.no_times_note = can_count.error().prefixed("there are no times by kind of core").line();
    return;
  }
  for (const CoreKind& kind : decided.session_kinds)
    decided.core_plan.timed_kinds.push_back(kind.name);
}

/// Returns an error if a minimum share is wanted, which cannot be checked without times by kind.
Result<void> check_that_min_share_is_measured(const CoreRequest& wanted,
                                              const CoreDecision& decided) {
  if (!wanted.min_first_kind_share || !decided.core_plan.timed_kinds.empty()) return {};

  // The note says why there are no times; it is empty if there is only one kind.
  if (decided.no_times_note.empty()) return make_one_kind_error("--min-p-share");
  return Error{"--min-p-share: " + decided.no_times_note, ""};
}

/// Decides on which CPUs the commands run, and which kinds of core are timed. Returns an error if
/// the user wants something that is not possible on this machine.
Result<CoreDecision> decide_on_linux(const CoreRequest& wanted, const os::LinuxCalls& calls) {
  auto found = find_session_kinds(wanted, calls);
  if (!found) return found.error();
  CoreDecision decided;
  decided.session_kinds = std::move(found->kinds);
  // If the order of the kinds is unknown, none of them are timed.
  decided.no_times_note = std::move(found->why_order_unknown);

  auto preferred_cpus = cpus_of_preference(wanted.preferred_kind, decided.session_kinds, calls);
  if (!preferred_cpus) return preferred_cpus.error();
  decided.core_plan.command_cpus = *std::move(preferred_cpus);
  decided.core_plan.prefer = wanted.preferred_kind;
  decided.core_plan.min_share_on_first_kind = wanted.min_first_kind_share;

  // The counters that give times by kind slow short runs down, so they belong in the counting runs,
  // which are not timed. A minimum share must be checked in the timed runs themselves, though.
  decided.core_plan.times_kinds_only_in_counting_runs =
      wanted.may_time_in_counting_runs && !wanted.min_first_kind_share;

  add_timed_kinds_or_note(decided, calls);
  if (auto checked = check_that_min_share_is_measured(wanted, decided); !checked)
    return checked.error();
  return decided;
}

Result<CoreDecision> decide_on_mac(const CoreRequest& wanted, const os::DarwinCalls& calls) {
  if (!wanted.user_named_kinds.empty()) return make_unsupported_error(wanted);
  CoreDecision decided;
  decided.session_kinds.resize(read_performance_levels(calls).size());
  if (decided.session_kinds.size() < 2) {
    if (wanted.preferred_kind != CorePreference::Any)
      return Error{"--cores has no effect, because this machine has only one kind of core",
                   "leave it out"};
    return wanted.min_first_kind_share ? make_one_kind_error("--min-p-share")
                                       : Result<CoreDecision>(CoreDecision{});
  }
  name_by_rank(decided.session_kinds);
  for (const CoreKind& kind : decided.session_kinds)
    decided.core_plan.timed_kinds.push_back(kind.name);
  decided.core_plan.measures_unsplit_time = true;
  decided.core_plan.prefer = wanted.preferred_kind;
  decided.core_plan.min_share_on_first_kind = wanted.min_first_kind_share;
  return decided;
}

namespace perf = engine::perf;

/// The clocks of single CPUs may exceed the clock of all CPUs by 1/kMaxExcessDivisor in total.
constexpr std::uint64_t kMaxExcessDivisor = 1'000'000;

/// Requests a clock of the run on a CPU (-1: on all CPUs). `index`: its place among the requests.
os::CounterRequest make_clock_request(int cpu, std::size_t index) {
  const perf::KnownEvent& clock = *perf::find_known("task-clock");
  // A clock also counts the time in the kernel if that is left out, but then opening it needs no
  // rights.
  const perf::PrivilegeLevels user_only{
      .user = true, .kernel = false, .hypervisor = true, .are_by_modifier = false};
  os::CounterRequest request = perf::make_request(
      perf::as_leader(perf::make_attributes({clock.type, clock.config}, user_only)),
      index);  // each clock leads its own group, because all counters of a group share one CPU
  request.cpu = cpu;
  request.optional = true;
  return request;
}

CoreTimes make_missing_times(const Error& reason) {
  return {.why_no_times = reason.prefixed("there are no times by kind of core")};
}

/// Says why there are no times if the clocks were not opened, because the other events left too few
/// counters.
CoreTimes make_times_missing_for_lack_of_counters(std::size_t needed_counters) {
  return make_missing_times({fmt::format("it needs {} counters, but a run can have at most {}",
                                         needed_counters, os::kMaxCounters),
                             "count fewer events"});
}

/// The pause after a poll is at least this multiple of the poll's duration.
constexpr std::uint64_t kMinPauseInPolls = 100;

std::uint64_t sum_of(const LevelTimes& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

void add_times(LevelTimes& sum, const CountsByLevel& counts) {
  for (std::size_t level = 0; level < sum.size() && level < counts.size(); ++level)
    sum[level] += counts[level].user_time + counts[level].system_time;
}

/// A pass whose times are split by kind of core.
struct PassToSplit {
  engine::OwnedPass inner;
  const CoreDecision& decided;
  const std::set<std::size_t>& commands_without_counters;  ///< indices
};

class TimedCounting : public engine::ArmedPass {
 public:
  TimedCounting(PassToSplit pass, bool has_unsplit)
      : inner_(std::move(pass.inner)),
        decided_(pass.decided),
        commands_without_counters_(pass.commands_without_counters),
        columns_(kinds().size() + (has_unsplit ? 1 : 0)),
        inner_counters_(inner_->requests().size()) {}

  std::vector<os::CounterRequest> requests() const override { return inner_->requests(); }
  std::vector<os::RunObserver*> prepare_run() override { return inner_->prepare_run(); }
  std::size_t max_batch_size() const override { return inner_->max_batch_size(); }
  bool counts_calling_threads() const override { return inner_->counts_calling_threads(); }

  /// Returns the counts of the wrapped (inner) pass, followed by the CPU times on each kind of
  /// core. May also ask for a repetition of the run.
  engine::CountsOfRun finish(const os::Ended& ended, std::size_t command) override {
    engine::CountsOfRun counted = inner_->finish(without_own_readings(ended), command);

    CoreTimes times;
    const bool was_started = !std::holds_alternative<NotStarted>(ended.outcome);
    const bool has_counters = !commands_without_counters_.contains(command);
    if (was_started && has_counters) times = find_core_times(ended, counted);

    append_times(counted, times);
    ask_for_repetition_if_share_is_small(counted, times.ns);
    // The inner pass may already have a reason for missing counts, which is the one to report.
    if (!counted.why_missing_counts) counted.why_missing_counts = std::move(times.why_no_times);
    return counted;
  }

 protected:
  /// Returns the times of a run that started; no times, perhaps with a reason, if unknown.
  virtual CoreTimes find_core_times(const os::Ended& ended, const engine::CountsOfRun& counted) = 0;

  const CoreKinds& kinds() const { return decided_.session_kinds; }
  std::size_t inner_counters() const { return inner_counters_; }
  std::vector<std::string> inner_pmus() const { return inner_->timed_pmus(); }

 private:
  /// Returns the run as the inner pass may see it. The counters that give the times were requested
  /// after its own, and it must not see their readings.
  os::Ended without_own_readings(const os::Ended& ended) const {
    os::Ended ended_for_inner = ended;
    ended_for_inner.readings.resize(std::min(ended_for_inner.readings.size(), inner_counters_));
    return ended_for_inner;
  }

  /// Appends a time for each kind and, on some systems, one more for unknown kinds; missing values
  /// if there are no times.
  void append_times(engine::CountsOfRun& counted, const CoreTimes& times) const {
    const std::size_t first_time = counted.counts.size();
    counted.counts.resize(first_time + columns_);
    if (times.ns.empty()) return;
    for (std::size_t i = 0; i < columns_; ++i)
      counted.counts[first_time + i] = i < times.ns.size() ? times.ns[i] : times.unknown_kind_ns;
  }

  void ask_for_repetition_if_share_is_small(engine::CountsOfRun& counted,
                                            const std::vector<std::uint64_t>& ns) const {
    const auto all = std::accumulate(ns.begin(), ns.end(), std::uint64_t{0});
    const auto least = decided_.core_plan.min_share_on_first_kind;
    if (counted.redo || !least || all == 0) return;
    if (static_cast<double>(ns.front()) < *least * static_cast<double>(all))
      counted.redo =
          engine::RepeatRequest{RedoReason::CoreShare,
                                fmt::format("less than {}% of the CPU time was spent on {} cores",
                                            100 * *least, kinds().front().name),
                                engine::kMaxRepetitions};
  }

  engine::OwnedPass inner_;
  const CoreDecision& decided_;
  const std::set<std::size_t>& commands_without_counters_;
  std::size_t columns_;
  std::size_t inner_counters_;
};

class ClockedCounting final : public TimedCounting {
 public:
  ClockedCounting(PassToSplit pass, const KindClocks& clocks,
                  const perf::PerfConditions& conditions)
      : TimedCounting(std::move(pass), false), clocks_(clocks), conditions_(conditions) {
    const std::vector<std::string> pmus = inner_pmus();
    for (const CoreKind& kind : kinds()) {
      const auto place = std::ranges::find(pmus, kind.pmu);
      if (!kind.pmu.empty() && place != pmus.end())
        time_indices_.push_back(static_cast<std::size_t>(place - pmus.begin()));
    }
    if (time_indices_.size() != kinds().size() || time_indices_.size() != pmus.size())
      time_indices_.clear();
  }

  std::vector<os::CounterRequest> requests() const override {
    std::vector<os::CounterRequest> all = TimedCounting::requests();
    if (!time_indices_.empty()) return all;
    const auto own = clocks_.clock_requests(all.size());
    if (all.size() + own.size() <= os::kMaxCounters) all.insert(all.end(), own.begin(), own.end());
    return all;
  }

 private:
  CoreTimes find_core_times(const os::Ended& ended, const engine::CountsOfRun& counted) override {
    if (time_indices_.empty()) {
      const std::span<const os::Reading> all = ended.readings;
      return clocks_.times_by_kind(all.subspan(std::min(all.size(), inner_counters())),
                                   ended.optional_counter_error, conditions_);
    }
    CoreTimes times;
    if (counted.cpu_ns_by_pmu.size() == time_indices_.size())
      for (const std::size_t place : time_indices_)
        times.ns.push_back(counted.cpu_ns_by_pmu[place]);
    return times;
  }

  const KindClocks& clocks_;
  perf::PerfConditions conditions_;
  std::vector<std::size_t> time_indices_;  ///< index into CountsOfRun::cpu_ns_by_pmu for each core
                                           ///< kind; empty if clocks are used
};

class PolledCounting final : public TimedCounting {
 public:
  PolledCounting(PassToSplit pass, const os::DarwinCalls& calls)
      : TimedCounting(std::move(pass), true), poll_(calls, kinds().size()) {}

  std::vector<os::RunObserver*> prepare_run() override {
    std::vector<os::RunObserver*> all = TimedCounting::prepare_run();
    all.push_back(&poll_);
    return all;
  }
  std::size_t max_batch_size() const override { return 1; }

 private:
  CoreTimes find_core_times(const os::Ended& ended,
                            const engine::CountsOfRun& /*counted*/) override {
    CoreTimes times = combine_mac_core_times(ended.totals, poll_.sampled_times(),
                                             ended.usage.user_ns + ended.usage.system_ns);
    if (times.ns.empty() && ended.totals)
      times.why_no_times =
          Error{"there are no times by kind of core, because this kernel does not report them",
                "use a Mac with Apple silicon and macOS 13 or later, and no virtual machine"};
    return times;
  }

  CoreTimePoller poll_;
};

class CoreTimeEngine final : public engine::EngineWrapper {
 public:
  CoreTimeEngine(engine::OwnedEngine inner, CoreDecision decided, const os::LinuxCalls* linux,
                 const os::DarwinCalls* darwin)
      : EngineWrapper(std::move(inner)),
        decided_(std::move(decided)),
        linux_(linux),
        darwin_(darwin),
        clocks_(decided_.session_kinds),
        conditions_(linux != nullptr ? perf::read_conditions(*linux) : perf::PerfConditions{}) {}

  Result<EventSet> select(const EventRequest& wanted) override {
    auto set = wrapped_engine().select(wanted);
    passes_.clear();
    if (set) passes_ = set->passes;
    return set;
  }

  Result<engine::OwnedPass> arm(std::size_t pass) override {
    const bool others_count = pass < passes_.size();
    auto inner = others_count ? wrapped_engine().arm(pass) : engine::make_accounting_pass({});
    if (!inner) return inner;

    const bool is_timed = !others_count || passes_[pass].kind == RoundKind::Timed;
    const bool is_for_times = decided_.core_plan.times_kinds_only_in_counting_runs
                                  ? pass == core_time_pass(passes_.size())
                                  : is_timed;
    if (!is_for_times) return inner;

    PassToSplit split{*std::move(inner), decided_, commands_without_counters_};
    if (darwin_ != nullptr)
      return engine::OwnedPass(std::make_unique<PolledCounting>(std::move(split), *darwin_));
    return engine::OwnedPass(
        std::make_unique<ClockedCounting>(std::move(split), clocks_, conditions_));
  }

  std::optional<CounterLossFile> find_counter_loss_file(std::size_t command,
                                                        const os::ProgramSpec& program) override {
    auto found = wrapped_engine().find_counter_loss_file(command, program);
    if (!found && linux_ != nullptr) found = os::find_counter_loss_file(program, *linux_);
    if (found) commands_without_counters_.insert(command);
    return found;
  }

 private:
  CoreDecision decided_;
  const os::LinuxCalls* linux_;
  const os::DarwinCalls* darwin_;
  std::set<std::size_t> commands_without_counters_;
  KindClocks clocks_;
  perf::PerfConditions conditions_;
  std::vector<Pass> passes_{};
};

/// Returns the rest of a time. Two clocks may differ a little, so a part may exceed the whole.
std::uint64_t subtract_down_to_zero(std::uint64_t all, std::uint64_t part) {
  return all - std::min(all, part);
}

}  // namespace

LinuxCoreKinds detect_linux_kinds(const os::LinuxCalls& calls) {
  CoreKinds kinds = find_kinds_by_pmu(calls);
  if (kinds.empty()) return {find_kinds_by_capacity(calls)};
  if (name_as_intel(kinds) || name_by_speed("cpu_capacity", kinds, calls) ||
      name_by_speed("cpufreq/cpuinfo_max_freq", kinds, calls))
    return {std::move(kinds)};
  std::vector<std::string> pmus;
  pmus.reserve(kinds.size());
  for (const CoreKind& kind : kinds) pmus.push_back(kind.pmu);
  return {{},
          fmt::format("there are no times by kind of core, because the kernel does not say which "
                      "of {} is the fast one; name them with --core-kinds",
                      listed(pmus))};
}

Result<CoreKinds> check_user_kinds(const CoreKinds& by_hand, const os::LinuxCalls& calls) {
  auto there = read_list(calls, fmt::format("{}/present", kCpuFolder));
  if (!there) there = read_online_cpus(calls);
  if (!there) return Error{"/sys does not list the CPUs of this machine", "mount /sys"};
  const Cpus named = list_cpus(by_hand);
  if (const Cpus unknown = cpus_not_in(*there, named); !unknown.empty())
    return Error{fmt::format("--core-kinds names CPU {}, which this machine does not have",
                             cpu_list_text(unknown)),
                 fmt::format("this machine has {}", cpu_list_text(*there))};
  const Cpus online = read_online_cpus(calls).value_or(*there);
  if (const Cpus left_out = cpus_not_in(named, online); !left_out.empty())
    return Error{fmt::format("--core-kinds leaves out CPU {}", cpu_list_text(left_out)),
                 "put each CPU into a kind"};
  CoreKinds kinds = by_hand;
  std::stable_partition(kinds.begin(), kinds.end(),
                        [](const CoreKind& kind) { return same_ignoring_case(kind.name, "P"); });
  return kinds;
}

Result<Cpus> cpus_of_preference(CorePreference prefer, const CoreKinds& kinds,
                                const os::LinuxCalls& calls) {
  if (prefer == CorePreference::Any) return Cpus{};
  const bool fast = prefer == CorePreference::Performance;
  const std::string option = fast ? "--cores p" : "--cores e";
  if (kinds.size() < 2) return make_one_kind_error(option);
  const auto slow = std::ranges::find_if(
      kinds, [](const CoreKind& kind) { return same_ignoring_case(kind.name, "E"); });
  const CoreKind& kind = fast ? kinds.front() : slow == kinds.end() ? kinds.back() : *slow;
  const Cpus allowed = calls.allowed_cpus();
  const Cpus both = common_cpus(allowed, kind.cpus);
  if (both.empty())
    return Error{
        fmt::format(
            "{} is not possible, because lauka may use only CPU {}, and the {} cores are {}",
            option, cpu_list_text(allowed), kind.name, cpu_list_text(kind.cpus)),
        "start lauka without taskset, or change the container's cpuset"};
  return both;
}

Result<CoreDecision> plan_core_use(const CoreRequest& wanted, const os::LinuxCalls* linux,
                                   const os::DarwinCalls* darwin) {
  if (linux != nullptr) return decide_on_linux(wanted, *linux);
  if (darwin != nullptr) return decide_on_mac(wanted, *darwin);
  const bool wants_nothing = wanted.user_named_kinds.empty() && !wanted.min_first_kind_share &&
                             wanted.preferred_kind == CorePreference::Any;
  return wants_nothing ? Result<CoreDecision>(CoreDecision{}) : make_unsupported_error(wanted);
}

KindClocks::KindClocks(const CoreKinds& kinds) : kind_count_(kinds.size()) {
  for (std::size_t kind = 1; kind < kinds.size(); ++kind)
    if (kinds[kind].cpus.size() > kinds[most_cpus_kind_].cpus.size()) most_cpus_kind_ = kind;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kind == most_cpus_kind_) continue;
    for (const std::uint32_t cpu : kinds[kind].cpus) single_cpu_clocks_.push_back({kind, cpu});
  }
}

std::vector<os::CounterRequest> KindClocks::clock_requests(std::size_t others) const {
  std::vector<os::CounterRequest> requests{make_clock_request(-1, others)};
  for (const SingleCpuClock& clock : single_cpu_clocks_)
    requests.push_back(make_clock_request(static_cast<int>(clock.cpu), others + requests.size()));
  return requests;
}

/// Returns the times on the kinds whose CPUs have clocks; 0 for the kind without.
std::vector<std::uint64_t> KindClocks::sum_single_cpus_by_kind(
    std::span<const os::Reading> of_single_cpus) const {
  std::vector<std::uint64_t> ns(kind_count_);
  for (std::size_t i = 0; i < single_cpu_clocks_.size(); ++i)
    ns[single_cpu_clocks_[i].kind] += of_single_cpus[i].value;
  return ns;
}

/// A clock is a kernel counter of CPU time (task-clock). One clock counts on all CPUs, and one on
/// each CPU outside the kind with the most CPUs. The CPUs of this largest kind have no clocks,
/// which saves counters. `open_error`: errno of a clock that could not be opened; 0 if all are
/// open.
CoreTimes KindClocks::times_by_kind(std::span<const os::Reading> readings, int open_error,
                                    const perf::PerfConditions& conditions) const {
  if (open_error != 0) {
    const perf::RequestedCounter clock{.core = false, .kernel_excluded = true};
    return make_missing_times(perf::why_not_opened(open_error, clock, conditions));
  }

  const std::size_t needed_readings = single_cpu_clocks_.size() + 1;
  if (readings.size() != needed_readings)
    return make_times_missing_for_lack_of_counters(needed_readings);

  // The first reading is the time on all CPUs. Each of the others is the time on one CPU.
  const std::uint64_t total_ns = readings.front().value;
  const auto single_cpu_readings = readings.subspan(1);
  CoreTimes times{.ns = sum_single_cpus_by_kind(single_cpu_readings)};
  const std::uint64_t single_cpus_ns = sum_of(times.ns);

  // The clocks are slightly inaccurate, so a tiny excess is no error.
  const std::uint64_t tolerated_excess_ns = total_ns / kMaxExcessDivisor;
  if (single_cpus_ns > total_ns + tolerated_excess_ns)
    return make_missing_times(
        {.what = "the CPU times on the individual CPUs add up to more than the total CPU time",
         .remedy = ""});

  // The kind without clocks gets the rest of the total.
  times.ns[most_cpus_kind_] = subtract_down_to_zero(total_ns, single_cpus_ns);
  return times;
}

void CoreTimePoller::before_start() {
  seen_processes_.clear();
  command_pid_ = 0;
  last_poll_end_ = 0;
  last_poll_duration_ = 0;
}

/// Updates the times of the command and all its descendants, and returns their ids.
std::set<int> CoreTimePoller::update_process_tree(int pid) {
  std::set<int> found{pid};
  std::vector<int> to_visit{pid};
  while (!to_visit.empty()) {
    const int parent = to_visit.back();
    to_visit.pop_back();
    update_times_of(parent);

    for (const int child : os::find_children(calls_, parent)) {
      const bool is_new = found.insert(child).second;
      if (is_new) to_visit.push_back(child);
    }
  }
  return found;
}

/// Updates the times of the processes whose parent has ended. They are no longer descendants of the
/// command, but still belong to the run.
void CoreTimePoller::update_orphans(const std::set<int>& descendants) {
  // The orphans are listed first, because updating changes seen_processes_.
  std::vector<int> orphans;
  for (const auto& [identity, process] : seen_processes_)
    if (!descendants.contains(identity.pid)) orphans.push_back(identity.pid);
  for (const int orphan : orphans) update_times_of(orphan);
}

/// Called again and again while the command (process `pid`) runs. Reads the times by kind of core
/// of the command and all its descendants, because they cannot be read after a process has ended.
void CoreTimePoller::running(int pid) {
  // A command with many processes is polled less often, so that polling takes at most about 1% of
  // the time.
  const std::uint64_t begin = calls_.mach_absolute_time();
  const bool is_too_early =
      last_poll_end_ != 0 && begin - last_poll_end_ < kMinPauseInPolls * last_poll_duration_;
  if (is_too_early) return;

  update_orphans(update_process_tree(pid));

  last_poll_end_ = calls_.mach_absolute_time();
  last_poll_duration_ = last_poll_end_ - begin;
}

std::optional<CoreTimePoller::Usage> CoreTimePoller::read_usage(int pid) const {
  Usage usage;
  auto* const place = reinterpret_cast<void**>(&usage.of_process);
  usage.has_levels = level_count_ == 2 && calls_.proc_pid_rusage(pid, os::kRusageV6, place) == 0;
  if (usage.has_levels || calls_.proc_pid_rusage(pid, os::kRusageV4, place) == 0) return usage;
  return std::nullopt;
}

void CoreTimePoller::update_times_of(int pid) {
  const auto usage = read_usage(pid);
  if (!usage) return;
  const auto& [used, has_levels] = *usage;
  if (pid == command_pid_ && has_levels) return;  // the kernel's totals will have these times
  Process& process = seen_processes_[{pid, used.started_at}];
  if (has_levels) {
    const std::uint64_t fast = used.performance_core_user_time + used.performance_core_system_time;
    process.times = {fast, subtract_down_to_zero(used.user_time + used.system_time, fast)};
  } else {
    process.times = sum_thread_times(pid, process);
  }
}

/// Stores the counts of the threads `ids` in `process`, and returns the sum of their times.
LevelTimes CoreTimePoller::store_and_sum_threads(int pid, const std::vector<std::uint64_t>& ids,
                                                 Process& process) const {
  LevelTimes sum(level_count_);
  for (const std::uint64_t id : ids) {
    CountsOfThread read = read_thread_counts(calls_, pid, id, level_count_);
    if (read.error != 0) continue;
    add_times(sum, read.counts);
    process.threads[id] = std::move(read.counts);
  }
  return sum;
}

/// Returns the CPU time of the process on each kind of core (performance level), for systems that
/// report it only by thread. Reads the living threads, and stores their counts in `process`, which
/// still has the counts of ended threads from earlier polls. The result is the sum over all of
/// them.
LevelTimes CoreTimePoller::sum_thread_times(int pid, Process& process) const {
  // If the process has ended, this gives no ids. All its threads then count as ended.
  std::vector<std::uint64_t> living_ids;
  list_thread_ids(calls_, pid, living_ids);

  LevelTimes living_sum = store_and_sum_threads(pid, living_ids, process);
  LevelTimes sum_with_ended(level_count_);
  for (const auto& [id, counts] : process.threads) add_times(sum_with_ended, counts);

  // Threads cannot have worked longer than their process. The time of the process is read last,
  // because the threads go on working.
  const auto usage = read_usage(pid);
  if (!usage) return sum_with_ended;
  const auto time_of_process = usage->of_process.user_time + usage->of_process.system_time;
  if (sum_of(sum_with_ended) <= time_of_process) return sum_with_ended;

  // Some work is counted twice: at exec, the new thread inherits the counts of the old one, which
  // ends. So the ended threads are forgotten.
  const auto has_ended = [&](const auto& id_and_thread) {
    return std::ranges::find(living_ids, id_and_thread.first) == living_ids.end();
  };
  std::erase_if(process.threads, has_ended);
  return living_sum;
}

SampledLevelTimes CoreTimePoller::sampled_times() const {
  SampledLevelTimes polled{LevelTimes(level_count_), LevelTimes(level_count_)};
  for (const auto& [known, process] : seen_processes_) {
    LevelTimes& sum = known.pid == command_pid_ ? polled.command_times : polled.descendant_times;
    for (std::size_t level = 0; level < process.times.size(); ++level)
      sum[level] += os::ns_of_mach(process.times[level], mach_timebase_);
    const auto usage = read_usage(known.pid);
    const bool lives = usage && usage->of_process.started_at == known.started_at;
    if (known.pid != command_pid_ && !lives)
      polled.vanished_descendants_ns += os::ns_of_mach(sum_of(process.times), mach_timebase_);
  }
  return polled;
}

CoreTimes combine_mac_core_times(const std::optional<os::AccountedTotals>& totals,
                                 const SampledLevelTimes& polled, std::uint64_t reaped_ns) {
  if (!totals) return {};
  const std::uint64_t own = totals->user_ns + totals->system_ns;
  CoreTimes times{polled.command_times};
  if (const auto& fast = totals->on_performance_cores_ns) {
    times.ns.front() = *fast;
    if (times.ns.size() == 2) times.ns.back() = subtract_down_to_zero(own, times.ns.front());
  }
  times.unknown_kind_ns = subtract_down_to_zero(own, sum_of(times.ns));
  for (std::size_t kind = 0; kind < times.ns.size(); ++kind)
    times.ns[kind] += polled.descendant_times[kind];
  const std::uint64_t of_descendants = subtract_down_to_zero(reaped_ns, own);
  times.unknown_kind_ns += subtract_down_to_zero(of_descendants, polled.vanished_descendants_ns);
  return times;
}

engine::OwnedEngine add_core_time_measurement(engine::OwnedEngine engine,
                                              const CoreDecision& decided,
                                              const os::LinuxCalls* linux,
                                              const os::DarwinCalls* darwin) {
  if (decided.core_plan.timed_kinds.empty() || (linux == nullptr && darwin == nullptr))
    return engine;
  return std::make_unique<CoreTimeEngine>(std::move(engine), decided, linux,
                                          linux != nullptr ? nullptr : darwin);
}

}  // namespace lauka::cores
