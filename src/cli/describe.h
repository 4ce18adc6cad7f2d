#pragma once

#include "cli/option_table.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Descriptions of programs, from which help, manual page and completions are made.

namespace lauka::cli {

/// A program that lists the possible words of a value, such as the events of this machine.
struct Listing {
  std::string name;  ///< name of the shell function, without the program's name in front: "events"
  std::string script;  ///< script for sh that prints one word per line; "$@" are the words typed so
                       ///< far, the program's name first
  bool takes_several = false;  ///< true if the value is a list with commas
};

/// A word of an option's value, for completion by a shell.
struct ValueWord {
  std::string name{};                  ///< name in --help: "N", "auto|always|never"
  std::vector<std::string> choices{};  ///< words that may be typed as they are
  std::optional<Listing> listing{};    ///< nullopt: no program lists the words
  bool is_file = false;                ///< true for FILE
  bool is_folder = false;              ///< true for DIR
  bool is_command = false;             ///< true for CMD, COMMAND and SHELL
};

/// Splits the value in an option's usage into words. "VAR MIN MAX" are three words, quoted text is
/// one, and lower-case words between | are choices. Empty if `value` is.
std::vector<ValueWord> value_words(std::string_view value);

struct OptionDescription {
  std::string name;      ///< long name without dashes; empty: the option has only a letter
  std::string letter{};  ///< letter without dash; empty: the option has only a name
  std::string value{};   ///< placeholder of the value ("FILE"); empty: the option takes no value
  bool value_is_optional = false;
  std::string help{};
  bool needs_macos = false;        ///< true: the option has no effect on other systems
  std::vector<ValueWord> words{};  ///< possible values, for completion

  /// Returns "--runs"; "-S" if the option has no name.
  std::string spelling() const;
  /// Returns "-r" and "--runs", or whichever the option has.
  std::vector<std::string> spellings() const;
};

struct OptionGroup {
  std::string_view title;  ///< may be empty
  std::vector<OptionDescription> options{};
};

/// A command of a program; or the program itself, if it has no commands.
struct CommandDescription {
  std::string_view name{};          ///< empty: the program itself
  std::string_view words{};         ///< arguments as in the usage line
  std::string_view purpose{};       ///< summary; empty if the program has no commands
  std::vector<ValueWord> values{};  ///< possible arguments, for completion
  std::vector<OptionGroup> groups{};
};

/// An exit status or environment variable, with its meaning.
struct Meaning {
  std::string_view name;
  std::string_view meaning;
};

struct ProgramDescription {
  std::string name;
  std::string_view date{};                     ///< date of the manual page
  std::string_view made_by;                    ///< program that writes the completions
  std::string_view purpose;                    ///< summary in one line, without a full stop
  std::vector<std::string_view> paragraphs{};  ///< each without line breaks
  std::vector<CommandDescription> commands{};
  std::vector<OptionDescription> common{};  ///< options that may come before a command
  std::vector<Meaning> statuses{};          ///< exit statuses in ascending order
  std::vector<Meaning> variables{};  ///< environment variables that the program reads or sets
  std::vector<std::string_view> examples{};  ///< command lines, to be typed as they are
  std::vector<std::string_view> see_also{};  ///< manual pages such as "perf-stat (1)"
};

ProgramDescription lauka_description();

/// Returns the text of --help, at most 80 columns wide. If `on_macos` is false, leaves out options
/// that have no effect on other systems.
std::string help(bool on_macos = true);

/// Returns the help on one topic: a group of options, suites, the history, or an option's name.
/// Refuses an unknown topic.
Result<std::string> help_on(std::string_view topic);

/// Returns the text of -h: the options that most users need, on one screen.
std::string brief_help();

/// Returns the options of a command as --help lists them, at most 80 columns wide.
std::string options_help(const CommandDescription& command);

/// Returns the manual page (section 1) in roff.
std::string man_page(const ProgramDescription& program);

/// Returns the completion script for "bash", "zsh" or "fish"; empty for another shell.
std::string completion(const ProgramDescription& program, std::string_view shell);

/// Returns a help text up to its first sentence, semicolon or parenthesis, for use where space is
/// short.
std::string first_sentence(std::string_view help);

/// Returns the version in CMakeLists.txt: "0.1.0".
std::string_view version();

/// Returns the line that --version prints.
std::string version_line();

}  // namespace lauka::cli
