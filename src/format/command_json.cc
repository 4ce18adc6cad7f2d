#include "format/command_json.h"

#include "core/choices.h"
#include "core/function_table.h"
#include "core/text.h"
#include "format/field_json.h"
#include "format/function_json.h"
#include "format/hyperfine.h"
#include "format/run_lists.h"
#include "format/saved_runs.h"
#include "format/sections.h"
#include "format/session_json.h"
#include "report/exports.h"
#include "report/layout_lines.h"
#include "report/lines.h"
#include "results/analyse.h"
#include "results/function_changes.h"
#include "results/results.h"
#include "session/baseline.h"
#include "session/setting_values.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t kMaxShownBytes = 60;
constexpr std::size_t kMaxCommands = 10'000;
constexpr std::size_t kMaxMetrics = 10'000;
constexpr std::size_t kMaxNameBytes = std::size_t{1} << 20U;

/// `detail`: what the file lacks.
Error make_foreign_file_error(std::string_view detail) {
  return Error{fmt::format("is not a JSON file of lauka or hyperfine ({})", detail),
               "make such a file with lauka --export-json FILE"};
}

/// True if `note` is the note of a region's metric in a file that lacks the key "region".
bool is_old_note_of_region(std::string_view note) {
  return note.starts_with("(region)");
}

/// True if a kind of notes could have the name, in this lauka or in a later one.
bool is_name_of_note_kind(std::string_view name) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && is_lower(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

/// True for metrics of users and programs, of which lauka does not know what they are.
bool may_have_negative_values(const Metric& metric) {
  return metric.role == Role::Other && !metric.event && built_in_metric(metric.name) == nullptr;
}

Result<double> read_value(const ParsedJson& value, const std::string& name, bool may_be_negative) {
  const auto number = read_measured_number(value);
  if (number && (!(*number < 0.0) || may_be_negative)) return *number;
  const std::string found = value.dump(-1, ' ', true, ParsedJson::error_handler_t::replace);
  return Error{fmt::format("has {} among the samples of {}", without_middle(found, kMaxShownBytes),
                           cited(name)),
               "export it again"};
}

Result<std::vector<double>> read_values(const NumberList& list, const std::string& name,
                                        bool may_be_negative = false) {
  std::vector<double> values;
  values.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto value = read_value(list.at(i), name, may_be_negative);
    if (!value) return value.error();
    values.push_back(*value);
  }
  return values;
}

Result<void> check_unit(const Metric& metric, const std::string& unit_in_file,
                        const std::string& command) {
  if (unit_in_file.empty() || unit_in_file == unit_symbol(metric.unit)) return {};
  return Error{fmt::format("has {} of {} in the unit {} instead of '{}'", metric.name,
                           cited(command), cited(unit_in_file), unit_symbol(metric.unit)),
               "export it again"};
}

Result<std::vector<double>> read_wall_times(const ParsedJson& result, const RunLists& lists,
                                            const std::string& name) {
  if (const NumberList* times = lists.numbers_in(result, "times")) return read_values(*times, name);

  const MeasurementList* measurements = lists.measurements_in(result);
  const ParsedJson* wrong = measurements != nullptr ? measurements->wrong_wall_time() : nullptr;
  if (measurements == nullptr || (wrong != nullptr && wrong->is_null()))
    return make_foreign_file_error("it has no times of " + cited(name));
  if (wrong != nullptr) return read_value(*wrong, name, false).error();
  return measurements->values_of(Role::WallTime);
}

class SessionReader {
 public:
  SessionReader(ParsedJson document, RunLists& lists)
      : document_(std::move(document)), run_lists_(lists) {}

  /// Reads a file of lauka or hyperfine. Both list their commands under "results". Only lauka's
  /// files have a part "lauka", which is about the session, and such a part in each result.
  Result<SessionFromFile> read() {
    if (auto checked = check_results(); !checked) return checked.error();
    ParsedJson& results = document_["results"];

    session_json_ = member(document_, "lauka");
    recording().was_written_by_lauka = is_of_lauka();
    if (auto checked = check_format(); !checked) return checked.error();
    set_plan();

    // The values of runs are stored by metric, so all metrics must be known before the first run.
    if (auto added = add_metrics(results); !added) return added.error();
    if (auto added = add_commands(results); !added) return added.error();
    if (!is_of_lauka()) pair_commands_of_hyperfine();

    // The file lists the runs by command, and not in the order in which they ran.
    recording().runs = runs_.take_in_session_order(recording().metrics);
    recording().discarded_runs = redone_runs_.take_in_session_order(recording().metrics);

    if (is_of_lauka())
      if (auto completed = complete_session(); !completed) return completed.error();
    return std::move(file_);
  }

 private:
  Recording& recording() { return file_.recording; }

  bool is_of_lauka() const { return session_json_ != nullptr; }

  /// Refuses a file without a list of results, and one with too many of them.
  Result<void> check_results() const {
    const ParsedJson* results = list_in(document_, "results");
    if (results == nullptr) return make_foreign_file_error("it has no list of results");
    if (results->size() <= kMaxCommands) return {};
    return Error{
        fmt::format("has {} commands, but lauka reads at most {}", results->size(), kMaxCommands),
        "export fewer commands"};
  }

