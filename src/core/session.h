#pragma once

#include "core/command.h"
#include "core/function_table.h"
#include "core/record.h"
#include "core/result.h"
#include "core/runs.h"
#include "core/settings.h"

#include <optional>
#include <vector>

namespace lauka {

/// The results of a session. Warm-up and settling runs are left out.
struct Session {
  Runs runs{};
  Runs runs_without_tuning{};
  Runs discarded_runs{};  ///< runs that were repeated
  std::optional<EarlyEnd> cut_short{};
  /// Hooks that failed after the session was already cut short.
  std::vector<HookFailed> later_failed_hooks{};
  /// Shell overhead of each command; empty without a shell.
  std::vector<ShellOverhead> overheads{};
  std::vector<Note> notes{};
  std::vector<Fingerprint> programs{};
  std::vector<std::optional<CounterLossFile>> counter_loss_files{};
  /// What was seen of each command's program and process.
  std::vector<SettingValues> program_settings{};
  std::vector<FunctionTable> functions{};
  /// True if gates decided when the session ended, before its planned end or after it.
  bool ended_by_gates = false;
};

}  // namespace lauka
