#pragma once

#include "core/metric.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka::gate {

/// Returns the error that one comparison of a race may spend at its look number `look` (from 1), so
/// that the total over all looks is about `error`, of any number of looks. The first look spends as
/// much as any. From the second look on each spends more than the one before, and from kPeakLook on
/// less. Fitted for 1e-7..0.25 to the recursion of Armitage, McPherson and Rowe 1969 for looks
/// whose numbers of rounds grow by 2^(1/8).
double level_of_race_look(double error, std::size_t look);

/// Decides when a race looks at its commands, and how much error each comparison may spend then.
class RaceSchedule {
 public:
  /// `error`: error of one comparison over all looks. The first look comes after ten rounds,
  /// `min_rounds` rounds, or as many as the rank test needs for the first look's error, whichever
  /// is most.
  RaceSchedule(double error, std::size_t min_rounds);

  std::size_t rounds_at_next_look() const;

  /// Takes a look after `rounds` rounds, and returns the error that each comparison may spend.
  /// `last`: true if no look follows.
  double take_look(std::size_t rounds, bool last);

 private:
  double error_;
  std::size_t rounds_at_first_look_ = 10;
  std::size_t looks_reached_ = 0;
};

/// What a race asks of its commands.
struct RaceRule {
  /// Largest difference, as a fraction, between commands that count as equally good.
  double limit = 0.0;
  Better better = Better::Less;  ///< Less or More
  /// Quantile that the metric is, as a fraction; nullopt for other metrics.
  std::optional<double> quantile{};
};

/// A command that has left a race.
struct RaceExit {
  std::size_t command = 0;
  std::size_t rounds = 0;  ///< number of rounds that the command took part in
  /// Command that was shown to be better; nullopt if the command left because no run of it
  /// succeeded and gave the metric.
  std::optional<std::size_t> better_command{};

  bool operator==(const RaceExit&) const = default;
};

/// A function that returns the samples of two commands in their common rounds.
using SamplesOfPair = std::function<Comparison(std::size_t reference, std::size_t candidate)>;

/// One look at a race.
struct RaceLook {
  std::size_t rounds = 0;
  double error = 0.0;  ///< error that each comparison may spend
  /// True if the look may find that the rest are equally good. A look after few rounds may not,
  /// because it may have missed a rare slow run.
  bool may_find_equals = false;
  /// Largest p value of the mean's test with which commands count as equally good; nullopt: no
  /// limit.
  std::optional<double> max_mean_test_p{};
};

struct RaceDecision {
  std::vector<RaceExit> exits{};
  bool are_rest_equal = false;  ///< true if all that are left are shown to be within the limit
};

/// Decides which of the commands that are left, sorted with the best first, leave at a look: those
/// that are shown to be worse than another one at all. To keep a look at many commands cheap, each
/// command is compared with the first few that are left only. At least one command stays.
RaceDecision decide_race(std::span<const std::size_t> best_first, const SamplesOfPair& samples,
                         const RaceRule& rule, const RaceLook& look);

/// Returns commands with the best first, by the medians of their values (the smaller of two middle
/// values) or, for a metric that is a quantile, by that quantile; commands without values last.
/// `values_of`: returns a command's values.
std::vector<std::size_t> sort_best_first(
    std::span<const std::size_t> commands,
    const std::function<std::vector<double>(std::size_t command)>& values_of, const RaceRule& rule);

/// The reason why a race ended.
enum class RaceEnd : unsigned char {
  OneLeft,     ///< all others were shown to be worse than another command
  Equal,       ///< the rest were shown to be within the limit of each other
  MaxRuns,     ///< --max-runs
  Duration,    ///< the time of all commands was used up
  Unfinished,  ///< the session was cut short
};

/// The outcome of a race.
struct RaceResult {
  std::string metric{};
  double limit = 0.0;               ///< RaceRule::limit
  std::size_t races = 1;            ///< number of races that share the error 1 - confidence
  std::size_t rounds = 0;           ///< number of rounds of those that are left
  std::vector<std::size_t> left{};  ///< commands that are left, the best first
  std::vector<RaceExit> exits{};    ///< the others, in the order in which they left
  RaceEnd end = RaceEnd::Unfinished;

  std::size_t count_commands() const { return left.size() + exits.size(); }
  /// Returns the number of runs of all commands.
  std::size_t count_runs() const;
  /// Returns the number of runs if no command had left.
  std::size_t count_runs_without_exits() const { return count_commands() * rounds; }
  /// Returns all commands, the best first: those that are left, then those that left last.
  std::vector<std::size_t> order() const;
  /// Returns how the command left; null if it is left.
  const RaceExit* find_exit(std::size_t command) const;
};

/// The samples of a race so far.
struct RaceSamples {
  SamplesOfPair of_pair;
  std::function<std::vector<double>(std::size_t command)> of_command;
};

/// The error of a race, and what it is divided among.
struct RaceError {
  double confidence = 0.95;  ///< as a fraction
  std::size_t races = 1;     ///< number of races that share 1 - confidence

  double of_race() const { return (1.0 - confidence) / static_cast<double>(races); }

  /// Returns the error of one comparison over all looks. A race's error is divided among the rivals
  /// of the best command, so that it holds whatever the others are.
  ///
  /// A rival does harm if it is shown to be better than the best command, or if it is worse by more
  /// than the limit and shown to be within it. Neither needs a share of the error for itself. The
  /// second does no harm for a rival within the limit. For any other rival, what shows that it is
  /// better shows at the same look, and at the same level, that it is within the limit. The two
  /// events are then one.
  double of_comparison(std::size_t commands) const {
    return of_race() / static_cast<double>(commands - 1);
  }
};

/// A race of commands 0 to `commands` - 1 (at least two).
class Race {
 public:
  Race(std::size_t commands, const RaceRule& rule, const RaceError& error, std::size_t min_rounds);

  std::size_t rounds_at_next_look() const { return schedule_.rounds_at_next_look(); }

  /// Takes a look after `rounds` rounds. `last`: true if no more rounds follow.
  void look(std::size_t rounds, bool last, const RaceSamples& samples);

  /// Drops a command of which no run gave the metric. At least one command must be left.
  void drop(std::size_t command, std::size_t rounds);

  /// Returns the commands that are left, ascending.
  const std::vector<std::size_t>& left() const { return left_; }
  const std::vector<RaceExit>& exits() const { return exits_; }

  /// Returns how the race was decided, OneLeft or Equal; nullopt while it is not.
  std::optional<RaceEnd> decision() const { return decision_; }

 private:
  RaceRule rule_;
  RaceError error_;
  RaceSchedule schedule_;
  std::vector<std::size_t> left_;
  std::vector<RaceExit> exits_;
  std::optional<RaceEnd> decision_{};
};

}  // namespace lauka::gate
