#pragma once

#include "cli/option_table.h"
#include "core/choices.h"
#include "core/condition.h"
#include "core/numbers.h"
#include "core/result.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::cli {

/// Returns an error about the option and its value: "--runs '0'" followed by `predicate`.
Error make_value_error(const OptionValue& given, const Error& predicate);

/// Reads a whole number from `min` to `max`, both included.
Result<std::uint64_t> read_whole_number(const OptionValue& given, std::uint64_t min,
                                        std::uint64_t max);

/// Reads a positive time. A number without a unit is seconds.
Result<std::chrono::nanoseconds> read_duration(const OptionValue& given);

/// Reads a percentage, with or without a % after the number, and returns it in percent.
Result<double> read_percentage(const OptionValue& given, Limit low, Limit high);

/// Reads a percentage and returns it as a fraction. The limits are percentages.
Result<double> read_percentage_as_fraction(const OptionValue& given, Limit low, Limit high);

/// Reads a gate: METRIC > LIMIT or METRIC < LIMIT. LIMIT is a percentage or a number with a unit
/// (200ms, 64MiB). The last < or > is the sign, because METRIC may contain these characters.
Result<Condition> read_condition(const OptionValue& given);

/// Reads a condition for keeping, which is written as a gate is.
Result<Condition> read_keep_condition(const OptionValue& given);

/// Returns a condition for keeping that is typed like `gate`.
Condition for_keeping(Condition gate);

/// Returns the value unchanged; refuses an empty one.
Result<std::string> read_nonempty_text(const OptionValue& given);

/// Reads exit statuses separated by commas. An empty value means every failure.
Result<IgnoreFailure> read_ignored_failures(const OptionValue& given);

/// Reads names of events or metrics, separated by commas. A comma between slashes belongs to a name
/// (cpu/event=0x3c,umask=0x1/).
Result<std::vector<std::string>> read_event_or_metric_names(const OptionValue& given);

/// Reads a shell and its arguments; nullopt for "none". "default" is sh.
Result<std::optional<Shell>> read_shell(const OptionValue& given);

/// Reads the path of an input file. Returns an empty text for "null".
Result<std::string> read_input_path(const OptionValue& given);

/// Reads a destination of output: "null", "pipe", "inherit" or a file.
Result<OutputChoice> read_output(const OptionValue& given);

/// Reads variables (A=1 B="two words"). Returns a NAME=VALUE text for each.
Result<std::vector<std::string>> read_environment(const OptionValue& given);

/// Splits a list at commas. A backslash makes the following comma or backslash part of a value.
std::vector<std::string> split_list(std::string_view text);

/// Reads a unit of time ("ms"); also accepts hyperfine's words ("millisecond").
Result<const DisplayUnit*> read_time_unit(const OptionValue& given);

/// Reads the order of the table; also accepts hyperfine's words ("mean-time").
Result<SortChoice> read_sort_order(const OptionValue& given);

struct TuneValue {
  TuneRequest request{};
  bool is_list = false;  ///< true if the value contains the word "list"
};

/// Reads the value of --tune: "+smt,-turbo,cpus=2-5,8".
Result<TuneValue> read_tune_value(const OptionValue& given);

/// Reads core kinds with their CPUs: "P=0-3,8,E=4-7".
Result<CoreKinds> read_core_kinds(const OptionValue& given);

/// Reads the expected output: "same", "sha256:" with a hash, or a file.
Result<ExpectedOutput> read_expected_output(const OptionValue& given);

/// Reads a regular expression; refuses an empty one.
Result<Pattern> read_regular_expression(const OptionValue& given);

/// Reads the definition of a computed metric: NAME[:UNIT][:higher|lower]=FORMULA.
Result<OwnMetric> read_derived_metric(const OptionValue& given);

/// Reads the definition of a metric that a command prints: NAME[:UNIT][:higher|lower]=REGEX.
Result<OwnMetric> read_scraped_metric(const OptionValue& given);

/// Reads percentiles separated by commas: "50,p99.9". Each must be above 0 and below 100.
Result<std::vector<double>> read_percentiles(const OptionValue& given);

/// Reads a number of rows, or a regular expression for names of functions. An empty value means the
/// default number.
Result<FunctionChoice> read_function_choice(const OptionValue& given);

/// Reads a number of lines. An empty value means 40.
Result<std::size_t> read_line_count(const OptionValue& given);

/// Reads a sampling period from 50us to 1s. An empty value means 1ms.
Result<std::chrono::nanoseconds> read_sampling_period(const OptionValue& given);

/// Reads an interval from 1ms to 1h.
Result<std::chrono::nanoseconds> read_interval(const OptionValue& given);

/// Reads a part of a suite: "2/5".
Result<Shard> read_shard(const OptionValue& given);

/// Returns the index of the value among the option's choices ("auto|always|never").
Result<std::size_t> read_choice(const OptionValue& given);

/// Returns the element of `values` at the index of the typed choice.
template <typename T, std::size_t N>
Result<T> read_choice(const OptionValue& given, const std::array<T, N>& values) {
  const Result<std::size_t> position = read_choice(given);
  if (!position) return position.error();
  return values.at(*position);
}

/// Appends the value in `read` to `target`, or returns the error.
template <typename T>
Result<void> add(Result<T> read, std::vector<T>& target) {
  if (!read) return read.error();
  target.push_back(*std::move(read));
  return {};
}

}  // namespace lauka::cli
