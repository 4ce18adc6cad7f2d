#include "history/alarms.h"

#include "core/foreign_text.h"
#include "history/packed.h"
#include "history/tell.h"
#include "report/format.h"
#include "report/table.h"
#include "report/width.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka::history {

namespace {

constexpr double kConfidence95 = 0.95;
constexpr double kSureOfLink = 3.6;  // standard errors: one in 3000 is above
constexpr double kRounding = 1e-9;   // a change below is the arithmetic's, where nothing varies

bool is_worse(double change, Better better) {
  return better == Better::Neither || (change > 0.0) == (better == Better::Less);
}

/// Whether the level, from this step on, is back where it was before it or better.
bool is_made_up_for(const std::vector<stats::Step>& steps, std::size_t at, Better better) {
  double change = steps[at].change;
  for (std::size_t later = at + 1; later < steps.size(); ++later) {
    change += steps[later].change;
    if (better != Better::Neither && !is_worse(change, better)) return true;
  }
  return false;
}

/// A session of few runs may take itself for surer than it is, and would look like a step: none
/// counts for surer than the typical one.
void hold_variances(std::vector<stats::SeriesPoint>& points) {
  std::vector<double> variances;
  variances.reserve(points.size());
  for (const stats::SeriesPoint& point : points) variances.push_back(point.variance);
  if (variances.empty()) return;
  const double typical = stats::median(stats::sorted(variances));
  for (stats::SeriesPoint& point : points) point.variance = std::max(point.variance, typical);
}

/// How sure the height of a step is where an anchor was replaced within its range: the error of the
/// link, which all points on one side share, so that no number of them makes it smaller.
double link_error_at(const std::vector<Observation>& commits, const stats::Step& step) {
  double error = 0.0;
  for (std::size_t i = std::max<std::size_t>(step.earliest, 1); i <= step.latest; ++i) {
    const double before = commits[i - 1].link_error;
    const double after = commits[i].link_error;
    if (before != after) error = std::max(error, std::hypot(before, after));
  }
  return error;
}

/// Takes away what is the link's error or rounding, and widens what is left by the former.
void allow_for_links(const Trend& trend, std::vector<stats::Step>& steps) {
  std::vector<stats::Step> kept;
  for (stats::Step step : steps) {
    const double error = link_error_at(trend.commits, step);
    const double level = trend.is_logarithm ? 1.0 : std::abs(trend.commits[step.at].value);
    if (std::abs(step.change) <= std::max(kRounding * level, kSureOfLink * error)) continue;
    step.bounds.low -= kNormal95 * error;
    step.bounds.high += kNormal95 * error;
    kept.push_back(step);
  }
  steps = std::move(kept);
}

}  // namespace

std::string step_change_text(const SteppedSeries& stepped, const stats::Step& step) {
  if (!stepped.trend.is_logarithm) {
    return (step.change > 0.0 ? "+" : "") +
           report::quantity(step.change, as_metric(stepped.series.metric));
  }
  stats::Change change{.change = std::expm1(step.change)};
  change.bounds = stats::ChangeBounds{std::expm1(step.bounds.low), std::expm1(step.bounds.high)};
  return report::delta_text(change);
}

std::string state_words(const KnownStep& step) {
  switch (step.state) {
    case StepState::Better:
      return ", better";
    case StepState::MadeUpFor:
      return ", made up for later";
    case StepState::Acknowledged:
      return ", acknowledged" + (step.note.empty() ? "" : ": " + one_line(step.note));
    case StepState::Alarm:
      break;
  }
  return {};
}

std::string step_id(const Series& series, std::int64_t began) {
  constexpr unsigned unused = 31;  // of 63 bits
  // Of a session without milliseconds it is what it was when they were not known.
  constexpr std::int64_t second = 1000;
  const std::string key =
      fmt::format("{} {} {}", series.variant.id, began % second == 0 ? began / second : began,
                  series.metric.name);
  return fmt::format("{:08x}", static_cast<std::uint64_t>(number_of(key)) >> unused);
}

Result<SteppedSeries> with_steps(Loader& loader, Series series, Against against) {
  SteppedSeries stepped{.series = std::move(series)};
  stepped.trend = trend_of(stepped.series, against);
  const auto& commits = stepped.trend.commits;
  std::vector<stats::SeriesPoint> points;
  points.reserve(commits.size());
  for (const Observation& one : commits)
    points.push_back({one.value, one.error.value_or(0.0) * one.error.value_or(0.0)});
  hold_variances(points);
  stats::SeriesSteps found = stats::find_steps(points, kConfidence95);
  allow_for_links(stepped.trend, found.steps);
  stepped.is_last_suspected = found.is_last_suspected;
  if (found.steps.empty()) return stepped;
  const auto notes = loader.acknowledged(stepped.series.variant.id, stepped.series.metric.name);
  if (!notes) return notes.error();
  const Better better = stepped.series.metric.better;
  for (std::size_t i = 0; i < found.steps.size(); ++i) {
    const stats::Step& step = found.steps[i];
    KnownStep known{.step = step, .id = step_id(stepped.series, commits[step.at].began)};
    const auto note = notes->lower_bound(commits[step.earliest].began);
    if (note != notes->end() && note->first <= commits[step.latest].began) {
      known.state = StepState::Acknowledged;
      known.note = note->second;
    } else if (better != Better::Neither && !is_worse(step.change, better)) {
      known.state = StepState::Better;
    } else if (is_made_up_for(found.steps, i, better)) {
      known.state = StepState::MadeUpFor;
    }
    stepped.steps.push_back(std::move(known));
  }
  return stepped;
}

std::string steps_text(const SteppedSeries& stepped, const report::Style& style) {
  const auto& commits = stepped.trend.commits;
  std::string text;
  for (const KnownStep& known : stepped.steps) {
    const stats::Step& step = known.step;
    std::string line = fmt::format("  {}  {} at {}{}", known.id, step_change_text(stepped, step),
                                   commit_name(commits[step.at]), state_words(known));
    if (step.earliest != step.latest)
      line += fmt::format(" (the commit is one of {} to {})", commit_name(commits[step.earliest]),
                          commit_name(commits[step.latest]));
    const report::Ink ink = known.state == StepState::Alarm ? report::Ink::Red : report::Ink::Plain;
    text += report::inked(style.ascii ? report::ascii_of(line) : line, ink, style.color) + "\n";
  }
  if (stepped.is_last_suspected && !commits.empty())
    text += fmt::format("  the last, {}, may be a step: a later one is to confirm it\n",
                        commit_name(commits.back()));
  if (text.empty()) return {};
  const std::string on = stepped.trend.against == Against::Nothing
                             ? std::string()
                             : fmt::format(" ({})", words_of(stepped.trend.against));
  return title_of(stepped.series) + on + "\n" +
         report::dim_note("  " + machine_line(stepped.series.variant), style) + text;
}

}  // namespace lauka::history
