#include "cli/values.h"

#include "core/function_table.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/own_metric.h"
#include "core/pattern.h"
#include "core/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace lauka::cli {

namespace {

std::string write_one_of(const OptionValue& given) {
  const auto choices = split(given.option.value_placeholder, '|');
  return "write " + listed(std::vector<std::string>(choices.begin(), choices.end()), "or");
}

template <typename T>
Result<T> about_option(const OptionValue& given, Result<T> read) {
  if (!read) return make_value_error(given, read.error());
  return read;
}

Result<OwnMetric> read_own_metric(const OptionValue& given, const char* example) {
  const std::size_t sign = given.value.find('=');
  if (sign == std::string::npos || sign + 1 == given.value.size())
    return make_value_error(given,
                            {sign == std::string::npos ? "has no =" : "has nothing after the =",
                             std::string("write, for example, ") + example});
  auto metric = parse_own_metric(std::string_view(given.value).substr(0, sign));
  if (!metric) return make_value_error(given, metric.error());
  metric->formula = given.value.substr(sign + 1);
  return metric;
}

constexpr const char* kCoreKindsExample = "write, for example, P=0-3,E=4-7";
constexpr std::size_t kMaxKindName = 16;

/// Splits "P=0-3,8,E=4-7" into "P=0-3,8" and "E=4-7": a comma before NAME= begins a kind.
std::vector<std::string> split_kinds(std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, ',')) {
    const bool begins = part.find('=') != std::string_view::npos &&
                        (parts.empty() || parts.back().find('=') != std::string::npos);
    if (begins || parts.empty())
      parts.emplace_back(part);
    else
      parts.back().append(",").append(part);
  }
  return parts;
}

bool is_kind_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxKindName && is_letter(name.front()) &&
         std::ranges::all_of(
             name, [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; });
}

/// The error is a predicate.
Result<CoreKind> parse_kind(std::string_view part) {
  const std::size_t equals = part.find('=');
  const std::string name(part.substr(0, equals));
  if (equals == std::string_view::npos || !is_kind_name(name))
    return Error{fmt::format("has {} where the name of a kind of core belongs", cited(part)),
                 kCoreKindsExample};
  if (built_in_metric(time_metric_name(name)) != nullptr)
    return Error{fmt::format("would make a second metric {}", time_metric_name(name)),
                 "use another name"};
  const auto cpus = parse_cpu_list(part.substr(equals + 1));
  if (!cpus || cpus->empty())
    return Error{fmt::format("has no CPUs for {}", name), kCoreKindsExample};
  if (const auto twice = std::adjacent_find(cpus->begin(), cpus->end()); twice != cpus->end())
    return Error{fmt::format("names CPU {} twice", *twice), "name each CPU once"};
  return CoreKind{name, *cpus};
}

/// Returns why a kind cannot be added, as a predicate; empty if it can.
std::string describe_clash(const CoreKinds& others, const CoreKind& kind) {
  for (const CoreKind& other : others) {
    if (time_metric_name(other.name) == time_metric_name(kind.name))
      return fmt::format("names {} twice", kind.name);
    if (const auto both = common_cpus(other.cpus, kind.cpus); !both.empty())
      return fmt::format("has CPU {} in both {} and {}", cpu_list_text(both), other.name,
                         kind.name);
  }
  return "";
}

/// Removes blanks around the separator and quotes around a function's name:
/// instructions @ "operator new".
std::string normalize_metric_name(std::string_view metric) {
  const std::size_t at = metric.find(kFunctionSeparator);
  if (at == std::string_view::npos) return std::string(metric);
  std::string_view function = trimmed(metric.substr(at + 1));
  for (const char quote : {'"', '\''})
    if (function.size() > 2 && function.front() == quote && function.back() == quote)
      function = function.substr(1, function.size() - 2);
  return std::string(trimmed(metric.substr(0, at))).append(1, kFunctionSeparator).append(function);
}

