#pragma once

#include "core/metric.h"
#include "report/ansi.h"
#include "results/results.h"

#include <string>

namespace lauka::report {

/// A delta as the tables show it.
struct MarkedDelta {
  std::string text;  ///< "⚡ −78.0% ± 0.5%"; without a mark, the text begins as far to the right
  Ink ink = Ink::Plain;
};

/// Marks a delta as a gain or a loss where it is significant; dims it where it is not. Without its
/// interval it takes half the cells.
MarkedDelta marked_delta(const stats::Delta& delta, Better better, bool with_interval = true);

}  // namespace lauka::report
