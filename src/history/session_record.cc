#include "history/session_record.h"

#include "core/own_metric.h"
#include "core/sha256.h"
#include "core/text.h"
#include "format/field_json.h"
#include "format/json.h"
#include "format/json_text.h"
#include "format/sections.h"
#include "format/session_json.h"
#include "results/analyse.h"
#include "session/setting_values.h"
#include "stats/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka::history {

namespace {

using Json = ParsedJson;
using namespace std::string_view_literals;

Error make_not_of_lauka_error(std::string_view detail) {
  return Error{fmt::format("is not a JSON file of lauka ({})", detail),
               "make such a file with lauka --export-json FILE"};
}

constexpr const char* kReferenceKey = "reference";

/// What the file says about a command, besides the values of its metrics.
struct ResultInFile {
  const Json* lauka_part = nullptr;  ///< results[].lauka
  const Json* metrics = nullptr;     ///< results[].lauka.metrics
  std::string benchmark{};
  std::string role{};
  std::string name{};
  std::vector<std::uint64_t> rounds{};  ///< for each run
  std::vector<bool> has_failed{};       ///< for each run
  bool has_layouts = false;
  /// Index, among the results of the benchmark, of the result that it is compared with.
  std::optional<std::size_t> reference_in_benchmark{};
  bool has_reference_key = false;  ///< false: the file names one reference for all results
  SettingValues settings{};
  std::string benchmark_in_suite{};  ///< empty outside suites
};

/// The values of a metric in the runs of a command, and the round of each value. Rounds ascend.
struct Samples {
  std::vector<std::uint64_t> rounds{};
  std::vector<double> values{};
};

bool is_uuid(std::string_view text) {
  // Each 0 stands for a hexadecimal digit.
  constexpr std::string_view pattern = "00000000-0000-0000-0000-000000000000";
  if (text.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool is_hex_digit = is_digit(text[i]) || (text[i] >= 'a' && text[i] <= 'f');
    const bool matches = pattern[i] == '-' ? text[i] == '-' : is_hex_digit;
    if (!matches) return false;
  }
  return true;
}

/// Compares the samples of one command with those of a reference.
std::optional<LogRatio> compare_samples(const Samples& candidate, const Samples& reference,
                                        bool interleaved) {
  // Interleaved runs of the same round belong together, because both met about the same noise.
  std::vector<double> paired_candidate;
  std::vector<double> paired_reference;
  for (std::size_t i = 0, k = 0; interleaved && i < candidate.rounds.size(); ++i) {
    while (k < reference.rounds.size() && reference.rounds[k] < candidate.rounds[i]) ++k;
    if (k == reference.rounds.size() || reference.rounds[k] != candidate.rounds[i]) continue;
    paired_candidate.push_back(candidate.values[i]);
    paired_reference.push_back(reference.values[k++]);
  }

  if (paired_candidate.empty())
    return stats::log_ratio(
        {.reference = reference.values, .candidate = candidate.values, .paired = false});
  return stats::log_ratio(
      {.reference = paired_reference, .candidate = paired_candidate, .paired = true});
}

template <typename Keys>
bool is_among(const Keys& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// True if the parser must keep a key, since a history needs it. The rest of a large file would
/// only take memory. `top`: the outermost key above.
bool is_needed(std::string_view top, int depth, std::string_view key) {
  constexpr int of_result = 3;         // results[]
  constexpr int of_lauka = 4;          // results[].lauka
  constexpr int of_metric_or_run = 6;  // results[].lauka.metrics.NAME, .runs[] and .failures[]
  if (depth == 1) return is_among(std::array{"results"sv, "lauka"sv, "metadata"sv}, key);
  if (top != "results") return true;
  if (depth == of_result) return is_among(std::array{"command"sv, "name"sv, "lauka"sv}, key);
  if (depth == of_lauka)
    return is_among(std::array{"benchmark"sv, "role"sv, "reference"sv, "metrics"sv, "runs"sv,
                               "runs_in_all"sv, "failures"sv, "settings"sv, "expected_output"sv},
                    key);
  constexpr auto keys_of_metric_or_run = std::to_array<std::string_view>(
      {"outcome", "exit_code", "unit", "runs", "mean", "stddev", "median", "mad", "percentile",
       "samples", "round", "layout", "layouts", "log_ratio_to_reference", "log_ratio_to_anchor"});
  return depth != of_metric_or_run || is_among(keys_of_metric_or_run, key);
}

class RecordReader {
 public:
  explicit RecordReader(const Json& document) : document_(document) {}

  Result<SessionRecord> read() {
    if (auto found = find_session(); !found) return found.error();
    if (auto taken = take_session(); !taken) return taken.error();
    if (auto added = add_commands_without_metrics(); !added) return added.error();
    find_reference();
    for (std::size_t index = 0; index < results_in_file_.size(); ++index)
      if (auto added = add_metrics(index); !added) return added.error();
    return std::move(record_);
  }

 private:
  Result<void> find_session() {
    results_ = list_in(document_, "results");
    if (results_ == nullptr) return make_not_of_lauka_error("it has no list of results");
    session_ = object_in(document_, "lauka");
    if (session_ == nullptr)
      return Error{"was written by hyperfine, which does not identify a session",
                   "measure with lauka --export-json FILE"};
    const auto format = unsigned_in(*session_, "format");
    if (!format) return make_not_of_lauka_error("it has no lauka.format");
    if (*format < 1 || *format > static_cast<std::uint64_t>(kNewestFormat))
      return Error{fmt::format("has format {}, which this lauka-history does not know", *format),
                   "use the lauka-history of the lauka that wrote it"};
    if (list_in(*session_, "sessions") != nullptr)
      return Error{"was joined from several sessions", "add the files of those sessions"};
    return {};
  }

  /// Takes what the file says about the session as a whole, and about its metrics. Returns an error
  /// if the session has no id or no start, because the history identifies and orders sessions by
  /// them.
  Result<void> take_session() {
    StoredSession stored;
    decode(*session_, stored);
    Circumstances& circumstances = stored.circumstances;
    if (auto taken = take_id(circumstances.session_id); !taken) return taken;

    // The file tells the start in another part than the end.
    record_.began = decode_in<UtcTime>(part_in(document_, "metadata"), "start_time");
    const bool is_start_known = record_.began != UtcTime();
    if (!is_start_known) return make_not_of_lauka_error("it does not say when it began");
    record_.ended = circumstances.ended;

    record_.machine = std::move(circumstances.machine);
    record_.labels = std::move(circumstances.labels);
    record_.version = std::move(circumstances.version);
    record_.complete = stored.complete;

    // Only the sequential order finishes a command before the next one begins.
    interleaved_ = text_in(*session_, "order") != word_in(kOrderWords, Order::Sequential);
    take_directions_and_methods();
    return {};
  }

  Result<void> take_id(const std::string& session_id) {
    record_.id = lower_case(session_id);
    if (record_.id.empty())
      return Error{"has no session_id, because lauka 0.1 wrote none", "measure again"};
    if (!is_uuid(record_.id))
      return make_not_of_lauka_error("its session_id " + cited(session_id) + " is not a UUID");
    return {};
  }

  /// Takes what the file says about metrics. The file of a suite lists them for each benchmark.
  /// Other files list them once.
  void take_directions_and_methods() {
    constexpr const char* no_benchmark = "";
    for (const Json& metric : items_in(*session_, "metrics"))
      take_direction_and_method(no_benchmark, metric);
    for (const Json& benchmark : items_in(*session_, "benchmarks"))
      for (const Json& metric : items_in(benchmark, "metrics"))
        take_direction_and_method(text_in(benchmark, "name"), metric);
  }

  void take_direction_and_method(const std::string& benchmark, const Json& metric_in_file) {
    Metric metric;
    decode(metric_in_file, metric);
    better_by_metric_[metric.name] = metric.better;
    method_by_benchmark_and_metric_[{benchmark, metric.name}] = settings_of_metric(metric);
  }

  /// Returns the settings that change what a result's command measured, as the name of its series
  /// ends: " (layouts, --jobs 2)". Empty if all are the usual ones, so that most names have no end.
  std::string list_unusual_settings(const ResultInFile& result) const {
    SettingValues usual;
    usual[SettingKind::Jobs] = "1";
    usual[SettingKind::Until] = usual[SettingKind::OutputCheck] = std::string(kNoSetting);
    std::string text = result.has_layouts ? "layouts" : "";
    for (const SettingDifference& difference : find_differences(usual, result.settings))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row_of(difference.kind).title,
                          difference.candidate_value);
    return text.empty() ? "" : fmt::format(" ({})", text);
  }

  /// Returns how a command was run. Older files have no settings of a result.
  SettingValues read_settings_of(const Json& lauka_part, const std::string& benchmark) const {
    const Json* of_benchmark = session_;
    for (const Json& item : items_in(*session_, "benchmarks"))
      if (text_in(item, "name") == benchmark) of_benchmark = &item;
    StoredCommand command;
    decode(lauka_part, command);
    SettingValues values = settings_of_saved(read_plan(*of_benchmark).setting, command.command, {});
    values.add(command.command.settings);
    return values;
  }

  static void read_runs(ResultInFile& result) {
    const Json& runs = items_in(*result.lauka_part, "runs");
    // Values over layouts differ from values of a single build, so they form a separate series.
    result.has_layouts = !runs.empty() && unsigned_in(runs.front(), "layout").has_value();

    for (const Json& run : runs) {
      result.rounds.push_back(unsigned_in(run, "round").value_or(result.rounds.size()));
      const std::string outcome = text_in(run, "outcome");
      result.has_failed.push_back(!outcome.empty() && is_failure(parse_ending(outcome)));
    }
  }

  /// Reads one item of `results_`: a command and how it was run, without the values of its metrics.
  Result<ResultInFile> read_result(const Json& json) const {
    ResultInFile result;
    result.lauka_part = object_in(json, "lauka");
    if (result.lauka_part != nullptr) result.metrics = object_in(*result.lauka_part, "metrics");
    if (result.metrics == nullptr)
      return make_not_of_lauka_error("it has a result without metrics");

    result.name = text_in(json, "name");
    if (result.name.empty()) result.name = text_in(json, "command");
    if (result.name.empty()) return make_not_of_lauka_error("it has a result without a command");

    // Outside suites, each command counts as a benchmark with its name.
    result.benchmark_in_suite = text_in(*result.lauka_part, "benchmark");
    const bool is_in_suite = !result.benchmark_in_suite.empty();
    result.benchmark = is_in_suite ? result.benchmark_in_suite : result.name;

    result.role = text_in(*result.lauka_part, "role");
    result.reference_in_benchmark = unsigned_in(*result.lauka_part, kReferenceKey);
    result.has_reference_key = result.lauka_part->contains(kReferenceKey);
    result.settings = read_settings_of(*result.lauka_part, result.benchmark_in_suite);
    read_runs(result);
    return result;
  }

  /// Adds the commands in the file to `record_`, in the same order and under the names that the
  /// history uses. Their metrics are added later.
  Result<void> add_commands_without_metrics() {
    std::map<std::pair<std::string, std::string>, std::size_t> count_by_benchmark_and_role;
    for (const Json& json : *results_) {
      auto result = read_result(json);
      if (!result) return result.error();
      ++count_by_benchmark_and_role[{result->benchmark, result->role}];
      results_in_file_.push_back(*std::move(result));
    }

    if (results_in_file_.empty()) return Error{"has no commands", "export it again"};

    // The name of a command is shown only if other commands have the same benchmark and role,
    // whatever their settings.
    for (const ResultInFile& result : results_in_file_) {
      CommandRecord record = make_record_without_metrics(result);
      const bool needs_name = count_by_benchmark_and_role[{result.benchmark, result.role}] > 1;
      if (needs_name) record.shown_command_name = result.name;
      record_.results.push_back(std::move(record));
    }

    return {};
  }

  /// Returns the record of a command, without its metrics and its name. Commands with other
  /// settings than usual have a history of their own, so the settings are a part of the benchmark's
  /// name. Only then is the name without settings stored as well.
  CommandRecord make_record_without_metrics(const ResultInFile& result) const {
    const std::string settings = list_unusual_settings(result);
    return {.benchmark = result.benchmark + settings,
            .benchmark_without_settings = settings.empty() ? "" : result.benchmark,
            .role = result.role};
  }

  /// Finds the reference of results that name none themselves. If the session has a baseline, the
  /// reference is a command of this earlier session, and `reference_` is not used.
  void find_reference() {
    has_baseline_ = member(*session_, "baseline") != nullptr;
    reference_ = unsigned_in(*session_, "reference").value_or(0);
  }

  /// Returns the command with this role in the benchmark of another command; nullopt if there is
  /// none, or if that command has the role itself.
  std::optional<std::size_t> find_in_same_benchmark(std::size_t index,
                                                    std::string_view role) const {
    const ResultInFile& command = results_in_file_[index];

    // Without roles, the session names one reference for all commands.
    if (command.role.empty()) {
      const bool has_reference = !has_baseline_ && reference_ < results_in_file_.size();
      if (role != "reference" || !has_reference || reference_ == index) return std::nullopt;
      return reference_;
    }

    if (command.role == role) return std::nullopt;
    for (std::size_t other = 0; other < results_in_file_.size(); ++other)
      if (results_in_file_[other].benchmark == command.benchmark &&
          results_in_file_[other].role == role)
        return other;
    return std::nullopt;
  }

  /// Returns the command that the file names as the reference of another one; nullopt if there is
  /// none.
  std::optional<std::size_t> find_named_reference(std::size_t index) const {
    const ResultInFile& command = results_in_file_[index];
    if (!command.reference_in_benchmark) return std::nullopt;

    // In a suite, the file counts within the benchmark, whose results follow one another.
    auto first = results_in_file_.begin();
    if (!command.role.empty())
      first = std::ranges::find(results_in_file_, command.benchmark, &ResultInFile::benchmark);
    const std::size_t first_index = static_cast<std::size_t>(first - results_in_file_.begin());
    const std::size_t reference = first_index + *command.reference_in_benchmark;

    const bool is_valid = reference < results_in_file_.size() && reference != index;
    return is_valid ? std::optional(reference) : std::nullopt;
  }

  /// Returns the reference of a command, as an index; nullopt if there is none. Older files do not
  /// name the reference of each command.
  std::optional<std::size_t> find_reference_of(std::size_t command_index) const {
    return results_in_file_[command_index].has_reference_key
               ? find_named_reference(command_index)
               : find_in_same_benchmark(command_index, "reference");
  }

  /// The commands of the session that a command is compared with, as indexes of its results.
  struct ComparedCommands {
    std::optional<std::size_t> reference_index{};  ///< usually the old version
    /// An old build that stays the same for many sessions.
    std::optional<std::size_t> anchor_index{};
  };

  void add_ratios(MetricRecord& metric, std::size_t command_index,
                  const ComparedCommands& compared_with) const {
    if (compared_with.reference_index)
      metric.ratio_to_reference = read_or_compute_ratio(
          command_index, *compared_with.reference_index, metric.name, "log_ratio_to_reference");
    if (compared_with.anchor_index)
      metric.ratio_to_anchor = read_or_compute_ratio(command_index, *compared_with.anchor_index,
                                                     metric.name, "log_ratio_to_anchor");
  }

  /// Adds the metrics of a command to its record, with their ratios to the commands that it is
  /// compared with. Also adds how the runs ended, and the name of the anchor.
  Result<void> add_metrics(std::size_t command_index) {
    // add_commands_without_metrics() has put the records into the order of the results in the file.
    const ResultInFile& command = results_in_file_[command_index];
    CommandRecord& record = record_.results[command_index];
    record.endings = read_endings(*command.lauka_part);

    const ComparedCommands compared_with{
        .reference_index = find_reference_of(command_index),
        .anchor_index = find_in_same_benchmark(command_index, "anchor")};

    // The history finds the ratio between two anchors by their names.
    if (compared_with.anchor_index) {
      record.anchored_name = command.name;
      record.anchor = results_in_file_[*compared_with.anchor_index].name;
    }

    for (const auto& [name, summary] : command.metrics->items()) {
      auto metric_or_error = read_summary(name, summary, command_index);
      if (!metric_or_error) return metric_or_error.error();

      std::optional<MetricRecord> metric = *std::move(metric_or_error);
      const bool was_measured = metric.has_value();
      if (!was_measured) continue;
      add_ratios(*metric, command_index, compared_with);
      record.metrics.push_back(*std::move(metric));
    }
    return {};
  }

  static Endings read_endings(const Json& lauka_part) {
    StoredCommand stored;
    decode(lauka_part, stored);
    return std::move(stored.endings);
  }

  /// Takes a percentile in place of the mean. Returns false if the percentile is not known.
  static bool take_percentile(MetricRecord& metric, const StoredPercentile& percentile) {
    if (!percentile.value) return false;
    metric.mean = *percentile.value;

    // The history knows only means and the standard deviation of the runs. The metric gets the one
    // with which a mean of as many runs would have the percentile's 95% interval.
    const auto& low = percentile.low;
    const auto& high = percentile.high;
    if (low && high) {
      const double standard_error = (*high - *low) / (2 * kNormal95);
      metric.stddev = standard_error * std::sqrt(static_cast<double>(metric.summarized_values));
    }
    return true;
  }

  /// Returns what the file says about a metric of a command, besides its values.
  MetricRecord make_metric_without_values(const std::string& name, const Json& summary,
                                          const ResultInFile& command) const {
    MetricRecord metric{.name = name};
    metric.unit = value_in(kUnitWords, text_in(summary, "unit"));

    const auto better = better_by_metric_.find(name);
    if (better != better_by_metric_.end()) metric.better = better->second;
    const auto method = method_by_benchmark_and_metric_.find({command.benchmark_in_suite, name});
    if (method != method_by_benchmark_and_metric_.end()) metric.method = method->second;
    metric.summarized_values = unsigned_in(summary, "runs").value_or(0);
    return metric;
  }

  /// Returns the metric with the mean of all runs or layouts; nullopt if the file has none, because
  /// the metric was not measured. A mean that is not a number is an error.
  static Result<std::optional<MetricRecord>> read_mean(MetricRecord metric, const Json& summary,
                                                       const std::string& command_name) {
    if (member(summary, "mean") == nullptr) return std::optional<MetricRecord>();
    metric.stddev = number_in(summary, "stddev");
    const auto mean = number_in(summary, "mean");
    if (!mean || metric.summarized_values == 0 || metric.stddev.value_or(0.0) < 0.0)
      return Error{
          fmt::format("has no valid mean of {} of {}", cited(metric.name), cited(command_name)),
          "export it again"};
    metric.mean = *mean;

    // If the program was measured in several layouts, which are builds that place its code
    // differently, the mean over the layouts counts, and no median is stored.
    if (!take_mean_over_layouts(metric, summary)) take_median(metric, summary);
    return std::optional(std::move(metric));
  }

  /// Reads a metric of a command from its summary in the file; nullopt if the file has no values of
  /// the metric.
  Result<std::optional<MetricRecord>> read_summary(const std::string& name, const Json& summary,
                                                   std::size_t command_index) const {
    const ResultInFile& command = results_in_file_[command_index];
    MetricRecord metric = make_metric_without_values(name, summary, command);

    // The summary in the file includes failed runs, which would look like a change of the program.
    const bool has_failed_runs =
        std::ranges::find(command.has_failed, true) != command.has_failed.end();
    if (has_failed_runs)
      return read_summary_of_successes(std::move(metric), summary, command_index);

    // If the user asked for a percentile of the metric, it takes the place of the mean.
    const auto percentile = decode_in<std::optional<StoredPercentile>>(summary, "percentile");
    if (!percentile) return read_mean(std::move(metric), summary, command.name);
    if (!take_percentile(metric, *percentile)) return std::optional<MetricRecord>();
    return std::optional(std::move(metric));
  }

  /// Returns the summary of the runs that succeeded, since the file's own includes those that
  /// failed; nullopt if no run that succeeded gave the metric, or for a
  /// percentile, which is not computed again here.
  std::optional<MetricRecord> read_summary_of_successes(MetricRecord metric,
                                                        const Json& summary_in_file,
                                                        std::size_t index) const {
    // Means over layouts leave out the layouts in which a run failed.
    if (take_mean_over_layouts(metric, summary_in_file)) return metric;
    if (object_in(summary_in_file, "percentile") != nullptr) return std::nullopt;

    const std::vector<double> values = read_samples_of_successes(index, summary_in_file).values;
    if (values.empty() || !std::ranges::all_of(values, is_in_numeric_range)) return std::nullopt;

    const stats::Summary summary = stats::summarize(values);
    metric.mean = summary.mean;
    metric.stddev = summary.stddev();
    metric.median = summary.median;
    metric.mad = stats::median_deviation(values, summary.median);
    metric.summarized_values = summary.count;
    return metric;
  }

  /// Takes the mean over layouts in place of the mean over runs. Returns false if the file has
  /// none.
  static bool take_mean_over_layouts(MetricRecord& metric, const Json& summary) {
    const Json* layouts = object_in(summary, "layouts");
    const Json* mean = layouts != nullptr ? object_in(*layouts, "mean") : nullptr;
    if (mean == nullptr) return false;
    const auto value = number_in(*mean, "value");
    const auto error = number_in(*mean, "standard_error");
    const auto count = unsigned_in(*mean, "layouts");
    if (!value || !error || !(*error >= 0.0) || !count || *count == 0) return false;
    metric.mean = *value;
    metric.stddev = *error * std::sqrt(static_cast<double>(*count));
    metric.summarized_values = *count;
    return true;
  }

  /// Takes the median and its deviation, which older files do not have, so they are computed.
  static void take_median(MetricRecord& metric, const Json& summary) {
    if (summary.contains("mad")) {
      metric.median = number_in(summary, "median");
      metric.mad = number_in(summary, "mad");
      return;
    }
    std::vector<double> values;
    for (const Json& sample : items_in(summary, "samples"))
      if (sample.is_number()) values.push_back(sample.get<double>());
    if (values.empty() || !std::ranges::all_of(values, is_in_numeric_range)) return;
    metric.median = stats::median(stats::sorted(values));
    metric.mad = stats::median_deviation(values, *metric.median);
  }

  /// Returns a metric's ratio of a command to another one, from the file's `key` or, in older
  /// files, from the samples; nullopt if the file says that there is none.
  std::optional<LogRatio> read_or_compute_ratio(std::size_t index, std::size_t reference_index,
                                                const std::string& metric_name,
                                                std::string_view key) const {
    const Json& summary = (*results_in_file_[index].metrics)[metric_name];
    if (!summary.contains(key))
      return compare_samples(read_usable_samples(index, metric_name),
                             read_usable_samples(reference_index, metric_name), interleaved_);
    if (!number_in(part_in(summary, key), "value")) return std::nullopt;
    return decode_in<LogRatio>(summary, key);
  }

  /// Returns the samples of a metric; empty if one is not positive or is out of range, because a
  /// ratio of such values means nothing.
  Samples read_usable_samples(std::size_t index, const std::string& metric_name) const {
    const Json* summary = object_in(*results_in_file_[index].metrics, metric_name);
    if (summary == nullptr) return {};

    Samples samples = read_samples_of_successes(index, *summary);
    const bool are_usable = std::ranges::all_of(
        samples.values, [](double value) { return value > 0.0 && is_in_numeric_range(value); });
    return are_usable ? samples : Samples();
  }

  Samples read_samples_of_successes(std::size_t index, const Json& summary) const {
    const ResultInFile& command = results_in_file_[index];
    const Json& list = items_in(summary, "samples");

    // If the file has not as many runs as samples, nothing says which runs failed, and the index of
    // a sample counts as its round.
    const bool has_runs = command.rounds.size() == list.size();

    Samples samples;
    samples.values.reserve(list.size());
    samples.rounds.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number() || (has_runs && command.has_failed[i])) continue;
      samples.values.push_back(list[i].get<double>());
      samples.rounds.push_back(has_runs ? command.rounds[i] : i);
    }
    return samples;
  }

  const Json& document_;
  const Json* results_ = nullptr;
  const Json* session_ = nullptr;
  std::vector<ResultInFile> results_in_file_{};
  std::map<std::string, Better, std::less<>> better_by_metric_{};
  std::map<std::pair<std::string, std::string>, SettingValues> method_by_benchmark_and_metric_{};
  std::size_t reference_ = 0;  // of the session: an index into the results
  bool has_baseline_ = false;  // true: a stored session is the reference, and none of the results
  bool interleaved_ = true;
  SessionRecord record_{};
};

