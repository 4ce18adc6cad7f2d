#include "report/lines.h"

#include "core/metric.h"
#include "core/numbers.h"
#include "core/text.h"
#include "os/signals.h"
#include "report/format.h"
#include "report/function_lines.h"
#include "report/layout_lines.h"
#include "results/analyse.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// Returns the candidate's name if others have gates or explanations, too; else empty.
std::string name_if_several(const Results& results, std::size_t candidate) {
  const Reference& reference = results.session.reference;
  const bool is_about_each = !reference.index_in_session(candidate) || reference.is_for_tables_only;
  const bool several = results.commands.size() > (is_about_each ? 1 : 2);
  return several ? one_line(results.session.commands[candidate].name) : "";
}

std::string name_prefix_if_several(const Results& results, std::size_t candidate) {
  const std::string name = name_if_several(results, candidate);
  return name.empty() ? "" : name + ": ";
}

/// Returns "5%" or "250ms".
std::string format_limit(const GateLimit& limit) {
  if (limit.needs_reference()) return exact_decimal(limit.number).append(row_of(limit.kind).suffix);
  return limit.text.empty() ? quantity(limit.number, limit.unit) : limit.text;
}

/// Returns "+5%" or "250ms".
std::string format_signed_limit(const GateLimit& limit) {
  return (limit.needs_reference() && limit.number >= 0.0 ? "+" : "") + format_limit(limit);
}

/// Returns the reason of an acceptance and its last day.
std::string describe_acceptance(const Acceptance& acceptance) {
  return fmt::format("{}, until {}", one_line(acceptance.reason), acceptance.last_day);
}

/// Returns "5% slower" for a condition on a time and the change 5 in the unit of its limit;
/// "slower" for 0.
std::string change_in_words(const Condition& condition, double change) {
  const bool is_time =
      condition.metric == metric_name_of(Role::WallTime) || percentile_in(condition.metric);
  const bool more = change > 0 || (change == 0 && !condition.fails_below_limit);
  const std::string_view direction =
      is_time ? (more ? "slower" : "faster") : (more ? "higher" : "lower");
  if (change == 0) return std::string(direction);
  return fmt::format("{}{} {}", exact_decimal(std::fabs(change)),
                     row_of(condition.limit.kind).suffix, direction);
}

/// What a gate claims of the change if it passes ("at most 5% slower"), and if it fails.
struct Claims {
  std::string pass;
  std::string fail;
};

/// Returns the claims with a limit of 0%, which have only the direction of the change: "slower",
/// "not slower".
Claims make_claims_of_direction(const Condition& condition) {
  const std::string worse = change_in_words(condition, 0.0);
  if (!condition.is_for_keeping()) return {.pass = "not " + worse, .fail = worse};

  // A candidate is kept if it goes in the opposite direction.
  Condition opposite = condition;
  opposite.fails_below_limit = !condition.fails_below_limit;
  const std::string better = change_in_words(opposite, 0.0);
  return {.pass = better, .fail = "not " + better};
}

/// Returns what a condition claims of its metric if it passes and if it fails. A condition either
/// fails a gate ("wall_time > 5%") or keeps a candidate ("keep if wall_time < -1%"), in both cases
/// only beyond its limit. At the limit itself, a gate therefore passes ("at most 5% slower"), but a
/// candidate is not kept ("at most 1% faster").
Claims make_claims(const Condition& condition) {
  const double number = condition.limit.number;
  const bool limits_change = condition.limit.needs_reference();
  if (limits_change && number == 0) return make_claims_of_direction(condition);

  const std::string limit_text =
      limits_change ? change_in_words(condition, number) : format_limit(condition.limit);

  // A change of -5% is called "5% faster", so a change below it is "more than 5% faster".
  const bool is_named_without_sign = limits_change && number < 0;
  const bool passes_if_larger =
      is_named_without_sign ? !condition.fails_below_limit : condition.fails_below_limit;

  if (condition.is_for_keeping()) {
    if (passes_if_larger)
      return {.pass = "more than " + limit_text, .fail = "at most " + limit_text};
    return {.pass = "less than " + limit_text, .fail = "at least " + limit_text};
  }
  if (passes_if_larger)
    return {.pass = "at least " + limit_text, .fail = "less than " + limit_text};
  return {.pass = "at most " + limit_text, .fail = "more than " + limit_text};
}

/// Returns what the verdict's answer, pass or fail, claims.
std::string choose_claim(const gate::Verdict& verdict) {
  const Condition& condition = verdict.condition;
  const bool is_worse = verdict.decision() == gate::Decision::Worse;
  if (is_worse && condition.limit.needs_reference()) return change_in_words(condition, 0.0);
  const Claims claims = make_claims(condition);
  return verdict.answer == gate::Answer::Pass ? claims.pass : claims.fail;
}

/// Returns a value without noise. A count was whole before it was divided by a gate's limit.
std::string format_exact_value(double value, const Metric& metric) {
  const double rounded = std::round(value);
  const bool is_whole = stats::is_rounding_error(value - rounded, value);
  return with_uncertainty(exact_quantity(is_whole ? rounded : value, metric), {.is_exact = true});
}

/// Returns `notation` with so many more decimals that a reader sees on which side of the limit an
/// interval ends: until none of its ends looks like the limit.
Notation add_decimals(Notation notation, const stats::IntervalEnds& ends, double limit) {
  const auto looks_like_limit = [&](double end) {
    return end != limit && notation.text(end) == notation.text(limit);
  };
  constexpr int max_more_decimals = 6;
  for (int more = 0; more < max_more_decimals; ++more)
    if (looks_like_limit(ends.low) || looks_like_limit(ends.high)) ++notation.decimals;
  return notation;
}

/// Returns the numbers for the line of a gate: changes in percent if its limit is a change
/// ("+4.2%"), and values in the metric's unit if its limit is a value ("250ms").
ChangeTexts make_figures(const stats::Change& change, const Condition& condition,
                         const Metric& metric) {
  if (condition.limit.needs_reference() || !change.change)
    return change_texts(change, condition.limit.fraction());

  // With a value as its limit, a gate treats the limit as the reference, so `change` is the change
  // from the limit.
  const double limit = condition.limit.number;
  const double value = (1 + *change.change) * limit;
  if (change.is_exact) return {format_exact_value(value, metric)};
  if (!change.bounds) return {quantity(value, metric)};

  const stats::IntervalEnds ends{.low = (1 + change.bounds->low) * limit,
                                 .high = (1 + change.bounds->high) * limit};
  const double half_width = std::fabs(ends.high - ends.low) / 2.0;
  const Notation notation = add_decimals(notation_of(value, half_width, metric), ends, limit);
  return {notation.text(value), notation.text(ends.low), notation.text(ends.high)};
}

/// Returns 1 if the whole interval is above the limit, -1 if it is below, and 0 if it contains the
/// limit or is unknown.
int find_side_of_limit(const stats::Change& change, const Condition& condition) {
  if (!change.bounds) return 0;
  const double limit = condition.limit.fraction();
  return change.bounds->low > limit ? 1 : change.bounds->high < limit ? -1 : 0;
}

/// True if the verdict claims a change above the limit. A gate that fails above its limit does if
/// it fails, and one that fails below its limit does if it passes.
bool claims_change_above_limit(const gate::Verdict& verdict) {
  return (verdict.answer == gate::Answer::Fail) != verdict.condition.fails_below_limit;
}

/// True if the whole interval is on the side of the limit that the verdict claims.
bool is_on_claimed_side(const stats::Change& change, const gate::Verdict& verdict) {
  return find_side_of_limit(change, verdict.condition) ==
         (claims_change_above_limit(verdict) ? 1 : -1);
}

