#pragma once

#include "core/result.h"
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

/// Share of a distribution beyond each end of a 95% interval.
inline constexpr double kTail95 = 0.025;

/// Returns the half width of a 95% interval by Student's t. `error` is a standard error. Fewer
/// degrees of freedom than 1 count as 1.
double half_width_95(double error, double degrees);

/// Returns the degrees of freedom of the sum of two independent values (Welch-Satterthwaite).
/// `error` and `other` are their standard errors.
double degrees_of_sum(double error, double degrees, double other, double other_degrees);

/// A session's ratio of the anchor `of` to the anchor `to`.
struct AnchorRatio {
  std::string of{};
  std::string to{};
  LogRatio ratio{};
};

/// Returns the logarithmic ratio to `newest` of each other anchor that is linked to `newest`,
/// directly or through other anchors. Ignores ratios without a standard error, and ratios of an
/// anchor to itself.
std::map<std::string, LogRatio> ratios_to_anchor(const std::string& newest,
                                                 std::span<const AnchorRatio> measured);

enum class ComparedWith : unsigned char {
  AnchorIfPresent,  ///< Anchor if the newest session of the series has a ratio to an anchor, else
                    ///< Nothing
  Nothing,          ///< no comparison: values as measured
  Reference,
  Anchor,
};

struct CommitValue {
  std::int64_t began = 0;  ///< start of the first session that `value` combines, in ms since 1970
  std::string commit{};
  double value = 0.0;  ///< value, or ratio if compared; a logarithm if Trend::is_logarithm
  /// Standard error of `value` without `link_error`; nullopt if unknown.
  std::optional<double> error{};
  double link_error = 0.0;  ///< standard error that the conversion of `value` to the newest anchor
                            ///< added; 0 if not converted
  double degrees = 1.0;
  Endings endings{};
  /// The value or ratio, not a logarithm, if it is exact: the same in all runs of all sessions.
  /// Else nullopt.
  std::optional<double> exact_value{};

  /// Returns the standard error that combines `error` and `link_error`; nullopt if unknown.
  std::optional<double> whole_error() const;

  /// Returns half the width of the 95% interval of `value`; 0 if unknown.
  double half_width_95() const;
};

/// A series by commit, ordered by the first session of each commit.
struct Trend {
  ComparedWith against = ComparedWith::Nothing;  ///< never ComparedWith::AnchorIfPresent
  bool is_logarithm = true;  ///< true: all values of `observations` are logarithms
  std::vector<CommitValue> observations{};
};

/// Combines the sessions of each commit of a series.
Trend make_trend(const MetricHistory& series, ComparedWith wanted_comparison);

enum class StepState : unsigned char {
  Alarm,  ///< a change that needs attention: for the worse, or of a metric without direction
  Better,
  CancelledLater,  ///< a change for the worse that later steps reversed
  Acknowledged,
};

struct KnownStep {
  stats::LevelStep step{};
  StepState state = StepState::Alarm;
  std::string id{};
  std::string note{};
};

struct SteppedSeries {
  MetricHistory series{};
  Trend trend{};
  std::vector<KnownStep> steps{};
  bool may_last_commit_be_step = false;
  /// Index of the first commit after a possible step, which one more commit like the last commit
  /// would confirm; nullopt if there is no such step.
  std::optional<std::size_t> possible_step_at{};
};

/// Returns the last exact value before a step and the first after it; nullopt if a commit of the
/// levels on either side has another value, or one that is not exact.
std::optional<std::pair<double, double>> exact_values_around(const SteppedSeries& stepped,
                                                             const stats::LevelStep& step);

/// Finds the steps of a series, and reads the notes about steps from the database.
Result<SteppedSeries> find_steps_and_notes(Loader& loader, MetricHistory series,
                                           ComparedWith against);

/// Returns the id of a step: eight hexadecimal digits. `began` is CommitValue::began of the first
/// commit after the step.
std::string step_id(const MetricHistory& series, std::int64_t began);

struct MachineEffect {
  MeasuredCommand variant{};
  double ratio_logarithm = 0.0;  ///< natural logarithm of candidate / reference
  double error = 0.0;            ///< standard error of `ratio_logarithm`
  double degrees = 1.0;

  double half_width_95() const { return history::half_width_95(error, degrees); }
};

struct FleetEffect {
  std::string title{};
  Better better = Better::Less;
  std::vector<MachineEffect> machines{};
  stats::EffectOverMachines combined{};
  /// Number of sessions that were left out, because their ratio to the reference is missing, or its
  /// standard error is missing or 0.
  std::size_t sessions_left_out = 0;
};

/// Combines series of different classes of machines that have the same title (title_of). Returns an
/// effect for each title, ordered by title. Leaves out titles without a usable ratio to the
/// reference.
std::vector<FleetEffect> combine_by_title(std::span<const MetricHistory> all);

/// True if the whole 95% interval of the combined change is worse by more than the factor 1 +
/// `percent` / 100. If `each`, true if this holds for the change on at least one class of machines.
/// Always false for a metric without direction.
bool is_worse_than(const FleetEffect& effect, double percent, bool each);

}  // namespace lauka::history
