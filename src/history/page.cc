#include "history/page.h"

#include "core/text.h"
#include "history/answer_text.h"
#include "history/page_files.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/html.h"
#include "report/table.h"

#include <algorithm>
#include <array>
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

constexpr std::size_t kChart = 150;  // pixels
constexpr std::size_t kSmall = 44;   // pixels
constexpr std::size_t kMaxRows = 25;

struct Scale {
  const SteppedSeries& stepped;
  Metric metric{};
  report::Axis axis{};

  bool is_change() const { return stepped.trend.against != ComparedWith::Nothing; }

  double shown(double value) const {
    if (is_change()) return std::expm1(value);
    return stepped.trend.is_logarithm ? std::exp(value) : value;
  }

  std::size_t down(double value, std::size_t height) const {
    return static_cast<std::size_t>(
        std::lround(static_cast<double>(height) * (1.0 - axis.percent(shown(value)) / 100.0)));
  }
};

Scale make_scale(const SteppedSeries& stepped) {
  Scale scale{.stepped = stepped, .metric = as_metric(stepped.series.metric)};
  if (scale.is_change()) scale.metric.unit = Unit::Fraction;
  report::Extent extent;
  for (const CommitValue& observation : stepped.trend.observations)
    for (const double end : {observation.value - observation.half_width_95(),
                             observation.value + observation.half_width_95()})
      extent.include(scale.shown(end));
  const bool is_wide =
      !scale.is_change() && report::needs_logarithmic_axis(extent.low, extent.high);
  scale.axis = (is_wide ? report::logarithmic_axis : report::linear_axis)(extent.low, extent.high);
  return scale;
}

constexpr std::size_t commit_place(std::size_t commit) {
  return 2 * commit + 1;
}

std::size_t width_of(const Trend& trend) {
  return 2 * trend.observations.size();
}

std::string draw_levels(const Scale& scale, std::size_t width, std::size_t height) {
  const auto& commits = scale.stepped.trend.observations;
  const auto over = [&](std::size_t i) { return i * width / commits.size(); };
  std::vector<std::size_t> ends;
  for (const KnownStep& known : scale.stepped.steps) ends.push_back(known.step.first_point);
  ends.push_back(commits.size());
  std::string path;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += commits[i].value;
    if (end > begin)
      path += fmt::format("M{} {}H{}", over(begin),
                          scale.down(sum / static_cast<double>(end - begin), height), over(end));
    begin = end;
  }
  return report::svg_path("level", path);
}

std::vector<report::Spot> make_spots(const Scale& scale, std::size_t width, std::size_t height) {
  std::vector<report::Spot> spots;
  const auto& commits = scale.stepped.trend.observations;
  for (std::size_t i = 0; i < commits.size(); ++i)
    spots.push_back({commit_place(i) * width / width_of(scale.stepped.trend),
                     scale.down(commits[i].value, height)});
  return spots;
}

std::vector<report::TickLabel> commit_labels(const Trend& trend) {
  constexpr std::size_t to_day = 10;
  const std::size_t last = trend.observations.size() - 1;
  std::vector<report::TickLabel> labels;
  constexpr std::size_t few = 9;
  const std::set<std::size_t> places =
      last + 1 < few ? std::set<std::size_t>{0, last / 2, last}
                     : std::set<std::size_t>{0, last / 4, last / 2, last - last / 4, last};
  labels.reserve(places.size());
  for (const std::size_t i : places)
    labels.push_back(
        {report::horizontal_percent(static_cast<double>(commit_place(i)), width_of(trend)),
         commit_name(trend.observations[i]),
         date_time_text(trend.observations[i].began).substr(0, to_day)});
  return labels;
}

