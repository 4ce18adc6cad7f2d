#include "fakes/darwin/trace.h"

#include <algorithm>
#include <cerrno>

namespace lauka::darwin {
namespace {

constexpr std::uint32_t kClassType = 0x10000;
constexpr std::uint32_t kSubclassType = 0x20000;
constexpr std::uint32_t kRangeType = 0x40000;
constexpr std::uint32_t kNoType = 0x80000;
constexpr std::uint32_t kTraceClass = 7;

Record lost_events(std::uint64_t timestamp, std::uint64_t argument) {
  Record record;
  record.timestamp = timestamp;
  record.arguments[0] = argument;
  record.debugid = id::kLostEvents;
  return record;
}

}  // namespace

int Trace::set_buffer(std::uint32_t records) {
  wanted_records_ = records;
  return 0;
}

int Trace::set_up() {
  if (is_made()) return EINVAL;
  const std::uint32_t least = (rules_.cpus + 16) * 4 * 2048;
  std::uint32_t records = std::min(wanted_records_, rules_.most_records);
  if (!rules_.may_be_small) records = std::max(records, least);
  total_units_ = std::max(records / rules_.records_per_unit, 1U);
  forget_records();
  flags_ = kBufferIsMade | kLp64 | (flags_ & (kRangeCheck | kValueCheck | kTypefilterCheck));
  is_silent_ = false;
  return 0;
}

void Trace::remove() {
  enabled_ = false;
  flags_ = 0;
  values_ = {};
  typefilter_ = {};
  total_units_ = 0;
  forget_records();
}

void Trace::forget_records() {
  for (Cpu& cpu : cpus_) cpu.units.clear();
  used_units_ = 0;
}

int Trace::enable(bool on) {
  if (on && !is_made()) return EINVAL;
  enabled_ = on;
  return 0;
}

int Trace::set_filter(std::span<const std::uint32_t, 5> filter) {
  const std::uint32_t type = filter[0];
  flags_ &= ~(kRangeCheck | kValueCheck);
  if (type == kClassType) {
    values_ = {filter[1] << 24U, (filter[1] + 1) << 24U};
    flags_ |= kRangeCheck;
  } else if (type == kSubclassType) {
    const std::uint32_t from = filter[1] << 24U | filter[2] << 16U;
    values_ = {from, from + 0x10000};
    flags_ |= kRangeCheck;
  } else if (type == kRangeType) {
    values_ = {filter[1], filter[2]};
    flags_ |= kRangeCheck;
  } else if (type == kValueCheck) {
    values_ = {filter[1], filter[2], filter[3], filter[4]};
    flags_ |= kValueCheck;
  } else if (type != kNoType) {
    return EINVAL;
  }
  return 0;
}

void Trace::set_typefilter(std::span<const std::uint8_t, kTypefilterBytes> bits) {
  std::copy(bits.begin(), bits.end(), typefilter_.begin());
  std::fill_n(typefilter_.begin() + std::ptrdiff_t{kTraceClass} * 32, 32, std::uint8_t{0xff});
  flags_ = (flags_ & ~(kRangeCheck | kValueCheck)) | kTypefilterCheck;
}

TraceInfo Trace::info() const {
  return {total_units_ * rules_.records_per_unit, enabled_ ? 0U : 1U, flags_, 0, owner_};
}

bool Trace::passes(std::uint32_t debugid) const {
  if ((flags_ & kTypefilterCheck) != 0) {
    const std::uint32_t csc = debugid >> 16U;
    return (std::uint32_t{typefilter_.at(csc >> 3U)} >> (csc & 7U) & 1U) != 0;
  }
  if ((flags_ & kRangeCheck) != 0) {
    const bool exempt = debugid >> 24U == kTraceClass;
    return exempt || (debugid >= values_[0] && debugid < values_[1]);
  }
  if ((flags_ & kValueCheck) != 0) {
    return std::find(values_.begin(), values_.end(), debugid & ~3U) != values_.end();
  }
  return true;
}

Trace::Cpu* Trace::oldest() {
  Cpu* found = nullptr;
  for (Cpu& cpu : cpus_) {
    if (cpu.units.empty()) continue;
    const bool is_older = found == nullptr || cpu.units.front().records.front().timestamp <
                                                  found->units.front().records.front().timestamp;
    if (is_older) found = &cpu;
  }
  return found;
}

/// A new unit for `cpu`: a free one, or the oldest of all, whose records are lost then.
bool Trace::take_unit(Cpu& cpu) {
  if (used_units_ < total_units_) {
    ++used_units_;
  } else {
    Cpu* robbed = oldest();
    if (robbed == nullptr) return false;
    robbed->units.pop_front();
    flags_ |= kWrapped;
  }
  cpu.units.emplace_back();
  cpu.units.back().records.reserve(rules_.records_per_unit);
  return true;
}

bool Trace::write(const Record& record) {
  if (!enabled_ || !passes(record.debugid)) return false;
  if (is_silent_) return true;
  Cpu& cpu = cpus_.at(record.cpu);
  const bool has_room =
      !cpu.units.empty() && cpu.units.back().records.size() < rules_.records_per_unit;
  if (!has_room && !take_unit(cpu)) return false;
  cpu.units.back().records.push_back(record);
  return true;
}

Trace::Cpu* Trace::next_to_read(std::uint64_t before) {
  Cpu* found = nullptr;
  for (Cpu& cpu : cpus_) {
    while (!cpu.units.empty() && cpu.units.front().taken == cpu.units.front().records.size()) {
      cpu.units.pop_front();
      --used_units_;
    }
    if (cpu.units.empty()) continue;
    const Unit& unit = cpu.units.front();
    const std::uint64_t at = unit.records[unit.taken].timestamp;
    if (at >= before) continue;
    if (found == nullptr || at < found->units.front().records[found->units.front().taken].timestamp)
      found = &cpu;
  }
  return found;
}

std::vector<Record> Trace::read(std::size_t capacity, std::uint64_t before) {
  std::vector<Record> records;
  Cpu* cpu = next_to_read(before);
  if ((flags_ & kWrapped) != 0 && capacity > 0 && !is_false_alarm_) {
    const std::uint64_t at = cpu == nullptr ? before : cpu->units.front().records.front().timestamp;
    records.push_back(lost_events(at, 0));
  }
  flags_ &= ~kWrapped;
  is_false_alarm_ = false;
  while (cpu != nullptr && records.size() < capacity) {
    Unit& unit = cpu->units.front();
    records.push_back(unit.records[unit.taken++]);
    cpu = next_to_read(before);
  }
  if (records.empty()) return records;
  ++reads_;
  if (rules_.lose_at_read == reads_) loss_ = rules_.loss_argument;
  if (loss_) lose(records, capacity);
  if (rules_.silent_after_read == reads_) is_silent_ = true;
  if (rules_.wrapped_flag_at_read == reads_ + 1) flags_ |= kWrapped;
  return records;
}

/// The older half goes, and LOST_EVENTS says so.
void Trace::lose(std::vector<Record>& records, std::size_t capacity) {
  const std::uint64_t at = records.front().timestamp;
  records.erase(records.begin(),
                records.begin() + static_cast<std::ptrdiff_t>(records.size() + 1) / 2);
  if (records.size() < capacity) records.insert(records.begin(), lost_events(at, *loss_));
  loss_.reset();
}

bool Trace::threshold_is_reached() const {
  return used_units_ * 2 > total_units_;
}

}  // namespace lauka::darwin
