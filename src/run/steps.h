#pragma once

#include "core/record.h"
#include "core/result.h"
#include "engine/engine.h"
#include "plan/plan.h"
#include "run/kept_rounds.h"
#include "run/output.h"
#include "run/programs.h"
#include "run/runner.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka {

/// Carries out steps as they come: launches them in batches with the hooks between runs, and adds
/// the results to the session. Their number is decided elsewhere.
class StepRunner {
 public:
  struct Callbacks {
    std::function<void(const RunRecord&)> taken;  ///< a kept run was entered
    std::function<void(const Step&)> under_way;   ///< a batch begins, or goes on
  };

  /// `plan` and `context` must outlive it.
  StepRunner(const Plan& plan, const RunContext& context, Callbacks callbacks);

  /// Arms every pass, registers commands and hooks, and measures the shell's start-up.
  Result<void> prepare();

  /// Adds the steps that an earlier process finished, and leaves the others. Returns false if the
  /// session must end.
  bool take_finished(std::vector<Step>& steps, std::chrono::nanoseconds& time);

  /// Runs the steps, then repeats those whose runs must not count; adds the time, hooks included,
  /// to `time`. Returns false if the session must end.
  bool run(std::vector<Step> steps, std::chrono::nanoseconds& time);

  /// Sets whether rounds are kept for --resume.
  void keep_rounds(bool keeps) { keeps_ = keeps; }

  /// Returns true if the next rounds were run by an earlier process, and are only read.
  bool is_reading() const {
    return context_.rounds != nullptr && !context_.rounds->finished.empty();
  }
  /// Returns true once after the last of these was read.
  bool has_just_read() { return !is_reading() && std::exchange(has_read_, false); }

  /// Adds all remaining rounds of an earlier process, for the exports of a session cut short.
  void take_all_finished();

  /// Runs those of `count` commands from `first` on whose output must be compared, and checks it.
  /// Returns false if the session must end.
  bool check_output(std::uint32_t first, std::uint32_t count);
  bool has_checked_output() const { return has_checked_output_; }

  /// Runs the setups or cleanups of `count` commands from `first` on. Returns false if one failed.
  bool set_up(std::uint32_t first, std::uint32_t count);
  bool clean_up(std::uint32_t first, std::uint32_t count);

  /// Returns true if a command has a setup or a cleanup, so that none can go on later.
  bool hooks_surround_commands() const { return hooks_.surround_commands(); }

  const Pace& pace(std::size_t command) const { return paces_[command]; }
  std::chrono::nanoseconds batch_began() const { return batch_began_; }

  /// Switches off counting that would slow runs without counters.
  void pause_counting() { context_.engine.pause(); }

  /// Notes once which other program holds counters.
  void check_counters();

  /// Ends the session.
  void cut_short(CutShort why) { session_.cut_short = std::move(why); }
  bool is_cut_short() const { return session_.cut_short.has_value(); }

  /// Metrics that runs reported unannounced.
  const std::vector<OwnMetric>& discovered() const { return reported_.discovered(); }

  /// Returns the session with its notes; nothing can be run afterwards.
  Session close();

 private:
  /// The list that a run of such a step is entered into.
  const RunList& runs_of(const Step& step) const {
    return step.kind == RoundKind::Untuned ? session_.untuned : session_.runs;
  }
  bool run_live(std::vector<Step>& steps, std::chrono::nanoseconds& time);
  void enter(KeptRounds rounds);
  void keep(KeptRounds rounds, std::size_t runs, std::size_t redone);
  /// Ends the session; 0 runs were made.
  std::size_t ended(CutShort why) {
    cut_short(std::move(why));
    return 0;
  }
  bool run_steps(std::span<const Step> left);
  std::size_t batch_size(std::span<const Step> steps) const;
  std::size_t launch(std::span<const Step> steps);
  Result<std::vector<os::Ended>> ask(std::span<const os::Launch> launches, const Step& step,
                                     bool go_on_after_failure);
  Result<std::vector<os::Launch>> make_launches(std::span<const Step> steps);
  void note_counting(const RunRecord& run, const os::Ended& ended, engine::Counted counted);
  void add(RunRecord run);
  bool was_counted(const os::Ended& ended, const engine::Counted& counted);
  bool keep_run(const Step& step, const os::Ended& ended, std::size_t place);
  bool may_go_on(const Step& step, const os::Ended& ended);
  bool until_matched(const Step& step, const os::Ended& ended);
  std::size_t launch_check(const Step& step);
  void look_up(std::size_t command);
  std::size_t between_hooks(const Step& step, const std::function<std::size_t()>& launch_them);
  bool is_made_again(RunRecord& run, std::optional<engine::Redo>& redo);
  bool take_reported(RunRecord& run, std::size_t place);
  bool take_region(RunRecord& run, const os::Ended& ended, engine::Counted& counted);
  bool may_lack(const Step& step, const Error& why);
  bool note_failure(const HookFailed& failed);
  void note_once(const Step& step, Note note);
  void note_input(const Step& step, os::InputRead input);
  void note_all_redone();
  void note_uncounted(const Step& step, Error why);
  void note_all_uncounted();

  const Plan& plan_;
  const RunContext& context_;
  Callbacks callbacks_;
  std::vector<std::unique_ptr<engine::Counting>> armed_;  // one per pass
  std::vector<os::CounterSetId> counters_;                // likewise
  Programs programs_;
  HookRunner hooks_;
  ReportedValues reported_;
  std::optional<AwaitedLine> awaited_;
  OutputCheck check_;
  std::vector<bool> is_looked_up_;  // by command
  bool has_checked_output_ = false;
  bool keeps_ = true;
  bool has_read_ = false;    // rounds of an earlier process
  std::vector<Pace> paces_;  // by command
  std::vector<Uncounted> uncounted_;
  Session session_;
  bool was_throttled_ = false;  // in the latest batch
  std::vector<Step> again_;     // to be run again, of the steps under way
  std::uint32_t redone_ = 0;    // how often each was repeated
  std::size_t taken_ = 0;       // of the current steps, up to the first to repeat
  std::chrono::nanoseconds* time_ = nullptr;
  std::chrono::nanoseconds batch_began_{};
};

}  // namespace lauka
