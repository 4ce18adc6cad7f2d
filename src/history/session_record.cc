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

Error foreign(std::string_view detail) {
  return Error{fmt::format("is not a JSON file of lauka ({})", detail),
               "make such a file with lauka --export-json FILE"};
}

constexpr const char* kReferenceKey = "reference";

struct Place {
  const Json* ours = nullptr;  ///< results[].lauka
  const Json* metrics = nullptr;
  std::string benchmark{};
  std::string role{};
  std::string name{};
  std::vector<std::uint64_t> rounds{};
  std::vector<bool> has_failed{};  ///< for each run
  bool has_layouts = false;
  /// Index, among the results of the benchmark, of the result that it is compared with.
  std::optional<std::size_t> reference{};
  bool says_reference = false;  ///< false: the file names one reference for all results
  SettingValues settings{};
  std::string benchmark_in_suite{};  ///< empty outside suites
};

struct Samples {
  std::vector<std::uint64_t> rounds{};
  std::vector<double> values{};
};

bool is_uuid(std::string_view text) {
  constexpr std::string_view like = "00000000-0000-0000-0000-000000000000";
  if (text.size() != like.size()) return false;
  for (std::size_t i = 0; i < like.size(); ++i) {
    const bool is_hex = is_digit(text[i]) || (text[i] >= 'a' && text[i] <= 'f');
    if (like[i] == '-' ? text[i] != '-' : !is_hex) return false;
  }
  return true;
}

std::optional<LogRatio> ratio_of_samples(const Samples& of, const Samples& to, bool interleaved) {
  std::vector<double> ours;
  std::vector<double> theirs;
  for (std::size_t i = 0, k = 0; interleaved && i < of.rounds.size(); ++i) {
    while (k < to.rounds.size() && to.rounds[k] < of.rounds[i]) ++k;
    if (k == to.rounds.size() || to.rounds[k] != of.rounds[i]) continue;
    ours.push_back(of.values[i]);
    theirs.push_back(to.values[k++]);
  }
  return ours.empty()
             ? stats::log_ratio({.reference = to.values, .candidate = of.values, .paired = false})
             : stats::log_ratio({.reference = theirs, .candidate = ours, .paired = true});
}

