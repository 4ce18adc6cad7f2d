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

/// Puts the culprit before a predicate: "--runs '0'" before "is out of range".
Error refused(const Given& given, const Error& predicate);

/// The value as a whole number, `min` to `max` included.
Result<std::uint64_t> whole_number(const Given& given, std::uint64_t min, std::uint64_t max);

/// The value as a time.
Result<std::chrono::nanoseconds> duration(const Given& given);

/// The value as a percentage; a % may follow the number.
Result<double> percentage(const Given& given, Limit low, Limit high);

/// The same as a fraction.
Result<double> fraction(const Given& given, Limit low, Limit high);

/// The numbers that are allowed.
struct Range {
  Limit low;
  Limit high;
};

/// The value as a gate, METRIC > LIMIT or METRIC < LIMIT: a percentage in `range`, with or without
/// %, or a number above 0 with a unit (200ms, 64MiB, 5M). Blanks around all are optional. The last
/// sign counts: an event's own name may hold one.
Result<Condition> condition(const Given& given, Range range);

/// The value as it is, if it is not empty.
Result<std::string> text(const Given& given);

/// The exit statuses (1 to 255) of a list with commas.
Result<std::vector<int>> exit_statuses(const Given& given);

/// The events of a list with commas; a comma between slashes belongs to the event
/// (cpu/event=0x3c,umask=0x1/).
Result<std::vector<std::string>> event_names(const Given& given);

/// The shell and its arguments; none where the value is "none". "default" is sh.
Result<std::optional<Shell>> shell(const Given& given);

/// Where input comes from: "null" or a file.
Result<InputChoice> input(const Given& given);

/// Where output goes: "null", "pipe", "inherit" or a file.
Result<OutputChoice> output(const Given& given);

/// The variables that the value sets (A=1 B="two words"), each as NAME=VALUE.
Result<std::vector<std::string>> environment(const Given& given);

/// The parts of a list with commas; a backslash makes a comma, or a backslash, part of a value.
std::vector<std::string> list_of(std::string_view text);

/// A unit of time: one of the choices in the option's row, or as hyperfine spells them.
Result<const DisplayUnit*> time_unit(const Given& given);

/// --sort: a choice in the option's row, or hyperfine's word for it.
Result<SortChoice> sort_order(const Given& given);

/// --tune's list: "+smt,-turbo,cpus=2-5,8". `is_list`: the word list is in it.
Result<TuneRequest> tune_request(const Given& given, bool& is_list);

/// Kinds of core, each with its CPUs: "P=0-3,8,E=4-7". Refused where a CPU or a name is there
/// twice, where there is one kind only, and where a kind's metric would have the name of another
/// metric.
Result<CoreKinds> core_kinds(const Given& given);

/// What output is compared with: "same", "sha256:" with a hash, or a file.
Result<ExpectedOutput> expected_output(const Given& given);

/// A regular expression that is looked for in lines.
Result<std::string> line_pattern(const Given& given);

/// A metric of one's own, NAME[:UNIT][:higher|lower]=FORMULA.
Result<OwnMetric> derived_metric(const Given& given);

/// The same with a regular expression.
Result<OwnMetric> scraped_metric(const Given& given);

/// The position of the value among the choices in the option's row ("auto|always|never").
Result<std::size_t> choice(const Given& given);

/// The value as one of `values`, which stand in the order of the choices in the option's row.
template <typename T, std::size_t N>
Result<T> choice(const Given& given, const std::array<T, N>& values) {
  const Result<std::size_t> position = choice(given);
  if (!position) return position.error();
  return values.at(*position);
}

/// Puts what was read where it belongs, or says why it could not be read.
template <typename T, typename U>
Result<void> keep(Result<T> read, U& target) {
  if (!read) return read.error();
  target = *std::move(read);
  return {};
}

/// Adds what was read, or says why it could not be read.
template <typename T>
Result<void> add(Result<T> read, std::vector<T>& target) {
  if (!read) return read.error();
  target.push_back(*std::move(read));
  return {};
}

}  // namespace lauka::cli
