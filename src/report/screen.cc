#include "report/screen.h"

#include "core/text.h"
#include "report/format.h"
#include "report/function_lines.h"
#include "report/layout_lines.h"
#include "report/lines.h"
#include "report/paths.h"
#include "report/race_lines.h"
#include "report/scan_chart.h"
#include "report/suite_screen.h"
#include "results/analyse.h"
#include "results/warnings.h"
#include "stats/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {

namespace {

std::string write_header(const Results& results, std::size_t index, const Style& style) {
  const std::string start = command_title(results, index) + ": ";
  std::string name = one_line(results.session.commands[index].name);
  if (style.width > start.size()) name = cut_middle(name, style.width - start.size());
  return inked(start + name, Ink::Bold, style.color) + "\n";
}

/// Returns why a row has no delta or no interval of its delta; empty if it has one, or needs none.
std::string_view explain_row_without_interval(const MetricResult& row, bool has_candidates) {
  if (row.summary && row.summary->min < 0.0 && has_candidates)
    return "there is no delta for a metric with values below 0, because a change from such a value "
           "cannot be given in percent";
  const bool is_shown =
      row.delta && row.delta->change && *row.delta->change != 0.0 && !row.delta->is_exact;
  if (row.runs < 2 || !is_shown || row.delta->bounds) return "";
  return row.summary && row.summary->min == 0.0
             ? "a delta has no ±, because some values are 0"
             : "a delta has no ±, because there are too few runs, or they differ too much";
}

std::string_view explain_first_row_without_interval(const Results& results, const Style& style) {
  const bool has_candidates = !find_candidates(results).empty();
  for (const CommandResult& command : results.commands) {
    for (const MetricResult& row : command.rows) {
      if (results.session.metrics[row.metric_index].shown == Shown::Verbose && !style.verbose)
        continue;
      if (const auto why = explain_row_without_interval(row, has_candidates); !why.empty())
        return why;
    }
  }
  return "";
}

bool contradicts_means(const Results& results, std::size_t metric, std::size_t candidate) {
  constexpr double smallest_visible = 0.0005;  // deltas are shown with one decimal of a percent
  const MetricResult* row = row_if_has_values(results.commands[candidate], metric);
  if (row == nullptr || !row->delta) return false;
  const stats::Delta& delta = *row->delta;
  if (delta.basis != stats::Basis::Typical || !delta.bounds || !delta.change_of_mean.change)
    return false;
  return delta.bounds->leave_out(*delta.change_of_mean.change) &&
         std::fabs(*delta.change - *delta.change_of_mean.change) >= smallest_visible &&
         (delta.mean_and_typical_differ || outliers_explain_mean(results, metric, candidate));
}

std::string difference_of_means(const Results& results, std::size_t index, std::size_t candidate) {
  const Metric& metric = results.session.metrics[index];
  const stats::Delta& delta = *metric_result_of(results.commands[candidate], index)->delta;

  // High outliers of the reference raise its mean, so that the candidate's seems to have fallen.
  const bool mean_rose_more = *delta.change_of_mean.change > *delta.change;
  const std::string because = outliers_explain_mean(results, index, candidate)
                                  ? fmt::format(", because a few runs{} took much {}",
                                                mean_rose_more ? "" : " of the reference",
                                                metric.unit == Unit::Seconds ? "longer" : "more")
                                  : "";
  return fmt::format(
      "the delta is the change of the typical round; the means of {}{} differ by {}{}",
      one_line(metric.name),
      results.commands.size() > 2 ? " of " + one_line(results.session.commands[candidate].name)
                                  : "",
      delta_text({delta.change_of_mean.change, {}}), because);
}

std::string hidden_zeros_line(const Results& results, const Style& style) {
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m)
    if (is_hidden_as_all_zero(results, m))
      return dim_note("rows that are 0 in each run are left out; -v shows them", style);
  return "";
}

std::string full_tables(const Results& results, const Style& style) {
  std::vector<Table> tables;
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    tables.push_back(full_table(results, c, style.verbose));
  const TableLayout fitted = choose_table_layout(tables, style);
  std::string text;
  for (const std::size_t c : commands_in_table_order(results)) {
    if (!text.empty()) text += "\n";
    text += write_header(results, c, style);
    text += terminal_text(tables[c], fitted, style);
    if (style.shows_histograms) text += histogram(results, c, style);
  }
  const std::string_view note = omitted_intervals_note(tables, fitted);
  return text + hidden_zeros_line(results, style) +
         dim_note(note.empty() ? explain_first_row_without_interval(results, style) : note, style);
}

std::string percentages_note(const Results& results, std::size_t metric, const Style& style) {
  const Reference& reference = results.session.reference;
  const std::string* file = earlier_file(results.session);
  const std::string from = file != nullptr
                               ? one_line(*file)
                               : parameters_text(results.session.commands[reference.index_for(0)]);
  if (from.empty() || !has_deltas_of(results, metric)) return "";
  return dim_note("percentages are differences from " + from +
                      (file != nullptr ? "" : "; use --reference to choose another"),
                  style);
}

std::string compact_text(const Results& results, std::size_t metric, const Style& style) {
  if (const std::optional<Table> matrix = matrix_table(results, metric)) {
    const TableLayout fitted = choose_table_layout({&*matrix, 1}, style);
    if (fitted.fits)
      return terminal_text(*matrix, fitted, style) +
             (fitted.has_given_up(OmittedPart::Interval)
                  ? ""
                  : percentages_note(results, metric, style));
  }
  return terminal_text_with_note(compact_table(results, metric), style);
}

