#pragma once

#include "core/functions.h"
#include "core/record.h"
#include "core/result.h"
#include "plan/plan.h"

#include <optional>
#include <vector>

namespace lauka {

/// Collects the functions of a session's simulated and sampled runs.
class FunctionRuns {
 public:
  /// `plan` must outlive this object.
  explicit FunctionRuns(const Plan& plan) : plan_(plan), tables_(plan.commands.size()) {}

  /// Adds the functions of a run; may be none.
  void add(const Step& step, const std::vector<FunctionCounts>& functions);

  /// Returns an error if an event is of a function that neither a command nor the baseline has.
  /// Checks once; returns nullopt until each command has functions, and after the check.
  std::optional<Error> find_unknown();

  /// Returns the functions of each command; empty if there are none.
  std::vector<FunctionTable> close();

 private:
  const Plan& plan_;
  std::vector<FunctionTable> tables_;  // one per command
  bool is_checked_ = false;
};

}  // namespace lauka
