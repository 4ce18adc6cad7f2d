#pragma once

#include "core/metric.h"
#include "core/series.h"
#include "gate/schedule.h"
#include "gate/verdict.h"
#include "plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lauka {

/// Watches the gates of a plan while its runs come in. A gate's metric has values in one kind of
/// rounds, and each kind has a schedule of its own (gate::Schedule), which the runner follows.
///
/// It is the rounds of the kind that make the schedule, also for a metric that only the runs of
/// some passes have, or that failed runs under --ignore-failure leave out: the gate then judges the
/// values there are. The boundary asks for looks at given fractions of the last one's samples, and
/// passes take turns, so that a metric's values grow in the same proportion as the rounds.
class GateWatch {
 public:
  /// `plan` is to outlive it.
  explicit GateWatch(const Plan& plan);

  /// Enters a counted run.
  void take(const RunRecord& run);

  /// Whether there is a gate on a metric of that kind; whether one is still open.
  bool asks_for(RoundKind kind) const;
  bool waits_for(RoundKind kind) const;

  /// Whether every gate has its answer; so it is where there are none.
  bool is_decided() const;

  /// After `rounds` of a kind, where counting is to go on: takes the early look, if there is one.
  /// `planned`: about how many rounds there would be without gates, for the verdict to tell.
  void after_round(RoundKind kind, std::size_t rounds, std::size_t planned = 0);

  /// The rounds at which after_round is to be called next for an early look; none: no more.
  std::optional<std::size_t> next_early(RoundKind kind) const;

  /// Takes a planned look: the first where counting would stop without gates, later ones at
  /// next_planned or where the rounds end. `last` answers what is open.
  void look_as_planned(RoundKind kind, std::size_t rounds, bool last);

  /// Planned looks taken, and what comes after the first of them.
  std::size_t planned_looks(RoundKind kind) const { return of(kind).planned_looks(); }
  std::size_t next_planned(RoundKind kind) const { return of(kind).next_planned(); }

  /// The fewest rounds after which a metric that never varies is decided; 0 where no gate is on a
  /// metric of that kind.
  std::size_t rounds_of_constants(RoundKind kind) const;

  /// Of an interval of `metric` (its index in the plan) that is shown where the rounds end now: the
  /// plan's, and wider where a gate on it may have chosen the moment.
  stats::IntervalTails tails_of(std::size_t metric) const;

  /// The answers, and the intervals of the gated metrics. A gate still open, because the session
  /// was cut short, is inconclusive on what there is.
  gate::Findings close();

 private:
  /// One gate about one candidate.
  struct Question {
    Condition condition;
    std::size_t candidate = 0;
    std::size_t series = 0;  ///< index into metrics_ and series_
    RoundKind kind = RoundKind::Timed;
    std::optional<gate::Verdict> verdict;
  };

  const gate::Schedule& of(RoundKind kind) const;
  gate::Schedule& of(RoundKind kind);
  void ask(const Gate& gate);
  std::size_t series_of(std::size_t metric);
  void look(RoundKind kind, const gate::Levels& levels, const gate::Look& look, bool early);
  std::optional<gate::Verdict> decide(const Question& question, const gate::Levels& levels,
                                      gate::Look look) const;

  const Plan& plan_;
  std::vector<std::size_t> metrics_;  // the gated ones of the plan, each once
  std::vector<MetricSeries> series_;  // of these
  std::vector<Question> questions_;
  std::vector<gate::Schedule> schedules_;  // one for each kind of rounds that give values
};

/// Watches how wide the intervals of a metric still are, where the plan wants a precision.
class PrecisionWatch {
 public:
  /// `plan` and `gates`, which know how confident the intervals are to be, are to outlive it.
  PrecisionWatch(const Plan& plan, const GateWatch& gates);

  /// Enters a kept run.
  void take(const RunRecord& run);

  /// Whether the commands from `first` on, `count` of them, have been run often enough after
  /// `rounds` rounds. In sequential order they come alone, and each has its half of a delta's
  /// variance: the reference before anyone knows how much slower a candidate is, which
  /// wants_more_of then knows.
  bool is_enough(std::size_t first, std::size_t count, std::uint64_t rounds);

  /// In sequential order: whether more runs of `command` would narrow an interval that is still too
  /// wide.
  bool wants_more_of(std::size_t command) const;

  /// What came of it, by the samples there are now; `end` is what ended the runs if it is not
  /// reached. None where no precision is wanted.
  std::optional<Precision> close(PrecisionEnd end) const;

 private:
  bool is_too_wide(std::size_t candidate) const;
  /// Whether the part that `command` has in the half width of `candidate`'s delta is no more than
  /// its share.
  bool has_its_share(std::size_t command, std::size_t candidate) const;
  std::optional<double> half_width_of_mean(std::size_t command) const;
  std::optional<double> half_width_of_delta(std::size_t candidate) const;

  std::optional<PrecisionGoal> wanted_;
  const Plan& plan_;
  const GateWatch& gates_;
  std::uint64_t earliest_;
  std::size_t commands_;
  std::optional<MetricSeries> series_;
  std::uint64_t looked_at_ = 0;  // rounds
  std::size_t looked_first_ = 0;
};

/// Watches the differences of wall time, for who waits: the mean of the logarithms' differences
/// within rounds costs little after each run, where the delta at the end looks at all pairs.
class DifferenceWatch {
 public:
  /// `plan` is to outlive it.
  explicit DifferenceWatch(const Plan& plan) : plan_(plan), all_(plan.commands.size()) {}

  /// Enters a kept run.
  void take(const RunRecord& run);

  /// The difference of `command`, or of the first candidate where that has none. None before five
  /// rounds, and where the reference is of another session.
  std::optional<DifferenceSoFar> of(std::size_t command) const;

 private:
  struct OfCommand {
    std::uint64_t rounds = 0;
    double mean = 0.0;
    double squares = 0.0;  // of the deviations from the mean
    std::optional<double> in_round{};
  };

  void add(OfCommand& one, double difference) const;

  const Plan& plan_;
  std::vector<OfCommand> all_;
  std::uint32_t round_ = 0;
};

}  // namespace lauka
