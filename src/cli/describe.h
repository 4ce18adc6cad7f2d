#pragma once

#include "core/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

/// A shell script that lists the possible values of an option or argument.
struct ValueLister {
  std::string function_suffix;  ///< end of the shell function's name: "events" in _lauka_events
  std::string script;           ///< script for sh that prints one value per line; "$@" is the typed
                                ///< command line
  bool is_comma_separated = false;  ///< true if a value may be a comma-separated list
};

/// One word of an option's value, or one argument of a command, for completion by a shell.
struct ValueWord {
  std::string word_placeholder{};      ///< placeholder: "N", "auto|always|never"
  std::vector<std::string> choices{};  ///< literal words that are valid values
  std::optional<ValueLister> listing_script{};
  bool is_file = false;
  bool is_folder = false;
  bool is_command = false;
};

/// Splits the placeholder of a value at blanks: "VAR MIN MAX" has three words. A placeholder that
/// begins with a quote is one word.
std::vector<ValueWord> value_words(std::string_view value);

struct OptionDescription {
  std::string name;      ///< long name without dashes; empty: the option has only a letter
  std::string letter{};  ///< letter without dash; empty: the option has only a name
  /// Placeholder of the value ("FILE"); empty: the option takes no value.
  std::string value_placeholder{};
  bool value_is_optional = false;
  std::string help{};
  std::string_view details{};  ///< sentences for the manual page; may be empty
  std::string_view example{};  ///< a command line for the manual page; may be empty
  bool needs_macos = false;
  std::vector<ValueWord> words{};

  /// Returns "--runs"; "-S" if the option has no name.
  std::string spelling() const;
  /// Returns "-r" and "--runs", or whichever the option has.
  std::vector<std::string> spellings() const;
};

struct OptionGroup {
  std::string_view title;
  std::vector<OptionDescription> options{};
};

/// A command of a program, or the whole program if it has no commands.
struct CommandDescription {
  std::string_view name{};            ///< empty: the program has no commands
  std::string_view argument_usage{};  ///< arguments in the usage line: "FILE..."
  std::string_view purpose{};
  std::vector<ValueWord> argument_words{};
  std::vector<OptionGroup> groups{};
};

struct Meaning {
  std::string_view name;
  std::string_view meaning;
};

struct ProgramDescription {
  std::string name;
  std::string_view date{};
  std::string_view completions_made_by;  ///< program that writes the completions
  std::string_view purpose;
  std::vector<std::string_view> paragraphs{};
  std::vector<CommandDescription> commands{};
  /// Options that may precede the command.
  std::vector<OptionDescription> options_before_command{};
  std::vector<Meaning> exit_statuses{};
  std::vector<Meaning> environment_variables{};
  std::vector<std::string_view> examples{};
  std::vector<std::string_view> see_also{};
};

ProgramDescription lauka_description();

/// Returns the text of --help. If `on_macos` is false, leaves out options that work only on macOS.
std::string help(bool on_macos = true);

/// Returns the help on a topic ("gates") or on an option ("seed", "--seed"), with details and
/// examples. Refuses any other text.
Result<std::string> help_on(std::string_view topic);

/// Returns the text of -h.
std::string brief_help();

/// Returns the options of a command as --help lists them.
std::string options_help(const CommandDescription& command);

/// Returns the exit statuses as --help lists them.
std::string list_statuses(const ProgramDescription& program);

/// Returns the manual page (section 1) in roff.
std::string man_page(const ProgramDescription& program);

/// Returns the completion script for "bash", "zsh" or "fish"; empty for any other shell.
std::string completion(const ProgramDescription& program, std::string_view shell);

/// Returns the part of `help` before the first "; ", ". " or " (".
std::string first_clause(std::string_view help);

std::string_view version();

}  // namespace lauka::cli
