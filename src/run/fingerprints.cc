#include "run/fingerprints.h"

#include "core/recording.h"
#include "core/sha256.h"
#include "core/text.h"
#include "os/files.h"
#include "os/process.h"
#include "os/program_files.h"
#include "plan/command_layouts.h"
#include "run/programs.h"
#include "session/baseline.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// The largest file whose bytes are hashed although it is not a command's own program.
constexpr std::uint64_t kMaxHashedArgument = std::uint64_t{64} << 20U;

/// Programs that do what a file or another program says, by name without version.
constexpr auto kLaunchers = std::to_array<std::string_view>({
    "bash",    "bazel",    "bun",         "busybox",  "bwrap",   "cargo",   "chroot",  "chrt",
    "cmake",   "ctest",    "dash",        "deno",     "docker",  "doas",    "dotnet",  "elixir",
    "env",     "erl",      "find",        "fish",     "flatpak", "gdb",     "go",      "gmake",
    "gradle",  "guile",    "ionice",      "java",     "julia",   "just",    "ksh",     "ltrace",
    "lua",     "luajit",   "make",        "meson",    "mono",    "mpirun",  "mvn",     "nice",
    "ninja",   "node",     "nodejs",      "nohup",    "npm",     "npx",     "nsenter", "numactl",
    "ocaml",   "ocamlrun", "octave",      "parallel", "perf",    "perl",    "php",     "podman",
    "pnpm",    "pypy",     "python",      "R",        "racket",  "Rscript", "ruby",    "runuser",
    "sbcl",    "setarch",  "setpriv",     "setsid",   "sh",      "ssh",     "stdbuf",  "strace",
    "su",      "sudo",     "systemd-run", "taskset",  "tclsh",   "time",    "timeout", "tox",
    "unshare", "uv",       "valgrind",    "watch",    "wine",    "xargs",   "yarn",    "zsh",
});

bool is_launcher_name(std::string_view path) {
  std::string_view name = file_name_of(path);
  const std::size_t end = name.find_last_not_of("0123456789.-");
  name = name.substr(0, end == std::string_view::npos ? 0 : end + 1);
  return std::ranges::find(kLaunchers, name) != kLaunchers.end();
}

bool is_machine_code(std::string_view first_bytes) {
  constexpr auto marks = std::to_array<std::string_view>(
      {"\177ELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe"});
  return std::ranges::any_of(marks,
                             [&](std::string_view mark) { return first_bytes.starts_with(mark); });
}

