#include "history/page.h"

#include "core/foreign_text.h"
#include "history/fleet.h"
#include "history/parts.h"
#include "history/tell.h"
#include "report/charts.h"
#include "report/exports.h"
#include "report/svg.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::history {

namespace {

using report::html_text;

constexpr std::size_t kChart = 180;    // pixels high
constexpr std::size_t kSmall = 44;     // in the index
constexpr std::size_t kMostRows = 30;  // of a table
constexpr std::string_view kStyle = R"css(
.index { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .6rem; }
.index a { color: inherit; text-decoration: none; background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
  padding: .5rem; overflow: hidden; }
.index a:hover, .index a:focus { border-color: var(--faint); }
.index b { display: block; font-weight: 600; font-size: .9rem; overflow-wrap: anywhere; }
.index span { font-size: .85rem; }
.index svg { color: var(--c0); }
.level { stroke: var(--text); stroke-width: 1.5; stroke-opacity: .7; }
.at { stroke: var(--worse); stroke-dasharray: 3 3; }
.at.known { stroke: var(--faint); }
circle { fill: currentColor; }
section { margin-top: 2rem; }
td:first-child { font-family: ui-monospace, monospace; font-size: .9em; }
a { color: var(--c0); }
)css";

/// Values from top to bottom of a drawing.
struct Scale {
  double low = 0.0;
  double high = 0.0;
  std::size_t height = 0;

  double y(double value) const {
    constexpr double margin = 14.0;
    const double room = static_cast<double>(height) - 2 * margin;
    const double part = high > low ? (high - value) / (high - low) : 0.5;
    return margin + room * part;
  }
};

double half_width(const Observation& one) {
  return one.reach();
}

Scale scale_of(const Trend& trend, std::size_t height) {
  constexpr double far = std::numeric_limits<double>::infinity();
  Scale scale{.low = far, .high = -far, .height = height};
  for (const Observation& one : trend.commits) {
    scale.low = std::min(scale.low, one.value - half_width(one));
    scale.high = std::max(scale.high, one.value + half_width(one));
  }
  return scale;
}

double percent_of(std::size_t index, std::size_t count) {
  constexpr double margin = 2.0;
  if (count < 2) return 50.0;
  return margin +
         (100.0 - 2 * margin) * static_cast<double>(index) / static_cast<double>(count - 1);
}

/// The mean between one step and the next, as a line.
std::string levels_of(const SteppedSeries& stepped, const Scale& scale) {
  const auto& commits = stepped.trend.commits;
  std::vector<std::size_t> ends;
  for (const KnownStep& known : stepped.steps) ends.push_back(known.step.at);
  ends.push_back(commits.size());
  std::string lines;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += commits[i].value;
    if (end > begin) {
      const double y = scale.y(sum / static_cast<double>(end - begin));
      lines += report::svg_line(percent_of(begin, commits.size()), y,
                                percent_of(end - 1, commits.size()), y, "level");
    }
    begin = end;
  }
  return lines;
}

std::string title_of_commit(const Observation& one) {
  return one.commit.empty() ? minute_text(one.began) : short_commit(one.commit);
}

