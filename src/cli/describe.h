#pragma once

#include "cli/option_table.h"

#include <string>
#include <string_view>
#include <vector>

// What describes a program: help, the manual page and the completions of its command line are made
// of the same description.

namespace lauka::cli {

/// An option as it is described.
struct OptionDescription {
  std::string name;      ///< long, without dashes; empty: it has a letter only
  std::string letter{};  ///< empty: none
  std::string value{};   ///< as shown: "FILE"; empty: takes nothing
  bool value_is_optional = false;
  std::string help{};
  std::vector<ValueWord> words{};  ///< of the value

  /// "--runs", or "-S" where there is no name.
  std::string spelling() const;
  /// "-r" and "--runs", those there are.
  std::vector<std::string> spellings() const;
};

struct OptionGroup {
  std::string_view title;  ///< may be empty
  std::vector<OptionDescription> options{};
};

/// A command of a program, or the program itself.
struct CommandDescription {
  std::string_view name{};          ///< empty: the program itself
  std::string_view words{};         ///< that it takes, as in its usage
  std::string_view purpose{};       ///< of a command of several
  std::vector<ValueWord> values{};  ///< what may be written for these words
  std::vector<OptionGroup> groups{};
};

/// A status, a variable: what it is called, and what it means.
struct Meaning {
  std::string_view name;
  std::string_view meaning;
};

struct ProgramDescription {
  std::string name;
  std::string_view date{};                     ///< of the manual page
  std::string_view made_by;                    ///< the program that writes the completions
  std::string_view purpose;                    ///< in one line, without a full stop
  std::vector<std::string_view> paragraphs{};  ///< without line breaks
  std::vector<CommandDescription> commands{};
  std::vector<OptionDescription> common{};   ///< options that stand before a command of several
  std::vector<Meaning> statuses{};           ///< ascending
  std::vector<Meaning> variables{};          ///< of the environment, that it heeds or sets
  std::vector<std::string_view> examples{};  ///< command lines that can be typed as they are
  std::vector<std::string_view> see_also{};  ///< manual pages: "perf-stat (1)"
};

/// lauka itself.
ProgramDescription lauka_description();

/// What lauka's --help shows, at most 80 columns wide. `other_system`: what the help texts of
/// options begin with that do nothing here ("macOS:"); empty: all are shown.
std::string help(std::string_view other_system = {});

/// The same of one topic: the options of a group, those of suites, or one option. Refused if there
/// is no such topic.
Result<std::string> help_on(std::string_view topic);

/// -h: the options that most people need, on one screen.
std::string brief_help();

/// The options of a command as help lists them, at most 80 columns wide.
std::string options_help(const CommandDescription& command);

/// The manual page, of section 1.
std::string man_page(const ProgramDescription& program);

/// The completion of its command line for "bash", "zsh" or "fish"; empty for another shell.
std::string completion(const ProgramDescription& program, std::string_view shell);

/// The first sentence of a help text, for places that have room for a few words.
std::string first_sentence(std::string_view help);

/// "0.1.0", of the project in CMakeLists.txt.
std::string_view version();

/// What --version prints.
std::string version_line();

}  // namespace lauka::cli
