#include "core/functions.h"
#include "core/text.h"
#include "engine/engine.h"
#include "engine/perf/counters.h"
#include "engine/profile/samples.h"
#include "os/sample_rings.h"
#include "os/symbols.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::engine::profile {

namespace {

constexpr std::uint32_t kMaxRedos = 3;

/// `type`: kPerfTypeHardware (cycles) or kPerfTypeSoftware (the CPU clock).
os::PerfEventAttr make_attributes(std::uint32_t type, std::uint64_t period, bool user_only) {
  os::PerfEventAttr attributes;
  attributes.type = type;
  attributes.size = os::kPerfSizeWithConfig3;
  attributes.config = 0;  // PERF_COUNT_HW_CPU_CYCLES or PERF_COUNT_SW_CPU_CLOCK
  attributes.sample_period = period;
  attributes.sample_type =
      os::kPerfSampleIp | os::kPerfSampleTid | os::kPerfSampleTime | os::kPerfSamplePeriod;
  attributes.read_format = os::kPerfReadEnabled | os::kPerfReadRunning;
  attributes.flags = os::kPerfDisabled | os::kPerfInherit | os::kPerfEnableOnExec |
                     os::kPerfExcludeHypervisor | os::kPerfMmap | os::kPerfMmap2 | os::kPerfComm |
                     os::kPerfCommExec | os::kPerfTask | os::kPerfSampleIdAll | os::kPerfWatermark |
                     os::kPerfBuildId;
  if (user_only) attributes.flags |= os::kPerfExcludeKernel;
  attributes.wakeup_bytes = os::kRingBytes / 2;
  return attributes;
}

/// Counts cycles for about 20 ms, so that the processor leaves its lowest frequency. Returns the
/// cycles per nanosecond of the fastest millisecond; nullopt if cycles cannot be counted.
std::optional<double> measure_cycles(const os::LinuxCalls& calls) {
  constexpr std::uint64_t slice_ns = 1'000'000;
  constexpr std::uint64_t slices = 20;
  constexpr int most_reads = 10'000'000;
  os::PerfEventAttr attributes;
  attributes.type = os::kPerfTypeHardware;
  attributes.size = os::kPerfSizeWithConfig3;
  attributes.read_format = os::kPerfReadEnabled | os::kPerfReadRunning;
  attributes.flags = os::kPerfExcludeHypervisor | os::kPerfExcludeKernel;
  perf::OpenCounters counter(calls);
  if (counter.open(attributes, 0) != 0) return std::nullopt;
  std::array<std::uint64_t, 3> begin{};
  std::optional<double> fastest;
  for (int reads = 0; reads < most_reads && begin[2] < slices * slice_ns; ++reads) {
    std::array<std::uint64_t, 3> now{};
    if (calls.read_counter(counter.descriptor(0), now.data(), now.size()) < 3) return std::nullopt;
    if (now[2] < begin[2] + slice_ns) continue;
    const double rate =
        static_cast<double>(now[0] - begin[0]) / static_cast<double>(now[2] - begin[2]);
    if (rate > fastest.value_or(0.0)) fastest = rate;
    begin = now;
  }
  return fastest;
}

struct SampledTotals {
  std::uint64_t sampled_ns = 0;
  std::uint64_t used_ns = 0;
};

class Sampling final : public ArmedPass, public os::SampleListener {
 public:
  Sampling(const os::PerfEventAttr& attributes, std::span<const std::string> functions,
           const std::optional<User>& user, std::shared_ptr<SampledTotals> seen)
      : attributes_(attributes),
        functions_(functions.begin(), functions.end()),
        wanted_(functions),
        seen_(std::move(seen)),
        names_(user) {
    begin();
  }

  std::vector<os::CounterRequest> requests() const override {
    return {{.attributes = std::bit_cast<decltype(os::CounterRequest::attributes)>(attributes_),
             .takes_samples = true}};
  }

  os::SampleListener* samples() override { return this; }
  std::size_t max_batch_size() const override { return 1; }

  void receive(std::span<const std::byte> records) override {
    records_.add(records, [this](const MappedFile& file) { names_.open(file); });
  }

