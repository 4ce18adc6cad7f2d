#include "os/sample_rings.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <unistd.h>

namespace lauka::os {

namespace {

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Returns the factor for the sampling period of run number `run`, from 0.75 to 1.25. Multiples of
/// the golden ratio spread the factors evenly, whatever the number of runs.
double period_factor(std::uint32_t run) {
  constexpr std::uint32_t golden = 2'654'435'769U;  // 2^32 divided by the golden ratio
  constexpr double two_to_32 = 4'294'967'296.0;
  const double from_0_to_1 = static_cast<double>(run * golden) / two_to_32;
  return 0.75 + from_0_to_1 / 2.0;
}

/// Adds the new records of a ring to `records`, and lets the kernel overwrite them.
void move_records(std::byte* ring, std::vector<std::byte>& records) {
  // The first page describes the ring: the kernel writes up to `head`, and lauka has read up to
  // `tail`. Only lauka writes `tail`, so it reads its own value without precautions.
  const std::uint64_t head =
      __atomic_load_n(reinterpret_cast<std::uint64_t*>(ring + kRingHeadOffset), __ATOMIC_ACQUIRE);
  auto* const tail = reinterpret_cast<std::uint64_t*>(ring + kRingTailOffset);
  const std::byte* const data = ring + page_bytes();

  // Both count all bytes ever written or read. A position in the ring is such a count modulo the
  // ring's size, so what lies between them may wrap around at the end of the ring.
  for (std::uint64_t position = *tail; position != head;) {
    const std::uint64_t offset = position % kRingBytes;
    const std::uint64_t bytes = std::min(head - position, kRingBytes - offset);
    records.insert(records.end(), data + offset, data + offset + bytes);
    position += bytes;
  }
  __atomic_store_n(tail, head, __ATOMIC_RELEASE);
}

}  // namespace

SampleRings::~SampleRings() {
  for (std::byte* const ring : rings_) calls_->unmap_ring(ring, page_bytes() + kRingBytes);
  for (const int counter : counters_) calls_->close_descriptor(counter);
  if (guard_ >= 0) calls_->close_descriptor(guard_);
}

// A counter that children inherit can have a ring only if it counts on a single CPU, so there is a
// counter for each CPU.
int SampleRings::open(PerfEventAttr attributes, int process, std::uint32_t run) {
  const bool has_counters = calls_ != nullptr;
  if (!has_counters) return ENOSYS;

  // With one period for all runs, equal runs would be sampled at the same places.
  const auto usual_period = static_cast<double>(attributes.sample_period);
  attributes.sample_period = static_cast<std::uint64_t>(usual_period * period_factor(run));
  constexpr int no_leader = -1;

  // This event keeps the kernel from mixing up the counters of processes (see guard_of()).
  guard_ = calls_->open_counter(guard_of(attributes), {process}, no_leader);
  if (guard_ < 0) return -guard_;

  const auto cpus = static_cast<int>(std::max(sysconf(_SC_NPROCESSORS_CONF), 1L));
  for (int cpu = 0; cpu < cpus; ++cpu)
    if (const int error = open_ring(attributes, {process, cpu}); error != 0) return error;
  return 0;
}

/// Opens a counter and its ring, a buffer into which the kernel writes samples. Returns 0 or errno;
/// 0, too, if the CPU is offline, which has no ring.
int SampleRings::open_ring(const PerfEventAttr& attributes, const CounterPlace& place) {
  constexpr int no_leader = -1;
  const int counter = calls_->open_counter(attributes, place, no_leader);
  const bool is_cpu_offline = counter == -ENODEV;
  if (is_cpu_offline) return 0;
  if (counter < 0) return -counter;
  counters_.push_back(counter);

  // The space for samples follows a page in which the kernel describes the ring.
  void* const ring = calls_->map_ring(counter, page_bytes() + kRingBytes);
  lacks_memory_ = ring == nullptr;
  if (lacks_memory_) return errno;
  rings_.push_back(static_cast<std::byte*>(ring));
  return 0;
}

std::vector<Reading> SampleRings::read_counters() const {
  std::vector<Reading> readings;
  for (const int counter : counters_) {
    // The value, the time enabled and the time running, as for any counter outside of a group.
    std::array<std::uint64_t, 3> words{};
    calls_->read_counter(counter, words.data(), words.size());
    readings.push_back({.value = words[0], .enabled_ns = words[1], .running_ns = words[2]});
  }
  return readings;
}

// Gives the listener all new records in one call, one CPU after the other.
void SampleRings::move_to(SampleListener& listener) {
  std::vector<std::byte> records;
  for (std::byte* const ring : rings_) move_records(ring, records);
  if (!records.empty()) listener.receive(records);
}

}  // namespace lauka::os
