#include "plan/parameters.h"

#include "core/foreign_text.h"
#include "core/numbers.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

std::string_view option_of(const ParameterOption& option) {
  return option.is_scan ? "--parameter-scan" : "--parameter-list";
}

Result<std::vector<std::string>> values_of(const ParameterOption& option) {
  if (!option.is_scan) return option.values;
  const bool is_whole = (option.min + option.max).find('.') == std::string::npos;
  if (option.step.empty() && !is_whole) {
    return Error{
        fmt::format("--parameter-scan {} {} {} needs a step", option.name, option.min, option.max),
        "give one with -D, such as -D 0.5"};
  }
  auto values =
      decimals_of({option.min, option.max, option.step.empty() ? "1" : option.step}, kMostCommands);
  if (!values)
    return values.error().of(
        fmt::format("--parameter-scan {} {} {}", option.name, option.min, option.max));
  return values;
}

/// Stands for the text {NAME}.
std::string placeholder(std::string_view name) {
  return "{" + std::string(name) + "}";
}

/// Counts like a clock whose first wheel is the fastest. False when it is back at the start.
bool advance(std::vector<std::size_t>& wheels, const std::vector<Variable>& variables) {
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    if (++wheels[i] < variables[i].values.size()) return true;
    wheels[i] = 0;
  }
  return false;
}

}  // namespace

Result<std::vector<Variable>> variables_of(const std::vector<ParameterOption>& options) {
  std::vector<Variable> variables;
  for (const ParameterOption& option : options) {
    if (option.name.empty() || option.name.find_first_of("{}") != std::string::npos) {
      return Error{fmt::format("{} {} cannot be the name of a variable", option_of(option),
                               cited(option.name)),
                   "write the bare name; commands have it in braces: -L n 1,2 './old {n}'"};
    }
    const bool is_known = std::ranges::any_of(
        variables, [&](const Variable& one) { return one.name == option.name; });
    if (is_known) {
      return Error{fmt::format("the variable {} is given twice", cited(option.name)),
                   "use it once"};
    }
    auto values = values_of(option);
    if (!values) return values.error();
    variables.push_back({option.name, *std::move(values)});
  }
  return variables;
}

bool mentions(std::string_view text, std::string_view name) {
  return text.find(placeholder(name)) != std::string_view::npos;
}

std::string with_parameters(std::string_view text, const std::vector<Parameter>& parameters) {
  std::string result;
  while (!text.empty()) {
    const auto found = std::ranges::find_if(parameters, [&](const Parameter& parameter) {
      return text.starts_with(placeholder(parameter.name));
    });
    if (found == parameters.end()) {
      result.push_back(text.front());
      text.remove_prefix(1);
    } else {
      result += found->value;
      text.remove_prefix(found->name.size() + 2);
    }
  }
  return result;
}

Result<std::vector<Combination>> combinations_of(
    const std::vector<Variable>& variables, std::size_t typed,
    const std::function<bool(std::size_t typed, const Variable& variable)>& uses) {
  std::size_t all = typed;
  for (const Variable& variable : variables) {
    if (variable.values.size() > kMostCommands / all) {
      return Error{fmt::format("the parameters make more than {} commands", kMostCommands),
                   "give fewer values"};
    }
    all *= variable.values.size();
  }
  std::vector<std::vector<std::size_t>> used(typed);  // indices of variables
  for (std::size_t command = 0; command < typed; ++command) {
    for (std::size_t v = 0; v < variables.size(); ++v)
      if (uses(command, variables[v])) used[command].push_back(v);
  }
  std::vector<Combination> combinations;
  std::set<std::vector<std::size_t>> seen;
  std::vector<std::size_t> wheels(variables.size(), 0);
  do {
    for (std::size_t command = 0; command < typed; ++command) {
      Combination combination{command};
      std::vector<std::size_t> key = {command};
      for (const std::size_t v : used[command]) {
        key.push_back(wheels[v]);
        combination.parameters.push_back({variables[v].name, variables[v].values[wheels[v]]});
      }
      if (seen.insert(std::move(key)).second) combinations.push_back(std::move(combination));
    }
  } while (advance(wheels, variables));
  return combinations;
}

}  // namespace lauka
