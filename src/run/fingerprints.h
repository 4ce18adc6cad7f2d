#pragma once

#include "core/command.h"
#include "plan/plan.h"
#include "run/stopping.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

struct ReadContext {
  const std::optional<User>& user;
  /// Returns the signal that asked lauka to end; 0: no signal.
  const std::function<int()>& interrupt_check;
};

/// Returns the SHA-256 of a file; of a file above 64 MiB, of its size and the time of its last
/// change. nullopt if it cannot be read, or if the user interrupts.
std::optional<std::string> hash_file(const std::string& path, const ReadContext& reader);

/// A regular file that an argument of a command names.
struct ArgumentFile {
  std::string path{};
  std::string hash{};       ///< as hash_file() makes it
  bool is_program = false;  ///< true if the file decides what is run: a program, or a script
};

/// Returns the files that the arguments of a command name in its first layout. Leaves out files
/// that cannot be read.
std::vector<ArgumentFile> find_argument_files(const Plan& plan, std::size_t command,
                                              const ReadContext& reader);

/// Sets the fingerprints of `commands` in `programs`, which has an element for each command of the
/// plan afterwards. Unknown fingerprints are empty.
void set_fingerprints(const Plan& plan, const ReadContext& reader, const CommandRange& commands,
                      std::vector<Fingerprint>& programs);

/// Returns the fingerprints of commands that may run the same program as their reference. Without a
/// baseline: of candidates with the reference's file and call, and of the reference. With a
/// baseline: of commands with their reference's Fingerprint::call_sha256. Other fingerprints are
/// empty or missing. Reads files only if their sizes are equal.
std::vector<Fingerprint> fingerprints_to_compare(const Plan& plan, const ReadContext& reader);

/// Returns what the program at `path` is. `first_bytes`: the first bytes of its file.
/// `runs_argument`: true if an argument names a program.
ProgramKind classify_program(const std::string& path, std::string_view first_bytes,
                             bool runs_argument);

}  // namespace lauka
