#include "engine/engine.h"

#include "core/own_metric.h"
#include "core/text.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/kpep.h"
#include "engine/kperf/kperf_engine.h"
#include "engine/perf/counters.h"
#include "engine/perf/perf_engine.h"
#include "engine/valgrind/valgrind_engine.h"
#include "os/files.h"
#include "os/program_files.h"
#include "os/sysfs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <variant>

#include <fmt/format.h>

namespace lauka::engine {

namespace {

constexpr std::array<AccountedEvent, 4> kAccountedEvents = {{
    {"page-faults", "faults", "minor and major page faults, as recorded by the kernel",
     [](const os::Ended& run) {
       return std::optional(run.usage.minor_faults + run.usage.major_faults);
     }},
    {"context-switches", "cs", "voluntary and involuntary switches, as recorded by the kernel",
     [](const os::Ended& run) {
       return std::optional(run.usage.voluntary_switches + run.usage.involuntary_switches);
     }},
    {"minor-faults", "", "page faults that were served from memory, as recorded by the kernel",
     [](const os::Ended& run) { return std::optional(run.usage.minor_faults); }},
    {"major-faults", "", "page faults that had to read from a disk, as recorded by the kernel",
     [](const os::Ended& run) { return std::optional(run.usage.major_faults); }},
}};

class AccountingPass final : public ArmedPass {
 public:
  AccountingPass(std::vector<const AccountedEvent*> events,
                 std::function<void(const os::Ended&, CountsOfRun&)> change_counts,
                 bool counts_calling_threads)
      : events_(std::move(events)),
        change_counts_(std::move(change_counts)),
        counts_calling_threads_(counts_calling_threads) {}

  bool counts_calling_threads() const override { return counts_calling_threads_; }

  std::size_t max_batch_size() const override { return os::Launcher::kMaxBatch; }

  CountsOfRun finish(const os::Ended& ended, std::size_t /*command*/) override {
    CountsOfRun counted{std::vector<std::optional<std::uint64_t>>(events_.size())};
    if (std::holds_alternative<NotStarted>(ended.outcome)) {
      counted.why_missing_counts = Error{"the command was not started", ""};
      return counted;
    }
    for (std::size_t i = 0; i < events_.size(); ++i) counted.counts[i] = events_[i]->read(ended);
    if (change_counts_) change_counts_(ended, counted);
    return counted;
  }

 private:
  std::vector<const AccountedEvent*> events_;
  std::function<void(const os::Ended&, CountsOfRun&)> change_counts_;
  bool counts_calling_threads_;
};

class AccountedEngine final : public CounterEngine {
 public:
  explicit AccountedEngine(std::optional<Error> why) : why_(std::move(why)) {}

  std::string_view name() const override { return row_of(EngineChoice::None).name; }

  Catalog catalog() const override {
    Catalog catalog;
    add_to_catalog(accounted_events(), catalog);
    return catalog;
  }

  Result<EventSet> select(const EventRequest& wanted) override {
    events_.clear();
    EventSet set;
    set.passes.emplace_back();
    for (const std::string& name : wanted.names) {
      const AccountedEvent* event = find_accounted(name);
      if (event == nullptr && why_)
        return why_->prefixed(fmt::format("'{}' cannot be counted", name));
      if (event == nullptr)
        return Error{fmt::format("'{}' is not counted with --engine none", name),
                     "leave out --engine none"};
      if (Event* added = add_accounted(*event, name, events_, set)) added->name_suffix = kWithExec;
    }
    if (why_ && wanted.names.empty()) return make_empty_event_set(*why_);
    if (events_.empty()) set.passes.clear();
    return set;
  }

  Result<OwnedPass> arm(std::size_t /*pass*/) override { return make_accounting_pass(events_); }
  const AccountedEvent* accounted(std::size_t event) const override { return events_.at(event); }

 private:
  std::optional<Error> why_;
  std::vector<const AccountedEvent*> events_;
};

class SeparateCounting final : public EngineWrapper {
 public:
  using EngineWrapper::EngineWrapper;