// The column `numbers` of a point: the metrics' values, such as "0.5 0.01 20 - - - - 0.5 0.02", and
// then, if runs failed, kFailures, the number of runs, and each group of failed runs.
constexpr char kBetweenMetrics = ';';
constexpr std::string_view kFailures = ";f";
constexpr char kBetweenNumbers = ' ';
constexpr std::string_view kNothing = "-";

/// The order of a metric's numbers. Older records end before the median.
enum NumberOfMetric : std::size_t {
  Mean,
  Stddev,
  SummarizedValues,
  RatioToReference,
  ErrorToReference,
  RatioToAnchor,
  ErrorToAnchor,
  Median,
  Mad,
  NumberCount
};

/// Returns the shortest text from which parse_value() gets the same number.
std::string encode_number(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? fmt::format("{}", *number) : std::string(kNothing);
}

std::optional<double> parse_value(std::string_view word) {
  if (word.empty() || word == kNothing) return std::nullopt;
  const std::string text(word);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<LogRatio> parse_ratio(std::string_view value, std::string_view error) {
  const auto number = parse_value(value);
  if (!number) return std::nullopt;
  return LogRatio{*number, parse_value(error)};
}

}  // namespace

Result<SessionRecord> read_record(std::string_view text) {
  const auto document = parse_json(text, is_needed);
  if (!document) return document.error();
  return RecordReader(*document).read();
}

