#pragma once

#include "core/settings.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

struct ExpectedOutput {
  enum class Kind : unsigned char { Same, File, Hash };
  Kind kind = Kind::Same;
  /// Path of a file (File) or SHA-256 in hexadecimal (Hash); empty for Same.
  std::string file_or_hash{};
};

/// Returns `expected` as a value of --expect-output.
inline std::string text_of(const ExpectedOutput& expected) {
  if (expected.kind == ExpectedOutput::Kind::Same) return "same";
  return (expected.kind == ExpectedOutput::Kind::Hash ? "sha256:" : "") + expected.file_or_hash;
}

/// Reads the value of --expect-output; nullopt if `text` is empty.
inline std::optional<ExpectedOutput> parse_expected_output(const std::string& text) {
  constexpr std::size_t prefix = 7;
  if (text.empty()) return std::nullopt;
  if (text == "same") return ExpectedOutput{};
  if (text.starts_with("sha256:"))
    return ExpectedOutput{ExpectedOutput::Kind::Hash, text.substr(prefix)};
  return ExpectedOutput{ExpectedOutput::Kind::File, text};
}

/// The destination of a command's or hook's output. Capture keeps standard output and standard
/// error together.
enum class OutputKind : unsigned char { Null, Pipe, Inherit, File, Capture };

/// A kind of output and its word in --output.
struct OutputWord {
  OutputKind kind;
  std::string_view word;
};
inline constexpr auto kOutputWords = std::to_array<OutputWord>({
    {OutputKind::Null, "null"},
    {OutputKind::Pipe, "pipe"},
    {OutputKind::Inherit, "inherit"},
});

struct OutputChoice {
  OutputKind kind = OutputKind::Null;
  std::string path{};

  bool operator==(const OutputChoice&) const = default;
};

/// Returns the choice as the user types it: "pipe", or the path of a file. Returns "capture" for
/// output that lauka reads itself (--scrape).
inline std::string text_of(const OutputChoice& output) {
  if (output.kind == OutputKind::File) return output.path;
  for (const OutputWord& known : kOutputWords)
    if (known.kind == output.kind) return std::string(known.word);
  return "capture";
}

struct Parameter {
  std::string name;
  std::string value;

  bool operator==(const Parameter&) const = default;
};

struct Label {
  std::string key;
  std::string value;

  bool operator==(const Label&) const = default;
};

/// The fewest layouts of a command for an estimate over layouts, and the most that are built.
inline constexpr std::size_t kMinLayouts = 4;
inline constexpr std::size_t kMaxLayouts = 1000;

enum class HookKind : unsigned char { Setup, Prepare, Conclude, Cleanup };

enum class Moment : unsigned char { BeforeCommand, BeforeRun, AfterRun, AfterCommand };

struct HookRow {
  HookKind kind;
  Moment moment;
  std::string_view name;
  char letter;
  std::string_view help;
  std::string_view brief{};  ///< text in -h; empty: the option is missing from -h

  constexpr bool is_of_a_run() const {
    return moment == Moment::BeforeRun || moment == Moment::AfterRun;
  }
  constexpr bool follows_runs() const {
    return moment == Moment::AfterRun || moment == Moment::AfterCommand;
  }
};
inline constexpr auto kHookKinds = std::to_array<HookRow>({
    {HookKind::Setup, Moment::BeforeCommand, "setup", 's',
     "run CMD once for each command, before its first run"},
    {HookKind::Prepare, Moment::BeforeRun, "prepare", 'p',
     "run CMD before every run, warm-up runs included", "run CMD before every run"},
    {HookKind::Conclude, Moment::AfterRun, "conclude", 'C',
     "run CMD after every run, warm-up runs included"},
    {HookKind::Cleanup, Moment::AfterCommand, "cleanup", 'c',
     "run CMD once for each command, after its last run, even if a run failed"},
});
constexpr const HookRow& row_of(HookKind kind) {
  return kHookKinds.at(static_cast<std::size_t>(kind));
}

template <typename T>
struct ByHook {
  std::array<T, kHookKinds.size()> all{};

  T& operator[](HookKind kind) { return all.at(static_cast<std::size_t>(kind)); }
  const T& operator[](HookKind kind) const { return all.at(static_cast<std::size_t>(kind)); }
};

/// A command's hooks as texts for sh -c; nullopt: the command has no hook of this kind.
using Hooks = ByHook<std::optional<std::string>>;

/// What a command's executable file is.
enum class ProgramKind : unsigned char {
  Unknown,
  Native,    ///< a program that decides itself what it does
  Launcher,  ///< a script, an interpreter, or a program that runs another: make, taskset
};

/// Identifies a program and its call by SHA-256 hashes in hexadecimal, which are empty if unknown.
struct Fingerprint {
  std::string executable_sha256{};  ///< hash of the executable file; with --layouts, hash of the
                                    ///< executable files of all layouts
  std::string call_sha256{};        ///< hash of the command's arguments and settings of its runs
  std::string argument_files_sha256{};  ///< hash of the files that the arguments name; empty if
                                        ///< they name none
  ProgramKind program = ProgramKind::Unknown;

  bool is_known() const { return !executable_sha256.empty(); }

  /// True if both are known, and the files, the arguments and the files that these name are equal.
  bool is_same_as(const Fingerprint& other) const {
    return is_known() && executable_sha256 == other.executable_sha256 &&
           call_sha256 == other.call_sha256 && argument_files_sha256 == other.argument_files_sha256;
  }
  bool operator==(const Fingerprint&) const = default;
};

/// The reason why Linux stops counting a process that executes a file.
enum class CounterLoss : unsigned char { SetUser, SetGroup, Capabilities, Unreadable };

struct CounterLossFile {
  CounterLoss loss = CounterLoss::SetUser;
  std::string file{};  ///< path of the executed file; for a script, path of the interpreter
  bool counted_as_root = false;

  bool operator==(const CounterLossFile&) const = default;
};

struct Command {
  std::string name;
  std::string text;  ///< command as typed, after substitution of parameters
  std::vector<std::string> words;
  std::vector<Parameter> parameters{};
  std::vector<std::string> environment{};  ///< NAME=VALUE entries to set in the environment
  std::string input{};  ///< path of the file for standard input; empty: /dev/null
  OutputChoice output{};
  std::optional<ExpectedOutput> expected{};
  /// Working folder of the command and its hooks; empty: lauka's working folder.
  std::string folder{};
  Hooks hooks{};
  std::optional<std::string> build{};
  /// Index of the typed command that this command was made from.
  std::size_t typed_command_index = 0;
  /// Name or text before substitution of parameters (`old {n}`), if known.
  std::string unfilled_name{};
  Fingerprint fingerprint{};
  SettingValues settings{};  ///< how the command was run; empty before the session ends
  std::optional<CounterLossFile> lost_counts{};  ///< file that makes the command lose its
                                                 ///< counters; nullopt: no such file is known
};

/// Returns a parameter of a command; a null pointer if it has none of that name.
const Parameter* find_parameter(const Command& command, std::string_view name);

struct User {
  std::uint32_t id = 0;
  std::uint32_t group = 0;
  std::vector<std::uint32_t> groups{};  ///< all known group ids, `group` first
  std::string name{};
  std::string home{};
};

struct IgnoreFailure {
  bool ignores_all = false;     ///< true if -i has no list of exit statuses
  std::vector<int> statuses{};  ///< exit statuses listed with -i; 128 + N: signal N
};

}  // namespace lauka