std::string hidden_rows_line(const Results& results, const std::vector<std::size_t>& shown,
                             const Style& style) {
  std::string names;
  std::size_t hidden_count = 0;
  constexpr std::size_t max_named = 3;
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m) {
    if (results.session.metrics[m].shown != Shown::Always || is_hidden_as_all_zero(results, m) ||
        std::ranges::find(shown, m) != shown.end() || ++hidden_count > max_named)
      continue;
    names += (names.empty() ? "" : ", ") + one_line(results.session.metrics[m].name);
  }
  if (hidden_count > max_named) names += fmt::format(" and {} more", hidden_count - max_named);
  return hidden_count == 0
             ? ""
             : dim_note("not shown: " + names + "; use --table full to see all", style);
}

/// Returns the summaries of the compared values. A reference from another file has none.
std::vector<const stats::Summary*> find_summaries(const Results& results,
                                                  const HeadlineComparison& comparison) {
  std::vector<const stats::Summary*> summaries;
  const auto add_summary_of = [&](std::size_t command) {
    const MetricResult* row = metric_result_of(results.commands[command], comparison.metric);
    if (row != nullptr && row->summary) summaries.push_back(&*row->summary);
  };
  add_summary_of(comparison.command);
  if (const auto reference = results.session.reference.index_in_session(comparison.command))
    add_summary_of(*reference);
  return summaries;
}

/// True if all values of both commands are 0. A baseline's values are taken as 0 if the ratio is 1.
bool is_all_zeros(const Results& results, const HeadlineComparison& comparison) {
  const auto all = find_summaries(results, comparison);
  return !all.empty() && comparison.speed.speed_factor == 1.0 &&
         std::ranges::all_of(all,
                             [](const stats::Summary* summary) { return summary->max == 0.0; });
}

std::string_view explain_comparison_without_interval(const Results& results,
                                                     const HeadlineComparison& comparison) {
  // Chance alone gives n differences one sign with a probability of 2^-n. With too few runs, no
  // interval reaches the confidence.
  const double tail = (1.0 - results.session.confidence) / 2.0;
  const double min_runs = std::ceil(-std::log2(tail));
  if (static_cast<double>(results.commands[comparison.command].runs) < min_runs)
    return "there are too few runs";
  const bool has_zero =
      std::ranges::any_of(find_summaries(results, comparison),
                          [](const stats::Summary* summary) { return summary->min == 0.0; });
  return has_zero ? "there are too many zeros" : "the runs differ too much";
}

/// Replaces the blanks in a name, so that lines are not broken there.
constexpr char kNameBlank = '\x1f';

std::string bold(const std::string& name, const Style& style) {
  constexpr std::size_t room_beside_name = 3;
  std::string shown = style.width > 0
                          ? cut_middle(name, style.width - std::min(style.width, room_beside_name))
                          : name;
  std::ranges::replace(shown, ' ', kNameBlank);
  return inked(shown, Ink::Bold, style.color);
}

/// Returns a sentence in lines of the style's width, with the blanks that `bold` replaced.
std::string wrap_sentence(const std::string& sentence, const Style& style) {
  std::string lines =
      wrapped_to_cells(style.ascii ? to_ascii(sentence) : sentence, style.width) + "\n";
  std::ranges::replace(lines, kNameBlank, ' ');
  return lines;
}

/// Returns the name of the command's reference; if that was measured earlier, with its file:
/// "itself in old.json".
std::string name_reference(const Results& results, std::size_t command) {
  const std::string& name = results.reference_of(command).name;
  const std::string* file = earlier_file(results.session);
  if (file == nullptr) return name;
  const bool is_itself = name == results.session.commands[command].name;
  return (is_itself ? "itself" : name) + " in " + *file;
}

bool is_gain(const Results& results, const HeadlineComparison& comparison) {
  return comparison.speed.faster !=
         (results.session.metrics[comparison.metric].better == Better::More);
}

/// Returns by which factor the candidate is better than the reference: below 1 if it is worse.
double gain_of(const Results& results, const HeadlineComparison& comparison) {
  return is_gain(results, comparison) ? comparison.speed.speed_factor
                                      : 1 / comparison.speed.speed_factor;
}

using Comparisons = std::vector<HeadlineComparison>;

/// Returns the comparisons by the primary metric, or by another metric if only that one has a
/// significant difference. Factors of different metrics cannot be compared with each other.
Comparisons keep_comparisons_by_one_metric(const Results& results, Comparisons comparisons) {
  std::size_t metric = primary_metric(results.session.metrics).value_or(comparisons.front().metric);
  const auto is_significant_by_metric = [&](const HeadlineComparison& comparison) {
    return comparison.is_significant && comparison.metric == metric;
  };
  if (std::ranges::none_of(comparisons, is_significant_by_metric)) {
    const auto other = std::ranges::find(comparisons, true, &HeadlineComparison::is_significant);
    if (other != comparisons.end()) metric = other->metric;
  }
  std::erase_if(comparisons,
                [&](const HeadlineComparison& comparison) { return comparison.metric != metric; });
  return comparisons;
}

bool has_gate_decision(const Results& results, const HeadlineComparison& comparison) {
  return std::ranges::any_of(results.findings.verdicts, [&](const gate::Verdict& verdict) {
    return verdict.candidate == comparison.command && verdict.metric == comparison.metric &&
           verdict.answer != gate::Answer::Inconclusive;
  });
}

/// Returns the end of a sentence that says that no comparison is significant: the largest of the
/// differences that would have been found. Empty if one of them is unknown.
std::string make_detectable_clause(const Results& results, const Comparisons& comparisons) {
  std::optional<double> largest;
  for (const HeadlineComparison& comparison : comparisons) {
    const MetricResult* row =
        metric_result_of(results.commands[comparison.command], comparison.metric);
    if (row == nullptr || !row->detectable) return "";
    largest = std::max(largest, row->detectable);
  }
  return detectable_text(largest);
}