std::int64_t text_id(std::string_view text) {
  if (text.empty()) return 0;
  Sha256 hash;
  hash.add(text);

  // Without the highest bit, the id is positive in the database's signed integers.
  constexpr std::size_t hex_digits = 16;
  const auto first_64_bits = parse_hex(hash.hex_digest().substr(0, hex_digits));
  return static_cast<std::int64_t>(first_64_bits.value_or(0) >> 1U);
}

std::string encode_metric_names(const std::vector<MetricRecord>& metrics) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const MetricRecord& metric : metrics) {
    list.push_back({metric.name, unit_symbol(metric.unit), word_in(kBetterWords, metric.better)});
    if (metric.method != SettingValues()) encode(metric.method, list.back().emplace_back());
  }
  return json_text(list, -1);
}

std::string encode_values(const std::vector<MetricRecord>& metrics, const Endings& endings) {
  std::string text;
  for (const MetricRecord& metric : metrics) {
    if (!text.empty()) text += kBetweenMetrics;
    text += fmt::format("{} {} {}", encode_number(metric.mean), encode_number(metric.stddev),
                        metric.summarized_values);
    for (const auto& ratio : {metric.ratio_to_reference, metric.ratio_to_anchor})
      text += ratio
                  ? fmt::format(" {} {}", encode_number(ratio->value), encode_number(ratio->error))
                  : fmt::format(" {0} {0}", kNothing);
    text += fmt::format(" {} {}", encode_number(metric.median), encode_number(metric.mad));
  }
  if (endings.failed_run_groups.empty()) return text;
  text += fmt::format("{} {}", kFailures, endings.runs_with_ending);
  for (const FailureGroup& failed : endings.failed_run_groups)
    text += fmt::format(" {} {} {}", ending_word(failed.ending), failed.status, failed.runs);
  return text;
}

