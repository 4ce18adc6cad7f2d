#pragma once

#include "core/result.h"
#include "os/descriptor.h"
#include "os/process.h"

#include <chrono>
#include <cstddef>
#include <string>

#include <sys/types.h>

namespace lauka::os {

/// One program that goes on while lauka does something else: lauka's own child, not the launcher's,
/// and nothing of it is measured.
class ProgramAside : NonCopyable {
 public:
  ~ProgramAside() { kill_it(); }

  /// Starts `spec` as its user; it has `timeout` from now on. Standard input and error are
  /// /dev/null. Where it cannot be started, there is nothing to take.
  void begin(const ProgramSpec& spec, std::chrono::nanoseconds timeout);

  /// Waits until it has ended and gives what it wrote to standard output, up to `most_bytes`; empty
  /// where it failed, took too long, or was begun by nobody. It is killed when its time is over, or
  /// soon after lauka was asked to end; it is no more when this returns.
  std::string take(std::size_t most_bytes);

 private:
  bool has_ended_until(std::chrono::nanoseconds deadline) const;
  void kill_it();

  pid_t pid_ = 0;  // 0: there is none
  Descriptor output_;
  std::chrono::nanoseconds deadline_{};
};

}  // namespace lauka::os
