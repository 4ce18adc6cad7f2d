#include "engine/profile/profile_engine.h"

#include "core/text.h"
#include "engine/perf/counters.h"
#include "engine/profile/names.h"
#include "engine/profile/records.h"
#include "os/sample_rings.h"
#include "os/symbols.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::engine::profile {

namespace {

constexpr std::uint32_t kMaxRedos = 3;

os::PerfEventAttr make_attributes(std::chrono::nanoseconds period, bool user_only) {
  os::PerfEventAttr attributes;
  attributes.type = os::kPerfTypeSoftware;
  attributes.size = os::kPerfSizeWithConfig3;
  attributes.config = 0;  // PERF_COUNT_SW_CPU_CLOCK
  attributes.sample_period = static_cast<std::uint64_t>(period.count());
  attributes.sample_type =
      os::kPerfSampleIp | os::kPerfSampleTid | os::kPerfSampleTime | os::kPerfSamplePeriod;
  attributes.flags = os::kPerfDisabled | os::kPerfInherit | os::kPerfEnableOnExec |
                     os::kPerfExcludeHypervisor | os::kPerfMmap | os::kPerfMmap2 | os::kPerfComm |
                     os::kPerfCommExec | os::kPerfTask | os::kPerfSampleIdAll | os::kPerfWatermark |
                     os::kPerfBuildId;
  if (user_only) attributes.flags |= os::kPerfExcludeKernel;
  attributes.wakeup_bytes = os::kRingBytes / 2;
  return attributes;
}

/// The CPU time of all sampled runs: according to samples, and in all.
struct Seen {
  std::uint64_t sampled_ns = 0;
  std::uint64_t used_ns = 0;  ///< CPU time by the kernel's accounting
};

/// Samples the runs of one pass, and receives their records.
class Sampling final : public ArmedPass, public os::SampleListener {
 public:
  Sampling(const os::PerfEventAttr& attributes, std::shared_ptr<Seen> seen)
      : attributes_(attributes), seen_(std::move(seen)) {
    begin();
  }

  std::vector<os::CounterRequest> requests() const override {
    return {{.attributes = std::bit_cast<decltype(os::CounterRequest::attributes)>(attributes_),
             .samples = true}};
  }

  os::SampleListener* samples() override { return this; }
  std::size_t runs_at_once() const override { return 1; }

  void receive(std::span<const std::byte> records) override {
    records_.add(records, [this](const MappedFile& file) { names_.open(file); });
  }

  Counted finish(const os::Ended& ended, std::size_t /*command*/) override {
    if (ended.counter_error != 0)
      return {.counts = {std::nullopt},
              .missing = Error{"the run could not be sampled: " +
                                   std::generic_category().message(ended.counter_error),
                               ""}};
    const SampledRun run = records_.close();
    Counted counted;
    std::uint64_t all_ns = 0;
    for (auto& [name, time_ns] : names_.sum(run, since_)) {
      counted.functions.push_back({name, {time_ns}});
      all_ns += time_ns;
    }
    counted.counts = {all_ns};
    const bool has_kernel = (attributes_.flags & os::kPerfExcludeKernel) == 0;
    seen_->sampled_ns += all_ns;
    seen_->used_ns += ended.usage.user_ns + (has_kernel ? ended.usage.system_ns : 0);
    if (run.lost > 0) {
      counted.redo = Redo{RedoReason::Counting, "samples were lost", kMaxRedos};
      counted.note = Note{NoteKind::SamplesLost,
                          fmt::format("samples were lost in each of {} runs; sample less often "
                                      "(--profile=4ms)",
                                      kMaxRedos + 1)};
    }
    begin();
    return counted;
  }

 private:
  void begin() { since_ = std::chrono::system_clock::now().time_since_epoch(); }

  os::PerfEventAttr attributes_;
  std::shared_ptr<Seen> seen_;
  RunRecords records_;
  FunctionNames names_;
  std::chrono::nanoseconds since_{};  // the latest run began later
};

class WithProfile final : public EngineAround {
 public:
  WithProfile(std::unique_ptr<CounterEngine> inner, std::chrono::nanoseconds period, bool user_only,
              const os::LinuxCalls* calls)
      : EngineAround(std::move(inner)),
        calls_(calls),
        attributes_(make_attributes(period, user_only)),
        period_(period) {}

