#pragma once

#include "core/record.h"
#include "core/result.h"
#include "os/descriptor.h"
#include "os/process.h"

#include <chrono>
#include <cstddef>
#include <string>

namespace lauka::os {

/// A program that lauka runs for itself, without measuring it.
class HelperProgram : NonCopyable {
 public:
  ~HelperProgram() { kill_it(); }

  /// Starts `spec` with /dev/null as standard input and standard error. The program must end within
  /// `timeout`, counted from now.
  void begin(const ProgramSpec& spec, std::chrono::nanoseconds timeout);

  struct Answer {
    /// NotStarted, Exited, Signalled, or if wait() killed the program TimedOut or Stopped.
    Outcome outcome;
    std::string output{};
  };

  enum class Part : unsigned char { Beginning, End };

  /// Waits for the end of the program. Returns at most `most_bytes` bytes from the beginning or end
  /// of its output. Kills the program at the timeout, soon after lauka is asked to end, and if the
  /// program or, for seconds, a descendant is stopped, as by reading the terminal from the
  /// background.
  Answer wait(std::size_t most_bytes, Part part = Part::Beginning);

 private:
  class Watch;

  bool read_output(Watch& watch, std::size_t most_bytes, Part part, std::string& output) const;
  bool is_over() const;
  int stop_signal() const;
  bool has_stopped(Watch& watch) const;
  bool wait_for_end(Watch& watch) const;
  Outcome find_outcome_without_end(const Watch& watch) const;
  void kill_it();

  pid_t pid_ = 0;
  Descriptor output_;
  Descriptor start_failure_;  // has a NotStarted if the program could not be executed
  std::chrono::nanoseconds deadline_{};
};

}  // namespace lauka::os
