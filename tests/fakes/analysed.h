#pragma once

#include "fakes/made_session.h"
#include "results/analyse.h"
#include "results/results.h"

#include <utility>

namespace lauka {

/// Makes the results of a session with these findings.
inline Results analyse(Recording session, gate::Findings findings) {
  Results results{std::move(session), std::move(findings)};
  analyse(results);
  return results;
}

/// Makes the results of a session that was just run.
inline Results analyse(const Plan& plan, const MadeSession& session, const gate::Findings& findings,
                       const TimerResolutions& timers = {}, Circumstances circumstances = {}) {
  Results results =
      analyse(make_recording(plan, session, timers, std::move(circumstances)), findings);
  results.presentation = plan.presentation;
  return results;
}

}  // namespace lauka
