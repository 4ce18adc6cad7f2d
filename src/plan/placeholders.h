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
std::string fill_in(std::string_view text, const std::vector<Parameter>& parameters);
std::vector<std::string> fill_in(std::vector<std::string> texts,
                                 const std::vector<Parameter>& parameters);
OutputChoice fill_in(const OutputChoice& output, const std::vector<Parameter>& parameters);
ExpectedOutput fill_in(const ExpectedOutput& output, const std::vector<Parameter>& parameters);

/// Fills in the parameters of a hook or build. Returns nullopt if nothing is left, because an empty
/// text stands for none.
std::optional<std::string> fill_in_or_none(const std::string& line,
                                           const std::vector<Parameter>& parameters);

}  // namespace lauka
