#include "run/kept_rounds.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <tuple>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace lauka {

namespace {

using Json = nlohmann::json;

/// A run of a year is one too many for all that is computed of it.
constexpr std::uint64_t kLongestNs = std::uint64_t{366} * 24 * 3600 * 1'000'000'000;

/// The members of each structure in the order of its array, to be written and read.
struct Members {
  static auto of(Step& one) { return std::tie(one.command, one.round, one.pass, one.kind); }
  static auto of(Exited& one) { return std::tie(one.status); }
  static auto of(Signalled& one) { return std::tie(one.signal, one.core_dumped); }
  static auto of(TimedOut& one) { return std::tie(one.limit, one.began, one.survivor); }
  static auto of(Usage& one) {
    return std::apply([&](auto... fields) { return std::tie(one.*fields...); }, kUsageFields);
  }
  static auto of(RunRecord& one) {
    return std::tie(one.step, one.outcome, one.usage, one.counts, one.coverage, one.own,
                    one.below_overhead, one.reported, one.order);
  }
  static auto of(RedoneRun& one) { return std::tie(one.run, one.why); }
  static auto of(RunningMean& one) { return std::tie(one.count, one.mean); }
  static auto of(Pace& one) { return std::tie(one.whole, one.between, one.wall); }
  static auto of(Uncounted& one) {
    return std::tie(one.subject, one.why.what, one.why.remedy, one.runs);
  }
  static auto of(ShellOverhead& one) { return std::tie(one.wall_ns, one.user_ns, one.system_ns); }
};

template <typename T, typename Each>
void for_each_member(T& value, const Each& each) {
  std::apply([&](auto&... members) { (each(members), ...); }, Members::of(value));
}

/// A kept run has exited, was killed or timed out.
template <typename Each>
void for_each_member(Outcome& outcome, const Each& each) {
  const std::array<Outcome, 3> kinds = {Exited{}, Signalled{}, TimedOut{}};
  std::uint64_t kind = outcome.index();
  each(kind);
  if (outcome.index() != kind) outcome = kinds.at(kind);
  if (auto* exited = std::get_if<Exited>(&outcome)) for_each_member(*exited, each);
  if (auto* signalled = std::get_if<Signalled>(&outcome)) for_each_member(*signalled, each);
  if (auto* late = std::get_if<TimedOut>(&outcome)) for_each_member(*late, each);
}

template <typename Each>
void for_each_member(OwnMetric& metric, const Each& each) {
  bool is_more = metric.better == Better::More;
  each(metric.name);
  each(metric.unit.word);
  each(is_more);
  metric.unit = parse_own_unit(metric.unit.word);
  metric.better = is_more ? Better::More : Better::Less;
}

template <typename Each>
void for_each_named_member(KeptRounds& rounds, const Each& each) {
  each("first", rounds.first);
  each("steps", rounds.steps);
  each("time", rounds.time);
  each("runs", rounds.runs);
  each("redone", rounds.redone);
  each("paces", rounds.paces);
  each("notes", rounds.notes);
  each("uncounted", rounds.uncounted);
  each("told", rounds.discovered);
  each("overheads", rounds.overheads);
}

template <typename T>
Json to_json(T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    return value.count();
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (requires { value.has_value(); }) {
    return value ? to_json(*value) : Json(nullptr);
  } else {
    Json list = Json::array();
    if constexpr (requires { value.begin(); })
      for (auto& one : value) list.push_back(to_json(one));
    else
      for_each_member(value, [&](auto& member) { list.push_back(to_json(member)); });
    return list;
  }
}

/// The library converts any number to another type; numbers that do not fit are refused here.
template <typename T>
bool fits(const Json& json) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return json.is_number_unsigned() &&
           json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  }
  return true;
}

template <typename T>
void read(const Json& json, T& value) {
  if constexpr (std::is_enum_v<T>) {
    unsigned char number = 0;
    read(json, number);
    if (number > static_cast<unsigned char>(RoundKind::Untuned)) throw std::bad_exception();
    value = static_cast<T>(number);
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    std::uint64_t count = 0;
    read(json, count);
    if (count > kLongestNs) throw std::bad_exception();
    value = std::chrono::nanoseconds(static_cast<std::int64_t>(count));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    if (!fits<T>(json)) throw std::bad_exception();
    value = json.get<T>();
  } else if constexpr (requires { value.has_value(); }) {
    if (!json.is_null()) read(json, value.emplace());
  } else if constexpr (requires { value.begin(); }) {
    for (const Json& one : json) read(one, value.emplace_back());
  } else {
    std::size_t place = 0;
    for_each_member(value, [&](auto& member) { read(json.at(place++), member); });
  }
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

std::string to_line(std::size_t benchmark, KeptRounds rounds) {
  Json json = {{"benchmark", benchmark}};
  for_each_named_member(rounds,
                        [&](const char* name, auto& value) { json[name] = to_json(value); });
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::pair<std::size_t, KeptRounds>> parse_rounds(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    std::pair<std::size_t, KeptRounds> found;
    read(json.at("benchmark"), found.first);
    for_each_named_member(found.second,
                          [&](const char* name, auto& value) { read(json.at(name), value); });
    return found;
  } catch (const std::exception&) {  // not whole, or of somebody else
    return std::nullopt;
  }
}

std::string to_line(const KeptHead& head) {
  const std::string_view tag = KeptHead::kBegin.substr(2, KeptHead::kBegin.size() - 4);
  return Json::array({tag, head.seed, head.began.time_since_epoch().count(), head.made_of})
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<KeptHead> parse_head(std::string_view line) {
  constexpr TimeOfDay end = std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1);
  try {
    if (!line.starts_with(KeptHead::kBegin)) return std::nullopt;
    const Json json = Json::parse(line);
    KeptHead head{.made_of = json.at(3)};
    std::int64_t began = 0;
    read(json.at(1), head.seed);
    read(json.at(2), began);
    head.began = TimeOfDay(std::chrono::milliseconds(began));
    return head.began < end ? std::optional(std::move(head)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool KeptRoundsCheck::accept(const KeptRounds& next) {
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