std::string chart_of(const SteppedSeries& stepped, std::size_t height, bool has_tooltips) {
  const Trend& trend = stepped.trend;
  const Scale scale = scale_of(trend, height);
  std::string content = levels_of(stepped, scale);
  for (const KnownStep& known : stepped.steps) {
    const double x = percent_of(known.step.at, trend.commits.size());
    content += report::svg_line(x, 0, x, static_cast<double>(height),
                                known.state == StepState::Alarm ? "at" : "at known");
  }
  for (std::size_t i = 0; i < trend.commits.size(); ++i) {
    const Observation& one = trend.commits[i];
    const double x = percent_of(i, trend.commits.size());
    if (has_tooltips && half_width(one) > 0.0)
      content += report::svg_line(x, scale.y(one.value - half_width(one)), x,
                                  scale.y(one.value + half_width(one)), "interval");
    const std::string words =
        title_of_commit(one) + ": " + value_text(trend, one, stepped.series.metric);
    content += report::svg_point(x, scale.y(one.value), has_tooltips ? 3 : 1.5, "spot",
                                 has_tooltips ? words : std::string());
  }
  // The ends of the scale, where the drawing is large enough.
  for (const double end : {scale.low, scale.high}) {
    if (!has_tooltips) break;
    const Observation at{.value = end};
    content += fmt::format("<text x=\"0\" y=\"{:.1f}\" class=\"label\">{}</text>\n",
                           end == scale.low ? static_cast<double>(height) : 8.0,
                           html_text(value_text(trend, at, stepped.series.metric)));
  }
  return report::svg(height, title_of(stepped.series), content);
}

/// The newest commit that several classes of machines have measured, by when that was first; empty:
/// there is none.
std::string newest_of_several(const std::vector<Series>& series) {
  struct Commit {
    std::pair<std::int64_t, std::int64_t> began{std::numeric_limits<std::int64_t>::max(), 0};
    std::set<const Series*> classes{};
  };
  std::map<std::string, Commit> commits;
  for (const Series& one : series) {
    for (const SeriesPoint& point : one.points) {
      Commit& commit = commits[point.commit];
      commit.began = std::min(commit.began, std::pair(point.began, point.added));
      commit.classes.insert(&one);
    }
  }
  std::pair<std::pair<std::int64_t, std::int64_t>, std::string> newest{
      {std::numeric_limits<std::int64_t>::min(), 0}, ""};
  for (const auto& [name, commit] : commits)
    if (commit.classes.size() > 1) newest = std::max(newest, std::pair(commit.began, name));
  return newest.second;
}

Series at_commit(const Series& series, const std::string& commit) {
  Series there{.variant = series.variant, .metric = series.metric};
  std::copy_if(series.points.begin(), series.points.end(), std::back_inserter(there.points),
               [&](const SeriesPoint& point) { return point.commit == commit; });
  return there;
}

}  // namespace

std::string Page::link_of(const std::string& commit) const {
  std::string shown = html_text(short_commit(commit));
  const std::size_t place = commit_url_.find("{}");
  if (commit.empty() || place == std::string::npos) return shown;
  // A commit is a foreign text, too: in an address it has its own spelling.
  std::string word;
  for (const char c : commit.substr(0, commit.find("+dirty"))) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    word += is_plain ? std::string(1, c)
                     : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  std::string url = commit_url_;
  url.replace(place, 2, word);
  return fmt::format("<a href=\"{}\">{}</a>", html_text(url), shown);
}

std::string Page::steps_list(const SteppedSeries& stepped) const {
  std::string list;
  for (const KnownStep& known : stepped.steps) {
    const Observation& at = stepped.trend.commits[known.step.at];
    const bool is_alarm = known.state == StepState::Alarm;
    const std::string_view look = is_alarm                           ? "worse"
                                  : known.state == StepState::Better ? "better"
                                                                     : "unsure";
    list += fmt::format("<li><span class=\"{}\">{}</span> at {}{}</li>\n", look,
                        html_text(step_change_text(stepped, known.step)),
                        at.commit.empty() ? html_text(minute_text(at.began)) : link_of(at.commit),
                        html_text(state_words(known)));
  }
  return list.empty() ? list : "<ul>\n" + list + "</ul>\n";
}