  /// Sets what the session was to do.
  void set_plan() {
    if (is_of_lauka()) stored_plan_ = read_plan(*session_json_);
    recording().setting = stored_plan_.setting;
    recording().series = stored_plan_.series;
    // hyperfine ends all runs of a command before it begins those of the next.
    if (!is_of_lauka()) recording().setting.order = Order::Sequential;
  }

  /// Adds all commands with their runs, whose metrics are known.
  Result<void> add_commands(ParsedJson& results) {
    // The JSON of a command is freed before the next is read, because it may be large.
    for (ParsedJson& result : results) {
      auto added = is_of_lauka() ? add_command(result) : add_command_of_hyperfine(result);
      if (!added) return added;
      free_json(result);
    }

    if (recording().commands.empty()) return Error{"has no commands", "export it again"};
    return {};
  }

  /// A file of hyperfine does not say which commands belong together or are compared. Those with
  /// the same parameter values are compared with the first typed command.
  void pair_commands_of_hyperfine() {
    std::vector<Command>& commands = recording().commands;
    infer_typed_indices_and_names(commands);
    recording().reference = pair_by_parameters(commands, commands.front().typed_command_index);
  }

  /// Frees the lists that lauka writes for readers of hyperfine's JSON.
  void free_lists_for_hyperfine(const ParsedJson& result) {
    for (const char* key : {"times", "exit_codes", "memory_usage_byte", "measurements"})
      run_lists_.free_list(result, key);
  }

  Result<void> check_format() {
    if (session_json_ == nullptr) return {};
    const ParsedJson* format = member(*session_json_, "format");
    if (format == nullptr || !format->is_number_integer())
      return make_foreign_file_error("it has no lauka.format");
    if (*format >= 1 && *format <= kNewestFormat) return {};
    return Error{fmt::format("was written by lauka {}",
                             without_middle(text_in(*session_json_, "version"), kMaxShownBytes)),
                 "export it again"};
  }

  Result<void> add_metrics(const ParsedJson& results) {
    if (session_json_ == nullptr) {
      add_metrics_of_hyperfine(results);
      return {};
    }
    for (const ParsedJson& metric : items_in(*session_json_, "metrics")) add_metric(metric);
    for (const ParsedJson& result : results) {
      const ParsedJson* metrics = object_in(part_in(result, "lauka"), "metrics");
      if (metrics == nullptr) continue;
      for (const auto& [name, metric] : metrics->items())
        if (recording().metrics.size() <= kMaxMetrics && !find_metric(recording().metrics, name))
          add_metric(ParsedJson{{"name", name}, {"unit", text_in(metric, "unit")}});
    }
    if (recording().metrics.size() <= kMaxMetrics) return {};
    return Error{fmt::format("has more than {} metrics", kMaxMetrics), "export fewer metrics"};
  }

  void add_metrics_of_hyperfine(const ParsedJson& results) {
    std::set<Role> roles = {Role::WallTime};
    for (const ParsedJson& result : results) {
      const auto times =
          read_wall_times(result, run_lists_, "");  // errors: from add_command_of_hyperfine()
      if (!times) continue;
      for (const HyperfineValues& metric :
           read_hyperfine_result(result, times->size(), run_lists_).metrics)
        roles.insert(metric.role);
    }
    for (const HyperfineMetric& name : kHyperfineMetrics) {
      if (!roles.contains(name.our_role)) continue;
      const std::string word(word_in(kRoleWords, name.our_role));
      const BuiltInMetric* built_in = built_in_metric(word);
      const bool is_shown = built_in == nullptr || built_in->shown == Shown::Always;
      add_metric(ParsedJson{{"name", word}, {"shown", is_shown}});
    }
  }

  static std::optional<Unit> read_unit(std::string_view metric, std::string_view word) {
    if (const BuiltInMetric* built_in = built_in_metric(metric)) return built_in->unit;
    if (word.empty()) return Unit::Count;
    for (const auto& row : kUnitWords)
      if (row.word == word) return row.value;
    return std::nullopt;
  }

  void add_metric(const ParsedJson& json) {
    Metric metric;
    decode(json, metric);
    const auto unit = read_unit(metric.name, text_in(json, "unit"));
    if (!unit) return;
    metric.unit = *unit;
    if (!json.contains("role")) metric.role = value_in(kRoleWords, metric.name);
    if (member(json, "region") == nullptr)
      metric.of_region = is_old_note_of_region(metric.metric_suffix);
    if (metric.event >= recording().setting.events.events.size()) metric.event.reset();

    recording().metrics.push_back(std::move(metric));
  }

  /// Adds a command that has only its name and text. Returns its index.
  Result<std::size_t> add_named_command(const ParsedJson& result) {
    Command command;
    const std::string text = text_in(result, "command");
    const std::string name = text_in(result, "name");
    for (const std::string* field : {&text, &name})
      if (field->size() > kMaxNameBytes)
        return Error{
            fmt::format("has a command whose name is {} bytes long, but lauka reads at most {}",
                        field->size(), kMaxNameBytes),
            "give it a shorter name"};
    command.name = name.empty() ? text : name;
    command.text = text;
    if (command.name.empty()) return make_foreign_file_error("it has a result without a command");
    recording().commands.push_back(std::move(command));
    return recording().commands.size() - 1;
  }

