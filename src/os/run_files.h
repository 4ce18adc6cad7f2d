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

/// The files that a run itself names.
struct NamedFiles {
  const char* input = nullptr;   ///< null: no input file
  const char* output = nullptr;  ///< null: no output file
  std::chrono::nanoseconds timeout =
      std::chrono::nanoseconds::max();  ///< time limit of the run, and so of opening the files
};

struct OwnFiles {
  Descriptor input;
  Descriptor output;
};

/// Opens the files with the rights of this process. Returns why the run cannot start; nullopt if
/// all files are open. Waits for the other end of a named pipe until `is_unwanted` is true or the
/// time is over.
std::optional<Outcome> open_named(const NamedFiles& named, const std::function<bool()>& is_unwanted,
                                  OwnFiles& own);

/// Opens the files of a program, with its user's rights: output, and unless `output_only` input.
/// Returns why the run cannot start; nullopt if all files are open.
std::optional<Outcome> open_named(const ProgramSpec& spec, bool output_only,
                                  const std::function<bool()>& is_unwanted, OwnFiles& own);

/// True if the batch must end after this run because of its outcome.
inline bool must_stop_after(const Outcome& outcome, bool go_on_after_failure) {
  return !ended_by_itself(outcome) || (!succeeded(outcome) && !go_on_after_failure);
}

/// Returns how much of standard input was read, from the file's position.
InputRead input_read(int fd);

/// The listener to a run's pipes, and where the output goes afterwards.
struct Listening {
  OutputListener* listener = nullptr;   ///< null if missing
  int output = -1;                      ///< descriptor; -1: none
  int error = -1;                       ///< descriptor; -1: none
  std::function<std::int64_t()> now{};  ///< clock for RunFiles::enough_ns, in nanoseconds
};

/// Returns where the output of a run with a listener goes; `named` is the descriptor of its file.
inline Listening listening_for(OutputListener* listener, OutputKind sink, int named,
                               std::function<std::int64_t()> now) {
  const bool inherits = sink == OutputKind::Inherit;
  return {listener, inherits ? 1 : named, inherits ? 2 : named, std::move(now)};
}

/// Owns the files that all runs of a session share, and reads the runs' output from pipes.
class RunFiles {
 public:
  /// Opens all files. Returns false with errno on failure.
  bool open_all();

  /// Returns the files of a run with `sink`, except the files that it names itself.
  StandardFiles for_sink(OutputKind sink) const;

  /// Returns the files of a run whose output is kept.
  StandardFiles kept() const { return {null_input_.get(), output_file_.get(), error_file_.get()}; }

  /// Truncates the output files, which hold an earlier run's output.
  void truncate_output() const;

  /// Frees the space of old standard error while a run goes on; if its output `is_kept`, of both
  /// files.
  void keep_small(bool is_kept) const;

  /// Copies the kept output to its destination for `sink`; `named` is the descriptor of its file.
  void pass_on(OutputKind sink, int named) const;

  /// Gives `user` the right to open the pipes again, as a program does with its /dev/stdout.
  /// Returns false with errno if the system refuses, as some systems do for pipes.
  bool hand_pipes_to(const User& user) const;

  /// Returns the read ends of the pipes, to be watched for output.
  std::array<int, 2> readable() const { return {output_.read_end.get(), error_.read_end.get()}; }

  /// Prepares for a run: forgets what the pipes brought of earlier runs' standard error.
  void begin(const Listening& listening = {}) {
    tail_.clear();
    listening_ = listening;
    enough_ns_.reset();
  }

  /// Reads the contents of the pipes, or part of them if a program writes faster.
  void drain() { drain_at_most(kMaxPieces); }

  /// Reads the pipes while a run goes on. Reads at most one piece if there is a listener, because
  /// its work delays everything else that must be watched.
  void drain_some() { drain_at_most(listening_.listener != nullptr ? 1 : kMaxPieces); }

  /// Returns the time at which the listener ended the run, by Listening::now; nullopt if it did
  /// not.
  std::optional<std::int64_t> enough_ns() const { return enough_ns_; }

  /// Returns the last lines of the standard error of a run with `sink` (Capture: of both streams);
  /// empty for Inherit and File.
  std::string error_output_end(OutputKind sink) const;

  /// Implements Launcher::kept_bytes and Launcher::read_kept.
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
  Descriptor error_file_;  ///< receives standard error under OutputKind::Null; only its end is kept
  Descriptor output_file_;  ///< receives standard output that is kept
  Pipe output_;
  Pipe error_;
  static constexpr int kMaxPieces = 64;  // enough pieces to empty a full pipe

  void drain_at_most(int most_pieces);
  void copy(Kept which, int from, int to, int most_pieces);

  OutputTail tail_;
  Listening listening_;
  std::optional<std::int64_t> enough_ns_;
  using Room = std::array<char, 65536>;  // as large as a pipe's buffer; too large for a small stack
  std::unique_ptr<Room> room_{new Room};  // not zeroed: without output its pages stay unused
};

/// Opens /dev/null in place of closed standard descriptors, so that no file that lauka opens
/// becomes standard input, output or error. Writing to them fails, so that an export to a closed
/// descriptor is an error and not lost.
void fill_standard_descriptors();

/// The memory in which a run notes its region (lauka/region.h). Each run has its own, because a
/// process may write to it after the run. Internal to os/.
class RegionPage : NonCopyable {
 public:
  ~RegionPage();

  /// Creates the memory, with a descriptor that the next program inherits. Returns false with errno
  /// on failure.
  bool hand_down();

  /// Adds a counter's descriptor, which the next program inherits. Needs hand_down(). Returns false
  /// with errno on failure.
  bool hand_down_counter(int descriptor);

  /// Asks threads that enter the region to note their own counts, if possible (macOS). Needs
  /// hand_down().
  void count_threads();

  /// Returns the memory's descriptor in the next program; -1 without memory.
  int descriptor() const { return count_ > 0 ? handed_.front() : -1; }

  /// Returns NAME=VALUE for the program's environment, valid as long as this object; empty without
  /// memory.
  char* variable() { return variable_.data(); }

  /// Returns what the program has noted so far; all 0 without memory.
  RegionUse use() const;

 private:
  int hand_down(int descriptor);

  lauka_region_memory_* memory_ = nullptr;
  std::array<int, 17> handed_{};  // descriptors of the memory and the counters
  std::size_t count_ = 0;
  std::array<char, 32> variable_{};
};

}  // namespace lauka::os
