#include "run/kept_rounds.h"

#include "core/sha256.h"

#include <array>
#include <exception>
#include <tuple>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace lauka {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kSealDigits = 16;

/// The members of each structure in the order of its array, to be written and read.
struct Members {
  static auto of(Step& one) {
    return std::tie(one.command, one.round, one.pass, one.kind, one.layout);
  }
  static auto of(Exited& one) { return std::tie(one.status); }
  static auto of(Signalled& one) { return std::tie(one.signal, one.core_dumped); }
  static auto of(TimedOut& one) { return std::tie(one.limit, one.began, one.survivor); }
  static auto of(Usage& one) {
    return std::apply([&](auto... fields) { return std::tie(one.*fields...); }, kUsageFields);
  }
  static auto of(RunRecord& one) {
    return std::tie(one.step, one.outcome, one.usage, one.counts, one.coverage, one.own,
                    one.below_overhead, one.reported, one.order, one.outlived);
  }
  static auto of(RedoneRun& one) { return std::tie(one.run, one.reason, one.why); }
  static auto of(Note& one) { return std::tie(one.kind, one.text); }
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
void for_each_named_member(FinishedRounds& rounds, const Each& each) {
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

template <typename T>
void read(const Json& json, T& value) {
  if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(json.get<int>());
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    value = std::chrono::nanoseconds(json.get<std::int64_t>());
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    json.get_to(value);
  } else if constexpr (requires { value.has_value(); }) {
    if (!json.is_null()) read(json, value.emplace());
  } else if constexpr (requires { value.begin(); }) {
    for (const Json& one : json) read(one, value.emplace_back());
  } else {
    std::size_t place = 0;
    for_each_member(value, [&](auto& member) { read(json.at(place++), member); });
  }
}

}  // namespace

std::string to_line(std::size_t benchmark, FinishedRounds rounds) {
  Json json = {{"benchmark", benchmark}};
  for_each_named_member(rounds,
                        [&](const char* name, auto& value) { json[name] = to_json(value); });
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::pair<std::size_t, FinishedRounds>> parse_rounds(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    std::pair<std::size_t, FinishedRounds> found;
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
  try {
    if (!line.starts_with(KeptHead::kBegin)) return std::nullopt;
    const Json json = Json::parse(line);
    const std::chrono::milliseconds began(json.at(2).get<std::int64_t>());
    return KeptHead{json.at(3), json.at(1), TimeOfDay(began)};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string Seals::seal(std::string line) {
  Sha256 hash;
  hash.add(latest_);
  hash.add(line);
  latest_ = hash.digest().substr(0, kSealDigits);
  return std::move(line) + " " + latest_;
}

std::optional<std::string_view> Seals::open(std::string_view sealed) {
  const std::string_view line = sealed.substr(0, sealed.rfind(' '));
  if (seal(std::string(line)) != sealed) return std::nullopt;
  return line;
}

}  // namespace lauka
