#pragma once

#include "core/record.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace lauka {

/// Changes each run of a list.
inline void change(std::vector<RunRecord>& runs, const std::function<void(RunRecord&)>& how) {
  for (RunRecord& run : runs) how(run);
}

inline void change(std::vector<RunRecord>& runs, std::size_t index,
                   const std::function<void(RunRecord&)>& how) {
  how(runs.at(index));
}

}  // namespace lauka
