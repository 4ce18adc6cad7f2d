#include "engine/profile/profile_engine.h"

#include "core/function_table.h"
#include "core/text.h"
#include "engine/engine.h"
#include "engine/perf/counters.h"
#include "engine/profile/samples.h"
#include "os/program_files.h"
#include "os/sample_rings.h"
#include "os/symbols.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::engine::profile {

namespace {

constexpr std::uint32_t kMaxAttempts = kMaxRepetitions + 1;

constexpr std::uint64_t kUserOnly = os::kPerfExcludeKernel | os::kPerfExcludeCallchainKernel;

/// Returns the flags of an event that samples a run and its children.
std::uint64_t make_flags(const ProfileRequest& request) {
  // Sampling begins when the command is executed.
  std::uint64_t flags = os::kPerfDisabled | os::kPerfEnableOnExec | os::kPerfInherit |
                        os::kPerfExcludeHypervisor | os::kPerfWatermark;

  // The kernel also records which files are mapped, which programs and threads begin and end, and
  // the time of each record. Addresses can be named only with these records.
  flags |= os::kPerfMmap | os::kPerfMmap2 | os::kPerfBuildId | os::kPerfComm | os::kPerfCommExec |
           os::kPerfTask | os::kPerfSampleIdAll;
  if (request.user_only) flags |= kUserOnly;
  return flags;
}

/// Makes the attributes with which perf_event_open lets the kernel sample a run and its children.
/// `type`: kPerfTypeHardware (cycles) or kPerfTypeSoftware (the CPU clock). `period`: the cycles or
/// nanoseconds between two samples.
os::PerfEventAttr make_attributes(std::uint32_t type, std::uint64_t period,
                                  const ProfileRequest& request) {
  os::PerfEventAttr attributes;
  attributes.type = type;
  attributes.size = os::kPerfSizeWithConfig3;
  attributes.config = 0;  // PERF_COUNT_HW_CPU_CYCLES or PERF_COUNT_SW_CPU_CLOCK
  attributes.sample_period = period;
  attributes.sample_type =
      os::kPerfSampleIp | os::kPerfSampleTid | os::kPerfSampleTime | os::kPerfSamplePeriod;
  if (request.call_graph == CallGraphChoice::FramePointers)
    attributes.sample_type |= os::kPerfSampleCallchain;
  attributes.read_format = os::kPerfReadEnabled | os::kPerfReadRunning;
  attributes.flags = make_flags(request);

  // lauka is woken to read the samples when their buffer is half full.
  attributes.wakeup_bytes = os::kRingBytes / 2;
  return attributes;
}

/// Makes the attributes of a counter of the cycles that lauka itself spends in user space.
os::PerfEventAttr make_cycles_attributes() {
  os::PerfEventAttr attributes;
  attributes.type = os::kPerfTypeHardware;
  attributes.size = os::kPerfSizeWithConfig3;
  attributes.read_format = os::kPerfReadEnabled | os::kPerfReadRunning;
  attributes.flags = os::kPerfExcludeHypervisor | os::kPerfExcludeKernel;
  return attributes;
}

/// Returns the count and the times of an open counter; nullopt if the kernel does not tell them.
std::optional<os::Reading> read_counter(const perf::OpenCounters& counter,
                                        const os::LinuxCalls& calls) {
  std::array<std::uint64_t, 3> words{};
  const long words_read = calls.read_counter(counter.descriptor(0), words.data(), words.size());
  if (words_read < static_cast<long>(words.size())) return std::nullopt;
  return os::Reading{.value = words[0], .enabled_ns = words[1], .running_ns = words[2]};
}

/// Returns the cycles per nanosecond between two readings of a counter of cycles.
double compute_rate(const os::Reading& begin, const os::Reading& end) {
  return static_cast<double>(end.value - begin.value) /
         static_cast<double>(end.running_ns - begin.running_ns);
}

/// Counts the cycles of a busy loop, to find out how many cycles a sampling period has. Returns the
/// rate of the fastest millisecond, because the processor needs some time to leave its lowest
/// frequency; nullopt if cycles cannot be counted.
std::optional<double> measure_cycles_per_ns(const os::LinuxCalls& calls) {
  constexpr std::uint64_t slice_ns = 1'000'000;  // a millisecond
  constexpr std::uint64_t total_ns = 20 * slice_ns;
  constexpr int max_reads = 10'000'000;  // ends the loop even if the time does not pass

  constexpr std::size_t leader = 0;  // of the group that consists only of this counter
  perf::OpenCounters counter(calls);
  if (counter.open(make_cycles_attributes(), leader) != 0) return std::nullopt;

  // The reads themselves are the work whose cycles are counted.
  os::Reading slice_begin;
  std::optional<double> fastest_rate;
  for (int reads = 0; reads < max_reads && slice_begin.running_ns < total_ns; ++reads) {
    const auto now = read_counter(counter, calls);
    if (!now) return std::nullopt;
    if (now->running_ns < slice_begin.running_ns + slice_ns) continue;

    const double rate = compute_rate(slice_begin, *now);
    if (rate > fastest_rate.value_or(0.0)) fastest_rate = rate;
    slice_begin = *now;
  }

  return fastest_rate;
}

/// Sums over the sampled runs.
struct SampledTotals {
  std::uint64_t sampled_ns = 0;
  std::uint64_t used_ns = 0;
  /// CPU time that may be without a sample because each thread has its first sample on a CPU after
  /// a period.
  double before_first_samples_ns = 0.0;
  std::size_t withdrawn_count = 0;
  std::uint64_t in_incomplete_stacks_ns = 0;
  std::uint64_t in_longest_stacks_ns = 0;  ///< part of in_incomplete_stacks_ns
  bool has_left_out_paths = false;
};

Error make_withdrawn_error() {
  return {
      "Linux stops sampling when a process executes a program that is setuid or setgid, "
      "that has file capabilities, or that its user may not read",
      "measure a copy that its user may read, or run lauka as root (sudo lauka --as-root ...)"};
}

struct IncompleteRun {
  std::string why{};  ///< clause that follows "The run was repeated because"
  /// What is known of a run that is kept nevertheless; empty: its samples are left out.
  std::string note{};
};

/// Returns a period as users type it: "50us", "4ms".
std::string format_period(std::chrono::nanoseconds period) {
  constexpr auto millisecond = std::chrono::nanoseconds(std::chrono::milliseconds(1));
  using Milliseconds = std::chrono::duration<double, std::milli>;
  using Microseconds = std::chrono::duration<double, std::micro>;
  return period < millisecond ? fmt::format("{:g}us", Microseconds(period).count())
                              : fmt::format("{:g}ms", Milliseconds(period).count());
}

std::string make_option_for_fewer_samples(std::chrono::nanoseconds period) {
  constexpr int factor = 4;
  constexpr std::chrono::nanoseconds max_period = std::chrono::seconds(1);
  return "--profile=" + format_period(std::min(period * factor, max_period));
}

/// A function that the user asked for.
struct AskedFunction {
  std::string typed{};
  std::string normalized{};
  bool includes_callees = false;  ///< true: the time with what the function called
};

std::vector<std::string> list_normalized(std::span<const AskedFunction> functions) {
  std::vector<std::string> names;
  names.reserve(functions.size());
  for (const AskedFunction& function : functions) names.push_back(function.normalized);
  return names;
}

/// What a sampled pass needs; the references must outlive the pass.
struct SamplingSetup {
  os::PerfEventAttr attributes{};
  std::chrono::nanoseconds period{};
  std::vector<AskedFunction> functions{};
  std::optional<User> user{};
  std::shared_ptr<SampledTotals> totals{};
  /// Indices of commands from which the kernel takes the event.
  const std::set<std::size_t>& commands_without_samples;
  const os::LinuxCalls& calls;
};

class Sampling final : public ArmedPass, public os::SampleListener {
 public:
  explicit Sampling(SamplingSetup setup)
      : setup_(std::move(setup)), wanted_(list_normalized(setup_.functions)), names_(setup_.user) {
    begin_next_run();
  }

