#pragma once

#include "core/observer.h"
#include "core/record.h"
#include "engine/engine.h"
#include "os/clock.h"
#include "os/process.h"
#include "plan/plan.h"

#include <functional>

namespace lauka {

/// What a session is carried out with.
struct Means {
  os::Launcher& launcher;
  engine::CounterEngine& engine;
  const os::Clock& clock;
  Observer& observer;
  std::function<int()> interrupt;  ///< the signal that asked lauka to end; 0: none
};

/// Carries out `plan`: warm-up rounds, then counted rounds until its stop rule is satisfied, a run
/// fails or the user interrupts. Neither prints nor computes statistics. An error means that no run
/// was begun: a command cannot be started, or the counters cannot be armed.
Result<Session> carry_out(const Plan& plan, const Means& means);

}  // namespace lauka
