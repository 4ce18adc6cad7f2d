#pragma once

#include "core/record.h"
#include "core/result.h"
#include "core/text.h"
#include "os/descriptor.h"
#include "os/process.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <sys/types.h>

// Standard input, output and error of runs. Internal to os/.

struct lauka_region_memory_;

namespace lauka::os {

struct StandardFiles {
  int input = -1;
  int output = -1;  ///< -1: inherited
  int error = -1;   ///< -1: inherited
};

/// Files that a run names itself.
struct NamedFiles {
  const char* input = nullptr;                                         ///< null if not named
  const char* output = nullptr;                                        ///< output file; null: none
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();  ///< the run's
};

struct OwnFiles {
  Descriptor input;
  Descriptor output;
};

/// Opens them with the rights of this process. Returns why the run cannot be started; nullopt if
/// all are open.
std::optional<Outcome> open_named(const NamedFiles& named, const std::function<bool()>& is_unwanted,
                                  OwnFiles& own);

/// The same for a program's input (unless `output_only`) and output, with its user's rights.
std::optional<Outcome> open_named(const ProgramSpec& spec, bool output_only,
                                  const std::function<bool()>& is_unwanted, OwnFiles& own);

/// True if no other run of a request may follow this one.
inline bool must_stop_after(const Outcome& outcome, bool go_on_after_failure) {
  return !ended_by_itself(outcome) || (!succeeded(outcome) && !go_on_after_failure);
}

/// Reads the position of a run's standard input.
InputRead input_read(int fd);

/// The listener to a run's pipes, and the destination of its output; -1: none.
struct Listening {
  OutputListener* listener = nullptr;  ///< null: none
  int output = -1;
  int error = -1;
  std::function<std::int64_t()> now{};
};

/// Returns the destination of the output of a run with a listener and this sink; `named`: its file.
inline Listening listening_for(OutputListener* listener, Sink sink, int named,
                               std::function<std::int64_t()> now) {
  const bool inherits = sink == Sink::Inherit;
  return {listener, inherits ? 1 : named, inherits ? 2 : named, std::move(now)};
}

/// Owns the files that all runs of a session share, and takes their output from pipes.
class RunFiles {
 public:
  /// False with errno.
  bool open_all();

  /// Returns the files of a run with this sink, except those that it names itself.
  StandardFiles for_sink(Sink sink) const;

  /// Returns the files of a run whose output is kept.
  StandardFiles kept() const { return {null_input_.get(), output_file_.get(), error_file_.get()}; }

  /// Truncates the output files, which hold an earlier run's output.
  void forget_output() const;

  /// Keeps the file of standard error small while a run goes on; if output `is_kept`, both files.
  void keep_small(bool is_kept) const;

  /// Copies the kept output to its destination under this sink: `named` is its file.
  void pass_on(Sink sink, int named) const;

  /// A program that opens its /dev/stdout again needs the right to. False with errno where that is
  /// refused, as some systems do of pipes.
  bool hand_pipes_to(const User& user) const;

  /// Returns the ends to watch for output.
  std::array<int, 2> readable() const { return {output_.read_end.get(), error_.read_end.get()}; }

  /// Forgets what earlier runs wrote to the pipe of standard error.
  void begin(const Listening& listening = {}) {
    tail_.clear();
    listening_ = listening;
    enough_ns_.reset();
  }

  /// Takes the contents of the pipes, or a part if a program writes faster.
  void drain() { drain_at_most(kMaxPieces); }

  /// The same while a run goes on: at most one piece if there is a listener, since its work may
  /// take time in which nothing else is watched.
  void drain_some() { drain_at_most(listening_.listener != nullptr ? 1 : kMaxPieces); }

  /// Returns when the listener was satisfied, by Listening::now; nullopt if it was not.
  std::optional<std::int64_t> enough_ns() const { return enough_ns_; }

  /// Returns the end of the standard error of a run with this sink, if captured.
  std::string error_output_end(Sink sink) const;

  /// See Launcher.
  std::uint64_t kept_bytes(Kept which) const;
  std::size_t read_kept(Kept which, std::uint64_t from, std::span<char> into) const;

 private:
  struct Pipe {
    Descriptor read_end;
    Descriptor write_end;
    bool open();
  };

  Descriptor null_input_;
  Descriptor null_output_;
  Descriptor error_file_;   ///< takes standard error under Sink::Null, and keeps a part
  Descriptor output_file_;  ///< takes standard output where that is kept
  Pipe output_;
  Pipe error_;
  static constexpr int kMaxPieces = 64;  // more than pipes hold, so that no run's end is lost

  void drain_at_most(int most_pieces);
  void copy(Kept which, int from, int to, int most_pieces);

  OutputTail tail_;
  Listening listening_;
  std::optional<std::int64_t> enough_ns_;
  using Room = std::array<char, 65536>;   // a pipe's; the stack may be as small
  std::unique_ptr<Room> room_{new Room};  // not zeroed: without output its pages stay untouched
};

/// A descriptor that lauka opens must never become standard input, output or error. Closed ones
/// stay unwritable, so that an export to them is an error and not lost.
void fill_standard_descriptors();

/// The memory in which a run notes its region (lauka/region.h); each run has its own, as an orphan
/// may go on writing. Internal to os/.
class RegionPage : NonCopyable {
 public:
  ~RegionPage();

  /// Makes it, with a descriptor that the next program gets. False with errno.
  bool hand_down();

  /// The same for a counter that the region switches. False with errno.
  bool hand_down_counter(int descriptor);

  /// Makes calling threads note their own counts, if possible (macOS).
  void count_threads();

  /// Returns the descriptor for the next program; -1 without one.
  int descriptor() const { return count_ > 0 ? handed_.front() : -1; }

  /// Returns its NAME=VALUE for a program; valid as long as this lives.
  char* variable() { return variable_.data(); }

  /// Returns the program's notes so far.
  RegionUse use() const;

 private:
  int hand_down(int descriptor);

  lauka_region_memory_* memory_ = nullptr;
  std::array<int, 17> handed_{};  // the memory's and the counters'
  std::size_t count_ = 0;
  std::array<char, 32> variable_{};
};

}  // namespace lauka::os