  std::vector<os::CounterRequest> requests() const override {
    return {
        {.attributes = std::bit_cast<decltype(os::CounterRequest::attributes)>(setup_.attributes),
         .takes_samples = true}};
  }

  os::SampleListener* samples() override { return this; }
  std::size_t max_batch_size() const override { return 1; }

  void receive(std::span<const std::byte> records) override {
    records_.add(records, [this](const MappedFile& file) { names_.open(file); });
  }

  void end(std::span<const os::Reading> counters) override {
    // Each CPU has its own counter, which runs only while a thread of the run is on this CPU.
    constexpr double min_counted_share = 0.99;
    double enabled = 0.0;
    double running = 0.0;
    for (const os::Reading& counter : counters) {
      cycles_ += counter.value;
      enabled = std::max(enabled, static_cast<double>(counter.enabled_ns));
      running += static_cast<double>(counter.running_ns);
    }
    was_partly_counted_ = running < min_counted_share * enabled;
    cpu_count_ = counters.size();
  }

  CountsOfRun finish(const os::Ended& ended, std::size_t command) override {
    // Also forgets the records, so it comes before all returns.
    const SampledRun run = records_.close();

    // Nothing was sampled, so nothing is left of this run.
    if (ended.counter_error != 0)
      return make_counts_without_values(Error{
          "the run could not be sampled: " + std::generic_category().message(ended.counter_error),
          ""});

    CountsOfRun counted = count_run(run, ended, command);
    begin_next_run();
    return counted;
  }