/// True if `bound` can be the end of the change's interval that is nearer to the limit. A bound
/// above the limit must be the lower end. It may come from another test than `change`, and then lie
/// on the wrong side of `change`, so that it is no end.
bool is_usable_end(std::optional<double> bound, double change, const gate::Verdict& verdict) {
  return bound && (claims_change_above_limit(verdict) ? *bound <= change : *bound >= change);
}

/// Returns the change with `bound` as the end of its interval that is nearer to the limit.
stats::Change with_end(stats::Change change, double bound, const gate::Verdict& verdict) {
  if (!change.bounds) change.bounds = stats::IntervalEnds{bound, bound};
  (claims_change_above_limit(verdict) ? change.bounds->low : change.bounds->high) = bound;
  return change;
}

/// Returns the change with the evidence for the answer: "+4.2%, at most +4.9%". `bound`: end of the
/// interval with which the gate was decided, if it is known.
std::string describe_measured_change(stats::Change change, std::optional<double> bound,
                                     const gate::Verdict& verdict, const Metric& metric) {
  if (!change.change)
    return "a change that has no percentage, because the reference has values of 0 or below";
  if (change.is_exact) return make_figures(change, verdict.condition, metric).change;

  const bool is_bound_shown = is_usable_end(bound, *change.change, verdict);
  if (is_bound_shown) change = with_end(change, *bound, verdict);
  const ChangeTexts figures = make_figures(change, verdict.condition, metric);
  if (!change.bounds) return figures.change;

  // An answer is supported by the end that is nearer to the limit: "+4.2%, at least +3.1%". Without
  // such support, both ends are shown.
  const bool supports_answer = is_bound_shown || is_on_claimed_side(change, verdict);
  if (verdict.answer == gate::Answer::Inconclusive || !supports_answer)
    return fmt::format("{}, between {} and {}", figures.change, figures.low, figures.high);
  if (claims_change_above_limit(verdict)) return figures.change + ", at least " + figures.low;
  return figures.change + ", at most " + figures.high;
}

/// Returns the rounds that a verdict is based on: "57 rounds". If the table is based on more
/// rounds, says so, because its change is another one.
std::string describe_rounds(const Results& results, const gate::Verdict& verdict) {
  const Metric& metric = results.session.metrics[verdict.metric];
  const std::string_view kind = round_kind_word(metric.kind, metric.role == Role::SampledTime);
  const std::string round = fmt::format("{}{}round", kind, kind.empty() ? "" : " ");
  const MetricResult* row = metric_result_of(results.commands[verdict.candidate], verdict.metric);
  const bool is_decided = verdict.answer != gate::Answer::Inconclusive;
  if (is_decided && row != nullptr && row->runs > verdict.rounds)
    return fmt::format("decided after {} of the {} in the table", verdict.rounds,
                       plural(row->runs, round));
  if (verdict.estimated_rounds_without_gates <= verdict.rounds)
    return plural(verdict.rounds, round);
  return fmt::format("{} of about {} planned rounds", verdict.rounds,
                     exact_decimal(std::stod(fmt::format(
                         "{:.2g}", static_cast<double>(verdict.estimated_rounds_without_gates)))));
}

std::string describe_blind_spot(std::size_t runs, bool is_slowness, double confidence) {
  return fmt::format("{} that happen less than once in {:.0f} could have been missed",
                     is_slowness ? "slow runs" : "unusual runs",
                     1.0 / gate::detectable_slow_share(runs, confidence));
}

/// Returns what a pass after fewer rounds than planned could have missed; else empty.
std::string describe_blind_spot(const gate::Verdict& verdict, const Metric& metric,
                                double confidence) {
  if (verdict.answer != gate::Answer::Pass ||
      verdict.estimated_rounds_without_gates <= verdict.rounds)
    return "";
  const bool is_slowness = metric.unit == Unit::Seconds && !verdict.condition.fails_below_limit;
  return ", so " + describe_blind_spot(verdict.rounds, is_slowness, confidence);
}

/// True if the line must begin with the mean: the mean alone decided, or clearly differs from the
/// typical round.
bool is_about_mean(const gate::Verdict& verdict) {
  return !verdict.delta.is_exact && verdict.delta.basis == stats::Basis::Typical &&
         (verdict.decided_by == gate::DecidedBy::Mean || verdict.delta.mean_and_typical_differ);
}

/// Returns the change that a verdict is about.
const stats::Change& gated_change(const gate::Verdict& verdict) {
  return is_about_mean(verdict) ? verdict.delta.change_of_mean : verdict.delta;
}

std::string advise_more_rounds(double factor) {
  return fmt::format("about {:.0f} times as many rounds would probably be enough to decide",
                     std::max(std::ceil(factor), 2.0));
}

/// True if a ratio of noise (of two half widths) is small, or may differ from 1 by chance.
bool is_little_noisier(double noise_ratio, std::size_t rounds) {
  // Standard error of the logarithm of a ratio of two half-widths, each with a relative error of
  // about 1 / sqrt(2 (n - 1)).
  const double error = 1.0 / std::sqrt(static_cast<double>(std::max<std::size_t>(rounds, 2)) - 1.0);
  constexpr double sure = 2.58;  // normal quantile of 99.5%, for a two-sided level of 99%
  return noise_ratio < 2 || std::log(noise_ratio) < sure * error;
}

/// Returns advice to decide on CPU time if CPU time is clearly less noisy than wall time; else
/// empty.
std::string advise_calmer_metric(const Results& results, const gate::Verdict& verdict) {
  if (results.session.metrics[verdict.metric].role != Role::WallTime || !verdict.delta.half_width())
    return "";
  const MetricResult* cpu = metric_result_of(results, verdict.candidate, Role::CpuTime);
  if (cpu == nullptr || !cpu->delta) return "";
  const double half_width = cpu->delta->half_width().value_or(0.0);
  if (half_width <= 0) return "";
  const double noise_ratio = *verdict.delta.half_width() / half_width;
  if (is_little_noisier(noise_ratio, verdict.rounds)) return "";

  // All candidates of a series have the same conditions.
  const std::string_view where = results.session.series ? " (in a new series)" : "";
  return fmt::format("{} on cpu_time{}, which is {:.0f} times less noisy here",
                     verdict.condition.is_for_keeping() ? "decide" : "gate", where, noise_ratio);
}

std::string make_advice(const Results& results, const gate::Verdict& verdict) {
  if (verdict.is_given_up)
    return "; lauka ended early, because fewer than one in ten such sessions would still keep the "
           "candidate";
  if (verdict.layouts_to_decide) return "; " + more_layouts_advice(*verdict.layouts_to_decide);
  const std::string more =
      verdict.rounds_factor ? "; " + advise_more_rounds(*verdict.rounds_factor) : "";
  const std::string calmer = advise_calmer_metric(results, verdict);
  return more + (calmer.empty() ? "" : (more.empty() ? "; " : ", or ") + calmer);
}

/// Returns the confidence of an answer in percent. A candidate of a series is kept at a level of
/// its own.
double confidence_percent_of(const Results& results, const gate::Verdict& verdict) {
  const bool is_kept = verdict.decision() == gate::Decision::Kept;
  const double error = is_kept && results.session.series ? results.session.series->level
                                                         : 1.0 - results.session.confidence;
  return 100.0 * (1.0 - error);
}

std::string describe_grounds(const Results& results, const gate::Verdict& verdict) {
  const Metric& metric = results.session.metrics[verdict.metric];
  const gate::DecisionBounds& bounds = verdict.bounds;
  const bool shows_mean =
      verdict.delta.basis == stats::Basis::Mean || verdict.delta.basis == stats::Basis::Layouts;
  const std::string typical = describe_measured_change(
      verdict.delta, shows_mean && bounds.mean ? bounds.mean : bounds.ranks, verdict, metric);
  const std::string rounds = describe_rounds(results, verdict) +
                             describe_blind_spot(verdict, metric, results.session.confidence);
  if (!is_about_mean(verdict)) return fmt::format("measured {}; {}", typical, rounds);
  return fmt::format(
      "measured {} on average, and {} in the typical round; {}",
      describe_measured_change(verdict.delta.change_of_mean, bounds.mean, verdict, metric), typical,
      rounds);
}

