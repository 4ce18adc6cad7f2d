#pragma once

#include "core/machine.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::inquire {

enum class Severity : unsigned char { Ok, Note, Problem };

/// "ok", "note", "problem".
std::string_view name_of(Severity standing);

/// One thing that was looked at.
struct CheckLine {
  std::string topic;
  Severity standing = Severity::Ok;
  std::string finding;
  std::string remedy;  ///< a command or an act; empty: nothing to mend, or nothing that could
};

/// What can be measured on a machine and what makes measurements on it noisy, by topic. A problem
/// spoils numbers or keeps them away; a note has to be known.
std::vector<CheckLine> check(const MachineFacts& facts, std::span<const EngineFacts> engines);

/// For people: a line for each, and below it what mends it. `width` 0: no line is broken.
std::string check_text(const MachineFacts& facts, std::span<const CheckLine> lines,
                       std::size_t width);

/// For programs.
std::string check_json(const MachineFacts& facts, std::span<const EngineFacts> engines,
                       std::span<const CheckLine> lines);

}  // namespace lauka::inquire