 private:
  // A run's counts are the time of all functions, then those of the named functions.
  static constexpr std::size_t kAllFunctions = 0;
  static constexpr std::size_t kFirstNamed = 1;

  /// Returns the counts of a run that the kernel could sample.
  CountsOfRun count_run(const SampledRun& run, const os::Ended& ended, std::size_t command) {
    // Why such a command has no samples is reported elsewhere, once for all its runs.
    if (setup_.commands_without_samples.contains(command))
      return make_counts_without_values(std::nullopt);

    const bool was_withdrawn = run.samples == 0 && run.seen.withdrawn_count > 0;
    if (was_withdrawn) return make_counts_without_values(make_withdrawn_error());

    CountsOfRun counted = estimate_times(run, ended);
    const std::uint64_t sampled_ns = *counted.counts[kAllFunctions];
    if (const auto incomplete = find_incomplete(run, ended))
      ask_for_repetition(*incomplete, counted);
    else
      add_to_totals(run, ended, sampled_ns);
    return counted;
  }

  /// Forgets what the latest run has left, because the next run may begin.
  void begin_next_run() {
    run_began_ = std::chrono::system_clock::now().time_since_epoch();
    cycles_ = 0;
    was_partly_counted_ = false;
    in_incomplete_stacks_ns_ = 0;
    in_longest_stacks_ns_ = 0;
  }

  /// Adds the functions that were asked for, exist in the run's files and have no sample, so that
  /// their time is 0 and not unknown.
  void add_known_without_samples(CountsOfRun& counted) {
    if (known_functions_.size() < setup_.functions.size())
      known_functions_.merge(names_.find_in_new_files(wanted_));
    for (const std::size_t function : known_functions_)
      if (counted.counts[kFirstNamed + function] == 0)
        counted.functions->push_back({setup_.functions[function].normalized, {0}});
  }

  /// Returns the nanoseconds of a unit of the samples' periods, which is a cycle or a nanosecond.
  double nanoseconds_per_unit(std::uint64_t used_ns) const {
    if (setup_.attributes.type == os::kPerfTypeSoftware) return 1.0;
    return cycles_ == 0 ? 0.0 : static_cast<double>(used_ns) / static_cast<double>(cycles_);
  }

  CountsOfRun make_counts_without_values(std::optional<Error> why) const {
    return {
        .counts = std::vector<std::optional<std::uint64_t>>(kFirstNamed + setup_.functions.size()),
        .why_missing_counts = std::move(why)};
  }

  /// Returns the CPU time of a run that samples can be of.
  std::uint64_t find_used_ns(const os::Ended& ended) const {
    const bool has_kernel = (setup_.attributes.flags & os::kPerfExcludeKernel) == 0;
    return ended.usage.user_ns + (has_kernel ? ended.usage.system_ns : 0);
  }

  /// Returns the times of functions and call paths in a run, as the samples estimate them. Keeps
  /// for notes() how much of the time has no complete call path.
  CountsOfRun estimate_times(const SampledRun& run, const os::Ended& ended) {
    NamedSamples samples =
        convert_to_ns(names_.sum_up(run, run_began_), nanoseconds_per_unit(find_used_ns(ended)));
    in_incomplete_stacks_ns_ = samples.sampled_in_incomplete_stacks;
    in_longest_stacks_ns_ = samples.sampled_in_longest_stacks;
    if (samples.has_left_out_paths) setup_.totals->has_left_out_paths = true;

    CountsOfRun counted;
    counted.counts = sum_times(samples);
    counted.functions = std::move(samples.functions);
    counted.paths = std::move(samples.paths);
    add_known_without_samples(counted);
    return counted;
  }

