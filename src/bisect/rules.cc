#include "bisect/rules.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lauka::bisect {

std::size_t steps_for(std::size_t commits) {
  return static_cast<std::size_t>(std::bit_width(commits - 1));
}

std::vector<std::size_t> rank_line(const Known& known) {
  std::vector<std::size_t> untested;
  std::vector<std::size_t> passed_over;
  for (std::size_t commit = known.before.back() + 1; commit < known.after; ++commit)
    (known.is_passed_over[commit] ? passed_over : untested).push_back(commit);

  const std::size_t middle = untested.size() / 2;
  std::vector<std::size_t> ranked;
  ranked.reserve(untested.size() + passed_over.size());
  for (std::size_t distance = 0; ranked.size() < untested.size(); ++distance) {
    if (middle + distance < untested.size()) ranked.push_back(untested[middle + distance]);
    if (distance > 0 && distance <= middle) ranked.push_back(untested[middle - distance]);
  }
  ranked.insert(ranked.end(), passed_over.begin(), passed_over.end());
  return ranked;
}

Search::Search(std::size_t last, double error, Ranking ranking)
    : ranking_(std::move(ranking)),
      known_{.after = last, .is_passed_over = std::vector<bool>(last + 1)},
      suspects_(ranking_(known_)),
      error_left_(error),
      max_tests_(steps_for(last)) {}

std::optional<Step> Search::next_step() const {
  if (open_question_)
    return Step{.commit = open_question_->commit,
                .dividing_level = open_question_->dividing_level,
                .error = error_of_next_step(),
                .asks_again = true};

  if (undecided_commits_ >= kMaxUndecidedCommits || has_spent_builds()) return std::nullopt;
  for (const std::size_t commit : suspects_)
    if (!known_.is_passed_over[commit])
      return Step{.commit = commit, .dividing_level = middle(), .error = error_of_next_step()};
  return std::nullopt;
}

std::vector<std::size_t> Search::suspects() const {
  std::vector<std::size_t> ascending = suspects_;
  std::ranges::sort(ascending);
  return ascending;
}

/// Branches that were merged cannot always be halved, so what was tested before the first undecided
/// commit may be more than the limit. Sets the limit to what a search without that commit would
/// have tested from there on.
void Search::allow_tests_that_are_left() {
  const std::size_t tested_before = tested_commits_ - 1;
  max_tests_ = std::max(max_tests_, tested_before + steps_for(count_untested() + 1));
}

/// Counts a commit that told nothing although it was measured.
void Search::count_undecided() {
  const bool is_first = undecided_commits_ == 0;
  if (is_first) allow_tests_that_are_left();
  ++undecided_commits_;
}

/// Without undecided commits there is no limit, because the middle of merged branches may be far
/// from half of their commits.
bool Search::has_spent_builds() const {
  return undecided_commits_ > 0 && tested_commits_ >= max_tests_;
}

std::size_t Search::count_untested() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      suspects_, [this](std::size_t commit) { return !known_.is_passed_over[commit]; }));
}

std::size_t Search::steps_left() const {
  const std::size_t needed = steps_for(count_untested() + 1);
  if (undecided_commits_ == 0) return needed;
  return std::min(needed, max_tests_ - std::min(max_tests_, tested_commits_));
}

/// Each step gets the same share if each halves what is left. One more share is kept in reserve, so
/// that something is left for steps that become necessary because others stay undecided.
double Search::error_of_next_step() const {
  return error_left_ / static_cast<double>(steps_for(count_untested() + 1) + 1);
}

void Search::take(const StepResult& result) {
  // An undecided step could have been wrong, too. Only a commit that was not measured costs
  // nothing.
  if (result.answer != StepAnswer::Untestable) {
    error_left_ -= error_of_next_step();
    if (!open_question_) ++tested_commits_;
  }

  take_answer(result);
  if (!open_question_) suspects_ = ranking_(known_);
}

