#include "history/answer_text.h"

#include "core/numbers.h"
#include "core/text.h"
#include "format/json_text.h"
#include "format/sections.h"
#include "report/charts.h"
#include "report/exports.h"
#include "report/format.h"
#include "report/table.h"
#include "stats/detectable.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace lauka::history {

namespace {

constexpr std::size_t kDrawing = 25;  // cells
constexpr std::size_t kShownOfId = 8;

stats::Change make_change(double logarithm, const stats::IntervalEnds& bounds) {
  return {.change = std::expm1(logarithm),
          .bounds = stats::IntervalEnds{std::expm1(bounds.low), std::expm1(bounds.high)}};
}

stats::Change make_change(double logarithm, std::optional<double> reach) {
  if (!reach) return {.change = std::expm1(logarithm)};
  return make_change(logarithm, {logarithm - *reach, logarithm + *reach});
}

/// Returns the change between two exact values: in percent or, for values that are no logarithms
/// because some are 0, as a difference.
std::string exact_change_text(const SteppedSeries& stepped, double from, double to) {
  if (stepped.trend.is_logarithm)
    return report::delta_text(
        {.change = stats::without_rounding_error(to / from - 1.0, 1.0), .is_exact = true});
  const double change = to - from;
  return (change > 0.0 ? "+" : "") +
         report::with_uncertainty(report::exact_quantity(change, as_metric(stepped.series.metric)),
                                  {.is_exact = true});
}

/// Returns the end of a sentence about a combined change that is not significant: which change
/// would have been found. Empty if it is significant, or if there are too few classes of machines.
std::string detectable_in_words(const FleetEffect& effect) {
  const stats::Change change = make_change(effect.combined.value, effect.combined.bounds);
  if (change.is_significant()) return "";
  const std::size_t count = effect.machines.size();
  const double degrees =
      count == 1 ? effect.machines.front().degrees : static_cast<double>(count) - 1.0;
  return report::detectable_text(stats::detectable_change_by_t(change, kTail95, degrees),
                                 "combinations of sessions");
}

/// Returns a difference of values that are no logarithms.
std::string difference_text(const SteppedSeries& stepped, double difference, double scale) {
  const double change = stats::without_rounding_error(difference, scale);
  return (change > 0.0 ? "+" : "") + report::quantity(change, as_metric(stepped.series.metric));
}

constexpr std::size_t kMinMachines =
    4;  // with fewer classes of machines, their differences are uncertain

/// Says how much the change differs between machines.
std::string differences_in_words(const FleetEffect& effect) {
  const stats::EffectOverMachines& combined = effect.combined;
  const std::size_t count = effect.machines.size();
  if (count == 1)
    return "there is only one class of machines, so nothing is known about others" +
           detectable_in_words(effect);

  // The estimate is 0 if the errors of the machines' changes alone explain the differences.
  std::string text = "the difference between the machines is within the margin of error";
  if (combined.deviation_between_machines > 0.0) {
    const std::string with_sign =
        report::signed_percent(std::expm1(combined.deviation_between_machines), 1);
    text = fmt::format("the change differs between machines by {} (standard deviation)",
                       with_sign.substr(1));
  }

  constexpr double smallest_shown = 0.001;
  std::string p_value = "< 0.001";
  if (combined.p_same >= smallest_shown) p_value = fmt::format("{:.3f}", combined.p_same);
  text += fmt::format("; I² {:.0f}%, p {}", 100 * combined.heterogeneity, p_value);

  if (count < kMinMachines)
    text +=
        fmt::format("; with only {} machines this is uncertain, so the interval is wide", count);

  return text + detectable_in_words(effect);
}

std::optional<double> reach_between(const CommitValue& from, const CommitValue& to) {
  if (!from.error || !to.error) return std::nullopt;
  const bool has_same_anchor = from.link_error == to.link_error;
  const double error = has_same_anchor ? std::hypot(*from.error, *to.error)
                                       : std::hypot(*from.whole_error(), *to.whole_error());
  return half_width_95(error, degrees_of_sum(*from.error, from.degrees, *to.error, to.degrees));
}

report::Ink choose_ink(const SteppedSeries& stepped, std::size_t commit) {
  const CommitValue& from = stepped.trend.observations[commit - 1];
  const CommitValue& to = stepped.trend.observations[commit];
  const Better better = stepped.series.metric.better;
  const auto reach = reach_between(from, to);
  const double change = to.value - from.value;
  if (!reach || better == Better::Neither || std::abs(change) <= *reach) return report::Ink::Dim;
  return (change < 0.0) == (better == Better::Less) ? report::Ink::Green : report::Ink::Red;
}

std::string number(std::optional<double> value) {
  return value ? report::exact_decimal(*value) : "";
}

std::string time_of_day(std::int64_t milliseconds) {
  return rfc3339(UtcTime(std::chrono::milliseconds(milliseconds)));
}

/// Returns benchmark, role and command, with `separator` between those that are not empty.
std::string join_names(const MeasuredCommand& variant, std::string_view separator) {
  std::string all = variant.benchmark;
  for (const std::string& part : {variant.role, variant.command})
    if (!part.empty()) all.append(separator).append(part);
  return all;
}

/// Returns what is exported of one session's value.
nlohmann::ordered_json fields(const MetricHistory& series, const SessionPoint& point) {
  const auto number_or_null = [](std::optional<double> value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };

  nlohmann::ordered_json row = {{"benchmark", series.variant.benchmark},
                                {"role", series.variant.role},
                                {"command", series.variant.command},
                                {"metric", series.metric.name},
                                {"unit", unit_symbol(series.metric.unit)},
                                {"better", word_in(kBetterWords, series.metric.better)},
                                {"machine", series.variant.machine_class},
                                {"method", series.method_text},
                                {"session", point.uuid},
                                {"began", time_of_day(point.began)},
                                {"commit", point.commit},
                                {"branch", point.branch},
                                {"mean", point.values.mean},
                                {"stddev", number_or_null(point.values.stddev)},
                                {"runs", point.values.summarized_values},
                                {"failed_runs", point.endings.failed_runs()}};

  const auto add_ratio = [&](const std::string& other, const std::optional<LogRatio>& ratio) {
    std::optional<double> value;
    std::optional<double> error;
    if (ratio) {
      value = ratio->value;
      error = ratio->error;
    }
    row["log_ratio_to_" + other] = number_or_null(value);
    row["error_to_" + other] = number_or_null(error);
  };
  add_ratio("reference", point.values.ratio_to_reference);
  add_ratio("anchor", point.values.ratio_to_anchor);
  return row;
}

std::string csv_text(const nlohmann::ordered_json& value) {
  if (value.is_string()) return report::csv_field(value.get_ref<const std::string&>());
  if (value.is_number_float()) return number(value.get<double>());
  return value.is_null() ? "" : value.dump();
}

TableWriter csv_writer(const Sink& sink) {
  const auto columns = fields({}, {});
  std::string head;
  for (const auto& [name, value] : columns.items()) head += (head.empty() ? "" : ",") + name;
  sink(head + "\r\n");
  return {[sink](const MetricHistory& series) {
    for (const SessionPoint& point : series.points) {
      std::string line;
      for (const auto& value : fields(series, point)) line += csv_text(value) + ",";
      line.pop_back();
      sink(line + "\r\n");
    }
  }};
}

TableWriter json_lines_writer(const Sink& sink) {
  return {[sink](const MetricHistory& series) {
    for (const SessionPoint& point : series.points)
      sink(json_text(fields(series, point), -1) + "\n");
  }};
}

/// Writes the text format of Go's benchmarks, with a line for each session.
TableWriter benchfmt_writer(const Sink& sink) {
  return {[sink, configuration = std::map<std::string, std::string>(),
           benchmarks = report::BenchfmtNames(),
           commands = report::BenchfmtNames()](const MetricHistory& series) mutable {
    // A configuration line holds for all results below it, so only changes are written.
    const auto set = [&](const std::string& key, const std::string& value) {
      if (configuration[key] == value) return;
      configuration[key] = value;
      sink(key + ": " + one_line(value) + "\n");
    };

    const std::string unit = report::benchfmt_unit(series.metric.name, series.metric.unit);
    std::string name = "Benchmark" + benchmarks.word_of(series.variant.benchmark);
    if (!series.variant.role.empty()) name += "/role=" + report::benchfmt_word(series.variant.role);
    if (!series.variant.command.empty())
      name += "/command=" + commands.word_of(series.variant.command);

    set("machine", series.variant.machine_class);
    set("cpu", series.variant.machine.cpu_model);
    set("method", series.method_text);

    for (const SessionPoint& point : series.points) {
      set("session", point.uuid);
      set("commit", point.commit);
      set("branch", point.branch);
      sink(fmt::format("{} {} {} {}\n", name, point.values.summarized_values,
                       number(point.values.mean), unit));
    }
  }};
}

/// Writes the newest value of each series in the Bencher Metric Format.
TableWriter bmf_writer(const Sink& sink) {
  struct State {
    std::map<std::string, std::string> machine_by_name{};
    nlohmann::ordered_json document = nlohmann::ordered_json::object();
  };

  const auto state = std::make_shared<State>();
  const auto add = [state](const MetricHistory& series) {
    if (series.points.empty()) return;
    const MetricRecord& values = series.points.back().values;

    // One name must not have the values of two classes of machines. The first class gets the name
    // as it is, and the others add their own.
    std::string name = join_names(series.variant, " ");
    const std::string& machine_class = series.variant.machine_class;
    const auto first_with_name = state->machine_by_name.emplace(name, machine_class).first;
    if (first_with_name->second != machine_class) name += " " + machine_class;

    nlohmann::ordered_json measure = {{"value", values.mean}};
    if (values.stddev && values.summarized_values > 0) {
      const auto count = static_cast<double>(values.summarized_values);
      const double standard_error = *values.stddev / std::sqrt(count);
      const double half_width = half_width_95(standard_error, count - 1.0);
      measure["lower_value"] = values.mean - half_width;
      measure["upper_value"] = values.mean + half_width;
    }

    state->document[name][series.metric.name] = std::move(measure);
  };
  return {add, [state, sink] { sink(json_text(state->document, 2) + "\n"); }};
}

/// Writes CSV for Apache Otava: a line for each session, and a column for each series.
TableWriter otava_writer(const Sink& sink) {
  struct Line {
    std::string commit{};
    std::string branch{};
    std::map<std::size_t, double> value_by_column{};
  };
  struct State {
    std::vector<std::string> columns{};
    /// The line of each session. The keys sort sessions by their begin.
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Line> lines{};
  };

  // A line has the values of all series, so nothing can be written before the last series.
  const auto state = std::make_shared<State>();
  const auto add = [state](const MetricHistory& series) {
    const std::size_t column = state->columns.size();
    for (const SessionPoint& point : series.points) {
      Line& line = state->lines[{point.began, point.order_added, point.session_row_id}];
      line.commit = point.commit;
      line.branch = point.branch;
      line.value_by_column[column] = point.values.mean;
    }
    state->columns.push_back(join_names(series.variant, ".") + "." + series.metric.name + "@" +
                             series.variant.machine_class);
  };

  const auto end = [state, sink] {
    std::string head = "time,commit,branch";
    for (const std::string& column : state->columns) head += "," + report::csv_field(column);
    sink(head + "\n");

    for (const auto& [key, line] : state->lines) {
      const std::int64_t began = std::get<0>(key);
      std::string text = time_of_day(began) + "," + report::csv_field(line.commit) + "," +
                         report::csv_field(line.branch);
      for (std::size_t column = 0; column < state->columns.size(); ++column) {
        text += ",";
        const auto value = line.value_by_column.find(column);
        if (value != line.value_by_column.end()) text += number(value->second);
      }
      sink(text + "\n");
    }
  };

  return {add, end};
}

struct Drawing {
  bool ascii;
  report::Extent scale{};

