#pragma once

#include "cli/options.h"
#include "core/result.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

/// The parts of the table, in the order in which help shows them.
enum class Group : unsigned char { Runs, Commands, Measured, Gate, Output };

/// What an option takes. An optional value is written in the same word as the option, so that a
/// command after it stays a command: --fail-if-slower=5, -i3, -lcache. What is made of several
/// words stands in as many words after the option.
enum class Takes : unsigned char {
  Nothing,
  Value,
  OptionalNumber,
  OptionalText,
  TwoWords,
  ThreeWords
};

struct OptionInfo;

/// The options while they are read: what can only be decided when all are there stands beside them.
struct Draft {
  Options options;
  std::vector<std::string> commands;
  std::vector<std::string> names;
  std::optional<std::string> reference;
  std::optional<std::string> reference_name;
  std::optional<std::uint64_t> min_runs;
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<std::chrono::nanoseconds> interval;  ///< of --threads
  std::optional<double> slower_percent;              ///< of --fail-if-slower; the last one counts
  std::vector<std::string> steps;                    ///< of -D, in the order typed
  std::vector<const OptionInfo*> typed;              ///< in that order
};

/// An option as it was typed.
struct Given {
  const OptionInfo& option;
  const std::string& value;              ///< empty where an optional one is not there
  std::span<const std::string> words{};  ///< of an option that takes several
};

/// What an option is about.
enum class Scope : unsigned char {
  Benchmark,     ///< a benchmark: it may stand in its part of a suite's file
  Session,       ///< all benchmarks of a session: in a suite's file it stands in [defaults]
  TypedSession,  ///< the same, but typed only: whoever types sudo may not have read the file
  Call,          ///< what is asked, or which benchmarks are measured: typed only
};

/// How an option goes together with others.
struct Traits {
  Scope scope = Scope::Benchmark;
  bool fits_saved = false;         ///< means something with --from, which runs nothing
  bool needs_suite = false;        ///< means something with --suite only
  std::string_view sets{};         ///< name of the option whose value it is; empty: its own
  std::string_view contradicts{};  ///< name of an option; of both, one place decides in a suite
  std::string_view brief{};        ///< what -h says of it; empty: it is not there
};

/// Everything there is to know about an option: parsing, help, and whatever else describes the
/// command line are made of this. A new option is a new row.
struct OptionInfo {
  std::string_view name;  ///< without dashes; empty: it has a letter only
  char letter;            ///< '\0': none
  Takes takes;
  std::string_view value;  ///< as shown: "N", or the choices ("auto|never"); empty: takes nothing
  std::string_view help;   ///< one paragraph without line breaks
  Result<void> (*apply)(Draft& draft, const Given& given);
  Traits traits{};
  Group group = Group::Runs;  ///< set by option_table

  /// "--runs", or "-S" where there is no name.
  std::string spelling() const;
  /// The spelling with what it takes: "--runs N", "--list-events[=TEXT]", "-S".
  std::string usage() const;
};

/// True if one of them contradicts the other.
bool contradict(const OptionInfo& one, const OptionInfo& other);

/// All options, in the order in which help shows them.
std::span<const OptionInfo> option_table();

/// The title of a group, as help shows it.
std::string_view title_of(Group group);

/// The option of that name (without dashes) or letter; null where there is none.
const OptionInfo* find_option(std::string_view name);
const OptionInfo* find_option(char letter);

/// The name by which an option is kept: "runs", or "-S" where there is a letter only; and the
/// option of such a name.
std::string key_of(const OptionInfo& option);
const OptionInfo* option_of_key(std::string_view key);

/// How many words of its own an option takes that nobody could tell from commands.
std::size_t words_taken_by(const OptionInfo& option);

/// Counted or warm-up runs that can be asked for: what a round's number has room for, and more than
/// a month of the smallest program.
inline constexpr std::uint64_t kMaxRuns = 1'000'000'000;

/// What may stand in place of one word of an option's value, as a shell can complete it.
struct ValueWord {
  std::string name{};                  ///< as help shows it: "N", "auto|always|never"
  std::vector<std::string> choices{};  ///< words that may be written as they are
  bool is_file = false;                ///< FILE
  bool is_command = false;             ///< CMD, COMMAND, SHELL
};

/// The words of an option's value, read from its text as shown: "VAR MIN MAX" are three, what is
/// written in quotes is one, words in small letters between | are choices. None: it takes nothing.
std::vector<ValueWord> value_words(std::string_view value);

/// "--runs N", "--list-events[=TEXT]", "-S": an option's spelling with its value as shown.
std::string usage_of(std::string_view spelling, std::string_view value, bool is_optional);

/// Whether the value is left out or stands in the option's own word: --ignore-failure=3.
bool is_value_optional(const OptionInfo& option);

/// True if `rest`, which follows the letter of `option` in its word, is its value and not more
/// letters.
bool begins_value(const OptionInfo& option, std::string_view rest);

/// What can only be decided when all options are read: which contradict each other, and what the
/// number of commands has to be.
Result<Options> settle(Draft draft);

/// The same of what concerns all benchmarks of a suite, each of which is settled for itself.
Result<Options> settle_beside_suite(Draft draft);

/// Whether nothing was typed beside a suite that its file has, nor without one what it alone has.
Result<void> fits_suite(const Draft& draft);

}  // namespace lauka::cli
