#pragma once

#include "stats/delta.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lauka {

struct Results;

/// The factors of a wall time: instructions / instructions per cycle / clock / utilisation, and
/// substitutes for those that were not counted.
enum class WallPart : unsigned char {
  Instructions,
  InstructionsPerCycle,  ///< divides
  Cycles,                ///< where instructions were not counted
  Clock,                 ///< divides: cycles per CPU time
  CpuTimePerCycle,       ///< in place of the clock, if counts and CPU time are not of the same
  CpuTimePerInstruction,
  CpuTime,
  Utilisation,  ///< divides: CPU time / wall time
};

/// One factor of a candidate's wall time over the reference's.
struct WallFactor {
  WallPart part = WallPart::CpuTime;
  /// The candidate's over the reference's, less 1.
  stats::Change change{};
  std::optional<double> reference{};  ///< median of the runs, if worth showing
  std::optional<double> candidate{};

  /// Returns the factor's share of the wall time's logarithm.
  double log_of_wall_time() const;
};

/// Why a candidate is faster or slower: its factors, whose product is the wall time's ratio.
struct Why {
  std::size_t command = 0;
  std::vector<WallFactor> factors{};
  bool lacks_instructions = false;  ///< not counted, so that no factor speaks of them
  bool lacks_cycles = false;
  bool is_simulated = false;     ///< instructions are
  bool is_user_only = false;     ///< counts are of user space, times are not
  bool has_shell = false;        ///< counts have the shell in them, times have not
  bool is_of_all_kinds = false;  ///< cycles were counted on several kinds of core, and added up
};

/// Returns one for each candidate whose wall and CPU time changed by a ratio. `rounds`: of the
/// runs. Factors that are rows of their own have these rows' deltas. The rest between cycles and
/// CPU time is the clock's, between CPU time and wall time the utilisation's.
std::vector<Why> whys_of(const Results& results, std::span<const std::uint32_t> rounds);

}  // namespace lauka
