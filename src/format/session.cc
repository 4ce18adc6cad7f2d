#include "core/numbers.h"
#include "core/text.h"
#include "format/sections.h"
#include "report/lines.h"
#include "session/baseline.h"
#include "session/settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace lauka {

namespace {

std::vector<std::size_t> read_events(const ParsedJson& names, const std::vector<Event>& events) {
  std::vector<std::size_t> places;
  for (const ParsedJson& name : names) {
    const auto place =
        find_place_if(events, [&](const Event& event) { return name == event.name; });
    if (place) places.push_back(*place);
  }
  return places;
}

stats::IntervalTails read_tails(const ParsedJson& there) {
  stats::IntervalTails tails;
  tails.tail_of_delta = number_in(there, "tail").value_or(tails.tail_of_delta);
  tails.tail_of_mean_change = number_in(there, "tail_of_mean").value_or(tails.tail_of_mean_change);
  return tails;
}

std::optional<double> number_at(const ParsedJson& list, std::size_t place) {
  if (place >= list.size() || !list[place].is_number()) return std::nullopt;
  return list[place].get<double>();
}

stats::Change read_change(const ParsedJson& fractions, std::size_t first) {
  stats::Change change{.change = number_at(fractions, first)};
  const auto low = number_at(fractions, first + 1);
  const auto high = number_at(fractions, first + 2);
  if (low && high) change.bounds = {*low, *high};
  return change;
}

stats::Delta read_delta(const ParsedJson& gate) {
  const ParsedJson& fractions = items_in(gate, "fractions");
  const ParsedJson& there = part_in(gate, "delta");
  return {read_change(fractions, 0), value_in(kBasisWords, text_in(there, "basis")),
          read_change(fractions, 3), flag_in(there, "mean_differs"),
          number_in(there, "widening").value_or(1.0)};
}

gate::Hindrance read_hindrance(const ParsedJson& gate) {
  gate::Hindrance hindrance{value_in(kObstacleWords, text_in(gate, "obstacle")),
                            value_in(kSideWords, text_in(gate, "obstacle_side"))};
  for (const ParsedJson& difference : items_in(gate, "differences")) {
    const auto* const row =
        std::ranges::find(kSettings, text_in(difference, "setting"), &SettingRow::key);
    if (row == kSettings.end()) continue;
    hindrance.differences.push_back(
        {row->kind, text_in(difference, "reference"), text_in(difference, "candidate")});
  }
  return hindrance;
}

std::optional<gate::Verdict> read_verdict(const ParsedJson& there, const Recording& session) {
  const auto metric = find_metric(session.metrics, text_in(there, "metric"));
  const std::size_t candidate = unsigned_in(there, "command").value_or(0);
  if (!metric || candidate >= session.commands.size()) return std::nullopt;

  gate::Verdict verdict;
  verdict.metric = *metric;
  verdict.candidate = candidate;

  Condition& condition = verdict.condition;
  condition.metric = session.metrics[*metric].name;
  condition.purpose = flag_in(there, "keeps") ? ConditionPurpose::Keep : ConditionPurpose::Fail;
  condition.fails_below_limit = flag_in(there, "below");
  condition.limit_percent = number_in(there, "percent").value_or(0.0);
  condition.limit_value = number_in(there, "bound");
  condition.limit_value_unit = session.metrics[*metric].unit;
  condition.limit_value_text = text_in(there, "bound_text");

  verdict.answer = gate::answer_of(value_in(kDecisionWords, text_in(there, "verdict")));
  verdict.delta = read_delta(there);
  const ParsedJson& bounds = items_in(there, "decision_bounds");
  verdict.bounds = {number_at(bounds, 0), number_at(bounds, 1)};

  verdict.rounds = unsigned_in(there, "rounds").value_or(0);
  verdict.estimated_rounds_without_gates = unsigned_in(there, "planned_rounds").value_or(0);
  verdict.p_value_of_fail = number_in(there, "p_fail").value_or(1.0);
  verdict.p_value_of_pass = number_in(there, "p_pass").value_or(1.0);
  verdict.spendable_error = number_in(there, "level").value_or(0.0);
  verdict.rounds_factor = number_in(there, "times_as_many");
  verdict.is_given_up = flag_in(there, "given_up");
  verdict.layouts_to_decide = unsigned_in(there, "layouts_to_decide");
  verdict.look = unsigned_in(there, "look").value_or(1);
  verdict.decided_by = value_in(kDecidedByWords, text_in(there, "decided_by"));
  verdict.hindrance = read_hindrance(there);
  return verdict;
}

/// Returns the numbers in `text`; nullopt if `text` does not match `like`. A 0 in `like`
/// matches any digit; other characters must be equal.
template <std::size_t Count>
std::optional<std::array<int, Count>> numbers_like(std::string_view like, std::string_view text) {
  if (text.size() != like.size()) return std::nullopt;
  std::array<int, Count> numbers{};
  std::size_t number = 0;
  for (std::size_t i = 0; i < like.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (like[i] == '0' ? !is_digit : text[i] != like[i]) return std::nullopt;
    if (is_digit)
      numbers.at(number) = 10 * numbers.at(number) + (text[i] - '0');
    else
      ++number;
  }
  return numbers;
}

/// Returns the percentage under `key` as a fraction; nullopt if it is missing. If possible, 100
/// times the fraction is exactly the percentage.
std::optional<double> fraction_in(const ParsedJson& object, std::string_view key) {
  const auto percent = number_in(object, key);
  if (!percent) return std::nullopt;
  const double near = *percent / 100.0;
  constexpr double far = std::numeric_limits<double>::infinity();
  for (const double value : {near, std::nextafter(near, -far), std::nextafter(near, far)})
    if (100.0 * value == *percent) return value;
  return near;
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json percent(std::optional<double> fraction) {
  return fraction ? Json(100.0 * *fraction) : Json(nullptr);
}

template <typename All, typename JsonOfOne>
Json list_of(const All& all, JsonOfOne json_of_one) {
  Json list = Json::array();
  for (const auto& item : all) list.push_back(json_of_one(item));
  return list;
}

/// Returns `delta` and the change of the mean as fractions, because percentages would lose digits.
Json fractions_json(const stats::Delta& delta) {
  Json fractions = Json::array();
  for (const stats::Change* change :
       {static_cast<const stats::Change*>(&delta), &delta.change_of_mean}) {
    fractions.push_back(json_number(change->change));
    fractions.push_back(change->bounds ? Json(change->bounds->low) : Json(nullptr));
    fractions.push_back(change->bounds ? Json(change->bounds->high) : Json(nullptr));
  }
  return fractions;
}

Json gate_json(const Results& results, const gate::Verdict& verdict) {
  Json gate;
  gate["verdict"] = word_in(kDecisionWords, verdict.decision());
  gate["metric"] = results.session.metrics[verdict.metric].name;

  const Condition& condition = verdict.condition;
  gate["condition"] = report::condition_text(condition);
  if (condition.is_for_keeping()) gate["keeps"] = true;
  gate["below"] = condition.fails_below_limit;
  gate["percent"] = condition.limit_value ? Json(nullptr) : Json(condition.limit_percent);
  gate["bound"] = json_number(condition.limit_value);
  gate["bound_text"] = json_text_or_null(condition.limit_value_text);

  gate["command"] = verdict.candidate;
  gate["name"] = results.session.commands[verdict.candidate].name;
  gate["rounds"] = verdict.rounds;
  gate["look"] = verdict.look;

  gate["delta"] = to_json(verdict.delta);
  gate["fractions"] = fractions_json(verdict.delta);
  gate["decision_bounds"] =
      Json::array({json_number(verdict.bounds.ranks), json_number(verdict.bounds.mean)});

  gate["p_fail"] = verdict.p_value_of_fail;
  gate["p_pass"] = verdict.p_value_of_pass;
  gate["level"] = verdict.spendable_error;
  gate["decided_by"] = json_text_or_null(word_in(kDecidedByWords, verdict.decided_by));

  gate["times_as_many"] = json_number(verdict.rounds_factor);
  if (verdict.is_given_up) gate["given_up"] = true;
  if (verdict.layouts_to_decide) gate["layouts_to_decide"] = *verdict.layouts_to_decide;
  gate["planned_rounds"] = verdict.estimated_rounds_without_gates;
  if (const stats::Delta* wall_time = risen_wall_time(results, verdict))
    gate["risen_wall_time"] = to_json(*wall_time);

  const gate::Hindrance& hindrance = verdict.hindrance;
  gate["obstacle"] = json_text_or_null(word_in(kObstacleWords, hindrance.obstacle));
  gate["obstacle_side"] = json_text_or_null(word_in(kSideWords, hindrance.side));
  if (!hindrance.differences.empty())
    gate["differences"] =
        list_of(hindrance.differences, [](const SettingDifference& difference) -> Json {
          return {{"setting", row_of(difference.kind).key},
                  {"reference", difference.reference_value},
                  {"candidate", difference.candidate_value}};
        });

  return gate;
}

Json intervals_json(const Results& results) {
  return list_of(results.findings.gated_metric_tails,
                 [&](const gate::GatedMetricTails& interval) -> Json {
                   return {{"metric", results.session.metrics[interval.metric].name},
                           {"tail", interval.tails.tail_of_delta},
                           {"tail_of_mean", interval.tails.tail_of_mean_change}};
                 });
}

Json comparisons_json(const Results& results) {
  return list_of(results.headline_comparisons, [&](const HeadlineComparison& ranking) -> Json {
    const stats::RelativeSpeed& speed = ranking.speed;
    return {{"command", ranking.command},
            {"metric", results.session.metrics[ranking.metric].name},
            {"ratio", speed.speed_factor},
            {"low", speed.bounds ? Json(speed.bounds->low) : Json(nullptr)},
            {"high", speed.bounds ? Json(speed.bounds->high) : Json(nullptr)},
            {"faster", speed.faster},
            {"significant", ranking.is_significant}};
  });
}

Json precision_json(const std::optional<Precision>& precision) {
  if (!precision) return nullptr;
  Json json = {{"metric", precision->metric},
               {"wanted_percent", percent(precision->wanted_half_width)},
               {"percent", percent(precision->half_width)},
               {"runs", precision->fewest_values_of_command},
               {"end", word_in(kPrecisionEndWords, precision->end)}};
  if (precision->layouts_to_reach) json["layouts_to_reach"] = *precision->layouts_to_reach;
  return json;
}

Json warnings_json(const Results& results) {
  return list_of(report::worded_warnings(results), [](const report::WarningText& warning) -> Json {
    return {{"kind", warning.kind},
            {"command", or_null(warning.command_index)},
            {"text", warning.text},
            {"advice", warning.advice}};
  });
}

Json labels_json(const Circumstances& circumstances) {
  Json labels = Json::object();
  for (const Label& label : circumstances.labels) labels[label.key] = label.value;
  return labels;
}

Json vitals_json(const Vitals& vitals) {
  Json json = Json::object();
  if (vitals.throttles) json["throttles"] = *vitals.throttles;
  if (vitals.celsius) json["celsius"] = *vitals.celsius;
  if (vitals.stolen_ticks) json["stolen_ticks"] = *vitals.stolen_ticks;
  if (vitals.clock_ticks_in_all) json["ticks"] = *vitals.clock_ticks_in_all;
  return json;
}

Json json_item(const QuotaWait& throttling) {
  return {{"periods", throttling.periods},
          {"throttled", throttling.waiting_periods},
          {"waited_ns", throttling.waited_ns}};
}

Json json_item(const Priority& priority) {
  return {{"nice", priority.nice},
          {"scheduling_policy", json_text_or_null(priority.scheduling_policy)}};
}

Json failed_run_json(const Results& results) {
  if (!results.session.session_ending_run) return nullptr;
  const RunRow& run = *results.session.session_ending_run;
  return {{"command", run.command},
          {"name", results.session.commands[run.command].name},
          {"kind", word_in(kKindWords, run.kind)},
          {"round", run.round + 1},
          {"pass", run.pass + 1},
          {"exit_code", or_null(run.status)},
          {"outcome", ending_word(run.ending)}};
}

Json json_item(const TunedChange& change) {
  return {{"change", or_null(change.change)},
          {"low", or_null(change.low)},
          {"high", or_null(change.high)}};
}

Json json_item(const TunedComparison& comparison) {
  Json json = {{"command", comparison.command},
               {"tuned_runs", comparison.tuned_runs},
               {"untuned_runs", comparison.untuned_runs},
               {"stddev", json_item(comparison.stddev_change)},
               {"interval_width", json_item(comparison.interval_width_change)},
               {"mean", json_item(comparison.mean_change)}};
  if (!comparison.benchmark.empty()) json["benchmark"] = comparison.benchmark;
  return json;
}

Json json_item(const TunedSwitch& tuned) {
  return {{"name", tuned.name},
          {"before", tuned.value_before},
          {"during", tuned.value_while_tuned},
          {"files", tuned.file_count}};
}

Json json_item(const UntunedSwitch& untuned) {
  return {{"name", untuned.name}, {"why", untuned.why}};
}

Json json_item(const Tuning& tuning) {
  const auto of_one = [](const auto& item) { return json_item(item); };
  Json json = {{"cpus", cpu_list_text(tuning.tuned_command_cpus)},
               {"switched", list_of(tuning.changed_switches, of_one)},
               {"not_possible", list_of(tuning.failed_switches, of_one)},
               {"before", vitals_json(tuning.vitals_before_runs)},
               {"after", vitals_json(tuning.vitals_after_runs)}};
  if (!tuning.compared.empty()) json["compare"] = list_of(tuning.compared, of_one);
  return json;
}

Json origins_json(const Results& results) {
  return list_of(results.session.origins, [](const OriginSession& origin) -> Json {
    const Circumstances& at = origin.circumstances;
    Json json{{"file", origin.file},
              {"commands", origin.command_count},
              {"order", word_in(kOrderWords, origin.order)},
              {"version", json_text_or_null(at.version)},
              {"session_id", at.session_id},
              {"start_time", rfc3339(at.began)},
              {"end_time", rfc3339(at.ended)},
              {"labels", labels_json(at)},
              {"machine", to_json(at.machine)}};
    if (origin.layouts > 1) json["layouts"] = origin.layouts;
    if (at.throttling) json["throttling"] = json_item(*at.throttling);
    if (at.priority) json["priority"] = json_item(*at.priority);
    for (const auto& [metric, values] : origin.metric_settings)
      json["metric_settings"][metric] = to_json(values);
    return json;
  });
}

Json json_item(const Metric& metric) {
  Json json{{"name", metric.name},
            {"unit", unit_symbol(metric.unit)},
            {"better", word_in(kBetterWords, metric.better)},
            {"note", metric.metric_suffix},
            {"levels", json_text_or_null(word_in(kLevelsWords, metric.counted_privilege_levels))},
            {"region", metric.of_region},
            {"role", json_text_or_null(word_in(kRoleWords, metric.role))},
            {"kind", word_in(kKindWords, metric.kind)},
            {"event", or_null(metric.event)},
            {"part", metric.is_part},
            {"percentile", or_null(metric.percentile_share())},
            {"percentile_of",
             metric.percentile ? Json(metric.percentile->summarized_metric) : Json(nullptr)},
            {"shown", metric.shown == Shown::Always},
            {"shown_in", metric.shown_in ? Json(metric.shown_in->name) : Json(nullptr)}};
  add_method(metric, json);
  return json;
}

/// Returns how each metric of a baseline was measured, where this is known.
Json methods_json(const std::vector<Metric>& metrics) {
  Json list = Json::array();
  for (const Metric& metric : metrics) {
    if (metric.percentile || settings_of_metric(metric) == SettingValues()) continue;
    Json json{{"name", metric.name},
              {"kind", word_in(kKindWords, metric.kind)},
              {"levels", json_text_or_null(word_in(kLevelsWords, metric.counted_privilege_levels))},
              {"region", metric.of_region}};
    add_method(metric, json);
    list.push_back(std::move(json));
  }
  return list;
}

void put_baseline(JsonWriter& json, const Results& results) {
  if (!results.session.reference.baseline) {
    json.put("baseline", nullptr);
    return;
  }

  const Baseline& baseline = *results.session.reference.baseline;
  const Recording& there = *baseline.session;

  Json names = Json::array();
  Json executables = Json::array();
  Json calls = Json::array();
  Json files = Json::array();
  Json settings = Json::array();
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const Command& reference = results.reference_of(c);
    names.push_back(reference.name);
    executables.push_back(reference.fingerprint.executable_hash);
    calls.push_back(reference.fingerprint.call_hash);
    files.push_back(reference.fingerprint.argument_files_hash);
    settings.push_back(to_json(reference.settings));
  }

  json.open("baseline", '{');
  json.put("file", baseline.file);
  json.put("tool", there.was_written_by_lauka ? "lauka" : "hyperfine");
  if (there.setting.layouts > 1) json.put("layouts", there.setting.layouts);
  json.put("version",
           there.was_written_by_lauka ? Json(there.circumstances.version) : Json(nullptr));
  json.put("machine",
           there.was_written_by_lauka ? to_json(there.circumstances.machine) : Json(nullptr));
  if (there.circumstances.priority) json.put("priority", json_item(*there.circumstances.priority));

  json.put("commands", names);
  json.put("settings", settings);
  json.put("metrics", methods_json(there.metrics));
  json.put("executable_sha256", executables);
  json.put("call_sha256", calls);
  json.put("argument_files_sha256", files);

  json.open("samples", '[');
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    json.open('{');
    for (std::size_t m = 0; m < results.session.metrics.size(); ++m) {
      const Metric& metric = results.session.metrics[m];
      const Series series = baseline_series(baseline, c, m);
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

  if (!there.function_tables.empty()) {
    json.open("functions", '[');
    for (const std::size_t command : baseline.reference_places) {
      json.open('{');
      put_functions(json, "functions", there.function_tables[command]);
      json.close();
    }
    json.close();
  }

  json.close();
}

Json json_item(const Event& event) {
  return {{"name", event.name},
          {"meaning", event.meaning},
          {"zero_is_doubtful", event.zero_is_doubtful}};
}

void put_metrics(JsonWriter& json, const Results& results) {
  const std::vector<Event>& events = results.session.setting.events.events;
  const std::vector<Pass>& passes = results.session.setting.events.passes;
  const auto names_of = [&](const Pass& pass) {
    return list_of(pass.event_indices, [&](std::size_t event) { return events[event].name; });
  };
  const auto of_one = [](const auto& item) { return json_item(item); };
  json.put("metrics", list_of(results.session.metrics, of_one));
  json.put("events", list_of(events, of_one));
  json.put("passes", list_of(passes, names_of));
  json.put("pass_kinds",
           list_of(passes, [](const Pass& pass) { return word_in(kKindWords, pass.kind); }));
}

}  // namespace

std::optional<Allowance> read_allowance(const ParsedJson& there) {
  const ParsedJson* allowance = object_in(there, "allowance");
  if (allowance == nullptr) return std::nullopt;
  auto cpus = parse_cpu_list(text_in(*allowance, "cpus"));
  if (!cpus) return std::nullopt;
  return Allowance{*std::move(cpus), number_in(*allowance, "cpu_quota"),
                   unsigned_in(*allowance, "memory_limit")};
}

Json to_json(const SettingValues& values) {
  Json json = Json::object();
  for (const SettingRow& row : kSettings)
    if (const auto& value = values[row.kind]) json[std::string(row.key)] = *value;
  return json;
}

SettingValues read_settings(const ParsedJson& there) {
  SettingValues values;
  for (const SettingRow& row : kSettings) values.set_if_known(row.kind, text_in(there, row.key));
  return values;
}

void add_method(const Metric& metric, Json& json) {
  const CountingMethod& method = metric.method;
  if (!method.engine.empty()) json["engine"] = method.engine;
  if (!method.sampled_clock.empty())
    json["sampled"] = {{"clock", method.sampled_clock},
                       {"period_ns", method.sampling_period.count()}};
}

void read_method(const ParsedJson& there, Metric& metric) {
  metric.counted_privilege_levels = value_in(kLevelsWords, text_in(there, "levels"));
  metric.kind = value_in(kKindWords, text_in(there, "kind"));
  metric.method.engine = text_in(there, "engine");
  const ParsedJson& sampled = part_in(there, "sampled");
  metric.method.sampled_clock = text_in(sampled, "clock");
  constexpr std::uint64_t longest = 1'000'000'000'000;
  metric.method.sampling_period =
      std::chrono::nanoseconds(std::min(unsigned_in(sampled, "period_ns").value_or(0), longest));
}

Machine read_machine(const ParsedJson& there) {
  return {text_in(there, "name"),
          text_in(there, "system"),
          text_in(there, "os"),
          text_in(there, "kernel"),
          text_in(there, "architecture"),
          text_in(there, "cpu_model"),
          static_cast<unsigned>(unsigned_in(there, "cpus").value_or(0)),
          text_in(there, "governor"),
          text_in(there, "hypervisor"),
          text_in(there, "tuning"),
          read_allowance(there),
          text_in(there, "cpu_identity"),
          text_in(there, "cpu_features")};
}

Vitals read_vitals(const ParsedJson& there) {
  return {unsigned_in(there, "throttles"), number_in(there, "celsius"),
          unsigned_in(there, "stolen_ticks"), unsigned_in(there, "ticks")};
}

TunedChange read_tuned_change(const ParsedJson& there) {
  return {number_in(there, "change"), number_in(there, "low"), number_in(there, "high")};
}

TunedComparison read_tuned_comparison(const ParsedJson& there) {
  return {text_in(there, "benchmark"),
          text_in(there, "command"),
          static_cast<std::size_t>(unsigned_in(there, "tuned_runs").value_or(0)),
          static_cast<std::size_t>(unsigned_in(there, "untuned_runs").value_or(0)),
          read_tuned_change(part_in(there, "stddev")),
          read_tuned_change(part_in(there, "interval_width")),
          read_tuned_change(part_in(there, "mean"))};
}

Tuning read_tuning(const ParsedJson& there) {
  Tuning tuning;
  for (const ParsedJson& item : items_in(there, "switched"))
    tuning.changed_switches.push_back(
        {text_in(item, "name"), text_in(item, "before"), text_in(item, "during"),
         static_cast<std::size_t>(unsigned_in(item, "files").value_or(0))});
  for (const ParsedJson& item : items_in(there, "not_possible"))
    tuning.failed_switches.push_back({text_in(item, "name"), text_in(item, "why")});
  if (auto cpus = parse_cpu_list(text_in(there, "cpus")))
    tuning.tuned_command_cpus = *std::move(cpus);
  tuning.vitals_before_runs = read_vitals(part_in(there, "before"));
  tuning.vitals_after_runs = read_vitals(part_in(there, "after"));
  for (const ParsedJson& item : items_in(there, "compare"))
    tuning.compared.push_back(read_tuned_comparison(item));
  return tuning;
}

UtcTime parse_utc_time(const std::string& text) {
  constexpr std::string_view like = "0000-00-00T00:00:00";
  constexpr int hours = 24;
  constexpr int sixty = 60;

  std::string_view rest = text;
  const auto parts = numbers_like<6>(like, rest.substr(0, like.size()));
  if (!parts || rest.size() <= like.size()) return {};

  const auto& [year, month, day, hour, minute, second] = *parts;
  const auto date = std::chrono::year(year) / month / day;
  if (!date.ok() || hour >= hours || minute >= sixty || second > sixty) return {};

  rest.remove_prefix(like.size());
  std::chrono::milliseconds fraction{0};
  if (rest.front() == '.') {
    const std::size_t end = rest.find_first_not_of("0123456789", 1);
    if (end == 1 || end == std::string_view::npos) return {};
    // A fraction of one or two digits is filled up to milliseconds.
    const std::string digits = std::string(rest.substr(1, end - 1)) + "00";
    fraction = std::chrono::milliseconds(std::stoi(digits.substr(0, 3)));
    rest.remove_prefix(end);
  }

  std::chrono::minutes ahead{0};
  if (rest != "Z") {
    const bool has_sign = rest.front() == '+' || rest.front() == '-';
    const auto offset = numbers_like<2>("00:00", rest.substr(1));
    if (!has_sign || !offset || offset->at(0) >= hours || offset->at(1) >= sixty) return {};
    ahead = std::chrono::minutes(sixty * offset->at(0) + offset->at(1));
    if (rest.front() == '-') ahead = -ahead;
  }

  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + fraction - ahead;
}

Circumstances read_circumstances(const ParsedJson& there) {
  Circumstances circumstances;
  circumstances.version = text_in(there, "version");
  circumstances.session_id = text_in(there, "session_id");
  circumstances.ended = parse_utc_time(text_in(there, "end_time"));
  circumstances.machine = read_machine(part_in(there, "machine"));
  if (const ParsedJson* labels = object_in(there, "labels"))
    for (const auto& [key, value] : labels->items())
      if (value.is_string()) circumstances.labels.push_back({key, value.get<std::string>()});
  if (const ParsedJson* tuning = object_in(there, "tuning"))
    circumstances.tuning = read_tuning(*tuning);
  if (const ParsedJson* quota = object_in(there, "throttling"))
    circumstances.throttling = QuotaWait{unsigned_in(*quota, "periods").value_or(0),
                                         unsigned_in(*quota, "throttled").value_or(0),
                                         unsigned_in(*quota, "waited_ns").value_or(0)};
  if (const ParsedJson* priority = object_in(there, "priority"))
    circumstances.priority = Priority{static_cast<int>(number_in(*priority, "nice").value_or(0.0)),
                                      text_in(*priority, "scheduling_policy")};
  return circumstances;
}

std::uint32_t read_layout_count(const ParsedJson& there, std::uint32_t if_missing) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      unsigned_in(there, "layouts").value_or(if_missing), 1, kMaxLayouts));
}

