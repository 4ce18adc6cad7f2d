#pragma once

#include "core/machine.h"

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace lauka::report {

/// `json` as text; `indent` below 0: on one line. What is not UTF-8 is replaced by U+FFFD, and
/// where a character would steer a terminal (see one_line), all beyond ASCII is escaped.
std::string dumped(const nlohmann::ordered_json& json, int indent = -1);

/// The same of a text alone.
std::string json_string(std::string_view text);

/// The same of a number: the fewest digits that read back as it; null where it is not finite.
std::string json_real(double value);

/// The machine as every JSON of lauka has it.
nlohmann::ordered_json json_of(const Machine& machine);

}  // namespace lauka::report
