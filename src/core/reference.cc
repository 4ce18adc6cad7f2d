#include "core/reference.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace lauka {

namespace {

using ParameterValues = std::vector<std::string>;

/// Returns the command's values of the parameters of `reference`, in the order of the reference;
/// nullopt if the command lacks one of them.
std::optional<ParameterValues> values_for(const Command& reference, const Command& command) {
  ParameterValues values;
  for (const Parameter& parameter : reference.parameters) {
    const Parameter* own = find_parameter(command, parameter.name);
    if (own == nullptr) return std::nullopt;
    values.push_back(own->value);
  }
  return values;
}

/// Returns the instances of a typed command: the commands that differ only in its parameters.
std::vector<std::size_t> find_instances(std::span<const Command> commands, std::size_t typed) {
  std::vector<std::size_t> instances;
  for (std::size_t c = 0; c < commands.size(); ++c)
    if (commands[c].typed_command_index == typed) instances.push_back(c);
  return instances;
}

using InstanceByValues = std::map<ParameterValues, std::size_t>;

/// Returns the instances by their values of the parameters. All instances have the same parameters.
InstanceByValues index_by_values(std::span<const Command> commands,
                                 const std::vector<std::size_t>& instances) {
  InstanceByValues instance_by_values;
  for (const std::size_t instance : instances)
    if (auto values = values_for(commands[instances.front()], commands[instance]))
      instance_by_values.try_emplace(*std::move(values), instance);
  return instance_by_values;
}

/// The instances of a typed command, of which one is the reference of each other command.
struct Instances {
  std::span<const Command> commands;  ///< all commands, not only the instances
  std::vector<std::size_t> indices;
  InstanceByValues by_values;

  /// Returns the instance with the same values as the command, or else the first one without a
  /// contradicting value; the command itself if there is none.
  std::size_t find_fitting(std::size_t command) const {
    const auto values = values_for(commands[indices.front()], commands[command]);
    const auto same = values ? by_values.find(*values) : by_values.end();
    if (same != by_values.end()) return same->second;

    const auto compatible = std::ranges::find_if(indices, [&](std::size_t instance) {
      return !has_other_value(commands[command], commands[instance]);
    });
    return compatible == indices.end() ? command : *compatible;
  }
};

}  // namespace

bool Reference::is_reference(std::size_t command) const {
  if (index_in_session(command) != command || command == anchor_index) return false;
  if (indices.empty()) return true;

  // Candidates mostly follow their reference.
  const auto own = indices.begin() + static_cast<std::ptrdiff_t>(command);
  return std::find(own + 1, indices.end(), command) != indices.end() ||
         std::find(indices.begin(), own, command) != own;
}

std::vector<std::size_t> candidates_or_all(const Reference& reference, std::size_t commands) {
  std::vector<std::size_t> all(commands);
  std::iota(all.begin(), all.end(), std::size_t{0});

  std::vector<std::size_t> candidates;
  std::ranges::copy_if(all, std::back_inserter(candidates),
                       [&](std::size_t c) { return reference.is_candidate(c); });
  return candidates.empty() ? all : candidates;
}

bool has_other_value(const Command& command, const Command& other) {
  return std::ranges::any_of(other.parameters, [&](const Parameter& parameter) {
    const Parameter* own = find_parameter(command, parameter.name);
    return own != nullptr && own->value != parameter.value;
  });
}

// A command that the user typed with a parameter is run with several values, as several commands:
// its instances. The user chose a typed command as the reference, and each other command is
// compared with the instance that fits it. `typed`: index of the chosen typed command.
Reference pair_by_parameters(std::span<const Command> commands, std::size_t typed) {
  Reference reference;
  const std::vector<std::size_t> instance_indices = find_instances(commands, typed);
  if (instance_indices.empty()) return reference;

  // With a single typed command, there is nothing with which its instances could be paired. Tables
  // still show how they differ from the first one.
  const bool is_only_typed_command = instance_indices.size() == commands.size();
  if (is_only_typed_command) {
    const bool has_parameters = !commands.front().parameters.empty();
    reference.is_for_tables_only = commands.size() > 1 && has_parameters;
    return reference;
  }

  // There may be thousands of values, so the instances are looked up in a map.
  const Instances instances{.commands = commands,
                            .indices = instance_indices,
                            .by_values = index_by_values(commands, instance_indices)};

  // An instance becomes its own reference, which means that it is compared with nothing.
  for (std::size_t c = 0; c < commands.size(); ++c) {
    const bool is_instance = commands[c].typed_command_index == typed;
    reference.indices.push_back(is_instance ? c : instances.find_fitting(c));
  }
  return reference;
}

std::string missing_parameter(const Reference& reference, std::span<const Command> commands,
                              std::size_t command) {
  for (const Parameter& parameter : commands[reference.index_for(command)].parameters)
    if (find_parameter(commands[command], parameter.name) == nullptr) return parameter.name;
  return "";
}

std::vector<std::size_t> order_by_group(const Reference& reference, std::size_t commands) {
  std::vector<std::size_t> order(commands);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t c) { return reference.group_of(c); });
  return order;
}

}  // namespace lauka
