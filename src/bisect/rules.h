#pragma once

#include "stats/delta.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace lauka::bisect {

/// What a step has shown about a commit. Before: its level is at most Step::dividing_level. After:
/// it is higher. Undecided: the measurement could not tell. Untestable: the commit does not build,
/// or its command fails.
enum class StepAnswer : unsigned char { Before, After, Undecided, Untestable };

/// The level of a commit with its confidence interval. A level is a share of the whole change: 0
/// like the good end, 1 like the bad end.
struct Level {
  double low = 0.0;
  double estimate = 0.0;
  double high = 0.0;
};

struct StepResult {
  std::size_t commit = 0;
  StepAnswer answer = StepAnswer::Undecided;
  std::optional<Level> level{};  ///< nullopt if unknown, and for an untestable commit
};

/// A commit to test next.
struct Step {
  std::size_t commit = 0;
  double dividing_level = 0.5;  ///< separates Before from After
  double error = 0.0;           ///< probability with which the step's answer may be wrong
  /// True if this is the commit of the step before, which stayed undecided. It is built already.
  bool asks_again = false;
};

/// The number of commits that may stay undecided before the search ends with a range.
inline constexpr std::size_t kMaxUndecidedCommits = 3;

/// The time that a step may take which asks again, in times of another step's.
inline constexpr int kTimesToAskAgain = 4;

/// Returns the number of halvings that leave one of `commits` (at least 1) commits: ceil(log2).
std::size_t steps_for(std::size_t commits);

/// What a search knows about the commits so far.
struct Known {
  /// Commits that are known not to have the change, in the order in which that was found.
  std::vector<std::size_t> before{0};
  std::size_t after = 0;               ///< the earliest commit that is known to have the change
  std::vector<bool> is_passed_over{};  ///< of each commit: it was tried, and told nothing
};

/// Returns the commits that may have made the change, without `after`, in the order in which they
/// are to be tested.
using Ranking = std::function<std::vector<std::size_t>(const Known& known)>;

/// Ranks a line of commits, in which each commit is the parent of the next one. Those nearest to
/// the middle come first; of two, the newer one. Commits that were passed over do not count for the
/// middle and come last, so that each answer halves what can still be tested.
std::vector<std::size_t> rank_line(const Known& known);

/// Searches commits for the one that made the change. Commit 0 is the good end, and the last commit
/// is the bad end. Decides only; its owner builds and measures.
///
/// A step first asks for the middle level. If it stays undecided, the commit's level is near the
/// middle. More rounds would hardly decide that, but the level is then far from a quarter and from
/// three quarters of what is searched. So the next step asks about the same build whether it is
/// beyond the quarter on the other side of its estimate. Either answer leaves a part in which there
/// is certainly a change. A commit that is undecided even then is passed over. Its build was spent
/// for nothing, so the search ends with a range when it has tested as many commits as a search
/// without such a commit tests at most.
class Search {
 public:
  /// `last`: index of the bad end, at least 1. `error`: probability with which any answer of any
  /// step may be wrong, which the steps share.
  Search(std::size_t last, double error, Ranking ranking = rank_line);

  /// Returns the step to do next; nullopt if the search has ended.
  std::optional<Step> next_step() const;

  /// Takes the result of the step that next_step() returned. A level that is shown to lie between a
  /// quarter and three quarters of what is searched proves a change on both sides; the search then
  /// goes on in the part with the larger one.
  void take(const StepResult& result);

  /// Index of the first commit that is known to have the change.
  std::size_t first_after() const { return known_.after; }

  /// True if first_after() is the commit that made the change; false if it and suspects() could not
  /// be told apart.
  bool is_found() const { return suspects_.empty(); }

  /// Commits besides first_after() that may have made the change, in ascending order.
  std::vector<std::size_t> suspects() const;

  /// Returns the number of commits that are probably still to be tested.
  std::size_t steps_left() const;

 private:
  /// A commit whose first step stayed undecided, and the level to ask for in the next one.
  struct OpenQuestion {
    std::size_t commit = 0;
    double dividing_level = 0.0;
  };

  double middle() const { return (level_before_ + level_after_) / 2.0; }
  double quarter() const { return (level_after_ - level_before_) / 4.0; }
  void allow_tests_that_are_left();
  bool has_spent_builds() const;
  std::size_t count_untested() const;
  double error_of_next_step() const;
  OpenQuestion make_second_question(const StepResult& result) const;
  void take_answer(const StepResult& result);
  void count_undecided();
  bool take_change_on_both_sides(const StepResult& result);
  void search_after(const StepResult& result, bool uses_level);
  void search_before(const StepResult& result, bool uses_level);

  Ranking ranking_;
  Known known_;
  std::vector<std::size_t> suspects_;
  double level_before_ = 0.0;
  double level_after_ = 1.0;
  double error_left_;
  std::optional<OpenQuestion> open_question_{};
  std::size_t undecided_commits_ = 0;
  std::size_t tested_commits_ = 0;  ///< those that could be measured
  std::size_t max_tests_;           ///< that are needed if none stays undecided
};

/// What the comparison of both ends has shown, as fractions of the good end.
struct EndsChange {
  double change = 0.0;    ///< estimate of the change, with its sign
  double near_end = 0.0;  ///< end of the interval that is nearer to 0, with the sign of `change`

  /// True if the near end is precise enough to divide the change: at least half of the estimate.
  bool is_precise() const { return near_end / change >= 0.5; }
};

/// Half width of the interval in which the change of both ends is to be known, as a share of its
/// first estimate.
inline constexpr double kPreciseShareOfChange = 0.2;

/// Returns the limit in percent of the good end that separates Before from After at `level`. The
/// near end stands for the change, because the estimate is too large on average: one searches for
/// what looked large.
double limit_percent(const EndsChange& ends, double level);

/// Returns `change`, a fraction of the good end, as a level.
double level_of(const EndsChange& ends, double change);

/// Returns the end of the change's interval that is nearer to 0; nullopt if there is no interval.
std::optional<double> near_end_of(const stats::Change& change);

/// Returns the level of a commit that differs from the good end by `change`; nullopt if unknown.
std::optional<Level> find_level(const EndsChange& ends, const stats::Change& change);

/// The share of the change of both ends that a commit must explain. Otherwise, other commits have a
/// part in it that is worth a search.
inline constexpr double kMostOfChange = 0.75;

}  // namespace lauka::bisect
