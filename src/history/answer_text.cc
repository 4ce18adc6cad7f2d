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

/// Returns by how much the change differs between the machines, as a standard deviation.
std::string describe_deviation_between_machines(const stats::EffectOverMachines& combined) {
  // The estimated deviation is 0 if the errors of the machines' changes explain all differences.
  const bool differ = combined.deviation_between_machines > 0.0;
  if (!differ) return "the difference between the machines is within the margin of error";

  // The changes are logarithms of ratios, so expm1() converts their deviation to a fraction.
  const double fraction = std::expm1(combined.deviation_between_machines);
  std::string deviation = report::signed_percent(fraction, 1);
  if (deviation.starts_with('+')) deviation.erase(0, 1);  // a standard deviation has no sign
  return fmt::format("the change differs between machines by {} (standard deviation)", deviation);
}

/// Returns the usual numbers of a meta-analysis: I² is the share of the differences that the errors
/// do not explain, and p belongs to the hypothesis that all machines have the same change.
std::string heterogeneity_text(const stats::EffectOverMachines& combined) {
  constexpr double smallest_shown_p = 0.001;
  std::string p_value = fmt::format("{:.3f}", combined.p_same);
  if (combined.p_same < smallest_shown_p) p_value = "< 0.001";
  return fmt::format("I² {:.0f}%, p {}", 100 * combined.heterogeneity, p_value);
}

