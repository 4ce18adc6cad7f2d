#pragma once

#include "cli/options.h"
#include "core/result.h"

#include <optional>
#include <span>
#include <string>

namespace lauka::cli {

/// A command of one bare word with a short option right after it, as in "lauka sort -r f": most
/// likely one command whose quotes were forgotten.
struct Forgotten {
  Unquoted quotes;
  std::optional<Error> refusal;  ///< set if the option must not be taken for lauka's own
};

/// Finds the first in the words typed; nullopt if missing, or if no command is measured.
std::optional<Forgotten> forgotten_quotes(std::span<const std::string> words);

/// Finds what users of other tools are likely to type and what would do something else here.
std::optional<Error> likely_slip(std::span<const std::string> words);

/// True if `word` has a digit and consists of digits, signs, points and the characters `more`.
bool looks_like_number(std::string_view word, std::string_view more = {});

/// Returns what to type instead of an option that other tools have and lauka lacks ("--style" with
/// its dashes); empty if none of them has it.
std::string_view instead_of(std::string_view option);

}  // namespace lauka::cli
