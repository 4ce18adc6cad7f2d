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

/// Returns the half width of a 95% interval by Student's t, from a standard error and its degrees
/// of freedom; fewer than 1 degree counts as 1.
double half_width_95(double error, double degrees);

/// Returns the degrees of freedom of the sum of two independent errors (Welch-Satterthwaite).
double degrees_of_sum(double error, double degrees, double other, double other_degrees);

/// Links between anchors: a session that measured two anchors tells how to convert ratios to one of
/// them into ratios to the other.
class AnchorLinks {
 public:
  /// Adds the ratio of anchor `of` to anchor `to`, as one session measured it; ignores one without
  /// an error.
  void add(const std::string& of, const std::string& to, const LogRatio& ratio);

  /// Returns, for each other anchor that is linked with `newest` (directly or through more
  /// anchors), the logarithm to add to a ratio to that anchor, to make it a ratio to `newest`.
  /// Errors add up as variances.
  std::map<std::string, LogRatio> to(const std::string& newest) const;

 private:
  std::map<std::pair<std::string, std::string>, std::vector<LogRatio>>
      links_{};  // by the names of `of` and `to`
};

/// The value of a session to which a history's values are compared.
enum class Against : unsigned char {
  Usual,    ///< the anchor if the latest session has one, else Nothing
  Nothing,  ///< no comparison: values as measured
  Reference,
  Anchor,
};

/// A commit, with all sessions that measured it.
struct Observation {
  std::int64_t began = 0;  ///< start of the commit's first session, in milliseconds since 1970
  std::string commit{};    ///< hash of the commit; empty: unknown, so that each session has its own
                           ///< Observation
  double value = 0.0;      ///< value or ratio; its logarithm if Trend::is_logarithm
  std::optional<double>
      error{};              ///< standard error of `value`, without `link_error`; nullopt: unknown
  double link_error = 0.0;  ///< standard error of linked anchors, which neighbouring commits share
  double degrees = 1.0;     ///< degrees of freedom of `error`
  Endings endings{};        ///< endings of the runs, from sessions in which a run failed

  /// Returns the standard error from `error` and `link_error`; nullopt: unknown.
  std::optional<double> whole_error() const;

  /// Returns the half width of the 95% interval from both errors; 0: unknown.
  double half_width_95() const;
};

/// A series by commit, in the order in which the commits were first measured.
struct Trend {
  Against against = Against::Nothing;  ///< never Against::Usual
  bool is_logarithm =
      true;  ///< false: a value is not positive, so that logarithms are not possible
  std::vector<Observation> commits{};
};

/// Combines the sessions of each commit of a series.
Trend make_trend(const MetricHistory& series, Against against);

/// The state of a step, as users see it.
enum class StepState : unsigned char {
  Alarm,   ///< it needs attention: a change for the worse, or of a metric without direction, in no
           ///< other state
  Better,  ///< a change for the better that is not acknowledged
  MadeUpFor,     ///< a change for the worse that later steps cancelled
  Acknowledged,  ///< a change, for the worse or not, for which a user left a note
};

/// A step of a trend.
struct KnownStep {
  stats::LevelStep step{};
  StepState state = StepState::Alarm;
  std::string id{};    ///< id for `lauka-history ack`
  std::string note{};  ///< note of the user who acknowledged the step; may be empty
};

/// A series with its steps.
struct SteppedSeries {
  MetricHistory series{};
  Trend trend{};
  std::vector<KnownStep> steps{};
  bool is_last_suspected = false;
  /// Index of the commit at a step that another commit like the last would confirm; nullopt if
  /// missing.
  std::optional<std::size_t> pending{};
};

/// Finds the steps of a series, and the notes about them in the database.
Result<SteppedSeries> with_steps(Loader& loader, MetricHistory series, Against against);

/// Returns the id of a step, given its series and the start of its commit: eight hexadecimal
/// digits.
std::string step_id(const MetricHistory& series, std::int64_t began);

/// The change from the reference on one class of machines, from all its sessions.
struct MachineEffect {
  Variant variant{};
  double value = 0.0;    ///< natural logarithm of the ratio
  double error = 0.0;    ///< standard error of `value`
  double degrees = 1.0;  ///< degrees of freedom of `error`

  /// Returns the half width of the 95% interval.
  double half_width_95() const { return history::half_width_95(error, degrees); }
};

/// The change of one command on several machines.
struct FleetEffect {
  std::string title{};
  Better better = Better::Less;
  std::vector<MachineEffect> machines{};
  stats::CombinedEffect combined{};
  std::size_t left_out =
      0;  ///< number of sessions without a standard error above 0, or without a reference
};

/// Combines the series of one commit, each of one class of machines, into an effect for each title,
/// ordered by title. Leaves out titles without a standard error.
std::vector<FleetEffect> fleet_effects(std::span<const MetricHistory> all);

/// True if the combined change is worse than `percent` with confidence; if `each`, true if the
/// change on any class of machines is. False for a metric without direction.
bool is_worse_than(const FleetEffect& effect, double percent, bool each);

}  // namespace lauka::history