  /// A pass is a set of runs that count the same events. Counters slow a run down, so runs that use
  /// them should not be timed. Turns each timed pass that uses counters into a counting pass. If
  /// there is any such pass, adds a single timed pass without counters.
  Result<EventSet> select(const EventRequest& wanted) override {
    // Forgets the timed pass that was added for the previous selection.
    has_added_timed_pass_ = false;
    accounted_in_timed_pass_.clear();

    auto set = wrapped_engine().select(wanted);
    if (!set) return set;

    // The kernel accounts for some events, such as page faults, in each run. All others need
    // counters.
    const auto needs_counter = [this](std::size_t event) {
      return wrapped_engine().accounted(event) == nullptr;
    };

    bool has_changed_pass = false;
    for (Pass& pass : set->passes) {
      const bool uses_counters = std::ranges::any_of(pass.event_indices, needs_counter);
      if (pass.kind == RoundKind::Timed && uses_counters) {
        pass.kind = RoundKind::Counting;
        has_changed_pass = true;
      }
    }
    if (has_changed_pass) add_timed_pass(*set);
    return set;
  }

  Result<OwnedPass> arm(std::size_t pass) override {
    if (!has_added_timed_pass_) return wrapped_engine().arm(pass);
    if (pass == 0) return make_accounting_pass(accounted_in_timed_pass_);
    return wrapped_engine().arm(pass - 1);
  }

 private:
  /// Adds a first pass for the events that need no counter. They cost nothing, so the timed runs
  /// report them.
  void add_timed_pass(EventSet& set) {
    Pass timed;
    for (std::size_t event = 0; event < set.events.size(); ++event) {
      const AccountedEvent* const accounted_event = wrapped_engine().accounted(event);
      if (accounted_event == nullptr) continue;
      timed.event_indices.push_back(event);
      accounted_in_timed_pass_.push_back(accounted_event);
    }
    set.passes.insert(set.passes.begin(), std::move(timed));
    has_added_timed_pass_ = true;
  }

  std::vector<const AccountedEvent*> accounted_in_timed_pass_;
  bool has_added_timed_pass_ = false;
};

class WithoutRegions final : public EngineWrapper {
 public:
  using EngineWrapper::EngineWrapper;

  Result<EventSet> select(const EventRequest& wanted) override {
    const std::string reason = fmt::format("--engine {} counts whole runs, not regions", name());
    auto set = wrapped_engine().select(wanted);
    if (!set) return set;
    if (!wanted.names.empty())
      return Error{fmt::format("{} cannot be counted with --region: {}",
                               cited(wanted.names.front()), reason),
                   "leave it out, or leave out --region"};
    EventSet none;
    if (set->events.empty())
      none.notes = std::move(set->notes);
    else
      none.notes.push_back({"whole_runs_only", fmt::format("no events: {}", reason)});
    return none;
  }
};

/// The PMU that counts energy (RAPL).
constexpr std::string_view kPowerPmu = "power";

bool is_energy_event(const std::string& name) {
  return name.starts_with("energy-");
}

/// Returns the request without its energy events.
EventRequest leave_out_energy(EventRequest wanted) {
  std::erase_if(wanted.names, is_energy_event);
  return wanted;
}

struct EnergySource {
  std::string name;
  os::PerfEventAttr attributes;
  double joules_per_count = 0.0;
};

class EnergyCounting final : public ArmedPass {
 public:
  EnergyCounting(std::vector<EnergySource> sources, std::vector<std::uint32_t> cpus)
      : sources_(std::move(sources)), cpus_(std::move(cpus)) {}

  std::vector<os::CounterRequest> requests() const override {
    std::vector<os::CounterRequest> all;
    for (const EnergySource& source : sources_) {
      for (const std::uint32_t cpu : cpus_) {
        os::CounterRequest request = perf::make_request(source.attributes, all.size());
        request.cpu = static_cast<int>(cpu);
        request.system_wide = true;
        all.push_back(request);
      }
    }
    return all;
  }

