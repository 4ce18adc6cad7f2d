#include "run/kept_rounds.h"

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

namespace lauka {
namespace {

using Json = nlohmann::json;

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T>
Json list_json(const std::vector<std::optional<T>>& values) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(optional_json(value));
  return list;
}

template <typename T>
std::optional<T> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

template <typename T>
std::vector<std::optional<T>> list_of(const Json& json) {
  std::vector<std::optional<T>> values;
  for (const Json& one : json) values.push_back(optional_of<T>(one));
  return values;
}

Json json_of(const Step& step) {
  return {step.command, step.round, step.pass, static_cast<int>(step.kind)};
}

Step step_of(const Json& json) {
  const int kind = json.at(3).get<int>();
  if (kind < 0 || kind > static_cast<int>(RoundKind::Settling)) throw std::bad_exception();
  return {json.at(0), json.at(1), json.at(2), static_cast<RoundKind>(kind)};
}

/// Of a run that is kept, which has ended in one of these ways.
Json json_of(const Outcome& outcome) {
  if (const auto* signalled = std::get_if<Signalled>(&outcome))
    return {1, signalled->signal, signalled->core_dumped};
  if (const auto* late = std::get_if<TimedOut>(&outcome))
    return {2, late->limit.count(), late->began, late->survivor};
  const auto* exited = std::get_if<Exited>(&outcome);
  return {0, exited != nullptr ? exited->status : 0};
}

Outcome outcome_of(const Json& json) {
  switch (json.at(0).get<int>()) {
    case 1:
      return Signalled{json.at(1), json.at(2)};
    case 2:
      return TimedOut{std::chrono::nanoseconds(json.at(1).get<std::int64_t>()), json.at(2),
                      json.at(3)};
    default:
      return Exited{json.at(1)};
  }
}

constexpr std::uint64_t Usage::*kUsage[] = {&Usage::wall_ns,
                                            &Usage::user_ns,
                                            &Usage::system_ns,
                                            &Usage::peak_rss_bytes,
                                            &Usage::peak_rss_floor_bytes,
                                            &Usage::tree_peak_bytes,
                                            &Usage::minor_faults,
                                            &Usage::major_faults,
                                            &Usage::voluntary_switches,
                                            &Usage::involuntary_switches,
                                            &Usage::block_reads,
                                            &Usage::block_writes};

Json json_of(const RunRecord& run) {
  Json usage = Json::array();
  for (const auto member : kUsage) usage.push_back(run.usage.*member);
  return {json_of(run.step),     json_of(run.outcome),        usage,
          list_json(run.counts), optional_json(run.coverage), list_json(run.own),
          run.below_overhead,    list_json(run.told)};
}

RunRecord run_of(const Json& json) {
  RunRecord run;
  run.step = step_of(json.at(0));
  run.outcome = outcome_of(json.at(1));
  std::size_t place = 0;
  for (const auto member : kUsage) run.usage.*member = json.at(2).at(place++);
  run.counts = list_of<std::uint64_t>(json.at(3));
  run.coverage = optional_of<double>(json.at(4));
  run.own = list_of<std::uint64_t>(json.at(5));
  run.below_overhead = json.at(6);
  run.told = list_of<double>(json.at(7));
  return run;
}

Json json_of(const RunningMean& mean) {
  return {mean.count, mean.mean};
}
RunningMean mean_of(const Json& json) {
  return {json.at(0), json.at(1)};
}

KeptRounds rounds_of_json(const Json& json) {
  KeptRounds rounds;
  rounds.first = step_of(json.at("first"));
  rounds.steps = json.at("steps");
  rounds.time = std::chrono::nanoseconds(json.at("time").get<std::int64_t>());
  for (const Json& one : json.at("runs")) rounds.runs.push_back(run_of(one));
  for (const Json& one : json.at("redone")) rounds.redone.push_back({run_of(one.at(0)), one.at(1)});
  for (const Json& one : json.at("paces"))
    rounds.paces.push_back({mean_of(one.at(0)), mean_of(one.at(1)), mean_of(one.at(2))});
  rounds.notes = json.at("notes").get<std::vector<std::string>>();
  for (const Json& one : json.at("uncounted"))
    rounds.uncounted.push_back({one.at(0), {one.at(1), one.at(2)}, one.at(3)});
  for (const Json& one : json.at("told")) {
    OwnMetric metric{.name = one.at(0)};
    metric.unit = own_unit_of(one.at(1).get<std::string>());
    metric.better = one.at(2).get<bool>() ? Better::More : Better::Less;
    rounds.discovered.push_back(std::move(metric));
  }
  for (const Json& one : json.at("overheads"))
    rounds.overheads.push_back({one.at(0), one.at(1), one.at(2)});
  return rounds;
}

}  // namespace

std::string line_of(std::size_t benchmark, const KeptRounds& rounds) {
  Json json = {{"benchmark", benchmark},
               {"first", json_of(rounds.first)},
               {"steps", rounds.steps},
               {"time", rounds.time.count()},
               {"notes", rounds.notes}};
  for (const char* const key : {"runs", "redone", "paces", "uncounted", "told", "overheads"})
    json[key] = Json::array();
  for (const RunRecord& run : rounds.runs) json["runs"].push_back(json_of(run));
  for (const RedoneRun& one : rounds.redone)
    json["redone"].push_back(Json::array({json_of(one.run), one.why}));
  for (const Pace& pace : rounds.paces)
    json["paces"].push_back({json_of(pace.whole), json_of(pace.between), json_of(pace.wall)});
  for (const Uncounted& one : rounds.uncounted)
    json["uncounted"].push_back(Json::array({one.subject, one.why.what, one.why.remedy, one.runs}));
  for (const OwnMetric& one : rounds.discovered)
    json["told"].push_back(Json::array({one.name, one.unit.word, one.better == Better::More}));
  for (const ShellOverhead& one : rounds.overheads)
    json["overheads"].push_back({one.wall_ns, one.user_ns, one.system_ns});
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::pair<std::size_t, KeptRounds>> rounds_of(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    return std::pair(json.at("benchmark").get<std::size_t>(), rounds_of_json(json));
  } catch (const std::exception&) {  // not whole, or of somebody else
    return std::nullopt;
  }
}

}  // namespace lauka
