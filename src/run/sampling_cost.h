#pragma once

#include "core/record.h"
#include "core/result.h"
#include "plan/plan.h"

#include <optional>
#include <vector>

namespace lauka {

/// Compares the CPU time of sampled runs (--profile) with that of timed runs.
class SamplingCost {
 public:
  /// `plan` must outlive the object.
  explicit SamplingCost(const Plan& plan);

  void add(const RunRecord& run);

  /// Returns a note about the command whose sampled runs use most CPU time in comparison with its
  /// timed runs; nullopt unless this is certainly at least a twentieth more.
  std::optional<Note> note() const;

 private:
  /// CPU times in seconds.
  struct OfCommand {
    std::vector<double> timed{};
    std::vector<double> sampled{};
  };

  const Plan& plan_;
  std::vector<OfCommand> commands_;
};

}  // namespace lauka