template <typename Keys>
bool is_among(const Keys& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool is_wanted(std::string_view top, int depth, std::string_view key) {
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
  constexpr auto values = std::to_array<std::string_view>(
      {"outcome", "exit_code", "unit", "runs", "mean", "stddev", "median", "mad", "percentile",
       "samples", "round", "layout", "layouts", "log_ratio_to_reference", "log_ratio_to_anchor"});
  return depth != of_metric_or_run || is_among(values, key);
}

class RecordReader {
 public:
  explicit RecordReader(const Json& document) : document_(document) {}

  Result<SessionRecord> read() {
    if (auto known = find_session(); !known) return known.error();
    if (auto known = take_session(); !known) return known.error();
    if (auto known = find_places(); !known) return known.error();
    for (std::size_t place = 0; place < places_.size(); ++place)
      if (auto added = add_result(place); !added) return added.error();
    return std::move(record_);
  }

 private:
  Result<void> find_session() {
    results_ = list_in(document_, "results");
    if (results_ == nullptr) return foreign("it has no list of results");
    session_ = object_in(document_, "lauka");
    if (session_ == nullptr)
      return Error{"was written by hyperfine, which does not identify a session",
                   "measure with lauka --export-json FILE"};
    const auto format = unsigned_in(*session_, "format");
    if (!format) return foreign("it has no lauka.format");
    if (*format < 1 || *format > static_cast<std::uint64_t>(kNewestFormat))
      return Error{fmt::format("has format {}, which this lauka-history does not know", *format),
                   "use the lauka-history of the lauka that wrote it"};
    if (list_in(*session_, "sessions") != nullptr)
      return Error{"was joined from several sessions", "add the files of those sessions"};
    return {};
  }

  /// Takes what the file says about the session as a whole.
  Result<void> take_session() {
    StoredSession stored;
    decode(*session_, stored);
    Circumstances& circumstances = stored.circumstances;
    record_.id = lower_case(circumstances.session_id);
    if (record_.id.empty())
      return Error{"has no session_id, because lauka 0.1 wrote none", "measure again"};
    if (!is_uuid(record_.id))
      return foreign("its session_id " + cited(circumstances.session_id) + " is not a UUID");

    record_.began = decode_in<UtcTime>(part_in(document_, "metadata"), "start_time");
    record_.ended = circumstances.ended;
    if (record_.began == UtcTime()) return foreign("it does not say when it began");

    record_.machine = std::move(circumstances.machine);
    record_.labels = std::move(circumstances.labels);
    record_.version = std::move(circumstances.version);
    record_.complete = stored.complete;
    interleaved_ = text_in(*session_, "order") != word_in(kOrderWords, Order::Sequential);

    // The metrics of a suite are listed by benchmark.
    for (const Json& metric : items_in(*session_, "metrics")) take_metric("", metric);
    for (const Json& benchmark : items_in(*session_, "benchmarks"))
      for (const Json& metric : items_in(benchmark, "metrics"))
        take_metric(text_in(benchmark, "name"), metric);
    return {};
  }

  void take_metric(const std::string& benchmark, const Json& there) {
    Metric metric;
    decode(there, metric);
    better_[metric.name] = metric.better;
    methods_[{benchmark, metric.name}] = settings_of_metric(metric);
  }

  /// Returns the settings that change what a result's command measured, for the name of its
  /// series; empty if all are the usual ones. Layouts come first.
  std::string other_settings(const Place& place) const {
    SettingValues usual;
    usual[SettingKind::Jobs] = "1";
    usual[SettingKind::Until] = usual[SettingKind::OutputCheck] = std::string(kNoSetting);
    std::string text = place.has_layouts ? "layouts" : "";
    for (const SettingDifference& difference : find_differences(usual, place.settings))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row_of(difference.kind).title,
                          difference.candidate_value);
    return text.empty() ? "" : fmt::format(" ({})", text);
  }

  /// Returns how a command was run. Older files have no settings of a result.
  SettingValues read_settings_of(const Json& ours, const std::string& benchmark) const {
    const Json* of_benchmark = session_;
    for (const Json& item : items_in(*session_, "benchmarks"))
      if (text_in(item, "name") == benchmark) of_benchmark = &item;
    StoredCommand command;
    decode(ours, command);
    SettingValues values = settings_of_saved(read_plan(*of_benchmark).setting, command.command, {});
    values.add(command.command.settings);
    return values;
  }

  static void read_runs(Place& place) {
    const Json& runs = items_in(*place.ours, "runs");
    // Values over layouts differ from values of a single build, so they form a separate series.
    place.has_layouts = !runs.empty() && unsigned_in(runs.front(), "layout").has_value();

    for (const Json& run : runs) {
      place.rounds.push_back(unsigned_in(run, "round").value_or(place.rounds.size()));
      const std::string outcome = text_in(run, "outcome");
      place.has_failed.push_back(!outcome.empty() && is_failure(parse_ending(outcome)));
    }
  }

  /// Finds the commands in the file, and the names under which the history keeps them.
  Result<void> find_places() {
    std::map<std::pair<std::string, std::string>, std::size_t> count_by_benchmark_and_role;
    for (const Json& result : *results_) {
      Place place;
      place.ours = object_in(result, "lauka");
      place.metrics = place.ours != nullptr ? object_in(*place.ours, "metrics") : nullptr;
      if (place.metrics == nullptr) return foreign("it has a result without metrics");

      place.name = text_in(result, "name");
      if (place.name.empty()) place.name = text_in(result, "command");
      if (place.name.empty()) return foreign("it has a result without a command");

      place.benchmark = text_in(*place.ours, "benchmark");
      place.role = text_in(*place.ours, "role");
      place.reference = unsigned_in(*place.ours, kReferenceKey);
      place.says_reference = place.ours->contains(kReferenceKey);
      place.settings = read_settings_of(*place.ours, place.benchmark);
      place.benchmark_in_suite = place.benchmark;
      if (place.benchmark.empty()) place.benchmark = place.name;

      read_runs(place);
      ++count_by_benchmark_and_role[{place.benchmark, place.role}];
      places_.push_back(std::move(place));
    }

    if (places_.empty()) return Error{"has no commands", "export it again"};

    // A command's name is shown only if benchmark and role do not tell it from the others.
    for (const Place& place : places_) {
      const std::string settings = other_settings(place);
      const bool has_namesakes = count_by_benchmark_and_role[{place.benchmark, place.role}] > 1;
      record_.results.push_back(
          {.benchmark = place.benchmark + settings,
           .benchmark_without_settings = settings.empty() ? "" : place.benchmark,
           .role = place.role,
           .shown_command_name = has_namesakes ? place.name : ""});
    }

    reference_ = unsigned_in(*session_, "reference").value_or(0);
    has_baseline_ = member(*session_, "baseline") != nullptr;
    return {};
  }

  /// Returns the command with this role in the benchmark of another command; nullopt if there is
  /// none, or if that command has the role itself.
  std::optional<std::size_t> find_beside(std::size_t place, std::string_view role) const {
    const Place& command = places_[place];

    // Without roles, the session names one reference for all commands.
    if (command.role.empty()) {
      const bool has_reference = !has_baseline_ && reference_ < places_.size();
      if (role != "reference" || !has_reference || reference_ == place) return std::nullopt;
      return reference_;
    }

    if (command.role == role) return std::nullopt;
    for (std::size_t other = 0; other < places_.size(); ++other)
      if (places_[other].benchmark == command.benchmark && places_[other].role == role)
        return other;
    return std::nullopt;
  }

  std::optional<std::size_t> find_reference(std::size_t place) const {
    const Place& of = places_[place];
    if (!of.reference) return std::nullopt;
    const auto first = of.role.empty()
                           ? places_.begin()
                           : std::ranges::find(places_, of.benchmark, &Place::benchmark);
    const std::size_t reference = static_cast<std::size_t>(first - places_.begin()) + *of.reference;
    return reference < places_.size() && reference != place ? std::optional(reference)
                                                            : std::nullopt;
  }

  /// Adds the metrics of a command, with their ratios to the reference and to the anchor.
  Result<void> add_result(std::size_t place) {
    const Place& command = places_[place];
    CommandRecord& record = record_.results[place];
    record.endings = read_endings(*command.ours);

    const auto anchor = find_beside(place, "anchor");
    if (anchor) {
      record.anchored_name = command.name;
      record.anchor = places_[*anchor].name;
    }

    const auto reference =
        command.says_reference ? find_reference(place) : find_beside(place, "reference");
    for (const auto& [name, summary] : command.metrics->items()) {
      auto read = read_summary(name, summary, place);
      if (!read) return read.error();

      std::optional<MetricRecord> metric = *std::move(read);
      if (!metric) continue;
      if (reference)
        metric->ratio_to_reference = ratio(place, *reference, name, "log_ratio_to_reference");
      if (anchor) metric->ratio_to_anchor = ratio(place, *anchor, name, "log_ratio_to_anchor");
      record.metrics.push_back(*std::move(metric));
    }
    return {};
  }

  static Endings read_endings(const Json& ours) {
    StoredCommand stored;
    decode(ours, stored);
    return std::move(stored.endings);
  }

  /// Reads the summary of a command's metric; nullopt if the file has no values of it.
  Result<std::optional<MetricRecord>> read_summary(const std::string& name, const Json& summary,
                                                   std::size_t place) const {
    const Place& command = places_[place];
    MetricRecord metric{.name = name};
    metric.unit = value_in(kUnitWords, text_in(summary, "unit"));

    const auto better = better_.find(name);
    if (better != better_.end()) metric.better = better->second;
    const auto method = methods_.find({command.benchmark_in_suite, name});
    if (method != methods_.end()) metric.method = method->second;
    metric.summarized_values = unsigned_in(summary, "runs").value_or(0);

    // The summary in the file includes failed runs, which the history must not.
    const bool has_failed_runs =
        std::ranges::find(command.has_failed, true) != command.has_failed.end();
    if (has_failed_runs) return read_summary_of_successes(std::move(metric), summary, place);

    if (const auto percentile = decode_in<std::optional<StoredPercentile>>(summary, "percentile")) {
      if (!percentile->value) return std::optional<MetricRecord>();
      metric.mean = *percentile->value;

      // The history knows only means. So the standard deviation becomes the one of a mean with the
      // percentile's interval.
      const auto& low = percentile->low;
      const auto& high = percentile->high;
      if (low && high) {
        const double standard_error = (*high - *low) / (2 * kNormal95);
        metric.stddev = standard_error * std::sqrt(static_cast<double>(metric.summarized_values));
      }
      return std::optional(std::move(metric));
    }

    // A metric that was not measured has no mean. A mean that is not a number is an error.
    if (member(summary, "mean") == nullptr) return std::optional<MetricRecord>();
    metric.stddev = number_in(summary, "stddev");
    const auto mean = number_in(summary, "mean");
    if (!mean || metric.summarized_values == 0 || metric.stddev.value_or(0.0) < 0.0)
      return Error{fmt::format("has no valid mean of {} of {}", cited(name), cited(command.name)),
                   "export it again"};

    metric.mean = *mean;
    if (!take_layouts(metric, summary)) take_median(metric, summary);
    return std::optional(std::move(metric));
  }

  /// Returns the summary of the runs that succeeded, since the file's own includes those that
  /// failed; nullopt if no run that succeeded gave the metric. There is none of a percentile.
  std::optional<MetricRecord> read_summary_of_successes(MetricRecord metric, const Json& there,
                                                        std::size_t place) const {
    // Means over layouts leave out the layouts in which a run failed.
    if (take_layouts(metric, there)) return metric;
    if (object_in(there, "percentile") != nullptr) return std::nullopt;

    const std::vector<double> values = samples_of_successes(place, there).values;
    if (values.empty() || !std::ranges::all_of(values, is_in_numeric_range)) return std::nullopt;

    const stats::Summary summary = stats::summarize(values);
    metric.mean = summary.mean;
    metric.stddev = summary.stddev();
    metric.median = summary.median;
    metric.mad = stats::median_deviation(values, summary.median);
    metric.summarized_values = summary.count;
    return metric;
  }

  static bool take_layouts(MetricRecord& metric, const Json& there) {
    const Json* layouts = object_in(there, "layouts");
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

  static void take_median(MetricRecord& metric, const Json& there) {
    if (there.contains("mad")) {
      metric.median = number_in(there, "median");
      metric.mad = number_in(there, "mad");
      return;
    }
    std::vector<double> values;
    for (const Json& sample : items_in(there, "samples"))
      if (sample.is_number()) values.push_back(sample.get<double>());
    if (values.empty() || !std::ranges::all_of(values, is_in_numeric_range)) return;
    metric.median = stats::median(stats::sorted(values));
    metric.mad = stats::median_deviation(values, *metric.median);
  }

  std::optional<LogRatio> ratio(std::size_t of, std::size_t to, const std::string& metric,
                                std::string_view key) const {
    const Json& there = (*places_[of].metrics)[metric];
    if (!there.contains(key))
      return ratio_of_samples(samples(of, metric), samples(to, metric), interleaved_);
    if (!number_in(part_in(there, key), "value")) return std::nullopt;
    return decode_in<LogRatio>(there, key);
  }

  /// Returns the samples of a metric; empty if a sample is not positive or is out of range.
  Samples samples(std::size_t place, const std::string& metric) const {
    const Place& of = places_[place];
    const Json* there = object_in(*of.metrics, metric);
    if (there == nullptr) return {};

    Samples all = samples_of_successes(place, *there);
    const bool are_usable = std::ranges::all_of(
        all.values, [](double value) { return value > 0.0 && is_in_numeric_range(value); });
    return are_usable ? all : Samples();
  }

  Samples samples_of_successes(std::size_t place, const Json& there) const {
    const Place& of = places_[place];
    const Json& list = items_in(there, "samples");
    const bool has_runs = of.rounds.size() == list.size();

    Samples all;
    all.values.reserve(list.size());
    all.rounds.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number() || (has_runs && of.has_failed[i])) continue;
      all.values.push_back(list[i].get<double>());
      all.rounds.push_back(has_runs ? of.rounds[i] : i);
    }
    return all;
  }

  const Json& document_;
  const Json* results_ = nullptr;
  const Json* session_ = nullptr;
  std::vector<Place> places_{};
  std::map<std::string, Better, std::less<>> better_{};
  std::map<std::pair<std::string, std::string>, SettingValues> methods_{};  // by benchmark, metric
  std::size_t reference_ = 0;
  bool has_baseline_ = false;
  bool interleaved_ = true;
  SessionRecord record_{};
};