/// Draws the values of a series by commit, with their intervals and steps.
std::string large_chart(const Scale& scale) {
  using report::kSvgUnits;
  const Trend& trend = scale.stepped.trend;
  const std::size_t width = width_of(trend);

  // All lines with the same CSS class become one path, which makes the page smaller.
  std::map<std::string_view, std::string> path_by_class;
  for (const KnownStep& known : scale.stepped.steps) {
    const char* const css_class = known.state == StepState::Alarm ? "at" : "at known";
    path_by_class[css_class] +=
        fmt::format("M{} 0v{}", commit_place(known.step.first_point), kSvgUnits);
  }

  std::vector<std::string> names;
  for (std::size_t i = 0; i < trend.observations.size(); ++i) {
    const CommitValue& observation = trend.observations[i];
    names.push_back(commit_name(observation));

    const double half_width = observation.half_width_95();
    if (half_width > 0.0)
      path_by_class["interval"] += fmt::format(
          "M{} {}V{}", commit_place(i), scale.down(observation.value - half_width, kSvgUnits),
          scale.down(observation.value + half_width, kSvgUnits));
  }

  std::string content = draw_levels(scale, width, kSvgUnits);
  for (const auto& [css_class, path] : path_by_class) content += report::svg_path(css_class, path);

  const std::string title = title_of(scale.stepped.series);
  const std::string labels = html_text(fmt::format("{}", fmt::join(names, "|")));
  content += report::svg_spots(make_spots(scale, width, kSvgUnits), "c0",
                               fmt::format(" data-labels=\"{}\"", labels));

  return fmt::format("<div class=\"chart c0\"{}>\n",
                     report::hover_attributes(scale.axis, scale.metric, "y")) +
         report::svg_with_vertical_axis(
             {.height_pixels = kChart,
              .axis = scale.axis,
              .metric = scale.metric,
              .width_units = width,
              .title = title + ": " + std::string(values_heading(trend.against)) + " by commit",
              .content = content}) +
         report::svg_tick_labels(commit_labels(trend)) + "</div>\n";
}

/// A single commit is said in words.
std::string large_chart_if_useful(const SteppedSeries& stepped) {
  return stepped.trend.observations.size() > 1 ? large_chart(make_scale(stepped)) : std::string();
}

struct StepLook {
  int rank;
  report::Ink ink;
  std::string word;
};

StepLook choose_look(const KnownStep& known, Better better) {
  if (known.state == StepState::Alarm) return {0, report::Ink::Red, "regression"};
  if (known.state != StepState::Better) return {2, report::Ink::Dim, state_suffix(known).substr(2)};
  if (better == Better::Neither) return {2, report::Ink::Dim, "change"};
  return {1, report::Ink::Green, "improvement"};
}

std::string newest_of_several(const std::vector<MetricHistory>& series) {
  struct Commit {
    std::pair<std::int64_t, std::int64_t> began{std::numeric_limits<std::int64_t>::max(), 0};
    std::set<const MetricHistory*> classes{};
  };
  std::map<std::string, Commit> commits;
  for (const MetricHistory& history : series) {
    for (const SessionPoint& point : history.points) {
      Commit& commit = commits[point.commit];
      commit.began = std::min(commit.began, std::pair(point.began, point.order_added));
      commit.classes.insert(&history);
    }
  }
  std::pair<std::pair<std::int64_t, std::int64_t>, std::string> newest{
      {std::numeric_limits<std::int64_t>::min(), 0}, ""};
  for (const auto& [name, commit] : commits)
    if (commit.classes.size() > 1) newest = std::max(newest, std::pair(commit.began, name));
  return newest.second;
}

struct Commits {
  const std::string& url;

