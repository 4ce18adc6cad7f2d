#pragma once

#include "cli/option_table.h"

#include <string>
#include <string_view>
#include <vector>

// Help, the manual page and the completions of a program are made from one description.

namespace lauka::cli {

/// The description of an option.
struct OptionDescription {
  std::string name;      ///< long, without dashes; empty: it has a letter only
  std::string letter{};  ///< empty: it has none
  std::string value{};   ///< placeholder of the value: "FILE"; empty: the option takes no value
  bool value_is_optional = false;
  std::string help{};
  bool needs_macos = false;        ///< the option does nothing on other systems
  std::vector<ValueWord> words{};  ///< words that the value may be

  /// Returns "--runs", or "-S" if it has no name.
  std::string spelling() const;
  /// Returns "-r" and "--runs", or the one that it has.
  std::vector<std::string> spellings() const;
};

struct OptionGroup {
  std::string_view title;  ///< may be empty
  std::vector<OptionDescription> options{};
};

/// A command of a program, or the program itself.
struct CommandDescription {
  std::string_view name{};     ///< empty: the program itself
  std::string_view words{};    ///< arguments, as in the usage line
  std::string_view purpose{};  ///< summary of this command; empty if the program has a single one
  std::vector<ValueWord> values{};  ///< possible values of these arguments
  std::vector<OptionGroup> groups{};
};

/// The name and meaning of an exit status or a variable.
struct Meaning {
  std::string_view name;
  std::string_view meaning;
};

struct ProgramDescription {
  std::string name;
  std::string_view date{};                     ///< date of the manual page
  std::string_view made_by;                    ///< the program that writes the completions
  std::string_view purpose;                    ///< summary in one line, without a full stop
  std::vector<std::string_view> paragraphs{};  ///< paragraphs without line breaks
  std::vector<CommandDescription> commands{};
  std::vector<OptionDescription> common{};  ///< options before one of several commands
  std::vector<Meaning> statuses{};          ///< ascending
  std::vector<Meaning> variables{};  ///< environment variables that the program reads or sets
  std::vector<std::string_view> examples{};  ///< command lines that can be typed as they are
  std::vector<std::string_view> see_also{};  ///< manual pages: "perf-stat (1)"
};

/// Describes lauka itself.
ProgramDescription lauka_description();

/// Returns what --help shows, at most 80 columns wide. `on_macos` false: options that do nothing on
/// other systems are left out.
std::string help(bool on_macos = true);

/// Returns the help on one topic: a group of options, suites, or one option. Refuses an unknown
/// topic.
Result<std::string> help_on(std::string_view topic);

/// Returns what -h shows: the options that most people need, on one screen.
std::string brief_help();

/// Lists the options of a command as help does, at most 80 columns wide.
std::string options_help(const CommandDescription& command);

/// Returns the manual page, for section 1.
std::string man_page(const ProgramDescription& program);

/// Returns the completion script for "bash", "zsh" or "fish"; empty for another shell.
std::string completion(const ProgramDescription& program, std::string_view shell);

/// Returns the first sentence of a help text, for narrow places.
std::string first_sentence(std::string_view help);

/// Returns the version in CMakeLists.txt: "0.1.0".
std::string_view version();

/// Returns what --version prints.
std::string version_line();

}  // namespace lauka::cli
