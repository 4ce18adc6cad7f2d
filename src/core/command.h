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
    Same,  ///< the same as the reference's
    File,
    Hash,
  };
  Kind kind = Kind::Same;
  std::string text{};  ///< the file's path, or SHA-256 in 64 small hexadecimal digits
};

/// Returns it as typed.
inline std::string text_of(const ExpectedOutput& expected) {
  if (expected.kind == ExpectedOutput::Kind::Same) return "same";
  return (expected.kind == ExpectedOutput::Kind::Hash ? "sha256:" : "") + expected.text;
}

/// Reads the option's value; nullopt if `text` is empty.
inline std::optional<ExpectedOutput> parse_expected_output(const std::string& text) {
  constexpr std::size_t prefix = 7;  // "sha256:"
  if (text.empty()) return std::nullopt;
  if (text == "same") return ExpectedOutput{};
  if (text.starts_with("sha256:"))
    return ExpectedOutput{ExpectedOutput::Kind::Hash, text.substr(prefix)};
  return ExpectedOutput{ExpectedOutput::Kind::File, text};
}

/// The destination of a command's standard output and error. Capture is for hooks: both together
/// are kept in case one fails.
enum class OutputKind : unsigned char { Null, Pipe, Inherit, File, Capture };
struct OutputChoice {
  OutputKind kind = OutputKind::Null;
  std::string path{};  ///< path of a file; empty for other choices

  bool operator==(const OutputChoice&) const = default;
};

/// A variable of -L or -P, and the value that a command was made with.
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

/// When a hook is run. The hooks after a run or command undo something, so they always run to their
/// end; AfterCommand also when the session is cut short.
enum class Moment : unsigned char { BeforeCommand, BeforeRun, AfterRun, AfterCommand };

/// The description of a kind of hook; kHookKinds is in the order of HookKind.
struct HookRow {
  HookKind kind;
  Moment moment;
  std::string_view name;     ///< option's name, without dashes
  char letter;               ///< option's letter
  std::string_view help;     ///< option's help
  std::string_view brief{};  ///< option's help in -h; empty: the option is not in -h

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

/// The hooks of a command; texts for sh -c.
using Hooks = ByHook<std::optional<std::string>>;

/// Identifies a program across sessions: two hashes (SHA-256, hexadecimal), both empty if unknown.
struct Fingerprint {
  std::string executable{};  ///< hash of the executable file
  std::string call{};        ///< hash of the call: arguments, variables, hooks of each run

  bool is_known() const { return !executable.empty(); }
  bool operator==(const Fingerprint&) const = default;
};

/// Why Linux takes a process's counters away when it executes a file.
enum class CounterLoss : unsigned char {
  SetUser,   ///< the file is setuid to another user
  SetGroup,  ///< the file is setgid to a group that is not the process's
  Capabilities,
  Unreadable,
};

/// The file at whose start a command loses its counters.
struct UncountedFile {
  CounterLoss loss = CounterLoss::SetUser;
  std::string file{};  ///< the file that execve runs: a script's interpreter
  bool is_counted_as_root =
      false;  ///< root would keep the counters, and the command's user is not root

  bool operator==(const UncountedFile&) const = default;
};

/// A command: one argument of the command line, with one combination of parameters.
struct Command {
  std::string name;                ///< name as shown: --command-name, else the text
  std::string text;                ///< text as typed, with the parameters in their places
  std::vector<std::string> words;  ///< argv of what is run; with a shell: SHELL, "-c", the text
  std::vector<Parameter>
      parameters{};  ///< parameters that the command uses, in the order of the options
  std::vector<std::string> environment{};  ///< NAME=VALUE, for it and its hooks
  std::string input{};                     ///< the file of its standard input; empty: no input
  OutputChoice output{};
  std::optional<ExpectedOutput> expected{};
  std::string folder{};  ///< folder in which the command and its hooks run; empty: lauka's
  Hooks hooks{};
  std::optional<std::string> build{};        ///< a text for sh -c that makes its program
  std::size_t typed = 0;                     ///< index of the command typed that it was made from
  std::string pattern{};                     ///< the typed name, with the variables in braces
  Fingerprint program{};                     ///< unknown unless the session needs it
  std::optional<UncountedFile> uncounted{};  ///< nullopt: its counters stay, or there are none
};

/// The user that runs the commands, if not lauka's own.
struct User {
  std::uint32_t id = 0;
  std::uint32_t group = 0;
  std::vector<std::uint32_t> groups{};  ///< all of them, `group` first
  std::string name{};
  std::string home{};
};

/// The failing runs that do not end the benchmark.
struct IgnoreFailure {
  bool any = false;
  std::vector<int> statuses{};  ///< they count as success, 128 + N for signal N; empty if any
};

}  // namespace lauka
