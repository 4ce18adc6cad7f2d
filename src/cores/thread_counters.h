#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "cores/threads.h"
#include "cores/timed_engine.h"
#include "engine/perf/reasons.h"
#include "engine/perf/source.h"
#include "os/linux_calls.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka::cores {

/// What can be counted of a thread of a process that runs already, and how it is shown.
class ThreadCounting {
 public:
  ThreadCounting(CoreKinds kinds, const os::LinuxCalls& calls);

  const std::vector<ThreadColumns>& columns() const { return columns_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  friend class AttachedThread;
  bool find_counters();

  const os::LinuxCalls& calls_;
  CoreKinds kinds_;
  engine::perf::Situation situation_;
  std::vector<engine::perf::Counter> cycles_{};        ///< one per PMU
  std::vector<engine::perf::Counter> instructions_{};  ///< on the same PMUs
  bool kinds_are_pmus_ = false;  ///< so that the PMUs' counters tell the time by kind too
  std::optional<Clocks> clocks_{};
  std::vector<ThreadColumns> columns_{};
  std::vector<std::string> notes_{};
};

/// Counters on one thread, from now on until this goes.
class AttachedThread {
 public:
  /// `counting` has to outlive it. Refused where the kernel refuses; a thread that has gone has no
  /// counters.
  static Result<AttachedThread> attach(const ThreadCounting& counting, int thread);

  AttachedThread(const AttachedThread&) = delete;
  AttachedThread& operator=(const AttachedThread&) = delete;
  AttachedThread(AttachedThread&& other) noexcept;
  AttachedThread& operator=(AttachedThread&&) = delete;
  ~AttachedThread();

  /// One part per column group; what /proc tells is not in it.
  std::vector<ThreadPart> read() const;

  /// Whether its counters were its own all the time, so far. Where they were not, read() gives no
  /// cycles and instructions.
  bool held_its_counters() const;

 private:
  /// A group on one PMU: its leader counts cycles, the other, if there is one, instructions.
  struct OnPmu {
    int leader = -1;
    std::string pmu{};
    bool has_instructions = false;
  };

  explicit AttachedThread(const ThreadCounting& counting) : counting_(&counting) {}
  int open(os::PerfEventAttr attributes, int thread, int cpu, int group);
  int open_pmus(int thread);
  int open_clocks(int thread);
  os::Reading read_alone(int descriptor) const;
  std::vector<std::array<std::uint64_t, 5>> read_groups() const;
  void read_pmus(std::vector<ThreadPart>& parts) const;
  void read_clocks(std::vector<ThreadPart>& parts) const;

  const ThreadCounting* counting_;
  std::vector<int> open_{};  ///< in the order opened
  std::vector<OnPmu> pmus_{};
  std::vector<int> clocks_{};  ///< -1: that CPU is switched off
};

}  // namespace lauka::cores