Endings decode_endings(std::string_view numbers) {
  Endings endings;
  const std::size_t begin = numbers.find(kFailures);
  if (begin == std::string_view::npos) return endings;
  const auto words = split(numbers.substr(begin), kBetweenNumbers);
  endings.runs_with_ending = words.size() > 1 ? parse_number(words[1]).value_or(0) : 0;

  // Each group of failed runs has three words: how they ended, the status and the number of runs.
  for (std::size_t i = 2; i + 2 < words.size(); i += 3)
    endings.failed_run_groups.push_back({parse_ending(words[i]),
                                         static_cast<int>(parse_number(words[i + 1]).value_or(0)),
                                         parse_number(words[i + 2]).value_or(0)});
  return endings;
}

namespace {

/// Decodes what a layout says about one metric, such as ["cycles", "1", "less", {...}]. The object
/// says how the metric was measured: its method. Returns nullopt if the text is invalid.
std::optional<MetricRecord> decode_metric_without_values(const ParsedJson& parts) {
  enum Part : std::size_t { Name, UnitSymbol, BetterWord, Method, PartCount };
  if (!parts.is_array()) return std::nullopt;

  // encode_metric_names() leaves out a method that is not known, and older versions knew none.
  const bool has_method = parts.size() == PartCount && parts[Method].is_object();
  const std::size_t expected_size = has_method ? PartCount : PartCount - 1;
  const bool is_valid = parts.size() == expected_size && parts[Name].is_string() &&
                        parts[UnitSymbol].is_string() && parts[BetterWord].is_string();
  if (!is_valid) return std::nullopt;

  MetricRecord metric{.name = parts[Name].get<std::string>(),
                      .unit = value_in(kUnitWords, parts[UnitSymbol].get<std::string>()),
                      .better = value_in(kBetterWords, parts[BetterWord].get<std::string>())};
  if (has_method) decode(parts[Method], metric.method);
  return metric;
}

}  // namespace

