#include "core/foreign_text.h"
#include "core/text.h"
#include "report/cells.h"
#include "report/format.h"
#include "report/lines.h"
#include "report/style.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// Where a gate's limit lies, as a change from the reference or from the bound.
double limit_of(const Condition& condition) {
  return condition.bound ? 0.0 : condition.limit_percent / 100.0;
}

std::string limit_text(const Condition& condition) {
  return condition.bound ? condition.bound_text : full_precision(condition.limit_percent) + "%";
}

/// "5% slower": a change in words, without its direction where it is 0.
std::string change_in_words(const Condition& condition, double percent) {
  const bool is_time =
      condition.metric == metric_name_of(Role::WallTime) || percentile_in(condition.metric);
  const bool more = percent > 0 || (percent == 0 && !condition.below);
  const std::string_view direction =
      is_time ? (more ? "slower" : "faster") : (more ? "higher" : "lower");
  if (percent == 0) return std::string(direction);
  return fmt::format("{}% {}", full_precision(std::fabs(percent)), direction);
}

/// What a pass and a fail say of the candidate.
struct Claims {
  std::string pass;
  std::string fail;
};

Claims claims_of(const Condition& condition) {
  if (condition.bound) {
    return condition.below
               ? Claims{"at least " + condition.bound_text, "less than " + condition.bound_text}
               : Claims{"at most " + condition.bound_text, "more than " + condition.bound_text};
  }
  const double percent = condition.limit_percent;
  const std::string change = change_in_words(condition, percent);
  if (percent == 0) return {"not " + change, change};
  // A limit on the other side of 0 asks for a gain.
  const bool asks_for_gain = (percent > 0) == condition.below;
  return asks_for_gain ? Claims{"at least " + change, "less than " + change}
                       : Claims{"at most " + change, "more than " + change};
}

/// A change from the limit's point of view: figures in the metric's unit where the gate has a
/// bound.
ChangeTexts figures_of(const stats::Change& change, const Condition& condition,
                       const Metric& metric) {
  if (!condition.bound || !change.change) return change_texts(change, limit_of(condition));
  const auto value = [&](double fraction) {
    return quantity((1 + fraction) * *condition.bound, metric, 4);
  };
  if (!change.bounds) return {value(*change.change)};
  return {value(*change.change), value(change.bounds->low), value(change.bounds->high)};
}

/// Whether the whole interval lies on one side of the limit: +1 above, -1 below, 0 neither.
int side_of(const stats::Change& change, const Condition& condition) {
  if (!change.bounds) return 0;
  const double limit = limit_of(condition);
  return change.bounds->low > limit ? 1 : change.bounds->high < limit ? -1 : 0;
}

/// "+4.2%, at most +4.9%": of an answer the `bound` that its one-sided decision rests on; without
/// that, the end of the interval where the interval bears the answer out; else both ends.
std::string measured(stats::Change change, std::optional<double> bound,
                     const gate::Verdict& verdict, const Metric& metric) {
  if (!change.change) return "from 0, so there is no percentage";
  const bool claims_above = (verdict.answer == gate::Answer::Fail) != verdict.condition.below;
  // A test may decide although the estimate of the other, which is what is shown, is beyond it.
  const bool fits = bound && (claims_above ? *bound <= *change.change : *bound >= *change.change);
  if (fits) {
    if (!change.bounds) change.bounds = stats::ChangeBounds{*bound, *bound};
    (claims_above ? change.bounds->low : change.bounds->high) = *bound;
  }
  const ChangeTexts figures = figures_of(change, verdict.condition, metric);
  if (!change.bounds) return figures.change;
  const bool bears_out = fits || side_of(change, verdict.condition) == (claims_above ? 1 : -1);
  if (verdict.answer == gate::Answer::Inconclusive || !bears_out)
    return fmt::format("{}, between {} and {}", figures.change, figures.low, figures.high);
  return figures.change +
         (claims_above ? ", at least " + figures.low : ", at most " + figures.high);
}

/// "15 of about 250 planned rounds", which a pace that may change makes a rough number.
std::string rounds_of(const gate::Verdict& verdict) {
  if (verdict.planned_rounds <= verdict.rounds)
    return fmt::format("{} round{}", verdict.rounds, verdict.rounds == 1 ? "" : "s");
  return fmt::format("{} of about {} planned rounds", verdict.rounds,
                     full_precision(std::stod(
                         fmt::format("{:.2g}", static_cast<double>(verdict.planned_rounds)))));
}

/// ": slow runs rarer than 1 in 20 would not have shown": what an early pass may have missed.
std::string not_shown(const gate::Verdict& verdict, const Metric& metric, double confidence) {
  if (verdict.answer != gate::Answer::Pass || verdict.planned_rounds <= verdict.rounds) return "";
  const bool is_slowness = metric.unit == Unit::Seconds && !verdict.condition.below;
  return fmt::format(": {} rarer than 1 in {:.0f} would not have shown",
                     is_slowness ? "slow runs" : "unusual runs",
                     1.0 / gate::rarest_shown(verdict.rounds, confidence));
}

/// Whether the mean is what has to be told first: it alone decided, or it tells another story.
bool is_about_mean(const gate::Verdict& verdict) {
  return verdict.delta.basis == stats::Basis::Typical &&
         (verdict.decided_by == gate::DecidedBy::Mean || verdict.delta.mean_differs);
}

