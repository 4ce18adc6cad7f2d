#include "run/kept_rounds.h"

#include "core/metric.h"
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
constexpr std::size_t kTagDigits = 12;

/// Returns the members' names and a tuple of references to the members.
template <typename... T>
auto named(std::string_view names, T&... members) {
  return std::pair(names, std::tie(members...));
}

/// Lists the members of each type in the order of the JSON arrays. A change makes older logs
/// unreadable.
struct Members {
  static auto of(Step& step) {
    return named("command round pass kind layout", step.command, step.round, step.pass, step.kind,
                 step.layout);
  }
  static auto of(Exited& exited) { return named("status", exited.status); }
  static auto of(Signalled& signalled) {
    return named("signal core_dumped", signalled.signal, signalled.core_dumped);
  }
  static auto of(TimedOut& out) {
    return named("limit began survivor", out.limit, out.has_started, out.survivor);
  }
  static auto of(Usage& usage) {
    static const std::string kNames = names_of_usage();
    return std::apply([&](auto... fields) { return named(kNames, usage.*fields...); },
                      kUsageFields);
  }
  static auto of(RunRecord& record) {
    return named("step outcome usage counts coverage own below_overhead reported order outlived",
                 record.step, record.outcome, record.usage, record.counts,
                 record.instruction_coverage, record.own_process_counts, record.below_overhead,
                 record.reported, record.number_in_suite, record.surviving_processes);
  }
  static auto of(RedoneRun& run) { return named("run reason why", run.run, run.reason, run.why); }
  static auto of(Note& note) { return named("kind text", note.kind, note.text); }
  static auto of(RunningMean& mean) { return named("count mean", mean.count, mean.mean); }
  static auto of(Pace& pace) {
    return named("whole between wall", pace.run_seconds, pace.hook_seconds, pace.wall_time_seconds);
  }
  static auto of(FunctionCounts& counts) {
    return named("name counts other_names", counts.name, counts.counts, counts.other_names);
  }
  static auto of(FunctionsOfRun& functions) {
    return named("step functions uncounted", functions.step, functions.functions,
                 functions.uncounted_events);
  }
  static auto of(UncountedRuns& uncounted) {
    return named("subject what remedy runs events", uncounted.subject, uncounted.why.what,
                 uncounted.why.remedy, uncounted.runs, uncounted.events);
  }
  static auto of(ShellOverhead& overhead) {
    return named("wall_ns user_ns system_ns", overhead.wall_ns, overhead.user_ns,
                 overhead.system_ns);
  }

 private:
  static std::string names_of_usage() {
    std::string names;
    for (const auto field : kUsageFields) {
      Usage usage{};
      usage.*field = 1;
      for (const BuiltInMetric& metric : kBuiltInMetrics)
        if (metric.read(usage) > 0.0) names.append(metric.name).append("/");
      names += ' ';
    }
    return names;
  }
};

template <typename T, typename Each>
void for_each_member(T& value, const Each& each) {
  std::apply([&](auto&... members) { (each(members), ...); }, Members::of(value).second);
}

/// Runs with outcomes other than these three are not kept.
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
  each("steps", rounds.step_count);
  each("time", rounds.time);
  each("runs", rounds.runs);
  each("redone", rounds.redone);
  each("functions", rounds.functions);
  each("paces", rounds.paces);
  each("notes", rounds.notes);
  each("uncounted", rounds.uncounted);
  each("told", rounds.discovered);
  each("overheads", rounds.overheads);
}

template <typename T>
void describe(std::string& layout) {
  if constexpr (std::is_enum_v<T> || std::is_arithmetic_v<T>) {
    layout += std::is_floating_point_v<T> ? "real " : "whole ";
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    layout += "whole ";
  } else if constexpr (std::is_same_v<T, std::string>) {
    layout += "text ";
  } else if constexpr (requires { typename T::value_type; }) {
    layout += requires(T value) {
      value.has_value();
    }
    ? "optional " : "list ";
    describe<typename T::value_type>(layout);
  } else {
    T value{};
    layout += "( ";
    if constexpr (requires { Members::of(value); })
      layout.append(Members::of(value).first).append(": ");
    for_each_member(value, [&]<typename Member>(Member&) { describe<Member>(layout); });
    layout += ") ";
  }
}

std::string make_tag() {
  std::string layout;
  FinishedRounds rounds;
  for_each_named_member(rounds, [&]<typename Member>(const char* name, Member&) {
    layout.append(name).append(" ");
    describe<Member>(layout);
  });
  std::array<Outcome, 3> outcomes = {Exited{}, Signalled{}, TimedOut{}};
  for (Outcome& outcome : outcomes)
    for_each_member(outcome, [&]<typename Member>(Member&) { describe<Member>(layout); });
  Sha256 hash;
  hash.add(layout);
  hash.add("head: settings circumstances");
  return "lauka-rounds-" + hash.hex_digest().substr(0, kTagDigits);
}

const std::string& tag() {
  static const std::string kTag = make_tag();
  return kTag;
}

std::string head_begin() {
  return "[\"" + tag() + "\",";
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
      for (auto& item : value) list.push_back(to_json(item));
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
    for (const Json& item : json) read(item, value.emplace_back());
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
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string to_line(const LogHead& head) {
  return Json::array({tag(), head.seed, head.measuring_began.time_since_epoch().count(),
                      head.settings, head.circumstances})
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool may_be_cut_head(std::string_view line) {
  const std::string begin = head_begin();
  return line.starts_with(begin) || begin.starts_with(line);
}

std::optional<LogHead> parse_head(std::string_view line) {
  try {
    if (!line.starts_with(head_begin())) return std::nullopt;
    const Json json = Json::parse(line);
    const std::chrono::milliseconds began(json.at(2).get<std::int64_t>());
    return LogHead{json.at(3), json.at(4), json.at(1), UtcTime(began)};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string Seals::seal(std::string line) {
  Sha256 hash;
  hash.add(latest_);
  hash.add(line);
  latest_ = hash.hex_digest().substr(0, kSealDigits);
  return std::move(line) + " " + latest_;
}

std::optional<std::string_view> Seals::open(std::string_view sealed) {
  const std::string_view line = sealed.substr(0, sealed.rfind(' '));
  if (seal(std::string(line)) != sealed) return std::nullopt;
  return line;
}

}  // namespace lauka
