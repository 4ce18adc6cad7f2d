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

void Trace::set_buffer(std::uint32_t records) {
  wanted_records_ = std::min(records, rules_.most_records);
}

void Trace::set_up() {
  enabled_ = false;
  drop_map();
  const std::uint32_t least = rules_.may_be_small ? 1 : (rules_.cpus + 16) * 4;
  total_units_ = std::max(wanted_records_ / rules_.records_per_unit, least);
  wanted_records_ = total_units_ * rules_.records_per_unit;
  threshold_ = total_units_ / 2;
  forget_records();
  used_units_ = 0;
  is_wrapped_ = false;
  flags_ |= kBufferIsMade;
  is_silent_ = false;
}

void Trace::remove() {
  enabled_ = false;
  drop_map();
  flags_ = 0;
  is_wrapped_ = false;
  oldest_ = 0;
  values_ = {};
  typefilter_ = {};
  wanted_records_ = 0;
  total_units_ = 0;
  forget_records();
}

void Trace::drop_map() {
  flags_ &= ~kMapIsMade;
  mapped_threads_ = 0;
}

void Trace::forget_records() {
  for (Cpu& cpu : cpus_) cpu = Cpu{};
  delayed_.reset();
}

int Trace::enable(int value, std::uint32_t threads) {
  constexpr int everything = 1;
  constexpr int performance = 4;
  if (value == 0) {
    enabled_ = false;
    return 0;
  }
  if (!is_made() || (value != everything && value != performance)) return EINVAL;
  if ((flags_ & kMapIsMade) == 0) mapped_threads_ = threads;
  flags_ |= kMapIsMade;
  enabled_ = true;
  return 0;
}

int Trace::set_filter(std::span<const std::uint32_t, 5> filter) {
  const std::uint32_t type = filter[0];
  const std::uint32_t first = filter[1];
  const std::uint32_t second = filter[2];
  if (type == kClassType) {
    values_ = {first << 24U, second << 24U};
  } else if (type == kSubclassType) {
    const std::uint32_t from = first << 24U | (second & 0xffU) << 16U;
    values_ = {from, from + 0x10000};
  } else if (type == kRangeType) {
    values_ = {first, second};
  } else if (type == kValueCheck) {
    values_ = {first, second, filter[3], filter[4]};
  } else if (type != kNoType) {
    return EINVAL;
  }
  flags_ &= ~(kRangeCheck | kValueCheck);
  if (type != kNoType) flags_ |= type == kValueCheck ? kValueCheck : kRangeCheck;
  return 0;
}

void Trace::set_typefilter(std::span<const std::uint8_t, kTypefilterBytes> bits) {
  std::copy(bits.begin(), bits.end(), typefilter_.begin());
  std::fill_n(typefilter_.begin() + std::ptrdiff_t{kTraceClass} * 32, 32, std::uint8_t{0xff});
  flags_ = (flags_ & ~(kRangeCheck | kValueCheck)) | kTypefilterCheck;
}

