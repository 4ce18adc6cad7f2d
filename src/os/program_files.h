#pragma once

#include "core/command.h"
#include "core/result.h"
#include "os/linux_calls.h"
#include "os/process.h"

#include <optional>
#include <string>

namespace lauka::os {

/// Finds the file for `word` as a shell in `folder` does (empty: lauka's own folder): `word` itself
/// if it contains a slash, else by searching `path` (nullopt: lauka's PATH). The error reads like a
/// shell's: "nosuch: command not found".
Result<std::string> find_program(const std::string& word,
                                 const std::optional<std::string>& path = std::nullopt,
                                 const std::string& folder = {});

/// Finds the file of a program with the rights of `spec.user`, in the PATH of `spec.environment`,
/// else in lauka's PATH.
Result<std::string> find_program(const ProgramSpec& spec);

/// Finds the file because of which the process of `spec` loses its counters on Linux: the program's
/// file, or a script's interpreter. nullopt if the process keeps its counters, or if unknown.
std::optional<CounterLossFile> find_counter_loss_file(const ProgramSpec& spec,
                                                      const LinuxCalls& calls);

}  // namespace lauka::os