  std::size_t max_batch_size() const override { return os::Launcher::kMaxBatch; }

  CountsOfRun finish(const os::Ended& ended, std::size_t /*command*/) override {
    CountsOfRun counted;
    counted.counts.resize(sources_.size());
    if (ended.readings.size() != sources_.size() * cpus_.size()) {
      counted.why_missing_counts = Error{"the energy counters could not be read: " +
                                             std::generic_category().message(ended.counter_error),
                                         ""};
      return counted;
    }
    for (std::size_t event = 0; event < sources_.size(); ++event) {
      counted.counts[event] = sum_nanojoules(event, ended);
      if (!counted.counts[event])
        counted.why_missing_counts = Error{"the energy counters did not count all the time", ""};
    }
    return counted;
  }

 private:
  /// Returns the energy of a run, summed over the CPUs that count it; nullopt if the event was not
  /// counted all the time.
  std::optional<std::uint64_t> sum_nanojoules(std::size_t event, const os::Ended& ended) const {
    double joules = 0.0;
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
      const os::Reading& reading = ended.readings[event * cpus_.size() + i];
      if (reading.enabled_ns == 0 || reading.running_ns < reading.enabled_ns) return std::nullopt;
      joules += static_cast<double>(reading.value) * sources_[event].joules_per_count;
    }
    constexpr double nanojoules_per_joule = 1e9;
    return static_cast<std::uint64_t>(std::llround(joules * nanojoules_per_joule));
  }

  std::vector<EnergySource> sources_;
  std::vector<std::uint32_t> cpus_;
};

class WithEnergy final : public EngineWrapper {
 public:
  WithEnergy(OwnedEngine inner, const os::LinuxCalls& calls)
      : EngineWrapper(std::move(inner)), calls_(calls), sysfs_(calls) {}

  Catalog catalog() const override {
    Catalog all = wrapped_engine().catalog();
    const auto pmu = sysfs_.find(kPowerPmu);
    if (!pmu) return all;
    for (const std::string& name : sysfs_.events(*pmu))
      if (is_energy_event(name))
        all.push_back({name, "", "power PMU", "energy of the whole machine, in joules"});
    return all;
  }

  /// Selects the energy events itself, and lets the wrapped engine select all other events.
  Result<EventSet> select(const EventRequest& wanted) override {
    sources_.clear();
    const bool wants_energy = std::ranges::any_of(wanted.names, is_energy_event);
    if (!wants_energy) return wrapped_engine().select(wanted);

    // If only energy is wanted, the wrapped engine selects nothing. A request without names would
    // select its default events.
    Result<EventSet> set = EventSet{};
    const EventRequest other_events = leave_out_energy(wanted);
    if (!other_events.names.empty()) set = wrapped_engine().select(other_events);
    if (!set) return set;

    if (wanted.counted_part != CountedPart::WholeRun)
      return Error{"energy is counted for the whole machine and for whole runs, not for a region",
                   "measure it without --region"};

    if (const auto added = add_energy_sources(wanted.names); !added) return added.error();

    if (wanted.single_pass && !set->passes.empty())
      return Error{"energy is counted in separate runs, which --single-pass does not allow",
                   "leave out --single-pass, or the other events"};

    add_energy_pass(*set);
    return set;
  }

  const AccountedEvent* accounted(std::size_t event) const override {
    return event < first_energy_event_ || sources_.empty() ? wrapped_engine().accounted(event)
                                                           : nullptr;
  }

  Result<Explanation> explain(const EventRequest& wanted) override {
    const bool wants_energy = std::ranges::any_of(wanted.names, is_energy_event);
    if (!wants_energy) return wrapped_engine().explain(wanted);

    // select() finds the energy events that explain_energy_pass() explains (`sources_`).
    const auto set = select(wanted);
    if (!set) return set.error();

    // If only energy is wanted, the wrapped engine explains nothing. A request without names would
    // make it explain its default events.
    Explanation explanation;
    const EventRequest other_events = leave_out_energy(wanted);
    if (!other_events.names.empty()) {
      auto others = wrapped_engine().explain(other_events);
      if (!others) return others;
      explanation = *std::move(others);
    }

    // The energy events are counted in the first pass.
    explanation.passes.insert(explanation.passes.begin(), explain_energy_pass());
    return explanation;
  }