  /// Returns the samples in nanoseconds. `ns_per_unit`: result of nanoseconds_per_unit().
  static NamedSamples convert_to_ns(NamedSamples samples, double ns_per_unit) {
    const auto convert = [ns_per_unit](std::uint64_t& sampled) {
      sampled =
          static_cast<std::uint64_t>(std::llround(static_cast<double>(sampled) * ns_per_unit));
    };
    for (FunctionCounts& function : samples.functions)
      convert(function.counts.front());  // it has only this count
    for (PathCounts& path : samples.paths) convert(path.count);
    convert(samples.sampled_in_incomplete_stacks);
    convert(samples.sampled_in_longest_stacks);
    return samples;
  }

  /// Returns the time of all functions, then that of each function that was asked for. Remembers
  /// which of these exist (`known_functions_`).
  std::vector<std::optional<std::uint64_t>> sum_times(const NamedSamples& samples) {
    std::vector<std::optional<std::uint64_t>> times(kFirstNamed + setup_.functions.size(),
                                                    std::uint64_t{0});

    // One name that users wrote may fit several functions, such as overloads. `asked` is the index
    // of such a name in `setup_.functions`.
    std::map<std::size_t, std::set<std::string>> functions_with_callees;
    for (const FunctionCounts& function : samples.functions) {
      const std::uint64_t time_ns = function.counts.front();
      *times[kAllFunctions] += time_ns;
      for (const std::size_t asked : wanted_.find(function.name, function.other_names)) {
        if (setup_.functions[asked].includes_callees)
          functions_with_callees[asked].insert(function.name);
        else
          *times[kFirstNamed + asked] += time_ns;
        known_functions_.insert(asked);
      }
    }

    // Only the call paths show what a function called.
    for (const auto& [asked, function_names] : functions_with_callees)
      times[kFirstNamed + asked] = sum_with_callees(samples.paths, function_names);
    return times;
  }

  /// Returns the time of the functions with these names and of what they called.
  static std::uint64_t sum_with_callees(std::span<const PathCounts> paths,
                                        const std::set<std::string>& names) {
    const std::vector<bool> are_through = find_paths_through(
        paths.size(), [&](std::size_t path) { return paths[path].caller; },
        [&](std::size_t path) {
          return paths[path].caller != kNoCaller && names.contains(paths[path].name);
        });
    std::uint64_t total = 0;
    for (std::size_t path = 0; path < paths.size(); ++path)
      if (are_through[path]) total += paths[path].count;
    return total;
  }

  /// Returns why the samples of the latest run are not all that there should be; nullopt if they
  /// are. An incomplete run is repeated. If all repetitions are incomplete, too, the samples are
  /// kept if the result has a note for users, and left out if it has none.
  std::optional<IncompleteRun> find_incomplete(const SampledRun& run,
                                               const os::Ended& ended) const {
    // If records were lost, a process without records may only have lost them. Otherwise, the
    // kernel did not sample the process. Then a whole part of the run is missing, so there is no
    // note.
    const bool has_lost_records = run.loss_count > 0;
    if (!has_lost_records && lacks_process(run.seen, ended))
      return IncompleteRun{.why = "a process of the run was not sampled"};

    if (run.throttle_count > 0) return make_throttled_run();
    if (has_lost_records) return make_run_with_losses();
    // The counters of cycles show whether samples could be taken all the time.
    if (was_partly_counted_) return make_partly_counted_run();
    return std::nullopt;
  }

  IncompleteRun make_throttled_run() const {
    const auto max_rate = setup_.calls.read_file("/proc/sys/kernel/perf_event_max_sample_rate");
    return {.why = "the kernel throttled sampling",
            .note = fmt::format("the kernel throttled sampling in each of {} runs, so samples were "
                                "lost (perf_event_max_sample_rate is {}); sample less often ({})",
                                kMaxAttempts, trimmed(max_rate.value_or("unknown")),
                                make_option_for_fewer_samples(setup_.period))};
  }

  IncompleteRun make_run_with_losses() const {
    return {.why = "samples were lost",
            .note = fmt::format("samples were lost in each of {} runs; sample less often ({})",
                                kMaxAttempts, make_option_for_fewer_samples(setup_.period))};
  }