TraceInfo Trace::info(std::int32_t owner) const {
  const std::uint32_t live = is_wrapped_ ? kWrapped : 0;
  return {wanted_records_, enabled_ ? 0U : 1U, flags_ | live | kLp64, mapped_threads_, owner};
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

// ---- writing

/// Takes the full unit whose last record is the oldest: its records are lost. A unit that is still
/// written to is never taken, so all may be in use, and tracing ends for good.
bool Trace::rob_the_oldest() {
  Cpu* robbed = nullptr;
  std::uint64_t last = 0;
  for (Cpu& cpu : cpus_) {
    if (cpu.units.empty() || !is_full(cpu.units.front())) continue;
    const std::uint64_t at = cpu.units.front().records.back().timestamp;
    if (robbed != nullptr && at >= last) continue;
    robbed = &cpu;
    last = at;
  }
  if (robbed == nullptr) {
    is_silent_ = true;
    return false;
  }
  robbed->units.pop_front();
  if (robbed->units.empty())
    robbed->has_lost = true;
  else
    robbed->units.front().follows_a_loss = true;
  oldest_ = std::max(oldest_, last);
  is_wrapped_ = true;
  return true;
}

bool Trace::take_unit(Cpu& cpu) {
  if (used_units_ < total_units_)
    ++used_units_;
  else if (!rob_the_oldest())
    return false;
  cpu.units.emplace_back();
  cpu.units.back().records.reserve(rules_.records_per_unit);
  cpu.units.back().follows_a_loss = cpu.has_lost;
  cpu.has_lost = false;
  return true;
}

bool Trace::store(const Record& record) {
  Cpu& cpu = cpus_.at(record.cpu);
  const bool has_room = !cpu.units.empty() && !is_full(cpu.units.back());
  if (!has_room && !take_unit(cpu)) return false;
  cpu.units.back().records.push_back(record);
  return true;
}

bool Trace::write(const Record& record) {
  if (!enabled_ || !passes(record.debugid)) return false;
  if (is_silent_) return true;
  if (delayed_id_ == (record.debugid & ~3U)) {
    delayed_ = record;
    delayed_id_.reset();
    return true;
  }
  return store(record);
}

// ---- reading

void Trace::release_if_done(Cpu& cpu) {
  if (cpu.units.empty() || !is_full(cpu.units.front())) return;
  if (cpu.units.front().taken < cpu.units.front().records.size()) return;
  cpu.units.pop_front();
  --used_units_;
}

/// Drops records older than one read before. False: nothing is left.
bool Trace::skip_the_late(Cpu& cpu) {
  for (;;) {
    release_if_done(cpu);
    if (cpu.units.empty()) return false;
    Unit& unit = cpu.units.front();
    if (unit.taken == unit.records.size()) return false;
    if (unit.records[unit.taken].timestamp >= oldest_) return true;
    ++unit.taken;
  }
}

Trace::Cpu* Trace::next_to_read(std::uint64_t until, std::optional<std::uint64_t>& lost_at) {
  Cpu* found = nullptr;
  std::uint64_t earliest = 0;
  for (Cpu& cpu : cpus_) {
    if (!cpu.units.empty() && cpu.units.front().follows_a_loss &&
        !cpu.units.front().records.empty()) {
      cpu.units.front().follows_a_loss = false;
      oldest_ = std::max(oldest_, cpu.units.front().records.front().timestamp);
      lost_at = oldest_;
    }
    if (!skip_the_late(cpu)) continue;
    const Unit& unit = cpu.units.front();
    const std::uint64_t at = unit.records[unit.taken].timestamp;
    if (at > until || (found != nullptr && at >= earliest)) continue;
    found = &cpu;
    earliest = at;
  }
  return found;
}

std::vector<Record> Trace::read(std::size_t capacity, std::uint64_t until) {
  std::vector<Record> records;
  capacity = std::min<std::size_t>(capacity, wanted_records_);
  if (is_wrapped_ && !is_false_alarm_) {
    records.push_back(lost_events(oldest_, 0));
    for (Cpu& cpu : cpus_)
      if (!cpu.units.empty()) cpu.units.front().follows_a_loss = false;
  }
  is_wrapped_ = false;
  is_false_alarm_ = false;
  while (records.size() < capacity) {
    std::optional<std::uint64_t> lost_at;
    Cpu* cpu = next_to_read(until, lost_at);
    if (lost_at) {
      records.push_back(lost_events(*lost_at, 1));
      continue;
    }
    if (cpu == nullptr) break;
    Unit& unit = cpu->units.front();
    records.push_back(unit.records[unit.taken++]);
    release_if_done(*cpu);
  }
  if (!records.empty()) {
    oldest_ = std::max(oldest_, records.back().timestamp);
    if (rules_.lose_at_read == ++reads_) loss_ = rules_.loss_argument;
    if (loss_) lose(records, capacity);
  }
  if (delayed_) store(*delayed_);
  delayed_.reset();
  return records;
}

/// Drops the older half, with LOST_EVENTS.
void Trace::lose(std::vector<Record>& records, std::size_t capacity) {
  const std::uint64_t at = records.front().timestamp;
  records.erase(records.begin(),
                records.begin() + static_cast<std::ptrdiff_t>(records.size() + 1) / 2);
  if (records.size() < capacity) records.insert(records.begin(), lost_events(at, *loss_));
  loss_.reset();
}

}  // namespace lauka::darwin
