#include "core/text.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/strategy.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

/// The known command: some milliseconds of work in a process that every Mac has.
constexpr const char* kKnownWork = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done";

/// What the kernel does after the last sample is a part of so short a command.
constexpr double kLeastSeen = 0.9;
/// Sampling periodically misses a good part of a command of a few periods.
constexpr double kLeastSampled = 0.5;

struct Candidate {
  StrategyChoice choice;
  std::string_view name;
  double least_seen;
};

constexpr Candidate kAtExit{StrategyChoice::AtExit, "sampling threads as they end", kLeastSeen};
constexpr Candidate kPet{StrategyChoice::Pet, "sampling running threads", kLeastSampled};
constexpr Candidate kMachine{StrategyChoice::Machine, "counting the whole machine", kLeastSeen};

std::vector<Candidate> candidates_of(StrategyChoice choice) {
  switch (choice) {
    case StrategyChoice::AtExit:
      return {kAtExit};
    case StrategyChoice::Pet:
      return {kPet};
    case StrategyChoice::Machine:
      return {kMachine};
    case StrategyChoice::Auto:
      break;
  }
  return {kAtExit, kPet, kMachine};
}

/// Strategies that fail for the same reason.
struct Failed {
  std::vector<std::string> names;
  Error reason;
};

void add_failure(std::vector<Failed>& all, const Candidate& candidate, const Error& reason) {
  const auto same = std::ranges::find_if(
      all, [&reason](const Failed& failed) { return failed.reason.what == reason.what; });
  if (same != all.end())
    same->names.emplace_back(candidate.name);
  else
    all.push_back({{std::string(candidate.name)}, reason});
}

std::string line_of(const Failed& failed) {
  return fmt::format("{} {} not work here: {}", listed(failed.names),
                     failed.names.size() == 1 ? "does" : "do", failed.reason.what);
}

/// Every reason in one line, and the way out of each that has one.
Error error_of(const std::vector<Failed>& all) {
  std::string what;
  std::string remedy;
  for (const Failed& failed : all) {
    if (!what.empty()) what += "; ";
    what += line_of(failed);
    if (failed.reason.remedy.empty()) continue;
    if (!remedy.empty()) remedy += ", or ";
    remedy += failed.reason.remedy;
  }
  return {what, remedy};
}

class Trial {
 public:
  Trial(StrategyChoice choice, std::chrono::nanoseconds period, Claim& claim, const Kernel& kernel,
        Trace& trace, os::Launcher& launcher)
      : choice_(choice),
        period_(period),
        claim_(claim),
        kernel_(kernel),
        trace_(trace),
        launcher_(launcher) {}

  std::unique_ptr<Strategy> make(StrategyChoice choice) {
    if (choice == StrategyChoice::Machine) return make_machine_strategy(claim_, kernel_);
    Sampled sampled = Sampled::Periodically;
    if (choice == StrategyChoice::AtExit)
      sampled = choice_ == StrategyChoice::Auto ? Sampled::AtExitOrPeriodically : Sampled::AtExit;
    return make_thread_strategy(claim_, trace_, sampled, period_);
  }

  /// Why the strategy cannot be taken; none: it can.
  std::optional<Error> fails(const Candidate& candidate, Strategy& strategy) {
    const Asked asked = candidate.choice == StrategyChoice::Machine ? Asked::Count : Asked::Trace;
    if (const int error = strategy.begin(); error != 0) return reason_of(asked, error, kernel_);
    auto run = run_known(strategy);
    for (std::uint32_t again = 0; run && run->redo && again < run->redo->at_most; ++again)
      run = run_known(strategy);
    if (!run) return std::nullopt;  // nothing to try it on: the first run tells
    if (run->missing) return run->missing;
    if (!run->coverage || *run->coverage >= candidate.least_seen) return std::nullopt;
    return Error{fmt::format("it saw {:.0f}% of a known command", *run->coverage * 100), ""};
  }

 private:
  std::optional<RunValues> run_known(Strategy& strategy) {
    if (!program_) {
      os::ProgramSpec spec;
      spec.words = {"/bin/sh", "-c", kKnownWork};
      program_ = launcher_.add_program(spec);
    }
    if (!*program_) return std::nullopt;
    StrategyWatch watch(strategy, {});
    const os::Launch launch{**program_, os::kNoCounters, {&watch}};
    const auto ended = launcher_.run({&launch, 1}, true, {});
    if (!ended || ended->empty() || !succeeded(ended->front().outcome)) return std::nullopt;
    return strategy.finish(ended->front());
  }

  StrategyChoice choice_;
  std::chrono::nanoseconds period_;
  Claim& claim_;
  const Kernel& kernel_;
  Trace& trace_;
  os::Launcher& launcher_;
  std::optional<Result<os::ProgramId>> program_;
};

}  // namespace

RunValues not_counted(const std::string& why, std::uint32_t redo) {
  RunValues run;
  run.missing = Error{"a run was not counted: " + why, ""};
  if (redo > 0) run.redo = Redo{why, redo};
  return run;
}

RunValues changed_meanwhile() {
  return not_counted("another program changed the counters meanwhile", kRedoAfterLoss);
}

std::optional<double> coverage_of(std::uint64_t instructions,
                                  const std::optional<os::KernelTotals>& totals) {
  if (!totals || totals->instructions == 0) return std::nullopt;
  return static_cast<double>(instructions) / static_cast<double>(totals->instructions);
}

Result<Tried> try_strategies(StrategyChoice choice, std::chrono::nanoseconds period, Claim& claim,
                             const Kernel& kernel, Trace& trace, os::Launcher& launcher) {
  Trial trial(choice, period, claim, kernel, trace, launcher);
  Tried tried;
  std::vector<Failed> all_failed;
  for (const Candidate& candidate : candidates_of(choice)) {
    tried.strategy = trial.make(candidate.choice);
    const auto failure = trial.fails(candidate, *tried.strategy);
    tried.counts_machine = candidate.choice == StrategyChoice::Machine;
    if (!failure) {
      for (const Failed& failed : all_failed)
        tried.notes.push_back(Error{line_of(failed), failed.reason.remedy}.line());
      return tried;
    }
    claim.end_sampling();  // of which the next one may have no use, and no way to end it
    add_failure(all_failed, candidate, *failure);
  }
  return error_of(all_failed);
}

}  // namespace lauka::engine::kperf
