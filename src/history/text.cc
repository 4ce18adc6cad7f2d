#include "history/text.h"

#include "core/numbers.h"
#include "core/text.h"
#include "report/format.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace lauka::history {

namespace {

constexpr std::size_t kDrawing = 25;   // cells
constexpr std::size_t kShownOfId = 8;  // digits; forget takes what an id begins with

stats::Change change_of(double logarithm, std::optional<double> reach) {
  stats::Change change{.change = std::expm1(logarithm)};
  if (reach)
    change.bounds =
        stats::ChangeBounds{std::expm1(logarithm - *reach), std::expm1(logarithm + *reach)};
  return change;
}

/// Half the width of the 95% interval of the change.
std::optional<double> reach_between(const Observation& from, const Observation& to) {
  if (!from.error || !to.error) return std::nullopt;
  const bool has_same_anchor = from.link_error == to.link_error;
  const double error = has_same_anchor ? std::hypot(*from.error, *to.error)
                                       : std::hypot(*from.whole_error(), *to.whole_error());
  return reach95(error, degrees_of_sum(*from.error, from.degrees, *to.error, to.degrees));
}

/// Returns the colour of a delta: worse or better with confidence, or neither.
report::Ink ink_of(const Observation& from, const Observation& to, Better better) {
  const auto reach = reach_between(from, to);
  const double change = to.value - from.value;
  if (!reach || better == Better::Neither || std::abs(change) <= *reach) return report::Ink::Dim;
  return (change < 0.0) == (better == Better::Less) ? report::Ink::Green : report::Ink::Red;
}

}  // namespace

Metric as_metric(const MetricRecord& record) {
  Metric metric;
  metric.name = record.name;
  metric.unit = record.unit;
  metric.better = record.better;
  return metric;
}

void Drawing::include(double value, double reach) {
  low_ = has_any_ ? std::min(low_, value - reach) : value - reach;
  high_ = has_any_ ? std::max(high_, value + reach) : value + reach;
  has_any_ = true;
}

std::string Drawing::of(double value, double low, double high, bool ascii) const {
  const auto cell = [&](double place) {
    const double part = high_ > low_ ? (place - low_) / (high_ - low_) : 0.5;
    return static_cast<std::size_t>(std::lround(part * static_cast<double>(kDrawing - 1)));
  };
  std::string drawing;
  for (std::size_t i = 0; i < kDrawing; ++i) {
    if (i == cell(value))
      drawing += ascii ? "o" : "●";
    else if (i >= cell(low) && i <= cell(high))
      drawing += ascii ? "-" : "─";
    else
      drawing += ' ';
  }
  return drawing;
}

report::Table table_of(std::initializer_list<std::string_view> headings) {
  report::Table table;
  for (const std::string_view heading : headings)
    table.columns.push_back({.heading = {std::string(heading), report::Ink::Dim},
                             .holds = report::Holds::Text,
                             .cut = report::Cut::Middle});
  return table;
}

report::Table table_with_drawing(std::initializer_list<std::string_view> headings) {
  report::Table table = table_of(headings);
  table.columns.push_back({.goes = report::Less::Drawing, .cut = report::Cut::Middle});
  table.steps.push_back({.less = report::Less::Drawing});
  return table;
}

