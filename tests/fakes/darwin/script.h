#pragma once

#include "fakes/darwin/work.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lauka::darwin {

struct Step;
using Script = std::shared_ptr<const std::vector<Step>>;

enum class Do : std::uint8_t {
  Run,         ///< `ns` on a core of `level`, `kernel_permille` of it in the kernel
  Sleep,       ///< `ns`
  Threads,     ///< start `count` threads that do `body`
  Join,        ///< until the threads it started have ended
  Fork,        ///< start a child that does `body`
  Spawn,       ///< posix_spawn `words`
  Wait,        ///< until its children have ended, and reap them
  Exec,        ///< become `words`
  FailedExec,  ///< an execve that fails after the new thread was made
  Write,       ///< `text` to descriptor `count`
  Name,        ///< name the thread `text`
  Ignore,      ///< signal `count`
  Repeat,      ///< `body`, `count` times
  Exit,        ///< the process, with status `count`
  Signal,      ///< send itself signal `count`
  Region,      ///< lauka_region_begin, or lauka_region_end where `count` is 0
};

/// One thing that a thread of the model does.
struct Step {
  Do what = Do::Run;
  std::uint64_t ns = 0;
  Level level = Level::Performance;
  unsigned kernel_permille = 0;
  unsigned count = 0;
  bool detached = false;  ///< a child that init takes over
  bool own_group = false;
  std::string text{};
  std::vector<std::string> words{};
  Script body{};
};

/// Reads a program of the model, one step a line:
///
/// - run 5ms [e] [kernel=100], sleep 10ms
/// - threads 8 {, fork {, fork group {, daemon {, repeat 3 {, and } at the end of each; join, wait
/// - spawn PROGRAM WORD..., exec PROGRAM ..., failed_exec
/// - write out TEXT, name NAME, ignore 15, exit 3, signal 9, region begin, region end
///
/// Throws std::runtime_error with the line that it cannot read.
Script read_script(const std::string& text);

}  // namespace lauka::darwin