  static IncompleteRun make_partly_counted_run() {
    return {.why = "cycles were counted for only a part of the run",
            .note = fmt::format("each of {} runs was sampled only in part, because cycles were not "
                                "counted all the time; end other programs that may be using the "
                                "counter",
                                kMaxAttempts)};
  }

  /// True if the kernel did not sample a process of the run.
  bool lacks_process(const ProcessesSeen& seen, const os::Ended& ended) const {
    if (seen.started_count < ended.started_count) return true;
    return std::ranges::any_of(seen.unended, [this](std::uint32_t process) {
      return setup_.calls.count_subfolders(fmt::format("/proc/{}/task", process)) < 0;
    });
  }

  static void ask_for_repetition(const IncompleteRun& incomplete, CountsOfRun& counted) {
    counted.redo = RepeatRequest{RedoReason::Counting, incomplete.why, kMaxRepetitions};
    if (incomplete.note.empty())
      counted.redo->why_left_out =
          Error{fmt::format("the kernel did not sample all processes of a run, although the run "
                            "was repeated {} times",
                            kMaxRepetitions),
                ""};
    else
      counted.note = Note{"samples_lost", incomplete.note};
  }

  void add_to_totals(const SampledRun& run, const os::Ended& ended, std::uint64_t sampled_ns) {
    setup_.totals->sampled_ns += sampled_ns;
    setup_.totals->used_ns += find_used_ns(ended);
    setup_.totals->before_first_samples_ns +=
        static_cast<double>(run.seen.thread_count * cpu_count_) *
        static_cast<double>(setup_.period.count());
    setup_.totals->withdrawn_count += run.seen.withdrawn_count;
    setup_.totals->in_incomplete_stacks_ns += in_incomplete_stacks_ns_;
    setup_.totals->in_longest_stacks_ns += in_longest_stacks_ns_;
  }

  SamplingSetup setup_;
  WantedFunctions wanted_;
  std::set<std::size_t> known_functions_;
  RunRecords records_;
  FunctionNames names_;
  std::chrono::nanoseconds run_began_{};
  std::uint64_t cycles_ = 0;
  std::uint64_t in_incomplete_stacks_ns_ = 0;
  std::uint64_t in_longest_stacks_ns_ = 0;
  bool was_partly_counted_ = false;
  std::size_t cpu_count_ = 0;
};

class WithProfile final : public EngineWrapper {
 public:
  WithProfile(OwnedEngine inner, ProfileRequest request, const os::LinuxCalls* calls)
      : EngineWrapper(std::move(inner)), calls_(calls), request_(std::move(request)) {}

  Result<EventSet> select(const EventRequest& wanted) override {
    // Takes the events that this engine counts itself, such as the time of a function that the user
    // asks for. The wrapped engine selects the others.
    asked_functions_.clear();
    EventRequest other_events = wanted;
    other_events.names.clear();
    for (const std::string& name : wanted.names)
      if (!take_event(name)) other_events.names.push_back(name);

    // If no others are left, a request without names would select the default events.
    const bool are_all_taken = !wanted.names.empty() && other_events.names.empty();
    auto set = are_all_taken ? Result<EventSet>(EventSet{}) : wrapped_engine().select(other_events);
    if (!set) return set;

    // What the kernel allows does not change during a session, so it is tried only once.
    if (!has_tried_sampling_) {
      auto note = try_sampling();
      if (!note) return note.error().prefixed("--profile");
      has_tried_sampling_ = true;
      sampling_note_ = *std::move(note);
    }

    if (!sampling_note_.text.empty()) set->notes.push_back(sampling_note_);
    add_sampled_pass(*set);
    return set;
  }

  /// Returns what the samples are of: "cycles", or "the CPU clock, user space only".
  std::string describe_clock() const {
    return std::string(is_cycles() ? "cycles" : "the CPU clock") +
           (has_flag(os::kPerfExcludeKernel) ? ", user space only" : "");
  }

  const AccountedEvent* accounted(std::size_t event) const override {
    // The first of these events is the time of all functions.
    const bool is_own =
        event >= first_own_event_ && event - first_own_event_ <= asked_functions_.size();
    return is_own ? nullptr : wrapped_engine().accounted(event);
  }