  void end(std::span<const os::Reading> counters) override {
    // Each CPU has its own counter, which runs only while a thread of the run is on this CPU.
    constexpr double whole = 0.99;
    double enabled = 0.0;
    double running = 0.0;
    for (const os::Reading& counter : counters) {
      cycles_ += counter.value;
      enabled = std::max(enabled, static_cast<double>(counter.enabled_ns));
      running += static_cast<double>(counter.running_ns);
    }
    is_partial_ = running < whole * enabled;
  }

  CountsOfRun finish(const os::Ended& ended, std::size_t /*command*/) override {
    if (ended.counter_error != 0)
      return {.counts = std::vector<std::optional<std::uint64_t>>(1 + functions_.size()),
              .why_missing_counts = Error{"the run could not be sampled: " +
                                              std::generic_category().message(ended.counter_error),
                                          ""}};
    const bool has_kernel = (attributes_.flags & os::kPerfExcludeKernel) == 0;
    const std::uint64_t used_ns = ended.usage.user_ns + (has_kernel ? ended.usage.system_ns : 0);
    const SampledRun run = records_.close();
    CountsOfRun counted;
    counted.counts.assign(1 + functions_.size(), 0);
    const double ns_per_unit = nanoseconds_per_unit(used_ns);
    for (auto& [name, sampled] : names_.sum_by_function(run, since_)) {
      const auto time_ns =
          static_cast<std::uint64_t>(std::llround(static_cast<double>(sampled) * ns_per_unit));
      *counted.counts[0] += time_ns;
      for (const std::size_t function : wanted_.find(name)) {
        *counted.counts[1 + function] += time_ns;
        known_.insert(function);
      }
      counted.functions.push_back({name, {time_ns}});
    }
    add_unsampled(counted);
    seen_->sampled_ns += *counted.counts[0];
    seen_->used_ns += used_ns;
    note_losses(run, counted);
    begin();
    return counted;
  }

 private:
  void begin() {
    since_ = std::chrono::system_clock::now().time_since_epoch();
    cycles_ = 0;
    is_partial_ = false;
  }

  void add_unsampled(CountsOfRun& counted) {
    if (known_.size() < functions_.size()) known_.merge(names_.find_in_new_files(wanted_));
    for (const std::size_t function : known_)
      if (counted.counts[1 + function] == 0)
        counted.functions.push_back({functions_[function], {0}});
  }

  double nanoseconds_per_unit(std::uint64_t used_ns) const {
    if (attributes_.type == os::kPerfTypeSoftware) return 1.0;
    return cycles_ == 0 ? 0.0 : static_cast<double>(used_ns) / static_cast<double>(cycles_);
  }

  void note_losses(const SampledRun& run, CountsOfRun& counted) const {
    if (run.loss_count == 0 && !is_partial_) return;
    counted.redo = RepeatRequest{
        RedoReason::Counting,
        run.loss_count > 0 ? "samples were lost" : "cycles were counted for a part of it only",
        kMaxRedos};
    counted.note =
        Note{NoteKind::SamplesLost,
             run.loss_count > 0
                 ? fmt::format("samples were lost in each of {} runs; sample less often "
                               "(--profile=4ms)",
                               kMaxRedos + 1)
                 : fmt::format("each of {} runs was sampled in part only, because cycles were "
                               "not counted all the time; another program may be using the counter",
                               kMaxRedos + 1)};
  }

  os::PerfEventAttr attributes_;
  std::vector<std::string> functions_;
  WantedFunctions wanted_;
  std::set<std::size_t> known_;
  std::shared_ptr<SampledTotals> seen_;
  RunRecords records_;
  FunctionNames names_;
  std::chrono::nanoseconds since_{};
  std::uint64_t cycles_ = 0;
  bool is_partial_ = false;
};

class WithProfile final : public EngineWrapper {
 public:
  WithProfile(OwnedEngine inner, std::chrono::nanoseconds period, bool user_only,
              const std::optional<User>& user, const os::LinuxCalls* calls)
      : EngineWrapper(std::move(inner)),
        calls_(calls),
        period_(period),
        user_only_(user_only),
        user_(user) {}

