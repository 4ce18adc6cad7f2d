#pragma once

#include "core/command.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Returns "{NAME}".
std::string placeholder(std::string_view name);

/// True if `text` has the placeholder of `name`.
bool mentions(std::string_view text, std::string_view name);

/// Replaces each {NAME} by the value of the parameter NAME; does not search inserted values.
std::string filled(std::string_view text, const std::vector<Parameter>& parameters);
std::vector<std::string> filled(std::vector<std::string> texts,
                                const std::vector<Parameter>& parameters);
OutputChoice filled(const OutputChoice& output, const std::vector<Parameter>& parameters);
ExpectedOutput filled(const ExpectedOutput& output, const std::vector<Parameter>& parameters);

/// Fills in the parameters of a hook or build. Returns nullopt if nothing is left, because an empty
/// text stands for none.
std::optional<std::string> filled_or_none(const std::string& line,
                                          const std::vector<Parameter>& parameters);

}  // namespace lauka