/// The words of a sentence about two commands: candidate, `between`, reference, `after`.
struct ComparisonWords {
  std::string between;
  std::string after;
};

std::string name_in_words(const Metric& metric) {
  return metric_in_words(one_line(metric.name));
}

/// Returns ": cycles is 1.20 ± 0.01 times lower than in ".
std::string say_times_lower_or_higher(const std::string& metric_name,
                                      const stats::RelativeSpeed& speed) {
  // Of any metric, the command with the lower values counts as the faster one.
  return fmt::format(": {} is {} times {} than in ", metric_name, ratio_text(speed),
                     speed.faster ? "lower" : "higher");
}

/// Returns the words for values that are the same in every run of a command.
ComparisonWords choose_exact_words(const std::string& metric_name,
                                   const stats::RelativeSpeed& speed) {
  if (speed.speed_factor == 1.0)
    return {.between = ": " + metric_name + " is exactly the same as in ",
            .after = ", in every run"};
  return {.between = say_times_lower_or_higher(metric_name, speed), .after = " (exact)"};
}

/// Returns the words that say why there is no interval, and what one would be needed for.
ComparisonWords choose_words_without_interval(const Results& results,
                                              const HeadlineComparison& comparison) {
  // A gate may have decided without an interval that the commands differ.
  const std::string_view purpose = has_gate_decision(results, comparison)
                                       ? "for a confidence interval of its difference"
                                       : "to tell whether it differs";
  return {.between = fmt::format(": {} {} from ",
                                 explain_comparison_without_interval(results, comparison), purpose),
          .after = " in " + name_in_words(results.session.metrics[comparison.metric])};
}

/// Chooses the words of the sentence "CANDIDATE between REFERENCE after". They claim no more than
/// the comparison has shown.
ComparisonWords choose_words(const Results& results, const HeadlineComparison& comparison) {
  const Metric& metric = results.session.metrics[comparison.metric];
  const std::string name = name_in_words(metric);
  const stats::RelativeSpeed& speed = comparison.speed;

  if (is_all_zeros(results, comparison))
    return {.between = ": " + name + " is 0 in every run, as in ", .after = ""};
  if (speed.is_exact) return choose_exact_words(name, speed);
  if (!speed.bounds) return choose_words_without_interval(results, comparison);
  if (!comparison.is_significant)
    return {.between = " does not differ significantly from ",
            .after = " in " + name + make_detectable_clause(results, {comparison})};
  if (metric.role == Role::WallTime)
    return {.between = fmt::format(" ran {} times {} than ", ratio_text(speed),
                                   speed.faster ? "faster" : "slower"),
            .after = ""};
  return {.between = say_times_lower_or_higher(name, speed), .after = ""};
}

std::string write_comparison(const Results& results, const HeadlineComparison& comparison,
                             const Style& style) {
  const ComparisonWords words = choose_words(results, comparison);
  const std::string candidate = one_line(results.session.commands[comparison.command].name);
  const std::string reference = one_line(name_reference(results, comparison.command));
  return wrap_sentence(
      bold(candidate, style) + words.between + bold(reference, style) + words.after, style);
}

/// Returns "no command is significantly faster than old", or "lower than old in cycles".
std::string say_none_is_better(const Metric& metric, const std::string& reference) {
  if (metric.role == Role::WallTime) return "no command is significantly faster than " + reference;
  const std::string_view better = metric.better == Better::More ? "higher" : "lower";
  return fmt::format("no command is significantly {} than {} in {}", better, reference,
                     name_in_words(metric));
}

/// Returns the sentence for candidates that were compared with `reference` by one metric, if none
/// of them is better. `comparisons`: the smallest loss first.
std::string write_that_none_is_better(const Results& results, const Comparisons& comparisons,
                                      const std::string& reference, const Style& style) {
  const std::size_t metric_index = comparisons.front().metric;
  const Metric& metric = results.session.metrics[metric_index];

  const auto worst = std::ranges::find(comparisons.rbegin(), comparisons.rend(), true,
                                       &HeadlineComparison::is_significant);
  const bool is_any_worse = worst != comparisons.rend();
  if (!is_any_worse)
    return wrap_sentence("no command differs significantly from " + reference + " in " +
                             name_in_words(metric) + make_detectable_clause(results, comparisons),
                         style);

  // Another metric than the primary one is shown only because a command differs by it, so the
  // sentence says which one.
  if (metric_index != primary_metric(results.session.metrics))
    return write_comparison(results, *worst, style);
  return wrap_sentence(say_none_is_better(metric, reference), style);
}

bool has_any_interval(const Comparisons& comparisons) {
  return std::ranges::any_of(comparisons, [](const HeadlineComparison& comparison) {
    return comparison.speed.bounds.has_value() || comparison.speed.is_exact;
  });
}

/// True if one sentence can describe several candidates, because they have a reference in this
/// session, which it names. Of candidates that are compared with a baseline, it describes only one.
bool can_describe_all_at_once(const Results& results, const Comparisons& comparisons) {
  return comparisons.size() > 1 &&
         results.session.reference.index_in_session(comparisons.front().command).has_value();
}

/// Returns the first significant gain; null if there is none.
const HeadlineComparison* find_significant_gain(const Results& results,
                                                const Comparisons& comparisons) {
  const auto found = std::ranges::find_if(comparisons, [&](const HeadlineComparison& comparison) {
    return comparison.is_significant && is_gain(results, comparison);
  });
  return found == comparisons.end() ? nullptr : &*found;
}