  Result<OwnedPass> arm(std::size_t pass) override {
    if (sources_.empty()) return wrapped_engine().arm(pass);
    if (pass > 0) return wrapped_engine().arm(pass - 1);
    return OwnedPass(std::make_unique<EnergyCounting>(sources_, cpus_));
  }

 private:
  std::vector<ExplainedCounter> explain_energy_pass() const {
    std::vector<ExplainedCounter> rows;
    for (const EnergySource& source : sources_)
      rows.push_back({.counter = "power PMU",
                      .event = source.name,
                      .explanation = "of the whole machine, in separate runs"});
    return rows;
  }

  /// Adds those of the named events that are energy events to `sources_`. Returns an error if one
  /// of them cannot be counted.
  Result<void> add_energy_sources(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (!is_energy_event(name)) continue;
      if (const auto added = add_source(name); !added)
        return added.error().prefixed(fmt::format("{} cannot be counted", cited(name)));
    }
    return {};
  }

  /// Adds the energy event `name` to `sources_`, and sets `cpus_` to the CPUs that count it.
  /// Returns an error if it cannot be counted.
  Result<void> add_source(const std::string& name) {
    auto source = make_source(name);
    if (!source) return source.error();

    // One CPU counts for each processor package.
    const auto cpus = parse_cpu_list(read_text("cpumask"));
    if (!cpus || cpus->empty()) return Error{"the kernel names no CPU that counts energy", ""};
    cpus_ = *cpus;

    if (auto refusal = find_refusal_to_open(*source)) return *std::move(refusal);
    sources_.push_back(*std::move(source));
    return {};
  }

  /// Returns the energy event `name` as the kernel describes it. Returns an error if this machine
  /// does not have the event, or if its count would not be in joules.
  Result<EnergySource> make_source(const std::string& name) const {
    const auto code = find_code(name);
    if (!code) return code.error();

    // lauka shows joules, so it can use a count only if the kernel says how many joules it means.
    const auto scale = parse_own_value(read_text("events/" + name + ".scale"), {});
    if (!scale || *scale <= 0.0 || read_text("events/" + name + ".unit") != "Joules")
      return Error{"its unit is not joules", ""};

    EnergySource source{
        .name = name, .attributes = perf::make_attributes(*code, {}), .joules_per_count = *scale};
    // The usual flags are for the counter of a process, but this one counts the whole machine.
    source.attributes.flags = 0;
    return source;
  }

  /// Returns the kernel's code of the energy event `name`. Returns an error if this machine does
  /// not have the event.
  Result<os::EventCode> find_code(const std::string& name) const {
    // A performance monitoring unit (PMU) counts energy. Linux describes each of its events in
    // files.
    const auto pmu = sysfs_.find(kPowerPmu);
    if (!pmu)
      return Error{"this machine has no energy counters (RAPL), as is usual in a virtual machine",
                   "leave it out"};
    if (sysfs_.read_terms(*pmu, name)) return sysfs_.encode(*pmu, name);

    std::vector<std::string> energy_events = sysfs_.events(*pmu);
    std::erase_if(energy_events, [](const std::string& text) { return !is_energy_event(text); });
    return Error{"the processor does not count it",
                 energy_events.empty() ? "leave it out" : "it has " + listed(energy_events, "and")};
  }

  /// Returns why a CPU of `cpus_` cannot count the event; nullopt if all of them can.
  std::optional<Error> find_refusal_to_open(const EnergySource& source) const {
    const int error = try_to_open(source);
    if (error == 0) return std::nullopt;
    if (error == EACCES || error == EPERM)
      return Error{"the kernel lets only root count the whole machine",
                   "run lauka as root, or run sudo sysctl kernel.perf_event_paranoid=0"};
    return Error{std::generic_category().message(error), ""};
  }

