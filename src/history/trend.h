#pragma once

#include "core/result.h"
#include "history/record.h"
#include "history/store.h"
#include "stats/change_points.h"
#include "stats/models.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka::history {

/// Returns half the width of a 95% interval by Student's t; fewer than 1 degree counts as 1.
double half_width_95(double error, double degrees);

/// Returns the degrees of freedom of the sum of two independent errors (Welch & Satterthwaite).
double degrees_of_sum(double error, double degrees, double other, double other_degrees);

/// Links between anchors that one session measured, by which a ratio to one becomes a ratio to the
/// other.
class AnchorLinks {
 public:
  /// Adds the ratio of one anchor to another, as a session measured it.
  void add(const std::string& of, const std::string& to, const LogRatio& ratio);

  /// Returns, for each other anchor that is linked with `newest` (directly or through others), what
  /// turns a ratio to it into one to `newest` if added. Errors add up as variances.
  std::map<std::string, LogRatio> to(const std::string& newest) const;

 private:
  std::map<std::pair<std::string, std::string>, std::vector<LogRatio>> links_{};  // of, to
};

/// The values of their own sessions that a history's values are compared with.
enum class Against : unsigned char {
  Usual,    ///< the anchor if the latest session has one, else nothing
  Nothing,  ///< the values themselves
  Reference,
  Anchor,
};

/// A commit, with all sessions that measured it.
struct Observation {
  std::int64_t began = 0;         ///< the first of them
  std::string commit{};           ///< empty: not known, and the session is on its own
  double value = 0.0;             ///< value; if Trend says so, its logarithm or the ratio's
  std::optional<double> error{};  ///< standard error of the value, from within sessions
  double link_error = 0.0;        ///< standard error of linked anchors, which neighbours share
  double degrees = 1.0;           ///< degrees of freedom of `error`
  Endings endings{};              ///< endings of runs, from sessions in which a run failed

  /// Returns the standard error from both sources.
  std::optional<double> whole_error() const;

  /// Returns half the width of the 95% interval, from both errors; 0: unknown.
  double half_width_95() const;
};

/// A series from commit to commit, in the order in which they were first measured.
struct Trend {
  Against against = Against::Nothing;  ///< never Usual
  bool is_logarithm = true;            ///< false: a value is not above 0
  std::vector<Observation> commits{};
};

/// Merges the sessions of each commit of a series.
Trend make_trend(const MetricHistory& series, Against against);

/// True if a step needs attention.
enum class StepState : unsigned char {
  Alarm,         ///< worse, and none of the below
  Better,        ///< better, or the metric has no direction
  MadeUpFor,     ///< later steps brought the level back
  Acknowledged,  ///< a user has left a note
};

/// A step of a trend.
struct KnownStep {
  stats::Step step{};
  StepState state = StepState::Alarm;
  std::string id{};    ///< the word for `ack`
  std::string note{};  ///< note of the acknowledgement
};

/// A series with its steps.
struct SteppedSeries {
  MetricHistory series{};
  Trend trend{};
  std::vector<KnownStep> steps{};
  bool is_last_suspected = false;
  /// Index of the commit of a step that one more commit like the last would confirm.
  std::optional<std::size_t> pending{};
};

/// Finds the steps of a series, and their acknowledgements in the database.
Result<SteppedSeries> with_steps(Loader& loader, MetricHistory series, Against against);

/// Returns the id of the step of a series at a commit: eight hexadecimal digits.
std::string step_id(const MetricHistory& series, std::int64_t began);

/// The result of one class of machines: the change from the reference, from all of its sessions.
struct MachineEffect {
  Variant variant{};
  double value = 0.0;  ///< logarithm of the ratio
  double error = 0.0;
  double degrees = 1.0;  ///< degrees of freedom of `error`

  /// Returns half the width of the 95% interval.
  double half_width_95() const { return history::half_width_95(error, degrees); }
};

/// One command's change, on several machines.
struct FleetEffect {
  std::string title{};
  Better better = Better::Less;
  std::vector<MachineEffect> machines{};
  stats::CombinedEffect combined{};
  std::size_t left_out = 0;  ///< sessions that have no standard error, or no reference
};

/// Combines the series of one commit's sessions, each of one class of machines, to an effect for
/// each title; ordered by title.
std::vector<FleetEffect> fleet_effects(std::span<const MetricHistory> all);

/// True if the combined change is, with confidence, worse than `percent`; with `each`, if that of
/// any class of machines is.
bool is_worse_than(const FleetEffect& effect, double percent, bool each);

}  // namespace lauka::history