  Result<OwnedPass> arm(std::size_t pass) override {
    if (pass == sampled_pass_)
      return OwnedPass(std::make_unique<Sampling>(
          SamplingSetup{.attributes = attributes_,
                        .period = request_.period,
                        .functions = asked_functions_,
                        .user = request_.user,
                        .totals = totals_,
                        .commands_without_samples = commands_without_samples_,
                        .calls = *calls_}));
    if (has_own_timed_pass_ && pass == 0) return make_accounting_pass({});

    // The wrapped engine does not know the passes that this one has added.
    const std::size_t added_at_begin = has_own_timed_pass_ ? 1 : 0;
    const std::size_t added_before = added_at_begin + (pass > sampled_pass_ ? 1 : 0);
    return wrapped_engine().arm(pass - added_before);
  }

  std::optional<CounterLossFile> find_counter_loss_file(std::size_t command,
                                                        const os::ProgramSpec& program) override {
    auto found = wrapped_engine().find_counter_loss_file(command, program);
    if (!found && calls_ != nullptr) found = os::find_counter_loss_file(program, *calls_);
    if (found) commands_without_samples_.insert(command);
    return found;
  }

  std::vector<Note> notes() const override {
    std::vector<Note> notes = wrapped_engine().notes();
    if (auto note = note_few_samples(); !note.empty())
      notes.push_back({"few_samples", std::move(note)});
    if (auto note = note_incomplete_stacks(); !note.empty())
      notes.push_back({"incomplete_stacks", std::move(note)});
    if (totals_->has_left_out_paths)
      notes.push_back(
          {"too_many_paths",
           fmt::format("a sampled run had too many call paths, so lauka shows those after the "
                       "first {} callers below {}; give --call-graph none to do without call paths",
                       RunRecords::kMaxCallers, kTooManyPaths)});
    return notes;
  }

 private:
  /// Returns false if this engine does not count the event. If the event is the time of a function,
  /// adds it to the functions that were asked for.
  bool take_event(std::string_view name) {
    if (name == kSampledTime) return true;
    const std::size_t at = name.find(kFunctionSeparator);
    if (at == std::string_view::npos || at + 1 == name.size()) return false;
    const bool includes_callees = name.substr(0, at) == kTotalTime;
    if (!includes_callees && name.substr(0, at) != kSampledTime) return false;
    std::string typed(name.substr(at + 1));
    std::string normalized = normalized_function(typed);
    asked_functions_.push_back({std::move(typed), std::move(normalized), includes_callees});
    return true;
  }

  /// Says how much CPU time the samples of all runs leave out, and why; empty if little or nothing.
  std::string note_few_samples() const {
    constexpr double large_enough_share = 0.8;
    const auto used_ns = static_cast<double>(totals_->used_ns);
    const auto sampled_ns = static_cast<double>(totals_->sampled_ns);
    const bool are_few = sampled_ns < large_enough_share * used_ns;

    // The kernel stops sampling a process that executes, for example, a setuid program.
    const bool lacks_processes = totals_->withdrawn_count > 0;
    if (!are_few && !lacks_processes) return "";

    // A sample stands for a whole period, so the estimate may exceed the time that was used, which
    // may even be 0.
    const double share = std::min(sampled_ns / std::max(used_ns, 1.0), 1.0);
    return fmt::format("the samples cover {:.0f}% of the CPU time of the sampled runs",
                       100.0 * share) +
           explain_missing_samples();
  }

  /// Returns why the samples leave out a part of the CPU time, as the end of a sentence; empty if
  /// the reason is unknown.
  std::string explain_missing_samples() const {
    if (totals_->withdrawn_count > 0) {
      const Error why = make_withdrawn_error();
      return fmt::format(", without {} of their processes, because {}; {}",
                         totals_->withdrawn_count, why.what, why.remedy);
    }

    // A shorter period is the remedy only if threads that end between samples explain the rest.
    const double missing_ns =
        static_cast<double>(totals_->used_ns) - static_cast<double>(totals_->sampled_ns);
    if (missing_ns > totals_->before_first_samples_ns) return "";
    return fmt::format(
        "; the time of each thread and process after its last sample is missing, so a shorter "
        "period than {:g}ms (--profile) may cover more",
        period_ms());
  }

