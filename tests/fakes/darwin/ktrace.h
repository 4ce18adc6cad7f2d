#pragma once

#include "fakes/darwin/process.h"

#include <cstdint>
#include <functional>
#include <string>

namespace lauka::darwin {

inline constexpr std::uint32_t kKdebugPart = 1;
inline constexpr std::uint32_t kKperfPart = 2;

/// The caller. A pid may come again as another process; `unique_id` does not.
struct Caller {
  Pid pid = 0;
  std::uint64_t unique_id = 0;
  std::string name{};
  bool is_root = true;
};

/// Decides who may configure kperf and kdebug: facts, section 0 and 3.3. The calls give 0 or an
/// errno.
class Ktrace {
 public:
  enum class State : std::uint32_t { Off = 0, Foreground = 1, Background = 2 };

  /// True if a process lives; and the way to reset parts.
  struct Hooks {
    std::function<bool(std::uint64_t unique_id)> is_alive;
    std::function<void(std::uint32_t parts)> reset;
  };
  explicit Ktrace(Hooks hooks) : hooks_(std::move(hooks)) {}

  /// `who` sets something of `part`, and takes the tracing with it if it has no living owner.
  int configure(std::uint32_t part, const Caller& who);
  int check_read(const Caller& who) const;
  void reset(std::uint32_t parts);
  int register_background(const Caller& who);

  /// Sets kperf.blessed_pid; `found` is the process of `pid`, null if unknown.
  int set_owner(Pid pid, const Caller* found);
  bool keeps_owner() const { return keeps_owner_; }
  /// The owner's pid; one that has ended is forgotten by asking.
  Pid living_owner();

  State state() const { return state_; }
  Pid owner() const { return owner_; }
  Pid background() const { return background_; }
  std::uint32_t active() const { return active_; }
  const std::string& configured_by() const { return configured_by_; }

 private:
  void reset_parts(std::uint32_t parts);
  void take(const Caller& who);
  void release();
  void forget_the_dead();
  void unset_owner();

  Hooks hooks_;
  State state_ = State::Off;
  Pid owner_ = 0;
  std::uint64_t owner_id_ = 0;
  Pid background_ = 0;
  std::uint64_t background_id_ = 0;
  std::uint32_t active_ = 0;
  std::string configured_by_{};
  bool keeps_owner_ = false;  ///< over resets, as it was set by hand
};

}  // namespace lauka::darwin
