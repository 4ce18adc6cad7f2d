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
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

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
  const char* input = nullptr;                                         ///< null: it names none
  const char* output = nullptr;                                        ///< likewise
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();  ///< the run's
};

struct OwnFiles {
  Descriptor input;
  Descriptor output;
};

/// Opens them with the rights that this process has. Why the run cannot be started; none: all are
/// open.
std::optional<Outcome> open_named(const NamedFiles& named, std::function<bool()> is_unwanted,
                                  OwnFiles& own);

/// The same for a program's input (unless `output_only`) and output, with its user's rights.
std::optional<Outcome> open_named(const ProgramSpec& spec, bool output_only,
                                  std::function<bool()> is_unwanted, OwnFiles& own);

/// Whether no other run of a request may follow this one.
inline bool must_stop_after(const Outcome& outcome, bool go_on_after_failure) {
  return !ended_by_itself(outcome) || (!succeeded(outcome) && !go_on_after_failure);
}

/// Of the descriptor that a run had as its standard input.
InputRead input_read(int fd);

/// What all runs of a session share; the ends of pipes are those that commands write to.
struct CommonFiles {
  int null_input = -1;
  int null_output = -1;
  int error_file = -1;   ///< takes standard error under Sink::Null, and what is kept of it
  int output_file = -1;  ///< takes standard output where that is kept
  int output_pipe = -1;
  int error_pipe = -1;

  /// What a run with this sink gets, but for the files that it names itself.
  StandardFiles of(Sink sink) const;

  /// What a run gets whose output is kept.
  StandardFiles kept() const { return {null_input, output_file, error_file}; }

  /// Empties the files of earlier runs.
  void forget_output() const;

  /// Keeps the file of standard error small while a run goes on; of a run whose output `is_kept`,
  /// both of them within bounds.
  void keep_small(bool is_kept) const;

  /// Writes what was kept to where a run with this sink would have written it: `named` is its file.
  void pass_on(Sink sink, int named) const;
};

/// Opens files for a run. A named pipe opens when its other end does; that wait ends with EINTR
/// when the run is no longer wanted, and with ETIMEDOUT when `limit` is over, counted from here.
/// While it lives, an alarm ends waits again and again, as it may come just before one.
class OpensPatiently : NonCopyable {
 public:
  OpensPatiently(std::chrono::nanoseconds limit, std::function<bool()> is_unwanted);
  ~OpensPatiently();

  /// The descriptor, closed by exec; -1 with errno.
  int open(const char* path, int flags) const;

 private:
  std::chrono::steady_clock::time_point deadline_;
  std::function<bool()> is_unwanted_;
  struct sigaction handled_ {};
  sigset_t blocked_{};
};

/// Who hears what a run writes to the pipes, and where it goes on to; -1: nowhere.
struct Heard {
  OutputListener* listener = nullptr;  ///< null: nobody
  int output = -1;
  int error = -1;
  std::function<std::int64_t()> now{};
};

/// Where a run whose output is heard and that has this sink would have written it; `named`: its
/// file.
inline Heard heard_by(OutputListener* listener, Sink sink, int named,
                      std::function<std::int64_t()> now) {
  const bool inherits = sink == Sink::Inherit;
  return {listener, inherits ? 1 : named, inherits ? 2 : named, std::move(now)};
}

/// Owns what runs share, and takes what they write to pipes.
class RunFiles {
 public:
  /// False with errno.
  bool open_all();

  CommonFiles common() const;

  /// A program that opens its /dev/stdout again needs the right to. False with errno where that is
  /// refused, as some systems do of pipes.
  bool hand_pipes_to(const User& user) const;

  /// The ends that are to be watched for output.
  std::array<int, 2> readable() const { return {output_.read_end.get(), error_.read_end.get()}; }

  /// Forgets what earlier runs wrote to the pipe of standard error.
  void begin(const Heard& heard = {}) {
    tail_.clear();
    heard_ = heard;
    enough_ns_.reset();
  }

  /// Takes what the pipes hold; where somebody writes faster than that, a part of it.
  void drain() { take(kMostPieces); }

  /// The same while a run goes on: no more than one piece, where somebody hears it, whose work may
  /// take time in which nothing else is looked at.
  void drain_some() { take(heard_.listener != nullptr ? 1 : kMostPieces); }

  /// When the listener had heard enough, by Heard::now; none: it has not.
  std::optional<std::int64_t> enough_ns() const { return enough_ns_; }

  /// The end of what a run with this sink wrote to standard error, or captured.
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
  Descriptor error_file_;
  Descriptor output_file_;
  Pipe output_;
  Pipe error_;
  static constexpr int kMostPieces = 64;  // more than pipes hold, so that no run's end is lost

  void take(int most_pieces);
  void take(Kept which, int from, int to, int most_pieces);

  OutputTail tail_;
  Heard heard_;
  std::optional<std::int64_t> enough_ns_;
  std::vector<char> room_ = std::vector<char>(65536);  // a pipe's; the stack may be as small
};

/// A descriptor that lauka opens must never be taken for standard input, output or error. What was
/// closed stays unwritable, so that an export to it is an error and not lost.
void fill_standard_descriptors();

/// The memory in which a run notes its region (lauka/region.h), new for each run, so that what an
/// earlier one left behind writes into nothing. Internal to os/.
class RegionPage : NonCopyable {
 public:
  ~RegionPage();

  /// Makes it, with a descriptor that the next program gets. False with errno.
  bool hand_down();

  /// The same for a counter that the region switches. False with errno.
  bool hand_down_counter(int descriptor);

  /// The threads that call in note what they counted of themselves, where they can (macOS).
  void count_threads();

  /// The descriptor that the next program is to have; -1: there is none.
  int descriptor() const { return count_ > 0 ? handed_.front() : -1; }

  /// NAME=VALUE that tells a program of it; as long as this lives.
  char* variable() { return variable_.data(); }

  /// What the program noted so far.
  RegionUse use() const;

 private:
  int hand_down(int descriptor);

  lauka_region_memory_* memory_ = nullptr;
  std::array<int, 17> handed_{};  // the memory's and the counters'
  std::size_t count_ = 0;
  std::array<char, 32> variable_{};
};

}  // namespace lauka::os
