#pragma once

#include "core/precision.h"
#include "gate/verdict.h"

#include <optional>
#include <vector>

namespace lauka::gate {

/// What was decided about the samples while they came in, and decides how they are shown. The
/// runner makes it once: looking again afterwards would be another look.
struct Findings {
  std::vector<Verdict> verdicts;  ///< by condition, then by candidate
  double interval_confidence =
      0.95;  ///< of the deltas of gated metrics: wide enough for a moment that a gate chose
  std::optional<Precision> precision{};  ///< where --precision was asked for
};

}  // namespace lauka::gate
