#include "run/kept_rounds.h"

#include "core/fields.h"
#include "core/metric.h"
#include "core/sha256.h"

#include <array>
#include <chrono>
#include <exception>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

namespace lauka {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kTagDigits = 12;

// The fields (core/fields.h) of each struct in the log. Most structs are stored as lists of values
// in this order, because there may be a million runs. A change makes older logs unreadable.

template <typename Visitor>
void describe_fields(Visitor& visit, Step& of) {
  visit("command", of.command);
  visit("round", of.round);
  visit("pass", of.pass);
  visit("kind", of.kind);
  visit("layout", of.layout);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Exited& of) {
  visit("status", of.status);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Signalled& of) {
  visit("signal", of.signal);
  visit("core_dumped", of.core_dumped);
}

template <typename Visitor>
void describe_fields(Visitor& visit, TimedOut& of) {
  visit("limit", of.limit);
  visit("began", of.has_started);
  visit("survivor", of.survivor);
}

/// Runs with outcomes other than these three are not kept.
template <typename Visitor>
void describe_fields(Visitor& visit, Outcome& of) {
  const std::array<Outcome, 3> kinds = {Exited{}, Signalled{}, TimedOut{}};
  std::uint64_t kind = of.index();
  visit("kind", kind);
  if (of.index() != kind) of = kinds.at(kind);
  if (auto* exited = std::get_if<Exited>(&of)) describe_fields(visit, *exited);
  if (auto* signalled = std::get_if<Signalled>(&of)) describe_fields(visit, *signalled);
  if (auto* late = std::get_if<TimedOut>(&of)) describe_fields(visit, *late);
}

/// Returns the key of a member of Usage: the names of the metrics that show it.
std::string join_metric_names(std::uint64_t Usage::*field) {
  Usage usage{};
  usage.*field = 1;
  std::string names;
  for (const BuiltInMetric& metric : kBuiltInMetrics)
    if (metric.read(usage) > 0.0) names.append(metric.name).append("/");
  return names;
}

template <typename Visitor>
void describe_fields(Visitor& visit, Usage& of) {
  static const std::vector<std::string> kKeys = [] {
    std::vector<std::string> keys;
    keys.reserve(kUsageFields.size());
    for (const auto field : kUsageFields) keys.push_back(join_metric_names(field));
    return keys;
  }();
  for (std::size_t i = 0; i < kUsageFields.size(); ++i) visit(kKeys[i], of.*kUsageFields.at(i));
}

template <typename Visitor>
void describe_fields(Visitor& visit, RunRecord& of) {
  visit("step", of.step);
  visit("outcome", of.outcome);
  visit("usage", of.usage);
  visit("counts", of.counts);
  visit("coverage", of.instruction_coverage);
  visit("own", of.own_process_counts);
  for_each_detail(of.details, visit);
  visit("reported", of.reported);
}

template <typename Visitor>
void describe_fields(Visitor& visit, RedoneRun& of) {
  visit("run", of.run);
  visit("reason", of.reason);
  visit("why", of.why);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Note& of) {
  visit("kind", of.kind);
  visit("text", of.text);
}

template <typename Visitor>
void describe_fields(Visitor& visit, RunningMean& of) {
  visit("count", of.count);
  visit("mean", of.mean);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Pace& of) {
  visit("run_seconds", of.run_seconds);
  visit("hook_seconds", of.hook_seconds);
  visit("wall_time_seconds", of.wall_time_seconds);
}

template <typename Visitor>
void describe_fields(Visitor& visit, FunctionCounts& of) {
  visit("name", of.name);
  visit("counts", of.counts);
  visit("other_names", of.other_names);
}

template <typename Visitor>
void describe_fields(Visitor& visit, PathCounts& of) {
  visit("caller", of.caller);
  visit("name", of.name);
  visit("count", of.count);
}

template <typename Visitor>
void describe_fields(Visitor& visit, FunctionsOfRun& of) {
  visit("step", of.step);
  visit("functions", of.functions);
  visit("paths", of.paths);
  visit("uncounted_events", of.uncounted_events);
}

template <typename Visitor>
void describe_fields(Visitor& visit, UncountedRuns& of) {
  visit("subject", of.subject);
  visit("what", of.why.what);
  visit("remedy", of.why.remedy);
  visit("runs", of.runs);
  visit("events", of.events);
}

template <typename Visitor>
void describe_fields(Visitor& visit, ShellOverhead& of) {
  visit("wall_ns", of.wall_ns);
  visit("user_ns", of.user_ns);
  visit("system_ns", of.system_ns);
}

template <typename Visitor>
void describe_fields(Visitor& visit, OwnMetric& of) {
  visit("name", of.name);
  visit.as(
      "unit", [&] { return of.unit.word; },
      [&](const std::string& word) { of.unit = parse_own_unit(word); });
  visit.as(
      "more_is_better", [&] { return of.better == Better::More; },
      [&](bool is_more) { of.better = is_more ? Better::More : Better::Less; });
}

/// The only struct that is stored as an object.
template <typename Visitor>
void describe_fields(Visitor& visit, FinishedRounds& of) {
  visit("first", of.first);
  visit("steps", of.step_count);
  visit("time", of.time);
  visit("runs", of.runs);
  visit("redone", of.redone);
  visit("functions", of.functions);
  visit("paces", of.paces);
  visit("notes", of.notes);
  visit("uncounted", of.uncounted);
  visit("told", of.discovered);
  visit("overheads", of.overheads);
}

/// Writes the keys and types of fields as text, by which a log of another form is known.
class LayoutWriter : public ShowingVisitor<LayoutWriter> {
 public:
  template <typename Value>
  void operator()(std::string_view key, const Value& /*value*/) {
    text_.append(key).append(" ");
    add_type<Value>();
  }

