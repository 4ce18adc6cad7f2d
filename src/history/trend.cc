#include "history/trend.h"

#include "history/answer_text.h"
#include "stats/distributions.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include <fmt/format.h>

namespace lauka::history {

namespace {

// For normal samples: the standard error of the median, divided by the standard error of the mean.
constexpr double kErrorOfMedian = 1.2533;
// For normal samples: the standard deviation, divided by the median absolute deviation.
constexpr double kDeviationOfMad = 1.4826;

/// Which of a session's numbers stands for its runs. A series uses the same one for all sessions.
enum class Center : unsigned char { Mean, Median };

double value_of(const MetricRecord& values, Center center) {
  return center == Center::Median ? *values.median : values.mean;
}

/// Returns the standard error of value_of(); nullopt if it is unknown.
std::optional<double> error_of(const MetricRecord& values, Center center) {
  const bool is_median = center == Center::Median;
  const auto& deviation = is_median ? values.mad : values.stddev;

  // A single run has a deviation of 0 from its median, which says nothing about the error.
  const std::uint64_t min_count = is_median ? 2 : 1;
  if (!deviation || values.summarized_values < min_count) return std::nullopt;

  const double factor = is_median ? kErrorOfMedian * kDeviationOfMad : 1.0;
  return factor * *deviation / std::sqrt(static_cast<double>(values.summarized_values));
}

/// Returns a session's ratio or, without a comparison, its value, which is a logarithm if
/// `is_logarithm`. nullopt if the session lacks the ratio.
std::optional<LogRatio> choose_session_value(const MetricRecord& values, ComparedWith against,
                                             bool is_logarithm, Center center) {
  if (against == ComparedWith::Anchor) return values.ratio_to_anchor;
  if (against == ComparedWith::Reference) return values.ratio_to_reference;

  const double value = value_of(values, center);
  const auto error = error_of(values, center);
  if (!is_logarithm) return LogRatio{value, error};

  // A small error of a logarithm is the relative error of the value.
  LogRatio logarithm{.value = std::log(value)};
  if (error) logarithm.error = *error / value;
  return logarithm;
}

/// Returns the exact value of a session, or its exact ratio; nullopt if the runs vary.
std::optional<double> exact_value_of(const MetricRecord& values, ComparedWith against) {
  if (!can_be_exact(values.unit) || values.summarized_values < stats::kMinForExact)
    return std::nullopt;
  if (against == ComparedWith::Nothing)
    return values.stddev == 0.0 ? std::optional(values.mean) : std::nullopt;
  const auto& ratio =
      against == ComparedWith::Reference ? values.ratio_to_reference : values.ratio_to_anchor;
  // The error is computed from logarithms, which are rounded.
  if (!ratio || !ratio->error || !stats::is_rounding_error(*ratio->error, 1.0)) return std::nullopt;
  return std::exp(ratio->value);
}

bool is_same_value(std::optional<double> a, std::optional<double> b) {
  return a && b && stats::is_rounding_error(*a - *b, std::abs(*a));
}

constexpr double kConfidence95 = 1.0 - 2.0 * kTail95;
constexpr double kMinErrorsBeyondLink = 3.6;  // standard errors; noise exceeds this once in 3000
constexpr double kMinRelativeChange = 1e-9;   // smaller changes are rounding errors

/// Any change of a metric without direction counts as worse, because nobody knows that it is good.
bool is_worse(double change, Better better) {
  return better == Better::Neither || (change > 0.0) == (better == Better::Less);
}

/// True if later steps brought the level back to where it was before a step, or to a better one.
bool is_cancelled_later(const std::vector<stats::LevelStep>& steps, std::size_t step_index,
                        Better better) {
  if (better == Better::Neither) return false;
  double change_since_before = steps[step_index].change;
  for (std::size_t later = step_index + 1; later < steps.size(); ++later) {
    change_since_before += steps[later].change;
    if (!is_worse(change_since_before, better)) return true;
  }
  return false;
}

/// Raises small variances to the median variance, because sessions of few runs may underestimate
/// their errors.
void raise_small_variances(std::vector<stats::SeriesPoint>& points) {
  std::vector<double> variances;
  variances.reserve(points.size());
  for (const stats::SeriesPoint& point : points) variances.push_back(point.variance);
  if (variances.empty()) return;
  const double typical = stats::median(stats::sorted(variances));
  for (stats::SeriesPoint& point : points) point.variance = std::max(point.variance, typical);
}

/// Returns the standard error that the conversion to another anchor adds to a step's change.
double link_error_at(const std::vector<CommitValue>& commits, const stats::LevelStep& step) {
  double error = 0.0;
  for (std::size_t i = std::max<std::size_t>(step.earliest_first_point, 1);
       i <= step.latest_first_point; ++i) {
    const double before = commits[i - 1].link_error;
    const double after = commits[i].link_error;
    if (before != after) error = std::max(error, std::hypot(before, after));
  }
  return error;
}

/// Returns the change of `value` below which a change is a rounding error.
double rounding_limit(const Trend& trend, double value) {
  // A change of a logarithm is relative already.
  return kMinRelativeChange * (trend.is_logarithm ? 1.0 : std::abs(value));
}

/// Removes steps that may be due to rounding or to the conversion to another anchor. Widens the
/// intervals of the remaining steps by the error of the conversion.
void drop_uncertain_steps(const Trend& trend, std::vector<stats::LevelStep>& steps) {
  std::vector<stats::LevelStep> kept;
  for (stats::LevelStep step : steps) {
    const double link_error = link_error_at(trend.observations, step);
    const double rounding = rounding_limit(trend, trend.observations[step.first_point].value);
    const double limit = std::max(rounding, kMinErrorsBeyondLink * link_error);
    if (std::abs(step.change) <= limit) continue;

    step.bounds.low -= kNormal95 * link_error;
    step.bounds.high += kNormal95 * link_error;
    kept.push_back(step);
  }
  steps = std::move(kept);
}

/// True if the change from the commit before `first_commit` to the last one may be real: neither
/// rounding nor the conversion to another anchor explains it.
bool may_be_step(const Trend& trend, std::size_t first_commit) {
  const CommitValue& before = trend.observations[first_commit - 1];
  const CommitValue& last = trend.observations.back();
  return before.link_error == last.link_error &&
         std::abs(last.value - before.value) > rounding_limit(trend, before.value);
}

/// Returns the mean of ratios that were measured with different precision, weighted by 1 / error².
/// If an error is 0 or unknown, all ratios have the same weight. The mean has an error if all
/// ratios have one.
LogRatio weighted_mean(std::span<const LogRatio> ratios) {
  const bool are_all_errors_positive =
      std::ranges::all_of(ratios, [](const LogRatio& ratio) { return ratio.error > 0.0; });
  const bool are_all_errors_known =
      std::ranges::all_of(ratios, [](const LogRatio& ratio) { return ratio.error.has_value(); });

  double sum_of_weights = 0.0;
  double weighted_sum = 0.0;
  double variance_of_weighted_sum = 0.0;
  for (const LogRatio& ratio : ratios) {
    const double error = ratio.error.value_or(0.0);
    const double weight = are_all_errors_positive ? 1.0 / (error * error) : 1.0;
    sum_of_weights += weight;
    weighted_sum += weight * ratio.value;
    variance_of_weighted_sum += weight * weight * error * error;
  }

  LogRatio mean{.value = weighted_sum / sum_of_weights};
  if (are_all_errors_known) mean.error = std::sqrt(variance_of_weighted_sum) / sum_of_weights;
  return mean;
}

/// The ratios of each pair of anchors, the first to the second in the order of their names.
using RatiosByAnchors = std::map<std::pair<std::string, std::string>, std::vector<LogRatio>>;

RatiosByAnchors ratios_by_anchors(std::span<const AnchorRatio> measured) {
  RatiosByAnchors ratios;
  for (const auto& [of, to, ratio] : measured) {
    if (of == to || !ratio.error) continue;  // the error may be unknown, as for a single round
    if (of < to)
      ratios[{of, to}].push_back(ratio);
    else
      ratios[{to, of}].push_back({-ratio.value, ratio.error});  // the logarithm of the inverse
  }
  return ratios;
}

/// Returns the ratios to `anchor` of the anchors that a session measured together with it.
std::vector<AnchorRatio> list_links_to(const std::string& anchor,
                                       const RatiosByAnchors& ratios_by_link) {
  std::vector<AnchorRatio> links;
  for (const auto& [ends, ratios] : ratios_by_link) {
    const bool is_first = ends.first == anchor;
    const bool is_second = ends.second == anchor;
    const bool is_linked = is_first || is_second;
    if (!is_linked) continue;

    // A link has the ratio of its first end to its second, so the sign changes if the other anchor
    // is the second.
    LogRatio ratio = weighted_mean(ratios);
    if (is_first) ratio.value = -ratio.value;
    links.push_back({.of = is_first ? ends.second : ends.first, .to = anchor, .ratio = ratio});
  }
  return links;
}

struct SessionValue {
  LogRatio value{};  ///< a ratio, or a value without a comparison (choose_session_value)
  std::uint64_t run_count = 0;

