#pragma once

#include "core/command.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka {

struct Recording;

/// An earlier session that provides the references of this session's commands.
struct Baseline {
  std::string file{};
  std::shared_ptr<const Recording> session{};
  /// For each command of this session, the index of its reference in the earlier session.
  std::vector<std::size_t> reference_places{};
  /// For each metric of this session, its index in the earlier session; nullopt if the metric
  /// cannot be compared.
  std::vector<std::optional<std::size_t>> metric_places{};
};

/// A candidate and its reference, as numbers of commands. The references in a baseline are numbered
/// behind the session's own commands: the number of commands, plus that of the candidate.
struct Pair {
  std::size_t reference = 0;
  std::size_t candidate = 0;
  bool is_within_rounds = false;  ///< true: values of the same round are compared
};

/// Which commands are compared: each candidate with one reference, of this session or of a
/// baseline.
struct Reference {
  /// For each command, the index of its reference in this session. A command that is compared with
  /// no other has its own index. Empty: the first command is the reference of all.
  std::vector<std::size_t> indices{};
  std::optional<Baseline> baseline{};  ///< nullopt: references are commands of this session
  /// Index of the anchor (--anchor), a command that is neither reference nor candidate; nullopt
  /// without an anchor.
  std::optional<std::size_t> anchor_index{};
  /// True if a single command was typed, for several values of a parameter: tables compare the
  /// values with the first, but gates have no reference.
  bool is_for_tables_only = false;

  /// Returns the index of the command's reference in this session, which may be the command itself.
  std::size_t index_for(std::size_t command) const {
    return command < indices.size() ? indices[command] : 0;
  }

  /// Returns the same as index_for(); nullopt if the reference is in a baseline.
  std::optional<std::size_t> index_in_session(std::size_t command) const {
    return baseline ? std::nullopt : std::optional(index_for(command));
  }

  /// Returns a number that a reference and its candidates share; the same for all commands if
  /// references are in a baseline.
  std::size_t group_of(std::size_t command) const { return index_in_session(command).value_or(0); }

  bool is_candidate(std::size_t command) const {
    return index_in_session(command) != command && command != anchor_index;
  }

  /// True if another command of this session may be compared with `command`.
  bool is_reference(std::size_t command) const;
};

/// Returns which of `commands` commands a list of comparisons shows, in ascending order: the
/// candidates, or all if nothing is compared.
std::vector<std::size_t> candidates_or_all(const Reference& reference, std::size_t commands);

/// True if both commands have a parameter of the same name, with different values.
bool has_other_value(const Command& command, const Command& other);

/// Compares each command with the instance of a typed command that has the same parameter values.
/// `typed`: Command::typed_command_index of the typed command. A command that lacks one of its
/// parameters is compared with the first instance that has no other value of the rest. If all
/// commands are instances of one typed command, tables compare them with the first.
Reference pair_by_parameters(std::span<const Command> commands, std::size_t typed);

/// Returns the name of a parameter that the command's reference has and the command lacks; empty if
/// there is none. Such a command has several references that are equally good.
std::string missing_parameter(const Reference& reference, std::span<const Command> commands,
                              std::size_t command);

/// Returns the indices of `commands` commands, in which each reference is followed by its
/// candidates.
std::vector<std::size_t> order_by_group(const Reference& reference, std::size_t commands);

}  // namespace lauka