  /// Says how many samples have no complete call path, and what to do; empty if they are few.
  std::string note_incomplete_stacks() const {
    const auto incomplete_ns = static_cast<double>(totals_->in_incomplete_stacks_ns);
    const auto sampled_ns = static_cast<double>(totals_->sampled_ns);
    if (incomplete_ns <= kMostWithoutCallers * sampled_ns) return "";

    const double percent = 100.0 * incomplete_ns / sampled_ns;
    if (2.0 * static_cast<double>(totals_->in_longest_stacks_ns) > incomplete_ns)
      return fmt::format(
          "{:.0f}% of the samples are below {}, because the kernel records at most {} callers of a "
          "function; if you do not need call paths, use --call-graph none",
          percent, kIncompleteStack, kMaxFrames - 1);
    return fmt::format(
        "{:.0f}% of the samples are below {}, because their callers could not be found; compile "
        "the programs and their libraries with -fno-omit-frame-pointer "
        "-mno-omit-leaf-frame-pointer, or give --call-graph none to do without call paths",
        percent, kIncompleteStack);
  }

  bool is_cycles() const { return attributes_.type == os::kPerfTypeHardware; }

  double period_ms() const {
    return std::chrono::duration<double, std::milli>(request_.period).count();
  }

  /// True if a flag of perf_event_attr is set.
  bool has_flag(std::uint64_t flag) const { return (attributes_.flags & flag) != 0; }

  /// Chooses the event that is sampled: cycles, or the CPU clock where the kernel does not count
  /// them. Returns a note as reduce_until_opened() does.
  Result<Note> try_sampling() {
    if (calls_ == nullptr)
      return Error{"--profile needs perf_event, which only Linux has",
                   "leave out --profile; on macOS, use the time profiler of Instruments"};
    if (!os::can_read_symbols())
      return Error{
          "this lauka was built without elfutils and libiberty, which find the functions",
          "install libdw-dev (elfutils-devel) and libiberty-dev (binutils-devel), and build "
          "it again"};
    if (const auto rate = measure_cycles_per_ns(*calls_)) {
      const double cycles = *rate * static_cast<double>(request_.period.count());
      attributes_ =
          make_attributes(os::kPerfTypeHardware, static_cast<std::uint64_t>(cycles), request_);
      if (auto note = reduce_until_opened()) return note;
    }
    const auto ns = static_cast<std::uint64_t>(request_.period.count());
    attributes_ = make_attributes(os::kPerfTypeSoftware, ns, request_);
    return reduce_until_opened();
  }

  /// Finds out by trying what the kernel lets lauka sample, and takes the rest out of
  /// `attributes_`. Returns a note about what users may miss; an empty note if that is nothing.
  Result<Note> reduce_until_opened() {
    Note note;
    for (;;) {
      // Each CPU has a ring, a buffer into which the kernel writes samples.
      os::SampleRings rings(calls_);
      constexpr int own_process = 0;
      constexpr std::uint32_t any_run = 0;
      const int error = rings.open(attributes_, own_process, any_run);
      if (error == 0) return note;
      if (rings.lacks_memory()) return make_ring_memory_error(rings.descriptors().size());
      if (error == EMFILE) return make_open_files_error(rings.descriptors().size());

      auto further_note = reduce_attributes(error);
      if (!further_note) return further_note;
      if (!further_note->text.empty()) note = *std::move(further_note);
    }
  }

  /// Takes out of `attributes_` the part that the kernel refused with `error`. Returns a note about
  /// what users may miss, which may be empty, or an error if the kernel refused the whole.
  Result<Note> reduce_attributes(int error) {
    // Linux before 5.12 knows no build ids, but files can also be told apart by their inodes.
    if (error == EINVAL && has_flag(os::kPerfBuildId)) {
      attributes_.flags &= ~os::kPerfBuildId;
      return Note{};
    }

    const bool denies_kernel =
        (error == EACCES || error == EPERM) && !has_flag(os::kPerfExcludeKernel);
    if (!denies_kernel) return perf::why_not_opened(error, {}, conditions());
    attributes_.flags |= kUserOnly;
    const Error why = perf::why_not_opened(error, {.kernel_excluded = false}, conditions());
    return Note{"user_space_only", "the kernel is not sampled: " + why.line()};
  }

  perf::PerfConditions conditions() const { return perf::read_conditions(*calls_); }

  Error make_ring_memory_error(std::size_t ring) const {
    const auto limit = calls_->read_file("/proc/sys/kernel/perf_event_mlock_kb").value_or("?\n");
    return {fmt::format("the kernel refuses memory for ring {} of samples ({} kB for each CPU, "
                        "while perf_event_mlock_kb is {})",
                        ring, (os::kRingBytes >> 10U) + 4, trimmed(limit)),
            "run sudo sysctl kernel.perf_event_mlock_kb=516"};
  }

