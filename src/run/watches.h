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
  /// `plan` must outlive it.
  explicit GateWatch(const Plan& plan);

  /// Enters a counted run.
  void take(const RunRecord& run);

  /// True if there is a gate on a metric of that kind; if one is still open.
  bool asks_for(RoundKind kind) const;
  bool waits_for(RoundKind kind) const;

  /// True if every gate has its answer, or there are no gates.
  bool is_decided() const;

  /// Takes the early look after `rounds` of a kind, if there is one and counting goes on.
  /// `planned`: about how many rounds there would be without gates, for the verdict.
  void after_round(RoundKind kind, std::size_t rounds, std::size_t planned = 0);

  /// Returns the rounds of the next early look; nullopt if there are no more.
  std::optional<std::size_t> next_early(RoundKind kind) const;

  /// Takes a planned look: the first when counting would stop without gates, later ones at
  /// next_planned or when the rounds end. `last` answers all open gates.
  void look_as_planned(RoundKind kind, std::size_t rounds, bool last);

  /// Returns the planned looks taken, and the rounds of the next one.
  std::size_t planned_looks(RoundKind kind) const { return of(kind).planned_looks(); }
  std::size_t next_planned(RoundKind kind) const { return of(kind).next_planned(); }

  /// Returns the fewest rounds after which a metric that never varies is decided; 0 without a gate
  /// on a metric of that kind.
  std::size_t rounds_of_constants(RoundKind kind) const;

  /// Returns the tails of an interval of `metric` (its index in the plan) if the rounds end now:
  /// the plan's, or smaller if a gate on it may have chosen the moment.
  stats::IntervalTails tails_of(std::size_t metric) const;

  /// Returns the answers, and the intervals of the gated metrics. A gate that an early end left
  /// open is inconclusive.
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

/// Watches the width of a metric's intervals, if the plan wants a precision.
class PrecisionWatch {
 public:
  /// `plan` and `gates`, which know the intervals' confidence, must outlive it.
  PrecisionWatch(const Plan& plan, const GateWatch& gates);

  /// Enters a kept run.
  void take(const RunRecord& run);

  /// True if the commands from `first` on, `count` of them, have run often enough after `rounds`
  /// rounds. In sequential order they come alone, and each has its half of a delta's variance: the
  /// reference before it is known how much slower a candidate is; needs_more_runs knows that later.
  bool is_enough(std::size_t first, std::size_t count, std::uint64_t rounds);

  /// In sequential order: whether more runs of `command` would narrow an interval that is still too
  /// wide.
  bool needs_more_runs(std::size_t command) const;

  /// Returns the result, by the present samples; `end` is what ended the runs if it is not reached.
  /// nullopt if no precision is wanted.
  std::optional<Precision> close(PrecisionEnd end) const;

 private:
  bool is_too_wide(std::size_t candidate) const;
  /// True if the part of `command` in the half width of `candidate`'s delta is no more than its
  /// share.
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

/// Watches the differences of wall time for the progress line: the mean of the logarithms'
/// differences within rounds costs little after each run, whereas the final delta uses all pairs.
class DifferenceWatch {
 public:
  /// `plan` must outlive it.
  explicit DifferenceWatch(const Plan& plan) : plan_(plan), all_(plan.commands.size()) {}

  /// Enters a kept run.
  void take(const RunRecord& run);

  /// Returns the difference of `command`, or of the first candidate if that has none. nullopt
  /// before five rounds, or if the reference is of another session.
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
