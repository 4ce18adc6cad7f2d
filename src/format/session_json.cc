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

StoredFindings make_stored_findings(const Results& results) {
  const Recording& session = results.session;
  const EventSet& events = session.setting.events;

  StoredFindings stored{.metrics = session.metrics,
                        .events = events.events,
                        .passes = list_event_names_by_pass(events),
                        .ended_by_gates = session.ended_by_gates,
                        .precision = results.findings.precision,
                        .race = results.findings.race,
                        .warnings = report::make_warning_texts(results)};
  for (const Pass& pass : events.passes) stored.pass_kinds.push_back(pass.kind);

  for (const HeadlineComparison& comparison : results.headline_comparisons)
    stored.comparisons.push_back({comparison, session.metrics[comparison.metric].name});
  for (const gate::Verdict& verdict : results.findings.verdicts)
    stored.gates.push_back(make_stored_verdict(results, verdict));
  for (const gate::GatedMetricTails& tails : results.findings.gated_metric_tails)
    stored.intervals.push_back({session.metrics[tails.metric].name, tails.tails});

  if (const auto& run = session.session_ending_run)
    stored.failed_run = StoredFailedRun{*run, session.commands[run->command].name};
  for (const Note& note : session.notes) {
    stored.notes.push_back(note.text);
    stored.note_kinds.emplace_back();
    if (!note.kind.empty()) stored.note_kinds.back() = note.kind;
  }
  return stored;
}

StoredBaseline make_stored_baseline(const Results& results, const Baseline& baseline) {
  const Recording& baseline_session = *baseline.session;
  StoredBaseline stored{.file = baseline.file,
                        .tool = baseline_session.was_written_by_lauka ? "lauka" : "hyperfine",
                        .layouts = baseline_session.setting.layouts,
                        .priority = baseline_session.circumstances.priority};
  if (baseline_session.was_written_by_lauka) {
    stored.version = baseline_session.circumstances.version;
    stored.machine = baseline_session.circumstances.machine;
  }

  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const Command& reference = results.reference_of(c);
    stored.commands.push_back(reference.name);
    stored.settings.push_back(reference.settings);
    stored.executable_sha256.push_back(reference.fingerprint.executable_sha256);
    stored.call_sha256.push_back(reference.fingerprint.call_sha256);
    stored.argument_files_sha256.push_back(reference.fingerprint.argument_files_sha256);
  }

  // How a metric was measured is stored where it is known.
  for (const Metric& metric : baseline_session.metrics)
    if (!metric.percentile && settings_of_metric(metric) != SettingValues())
      stored.metrics.push_back({metric});
  return stored;
}

void put_baseline(JsonWriter& json, const Results& results) {
  const auto& baseline = results.session.reference.baseline;
  if (!baseline) {
    json.put("baseline", nullptr);
    return;
  }

  const Recording& baseline_session = *baseline->session;
  json.open("baseline", '{');
  put_fields(json, make_stored_baseline(results, *baseline));

  json.open("samples", '[');
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    json.open('{');
    for (std::size_t m = 0; m < results.session.metrics.size(); ++m) {
      const Metric& metric = results.session.metrics[m];
      const Series series = make_series(results.session, m, pair_of(results.session, c).reference);
      const std::vector<double>& values = series.values;
      if (values.empty() || metric.percentile) continue;

      json.open(metric.name, '{');
      json.put("unit", unit_symbol(metric.unit));
      json.list("samples", values.size(),
                [&](std::size_t i, std::string& to) { add_sample(values[i], metric.unit, to); });
      if (!series.layouts.empty())
        json.list("layouts", values.size(), [&](std::size_t i, std::string& to) {
          to += std::to_string(series.layouts[i] + 1);
        });
      json.close();
    }
    json.close();
  }
  json.close();

  if (!baseline_session.function_tables.empty()) {
    json.open("functions", '[');
    for (const std::size_t command : baseline->reference_places) {
      json.open('{');
      put_functions(json, "functions", baseline_session.function_tables[command]);
      json.close();
    }
    json.close();
  }

  json.close();
}

}  // namespace

UtcTime parse_utc_time(const std::string& text) {
  constexpr std::string_view pattern = "0000-00-00T00:00:00";
  constexpr int hours = 24;
  constexpr int sixty = 60;  // minutes, or seconds; a leap second is the 60th

  std::string_view rest = text;
  const auto parts = parse_numbers_like<6>(pattern, rest.substr(0, pattern.size()));
  if (!parts || rest.size() <= pattern.size()) return {};

  const auto& [year, month, day, hour, minute, second] = *parts;
  const auto date = std::chrono::year(year) / month / day;
  if (!date.ok() || hour >= hours || minute >= sixty || second > sixty) return {};

  rest.remove_prefix(pattern.size());
  std::chrono::milliseconds fraction{0};
  if (rest.front() == '.') {
    const std::size_t end = rest.find_first_not_of("0123456789", 1);
    if (end == 1 || end == std::string_view::npos) return {};
    // A fraction of one or two digits is filled up to milliseconds.
    const std::string digits = std::string(rest.substr(1, end - 1)) + "00";
    fraction = std::chrono::milliseconds(std::stoi(digits.substr(0, 3)));
    rest.remove_prefix(end);
  }

  std::chrono::minutes offset_from_utc{0};
  if (rest != "Z") {
    const bool has_sign = rest.front() == '+' || rest.front() == '-';
    const auto offset = parse_numbers_like<2>("00:00", rest.substr(1));
    if (!has_sign || !offset || offset->at(0) >= hours || offset->at(1) >= sixty) return {};
    offset_from_utc = std::chrono::minutes(sixty * offset->at(0) + offset->at(1));
    if (rest.front() == '-') offset_from_utc = -offset_from_utc;
  }

  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + fraction - offset_from_utc;
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

nlohmann::ordered_json to_json(const Machine& machine) {
  nlohmann::ordered_json json;
  encode(machine, json);
  return json;
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
