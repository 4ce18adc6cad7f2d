#include "bisect/rules.h"

#include <algorithm>
#include <bit>

namespace lauka::bisect {

std::size_t steps_for(std::size_t commits) {
  return static_cast<std::size_t>(std::bit_width(commits - 1));
}

Search::Search(std::size_t last, double error)
    : after_(last), error_left_(error), is_passed_over_(last + 1) {}

std::optional<Step> Search::next() const {
  if (is_found() || undecided_ >= kMaxUndecidedSteps) return std::nullopt;

  // The commits nearest to the middle come first, as git sorts them; of two, the newer one.
  const std::size_t middle = before_ + (after_ - before_) / 2;
  const auto may_test = [&](std::size_t commit) {
    return commit > before_ && commit < after_ && !is_passed_over_[commit];
  };
  for (std::size_t distance = 0; distance < after_ - before_; ++distance) {
    std::optional<std::size_t> commit;
    if (may_test(middle + distance))
      commit = middle + distance;
    else if (distance <= middle && may_test(middle - distance))
      commit = middle - distance;
    if (commit)
      return Step{.commit = *commit,
                  .middle = (level_before_ + level_after_) / 2.0,
                  .error = error_of_next()};
  }

  return std::nullopt;
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

  if (result.level && result.answer != StepAnswer::Untestable) {
    const Level& level = *result.level;
    const double quarter = (level_after_ - level_before_) / 4.0;
    if (level.low > level_before_ + quarter && level.high < level_after_ - quarter) {
      const bool is_larger_before = level.estimate >= (level_before_ + level_after_) / 2.0;
      (is_larger_before ? after_ : before_) = result.commit;
      (is_larger_before ? level_after_ : level_before_) = level.estimate;
      return;
    }
  }

  switch (result.answer) {
    case StepAnswer::Before:
      before_ = result.commit;
      return;
    case StepAnswer::After:
      after_ = result.commit;
      return;
    case StepAnswer::Undecided:
      ++undecided_;
      break;
    case StepAnswer::Untestable:
      break;
  }
  is_passed_over_[result.commit] = true;
}

double limit_percent(const EndsChange& ends, double middle) {
  return 100.0 * middle * ends.near_end;
}

double level_of(const EndsChange& ends, double change) {
  return change / ends.near_end;
}

bool explains_most(double change_of_commit, double change_of_ends) {
  return change_of_commit / change_of_ends >= 0.75;
}

std::optional<double> near_end_of(const stats::Delta& delta) {
  if (delta.is_exact) return delta.change;
  if (!delta.bounds || !delta.change) return std::nullopt;
  return *delta.change < 0.0 ? delta.bounds->high : delta.bounds->low;
}

std::optional<Level> find_level(const EndsChange& ends, const stats::Delta& delta) {
  if (!delta.change) return std::nullopt;
  const double estimate = level_of(ends, *delta.change);
  if (delta.is_exact) return Level{estimate, estimate, estimate};
  if (!delta.bounds) return std::nullopt;
  const double first = level_of(ends, delta.bounds->low);
  const double second = level_of(ends, delta.bounds->high);
  return Level{std::min(first, second), estimate, std::max(first, second)};
}

}  // namespace lauka::bisect
