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

/// Returns the half width of a 95% interval by Student's t. `error` is a standard error; fewer than
/// 1 degree of freedom counts as 1.
double half_width_95(double error, double degrees);

/// Returns the degrees of freedom of the sum of two independent errors (Welch-Satterthwaite).
double degrees_of_sum(double error, double degrees, double other, double other_degrees);

/// Ratios between anchors, from sessions that measured two anchors.
class AnchorLinks {
 public:
  /// Adds the ratio of anchor `of` to anchor `to` in one session. Ignores a ratio without a
  /// standard error, or of an anchor to itself.
  void add(const std::string& of, const std::string& to, const LogRatio& ratio);

  /// Returns, for each other anchor that is linked to `newest`, the logarithm of its ratio to
  /// `newest`. Links may be indirect.
  std::map<std::string, LogRatio> to(const std::string& newest) const;

 private:
  std::map<std::pair<std::string, std::string>, std::vector<LogRatio>> links_{};
};

/// The command with which a history's values are compared.
enum class ComparedWith : unsigned char {
  Usual,    ///< Anchor if the latest session has a ratio to an anchor, else Nothing
  Nothing,  ///< no comparison: values as measured
  Reference,
  Anchor,
};

struct Observation {
  std::int64_t began = 0;  ///< start of the commit's first session, in milliseconds since 1970
  std::string commit{};
  double value = 0.0;  ///< value or, if compared, ratio; its logarithm if Trend::is_logarithm
  std::optional<double>
      error{};              ///< standard error of `value`, without `link_error`; nullopt if unknown
  double link_error = 0.0;  ///< standard error that `value` got by conversion to the newest anchor;
                            ///< 0 if not converted
  double degrees = 1.0;
  Endings endings{};

  /// Returns the standard error from `error` and `link_error`; nullopt if unknown.
  std::optional<double> whole_error() const;

  /// Returns the half width of the 95% interval from `error` and `link_error`; 0 if unknown.
  double half_width_95() const;
};

/// A series by commit, in the order in which the commits were first measured.
struct Trend {
  ComparedWith against = ComparedWith::Nothing;  ///< never Against::Usual
  bool is_logarithm = true;                      ///< true: all values of `commits` are logarithms
  std::vector<Observation> commits{};
};

/// Combines the sessions of each commit of a series.
Trend make_trend(const MetricHistory& series, ComparedWith against);

enum class StepState : unsigned char {
  Alarm,  ///< a change that needs attention: for the worse, or of a metric without direction
  Better,
  CancelledLater,  ///< a change for the worse that later steps cancelled
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
  bool is_last_suspected = false;
  /// Index of the commit at a step that one more commit like the last would confirm; nullopt if
  /// there is no such step.
  std::optional<std::size_t> pending{};
};

/// Finds the steps of a series, and reads the notes about steps from the database.
Result<SteppedSeries> find_steps_and_notes(Loader& loader, MetricHistory series,
                                           ComparedWith against);

/// Returns the id of a step: eight hexadecimal digits. `began` is the start of the step's commit,
/// in milliseconds since 1970.
std::string step_id(const MetricHistory& series, std::int64_t began);

struct MachineEffect {
  Variant variant{};
  double value = 0.0;  ///< natural logarithm of the ratio
  double error = 0.0;  ///< standard error of `value`
  double degrees = 1.0;

  double half_width_95() const { return history::half_width_95(error, degrees); }
};

struct FleetEffect {
  std::string title{};
  Better better = Better::Less;
  std::vector<MachineEffect> machines{};
  stats::CombinedEffect combined{};
  std::size_t left_out =
      0;  ///< number of sessions that have no ratio to the reference with a positive standard error
};

/// Combines the series of one commit, each of one class of machines, into an effect for each title,
/// ordered by title. Leaves out a title if no session has a positive standard error.
std::vector<FleetEffect> fleet_effects(std::span<const MetricHistory> all);

/// True if the combined change is, with confidence, worse by more than a factor of 1 + `percent` /
/// 100. If `each`: true if the change on any class of machines is. Always false for a metric
/// without direction.
bool is_worse_than(const FleetEffect& effect, double percent, bool each);

}  // namespace lauka::history
