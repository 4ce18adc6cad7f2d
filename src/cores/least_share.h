#pragma once

#include "cores/cores.h"
#include "engine/engine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka::cores {

/// Of its CPU time, what a run is to spend on the first kind of core.
struct LeastShare {
  double share = 0.0;
  std::string why;  ///< a run with less is run again
};

/// What --min-p-share asks for; none where it was not given.
std::optional<LeastShare> least_of(const Decided& decided);

/// Has a run with less run again, at most three times; then it enters as it is, and the results
/// warn of it. `ns`: its times by kind; empty: not known.
void ask_for_redo(engine::Counted& counted, const std::vector<std::uint64_t>& ns,
                  const std::optional<LeastShare>& least);

}  // namespace lauka::cores
