#include "fakes/darwin/pmu.h"

#include <cerrno>

namespace lauka::darwin {
namespace {

constexpr std::size_t kFixed = 2;
constexpr std::uint64_t kUser32 = 0x10000;
constexpr std::uint64_t kUser64 = 0x20000;
constexpr std::uint64_t kKernel = 0x40000;
constexpr std::uint64_t kAnyLevel = kUser32 | kUser64 | kKernel | 0x80000;

std::uint16_t selector_of(std::uint64_t word) {
  return static_cast<std::uint16_t>(word & 0xffff);
}

}  // namespace

Pmu::Pmu(const Chip& chip, PmuRules with) : rules(with), chip_(&chip), cpus_(chip.cpus()) {
  // What was counted since the machine was started, so that a value that is not a difference shows.
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    cpus_[i].counters[0] = 900'000'000'000 + i * 12'345'678'901;
    cpus_[i].counters[1] = 1'700'000'000'000 + i * 23'456'789'012;
  }
}

const ChipEvent* Pmu::counted_on(std::size_t index) const {
  const std::uint64_t word = in_effect_.at(index);
  if (word == 0) return nullptr;
  const ChipEvent* event = chip_->event(selector_of(word));
  const bool fits = event != nullptr && (event->mask >> index & 1U) != 0;
  if (!fits || (rules.dead_mask && event->mask == *rules.dead_mask)) return nullptr;
  return event;
}

Modes Pmu::modes_of(std::size_t index) const {
  const std::uint64_t word = in_effect_.at(index);
  const bool any = (word & kAnyLevel) == 0;
  Modes modes{any || (word & (kUser32 | kUser64)) != 0, any || (word & kKernel) != 0};
  if (rules.user_only) modes = kUserOnly;
  return modes;
}

void Pmu::count(unsigned cpu, const Work& before, const Work& after) {
  Counters& counters = cpus_.at(cpu).counters;
  // The fixed ones are never switched off: the kernel's own accounting reads them.
  counters[0] += cycles_of(after, kBothModes) - cycles_of(before, kBothModes);
  counters[1] += instructions_of(after, kBothModes) - instructions_of(before, kBothModes);
  if ((counting_ & kConfigurableClass) == 0) return;
  for (std::size_t i = kFixed; i < kCounters; ++i) {
    const ChipEvent* event = counted_on(i);
    if (event == nullptr) continue;
    counters.at(i) +=
        event_count(*event, after, modes_of(i)) - event_count(*event, before, modes_of(i));
  }
}

void Pmu::switch_off(unsigned cpu, Counters* buffer) {
  if (thread_counting_ == 0) return;
  Cpu& of = cpus_.at(cpu);
  for (const std::size_t i : counters_of(thread_counting_)) {
    if (buffer != nullptr) buffer->at(i) += of.counters.at(i) - of.snapshot.at(i);
    of.snapshot.at(i) = of.counters.at(i);
  }
}

std::uint16_t Pmu::available() const {
  const bool all = forced_by_ != 0 && !rules.forcing_frees_nothing;
  const auto held_back = static_cast<std::uint16_t>(0x3fc & ~0xe0);
  return all ? 0x3fc : rules.forcing_frees_nothing ? held_back : chip_->unforced;
}

std::vector<std::size_t> Pmu::counters_of(std::uint32_t classes) const {
  std::vector<std::size_t> all;
  if ((classes & kFixedClass) != 0) all = {0, 1};
  if ((classes & kConfigurableClass) == 0) return all;
  for (std::size_t i = kFixed; i < kCounters; ++i) {
    if ((std::uint32_t{available()} >> i & 1U) != 0) all.push_back(i);
  }
  return all;
}

std::uint32_t Pmu::counter_count(std::uint32_t classes) const {
  return static_cast<std::uint32_t>(counters_of(classes).size());
}

std::uint32_t Pmu::config_count(std::uint32_t classes) const {
  return counter_count(classes & kConfigurableClass);
}

std::vector<std::uint64_t> Pmu::words(std::uint32_t classes) const {
  std::vector<std::uint64_t> all;
  for (const std::size_t i : counters_of(classes & kConfigurableClass)) all.push_back(words_.at(i));
  return all;
}

int Pmu::set_words(std::uint32_t classes, const std::vector<std::uint64_t>& words) {
  if ((classes & kPowerClass) != 0) return EPERM;
  const auto places = counters_of(classes & kConfigurableClass);
  if (places.empty() || words.size() < places.size()) return EINVAL;
  for (const std::uint64_t word : words) {
    const std::uint16_t selector = selector_of(word);
    if (selector == 0) continue;
    if (chip_->event(selector) == nullptr || selector == rules.refused_selector) return EPERM;
  }
  for (std::size_t i = 0; i < places.size(); ++i) words_.at(places[i]) = words[i];
  if (!rules.words_at_start) in_effect_ = words_;
  return 0;
}

int Pmu::set_counting(std::uint32_t classes) {
  if ((classes & kConfigurableClass) != 0 && (counting_ & kConfigurableClass) == 0)
    in_effect_ = words_;
  counting_ = classes;
  return 0;
}

int Pmu::force(Pid who, bool on) {
  if (forced_by_ != 0 && forced_by_ != who) return EACCES;
  forced_by_ = on ? who : 0;
  return 0;
}

void Pmu::overwrite_words(std::uint64_t word) {
  words_.at(kFixed) = word;
  in_effect_.at(kFixed) = word;
}

}  // namespace lauka::darwin