/// Returns the sentence for several candidates of which none has an interval, with the reason that
/// holds for the first of them.
std::string say_why_all_lack_interval(const Results& results, const HeadlineComparison& first,
                                      const std::string& reference) {
  return fmt::format("{} to tell whether a command differs from {} in {}",
                     explain_comparison_without_interval(results, first), reference,
                     name_in_words(results.session.metrics[first.metric]));
}

/// Returns the most important result in one sentence. `by_gain`: the comparisons with one
/// reference, or with a baseline, the largest gain first.
std::string write_headline(const Results& results, const Comparisons& by_gain, const Style& style) {
  const Comparisons comparisons = keep_comparisons_by_one_metric(results, by_gain);
  const HeadlineComparison& first = comparisons.front();

  const std::string scan = scan_headline(results, first.metric);
  if (!scan.empty()) return wrap_sentence(scan, style);

  const bool may_describe_all = can_describe_all_at_once(results, comparisons);
  const std::string reference = bold(one_line(results.reference_of(first.command).name), style);

  if (may_describe_all && !has_any_interval(comparisons))
    return wrap_sentence(say_why_all_lack_interval(results, first, reference), style);
  if (const HeadlineComparison* best = find_significant_gain(results, comparisons))
    return write_comparison(results, *best, style);
  if (!may_describe_all) return write_comparison(results, first, style);
  return write_that_none_is_better(results, comparisons, reference, style);
}

/// Returns what the comparisons with one reference have shown. Of many commands, only the most
/// important result is told.
std::string describe_group(const Results& results, const Comparisons& group, const Style& style) {
  const bool has_many_commands = compact_table_replaces_full_tables(results);
  if (has_many_commands) return write_headline(results, group, style);
  std::string text;
  for (const HeadlineComparison& comparison : group)
    text += write_comparison(results, comparison, style);
  return text;
}

/// Returns what makes failures comparable, if a command ended with the same exit status in every
/// timed run, as grep does if nothing matches; else empty.
std::string advise_on_failures(const Endings& endings) {
  const Endings timed = endings.of_kind(RoundKind::Timed);
  const bool has_one_status = timed.all_failed() && timed.failed_run_groups.size() == 1 &&
                              timed.failed_run_groups.front().ending == Ending::Failed;
  if (!has_one_status) return "";
  return fmt::format("; use -i={} if this status is a success",
                     timed.failed_run_groups.front().status);
}

/// Returns all comparisons, the largest gain first.
Comparisons sort_by_gain(const Results& results) {
  Comparisons by_gain = results.headline_comparisons;
  std::ranges::stable_sort(by_gain, [&](const HeadlineComparison& a, const HeadlineComparison& b) {
    return gain_of(results, a) > gain_of(results, b);
  });
  return by_gain;
}

/// Divides the comparisons by the reference that they are about; otherwise, the order stays.
std::vector<Comparisons> group_by_reference(const Results& results,
                                            const Comparisons& comparisons) {
  std::map<std::size_t, Comparisons> groups;
  for (const HeadlineComparison& comparison : comparisons)
    groups[results.session.reference.group_of(comparison.command)].push_back(comparison);
  std::vector<Comparisons> all;
  all.reserve(groups.size());
  for (auto& [reference, group] : groups) all.push_back(std::move(group));
  return all;
}

/// Divides the comparisons by the command that was typed, which with parameters stands for a
/// command for each of their values.
std::map<std::size_t, Comparisons> group_by_typed_command(const Results& results,
                                                          const Comparisons& comparisons) {
  std::map<std::size_t, Comparisons> groups;
  for (const HeadlineComparison& comparison : comparisons)
    groups[results.session.commands[comparison.command].typed_command_index].push_back(comparison);
  return groups;
}

/// Numbers of significant differences. RelativeSpeed::faster means a lower value of any metric.
struct SignificantCounts {
  std::size_t faster = 0;
  std::size_t slower = 0;
};

SignificantCounts count_significant(const Comparisons& comparisons) {
  SignificantCounts counts;
  for (const HeadlineComparison& comparison : comparisons)
    if (comparison.is_significant) ++(comparison.speed.faster ? counts.faster : counts.slower);
  return counts;
}

/// Returns "./a {n} is significantly faster than ./b {n} at 3 of 8 values, and slower at 1".
/// `comparisons`: those of one typed command by one metric.
std::string say_significant_counts(const Results& results, const Comparisons& comparisons,
                                   const std::string& reference, const Style& style) {
  const HeadlineComparison& first = comparisons.front();
  const Metric& metric = results.session.metrics[first.metric];
  const bool is_time = metric.role == Role::WallTime;

  const SignificantCounts counts = count_significant(comparisons);

  // The name in which the parameters stay "{n}" is the same in all of these commands.
  const std::string& name = results.session.commands[first.command].unfilled_name;
  return fmt::format("{} is significantly {} than {} at {} of {} values{}, and {} at {}",
                     bold(one_line(name), style), is_time ? "faster" : "lower", reference,
                     counts.faster, comparisons.size(),
                     is_time ? "" : " in " + name_in_words(metric), is_time ? "slower" : "higher",
                     counts.slower);
}

/// Returns a line for each typed command, which says at how many parameter values it differs from
/// the reference. All lines are about one metric, because counts of different metrics cannot be
/// compared.
std::string count_significant_by_typed_command(const Results& results,
                                               const Comparisons& all_comparisons,
                                               const Style& style) {
  const Comparisons comparisons = keep_comparisons_by_one_metric(results, all_comparisons);
  const std::string reference = bold(one_line(name_of_references(results)), style);
  std::string lines;
  for (const auto& [typed_command, own_comparisons] : group_by_typed_command(results, comparisons))
    lines +=
        wrap_sentence(say_significant_counts(results, own_comparisons, reference, style), style);
  return lines;
}