/// Returns "rate" for "value(rate)"; nullopt for another text.
std::optional<std::string_view> find_metric_in_value(std::string_view text) {
  constexpr std::string_view start = "value(";
  if (!text.starts_with(start) || !text.ends_with(')')) return std::nullopt;
  const std::string_view metric =
      trimmed(text.substr(start.size(), text.size() - start.size() - 1));
  return metric.empty() ? std::nullopt : std::optional(metric);
}

/// Returns how to limit the value of the metric of `gate` itself, and not its change.
std::string advise_to_limit_value(const Condition& gate, std::string_view limit) {
  const BuiltInMetric* built_in = built_in_metric(gate.metric);
  const Unit unit = built_in == nullptr ? Unit::Count : built_in->unit;
  if (unit == Unit::Count)
    return fmt::format("to limit the value itself, write 'value({}) {} {}'", gate.metric,
                       gate.sign(), limit);
  return fmt::format("to limit the value itself, write a unit, as in '{} {} {}'", gate.metric,
                     gate.sign(), unit == Unit::Seconds ? "200ms" : "64MiB");
}

/// Reads `limit`, which does not limit the value itself, into `gate`. `given`: the whole condition.
/// `unit`: what follows the number, which find_limit_kind() knows.
Result<Condition> set_limit_from_reference(Condition gate, const OptionValue& given,
                                           const std::string& limit, const std::string& unit) {
  const LimitKindRow& kind = *find_limit_kind(unit);
  const std::string number(trimmed(std::string_view(limit).substr(0, limit.size() - unit.size())));

  // A number that is too large for a percentage is probably meant as a value.
  if (kind.kind == LimitKind::Change &&
      parse_decimal(number, {kind.high.value, false}, {1e18, true}))
    return make_value_error(given, {"has a limit of more than 1,000 % of the reference",
                                    advise_to_limit_value(gate, number)});

  const auto typed =
      about_option({given.option, limit}, parse_decimal(number, kind.low, kind.high));
  if (!typed) return typed.error();
  gate.limit = {.kind = kind.kind, .number = *typed};
  return gate;
}

struct LimitParts {
  std::string number{};
  std::string unit_name{};
};

/// Splits "200 ms" after its last digit. Both parts are empty if there is no digit.
LimitParts split_off_unit(std::string_view limit) {
  const std::size_t last_digit = limit.find_last_of("0123456789.");
  if (last_digit == std::string_view::npos) return {};
  return {.number = std::string(limit.substr(0, last_digit + 1)),
          .unit_name = std::string(trimmed(limit.substr(last_digit + 1)))};
}

constexpr const char* kConditionExample =
    "write, for example, 'cpu_time > 2' or 'wall_time > 200ms'";

/// The parts of "METRIC > LIMIT", as they were typed.
struct ConditionParts {
  std::string_view metric{};
  char sign = '>';
  std::string limit{};
};

/// Refuses a limit that is missing or has an equals sign before it.
Result<void> check_limit_follows_sign(const OptionValue& given, const ConditionParts& parts) {
  // The equals sign of => may also be the end of a function's name: instructions@operator=.
  const bool is_after_equals = parts.metric.ends_with('=') &&
                               parts.metric.find(kFunctionSeparator) == std::string_view::npos;
  if (parts.limit.starts_with('=') || is_after_equals)
    return make_value_error(
        given, {"has an equals sign, but a condition has only > or <", kConditionExample});
  if (parts.limit.empty())
    return make_value_error(given,
                            {fmt::format("has no number after {}", parts.sign), kConditionExample});
  return {};
}

Result<ConditionParts> split_condition(const OptionValue& given) {
  // The sign is the last < or >, because a function's name in METRIC may contain these characters.
  const std::string_view value = given.value;
  const std::size_t sign = value.find_last_of("<>");
  const std::string_view metric = trimmed(value.substr(0, sign));
  if (sign == std::string_view::npos || metric.empty())
    return make_value_error(given, {"is not of the form METRIC > LIMIT", kConditionExample});

  ConditionParts parts{
      .metric = metric, .sign = value[sign], .limit = std::string(trimmed(value.substr(sign + 1)))};
  if (auto fits = check_limit_follows_sign(given, parts); !fits) return fits.error();
  return parts;
}

