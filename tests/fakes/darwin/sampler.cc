#include "fakes/darwin/sampler.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lauka::darwin {
namespace {

constexpr std::uint64_t kLeastTimerNs = 50'000;
constexpr std::uint64_t kLeastPetNs = 1'000'000;
constexpr std::size_t kNibbleBytes = 16;
constexpr std::size_t kMostDebugids = 32;
constexpr std::uint32_t kPerfClass = 0x25;

/// What of a debugid a type code looks at.
constexpr std::array<std::uint32_t, 6> kMasks = {0xff000000, 0xff000003, 0xffff0000,
                                                 0xffff0003, 0xfffffffc, 0xffffffff};

}  // namespace

int Sampler::set_action_count(std::uint32_t count) {
  if (count > kMostActions || count < action_count()) return EINVAL;
  actions_.resize(count);
  return 0;
}

Sampler::Action* Sampler::action(std::uint64_t number) {
  return number == 0 || number > actions_.size() ? nullptr : &actions_.at(number - 1);
}

int Sampler::set_samplers(std::uint64_t number, std::uint32_t mask) {
  Action* found = action(number);
  const std::uint32_t both = sampler_bit::kThreadCounters | sampler_bit::kCpuCounters;
  if (found == nullptr || (mask & both) == both) return EINVAL;
  found->samplers = mask;
  return 0;
}

int Sampler::set_timer_count(std::uint32_t count) {
  if (sampling_) return EBUSY;
  if (count > kMostTimers) return EINVAL;
  timers_.resize(count);
  return 0;
}

Sampler::Timer* Sampler::timer(std::uint64_t number) {
  return number >= timers_.size() ? nullptr : &timers_.at(number);
}

int Sampler::set_period(std::uint64_t number, std::uint64_t ns) {
  Timer* found = timer(number);
  if (found == nullptr) return EINVAL;
  found->period_ns = std::max(ns, number == pet_timer_ ? kLeastPetNs : kLeastTimerNs);
  return 0;
}

int Sampler::set_timer_action(std::uint64_t number, std::uint64_t of_action) {
  Timer* found = timer(number);
  if (found == nullptr || of_action > actions_.size()) return EINVAL;
  found->action = static_cast<std::uint32_t>(of_action);
  return 0;
}

int Sampler::set_pet_timer(std::uint32_t number) {
  if (sampling_) return EBUSY;
  Timer* found = timer(number);
  if (found == nullptr) return EINVAL;
  pet_timer_ = number;
  pet_action_ = found->action;
  found->period_ns = std::max(found->period_ns, kLeastPetNs);
  return 0;
}

int Sampler::set_lightweight(bool on) {
  if (sampling_) return EBUSY;
  lightweight_ = on;
  return 0;
}

int Sampler::set_sampling(bool on) {
  if (on && actions_.empty()) return ECANCELED;
  sampling_ = on;
  return 0;
}

std::uint64_t Sampler::pet_period_ns() const {
  return pet_timer_ < timers_.size() ? timers_.at(pet_timer_).period_ns : 0;
}

int Sampler::set_trigger_filter(std::span<const std::uint8_t> bytes) {
  if (bytes.size() <= kNibbleBytes) {
    filter_.clear();
    return 0;
  }
  const std::size_t ids = (bytes.size() - kNibbleBytes) / 4;
  if (ids > kMostDebugids || (bytes.size() - kNibbleBytes) % 4 != 0) return EINVAL;
  for (std::size_t i = 0; i < ids; ++i) {
    if ((std::uint32_t{bytes[i / 2]} >> (i % 2 == 0 ? 0U : 4U) & 0xfU) >= kMasks.size())
      return EINVAL;
  }
  filter_.assign(bytes.begin(), bytes.end());
  return 0;
}

int Sampler::set_trigger_action(std::uint32_t number) {
  if (number > actions_.size()) return EINVAL;
  trigger_action_ = number;
  return 0;
}

bool Sampler::triggers(std::uint32_t debugid) const {
  if (trigger_action_ == 0 || filter_.empty() || debugid >> 24U == kPerfClass) return false;
  for (std::size_t i = 0; kNibbleBytes + 4 * i + 4 <= filter_.size(); ++i) {
    std::uint32_t wanted = 0;
    std::memcpy(&wanted, filter_.data() + kNibbleBytes + 4 * i, sizeof wanted);
    const std::uint32_t mask =
        kMasks.at(std::uint32_t{filter_[i / 2]} >> (i % 2 == 0 ? 0U : 4U) & 0xfU);
    if ((debugid & mask) == (wanted & mask)) return true;
  }
  return false;
}

bool Sampler::is_configured() const {
  return !actions_.empty() || !timers_.empty() || !filter_.empty() || trigger_action_ != 0 ||
         pet_timer_ != kNoPet || lightweight_ || sampling_;
}

}  // namespace lauka::darwin