std::string failure_lines(const Results& results, const Style& style) {
  std::string lines;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const Endings& endings = results.commands[c].endings;
    const std::string& name = results.session.commands[c].name;
    if (endings.failed_run_groups.empty()) continue;
    lines += wrap_sentence(failures_text(endings, " of " + bold(one_line(name), style)) +
                               "; deltas leave them out" + advise_on_failures(endings),
                           style);
  }
  return lines;
}

/// Returns the shortest median wall time, in seconds, of the commands whose mean wall time is below
/// kShortRunSeconds. nullopt if there is no such command, commands run in a shell, or wall times
/// are hidden.
std::optional<double> short_run_median_seconds(const Results& results) {
  std::optional<double> shortest;
  for (std::size_t c = 0; c < results.commands.size() && results.session.shell.empty(); ++c) {
    const MetricResult* row = metric_result_of(results, c, Role::WallTime);
    if (row != nullptr && row->summary &&
        results.session.metrics[row->metric_index].shown == Shown::Always &&
        row->summary->mean > 0.0 && row->summary->mean < kShortRunSeconds)
      shortest = std::min(shortest.value_or(row->summary->median), row->summary->median);
  }
  return shortest;
}

/// Returns how much of each run is the start of its process, which takes as long as the program
/// `true`.
std::string describe_start(double start_seconds, double shortest_run_seconds) {
  const std::string start_text = quantity(start_seconds, Unit::Seconds);
  if (start_seconds < shortest_run_seconds)
    return fmt::format(
        "about {} of each run is the start of its process, as the runs of 'true' show", start_text);
  return fmt::format(
      "the shortest runs take no longer than those of 'true' ({}), so they are "
      "mostly the start of a process",
      start_text);
}

/// Returns a note that a run is so short that much of it may be the start of its process. How much
/// that is, one sees from the program `true`, which does nothing else.
std::string make_note_on_short_runs(const Results& results, const Style& style) {
  const auto shortest_seconds = short_run_median_seconds(results);
  if (!shortest_seconds) return "";

  const auto& start_seconds = results.session.seconds_of_running_true;
  const bool was_true_measured = start_seconds.has_value();
  if (!was_true_measured)
    return dim_note(
        "a run shorter than 1 ms may consist mostly of the start of its process; to find out, "
        "measure the command 'true' as well",
        style);

  return dim_note(describe_start(*start_seconds, *shortest_seconds), style);
}

std::string titled_compact_text(const Results& results, std::size_t metric, const Style& style) {
  const std::string title = compact_title(results, metric);
  return inked(style.width > 0 ? cut_middle(title, style.width) : title, Ink::Bold, style.color) +
         "\n" + compact_text(results, metric, style);
}

std::string compact_tables(const Results& results, const Style& style) {
  if (results.commands.empty()) return "";
  const std::vector<std::size_t> metrics = compact_metrics(results, style.verbose);
  std::string text;
  for (const std::size_t metric : metrics) {
    if (!text.empty()) text += "\n";
    text += titled_compact_text(results, metric, style);
  }
  text += hidden_rows_line(results, metrics, style) + hidden_zeros_line(results, style) +
          histograms(results, style);
  return text + dim_note(explain_first_row_without_interval(results, style), style);
}

std::string tables(const Results& results, const Style& style) {
  std::string text;
  if (const std::string* file = earlier_file(results.session))
    text =
        fmt::format("Deltas are relative to {}, which was measured earlier.\n\n", one_line(*file));
  if (has_compact_table_first(results))
    text += titled_compact_text(results, *primary_metric(results.session.metrics), style) + "\n";
  text += compact_table_replaces_full_tables(results) ? compact_tables(results, style)
                                                      : full_tables(results, style);
  text += dim_note(layout_lines(results), style);
  if (style.verbose) text += dim_note(layouts_advice_line(results), style);
  return text + lines_about_contradicting_means(results, style) +
         make_note_on_short_runs(results, style);
}

constexpr std::chrono::milliseconds kMinPauseBetweenDrawings{100};
constexpr std::string_view kEraseLine = "\r\x1b[K";