/// Returns the unit of a limit; null if it has no unit or a percent sign, as a limit of change has.
Result<const DisplayUnit*> find_unit_of_limit(const OptionValue& given,
                                              const std::string& unit_name) {
  const DisplayUnit* unit = unit_name.empty() ? nullptr : find_display_unit(unit_name);
  if (unit == nullptr && find_limit_kind(unit_name) == nullptr)
    return make_value_error(given,
                            {fmt::format("has the unit {}, which is unknown", cited(unit_name)),
                             "write a percentage as 5, a time as 200ms, 5s or 2min, a size as "
                             "64MiB, or a count as 10K"});
  return unit;
}

/// Returns the unit of a number without one in value(METRIC), which is a count.
Result<const DisplayUnit*> find_unit_of_count(const OptionValue& given,
                                              const std::string& unit_name) {
  if (!unit_name.empty())
    return make_value_error(given, {"limits a value, but gives a percentage",
                                    "write the number alone, as in 'value(rate) > 5000'"});
  return find_display_unit(unit_symbol(Unit::Count));
}

/// Reads `limit`, which limits the value itself, into `gate`.
Result<Condition> set_limit_of_value(Condition gate, const OptionInfo& option,
                                     const std::string& limit, const DisplayUnit& unit) {
  const auto [number, unit_name] = split_off_unit(limit);
  const LimitKindRow& of_value = row_of(LimitKind::Value);
  const auto typed = parse_decimal(number, of_value.low, of_value.high);
  if (!typed) return make_value_error(OptionValue{option, limit}, typed.error());
  gate.limit = GateLimit::of_value(*typed * unit.in_base_units, number + unit_name, unit.unit);
  return gate;
}

/// What --tune names.
struct TuneParts {
  TuneValue value{};
  std::optional<std::string> cpu_list{};
};

/// Adds a part of the value of --tune to `all`. Returns false if the part is unknown.
bool add_tune_part(std::string_view part, TuneParts& all) {
  constexpr std::string_view cpus = "cpus=";
  if (part == "list") {
    all.value.is_list = true;
  } else if (part == "compare") {
    all.value.request.compares = true;
  } else if (part.starts_with(cpus)) {
    all.cpu_list = part.substr(cpus.size());
  } else if (!part.empty() && is_digit(part.front()) && all.cpu_list) {
    // The commas in the list of CPUs have split it, too: cpus=2-5,8.
    all.cpu_list->append(",").append(part);
  } else if (part.size() > 1 && (part.front() == '+' || part.front() == '-')) {
    all.value.request.choices.push_back(
        {.name = std::string(part.substr(1)), .on = part.front() == '+'});
  } else {
    return false;
  }
  return true;
}

/// Returns the CPUs of cpus=.
Result<std::vector<std::uint32_t>> read_tune_cpus(const OptionValue& given,
                                                  const std::string& cpu_list) {
  // The numbers are in ascending order, so a CPU that is named twice has two adjacent numbers.
  const auto cpu_numbers = parse_cpu_list(cpu_list);
  const bool names_any = cpu_numbers && !cpu_numbers->empty();
  if (!names_any || std::ranges::adjacent_find(*cpu_numbers) != cpu_numbers->end())
    return make_value_error(given,
                            {"has no list of CPUs after cpus=", "write, for example, cpus=2-5,8"});
  return *cpu_numbers;
}

}  // namespace

Error make_value_error(const OptionValue& given, const Error& predicate) {
  return predicate.about(fmt::format("{} {}", given.option.spelling(), cited(given.value)));
}

Result<std::uint64_t> read_whole_number(const OptionValue& given, std::uint64_t min,
                                        std::uint64_t max) {
  return about_option(given, parse_whole_number(given.value, min, max));
}

Result<std::chrono::nanoseconds> read_duration(const OptionValue& given) {
  return about_option(given, parse_duration(given.value));
}

