#include "os/linux_calls.h"
#include "os/running.h"
#include "os/sample_rings.h"
#include "skip.h"

#include <bit>
#include <cstring>
#include <set>
#include <vector>

#include <doctest/doctest.h>

// Runs that Linux's launcher has sampled by the real kernel.

namespace lauka::os {
namespace {

PerfEventAttr attributes_of_sampling() {
  PerfEventAttr attributes;
  attributes.type = kPerfTypeSoftware;
  attributes.size = kPerfSizeWithConfig3;
  attributes.sample_period = 1'000'000;
  attributes.sample_type = kPerfSampleIp | kPerfSampleTid | kPerfSampleTime | kPerfSamplePeriod;
  attributes.read_format = kPerfReadEnabled | kPerfReadRunning;
  attributes.flags = kPerfDisabled | kPerfInherit | kPerfEnableOnExec | kPerfExcludeKernel |
                     kPerfComm | kPerfCommExec | kPerfTask | kPerfSampleIdAll | kPerfWatermark;
  attributes.wakeup_bytes = kRingBytes / 2;
  return attributes;
}

/// Collects the ids of the processes that are sampled from an execve on.
class Executed final : public SampleListener {
 public:
  std::set<std::uint32_t> processes{};

  void receive(std::span<const std::byte> records) override {
    struct Head {
      std::uint32_t type;
      std::uint16_t misc;
      std::uint16_t size;
      std::uint32_t process;
    };
    constexpr std::uint32_t comm = 3;
    constexpr std::uint16_t by_exec = 1U << 13U;
    while (!records.empty()) {
      Head head{};
      std::memcpy(&head, records.data(), sizeof head);
      if (head.type == comm && (head.misc & by_exec) != 0) processes.insert(head.process);
      records = records.subspan(head.size);
    }
  }

  void end(std::span<const Reading> /*counters*/) override {}
};

bool can_sample() {
  SampleRings rings(linux_calls());
  if (linux_calls() != nullptr && rings.open(attributes_of_sampling(), 0, 0) == 0) return true;
  skip("no rights or no memory to sample runs, or no perf_event");
  return false;
}

}  // namespace

TEST_CASE("each copy of a program is sampled, though copies begin while others execute") {
  if (!can_sample()) return;
  const auto launcher = must(start_launcher());
  const PerfEventAttr attributes = attributes_of_sampling();
  const std::vector<CounterRequest> requests = {
      {.attributes = std::bit_cast<decltype(CounterRequest::attributes)>(attributes),
       .takes_samples = true}};
  const CounterSetId counters = must(launcher->add_counters(requests));
  ProgramSpec spec = program({"sp", "1", "1", "1"});
  for (const std::uint32_t jobs : {1U, 2U, 4U, 8U}) {
    CAPTURE(jobs);
    spec.jobs = jobs;
    for (int run = 0; run < 25; ++run) {
      Executed executed;
      const Ended ended =
          run_once(*launcher, spec, {.counters = counters, .sample_listener = &executed});
      REQUIRE(succeeded(ended.outcome));
      CHECK(ended.started_count == jobs);
      CHECK(executed.processes.size() == jobs);
    }
  }
}

}  // namespace lauka::os