/// Returns the note below the change that is combined from several classes of machines: how much
/// the change differs between them, and how certain that is. The note ends with the change that
/// these sessions could have found, if they found none.
std::string describe_differences_between_machines(const FleetEffect& effect) {
  const std::size_t machine_count = effect.machines.size();
  if (machine_count == 1)
    return "there is only one class of machines, so nothing is known about others" +
           describe_detectable_change(effect);

  std::string text = describe_deviation_between_machines(effect.combined) + "; " +
                     heterogeneity_text(effect.combined);

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

nlohmann::ordered_json number_or_null(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// Adds a ratio and its standard error to a row of an export. A missing ratio is null, because CSV
/// needs a field for each column.
void add_ratio_and_error(nlohmann::ordered_json& row, const std::string& compared_with,
                         const std::optional<LogRatio>& ratio) {
  std::optional<double> logarithm;
  std::optional<double> standard_error;
  if (ratio) {
    logarithm = ratio->value;
    standard_error = ratio->error;
  }
  row["log_ratio_to_" + compared_with] = number_or_null(logarithm);
  row["error_to_" + compared_with] = number_or_null(standard_error);
}

/// Returns what an export to CSV or JSON Lines says about one session of a series. Each key is the
/// heading of a CSV column, and the columns have the order of the keys.
nlohmann::ordered_json make_export_row(const MetricHistory& series, const SessionPoint& session) {
  const MeasuredCommand& command = series.variant;
  const MetricRecord& values = session.values;
  nlohmann::ordered_json row = {{"benchmark", command.benchmark},
                                {"role", command.role},
                                {"command", command.command},
                                {"metric", series.metric.name},
                                {"unit", unit_symbol(series.metric.unit)},
                                {"better", word_in(kBetterWords, series.metric.better)},
                                {"machine", command.machine_class},
                                {"method", series.method_text},
                                {"session", session.uuid},
                                {"began", utc_time_text(session.began)},
                                {"commit", session.commit},
                                {"branch", session.branch},
                                {"mean", values.mean},
                                {"stddev", number_or_null(values.stddev)},
                                {"runs", values.summarized_values},  // layouts, if `mean` is theirs
                                {"failed_runs", session.endings.failed_runs()}};

  add_ratio_and_error(row, "reference", values.ratio_to_reference);
  add_ratio_and_error(row, "anchor", values.ratio_to_anchor);
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

/// Writes series in the text format of Go's benchmarks, with a line for each session.
class BenchfmtWriter {
 public:
  explicit BenchfmtWriter(Sink sink) : sink_(std::move(sink)) {}

  void write(const MetricHistory& series) {
    const std::string name = choose_name(series.variant);
    write_if_changed("machine", series.variant.machine_class);
    write_if_changed("cpu", series.variant.machine.cpu_model);
    write_if_changed("method", series.method_text);

    // A result is a name, a number of runs, a value and its unit.
    const std::string unit = report::benchfmt_unit(series.metric.name, series.metric.unit);
    for (const SessionPoint& point : series.points) {
      write_if_changed("session", point.uuid);
      write_if_changed("commit", point.commit);
      write_if_changed("branch", point.branch);
      sink_(fmt::format("{} {} {} {}\n", name, point.values.summarized_values,
                        report::exact_decimal(point.values.mean), unit));
    }
  }

 private:
  /// Writes a line such as "commit: 1a2b3c". It holds for all results below it, so only changes are
  /// written.
  void write_if_changed(const std::string& key, const std::string& value) {
    if (written_configuration_[key] == value) return;
    written_configuration_[key] = value;
    sink_(key + ": " + one_line(value) + "\n");
  }

  /// Returns a name without blanks, which this format does not allow. word_of() also adds a number
  /// if two names of the user's would become equal. Roles are fixed words.
  std::string choose_name(const MeasuredCommand& variant) {
    std::string name = "Benchmark" + benchmark_names_.word_of(variant.benchmark);
    if (!variant.role.empty()) name += "/role=" + report::benchfmt_word(variant.role);
    if (!variant.command.empty()) name += "/command=" + command_names_.word_of(variant.command);
    return name;
  }

  Sink sink_;
  std::map<std::string, std::string> written_configuration_{};
  report::BenchfmtNames benchmark_names_{};
  report::BenchfmtNames command_names_{};
};

TableWriter benchfmt_writer(const Sink& sink) {
  return {[writer = BenchfmtWriter(sink)](const MetricHistory& series) mutable {
    writer.write(series);
  }};
}

/// A document in the Bencher Metric Format, which has the newest value of each series.
struct BmfDocument {
  std::map<std::string, std::string> first_machine_class_by_name{};
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

/// Returns the name of a command in the document. The values of two classes of machines must not
/// have one name. The first class gets the name as it is, and the others add their own.
std::string choose_bmf_name(BmfDocument& document, const MeasuredCommand& variant) {
  std::string name = join_benchmark_role_command(variant, " ");
  const auto first_with_name =
      document.first_machine_class_by_name.emplace(name, variant.machine_class).first;
  if (first_with_name->second != variant.machine_class) name += " " + variant.machine_class;
  return name;
}

/// Returns a value with the ends of its interval, which the format calls lower_value and
/// upper_value. They are optional.
nlohmann::ordered_json make_bmf_measure(const MetricRecord& values) {
  nlohmann::ordered_json measure = {{"value", values.mean}};
  if (values.stddev && values.summarized_values > 0) {
    const auto count = static_cast<double>(values.summarized_values);
    const double standard_error = *values.stddev / std::sqrt(count);
    const double degrees_of_freedom = count - 1.0;
    const double half_width = half_width_95(standard_error, degrees_of_freedom);
    measure["lower_value"] = values.mean - half_width;
    measure["upper_value"] = values.mean + half_width;
  }
  return measure;
}

TableWriter bmf_writer(const Sink& sink) {
  // The functions `add` and `end` share the document.
  const auto document = std::make_shared<BmfDocument>();
  const auto add = [document](const MetricHistory& series) {
    if (series.points.empty()) return;
    const std::string name = choose_bmf_name(*document, series.variant);
    document->json[name][series.metric.name] = make_bmf_measure(series.points.back().values);
  };
  const auto end = [document, sink] {
    constexpr int indent = 2;
    sink(json_text(document->json, indent) + "\n");
  };
  return {add, end};
}

struct OtavaRow {
  std::string commit{};
  std::string branch{};
  std::map<std::size_t, double> value_by_column{};
};

/// Sorts sessions by the time when they began. The other members tell apart those that began at the
/// same time.
struct OtavaRowKey {
  std::int64_t began = 0;
  std::int64_t order_added = 0;
  std::int64_t session_row_id = 0;
  auto operator<=>(const OtavaRowKey&) const = default;
};

/// CSV for Apache Otava: a line for each session, and a column for each series.
struct OtavaTable {
  std::vector<std::string> columns{};
  std::map<OtavaRowKey, OtavaRow> row_by_session{};
};

/// Adds a column with the values of a series. The column's name includes the class of machines,
/// because several classes may measure the same command.
void add_column(OtavaTable& table, const MetricHistory& series) {
  const std::size_t column = table.columns.size();
  for (const SessionPoint& point : series.points) {
    const OtavaRowKey session{.began = point.began,
                              .order_added = point.order_added,
                              .session_row_id = point.session_row_id};
    OtavaRow& row = table.row_by_session[session];
    row.commit = point.commit;
    row.branch = point.branch;
    row.value_by_column[column] = point.values.mean;
  }
  table.columns.push_back(join_benchmark_role_command(series.variant, ".") + "." +
                          series.metric.name + "@" + series.variant.machine_class);
}

/// Returns a line with `column_count` values. A field stays empty if the session did not measure
/// the series.
std::string otava_line(std::int64_t began, const OtavaRow& row, std::size_t column_count) {
  std::string line = utc_time_text(began) + "," + report::csv_field(row.commit) + "," +
                     report::csv_field(row.branch);
  for (std::size_t column = 0; column < column_count; ++column) {
    line += ",";
    const auto value = row.value_by_column.find(column);
    if (value != row.value_by_column.end()) line += report::exact_decimal(value->second);
  }
  return line + "\n";
}

void write_otava_table(const OtavaTable& table, const Sink& sink) {
  std::string head = "time,commit,branch";
  for (const std::string& column : table.columns) head += "," + report::csv_field(column);
  sink(head + "\n");

  for (const auto& [session, row] : table.row_by_session)
    sink(otava_line(session.began, row, table.columns.size()));
}

/// Returns a writer of OtavaTable. A line has the values of all series, so nothing can be written
/// before the last series.
TableWriter otava_writer(const Sink& sink) {
  const auto table = std::make_shared<OtavaTable>();
  const auto add = [table](const MetricHistory& series) { add_column(*table, series); };
  const auto end = [table, sink] { write_otava_table(*table, sink); };
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

std::string to_ascii_if_needed(const std::string& text, const report::Style& style) {
  return style.ascii ? report::to_ascii(text) : text;
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

namespace {

/// Returns a ratio, such as 0.979, as a change: -2.1%.
std::string ratio_text(const CommitValue& commit, std::optional<double> half_width) {
  // `exact_value` is the ratio itself, and `value` is its logarithm.
  if (!commit.exact_value) return report::delta_text(make_change(commit.value, half_width));
  const double change = stats::without_rounding_error(*commit.exact_value - 1.0, 1.0);
  return report::delta_text({.change = change, .is_exact = true});
}

}  // namespace

// A value is exact if it was the same in all runs, as many counts are. Other values have an
// interval if it is known.
std::string value_text(const SteppedSeries& stepped, const CommitValue& commit) {
  const Trend& trend = stepped.trend;
  std::optional<double> half_width;
  if (commit.error) half_width = commit.half_width_95();

  const bool is_ratio = trend.against != ComparedWith::Nothing;
  if (is_ratio) return ratio_text(commit, half_width);

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

/// Returns what a split has split: "the histories of 3 commands are split".
std::string describe_split_histories(const HistorySplit& split) {
  if (split.benchmark_count != 1)
    return fmt::format("the histories of {} commands are split", split.benchmark_count);
  const std::string command = join_benchmark_role_command(split.newer, ", ");
  return fmt::format("the history of {} is split", cited(command));
}

}  // namespace

// After an update, a machine counts as another class of machines. The history of a command is then
// split into two series, and the notes tell the user why.
std::string write_split_notes(const std::vector<HistorySplit>& splits) {
  std::string text;
  for (const HistorySplit& split : splits) {
    const std::string change_of_class = fmt::format(
        "the class of machines becomes {} instead of {} ({})", split.newer.machine_class,
        split.older.machine_class, describe_machine_changes(split));
    const std::string note = fmt::format(
        "note: {} at {}, where {}; lauka-history does not look for a step between the two, and "
        "--machine shows only one of them",
        describe_split_histories(split), date_time_text(split.began), change_of_class);
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

/// Returns a line for each step of a series; the lines of alarms are red.
std::string list_steps(const SteppedSeries& stepped, const report::Style& style) {
  std::string lines;
  for (const KnownStep& known : stepped.steps) {
    const std::string line = to_ascii_if_needed(describe_step(stepped, known), style);
    const report::Ink ink = known.state == StepState::Alarm ? report::Ink::Red : report::Ink::Plain;
    lines += report::inked(line, ink, style.color) + "\n";
  }
  return lines;
}

/// Returns a line about a step among the newest commits that no later commits have confirmed yet;
/// empty if there is none. If only the last commit differs from those before it, much less is
/// known.
std::string describe_unconfirmed_step(const SteppedSeries& stepped) {
  if (stepped.possible_step_at) return "  " + pending_text(stepped) + "\n";

  const auto& commits = stepped.trend.observations;
  if (!stepped.may_last_commit_be_step || commits.empty()) return {};
  return fmt::format("  the last commit, {}, may be a step, which a later commit must confirm\n",
                     commit_name(commits.back()));
}

}  // namespace

// A step is a lasting change of a series. A series without anything to report has no text, not even
// a title, so that a long history gives a short answer.
std::string steps_text(const SteppedSeries& stepped, const report::Style& style) {
  const std::string lines =
      list_steps(stepped, style) +
      to_ascii_if_needed(describe_newest_change_of_few_commits(stepped), style) +
      describe_unconfirmed_step(stepped);
  if (lines.empty()) return {};

  std::string title = title_of(stepped.series);
  if (stepped.trend.against != ComparedWith::Nothing)
    title += fmt::format(" ({})", values_heading(stepped.trend.against));
  return title + "\n" + report::dim_note("  " + machine_line(stepped.series.variant), style) +
         lines;
}

// Returns a table with a row for each session. A session is one call of lauka whose results were
// added to the history.
std::string sessions_text(const std::vector<SessionLine>& sessions, const report::Style& style) {
  report::Table table =
      make_table({"session", "began (UTC)", "commit", "branch", "machine", "host", "commands"});
  constexpr std::size_t branch_column = 3;
  constexpr std::size_t machine_column = 4;
  constexpr std::size_t host_column = 5;

  for (const SessionLine& session : sessions) {
    const std::string_view remark = session.complete ? "" : ", cut short";
    table.rows.push_back({{session.uuid.substr(0, kShownUuidDigits)},
                          {date_time_text(session.began)},
                          {short_commit(session.commit)},
                          {session.branch},
                          {session.machine_class},
                          {session.host},
                          {fmt::format("{}{}", session.result_count, remark)}});
  }

  // A terminal that is too narrow for all columns does not show these.
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

/// The columns of the table of commits.
enum CommitColumn : std::size_t { HashColumn, DateColumn, ValueColumn, ChangeColumn };

/// Returns the table of commits without rows. A narrow terminal shows no dates, and never cuts
/// values and changes.
report::Table make_empty_commit_table(ComparedWith against) {
  report::Table table =
      make_table_with_drawing({"commit", "measured (UTC)", values_heading(against), "change"});
  table.columns[DateColumn].dropped_when_omitting = report::OmittedPart::Date;
  table.steps.push_back({.last_omitted_part = report::OmittedPart::Date});
  table.columns[ValueColumn].cut = report::Cut::Nothing;
  table.columns[ChangeColumn].cut = report::Cut::Nothing;
  return table;
}

/// Returns the extent of the intervals of all commits.
report::Extent find_extent(const std::vector<CommitValue>& commits) {
  report::Extent extent;
  for (const CommitValue& commit : commits) {
    const double half_width = commit.half_width_95();
    extent.include(commit.value - half_width);
    extent.include(commit.value + half_width);
  }
  return extent;
}

/// Returns the row of the commit with this index; the first commit has no change.
report::TableRow make_commit_row(const SteppedSeries& stepped, std::size_t index,
                                 const IntervalDrawer& drawer) {
  const CommitValue& commit = stepped.trend.observations[index];
  const double low = commit.value - commit.half_width_95();
  const double high = commit.value + commit.half_width_95();
  report::Cell change;
  const bool has_previous_commit = index > 0;
  if (has_previous_commit) change = {change_text(stepped, index), choose_ink(stepped, index)};

  return {{commit.commit.empty() ? "-" : short_commit(commit.commit)},
          {date_time_text(commit.began)},
          {value_text(stepped, commit)},
          std::move(change),
          {drawer.draw(commit.value, low, high)}};
}

/// Adds remarks behind the changes: first a step at the commit, then failed runs.
void add_remarks(report::Table& table, const SteppedSeries& stepped) {
  for (const KnownStep& known : stepped.steps)
    table.rows[known.step.first_point][ChangeColumn].text +=
        "  step " + known.id + state_suffix(known);

  const std::vector<CommitValue>& commits = stepped.trend.observations;
  for (std::size_t i = 0; i < commits.size(); ++i) {
    const std::string failures = report::failures_text(commits[i].endings);
    if (!failures.empty()) table.rows[i][ChangeColumn].text += "  " + failures;
  }
}

/// Returns the table of `lauka-history show`: a row for each commit, with an interval that is drawn
/// to the same scale in all rows.
report::Table make_commit_table(const SteppedSeries& stepped, bool is_ascii) {
  const std::vector<CommitValue>& commits = stepped.trend.observations;
  const IntervalDrawer drawer{.ascii = is_ascii, .scale = find_extent(commits)};
  report::Table table = make_empty_commit_table(stepped.trend.against);
  for (std::size_t i = 0; i < commits.size(); ++i)
    table.rows.push_back(make_commit_row(stepped, i, drawer));
  add_remarks(table, stepped);
  return table;
}

}  // namespace

// Returns a title, the machine, a table of the commits, and notes below it.
std::string series_text(const SteppedSeries& stepped, const report::Style& style) {
  const MetricHistory& series = stepped.series;
  std::string text = title_of(series) + "\n";
  text += report::dim_note(machine_line(series.variant), style);
  text += report::terminal_text(make_commit_table(stepped, style.ascii), style);
  if (stepped.possible_step_at) text += report::dim_note(pending_text(stepped), style);

  // An anchor is a command that sessions measure for comparison. If a new anchor replaces an older
  // one, only a session that measured both relates the older ratios to the new ones.
  const bool is_compared_with_anchor = stepped.trend.against == ComparedWith::Anchor;
  if (is_compared_with_anchor && series.removed_anchor_ratios > 0) {
    const std::string note = fmt::format(
        "{} with an older anchor {} not shown, because no session "
        "has measured both that anchor and the newest one",
        plural(series.removed_anchor_ratios, "session"),
        series.removed_anchor_ratios == 1 ? "is" : "are");
    text += report::dim_note(note, style);
  }

  return text;
}

namespace {

/// Returns the extent of all intervals of an effect. It includes "no change", so that one can see
/// which changes are clearly better or worse.
report::Extent find_extent(const FleetEffect& effect) {
  constexpr double no_change = 0.0;
  report::Extent extent;
  extent.include(no_change);
  extent.include(effect.combined.bounds.low);
  extent.include(effect.combined.bounds.high);
  for (const MachineEffect& machine : effect.machines) {
    extent.include(machine.ratio_logarithm - machine.half_width_95());
    extent.include(machine.ratio_logarithm + machine.half_width_95());
  }
  return extent;
}

/// Returns the row of a class of machines, with the change that it measured.
report::TableRow make_machine_row(const MachineEffect& machine, const IntervalDrawer& drawer) {
  const double logarithm = machine.ratio_logarithm;
  const double half_width = machine.half_width_95();
  return {{"  " + machine.variant.machine_class},
          {describe_machine(machine.variant.machine)},
          {report::delta_text(make_change(logarithm, half_width))},
          {drawer.draw(logarithm, logarithm - half_width, logarithm + half_width)}};
}

/// Returns the row with the change that is combined from all classes of machines.
report::TableRow make_combined_row(const FleetEffect& effect, const IntervalDrawer& drawer) {
  const stats::EffectOverMachines& combined = effect.combined;
  std::string class_count = fmt::format("{} classes of machines", effect.machines.size());
  if (effect.machines.size() == 1) class_count = "one class of machines";
  return {{"  all", report::Ink::Bold},
          {class_count},
          {report::delta_text(make_change(combined.value, combined.bounds))},
          {drawer.draw(combined.value, combined.bounds.low, combined.bounds.high)}};
}

}  // namespace

// A fleet is several classes of machines that measured the same change. Each class has a row, and
// the last row has the change that is combined from them.
std::string fleet_text(const FleetEffect& effect, const report::Style& style) {
  const IntervalDrawer drawer{.ascii = style.ascii, .scale = find_extent(effect)};

  // The class, the machine and the change need no headings.
  report::Table table = make_table_with_drawing({"", "", ""});
  for (const MachineEffect& machine : effect.machines)
    table.rows.push_back(make_machine_row(machine, drawer));
  table.rows.push_back(make_combined_row(effect, drawer));

  std::string note = "  " + describe_differences_between_machines(effect);
  if (effect.sessions_left_out > 0)
    note += fmt::format("; {} left out, because they have no interval", effect.sessions_left_out);
  return effect.title + ": change from the reference\n" + report::terminal_text(table, style) +
         report::dim_note(to_ascii_if_needed(note, style), style);
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