Result<double> read_percentage(const OptionValue& given, Limit low, Limit high) {
  std::string_view number = given.value;
  if (number.ends_with('%')) number = trimmed(number.substr(0, number.size() - 1));
  return about_option(given, parse_decimal(number, low, high));
}

Result<double> read_percentage_as_fraction(const OptionValue& given, Limit low, Limit high) {
  const auto percent = read_percentage(given, low, high);
  if (!percent) return percent.error();
  return *percent / 100.0;
}

/// Reads a gate such as "cpu_time > 2", which fails if the condition is true. Its limit is a
/// percentage of change from the reference, or a value of the metric itself.
Result<Condition> read_condition(const OptionValue& given) {
  const auto parts = split_condition(given);
  if (!parts) return parts.error();

  // value(METRIC) limits the metric itself, and METRIC alone its change.
  const std::optional<std::string_view> metric_in_value = find_metric_in_value(parts->metric);
  Condition gate{.metric = normalize_metric_name(metric_in_value.value_or(parts->metric)),
                 .fails_below_limit = parts->sign == '<'};

  const std::string unit_name = split_off_unit(parts->limit).unit_name;
  auto unit = find_unit_of_limit(given, unit_name);
  if (unit && *unit == nullptr && metric_in_value) unit = find_unit_of_count(given, unit_name);
  if (!unit) return unit.error();
  return *unit == nullptr
             ? set_limit_from_reference(std::move(gate), given, parts->limit, unit_name)
             : set_limit_of_value(std::move(gate), given.option, parts->limit, **unit);
}

Condition for_keeping(Condition gate) {
  gate.purpose = ConditionPurpose::Keep;
  gate.fails_below_limit = !gate.fails_below_limit;
  return gate;
}

Result<Condition> read_keep_condition(const OptionValue& given) {
  auto typed = read_condition(given);
  if (!typed) return typed.error();
  return for_keeping(*std::move(typed));
}

Result<std::string> read_nonempty_text(const OptionValue& given) {
  if (given.value.empty())
    return make_value_error(given, {"is empty", "write " + given.option.usage()});
  return given.value;
}

Result<IgnoreFailure> read_ignored_failures(const OptionValue& given) {
  IgnoreFailure ignored;
  ignored.ignores_all = given.value.empty() || given.value == "all-non-zero";
  if (ignored.ignores_all) return ignored;
  for (const std::string_view part : split(given.value, ',')) {
    const auto status = parse_whole_number(part, 1, 255);
    if (!status)
      return make_value_error(given, {"is not a list of exit statuses",
                                      "write numbers from 1 to 255 with commas between them"});
    ignored.statuses.push_back(static_cast<int>(*status));
  }
  return ignored;
}

Result<std::vector<std::string>> read_event_or_metric_names(const OptionValue& given) {
  std::vector<std::string> names(1);
  bool between_slashes = false;
  for (const char c : given.value) {
    if (c == '/') between_slashes = !between_slashes;
    if (c == ',' && !between_slashes)
      names.emplace_back();
    else
      names.back().push_back(c);
  }
  for (std::string& name : names) name = std::string(trimmed(name));
  if (std::ranges::find(names, "") != names.end())
    return make_value_error(given,
                            {"has an empty name", "write names with single commas between them"});
  return names;
}

Result<std::optional<Shell>> read_shell(const OptionValue& given) {
  if (given.value == "none") return std::optional<Shell>();
  if (given.value == "default") return std::optional(Shell{{"sh"}});
  auto words = split_words(given.value);
  if (!words) return make_value_error(given, words.error());
  if (words->empty() || words->front().empty())
    return make_value_error(given, {"is empty", "write a shell, default or none"});
  return std::optional(Shell{*std::move(words)});
}

Result<std::string> read_input_path(const OptionValue& given) {
  return given.value == "null" ? Result<std::string>(std::string()) : read_nonempty_text(given);
}

Result<OutputChoice> read_output(const OptionValue& given) {
  for (const OutputWord& known : kOutputWords)
    if (given.value == known.word) return OutputChoice{known.kind};

  auto path = read_nonempty_text(given);
  return path ? Result<OutputChoice>(OutputChoice{OutputKind::File, *std::move(path)})
              : path.error();
}