  /// Returns 0, or the errno of the first CPU on which the event cannot be counted.
  int try_to_open(const EnergySource& source) const {
    for (const std::uint32_t cpu : cpus_)
      if (const int error =
              perf::OpenCounters(calls_).open(source.attributes, 0, {-1, static_cast<int>(cpu)}))
        return error;
    return 0;
  }

  std::string read_text(const std::string& file) const {
    return std::string(
        trimmed(calls_.read_file("/sys/bus/event_source/devices/power/" + file).value_or("")));
  }

  /// Adds a first pass that counts the energy, with its events behind the other events.
  void add_energy_pass(EventSet& set) {
    first_energy_event_ = set.events.size();
    Pass pass;
    for (const EnergySource& source : sources_) {
      pass.event_indices.push_back(set.events.size());
      set.events.push_back({.name = source.name,
                            .meaning = fmt::format("power/{}/ of the whole machine", source.name),
                            .is_energy = true,
                            .name_suffix = "(system-wide)"});
    }
    set.passes.insert(set.passes.begin(), std::move(pass));
  }

  const os::LinuxCalls& calls_;
  os::Sysfs sysfs_;
  std::vector<EnergySource> sources_;
  std::vector<std::uint32_t> cpus_;
  std::size_t first_energy_event_ = 0;
};

/// True if no command will run. Questions, such as --list-events, come without a launcher.
bool is_question(const MacosEngineOptions& options) {
  return options.launcher == nullptr;
}

Result<kperf::KpepDatabase> load_database(const MacosEngineOptions& options,
                                          const kperf::Kernel& kernel) {
  const std::string cpu =
      kperf::kpep_name_of_cpu(kernel.read_sysctl_number("hw.cputype").value_or(0),
                              kernel.read_sysctl_number("hw.cpusubtype").value_or(0),
                              kernel.read_sysctl_number("hw.cpufamily").value_or(0));
  auto paths = kperf::kpep_paths(cpu);
  if (const auto folder = os::read_variable("KPEP_DB_PATH"); folder && !folder->empty())
    paths.insert(paths.begin(), fmt::format("{}/{}.plist", *folder, cpu));
  if (is_question(options)) return kperf::load_kpep_for(cpu, paths);
  return kperf::load_kpep_for(cpu, paths, "set KPEP_DB_PATH to the folder that has it");
}

/// Makes the kperf engine, which counts with the processor's counters. Returns an error if it
/// cannot, for example without root.
Result<OwnedEngine> make_kperf(const EngineRequest& request, const kperf::Kernel& kernel,
                               const Result<kperf::KpepDatabase>& database) {
  if (!kernel.has_counters())
    return kperf::explain_refusal(kperf::KernelRequest::Count, ENOENT, kernel);
  if (!database) return database.error();
  return kperf::make_kperf_engine(request.macos, request.counts_user_space_only, *database);
}

/// Even a kperf engine that could be made may later fail to count the default events. Returns true
/// if it may then change to the kernel's totals: the user asked neither for kperf nor for a
/// strategy of kperf.
bool may_change_to_totals(const EngineRequest& request) {
  return request.choice == Choice::Auto && !is_question(request.macos) &&
         request.macos.strategy == KperfStrategyChoice::Auto;
}

/// Makes an engine for macOS. If the kperf engine cannot count, Auto uses the totals of cycles and
/// instructions that the kernel keeps for the command's process.
Result<ChosenEngine> choose_on_macos(const EngineRequest& request) {
  // The database is Apple's list of the processor's events.
  const kperf::Kernel kernel(*request.macos.calls);
  auto database = load_database(request.macos, kernel);

  auto kperf_engine = make_kperf(request, kernel, database);
  if (kperf_engine && may_change_to_totals(request))
    return ChosenEngine{
        kperf::make_kperf_or_totals(*std::move(kperf_engine), *std::move(database))};
  if (kperf_engine) return ChosenEngine{*std::move(kperf_engine)};
  const Error& why_no_kperf = kperf_engine.error();
  if (request.choice == Choice::Kperf) return why_no_kperf.prefixed("--engine kperf");

  // Without counters, the kernel's totals stay 0. A question, such as --list-events, asks only for
  // their names.
  const bool are_totals_useless = !kernel.has_counters() && !is_question(request.macos);
  if (are_totals_useless)
    return ChosenEngine{.engine = make_accounted_engine(why_no_kperf), .note = why_no_kperf.line()};

  std::optional<kperf::KpepDatabase> known_events;
  if (database) known_events = *std::move(database);
  return ChosenEngine{.engine = kperf::make_totals_engine(why_no_kperf, std::move(known_events)),
                      .note = why_no_kperf.line()};
}

