#pragma once

#include "core/call_paths.h"
#include "core/condition.h"
#include "core/function_table.h"
#include "core/metric.h"
#include "core/record.h"
#include "core/recording.h"
#include "core/result.h"
#include "gate/verdict.h"
#include "plan/plan.h"

#include <optional>
#include <span>
#include <vector>

namespace lauka {

/// Adds the metrics "EVENT@FUNCTION" that `gates` need to a session, if the session has the metric
/// EVENT and values by function. Refuses a function that no command has, unless
/// `may_lack_functions` is true; then the function's values are 0.
Result<void> add_function_metrics(std::span<const Condition> gates, bool may_lack_functions,
                                  Recording& session);

/// Returns NoFunction if the gate of `verdict` is on a function that a side does not have, and
/// NoCallers if it is on a total time and a side's call paths lack many callers, and
/// NoSamples if it is on sampled time of which neither side has a sample; else None. `reference`,
/// `candidate`: values of the metric. A limit that needs no reference ignores it.
gate::Hindrance find_missing_function(const Recording& session, const gate::Verdict& verdict,
                                      const Series& reference, const Series& candidate);

/// Collects the counts by function of a session's simulated and sampled runs.
class FunctionTableBuilder {
 public:
  explicit FunctionTableBuilder(const Plan& plan) : plan_(plan), tables_(plan.commands.size()) {}

  /// Adds a run that was counted by function. Functions that are missing have 0, as all of them do
  /// in a run without a sample. `uncounted`: indices of the pass's events that the run has no
  /// counts of.
  void add(const Step& step, const std::vector<FunctionCounts>& functions,
           const std::vector<std::size_t>& uncounted = {});

  /// Adds the call paths of a run that was counted by function. Ignores runs that are not sampled.
  void add_paths(const Step& step, std::span<const PathCounts> paths);

  /// Returns a note if a command had too many call paths.
  std::optional<Note> note_left_out_paths() const;

  /// Returns an error if an event names a function that no command has, nor the baseline. Checks
  /// only once, as soon as each command has functions; else returns nullopt.
  std::optional<Error> find_unknown();

  /// Returns the table of each command, by index; empty if no command has counts by function.
  std::vector<FunctionTable> close();

 private:
  const Plan& plan_;
  std::vector<FunctionTable> tables_;
  bool is_checked_ = false;
};

}  // namespace lauka