/// A text of many texts. Each ends with a null byte, and each list with an empty text, so that
/// different settings never give the same call.
class CallText {
 public:
  void add(std::string_view text) {
    text_ += text;
    text_ += '\0';
  }
  void add_list(std::span<const std::string> texts) {
    for (const std::string& text : texts) add(text);
    add("");
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Returns the arguments of a command. Without a shell, the first word is the program. With a
/// shell, the only word is the shell's whole line.
std::span<const std::string> arguments_of(const Plan& plan, const Command& command) {
  const std::span<const std::string> words = command.words;
  return plan.shell || words.empty() ? words : words.subspan(1);
}

/// Returns the command's call as one text: its arguments and all other settings because of which
/// runs of the same program may differ. Two commands do the same if their programs and their calls
/// are equal. The program's own name is left out, because files of different names may be the same
/// program.
std::string serialize_call(const Plan& plan, const Command& command) {
  CallText call;
  call.add_list(arguments_of(plan, command));
  call.add_list(command.environment);
  call.add(command.folder);
  const bool has_input_file = !command.input.empty();
  if (has_input_file) call.add("<" + command.input);

  // Hooks are commands that the user runs before or after others. Those around each run may change
  // what the run finds.
  for (const HookRow& row : kHookKinds)
    if (row.is_of_a_run()) call.add(command.hooks[row.kind].value_or(""));

  call.add(command.output.path);
  call.add(std::to_string(static_cast<int>(command.output.kind)));
  call.add(std::to_string(plan.setting.jobs));
  return call.take();
}

std::string hash_call(const Plan& plan, const Command& command) {
  Sha256 hash;
  hash.add(serialize_call(plan, command));
  return hash.hex_digest();
}

/// Returns the path of a command's executable file in a layout; nullopt if there is none.
std::optional<std::string> find_executable(const Plan& plan, std::size_t command,
                                           std::uint32_t layout, const ReadContext& reader) {
  if (plan.commands[command].words.empty()) return std::nullopt;
  const auto built = command_in_layout(plan, command, layout);
  const auto path = os::find_program(make_program(plan, *built, reader.user));
  if (!path) return std::nullopt;
  return path_seen_from(built->folder, *path);
}

/// Adds the bytes of a file to `hash`. Returns false if the user interrupts.
bool add_bytes(const os::TextFile& file, const ReadContext& reader, Sha256& hash) {
  std::array<char, 16384> bytes;
  std::uint64_t from = 0;
  while (const std::size_t got = file.read(from, bytes)) {
    if (reader.interrupt_check() != 0) return false;
    hash.add({bytes.data(), got});
    from += got;
  }
  return true;
}

/// Returns true if two files have the same bytes, which are then added to `hash`. If it returns
/// false, `hash` is of no use.
bool add_common_bytes(const os::TextFile& file, const os::TextFile& other_file,
                      const ReadContext& reader, Sha256& hash) {
  std::array<char, 16384> bytes;
  std::array<char, 16384> other_bytes;
  std::uint64_t offset = 0;
  for (;;) {
    const std::size_t count = file.read(offset, bytes);
    const std::size_t other_count = other_file.read(offset, other_bytes);
    if (other_count != count) return false;
    if (!std::equal(bytes.begin(), bytes.begin() + count, other_bytes.begin())) return false;

    const bool are_both_at_end = count == 0;
    if (are_both_at_end) return true;

    if (reader.interrupt_check() != 0) return false;
    hash.add({bytes.data(), count});
    offset += count;
  }
}

/// Returns true if two files have the same bytes, which are then added to `hash`, so that equal
/// files are read only once. If it returns false, `hash` is of no use: the files differ, one cannot
/// be read, or the user has interrupted.
bool add_bytes_if_equal(const std::string& path, const std::string& other_path,
                        const ReadContext& reader, Sha256& hash) {
  const auto file = os::TextFile::open(path, reader.user);
  const auto other_file = os::TextFile::open(other_path, reader.user);
  if (!file || !other_file) return false;

  const bool is_one_file = path == other_path;
  if (is_one_file) return add_bytes(*file, reader, hash);
  if (file->facts().size != other_file->facts().size) return false;
  return add_common_bytes(*file, *other_file, reader, hash);
}

/// Returns nullopt if the user interrupts.
std::optional<std::string> hash_file(const os::TextFile& file, const ReadContext& reader) {
  Sha256 hash;
  const os::FileFacts facts = file.facts();
  if (facts.size > kMaxHashedArgument)
    hash.add(fmt::format("{} bytes of {}", facts.size, facts.changed_seconds));
  else if (!add_bytes(file, reader, hash))
    return std::nullopt;
  return hash.hex_digest();
}

/// Returns the bytes that tell the kind of a file: "#!", or those of an executable format.
std::string read_first_bytes(const std::string& path, const ReadContext& reader) {
  const auto file = os::TextFile::open(path, reader.user);
  std::array<char, 16> bytes;
  return file ? std::string(bytes.data(), file->read(0, bytes)) : std::string();
}

/// Returns the paths that the arguments of a command may name: each argument, and the value of
/// each argument --option=VALUE.
std::vector<std::string> list_paths_in_arguments(const Command& command, bool has_shell) {
  std::vector<std::string> words(command.words.begin() + 1, command.words.end());
  // The last word of a shell's command line is what the user typed.
  if (has_shell)
    for (const std::string_view part : split(command.words.back(), ' ')) words.emplace_back(part);

  std::vector<std::string> paths;
  for (const std::string& word : words) {
    if (word.empty()) continue;
    paths.push_back(path_seen_from(command.folder, word));
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && equals > 0 && equals + 1 < word.size())
      paths.push_back(path_seen_from(command.folder, word.substr(equals + 1)));
  }
  return paths;
}

/// Returns the hash of the files that the arguments name in the first layout; empty if they name
/// none.
std::string hash_argument_files(const Plan& plan, std::size_t command, const ReadContext& reader) {
  Sha256 hash;
  bool has_file = false;
  for (const ArgumentFile& file : find_argument_files(plan, command, reader)) {
    hash.add(file.hash);
    has_file = true;
  }
  return has_file ? hash.hex_digest() : std::string();
}

/// True if an argument of a command names a program: a file that can be run, or a name in PATH.
bool names_program(const Plan& plan, std::size_t command, const ReadContext& reader) {
  const auto built = command_in_layout(plan, command, 0);
  os::ProgramSpec spec = make_program(plan, *built, reader.user);
  const std::vector<std::string> words = std::exchange(spec.words, {});
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].empty() || words[i].starts_with('-')) continue;
    spec.words = {words[i]};
    if (os::find_program(spec)) return true;
  }
  return false;
}