bool is_for_this_system(Choice choice, const os::LinuxCalls* linux,
                        const MacosEngineOptions& macos) {
  if (choice == Choice::Kperf) return macos.calls != nullptr;
  return choice != Choice::Perf || linux != nullptr;
}

ChosenEngine choose_perf(const EngineRequest& request) {
  return ChosenEngine{
      perf::make_perf_engine(*request.calls, request.counts_user_space_only, request.kinds)};
}

Result<ChosenEngine> choose_valgrind(const EngineRequest& request) {
  auto valgrind = os::find_program("valgrind");
  if (!valgrind)
    return Error{fmt::format("--engine {} needs Valgrind, which is not in PATH",
                             row_of(request.choice).name),
                 "install the package valgrind (Debian, Ubuntu: apt-get install valgrind)"};
  return ChosenEngine{
      valgrind::make_valgrind_engine(request.choice, *std::move(valgrind), request.user)};
}

ChosenEngine choose_no_counters(const Error& why) {
  return ChosenEngine{make_accounted_engine(why),
                      fmt::format("there are no hardware counters: {}; or use --engine cachegrind "
                                  "to count instructions by simulation",
                                  why.line())};
}

/// Makes the best engine that this system has.
Result<ChosenEngine> choose_best(const EngineRequest& request) {
  if (request.macos.calls != nullptr) return choose_on_macos(request);
  if (request.calls == nullptr)
    return choose_no_counters({"there is no engine for this system", ""});

  // The perf engine may be unable to count here, too, but then it explains that itself. It only
  // needs a kernel with its system call. Without that, can_count() says why.
  if (perf::has_perf_event_open(*request.calls)) return choose_perf(request);
  return choose_no_counters(perf::can_count(*request.calls).error());
}

EngineFacts make_facts(Choice choice, CounterEngine& engine) {
  const auto set = engine.select({});
  EngineFacts facts{.engine = choice};
  if (!set)
    facts.why_unusable = set.error();
  else if (set->events.empty())
    facts.why_unusable = set->why_empty.value_or(Error{"counts nothing by default", ""});
  if (facts.why_unusable) return facts;
  for (const Note& note : set->notes) facts.notes.push_back(note.text);
  for (const Event& event : set->events) facts.default_event_names.push_back(event.name);
  return facts;
}

}  // namespace

Result<Explanation> CounterEngine::explain(const EventRequest& wanted) {
  const auto set = select({wanted.names, false});
  if (!set) return set.error();
  Explanation explanation;
  explanation.notes = set->notes;
  for (const Pass& pass : set->passes) {
    auto& rows = explanation.passes.emplace_back();
    for (const std::size_t event : pass.event_indices)
      rows.push_back({"", set->events[event].name, set->events[event].meaning});
  }
  return explanation;
}

void mark_as_region_event(Event& event) {
  event.of_region = true;
  event.name_suffix = event.name_suffix.empty() ? "(region)" : "(region) " + event.name_suffix;
}

EventSet make_empty_event_set(const Error& why) {
  EventSet set;
  set.why_empty = why;
  if (!why.remedy.empty())
    set.notes.push_back(
        {kNoCountersNote, "there are no hardware counters here; lauka --check says why"});
  return set;
}

std::span<const AccountedEvent> accounted_events() {
  return kAccountedEvents;
}

