#include "engine/kperf/strategy.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

class MachineStrategy final : public Strategy {
 public:
  MachineStrategy(Claim& claim, const Kernel& kernel) : claim_(claim), kernel_(kernel) {}

  int begin() override {
    cpus_ = kernel_.number("hw.logicalcpu_max").value_or(kernel_.number("hw.ncpu").value_or(1));
    counters_ = kernel_.counter_count(kBothClasses);
    return counters_ < kFixedCounters ? ENOTSUP : 0;
  }

  void before_start(const std::vector<std::uint64_t>& words) override {
    began_.clear();
    error_ = 0;
    failed_ = "the counters could not be programmed";
    if (!is_programmed_ || words != words_ || !claim_.is_as_programmed())
      error_ = claim_.program(words, false);
    words_ = words;
    is_programmed_ = error_ == 0;
  }

  void made(int /*pid*/) override { read(began_); }

  void running() override {}

  void pause() override {
    claim_.pause();
    is_programmed_ = false;
  }

  RunValues finish(const os::Ended& run_ended) override {
    std::vector<std::uint64_t> ended;
    read(ended);
    // Between two calls another program may have changed what was just set: EAGAIN.
    if (error_ == EAGAIN || (error_ == 0 && !claim_.is_as_programmed())) {
      is_programmed_ = false;
      return changed_meanwhile();
    }
    if (error_ != 0) {
      is_programmed_ = false;
      return not_counted(fmt::format("{}: {}", failed_, std::generic_category().message(error_)),
                         1);
    }
    if (began_.empty()) return not_counted("the command was not started", 0);
    if (began_.size() != cpus_ * counters_ || ended.size() != began_.size())
      return not_counted("a CPU was switched off", 1);
    RunValues run;
    run.values.resize(counters_);
    for (std::size_t i = 0; i < ended.size(); ++i) {
      if (ended[i] < began_[i]) return not_counted("a counter of a CPU went backwards", 1);
      run.values[i % counters_] += ended[i] - began_[i];
    }
    run.coverage = coverage_of(run.values[kInstructionsValue], run_ended.totals);
    if (run.coverage) most_coverage_ = std::max(most_coverage_, *run.coverage);
    return run;
  }

  std::vector<std::string> notes() const override {
    constexpr double quiet = 1.05;
    std::vector<std::string> notes = {"the counts include everything else that ran on the machine"};
    if (most_coverage_ > quiet)
      notes.push_back(
          fmt::format("up to {:.2f} times as many instructions ran on the machine as "
                      "the command's own",
                      most_coverage_));
    return notes;
  }

 private:
  void read(std::vector<std::uint64_t>& counters) {
    if (error_ != 0) return;
    failed_ = "the counters could not be read";
    error_ = kernel_.machine_counters(cpus_, counters);
  }

  Claim& claim_;
  const Kernel& kernel_;
  std::size_t cpus_ = 1;
  std::size_t counters_ = 0;  // of each
  bool is_programmed_ = false;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> began_;
  int error_ = 0;
  const char* failed_ = "";  // what gave error_
  double most_coverage_ = 0.0;
};

}  // namespace

std::unique_ptr<Strategy> make_machine_strategy(Claim& claim, const Kernel& kernel) {
  return std::make_unique<MachineStrategy>(claim, kernel);
}

}  // namespace lauka::engine::kperf