std::vector<OriginSession> read_origins(const ParsedJson& there, std::size_t commands) {
  std::vector<OriginSession> origins;
  std::size_t total = 0;
  for (const ParsedJson& item : items_in(there, "sessions")) {
    OriginSession origin{
        .file = text_in(item, "file"),
        .command_count = std::min<std::size_t>(unsigned_in(item, "commands").value_or(0), commands),
        .order = value_in(kOrderWords, text_in(item, "order"))};
    origin.circumstances = read_circumstances(item);
    origin.layouts = read_layout_count(item, read_layout_count(there, 1));
    origin.circumstances.began = parse_utc_time(text_in(item, "start_time"));
    if (const ParsedJson* metrics = object_in(item, "metric_settings"))
      for (const auto& [metric, values] : metrics->items())
        origin.metric_settings[metric] = read_settings(values);
    total += origin.command_count;
    origins.push_back(std::move(origin));
  }
  if (total != commands) origins.clear();
  return origins;
}

Setting read_setting(const ParsedJson& there) {
  Setting setting;
  setting.order = value_in(kOrderWords, text_in(there, "order"));
  setting.order_is_for_hooks = flag_in(there, "order_for_hooks");
  setting.seed = unsigned_in(there, "seed").value_or(0);
  setting.warmup_run_count = unsigned_in(there, "warmup_runs").value_or(0);
  setting.copies_in_run = static_cast<std::uint32_t>(unsigned_in(there, "jobs").value_or(1));
  setting.layouts = read_layout_count(there, 1);

  if (std::string until = text_in(there, "until"); !until.empty())
    setting.until_pattern = std::move(until);
  setting.recorded_min_share = number_in(there, "min_share");
  setting.measures_region = flag_in(there, "region");

  const ParsedJson& stop = part_in(there, "stop");
  setting.stop.exact_runs = unsigned_in(stop, "runs");
  setting.stop.min_runs = unsigned_in(stop, "min_runs").value_or(setting.stop.min_runs);
  setting.stop.max_runs = unsigned_in(stop, "max_runs");

  for (const ParsedJson& event : items_in(there, "events"))
    setting.events.events.push_back({.name = text_in(event, "name"),
                                     .meaning = text_in(event, "meaning"),
                                     .zero_is_doubtful = flag_in(event, "zero_is_doubtful")});

  const std::vector<std::string> kinds = texts_in(there, "pass_kinds");
  for (const ParsedJson& pass : items_in(there, "passes")) {
    const std::size_t number = setting.events.passes.size();
    const RoundKind kind =
        number < kinds.size() ? value_in(kKindWords, kinds[number]) : RoundKind::Timed;
    setting.events.passes.push_back({read_events(pass, setting.events.events), kind});
  }

  return setting;
}