constexpr char kBetweenMetrics = ';';
constexpr std::string_view kFailures = ";f";
constexpr char kBetweenNumbers = ' ';
constexpr std::string_view kNothing = "-";

std::string shortest(const std::optional<double>& number) {
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
  const auto document = parse_json(text, is_wanted);
  if (!document) return document.error();
  return RecordReader(*document).read();
}

std::int64_t text_id(std::string_view text) {
  if (text.empty()) return 0;
  Sha256 hash;
  hash.add(text);
  return static_cast<std::int64_t>(parse_hex(hash.hex_digest().substr(0, 16)).value_or(0) >> 1U);
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
    text += fmt::format("{} {} {}", shortest(metric.mean), shortest(metric.stddev),
                        metric.summarized_values);
    for (const auto& ratio : {metric.ratio_to_reference, metric.ratio_to_anchor})
      text += ratio ? fmt::format(" {} {}", shortest(ratio->value), shortest(ratio->error))
                    : fmt::format(" {0} {0}", kNothing);
    text += fmt::format(" {} {}", shortest(metric.median), shortest(metric.mad));
  }
  if (endings.failed_run_groups.empty()) return text;
  text += fmt::format("{} {}", kFailures, endings.runs_with_ending);
  for (const FailureGroup& failed : endings.failed_run_groups)
    text += fmt::format(" {} {} {}", ending_word(failed.ending), failed.status, failed.runs);
  return text;
}

