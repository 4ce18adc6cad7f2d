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

/// The words that an option takes. An optional value is part of the option's word, so that a
/// command after it stays a command: --fail-if-slower=5, -i3, -lcache. Several words follow the
/// option.
enum class Takes : unsigned char {
  Nothing,
  Value,
  OptionalNumber,
  OptionalText,
  TwoWords,
  ThreeWords
};

struct OptionInfo;

/// The options during parsing, and facts for decisions that need all of them. Its commands and
/// names lack the reference.
struct Draft {
  Options options{};
  std::optional<std::string> reference;
  std::optional<std::string> reference_name;
  std::optional<std::chrono::nanoseconds> interval;  ///< interval of --threads
  std::optional<double> slower_percent;              ///< limit of the last --fail-if-slower
  std::vector<std::string> steps;                    ///< values of -D, in the order typed
  std::vector<const OptionInfo*> given;              ///< options in the order typed
};

/// An option as it was typed.
struct Given {
  const OptionInfo& option;
  const std::string& value;              ///< empty if an optional one is missing
  std::span<const std::string> words{};  ///< words of an option that takes several
};

/// The part of the work that an option applies to.
enum class Scope : unsigned char {
  Benchmark,     ///< a benchmark: allowed in its part of a suite's file
  Session,       ///< all benchmarks of a session: in a suite's file allowed in [defaults]
  TypedSession,  ///< the same, but typed only: a user of sudo may not have read the file
  Call,          ///< the question, or the choice of benchmarks: typed only
};

/// The ways in which an option combines with others.
struct Traits {
  Scope scope = Scope::Benchmark;
  bool fits_saved = false;         ///< has an effect with --from, which runs nothing
  bool needs_suite = false;        ///< has an effect with --suite only
  bool needs_macos = false;        ///< does nothing on other systems
  std::string_view sets{};         ///< name of the option that it sets; empty: its own
  std::string_view contradicts{};  ///< name of an option; in a suite one place decides about both
  std::string_view brief{};        ///< help in -h; empty: the option is not in -h
};

/// The complete description of an option: the parser, help, manual page and completions are made
/// from it. A new option is a new row.
struct OptionInfo {
  std::string_view name;  ///< name without dashes; empty: the option has a letter only
  char letter;            ///< '\0': none
  Takes takes;
  std::string_view
      value;  ///< placeholder of the value: "N", or the choices ("auto|never"); empty: no value
  std::string_view help;  ///< one paragraph without line breaks
  Result<void> (*apply)(Draft& draft, const Given& given);
  Traits traits{};
  Group group = Group::Runs;  ///< set by option_table

  /// Returns "--runs", or "-S" if it has no name.
  std::string spelling() const;
  /// Returns the spelling with its value: "--runs N", "--list-events[=TEXT]", "-S".
  std::string usage() const;
};

/// True if one of them contradicts the other.
bool contradict(const OptionInfo& option, const OptionInfo& other);

/// Returns all options, in the order of help.
std::span<const OptionInfo> option_table();

/// Returns the title of a group in help.
std::string_view title_of(Group group);

/// Finds the option of that name (without dashes) or letter; null if missing.
const OptionInfo* find_option(std::string_view name);
const OptionInfo* find_option(char letter);

/// Finds the option of "--runs", "--runs=10" or "-r"; null if missing.
const OptionInfo* find_typed_option(std::string_view word);

/// Returns the key of an option: "runs", or "-S" if it has a letter only; and the option of a key.
std::string key_of(const OptionInfo& option);
const OptionInfo* option_of_key(std::string_view key);

/// Returns how many words after it an option takes that look like commands.
std::size_t words_taken_by(const OptionInfo& option);

/// Most counted or warm-up runs: fits a round's number, and is over a month of the smallest
/// program.
inline constexpr std::uint64_t kMaxRuns = 1'000'000'000;

/// A set of words that only a program knows, such as the events of this machine.
struct Listing {
  std::string name;    ///< name of the shell function, without the program's prefix: "events"
  std::string script;  ///< script for sh: prints a word per line; "$@" has the words typed so far
  bool takes_several = false;  ///< the value is a list with commas
};

/// One word of an option's value, for completion by a shell.
struct ValueWord {
  std::string name{};                  ///< name as help shows it: "N", "auto|always|never"
  std::vector<std::string> choices{};  ///< words that may be written as they are
  std::optional<Listing> listing{};    ///< nullopt: no program lists words
  bool is_file = false;                ///< FILE
  bool is_folder = false;              ///< DIR
  bool is_command = false;             ///< CMD, COMMAND, SHELL
};

/// Splits an option's value as shown into words: "VAR MIN MAX" are three, text in quotes is one,
/// lower-case words between | are choices. Empty if it takes nothing.
std::vector<ValueWord> value_words(std::string_view value);

/// Returns an option's spelling with its value: "--runs N", "--list-events[=TEXT]", "-S".
std::string write_usage(std::string_view spelling, std::string_view value, bool is_optional);

/// True if the value is missing or part of the option's word: --ignore-failure=3.
bool is_value_optional(const OptionInfo& option);

/// True if `rest`, which follows the letter of `option` in its word, is its value and not more
/// letters.
bool begins_value(const OptionInfo& option, std::string_view rest);

/// Decides what depends on several options: contradictions, names, the number of commands. Of a
/// suite, only the exports are settled: each benchmark is settled separately.
Result<Options> settle(Draft draft);

/// The command line as options: `argv` holds `argc` words, the program's own name first. Refuses
/// what is not understood, out of range or contradictory, naming the culprit. Of an option given
/// more than once the last counts, but for names and events, which add up. -h and -V end the
/// reading: what follows them is not looked at.
Result<Options> parse(int argc, const char* const* argv);

}  // namespace lauka::cli
