#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// The expected output of a command.
struct ExpectedOutput {
  enum class Kind : unsigned char {
    Same,  ///< equals the reference's output
    File,
    Hash,
  };
  Kind kind = Kind::Same;
  std::string
      text{};  ///< path of the file, or SHA-256 in 64 lower-case hexadecimal digits; empty for Same
};

/// Returns the option's value as typed.
inline std::string text_of(const ExpectedOutput& expected) {
  if (expected.kind == ExpectedOutput::Kind::Same) return "same";
  return (expected.kind == ExpectedOutput::Kind::Hash ? "sha256:" : "") + expected.text;
}

/// Reads the value of --expect-output; nullopt if `text` is empty.
inline std::optional<ExpectedOutput> parse_expected_output(const std::string& text) {
  constexpr std::size_t prefix = 7;  // "sha256:"
  if (text.empty()) return std::nullopt;
  if (text == "same") return ExpectedOutput{};
  if (text.starts_with("sha256:"))
    return ExpectedOutput{ExpectedOutput::Kind::Hash, text.substr(prefix)};
  return ExpectedOutput{ExpectedOutput::Kind::File, text};
}

/// A destination of standard output and error. Capture is for hooks: lauka keeps both streams
/// together and shows them if the hook fails.
enum class OutputKind : unsigned char { Null, Pipe, Inherit, File, Capture };
struct OutputChoice {
  OutputKind kind = OutputKind::Null;
  std::string path{};  ///< path of a file; empty for other choices

  bool operator==(const OutputChoice&) const = default;
};

/// A variable of -L or -P, with the value that it has in one command.
struct Parameter {
  std::string name;
  std::string value;

  bool operator==(const Parameter&) const = default;
};

/// A label of a session: commit=1a2b3c.
struct Label {
  std::string key;
  std::string value;
};

enum class HookKind : unsigned char { Setup, Prepare, Conclude, Cleanup };

/// The time at which a hook runs. AfterRun and AfterCommand hooks undo something, so they are never
/// stopped early; AfterCommand hooks run even if the session was cut short.
enum class Moment : unsigned char { BeforeCommand, BeforeRun, AfterRun, AfterCommand };

/// A kind of hook and its option.
struct HookRow {
  HookKind kind;
  Moment moment;
  std::string_view name;     ///< option's name, without dashes
  char letter;               ///< option's letter
  std::string_view help;     ///< option's text in --help
  std::string_view brief{};  ///< option's text in -h; empty: the option is missing from -h

  constexpr bool is_of_a_run() const {
    return moment == Moment::BeforeRun || moment == Moment::AfterRun;
  }
  constexpr bool undoes() const {
    return moment == Moment::AfterRun || moment == Moment::AfterCommand;
  }
};
inline constexpr auto kHookKinds = std::to_array<HookRow>({
    {HookKind::Setup, Moment::BeforeCommand, "setup", 's',
     "run CMD with sh -c once before all runs of a command. Give this one and the seven below once "
     "for all commands, or once per command"},
    {HookKind::Prepare, Moment::BeforeRun, "prepare", 'p',
     "run CMD before every run, warm-up runs included; LAUKA_ITERATION is its number",
     "run CMD before every run"},
    {HookKind::Conclude, Moment::AfterRun, "conclude", 'C', "run CMD after every run, likewise"},
    {HookKind::Cleanup, Moment::AfterCommand, "cleanup", 'c',
     "run CMD once after all runs of a command, also when one failed or you pressed Ctrl-C"},
});
constexpr const HookRow& row_of(HookKind kind) {
  return kHookKinds.at(static_cast<std::size_t>(kind));
}

/// A value for each kind of hook.
template <typename T>
struct ByHook {
  std::array<T, kHookKinds.size()> all{};

  T& operator[](HookKind kind) { return all.at(static_cast<std::size_t>(kind)); }
  const T& operator[](HookKind kind) const { return all.at(static_cast<std::size_t>(kind)); }
};

/// A command's hooks, each a text for sh -c; nullopt: the command has no hook of that kind.
using Hooks = ByHook<std::optional<std::string>>;

/// Identifies a program in different sessions by two SHA-256 hashes in hexadecimal; both are empty
/// if unknown, as with a shell.
struct Fingerprint {
  std::string executable{};  ///< hash of the executable file; with --layouts, of all builds
  std::string call{};        ///< hash of the rest that matters: file name, arguments, environment
                             ///< variables, folder, input, output, jobs, hooks of each run

  bool is_known() const { return !executable.empty(); }
  bool operator==(const Fingerprint&) const = default;
};

/// The reason why Linux takes a process's counters away when the process executes a file.
enum class CounterLoss : unsigned char {
  SetUser,   ///< the file is setuid to another user
  SetGroup,  ///< the file is setgid to another group than the process's own
  Capabilities,
  Unreadable,
};

/// A file that makes a command lose its counters.
struct UncountedFile {
  CounterLoss loss = CounterLoss::SetUser;
  std::string file{};  ///< file that execve runs; for a script, its interpreter
  bool is_counted_as_root =
      false;  ///< true if root would keep the counters and the command's user is not root

  bool operator==(const UncountedFile&) const = default;
};

/// A command: one argument of the command line, with one combination of parameters.
struct Command {
  std::string name;  ///< name as shown: --command-name, else `text`; then, if other commands have
                     ///< that name, what tells them apart
  std::string text;  ///< command as typed, after substitution of parameters
  std::vector<std::string> words;  ///< argv to execute; with a shell: SHELL, "-c", `text`
  std::vector<Parameter>
      parameters{};  ///< parameters that the command uses, in the order of -L and -P
  std::vector<std::string>
      environment{};    ///< NAME=VALUE entries that the command and its hooks get
  std::string input{};  ///< file for standard input; empty: no input
  OutputChoice output{};
  std::optional<ExpectedOutput> expected{};
  std::string folder{};  ///< folder in which the command and its hooks run; empty: lauka's
  Hooks hooks{};
  std::optional<std::string> build{};  ///< text for sh -c that builds the command's program
  std::size_t typed = 0;  ///< index of the typed command from which substitution made this one
  std::string pattern{};  ///< name before substitution: `old {n}`
  Fingerprint program{};  ///< identity of the program; unknown unless the session needs it
  std::optional<UncountedFile>
      uncounted{};  ///< nullopt: keeps its counters, has none to lose, or unknown
};

/// The user who runs the commands, other than lauka's own.
struct User {
  std::uint32_t id = 0;                 ///< user id
  std::uint32_t group = 0;              ///< primary group id
  std::vector<std::uint32_t> groups{};  ///< all group ids, `group` first
  std::string name{};
  std::string home{};
};

/// The failures that do not end the benchmark.
struct IgnoreFailure {
  bool any = false;             ///< true: all failures are ignored, and `statuses` is empty
  std::vector<int> statuses{};  ///< exit statuses that count as success; 128 + N for signal N
};

}  // namespace lauka
