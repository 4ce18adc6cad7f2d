#include "run/kept_rounds.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <tuple>
#include <type_traits>

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

/// The library converts any number to another type; numbers that do not fit are refused here.
template <typename T>
T value_of(const Json& json) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (!json.is_number_unsigned() ||
        json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
      throw std::bad_exception();
  }
  return json.get<T>();
}

/// A run of a year is one too many for all that is computed of it.
constexpr std::uint64_t kLongestNs = std::uint64_t{366} * 24 * 3600 * 1'000'000'000;

std::chrono::nanoseconds time_of(const Json& json) {
  const auto count = value_of<std::uint64_t>(json);
  if (count > kLongestNs) throw std::bad_exception();
  return std::chrono::nanoseconds(static_cast<std::int64_t>(count));
}

template <typename T>
std::optional<T> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(value_of<T>(json));
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
  const int kind = value_of<int>(json.at(3));
  if (kind > static_cast<int>(RoundKind::Untuned)) throw std::bad_exception();
  return {value_of<std::uint32_t>(json.at(0)), value_of<std::uint32_t>(json.at(1)),
          value_of<std::uint32_t>(json.at(2)), static_cast<RoundKind>(kind)};
}

/// Writes the outcome of a kept run, which is exited, killed or timed out.
Json json_of(const Outcome& outcome) {
  if (const auto* signalled = std::get_if<Signalled>(&outcome))
    return {1, signalled->signal, signalled->core_dumped};
  if (const auto* late = std::get_if<TimedOut>(&outcome))
    return {2, late->limit.count(), late->began, late->survivor};
  const auto* exited = std::get_if<Exited>(&outcome);
  return {0, exited != nullptr ? exited->status : 0};
}

Outcome outcome_of(const Json& json) {
  switch (value_of<int>(json.at(0))) {
    case 0:
      return Exited{value_of<int>(json.at(1))};
    case 1:
      return Signalled{value_of<int>(json.at(1)), json.at(2)};
    case 2:
      return TimedOut{time_of(json.at(1)), json.at(2), value_of<int>(json.at(3))};
    default:
      throw std::bad_exception();
  }
}

Json json_of(const RunRecord& run) {
  Json usage = Json::array();
  for (const auto member : kUsageFields) usage.push_back(run.usage.*member);
  return {json_of(run.step),     json_of(run.outcome),        usage,
          list_json(run.counts), optional_json(run.coverage), list_json(run.own),
          run.below_overhead,    list_json(run.reported),     run.order};
}

RunRecord run_of(const Json& json) {
  RunRecord run;
  run.step = step_of(json.at(0));
  run.outcome = outcome_of(json.at(1));
  std::size_t place = 0;
  for (const auto member : kUsageFields)
    run.usage.*member = value_of<std::uint64_t>(json.at(2).at(place++));
  run.counts = list_of<std::uint64_t>(json.at(3));
  run.coverage = optional_of<double>(json.at(4));
  run.own = list_of<std::uint64_t>(json.at(5));
  run.below_overhead = json.at(6);
  run.reported = list_of<double>(json.at(7));
  run.order = value_of<std::uint32_t>(json.at(8));
  return run;
}

Json json_of(const RunningMean& mean) {
  return {mean.count, mean.mean};
}
RunningMean mean_of(const Json& json) {
  return {value_of<std::uint64_t>(json.at(0)), json.at(1)};
}

KeptRounds rounds_of_json(const Json& json) {
  KeptRounds rounds;
  rounds.first = step_of(json.at("first"));
  rounds.steps = value_of<std::uint64_t>(json.at("steps"));
  rounds.time = time_of(json.at("time"));
  for (const Json& one : json.at("runs")) rounds.runs.push_back(run_of(one));
  for (const Json& one : json.at("redone")) rounds.redone.push_back({run_of(one.at(0)), one.at(1)});
  for (const Json& one : json.at("paces"))
    rounds.paces.push_back({mean_of(one.at(0)), mean_of(one.at(1)), mean_of(one.at(2))});
  rounds.notes = json.at("notes").get<std::vector<std::string>>();
  for (const Json& one : json.at("uncounted"))
    rounds.uncounted.push_back(
        {one.at(0), {one.at(1), one.at(2)}, value_of<std::uint32_t>(one.at(3))});
  for (const Json& one : json.at("told")) {
    OwnMetric metric{.name = one.at(0)};
    metric.unit = own_unit_of(one.at(1).get<std::string>());
    metric.better = one.at(2).get<bool>() ? Better::More : Better::Less;
    rounds.discovered.push_back(std::move(metric));
  }
  for (const Json& one : json.at("overheads"))
    rounds.overheads.push_back({value_of<std::uint64_t>(one.at(0)),
                                value_of<std::uint64_t>(one.at(1)),
                                value_of<std::uint64_t>(one.at(2))});
  return rounds;
}

using StepPlace = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

StepPlace place_of(const Step& step) {
  return {step.round, step.command, step.pass};
}

