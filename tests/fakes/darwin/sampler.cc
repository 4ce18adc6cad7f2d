#include "fakes/darwin/sampler.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lauka::darwin {
namespace {

constexpr std::size_t kNibbleBytes = 16;
constexpr std::uint32_t kPerfClass = 0x25;

/// The bits of a debugid that each type code looks at.
constexpr std::array<std::uint32_t, 6> kMasks = {0xff000000, 0xff000003, 0xffff0000,
                                                 0xffff0003, 0xfffffffc, 0xffffffff};

}  // namespace

// ---- actions

int Sampler::set_action_count(std::uint32_t count) {
  if (count > kMaxActions || count < action_count()) return EINVAL;
  actions_.resize(count);
  return 0;
}

const Sampler::Action* Sampler::action(std::uint32_t number) const {
  return number == 0 || number > actions_.size() ? nullptr : &actions_.at(number - 1);
}

Sampler::Action* Sampler::action(std::uint32_t number) {
  return number == 0 || number > actions_.size() ? nullptr : &actions_.at(number - 1);
}

int Sampler::set_samplers(std::uint32_t number, std::uint32_t mask) {
  Action* found = action(number);
  const std::uint32_t both = sampler_bit::kThreadCounters | sampler_bit::kCpuCounters;
  if (found == nullptr || (mask & both) == both) return EINVAL;
  found->samplers = mask;
  return 0;
}

int Sampler::set_userdata(std::uint32_t number, std::uint32_t value) {
  Action* found = action(number);
  if (found == nullptr) return EINVAL;
  found->userdata = value;
  return 0;
}

int Sampler::set_pid_filter(std::uint32_t number, Pid pid) {
  Action* found = action(number);
  if (found == nullptr) return EINVAL;
  found->pid_filter = pid;
  return 0;
}

int Sampler::set_user_frames(std::uint32_t number, std::uint32_t depth) {
  Action* found = action(number);
  if (found == nullptr || depth < 2 || depth > Action{}.user_frames) return EINVAL;
  found->user_frames = depth;
  return 0;
}

int Sampler::set_kernel_frames(std::uint32_t number, std::uint32_t depth) {
  Action* found = action(number);
  if (found == nullptr || depth < 1 || depth > Action{}.kernel_frames) return EINVAL;
  found->kernel_frames = depth;
  return 0;
}

// ---- timers

int Sampler::set_timer_count(std::uint32_t count) {
  if (sampling_) return EBUSY;
  if (count > kMaxTimers) return EINVAL;
  timer_count_ = count;
  return 0;
}

const Sampler::Timer* Sampler::timer(std::uint32_t number) const {
  return number >= timer_count_ ? nullptr : &timers_.at(number);
}

std::uint64_t Sampler::least_period(bool pet, bool in_background) const {
  return in_background ? least_.background : pet ? least_.pet : least_.timer;
}

int Sampler::set_period(std::uint32_t number, std::uint64_t ticks, bool in_background) {
  if (number >= timer_count_) return EINVAL;
  if (sampling_) return EBUSY;
  const bool pet = number == pet_timer_;
  if (ticks != 0) ticks = std::max(ticks, least_period(pet, in_background));
  Timer& timer = timers_.at(number);
  if (pet && !lightweight_) pet_action_ = timer.action;
  timer.period = ticks;
  return 0;
}

int Sampler::set_timer_action(std::uint32_t number, std::uint32_t of_action) {
  if (number >= timer_count_) return EINVAL;
  if (sampling_) return EBUSY;
  timers_.at(number).action = of_action;
  if (number == pet_timer_ && !lightweight_) pet_action_ = of_action;
  return 0;
}

/// A timer that is not there: PET is off.
int Sampler::set_pet_timer(std::uint32_t number, bool in_background) {
  if (sampling_) return EBUSY;
  pet_timer_ = number;
  pet_action_ = 0;
  if (number >= timer_count_) return 0;
  Timer& timer = timers_.at(number);
  pet_action_ = timer.action;
  timer.period = std::max(timer.period, least_period(true, in_background));
  return 0;
}

int Sampler::set_lightweight(std::int32_t value) {
  if (sampling_) return EBUSY;
  lightweight_ = value == 1;
  return 0;
}

int Sampler::set_sampling(std::uint32_t on) {
  if (on != 0 && actions_.empty()) return ECANCELED;
  sampling_ = on != 0;
  return 0;
}

// ---- the trigger

/// Bytes after the last whole debugid are ignored, so that fewer than 20 bytes clear it.
int Sampler::set_trigger_filter(std::span<const std::uint8_t> bytes) {
  const std::size_t ids = bytes.size() < kNibbleBytes ? 0 : (bytes.size() - kNibbleBytes) / 4;
  if (ids > kMaxDebugids) return EINVAL;
  filter_.clear();
  if (ids > 0)
    filter_.assign(bytes.begin(),
                   bytes.begin() + static_cast<std::ptrdiff_t>(kNibbleBytes + 4 * ids));
  return 0;
}

int Sampler::set_trigger_action(std::int32_t number) {
  if (number < 0 || static_cast<std::uint32_t>(number) > action_count()) return EINVAL;
  trigger_action_ = static_cast<std::uint32_t>(number);
  return 0;
}

bool Sampler::triggers(std::uint32_t debugid) const {
  if (trigger_action_ == 0 || filter_.empty() || debugid >> 24U == kPerfClass) return false;
  for (std::size_t i = 0; kNibbleBytes + 4 * i + 4 <= filter_.size(); ++i) {
    std::uint32_t wanted = 0;
    std::memcpy(&wanted, filter_.data() + kNibbleBytes + 4 * i, sizeof wanted);
    const std::size_t code = std::uint32_t{filter_[i / 2]} >> (i % 2 == 0 ? 0U : 4U) & 0xfU;
    if (code < kMasks.size() && (debugid & kMasks.at(code)) == wanted) return true;
  }
  return false;
}

// ---- as a whole

bool Sampler::is_configured() const {
  const auto is_set = [](const Action& action) {
    return action.samplers != 0 || action.userdata != 0 || action.pid_filter != -1;
  };
  const auto runs = [](const Timer& timer) { return timer.period != 0 || timer.action != 0; };
  return std::any_of(actions_.begin(), actions_.end(), is_set) ||
         std::any_of(timers_.begin(), timers_.begin() + timer_count_, runs) || !filter_.empty() ||
         trigger_action_ != 0 || pet_timer_ != kNoPet || lightweight_ || sampling_;
}

/// The numbers of actions and timers stay, as do timers beyond that number.
void Sampler::reset() {
  sampling_ = false;
  rest = Rest{};
  filter_.clear();
  trigger_action_ = 0;
  pet_timer_ = kNoPet;
  pet_action_ = 0;
  std::fill_n(timers_.begin(), timer_count_, Timer{});
  lightweight_ = false;
  std::fill(actions_.begin(), actions_.end(), Action{});
}

}  // namespace lauka::darwin