ProgramKind find_program_kind(const Plan& plan, std::size_t command, const std::string& path,
                              const ReadContext& reader) {
  return classify_program(path, read_first_bytes(path, reader),
                          names_program(plan, command, reader));
}

/// Returns an empty fingerprint with a shell, or if a program cannot be read.
Fingerprint make_fingerprint(const Plan& plan, std::size_t command, const ReadContext& reader) {
  if (plan.shell) return {};
  Sha256 hash;
  std::string first_path;
  for (std::uint32_t layout = 0; layout < plan.setting.layouts; ++layout) {
    const auto path = find_executable(plan, command, layout, reader);
    if (!path) return {};
    const auto file = os::TextFile::open(*path, reader.user);
    if (!file || !add_bytes(*file, reader, hash)) return {};
    if (layout == 0) first_path = *path;
  }
  return {hash.hex_digest(), hash_call(plan, plan.commands[command]),
          hash_argument_files(plan, command, reader),
          find_program_kind(plan, command, first_path, reader)};
}

/// Makes fingerprints only of commands that were called alike in the baseline, because only these
/// can be known to be the same program. The others stay empty.
std::vector<Fingerprint> fingerprint_if_called_as_in_baseline(const Plan& plan,
                                                              const ReadContext& reader) {
  std::vector<Fingerprint> programs(plan.commands.size());
  for (std::size_t c = 0; c < plan.commands.size(); ++c) {
    const Fingerprint& in_baseline = find_in_baseline(plan.reference, c)->command().fingerprint;
    if (in_baseline.is_known() && in_baseline.call_sha256 == hash_call(plan, plan.commands[c]))
      programs[c] = make_fingerprint(plan, c, reader);
  }
  return programs;
}

/// Returns the paths of a command's executable file in all layouts; empty if one is missing.
std::vector<std::string> find_executables(const Plan& plan, std::size_t command,
                                          const ReadContext& reader) {
  std::vector<std::string> paths;
  for (std::uint32_t layout = 0; layout < plan.setting.layouts; ++layout) {
    auto path = find_executable(plan, command, layout, reader);
    if (!path) return {};
    paths.push_back(*std::move(path));
  }
  return paths;
}

/// Returns the hash of files if each has the same bytes as the other at its place; else, and of no
/// files, nullopt.
std::optional<std::string> hash_if_equal(const std::vector<std::string>& paths,
                                         const std::vector<std::string>& others,
                                         const ReadContext& reader) {
  if (paths.empty() || paths.size() != others.size()) return std::nullopt;
  Sha256 hash;
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!add_bytes_if_equal(paths[i], others[i], reader, hash)) return std::nullopt;
  return hash.hex_digest();
}

/// The executable files of two commands, each in all layouts.
using PairOfFiles = std::pair<std::vector<std::string>, std::vector<std::string>>;

/// What hash_if_equal() has returned for pairs, each of which is read once.
using HashOfPair = std::map<PairOfFiles, std::optional<std::string>>;

/// Returns what hash_if_equal() returns for a pair. Adds it to `hash_of_pair` if it is not there.
const std::optional<std::string>& find_or_make_hash(const PairOfFiles& files,
                                                    const ReadContext& reader,
                                                    HashOfPair& hash_of_pair) {
  const auto [entry, is_new_pair] = hash_of_pair.try_emplace(files);
  if (is_new_pair) entry->second = hash_if_equal(files.first, files.second, reader);
  return entry->second;
}

