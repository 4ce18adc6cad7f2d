#include "fakes/darwin/pmu.h"

#include <algorithm>
#include <cerrno>

namespace lauka::darwin {
namespace {

constexpr std::size_t kFixed = 2;
constexpr std::uint16_t kConfigurable = 0x3fc;
constexpr std::uint16_t kHeldBack = kConfigurable & ~0xe0;
constexpr std::uint64_t kUser32 = 0x10000;
constexpr std::uint64_t kUser64 = 0x20000;
constexpr std::uint64_t kKernel = 0x40000;
constexpr std::uint64_t kSelector = 0xffff;

bool has_bit(std::uint32_t mask, std::size_t bit) {
  return ((mask >> bit) & 1U) != 0;
}

}  // namespace

Selectors selectors_of(int macos_version) {
  if (macos_version >= 26) return Selectors::OfTheChip;
  return macos_version >= 14 ? Selectors::OfTheList : Selectors::Any;
}

Pmu::Pmu(const Chip& chip, PmuRules with) : rules(with), chip_(&chip), cpus_(chip.cpus()) {
  // Counts since the machine was started, so that values that are not differences show up.
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    cpus_[i].counters[0] = 900'000'000'000 + i * 12'345'678'901;
    cpus_[i].counters[1] = 1'700'000'000'000 + i * 23'456'789'012;
  }
}

const ChipEvent* Pmu::counted_on(std::size_t index) const {
  const std::uint64_t word = in_effect_.at(index);
  if (word == 0) return nullptr;
  const ChipEvent* event = chip_->event(static_cast<std::uint16_t>(word & kSelector));
  const bool fits = event != nullptr && has_bit(event->mask, index);
  if (!fits || (rules.dead_mask && event->mask == *rules.dead_mask)) return nullptr;
  return event;
}

Modes Pmu::modes_of(std::size_t index) const {
  const std::uint64_t word = in_effect_.at(index);
  return {(word & kUser64) != 0, (word & kKernel) != 0};
}

void Pmu::count(unsigned cpu, const Work& before, const Work& after) {
  Counters& counters = cpus_.at(cpu).counters;
  // The fixed ones are never switched off: the kernel's own accounting reads them.
  counters[0] += cycles_of(after, kBothModes) - cycles_of(before, kBothModes);
  counters[1] += instructions_of(after, kBothModes) - instructions_of(before, kBothModes);
  for (std::size_t i = kFixed; i < kCounters; ++i) {
    const ChipEvent* event = has_bit(enabled_, i) ? counted_on(i) : nullptr;
    if (event == nullptr) continue;
    counters.at(i) +=
        event_count(*event, after, modes_of(i)) - event_count(*event, before, modes_of(i));
  }
}

void Pmu::switch_off(unsigned cpu, Counters* buffer) {
  if (thread_counting_ == 0) return;
  Cpu& of = cpus_.at(cpu);
  for (const std::size_t i : thread_counters_) {
    if (buffer != nullptr) buffer->at(i) += of.counters.at(i) - of.snapshot.at(i);
    of.snapshot.at(i) = of.counters.at(i);
  }
}

std::uint16_t Pmu::available() const {
  if (rules.forcing_frees_nothing) return kHeldBack;
  return forced_by_ != 0 ? kConfigurable : chip_->unforced;
}

std::uint16_t Pmu::mask_of(std::uint32_t classes) const {
  // The power manager does not count through kpc, so that its class has no counters.
  return (classes & kConfigurableClass) != 0 ? available() : 0;
}

bool Pmu::raw_is_held() const {
  return chip_->unforced != kConfigurable && forced_by_ == 0;
}

std::vector<std::size_t> Pmu::counters_of(std::uint32_t classes) const {
  std::vector<std::size_t> all;
  if ((classes & kFixedClass) != 0) all = {0, 1};
  for (std::size_t i = kFixed; i < kCounters; ++i) {
    if (has_bit(mask_of(classes), i)) all.push_back(i);
  }
  return all;
}

