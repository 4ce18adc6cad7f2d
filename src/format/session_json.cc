#include "format/session_json.h"

#include "core/text.h"
#include "format/field_json.h"
#include "format/function_json.h"
#include "format/json.h"
#include "report/lines.h"
#include "report/warning_lines.h"
#include "results/analyse.h"
#include "session/baseline.h"
#include "session/series.h"
#include "session/setting_values.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace lauka {

namespace {

std::vector<std::size_t> find_events(const std::vector<std::string>& names,
                                     const std::vector<Event>& events) {
  std::vector<std::size_t> places;
  places.reserve(names.size());
  for (const std::string& name : names) {
    const auto place =
        find_place_if(events, [&](const Event& event) { return name == event.name; });
    if (place) places.push_back(*place);
  }
  return places;
}

std::optional<gate::Verdict> read_verdict(const ParsedJson& json, const Recording& session) {
  StoredVerdict stored;
  decode(json, stored);
  gate::Verdict& verdict = stored.verdict;
  const auto metric = find_metric(session.metrics, stored.metric);
  if (!metric || verdict.candidate >= session.commands.size()) return std::nullopt;

  verdict.metric = *metric;
  verdict.condition.metric = session.metrics[*metric].name;
  verdict.condition.limit.unit = session.metrics[*metric].unit;
  if (stored.accepted) {
    verdict.condition.acceptance = std::move(stored.accepted->acceptance);
    verdict.condition.acceptance->own_limit.unit = verdict.condition.limit.unit;
  }
  return std::move(verdict);
}

/// Returns the numbers in `text`; nullopt if `text` does not match `pattern`. A 0 in `pattern`
/// matches any digit; other characters must be equal.
template <std::size_t Count>
std::optional<std::array<int, Count>> parse_numbers_like(std::string_view pattern,
                                                         std::string_view text) {
  if (text.size() != pattern.size()) return std::nullopt;
  std::array<int, Count> numbers{};
  std::size_t number = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == '0' ? !is_digit : text[i] != pattern[i]) return std::nullopt;
    if (is_digit)
      numbers.at(number) = 10 * numbers.at(number) + (text[i] - '0');
    else
      ++number;
  }
  return numbers;
}

StoredVerdict make_stored_verdict(const Results& results, const gate::Verdict& verdict) {
  StoredVerdict stored{.verdict = verdict,
                       .metric = results.session.metrics[verdict.metric].name,
                       .condition = report::condition_text(verdict.condition),
                       .name = results.session.commands[verdict.candidate].name};
  if (const stats::Delta* wall_time = risen_wall_time(results, verdict))
    stored.risen_wall_time = *wall_time;
  if (const auto& acceptance = verdict.condition.acceptance)
    stored.accepted = StoredAcceptance{*acceptance, gate::acceptance_use_of(verdict)};
  return stored;
}

std::vector<std::vector<std::string>> list_event_names_by_pass(const EventSet& events) {
  std::vector<std::vector<std::string>> names;
  names.reserve(events.passes.size());
  for (const Pass& pass : events.passes) {
    std::vector<std::string>& of_pass = names.emplace_back();
    of_pass.reserve(pass.event_indices.size());
    for (const std::size_t event : pass.event_indices) of_pass.push_back(events.events[event].name);
  }
  return names;
}

/// Returns the tail probabilities that replace those of --confidence in the intervals of a gated
/// metric.
std::vector<StoredTails> list_stored_tails(const Results& results) {
  std::vector<StoredTails> stored;
  for (const gate::GatedMetricTails& gated : results.findings.gated_metric_tails)
    stored.push_back({results.session.metrics[gated.metric].name, gated.tails});
  return stored;
}

std::vector<StoredComparison> list_stored_comparisons(const Results& results) {
  std::vector<StoredComparison> stored;
  for (const HeadlineComparison& comparison : results.headline_comparisons)
    stored.push_back({comparison, results.session.metrics[comparison.metric].name});
  return stored;
}