/// Returns the steps of `count` rounds from `first` on: in sequential order of its command alone.
std::vector<StepPlace> places_of_rounds(const Plan& plan, const Step& first, std::uint64_t count) {
  const bool is_one = plan.order == Order::Sequential;
  std::vector<StepPlace> places;
  for (std::uint64_t i = 0; i < count; ++i)
    for (const Step& step :
         steps_of_round(plan, first.kind, static_cast<std::uint32_t>(first.round + i)))
      if (!is_one || step.command == first.command) places.push_back(place_of(step));
  return places;
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
    return std::pair(value_of<std::size_t>(json.at("benchmark")), rounds_of_json(json));
  } catch (const std::exception&) {  // not whole, or of somebody else
    return std::nullopt;
  }
}

std::string line_of(const KeptHead& head) {
  const std::string_view tag = KeptHead::kBegin.substr(2, KeptHead::kBegin.size() - 4);
  return Json::array({tag, head.seed, head.began.time_since_epoch().count(), head.made_of})
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<KeptHead> head_of(std::string_view line) {
  constexpr TimeOfDay end = std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1);
  try {
    if (!line.starts_with(KeptHead::kBegin)) return std::nullopt;
    const Json json = Json::parse(line);
    KeptHead head{json.at(3), value_of<std::uint64_t>(json.at(1)),
                  TimeOfDay(std::chrono::milliseconds(value_of<std::int64_t>(json.at(2))))};
    return head.began < end ? std::optional(std::move(head)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool KeptRoundsCheck::take(const KeptRounds& next) {
  if (!has_possible_steps(next)) return false;
  const auto is_possible_run = [&](const RunRecord& run) { return is_possible(run, next); };
  return std::ranges::all_of(next.runs, is_possible_run) &&
         std::ranges::all_of(next.redone,
                             [&](const RedoneRun& one) { return is_possible_run(one.run); }) &&
         has_possible_state(next);
}

bool KeptRoundsCheck::has_possible_steps(const KeptRounds& next) {
  constexpr std::uint64_t most_at_once = 100'000;
  const Step& first = next.first;
  const bool is_one = plan_.order == Order::Sequential;
  const std::size_t commands = is_one ? 1 : plan_.commands.size();
  if (first.command >= plan_.commands.size() || next.steps == 0 || next.steps > most_at_once ||
      next.steps % commands != 0)
    return false;
  const std::uint64_t count = next.steps / commands;
  const auto [known, is_first] =
      next_round_.try_emplace({first.kind, is_one ? first.command : 0}, first.round);
  // The comparison of outputs may have been the first warm-up run.
  const std::uint32_t most_first = first.kind == RoundKind::Warmup ? 1 : 0;
  if ((is_first && first.round > most_first) || known->second != first.round) return false;
  known->second += count;
  std::vector<StepPlace> wanted = places_of_rounds(plan_, first, count);
  if (wanted.front() != place_of(first)) return false;
  std::vector<StepPlace> found;
  for (const RunRecord& run : next.runs) {
    if (run.step.kind != first.kind) return false;
    found.push_back(place_of(run.step));
  }
  std::ranges::sort(wanted);
  std::ranges::sort(found);
  if (!std::ranges::all_of(next.redone, [&](const RedoneRun& one) {
        return one.run.step.kind == first.kind &&
               std::ranges::binary_search(wanted, place_of(one.run.step));
      }))
    return false;
  if (first.is_thrown_away()) return found.empty();
  rounds_ += count;
  return found == wanted;
}

bool KeptRoundsCheck::is_possible(const RunRecord& run, const KeptRounds& next) const {
  const auto& passes = plan_.events.passes;
  const std::size_t events =
      run.step.pass < passes.size() ? passes[run.step.pass].events.size() : 0;
  const auto fits = [&](const auto& values) { return values.empty() || values.size() == events; };
  return fits(run.counts) && fits(run.own) &&
         run.reported.size() <= plan_.reported.size() + next.discovered.size() &&
         std::ranges::all_of(
             run.reported,
             [](const std::optional<double>& value) { return !value || is_measurable(*value); }) &&
         std::ranges::all_of(kUsageFields,
                             [&](const auto member) { return run.usage.*member <= kLongestNs; });
}

bool KeptRoundsCheck::has_possible_state(const KeptRounds& next) {
  constexpr double longest = 1e6;  // seconds of one run
  const auto is_mean = [](const RunningMean& mean) {
    return mean.mean >= 0.0 && mean.mean <= longest;
  };
  const bool has_paces =
      next.paces.size() == plan_.commands.size() &&
      std::ranges::all_of(next.paces, [&](const Pace& pace) {
        return is_mean(pace.whole) && is_mean(pace.between) && is_mean(pace.wall);
      });
  const bool has_overheads =
      next.overheads.empty() || (plan_.shell && next.overheads.size() == plan_.commands.size());
  const bool has_names = std::ranges::all_of(next.discovered, [&](const OwnMetric& one) {
    const auto is_same = [&](const OwnMetric& other) { return other.name == one.name; };
    return is_own_name(one.name) && !find_metric(plan_.metrics, one.name) &&
           std::ranges::count_if(next.discovered, is_same) == 1 &&
           std::ranges::none_of(plan_.reported, is_same);
  });
  constexpr std::size_t most_metrics = 1000;
  const bool only_grows =
      next.discovered.size() >= discovered_ && next.discovered.size() <= most_metrics;
  discovered_ = next.discovered.size();
  time_ += next.time;
  return has_paces && has_overheads && only_grows && has_names &&
         time_ <= std::chrono::nanoseconds(kLongestNs);
}

}  // namespace lauka
