#include "engine/kperf/records.h"
#include "engine/kperf/strategy.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

/// The trace's buffer at first: 16 MB, 40,000 threads that end between two reads.
constexpr std::uint32_t kFirstRecords = 1U << 18U;
/// After a loss it grows, to 256 MB.
constexpr std::uint32_t kGrowth = 4;
constexpr std::uint32_t kMostRecords = 1U << 22U;
/// After the command's end all its records are there, but a read may leave what is newest.
constexpr int kLastReads = 4;

class ThreadStrategy final : public Strategy {
 public:
  ThreadStrategy(Claim& claim, Trace& trace, Sampled sampled, std::chrono::nanoseconds period)
      : claim_(claim),
        trace_(trace),
        may_add_period_(sampled == Sampled::AtExitOrPeriodically),
        period_was_raised_(period.count() < static_cast<std::int64_t>(kLeastPetPeriodNs)),
        period_ns_(std::max(static_cast<std::uint64_t>(period.count()), kLeastPetPeriodNs)) {
    sampling_.at_exit = sampled != Sampled::Periodically;
    if (!sampling_.at_exit) sampling_.period_ns = period_ns_;
    sampling_.records = kFirstRecords;
  }

  int begin() override { return claim_.start_sampling(sampling_); }

  void before_start(const std::vector<std::uint64_t>& words) override {
    reader_.reset();
    wrapped_ = false;
    error_ = 0;
    if (restarts_) try_to("sampling could not be started", restart());
    restarts_ = error_ != 0;
    if (error_ == 0 && (!is_programmed_ || words != words_ || !claim_.is_as_programmed()))
      try_to("the counters could not be programmed", claim_.program(words, true));
    words_ = words;
    is_programmed_ = error_ == 0;
    bool before = false;  // what was lost before the run is no loss
    if (error_ == 0) read_into([](std::span<const KdebugRecord>) {}, before);
  }

  void made(int pid) override {
    if (error_ != 0) return;
    reader_.emplace(Programmed{claim_.values(), sampling_.at_exit}, TraceTarget{pid});
  }

  void running() override {
    if (error_ == 0 && trace_.is_half_full()) read();
  }

  /// Asking how full the trace is takes a millisecond, in which the end of the run is not seen. The
  /// first buffer holds 50,000 threads, so it is asked seldom until something was lost.
  std::chrono::nanoseconds interval() const override {
    return sampling_.records == kFirstRecords ? Strategy::interval()
                                              : std::chrono::milliseconds(50);
  }

  RunValues finish(const os::Ended& ended) override {
    if (!reader_ && error_ == 0) return not_counted("the command was not started", 0);
    for (int i = 0; i < kLastReads && error_ == 0; ++i) {
      read();
      if (reader_->target_is_complete()) break;
    }
    // Between two calls another program may have changed what was just set: EAGAIN.
    if (error_ == EAGAIN || (error_ == 0 && !claim_.is_as_programmed())) {
      is_programmed_ = false;
      return changed_meanwhile();
    }
    if (error_ != 0) {
      is_programmed_ = false;
      restarts_ = true;  // a trace that cannot be read will not mend by itself
      return not_counted(fmt::format("{}: {}", failed_, std::generic_category().message(error_)),
                         1);
    }
    const TraceCounts counts = reader_->counts();
    reader_.reset();
    if (wrapped_ || counts.fault) return lost(wrapped_ ? TraceFault::LostRecords : *counts.fault);
    // The kernel accounts a child's time to it, and no child was seen being made.
    if (counts.processes_tree == 1 && has_children(ended)) return lost(TraceFault::LostRecords);
    return counted(counts, ended.totals);
  }

  void pause() override {
    claim_.pause();
    is_programmed_ = false;
    restarts_ = true;
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (sampling_.period_ns && period_was_raised_)
      notes.emplace_back("--period was raised to 1 ms: the kernel samples no more often");
    if (!sampling_.at_exit)
      notes.push_back(
          fmt::format("counts are sampled every {:.3g} ms and lack what each thread did "
                      "after its last sample",
                      static_cast<double>(period_ns_) * 1e-6));
    if (threads_not_ended_ > 0)
      notes.push_back(fmt::format("{} {} not ended with the command; {}", threads_not_ended_,
                                  threads_not_ended_ == 1 ? "thread had" : "threads had",
                                  sampling_.period_ns
                                      ? "what they did after their last sample is not counted"
                                      : "what they did is not counted"));
    return notes;
  }

 private:
  void try_to(const char* failed, int error) {
    error_ = error;
    failed_ = failed;
  }

  template <typename Take>
  void read_into(Take take, bool& wrapped) {
    try_to("the kernel's trace could not be read", trace_.read(wrapped, take));
  }

  void read() {
    if (error_ != 0 || !reader_) return;
    read_into([this](std::span<const KdebugRecord> records) { reader_->feed(records); }, wrapped_);
  }

  /// With what sampling is to have from now on; where the kernel refuses that, with what it had.
  int restart() {
    int error = claim_.start_sampling(sampling_);
    if (error != 0 && sampling_.records > kFirstRecords) {
      sampling_.records /= kGrowth;
      error = claim_.start_sampling(sampling_);
    }
    if (error != 0 && sampling_.at_exit && sampling_.period_ns) {
      sampling_.period_ns.reset();
      may_add_period_ = false;
      error = claim_.start_sampling(sampling_);
    }
    return error;
  }

  static bool has_children(const os::Ended& ended) {
    return ended.totals && ended.usage.user_ns + ended.usage.system_ns >
                               ended.totals->user_ns + ended.totals->system_ns;
  }

  RunValues lost(TraceFault fault) {
    if (sampling_.records < kMostRecords) sampling_.records *= kGrowth;
    restarts_ = true;
    return not_counted(words_of(fault), kRedoAfterLoss);
  }

  RunValues counted(const TraceCounts& counts, const std::optional<os::KernelTotals>& totals) {
    RunValues run;
    run.values = counts.tree;
    if (counts.threads_tree != counts.threads_command) run.own = counts.command;
    run.coverage = coverage_of(counts.command[kInstructionsValue], totals);
    if (run.coverage && *run.coverage < kLeastCoverage)
      run.redo = Redo{"less than 95% of its instructions were counted", 1};
    if (counts.threads_not_ended_tree == 0) return run;
    if (may_add_period_ && !sampling_.period_ns) {
      sampling_.period_ns = period_ns_;
      restarts_ = true;
      run.redo =
          Redo{"threads outlived the command; from now on they are sampled while they run", 1};
      return run;
    }
    threads_not_ended_ = std::max(threads_not_ended_, counts.threads_not_ended_tree);
    return run;
  }

  Claim& claim_;
  Trace& trace_;
  bool may_add_period_;
  bool period_was_raised_;
  std::uint64_t period_ns_;
  Sampling sampling_;
  bool restarts_ = false;  // sampling is to be started anew before the next run
  bool is_programmed_ = false;
  std::vector<std::uint64_t> words_;
  std::optional<TraceReader> reader_;
  bool wrapped_ = false;
  int error_ = 0;
  const char* failed_ = "";  // what gave error_
  std::size_t threads_not_ended_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_thread_strategy(Claim& claim, Trace& trace, Sampled sampled,
                                               std::chrono::nanoseconds period) {
  return std::make_unique<ThreadStrategy>(claim, trace, sampled, period);
}

}  // namespace lauka::engine::kperf