std::vector<StoredVerdict> list_stored_verdicts(const Results& results) {
  std::vector<StoredVerdict> stored;
  for (const gate::Verdict& verdict : results.findings.verdicts)
    stored.push_back(make_stored_verdict(results, verdict));
  return stored;
}

/// Adds the notes as two parallel lists, because older files have only the texts.
void add_notes(const std::vector<Note>& notes, StoredFindings& stored) {
  for (const Note& note : notes) {
    stored.notes.push_back(note.text);
    stored.note_kinds.push_back(note.kind.empty() ? std::nullopt : std::optional(note.kind));
  }
}

/// Collects the members that follow the baseline in the file: what was measured, such as metrics
/// and events, and what was found, such as comparisons, verdicts and warnings.
StoredFindings make_stored_findings(const Results& results) {
  const Recording& session = results.session;
  const EventSet& events = session.setting.events;

  StoredFindings stored{.metrics = session.metrics,
                        .events = events.events,
                        .passes = list_event_names_by_pass(events),
                        .comparisons = list_stored_comparisons(results),
                        .gates = list_stored_verdicts(results),
                        .ended_by_gates = session.ended_by_gates,
                        .intervals = list_stored_tails(results),
                        .precision = results.findings.precision,
                        .race = results.findings.race,
                        .warnings = report::make_warning_texts(results)};
  add_notes(session.notes, stored);
  for (const Pass& pass : events.passes) stored.pass_kinds.push_back(pass.kind);
  if (const auto& failed_run = session.session_ending_run)
    stored.failed_run = StoredFailedRun{*failed_run, session.commands[failed_run->command].name};
  return stored;
}

/// Returns the metrics whose way of being measured is known.
std::vector<BaselineMetric> list_known_methods(const std::vector<Metric>& metrics) {
  std::vector<BaselineMetric> known;
  for (const Metric& metric : metrics) {
    // A percentile was measured as the metric that it summarizes.
    const bool is_method_known = settings_of_metric(metric) != SettingValues();
    if (is_method_known && !metric.percentile) known.push_back({metric});
  }
  return known;
}

void add_reference(const Command& reference, StoredBaseline& stored) {
  stored.commands.push_back(reference.name);
  stored.settings.push_back(reference.settings);
  stored.executable_sha256.push_back(reference.fingerprint.executable_sha256);
  stored.call_sha256.push_back(reference.fingerprint.call_sha256);
  stored.argument_files_sha256.push_back(reference.fingerprint.argument_files_sha256);
}

/// Collects what is stored of a baseline, an earlier session with which this one was compared, so
/// that a reader of the file needs no other file. The lists have the reference of each command.
StoredBaseline make_stored_baseline(const Results& results, const Baseline& baseline) {
  const Recording& earlier = *baseline.session;
  const Circumstances& circumstances = earlier.circumstances;
  StoredBaseline stored{.file = baseline.file,
                        .tool = earlier.was_written_by_lauka ? "lauka" : "hyperfine",
                        .layouts = earlier.setting.layouts,
                        .priority = circumstances.priority,
                        .metrics = list_known_methods(earlier.metrics)};

  // Files of hyperfine name neither its version nor the machine.
  if (earlier.was_written_by_lauka) {
    stored.version = circumstances.version;
    stored.machine = circumstances.machine;
  }

  for (std::size_t c = 0; c < results.commands.size(); ++c)
    add_reference(results.reference_of(c), stored);
  return stored;
}

constexpr int kHoursOfDay = 24;
constexpr int kMinutesOfHour = 60;