  Result<EventSet> select(const EventRequest& wanted) override {
    EventRequest others = wanted;
    functions_ = {};
    std::erase_if(others.names, [this](const std::string& name) { return take(name); });
    const bool needs_others = wanted.names.empty() || !others.names.empty();
    auto set = needs_others ? wrapped_engine().select(others) : Result<EventSet>(EventSet{});
    if (!set) return set;
    if (!is_tried_) {
      auto note = try_it();
      if (!note) return note.error().prefixed("--profile");
      is_tried_ = true;
      note_ = *std::move(note);
    }
    if (!note_.text.empty()) set->notes.push_back(note_);
    add_to(*set);
    return set;
  }

  std::string what() const {
    return std::string(is_cycles() ? "cycles" : "the CPU clock") +
           (has(os::kPerfExcludeKernel) ? ", user space only" : "");
  }

  const AccountedEvent* accounted(std::size_t event) const override {
    const bool is_own = event >= event_ && event - event_ <= functions_.typed.size();
    return is_own ? nullptr : wrapped_engine().accounted(event);
  }

  Result<OwnedPass> arm(std::size_t pass) override {
    if (pass == pass_)
      return OwnedPass(
          std::make_unique<Sampling>(attributes_, functions_.normalized, user_, seen_));
    if (has_own_timed_pass_ && pass == 0) return make_accounting_pass({});
    return wrapped_engine().arm(pass - (has_own_timed_pass_ ? 1 : 0) - (pass > pass_ ? 1 : 0));
  }

  std::vector<Note> notes() const override {
    constexpr double enough = 0.8;
    std::vector<Note> notes = wrapped_engine().notes();
    const double part = static_cast<double>(seen_->sampled_ns) /
                        static_cast<double>(std::max<std::uint64_t>(seen_->used_ns, 1));
    if (seen_->used_ns > 0 && part < enough)
      notes.push_back({NoteKind::FewSamples,
                       fmt::format("samples show {:.0f}% of the sampled runs' CPU time; a thread "
                                   "or process has its first sample after the period ({:g}ms), so "
                                   "a shorter --profile may show more",
                                   100.0 * part, milliseconds())});
    return notes;
  }

 private:
  struct Functions {
    std::vector<std::string> typed;
    std::vector<std::string> normalized;
  };

  bool take(std::string_view name) {
    if (name == kSampledTime) return true;
    if (!name.starts_with(kSampledTime) || name.size() < kSampledTime.size() + 2 ||
        name[kSampledTime.size()] != kFunctionSeparator)
      return false;
    functions_.typed.emplace_back(name.substr(kSampledTime.size() + 1));
    functions_.normalized.push_back(normalized_function(functions_.typed.back()));
    return true;
  }

  bool is_cycles() const { return attributes_.type == os::kPerfTypeHardware; }

  double milliseconds() const { return std::chrono::duration<double, std::milli>(period_).count(); }

  bool has(std::uint64_t flag) const { return (attributes_.flags & flag) != 0; }

  Result<Note> try_it() {
    if (calls_ == nullptr)
      return Error{"this system has no perf_event, which is Linux's",
                   "leave it out; on macOS, Instruments has a time profiler"};
    if (!os::can_read_symbols())
      return Error{
          "this lauka was built without elfutils and libiberty, which find the functions",
          "install libdw-dev (elfutils-devel) and libiberty-dev (binutils-devel), and build "
          "it again"};
    if (const auto rate = measure_cycles(*calls_)) {
      const double cycles = *rate * static_cast<double>(period_.count());
      attributes_ =
          make_attributes(os::kPerfTypeHardware, static_cast<std::uint64_t>(cycles), user_only_);
      if (auto note = open_rings()) return note;
    }
    const auto ns = static_cast<std::uint64_t>(period_.count());
    attributes_ = make_attributes(os::kPerfTypeSoftware, ns, user_only_);
    return open_rings();
  }