std::string Page::commit_rows(const SteppedSeries& stepped) const {
  const Trend& trend = stepped.trend;
  std::string rows;
  const std::size_t count = trend.commits.size();
  for (std::size_t i = count; i > 0 && count - i < kMostRows; --i) {
    const Observation& one = trend.commits[i - 1];
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        one.commit.empty() ? "-" : link_of(one.commit), minute_text(one.began),
        html_text(value_text(trend, one, stepped.series.metric)),
        i > 1 ? html_text(change_text(trend, trend.commits[i - 2], one, stepped.series.metric))
              : std::string());
  }
  return fmt::format(
      "<details><summary>The last {}</summary>\n<div class=\"scroll\"><table>\n"
      "<thead><tr><th>commit</th><th>measured (UTC)</th><th>{}</th><th>change</th></tr></thead>\n"
      "<tbody>\n{}</tbody></table></div></details>\n",
      std::min(count, kMostRows), words_of(trend.against), rows);
}

void Page::keep_for_machines(const Series& series) {
  Series kept{.variant = series.variant, .metric = series.metric};
  for (const SeriesPoint& point : series.points)
    if (!point.commit.empty() && point.values.to_reference &&
        point.values.to_reference->error > 0.0)  // as Fleet asks for
      kept.points.push_back(point);
  if (!kept.points.empty()) on_machines_[title_of(series)].push_back(std::move(kept));
}

std::string Page::machines_section() const {
  std::string all;
  for (const auto& [title, series] : on_machines_) {
    const std::string commit = newest_of_several(series);
    if (commit.empty()) continue;
    Fleet fleet;
    for (const Series& one : series) fleet.add(at_commit(one, commit));
    for (const FleetEffect& effect : fleet.effects())
      all += fmt::format("<h3>{}</h3>\n<p>change from the reference at {}</p>\n{}",
                         html_text(title), link_of(commit), fleet_html(effect));
  }
  if (all.empty()) return all;
  return "<section id=\"machines\"><h2>On several classes of machines</h2>\n" + all +
         "</section>\n";
}

void Page::add(const SteppedSeries& stepped) {
  const Trend& trend = stepped.trend;
  if (trend.commits.empty()) return;
  keep_for_machines(stepped.series);
  const std::size_t number = ++series_;
  const Observation& last = trend.commits.back();
  const auto alarms = std::count_if(stepped.steps.begin(), stepped.steps.end(),
                                    [](const auto& one) { return one.state == StepState::Alarm; });
  alarms_ += static_cast<std::size_t>(alarms);
  const std::string title = html_text(title_of(stepped.series));
  const std::string value = html_text(value_text(trend, last, stepped.series.metric));
  index_ += fmt::format(
      "<a href=\"#s{}\" class=\"c0\"><b>{}</b><span{}>{}{}</span> <span "
      "class=\"aside\">{}</span>\n{}</a>\n",
      number, title, alarms > 0 ? " class=\"worse\"" : "", value,
      alarms > 0 ? ", slower or larger" : "", html_text(words_of(stepped.series.variant.machine)),
      chart_of(stepped, kSmall, false));
  sections_ += fmt::format(
      "<section id=\"s{}\"><h2>{}</h2>\n<p class=\"aside\">{}</p>\n<p>{}: {} at {}</p>\n{}"
      "<div class=\"chart c0\">{}</div>\n{}</section>\n",
      number, title, html_text(machine_line(stepped.series.variant)), words_of(trend.against),
      value, last.commit.empty() ? html_text(minute_text(last.began)) : link_of(last.commit),
      steps_list(stepped), chart_of(stepped, kChart, true), commit_rows(stepped));
}

void Page::write(const Sink& sink) const {
  const std::string title = html_text(one_line(title_));
  sink(
      fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
                  title, report::html_style(), kStyle, title));
  sink(fmt::format("<p class=\"answer{}\">{}</p>\n", alarms_ > 0 ? " worse" : "",
                   alarms_ == 0
                       ? std::string("Nothing has become slower or larger that is not known.")
                   : alarms_ == 1 ? std::string("1 step to the worse.")
                                  : fmt::format("{} steps to the worse.", alarms_)));
  sink("<nav class=\"index\">\n" + index_ + "</nav>\n");
  sink(machines_section());
  sink(sections_);
  sink("</body>\n</html>\n");
}

}  // namespace lauka::history
