#pragma once

#include "core/recording.h"
#include "core/session.h"
#include "plan/plan.h"
#include "session/make_recording.h"

#include <utility>
#include <vector>

namespace lauka {

/// Returns the store in which a session of `plan` has these runs.
inline Runs runs_of(const Plan& plan, const std::vector<RunRecord>& records) {
  RunRecorder recorder(plan.metrics, plan.setting.events, plan.ignore_failure,
                       plan.reported_metrics.size());
  Runs runs(plan.metrics);
  for (const RunRecord& record : records) recorder.add(record, runs);
  return runs;
}

/// A session made by hand, whose runs are records that a test may change.
struct MadeSession : private Session {
  std::vector<RunRecord> runs{};
  std::vector<RedoneRun> redone_runs{};

  using Session::counter_loss_files;
  using Session::cut_short;
  using Session::ended_by_gates;
  using Session::functions;
  using Session::notes;
  using Session::overheads;
  using Session::programs;

  /// Returns the session as the loop would have made it.
  Session stored(const Plan& plan) const {
    Session session = *this;
    session.runs = runs_of(plan, runs);
    session.discarded_runs = Runs(plan.metrics);
    RunRecorder recorder(plan.metrics, plan.setting.events, plan.ignore_failure,
                         plan.reported_metrics.size());
    for (const RedoneRun& redone : redone_runs) recorder.add(redone, session.discarded_runs);
    return session;
  }
};

inline Recording make_recording(const Plan& plan, const MadeSession& session,
                                const TimerResolutions& timers = {},
                                Circumstances circumstances = {}) {
  return make_recording(plan, session.stored(plan),
                        {.timers = timers, .circumstances = std::move(circumstances)});
}

}  // namespace lauka
