#pragma once

#include <string>

namespace lauka::cli {

/// Completion of lauka's command line for these shells, made from the option table.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace lauka::cli