gate::Findings read_findings(const ParsedJson& there, const Recording& session) {
  gate::Findings findings;
  for (const ParsedJson& gate : items_in(there, "gates"))
    if (auto verdict = read_verdict(gate, session))
      findings.verdicts.push_back(*std::move(verdict));
  for (const ParsedJson& item : items_in(there, "intervals"))
    if (const auto metric = find_metric(session.metrics, text_in(item, "metric")))
      findings.gated_metric_tails.push_back({*metric, read_tails(item)});
  if (const ParsedJson* precision = member(there, "precision")) {
    findings.precision =
        Precision{.wanted_half_width = fraction_in(*precision, "wanted_percent").value_or(0.0),
                  .half_width = fraction_in(*precision, "percent"),
                  .fewest_values_of_command = unsigned_in(*precision, "runs").value_or(0),
                  .end = value_in(kPrecisionEndWords, text_in(*precision, "end")),
                  .layouts_to_reach = unsigned_in(*precision, "layouts_to_reach")};
    if (const std::string metric = text_in(*precision, "metric"); !metric.empty())
      findings.precision->metric = metric;
  }
  return findings;
}

nlohmann::ordered_json to_json(const Machine& machine) {
  nlohmann::ordered_json json = {{"name", machine.host_name},
                                 {"system", machine.kernel_name},
                                 {"os", machine.os},
                                 {"kernel", machine.kernel_release},
                                 {"architecture", machine.architecture},
                                 {"cpu_model", machine.cpu_model},
                                 {"cpus", machine.cpu_count},
                                 {"governor", machine.governor},
                                 {"hypervisor", machine.hypervisor},
                                 {"class", class_of(machine)}};
  if (!machine.cpu_identity.empty()) json["cpu_identity"] = machine.cpu_identity;
  if (!machine.cpu_features.empty()) json["cpu_features"] = machine.cpu_features;
  if (!machine.tuning.empty()) json["tuning"] = machine.tuning;
  if (const auto& allowance = machine.allowance)
    json["allowance"] = {{"cpus", cpu_list_text(allowance->cpus)},
                         {"cpu_quota", json_number(allowance->cpu_quota)},
                         {"memory_limit", or_null(allowance->memory_limit)}};
  return json;
}