// The layout is JSON, a list of the metrics. An invalid layout has no metrics.
std::vector<MetricRecord> decode_metric_names(std::string_view layout) {
  const auto list = parse_json(layout);
  if (!list || !list->is_array()) return {};

  std::vector<MetricRecord> metrics;
  for (const ParsedJson& parts : *list) {
    auto metric = decode_metric_without_values(parts);
    if (!metric) return {};
    metrics.push_back(*std::move(metric));
  }
  return metrics;
}

namespace {

/// Returns the part of `numbers` about the metric with this index; nullopt if there is none.
std::optional<std::string_view> find_numbers_of_metric(std::string_view numbers,
                                                       std::size_t metric_index) {
  std::string_view numbers_from_metric = numbers;
  for (std::size_t skipped = 0; skipped < metric_index; ++skipped) {
    const std::size_t end = numbers_from_metric.find(kBetweenMetrics);
    if (end == std::string_view::npos) return std::nullopt;
    numbers_from_metric.remove_prefix(end + 1);
  }
  return numbers_from_metric.substr(0, numbers_from_metric.find(kBetweenMetrics));
}

}  // namespace

// `numbers` has a part for each metric of a command, such as "0.5 0.01 20 - - - - 0.5 0.02". A "-"
// stands for a number that is not known. Returns false, and changes nothing, if the part of the
// metric is missing or invalid.
bool decode_values(MetricRecord& metric, std::size_t metric_index, std::string_view numbers) {
  const auto numbers_of_metric = find_numbers_of_metric(numbers, metric_index);
  if (!numbers_of_metric) return false;

  // In older records, the numbers end before the median.
  constexpr std::size_t count_without_median = Median;
  const auto words = split(*numbers_of_metric, kBetweenNumbers);
  const bool has_median = words.size() == NumberCount;
  if (!has_median && words.size() != count_without_median) return false;

  // Only the mean must be known.
  const auto mean = parse_value(words[Mean]);
  if (!mean) return false;
  metric.mean = *mean;
  metric.stddev = parse_value(words[Stddev]);
  metric.summarized_values = parse_number(words[SummarizedValues]).value_or(0);
  metric.ratio_to_reference = parse_ratio(words[RatioToReference], words[ErrorToReference]);
  metric.ratio_to_anchor = parse_ratio(words[RatioToAnchor], words[ErrorToAnchor]);
  metric.median = has_median ? parse_value(words[Median]) : std::nullopt;
  metric.mad = has_median ? parse_value(words[Mad]) : std::nullopt;
  return true;
}

std::string encode_machine(const Machine& machine) {
  nlohmann::ordered_json json;
  encode(machine, json);
  for (const char* const key : {"name", "os", "class"}) json.erase(key);
  return json_text(json, -1);
}

Machine decode_machine(std::string_view parts) {
  const auto json = parse_json(parts);
  Machine machine;
  if (json) decode(*json, machine);
  return machine;
}

std::string variant_key(const CommandRecord& result, std::string_view machine_class) {
  // The lengths keep "ab" and "c" from having the same key as "a" and "bc".
  std::string key;
  for (const std::string_view part :
       {std::string_view(result.benchmark), std::string_view(result.role),
        std::string_view(result.shown_command_name), machine_class})
    key += fmt::format("{}:{} ", part.size(), part);
  return key;
}

}  // namespace lauka::history