  Result<EventSet> select(const EventRequest& wanted) override {
    auto set = other().select(wanted);
    if (!set) return set;
    auto note = try_it();
    if (!note) return note.error().prefixed("--profile");
    if (!note->text.empty()) set->notes.push_back(*note);
    add_to(*set);
    return set;
  }

  const AccountedEvent* accounted(std::size_t event) const override {
    return event == event_ ? nullptr : other().accounted(event);
  }

  Result<std::unique_ptr<ArmedPass>> arm(std::size_t pass) override {
    if (pass == pass_)
      return std::unique_ptr<ArmedPass>(std::make_unique<Sampling>(attributes_, seen_));
    if (has_own_timed_pass_ && pass == 0) return count_free({});
    return other().arm(pass - (has_own_timed_pass_ ? 1 : 0) - (pass > pass_ ? 1 : 0));
  }

  std::vector<Note> notes() const override {
    constexpr double enough = 0.8;
    std::vector<Note> notes = other().notes();
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
  double milliseconds() const { return std::chrono::duration<double, std::milli>(period_).count(); }

  bool has(std::uint64_t flag) const { return (attributes_.flags & flag) != 0; }

  /// Tries everything that a run needs, and does without what the kernel refuses. Returns a note
  /// about what is missing; an empty note if nothing is.
  Result<Note> try_it() {
    if (calls_ == nullptr)
      return Error{"this system has no perf_event, which is Linux's",
                   "leave it out; on macOS, Instruments has a time profiler"};
    if (!os::has_symbols())
      return Error{"this lauka was built without elfutils, which finds the functions",
                   "install libdw-dev (elfutils-devel) and build it again"};
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

  perf::Situation situation() const { return perf::read_situation(*calls_); }

  Error why_no_memory(std::size_t ring) const {
    const auto limit = calls_->read_file("/proc/sys/kernel/perf_event_mlock_kb").value_or("?\n");
    return {fmt::format("the kernel refuses memory for ring {} of samples ({} kB for each CPU; "
                        "perf_event_mlock_kb is {})",
                        ring, (os::kRingBytes >> 10U) + 4, trimmed(limit)),
            "sudo sysctl kernel.perf_event_mlock_kb=516"};
  }

  /// Adds the event, in a pass after the counting passes and before the simulated ones.
  void add_to(EventSet& set) {
    has_own_timed_pass_ = set.passes_of(RoundKind::Timed) == 0;
    if (has_own_timed_pass_) set.passes.insert(set.passes.begin(), Pass{});
    event_ = set.events.size();
    const bool is_whole = !has(os::kPerfExcludeKernel);
    set.events.push_back(
        {.name = "sampled_time",
         .meaning = fmt::format("CPU time by samples of the CPU clock, one in {:g} ms{}",
                                milliseconds(), is_whole ? "" : ", user space only"),
         .is_time = true,
         .levels = is_whole ? CountedLevels::UserAndKernel : CountedLevels::UserOnly,
         .note = is_whole ? "(sampled)" : "(sampled, user)",
         .role = Role::SampledTime});
    const auto simulated = std::ranges::find(set.passes, RoundKind::Simulated, &Pass::kind);
    pass_ = static_cast<std::size_t>(simulated - set.passes.begin());
    set.passes.insert(simulated, Pass{{event_}, RoundKind::Counting});
  }

  const os::LinuxCalls* calls_;
  os::PerfEventAttr attributes_;
  std::chrono::nanoseconds period_;
  std::shared_ptr<Seen> seen_ = std::make_shared<Seen>();
  // Indices of the event and its pass in the latest selection.
  std::size_t event_ = ~std::size_t{0};
  std::size_t pass_ = ~std::size_t{0};
  bool has_own_timed_pass_ = false;
};

}  // namespace

std::unique_ptr<CounterEngine> with_profile(std::unique_ptr<CounterEngine> engine,
                                            std::chrono::nanoseconds period, bool user_only,
                                            const os::LinuxCalls* calls) {
  return std::make_unique<WithProfile>(std::move(engine), period, user_only, calls);
}

}  // namespace lauka::engine::profile
