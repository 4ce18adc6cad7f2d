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
      if (results.session.metrics[row.metric].shown == Shown::Verbose && !style.verbose) continue;
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
  const stats::Delta& delta = *row_of(results.commands[candidate], index)->delta;

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
                                                  const HeadlineComparison& ranking) {
  std::vector<const stats::Summary*> summaries;
  const auto add_summary_of = [&](std::size_t command) {
    const MetricResult* row = row_of(results.commands[command], ranking.metric);
    if (row != nullptr && row->summary) summaries.push_back(&*row->summary);
  };
  add_summary_of(ranking.command);
  if (const auto reference = results.session.reference.index_in_session(ranking.command))
    add_summary_of(*reference);
  return summaries;
}

/// True if all values of both commands are 0. A baseline's values are taken as 0 if the ratio is 1.
bool is_all_zeros(const Results& results, const HeadlineComparison& ranking) {
  const auto all = find_summaries(results, ranking);
  return !all.empty() && ranking.speed.speed_factor == 1.0 &&
         std::ranges::all_of(all,
                             [](const stats::Summary* summary) { return summary->max == 0.0; });
}

std::string_view explain_ranking_without_interval(const Results& results,
                                                  const HeadlineComparison& ranking) {
  // Chance alone gives n differences one sign with a probability of 2^-n. With too few runs, no
  // interval reaches the confidence.
  const double tail = (1.0 - results.session.confidence) / 2.0;
  const double min_runs = std::ceil(-std::log2(tail));
  if (static_cast<double>(results.commands[ranking.command].runs) < min_runs)
    return "there are too few runs";
  const bool has_zero =
      std::ranges::any_of(find_summaries(results, ranking),
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

bool is_gain(const Results& results, const HeadlineComparison& ranking) {
  return ranking.speed.faster != (results.session.metrics[ranking.metric].better == Better::More);
}

/// Returns by which factor the candidate is better than the reference: below 1 if it is worse.
double gain_of(const Results& results, const HeadlineComparison& ranking) {
  return is_gain(results, ranking) ? ranking.speed.speed_factor : 1 / ranking.speed.speed_factor;
}

/// Returns the rankings by the primary metric, or by another metric if only that one has a
/// significant difference. Factors of different metrics cannot be compared with each other.
std::vector<HeadlineComparison> keep_rankings_by_one_metric(
    const Results& results, std::vector<HeadlineComparison> rankings) {
  std::size_t metric = primary_metric(results.session.metrics).value_or(rankings.front().metric);
  const auto is_significant_by_metric = [&](const HeadlineComparison& ranking) {
    return ranking.is_significant && ranking.metric == metric;
  };
  if (std::ranges::none_of(rankings, is_significant_by_metric)) {
    const auto other = std::ranges::find(rankings, true, &HeadlineComparison::is_significant);
    if (other != rankings.end()) metric = other->metric;
  }
  std::erase_if(rankings,
                [&](const HeadlineComparison& ranking) { return ranking.metric != metric; });
  return rankings;
}

bool has_gate_decision(const Results& results, const HeadlineComparison& ranking) {
  return std::ranges::any_of(results.findings.verdicts, [&](const gate::Verdict& verdict) {
    return verdict.candidate == ranking.command && verdict.metric == ranking.metric &&
           verdict.answer != gate::Answer::Inconclusive;
  });
}

/// Returns the end of a sentence that says that no ranking is significant: the largest of the
/// differences that would have been found. Empty if one of them is unknown.
std::string make_detectable_clause(const Results& results,
                                   const std::vector<HeadlineComparison>& rankings) {
  std::optional<double> largest;
  for (const HeadlineComparison& ranking : rankings) {
    const MetricResult* row = row_of(results.commands[ranking.command], ranking.metric);
    if (row == nullptr || !row->detectable) return "";
    largest = std::max(largest, row->detectable);
  }
  return detectable_text(largest);
}

std::string write_ranking(const Results& results, const HeadlineComparison& ranking,
                          const Style& style) {
  const Metric& metric = results.session.metrics[ranking.metric];
  const std::string name = metric_in_words(one_line(metric.name));
  const bool faster = ranking.speed.faster;

  // The sentence is: candidate, `between`, reference, `after`.
  std::string between;
  std::string after = " in " + name;
  if (is_all_zeros(results, ranking)) {
    between = ": " + name + " is 0 in every run, as in ";
    after.clear();
  } else if (ranking.speed.is_exact && ranking.speed.speed_factor == 1.0) {
    between = ": " + name + " is exactly the same as in ";
    after = ", in every run";
  } else if (ranking.speed.is_exact) {
    between = fmt::format(": {} is {} times {} than in ", name, ratio_text(ranking.speed),
                          faster ? "lower" : "higher");
    after = " (exact)";
  } else if (!ranking.speed.bounds) {
    const std::string_view purpose = has_gate_decision(results, ranking)
                                         ? "for a confidence interval of its difference"
                                         : "to tell whether it differs";
    between =
        fmt::format(": {} {} from ", explain_ranking_without_interval(results, ranking), purpose);
  } else if (!ranking.is_significant) {
    between = " does not differ significantly from ";
    after += make_detectable_clause(results, {ranking});
  } else if (metric.role == Role::WallTime) {
    after.clear();
    between = fmt::format(" ran {} times {} than ", ratio_text(ranking.speed),
                          faster ? "faster" : "slower");
  } else {
    after.clear();
    between = fmt::format(": {} is {} times {} than in ", name, ratio_text(ranking.speed),
                          faster ? "lower" : "higher");
  }

  const std::string candidate = one_line(results.session.commands[ranking.command].name);
  const std::string reference = one_line(name_reference(results, ranking.command));
  return wrap_sentence(bold(candidate, style) + between + bold(reference, style) + after, style);
}

std::string write_headline(const Results& results, const std::vector<HeadlineComparison>& all,
                           const Style& style) {
  const std::vector<HeadlineComparison> rankings = keep_rankings_by_one_metric(results, all);
  const std::string scan = scan_headline(results, rankings[0].metric);
  if (!scan.empty()) return wrap_sentence(scan, style);

  const Metric& metric = results.session.metrics[rankings[0].metric];
  const std::string in_metric = " in " + metric_in_words(one_line(metric.name));
  const std::string reference =
      bold(one_line(results.reference_of(rankings[0].command).name), style);

  const bool has_several =
      rankings.size() > 1 && results.session.reference.index_in_session(rankings[0].command);
  const auto has_interval = [](const HeadlineComparison& ranking) {
    return ranking.speed.bounds.has_value() || ranking.speed.is_exact;
  };
  if (has_several && std::ranges::none_of(rankings, has_interval))
    return wrap_sentence(
        fmt::format("{} to tell whether a command differs from {}{}",
                    explain_ranking_without_interval(results, rankings[0]), reference, in_metric),
        style);

  // The rankings begin with the largest gain.
  const auto is_significant_gain = [&](const HeadlineComparison& ranking) {
    return ranking.is_significant && is_gain(results, ranking);
  };
  const auto best = std::ranges::find_if(rankings, is_significant_gain);
  if (best != rankings.end()) return write_ranking(results, *best, style);
  if (!has_several) return write_ranking(results, rankings[0], style);

  // No command is better. All others are worse, or do not differ.
  const auto worst = std::ranges::find(rankings.rbegin(), rankings.rend(), true,
                                       &HeadlineComparison::is_significant);
  const bool is_any_worse = worst != rankings.rend();
  if (!is_any_worse)
    return wrap_sentence("no command differs significantly from " + reference + in_metric +
                             make_detectable_clause(results, rankings),
                         style);
  if (worst->metric != primary_metric(results.session.metrics))
    return write_ranking(results, *worst, style);

  if (metric.role == Role::WallTime)
    return wrap_sentence("no command is significantly faster than " + reference, style);
  const std::string_view better = metric.better == Better::More ? "higher" : "lower";
  return wrap_sentence(
      fmt::format("no command is significantly {} than {}{}", better, reference, in_metric), style);
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

using Rankings = std::vector<HeadlineComparison>;

/// Divides the rankings by the reference that they are about; otherwise, the order stays.
std::vector<Rankings> group_by_reference(const Results& results, const Rankings& rankings) {
  std::map<std::size_t, Rankings> groups;
  for (const HeadlineComparison& ranking : rankings)
    groups[results.session.reference.group_of(ranking.command)].push_back(ranking);
  std::vector<Rankings> all;
  all.reserve(groups.size());
  for (auto& [reference, group] : groups) all.push_back(std::move(group));
  return all;
}

/// Returns a line for each typed command: at how many parameter values it differs from the
/// reference. By one metric, as lines about different metrics do not add up.
std::string count_significant_by_typed_command(const Results& results, const Rankings& all,
                                               const Style& style) {
  const Rankings rankings = keep_rankings_by_one_metric(results, all);
  const Metric& metric = results.session.metrics[rankings[0].metric];
  const bool is_time = metric.role == Role::WallTime;

  std::map<std::size_t, Rankings> by_typed;
  for (const HeadlineComparison& ranking : rankings)
    by_typed[results.session.commands[ranking.command].source_command_index].push_back(ranking);

  const std::string reference = bold(one_line(name_of_references(results)), style);
  const std::string_view better = is_time ? "faster" : "lower";
  const std::string_view worse = is_time ? "slower" : "higher";
  std::string in_metric;
  if (!is_time) in_metric = " in " + metric_in_words(one_line(metric.name));

  std::string lines;
  for (const auto& [typed, own] : by_typed) {
    const auto faster = std::ranges::count_if(own, [](const HeadlineComparison& ranking) {
      return ranking.is_significant && ranking.speed.faster;
    });
    const auto slower = std::ranges::count_if(own, [](const HeadlineComparison& ranking) {
      return ranking.is_significant && !ranking.speed.faster;
    });

    const std::string& name = results.session.commands[own[0].command].unfilled_name;
    lines += wrap_sentence(
        fmt::format("{} is significantly {} than {} at {} of {} values{}, and {} at {}",
                    bold(one_line(name), style), better, reference, faster, own.size(), in_metric,
                    worse, slower),
        style);
  }

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
    const MetricResult* row = row_of(results, c, Role::WallTime);
    if (row != nullptr && row->summary &&
        results.session.metrics[row->metric].shown == Shown::Always && row->summary->mean > 0.0 &&
        row->summary->mean < kShortRunSeconds)
      shortest = std::min(shortest.value_or(row->summary->median), row->summary->median);
  }
  return shortest;
}

std::string make_note_on_short_runs(const Results& results, const Style& style) {
  const auto shortest = short_run_median_seconds(results);
  if (!shortest) return "";

  const auto& start = results.session.seconds_of_running_true;
  if (!start)
    return dim_note(
        "a run shorter than 1 ms may consist mostly of the start of its process; to find out, "
        "measure the command 'true' as well",
        style);

  const std::string start_text = quantity(*start, Unit::Seconds);
  if (*start < *shortest)
    return dim_note(
        fmt::format("about {} of each run is the start of its process, as the runs of 'true' show",
                    start_text),
        style);
  return dim_note(
      fmt::format("the shortest runs take no longer than those of 'true' ({}), so they are "
                  "mostly the start of a process",
                  start_text),
      style);
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

std::string write_progress_line(const Progress& progress, double share, std::size_t width,
                                const DisplayUnit* unit) {
  const TimeSpent time{.elapsed_share = share,
                       .elapsed = progress.elapsed,
                       .remaining = progress.remaining,
                       .may_end_earlier = progress.may_end_earlier};
  std::string line = write_time(time, width) + race_text(progress.race);

  if (const std::string kind = kind_text(progress); !kind.empty()) {
    line += "  " + kind;
  } else if (const auto& so_far = progress.difference) {
    const stats::Change change{.change = so_far->change,
                               .bounds = stats::IntervalEnds{so_far->low, so_far->high}};
    line += fmt::format("  {} {}", one_line(so_far->candidate), delta_text(change));
    return so_far->layouts_to_answer ? line + "; " + more_layouts_advice(*so_far->layouts_to_answer)
                                     : line;
  } else if (progress.mean_wall_seconds) {
    line += "  mean " + time_text(*progress.mean_wall_seconds, unit);
  }
  return line + "  " + one_line(progress.command);
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

std::size_t choose_bin_count(const stats::Summary& summary, double low, double high,
                             std::size_t max_count) {
  const double width =
      2 * (summary.q3 - summary.q1) / std::cbrt(static_cast<double>(summary.count));
  if (width <= 0) return max_count;
  return static_cast<std::size_t>(
      std::clamp(std::ceil((high - low) / width), 1.0, static_cast<double>(max_count)));
}

std::vector<double> list_wall_times(const Results& results, std::size_t command) {
  const MetricResult* row = row_of(results, command, Role::WallTime);
  std::vector<double> values;
  if (row == nullptr || !row->summary) return values;
  for (const Sample& sample : values_with_runs(results, command, row->metric))
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

std::string comparison_lines(const Results& results, const Style& style) {
  // The outcome of a race is race_line.
  if (results.findings.race) return failure_lines(results, style);

  std::vector<HeadlineComparison> rankings = results.headline_comparisons;
  std::ranges::stable_sort(rankings, [&](const HeadlineComparison& a, const HeadlineComparison& b) {
    return gain_of(results, a) > gain_of(results, b);
  });
  const std::string failures = failure_lines(results, style);
  if (rankings.empty()) return find_candidates(results).empty() ? "" : failures;

  constexpr std::size_t most_groups = 10;
  const std::vector<Rankings> groups = group_by_reference(results, rankings);
  if (groups.size() > most_groups)
    return count_significant_by_typed_command(results, rankings, style) + failures;

  std::string text;
  for (const Rankings& group : groups) {
    if (compact_table_replaces_full_tables(results)) {
      text += write_headline(results, group, style);
      continue;
    }
    for (const HeadlineComparison& ranking : group) text += write_ranking(results, ranking, style);
  }
  return text + failures;
}

ScreenSections screen_sections_of_benchmark(const Results& results, const Style& style,
                                            ScreenContent content) {
  if (std::ranges::none_of(results.commands, has_values)) return {};
  if (content == ScreenContent::VerdictsOnly)
    return {"", wrapped_lines(gate_lines(results, style.color) + race_line(results), style)};
  const std::string summary = comparison_lines(results, style);
  const std::string scan = scan_table(results, style);
  const std::string below = (style.verbose ? why_lines(results) : "") +
                            shell_start_time_lines(results) + precision_line(results) +
                            gate_lines(results, style.color);
  std::string verdicts;
  for (const std::string& part :
       {summary, scan, wrapped_lines(function_summary(results), style), wrapped_lines(below, style),
        wrapped_lines(race_line(results), style)})
    if (!part.empty()) verdicts += "\n" + part;
  const std::string shown =
      tables(results, style) + function_text(results, style) + path_text(results, style);
  return style.ascii ? ScreenSections{to_ascii(shown), to_ascii(verdicts)}
                     : ScreenSections{shown, verdicts};
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

std::vector<Bin> make_bins(std::span<const double> values, const stats::Summary& summary,
                           std::size_t max_count) {
  // Severe outliers would make all other bins too wide, so they go into the outermost ones.
  const auto fences = stats::tukey_fences(summary.q1, summary.q3, stats::kSevereReach);
  const bool has_spread = fences.low < fences.high;
  const double low = has_spread ? std::max(summary.min, fences.low) : summary.min;
  const double high = has_spread ? std::min(summary.max, fences.high) : summary.max;
  if (low >= high) return {{summary.min, summary.max, values.size()}};

  std::vector<Bin> bins(choose_bin_count(summary, low, high, max_count));
  const double width = (high - low) / static_cast<double>(bins.size());
  for (std::size_t i = 0; i < bins.size(); ++i) {
    bins[i].low = low + width * static_cast<double>(i);
    bins[i].high = low + width * static_cast<double>(i + 1);
  }

  for (const double value : values) {
    const double place =
        std::clamp((value - low) / width, 0.0, static_cast<double>(bins.size() - 1));
    ++bins[static_cast<std::size_t>(place)].count;
  }

  bins.front().low = summary.min;
  bins.back().high = summary.max;
  return bins;
}

std::string histogram(const Results& results, std::size_t command, const Style& style,
                      std::vector<Bin> shared) {
  const MetricResult* row = row_of(results, command, Role::WallTime);
  if (row == nullptr || !row->summary) return "";

  const std::vector<double> values = list_wall_times(results, command);
  const std::vector<Bin> bins = shared.empty() ? make_bins(values, *row->summary, kMaxBins)
                                               : count_in_bins(std::move(shared), values);
  const std::vector<std::string> labels = bin_labels(bins, results.session.metrics[row->metric]);

  // A line has the indent, the label, two blanks, the bar, a blank and the count.
  const std::size_t largest_count = std::ranges::max_element(bins, {}, &Bin::count)->count;
  const std::size_t width_of_rest = kIndent.size() + display_width(labels.front()) + 2 + 1 +
                                    fmt::formatted_size("{}", largest_count);
  const std::size_t room = style.width > width_of_rest ? style.width - width_of_rest : 0;
  const std::size_t widest_bar =
      style.width == 0 ? kMaxBarWidth : std::clamp(room, kMinBarWidth, kMaxBarWidth);

  std::string text;
  constexpr std::size_t eighths_of_cell = 8;  // a bar ends in a block of some eighths of a cell
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const std::size_t min_eighths = bins[i].count > 0 ? 1 : 0;
    const std::size_t eighths = bins[i].count * widest_bar * eighths_of_cell / largest_count;
    const std::string drawn = draw_bar(std::max(min_eighths, eighths));
    text += fmt::format("{}{}  {}{}{}\n", kIndent, labels[i], drawn, drawn.empty() ? "" : " ",
                        bins[i].count);
  }

  return text;
}

}  // namespace lauka::report