Endings decode_endings(std::string_view numbers) {
  Endings endings;
  const std::size_t place = numbers.find(kFailures);
  if (place == std::string_view::npos) return endings;
  const auto words = split(numbers.substr(place), kBetweenNumbers);
  endings.runs_with_ending = words.size() > 1 ? parse_number(words[1]).value_or(0) : 0;
  for (std::size_t i = 2; i + 2 < words.size(); i += 3)
    endings.failed_run_groups.push_back({parse_ending(words[i]),
                                         static_cast<int>(parse_number(words[i + 1]).value_or(0)),
                                         parse_number(words[i + 2]).value_or(0)});
  return endings;
}

std::vector<MetricRecord> decode_metric_names(std::string_view layout) {
  std::vector<MetricRecord> metrics;
  const auto list = parse_json(layout);
  if (!list || !list->is_array()) return metrics;
  for (const ParsedJson& item : *list) {
    // A database of an older lauka-history has no fourth part.
    constexpr std::size_t parts = 4;
    const bool has_method = item.is_array() && item.size() == parts && item[3].is_object();
    if (!item.is_array() || item.size() != (has_method ? parts : parts - 1) ||
        !item[0].is_string() || !item[1].is_string() || !item[2].is_string())
      return {};
    metrics.push_back({.name = item[0].get<std::string>(),
                       .unit = value_in(kUnitWords, item[1].get<std::string>()),
                       .better = value_in(kBetterWords, item[2].get<std::string>())});
    if (has_method) decode(item[3], metrics.back().method);
  }
  return metrics;
}