  /// `opened_count`: number of CPUs that have a descriptor.
  static Error make_open_files_error(std::size_t opened_count) {
    return {fmt::format("each CPU needs a descriptor, but the limit of open files leaves only {}",
                        opened_count),
            "raise the limit with ulimit -n 8192"};
  }

  /// Adds a pass of sampled runs, with an event for all functions together and one for each
  /// function that was asked for. Remembers for arm() and accounted() where it added them.
  void add_sampled_pass(EventSet& set) {
    // Sampled runs are not timed, so a pass of timed runs is added if there is none.
    has_own_timed_pass_ = set.count_passes(RoundKind::Timed) == 0;
    if (has_own_timed_pass_) set.passes.insert(set.passes.begin(), Pass{});

    first_own_event_ = set.events.size();
    const Event all_functions = make_event_of_all_functions();
    set.events.push_back(all_functions);
    for (const AskedFunction& function : asked_functions_)
      set.events.push_back(make_event_of(function, all_functions));

    Pass sampled_pass{.event_indices = {}, .kind = RoundKind::Counting};
    for (std::size_t event = first_own_event_; event < set.events.size(); ++event)
      sampled_pass.event_indices.push_back(event);

    // Simulated passes, which take longest, stay the last ones.
    const auto first_simulated = std::ranges::find(set.passes, RoundKind::Simulated, &Pass::kind);
    sampled_pass_ = static_cast<std::size_t>(first_simulated - set.passes.begin());
    set.passes.insert(first_simulated, std::move(sampled_pass));
  }

  /// Returns the event of the sampled time of all functions together.
  Event make_event_of_all_functions() const {
    const char* const clock = is_cycles() ? "cycles" : "the CPU clock";
    Event event{.name = std::string(kSampledTime),
                .meaning = fmt::format("CPU time, estimated from samples of {}, one every {:g} ms",
                                       clock, period_ms()),
                .is_time = true,
                .privilege_levels = CountedPrivilegeLevels::UserAndKernel,
                .name_suffix = "(sampled)",
                .role = Role::SampledTime,
                .method = {.sampled = SampledClock{clock, request_.period}}};
    if (has_flag(os::kPerfExcludeKernel)) {
      event.meaning += ", user space only";
      event.privilege_levels = CountedPrivilegeLevels::UserOnly;
      event.name_suffix = "(sampled, user)";
    }
    return event;
  }

  /// Returns the event of the sampled time of one function. `all_functions`: that of all together.
  static Event make_event_of(const AskedFunction& function, const Event& all_functions) {
    const std::string kind_of_time(function.includes_callees ? kTotalTime : kSampledTime);
    const char* const with_callees =
        function.includes_callees ? " and everything that it called" : "";

    Event event = all_functions;
    event.name = kind_of_time + kFunctionSeparator + function.typed;
    event.meaning = fmt::format("in the function {}{}: {}", function.typed, with_callees,
                                all_functions.meaning);
    event.only_function = function.normalized;
    return event;
  }

  const os::LinuxCalls* calls_;
  os::PerfEventAttr attributes_;
  ProfileRequest request_;
  bool has_tried_sampling_ = false;
  Note sampling_note_;
  std::vector<AskedFunction> asked_functions_;
  std::set<std::size_t> commands_without_samples_;
  std::shared_ptr<SampledTotals> totals_ = std::make_shared<SampledTotals>();
  // Larger than any index until select() has added the events and the pass.
  std::size_t first_own_event_ = ~std::size_t{0};
  std::size_t sampled_pass_ = ~std::size_t{0};
  bool has_own_timed_pass_ = false;
};

}  // namespace
}  // namespace lauka::engine::profile

namespace lauka::engine {

OwnedEngine with_profile(OwnedEngine engine, const ProfileRequest& request,
                         const os::LinuxCalls* calls) {
  return std::make_unique<profile::WithProfile>(std::move(engine), request, calls);
}

Result<std::string> find_profile_clock(bool user_only, const os::LinuxCalls* calls) {
  profile::WithProfile engine(make_accounted_engine(std::nullopt), {.user_only = user_only}, calls);
  if (const auto set = engine.select({}); !set) return set.error();
  return engine.describe_clock();
}

}  // namespace lauka::engine
