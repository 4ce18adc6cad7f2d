#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lauka::cores {

/// What a thread did on the cores of one kind, or on all; what is not known is none.
struct SampledPart {
  std::optional<double> cpu_seconds{};
  std::optional<double> user_seconds{};
  std::optional<double> system_seconds{};
  std::optional<std::uint64_t> cycles{};
  std::optional<std::uint64_t> instructions{};
  std::optional<double> joules{};
};

/// What a thread did since it was read before.
struct ThreadSample {
  std::int32_t process = 0;
  std::uint64_t thread = 0;
  std::string name{};
  std::chrono::nanoseconds interval{};     ///< since it, or the process, was read before
  bool is_new = false;                     ///< was not there then: since its birth
  bool has_ended = false;                  ///< since then: what is still known of its end
  std::optional<std::uint64_t> moves{};    ///< between kinds of core, as seen (SeenMoves)
  std::optional<double> waited_seconds{};  ///< it could have run, and had no CPU
  SampledPart all{};
  std::vector<SampledPart> by_kind{};  ///< as ThreadStream::kinds; empty: there is one
};

/// Reads the threads of running processes again and again.
class ThreadStream : NonCopyable {
 public:
  explicit ThreadStream(std::size_t processes) : are_there_(processes, true) {}
  virtual ~ThreadStream() = default;

  /// The kinds of core, the fastest first; one or none: they are not told apart.
  virtual const std::vector<std::string>& kinds() const = 0;

  /// One line each: what is missing and why.
  virtual std::vector<std::string> notes() const = 0;

  /// What every thread did since the last call, by process; the first call gives none.
  /// `now`: on any clock that does not stop.
  std::vector<ThreadSample> read(std::chrono::nanoseconds now) {
    std::vector<ThreadSample> samples;
    for (std::size_t i = 0; i < are_there_.size(); ++i)
      if (are_there_[i]) are_there_[i] = read_process(i, now, samples);
    read_before_ = now;
    return samples;
  }

  /// Whether a process is left.
  bool goes_on() const { return std::ranges::find(are_there_, true) != are_there_.end(); }

 protected:
  /// Adds the samples of a process; false: it is not there any more.
  virtual bool read_process(std::size_t process, std::chrono::nanoseconds now,
                            std::vector<ThreadSample>& samples) = 0;

  /// When the last call of read was; none: this is the first.
  const std::optional<std::chrono::nanoseconds>& read_before() const { return read_before_; }

 private:
  std::vector<bool> are_there_;
  std::optional<std::chrono::nanoseconds> read_before_{};
};

/// As this system tells them. Both null: refused, as is a process that is not there, or another
/// user's.
Result<std::unique_ptr<ThreadStream>> stream_threads(const std::vector<std::int32_t>& processes,
                                                     const CoreKinds& kinds,
                                                     const os::LinuxCalls* linux,
                                                     const os::DarwinCalls* darwin);

/// On Linux: CPU time and waiting from the scheduler's own clock, cycles and instructions from
/// counters that are attached to each thread as it is seen first. `calls` outlives it.
Result<std::unique_ptr<ThreadStream>> stream_linux_threads(
    const std::vector<std::int32_t>& processes, const CoreKinds& kinds,
    const os::LinuxCalls& calls);

/// On macOS: all by kind of core, energy too, from the kernel's accounts of each thread.
Result<std::unique_ptr<ThreadStream>> stream_darwin_threads(
    const std::vector<std::int32_t>& processes, const os::DarwinCalls& calls);

}  // namespace lauka::cores