  /// Adds a command of a file of hyperfine, with its runs and their values.
  Result<void> add_command_of_hyperfine(const ParsedJson& result) {
    const auto command_index = add_named_command(result);
    if (!command_index) return command_index.error();
    Command& command = recording().commands[*command_index];

    const auto wall_times = read_wall_times(result, run_lists_, command.name);
    if (!wall_times) return wall_times.error();
    HyperfineResult without_times = read_hyperfine_result(result, wall_times->size(), run_lists_);
    command.parameters = std::move(without_times.parameters);

    // hyperfine does not list the runs, but it has a wall time of each.
    const std::size_t first_run = runs_.size();
    add_unlisted_runs({.command = *command_index,
                       .first_run = first_run,
                       .count = wall_times->size(),
                       .statuses = without_times.statuses},
                      runs_);

    // add_metrics() always adds the wall time for a file of hyperfine.
    const std::size_t wall_time_index = *find_metric(recording().metrics, Role::WallTime);
    runs_.set_values(first_run, wall_time_index, *wall_times);
    for (const HyperfineValues& metric : without_times.metrics)
      add_values_of_hyperfine(metric, *command_index, first_run);
    return {};
  }

  /// Adds the values of a metric, which add_metrics() has added, to the runs of a command.
  void add_values_of_hyperfine(const HyperfineValues& metric, std::size_t command,
                               std::size_t first_run) {
    const std::size_t metric_index = *find_metric(recording().metrics, metric.role);

    // Of some metrics, hyperfine stores only the mean.
    if (metric.mean)
      recording().means_without_runs.push_back({command, metric_index, *metric.mean});
    else
      runs_.set_values(first_run, metric_index, metric.values);
  }

  /// Adds a command of a file of lauka, with its runs, their values and its functions.
  Result<void> add_command(const ParsedJson& result) {
    // lauka reads only its own part of the result, which has the same values.
    free_lists_for_hyperfine(result);

    const auto command_index = add_named_command(result);
    if (!command_index) return command_index.error();
    const ParsedJson& lauka_part = part_in(result, "lauka");
    const ParsedJson* metrics = object_in(lauka_part, "metrics");
    if (metrics == nullptr) return make_foreign_file_error("it has a result without metrics");
    complete_command(lauka_part, *command_index);

    const std::size_t first_run = runs_.size();
    add_listed_runs(lauka_part, *command_index);
    if (auto added = add_samples(*metrics, *command_index, first_run, runs_); !added) return added;
    add_redone_runs(lauka_part, *command_index);

    auto functions = read_functions(lauka_part, "functions");
    if (!functions) return functions.error();
    recording().function_tables.push_back(*std::move(functions));
    return {};
  }

  /// Sets what a result says about its command, which has only its name and text.
  void complete_command(const ParsedJson& lauka_part, std::size_t index) {
    // A member that the file lacks leaves its default. By default, each command was typed itself,
    // and is not one of several instances of a typed command with parameters.
    StoredCommand stored{.command = std::move(recording().commands[index])};
    stored.command.typed_command_index = index;
    decode(lauka_part, stored);

    // The command of --anchor is neither reference nor candidate.
    const bool is_anchor = stored.role == "anchor";
    if (is_anchor) recording().reference.anchor_index = index;
    if (stored.shell_overhead) recording().overheads.push_back(*stored.shell_overhead);
    stored_references_.push_back(stored.reference);
    recording().commands[index] = std::move(stored.command);
  }

  void add_listed_runs(const ParsedJson& lauka_part, std::size_t command) {
    const SavedRuns* listed = run_lists_.runs_in(lauka_part);
    for (std::size_t i = 0; listed != nullptr && i < listed->size(); ++i) {
      RunRow row = listed->row(i);
      row.command = command;
      row.own_process_counts = keep_counts_of_events(std::move(row.own_process_counts));
      runs_.add(listed->position(i), std::move(row));
    }
    run_lists_.free_list(lauka_part, "runs");
  }

  /// Returns the counts of the session's events, in the order of the events.
  std::vector<NamedCount> keep_counts_of_events(std::vector<NamedCount> counts) const {
    if (counts.empty()) return counts;
    std::vector<NamedCount> known;
    for (const Event& event : file_.recording.setting.events.events) {
      const auto count = std::ranges::find(counts, event.name, &NamedCount::event);
      if (count != counts.end()) known.push_back(*count);
    }
    return known;
  }

  /// The runs of a command that a file does not list.
  struct UnlistedRuns {
    std::size_t command = 0;
    std::size_t first_run = 0;  ///< index of the command's first run
    std::size_t count = 0;
    std::vector<std::optional<int>> statuses{};  ///< empty if unknown
    const NumberList* layouts = nullptr;         ///< null if unknown
  };