Json to_json(const stats::Delta& delta) {
  const auto bound = [](const stats::Change& change, double stats::IntervalEnds::*side) {
    return change.bounds ? Json(100.0 * (*change.bounds).*side) : Json(nullptr);
  };
  const auto low = &stats::IntervalEnds::low;
  const auto high = &stats::IntervalEnds::high;
  return {{"percent", percent(delta.change)},
          {"low_percent", bound(delta, low)},
          {"high_percent", bound(delta, high)},
          {"half_width_percent", percent(delta.half_width())},
          {"basis", word_in(kBasisWords, delta.basis)},
          {"significant", delta.is_significant()},
          {"mean_percent", percent(delta.change_of_mean.change)},
          {"mean_low_percent", bound(delta.change_of_mean, low)},
          {"mean_high_percent", bound(delta.change_of_mean, high)},
          {"mean_differs", delta.mean_and_typical_differ},
          {"widening", delta.widening}};
}

void put_session_members(JsonWriter& json, const Results& results, bool complete) {
  const Circumstances& at = results.session.circumstances;
  const auto& tick = results.session.timers.kernel_tick;
  json.put("format", kNewestFormat);
  json.put("version", at.version);
  json.put("session_id", at.session_id);
  json.put("end_time", rfc3339(at.ended));
  json.put("labels", labels_json(at));
  json.put("complete", complete);
  json.put("machine", to_json(at.machine));
  if (at.tuning) json.put("tuning", json_item(*at.tuning));
  if (at.throttling) json.put("throttling", json_item(*at.throttling));
  if (at.priority) json.put("priority", json_item(*at.priority));
  json.put("timers", {{"clock_step_ns", results.session.timers.clock_step.count()},
                      {"tick_ns", tick ? Json(tick->count()) : Json(nullptr)}});
}

