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
#include <compare>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace lauka::history {

namespace {

constexpr std::size_t kDrawingCells = 25;
constexpr std::size_t kShownUuidDigits = 8;  // enough for `forget`, which takes the beginning

/// Converts the logarithm of a ratio into a change, with its interval.
stats::Change make_change(double logarithm, const stats::IntervalEnds& bounds) {
  return {.change = std::expm1(logarithm),
          .bounds = stats::IntervalEnds{std::expm1(bounds.low), std::expm1(bounds.high)}};
}

stats::Change make_change(double logarithm, std::optional<double> half_width) {
  if (!half_width) return {.change = std::expm1(logarithm)};
  return make_change(logarithm, {logarithm - *half_width, logarithm + *half_width});
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
std::string describe_detectable_change(const FleetEffect& effect) {
  const stats::Change change = make_change(effect.combined.value, effect.combined.bounds);
  if (change.is_significant()) return "";
  const std::size_t count = effect.machines.size();
  const double degrees =
      count == 1 ? effect.machines.front().degrees : static_cast<double>(count) - 1.0;
  return report::detectable_text(stats::detectable_change_by_t(change, kTail95, degrees),
                                 "combinations of sessions");
}

/// Returns a difference of values that are no logarithms. A difference that is only a rounding
/// error of values of the size `scale` is shown as 0.
std::string difference_text(const SteppedSeries& stepped, double difference, double scale) {
  const double change = stats::without_rounding_error(difference, scale);
  return (change > 0.0 ? "+" : "") + report::quantity(change, as_metric(stepped.series.metric));
}

/// Returns the note below the change that is combined from several classes of machines: how much
/// the change differs between them, and how certain that is.
std::string describe_differences_between_machines(const FleetEffect& effect) {
  const stats::EffectOverMachines& combined = effect.combined;
  const std::size_t machine_count = effect.machines.size();

  // The note ends with the change that these sessions could have found, if they found none.
  if (machine_count == 1)
    return "there is only one class of machines, so nothing is known about others" +
           describe_detectable_change(effect);

  // The estimated deviation is 0 if the errors of the machines' changes explain all differences.
  std::string text = "the difference between the machines is within the margin of error";
  if (combined.deviation_between_machines > 0.0) {
    // The changes are logarithms of ratios, so expm1() converts their deviation to a fraction.
    const double fraction = std::expm1(combined.deviation_between_machines);
    std::string deviation = report::signed_percent(fraction, 1);
    if (deviation.starts_with('+')) deviation.erase(0, 1);  // a standard deviation has no sign
    text = fmt::format("the change differs between machines by {} (standard deviation)", deviation);
  }

  // These are the usual numbers of a meta-analysis: I² is the share of the differences that the
  // errors do not explain, and p belongs to the hypothesis that all machines have the same change.
  constexpr double smallest_shown_p = 0.001;
  std::string p_value = fmt::format("{:.3f}", combined.p_same);
  if (combined.p_same < smallest_shown_p) p_value = "< 0.001";
  text += fmt::format("; I² {:.0f}%, p {}", 100 * combined.heterogeneity, p_value);

  constexpr std::size_t machines_for_good_estimate = 4;
  if (machine_count < machines_for_good_estimate)
    text += fmt::format("; with only {} machines this is uncertain, so the interval is wide",
                        machine_count);

  return text + describe_detectable_change(effect);
}

/// Returns half the width of the 95% interval of the change between two commits; nullopt if it is
/// unknown.
std::optional<double> half_width_between(const CommitValue& from, const CommitValue& to) {
  if (!from.error || !to.error) return std::nullopt;
  // Values with the same anchor were converted by the same ratio, whose error cancels out.
  const bool has_same_anchor = from.link_error == to.link_error;
  const double error = has_same_anchor ? std::hypot(*from.error, *to.error)
                                       : std::hypot(*from.whole_error(), *to.whole_error());
  return half_width_95(error, degrees_of_sum(*from.error, from.degrees, *to.error, to.degrees));
}

/// Returns the colour of the change from the previous commit: green for better, red for worse, dim
/// for a change that is not significant or of a metric without direction.
report::Ink choose_ink(const SteppedSeries& stepped, std::size_t commit) {
  const CommitValue& from = stepped.trend.observations[commit - 1];
  const CommitValue& to = stepped.trend.observations[commit];
  const Better better = stepped.series.metric.better;
  const auto half_width = half_width_between(from, to);
  const double change = to.value - from.value;
  const bool is_significant = half_width && std::abs(change) > *half_width;
  if (!is_significant || better == Better::Neither) return report::Ink::Dim;

  const bool is_better = (change < 0.0) == (better == Better::Less);
  return is_better ? report::Ink::Green : report::Ink::Red;
}

std::string utc_time_text(std::int64_t milliseconds) {
  return rfc3339(UtcTime(std::chrono::milliseconds(milliseconds)));
}

/// Returns benchmark, role and command, with `separator` between those that are not empty.
std::string join_benchmark_role_command(const MeasuredCommand& variant,
                                        std::string_view separator) {
  std::string all = variant.benchmark;
  for (const std::string& part : {variant.role, variant.command})
    if (!part.empty()) all.append(separator).append(part);
  return all;
}

/// Returns what an export to CSV or JSON Lines says about one session of a series. Each key is the
/// heading of a CSV column, and the columns have the order of the keys.
nlohmann::ordered_json make_export_row(const MetricHistory& series, const SessionPoint& point) {
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
                                {"began", utc_time_text(point.began)},
                                {"commit", point.commit},
                                {"branch", point.branch},
                                {"mean", point.values.mean},
                                {"stddev", number_or_null(point.values.stddev)},
                                {"runs", point.values.summarized_values},
                                {"failed_runs", point.endings.failed_runs()}};

  // A missing ratio is null, because CSV needs a field for each column.
  const auto add_ratio = [&](const std::string& compared_with,
                             const std::optional<LogRatio>& ratio) {
    std::optional<double> logarithm;
    std::optional<double> standard_error;
    if (ratio) {
      logarithm = ratio->value;
      standard_error = ratio->error;
    }
    row["log_ratio_to_" + compared_with] = number_or_null(logarithm);
    row["error_to_" + compared_with] = number_or_null(standard_error);
  };
  add_ratio("reference", point.values.ratio_to_reference);
  add_ratio("anchor", point.values.ratio_to_anchor);
  return row;
}

/// Returns a value of make_export_row() as CSV. null is an empty field.
std::string csv_text(const nlohmann::ordered_json& value) {
  if (value.is_string()) return report::csv_field(value.get_ref<const std::string&>());
  if (value.is_number_float()) return report::exact_decimal(value.get<double>());
  return value.is_null() ? "" : value.dump();
}

TableWriter csv_writer(const Sink& sink) {
  const auto empty_row = make_export_row({}, {});
  std::string head;
  for (const auto& [name, value] : empty_row.items()) head += (head.empty() ? "" : ",") + name;
  sink(head + "\r\n");
  return {[sink](const MetricHistory& series) {
    for (const SessionPoint& point : series.points) {
      std::string line;
      for (const auto& value : make_export_row(series, point)) line += csv_text(value) + ",";
      line.pop_back();
      sink(line + "\r\n");
    }
  }};
}

TableWriter json_lines_writer(const Sink& sink) {
  return {[sink](const MetricHistory& series) {
    for (const SessionPoint& point : series.points)
      sink(json_text(make_export_row(series, point), -1) + "\n");
  }};
}

/// Returns a writer of the text format of Go's benchmarks, with a line for each session. The
/// writer's function has variables of its own, which last from one series to the next.
TableWriter benchfmt_writer(const Sink& sink) {
  return {[sink, written_configuration = std::map<std::string, std::string>(),
           benchmark_names = report::BenchfmtNames(),
           command_names = report::BenchfmtNames()](const MetricHistory& series) mutable {
    // A line such as "commit: 1a2b3c" holds for all results below it, so only changes are written.
    const auto write_if_changed = [&](const std::string& key, const std::string& value) {
      if (written_configuration[key] == value) return;
      written_configuration[key] = value;
      sink(key + ": " + one_line(value) + "\n");
    };

    // A name in this format must not contain blanks, so they are replaced. word_of() also adds a
    // number if two names of the user's would become equal. Roles are fixed words.
    std::string name = "Benchmark" + benchmark_names.word_of(series.variant.benchmark);
    if (!series.variant.role.empty()) name += "/role=" + report::benchfmt_word(series.variant.role);
    if (!series.variant.command.empty())
      name += "/command=" + command_names.word_of(series.variant.command);

    write_if_changed("machine", series.variant.machine_class);
    write_if_changed("cpu", series.variant.machine.cpu_model);
    write_if_changed("method", series.method_text);

    // A result is a name, a number of runs, a value and its unit.
    const std::string unit = report::benchfmt_unit(series.metric.name, series.metric.unit);
    for (const SessionPoint& point : series.points) {
      write_if_changed("session", point.uuid);
      write_if_changed("commit", point.commit);
      write_if_changed("branch", point.branch);
      sink(fmt::format("{} {} {} {}\n", name, point.values.summarized_values,
                       report::exact_decimal(point.values.mean), unit));
    }
  }};
}

/// Returns a writer of the Bencher Metric Format, a single JSON document. It has the newest value
/// of each series.
TableWriter bmf_writer(const Sink& sink) {
  struct State {
    std::map<std::string, std::string> first_machine_class_by_name{};
    nlohmann::ordered_json document = nlohmann::ordered_json::object();
  };

  // The functions `add` and `end` share the state.
  const auto state = std::make_shared<State>();
  const auto add = [state](const MetricHistory& series) {
    if (series.points.empty()) return;
    const MetricRecord& newest = series.points.back().values;

    // The values of two classes of machines must not have one name. The first class gets the name
    // as it is, and the others add their own.
    std::string name = join_benchmark_role_command(series.variant, " ");
    const std::string& machine_class = series.variant.machine_class;
    const auto first_with_name =
        state->first_machine_class_by_name.emplace(name, machine_class).first;
    if (first_with_name->second != machine_class) name += " " + machine_class;

    // The format calls the ends of an interval lower_value and upper_value. They are optional.
    nlohmann::ordered_json measure = {{"value", newest.mean}};
    if (newest.stddev && newest.summarized_values > 0) {
      const auto count = static_cast<double>(newest.summarized_values);
      const double standard_error = *newest.stddev / std::sqrt(count);
      const double degrees_of_freedom = count - 1.0;
      const double half_width = half_width_95(standard_error, degrees_of_freedom);
      measure["lower_value"] = newest.mean - half_width;
      measure["upper_value"] = newest.mean + half_width;
    }

    state->document[name][series.metric.name] = std::move(measure);
  };

  const auto end = [state, sink] {
    constexpr int indent = 2;
    sink(json_text(state->document, indent) + "\n");
  };
  return {add, end};
}

/// Returns a writer of CSV for Apache Otava: a line for each session, and a column for each series.
TableWriter otava_writer(const Sink& sink) {
  struct SessionRow {
    std::string commit{};
    std::string branch{};
    std::map<std::size_t, double> value_by_column{};
  };
  // Sorts sessions by the time when they began. The other members tell apart those that began at
  // the same time.
  struct SessionKey {
    std::int64_t began = 0;
    std::int64_t order_added = 0;
    std::int64_t row_id = 0;
    auto operator<=>(const SessionKey&) const = default;
  };
  struct State {
    std::vector<std::string> columns{};
    std::map<SessionKey, SessionRow> row_by_session{};
  };

  // A line has the values of all series, so nothing can be written before the last series. Until
  // then, `add` collects the values for `end`. A column's name includes the class of machines,
  // because several classes may measure the same command.
  const auto state = std::make_shared<State>();
  const auto add = [state](const MetricHistory& series) {
    const std::size_t column = state->columns.size();
    for (const SessionPoint& point : series.points) {
      const SessionKey session{
          .began = point.began, .order_added = point.order_added, .row_id = point.session_row_id};
      SessionRow& row = state->row_by_session[session];
      row.commit = point.commit;
      row.branch = point.branch;
      row.value_by_column[column] = point.values.mean;
    }
    state->columns.push_back(join_benchmark_role_command(series.variant, ".") + "." +
                             series.metric.name + "@" + series.variant.machine_class);
  };

  const auto end = [state, sink] {
    std::string head = "time,commit,branch";
    for (const std::string& column : state->columns) head += "," + report::csv_field(column);
    sink(head + "\n");

    // A field stays empty if the session did not measure the series.
    for (const auto& [session, row] : state->row_by_session) {
      std::string line = utc_time_text(session.began) + "," + report::csv_field(row.commit) + "," +
                         report::csv_field(row.branch);
      for (std::size_t column = 0; column < state->columns.size(); ++column) {
        line += ",";
        const auto value = row.value_by_column.find(column);
        if (value != row.value_by_column.end()) line += report::exact_decimal(value->second);
      }
      sink(line + "\n");
    }
  };

  return {add, end};
}

/// Draws intervals below each other, to one scale: "  ──●──   ".
struct IntervalDrawer {
  bool ascii;
  report::Extent scale{};