  /// Adds runs until the command has as many as `unlisted` says.
  static void add_unlisted_runs(const UnlistedRuns& unlisted, SavedRuns& runs) {
    const NumberList* layouts = unlisted.layouts;
    for (std::size_t run = runs.size() - unlisted.first_run; run < unlisted.count; ++run) {
      RunRow row;
      row.command = unlisted.command;
      row.round = run;
      if (!unlisted.statuses.empty()) row.status = unlisted.statuses[run];

      std::uint64_t layout = 0;
      if (layouts != nullptr && run < layouts->size() && decode_value(layouts->at(run), layout))
        row.layout = layout_of_number(layout);

      row.ending = ending_of_status(row.status);
      runs.add(runs.size(), std::move(row));
    }
  }

  /// The runs of a command, to which values are added.
  struct RunsOfCommand {
    std::size_t command = 0;
    std::size_t first_run = 0;  ///< index of the command's first run
    bool were_listed = false;   ///< false: a run is added for each value
    SavedRuns& all;
  };

  /// Adds the values of a command's metrics to its runs in `runs`, which begin at `first_run`. If
  /// the file does not list the runs, as for a baseline, adds a run for each value.
  Result<void> add_samples(const ParsedJson& metrics, std::size_t command, std::size_t first_run,
                           SavedRuns& runs) {
    const RunsOfCommand of_command{.command = command,
                                   .first_run = first_run,
                                   .were_listed = runs.size() > first_run,
                                   .all = runs};
    for (const auto& [metric, json] : metrics.items())
      if (auto added = add_samples_of_metric(metric, json, of_command); !added) return added;
    return {};
  }

  /// Adds the values of one metric to the runs of a command. `json` has them as "samples".
  Result<void> add_samples_of_metric(const std::string& name, const ParsedJson& json,
                                     const RunsOfCommand& runs) {
    const NumberList* samples = run_lists_.numbers_in(json, "samples");
    if (samples == nullptr) return make_foreign_file_error("it has a metric without samples");

    // The session's metrics lack a metric whose unit this lauka does not know.
    const auto metric_index = find_metric(recording().metrics, name);
    const Metric* metric = metric_index ? &recording().metrics[*metric_index] : nullptr;

    // A percentile has no values of its own. It summarizes those of another metric.
    if (metric != nullptr && metric->percentile) return {};
    const auto values = read_samples(*samples, metric, runs);
    if (!values) return values.error();
    run_lists_.free_list(json, "samples");

    // The values of an unknown metric are checked, but not kept.
    if (metric == nullptr) return {};
    const std::string& command = recording().commands[runs.command].name;
    if (auto checked = check_unit(*metric, text_in(json, "unit"), command); !checked)
      return checked;
    add_values(*values, json, *metric_index, runs);
    return {};
  }

  /// Returns the values of a metric in the runs of a command. `metric`: null if it is unknown.
  Result<std::vector<double>> read_samples(const NumberList& samples, const Metric* metric,
                                           const RunsOfCommand& runs) {
    // Only a metric that the user's commands report themselves can be negative.
    const bool may_be_negative = metric != nullptr && may_have_negative_values(*metric);
    auto values = read_values(samples, recording().commands[runs.command].name, may_be_negative);
    if (!values) return values;

    if (runs.were_listed && values->size() != runs.all.size() - runs.first_run)
      return make_foreign_file_error("it does not have one sample for each run");
    return values;
  }

  /// Adds the values of a metric, and what `json` says about values that are missing.
  void add_values(const std::vector<double>& values, const ParsedJson& json, std::size_t metric,
                  const RunsOfCommand& runs) {
    if (!runs.were_listed)
      add_unlisted_runs({.command = runs.command,
                         .first_run = runs.first_run,
                         .count = values.size(),
                         .layouts = run_lists_.numbers_in(json, "layouts")},
                        runs.all);
    runs.all.set_values(runs.first_run, metric, values);
    add_mean_without_values(number_in(json, "mean"), runs.command, metric, values);
    add_bound_of_missing_values(part_in(json, "at_most"), runs.command, metric, runs.all);
  }

  /// Keeps a mean that the file has without any value of a run.
  void add_mean_without_values(std::optional<double> mean, std::size_t command, std::size_t metric,
                               const std::vector<double>& values) {
    if (mean && std::ranges::all_of(values, [](double value) { return std::isnan(value); }))
      recording().means_without_runs.push_back({command, metric, *mean});
  }

  /// Keeps the bound of values that are missing because only this upper bound of them is known.
  static void add_bound_of_missing_values(const ParsedJson& bound, std::size_t command,
                                          std::size_t metric, SavedRuns& runs) {
    if (bound.is_null()) return;
    if (const auto value = read_measured_number(bound)) runs.set_bound(command, metric, *value);
  }

  static std::vector<Note> read_notes(const ParsedJson& json) {
    std::vector<Note> notes;
    // A later lauka may have more kinds, so each name is kept that could be one.
    const auto kinds = decode_in<std::vector<std::optional<std::string>>>(json, "note_kinds");
    for (std::string& text : texts_in(json, "notes")) {
      const auto kind = notes.size() < kinds.size() ? kinds[notes.size()] : std::nullopt;
      notes.push_back({kind && is_name_of_note_kind(*kind) ? *kind : "", std::move(text)});
    }
    return notes;
  }

