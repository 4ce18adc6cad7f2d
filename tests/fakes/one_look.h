#pragma once

#include "gate/schedule.h"
#include "gate/verdict.h"

#include <cstddef>
#include <optional>

namespace lauka::gate {

/// The same samples as the watches have them.
inline Comparison comparison_of(const Evidence& evidence) {
  return {{evidence.reference.begin(), evidence.reference.end()},
          {evidence.candidate.begin(), evidence.candidate.end()},
          evidence.paired};
}

/// The verdict of a gate that looks once, at the end, as one of `gates` of its job.
inline Verdict decide(const Condition& condition, std::size_t candidate, const Evidence& evidence,
                      double confidence, std::size_t gates) {
  Verdict verdict{.condition = condition, .candidate = candidate};
  decide_at_look(verdict, {.samples = comparison_of(evidence)},
                 errors_of_only_look(confidence, gates), {1, true});
  return verdict;
}

}  // namespace lauka::gate
