#include "os/program_files.h"

#include "core/text.h"
#include "os/descriptor.h"
#include "os/files.h"
#include "os/linux_calls.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/users.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {

namespace {

/// Returns what makes `path` executable for this user; "" if rights are not what is missing.
std::string make_permission_remedy(const std::string& path) {
  struct stat there {};
  if (stat(path.c_str(), &there) != 0)
    return errno == EACCES ? "use chmod o+x on its folder to let this user enter it" : "";
  if (S_ISDIR(there.st_mode) || check_access(path, X_OK) == 0) return "";
  return (there.st_mode & 0111U) == 0 ? "write chmod +x " + shell_quoted(path)
                                      : "use chmod o+x to let this user run it";
}

/// Returns the interpreter in the first line of a script: "/bin/sh" for "#!/bin/sh -e"; "" for a
/// file of another kind.
std::string parse_interpreter(std::string_view head) {
  if (!head.starts_with("#!")) return "";
  head.remove_prefix(2);
  head = head.substr(0, head.find('\n'));
  head.remove_prefix(std::min(head.find_first_not_of(" \t"), head.size()));
  return std::string(head.substr(0, head.find_first_of(" \t\r")));
}

/// Returns the interpreter of a script if lauka cannot find the interpreter; else empty. execve
/// would report "no such file" as if the script were missing.
std::string find_missing_interpreter(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, kMaxHeadBytes> head{};
  const ssize_t got = file ? read(file.get(), head.data(), head.size()) : 0;
  std::string interpreter =
      parse_interpreter({head.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
  return !interpreter.empty() && check_access(interpreter, F_OK) != 0 ? interpreter : "";
}

/// Returns `path` if this process can run it. `word`: the program as the user typed it. `folder`:
/// the folder in which it will run, from which `path` is seen.
Result<std::string> check_runnable(const std::string& word, const std::string& path,
                                   const std::string& folder) {
  const std::string there = path_seen_from(folder, path);
  if (const int error = why_not_runnable(there); error != 0)
    return system_error(word, error, make_permission_remedy(there));
  const std::string interpreter = find_missing_interpreter(there);
  if (!interpreter.empty())
    return Error{word + ": bad interpreter: " + interpreter + ": No such file or directory", ""};
  return path;
}

constexpr int kMaxInterpreters = 5;  // the kernel's limit of nested interpreters

/// The rights of a process before it executes a file. The sets of capabilities are bit masks.
struct Credentials {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::uint64_t permitted = 0;
  std::uint64_t inheritable = 0;
  std::uint64_t bounding = 0;
  bool gains_nothing = false;  ///< true if no_new_privs is set, so that files grant no rights
};

std::uint64_t parse_capabilities(const std::string& status, std::string_view name) {
  return parse_hex(find_value(status, name, ':').value_or("")).value_or(0);
}

std::uint32_t parse_effective_id(const std::string& status, std::string_view name) {
  const std::string ids = find_value(status, name, ':').value_or("");
  const auto words = blank_separated(ids);  // real, effective, saved and file system id
  return words.size() < 2 ? 0 : static_cast<std::uint32_t>(parse_number(words[1]).value_or(0));
}

/// Returns the rights with which `spec` will be executed.
Credentials read_credentials(const ProgramSpec& spec, const LinuxCalls& calls) {
  const std::string status = calls.read_file("/proc/self/status").value_or("");
  return {.user = spec.user ? spec.user->id : parse_effective_id(status, "Uid"),
          .group = spec.user ? spec.user->group : parse_effective_id(status, "Gid"),
          .permitted = spec.user ? 0 : parse_capabilities(status, "CapPrm"),
          .inheritable = parse_capabilities(status, "CapInh"),
          .bounding = parse_capabilities(status, "CapBnd"),
          .gains_nothing = find_value(status, "NoNewPrivs", ':') == "1"};
}

/// True if a file's attribute grants capabilities that `rights` lacks. The attribute is the
/// kernel's struct vfs_cap_data: a revision, then permitted and inheritable capabilities, the lower
/// 32 bits of both first. Revision 3 counts as granting nothing.
bool gives_capabilities(const std::string& attribute, const Credentials& rights) {
  const auto word = [&](std::size_t index) {
    std::uint32_t value = 0;
    if (attribute.size() >= (index + 1) * sizeof value)
      std::memcpy(&value, attribute.data() + index * sizeof value, sizeof value);
    return std::uint64_t{value};
  };
  constexpr unsigned revision_bits = 24;
  if (word(0) >> revision_bits > 2) return false;
  const std::uint64_t permitted = word(1) | word(3) << 32U;
  const std::uint64_t inheritable = word(2) | word(4) << 32U;
  const std::uint64_t given = (permitted & rights.bounding) | (inheritable & rights.inheritable);
  return (given & ~rights.permitted) != 0;
}

/// Returns why the kernel takes the counters from a process that executes `file`: because it gains
/// rights beyond its user's, or its user may not read its memory (begin_new_exec in fs/exec.c).
/// Returns nullopt if the kernel does not.
std::optional<CounterLoss> find_loss(const ProgramFile& file, const Credentials& rights) {
  if (!file.is_on_nosuid && !rights.gains_nothing) {
    constexpr std::uint32_t setgid =
        S_ISGID | S_IXGRP;  // setgid without group execution has no effect
    if ((file.mode & S_ISUID) != 0 && file.owner != rights.user) return CounterLoss::SetUser;
    if ((file.mode & setgid) == setgid && file.group != rights.group) return CounterLoss::SetGroup;
    if (rights.user != 0 && gives_capabilities(file.capabilities, rights))
      return CounterLoss::Capabilities;
  }
  return file.first_bytes ? std::nullopt : std::optional(CounterLoss::Unreadable);
}

/// What a search in PATH found.
struct FoundInPath {
  std::string program{};         ///< empty if no file may be executed
  std::string not_executable{};  ///< a file that may not be executed; empty if there is none
};

bool is_program_file(const std::string& path) {
  return check_access(path, F_OK) == 0 && !is_directory(path);
}

/// Searches a program in the folders of a PATH. Like a shell, takes an empty entry for the working
/// folder, and goes on after a file that may not be executed.
FoundInPath search_path(const std::string& word, std::string_view folders,
                        const std::string& folder) {
  FoundInPath found;
  for (const std::string_view entry : split(folders, ':')) {
    if (word.empty()) break;  // the shell finds no program with an empty name
    const std::string candidate = std::string(entry.empty() ? "." : entry) + "/" + word;
    const std::string candidate_from_here = path_seen_from(folder, candidate);
    if (!is_program_file(candidate_from_here)) continue;
    if (check_access(candidate_from_here, X_OK) == 0) {
      found.program = candidate;
      break;
    }
    found.not_executable = candidate;
  }
  return found;
}

/// Returns the error of a search that found no program that may be executed.
Error make_not_found_error(const std::string& word, const std::string& not_executable,
                           const std::string& folder) {
  if (!not_executable.empty())
    return Error{not_executable + ": Permission denied",
                 make_permission_remedy(path_seen_from(folder, not_executable))};
  if (is_program_file(path_seen_from(folder, word)))
    return Error{word + ": command not found",
                 "write " + shell_quoted("./" + word) + " if you mean the file in this folder"};
  return Error{.what = word + ": command not found",
               .remedy = "name a program in PATH, or use -S for the shell's own commands",
               .unknown_name = word};
}

struct DescribedFile {
  std::string path{};
  ProgramFile file{};
};

/// Returns the file that the kernel executes in the end, whose rights decide. For a script, that is
/// its interpreter, which may be a script, too. Returns nullopt if the file is unknown.
std::optional<DescribedFile> find_executed_file(std::string path, const std::string& folder,
                                                const LinuxCalls& calls) {
  for (int followed = 0; followed <= kMaxInterpreters; ++followed) {
    auto file = calls.describe_program(path);
    if (!file) return std::nullopt;

    const std::string interpreter = parse_interpreter(file->first_bytes.value_or(""));
    const bool is_script = !interpreter.empty();
    if (is_script) {
      path = path_seen_from(folder, interpreter);
      continue;
    }

    // For a file in another format than ELF, the kernel may execute an interpreter that is
    // registered for the format (binfmt_misc). A file that cannot be read is taken for ELF.
    constexpr std::string_view elf_magic = "\177ELF";
    const bool has_other_format = file->first_bytes && !file->first_bytes->starts_with(elf_magic);
    if (has_other_format) return std::nullopt;
    return DescribedFile{.path = std::move(path), .file = *std::move(file)};
  }
  return std::nullopt;
}

bool would_root_lose_counters(ProgramFile file, const Credentials& rights) {
  file.first_bytes = "";  // root may read every file
  return find_loss(file, {.gains_nothing = rights.gains_nothing}).has_value();
}

/// Returns the loss of counters by executing a file; nullopt if they are not lost.
std::optional<CounterLossFile> find_loss_of(const DescribedFile& executed,
                                            const Credentials& rights) {
  const ProgramFile& file = executed.file;
  const auto loss = find_loss(file, rights);
  if (!loss) return std::nullopt;

  // Another user may be able to count the program by running lauka as root.
  const bool is_root = rights.user == 0;
  const bool can_root_count = !is_root && !would_root_lose_counters(file, rights);
  return CounterLossFile{.loss = *loss, .file = executed.path, .counted_as_root = can_root_count};
}

}  // namespace

// Paths are relative to `folder`, in which the program will run. lauka is in another folder, so it
// checks a file by the path that path_seen_from() returns.
Result<std::string> find_program(const std::string& word, const std::optional<std::string>& path,
                                 const std::string& folder) {
  const bool is_path = word.find('/') != std::string::npos;
  if (is_path) return check_runnable(word, word, folder);

  const std::string searched_folders =
      path ? *path : read_variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  const FoundInPath found = search_path(word, searched_folders, folder);
  return found.program.empty() ? make_not_found_error(word, found.not_executable, folder)
                               : check_runnable(word, found.program, folder);
}

// The kernel closes the counters of a process that gains rights by executing a file, such as a
// setuid program. The user then wants to know which file that is.
std::optional<CounterLossFile> find_counter_loss_file(const ProgramSpec& spec,
                                                      const LinuxCalls& calls) {
  // With suid_dumpable 1, processes that gain rights keep their counters.
  if (calls.read_file("/proc/sys/fs/suid_dumpable").value_or("").starts_with('1'))
    return std::nullopt;

  // Files are read with the rights of the user who will run the program.
  const auto program = find_program(spec);
  const ActAs user(spec.user);
  if (!program || user.error()) return std::nullopt;
  const auto executed =
      find_executed_file(path_seen_from(spec.folder, *program), spec.folder, calls);
  return executed ? find_loss_of(*executed, read_credentials(spec, calls)) : std::nullopt;
}

Result<std::string> find_program(const ProgramSpec& spec) {
  const ActAs user(spec.user);
  if (user.error()) return *user.error();
  constexpr std::string_view name = "PATH=";
  std::optional<std::string> path;
  for (const std::string& variable : spec.environment_changes) {
    if (variable.starts_with(name)) path = variable.substr(name.size());
  }
  return find_program(spec.words.at(0), path, spec.folder);
}

}  // namespace lauka::os