  void add_redone_runs(const ParsedJson& lauka_part, std::size_t command) {
    const std::size_t first = redone_runs_.size();
    for (const ParsedJson& json : items_in(lauka_part, "redone_runs")) {
      const std::string why = text_in(json, "why");
      ListedRun run = read_listed_run(json, redone_runs_.size() - first);
      run.row.command = command;
      run.row.reason = value_in(kRedoWords, text_in(json, "reason"));
      run.row.redo_text = why;
      redone_runs_.add(run.position, std::move(run.row));
      if (const ParsedJson* values = object_in(json, "values")) {
        for (const auto& [metric, value] : values->items())
          if (const auto metric_index = find_metric(recording().metrics, metric))
            redone_runs_.set_values(redone_runs_.size() - 1, *metric_index,
                                    {read_measured_number(value).value_or(kNoValue)});
      }
    }
  }

  /// Completes the recording, whose commands, metrics and runs have been read, by what lauka's part
  /// of the file says about the whole session. A member that is missing, or is of another type,
  /// leaves its field as it is. Only a baseline can be so damaged that the file is refused.
  Result<void> complete_session() {
    Recording& session = recording();
    const ParsedJson& json = *session_json_;

    StoredSession stored;
    decode(json, stored);
    session.circumstances = std::move(stored.circumstances);
    session.timers = stored.timers;
    session.complete = stored.complete;
    session.ended_by_gates = decode_in<bool>(json, "ended_by_gates");

    // lauka writes the start time outside its own part, for readers of hyperfine's JSON.
    session.circumstances.began = decode_in<UtcTime>(part_in(document_, "metadata"), "start_time");

    session.origins = read_origins(json, session.commands.size());
    session.shell = stored_plan_.shell;
    const bool is_valid_confidence = stored_plan_.confidence > 0.0 && stored_plan_.confidence < 1.0;
    if (is_valid_confidence) session.confidence = stored_plan_.confidence;

    session.session_ending_run = read_session_ending_run(json);
    session.notes = read_notes(json);
    session.reference = make_reference();
    set_missing_settings_of_commands(json);
    file_.findings = read_findings(json, session);

    // The baseline becomes a part of the reference, which is known now.
    return add_baseline(json);
  }

  /// Takes each command's reference from its result. Older versions wrote a single one, so that
  /// their commands are compared at the same parameter values.
  Reference make_reference() const {
    const std::vector<Command>& commands = file_.recording.commands;
    const auto anchor = file_.recording.reference.anchor_index;

    const std::size_t first = std::min(stored_plan_.reference.value_or(0), commands.size() - 1);
    Reference reference = pair_by_parameters(commands, commands[first].typed_command_index);
    reference.anchor_index = anchor;
    if (reference.is_for_tables_only && first > 0)
      reference = Reference{.indices = std::vector<std::size_t>(commands.size(), first),
                            .anchor_index = anchor};

    if (std::ranges::none_of(stored_references_,
                             [](const auto& index) { return index.has_value(); }))
      return reference;
    reference.indices.clear();
    for (std::size_t c = 0; c < commands.size(); ++c)
      reference.indices.push_back(std::min(stored_references_[c].value_or(c), commands.size() - 1));
    return reference;
  }

  /// Adds what older files, whose results have no settings, say about a session's commands.
  void set_missing_settings_of_commands(const ParsedJson& json) {
    if (!recording().origins.empty()) return;
    for (Command& command : recording().commands) {
      SettingValues values = settings_of_saved(recording().setting, command, recording().shell);
      if (!json.contains("warmup_runs")) values[SettingKind::Warmup].reset();
      values.add(command.settings);
      command.settings = std::move(values);
    }
  }

  /// Returns the run whose failure ended the session; nullopt if there is none.
  std::optional<RunRow> read_session_ending_run(const ParsedJson& json) const {
    const ParsedJson& failed = part_in(json, "failed_run");
    StoredFailedRun stored;
    decode(failed, stored);
    RunRow& run = stored.run;
    if (!unsigned_in(failed, "command") || run.command >= file_.recording.commands.size())
      return std::nullopt;

    if (run.status) *run.status &= 0xff;
    // Older files have no outcome.
    if (text_in(failed, "outcome").empty()) run.ending = ending_of_status(run.status);
    return run;
  }

  /// Returns this session's metrics as the baseline measured them.
  static std::vector<Metric> with_methods_of_baseline(std::vector<Metric> metrics,
                                                      const std::vector<BaselineMetric>& stored) {
    for (const BaselineMetric& of_baseline : stored) {
      const auto metric_index = find_metric(metrics, of_baseline.metric.name);
      if (!metric_index) continue;
      Metric& metric = metrics[*metric_index];
      metric.kind = of_baseline.metric.kind;
      metric.counted_privilege_levels = of_baseline.metric.counted_privilege_levels;
      metric.of_region = of_baseline.metric.of_region;
      metric.method = of_baseline.metric.method;
    }
    return metrics;
  }