/// Continues on the side with the larger part of the change if a commit's level proves a change on
/// both sides of the commit. Returns false if it proves none.
bool Search::take_change_on_both_sides(const StepResult& result) {
  if (!result.level || result.answer == StepAnswer::Untestable) return false;
  const Level& level = *result.level;
  if (level.low <= level_before_ + quarter() || level.high >= level_after_ - quarter())
    return false;
  constexpr bool uses_level = true;
  if (level.estimate >= middle())
    search_before(result, uses_level);
  else
    search_after(result, uses_level);
  return true;
}

/// Returns the question whether an undecided commit is beyond the quarter that is farther from the
/// estimate of its level, and so easier to decide.
Search::OpenQuestion Search::make_second_question(const StepResult& result) const {
  const bool is_above_middle = result.level->estimate >= middle();
  return {.commit = result.commit,
          .dividing_level = is_above_middle ? level_before_ + quarter() : level_after_ - quarter()};
}

/// Narrows down which commits may have made the change, by what a step has shown about one of them.
/// The level of a commit is the share of the whole change that it has already. A step first asks
/// whether the level is above the middle of the levels that are searched. If that stays undecided,
/// another step asks whether it is beyond one of the quarters.
void Search::take_answer(const StepResult& result) {
  // If there is an open question, this result answers it.
  const bool is_second_answer = std::exchange(open_question_, std::nullopt).has_value();

  // The measurement may show more than the answer: that the change is on both sides of the commit.
  if (take_change_on_both_sides(result)) return;

  // After a second answer, a part of the change may be on either side of the commit, so the levels
  // that are searched begin or end at the commit's own level.
  const bool uses_level = is_second_answer;
  const bool can_ask_again = !is_second_answer && result.level.has_value();
  switch (result.answer) {
    case StepAnswer::Before:
      search_after(result, uses_level);
      return;
    case StepAnswer::After:
      search_before(result, uses_level);
      return;
    case StepAnswer::Undecided:
      if (can_ask_again) {
        open_question_ = make_second_question(result);
        return;
      }
      count_undecided();
      break;
    case StepAnswer::Untestable:
      break;
  }

  // The commit has told nothing, so the search goes on without it.
  known_.is_passed_over[result.commit] = true;
}

/// Continues the search after a commit. If `uses_level` is true, a part of the change may lie
/// before the commit, so the levels that are searched begin at its own.
void Search::search_after(const StepResult& result, bool uses_level) {
  known_.before.push_back(result.commit);
  if (uses_level && result.level)
    level_before_ = std::clamp(result.level->estimate, level_before_, level_after_ - quarter());
}

/// Continues the search before a commit, which may itself have made the change. If `uses_level` is
/// true, a part of the change may lie after the commit, so the levels that are searched end at its
/// own.
void Search::search_before(const StepResult& result, bool uses_level) {
  known_.after = result.commit;
  if (uses_level && result.level)
    level_after_ = std::clamp(result.level->estimate, level_before_ + quarter(), level_after_);
}

double limit_percent(const EndsChange& ends, double level) {
  return 100.0 * level * ends.near_end;
}

double level_of(const EndsChange& ends, double change) {
  return change / ends.near_end;
}

std::optional<double> near_end_of(const stats::Change& change) {
  if (change.is_exact) return change.change;
  if (!change.bounds || !change.change) return std::nullopt;
  return *change.change < 0.0 ? change.bounds->high : change.bounds->low;
}

std::optional<Level> find_level(const EndsChange& ends, const stats::Change& change) {
  if (!change.change) return std::nullopt;
  const double estimate = level_of(ends, *change.change);
  if (change.is_exact) return Level{estimate, estimate, estimate};
  if (!change.bounds) return std::nullopt;
  const double first = level_of(ends, change.bounds->low);
  const double second = level_of(ends, change.bounds->high);
  return Level{std::min(first, second), estimate, std::max(first, second)};
}

}  // namespace lauka::bisect