  std::string link(const std::string& commit) const {
    std::string shown = html_text(short_commit(commit));
    const std::size_t place = url.find("{}");
    if (commit.empty() || place == std::string::npos) return shown;
    // A commit may be any text, so it is percent-encoded in the address.
    std::string word;
    for (const char c : commit.substr(0, commit.find("+dirty"))) {
      const bool is_plain = is_letter(c) || is_digit(c) || c == '.' || c == '-';
      word += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return fmt::format("<a href=\"{}\">{}</a>", html_text(std::string(url).replace(place, 2, word)),
                       shown);
  }

  std::string link_or_time(const CommitValue& observation) const {
    return observation.commit.empty() ? html_text(date_time_text(observation.began))
                                      : link(observation.commit);
  }
};

std::string steps_list(const SteppedSeries& stepped, const Commits& commits) {
  std::string list;
  for (const KnownStep& known : stepped.steps) {
    const CommitValue& at = stepped.trend.observations[known.step.first_point];
    const report::Ink ink = choose_look(known, stepped.series.metric.better).ink;
    list += fmt::format("<li><span class=\"{}\">{}</span> at {}{}</li>\n", report::ink_class(ink),
                        html_text(step_change_text(stepped, known.step)), commits.link_or_time(at),
                        html_text(state_suffix(known)));
  }
  if (const std::string pending = pending_text(stepped); !pending.empty())
    list += "<li>" + html_text(pending) + "</li>\n";
  return list.empty() ? list : "<ul>\n" + list + "</ul>\n";
}

/// Returns a table of the newest commits, which is folded up at first.
std::string commit_rows(const SteppedSeries& stepped, const Commits& commits) {
  const Trend& trend = stepped.trend;
  report::Table table{
      .columns = {{.heading = {"commit"}, .cell_content = report::CellContent::Markup},
                  {.heading = {"measured (UTC)"}},
                  {.heading = {std::string(values_heading(trend.against))}},
                  {.heading = {"change"}}}};

  // The newest commit comes first.
  const std::size_t count = trend.observations.size();
  const std::size_t shown_count = std::min(count, kMaxRows);
  for (std::size_t row = 0; row < shown_count; ++row) {
    const std::size_t i = count - 1 - row;
    const CommitValue& observation = trend.observations[i];

    std::string change;
    if (i > 0) change = change_text(stepped, i);
    const std::string failures = report::failures_text(observation.endings);
    if (!failures.empty()) change += " " + failures;

    table.rows.push_back({{observation.commit.empty() ? "-" : commits.link(observation.commit)},
                          {date_time_text(observation.began)},
                          {value_text(stepped, observation)},
                          {change}});
  }

  return fmt::format("<details><summary>The last {}</summary>\n{}</details>\n", shown_count,
                     report::table_html(table));
}

/// The sort key of changes: regressions first, then improvements, then other changes; in each
/// group, the largest change first.
using Rank = std::pair<int, double>;

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
  Rank rank{3, 0.0};
};

/// Makes the entry of a series in the page's index, and adds the steps of the series to `changes`.
Entry make_entry(const SteppedSeries& stepped, std::size_t number, const Commits& commits,
                 std::vector<Change>& changes) {
  Entry entry{&stepped, fmt::format("s{}", number), html_text(title_of(stepped.series)),
              html_text(value_text(stepped, stepped.trend.observations.back()))};

  for (const KnownStep& known : stepped.steps) {
    if (known.state == StepState::CancelledLater) continue;
    const StepLook look = choose_look(known, stepped.series.metric.better);
    const CommitValue& commit = stepped.trend.observations[known.step.first_point];
    const std::string change = step_change_text(stepped, known.step);

    // The most urgent and then the largest changes come first.
    const Rank rank{look.rank, -std::fabs(known.step.change)};
    changes.push_back({rank,
                       {{fmt::format("<a href=\"#{}\">{}</a>", entry.id, entry.title)},
                        {change, look.ink},
                        {commits.link_or_time(commit)},
                        {date_time_text(commit.began)},
                        {look.word}}});

    // An entry has the rank of its first change, and shows this change.
    entry.rank = std::min(entry.rank, rank);
    const bool is_first = rank == entry.rank;
    if (is_first && known.state != StepState::Acknowledged)
      entry.change = fmt::format(" <span class=\"{}\">{}</span>", report::ink_class(look.ink),
                                 html_text(change));
  }

  return entry;
}

void write_changes(std::vector<Change> changes, const Sink& sink) {
  std::ranges::stable_sort(changes, {}, &Change::rank);
  std::array<std::size_t, 3> counts{};
  report::Table table{
      .columns = {{.heading = {"benchmark"}, .cell_content = report::CellContent::Markup},
                  {.heading = {"change"}, .cell_content = report::CellContent::Delta},
                  {.heading = {"at commit"}, .cell_content = report::CellContent::Markup},
                  {.heading = {"since (UTC)"}, .is_dropped_on_phone = true},
                  {.heading = {"what"}, .cell_content = report::CellContent::Text}}};
  for (Change& change : changes) {
    ++counts[static_cast<std::size_t>(change.rank.first)];
    table.rows.push_back(std::move(change.cells));
  }
  std::string answer = counts[0] == 0 ? "No new regressions" : plural(counts[0], "regression");
  if (counts[1] > 0) answer += ", " + plural(counts[1], "improvement");
  sink(fmt::format("<p class=\"answer{}\">{}</p>\n", counts[0] > 0 ? " worse" : "", answer));
  if (!table.rows.empty()) sink(report::table_html(table, "changes"));
}

