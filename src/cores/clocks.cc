#include "cores/clocks.h"

#include "engine/perf/counting.h"
#include "engine/perf/opening.h"
#include "engine/perf/reasons.h"
#include "engine/perf/resolve.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace lauka::cores {
namespace {

namespace perf = engine::perf;

/// The clocks' sum was equal to the nanosecond in all that was tried; a difference of a millionth
/// is none.
constexpr std::uint64_t kApartPart = 1'000'000;

os::PerfEventAttr clock_attributes() {
  const perf::KnownEvent& clock = *perf::find_known("task-clock");
  const perf::Rings user_only{true, false, true, false};
  return perf::as_leader(perf::attributes_of(os::Code{clock.type, clock.config}, user_only));
}

os::CounterRequest request_on(int cpu, std::size_t index) {
  os::CounterRequest request;
  const os::PerfEventAttr attributes = clock_attributes();
  static_assert(sizeof attributes == sizeof request.attributes);
  std::memcpy(request.attributes.data(), &attributes, sizeof attributes);
  request.leader = index;  // a group is of one CPU: each stands alone
  request.cpu = cpu;
  request.optional = true;
  return request;
}

Error no_times(const Error& reason) {
  return reason.of("no time by kind of core");
}

}  // namespace

Clocks::Clocks(const CoreKinds& kinds) : kinds_(kinds.size()) {
  for (std::size_t kind = 1; kind < kinds.size(); ++kind)
    if (kinds[kind].cpus.size() > kinds[largest_].cpus.size()) largest_ = kind;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kind == largest_) continue;
    for (const std::uint32_t cpu : kinds[kind].cpus) clocks_.push_back({kind, cpu});
  }
}

std::vector<os::CounterRequest> Clocks::requests(std::size_t others) const {
  std::vector<os::CounterRequest> requests{request_on(-1, others)};
  for (const OnCpu& clock : clocks_)
    requests.push_back(request_on(static_cast<int>(clock.cpu), others + requests.size()));
  return requests;
}

CoreTimes Clocks::times(std::span<const os::Reading> readings, const Usage& usage, int error,
                        const perf::Situation& situation) const {
  if (error != 0) return {{}, no_times(perf::why_not_opened(error, {}, situation))};
  if (readings.size() != clocks_.size() + 1)
    return {{},
            no_times({fmt::format("it takes {} counters, and at most {} are opened for a run",
                                  clocks_.size() + 1, os::kMaxCounters),
                      "count fewer events"})};
  const os::Reading& all = readings.front();
  if (perf::was_lost(all.enabled_ns, usage, readings.size()))
    return {{}, no_times(perf::why_lost())};
  CoreTimes times{std::vector<std::uint64_t>(kinds_)};
  std::uint64_t told = 0;
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    times.ns[clocks_[i].kind] += readings[i + 1].value;
    told += readings[i + 1].value;
  }
  if (told > all.value + all.value / kApartPart)
    return {{}, no_times({"the clocks of single CPUs add up to more than the clock of all", ""})};
  times.ns[largest_] = all.value - std::min(told, all.value);
  return times;
}

}  // namespace lauka::cores
