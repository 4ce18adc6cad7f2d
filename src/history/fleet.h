#pragma once

#include "core/result.h"
#include "history/load.h"
#include "report/style.h"
#include "stats/models.h"

#include <optional>
#include <string>
#include <vector>

namespace lauka::history {

/// The result of one class of machines: the change from the reference, from all of its sessions.
struct MachineEffect {
  Variant variant{};
  std::size_t sessions = 0;
  double value = 0.0;  ///< logarithm of the ratio
  double error = 0.0;
  double degrees = 1.0;  ///< of freedom, of `error`
};

/// One command's change, on several machines.
struct FleetEffect {
  std::string title{};
  Better better = Better::Less;
  std::vector<MachineEffect> machines{};
  std::optional<stats::CombinedEffect> combined{};
  std::size_t left_out = 0;  ///< sessions that have no standard error, or no reference
};

/// Gathers the sessions of one commit by benchmark, metric and machine class.
class Fleet {
 public:
  /// Takes the points of one series of one class of machines.
  void add(const Series& series);

  /// Returns the effects, ordered by title.
  std::vector<FleetEffect> effects() const;

 private:
  std::map<std::string, FleetEffect> effects_{};
};

/// A line per machine with a small drawing, one for all of them, and how much they differ in words.
std::string fleet_text(const FleetEffect& effect, const report::Style& style);

/// Returns the same as a forest plot for the page.
std::string fleet_html(const FleetEffect& effect);

/// True if the combined change is, with confidence, worse than `percent`; with `each`, if any class
/// of machines is.
bool is_worse_than(const FleetEffect& effect, double percent, bool each);

}  // namespace lauka::history