/// Returns the fingerprint that a candidate has in common with its reference; nullopt if their
/// calls or files differ. `hash_of_pair`: hashes of files that were compared earlier.
std::optional<Fingerprint> find_common_fingerprint(const Plan& plan, std::size_t candidate,
                                                   const ReadContext& reader,
                                                   HashOfPair& hash_of_pair) {
  const std::size_t reference = plan.reference.index_for(candidate);
  const Command& candidate_command = plan.commands[candidate];
  const Command& reference_command = plan.commands[reference];
  if (serialize_call(plan, candidate_command) != serialize_call(plan, reference_command))
    return std::nullopt;

  const PairOfFiles files{find_executables(plan, reference, reader),
                          find_executables(plan, candidate, reader)};
  const auto& hash_of_equal_files = find_or_make_hash(files, reader, hash_of_pair);
  if (!hash_of_equal_files) return std::nullopt;

  // All layouts of a program are of one kind, so the file of the first one tells the kind.
  const std::string& first_executable = files.second.front();

  // Both commands have the same arguments and the same folder, so the files that the arguments
  // name are the same, and need no hash.
  return Fingerprint{.executable_sha256 = *hash_of_equal_files,
                     .call_sha256 = hash_call(plan, candidate_command),
                     .argument_files_sha256 = "",
                     .program = find_program_kind(plan, candidate, first_executable, reader)};
}

/// True if a file may be run as a program.
bool is_runnable(const std::string& path, const os::TextFile& file, const ReadContext& reader) {
  return file.facts().is_executable || read_first_bytes(path, reader).starts_with("#!");
}

}  // namespace

std::optional<std::string> hash_file(const std::string& path, const ReadContext& reader) {
  const auto file = os::TextFile::open(path, reader.user);
  return file ? hash_file(*file, reader) : std::nullopt;
}

// Two runs with equal arguments still differ if the files that the arguments name have changed.
// Only the first layout of a command is looked at, so files that only later layouts name are left
// out.
std::vector<ArgumentFile> find_argument_files(const Plan& plan, std::size_t command,
                                              const ReadContext& reader) {
  std::vector<ArgumentFile> files;
  if (plan.commands[command].words.empty()) return files;
  const auto in_first_layout = command_in_layout(plan, command, 0);

  // A launcher decides by its arguments what is run, as an interpreter or "make" does.
  const bool has_shell = plan.shell.has_value();
  const bool has_launcher = !has_shell && is_launcher_name(in_first_layout->words.front());

  for (const std::string& path : list_paths_in_arguments(*in_first_layout, has_shell)) {
    const auto file = os::TextFile::open(path, reader.user);
    if (!file) continue;  // the argument names no file that can be read

    // After an interrupt, the caller has no use for the other files.
    auto hash = hash_file(*file, reader);
    const bool is_interrupted = !hash.has_value();
    if (is_interrupted) return files;

    // The first file among an interpreter's arguments is the script. The later ones are the
    // arguments of the script.
    const bool is_script = has_launcher && files.empty();
    const bool is_program = is_script || is_runnable(path, *file, reader);
    files.push_back({.path = path, .hash = *std::move(hash), .is_program = is_program});
  }
  return files;
}

ProgramKind classify_program(const std::string& path, std::string_view first_bytes,
                             bool runs_argument) {
  const bool is_native = is_machine_code(first_bytes) && !runs_argument && !is_launcher_name(path);
  return is_native ? ProgramKind::Native : ProgramKind::Launcher;
}

void set_fingerprints(const Plan& plan, const ReadContext& reader, const CommandRange& commands,
                      std::vector<Fingerprint>& programs) {
  programs.resize(plan.commands.size());
  for (std::size_t c = commands.first; c < std::size_t{commands.first} + commands.count; ++c)
    programs[c] = make_fingerprint(plan, c, reader);
}

// A fingerprint identifies a program and its call by hashes. If a candidate and its reference have
// equal fingerprints, they do the same, so a difference of their times must come from the machine.
std::vector<Fingerprint> fingerprints_to_compare(const Plan& plan, const ReadContext& reader) {
  // The references may be the commands of a baseline, an earlier session.
  if (plan.reference.baseline) return fingerprint_if_called_as_in_baseline(plan, reader);

  // A session with parameters has many commands with the same pair of programs.
  HashOfPair hash_of_pair;

  std::vector<Fingerprint> fingerprints;
  for (std::size_t candidate = 0; candidate < plan.commands.size(); ++candidate) {
    if (!plan.reference.is_candidate(candidate)) continue;
    const auto fingerprint = find_common_fingerprint(plan, candidate, reader, hash_of_pair);
    if (!fingerprint) continue;

    fingerprints.resize(plan.commands.size());
    fingerprints[plan.reference.index_for(candidate)] = *fingerprint;
    fingerprints[candidate] = *fingerprint;
  }
  return fingerprints;
}

}  // namespace lauka