void put_lauka_benchmark(JsonWriter& json, const Results& results) {
  const Setting& setting = results.session.setting;

  if (!results.session.origins.empty()) json.put("sessions", origins_json(results));
  json.put("order", word_in(kOrderWords, setting.order));
  json.put("order_for_hooks", setting.order_is_for_hooks);
  json.put("seed", setting.seed);
  json.put("shell", results.session.shell.empty() ? Json(nullptr)
                                                  : Json(shell_quoted(results.session.shell)));
  json.put("warmup_runs", setting.warmup_run_count);
  if (setting.until_pattern) json.put("until", *setting.until_pattern);
  if (setting.copies_in_run > 1) json.put("jobs", setting.copies_in_run);
  if (setting.layouts > 1) json.put("layouts", setting.layouts);
  if (setting.measures_region) json.put("region", true);

  json.put("stop", {{"runs", or_null(setting.stop.exact_runs)},
                    {"min_runs", setting.stop.min_runs},
                    {"max_runs", or_null(setting.stop.max_runs)}});
  json.put("min_share", json_number(setting.recorded_min_share));

  json.put("confidence", results.session.confidence);
  json.put("paired", results.are_all_deltas_paired);
  json.put("reference", results.session.reference.baseline
                            ? Json(nullptr)
                            : Json(results.session.reference.index_for(0)));

  put_baseline(json, results);
  put_metrics(json, results);
  json.put("comparisons", comparisons_json(results));
  json.put("gates", list_of(results.findings.verdicts,
                            [&](const auto& gate) { return gate_json(results, gate); }));
  json.put("intervals", intervals_json(results));
  json.put("precision", precision_json(results.findings.precision));

  json.put("failed_run", failed_run_json(results));
  json.put("warnings", warnings_json(results));
  json.put("notes",
           list_of(results.session.notes, [](const Note& note) { return Json(note.text); }));
  json.put("note_kinds", list_of(results.session.notes, [](const Note& note) {
             return json_text_or_null(word_in(kNoteWords, note.kind));
           }));
}

}  // namespace lauka
