#pragma once

#include "gate/schedule.h"
#include "gate/verdict.h"

#include <cstddef>

namespace lauka::gate {

/// The verdict of a gate that looks once, at the end, as one of `gates` of its job.
inline Verdict decide(const Condition& condition, std::size_t candidate, const Evidence& evidence,
                      double confidence, std::size_t gates) {
  return *decide_at_look(condition, candidate, evidence, levels_of_one_look(confidence, gates),
                         {1, true});
}

}  // namespace lauka::gate
