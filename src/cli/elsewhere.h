#pragma once

#include "core/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

/// What is to be typed instead of an option that other tools have and lauka has not: "--style" with
/// its dashes. Empty where none of them has it.
std::string_view instead_of(std::string_view option);

/// What looks like a slip of somebody who knows other tools and would do something else here: -S
/// with a shell after it, an option in place of a parameter's values, a value behind an option that
/// takes it in its own word only. `words`: the command line without the program's name.
std::optional<Error> likely_slip(const std::vector<std::string>& words);

/// "if it belongs to the command, quote them together: 'gcc -O2'", where the option `spelled`
/// stands behind a command of one word; else empty.
std::string quoting_hint(const std::vector<std::string>& words, std::string_view spelled);

}  // namespace lauka::cli
