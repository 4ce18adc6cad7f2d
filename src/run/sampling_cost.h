#pragma once

#include "core/record.h"
#include "core/result.h"
#include "plan/plan.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace lauka {

/// Compares the CPU time of sampled runs (--profile) with that of timed runs.
class SamplingCost {
 public:
  /// `plan` must outlive the object.
  explicit SamplingCost(const Plan& plan) : plan_(plan), commands_(plan.commands.size()) {}

  void add(const RunRecord& run);

  /// Returns a note about the command whose sampled runs use most CPU time in comparison with its
  /// timed runs; nullopt unless this is certainly at least a twentieth more.
  std::optional<Note> note() const;

 private:
  /// Mean and squared deviations of CPU times in seconds. Method: Welford (1962).
  struct Times {
    std::size_t count = 0;
    double mean = 0.0;
    double squared_deviations = 0.0;

    void add(double value);
    double squared_error() const;
  };

  struct OfCommand {
    Times timed{};
    Times sampled{};
  };

  const Plan& plan_;
  std::vector<OfCommand> commands_;
};

}  // namespace lauka