Result<ExpectedOutput> read_expected_output(const OptionValue& given) {
  constexpr std::size_t digits = 64;
  if (auto given_text = read_nonempty_text(given); !given_text) return given_text.error();
  ExpectedOutput expected = *parse_expected_output(given.value);
  if (expected.kind != ExpectedOutput::Kind::Hash) return expected;
  expected.file_or_hash = lower_case(expected.file_or_hash);
  const bool is_hex =
      expected.file_or_hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (expected.file_or_hash.size() == digits && is_hex) return expected;
  return make_value_error(
      given,
      {"has no hash of 64 hexadecimal digits",
       "sha256sum FILE prints the hash; if you mean a file of this name, write ./ before it"});
}

Result<std::vector<std::string>> read_environment(const OptionValue& given) {
  auto variables = split_words(given.value);
  if (!variables) return make_value_error(given, variables.error());
  if (variables->empty())
    return make_value_error(given, {"sets nothing", "write " + given.option.usage()});
  for (const std::string& variable : *variables) {
    const std::size_t end = variable.find('=');
    if (end == std::string::npos || end == 0)
      return make_value_error(
          given, {fmt::format("has {}, which is not of the form NAME=VALUE", cited(variable)),
                  "write 'A=1 B=\"two words\"'"});
  }
  return variables;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> values(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escapes =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == '\\');
    if (text[i] == ',')
      values.emplace_back();
    else
      values.back().push_back(text[escapes ? ++i : i]);
  }
  return values;
}

Result<const DisplayUnit*> read_time_unit(const OptionValue& given) {
  constexpr auto of_hyperfine = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"microsecond", "us"}, {"millisecond", "ms"}, {"second", "s"}});
  std::string_view name = given.value;
  for (const auto& [theirs, ours] : of_hyperfine)
    if (name == theirs || name == std::string(theirs) + "s") name = ours;
  const DisplayUnit* unit = find_display_unit(name);
  if (unit == nullptr || unit->unit != Unit::Seconds)
    return make_value_error(given, {"is not a unit of time", write_one_of(given)});
  return unit;
}

Result<SortChoice> read_sort_order(const OptionValue& given) {
  if (given.value == "auto") return SortChoice::Command;
  if (given.value == "mean-time") return SortChoice::Time;
  return read_choice(given, std::array{SortChoice::Command, SortChoice::Time});
}

Result<std::size_t> read_choice(const OptionValue& given) {
  const auto choices = split(given.option.value_placeholder, '|');
  const auto found = std::ranges::find(choices, given.value);
  if (found == choices.end()) return make_value_error(given, {"is not known", write_one_of(given)});
  return static_cast<std::size_t>(found - choices.begin());
}

Result<OwnMetric> read_derived_metric(const OptionValue& given) {
  auto metric = read_own_metric(given, "'mpki=1000*cache-misses/instructions'");
  if (!metric) return metric;
  const auto expression = about_option(given, parse_expression(metric->formula));
  return expression ? metric : expression.error();
}

Result<OwnMetric> read_scraped_metric(const OptionValue& given) {
  auto metric = read_own_metric(given, "'rate:higher=([0-9.]+) requests/s'");
  if (!metric) return metric;
  auto pattern = about_option(given, Pattern::compile(std::exchange(metric->formula, {})));
  if (!pattern) return pattern.error();
  metric->pattern = *std::move(pattern);
  return metric;
}

Result<Pattern> read_regular_expression(const OptionValue& given) {
  if (auto given_text = read_nonempty_text(given); !given_text) return given_text.error();
  return about_option(given, Pattern::compile(given.value, Pattern::Groups::NotNeeded));
}