  /// Returns the fingerprint of each of the baseline's commands; empty ones if unknown.
  static std::vector<Fingerprint> make_fingerprints(const StoredBaseline& stored) {
    const std::size_t count = stored.commands.size();
    const bool has_files = stored.argument_files_sha256.size() == count;

    std::vector<Fingerprint> fingerprints(count);
    if (stored.executable_sha256.size() != count || stored.call_sha256.size() != count)
      return fingerprints;
    for (std::size_t c = 0; c < count; ++c)
      fingerprints[c] = {stored.executable_sha256[c], stored.call_sha256[c],
                         has_files ? stored.argument_files_sha256[c] : ""};
    return fingerprints;
  }

  /// Returns what the file says about the baseline's session, without the values of its commands.
  Recording make_recording_of_baseline(const StoredBaseline& stored) {
    Recording earlier;
    earlier.was_written_by_lauka = stored.tool != "hyperfine";
    earlier.circumstances.version = stored.version.value_or("");
    earlier.circumstances.machine = stored.machine.value_or(Machine());
    earlier.circumstances.priority = stored.priority;
    earlier.metrics = with_methods_of_baseline(recording().metrics, stored.metrics);
    earlier.setting.layouts = stored.layouts;

    // Of the baseline's commands, the file has the names, but not the texts.
    const std::vector<Fingerprint> fingerprints = make_fingerprints(stored);
    for (std::size_t c = 0; c < stored.commands.size(); ++c) {
      const std::string& name = stored.commands[c];
      Command& reference =
          earlier.commands.emplace_back(Command{.name = name, .text = name, .words = {}});
      reference.fingerprint = fingerprints[c];
      const bool are_settings_stored = c < stored.settings.size();
      if (are_settings_stored) reference.settings = stored.settings[c];
    }
    return earlier;
  }

  /// Adds the functions and the runs of the baseline's commands to its session.
  Result<void> add_values_of_baseline(const ParsedJson& baseline_json, Recording& measured) {
    const std::size_t count = measured.commands.size();
    const ParsedJson* samples = list_in(baseline_json, "samples");
    const bool has_samples = samples != nullptr && samples->size() == count;
    const ParsedJson& function_lists = items_in(baseline_json, "functions");

    SavedRuns runs;
    for (std::size_t c = 0; c < count; ++c) {
      auto functions =
          read_functions(c < function_lists.size() ? function_lists[c] : ParsedJson(), "functions");
      if (!functions) return functions.error();
      measured.function_tables.push_back(*std::move(functions));

      if (!has_samples) continue;
      if (auto added = add_samples((*samples)[c], c, runs.size(), runs); !added) return added;
    }
    measured.runs = runs.take_in_session_order(measured.metrics);
    return {};
  }

  /// Adds the baseline, an earlier session with which this one is compared, if there is one. The
  /// file has only the part of it that was used: the reference of each command of this session.
  Result<void> add_baseline(const ParsedJson& json) {
    const ParsedJson* baseline_json = member(json, "baseline");
    if (baseline_json == nullptr) return {};

    // Older files do not say how many layouts the baseline had. It had as many as this session.
    StoredBaseline stored{.layouts = recording().setting.layouts};
    decode(*baseline_json, stored);
    if (stored.commands.size() != recording().commands.size())
      return make_foreign_file_error("it has a baseline without commands");

    auto earlier = std::make_shared<Recording>(make_recording_of_baseline(stored));
    if (auto added = add_values_of_baseline(*baseline_json, *earlier); !added) return added;

    // The baseline's commands are the references of this session's commands, in the same order.
    Baseline baseline{.file = stored.file};
    for (std::size_t c = 0; c < stored.commands.size(); ++c) baseline.reference_places.push_back(c);
    baseline.metric_places = find_comparable_metrics_in(*earlier, recording().metrics);
    baseline.session = std::move(earlier);
    recording().reference.baseline = std::move(baseline);
    return {};
  }

  ParsedJson document_;
  RunLists& run_lists_;
  // The part "lauka" of the file, which is about the session; null: hyperfine wrote the file.
  const ParsedJson* session_json_ = nullptr;
  StoredPlan stored_plan_{};
  SessionFromFile file_{};
  SavedRuns runs_{};
  SavedRuns redone_runs_{};
  std::vector<std::optional<std::size_t>> stored_references_{};  // of each command; may be unknown
};

std::optional<stats::LogRatio> log_ratio_to(const Results& results, std::size_t metric,
                                            std::size_t command, std::optional<std::size_t> to) {
  if (!to || *to == command) return std::nullopt;
  return log_ratio(results.session, metric, command, *to);
}

void put_median_deviation(JsonWriter& json, const MetricResult& row, const Runs& runs,
                          std::span<const std::uint32_t> runs_of_command) {
  std::vector<double> values;
  values.reserve(row.runs);
  for (const std::uint32_t run : runs_of_command)
    if (const auto value = runs.value(run, row.metric_index)) values.push_back(*value);

  json.put("mad", values.empty() || !row.summary
                      ? Json(nullptr)
                      : Json(stats::median_deviation(values, row.summary->median)));
}

