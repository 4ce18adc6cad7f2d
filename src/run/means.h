#pragma once

#include "core/observer.h"
#include "core/user.h"
#include "engine/engine.h"
#include "os/clock.h"
#include "os/process.h"

#include <functional>
#include <optional>

namespace lauka {

/// What a session is carried out with.
struct Means {
  os::Launcher& launcher;
  engine::CounterEngine& engine;
  const os::Clock& clock;
  Observer& observer;
  std::function<int()> interrupt;  ///< the signal that asked lauka to end; 0: none
  std::optional<User> user{};      ///< whom the commands are run as; none: lauka's own
};

}  // namespace lauka
