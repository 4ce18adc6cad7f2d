#pragma once

#include "core/record.h"
#include "core/result.h"
#include "core/text.h"
#include "os/descriptor.h"
#include "os/process.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <sys/types.h>

struct lauka_region_memory_;

namespace lauka::os {

struct StandardFiles {
  int input = -1;
  int output = -1;
  int error = -1;
};

struct PathsToOpen {
  const char* input = nullptr;
  const char* output = nullptr;
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();
};

struct OpenedRunFiles {
  Descriptor input;
  Descriptor output;
};

/// Opens the files with the rights of this process. Waits for the other end of a named pipe until
/// `is_unwanted` returns true or `named.timeout` is over. Returns the outcome of a run that cannot
/// start; nullopt if all files are open.
std::optional<Outcome> open_named(const PathsToOpen& named,
                                  const std::function<bool()>& is_unwanted, OpenedRunFiles& own);

enum class NamedFiles : unsigned char { InputAndOutput, Output };

/// Opens the files that `spec` names, with the rights of `spec.user`. Returns the outcome of a run
/// that cannot start; nullopt if all files are open.
std::optional<Outcome> open_named(const ProgramSpec& spec, NamedFiles which,
                                  const std::function<bool()>& is_unwanted, OpenedRunFiles& own);

inline bool ends_batch(const Outcome& outcome, AfterFailure after_failure) {
  return !has_exited_or_signalled(outcome) ||
         (!succeeded(outcome) && after_failure == AfterFailure::Stop);
}

InputRead check_input_read(int fd);

class RunFiles {
 public:
  bool open_all();

  /// Returns the files of a run with `sink`, or of a run whose output lauka stores (`is_stored`).
  StandardFiles standard_files(OutputKind sink, bool is_stored) const;

  void truncate_output() const;

  /// Frees the space of old output while a run goes on: of standard error, and if the output is
  /// stored (`is_stored`), of standard output, too.
  void drop_old_output(bool is_stored) const;

  /// Copies the kept output to the destination of `sink`. `named`: descriptor of the output file,
  /// or -1.
  void pass_on(OutputKind sink, int named) const;

  /// Gives `user` the right to open the pipes, which a program does if it opens /dev/stdout.
  /// Returns false with errno if the system refuses.
  bool hand_pipes_to(const User& user) const;

  std::array<int, 2> pipe_read_ends() const {
    return {output_.read_end.get(), error_.read_end.get()};
  }

  /// Prepares the reading of the pipes during a run. `listener` (may be null) gets the output,
  /// which is copied to the destination of `sink`, too. `named`: descriptor of the output file, or
  /// -1. `now`: the clock, in nanoseconds; not used without a listener.
  void begin(OutputListener* listener = nullptr, OutputKind sink = OutputKind::Null, int named = -1,
             std::function<std::int64_t()> now = {}) {
    const bool inherits = sink == OutputKind::Inherit;
    tail_.clear();
    listener_ = listener;
    output_copy_ = inherits ? 1 : named;
    error_copy_ = inherits ? 2 : named;
    now_ = std::move(now);
    ended_by_listener_ns_.reset();
  }

  /// Reads the pipes until they are empty, but at most kMaxPieces pieces from each pipe.
  void drain() { drain_at_most(kMaxPieces); }

  /// Reads the pipes while a run goes on. With a listener, reads at most one piece from each pipe,
  /// because the listener's work delays lauka.
  void drain_during_run() { drain_at_most(listener_ != nullptr ? 1 : kMaxPieces); }

  /// Returns the time at which the listener ended the run; nullopt if the listener did not.
  std::optional<std::int64_t> ended_by_listener_ns() const { return ended_by_listener_ns_; }

  /// Returns the last lines of standard error of a run with `sink` (Capture: of both streams);
  /// empty if lauka has not received them.
  std::string error_output_end(OutputKind sink) const;

  std::uint64_t stored_stream_bytes(OutputStream which) const;
  std::size_t read_kept(OutputStream which, std::uint64_t from, std::span<char> into) const;

 private:
  Descriptor null_input_;
  Descriptor null_output_;
  Descriptor error_file_;
  Descriptor output_file_;
  Pipe output_;
  Pipe error_;
  static constexpr int kMaxPieces = 64;

  void drain_at_most(int most_pieces);
  void read_pipe(OutputStream which, int from, int to, int most_pieces);

  OutputTail tail_;
  OutputListener* listener_ = nullptr;
  int output_copy_ = -1;  // descriptor to which standard output is copied; -1: none
  int error_copy_ = -1;
  std::function<std::int64_t()> now_;
  std::optional<std::int64_t> ended_by_listener_ns_;
  using Buffer = std::array<char, 65536>;
  std::unique_ptr<Buffer> buffer_{new Buffer};  // not zeroed: without output its pages stay unused
};

/// Opens /dev/null in place of closed standard descriptors, so that no other file becomes standard
/// input, output or error. Writing to the replacement fails.
void fill_standard_descriptors();

/// The memory in which a run notes its region (lauka/region.h). Each run has memory of its own,
/// because a process that outlives the run may still write. Internal to os/.
class RegionPage : NonCopyable {
 public:
  ~RegionPage();

  /// Creates the memory and a descriptor of the memory that the next program inherits. Returns
  /// false with errno on failure.
  bool hand_down();

  /// Makes the next program inherit a counter's descriptor. Needs hand_down().
  /// Returns false with errno on failure.
  bool hand_down_counter(int descriptor);

  /// Asks threads that enter the region to note their counts (macOS). Needs
  /// hand_down().
  void request_thread_counts();

  /// Returns the memory's descriptor in the next program; -1 without memory.
  int descriptor() const { return handed_down_count_ > 0 ? handed_down_.front() : -1; }

  /// Returns NAME=VALUE for the program's environment; empty before hand_down(). The pointer is
  /// valid as long as this object.
  char* variable_entry() { return variable_entry_.data(); }

  /// Returns what the program has noted so far; all fields are 0 before hand_down().
  RegionUse use() const;

 private:
  int hand_down(int descriptor);

  lauka_region_memory_* memory_ = nullptr;
  std::array<int, 17> handed_down_{};
  std::size_t handed_down_count_ = 0;
  std::array<char, 32> variable_entry_{};
};

}  // namespace lauka::os
