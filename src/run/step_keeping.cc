#include "run/steps.h"

#include <iterator>
#include <utility>

// How rounds that are finished are kept, and taken again by who goes on with the session.

namespace lauka {

bool StepRunner::run(std::vector<Step> steps, std::chrono::nanoseconds& time) {
  if (steps.empty()) return true;
  if (is_reading()) return take_finished(steps, time);
  const Step first = steps.front();
  const std::size_t count = steps.size();
  const std::size_t runs = session_.runs.size();
  const std::size_t redone = session_.redone.size();
  const auto before = time;
  if (!run_live(steps, time)) return false;
  if (keeps_ && context_.rounds != nullptr && context_.rounds->keep)
    keep(first, count, time - before, runs, redone);
  return !is_cut_short();
}

/// Enters what the next rounds of the log are, which are the same steps: all that decides which
/// come is in the plan and in the log.
bool StepRunner::take_finished(const std::vector<Step>& steps, std::chrono::nanoseconds& time) {
  KeptRounds rounds = std::move(context_.rounds->finished.front());
  context_.rounds->finished.pop_front();
  has_read_ = true;
  const Step& first = steps.front();
  const bool is_same = rounds.steps == steps.size() && rounds.first.kind == first.kind &&
                       rounds.first.round == first.round && rounds.first.command == first.command &&
                       rounds.paces.size() == paces_.size();
  if (!is_same) {
    context_.rounds->finished.clear();
    cut_short(Error{"the rounds that --resume found are not those of this suite",
                    "begin again without --resume"});
    return false;
  }
  time += rounds.time;
  enter(std::move(rounds));
  return true;
}

void StepRunner::take_all_finished() {
  for (; is_reading(); context_.rounds->finished.pop_front())
    enter(std::move(context_.rounds->finished.front()));
}

void StepRunner::enter(KeptRounds rounds) {
  for (RunRecord& run : rounds.runs) {
    session_.runs.push_back(std::move(run));
    callbacks_.taken(session_.runs.back());
  }
  std::move(rounds.redone.begin(), rounds.redone.end(), std::back_inserter(session_.redone));
  paces_ = std::move(rounds.paces);
  session_.notes = std::move(rounds.notes);
  session_.overheads = std::move(rounds.overheads);
  uncounted_ = std::move(rounds.uncounted);
  told_.go_on_with(std::move(rounds.discovered));
}

void StepRunner::keep(const Step& first, std::size_t steps, std::chrono::nanoseconds time,
                      std::size_t runs, std::size_t redone) {
  KeptRounds rounds{.first = first, .steps = steps, .time = time};
  const auto from = [](auto& all, std::size_t place) {
    return all.begin() + static_cast<std::ptrdiff_t>(place);
  };
  rounds.runs.assign(from(session_.runs, runs), session_.runs.end());
  rounds.redone.assign(from(session_.redone, redone), session_.redone.end());
  rounds.paces = paces_;
  rounds.notes = session_.notes;
  rounds.overheads = session_.overheads;
  rounds.uncounted = uncounted_;
  rounds.discovered = told_.discovered();
  context_.rounds->keep(rounds);
}

}  // namespace lauka
