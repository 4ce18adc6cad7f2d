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
      error_left_(error) {}

std::optional<Step> Search::next() const {
  if (undecided_ >= kMaxUndecidedSteps) return std::nullopt;
  for (const std::size_t commit : suspects_)
    if (!known_.is_passed_over[commit])
      return Step{.commit = commit,
                  .middle = (level_before_ + level_after_) / 2.0,
                  .error = error_of_next()};
  return std::nullopt;
}

std::vector<std::size_t> Search::suspects() const {
  std::vector<std::size_t> ascending = suspects_;
  std::ranges::sort(ascending);
  return ascending;
}

std::size_t Search::steps_left() const {
  const auto untested = std::ranges::count_if(
      suspects_, [this](std::size_t commit) { return !known_.is_passed_over[commit]; });
  return steps_for(static_cast<std::size_t>(untested) + 1);
}

/// Each step gets the same share if each halves what is left. One more share is kept in reserve, so
/// that something is left for steps that become necessary because others stay undecided.
double Search::error_of_next() const {
  return error_left_ / static_cast<double>(steps_left() + 1);
}

void Search::take(const StepResult& result) {
  // An undecided step could have been wrong, too. Only a commit that was not measured costs
  // nothing.
  if (result.answer != StepAnswer::Untestable) error_left_ -= error_of_next();

  take_answer(result);
  suspects_ = ranking_(known_);
}

void Search::take_answer(const StepResult& result) {
  if (result.level && result.answer != StepAnswer::Untestable) {
    const Level& level = *result.level;
    const double quarter = (level_after_ - level_before_) / 4.0;
    if (level.low > level_before_ + quarter && level.high < level_after_ - quarter) {
      const bool is_larger_before = level.estimate >= (level_before_ + level_after_) / 2.0;
      if (is_larger_before)
        known_.after = result.commit;
      else
        known_.before.push_back(result.commit);
      (is_larger_before ? level_after_ : level_before_) = level.estimate;
      return;
    }
  }

  switch (result.answer) {
    case StepAnswer::Before:
      known_.before.push_back(result.commit);
      return;
    case StepAnswer::After:
      known_.after = result.commit;
      return;
    case StepAnswer::Undecided:
      ++undecided_;
      break;
    case StepAnswer::Untestable:
      break;
  }
  known_.is_passed_over[result.commit] = true;
}

double limit_percent(const EndsChange& ends, double middle) {
  return 100.0 * middle * ends.near_end;
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
