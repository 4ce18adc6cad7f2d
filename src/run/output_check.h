#pragma once

#include "core/result.h"
#include "os/process.h"
#include "plan/plan.h"
#include "run/heard.h"
#include "run/runner.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace lauka {

/// Decides --expect-output: a run of each command, whose standard output is compared while it
/// comes. The launching is somebody else's.
class OutputCheck {
 public:
  /// Both are to outlive it.
  OutputCheck(const Plan& plan, const RunContext& context);

  /// The commands of `count` from `first` on that have to be run for it, in the order in which that
  /// is to be done: what others are compared with comes first.
  std::vector<std::uint32_t> due(std::uint32_t first, std::uint32_t count) const;

  /// The run of a command, with what hears it.
  Result<os::Launch> launch_of(std::uint32_t command);

  /// What is wrong with the output of the run that has just ended; none: nothing is.
  std::optional<Error> verdict();

 private:
  std::optional<std::size_t> source_of(std::size_t command) const;
  Result<void> begin(std::uint32_t command);

  const Plan& plan_;
  const RunContext& context_;
  std::vector<std::optional<std::size_t>> sources_;  // whose output each is compared with
  std::map<std::size_t, StoredOutput> stored_;       // of those
  std::uint32_t command_ = 0;                        // that is being run
  StoredOutput file_;                                // that it is compared with
  std::unique_ptr<OutputStore> store_;
  std::unique_ptr<OutputComparison> comparison_;
  std::unique_ptr<OutputHash> hash_;
};

}  // namespace lauka