/// Puts what a history compares commands by.
void put_log_ratios(JsonWriter& json, const Results& results, std::size_t command,
                    std::size_t metric) {
  const Reference& reference = results.session.reference;
  if (const auto reference_index = reference.index_in_session(command);
      reference_index && command != reference.anchor_index)
    put_value(json, "log_ratio_to_reference",
              log_ratio_to(results, metric, command, reference_index));
  if (reference.anchor_index)
    put_value(json, "log_ratio_to_anchor",
              log_ratio_to(results, metric, command, reference.anchor_index));
}

StoredMetric make_stored_metric(const Results& results, const MetricResult& row) {
  const Metric& metric = results.session.metrics[row.metric_index];
  StoredMetric stored{.row = row, .unit = metric.unit};
  if (row.layouts)
    stored.layouts = StoredLayouts{*row.layouts, report::is_misled_by_one_layout(row)};

  if (const auto& percentile = metric.percentile) {
    stored.percentile = StoredPercentile{.of = percentile->summarized_metric,
                                         .percent = 100.0 * percentile->share,
                                         .fewest_runs = row.runs_needed_for_percentile};
    if (const auto& estimate = row.quantile) {
      stored.percentile->value = estimate->value;
      stored.percentile->low = estimate->low;
      stored.percentile->high = estimate->high;
    }
  }
  return stored;
}

/// Writes a command's statistics of one metric, and then its samples: the values of all runs.
void put_metric(JsonWriter& json, const Results& results, std::size_t command,
                const MetricResult& row) {
  const Metric& metric = results.session.metrics[row.metric_index];
  json.open(metric.name, '{');
  put_fields(json, make_stored_metric(results, row));

  // A percentile has no samples of its own. It gets an empty list, so that every metric has one.
  if (metric.percentile) {
    json.put("samples", Json::array());
    json.close();
    return;
  }

  const Runs& runs = results.session.runs;
  const std::span<const std::uint32_t> runs_of_command = runs.of_command(command);
  put_median_deviation(json, row, runs, runs_of_command);
  put_log_ratios(json, results, command, row.metric_index);
  json.list("samples", runs_of_command.size(), [&](std::size_t i, std::string& to) {
    add_sample(runs.value(runs_of_command[i], row.metric_index), metric.unit, to);
  });
  json.close();
}

/// Returns the wall time of a run if it is stored with the run. That of a timed run is a sample of
/// a metric. That of a counting run shows how much counting slows the command down. A simulator's
/// time shows nothing.
std::optional<double> find_time_to_store(const Recording& session, std::size_t index,
                                         const RunRow& run) {
  const auto wall_time = find_metric(session.metrics, Role::WallTime);
  const bool is_sample = wall_time && session.runs.value(index, *wall_time);
  const bool is_stored = !is_sample && run.wall_seconds > 0.0 && run.kind != RoundKind::Simulated;
  return is_stored ? std::optional(run.wall_seconds) : std::nullopt;
}

/// Calls put(key, json) with each member of run number `index` of the session, except the counts of
/// its own process.
template <typename Put>
void put_run_members(const Results& results, std::size_t index, const RunRow& run, const Put& put) {
  // The file numbers runs, rounds, passes and layouts from 1.
  put("run", fmt::to_string(index + 1));
  put("kind", json_string(word_in(kKindWords, run.kind)));
  put("round", fmt::to_string(run.round + 1));
  put("pass", fmt::to_string(run.pass + 1));
  if (count_layouts(results.session, run.command) > 1)
    put("layout", fmt::to_string(run.layout + 1));
  put("exit_code", status_json(run.status));
  if (run.status != 0) put("outcome", json_string(ending_word(run.ending)));
  put("coverage", run.instruction_coverage ? json_real(*run.instruction_coverage) : "null");

  if (const auto wall_time = find_time_to_store(results.session, index, run))
    put(metric_name_of(Role::WallTime), json_real(*wall_time));

  for_each_detail(run.details, [&](std::string_view key, const auto& detail) {
    if (is_set(detail, {})) put(key, fmt::to_string(detail));
  });
}

/// Writes a run as an element of the open list.
void put_run(JsonWriter& json, const Results& results, std::size_t index) {
  const RunRow run = results.session.runs.row(index);

  if (run.own_process_counts.empty()) {
    // The object is written as one text, so that it stands on one line of the file.
    constexpr std::size_t usual_line_size = 128;
    std::string members;
    members.reserve(usual_line_size);
    put_run_members(results, index, run, [&](std::string_view key, std::string_view value) {
      if (!members.empty()) members += ", "sv;
      members.append("\""sv).append(key).append("\": "sv).append(value);
    });
    json.put_with({}, [&](std::string& to) { to.append("{"sv).append(members).append("}"sv); });
    return;
  }

  // A run that has an object of counts takes several lines.
  json.open('{');
  put_run_members(results, index, run, [&](std::string_view key, std::string_view value) {
    json.put_with(key, [&](std::string& to) { to += value; });
  });
  Json own_counts;
  for (const NamedCount& count : run.own_process_counts) own_counts[count.event] = count.count;
  json.put("own", own_counts);
  json.close();
}

void put_runs(JsonWriter& json, const Results& results, std::size_t command) {
  json.open("runs", '[');
  for (const std::size_t index : results.session.runs.of_command(command))
    put_run(json, results, index);
  json.close();
}

