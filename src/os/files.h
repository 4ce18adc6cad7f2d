#pragma once

#include "core/result.h"
#include "os/terminal.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lauka::os {

/// One name for a file, whatever it was called: absolute, without links, also where it is not there
/// yet.
struct ResolvedPath {
  std::string path;
  /// A link on the way that somebody else made in a sticky folder open to all, where anybody may
  /// have laid it out; empty: none.
  std::string foreign_link{};
};
ResolvedPath resolve(const std::string& path);

/// All of a file of at most `most_bytes`, of a device at most 1 MiB. The error is a predicate of
/// the file ("cannot be read: No such file or directory").
Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// That `target` cannot be written, and why.
Error cannot_write(const std::string& target, int error,
                   const std::string& remedy = "name another file");

/// That `target` is not written, as ResolvedPath::foreign_link stands on its way.
Error cannot_follow(const std::string& target, const std::string& foreign_link);

/// Whether anything is at `path`.
bool is_there(const std::string& path);

/// Whether a file with contents of its own is there: no folder, pipe or device.
bool is_regular_file(const std::string& path);

/// Refuses a file that commands could not read as their input, or could not write their output to;
/// nothing is changed.
Result<void> check_input(const std::string& path);
Result<void> check_output(const std::string& path);

/// Refuses a folder that commands could not be run in.
Result<void> check_folder(const std::string& path);

/// Writes all of `text` to standard output or error. The error says why it cannot be written.
Result<void> say(Stream stream, std::string_view text);

/// False: it is a pipe whose reader has gone.
bool has_reader(Stream stream);

/// A variable of lauka's own environment; none: it is not set.
std::optional<std::string> variable(const char* name);

}  // namespace lauka::os
