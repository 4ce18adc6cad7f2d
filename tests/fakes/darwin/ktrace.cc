#include "fakes/darwin/ktrace.h"

#include <cerrno>

namespace lauka::darwin {

int Ktrace::configure(std::uint32_t part, const Process& who, bool is_root,
                      const std::function<bool(Pid)>& is_alive,
                      const std::function<void()>& reset) {
  const bool is_ours = state != State::Off && owner == who.pid;
  if (!is_root && !is_ours && blessed != who.pid) return EPERM;
  if (!is_ours) {
    if (state == State::Foreground && is_alive(owner)) return EBUSY;
    if (state == State::Background) {
      reset();
      active = 0;
    }
    // What a dead owner configured goes over to the new one as it is.
    state = State::Foreground;
    owner = who.pid;
    configured_by = who.name;
  }
  active |= part;
  return 0;
}

void Ktrace::give_up(std::uint32_t part) {
  active &= ~part;
  if (active != 0) return;
  state = State::Off;
  owner = 0;
  configured_by.clear();
}

}  // namespace lauka::darwin