/// "about 3 times as many rounds would decide".
std::string more_rounds(double times) {
  if (times < 1.05) return "a few more rounds would decide";
  const bool small = std::round(times * 10) < 20;
  return fmt::format("about {:.{}f} times as many rounds would decide", times, small ? 1 : 0);
}

/// On a loaded machine CPU time is up to 75 times less noisy than wall time (docs/statistics.md).
/// Below twice as good it is not worth a word.
std::string calmer_metric(const Results& results, const gate::Verdict& verdict) {
  if (results.metrics[verdict.metric].role != Role::WallTime || !verdict.delta.half_width())
    return "";
  const MetricResult* cpu = row_of(results, verdict.candidate, Role::CpuTime);
  if (cpu == nullptr || !cpu->delta) return "";
  const double half_width = cpu->delta->half_width().value_or(0.0);
  if (half_width <= 0) return "";
  const double times = *verdict.delta.half_width() / half_width;
  if (times < 2) return "";
  return fmt::format("gate on cpu_time, which is {:.0f} times less noisy here", times);
}

std::string advice_of(const Results& results, const gate::Verdict& verdict) {
  std::string advice = verdict.times_as_many ? more_rounds(*verdict.times_as_many) : "";
  const std::string calmer = calmer_metric(results, verdict);
  if (!advice.empty() && !calmer.empty()) advice += ", or ";
  advice += calmer;
  return advice.empty() ? "" : "; " + advice;
}

/// What the answer rests on, in parentheses.
std::string grounds_of(const gate::Verdict& verdict, const Metric& metric, double confidence) {
  const gate::DecisionBounds& bounds = verdict.bounds;
  const bool shows_mean = verdict.delta.basis == stats::Basis::Mean;
  const std::string typical = measured(
      verdict.delta, shows_mean && bounds.mean ? bounds.mean : bounds.ranks, verdict, metric);
  const std::string rounds = rounds_of(verdict) + not_shown(verdict, metric, confidence);
  if (!is_about_mean(verdict)) return fmt::format("(measured {}; {})", typical, rounds);
  return fmt::format("(measured in the mean {}; in the typical round {}; {})",
                     measured(verdict.delta.mean, bounds.mean, verdict, metric), typical, rounds);
}

/// The line of a gate after its condition and answer, to be read aloud.
std::string reason_of(const Results& results, const gate::Verdict& verdict) {
  if (verdict.too_small)
    return fmt::format("{} of {} is below what can be measured here",
                       spoken(verdict.condition.metric),
                       cited(results.commands[*verdict.too_small].name));
  if (verdict.rounds == 0) return "no round measured both commands";
  const Metric& metric = results.metrics[verdict.metric];
  const MetricResult* row = row_of(results.commands[verdict.candidate], verdict.metric);
  if (metric.percentile && !verdict.delta.bounds && row != nullptr &&
      verdict.rounds < row->fewest_runs)
    return fmt::format("{} are too few; it needs {}, as --min-runs {} gives them",
                       plural(verdict.rounds, "run"), row->fewest_runs, row->fewest_runs);
  const Claims claims = claims_of(verdict.condition);
  const std::string grounds = grounds_of(verdict, metric, results.confidence);
  switch (verdict.answer) {
    case gate::Answer::Pass:
      return claims.pass + ", with confidence " + grounds;
    case gate::Answer::Fail:
      return claims.fail + ", with confidence " + grounds;
    case gate::Answer::Inconclusive:
      break;
  }
  const std::string advice = advice_of(results, verdict);
  const int side = is_about_mean(verdict) ? 0 : side_of(verdict.delta, verdict.condition);
  if (side == 0) return fmt::format("not clear whether {} {}{}", claims.fail, grounds, advice);
  const bool is_failing = (side > 0) != verdict.condition.below;
  return fmt::format("probably {}, but not with the confidence that a gate needs {}{}",
                     is_failing ? claims.fail : claims.pass, grounds, advice);
}

}  // namespace

VerdictWord verdict_word(gate::Answer answer) {
  switch (answer) {
    case gate::Answer::Pass:
      return {"pass", Ink::Green};
    case gate::Answer::Fail:
      return {"fail", Ink::Red};
    case gate::Answer::Inconclusive:
      break;
  }
  return {"inconclusive", Ink::Bold};
}

std::string gate_figures(const Results& results, const gate::Verdict& verdict) {
  const stats::Change& change = is_about_mean(verdict) ? verdict.delta.mean : verdict.delta;
  if (verdict.rounds == 0 || verdict.too_small || !change.change) return "";
  const ChangeTexts figures =
      figures_of(change, verdict.condition, results.metrics[verdict.metric]);
  return fmt::format("{}, limit {}", figures.change, limit_text(verdict.condition));
}

std::string condition_text(const Condition& condition) {
  return one_line(fmt::format("{} {} {}", condition.metric, condition.below ? '<' : '>',
                              limit_text(condition)));
}

std::string gate_lines(const Results& results, bool color) {
  const bool several = results.commands.size() > (results.reference.baseline ? 1 : 2);
  std::string text;
  for (const gate::Verdict& verdict : results.verdicts) {
    if (several) text += one_line(results.commands[verdict.candidate].name) + ": ";
    const VerdictWord word = verdict_word(verdict.answer);
    text += fmt::format("{}: {}: {}\n", condition_text(verdict.condition),
                        inked(word.text, word.ink, color), reason_of(results, verdict));
  }
  return text;
}

}  // namespace lauka::report
