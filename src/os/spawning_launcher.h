#pragma once

#include "os/darwin_calls.h"
#include "os/descriptor.h"
#include "os/process.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

// What a run is waited for with: kqueue, through which the end of a process, signals, output and
// the time come together without polling. Internal to os/.

namespace lauka::os {

class EventQueue {
 public:
  explicit EventQueue(const DarwinCalls& calls) : calls_(calls) {}

  /// Watches the ends of pipes, the signals that ask lauka to end, and SIGCHLD. False with errno.
  bool open(std::span<const int> readable);

  /// The end of `pid` is among what is waited for from now on.
  void expect_end_of(pid_t pid);

  struct Happened {
    bool ended = false;         ///< the process expected last; it is a zombie in a moment
    bool child_signal = false;  ///< it may have stopped
    bool readable = false;
  };

  /// Waits until something happens, a signal handler has run, or `at_most` has gone by.
  Happened wait(std::chrono::nanoseconds at_most);

 private:
  bool add(const Kevent& event);

  const DarwinCalls& calls_;
  Descriptor queue_;
  pid_t expected_ = 0;
  bool has_ended_ = false;  // before it could be watched
};

/// Kills `leader`, its process group, and its descendants, also those that left the group. What a
/// process of its own started and left behind (init's child by now) is not found.
void kill_with_descendants(const DarwinCalls& calls, pid_t leader);

/// Descriptors that are open now and live on in a program that is started, besides 0, 1 and 2: a
/// make's job server, a shell's <(...).
std::vector<int> inherited_descriptors();

/// Reads what the kernel accounts to a process by itself.
class UsageReader {
 public:
  explicit UsageReader(const DarwinCalls& calls) : calls_(calls), timebase_(timebase_of(calls)) {}

  std::chrono::nanoseconds now() const {
    return std::chrono::nanoseconds(ns(calls_.mach_absolute_time()));
  }

  /// The totals of a process, and times finer than wait4's.
  struct Read {
    std::uint64_t user_ns = 0;  ///< with the processes that it waited for, as the next
    std::uint64_t system_ns = 0;
    KernelTotals totals{};
  };
  /// Of a process that has ended and is not reaped; none where the kernel does not tell.
  std::optional<Read> read(pid_t pid);

 private:
  std::uint64_t ns(std::uint64_t ticks) const { return ns_of_mach(ticks, timebase_); }

  const DarwinCalls& calls_;
  Timebase timebase_;
  bool has_newest_usage_ = true;
};

// What a run is made of, and who looks at it, where lauka itself starts it. Internal to os/.

/// A program with its words as posix_spawn wants them.
class Program {
 public:
  Program(ProgramSpec spec, std::string path) : spec_(std::move(spec)), path_(std::move(path)) {}

  const ProgramSpec& spec() const { return spec_; }
  const char* path() const { return path_.c_str(); }
  std::vector<char*> argv() {
    std::vector<char*> words;
    for (std::string& word : spec_.words) words.push_back(word.data());
    words.push_back(nullptr);
    return words;
  }

  /// What it finds in its environment, kept in `variables`; empty: lauka's own as it is.
  /// `region`: the NAME=VALUE of one that has a region.
  std::vector<char*> environment(const std::string& value, const char* region,
                                 std::vector<std::string>& variables) const {
    std::vector<char*> all;
    if (is_own_environment(spec_)) return all;
    variables = environment_of(spec_, value);
    const std::string no_region = std::string(kRegionVariable) + "=";
    for (std::string& variable : variables) {
      if (spec_.has_region && variable == no_region) variable = region;
      all.push_back(variable.data());
    }
    all.push_back(nullptr);
    return all;
  }

 private:
  ProgramSpec spec_;
  std::string path_;
};

/// What is to be called again and again while a run goes on, and when next.
struct Due {
  std::chrono::nanoseconds at{};
  std::chrono::nanoseconds interval{};

  bool is_due(std::chrono::nanoseconds now) {
    if (now < at) return false;
    at = now + interval;
    return true;
  }
};

/// Those who look at a run while it goes on, each at its own interval.
class Polls {
 public:
  Polls(std::span<RunWatch* const> watches, std::chrono::nanoseconds began) : watches_(watches) {
    for (const RunWatch* watch : watches)
      dues_.push_back({began + watch->interval(), watch->interval()});
  }

  std::chrono::nanoseconds next() const {
    std::chrono::nanoseconds first = std::chrono::nanoseconds::max();
    for (const Due& due : dues_) first = std::min(first, due.at);
    return first;
  }

  void look(std::chrono::nanoseconds at, pid_t pid) {
    for (std::size_t i = 0; i < dues_.size(); ++i) {
      if (dues_[i].is_due(at)) watches_[i]->running(pid);
    }
  }

 private:
  std::span<RunWatch* const> watches_;
  std::vector<Due> dues_;
};

/// The launcher of macOS: runs are started by lauka's own process, with posix_spawn. To be called
/// first in main, before anything changes lauka's signals. What Linux needs a process of its own
/// for, macOS does not: a spawned process does not inherit lauka's size, the kernel's totals of a
/// run are the run's alone, and wall time ends when the kernel tells of the end. A run is spawned
/// suspended, so that counters know it before it has run anything; it belongs to a process group of
/// its own. `calls` outlives the launcher.
Result<std::unique_ptr<Launcher>> start_spawning_launcher(const DarwinCalls& calls);

}  // namespace lauka::os