  Result<Note> open_rings() {
    Note note;
    for (;;) {
      os::SampleRings rings(calls_);
      const int error = rings.open(attributes_, 0, 0);
      if (error == 0) return note;
      if (rings.lacks_memory()) return why_no_memory(rings.descriptors().size());
      const bool is_denied = error == EACCES || error == EPERM;
      if (error == EINVAL && has(os::kPerfBuildId)) {  // before Linux 5.12
        attributes_.flags &= ~os::kPerfBuildId;
      } else if (is_denied && !has(os::kPerfExcludeKernel)) {
        attributes_.flags |= os::kPerfExcludeKernel;
        const Error why = perf::why_not_opened(error, {.kernel_excluded = false}, situation());
        note = {NoteKind::UserSpaceOnly, "the kernel's part is not sampled: " + why.line()};
      } else if (error == EMFILE) {
        return Error{fmt::format("each CPU needs a descriptor, and the limit leaves {}",
                                 rings.descriptors().size()),
                     "raise it: ulimit -n 8192"};
      } else {
        return perf::why_not_opened(error, {}, situation());
      }
    }
  }

  perf::PerfConditions situation() const { return perf::read_situation(*calls_); }

  Error why_no_memory(std::size_t ring) const {
    const auto limit = calls_->read_file("/proc/sys/kernel/perf_event_mlock_kb").value_or("?\n");
    return {fmt::format("the kernel refuses memory for ring {} of samples ({} kB for each CPU; "
                        "perf_event_mlock_kb is {})",
                        ring, (os::kRingBytes >> 10U) + 4, trimmed(limit)),
            "sudo sysctl kernel.perf_event_mlock_kb=516"};
  }

  void add_to(EventSet& set) {
    has_own_timed_pass_ = set.count_passes(RoundKind::Timed) == 0;
    if (has_own_timed_pass_) set.passes.insert(set.passes.begin(), Pass{});
    event_ = set.events.size();
    Pass pass{{}, RoundKind::Counting};
    const bool is_whole = !has(os::kPerfExcludeKernel);
    const Event whole{.name = std::string(kSampledTime),
                      .meaning = fmt::format("CPU time by samples of {}, one in {:g} ms{}",
                                             is_cycles() ? "cycles" : "the CPU clock",
                                             milliseconds(), is_whole ? "" : ", user space only"),
                      .is_time = true,
                      .privilege_levels = is_whole ? CountedPrivilegeLevels::UserAndKernel
                                                   : CountedPrivilegeLevels::UserOnly,
                      .name_suffix = is_whole ? "(sampled)" : "(sampled, user)",
                      .role = Role::SampledTime};
    set.events.push_back(whole);
    for (std::size_t i = 0; i < functions_.typed.size(); ++i) {
      Event event = whole;
      event.name += kFunctionSeparator + functions_.typed[i];
      event.meaning = fmt::format("in the function {}: {}", functions_.typed[i], whole.meaning);
      event.only_function = functions_.normalized[i];
      set.events.push_back(std::move(event));
    }
    for (std::size_t i = event_; i < set.events.size(); ++i) pass.event_indices.push_back(i);
    const auto simulated = std::ranges::find(set.passes, RoundKind::Simulated, &Pass::kind);
    pass_ = static_cast<std::size_t>(simulated - set.passes.begin());
    set.passes.insert(simulated, std::move(pass));
  }

  const os::LinuxCalls* calls_;
  os::PerfEventAttr attributes_;
  std::chrono::nanoseconds period_;
  bool user_only_;
  std::optional<User> user_;
  bool is_tried_ = false;
  Note note_;
  Functions functions_;
  std::shared_ptr<SampledTotals> seen_ = std::make_shared<SampledTotals>();
  std::size_t event_ = ~std::size_t{0};
  std::size_t pass_ = ~std::size_t{0};
  bool has_own_timed_pass_ = false;
};

}  // namespace
}  // namespace lauka::engine::profile

namespace lauka::engine {

OwnedEngine with_profile(OwnedEngine engine, std::chrono::nanoseconds period, bool user_only,
                         const std::optional<User>& user, const os::LinuxCalls* calls) {
  return std::make_unique<profile::WithProfile>(std::move(engine), period, user_only, user, calls);
}

Result<std::string> find_profile_clock(bool user_only, const os::LinuxCalls* calls) {
  profile::WithProfile engine(make_accounted_engine(std::nullopt), std::chrono::milliseconds(1),
                              user_only, {}, calls);
  if (const auto set = engine.select({}); !set) return set.error();
  return engine.what();
}

}  // namespace lauka::engine
