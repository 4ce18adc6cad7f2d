#include "fakes/darwin/ktrace.h"

#include <cerrno>

namespace lauka::darwin {

int Ktrace::configure(std::uint32_t part, const Caller& who) {
  if (who.unique_id != owner_id_) {
    if (who.unique_id == background_id_ && state_ == State::Foreground) return EBUSY;
    forget_the_dead();
    if (owner_id_ != 0 && state_ != State::Background) return EBUSY;
    if (!who.is_root) return EPERM;
    take(who);
  }
  active_ |= part;
  return 0;
}

int Ktrace::check_read(const Caller& who) const {
  return who.is_root || who.unique_id == owner_id_ ? 0 : EPERM;
}

/// The configuration of a dead owner in the foreground passes to the new one; a background owner's
/// is cleared.
void Ktrace::take(const Caller& who) {
  if (state_ != State::Foreground) {
    if (who.unique_id == background_id_) {
      state_ = State::Background;
    } else {
      if (state_ == State::Background) {
        hooks_.reset(active_);
        active_ = 0;
      }
      state_ = State::Foreground;
    }
  }
  owner_ = who.pid;
  owner_id_ = who.unique_id;
  configured_by_ = who.name;
}

void Ktrace::release() {
  owner_ = 0;
  owner_id_ = 0;
}

void Ktrace::forget_the_dead() {
  if (owner_id_ != 0 && !hooks_.is_alive(owner_id_)) release();
}

void Ktrace::reset(std::uint32_t parts) {
  if (active_ != 0) reset_parts(parts);
}

void Ktrace::reset_parts(std::uint32_t parts) {
  if (!keeps_owner_) active_ &= ~parts;
  hooks_.reset(parts);
  if (active_ != 0) return;
  release();
  state_ = State::Off;
}

int Ktrace::register_background(const Caller& who) {
  if (!who.is_root) return EPERM;
  background_ = who.pid;
  background_id_ = who.unique_id;
  if (state_ == State::Background) take(who);
  return 0;
}

void Ktrace::unset_owner() {
  if (!keeps_owner_) return;
  keeps_owner_ = false;
  reset_parts(active_);
}

int Ktrace::set_owner(Pid pid, const Caller* found) {
  if (pid == -1 || pid == 0 || found == nullptr) {
    unset_owner();
    return pid == -1 ? 0 : pid == 0 ? EINVAL : ESRCH;
  }
  keeps_owner_ = true;
  take(*found);
  return 0;
}

Pid Ktrace::living_owner() {
  forget_the_dead();
  return owner_;
}

}  // namespace lauka::darwin
