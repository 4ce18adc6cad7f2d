#pragma once

#include "core/record.h"

#include <cstddef>
#include <functional>

namespace lauka {

/// Changes each run of a list, which packs them.
inline void change(RunList& runs, const std::function<void(RunRecord&)>& how) {
  RunList changed;
  for (RunRecord run : runs) {
    how(run);
    changed.push_back(run);
  }
  runs = changed;
}

inline void change(RunList& runs, std::size_t index, const std::function<void(RunRecord&)>& how) {
  std::size_t place = 0;
  change(runs, [&](RunRecord& run) {
    if (place++ == index) how(run);
  });
}

}  // namespace lauka