  std::string draw(double value, double low, double high) const {
    // If all values are equal, they are in the middle.
    const auto find_cell = [&](double position) {
      const double share =
          scale.high > scale.low ? (position - scale.low) / (scale.high - scale.low) : 0.5;
      return static_cast<std::size_t>(std::lround(share * static_cast<double>(kDrawingCells - 1)));
    };

    std::string drawing;
    for (std::size_t i = 0; i < kDrawingCells; ++i) {
      if (i == find_cell(value))
        drawing += ascii ? "o" : "●";
      else if (i >= find_cell(low) && i <= find_cell(high))
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

/// Adds a column without a heading for the drawings of IntervalDrawer, which narrow terminals do
/// not show.
report::Table make_table_with_drawing(std::initializer_list<std::string_view> headings) {
  report::Table table = make_table(headings);
  table.columns.push_back(
      {.dropped_when_omitting = report::OmittedPart::Drawing, .cut = report::Cut::Middle});
  table.steps.push_back({.last_omitted_part = report::OmittedPart::Drawing});
  return table;
}

std::string describe_machine(const Machine& machine) {
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

/// Returns a line of `lauka-history steps`: the step's id, its change, its commit and its state.
std::string describe_step(const SteppedSeries& stepped, const KnownStep& known) {
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
  constexpr std::size_t size_without_seconds = 16;
  std::string text = utc_time_text(milliseconds);
  text.resize(size_without_seconds);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

std::string short_commit(const std::string& commit) {
  constexpr std::size_t shown_digits = 10;
  const std::size_t plus = commit.find('+');
  const std::string hash = commit.substr(0, plus);
  const bool is_hash =
      hash.size() > shown_digits && hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  std::string text = is_hash ? hash.substr(0, shown_digits) : hash;
  if (plus != std::string::npos) text += commit.substr(plus);
  return one_line(text);
}

std::string commit_name(const CommitValue& commit) {
  return commit.commit.empty() ? date_time_text(commit.began) : short_commit(commit.commit);
}

// A value is exact if it was the same in all runs, as many counts are. Other values have an
// interval if it is known.
std::string value_text(const SteppedSeries& stepped, const CommitValue& commit) {
  const Trend& trend = stepped.trend;
  std::optional<double> half_width;
  if (commit.error) half_width = commit.half_width_95();

  // A ratio, such as 0.979, is shown as a change: -2.1%. `exact_value` is the ratio itself, and
  // `value` is its logarithm.
  const bool is_ratio = trend.against != ComparedWith::Nothing;
  if (is_ratio && commit.exact_value) {
    const double change = stats::without_rounding_error(*commit.exact_value - 1.0, 1.0);
    return report::delta_text({.change = change, .is_exact = true});
  }
  if (is_ratio) return report::delta_text(make_change(commit.value, half_width));

  const Metric metric = as_metric(stepped.series.metric);
  if (commit.exact_value)
    return report::with_uncertainty(report::exact_quantity(*commit.exact_value, metric),
                                    {.is_exact = true});

  // The half width of a logarithm is relative, so it is converted to the value's unit.
  const double value = trend.is_logarithm ? std::exp(commit.value) : commit.value;
  if (half_width && trend.is_logarithm) *half_width *= value;
  return report::mean_text(value, half_width, metric);
}

std::string change_text(const SteppedSeries& stepped, std::size_t commit) {
  const CommitValue& from = stepped.trend.observations[commit - 1];
  const CommitValue& to = stepped.trend.observations[commit];
  if (from.exact_value && to.exact_value)
    return exact_change_text(stepped, *from.exact_value, *to.exact_value);
  const double change = to.value - from.value;
  if (stepped.trend.is_logarithm)
    return report::delta_text(make_change(change, half_width_between(from, to)));
  return difference_text(stepped, change, std::abs(from.value) + std::abs(to.value));
}

std::string title_of(const MetricHistory& series) {
  std::string title = series.variant.benchmark + ", " + series.metric.name;
  for (const std::string& part : {series.variant.role, series.variant.command})
    if (!part.empty()) title += ", " + part;
  if (!series.method_text.empty()) title += fmt::format(" ({})", series.method_text);
  return one_line(title);
}

namespace {

/// Returns what changed about the machine at a split, such as "kernel 6.2 instead of 6.1".
std::string describe_machine_changes(const HistorySplit& split) {
  // No setting differs if the same machine got another class from a newer version of lauka.
  if (split.differences.empty())
    return "lauka now tells processors with the same name apart by their model and features";

  std::vector<std::string> changes;
  for (const SettingDifference& difference : split.differences) {
    const SettingRow& setting = row_of(difference.kind);
    const std::string& older_value = difference.reference_value;
    const std::string& newer_value = difference.candidate_value;
    changes.push_back(fmt::format("{} {} instead of {}", setting.title, newer_value, older_value));
  }
  return fmt::format("{}", fmt::join(changes, ", "));
}

}  // namespace

// After an update, a machine counts as another class of machines. The history of a command is then
// split into two series, and the notes tell the user why.
std::string write_split_notes(const std::vector<HistorySplit>& splits) {
  std::string text;
  for (const HistorySplit& split : splits) {
    std::string what_is_split =
        fmt::format("the histories of {} commands are split", split.benchmark_count);
    if (split.benchmark_count == 1) {
      const std::string command = join_benchmark_role_command(split.newer, ", ");
      what_is_split = fmt::format("the history of {} is split", cited(command));
    }

    const std::string change_of_class = fmt::format(
        "the class of machines becomes {} instead of {} ({})", split.newer.machine_class,
        split.older.machine_class, describe_machine_changes(split));
    const std::string note = fmt::format(
        "note: {} at {}, where {}; lauka-history does not look for a step between the two, and "
        "--machine shows only one of them",
        what_is_split, date_time_text(split.began), change_of_class);
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
                     describe_machine(variant.machine));
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

namespace {

/// Steps cannot be found in so few commits. So that the user need not wait for a first warning,
/// this returns a line about the newest commit if its change is significant, and for the better or
/// the worse; else empty.
std::string describe_newest_change_of_few_commits(const SteppedSeries& stepped) {
  const auto& commits = stepped.trend.observations;
  const bool has_change = commits.size() > 1;
  if (!has_change || commits.size() >= stats::kMinForSteps) return {};

  // Other changes are dim.
  const std::size_t newest = commits.size() - 1;
  if (choose_ink(stepped, newest) == report::Ink::Dim) return {};

  return fmt::format("  {} {}, which cannot be judged yet with {} of {} commits\n",
                     commit_name(commits[newest]), change_text(stepped, newest), commits.size(),
                     stats::kMinForSteps);
}

}  // namespace

// A step is a lasting change of a series. A series without anything to report has no text, not even
// a title, so that a long history gives a short answer.
std::string steps_text(const SteppedSeries& stepped, const report::Style& style) {
  const auto& commits = stepped.trend.observations;
  const auto to_ascii_if_needed = [&](const std::string& line) {
    return style.ascii ? report::to_ascii(line) : line;
  };

  std::string lines;
  for (const KnownStep& known : stepped.steps) {
    const std::string line = describe_step(stepped, known);
    const report::Ink ink = known.state == StepState::Alarm ? report::Ink::Red : report::Ink::Plain;
    lines += report::inked(to_ascii_if_needed(line), ink, style.color) + "\n";
  }

  lines += to_ascii_if_needed(describe_newest_change_of_few_commits(stepped));

  // Commits after a step confirm it. The newest commits may be after a step that is not confirmed
  // yet. If only the last one differs from the commits before it, much less is known.
  if (stepped.possible_step_at)
    lines += "  " + pending_text(stepped) + "\n";
  else if (stepped.may_last_commit_be_step && !commits.empty())
    lines +=
        fmt::format("  the last commit, {}, may be a step, which a later commit must confirm\n",
                    commit_name(commits.back()));

  if (lines.empty()) return {};
  std::string title = title_of(stepped.series);
  if (stepped.trend.against != ComparedWith::Nothing)
    title += fmt::format(" ({})", values_heading(stepped.trend.against));
  return title + "\n" + report::dim_note("  " + machine_line(stepped.series.variant), style) +
         lines;
}

// A session is one call of lauka whose results were added to the history.
std::string sessions_text(const std::vector<SessionLine>& sessions, const report::Style& style) {
  report::Table table =
      make_table({"session", "began (UTC)", "commit", "branch", "machine", "host", "commands"});
  for (const SessionLine& line : sessions)
    table.rows.push_back(
        {{line.uuid.substr(0, kShownUuidDigits)},
         {date_time_text(line.began)},
         {short_commit(line.commit)},
         {line.branch},
         {line.machine_class},
         {line.host},
         {fmt::format("{}{}", line.result_count, line.complete ? "" : ", cut short")}});

  // In a narrow terminal, the table leaves out the columns that say where a session ran.
  constexpr std::size_t branch_column = 3;
  constexpr std::size_t machine_column = 4;
  constexpr std::size_t host_column = 5;
  for (const std::size_t column : {branch_column, machine_column, host_column})
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
                          {variant.machine_class + ": " + describe_machine(variant.machine)}});
  return report::terminal_text(table, style);
}

namespace {

/// Returns the table of `lauka-history show`: a row for each commit, with an interval that is drawn
/// to the same scale in all rows.
report::Table make_commit_table(const SteppedSeries& stepped, bool is_ascii) {
  const std::vector<CommitValue>& commits = stepped.trend.observations;
  report::Table table = make_table_with_drawing(
      {"commit", "measured (UTC)", values_heading(stepped.trend.against), "change"});
  constexpr std::size_t date_column = 1;
  constexpr std::size_t value_column = 2;
  constexpr std::size_t change_column = 3;

  // A narrow terminal shows no dates, and never cuts values and changes.
  table.columns[date_column].dropped_when_omitting = report::OmittedPart::Date;
  table.steps.push_back({.last_omitted_part = report::OmittedPart::Date});
  table.columns[value_column].cut = report::Cut::Nothing;
  table.columns[change_column].cut = report::Cut::Nothing;

  IntervalDrawer drawer{is_ascii};
  for (const CommitValue& commit : commits) {
    const double half_width = commit.half_width_95();
    drawer.scale.include(commit.value - half_width);
    drawer.scale.include(commit.value + half_width);
  }

  for (std::size_t i = 0; i < commits.size(); ++i) {
    const CommitValue& commit = commits[i];
    const double low = commit.value - commit.half_width_95();
    const double high = commit.value + commit.half_width_95();
    report::Cell change;
    const bool has_previous_commit = i > 0;
    if (has_previous_commit) change = {change_text(stepped, i), choose_ink(stepped, i)};

    table.rows.push_back({{commit.commit.empty() ? "-" : short_commit(commit.commit)},
                          {date_time_text(commit.began)},
                          {value_text(stepped, commit)},
                          std::move(change),
                          {drawer.draw(commit.value, low, high)}});
  }

  // Remarks follow the change: first a step at the commit, then failed runs.
  for (const KnownStep& known : stepped.steps)
    table.rows[known.step.first_point][change_column].text +=
        "  step " + known.id + state_suffix(known);
  for (std::size_t i = 0; i < commits.size(); ++i) {
    const std::string failures = report::failures_text(commits[i].endings);
    if (!failures.empty()) table.rows[i][change_column].text += "  " + failures;
  }

  return table;
}

}  // namespace

std::string series_text(const SteppedSeries& stepped, const report::Style& style) {
  const MetricHistory& series = stepped.series;
  std::string text =
      title_of(series) + "\n" + report::dim_note(machine_line(series.variant), style);
  text += report::terminal_text(make_commit_table(stepped, style.ascii), style);
  if (stepped.possible_step_at) text += report::dim_note(pending_text(stepped), style);

  // An anchor is a command that sessions measure for comparison. If a new anchor replaces an older
  // one, only a session that measured both relates the older ratios to the new ones.
  if (series.removed_anchor_ratios > 0 && stepped.trend.against == ComparedWith::Anchor) {
    const std::string note = fmt::format(
        "{} with an older anchor {} not shown, because no session "
        "has measured both that anchor and the newest one",
        plural(series.removed_anchor_ratios, "session"),
        series.removed_anchor_ratios == 1 ? "is" : "are");
    text += report::dim_note(note, style);
  }

  return text;
}

// A fleet is several classes of machines that measured the same change. Each class has a row, and
// the last row has the change that is combined from them.
std::string fleet_text(const FleetEffect& effect, const report::Style& style) {
  const stats::EffectOverMachines& combined = effect.combined;

  // All intervals are drawn to one scale. It includes "no change", so that one can see which
  // changes are clearly better or worse.
  constexpr double no_change = 0.0;
  IntervalDrawer drawer{style.ascii};
  drawer.scale.include(no_change);
  drawer.scale.include(combined.bounds.low);
  drawer.scale.include(combined.bounds.high);
  for (const MachineEffect& machine : effect.machines) {
    drawer.scale.include(machine.ratio_logarithm - machine.half_width_95());
    drawer.scale.include(machine.ratio_logarithm + machine.half_width_95());
  }

  // The class, the machine and the change need no headings.
  report::Table table = make_table_with_drawing({"", "", ""});
  for (const MachineEffect& machine : effect.machines) {
    const double logarithm = machine.ratio_logarithm;
    const double half_width = machine.half_width_95();
    table.rows.push_back(
        {{"  " + machine.variant.machine_class},
         {describe_machine(machine.variant.machine)},
         {report::delta_text(make_change(logarithm, half_width))},
         {drawer.draw(logarithm, logarithm - half_width, logarithm + half_width)}});
  }

  std::string class_count = fmt::format("{} classes of machines", effect.machines.size());
  if (effect.machines.size() == 1) class_count = "one class of machines";
  table.rows.push_back({{"  all", report::Ink::Bold},
                        {class_count},
                        {report::delta_text(make_change(combined.value, combined.bounds))},
                        {drawer.draw(combined.value, combined.bounds.low, combined.bounds.high)}});

  std::string text =
      effect.title + ": change from the reference\n" + report::terminal_text(table, style);

  std::string note = "  " + describe_differences_between_machines(effect);
  if (effect.sessions_left_out > 0)
    note += fmt::format("; {} left out, because they have no interval", effect.sessions_left_out);
  return text + report::dim_note(style.ascii ? report::to_ascii(note) : note, style);
}

std::string fleet_html(const FleetEffect& effect) {
  std::vector<report::ChangeRow> rows;
  const auto add_row = [&](const std::string& name, const stats::Change& change) {
    rows.push_back(report::change_row(report::html_text(name), change, effect.better));
  };
  for (const MachineEffect& machine : effect.machines)
    add_row(machine_line(machine.variant),
            make_change(machine.ratio_logarithm, machine.half_width_95()));
  add_row("all of them", make_change(effect.combined.value, effect.combined.bounds));
  return report::change_chart(std::move(rows)) + "<p class=\"aside\">" +
         report::html_text(describe_differences_between_machines(effect)) + "</p>\n";
}

TableWriter table_writer(std::string_view format, const Sink& sink) {
  if (format == "jsonl") return json_lines_writer(sink);
  if (format == "benchfmt") return benchfmt_writer(sink);
  if (format == "bmf") return bmf_writer(sink);
  if (format == "otava") return otava_writer(sink);
  return csv_writer(sink);
}

}  // namespace lauka::history
