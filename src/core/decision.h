#pragma once

namespace lauka {

/// What a verdict says: the answer of a gate, or the decision about a candidate that may be kept.
enum class Decision : unsigned char {
  Pass,
  Fail,
  Inconclusive,
  Kept,
  Worse,      ///< not kept: shown to be worse than the reference, or that its value exceeds a limit
  Equal,      ///< not kept: shown not to reach the limit, but not to be worse than the reference
  Undecided,  ///< not kept: could not be decided
};

}  // namespace lauka
