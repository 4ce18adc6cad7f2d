#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lauka::cli {

// What the program says of itself, made from the option table and the paragraphs below.

/// What --help shows, at most 80 columns wide.
std::string help();

/// -h: the options that most people need, on one screen.
std::string brief_help();

/// The manual page lauka(1).
std::string man_page();

/// Completion of lauka's command line for these shells.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/// "0.1.0", of the project in CMakeLists.txt.
std::string_view version();

/// What --version prints.
std::string version_line();

// What --help and the manual page say beside the options.

/// In one line, without a full stop.
std::string_view purpose();

/// How a command line is made, in paragraphs without line breaks.
std::span<const std::string_view> description();

/// Command lines that can be typed as they are.
std::span<const std::string_view> examples();

struct StatusMeaning {
  std::string_view status;
  std::string_view meaning;
};

/// All exit statuses, ascending.
std::span<const StatusMeaning> exit_statuses();

struct VariableMeaning {
  std::string_view name;
  std::string_view meaning;
};

/// The variables of the environment that lauka heeds or sets.
std::span<const VariableMeaning> variables();

/// Of the manual page.
std::string_view release_date();

}  // namespace lauka::cli