  std::string draw(double value, double from, double to) const {
    const auto cell = [&](double place) {
      const double part =
          scale.high > scale.low ? (place - scale.low) / (scale.high - scale.low) : 0.5;
      return static_cast<std::size_t>(std::lround(part * static_cast<double>(kDrawing - 1)));
    };
    std::string drawing;
    for (std::size_t i = 0; i < kDrawing; ++i) {
      if (i == cell(value))
        drawing += ascii ? "o" : "●";
      else if (i >= cell(from) && i <= cell(to))
        drawing += ascii ? "-" : "─";
      else
        drawing += ' ';
    }
    return drawing;
  }
};

report::Table make_table(std::initializer_list<std::string_view> headings) {
  report::Table table;
  for (const std::string_view heading : headings)
    table.columns.push_back({.heading = {std::string(heading), report::Ink::Dim},
                             .cell_content = report::CellContent::Text,
                             .cut = report::Cut::Middle});
  return table;
}

report::Table table_with_drawing(std::initializer_list<std::string_view> headings) {
  report::Table table = make_table(headings);
  table.columns.push_back(
      {.dropped_when_omitting = report::OmittedPart::Drawing, .cut = report::Cut::Middle});
  table.steps.push_back({.last_omitted_part = report::OmittedPart::Drawing});
  return table;
}

std::string machine_text(const Machine& machine) {
  std::string text = machine.cpu_model.empty() ? machine.architecture : machine.cpu_model;
  if (!machine.cpu_identity.empty()) text += fmt::format(" ({})", machine.cpu_identity);
  if (allows_only_some_cpus(machine))
    text += fmt::format(", {} of {} CPUs", machine.allowance->cpus.size(), machine.cpus);
  else if (machine.cpus > 0)
    text += fmt::format(", {} CPUs", machine.cpus);
  if (const auto& allowance = machine.allowance) {
    if (allowance->cpu_quota) text += fmt::format(", CPU quota {:.3g}", *allowance->cpu_quota);
    if (allowance->memory_limit)
      text += ", memory limit " +
              report::quantity(static_cast<double>(*allowance->memory_limit), Unit::Bytes);
  }
  for (const std::string& part :
       {machine.system + (machine.kernel.empty() ? "" : " " + machine.kernel), machine.governor,
        machine.hypervisor == "unknown" ? std::string("virtual") : machine.hypervisor})
    if (!part.empty()) text += ", " + part;
  return one_line(text);
}

std::string step_line(const SteppedSeries& stepped, const KnownStep& known) {
  const auto& commits = stepped.trend.observations;
  const stats::LevelStep& step = known.step;
  std::string line = fmt::format("  {}  {} at {}{}", known.id, step_change_text(stepped, step),
                                 commit_name(commits[step.first_point]), state_suffix(known));
  if (const Endings& endings = commits[step.first_point].endings;
      !endings.failed_run_groups.empty())
    line += ", where " + report::failures_text(endings);
  if (step.earliest_first_point != step.latest_first_point)
    line += fmt::format(" (the commit is one of {} to {})",
                        commit_name(commits[step.earliest_first_point]),
                        commit_name(commits[step.latest_first_point]));
  return line;
}

}  // namespace