/// Returns the time in `text`, which is like "2026-03-09T14:05:00"; nullopt if there is none.
std::optional<UtcTime> parse_seconds(std::string_view text) {
  constexpr int leap_second = 60;
  const auto parts = parse_numbers_like<6>("0000-00-00T00:00:00", text);
  if (!parts) return std::nullopt;

  const auto& [year, month, day, hour, minute, second] = *parts;
  const auto date = std::chrono::year(year) / month / day;
  if (!date.ok() || hour >= kHoursOfDay || minute >= kMinutesOfHour || second > leap_second)
    return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

/// Removes the fraction of a second, as in ".25Z", from the beginning of `rest`, and returns it; 0
/// if there is none. Returns nullopt if it has no digits, or if nothing follows it.
std::optional<std::chrono::milliseconds> take_fraction(std::string_view& rest) {
  if (rest.front() != '.') return std::chrono::milliseconds(0);
  const std::size_t end = rest.find_first_not_of("0123456789", 1);
  const bool has_digits = end != 1;
  const bool is_zone_missing = end == std::string_view::npos;
  if (!has_digits || is_zone_missing) return std::nullopt;

  // The first three digits are milliseconds. A shorter fraction is filled up with zeros.
  const std::string digits = std::string(rest.substr(1, end - 1)) + "00";
  rest.remove_prefix(end);
  return std::chrono::milliseconds(std::stoi(digits.substr(0, 3)));
}

/// Returns the offset from UTC in `zone`, which is like "Z" or "+01:00"; nullopt for another text.
std::optional<std::chrono::minutes> parse_offset(std::string_view zone) {
  if (zone == "Z") return std::chrono::minutes(0);
  const bool has_sign = zone.front() == '+' || zone.front() == '-';
  const auto parts = parse_numbers_like<2>("00:00", zone.substr(1));
  if (!has_sign || !parts) return std::nullopt;

  const auto& [hours, minutes] = *parts;
  if (hours >= kHoursOfDay || minutes >= kMinutesOfHour) return std::nullopt;
  const auto offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  return zone.front() == '-' ? -offset : offset;
}

/// Writes a metric's values in the runs of a command's reference, which is a command of the
/// baseline. Writes nothing if there are no values. `metric_index`: in this session.
void put_values_of_reference(JsonWriter& json, const Recording& session, std::size_t command,
                             std::size_t metric_index) {
  const Metric& metric = session.metrics[metric_index];
  const std::size_t reference = pair_of(session, command).reference;
  const Series series = make_series(session, metric_index, reference);
  const std::vector<double>& values = series.values;

  // A percentile has no values of its own. It is computed from those of another metric.
  if (values.empty() || metric.percentile) return;

  json.open(metric.name, '{');
  json.put("unit", unit_symbol(metric.unit));
  json.list("samples", values.size(),
            [&](std::size_t i, std::string& to) { add_sample(values[i], metric.unit, to); });

  // Only a baseline that was measured in several layouts says in which one each run was. Layouts
  // are numbered from 1 in the file.
  if (!series.layouts.empty())
    json.list("layouts", values.size(),
              [&](std::size_t i, std::string& to) { to += std::to_string(series.layouts[i] + 1); });
  json.close();
}

/// Writes a list with an object for each command of this session: the values of its reference.
void put_samples_of_baseline(JsonWriter& json, const Recording& session) {
  json.open("samples", '[');
  for (std::size_t command = 0; command < session.commands.size(); ++command) {
    json.open('{');
    for (std::size_t metric = 0; metric < session.metrics.size(); ++metric)
      put_values_of_reference(json, session, command, metric);
    json.close();
  }
  json.close();
}

/// Writes a list with an object for each command of this session: the functions of its reference.
/// Writes nothing if the baseline has no functions.
void put_functions_of_baseline(JsonWriter& json, const Baseline& baseline) {
  const std::vector<FunctionTable>& function_tables = baseline.session->function_tables;
  if (function_tables.empty()) return;

  json.open("functions", '[');
  for (const std::size_t reference : baseline.reference_places) {
    json.open('{');
    put_functions(json, "functions", function_tables[reference]);
    json.close();
  }
  json.close();
}

/// Writes what was used of the baseline, an earlier session with which this one was compared.
/// Writes null if there is no baseline.
void put_baseline(JsonWriter& json, const Results& results) {
  const Recording& session = results.session;
  const auto& baseline = session.reference.baseline;
  if (!baseline) {
    json.put("baseline", nullptr);
    return;
  }

  json.open("baseline", '{');
  put_fields(json, make_stored_baseline(results, *baseline));
  put_samples_of_baseline(json, session);
  put_functions_of_baseline(json, *baseline);
  json.close();
}

}  // namespace

