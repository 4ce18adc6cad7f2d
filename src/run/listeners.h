#pragma once

#include "core/pattern.h"
#include "core/result.h"
#include "core/sha256.h"
#include "core/text.h"
#include "os/files.h"
#include "os/process.h"
#include "plan/plan.h"
#include "run/runner.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Listeners: the evaluation of a run's output as it comes.

namespace lauka {

/// Waits for a line, of standard output or error, in which an expression matches. A line counts
/// when its line break has been read; of a very long one the first 16 KB are looked at.
class AwaitedLine final : public os::OutputListener {
 public:
  explicit AwaitedLine(Pattern pattern) : pattern_(std::move(pattern)) {}

  /// Forgets the run before.
  void begin();

  bool receive(os::Kept which, std::string_view bytes) override;

  /// Returns why a line cannot be matched, as a predicate of the expression; nullopt if it can.
  const std::optional<Error>& error() const { return error_; }

  /// Returns the end of the run's output: a few lines.
  std::string output_end() const { return tail_.last_lines(); }

 private:
  bool is_awaited(std::string_view line);

  Pattern pattern_;
  std::array<std::string, 2> begun_;  // lines without their ends, by os::Kept
  OutputTail tail_;
  std::optional<Error> error_;
};

/// A reference output: of a very long one the beginning, and the hash of the rest.
struct StoredOutput {
  std::unique_ptr<os::TextFile> text;
  std::uint64_t bytes = 0;  ///< of all of it
  std::string rest{};       ///< hash of the part after the text; empty: none
};

/// Stores standard output.
class OutputStore final : public os::OutputListener {
 public:
  explicit OutputStore(std::unique_ptr<os::TextFile> text) { stored_.text = std::move(text); }

  bool receive(os::Kept which, std::string_view bytes) override;

  /// Returns all of the output; an error if there was no room for it.
  Result<StoredOutput> take();

 private:
  StoredOutput stored_;
  Sha256 rest_;
  bool has_room_ = true;
};

/// Compares standard output with a stored one.
class OutputComparison final : public os::OutputListener {
 public:
  /// `expected` outlives it.
  explicit OutputComparison(const StoredOutput& expected);

  bool receive(os::Kept which, std::string_view bytes) override;

  /// Returns the first difference, in words, now that all has been read; nullopt if they are the
  /// same.
  std::optional<std::string> difference();

 private:
  void compare(std::string_view bytes);
  void note_difference(std::string_view bytes);
  void pass(std::string_view equal);
  std::string expected_line() const;

  const StoredOutput& expected_;
  std::vector<char> room_;
  Sha256 rest_;
  std::uint64_t received_ = 0;
  std::uint64_t at_ = 0;          // up to here both are the same
  std::uint64_t line_ = 1;        // that this is in
  std::uint64_t line_begin_ = 0;  // where that begins
  bool differs_ = false;
  std::string got_{};  // of its line, from shown_from() on
  bool got_is_whole_ = false;

  std::uint64_t shown_from() const;
  void add_to_got(std::string_view bytes);
};

/// Hashes standard output.
class OutputHash final : public os::OutputListener {
 public:
  bool receive(os::Kept which, std::string_view bytes) override;
  std::string digest() const { return sum_.digest(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Sha256 sum_;
  std::uint64_t bytes_ = 0;
};

/// Decides --expect-output: a run of each command, whose standard output is compared as it comes.
/// It launches nothing itself.
class OutputCheck {
 public:
  /// Both must outlive it.
  OutputCheck(const Plan& plan, const RunContext& context);

  /// Returns the commands of `count` from `first` on that must be run for it, in the right order:
  /// references come first.
  std::vector<std::uint32_t> due(std::uint32_t first, std::uint32_t count) const;

  /// Returns the run of a command, with its listener.
  Result<os::Launch> launch_of(std::uint32_t command);

  /// Returns the fault of the output of the run that has just ended; nullopt if it has none.
  std::optional<Error> verdict();

 private:
  std::optional<std::size_t> source_of(std::size_t command) const;
  Result<void> begin(std::uint32_t command);

  const Plan& plan_;
  const RunContext& context_;
  std::vector<std::optional<std::size_t>>
      sources_;  // by command: the command whose output it must equal
  std::map<std::size_t, StoredOutput> stored_;  // of those
  std::uint32_t command_ = 0;                   // that is being run
  StoredOutput file_;                           // that it is compared with
  std::unique_ptr<OutputStore> store_;
  std::unique_ptr<OutputComparison> comparison_;
  std::unique_ptr<OutputHash> hash_;
};

}  // namespace lauka