std::string minute_text(std::int64_t milliseconds) {
  std::string text = rfc3339(TimeOfDay(std::chrono::milliseconds(milliseconds)));
  constexpr std::size_t to_minute = 16;
  text.resize(to_minute);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

std::string short_commit(const std::string& commit) {
  constexpr std::size_t digits = 10;
  const std::size_t plus = commit.find('+');
  const std::string hash = commit.substr(0, plus);
  const bool is_hash =
      hash.size() > digits && hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  std::string text = is_hash ? hash.substr(0, digits) : hash;
  if (plus != std::string::npos) text += commit.substr(plus);
  return one_line(text);
}

std::string commit_name(const Observation& commit) {
  return commit.commit.empty() ? minute_text(commit.began) : short_commit(commit.commit);
}

std::string value_text(const Trend& trend, const Observation& commit, const MetricRecord& metric) {
  if (trend.against != Against::Nothing)
    return report::delta_text(
        change_of(commit.value, commit.error ? std::optional(commit.reach()) : std::nullopt));
  const double value = trend.is_logarithm ? std::exp(commit.value) : commit.value;
  std::optional<double> half;
  if (commit.error) half = commit.reach() * (trend.is_logarithm ? value : 1.0);
  return report::mean_text(value, half, as_metric(metric));
}

std::string change_text(const Trend& trend, const Observation& from, const Observation& to,
                        const MetricRecord& metric) {
  if (trend.is_logarithm)
    return report::delta_text(change_of(to.value - from.value, reach_between(from, to)));
  const double change = to.value - from.value;
  return (change > 0.0 ? "+" : "") + report::quantity(change, as_metric(metric));
}

std::string title_of(const Series& series) {
  std::string title = series.variant.benchmark + ", " + series.metric.name;
  for (const std::string& part : {series.variant.role, series.variant.command})
    if (!part.empty()) title += ", " + part;
  return one_line(title);
}

std::string_view against_text(Against against) {
  switch (against) {
    case Against::Reference:
      return "to the reference";
    case Against::Anchor:
      return "to the anchor";
    case Against::Usual:
    case Against::Nothing:
      break;
  }
  return "value";
}

std::string machine_text(const Machine& machine) {
  std::string text = machine.cpu_model.empty() ? machine.architecture : machine.cpu_model;
  if (machine.cpus > 0) text += fmt::format(", {} CPUs", machine.cpus);
  for (const std::string& part :
       {machine.system + (machine.kernel.empty() ? "" : " " + machine.kernel), machine.governor,
        machine.hypervisor == "unknown" ? std::string("virtual") : machine.hypervisor})
    if (!part.empty()) text += ", " + part;
  return one_line(text);
}

std::string machine_line(const Variant& variant) {
  return fmt::format("machine {}: {}", one_line(variant.machine_class),
                     machine_text(variant.machine));
}

std::string step_change_text(const SteppedSeries& stepped, const stats::Step& step) {
  if (!stepped.trend.is_logarithm)
    return (step.change > 0.0 ? "+" : "") +
           report::quantity(step.change, as_metric(stepped.series.metric));
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
  if (commits.size() > 1 && commits.size() < stats::kFewestForSteps) {
    const Observation& before = commits[commits.size() - 2];
    const MetricRecord& metric = stepped.series.metric;
    const bool is_sure = ink_of(before, commits.back(), metric.better) != report::Ink::Dim;
    const std::string line =
        fmt::format("  {} {}: not judged yet, {} of {} commits\n", commit_name(commits.back()),
                    change_text(stepped.trend, before, commits.back(), metric), commits.size(),
                    stats::kFewestForSteps);
    if (is_sure) text += style.ascii ? report::ascii_of(line) : line;
  }
  if (stepped.is_last_suspected && !commits.empty())
    text += fmt::format("  the last, {}, may be a step: a later one must confirm it\n",
                        commit_name(commits.back()));
  if (text.empty()) return {};
  const std::string on = stepped.trend.against == Against::Nothing
                             ? std::string()
                             : fmt::format(" ({})", against_text(stepped.trend.against));
  return title_of(stepped.series) + on + "\n" +
         report::dim_note("  " + machine_line(stepped.series.variant), style) + text;
}

std::string sessions_text(const std::vector<SessionLine>& sessions, const report::Style& style) {
  report::Table table =
      table_of({"session", "began (UTC)", "commit", "branch", "machine", "host", "commands"});
  for (const SessionLine& one : sessions)
    table.rows.push_back({{one.uuid.substr(0, kShownOfId)},
                          {minute_text(one.began)},
                          {short_commit(one.commit)},
                          {one.branch},
                          {one.machine_class},
                          {one.host},
                          {fmt::format("{}{}", one.results, one.complete ? "" : ", cut short")}});
  for (const std::size_t column : {3U, 4U, 5U}) table.columns[column].goes = report::Less::Place;
  table.steps.push_back({.less = report::Less::Place});
  return report::terminal_text(table, style);
}

std::string benchmarks_text(const std::vector<Variant>& variants, const report::Style& style) {
  report::Table table = table_of({"benchmark", "role", "command", "machine"});
  for (const Variant& one : variants)
    table.rows.push_back({{one.benchmark},
                          {one.role},
                          {one.command},
                          {one.machine_class + ": " + machine_text(one.machine)}});
  return report::terminal_text(table, style);
}

std::string series_text(const Series& series, const Trend& trend, const report::Style& style,
                        const std::map<std::size_t, std::string>& steps) {
  std::string text =
      title_of(series) + "\n" + report::dim_note(machine_line(series.variant), style);
  report::Table table =
      table_with_drawing({"commit", "measured (UTC)", against_text(trend.against), "change"});
  table.columns[1].goes = report::Less::Date;
  table.steps.push_back({.less = report::Less::Date});
  for (const std::size_t column : {2U, 3U}) table.columns[column].cut = report::Cut::Nothing;
  Drawing drawing;
  for (const Observation& one : trend.commits) drawing.include(one.value, one.reach());
  for (std::size_t i = 0; i < trend.commits.size(); ++i) {
    const Observation& one = trend.commits[i];
    const double reach = one.reach();
    report::TableRow& row = table.rows.emplace_back(report::TableRow{
        {one.commit.empty() ? "-" : short_commit(one.commit)},
        {minute_text(one.began)},
        {value_text(trend, one, series.metric)},
        {},
        {drawing.of(one.value, one.value - reach, one.value + reach, style.ascii)}});
    if (i > 0)
      row[3] = {change_text(trend, trend.commits[i - 1], one, series.metric),
                ink_of(trend.commits[i - 1], one, series.metric.better)};
    if (const auto step = steps.find(i); step != steps.end()) row[3].text += "  " + step->second;
  }
  text += report::terminal_text(table, style);
  if (series.unchained > 0 && trend.against == Against::Anchor)
    text +=
        report::dim_note(fmt::format("{} of another anchor left out: no session has measured both",
                                     plural(series.unchained, "session")),
                         style);
  return text;
}

}  // namespace lauka::history
