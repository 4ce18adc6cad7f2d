#include "history/page.h"

#include "core/text.h"
#include "history/answer_text.h"
#include "history/page_files.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/html.h"
#include "report/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::history {

namespace {

using report::html_text;

constexpr std::size_t kLargeChartPixels = 150;  // height
constexpr std::size_t kCardChartPixels = 44;    // height
constexpr std::size_t kMaxCommitRows = 25;
constexpr std::string_view kColorClass = "c0";  // CSS class of the page's first colour

/// Converts the values of a series, which may be logarithms, into places in a chart.
struct Scale {
  const SteppedSeries& stepped;
  Metric metric{};
  report::Axis axis{};

  bool is_change() const { return stepped.trend.against != ComparedWith::Nothing; }

  /// Returns the number that the axis shows for a value: a change, or the value in its unit.
  double to_shown_number(double value) const {
    if (is_change()) return std::expm1(value);
    return stepped.trend.is_logarithm ? std::exp(value) : value;
  }

  /// Returns where a value is in a chart of this height, measured from the top.
  std::size_t distance_from_top(double value, std::size_t height) const {
    const double share_below = axis.percent(to_shown_number(value)) / 100.0;
    return static_cast<std::size_t>(std::lround(static_cast<double>(height) * (1.0 - share_below)));
  }
};

Scale make_scale(const SteppedSeries& stepped) {
  Scale scale{.stepped = stepped, .metric = as_metric(stepped.series.metric)};
  if (scale.is_change()) scale.metric.unit = Unit::Fraction;
  report::Extent extent;
  for (const CommitValue& observation : stepped.trend.observations)
    for (const double end : {observation.value - observation.half_width_95(),
                             observation.value + observation.half_width_95()})
      extent.include(scale.to_shown_number(end));
  const bool is_wide =
      !scale.is_change() && report::needs_logarithmic_axis(extent.low, extent.high);
  scale.axis = (is_wide ? report::logarithmic_axis : report::linear_axis)(extent.low, extent.high);
  return scale;
}

// A commit is two units wide in a chart, so that its middle is a whole number, too.
constexpr std::size_t kUnitsOfCommit = 2;

constexpr std::size_t middle_of_commit(std::size_t commit) {
  return kUnitsOfCommit * commit + 1;
}

std::size_t width_in_units(const Trend& trend) {
  return kUnitsOfCommit * trend.observations.size();
}

/// Returns the mean of the values of some commits, of which there must be at least one.
double mean_value(std::span<const CommitValue> commits) {
  double sum = 0.0;
  for (const CommitValue& commit : commits) sum += commit.value;
  return sum / static_cast<double>(commits.size());
}

/// Draws the levels of a series as an SVG path. A level is the commits from one step to the next.
/// It is drawn as a horizontal line at the mean of their values.
std::string draw_levels(const Scale& scale, std::size_t width, std::size_t height) {
  const auto& commits = scale.stepped.trend.observations;
  const auto left_edge_of = [&](std::size_t commit) { return commit * width / commits.size(); };

  // A level ends before the first commit after a step, and the last level ends behind the newest
  // commit.
  std::vector<std::size_t> level_ends;
  for (const KnownStep& known : scale.stepped.steps) level_ends.push_back(known.step.first_point);
  level_ends.push_back(commits.size());

  std::string path;
  std::size_t level_begin = 0;
  for (const std::size_t level_end : level_ends) {
    const bool has_commits = level_end > level_begin;  // false only for a step at the first commit
    if (has_commits) {
      const auto commits_of_level =
          std::span(commits).subspan(level_begin, level_end - level_begin);
      const double mean = mean_value(commits_of_level);

      // In SVG, M moves to a point, and H draws a horizontal line from there.
      path += fmt::format("M{} {}H{}", left_edge_of(level_begin),
                          scale.distance_from_top(mean, height), left_edge_of(level_end));
    }
    level_begin = level_end;
  }
  return report::svg_path("level", path);
}

std::vector<report::Spot> make_spots(const Scale& scale, std::size_t width, std::size_t height) {
  std::vector<report::Spot> spots;
  const auto& commits = scale.stepped.trend.observations;
  for (std::size_t i = 0; i < commits.size(); ++i)
    spots.push_back({middle_of_commit(i) * width / width_in_units(scale.stepped.trend),
                     scale.distance_from_top(commits[i].value, height)});
  return spots;
}

/// Makes labels of three commits or, if there is room between them, of five.
std::vector<report::TickLabel> make_commit_labels(const Trend& trend) {
  constexpr std::size_t min_commits_for_five_labels = 9;
  const std::size_t last = trend.observations.size() - 1;
  std::set<std::size_t> labelled_commits{0, last / 2, last};
  if (trend.observations.size() >= min_commits_for_five_labels)
    labelled_commits.insert({last / 4, last - last / 4});

  constexpr std::size_t size_of_date = 10;  // without the time
  std::vector<report::TickLabel> labels;
  labels.reserve(labelled_commits.size());
  for (const std::size_t i : labelled_commits)
    labels.push_back({report::horizontal_percent(static_cast<double>(middle_of_commit(i)),
                                                 width_in_units(trend)),
                      commit_name(trend.observations[i]),
                      date_time_text(trend.observations[i].began).substr(0, size_of_date)});
  return labels;
}

/// Draws a vertical line at each step, over the whole height.
std::string draw_steps(const Scale& scale, std::size_t height) {
  // All lines with the same CSS class become one path, which makes the page smaller.
  std::map<std::string_view, std::string> path_by_class;
  for (const KnownStep& known : scale.stepped.steps) {
    // The class "known" gives a faint line to a step that needs no attention.
    const bool needs_attention = known.state == StepState::Alarm;
    path_by_class[needs_attention ? "at" : "at known"] +=
        fmt::format("M{} 0v{}", middle_of_commit(known.step.first_point), height);
  }

  std::string paths;
  for (const auto& [css_class, path] : path_by_class) paths += report::svg_path(css_class, path);
  return paths;
}

/// Draws the interval of each commit that has one as a vertical line.
std::string draw_intervals(const Scale& scale, std::size_t height) {
  std::string path;
  const auto& commits = scale.stepped.trend.observations;
  for (std::size_t i = 0; i < commits.size(); ++i) {
    const double half_width = commits[i].half_width_95();
    const bool has_interval = half_width > 0.0;
    if (has_interval)
      path += fmt::format("M{} {}V{}", middle_of_commit(i),
                          scale.distance_from_top(commits[i].value - half_width, height),
                          scale.distance_from_top(commits[i].value + half_width, height));
  }
  return path.empty() ? "" : report::svg_path("interval", path);
}

/// Returns the names of all commits for the page's script, which shows the one at the pointer.
std::string list_commit_names(const Trend& trend) {
  std::vector<std::string> names;
  for (const CommitValue& observation : trend.observations)
    names.push_back(commit_name(observation));
  return html_text(fmt::format("{}", fmt::join(names, "|")));
}

/// Returns what a large chart shows: the value of each commit, with intervals, levels and steps.
std::string draw_large_chart_content(const Scale& scale) {
  const Trend& trend = scale.stepped.trend;
  const std::size_t width = width_in_units(trend);
  constexpr std::size_t height = report::kSvgUnits;
  return draw_levels(scale, width, height) + draw_steps(scale, height) +
         draw_intervals(scale, height) +
         report::svg_spots(make_spots(scale, width, height), kColorClass,
                           fmt::format(" data-labels=\"{}\"", list_commit_names(trend)));
}

/// Returns a large chart of a series as HTML, with its axes.
std::string draw_large_chart(const Scale& scale) {
  const Trend& trend = scale.stepped.trend;
  const std::string content = draw_large_chart_content(scale);
  const std::string title = fmt::format("{}: {} by commit", title_of(scale.stepped.series),
                                        values_heading(trend.against));
  return fmt::format("<div class=\"chart {}\"{}>\n", kColorClass,
                     report::hover_attributes(scale.axis, scale.metric, "y")) +
         report::svg_with_vertical_axis({.height_pixels = kLargeChartPixels,
                                         .axis = scale.axis,
                                         .metric = scale.metric,
                                         .width_units = width_in_units(trend),
                                         .title = title,
                                         .content = content}) +
         report::svg_tick_labels(make_commit_labels(trend)) + "</div>\n";
}

/// Returns nothing for a single commit, whose value the page says in words.
std::string draw_large_chart_if_useful(const SteppedSeries& stepped) {
  if (stepped.trend.observations.size() < 2) return "";
  return draw_large_chart(make_scale(stepped));
}

/// The kinds of steps, in the order in which the page lists them.
enum StepRank : std::size_t { Regression, Improvement, OtherStep, NoStep };

struct StepLook {
  StepRank rank;
  report::Ink ink;
  std::string word;
};

StepLook choose_look(const KnownStep& known, Better better) {
  if (known.state == StepState::Alarm) return {Regression, report::Ink::Red, "regression"};
  if (known.state != StepState::Better) {
    constexpr std::string_view comma = ", ";  // begins state_suffix()
    return {OtherStep, report::Ink::Dim, state_suffix(known).substr(comma.size())};
  }
  if (better == Better::Neither) return {OtherStep, report::Ink::Dim, "change"};
  return {Improvement, report::Ink::Green, "improvement"};
}

/// When a session began and, for sessions that began at the same time, in which order they were
/// added.
using SessionTime = std::pair<std::int64_t, std::int64_t>;

struct MeasuredCommit {
  SessionTime first_session{std::numeric_limits<std::int64_t>::max(), 0};
  std::set<const MetricHistory*> measured_by{};
};

/// Returns by name when each commit was first measured, and in which series.
std::map<std::string, MeasuredCommit> find_measured_commits(
    const std::vector<MetricHistory>& all_series) {
  std::map<std::string, MeasuredCommit> commit_by_name;
  for (const MetricHistory& series : all_series) {
    for (const SessionPoint& point : series.points) {
      MeasuredCommit& commit = commit_by_name[point.commit];
      commit.first_session =
          std::min(commit.first_session, SessionTime(point.began, point.order_added));
      commit.measured_by.insert(&series);
    }
  }
  return commit_by_name;
}

/// Returns the newest commit that several classes of machines measured, so that their changes can
/// be compared; empty if there is none. Each series comes from another class. A commit is as old as
/// its first session, because users may measure an old commit again.
std::string find_newest_shared_commit(const std::vector<MetricHistory>& series_of_classes) {
  std::string newest_name;
  SessionTime newest_time{std::numeric_limits<std::int64_t>::min(), 0};
  for (const auto& [name, commit] : find_measured_commits(series_of_classes)) {
    const bool is_shared = commit.measured_by.size() > 1;
    if (is_shared && commit.first_session >= newest_time) {
      newest_name = name;
      newest_time = commit.first_session;
    }
  }
  return newest_name;
}

/// Writes commits as HTML, with links if the user gave an address.
struct CommitWriter {
  const std::string& url;  ///< address of a commit, with {} for the commit; empty: no links

