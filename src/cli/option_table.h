#pragma once

#include "cli/options.h"
#include "core/result.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

enum class OptionSection : unsigned char { Runs, Commands, Measured, Gate, Output };

/// The value that an option takes. An optional value is written in the same word as the option:
/// --fail-if-slower=5, -i3.
enum class ValueForm : unsigned char {
  Nothing,
  Value,
  OptionalNumber,  ///< begins with a digit after an option's letter
  OptionalWord,    ///< one of the texts that the option's `apply` accepts
  OptionalText,    ///< any text
  TwoWords,
  ThreeWords
};

struct OptionInfo;

/// The options while they are parsed. `options.commands` does not contain the command of
/// --reference yet.
struct ParsedOptions {
  Options options{};
  std::optional<std::string> reference_command;
  std::optional<std::string> reference_name;
  std::optional<std::chrono::nanoseconds> output_interval;
  /// Limit of the last --fail-if-slower; nullopt without that option.
  std::optional<double> slower_percent;
  /// Limit of the last --keep-if-faster; nullopt without that option.
  std::optional<double> keep_faster_percent;
  std::vector<std::string> scan_steps;  ///< values of -D
  /// Options in the order applied, with repetitions.
  std::vector<const OptionInfo*> applied_options;
};

/// An option with its value.
struct OptionValue {
  const OptionInfo& option;
  const std::string& value;  ///< value, or its first word if there are several; empty if missing
  /// All words of the value; may be empty if the option takes at most one word.
  std::span<const std::string> words{};
};

/// The part of a call that an option applies to. With a suite, decides where the option may be set.
enum class Scope : unsigned char {
  Benchmark,     ///< one benchmark; set in [[benchmark]], [defaults] or on the command line
  Session,       ///< all benchmarks; set in [defaults] or on the command line
  TypedSession,  ///< all benchmarks; set on the command line only, because these options change
                 ///< the machine or give root's rights
  Call,          ///< the whole call; set on the command line only
  PlainCall,     ///< a call that measures no suite, because the option decides about one candidate
};

struct OptionRules {
  Scope scope = Scope::Benchmark;
  bool works_with_from = false;
  bool needs_suite = false;  ///< true if the option needs --suite or, if `works_with_from`,
                             ///< --from
  bool needs_macos = false;
  /// Name of another option whose value this option sets; may be empty.
  std::string_view sets_value_of{};
  std::string_view contradicted_option{};  ///< name of an option that must not be combined with
                                           ///< this one; may be empty
  std::string_view brief_help_text{};      ///< text in -h; empty: the option is missing from -h
};

/// A row of option_table(), which the parser, --help, the manual page and the completions use.
struct OptionInfo {
  std::string_view name;  ///< without dashes; empty: the option has only a letter
  char letter;            ///< '\0': the option has only a name
  ValueForm value_form;
  std::string_view value_placeholder;  ///< placeholder of the value: "N", or choices such as
                                       ///< "auto|never"; empty if the option takes no value
  std::string_view help;
  Result<void> (*apply)(ParsedOptions& draft, const OptionValue& given);
  OptionRules rules{};
  OptionSection group = OptionSection::Runs;

  /// Returns "--runs"; "-S" if the option has no name.
  std::string spelling() const;
  /// Returns the spelling and the value: "--runs N", "--list-events[=TEXT]", "-S".
  std::string usage() const;
};

bool contradict_each_other(const OptionInfo& option, const OptionInfo& other);

std::span<const OptionInfo> option_table();

/// Finds an option by its name without dashes; null if unknown.
const OptionInfo* find_option(std::string_view name);
const OptionInfo* find_option(char letter);

/// Returns the key of an option: "runs"; "-S" if the option has no name.
std::string key_of(const OptionInfo& option);
/// Finds an option by its key; null if unknown.
const OptionInfo* option_of_key(std::string_view key);

/// Returns the number of words that an option takes; 0 if it takes one or none.
std::size_t count_words_if_several(const OptionInfo& option);

inline constexpr std::uint64_t kMaxRuns = 1'000'000'000;

/// Returns an option's spelling and value: "--runs N", "--list-events[=TEXT]", "-S".
std::string write_usage(std::string_view spelling, std::string_view value, bool is_optional);

bool is_value_optional(const OptionInfo& option);

/// Returns `error`, with `other` as a second remedy.
Error with_second_remedy(Error error, const std::string& other);

}  // namespace lauka::cli
