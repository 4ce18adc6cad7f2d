#pragma once

#include "cli/option_table.h"
#include "core/choices.h"
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

/// Returns the error whose text is the option, its value and the predicate: "--runs '0' is out of
/// range".
Error refused(const Given& given, const Error& predicate);

/// Reads a whole number from `min` to `max` (both included).
Result<std::uint64_t> whole_number(const Given& given, std::uint64_t min, std::uint64_t max);

/// Reads a time.
Result<std::chrono::nanoseconds> duration(const Given& given);

/// Reads a percentage; a % may follow the number.
Result<double> percentage(const Given& given, Limit low, Limit high);

/// Reads a percentage, and returns it as a fraction.
Result<double> fraction(const Given& given, Limit low, Limit high);

/// Limits of a gate in percent. At -100 the candidate would take no time at all.
inline constexpr Limit kMinGateLimit{-100.0, false};
inline constexpr Limit kMaxGateLimit{1e6, true};

/// Reads a gate, METRIC > LIMIT or METRIC < LIMIT, with optional blanks. LIMIT is a percentage from
/// kMinGateLimit to kMaxGateLimit, with or without %, or a positive number with a unit (200ms,
/// 64MiB, 5M). The last < or > separates, because an event's name may contain one.
Result<Condition> condition(const Given& given);

/// Returns the value unchanged; refuses an empty one.
Result<std::string> text(const Given& given);

/// Reads exit statuses (1 to 255), separated by commas; an empty value, or "all-non-zero", means
/// every failure.
Result<IgnoreFailure> ignored_failures(const Given& given);

/// Reads names of events, separated by commas; a comma between slashes belongs to an event
/// (cpu/event=0x3c,umask=0x1/).
Result<std::vector<std::string>> event_names(const Given& given);

/// Reads a shell and its arguments; nullopt for "none". "default" is sh.
Result<std::optional<Shell>> shell(const Given& given);

/// Reads a source of input: a file, or "null", which becomes an empty text.
Result<std::string> input(const Given& given);

/// Reads a destination of output: "null", "pipe", "inherit" or a file.
Result<OutputChoice> output(const Given& given);

/// Reads variables (A=1 B="two words"); returns each as NAME=VALUE.
Result<std::vector<std::string>> environment(const Given& given);

/// Splits a list at commas; after a backslash, a comma or backslash is part of a value.
std::vector<std::string> split_list(std::string_view text);

/// Reads a unit of time: a choice in the option's row, or hyperfine's word for it.
Result<const DisplayUnit*> time_unit(const Given& given);

/// Reads --sort: a choice in the option's row, or hyperfine's word for it.
Result<SortChoice> sort_order(const Given& given);

/// Reads the list of --tune: "+smt,-turbo,cpus=2-5,8". Sets `is_list` if the list has the word
/// "list".
Result<TuneRequest> tune_request(const Given& given, bool& is_list);

/// Reads core kinds with their CPUs: "P=0-3,8,E=4-7". Refuses a duplicate CPU or name, a single
/// kind, and a kind whose metric would have the name of another metric.
Result<CoreKinds> core_kinds(const Given& given);

/// Reads the expected output: "same", "sha256:" with a hash, or a file.
Result<ExpectedOutput> expected_output(const Given& given);

/// Reads a regular expression that matches lines.
Result<Pattern> line_pattern(const Given& given);

/// Reads a metric that the user defines by a formula: NAME[:UNIT][:higher|lower]=FORMULA.
Result<OwnMetric> derived_metric(const Given& given);

/// Reads a metric that is found in output by a regular expression:
/// NAME[:UNIT][:higher|lower]=REGEX.
Result<OwnMetric> scraped_metric(const Given& given);

/// Reads percentiles separated by commas, "50,p99.9", and returns them without duplicates. Each
/// must be above 0 and below 100.
Result<std::vector<double>> percentiles(const Given& given);

/// Reads --functions: a number of rows, or a regular expression for names; the default number if
/// empty.
Result<FunctionRows> function_rows(const Given& given);

/// Reads a period of samples, from 50us to 1s; 1ms if empty.
Result<std::chrono::nanoseconds> sampling_period(const Given& given);

/// Reads an interval from 1ms to 1h.
Result<std::chrono::nanoseconds> interval(const Given& given);

/// Reads a part of a suite: "2/5".
Result<Shard> shard(const Given& given);

/// Returns the index of the value among the choices in the option's row ("auto|always|never").
Result<std::size_t> choice(const Given& given);

/// Returns the element of `values` at the index of the typed choice.
template <typename T, std::size_t N>
Result<T> choice(const Given& given, const std::array<T, N>& values) {
  const Result<std::size_t> position = choice(given);
  if (!position) return position.error();
  return values.at(*position);
}

/// Assigns the value that was read to `target`, or returns the error.
template <typename T, typename U>
Result<void> keep(Result<T> read, U& target) {
  if (!read) return read.error();
  target = *std::move(read);
  return {};
}

/// Appends the value that was read to `target`, or returns the error.
template <typename T>
Result<void> add(Result<T> read, std::vector<T>& target) {
  if (!read) return read.error();
  target.push_back(*std::move(read));
  return {};
}

}  // namespace lauka::cli