std::string describe_failures(const Endings& endings, RoundKind kind, const Command& command) {
  const std::string whose = " of " + cited(command.name);
  if (endings.runs_with_ending == 0 || !endings.failed_run_groups.empty())
    return failures_text(endings, whose);
  return fmt::format("none of {}{}", plural(endings.runs_with_ending, run_of_kind(kind)), whose);
}

/// Returns the failures of both commands in runs of the kind that gives the gate's metric.
std::string describe_failures_of_both(const Results& results, const gate::Verdict& verdict) {
  const RoundKind kind = results.session.metrics[verdict.metric].kind;
  const Endings own = results.commands[verdict.candidate].endings.of_kind(kind);
  const Endings other = verdict.condition.limit.needs_reference()
                            ? results.endings_of_reference(verdict.candidate).of_kind(kind)
                            : Endings();
  if (own.failed_run_groups.empty() && other.failed_run_groups.empty()) return "";
  std::string text;
  for (const std::string& line :
       {describe_failures(own, kind, results.session.commands[verdict.candidate]),
        describe_failures(other, kind, results.reference_of(verdict.candidate))})
    if (!line.empty()) text += (text.empty() ? "; " : ", ") + line;
  return text;
}

/// Returns the cited names of the commands that a gate's obstacle is about: "'old' or 'new'".
std::string list_obstructed_commands(const Results& results, const gate::Verdict& verdict,
                                     std::string_view last_word) {
  std::vector<std::string> names;
  const gate::Side side = verdict.hindrance.side;
  if (side != gate::Side::Candidate && verdict.condition.limit.needs_reference())
    names.push_back(cited(results.reference_of(verdict.candidate).name));
  if (side != gate::Side::Reference)
    names.push_back(cited(results.session.commands[verdict.candidate].name));
  return listed(names, last_word);
}

constexpr std::string_view kHintOnMissingFunction =
    "the function may be inlined or have another name there (--functions lists the names)";

std::string describe_lack_of_success(const Results& results, const gate::Verdict& verdict) {
  // A gate without a reference is about one command, and then "one command" would be misleading.
  const bool is_about_one_of_two =
      verdict.condition.limit.needs_reference() && verdict.hindrance.side != gate::Side::Both;
  // The commands need no names here, because the line goes on with their failures.
  return fmt::format("no {}{} succeeded", run_words(results.session.metrics[verdict.metric]),
                     is_about_one_of_two ? " of one command" : "");
}

std::string describe_lack_of_values(const Results& results, const gate::Verdict& verdict) {
  return fmt::format("no {} of {} gave a value for this metric",
                     run_words(results.session.metrics[verdict.metric]),
                     list_obstructed_commands(results, verdict, "or"));
}

std::string describe_too_small_values(const Results& results, const gate::Verdict& verdict) {
  return fmt::format("{} of {} is below what can be measured here",
                     metric_in_words(verdict.condition.metric),
                     list_obstructed_commands(results, verdict, "and"));
}

std::string describe_missing_function(const Results& results, const gate::Verdict& verdict) {
  return fmt::format(
      "no {} of {} was in a function of this name; {}",
      results.session.metrics[verdict.metric].role == Role::SampledTime ? "sample" : "run",
      list_obstructed_commands(results, verdict, "or"), kHintOnMissingFunction);
}

std::string describe_missing_callers(const Results& results, const gate::Verdict& verdict) {
  return fmt::format(
      "the callers of much of the sampled time of {} are not known, so a total time would be "
      "incomplete; compile with -fno-omit-frame-pointer, and measure with --call-graph fp",
      list_obstructed_commands(results, verdict, "and"));
}

std::string describe_cut(const Results& results, const gate::Verdict& verdict) {
  return verdict.rounds == 0
             ? std::string("the session was cut short before the first round")
             : fmt::format("the session was cut short after {}", describe_rounds(results, verdict));
}

/// The words for an obstacle: in a word or two for a cell, and in a main clause for a line.
struct ObstacleWords {
  std::string_view short_reason{};
  std::string_view clause{};
  /// Makes the clause from the verdict if `clause` is empty.
  std::string (*make_clause)(const Results& results, const gate::Verdict& verdict) = nullptr;
};

/// Returns the words for an obstacle; empty ones for None. A clause that depends on the results is
/// made by a function.
ObstacleWords words_for(gate::Obstacle obstacle) {
  switch (obstacle) {
    case gate::Obstacle::NoSuccess:
      return {.short_reason = "no run succeeded", .make_clause = describe_lack_of_success};
    case gate::Obstacle::FailureRates:
      return {.short_reason = "failure rates differ",
              .clause = "the commands failed at different rates"};
    case gate::Obstacle::NoValue:
      return {.short_reason = "no value", .make_clause = describe_lack_of_values};
    case gate::Obstacle::NoCommonRound:
      return {.short_reason = "no common round", .clause = "no round measured both commands"};
    case gate::Obstacle::UpperBounds:
      return {.short_reason = "too small", .make_clause = describe_too_small_values};
    case gate::Obstacle::NoPercentage:
      return {.short_reason = "values below 0",
              .clause = "the metric has values below 0, so a change in percent is not defined"};
    case gate::Obstacle::FewLayouts:
      return {.short_reason = "too few layouts", .clause = "too few layouts ran without failures"};
    case gate::Obstacle::NoFunction:
      return {.short_reason = "no such function", .make_clause = describe_missing_function};
    case gate::Obstacle::NoCallers:
      return {.short_reason = "no callers", .make_clause = describe_missing_callers};
    case gate::Obstacle::NoSamples:
      return {.short_reason = "no samples", .clause = "no sample of this event was taken"};
    case gate::Obstacle::OtherSettings:
      return {
          .short_reason = "other settings",
          .clause = "the two sides were measured with different settings, and cannot be compared"};
    case gate::Obstacle::SameRuns:
      return {.short_reason = "same runs", .clause = "both sides are the same runs of one session"};
    case gate::Obstacle::CutShort:
      return {.short_reason = "cut short", .make_clause = describe_cut};
    case gate::Obstacle::NotRecorded:
      return {.short_reason = "not recorded",
              .clause = "the decision is not in the file of the series"};
    case gate::Obstacle::None:
      break;
  }
  return {};
}

/// Returns why a gate could not decide, in a main clause; empty if it has decided, or if the values
/// were only too noisy.
std::string describe_obstacle(const Results& results, const gate::Verdict& verdict) {
  const ObstacleWords words = words_for(verdict.hindrance.obstacle);
  return words.make_clause != nullptr ? words.make_clause(results, verdict)
                                      : std::string(words.clause);
}

/// Returns "; jobs: 1 for 'old', 2 for 'new'" for each difference that an obstacle has.
std::string describe_differences(const Results& results, const gate::Verdict& verdict) {
  std::string text;
  for (const SettingDifference& difference : verdict.hindrance.differences)
    text += fmt::format(
        "; {}: {} for {}, {} for {}", row_of(difference.kind).title, difference.reference_value,
        cited(results.reference_of(verdict.candidate).name), difference.candidate_value,
        cited(results.session.commands[verdict.candidate].name));
  return text;
}

/// Returns how many runs a gate on a percentile needs, if it had fewer; else empty.
std::string describe_missing_runs(const Results& results, const gate::Verdict& verdict) {
  const Metric& metric = results.session.metrics[verdict.metric];
  const MetricResult* row = metric_result_of(results.commands[verdict.candidate], verdict.metric);
  const bool lacks_interval = metric.percentile && !verdict.delta.bounds && row != nullptr;
  if (!lacks_interval || verdict.rounds >= row->runs_needed_for_percentile) return "";
  return fmt::format("{0} are too few for this percentile, which needs {1}; use --min-runs {1}",
                     plural(verdict.rounds, "run"), row->runs_needed_for_percentile);
}

