#include "run/kept_rounds.h"

#include "core/fields.h"
#include "core/metric.h"
#include "core/sha256.h"
#include "format/json_text.h"

#include <array>
#include <chrono>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

namespace lauka {

namespace {

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

template <typename Visitor>
void describe_fields(Visitor& visit, std::pair<std::string, std::string>& of) {
  visit("name", of.first);
  visit("value", of.second);
}

template <typename Visitor>
void describe_fields(Visitor& visit, LogHead& of) {
  visit("seed", of.seed);
  visit.as(
      "began",
      [&] {
        return std::chrono::duration_cast<std::chrono::milliseconds>(
                   of.measuring_began.time_since_epoch())
            .count();
      },
      [&](std::int64_t milliseconds) {
        of.measuring_began = UtcTime(std::chrono::milliseconds(milliseconds));
      });
  visit("settings", of.settings);
  visit("circumstances", of.circumstances);
}

template <typename T>
concept OptionalValue = requires(const T& value) {
  value.has_value();
};
template <typename T>
concept ListValue = requires(const T& value) {
  value.begin();
};

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
    } else if constexpr (OptionalValue<T>) {
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
  layout.add_fields(LogHead{});

  Sha256 hash;
  hash.add(layout.text());
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
void encode(const T& value, std::string& to);
template <typename T>
bool decode(const ParsedJson& json, T& value);

enum class Form : unsigned char { List, Object };

/// Appends fields to a text, as the items of a list or as the members of an object.
class LogEncoder : public ShowingVisitor<LogEncoder> {
 public:
  LogEncoder(Form form, std::string& to) : form_(form), to_(to) {
    to_ += form_ == Form::List ? '[' : '{';
  }
  void close() { to_ += form_ == Form::List ? ']' : '}'; }

  template <typename Value>
  void operator()(std::string_view key, const Value& value) {
    if (!is_first_) to_ += ',';
    is_first_ = false;
    if (form_ == Form::Object) {
      add_string(key, to_);
      to_ += ':';
    }
    encode(value, to_);
  }

 private:
  Form form_;
  std::string& to_;
  bool is_first_ = true;
};

/// Reads fields from a list, or from an object by their keys.
class LogDecoder {
 public:
  explicit LogDecoder(const ParsedJson& from) : from_(from) {}

  /// False if a field was missing, or of another type.
  bool found_all() const { return found_all_; }

  template <typename Value>
  void operator()(std::string_view key, Value& value) {
    const ParsedJson* there = is_object(from_) ? member(from_, key) : item_at(from_, place_++);
    if (there == nullptr || !decode(*there, value)) found_all_ = false;
  }

  template <typename Get, typename Set>
  void as(std::string_view key, const Get& get, const Set& set) {
    auto value = get();
    (*this)(key, value);
    set(value);
  }

 private:
  const ParsedJson& from_;
  std::size_t place_ = 0;
  bool found_all_ = true;
};

/// Appends a value as JSON for the log that --resume reads. Structs become lists of their fields,
/// without the fields' names, so that the log stays small. decode() is the inverse.
template <typename T>
void encode(const T& value, std::string& to) {
  if constexpr (std::is_same_v<T, bool>) {
    to += value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    to += fmt::to_string(static_cast<int>(value));
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    to += fmt::to_string(value.count());
  } else if constexpr (std::is_floating_point_v<T>) {
    to += json_real(value);
  } else if constexpr (std::is_integral_v<T>) {
    to += fmt::to_string(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    add_string(value, to);
  } else if constexpr (OptionalValue<T>) {
    if (value)
      encode(*value, to);
    else
      to += "null";
  } else {
    // The encoder writes the brackets and commas. The items of a list have no keys.
    LogEncoder encoder(Form::List, to);
    if constexpr (ListValue<T>) {
      constexpr std::string_view no_key;
      for (const auto& element : value) encoder(no_key, element);
    } else {
      show_fields(encoder, value);
    }
    encoder.close();
  }
}

/// Reads a value that encode() has written. Returns false if `json` is of another type.
template <typename T>
bool decode(const ParsedJson& json, T& value) {
  if constexpr (requires { decode_value(json, value); }) {
    return decode_value(json, value);
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    std::int64_t duration_ns = 0;
    if (!decode_value(json, duration_ns)) return false;
    value = std::chrono::nanoseconds(duration_ns);
    return true;
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    // decode_value() reads only 64 bits.
    std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t> wide_number = 0;
    if (!decode_value(json, wide_number)) return false;
    value = static_cast<T>(wide_number);
    return true;
  } else if constexpr (OptionalValue<T>) {
    // Only null stands for a missing value. A value of another type is no value that was measured.
    value.reset();
    return is_null(json) || decode(json, value.emplace());
  } else if constexpr (ListValue<T>) {
    bool are_all_read = true;
    const bool is_list = for_each_item(json, [&](const ParsedJson& item) {
      if (!decode(item, value.emplace_back())) are_all_read = false;
    });
    return is_list && are_all_read;
  } else {
    LogDecoder decoder(json);
    describe_fields(decoder, value);
    return decoder.found_all();
  }
}

}  // namespace

std::string to_line(std::size_t benchmark, const FinishedRounds& rounds) {
  std::string line;
  LogEncoder encoder(Form::Object, line);
  encoder("benchmark", benchmark);
  show_fields(encoder, rounds);
  encoder.close();
  return line;
}

std::optional<std::pair<std::size_t, FinishedRounds>> parse_rounds(std::string_view line) {
  std::pair<std::size_t, FinishedRounds> found;
  const auto read = [&](const ParsedJson& json) {
    LogDecoder decoder(json);
    decoder("benchmark", found.first);
    describe_fields(decoder, found.second);
    return decoder.found_all();
  };

  try {
    return read_json(line, read) ? std::optional(std::move(found)) : std::nullopt;
  } catch (const std::out_of_range&) {
    return std::nullopt;  // an outcome of an unknown kind
  }
}

std::string to_line(const LogHead& head) {
  std::string line;
  LogEncoder encoder(Form::List, line);
  encoder("format", format_tag());
  show_fields(encoder, head);
  encoder.close();
  return line;
}

bool may_be_cut_head(std::string_view line) {
  const std::string begin = write_head_begin();
  return line.starts_with(begin) || begin.starts_with(line);
}

std::optional<LogHead> parse_head(std::string_view line) {
  if (!line.starts_with(write_head_begin())) return std::nullopt;

  LogHead head;
  const auto read = [&](const ParsedJson& json) {
    std::string format;
    LogDecoder decoder(json);
    decoder("format", format);
    describe_fields(decoder, head);
    return decoder.found_all();
  };
  return read_json(line, read) ? std::optional(std::move(head)) : std::nullopt;
}

}  // namespace lauka