std::uint32_t Pmu::counter_count(std::uint32_t classes) const {
  return static_cast<std::uint32_t>(counters_of(classes).size());
}

std::uint32_t Pmu::config_count(std::uint32_t classes) const {
  const bool has_raw = (classes & kRawClass) != 0 && !raw_is_held();
  return counter_count(classes & kConfigurableClass) +
         (has_raw ? static_cast<std::uint32_t>(kRawWords) : 0);
}

int Pmu::words(std::uint32_t classes, std::vector<std::uint64_t>& words) const {
  words.clear();
  for (const std::size_t i : counters_of(classes & kConfigurableClass))
    words.push_back(in_effect_.at(i));
  if ((classes & kRawClass) == 0) return 0;
  if (raw_is_held()) return EPERM;
  words.insert(words.end(), raw_.begin(), raw_.end());
  return 0;
}

bool Pmu::is_allowed(std::uint64_t word) const {
  const auto selector = static_cast<std::uint16_t>(word & chip_->selector_bits);
  if (selector == 0) return true;
  if (selector == rules.refused_selector) return false;
  if (rules.selectors == Selectors::Any) return true;
  return rules.selectors == Selectors::OfTheList ? chip_->lists(selector)
                                                 : chip_->event(selector) != nullptr;
}

// A word with none of the levels counts in all allowed ones; the register has no bit for user space
// of 32 bits, and none for the kernel's if that is not allowed.
std::uint64_t Pmu::register_of(std::uint64_t word) const {
  const std::uint64_t allowed = rules.user_only ? kUser64 : kUser64 | kKernel;
  std::uint64_t levels = word & allowed;
  if (word != 0 && levels == 0 && (word & kUser32) == 0) levels = allowed;
  return (word & chip_->selector_bits) | levels;
}

int Pmu::set_words(std::uint32_t classes, const std::vector<std::uint64_t>& words) {
  const bool has_raw = (classes & kRawClass) != 0;
  if ((classes & kPowerClass) != 0 || (has_raw && raw_is_held())) return EPERM;
  const auto places = counters_of(classes & kConfigurableClass);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!is_allowed(words.at(i))) return EPERM;
  }
  for (std::size_t i = 0; i < places.size(); ++i) words_.at(places[i]) = register_of(words[i]);
  if (has_raw)
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(places.size()), kRawWords,
                raw_.begin());
  if (!rules.words_at_start) in_effect_ = words_;
  return 0;
}

void Pmu::set_counting(std::uint32_t classes) {
  const bool starts =
      (classes & kConfigurableClass) != 0 && (running_classes_ & kConfigurableClass) == 0;
  if (starts) in_effect_ = words_;
  running_classes_ = classes;
  running_mask_ = mask_of(classes);
  enabled_ = static_cast<std::uint16_t>((enabled_ & ~available()) | running_mask_);
}

std::uint32_t Pmu::counting() const {
  const std::uint16_t wanted = mask_of(kConfigurableClass);
  const bool all_run = (running_mask_ & wanted) == wanted;
  return (running_classes_ & kFixedClass) | (all_run ? running_classes_ & kConfigurableClass : 0);
}

/// Classes without counters switch it off.
void Pmu::set_thread_counting(std::uint32_t classes) {
  const auto counters = counters_of(classes);
  thread_counting_ = counters.empty() ? 0 : classes;
  if (!counters.empty()) thread_counters_ = counters;
}

int Pmu::force(std::uint64_t who, bool on) {
  if (forced_by_ != 0 && forced_by_ != who) return EACCES;
  forced_by_ = on ? who : 0;
  return 0;
}

void Pmu::forget(std::uint64_t who) {
  if (forced_by_ == who) forced_by_ = 0;
}

void Pmu::overwrite_words(std::uint64_t word) {
  words_.at(kFixed) = register_of(word);
  in_effect_.at(kFixed) = words_.at(kFixed);
}

}  // namespace lauka::darwin
