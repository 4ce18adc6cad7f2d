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

/// Puts the subject before a predicate: "--runs '0'" before "is out of range".
Error refused(const Given& given, const Error& predicate);

/// Reads a whole number from `min` to `max`, both included.
Result<std::uint64_t> whole_number(const Given& given, std::uint64_t min, std::uint64_t max);

/// Reads a time.
Result<std::chrono::nanoseconds> duration(const Given& given);

/// Reads a percentage; a % may follow the number.
Result<double> percentage(const Given& given, Limit low, Limit high);

/// Reads a percentage as a fraction.
Result<double> fraction(const Given& given, Limit low, Limit high);

/// Limits of a gate in percent: at -100 the candidate would take no time at all.
inline constexpr Limit kLowestLimit{-100.0, false};
inline constexpr Limit kHighestLimit{1e6, true};

/// Reads a gate, METRIC > LIMIT or METRIC < LIMIT: a percentage between these limits, with or
/// without %, or a number above 0 with a unit (200ms, 64MiB, 5M), with optional blanks. The last
/// sign counts: an event's name may contain one.
Result<Condition> condition(const Given& given);

/// Returns the value as it is; refuses an empty one.
Result<std::string> text(const Given& given);

/// Reads a list of exit statuses (1 to 255) with commas; an empty text means any status but 0.
Result<IgnoreFailure> ignored_failures(const Given& given);

/// Reads a list of events with commas; a comma between slashes belongs to the event
/// (cpu/event=0x3c,umask=0x1/).
Result<std::vector<std::string>> event_names(const Given& given);

/// Reads a shell and its arguments; nullopt if the value is "none". "default" is sh.
Result<std::optional<Shell>> shell(const Given& given);

/// Reads where input comes from: "null" or a file.
Result<std::string> input(const Given& given);

/// Reads where output goes: "null", "pipe", "inherit" or a file.
Result<OutputChoice> output(const Given& given);

/// Reads variables (A=1 B="two words"), each as NAME=VALUE.
Result<std::vector<std::string>> environment(const Given& given);

/// Splits a list at commas; a backslash makes a comma, or a backslash, part of a value.
std::vector<std::string> split_list(std::string_view text);

/// Reads a unit of time: one of the choices in the option's row, or as hyperfine spells them.
Result<const DisplayUnit*> time_unit(const Given& given);

/// Reads --sort: a choice in the option's row, or hyperfine's word for it.
Result<SortChoice> sort_order(const Given& given);

/// Reads --tune's list: "+smt,-turbo,cpus=2-5,8". `is_list` is set if it has the word "list".
Result<TuneRequest> tune_request(const Given& given, bool& is_list);

/// Reads kinds of core, each with its CPUs: "P=0-3,8,E=4-7". Refuses a repeated CPU or name, a
/// single kind, and a kind whose metric would have the name of another metric.
Result<CoreKinds> core_kinds(const Given& given);

/// Reads what output is compared with: "same", "sha256:" with a hash, or a file.
Result<ExpectedOutput> expected_output(const Given& given);

/// Reads a regular expression for lines.
Result<Pattern> line_pattern(const Given& given);

/// Reads a metric of the user's own, NAME[:UNIT][:higher|lower]=FORMULA.
Result<OwnMetric> derived_metric(const Given& given);

/// Reads one with a regular expression.
Result<OwnMetric> scraped_metric(const Given& given);

/// Returns the position of the value among the choices in the option's row ("auto|always|never").
Result<std::size_t> choice(const Given& given);

/// Returns the one of `values` in that position.
template <typename T, std::size_t N>
Result<T> choice(const Given& given, const std::array<T, N>& values) {
  const Result<std::size_t> position = choice(given);
  if (!position) return position.error();
  return values.at(*position);
}

/// Assigns the value read, or returns its error.
template <typename T, typename U>
Result<void> keep(Result<T> read, U& target) {
  if (!read) return read.error();
  target = *std::move(read);
  return {};
}

/// Appends the value read, or returns its error.
template <typename T>
Result<void> add(Result<T> read, std::vector<T>& target) {
  if (!read) return read.error();
  target.push_back(*std::move(read));
  return {};
}

}  // namespace lauka::cli