  bool has_error() const { return value.error && run_count > 0; }
};

/// Raises each error to at least the typical error for the session's number of runs, because few
/// runs may happen to vary little.
void raise_small_errors(std::span<SessionValue> sessions) {
  std::vector<double> variances_of_one_run;
  for (const SessionValue& session : sessions)
    if (session.has_error())
      variances_of_one_run.push_back(*session.value.error * *session.value.error *
                                     static_cast<double>(session.run_count));
  if (variances_of_one_run.empty()) return;

  const double typical = stats::median(stats::sorted(variances_of_one_run));
  for (SessionValue& session : sessions)
    if (session.has_error())
      session.value.error = std::max(*session.value.error,
                                     std::sqrt(typical / static_cast<double>(session.run_count)));
}

/// Returns the variance between sessions beyond their errors.
double estimate_variance_between(std::span<const SessionValue> sessions) {
  std::vector<stats::SeriesPoint> points;
  for (const SessionValue& session : sessions) {
    const double error = session.value.error.value_or(0.0);
    points.push_back({session.value.value, error * error});
  }
  return stats::estimate_noise_variance(points);
}

struct MergedSessions {
  LogRatio value{};
  double degrees = 1.0;
};

MergedSessions merge_sessions(std::span<const SessionValue> sessions, double variance_between) {
  std::vector<LogRatio> values;
  double degrees = 0.0;
  for (const SessionValue& session : sessions) {
    degrees += session.run_count > 1 ? static_cast<double>(session.run_count - 1) : 0.0;

    LogRatio value = session.value;
    if (value.error && sessions.size() > 1)
      value.error = std::sqrt(*value.error * *value.error + variance_between);
    values.push_back(value);
  }
  return {weighted_mean(values), std::max(1.0, degrees)};
}

/// Adds the mean change that a class of machines measured to the effect, if it has a usable one.
void add_machine(FleetEffect& effect, const MetricHistory& series) {
  effect.better = series.metric.better;
  std::vector<SessionValue> sessions;
  for (const SessionPoint& point : series.points) {
    const auto& ratio = point.values.ratio_to_reference;
    if (ratio && ratio->error > 0.0)
      sessions.push_back({*ratio, point.values.summarized_values});
    else
      ++effect.sessions_left_out;
  }
  if (sessions.empty()) return;

  raise_small_errors(sessions);
  const MergedSessions mean = merge_sessions(sessions, estimate_variance_between(sessions));
  effect.machines.push_back({.variant = series.variant,
                             .ratio_logarithm = mean.value.value,
                             .error = *mean.value.error,
                             .degrees = mean.degrees});
}

}  // namespace

double half_width_95(double error, double degrees) {
  return stats::student_t_quantile_above(kTail95, std::max(1.0, degrees)) * error;
}

double degrees_of_sum(double error, double degrees, double other, double other_degrees) {
  const double variance = error * error;
  const double other_variance = other * other;
  const double sum = variance + other_variance;
  if (sum <= 0.0) return std::max(1.0, std::min(degrees, other_degrees));

  // Uses shares of the sum, because the squares of small variances would round to 0.
  const double share = variance / sum;
  const double other_share = other_variance / sum;
  return 1.0 / (share * share / std::max(1.0, degrees) +
                other_share * other_share / std::max(1.0, other_degrees));
}

std::optional<double> CommitValue::whole_error() const {
  return error ? std::optional(std::hypot(*error, link_error)) : std::nullopt;
}

double CommitValue::half_width_95() const {
  if (!error) return 0.0;
  // The degrees of freedom of the conversion are not known. With so many, it counts as normal.
  const double link_degrees = std::numeric_limits<std::int32_t>::max();
  return history::half_width_95(*whole_error(),
                                degrees_of_sum(*error, degrees, link_error, link_degrees));
}

namespace {

/// Returns what a trend compares values with: the anchor if one is wanted and the latest session
/// measured it.
ComparedWith choose_comparison(const MetricHistory& series, ComparedWith wanted) {
  if (wanted != ComparedWith::AnchorIfPresent) return wanted;
  const bool has_anchor = !series.points.empty() && series.points.back().values.ratio_to_anchor;
  return has_anchor ? ComparedWith::Anchor : ComparedWith::Nothing;
}

/// Returns the median if all sessions have one, else the mean.
Center choose_center(const MetricHistory& series) {
  const bool all_have_medians = std::ranges::all_of(
      series.points, [](const SessionPoint& point) { return point.values.median.has_value(); });
  return all_have_medians ? Center::Median : Center::Mean;
}

bool are_all_positive(const MetricHistory& series, Center center) {
  return std::ranges::all_of(series.points, [&](const SessionPoint& point) {
    return value_of(point.values, center) > 0.0;
  });
}

/// The sessions of a trend in the order of time.
struct TrendSessions {
  std::vector<SessionValue> values{};
  std::vector<std::size_t> observation_indexes{};  ///< for each session
  std::map<std::string, std::size_t> observation_by_commit{};
};

/// Returns the index of the observation of a session, which is the number of `observations` if it
/// is a new one. All sessions of a commit are one observation. A session without a commit is an
/// observation of its own.
std::size_t find_observation_index(const Trend& trend, TrendSessions& sessions,
                                   const std::string& commit) {
  const std::size_t new_index = trend.observations.size();
  if (commit.empty()) return new_index;
  return sessions.observation_by_commit.emplace(commit, new_index).first->second;
}

/// Adds to an observation, which may be a new one, what the session says besides its value.
void add_session_without_value(Trend& trend, std::size_t index, const SessionPoint& point) {
  // A value that was computed over several anchors is not exact.
  std::optional<double> exact_value;
  if (point.link_error == 0.0) exact_value = exact_value_of(point.values, trend.against);

  const bool is_new = index == trend.observations.size();
  if (is_new)
    trend.observations.push_back(
        {.began = point.began, .commit = point.commit, .exact_value = exact_value});
  CommitValue& observation = trend.observations[index];
  if (!is_new && !is_same_value(observation.exact_value, exact_value))
    observation.exact_value.reset();

  observation.endings.add(point.endings);
  if (trend.against == ComparedWith::Anchor)
    observation.link_error = std::max(observation.link_error, point.link_error);
}

/// Gives each observation the mean of its sessions, whose errors are at least the typical ones.
void set_merged_values(Trend& trend, TrendSessions& sessions) {
  raise_small_errors(sessions.values);
  const double variance_between = estimate_variance_between(sessions.values);

  std::vector<std::vector<SessionValue>> values_by_observation(trend.observations.size());
  for (std::size_t i = 0; i < sessions.values.size(); ++i)
    values_by_observation[sessions.observation_indexes[i]].push_back(sessions.values[i]);

  for (std::size_t i = 0; i < values_by_observation.size(); ++i) {
    const MergedSessions merged = merge_sessions(values_by_observation[i], variance_between);
    CommitValue& observation = trend.observations[i];
    observation.value = merged.value.value;
    observation.error = merged.value.error;
    observation.degrees = merged.degrees;
  }
}

}  // namespace

// An observation of the trend combines all sessions of a commit.
Trend make_trend(const MetricHistory& series, ComparedWith wanted_comparison) {
  Trend trend{.against = choose_comparison(series, wanted_comparison)};

  // Ratios are stored as logarithms. Values become logarithms if all of them are positive.
  const Center center = choose_center(series);
  const bool has_ratios = trend.against != ComparedWith::Nothing;
  trend.is_logarithm = has_ratios || are_all_positive(series, center);

  TrendSessions sessions;
  for (const SessionPoint& point : series.points) {
    const auto value =
        choose_session_value(point.values, trend.against, trend.is_logarithm, center);
    if (!value) continue;

    const std::size_t index = find_observation_index(trend, sessions, point.commit);
    add_session_without_value(trend, index, point);
    sessions.values.push_back({.value = *value, .run_count = point.values.summarized_values});
    sessions.observation_indexes.push_back(index);
  }

  // Merging uses the typical error of all sessions, so it comes last.
  set_merged_values(trend, sessions);
  return trend;
}

namespace {

/// The commits of the levels on both sides of a step. Two steps enclose a level: the commits with
/// about the same value.
struct LevelsAround {
  std::size_t begin = 0;  ///< the previous step, or the first commit
  std::size_t end = 0;    ///< the next step, or the end of the commits
};

LevelsAround find_levels_around(const SteppedSeries& stepped, const stats::LevelStep& step) {
  LevelsAround levels{.begin = 0, .end = stepped.trend.observations.size()};
  for (const KnownStep& other : stepped.steps) {
    if (other.step.first_point < step.first_point)
      levels.begin = std::max(levels.begin, other.step.first_point);
    else if (other.step.first_point > step.first_point)
      levels.end = std::min(levels.end, other.step.first_point);
  }
  return levels;
}

}  // namespace

// If all commits of the levels on both sides of a step are exact and equal, the size of the step is
// not an estimate.
std::optional<std::pair<double, double>> exact_values_around(const SteppedSeries& stepped,
                                                             const stats::LevelStep& step) {
  const std::vector<CommitValue>& commits = stepped.trend.observations;
  const LevelsAround levels = find_levels_around(stepped, step);
  const CommitValue& first_before = commits[levels.begin];
  const CommitValue& first_after = commits[step.first_point];

  // is_same_value() is false if either value is not exact.
  for (std::size_t i = levels.begin; i < levels.end; ++i) {
    const CommitValue& first_of_level = i < step.first_point ? first_before : first_after;
    if (!is_same_value(first_of_level.exact_value, commits[i].exact_value)) return std::nullopt;
  }
  return std::pair(*first_before.exact_value, *first_after.exact_value);
}

// An anchor is an old build that sessions measure for comparison. A session that measured two
// anchors links them. If no session measured an anchor together with the newest one, the ratio of
// the two follows from the links between them: a / c is a / b times b / c.
std::map<std::string, LogRatio> ratios_to_anchor(const std::string& newest,
                                                 std::span<const AnchorRatio> measured) {
  const auto ratios_by_link = ratios_by_anchors(measured);

  // Ratios are logarithms, so the ratio of the newest anchor to itself is 0.
  std::map<std::string, LogRatio> ratio_to_newest_by_anchor{{newest, {.value = 0.0, .error = 0.0}}};

  // Visits anchors breadth first, so that each ratio comes from as few links as possible.
  std::deque<std::string> to_visit{newest};
  while (!to_visit.empty()) {
    const std::string anchor = to_visit.front();
    to_visit.pop_front();
    const LogRatio anchor_to_newest = ratio_to_newest_by_anchor.at(anchor);
    for (const AnchorRatio& link : list_links_to(anchor, ratios_by_link)) {
      // The link is the ratio of another anchor to this one.
      const LogRatio other_to_newest{.value = anchor_to_newest.value + link.ratio.value,
                                     .error = std::hypot(anchor_to_newest.error.value_or(0.0),
                                                         link.ratio.error.value_or(0.0))};

      const bool is_new = ratio_to_newest_by_anchor.emplace(link.of, other_to_newest).second;
      if (is_new) to_visit.push_back(link.of);
    }
  }

  ratio_to_newest_by_anchor.erase(newest);
  return ratio_to_newest_by_anchor;
}

std::string step_id(const MetricHistory& series, std::int64_t began) {
  constexpr unsigned bits_not_shown = 31;  // of the 63 bits of a text_id()
  // Steps at sessions that began in a whole second keep the id of earlier versions.
  constexpr std::int64_t milliseconds_per_second = 1000;
  const bool is_whole_second = began % milliseconds_per_second == 0;
  const std::int64_t time = is_whole_second ? began / milliseconds_per_second : began;
  const std::string key = fmt::format("{} {} {}", series.variant.id, time, series.metric.name);
  return fmt::format("{:08x}", static_cast<std::uint64_t>(text_id(key)) >> bits_not_shown);
}

namespace {

/// Finds the steps of a trend. The steps that may be due to rounding, or to the conversion to
/// another anchor, are left out.
stats::SeriesSteps find_steps_of_trend(const Trend& trend) {
  std::vector<stats::SeriesPoint> points;
  points.reserve(trend.observations.size());
  for (const CommitValue& commit : trend.observations) {
    const double error = commit.error.value_or(0.0);  // 0 stands for an unknown error; raised below
    points.push_back({.value = commit.value, .variance = error * error});
  }
  raise_small_variances(points);

  stats::SeriesSteps found = stats::find_steps(points, kConfidence95);
  drop_uncertain_steps(trend, found.steps);
  if (found.pending_first_point && !may_be_step(trend, *found.pending_first_point))
    found.pending_first_point.reset();
  return found;
}

/// The notes about steps of a series, by the time when the first session after the step began.
using NoteByBegan = std::map<std::int64_t, std::string>;

/// Returns the user's note about a step; null if there is none. New sessions may move a step a
/// little, so a note holds for all commits where it may be.
const std::string* find_note(const NoteByBegan& notes, const std::vector<CommitValue>& commits,
                             const stats::LevelStep& step) {
  const std::int64_t earliest = commits[step.earliest_first_point].began;
  const std::int64_t latest = commits[step.latest_first_point].began;
  const auto note = notes.lower_bound(earliest);
  return note != notes.end() && note->first <= latest ? &note->second : nullptr;
}

/// Returns the state of a step about which the user has written no note.
StepState choose_state_without_note(const std::vector<stats::LevelStep>& steps,
                                    std::size_t step_index, Better better) {
  if (!is_worse(steps[step_index].change, better)) return StepState::Better;
  if (is_cancelled_later(steps, step_index, better)) return StepState::CancelledLater;
  return StepState::Alarm;
}

/// Returns a step with its state. The user acknowledges a step by a note, which is returned, too.
KnownStep judge_step(const SteppedSeries& stepped, const std::vector<stats::LevelStep>& steps,
                     std::size_t step_index, const NoteByBegan& notes) {
  const auto& commits = stepped.trend.observations;
  const stats::LevelStep& step = steps[step_index];
  KnownStep judged{.step = step, .id = step_id(stepped.series, commits[step.first_point].began)};

  if (const std::string* note = find_note(notes, commits, step)) {
    judged.state = StepState::Acknowledged;
    judged.note = *note;
  } else {
    judged.state = choose_state_without_note(steps, step_index, stepped.series.metric.better);
  }
  return judged;
}

}  // namespace

// A step is a lasting change of a series. A user who has acknowledged a step has written a note
// about it, and gets no alarm any more.
Result<SteppedSeries> find_steps_and_notes(Loader& loader, MetricHistory series,
                                           ComparedWith against) {
  SteppedSeries stepped{.series = std::move(series)};
  stepped.trend = make_trend(stepped.series, against);

  const stats::SeriesSteps found = find_steps_of_trend(stepped.trend);
  stepped.may_last_commit_be_step = found.may_last_point_be_step;
  stepped.possible_step_at = found.pending_first_point;

  // Without steps, the database need not be asked for notes.
  if (found.steps.empty()) return stepped;
  const auto note_by_began =
      loader.read_acknowledgements(stepped.series.variant.id, stepped.series.metric.name);
  if (!note_by_began) return note_by_began.error();

  for (std::size_t i = 0; i < found.steps.size(); ++i)
    stepped.steps.push_back(judge_step(stepped, found.steps, i, *note_by_began));
  return stepped;
}

std::vector<FleetEffect> combine_by_title(std::span<const MetricHistory> all) {
  std::map<std::string, FleetEffect> by_title;
  for (const MetricHistory& series : all) add_machine(by_title[title_of(series)], series);
  std::vector<FleetEffect> effects;
  for (auto& [title, effect] : by_title) {
    std::vector<stats::Effect> effects_by_machine;
    for (const MachineEffect& machine : effect.machines) {
      const double variance = machine.error * machine.error;
      effects_by_machine.push_back({machine.ratio_logarithm, variance, machine.degrees});
    }
    const auto combined = stats::combine(effects_by_machine, kConfidence95);
    if (!combined) continue;
    effect.title = title;
    effect.combined = *combined;
    effects.push_back(std::move(effect));
  }
  return effects;
}

bool is_worse_than(const FleetEffect& effect, double percent, bool each) {
  const double limit = std::log1p(percent / 100.0);
  const auto is_interval_worse = [&](double low, double high) {
    if (effect.better == Better::Less) return low > limit;
    return effect.better == Better::More && high < -limit;
  };
  if (!each) return is_interval_worse(effect.combined.bounds.low, effect.combined.bounds.high);
  return std::ranges::any_of(effect.machines, [&](const auto& machine) {
    const double half_width = machine.half_width_95();
    return is_interval_worse(machine.ratio_logarithm - half_width,
                             machine.ratio_logarithm + half_width);
  });
}

}  // namespace lauka::history