const AccountedEvent* find_accounted(std::string_view name,
                                     std::span<const AccountedEvent> events) {
  for (const AccountedEvent& event : events) {
    if (same_ignoring_case(name, event.name)) return &event;
    if (!event.other_name.empty() && same_ignoring_case(name, event.other_name)) return &event;
  }
  return nullptr;
}

Event* add_accounted(const AccountedEvent& event, std::string_view name,
                     std::vector<const AccountedEvent*>& taken, EventSet& set) {
  if (std::ranges::find(taken, &event) != taken.end()) return nullptr;
  taken.push_back(&event);
  set.passes.front().event_indices.push_back(set.events.size());
  set.events.push_back({.name = lower_case(name),
                        .meaning = std::string(event.meaning),
                        .privilege_levels = CountedPrivilegeLevels::UserAndKernel,
                        .role = role_of_event(lower_case(name)),
                        .method = {.engine = std::string(kAccountingEngine)}});
  return &set.events.back();
}

void add_to_catalog(std::span<const AccountedEvent> events, Catalog& catalog) {
  for (const AccountedEvent& event : events)
    catalog.push_back({std::string(event.name), std::string(event.name), "accounting",
                       std::string(event.meaning)});
}

OwnedPass make_accounting_pass(std::vector<const AccountedEvent*> events,
                               std::function<void(const os::Ended&, CountsOfRun&)> change_counts,
                               bool counts_calling_threads) {
  return std::make_unique<AccountingPass>(std::move(events), std::move(change_counts),
                                          counts_calling_threads);
}

OwnedEngine make_accounted_engine(std::optional<Error> why) {
  return std::make_unique<AccountedEngine>(std::move(why));
}

OwnedEngine separate_counting(OwnedEngine engine) {
  return std::make_unique<SeparateCounting>(std::move(engine));
}

OwnedEngine make_uncounting_engine(OwnedEngine engine) {
  return std::make_unique<WithoutRegions>(std::move(engine));
}

OwnedEngine with_energy(OwnedEngine engine, const os::LinuxCalls* calls) {
  if (calls == nullptr) return engine;
  return std::make_unique<WithEnergy>(std::move(engine), *calls);
}

/// Makes the engine that counts the events of a session: the one that users chose, or, with Auto,
/// the best one that this system has.
Result<ChosenEngine> choose(const EngineRequest& request) {
  const Choice choice = request.choice;
  if (!is_for_this_system(choice, request.calls, request.macos))
    return Error{fmt::format("--engine {} works on {} only", row_of(choice).name,
                             choice == Choice::Kperf ? "macOS" : "Linux"),
                 "leave it out"};

  switch (choice) {
    case Choice::Kperf:
      return choose_on_macos(request);
    case Choice::Perf:
      if (const auto usable = perf::can_count(*request.calls); !usable)
        return usable.error().prefixed("--engine perf");
      return choose_perf(request);
    case Choice::Cachegrind:
    case Choice::Dhat:
    case Choice::CachegrindAndDhat:
      return choose_valgrind(request);
    case Choice::None:
      return ChosenEngine{make_accounted_engine(std::nullopt)};
    case Choice::Auto:
      break;
  }
  return choose_best(request);
}

std::vector<EngineFacts> try_engines(bool user_only, const os::LinuxCalls* calls,
                                     const MacosEngineOptions& macos) {
  std::vector<EngineFacts> engines;
  for (const EngineRow& row : kEngines) {
    if (row.choice == Choice::Auto || row.choice == Choice::None ||
        row.choice == Choice::CachegrindAndDhat || !is_for_this_system(row.choice, calls, macos))
      continue;
    const auto chosen = choose({.choice = row.choice,
                                .counts_user_space_only = user_only,
                                .calls = calls,
                                .macos = macos});
    engines.push_back(chosen ? make_facts(row.choice, *chosen->engine)
                             : EngineFacts{.engine = row.choice, .why_unusable = chosen.error()});
    if (row.choice == Choice::Perf)
      engines.back().counters = perf::counters_here(*calls, user_only);
  }
  return engines;
}

}  // namespace lauka::engine
