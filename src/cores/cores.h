#pragma once

#include "core/core_kind.h"
#include "core/result.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

#include <optional>
#include <string>

namespace lauka::cores {

/// What the user wants of kinds of core.
struct Wanted {
  CoreKinds by_hand{};  ///< empty: as the system tells them
  CorePreference prefer = CorePreference::Any;
  std::optional<double> min_share{};  ///< a fraction
};

/// What a session does about them.
struct Decided {
  CoreKinds kinds{};
  CoreUse use{};
  std::string
      note{};  ///< one line: why no times are measured where there is something to tell apart
};

/// Decides it. Refused where what is wanted cannot be had here. Null: this is not that system.
Result<Decided> decide(const Wanted& wanted, const os::LinuxCalls* linux,
                       const os::DarwinCalls* darwin = nullptr);

}  // namespace lauka::cores