/// Returns what was measured for a gate that could not decide, and advice.
std::string describe_indecision(const Results& results, const gate::Verdict& verdict) {
  const std::string measurements = describe_grounds(results, verdict);
  const std::string advice = make_advice(results, verdict);

  // An undecided gate may have an interval that is all above or all below the limit, because the
  // gate's test is stricter than the interval. Then the answer is at least probable. The interval
  // is that of the typical round, so it says nothing if the gate is about the mean.
  const int side =
      is_about_mean(verdict) ? 0 : find_side_of_limit(verdict.delta, verdict.condition);
  if (side == 0) return measurements + advice;

  const Claims claims = make_claims(verdict.condition);
  const bool is_above_limit = side > 0;
  const bool is_failing = is_above_limit != verdict.condition.fails_below_limit;
  return fmt::format("probably {}, but not with the confidence that {} needs ({}){}",
                     is_failing ? claims.fail : claims.pass,
                     verdict.condition.is_for_keeping() ? "keeping" : "a gate", measurements,
                     advice);
}

/// Returns why a gate has its answer: what made it impossible to decide, or the claim that passed
/// or failed with the numbers that it rests on.
std::string describe_reason(const Results& results, const gate::Verdict& verdict) {
  if (std::string text = describe_obstacle(results, verdict); !text.empty())
    return text + describe_differences(results, verdict);
  if (verdict.rounds == 0) return "no round measured both commands";

  if (std::string text = describe_missing_runs(results, verdict); !text.empty()) return text;
  if (verdict.answer == gate::Answer::Inconclusive) return describe_indecision(results, verdict);

  return fmt::format("{} with {:g}% confidence ({})", choose_claim(verdict),
                     confidence_percent_of(results, verdict), describe_grounds(results, verdict));
}

/// Returns "accepted: measured +3.1%, and at most +5% is accepted (new parser, until 2027-03-01)".
std::string describe_accepted_change(const Results& results, const gate::Verdict& verdict) {
  const Condition& condition = verdict.condition;
  const Metric& metric = results.session.metrics[verdict.metric];
  return fmt::format("accepted: measured {}, and at {} {} is accepted ({})",
                     make_figures(gated_change(verdict), condition, metric).change,
                     condition.fails_below_limit ? "least" : "most",
                     format_signed_limit(condition.limit),
                     describe_acceptance(*condition.acceptance));
}

/// Returns what a verdict says after its condition and answer.
std::string make_statement(const Results& results, const gate::Verdict& verdict) {
  switch (gate::acceptance_use_of(verdict)) {
    case gate::AcceptanceUse::Used:
      return describe_accepted_change(results, verdict);
    case gate::AcceptanceUse::Exceeded:
    case gate::AcceptanceUse::Undecided:
      return fmt::format("{}; at {} {} is accepted ({})", describe_reason(results, verdict),
                         verdict.condition.fails_below_limit ? "least" : "most",
                         format_signed_limit(verdict.condition.limit),
                         describe_acceptance(*verdict.condition.acceptance));
    case gate::AcceptanceUse::None:
    case gate::AcceptanceUse::Unneeded:
    case gate::AcceptanceUse::Expired:
      break;
  }
  return describe_reason(results, verdict);
}

/// Returns a line about an acceptance that has expired or is no longer needed; else empty.
std::string make_stale_acceptance_line(const gate::Verdict& verdict) {
  const gate::AcceptanceUse use = gate::acceptance_use_of(verdict);
  if (use == gate::AcceptanceUse::Expired)
    return fmt::format(
        "  note: {} ({}) expired on {}, so the gate's own limit applies again; remove the entry\n",
        verdict.condition.acceptance->entry, one_line(verdict.condition.acceptance->reason),
        verdict.condition.acceptance->last_day);
  if (use == gate::AcceptanceUse::Unneeded)
    return fmt::format(
        "  note: {} ({}) is no longer needed, because the whole interval is within the gate's own "
        "limit of {}; remove the entry\n",
        verdict.condition.acceptance->entry, one_line(verdict.condition.acceptance->reason),
        format_limit(with_own_limit(verdict.condition).limit));
  return "";
}

std::string format_half_width(double fraction) {
  const double percent = 100 * fraction;
  const double magnitude = percent > 0 ? std::floor(std::log10(percent)) : 0.0;
  return fmt::format("±{:.{}f}%", percent, std::clamp(2 - static_cast<int>(magnitude), 0, 9));
}

std::string_view explain_missed_precision(PrecisionEnd end) {
  switch (end) {
    case PrecisionEnd::MaxRuns:
      return "--max-runs was reached";
    case PrecisionEnd::Duration:
      return "the --duration of each command was used up";
    case PrecisionEnd::HooksPreventedRuns:
      return "in sequential order, lauka runs no command a second time; use --order random";
    case PrecisionEnd::LostInGateRounds:
      return "the later rounds, which the gates needed, were noisier";
    case PrecisionEnd::Reached:
    case PrecisionEnd::Unfinished:
      break;
  }
  return "the session was cut short";
}

std::string format_time(std::uint64_t nanoseconds) {
  return quantity(to_seconds(nanoseconds), Unit::Seconds);
}

/// Returns the output of a program, with a margin that sets it off from lauka's own lines.
std::string indent_lines(const std::string& text) {
  std::string lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) lines += "  | " + one_line(line) + "\n";
  return lines;
}

std::string name_run(const Step& step) {
  return fmt::format("{} {}", run_of_kind(step.kind), step.round + 1);
}

/// An exit status by which a program gives an answer, although it is not 0.
struct StatusMeaning {
  std::string_view program;
  int status;
  std::string_view meaning;
};

constexpr auto kStatusMeanings = std::to_array<StatusMeaning>({
    {"grep", 1, "nothing matched"},
    {"egrep", 1, "nothing matched"},
    {"fgrep", 1, "nothing matched"},
    {"rg", 1, "nothing matched"},
    {"diff", 1, "the files differ"},
    {"cmp", 1, "the files differ"},
});

std::string advise_ignoring_failures(std::string_view name, const Outcome& outcome) {
  const std::string_view word = name.substr(0, name.find(' '));
  const std::string_view program = word.substr(word.rfind('/') + 1);
  const auto* const exited = std::get_if<Exited>(&outcome);
  for (const StatusMeaning& known : kStatusMeanings)
    if (exited != nullptr && known.program == program && known.status == exited->status)
      return fmt::format("use -i={0}, because {1} exits with status {0} if {2}", known.status,
                         known.program, known.meaning);
  return "use -i to continue after failures";
}

std::string advise_without_valgrind(const Outcome& outcome) {
  const auto* signalled = std::get_if<Signalled>(&outcome);
  const std::string_view why =
      signalled != nullptr && signalled->signal == SIGILL
          ? ", because the program may use an instruction that Valgrind does not know"
          : "";
  return fmt::format("try it without --engine{}", why);
}

/// Returns what a message says after "run 3 of 'a' exited with status 1" about a run that ended
/// before a line of its output matched --until.
std::string explain_missing_match(const RunFailed& failed) {
  return fmt::format(
      " before a line of its output matched --until {}{}", cited(failed.unmatched_pattern),
      failed.error_output_end.empty() ? "; it wrote nothing" : "; its last output was:");
}