std::string draw_card(const SteppedSeries& stepped) {
  if (stepped.trend.observations.size() < 2) return "";
  const Scale scale = make_scale(stepped);
  return report::stretched_svg(
      kSmall, "c0", "",
      draw_levels(scale, report::kSvgUnits, kSmall) +
          report::svg_spots(make_spots(scale, report::kSvgUnits, kSmall), "c0", ""));
}

/// Combines the changes that several classes of machines measured at the same commit. Empty if
/// there is no such commit.
std::string machines_section(const std::vector<Entry>& entries, const Commits& commits) {
  // Only changes from the reference that have an interval can be combined.
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

  std::string content;
  for (auto& [title, series_of_machines] : series_by_title) {
    const std::string commit = newest_of_several(series_of_machines);
    if (commit.empty()) continue;

    for (MetricHistory& series : series_of_machines)
      std::erase_if(series.points,
                    [&](const SessionPoint& point) { return point.commit != commit; });
    for (const FleetEffect& effect : combine_by_title(series_of_machines))
      content += fmt::format("<h3>{}</h3>\n<p>change from the reference at {}</p>\n{}",
                             html_text(title), commits.link(commit), fleet_html(effect));
  }

  if (content.empty()) return "";
  return "<section id=\"machines\"><h2>On several classes of machines</h2>\n" + content +
         "</section>\n";
}

}  // namespace

void write_history_page(const std::string& title, const std::string& commit_url,
                        std::span<const SteppedSeries> all, const Sink& sink) {
  const Commits commits{commit_url};
  std::vector<Entry> entries;
  entries.reserve(all.size());
  std::vector<Change> changes;
  std::set<std::string> machines;

  for (const SteppedSeries& stepped : all) {
    if (stepped.trend.observations.empty()) continue;
    entries.push_back(make_entry(stepped, entries.size() + 1, commits, changes));
    machines.insert(machine_line(stepped.series.variant));
  }

  const std::string machines_html = machines_section(entries, commits);
  std::ranges::stable_sort(entries, {}, &Entry::rank);

  // A machine that all entries have in common is named once, above them.
  const bool has_one_machine = machines.size() == 1;
  const auto machine_of = [&](const Entry& entry, std::string_view element) -> std::string {
    if (has_one_machine) return "";
    return fmt::format("<{0} class=\"aside\">{1}</{0}>\n", element,
                       html_text(machine_line(entry.stepped->series.variant)));
  };

  report::write_page_begin(title, page_files::kStyleCss, sink);
  if (has_one_machine) sink("<p class=\"faint\">" + html_text(*machines.begin()) + "</p>\n");
  write_changes(std::move(changes), sink);
  if (entries.size() > 1)
    sink("<p class=\"filter\" hidden><label>filter by name <input type=\"search\"></label></p>\n");

  sink("<nav class=\"index\" aria-label=\"benchmarks\">\n");
  for (const Entry& entry : entries)
    sink(fmt::format("<a href=\"#{}\"><b>{}</b><span>{}</span>{} {}{}</a>\n", entry.id, entry.title,
                     entry.value, entry.change, machine_of(entry, "span"),
                     draw_card(*entry.stepped)));
  sink("</nav>\n" + machines_html);

  for (const Entry& entry : entries) {
    const SteppedSeries& stepped = *entry.stepped;
    sink(fmt::format(
        "<section class=\"series\" id=\"{}\"><h2>{}</h2>\n{}<p>{}: {} at "
        "{}</p>\n{}{}{}</section>\n",
        entry.id, entry.title, machine_of(entry, "p"), values_heading(stepped.trend.against),
        entry.value, commits.link_or_time(stepped.trend.observations.back()),
        steps_list(stepped, commits), large_chart_if_useful(stepped),
        commit_rows(stepped, commits)));
  }

  report::write_page_end(page_files::kTrendsJs, sink);
}

}  // namespace lauka::history