std::string clock_text(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

/// The part of the progress line that is alike for runs and builds.
struct TimeSpent {
  double elapsed_share = 0.0;  ///< fraction of the whole time that has passed
  std::chrono::nanoseconds elapsed{};
  std::optional<std::chrono::nanoseconds> remaining{};
  bool may_end_earlier = false;
};

std::string write_time(const TimeSpent& time, std::size_t width) {
  const double share = std::clamp(time.elapsed_share, 0.0, 1.0);
  const std::size_t cells = width < 80 ? 10 : 20;
  const auto full_cells = static_cast<std::size_t>(share * static_cast<double>(cells));
  std::string line = fmt::format("[{:<{}}]", std::string(full_cells, '='), cells);

  // Without an estimate, 0% would look as if nothing went on.
  if (time.remaining || share > 0.0) line += fmt::format(" {:3}%", static_cast<int>(share * 100));
  line += "  " + clock_text(time.elapsed);
  if (!time.remaining) return line;

  // A clock that counts down says 0:00 only when the time is over.
  const auto rounded_up = *time.remaining + std::chrono::milliseconds(999);
  return line +
         fmt::format(", {}{} left", time.may_end_earlier ? "at most " : "", clock_text(rounded_up));
}

/// Returns "simulated run 2 of 6", "warm-up" or "" for a timed run.
std::string kind_text(const Progress& progress) {
  std::string text(round_kind_word(progress.kind, progress.are_samples_taken));
  if (text.empty() || !progress.run) return text;
  text += fmt::format(" run {}", progress.run->number);
  if (progress.run->count) text += fmt::format(" of {}", *progress.run->count);
  return text;
}

/// Returns "  3 of 64 left in the race"; empty without a race.
std::string race_text(const std::optional<RaceSoFar>& race) {
  return race ? fmt::format("  {} of {} left in the race", race->left, race->all) : "";
}

/// Returns the difference found so far, behind the name of the candidate, and how many more layouts
/// would probably answer which side is better.
std::string describe_difference(const DifferenceSoFar& so_far) {
  const stats::Change change{.change = so_far.change,
                             .bounds = stats::IntervalEnds{so_far.low, so_far.high}};
  const std::string text = one_line(so_far.candidate) + " " + delta_text(change);
  return so_far.layouts_to_answer ? text + "; " + more_layouts_advice(*so_far.layouts_to_answer)
                                  : text;
}

/// Returns a line such as "[=====     ]  50%  0:05, 0:05 left  mean 12.3 ms  ./old". `shown_share`:
/// part of the bar that is filled, which may exceed the latest estimate. `time_unit`: null for one
/// that fits.
std::string write_progress_line(const Progress& progress, double shown_share, std::size_t width,
                                const DisplayUnit* time_unit) {
  const TimeSpent time{.elapsed_share = shown_share,
                       .elapsed = progress.elapsed,
                       .remaining = progress.remaining,
                       .may_end_earlier = progress.may_end_earlier};
  const std::string start = write_time(time, width) + race_text(progress.race) + "  ";
  const std::string command = one_line(progress.command);

  // Timed runs have no text of their kind. The line has room for their results instead.
  const std::string run_kind = kind_text(progress);
  if (!run_kind.empty()) return start + run_kind + "  " + command;
  if (progress.difference) return start + describe_difference(*progress.difference);
  if (progress.mean_wall_seconds)
    return start + "mean " + time_text(*progress.mean_wall_seconds, time_unit) + "  " + command;
  return start + command;
}

std::string write_build_line(const BuildProgress& progress, std::size_t width) {
  const std::size_t ended = progress.ended;
  const double share =
      progress.count == 0 ? 0.0 : static_cast<double>(ended) / static_cast<double>(progress.count);
  const TimeSpent time{
      .elapsed_share = share, .elapsed = progress.elapsed, .remaining = progress.remaining};
  return write_time(time, width) + fmt::format("  building {} of {}  {}", progress.begun,
                                               progress.count, one_line(progress.latest));
}

constexpr std::size_t kMaxBins = 12;
constexpr std::size_t kMaxBarWidth = 50;
constexpr std::size_t kMinBarWidth = 8;
constexpr std::string_view kIndent = "  ";

/// Returns a bar whose length is given in eighths of a cell.
std::string draw_bar(std::size_t eighths) {
  constexpr std::array<std::string_view, 8> partial = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text.append(partial[eighths % 8]);
}

/// Returns the range that bins divide. Severe outliers, which lie beyond the fences, would make all
/// bins too wide, so it ends there. If the quartiles are equal, so are the fences, and the range
/// has all values.
stats::IntervalEnds find_binned_range(const stats::Summary& summary) {
  const auto fences = stats::tukey_fences(summary.q1, summary.q3, stats::kSevereReach);
  const bool has_spread = fences.low < fences.high;
  return {.low = has_spread ? std::max(summary.min, fences.low) : summary.min,
          .high = has_spread ? std::min(summary.max, fences.high) : summary.max};
}

std::size_t choose_bin_count(const stats::Summary& summary, const stats::IntervalEnds& range,
                             std::size_t max_count) {
  const double width =
      2 * (summary.q3 - summary.q1) / std::cbrt(static_cast<double>(summary.count));
  if (width <= 0) return max_count;
  return static_cast<std::size_t>(
      std::clamp(std::ceil((range.high - range.low) / width), 1.0, static_cast<double>(max_count)));
}

/// Returns `count` bins without values, the first of which begins at `low`.
std::vector<Bin> make_empty_bins(double low, double width, std::size_t count) {
  std::vector<Bin> bins(count);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    bins[i].low = low + width * static_cast<double>(i);
    bins[i].high = low + width * static_cast<double>(i + 1);
  }
  return bins;
}

std::vector<double> list_wall_times(const Results& results, std::size_t command) {
  const MetricResult* row = metric_result_of(results, command, Role::WallTime);
  std::vector<double> values;
  if (row == nullptr || !row->summary) return values;
  for (const Sample& sample : values_with_runs(results, command, row->metric_index))
    values.push_back(sample.value);
  return values;
}

/// Returns the bins with the number of these values in each.
std::vector<Bin> count_in_bins(std::vector<Bin> bins, const std::vector<double>& values) {
  for (Bin& bin : bins) bin.count = 0;
  for (const double value : values) {
    const auto place = std::ranges::find_if(bins, [&](const Bin& bin) { return value < bin.high; });
    ++(place == bins.end() ? bins.back() : *place).count;
  }
  return bins;
}

std::size_t count_filled(const std::vector<Bin>& bins) {
  return static_cast<std::size_t>(
      std::ranges::count_if(bins, [](const Bin& bin) { return bin.count > 0; }));
}

/// Returns bins for all commands that are compared with each other; empty if such bins would hide
/// the shape of a command's values, because the commands are far apart.
std::vector<Bin> make_shared_bins(const std::vector<std::vector<double>>& values) {
  std::vector<double> all;
  for (const std::vector<double>& each : values) all.insert(all.end(), each.begin(), each.end());
  const std::vector<Bin> shared = make_bins(all, stats::summarize(all), kMaxBins);

  // A shape is visible if the values fill as many of the shared bins as of bins for them alone, or
  // three.
  constexpr std::size_t enough_bins = 3;
  const bool shows_all = std::ranges::all_of(values, [&](const std::vector<double>& each) {
    const std::size_t filled_alone =
        count_filled(make_bins(each, stats::summarize(each), kMaxBins));
    return count_filled(count_in_bins(shared, each)) >= std::min(filled_alone, enough_bins);
  });
  return shows_all ? shared : std::vector<Bin>();
}

