#pragma once

#include "core/settings.h"
#include "os/process.h"
#include "plan/plan.h"
#include "run/fingerprints.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

// What may explain a difference between two commands, besides their code: what a command's program
// is linked with and was compiled by, its environment, and the state of its process.

namespace lauka {

/// The program that a command finally runs, and what it gets from the programs before it: in
/// `nice env LD_PRELOAD=./a.so ./prog` it is `./prog`.
struct FinalProgram {
  std::vector<std::string> words{};
  std::vector<std::string> environment{};  ///< NAME=VALUE, the whole environment
  std::string folder{};                    ///< working folder; empty: lauka's own
};

/// Looks through programs that only change how another one is run (nice, taskset, chrt, ionice,
/// env, timeout and the like). Returns nullopt if it is not known what one of them runs (env -S),
/// or if it runs nothing. Takes an unknown option as one without a value.
std::optional<FinalProgram> find_final_program(FinalProgram program);

/// Returns the shared libraries that a dynamic loader lists (ld.so --list), by name, with their
/// paths. Leaves out what has no file, as the vDSO has none.
std::map<std::string, std::string> parse_libraries(std::string_view listed);

/// True if the values of a variable are compared and stored; of other variables only the names are,
/// because their values may be secret.
bool is_value_stored(std::string_view variable_name);

/// What is known of native programs of one user, by path, working folder and environment. Commands
/// that differ only by their arguments share an entry. Holds as long as no file changes.
using KnownPrograms =
    std::map<std::tuple<std::string, std::string, std::vector<std::string>>, SettingValues>;

/// Returns what is known of the program and the environment of a command, in its first layout,
/// without running the command: the dynamic loader lists the libraries. With a shell, nothing is
/// known of the program. What `known` has is not looked at again; what it lacks is added.
SettingValues look_at_program(const Plan& plan, std::size_t command, const ReadContext& reader,
                              KnownPrograms& known);

/// Returns the settings that the state of a command's process shows.
SettingValues settings_of_process(const os::ProcessState& state);

}  // namespace lauka