Result<CoreKinds> read_core_kinds(const OptionValue& given) {
  CoreKinds kinds;
  for (const std::string& part : split_kinds(given.value)) {
    auto kind = about_option(given, parse_kind(part));
    if (!kind) return kind.error();
    if (const std::string clash = describe_clash(kinds, *kind); !clash.empty())
      return make_value_error(given, {clash, "put each CPU into one kind"});
    kinds.push_back(*std::move(kind));
  }
  if (kinds.size() < 2)
    return make_value_error(given, {"names only one kind of core", kCoreKindsExample});
  return kinds;
}

/// Reads what --tune may change for the time of the session: switches of the machine that are
/// turned on (+) or off (-), and the CPUs on which the commands run.
Result<TuneValue> read_tune_value(const OptionValue& given) {
  if (given.value.empty()) return TuneValue();
  TuneParts typed;
  for (const std::string_view part : split(given.value, ','))
    if (!add_tune_part(part, typed))
      return make_value_error(
          given, {fmt::format("has {}, which is neither +NAME nor -NAME", cited(part)),
                  "write, for example, --tune=+smt,-turbo; --tune=list shows the names"});
  if (!typed.cpu_list) return typed.value;

  auto cpus = read_tune_cpus(given, *typed.cpu_list);
  if (!cpus) return cpus.error();
  typed.value.request.cpus = *std::move(cpus);
  return typed.value;
}

Result<std::vector<double>> read_percentiles(const OptionValue& given) {
  std::vector<double> all;
  for (const std::string& part : split_list(given.value)) {
    const std::string number = part.substr(part.starts_with('p') ? 1 : 0);
    const auto percent = parse_decimal(number, {0.0, false}, {100.0, false});
    if (!percent) return make_value_error(OptionValue{given.option, part}, percent.error());
    if (std::ranges::find(all, *percent) == all.end()) all.push_back(*percent);
  }
  return all;
}

Result<FunctionChoice> read_function_choice(const OptionValue& given) {
  constexpr std::uint64_t max_rows = 1'000'000;
  FunctionChoice rows;
  if (given.value.empty()) return rows;
  // A number that is not a count of rows was not meant as a regular expression.
  if (is_decimal(given.value)) {
    const auto number = read_whole_number(given, 1, max_rows);
    if (!number) return number.error();
    rows.most = *number;
  } else {
    if (auto pattern = read_regular_expression(given); !pattern) return pattern.error();
    rows.pattern = given.value;
  }
  return rows;
}

Result<std::size_t> read_line_count(const OptionValue& given) {
  constexpr std::uint64_t max_lines = 1'000'000;
  constexpr std::size_t default_lines = 40;
  if (given.value.empty()) return default_lines;
  const auto number = read_whole_number(given, 1, max_lines);
  if (!number) return number.error();
  return static_cast<std::size_t>(*number);
}

Result<std::chrono::nanoseconds> read_sampling_period(const OptionValue& given) {
  if (given.value.empty()) return std::chrono::nanoseconds(std::chrono::milliseconds(1));
  auto period = read_duration(given);
  if (period && (*period < std::chrono::microseconds(50) || *period > std::chrono::seconds(1)))
    return make_value_error(given, {"is not between 50us and 1s", "the default is 1ms"});
  return period;
}

Result<std::chrono::nanoseconds> read_interval(const OptionValue& given) {
  auto read = read_duration(given);
  if (read && (*read < std::chrono::milliseconds(1) || *read > std::chrono::hours(1)))
    return make_value_error(given, {"is not between 1ms and 1h", "write, for example, 10ms"});
  return read;
}

Result<Shard> read_shard(const OptionValue& given) {
  constexpr std::uint64_t max_parts = 100'000;
  const Error wrong{"is not I/N", "write, for example, --shard 2/5 for the second of five parts"};
  const std::size_t slash = given.value.find('/');
  if (slash == std::string::npos) return make_value_error(given, wrong);
  const auto part = parse_whole_number(given.value.substr(0, slash), 1, max_parts);
  const auto parts = parse_whole_number(given.value.substr(slash + 1), 1, max_parts);
  if (!part || !parts || *part > *parts) return make_value_error(given, wrong);
  return Shard{static_cast<std::uint32_t>(*part), static_cast<std::uint32_t>(*parts)};
}

}  // namespace lauka::cli
