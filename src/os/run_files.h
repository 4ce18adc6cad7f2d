#pragma once

#include "core/outcome.h"
#include "os/descriptor.h"
#include "os/output_tail.h"
#include "os/process.h"

#include <array>
#include <optional>
#include <string>

// Standard input, output and error of runs that lauka's own process starts. Internal to os/.

namespace lauka::os {

class RunFiles {
 public:
  /// Opens what all runs share. False with errno.
  bool open_all();

  /// A program that opens its /dev/stdout again needs the right to. False where that is refused, as
  /// some systems do of pipes.
  bool hand_pipes_to(const User& user) const;

  struct Opened {
    int input = -1;
    int output = -1;  ///< -1: inherited
    int error = -1;   ///< -1: inherited
    std::optional<NotStarted> failed{};
  };

  /// For one run, until close.
  Opened open(const ProgramSpec& program);
  void close();

  /// The ends that are to be watched for output.
  std::array<int, 2> readable() const { return {output_.read_end.get(), error_.read_end.get()}; }

  /// Takes what the pipes hold.
  void drain();

  /// Keeps the file of standard error small while a run goes on.
  void keep_small() const;

  std::string error_output_end() const;

 private:
  struct Pipe {
    Descriptor read_end;
    Descriptor write_end;
    bool open();
  };

  Descriptor null_input_;
  Descriptor null_output_;
  Descriptor error_file_;  // takes standard error under Sink::Null
  Pipe output_;
  Pipe error_;
  Descriptor run_input_;
  Descriptor run_output_;
  Sink sink_ = Sink::Null;
  OutputTail tail_;
};

}  // namespace lauka::os