  std::string write_link(const std::string& commit) const {
    constexpr std::string_view placeholder = "{}";
    std::string shown = html_text(short_commit(commit));
    const std::size_t place = url.find(placeholder);
    if (commit.empty() || place == std::string::npos) return shown;

    // A commit may be any text, so it is percent-encoded in the address.
    std::string encoded;
    for (const char c : commit.substr(0, commit.find("+dirty"))) {
      const bool is_plain = is_letter(c) || is_digit(c) || c == '.' || c == '-';
      encoded +=
          is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    const std::string address = std::string(url).replace(place, placeholder.size(), encoded);
    return fmt::format("<a href=\"{}\">{}</a>", html_text(address), shown);
  }

  std::string write_link_or_time(const CommitValue& observation) const {
    return observation.commit.empty() ? html_text(date_time_text(observation.began))
                                      : write_link(observation.commit);
  }
};

std::string write_steps_list(const SteppedSeries& stepped, const CommitWriter& commit_writer) {
  std::string list;
  for (const KnownStep& known : stepped.steps) {
    const CommitValue& at = stepped.trend.observations[known.step.first_point];
    const report::Ink ink = choose_look(known, stepped.series.metric.better).ink;
    list += fmt::format("<li><span class=\"{}\">{}</span> at {}{}</li>\n", report::ink_class(ink),
                        html_text(step_change_text(stepped, known.step)),
                        commit_writer.write_link_or_time(at), html_text(state_suffix(known)));
  }
  if (const std::string pending = pending_text(stepped); !pending.empty())
    list += "<li>" + html_text(pending) + "</li>\n";
  return list.empty() ? list : "<ul>\n" + list + "</ul>\n";
}

/// Returns the row of the commit with this index in the table of commits.
report::TableRow make_commit_row(const SteppedSeries& stepped, std::size_t index,
                                 const CommitWriter& commit_writer) {
  const CommitValue& observation = stepped.trend.observations[index];
  const bool has_previous_commit = index > 0;
  std::string change_and_failures;
  if (has_previous_commit) change_and_failures = change_text(stepped, index);
  const std::string failures = report::failures_text(observation.endings);
  if (!failures.empty()) change_and_failures += " " + failures;

  return {{observation.commit.empty() ? "-" : commit_writer.write_link(observation.commit)},
          {date_time_text(observation.began)},
          {value_text(stepped, observation)},
          {change_and_failures}};
}

/// Returns a table of the newest commits as HTML, which shows only its summary until the reader
/// opens it.
std::string write_commit_table(const SteppedSeries& stepped, const CommitWriter& commit_writer) {
  report::Table table{
      .columns = {{.heading = {"commit"}, .cell_content = report::CellContent::Markup},
                  {.heading = {"measured (UTC)"}},
                  {.heading = {std::string(values_heading(stepped.trend.against))}},
                  {.heading = {"change"}}}};

  // The newest commit, which is the last observation, comes first.
  const std::size_t count = stepped.trend.observations.size();
  const std::size_t shown_count = std::min(count, kMaxCommitRows);
  for (std::size_t row = 0; row < shown_count; ++row)
    table.rows.push_back(make_commit_row(stepped, count - 1 - row, commit_writer));

  return fmt::format("<details><summary>The last {}</summary>\n{}</details>\n", shown_count,
                     report::table_html(table));
}

/// The sort key of changes. The second part is the size of the change with a minus, so that the
/// largest change of a StepRank comes first.
using Rank = std::pair<StepRank, double>;

struct Change {
  Rank rank{};
  report::TableRow cells{};
};

/// The part of a page about a series; `title`, `value` and `change` are HTML.
struct Entry {
  const SteppedSeries* stepped;
  std::string id;
  std::string title;
  std::string value;
  std::string change{};
  Rank rank{NoStep, 0.0};  ///< of the first change in the list of changes
};

/// Returns the row of a step in the page's table of changes. Regressions come before improvements
/// and other steps, and large changes before small ones.
Change make_change_at_step(const Entry& entry, const KnownStep& known,
                           const CommitWriter& commit_writer) {
  const SteppedSeries& stepped = *entry.stepped;
  const StepLook look = choose_look(known, stepped.series.metric.better);
  const CommitValue& first_commit = stepped.trend.observations[known.step.first_point];
  return {.rank = {look.rank, -std::fabs(known.step.change)},
          .cells = {{fmt::format("<a href=\"#{}\">{}</a>", entry.id, entry.title)},
                    {step_change_text(stepped, known.step), look.ink},
                    {commit_writer.write_link_or_time(first_commit)},
                    {date_time_text(first_commit.began)},
                    {look.word}}};
}

/// Returns the change at a step as the page's index shows it.
std::string write_change_of_entry(const SteppedSeries& stepped, const KnownStep& known) {
  const StepLook look = choose_look(known, stepped.series.metric.better);
  return fmt::format(" <span class=\"{}\">{}</span>", report::ink_class(look.ink),
                     html_text(step_change_text(stepped, known.step)));
}

/// Makes the entry of a series, without its changes. `number`: the number of the entry, from which
/// it gets an id that links in the page refer to.
Entry make_entry(const SteppedSeries& stepped, std::size_t number) {
  const CommitValue& newest_commit = stepped.trend.observations.back();
  return {.stepped = &stepped,
          .id = fmt::format("s{}", number),
          .title = html_text(title_of(stepped.series)),
          .value = html_text(value_text(stepped, newest_commit))};
}

/// Adds the steps of an entry's series to `changes`, the rows of the page's table of changes. Gives
/// the entry its most important change.
void add_changes(Entry& entry, const CommitWriter& commit_writer, std::vector<Change>& changes) {
  for (const KnownStep& known : entry.stepped->steps) {
    // A change for the worse that later commits reversed needs no attention.
    if (known.state == StepState::CancelledLater) continue;
    changes.push_back(make_change_at_step(entry, known, commit_writer));

    // The most important change has the smallest rank.
    const Rank& rank = changes.back().rank;
    const bool is_most_important = rank <= entry.rank;
    if (!is_most_important) continue;
    entry.rank = rank;

    // The index does not show a change that the user has acknowledged.
    if (known.state != StepState::Acknowledged)
      entry.change = write_change_of_entry(*entry.stepped, known);
  }
}

std::size_t count_changes(const std::vector<Change>& changes, StepRank rank) {
  const auto rank_of = [](const Change& change) { return change.rank.first; };
  return static_cast<std::size_t>(std::ranges::count(changes, rank, rank_of));
}

/// Returns the page's answer as HTML, such as "2 regressions, 1 improvement".
std::string write_answer(const std::vector<Change>& changes) {
  const std::size_t regression_count = count_changes(changes, Regression);
  const std::size_t improvement_count = count_changes(changes, Improvement);
  std::string answer = "No new regressions";
  if (regression_count > 0) answer = plural(regression_count, "regression");
  if (improvement_count > 0) answer += ", " + plural(improvement_count, "improvement");

  const std::string_view css_class = regression_count > 0 ? "answer worse" : "answer";
  return fmt::format("<p class=\"{}\">{}</p>\n", css_class, answer);
}

/// Returns the table of all changes, the most important ones first.
report::Table make_table_of_changes(std::vector<Change> changes) {
  std::ranges::stable_sort(changes, {}, &Change::rank);
  report::Table table{
      .columns = {{.heading = {"benchmark"}, .cell_content = report::CellContent::Markup},
                  {.heading = {"change"}, .cell_content = report::CellContent::Delta},
                  {.heading = {"at commit"}, .cell_content = report::CellContent::Markup},
                  {.heading = {"since (UTC)"}, .is_dropped_on_phone = true},
                  {.heading = {"what"}, .cell_content = report::CellContent::Text}}};
  for (Change& change : changes) table.rows.push_back(std::move(change.cells));
  return table;
}

/// Draws the small chart of a series in the index; nothing for a single commit.
std::string draw_card_chart(const SteppedSeries& stepped) {
  if (stepped.trend.observations.size() < 2) return "";
  const Scale scale = make_scale(stepped);
  return report::stretched_svg(
      kCardChartPixels, kColorClass, "",
      draw_levels(scale, report::kSvgUnits, kCardChartPixels) +
          report::svg_spots(make_spots(scale, report::kSvgUnits, kCardChartPixels), kColorClass,
                            ""));
}

/// Returns the series of all entries by title, with the sessions that can be combined: those of a
/// known commit whose change from the reference has an interval. Series with the same title come
/// from different classes of machines.
std::map<std::string, std::vector<MetricHistory>> find_combinable_series(
    const std::vector<Entry>& entries) {
  std::map<std::string, std::vector<MetricHistory>> series_by_title;
  for (const Entry& entry : entries) {
    MetricHistory series = entry.stepped->series;
    std::erase_if(series.points, [](const SessionPoint& point) {
      const auto& ratio = point.values.ratio_to_reference;
      const bool has_interval = ratio && ratio->error > 0.0;
      return point.commit.empty() || !has_interval;
    });
    if (!series.points.empty()) series_by_title[title_of(series)].push_back(std::move(series));
  }
  return series_by_title;
}

/// Returns as HTML the combined change at the newest commit that several classes of machines
/// measured; empty if there is no such commit.
std::string write_newest_combined_change(const std::string& title,
                                         std::vector<MetricHistory> series_of_classes,
                                         const CommitWriter& commit_writer) {
  const std::string commit = find_newest_shared_commit(series_of_classes);
  if (commit.empty()) return "";

  for (MetricHistory& series : series_of_classes)
    std::erase_if(series.points, [&](const SessionPoint& point) { return point.commit != commit; });

  std::string content;
  for (const FleetEffect& effect : combine_by_title(series_of_classes))
    content += fmt::format("<h3>{}</h3>\n<p>change from the reference at {}</p>\n{}",
                           html_text(title), commit_writer.write_link(commit), fleet_html(effect));
  return content;
}

/// Returns the part of the page that combines the changes that several classes of machines measured
/// at the same commit; empty if there is no such commit.
std::string write_machines_section(const std::vector<Entry>& entries,
                                   const CommitWriter& commit_writer) {
  std::string content;
  for (auto& [title, series_of_classes] : find_combinable_series(entries))
    content += write_newest_combined_change(title, std::move(series_of_classes), commit_writer);
  if (content.empty()) return "";
  return "<section id=\"machines\"><h2>On several classes of machines</h2>\n" + content +
         "</section>\n";
}

/// Returns the section of the page about a series. `machine_html`: the machine; may be empty.
std::string write_series_section(const Entry& entry, const std::string& machine_html,
                                 const CommitWriter& commit_writer) {
  const SteppedSeries& stepped = *entry.stepped;
  const CommitValue& newest_commit = stepped.trend.observations.back();
  const std::string newest_value =
      fmt::format("<p>{}: {} at {}</p>\n", values_heading(stepped.trend.against), entry.value,
                  commit_writer.write_link_or_time(newest_commit));
  return fmt::format("<section class=\"series\" id=\"{}\"><h2>{}</h2>\n", entry.id, entry.title) +
         machine_html + newest_value + write_steps_list(stepped, commit_writer) +
         draw_large_chart_if_useful(stepped) + write_commit_table(stepped, commit_writer) +
         "</section>\n";
}

struct PageContent {
  std::vector<Entry> entries{};
  std::vector<Change> changes{};
  std::set<std::string> machines{};  ///< the line of each, see machine_line()