// Parses RFC 3339: a date and time, a fraction of a second if there is one, and "Z" or an offset
// from UTC, as in "2026-03-09T14:05:00.25+01:00". Any other text gives the default time, 0.
UtcTime parse_utc_time(const std::string& text) {
  constexpr std::size_t length_of_seconds = std::string_view("2026-03-09T14:05:00").size();
  std::string_view rest = text;
  const auto seconds = parse_seconds(rest.substr(0, length_of_seconds));
  const bool is_more_left = rest.size() > length_of_seconds;
  if (!seconds || !is_more_left) return {};

  rest.remove_prefix(length_of_seconds);
  const auto fraction = take_fraction(rest);
  if (!fraction) return {};
  const auto offset_from_utc = parse_offset(rest);
  if (!offset_from_utc) return {};
  return *seconds + *fraction - *offset_from_utc;
}

std::vector<OriginSession> read_origins(const ParsedJson& json, std::size_t commands) {
  std::vector<OriginSession> origins;
  std::size_t total = 0;
  for (const ParsedJson& item : items_in(json, "sessions")) {
    OriginSession origin;
    decode(item, origin);
    origin.command_count = std::min(origin.command_count, commands);
    total += origin.command_count;
    origins.push_back(std::move(origin));
  }
  if (total != commands) origins.clear();
  return origins;
}

StoredPlan read_plan(const ParsedJson& json) {
  StoredPlan plan;
  decode(json, plan);

  EventSet& set = plan.setting.events;
  set.events = decode_in<std::vector<Event>>(json, "events");
  const auto kinds = decode_in<std::vector<RoundKind>>(json, "pass_kinds");
  for (const auto& names : decode_in<std::vector<std::vector<std::string>>>(json, "passes")) {
    const std::size_t number = set.passes.size();
    set.passes.push_back(
        {find_events(names, set.events), number < kinds.size() ? kinds[number] : RoundKind::Timed});
  }

  return plan;
}

bool has_each_command_once(const gate::RaceResult& race, std::size_t commands) {
  std::vector<std::size_t> places = race.order();
  std::ranges::sort(places);
  if (places.size() != commands || race.left.empty()) return false;
  for (std::size_t c = 0; c < commands; ++c)
    if (places[c] != c) return false;
  return true;
}

gate::Findings read_findings(const ParsedJson& json, const Recording& session) {
  gate::Findings findings;
  for (const ParsedJson& gate : items_in(json, "gates"))
    if (auto verdict = read_verdict(gate, session))
      findings.verdicts.push_back(*std::move(verdict));

  for (const StoredTails& stored : decode_in<std::vector<StoredTails>>(json, "intervals"))
    if (const auto metric = find_metric(session.metrics, stored.metric))
      findings.gated_metric_tails.push_back({*metric, stored.tails});

  findings.precision = decode_in<std::optional<Precision>>(json, "precision");
  findings.race = decode_in<std::optional<gate::RaceResult>>(json, "race");
  if (findings.race && !has_each_command_once(*findings.race, session.commands.size()))
    findings.race.reset();
  return findings;
}

void encode_machine(const Machine& machine, Json& to) {
  encode(machine, to);
}

void put_session_members(JsonWriter& json, const Results& results, bool complete) {
  const Recording& session = results.session;
  put_fields(json, StoredSession{kNewestFormat, session.circumstances, complete, session.timers});
}

void put_lauka_benchmark(JsonWriter& json, const Results& results) {
  const Recording& session = results.session;
  StoredPlan plan{session.origins, session.setting, session.shell, session.confidence,
                  results.are_all_deltas_paired};
  plan.reference = session.reference.index_in_session(0);
  plan.series = session.series;

  put_fields(json, plan);
  put_baseline(json, results);
  put_fields(json, make_stored_findings(results));
}

}  // namespace lauka
