#pragma once

#include "core/series.h"
#include "gate/findings.h"
#include "gate/schedule.h"
#include "gate/verdict.h"
#include "plan/plan.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace lauka {

/// Watches the gates of a plan while its runs come in. The runner says when to look: after
/// gate::look_rounds of the rounds and never in between.
///
/// It is the rounds of the session that make the schedule, also for a metric that only the runs of
/// some passes have, or that failed runs under --ignore-failure leave out: the gate then judges the
/// values there are. Pocock's boundary asks for the looks at given fractions of the last one's
/// samples, and passes take turns, so that a metric's values grow in the same proportion as the
/// rounds. Waiting for the metric's own series instead would cost as many budgets as there are
/// passes.
class GateWatch {
 public:
  /// `plan` is to outlive it.
  explicit GateWatch(const Plan& plan);

  /// Enters a counted run.
  void take(const RunRecord& run);

  /// Looks at every gate that is still open; `look.last` answers them all. Where the first look is
  /// the last, the whole error is its own.
  void look(gate::Look look);

  /// Whether every gate has its answer; so it is where there are none.
  bool is_decided() const;

  /// Whether a gate on a metric of the timed runs (of the simulated ones) is still open: only their
  /// further rounds can settle it.
  bool waits_for_timed() const { return waits_for(false); }
  bool waits_for_simulated() const { return waits_for(true); }

  /// The fewest rounds after which a metric that never varies is decided; 0 where there are no
  /// gates.
  std::size_t rounds_of_constants() const;

  /// The answers. A gate still open, because the session was cut short, is inconclusive on what
  /// there is.
  std::vector<gate::Verdict> close();

  /// Confidence of the deltas of the gated metrics.
  double interval_confidence() const { return levels_.interval_confidence(); }

 private:
  /// One gate about one candidate.
  struct Question {
    Condition condition;
    std::size_t candidate = 0;
    std::size_t metric = 0;  ///< index into series_
    bool simulated = false;  ///< the metric has values in simulated runs only
    std::optional<gate::Verdict> verdict;
  };

  bool waits_for(bool simulated) const;
  std::optional<gate::Verdict> decide(const Question& question, gate::Look look) const;

  const Plan& plan_;
  double confidence_;
  std::vector<const Metric*> metrics_;  // the gated ones, each once
  std::vector<MetricSeries> series_;    // of these
  std::vector<Question> questions_;
  gate::Levels levels_;
  std::size_t looks_ = 0;
};

}  // namespace lauka
