#include "engine/kperf/strategy.h"

namespace lauka::engine::kperf {

RunValues not_counted(const std::string& why, std::uint32_t redo) {
  RunValues run;
  run.missing = Unavailable{"a run was not counted: " + why, ""};
  if (redo > 0) run.redo = Redo{why, redo};
  return run;
}

RunValues changed_meanwhile() {
  return not_counted("another program changed the counters meanwhile", kRedoAfterLoss);
}

std::optional<double> coverage_of(std::uint64_t instructions,
                                  const std::optional<os::KernelTotals>& totals) {
  if (!totals || totals->instructions == 0) return std::nullopt;
  return static_cast<double>(instructions) / static_cast<double>(totals->instructions);
}

}  // namespace lauka::engine::kperf
