#pragma once

#include "core/machine.h"
#include "core/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::inquire {

enum class Severity : unsigned char { Ok, Note, Problem };

std::string_view name_of(Severity standing);

struct CheckLine {
  std::string topic;
  Severity severity = Severity::Ok;
  std::string finding;
  std::string remedy{};  ///< may be empty
};

/// Checks what can be measured on a machine, and what makes measurements noisy there.
std::vector<CheckLine> check(const MachineFacts& facts, std::span<const EngineFacts> engines);

/// Returns the text of --check. Findings are wrapped for a terminal of `width` cells; 0: not
/// wrapped.
std::string check_text(const MachineFacts& facts, std::span<const CheckLine> lines,
                       std::size_t width);

std::string check_json(const MachineFacts& facts, std::span<const EngineFacts> engines,
                       std::span<const CheckLine> lines);

}  // namespace lauka::inquire