/// Returns what the user can do about a failed run of the command `name`, to end its message.
std::string advise_on_failed_run(const RunFailed& failed, std::string_view name) {
  const bool is_simulated = failed.step.kind == RoundKind::Simulated;
  std::string advice;
  if (is_simulated) advice = " under Valgrind; " + advise_without_valgrind(failed.outcome);

  // The option -i accepts failures. It does not help if Valgrind itself broke the run, which then
  // has no counts. Valgrind does not break a run that exited with a status.
  const bool may_be_valgrinds_fault =
      is_simulated && !std::holds_alternative<Exited>(failed.outcome);
  if (can_be_ignored(failed.outcome) && !may_be_valgrinds_fault)
    advice += (is_simulated ? "; if it fails there, too, " : "; ") +
              advise_ignoring_failures(name, failed.outcome);
  return advice;
}

/// Returns what the user can do about a failed hook, to end its message; may be empty.
std::string_view advise_on_failed_hook(const Outcome& outcome) {
  constexpr int not_found = 127;  // POSIX XCU 2.8.2
  const auto* exited = std::get_if<Exited>(&outcome);
  if (exited != nullptr && exited->status == not_found)
    return ", which means that sh did not find a command; check its name";
  return can_be_ignored(outcome) ? "; append '|| true' to continue anyway" : "";
}

struct EndingTextMaker {
  const std::vector<std::string>& names;
  std::size_t width;
  AdviceToEndRuns advice;

  std::string wrap(const std::string& text) const { return wrapped_message(text, width); }

  /// Says which run ended the session and how, what the user can do, and what the run wrote last.
  std::string operator()(const RunFailed& failed) const {
    const std::string& name = names.at(failed.step.command);
    const std::string run = fmt::format("{} of {} {}", name_run(failed.step), cited(name),
                                        outcome_text(failed.outcome));
    const std::string explanation = failed.unmatched_pattern.empty()
                                        ? advise_on_failed_run(failed, name)
                                        : explain_missing_match(failed);
    return wrap(run + explanation) + indent_lines(failed.error_output_end);
  }

  std::string operator()(const HookFailed& failed) const {
    std::string run;
    if (failed.step)
      run = fmt::format(" ({} {})", row_of(failed.kind).follows_runs() ? "after" : "before",
                        name_run(*failed.step));
    return wrap(fmt::format("--{} of {}{} {}{}", row_of(failed.kind).name,
                            cited(names.at(failed.command)), run, outcome_text(failed.outcome),
                            advise_on_failed_hook(failed.outcome))) +
           indent_lines(failed.output_end);
  }

  std::string operator()(const Interrupted& interrupted) const {
    const std::string by = "interrupted by " + os::signal_name(interrupted.signal);
    if (advice == AdviceToEndRuns::None) return wrap(by);
    return wrap(fmt::format(
        "{} before any timed run{} ended; use --timeout{} to limit how long a run may take", by,
        names.size() == 1 ? " of " + cited(names.front()) : "",
        advice == AdviceToEndRuns::TimeoutOrUntil ? " or --until" : ""));
  }

  std::string operator()(const Error& error) const { return wrap(error.line()); }
};

/// Returns which step failed when a command was started, as the beginning of a message that ends
/// with the system's error. Empty if the error alone is clear, as it is when the program cannot be
/// found.
std::string_view describe_launch_trouble(LaunchStep step) {
  switch (step) {
    case LaunchStep::OpenInput:
      return "its input cannot be opened: ";
    case LaunchStep::OpenOutput:
      return "its output cannot be opened: ";
    case LaunchStep::Fork:
      return "no process can be created: ";
    case LaunchStep::Prepare:
      return "its process cannot be set up: ";
    case LaunchStep::BecomeUser:
      return "it cannot be run as the user who called sudo: ";
    case LaunchStep::EnterFolder:
      return "its folder (--cwd) cannot be entered: ";
    case LaunchStep::ReachLauncher:
    case LaunchStep::Execute:
      break;
  }
  return "";
}

/// `survivor`: id of a process that outlived the kill; 0: none did.
std::string describe_kill(int survivor) {
  if (survivor == 0) return "was killed";
  return fmt::format("could not be killed: its process {} is still running", survivor);
}

struct OutcomeTextMaker {
  std::string operator()(const Exited& end) const {
    return fmt::format("exited with status {}", end.status);
  }

  std::string operator()(const Signalled& end) const {
    return fmt::format("was killed by {}{}", os::signal_name(end.signal),
                       end.core_dumped ? " (core dumped)" : "");
  }

  std::string operator()(const TimedOut& end) const {
    const std::string limit = exact_duration(end.limit);
    if (!end.has_started)
      return fmt::format("waited longer than {} for the other end of a pipe", limit);
    return fmt::format("took longer than {} and {}", limit, describe_kill(end.survivor));
  }

  std::string operator()(const Stopped& end) const {
    const bool tried_terminal = end.signal == SIGTTIN || end.signal == SIGTTOU;
    return fmt::format(
        "was stopped by {}{}", os::signal_name(end.signal),
        tried_terminal
            ? " because it tried to use the terminal, which lauka does not give to commands; "
              "start it with setsid -w"
            : ", and nothing would have resumed it, so it " + describe_kill(end.survivor));
  }

  std::string operator()(const NotStarted& end) const {
    if (end.step == LaunchStep::ReachLauncher) return "could not be started";
    const bool has_unknown_format = end.step == LaunchStep::Execute && end.error == ENOEXEC;
    return fmt::format(
        "could not be started: {}{}{}", describe_launch_trouble(end.step),
        std::generic_category().message(end.error),
        has_unknown_format
            ? "; if it is a script, give it a first line such as #!/bin/sh, or use -S"
            : "");
  }

  std::string operator()(const Cancelled& /*end*/) const {
    return "was killed because lauka was interrupted";
  }
};

/// The words for a factor of the wall time: "a" 1.2x "lower" "clock". In `after`, {} is replaced by
/// a noun such as "instructions".
struct FactorWords {
  std::string_view column;  ///< heading in the table of factors
  std::string_view before;  ///< stands before the ratio
  std::string_view less;
  std::string_view more;
  std::string_view after;
};
/// The words in the order of WallFactorKind.
constexpr std::array<FactorWords, 8> kFactorWords = {{
    {"instructions", "", "fewer", "more", " instructions"},
    {"instructions per cycle", "", "fewer", "more", " {} per cycle"},
    {"cycles", "", "fewer", "more", " cycles"},
    {"clock", "a ", "lower", "higher", " clock"},
    {"CPU time per cycle", "", "less", "more", " CPU time for each cycle that was counted"},
    {"CPU time per instruction", "", "less", "more", " CPU time for each {}"},
    {"CPU time", "", "less", "more", " CPU time"},
    {"CPU use", "CPU ", "less busy", "busier", ""},
}};

const FactorWords& words_for(WallFactorKind kind) {
  return kFactorWords[static_cast<std::size_t>(kind)];
}

std::string format_ratio(const stats::RelativeSpeed& ratio) {
  return ratio_text(ratio, "x");
}

bool is_factor_shown(const WallFactor& factor) {
  return factor.change.is_significant() && stats::relative_speed(factor.change).has_value();
}

std::string format_cpu_use(double share) {
  return fmt::format("{:.{}f}%", 100.0 * share, share < 0.1 ? 1 : 0);
}

std::string format_gigahertz(double cycles_per_second) {
  return fmt::format("{:.2f} GHz", cycles_per_second / 1e9);
}

std::string format_clocks(const WallFactor& clock) {
  if (!clock.candidate_median) return "";
  if (!clock.reference_median || !is_factor_shown(clock))
    return fmt::format(" ({})", format_gigahertz(*clock.candidate_median));
  return fmt::format(" ({:.2f} → {})", *clock.reference_median / 1e9,
                     format_gigahertz(*clock.candidate_median));
}

/// Returns "the same clock (3.20 GHz)"; empty for all other factors, and without an interval.
std::string describe_unchanged_factor(const WallFactor& factor) {
  if (factor.factor_kind != WallFactorKind::Clock || !factor.change.bounds ||
      !factor.candidate_median)
    return "";
  return "the same clock" + format_clocks(factor);
}

