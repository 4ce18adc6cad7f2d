#pragma once

#include "core/record.h"
#include "core/result.h"

#include <chrono>
#include <optional>
#include <string_view>

namespace lauka {

/// Where a session stands.
struct Progress {
  std::string_view command;  ///< name of the command whose turn it is
  RoundKind kind = RoundKind::Timed;
  double done = 0.0;  ///< fraction of the session, 0..1, estimated where time decides
  std::chrono::nanoseconds elapsed{};
  std::optional<std::chrono::nanoseconds> remaining;
  std::optional<double> mean_wall_seconds;  ///< of that command's timed runs so far
};

/// Told of progress between runs and a few times a second during long ones.
class Observer : NonCopyable {
 public:
  virtual ~Observer() = default;

  /// Whether progress is of any use; where it is not, the runner does not wake up for it.
  virtual bool wants_progress() const = 0;
  virtual void progress(const Progress& progress) = 0;
  /// The session is over: what was drawn is to go.
  virtual void finished() = 0;
};

/// Where nobody looks.
class NoObserver final : public Observer {
 public:
  bool wants_progress() const override { return false; }
  void progress(const Progress& /*progress*/) override {}
  void finished() override {}
};

}  // namespace lauka