Metric as_metric(const MetricRecord& record) {
  Metric metric;
  metric.name = record.name;
  metric.unit = record.unit;
  metric.better = record.better;
  return metric;
}

std::string date_time_text(std::int64_t milliseconds) {
  std::string text = rfc3339(UtcTime(std::chrono::milliseconds(milliseconds)));
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

std::string commit_name(const CommitValue& commit) {
  return commit.commit.empty() ? date_time_text(commit.began) : short_commit(commit.commit);
}

std::string value_text(const SteppedSeries& stepped, const CommitValue& commit) {
  const Trend& trend = stepped.trend;
  if (commit.exact_value && trend.against != ComparedWith::Nothing)
    return report::delta_text(
        {.change = stats::without_rounding_error(*commit.exact_value - 1.0, 1.0),
         .is_exact = true});
  if (commit.exact_value)
    return report::with_uncertainty(
        report::exact_quantity(*commit.exact_value, as_metric(stepped.series.metric)),
        {.is_exact = true});

  std::optional<double> half;
  if (commit.error) half = commit.half_width_95();
  if (trend.against != ComparedWith::Nothing)
    return report::delta_text(make_change(commit.value, half));
  const double value = trend.is_logarithm ? std::exp(commit.value) : commit.value;
  if (half && trend.is_logarithm) *half *= value;
  return report::mean_text(value, half, as_metric(stepped.series.metric));
}

std::string change_text(const SteppedSeries& stepped, std::size_t commit) {
  const CommitValue& from = stepped.trend.observations[commit - 1];
  const CommitValue& to = stepped.trend.observations[commit];
  if (from.exact_value && to.exact_value)
    return exact_change_text(stepped, *from.exact_value, *to.exact_value);
  const double change = to.value - from.value;
  if (stepped.trend.is_logarithm)
    return report::delta_text(make_change(change, reach_between(from, to)));
  return difference_text(stepped, change, std::abs(from.value) + std::abs(to.value));
}

std::string title_of(const MetricHistory& series) {
  std::string title = series.variant.benchmark + ", " + series.metric.name;
  for (const std::string& part : {series.variant.role, series.variant.command})
    if (!part.empty()) title += ", " + part;
  if (!series.method_text.empty()) title += fmt::format(" ({})", series.method_text);
  return one_line(title);
}

std::string splits_text(const std::vector<HistorySplit>& splits) {
  std::string text;
  for (const HistorySplit& split : splits) {
    std::vector<std::string> changes;
    for (const SettingDifference& difference : split.differences)
      changes.push_back(fmt::format("{} {} instead of {}", row_of(difference.kind).title,
                                    difference.candidate_value, difference.reference_value));

    // The same machine may get another class from a newer version of lauka.
    if (changes.empty())
      changes = {"lauka now tells processors with the same name apart by their model and features"};

    std::string subject = fmt::format("the histories of {} commands are", split.benchmark_count);
    if (split.benchmark_count == 1)
      subject = fmt::format("the history of {} is", cited(join_names(split.newer, ", ")));

    const std::string note = fmt::format(
        "note: {} split at {}, where the class of machines becomes {} instead of {} ({}); "
        "lauka-history does not look for a step between the two, and --machine shows only one of "
        "them",
        subject, date_time_text(split.began), split.newer.machine_class, split.older.machine_class,
        fmt::join(changes, ", "));
    text += one_line(note) + "\n";
  }
  return text;
}

std::string_view values_heading(ComparedWith against) {
  if (against == ComparedWith::Reference) return "relative to the reference";
  return against == ComparedWith::Anchor ? "relative to the anchor" : "value";
}

std::string machine_line(const MeasuredCommand& variant) {
  return fmt::format("machine {}: {}", one_line(variant.machine_class),
                     machine_text(variant.machine));
}

std::string step_change_text(const SteppedSeries& stepped, const stats::LevelStep& step) {
  if (const auto exact = exact_values_around(stepped, step))
    return exact_change_text(stepped, exact->first, exact->second);
  if (!stepped.trend.is_logarithm)
    return difference_text(stepped, step.change,
                           std::abs(stepped.trend.observations[step.first_point].value));
  return report::delta_text(make_change(step.change, step.bounds));
}

std::string state_suffix(const KnownStep& step) {
  if (step.state == StepState::Better) return ", better";
  if (step.state == StepState::CancelledLater) return ", undone later";
  if (step.state != StepState::Acknowledged) return {};
  return ", acknowledged" + (step.note.empty() ? "" : ": " + one_line(step.note));
}

std::string pending_text(const SteppedSeries& stepped) {
  if (!stepped.possible_step_at) return "";
  return fmt::format("there may be a step at {}; one more commit will decide",
                     commit_name(stepped.trend.observations[*stepped.possible_step_at]));
}

std::string steps_text(const SteppedSeries& stepped, const report::Style& style) {
  const auto& commits = stepped.trend.observations;
  const auto in_style = [&](const std::string& line) {
    return style.ascii ? report::to_ascii(line) : line;
  };

  std::string text;
  for (const KnownStep& known : stepped.steps) {
    const std::string line = step_line(stepped, known);
    const report::Ink ink = known.state == StepState::Alarm ? report::Ink::Red : report::Ink::Plain;
    text += report::inked(in_style(line), ink, style.color) + "\n";
  }

  // With too few commits for steps, the last change is shown if it is significant.
  if (commits.size() > 1 && commits.size() < stats::kMinForSteps) {
    const std::size_t last = commits.size() - 1;
    const bool is_significant = choose_ink(stepped, last) != report::Ink::Dim;
    const std::string line = fmt::format(
        "  {} {}, which cannot be judged yet with {} of {} commits\n", commit_name(commits.back()),
        change_text(stepped, last), commits.size(), stats::kMinForSteps);
    if (is_significant) text += in_style(line);
  }

  if (stepped.possible_step_at)
    text += "  " + pending_text(stepped) + "\n";
  else if (stepped.may_last_commit_be_step && !commits.empty())
    text += fmt::format("  the last commit, {}, may be a step, which a later commit must confirm\n",
                        commit_name(commits.back()));

  if (text.empty()) return {};
  std::string title = title_of(stepped.series);
  if (stepped.trend.against != ComparedWith::Nothing)
    title += fmt::format(" ({})", values_heading(stepped.trend.against));
  return title + "\n" + report::dim_note("  " + machine_line(stepped.series.variant), style) + text;
}

std::string sessions_text(const std::vector<SessionLine>& sessions, const report::Style& style) {
  report::Table table =
      make_table({"session", "began (UTC)", "commit", "branch", "machine", "host", "commands"});
  for (const SessionLine& line : sessions)
    table.rows.push_back(
        {{line.uuid.substr(0, kShownOfId)},
         {date_time_text(line.began)},
         {short_commit(line.commit)},
         {line.branch},
         {line.machine_class},
         {line.host},
         {fmt::format("{}{}", line.result_count, line.complete ? "" : ", cut short")}});
  for (const std::size_t column : {3U, 4U, 5U})
    table.columns[column].dropped_when_omitting = report::OmittedPart::Place;
  table.steps.push_back({.last_omitted_part = report::OmittedPart::Place});
  return report::terminal_text(table, style);
}

std::string benchmarks_text(const std::vector<MeasuredCommand>& variants,
                            const report::Style& style) {
  report::Table table = make_table({"benchmark", "role", "command", "machine"});
  for (const MeasuredCommand& variant : variants)
    table.rows.push_back({{variant.benchmark},
                          {variant.role},
                          {variant.command},
                          {variant.machine_class + ": " + machine_text(variant.machine)}});
  return report::terminal_text(table, style);
}

std::string series_text(const SteppedSeries& stepped, const report::Style& style) {
  const MetricHistory& series = stepped.series;
  const Trend& trend = stepped.trend;
  std::string text =
      title_of(series) + "\n" + report::dim_note(machine_line(series.variant), style);

  report::Table table =
      table_with_drawing({"commit", "measured (UTC)", values_heading(trend.against), "change"});
  constexpr std::size_t date_column = 1;
  constexpr std::size_t value_column = 2;
  constexpr std::size_t change_column = 3;

  // A narrow terminal shows no dates, and all of the values and changes.
  table.columns[date_column].dropped_when_omitting = report::OmittedPart::Date;
  table.steps.push_back({.last_omitted_part = report::OmittedPart::Date});
  table.columns[value_column].cut = report::Cut::Nothing;
  table.columns[change_column].cut = report::Cut::Nothing;

  // All intervals are drawn to one scale.
  Drawing drawing{style.ascii};
  for (const CommitValue& observation : trend.observations) {
    const double half_width = observation.half_width_95();
    drawing.scale.include(observation.value - half_width);
    drawing.scale.include(observation.value + half_width);
  }

  for (std::size_t i = 0; i < trend.observations.size(); ++i) {
    const CommitValue& observation = trend.observations[i];
    const double low = observation.value - observation.half_width_95();
    const double high = observation.value + observation.half_width_95();
    report::TableRow& row = table.rows.emplace_back(
        report::TableRow{{observation.commit.empty() ? "-" : short_commit(observation.commit)},
                         {date_time_text(observation.began)},
                         {value_text(stepped, observation)},
                         {},
                         {drawing.draw(observation.value, low, high)}});
    if (i > 0) row[change_column] = {change_text(stepped, i), choose_ink(stepped, i)};
  }

  for (const KnownStep& known : stepped.steps)
    table.rows[known.step.first_point][change_column].text +=
        "  step " + known.id + state_suffix(known);
  for (std::size_t i = 0; i < trend.observations.size(); ++i) {
    const std::string failures = report::failures_text(trend.observations[i].endings);
    if (!failures.empty()) table.rows[i][change_column].text += "  " + failures;
  }

  text += report::terminal_text(table, style);
  if (stepped.possible_step_at) text += report::dim_note(pending_text(stepped), style);
  if (series.removed_anchor_ratios > 0 && trend.against == ComparedWith::Anchor) {
    const std::string note = fmt::format(
        "{} with an older anchor {} not shown, because no session "
        "has measured both that anchor and the newest one",
        plural(series.removed_anchor_ratios, "session"),
        series.removed_anchor_ratios == 1 ? "is" : "are");
    text += report::dim_note(note, style);
  }

  return text;
}

std::string fleet_text(const FleetEffect& effect, const report::Style& style) {
  const stats::EffectOverMachines& combined = effect.combined;

  // All intervals are drawn to one scale, which also shows where "no change" is.
  Drawing drawing{style.ascii};
  drawing.scale.include(0.0);
  drawing.scale.include(combined.bounds.low);
  drawing.scale.include(combined.bounds.high);
  for (const MachineEffect& machine : effect.machines) {
    drawing.scale.include(machine.ratio_logarithm - machine.half_width_95());
    drawing.scale.include(machine.ratio_logarithm + machine.half_width_95());
  }

  report::Table table = table_with_drawing({"", "", ""});
  for (const MachineEffect& machine : effect.machines) {
    const double value = machine.ratio_logarithm;
    const double half_width = machine.half_width_95();
    table.rows.push_back({{"  " + machine.variant.machine_class},
                          {machine_text(machine.variant.machine)},
                          {report::delta_text(make_change(value, half_width))},
                          {drawing.draw(value, value - half_width, value + half_width)}});
  }

  std::string class_count = fmt::format("{} classes of machines", effect.machines.size());
  if (effect.machines.size() == 1) class_count = "one class of machines";
  table.rows.push_back({{"  all", report::Ink::Bold},
                        {class_count},
                        {report::delta_text(make_change(combined.value, combined.bounds))},
                        {drawing.draw(combined.value, combined.bounds.low, combined.bounds.high)}});

  std::string text =
      effect.title + ": change from the reference\n" + report::terminal_text(table, style);

  std::string note = "  " + differences_in_words(effect);
  if (effect.sessions_left_out > 0)
    note += fmt::format("; {} left out, because they have no interval", effect.sessions_left_out);
  return text + report::dim_note(style.ascii ? report::to_ascii(note) : note, style);
}

std::string fleet_html(const FleetEffect& effect) {
  std::vector<report::ChangeRow> rows;
  const auto add = [&](const std::string& name, const stats::Change& change) {
    rows.push_back(report::change_row(report::html_text(name), change, effect.better));
  };
  for (const MachineEffect& machine : effect.machines)
    add(machine_line(machine.variant),
        make_change(machine.ratio_logarithm, machine.half_width_95()));
  add("all of them", make_change(effect.combined.value, effect.combined.bounds));
  return report::change_chart(std::move(rows)) + "<p class=\"aside\">" +
         report::html_text(differences_in_words(effect)) + "</p>\n";
}

TableWriter table_writer(std::string_view format, const Sink& sink) {
  if (format == "jsonl") return json_lines_writer(sink);
  if (format == "benchfmt") return benchfmt_writer(sink);
  if (format == "bmf") return bmf_writer(sink);
  if (format == "otava") return otava_writer(sink);
  return csv_writer(sink);
}

}  // namespace lauka::history