/// Returns "1.20x fewer instructions". `has_instructions`: the sentence has named them already, so
/// that a later factor can say "of them".
std::string describe_changed_factor(const WallFactor& factor, bool has_instructions) {
  const auto ratio = *stats::relative_speed(factor.change);
  const FactorWords& words = words_for(factor.factor_kind);
  const bool is_singular = factor.factor_kind == WallFactorKind::CpuTimePerInstruction;
  const std::string_view noun = has_instructions ? "of them"
                                : is_singular    ? "instruction"
                                                 : "instructions";
  std::string text = fmt::format("{}{} {}{}", words.before, format_ratio(ratio),
                                 ratio.faster ? words.less : words.more, words.after);
  if (const std::size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, noun);
  if (factor.factor_kind == WallFactorKind::Clock) return text + format_clocks(factor);
  if (factor.factor_kind == WallFactorKind::Utilisation && factor.reference_median &&
      factor.candidate_median)
    text += fmt::format(" ({} → {})", format_cpu_use(*factor.reference_median),
                        format_cpu_use(*factor.candidate_median));
  return text;
}

Cell make_factor_cell(const WallFactor& factor) {
  const auto ratio = stats::relative_speed(factor.change);
  if (!ratio) return {"n/a", Ink::Dim};
  if (!is_factor_shown(factor)) return {format_ratio(*ratio), Ink::Dim};
  const FactorWords& words = words_for(factor.factor_kind);
  const std::string figures =
      factor.factor_kind == WallFactorKind::Clock ? format_clocks(factor) : "";
  return {
      format_ratio(*ratio) + " " + std::string(ratio->faster ? words.less : words.more) + figures,
      factor.log_contribution() < 0 ? Ink::Green : Ink::Red};
}

/// Returns which counts an explanation of the wall time lacks; empty if it has all of them.
std::string describe_missing_counts(const WallTimeExplanation& why) {
  // If there are counts of the kernel alone, the text says that other counts are missing.
  const std::string where = why.has_kernel_only_metric ? " of user space" : "";

  // Cycles are left out, too, if they have other privilege levels. The more precise reason is
  // named.
  if (why.lacks_instructions && why.leaves_out_cycles)
    return "instructions and cycles" + where + " were not counted";
  if (why.lacks_instructions) return "instructions" + where + " were not counted";
  if (why.cycles_have_other_levels)
    return "cycles and instructions were counted at different privilege levels";
  if (why.leaves_out_cycles) return "cycles" + where + " were not counted";
  return "";
}

/// Lists what limits an explanation of the wall time, which is made of counted instructions and
/// cycles: counts that are missing, and counts that are not of the same work as the time.
std::vector<std::string> list_remarks(const WallTimeExplanation& why) {
  std::vector<std::string> remarks;
  if (std::string missing = describe_missing_counts(why); !missing.empty())
    remarks.push_back(std::move(missing));

  if (why.is_simulated) remarks.emplace_back("instructions are simulated");
  if (why.levels == CountedPrivilegeLevels::UserOnly)
    remarks.emplace_back("counts cover user space only, but times include the kernel");
  if (why.levels == CountedPrivilegeLevels::Unknown)
    remarks.emplace_back("the file does not say whether counts include the kernel");
  if (why.counts_include_shell_start)
    remarks.emplace_back("counts include the start of the shell, but times do not");
  if (why.sums_core_kinds) remarks.emplace_back("cycles are summed over all kinds of core");

  return remarks;
}

std::string describe_wall_time(const Results& results, const WallTimeExplanation& why) {
  const MetricResult* wall = metric_result_of(results, why.command, Role::WallTime);
  const auto speed = stats::relative_speed(*wall->delta);
  if (!wall->delta->is_significant() || !speed) return "no significant difference in wall time";
  return format_ratio(*speed) + (speed->faster ? " faster" : " slower");
}

bool lacks_counts(const WallTimeExplanation& why) {
  return why.lacks_instructions && why.leaves_out_cycles;
}

/// Returns the kinds of factors that at least one explanation has.
std::set<WallFactorKind> list_factor_kinds(const std::vector<WallTimeExplanation>& explanations) {
  std::set<WallFactorKind> kinds;
  for (const WallTimeExplanation& why : explanations)
    for (const WallFactor& factor : why.factors) kinds.insert(factor.factor_kind);
  return kinds;
}

/// Returns the columns of why_table(): the command, its wall time, and a column for each factor.
std::vector<TableColumn> make_why_columns(const std::set<WallFactorKind>& kinds) {
  std::vector<TableColumn> columns = {
      {.heading = {"command"}, .cell_content = CellContent::Code},
      {.heading = {"wall time"}, .cell_content = CellContent::Delta}};
  for (const WallFactorKind kind : kinds)
    columns.push_back(
        {.heading = {std::string(words_for(kind).column)}, .cell_content = CellContent::Delta});
  return columns;
}

/// Returns a row of why_table(). Not every command has all factors, because some may lack a
/// counter.
TableRow make_why_row(const Results& results, const WallTimeExplanation& why,
                      const std::set<WallFactorKind>& kinds) {
  TableRow row{{results.session.commands[why.command].name}, {describe_wall_time(results, why)}};
  for (const WallFactorKind kind : kinds) {
    const auto factor = std::ranges::find(why.factors, kind, &WallFactor::factor_kind);
    row.push_back(factor == why.factors.end() ? Cell{} : make_factor_cell(*factor));
  }
  return row;
}

/// Returns what a mean could have missed; empty if commands are compared, or for a percentile.
std::string describe_blind_spot_of_mean(const Results& results) {
  const auto metric = find_metric(results.session.metrics, results.findings.precision->metric);
  const bool is_mean = metric && !results.session.metrics[*metric].percentile &&
                       results.commands.size() == 1 && find_candidates(results).empty();
  if (!is_mean || results.findings.precision->fewest_values_of_command == 0) return "";
  return "; " + describe_blind_spot(results.findings.precision->fewest_values_of_command,
                                    results.session.metrics[*metric].unit == Unit::Seconds,
                                    results.session.confidence);
}

/// Returns the last inconclusive verdict of `benchmarks` if the exit status is 0 in spite of it;
/// else null.
const gate::Verdict* find_last_tolerated_verdict(std::span<const Results> benchmarks) {
  const gate::Verdict* last = nullptr;
  for (const Results& results : benchmarks) {
    if (!results.is_inconclusive_ok || !results.session.complete) return nullptr;
    for (const gate::Verdict& verdict : results.findings.verdicts) {
      if (verdict.answer == gate::Answer::Fail || verdict.discards() ||
          has_failed_throughout(results, verdict))
        return nullptr;
      if (verdict.answer == gate::Answer::Inconclusive) last = &verdict;
    }
  }
  return last;
}

std::string advise_on_failure(const FailureGroup& failed) {
  if (failed.ending == Ending::TimedOut) return "raise --timeout";
  if (failed.kind == RoundKind::Simulated && failed.ending != Ending::Failed)
    return "try it without --engine, because Valgrind does not know every instruction";
  return fmt::format("use -i={} if this status is a success", failed.status);
}

std::string gate_line_without_name(const Results& results, const gate::Verdict& verdict,
                                   const std::string& answer) {
  return fmt::format("{}: {}{}{}", condition_text(verdict.condition),
                     answer.empty() ? "" : answer + ": ", make_statement(results, verdict),
                     describe_failures_of_both(results, verdict));
}

/// The lines of a gate. `name`: of its candidate or benchmark; may be empty.
struct GateText {
  std::string name;
  std::string line;
  std::string lines_below;
  bool is_tolerated = false;
};

/// Gates whose lines are equal.
struct GateGroup {
  std::size_t gate_count = 0;
  bool has_tolerated = false;  ///< a gate is undecided, but the exit status is 0 in spite of it
  bool is_written = false;
};

