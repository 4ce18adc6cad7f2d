#pragma once

#include "cli/options.h"
#include "core/result.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

/// The groups of options, in the order of --help.
enum class Group : unsigned char { Runs, Commands, Measured, Gate, Output };

/// The words that an option takes after its name. An optional value must be in the same word
/// (--fail-if-slower=5, -i3, -lcache), so that a command after the option stays a command.
enum class Takes : unsigned char {
  Nothing,
  Value,
  OptionalNumber,
  OptionalText,
  TwoWords,
  ThreeWords
};

struct OptionInfo;

/// The options while they are parsed, with facts that settle() needs. `options` lacks the reference
/// among its commands and names.
struct Draft {
  Options options{};
  std::optional<std::string> reference;
  std::optional<std::string> reference_name;
  std::optional<std::chrono::nanoseconds> interval;  ///< value of --interval; nullopt: not given
  std::optional<double> slower_percent;  ///< limit of the last --fail-if-slower; nullopt: not given
  std::vector<std::string> steps;        ///< values of -D, in the order typed
  std::vector<const OptionInfo*> given;  ///< options in the order applied, with repetitions
};

/// An option as typed, with its value.
struct Given {
  const OptionInfo& option;
  const std::string& value;              ///< value, or the first of its words; empty if missing
  std::span<const std::string> words{};  ///< values of an option that takes several words
};

/// The part of a call that an option applies to, and the places where it may be set.
enum class Scope : unsigned char {
  Benchmark,     ///< one benchmark; allowed in its part of a suite's file, and in [defaults]
  Session,       ///< all benchmarks of a session; allowed in [defaults] of a suite's file
  TypedSession,  ///< all benchmarks of a session; must be typed, because a user of sudo may not
                 ///< have read the file
  Call,          ///< the question, or the choice of benchmarks; must be typed
};

/// The rules by which an option combines with others.
struct Traits {
  Scope scope = Scope::Benchmark;
  bool fits_saved = false;         ///< has an effect with --from, which runs nothing
  bool needs_suite = false;        ///< has an effect only with --suite, or --from if `fits_saved`
  bool needs_macos = false;        ///< has no effect on other systems
  std::string_view sets{};         ///< name of the option that this one sets; empty: its own
  std::string_view contradicts{};  ///< name of a contradicting option; in a suite, the place that
                                   ///< sets one of the two decides about both
  std::string_view brief{};        ///< text in -h; empty: the option is missing from -h
};

/// The complete description of an option, from which the parser, --help, manual page and
/// completions are made. To add an option, add a row to option_table.
struct OptionInfo {
  std::string_view name;  ///< without dashes; empty: the option has only a letter
  char letter;            ///< '\0': the option has only a name
  Takes takes;
  std::string_view
      value;  ///< placeholder of the value: "N", or choices such as "auto|never"; empty: no value
  std::string_view help;  ///< one paragraph without line breaks
  Result<void> (*apply)(Draft& draft, const Given& given);
  Traits traits{};
  Group group = Group::Runs;  ///< set when the table is made

  /// Returns "--runs"; "-S" if the option has no name.
  std::string spelling() const;
  /// Returns the spelling and the value: "--runs N", "--list-events[=TEXT]", "-S".
  std::string usage() const;
};

/// True if the two options contradict each other.
bool contradict(const OptionInfo& option, const OptionInfo& other);

/// Returns all options in the order of --help.
std::span<const OptionInfo> option_table();

/// Returns the title of a group in --help.
std::string_view title_of(Group group);

/// Finds an option by its name without dashes, or by its letter; null if missing.
const OptionInfo* find_option(std::string_view name);
const OptionInfo* find_option(char letter);

/// Finds the option in "--runs", "--runs=10" or "-r"; null for other words, such as "-r10".
const OptionInfo* find_typed_option(std::string_view word);

/// Returns the key of an option: "runs"; "-S" if it has only a letter.
std::string key_of(const OptionInfo& option);
/// Finds an option by its key; null if missing.
const OptionInfo* option_of_key(std::string_view key);

/// Returns the number of words that must follow an option that takes two or three; 0 for other
/// options.
std::size_t words_taken_by(const OptionInfo& option);

/// Limit of --runs, --warmup and similar options. Fits into a round's number; so many runs of the
/// smallest program take days.
inline constexpr std::uint64_t kMaxRuns = 1'000'000'000;

/// Returns an option's spelling and value: "--runs N", "--list-events[=TEXT]", "-S".
std::string write_usage(std::string_view spelling, std::string_view value, bool is_optional);

/// True if the value may be missing, and must be in the option's word: --ignore-failure=3.
bool is_value_optional(const OptionInfo& option);

/// True if `rest`, which follows the letter of `option` in its word, is the option's value; false
/// if it is empty, or consists of more letters.
bool begins_value(const OptionInfo& option, std::string_view rest);

/// Decides what depends on several options: contradictions, names, the number of commands. For a
/// suite it settles only the exports, because each benchmark is settled separately.
Result<Options> settle(Draft draft);

/// True if the question is about lauka itself, so that no other option matters.
bool is_about_lauka(InquiryKind kind);

/// Refuses options that contradict --suite, or need it.
Result<void> fits_suite(const Draft& draft);

/// Parses the command line: `argv` has `argc` words, the first is the program's name. The error
/// names a word that is unknown, out of range or contradictory. If an option is repeated, the last
/// one counts, unless its values add up (as names, events and gates do) or a repetition is refused.
/// Ignores everything after -h, -V and --help, except its topic.
Result<Options> parse(int argc, const char* const* argv);

}  // namespace lauka::cli