  template <typename Struct>
  void add_fields(Struct of) {
    text_ += "( ";
    describe_fields(*this, of);
    text_ += ") ";
  }

  const std::string& text() const { return text_; }

 private:
  template <typename T>
  void add_type() {
    if constexpr (std::is_enum_v<T> || std::is_arithmetic_v<T>) {
      text_ += std::is_floating_point_v<T> ? "real " : "whole ";
    } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
      text_ += "whole ";
    } else if constexpr (std::is_same_v<T, std::string>) {
      text_ += "text ";
    } else if constexpr (requires(T value) { value.has_value(); }) {
      text_ += "optional ";
      add_type<typename T::value_type>();
    } else if constexpr (requires(T value) { value.emplace_back(); }) {
      text_ += "list ";
      add_type<typename T::value_type>();
    } else {
      add_fields(T{});
    }
  }

  std::string text_{};
};

/// Returns a text that differs for logs of another form, so that such a log is not read.
std::string make_format_tag() {
  LayoutWriter layout;
  layout.add_fields(FinishedRounds{});
  for (const Outcome& outcome : {Outcome(Exited{}), Outcome(Signalled{}), Outcome(TimedOut{})})
    layout.add_fields(outcome);

  Sha256 hash;
  hash.add(layout.text());
  hash.add("head: settings circumstances");
  return "lauka-rounds-" + hash.hex_digest().substr(0, kTagDigits);
}

const std::string& format_tag() {
  static const std::string kTag = make_format_tag();
  return kTag;
}

std::string write_head_begin() {
  return "[\"" + format_tag() + "\",";
}

template <typename T>
Json encode(const T& value);
template <typename T>
void decode(const Json& json, T& value);

/// Writes fields into a list, or into an object by their keys.
class LogEncoder : public ShowingVisitor<LogEncoder> {
 public:
  explicit LogEncoder(Json& to) : to_(to) {}

  template <typename Value>
  void operator()(std::string_view key, const Value& value) {
    if (to_.is_array())
      to_.push_back(encode(value));
    else
      to_[std::string(key)] = encode(value);
  }

 private:
  Json& to_;
};

/// Reads fields from a list, or from an object by their keys. Throws if a field is missing, or is
/// of another type.
class LogDecoder {
 public:
  explicit LogDecoder(const Json& from) : from_(from) {}

  template <typename Value>
  void operator()(std::string_view key, Value& value) {
    decode(from_.is_array() ? from_.at(place_++) : from_.at(std::string(key)), value);
  }

  template <typename Get, typename Set>
  void as(std::string_view key, const Get& get, const Set& set) {
    auto value = get();
    (*this)(key, value);
    set(value);
  }

 private:
  const Json& from_;
  std::size_t place_ = 0;
};

/// Returns a value as JSON for the log that --resume reads. Structs become lists of their fields,
/// without the fields' names, so that the log stays small. decode() is the inverse.
template <typename T>
Json encode(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    return value.count();
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (requires { value.has_value(); }) {
    const bool has_value = value.has_value();
    return has_value ? encode(*value) : Json(nullptr);
  } else {
    Json list = Json::array();
    constexpr bool is_container = requires {
      value.begin();
    };
    if constexpr (is_container) {
      for (const auto& element : value) list.push_back(encode(element));
    } else {
      // A struct shows the encoder each of its fields, which the encoder adds to the list.
      LogEncoder encoder(list);
      show_fields(encoder, value);
    }
    return list;
  }
}

template <typename T>
void decode(const Json& json, T& value) {
  if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(json.get<int>());
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    value = std::chrono::nanoseconds(json.get<std::int64_t>());
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    json.get_to(value);
  } else if constexpr (requires { value.has_value(); }) {
    if (!json.is_null()) decode(json, value.emplace());
  } else if constexpr (requires { value.begin(); }) {
    for (const Json& item : json) decode(item, value.emplace_back());
  } else {
    LogDecoder decoder(json);
    describe_fields(decoder, value);
  }
}

}  // namespace

std::string to_line(std::size_t benchmark, const FinishedRounds& rounds) {
  Json json = {{"benchmark", benchmark}};
  LogEncoder encoder(json);
  show_fields(encoder, rounds);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::pair<std::size_t, FinishedRounds>> parse_rounds(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    std::pair<std::size_t, FinishedRounds> found;
    decode(json.at("benchmark"), found.first);
    decode(json, found.second);
    return found;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string to_line(const LogHead& head) {
  return Json::array({format_tag(), head.seed, head.measuring_began.time_since_epoch().count(),
                      head.settings, head.circumstances})
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool may_be_cut_head(std::string_view line) {
  const std::string begin = write_head_begin();
  return line.starts_with(begin) || begin.starts_with(line);
}

std::optional<LogHead> parse_head(std::string_view line) {
  try {
    if (!line.starts_with(write_head_begin())) return std::nullopt;
    const Json json = Json::parse(line);
    const std::chrono::milliseconds began(json.at(2).get<std::int64_t>());
    return LogHead{json.at(3), json.at(4), json.at(1), UtcTime(began)};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace lauka
