#pragma once

#include <string>
#include <string_view>
#include <vector>

// What describes lauka-history outside of it, made of what --help is made of.

namespace lauka::history {

/// An option of a command.
struct OptionSummary {
  std::string name;       ///< long, without dashes
  std::string letter;     ///< empty: it has none
  std::string parameter;  ///< "FILE"; empty: it takes none
  std::string meaning;
};

/// A command of lauka-history.
struct CommandSummary {
  std::string_view name;
  std::string_view words;  ///< that it takes, as in its usage
  std::string_view purpose;
  std::vector<OptionSummary> options{};
};

std::vector<CommandSummary> command_summaries();

/// The manual page lauka-history(1).
std::string man_page(const std::vector<CommandSummary>& commands, std::string_view version);

/// For "bash", "zsh" or "fish"; empty for another shell.
std::string completions(const std::vector<CommandSummary>& commands, std::string_view shell);

}  // namespace lauka::history