/// Returns the bins that the histograms of commands with the same reference share, by the group of
/// the reference; without groups that share none.
std::map<std::size_t, std::vector<Bin>> find_shared_bins(const Results& results) {
  std::map<std::size_t, std::vector<std::vector<double>>> groups;
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (std::vector<double> values = list_wall_times(results, c); !values.empty())
      groups[results.session.reference.group_of(c)].push_back(std::move(values));

  std::map<std::size_t, std::vector<Bin>> shared;
  for (const auto& [group, values] : groups)
    if (std::vector<Bin> bins = make_shared_bins(values); values.size() > 1 && !bins.empty())
      shared.emplace(group, std::move(bins));
  return shared;
}

std::vector<std::string> bin_labels(const std::vector<Bin>& bins, const Metric& metric) {
  const Notation notation =
      notation_of_steps(std::max(std::fabs(bins.front().low), std::fabs(bins.back().high)),
                        bins.front().high - bins.front().low, metric, 2);
  std::vector<std::pair<std::string, std::string>> ends;
  std::array<std::size_t, 2> widths{};
  for (const Bin& bin : bins) {
    ends.emplace_back(notation.text(bin.low), notation.text(bin.high));
    widths = {std::max(widths[0], display_width(ends.back().first)),
              std::max(widths[1], display_width(ends.back().second))};
  }
  std::vector<std::string> labels;
  labels.reserve(ends.size());
  for (const auto& [low, high] : ends)
    labels.push_back(fmt::format("{:>{}}{} … {:>{}}{}", "", widths[0] - display_width(low), low, "",
                                 widths[1] - display_width(high), high));
  return labels;
}

/// Returns how many cells the longest bar may have. A line has the indent, the label, two blanks,
/// the bar, a blank and the count.
std::size_t choose_max_bar_width(const std::string& label, std::size_t largest_count,
                                 const Style& style) {
  const bool is_width_limited = style.width > 0;
  if (!is_width_limited) return kMaxBarWidth;
  const std::size_t width_without_bar =
      kIndent.size() + display_width(label) + 2 + 1 + fmt::formatted_size("{}", largest_count);
  const std::size_t room = style.width > width_without_bar ? style.width - width_without_bar : 0;
  return std::clamp(room, kMinBarWidth, kMaxBarWidth);
}

/// Returns the bins of a histogram with the number of these values in each: `shared_bins`, or own
/// ones if there are none.
std::vector<Bin> choose_bins(std::vector<Bin> shared_bins, const std::vector<double>& values,
                             const stats::Summary& summary) {
  return shared_bins.empty() ? make_bins(values, summary, kMaxBins)
                             : count_in_bins(std::move(shared_bins), values);
}

/// Returns the bar of a bin; that of the largest count has `max_width` cells. Its last cell is a
/// block of some eighths of a cell. A bin with a single value gets at least one eighth, so that it
/// differs from an empty bin.
std::string draw_bar_of_bin(const Bin& bin, std::size_t largest_count, std::size_t max_width) {
  constexpr std::size_t eighths_per_cell = 8;
  const std::size_t min_eighths = bin.count > 0 ? 1 : 0;
  return draw_bar(std::max(min_eighths, bin.count * max_width * eighths_per_cell / largest_count));
}

/// Returns a line for each of the bins, of which at least one is not empty. All labels are equally
/// wide.
std::string draw_bins(const std::vector<Bin>& bins, const std::vector<std::string>& labels,
                      const Style& style) {
  const std::size_t largest_count = std::ranges::max_element(bins, {}, &Bin::count)->count;
  const std::size_t max_bar_width = choose_max_bar_width(labels.front(), largest_count, style);
  std::string text;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const std::string bar = draw_bar_of_bin(bins[i], largest_count, max_bar_width);
    text += fmt::format("{}{}  {}{}{}\n", kIndent, labels[i], bar, bar.empty() ? "" : " ",
                        bins[i].count);
  }
  return text;
}

/// Returns what is below the tables, with an empty line before each part.
std::string write_verdicts(const Results& results, const Style& style) {
  const std::string explanations_and_gates =
      (style.verbose ? why_lines(results) : "") + shell_start_time_lines(results) +
      precision_line(results) + gate_lines(results, style.color);

  std::string verdicts;
  for (const std::string& part :
       {comparison_lines(results, style), scan_table(results, style),
        wrapped_lines(function_summary(results), style),
        wrapped_lines(explanations_and_gates, style), wrapped_lines(race_line(results), style)})
    if (!part.empty()) verdicts += "\n" + part;
  return verdicts;
}

}  // namespace

std::string wrapped_lines(const std::string& text, const Style& style) {
  std::string lines;
  for (const std::string& line : lines_with_text(text))
    lines += wrapped_to_cells(style.ascii ? to_ascii(line) : line, style.width) + "\n";
  return lines;
}

std::string lines_about_contradicting_means(const Results& results, const Style& style) {
  std::string text;
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m) {
    const Metric& metric = results.session.metrics[m];
    if (metric.shown == Shown::Verbose && !style.verbose) continue;
    for (std::size_t c = 0; c < results.commands.size(); ++c) {
      if (!contradicts_means(results, m, c)) continue;
      text += dim_note(difference_of_means(results, m, c), style);
      if (!style.verbose) return text;
    }
  }
  return text;
}