  bool has_one_machine() const { return machines.size() == 1; }
};

/// Returns what the page shows of the series that have commits, in the order of `all_series`.
PageContent collect_content(std::span<const SteppedSeries> all_series,
                            const CommitWriter& commit_writer) {
  PageContent content;
  content.entries.reserve(all_series.size());
  for (const SteppedSeries& stepped : all_series) {
    const bool has_commits = !stepped.trend.observations.empty();
    if (!has_commits) continue;

    const std::size_t number = content.entries.size() + 1;
    Entry entry = make_entry(stepped, number);
    add_changes(entry, commit_writer, content.changes);
    content.entries.push_back(std::move(entry));
    content.machines.insert(machine_line(stepped.series.variant));
  }
  return content;
}

/// Returns the machine of an entry in an HTML element; empty if all entries have the same machine,
/// because the page names it once, above them.
std::string write_machine_unless_common(const PageContent& content, const Entry& entry,
                                        std::string_view html_element) {
  if (content.has_one_machine()) return "";
  return fmt::format("<{0} class=\"aside\">{1}</{0}>\n", html_element,
                     html_text(machine_line(entry.stepped->series.variant)));
}

/// Writes a card for each series, which links to the section of the series.
void write_index(const PageContent& content, const Sink& sink) {
  // The page's script shows the filter, which does not work without the script.
  if (content.entries.size() > 1)
    sink("<p class=\"filter\" hidden><label>filter by name <input type=\"search\"></label></p>\n");

  sink("<nav class=\"index\" aria-label=\"benchmarks\">\n");
  for (const Entry& entry : content.entries)
    sink(fmt::format("<a href=\"#{}\"><b>{}</b><span>{}</span>{} {}{}</a>\n", entry.id, entry.title,
                     entry.value, entry.change, write_machine_unless_common(content, entry, "span"),
                     draw_card_chart(*entry.stepped)));
  sink("</nav>\n");
}

}  // namespace

// The page begins with the changes that need attention. Then an index shows all series as small
// cards. Each card links to a section with the details of its series.
void write_history_page(const std::string& title, const std::string& commit_url,
                        std::span<const SteppedSeries> all_series, const Sink& sink) {
  const CommitWriter commit_writer{commit_url};
  PageContent content = collect_content(all_series, commit_writer);

  // The section about machines lists them in the order of `all_series`, so it is written before the
  // entries are sorted.
  const std::string machines_section = write_machines_section(content.entries, commit_writer);

  // Entries with important changes come first.
  std::ranges::stable_sort(content.entries, {}, &Entry::rank);

  report::write_page_begin(title, page_files::kStyleCss, sink);
  if (content.has_one_machine())
    sink("<p class=\"faint\">" + html_text(*content.machines.begin()) + "</p>\n");

  sink(write_answer(content.changes));
  if (!content.changes.empty()) {
    constexpr std::string_view css_class = "changes";
    sink(report::table_html(make_table_of_changes(std::move(content.changes)), css_class));
  }

  write_index(content, sink);
  sink(machines_section);
  for (const Entry& entry : content.entries)
    sink(write_series_section(entry, write_machine_unless_common(content, entry, "p"),
                              commit_writer));

  report::write_page_end(page_files::kTrendsJs, sink);
}

}  // namespace lauka::history