/// Groups of gates by GateText::line and GateText::lines_below.
using GateGroups = std::map<std::pair<std::string, std::string>, GateGroup>;

GateGroups group_gates(const std::vector<GateText>& gates) {
  GateGroups groups;
  for (const GateText& gate : gates) {
    GateGroup& group = groups[{gate.line, gate.lines_below}];
    ++group.gate_count;
    group.has_tolerated |= gate.is_tolerated;
  }
  return groups;
}

/// Returns the lines of gates. More than a few equal lines become one, which stands in the place of
/// the first, and has the number of gates and `plural_word` instead of their names.
std::string group_equal_lines(const std::vector<GateText>& gates, std::string_view plural_word) {
  GateGroups groups = group_gates(gates);
  std::string text;
  constexpr std::size_t max_single_lines = 5;  // of equal text
  for (const GateText& gate : gates) {
    GateGroup& group = groups.at({gate.line, gate.lines_below});
    const bool shares_line = group.gate_count > max_single_lines;
    if (shares_line && group.is_written) continue;
    group.is_written = true;

    const std::string subject =
        shares_line ? fmt::format("{} {}", group.gate_count, plural_word) : gate.name;
    const bool is_tolerated = shares_line ? group.has_tolerated : gate.is_tolerated;
    const std::string_view note = is_tolerated ? kToleratedVerdictNote : "";
    text += (subject.empty() ? "" : subject + ": ") + gate.line + fmt::format("{}\n", note) +
            gate.lines_below;
  }
  return text;
}

/// Returns the text of a gate without a name.
GateText make_gate_text(const Results& results, const gate::Verdict& verdict, bool is_tolerated,
                        bool color) {
  const auto [word, ink] = verdict_word(verdict.decision());
  return {.name = "",
          .line = gate_line_without_name(results, verdict, inked(word, ink, color)),
          .lines_below = lines_below_gate(results, verdict),
          .is_tolerated = is_tolerated};
}

/// Returns "limit 5%". The user may have accepted a change beyond the gate's own limit, up to
/// another limit.
std::string describe_limit(const gate::Verdict& verdict) {
  const bool is_accepted = gate::acceptance_use_of(verdict) == gate::AcceptanceUse::Used;
  return (is_accepted ? "accepted limit " : "limit ") + format_limit(verdict.condition.limit);
}

/// Returns the cell of a verdict that has only its answer.
Cell make_answer_cell(const gate::Verdict& verdict) {
  const auto [word, ink] = verdict_word(verdict.decision());
  const std::string answer(word);
  return {.text = answer,
          .ink = ink,
          .shorter_texts = {answer, answer},
          .decision = verdict.decision()};
}

/// Returns the cell of a verdict that compared values, with the limit and maybe a figure added. The
/// first shorter text becomes the answer with the limit, and the second remains the answer alone.
Cell with_limit(Cell cell, const Results& results, const gate::Verdict& verdict) {
  const std::string limit = describe_limit(verdict);
  cell.shorter_texts.front() += ", " + limit;

  // The row has another cell with the delta, so this one only needs the figure of a gate that
  // decided by something else: the mean, or the value itself.
  const bool needs_figure = is_about_mean(verdict) || !verdict.condition.limit.needs_reference();
  if (needs_figure) {
    const Metric& metric = results.session.metrics[verdict.metric];
    const ChangeTexts figures = make_figures(gated_change(verdict), verdict.condition, metric);
    cell.verdict_reason = figures.change + ", " + limit;
    cell.text += ": " + cell.verdict_reason;
  } else {
    cell.verdict_reason = limit;
    cell.text = cell.shorter_texts.front();
  }

  return cell;
}

/// Returns the geometric mean of a figure's changes by --tune.
std::string describe_mean_change(const std::vector<TunedComparison>& compared,
                                 TunedChange TunedComparison::*figure) {
  std::vector<stats::Change> changes;
  for (const TunedComparison& comparison : compared)
    if ((comparison.*figure).change) changes.push_back(to_change(comparison.*figure));
  return changes.empty() ? std::string("an unknown amount")
                         : delta_text(stats::geometric_mean(changes));
}

}  // namespace

std::pair<std::string_view, Ink> verdict_word(gate::Decision decision) {
  switch (decision) {
    case gate::Decision::Pass:
      return {"pass", Ink::Green};
    case gate::Decision::Fail:
      return {"fail", Ink::Red};
    case gate::Decision::Kept:
      return {"kept", Ink::Green};
    case gate::Decision::Worse:
      return {"not kept, worse", Ink::Red};
    case gate::Decision::Equal:
      return {"not kept, gain too small", Ink::Red};
    case gate::Decision::Undecided:
      return {"not kept, undecided", Ink::Bold};
    case gate::Decision::Inconclusive:
      break;
  }
  return {"inconclusive", Ink::Bold};
}

/// The whole text is "fail, limit 5%", "fail: 260ms, limit 250ms" or "inconclusive: too few
/// layouts". In a narrow terminal, a table takes the first or the second of the shorter texts.
Cell verdict_cell(const Results& results, const gate::Verdict& verdict) {
  Cell cell = make_answer_cell(verdict);
  if (const std::string_view reason = words_for(verdict.hindrance.obstacle).short_reason;
      !reason.empty()) {
    cell.verdict_reason = reason;
    cell.text += ": " + cell.verdict_reason;
    return cell;
  }

  const bool has_change = verdict.rounds > 0 && gated_change(verdict).change;
  if (!has_change) return cell;
  return with_limit(std::move(cell), results, verdict);
}

std::string lines_below_gate(const Results& results, const gate::Verdict& verdict) {
  const std::string stale = make_stale_acceptance_line(verdict);
  const stats::Delta* wall_time = risen_wall_time(results, verdict);
  if (wall_time == nullptr) return stale + functions_of_failed_gate(results, verdict);
  const ChangeTexts figures = change_texts(*wall_time, verdict.condition.limit.fraction());
  const double percent = verdict.condition.limit.is_change() ? verdict.condition.limit.number : 0.0;
  return stale + fmt::format(
                     "  note: the wall time is significantly higher, {} (at least {}), but no gate "
                     "checks it; add "
                     "--fail-if-slower{}\n",
                     figures.change, figures.low, percent > 0 ? "=" + exact_decimal(percent) : "");
}

std::string condition_text(const Condition& condition) {
  return one_line(fmt::format("{}{} {} {}", condition.is_for_keeping() ? "keep if " : "",
                              condition.metric, condition.sign(),
                              format_limit(with_own_limit(condition).limit)));
}

std::string gate_line(const Results& results, const gate::Verdict& verdict,
                      const std::string& answer) {
  return name_prefix_if_several(results, verdict.candidate) +
         gate_line_without_name(results, verdict, answer);
}

std::string gate_lines(const Results& results, bool color) {
  // The exit status of a suite depends on all of its benchmarks.
  const gate::Verdict* tolerated =
      results.benchmark.empty() ? find_last_tolerated_verdict({&results, 1}) : nullptr;
  std::vector<GateText> gates;
  for (const gate::Verdict& verdict : results.findings.verdicts) {
    gates.push_back(make_gate_text(results, verdict, &verdict == tolerated, color));
    gates.back().name = name_if_several(results, verdict.candidate);
  }
  return group_equal_lines(gates, "commands") + series_line(results);
}

std::string series_line(const Results& results) {
  if (!results.session.series) return "";
  const SeriesPlace& place = *results.session.series;
  const std::string subject = fmt::format("candidate {} of {}", place.number, one_line(place.file));
  if (!place.decision)
    return fmt::format("{} has no decision, which counts as not kept (level {:.2g})\n", subject,
                       place.level);

  // A gate may have failed although every condition for keeping holds.
  const bool is_kept = gate::answer_of(*place.decision) == gate::Answer::Pass;
  return fmt::format("{}: {} at a level of {:.2g}; {} kept so far\n", subject,
                     is_kept ? "kept" : "not kept", place.level, place.kept);
}