std::string histograms(const Results& results, const Style& style) {
  if (!style.shows_histograms) return "";
  const std::map<std::size_t, std::vector<Bin>> shared = find_shared_bins(results);
  std::string text;
  for (const std::size_t c : commands_in_table_order(results)) {
    const auto bins = shared.find(results.session.reference.group_of(c));
    const std::string bars =
        histogram(results, c, style, bins == shared.end() ? std::vector<Bin>() : bins->second);
    if (!bars.empty()) text += "\n" + write_header(results, c, style) + bars;
  }
  return text;
}

// Says how the candidates compare with their references. With few commands, there is a sentence for
// each candidate. With more commands, there is one for each reference, and with many references,
// one for each command that the user typed.
std::string comparison_lines(const Results& results, const Style& style) {
  std::string failures = failure_lines(results, style);

  // race_line() says which commands of a race are the best.
  const bool is_race = results.findings.race.has_value();
  if (is_race) return failures;

  // The lines about failures say that deltas leave out the failed runs. Without candidates, there
  // are no deltas.
  const bool has_candidates = !find_candidates(results).empty();
  if (results.headline_comparisons.empty()) return has_candidates ? failures : "";

  constexpr std::size_t max_described_references = 10;
  const Comparisons comparisons_by_gain = sort_by_gain(results);
  const std::vector<Comparisons> groups = group_by_reference(results, comparisons_by_gain);
  if (groups.size() > max_described_references)
    return count_significant_by_typed_command(results, comparisons_by_gain, style) + failures;

  std::string text;
  for (const Comparisons& group : groups) text += describe_group(results, group, style);
  return text + failures;
}

ScreenSections screen_sections_of_benchmark(const Results& results, const Style& style,
                                            ScreenContent content) {
  // Without any values, there is nothing to show. Warnings say what went wrong.
  if (std::ranges::none_of(results.commands, has_values)) return {};

  if (content == ScreenContent::VerdictsOnly)
    return {
        .tables = "",
        .verdicts = wrapped_lines(gate_lines(results, style.color) + race_line(results), style)};

  const std::string verdicts = write_verdicts(results, style);
  const std::string all_tables =
      tables(results, style) + function_text(results, style) + path_text(results, style);
  return style.ascii ? ScreenSections{to_ascii(all_tables), to_ascii(verdicts)}
                     : ScreenSections{all_tables, verdicts};
}

std::string note_lines(const std::vector<std::string>& notes, std::size_t width) {
  std::string lines;
  for (auto note = notes.begin(); note != notes.end(); ++note)
    if (std::find(notes.begin(), note, *note) == note)
      lines += wrapped_message("note: " + *note, width);
  return lines;
}

void ProgressBar::draw(const std::string& line, std::size_t width) {
  // One write erases and draws the line, so that it does not flicker.
  sink_(std::string(kEraseLine) +
        cut_end(ascii_ ? to_ascii(line) : line, width > 0 ? width - 1 : 0));
}

bool ProgressBar::may_draw(std::chrono::nanoseconds elapsed) {
  if (elapsed_when_drawn_ && elapsed - *elapsed_when_drawn_ < kMinPauseBetweenDrawings)
    return false;
  elapsed_when_drawn_ = elapsed;
  return true;
}

void ProgressBar::progress(const Progress& progress) {
  if (!may_draw(progress.elapsed)) return;
  const std::size_t width = width_();
  largest_share_ = std::max(largest_share_, progress.elapsed_share);
  draw(write_progress_line(progress, largest_share_, width, time_unit_), width);
}

void ProgressBar::building(const BuildProgress& progress) {
  if (!may_draw(progress.elapsed)) return;
  const std::size_t width = width_();
  draw(write_build_line(progress, width), width);
}

void ProgressBar::finished() {
  if (elapsed_when_drawn_) sink_(kEraseLine);
  elapsed_when_drawn_.reset();
}

std::vector<Sample> values_with_runs(const Results& results, std::size_t command,
                                     std::size_t metric) {
  std::vector<Sample> samples;
  for (const std::uint32_t run : results.session.runs.of_command(command))
    if (const auto value = results.session.runs.value(run, metric))
      samples.push_back({run, *value});
  return samples;
}

// Makes the bins of a histogram. They have equal widths, except the first and the last one, which
// reach to the smallest and to the largest value.
std::vector<Bin> make_bins(std::span<const double> values, const stats::Summary& summary,
                           std::size_t max_count) {
  const stats::IntervalEnds range = find_binned_range(summary);
  const bool are_all_equal = range.low >= range.high;
  if (are_all_equal) return {{.low = summary.min, .high = summary.max, .count = values.size()}};

  const std::size_t count = choose_bin_count(summary, range, max_count);
  const double width = (range.high - range.low) / static_cast<double>(count);
  std::vector<Bin> bins = make_empty_bins(range.low, width, count);

  // Values outside of the range are severe outliers. They are counted in the first or the last bin.
  const auto last_index = static_cast<double>(count - 1);
  for (const double value : values) {
    const double index = std::clamp((value - range.low) / width, 0.0, last_index);
    ++bins[static_cast<std::size_t>(index)].count;
  }

  // These bins reach as far as their values.
  bins.front().low = summary.min;
  bins.back().high = summary.max;
  return bins;
}

// Histograms of compared commands share their bins, so that one sees how their values differ.
std::string histogram(const Results& results, std::size_t command, const Style& style,
                      std::vector<Bin> shared_bins) {
  const MetricResult* wall_time = metric_result_of(results, command, Role::WallTime);
  if (wall_time == nullptr || !wall_time->summary) return "";

  // With a summary, there is at least one value, so at least one bin is not empty.
  const std::vector<Bin> bins =
      choose_bins(std::move(shared_bins), list_wall_times(results, command), *wall_time->summary);
  return draw_bins(bins, bin_labels(bins, results.session.metrics[wall_time->metric_index]), style);
}

}  // namespace lauka::report