bool decode_values(MetricRecord& metric, std::size_t place, std::string_view numbers) {
  // Skips the metrics before this one.
  for (; place > 0; --place) {
    const std::size_t end = numbers.find(kBetweenMetrics);
    if (end == std::string_view::npos) return false;
    numbers.remove_prefix(end + 1);
  }

  // Older records have neither the median nor its deviation.
  constexpr std::size_t word_count = 9;
  constexpr std::size_t word_count_without_median = 7;
  const auto words = split(numbers.substr(0, numbers.find(kBetweenMetrics)), kBetweenNumbers);
  const bool has_median = words.size() == word_count;
  if (!has_median && words.size() != word_count_without_median) return false;

  // Only the mean is always known.
  const auto mean = parse_value(words[0]);
  if (!mean) return false;
  metric.mean = *mean;
  metric.stddev = parse_value(words[1]);
  metric.summarized_values = parse_number(words[2]).value_or(0);
  metric.ratio_to_reference = parse_ratio(words[3], words[4]);
  metric.ratio_to_anchor = parse_ratio(words[5], words[6]);
  metric.median = has_median ? parse_value(words[7]) : std::nullopt;
  metric.mad = has_median ? parse_value(words[8]) : std::nullopt;
  return true;
}

std::string encode_machine(const Machine& machine) {
  auto json = to_json(machine);
  for (const char* const of_one : {"name", "os", "class"}) json.erase(of_one);
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