std::string suite_gate_lines(const Report& suite, ListedGates which, bool color) {
  const gate::Verdict* tolerated = find_last_tolerated_verdict(suite.benchmarks);
  std::vector<GateText> gates;
  for (const Results& results : suite.benchmarks) {
    for (const gate::Verdict& verdict : results.findings.verdicts) {
      if (which == ListedGates::AllButPlainPasses && verdict.answer == gate::Answer::Pass &&
          risen_wall_time(results, verdict) == nullptr &&
          gate::acceptance_use_of(verdict) == gate::AcceptanceUse::None)
        continue;
      gates.push_back(make_gate_text(results, verdict, &verdict == tolerated, color));
      gates.back().name = one_line(results.benchmark);
      gates.back().line.insert(0, name_prefix_if_several(results, verdict.candidate));
    }
  }
  return group_equal_lines(gates, "benchmarks");
}

std::string suite_layout_lines(const Report& suite) {
  std::string text;
  for (const Results& results : suite.benchmarks)
    for (const std::string& line : lines_with_text(layout_lines(results)))
      text += one_line(results.benchmark) + ": " + line + "\n";
  return text;
}

std::vector<std::string> all_runs_failed_lines(const Report& report) {
  std::vector<std::string> lines;
  for (const Results& results : report.benchmarks) {
    std::set<std::size_t> commands;
    for (const gate::Verdict& verdict : results.findings.verdicts)
      if (has_failed_throughout(results, verdict)) commands.insert(verdict.candidate);
    for (const std::size_t c : commands) {
      const Endings endings = deciding_endings(results.commands[c]);
      const FailureGroup& first = endings.failed_run_groups.front();
      const Error why{
          fmt::format("{}{}, so its gate cannot decide",
                      results.benchmark.empty() ? "" : results.benchmark + ": ",
                      failures_text(endings, " of " + cited(results.session.commands[c].name))),
          advise_on_failure(first)};
      lines.push_back(why.line());
    }
  }
  return lines;
}

std::string more_layouts_advice(std::size_t layouts) {
  if (layouts > kMaxLayouts)
    return fmt::format("more runs would not help, nor would {} layouts", kMaxLayouts);
  return fmt::format("more runs would not help, but about {} layouts probably would", layouts);
}

std::string precision_line(const Results& results) {
  if (!results.findings.precision) return "";
  const Precision& precision = *results.findings.precision;
  const std::string reached =
      precision.half_width ? format_half_width(*precision.half_width) : "no interval";
  // Six digits hide rounding errors.
  const std::string wanted = fmt::format("{:.6g}%", 100 * precision.wanted_half_width);
  const std::string start =
      fmt::format("precision of {}: {} after {}", metric_in_words(precision.metric), reached,
                  plural(precision.fewest_values_of_command, "run"));
  if (precision.end == PrecisionEnd::Reached)
    return fmt::format("{} (asked for: ±{}){}\n", start, wanted,
                       describe_blind_spot_of_mean(results));
  return fmt::format(
      "{}, not the ±{} that was asked for, because {}{}\n", start, wanted,
      explain_missed_precision(precision.end),
      precision.layouts_to_reach ? "; " + more_layouts_advice(*precision.layouts_to_reach) : "");
}

stats::Change to_change(const TunedChange& change) {
  stats::Change shown{.change = change.change};
  if (change.low && change.high) shown.bounds = stats::IntervalEnds{*change.low, *change.high};
  return shown;
}

std::string tuning_line(const std::vector<TunedComparison>& compared) {
  std::size_t untuned_runs = 0;
  for (const TunedComparison& comparison : compared) untuned_runs += comparison.untuned_runs;
  return fmt::format(
      "compared with {}, --tune changed σ by {}, the width of the interval by {}, and the mean by "
      "{}{}",
      plural(untuned_runs, "untuned run"), describe_mean_change(compared, &TunedComparison::stddev),
      describe_mean_change(compared, &TunedComparison::interval_width),
      describe_mean_change(compared, &TunedComparison::mean),
      compared.size() > 1 ? " (geometric means)" : "");
}

std::string shell_start_time_lines(const Results& results) {
  std::string lines;
  for (std::size_t i = 0; i < results.session.overheads.size(); ++i) {
    const ShellOverhead& overhead = results.session.overheads[i];
    // Commands with equal overheads share the line of the first one.
    if (&*std::ranges::find(results.session.overheads, overhead) != &overhead) continue;
    const bool is_common = std::ranges::all_of(
        results.session.overheads, [&](const ShellOverhead& other) { return other == overhead; });
    const std::string whose = is_common ? "" : " for " + cited(results.session.commands[i].name);
    lines += fmt::format(
        "starting {}{} takes {} (CPU time {}), which is subtracted from all times{}\n",
        one_line(shell_quoted(results.session.shell)), whose, format_time(overhead.wall_ns),
        format_time(overhead.user_ns + overhead.system_ns),
        results.session.setting.measures_region ? fmt::format(" but {}", kRegionTime) : "");
  }
  return lines;
}

std::string early_end_lines(const Session& session, const std::vector<std::string>& names,
                            AdviceToEndRuns advice, std::size_t width) {
  const EndingTextMaker make_text{.names = names, .width = width, .advice = advice};
  std::string lines;
  if (session.cut_short) lines += std::visit(make_text, *session.cut_short);
  for (const HookFailed& failed : session.later_failed_hooks) lines += make_text(failed);
  return lines;
}

std::string failed_build_lines(std::string_view what, const Outcome& outcome,
                               const std::string& output_end, std::size_t width) {
  return wrapped_message(fmt::format("building {} {}", what, outcome_text(outcome)), width) +
         indent_lines(output_end);
}

std::string outcome_text(const Outcome& outcome) {
  return std::visit(OutcomeTextMaker{}, outcome);
}

std::string why_text(const Results& results, const WallTimeExplanation& why) {
  std::string factors;
  bool has_instructions = false;
  for (const WallFactor& factor : why.factors) {
    const std::string statement = is_factor_shown(factor)
                                      ? describe_changed_factor(factor, has_instructions)
                                      : describe_unchanged_factor(factor);
    if (statement.empty()) continue;
    factors += (factors.empty() ? "" : ", ") + statement;
    has_instructions = has_instructions || factor.factor_kind == WallFactorKind::Instructions;
  }
  std::string text = describe_wall_time(results, why) + ": " +
                     (factors.empty() ? "no factor changed significantly" : factors);
  for (const std::string& remark : list_remarks(why)) text += "; " + remark;
  return text;
}

std::string why_lines(const Results& results) {
  std::string lines;
  for (const WallTimeExplanation& why : results.explanations)
    lines += "why: " + name_prefix_if_several(results, why.command) + why_text(results, why) + "\n";
  return lines;
}

/// Makes the table that explains differences in wall time: a row for each compared command, and a
/// column for each factor of the wall time, such as instructions and clock.
WhyTable why_table(const Results& results) {
  // A single comparison needs no table, and without counts there is nothing to explain.
  WhyTable result;
  if (results.explanations.size() < 2) return result;
  if (std::ranges::all_of(results.explanations, lacks_counts)) return result;

  const std::set<WallFactorKind> kinds = list_factor_kinds(results.explanations);
  result.table.columns = make_why_columns(kinds);
  for (const WallTimeExplanation& why : results.explanations) {
    result.table.rows.push_back(make_why_row(results, why, kinds));

    // A remark on several commands is listed once, below the table.
    for (std::string& remark : list_remarks(why))
      if (std::ranges::find(result.remarks, remark) == result.remarks.end())
        result.remarks.push_back(std::move(remark));
  }

  return result;
}

}  // namespace lauka::report