/// Writes the values of run number `index` of those that were discarded.
void put_values_of_redone_run(JsonWriter& json, const Recording& session, std::size_t index) {
  json.open("values", '{');
  for (std::size_t m = 0; m < session.metrics.size(); ++m) {
    const Metric& metric = session.metrics[m];
    const auto value = session.discarded_runs.value(index, m);
    // A single run has no percentile.
    if (!value || metric.percentile) continue;
    json.put_with(metric.name, [&](std::string& to) { add_sample(value, metric.unit, to); });
  }
  json.close();
}

/// Writes a discarded run as an element of the open list.
void put_redone_run(JsonWriter& json, const Recording& session, std::size_t index) {
  const RunRow run = session.discarded_runs.row(index);
  json.open('{');
  json.put("run", index + 1);
  json.put("round", run.round + 1);
  json.put("pass", run.pass + 1);
  json.put_with("exit_code", [&](std::string& to) { to += status_json(run.status); });
  if (run.status != 0) json.put("outcome", ending_word(run.ending));

  // The reason in one word for programs, and as a text for people.
  json.put("reason", json_text_or_null(word_in(kRedoWords, run.reason)));
  json.put("why", run.redo_text);

  put_values_of_redone_run(json, session, index);
  json.close();
}

/// Writes the runs of a command that lauka discarded and repeated, with the reasons. They are not
/// among the command's runs and samples, so each has its own values.
void put_redone_runs(JsonWriter& json, const Results& results, std::size_t command) {
  const Runs& redone = results.session.discarded_runs;
  const bool was_any_redone = !redone.of_command(command).empty();
  if (!was_any_redone) return;

  json.open("redone_runs", '[');
  for (const std::size_t index : redone.of_command(command))
    put_redone_run(json, results.session, index);
  json.close();
}

std::optional<StoredWhy> make_stored_why(const Results& results, std::size_t command) {
  const auto why = std::ranges::find(results.explanations, command, &WallTimeExplanation::command);
  if (why == results.explanations.end()) return std::nullopt;
  return StoredWhy{report::why_text(results, *why), why->factors};
}

/// Adds the functions whose total times surely differ, the largest difference first. The total time
/// of a function includes what it called. Only sampled functions have it.
void add_total_changes(const MetricByFunction& compared,
                       std::vector<StoredFunctionChange>& stored) {
  const std::size_t first_total = stored.size();
  for (const FunctionChange& change : compared.functions)
    if (change.total && change.total->is_certain())
      stored.push_back(
          {.metric = std::string(kTotalTime), .name = change.name, .means = *change.total});

  // The functions are in the order of their own differences, but not of their totals'.
  std::ranges::stable_sort(
      std::span(stored).subspan(first_total), std::ranges::greater(),
      [](const StoredFunctionChange& change) { return std::fabs(change.means.difference()); });
}

/// Lists the functions in which the command surely differs from its reference, the largest
/// difference of each metric first. Returns nullopt if no functions were compared.
std::optional<std::vector<StoredFunctionChange>> make_stored_function_changes(
    const Results& results, std::size_t command) {
  std::optional<std::vector<StoredFunctionChange>> stored;
  for (const MetricByFunction& compared : results.function_changes) {
    if (compared.candidate != command) continue;
    if (!stored) stored.emplace();

    const std::string& metric = results.session.metrics[compared.metric].name;
    for (const FunctionChange& change : compared.functions)
      if (change.is_certain())
        stored->push_back({.metric = metric, .name = change.name, .means = change.own});
    add_total_changes(compared, *stored);
  }
  return stored;
}

StoredCommand make_stored_command(const Results& results, std::size_t command) {
  const Recording& session = results.session;
  StoredCommand stored{.command = session.commands[command],
                       .benchmark = results.benchmark,
                       .endings = results.commands[command].endings};
  if (!results.benchmark.empty()) stored.role = report::role_of(session.reference, command);
  if (session.reference.is_candidate(command))
    stored.reference = session.reference.index_in_session(command);
  if (command < session.overheads.size()) stored.shell_overhead = session.overheads[command];
  return stored;
}

}  // namespace

std::string status_json(const std::optional<int>& status) {
  return status ? fmt::to_string(*status) : "null";
}

Result<SessionFromFile> read_session_document(ParsedJson document, RunLists& lists) {
  return SessionReader(std::move(document), lists).read();
}

void put_lauka_result(JsonWriter& json, const Results& results, std::size_t command) {
  const CommandResult& of_command = results.commands[command];
  put_fields(json, make_stored_command(results, command));

  json.open("metrics", '{');
  for (const MetricResult& row : of_command.rows) put_metric(json, results, command, row);
  json.close();

  put_runs(json, results, command);
  put_redone_runs(json, results, command);
  if (command < results.session.function_tables.size())
    put_functions(json, "functions", results.session.function_tables[command]);

  put_fields(json,
             StoredCommandEnd{.function_changes = make_stored_function_changes(results, command),
                              .why = make_stored_why(results, command),
                              .coverage = of_command.coverage,
                              .counting_slowdown = of_command.counting_slowdown});
}

}  // namespace lauka
