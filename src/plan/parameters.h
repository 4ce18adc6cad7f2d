#pragma once

#include "cli/options.h"
#include "core/command.h"
#include "core/result.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// At most so many commands are measured in one session.
inline constexpr std::size_t kMostCommands = 10'000;

/// A variable and all its values, in order.
struct Variable {
  std::string name;
  std::vector<std::string> values;
};

/// The variables of -L and -P. Refuses names that could not be written as {NAME} or that come
/// twice, and ranges without an end.
Result<std::vector<Variable>> variables_of(const std::vector<ParameterOption>& options);

/// Whether `text` has {NAME} in it.
bool mentions(std::string_view text, std::string_view name);

/// `text` with the value of each parameter in place of its {NAME}; what was put in is not looked at
/// again, and other braces stay.
std::string with_parameters(std::string_view text, const std::vector<Parameter>& parameters);

/// One command to measure: which of those typed, with which values.
struct Combination {
  std::size_t typed = 0;
  std::vector<Parameter> parameters{};
};

/// All combinations of the values, for each typed command with those variables that `uses` says it
/// uses: one that uses none is measured once. The commands vary fastest, then the first variable.
/// Refuses more than kMostCommands.
Result<std::vector<Combination>> combinations_of(
    const std::vector<Variable>& variables, std::size_t typed,
    const std::function<bool(std::size_t typed, const Variable& variable)>& uses);

}  // namespace lauka
