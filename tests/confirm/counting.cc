#include "confirm/counting.h"

#include "core/choices.h"
#include "engine/kperf/strategy.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <variant>

#include <fmt/format.h>

namespace lauka::confirm {
namespace {

using engine::kperf::CounterMask;
using engine::kperf::kConfigurableClass;
using engine::kperf::kFixedCounterCount;
using engine::kperf::kInstructionsIndex;
using engine::kperf::RunValues;

constexpr std::chrono::milliseconds kPeriod{1};

}  // namespace

std::string_view name_of(Way way) {
  switch (way) {
    case Way::AtExit:
      return "exit";
    case Way::Pet:
      return "pet";
    case Way::Machine:
      break;
  }
  return "cpu";
}

Counting::Counting(const Setting& setting)
    : setting_(setting), kernel_(setting.calls), trace_(setting.calls), claim_(kernel_, trace_) {}

Result<void> Counting::take() {
  if (auto taken = claim_.take_counters(); !taken) return taken;
  const auto usable = engine::kperf::usable_counters(setting_.database.config_counters,
                                                     setting_.database.power_counters,
                                                     kernel_.counter_count(kConfigurableClass));
  if (!usable) return Error{"the kernel and the database differ in the number of counters", ""};
  counters_ = *usable;
  return {};
}

Result<void> Counting::begin(Way way) {
  strategy_ = way == Way::Machine
                  ? engine::kperf::make_machine_strategy(claim_, kernel_)
                  : engine::kperf::make_thread_strategy(
                        claim_, trace_,
                        way == Way::AtExit ? KperfStrategyChoice::AtExit
                                           : KperfStrategyChoice::SampleRunningThreads,
                        kPeriod);
  if (const int error = strategy_->begin(); error != 0) return Error{std::strerror(error), ""};
  return {};
}

std::vector<std::uint64_t> Counting::words_for(const std::vector<Placed>& events) const {
  std::vector<std::uint64_t> words;
  if (events.empty()) return words;
  words.resize(static_cast<std::size_t>(std::popcount(counters_)));
  for (const Placed& placed : events)
    words.at(engine::kperf::rank_of_counter(counters_, placed.counter)) = placed.number;
  return words;
}

Result<Counts> Counting::run(const std::vector<std::string>& words,
                             const std::vector<Placed>& events) {
  os::ProgramSpec spec;
  spec.words = words;
  if (!words.front().starts_with('/')) spec.words.front() = setting_.fixtures + "/" + words.front();
  const auto program = setting_.launcher.add_program(spec);
  if (!program) return program.error();
  strategy_->use_words(words_for(events));
  const os::Launch launch{*program, os::kNoCounters, {strategy_.get()}};
  const auto ended = setting_.launcher.run({&launch, 1}, os::AfterFailure::GoOn, {});
  if (!ended) return ended.error();
  if (ended->empty() || !succeeded(ended->front().outcome)) return Error{"the fixture failed", ""};
  const RunValues values = strategy_->finish(ended->front());
  if (values.uncounted_reason) return *values.uncounted_reason;
  Counts counts{values.values.at(kInstructionsIndex), {}, values.instruction_coverage};
  for (const Placed& placed : events)
    counts.configurable.push_back(values.values.at(
        kFixedCounterCount + engine::kperf::rank_of_counter(counters_, placed.counter)));
  return counts;
}

std::vector<std::string> still_held(const os::DarwinCalls& calls) {
  const engine::kperf::Kernel kernel(calls);
  const engine::kperf::Trace trace(calls);
  std::vector<std::string> held;
  if (kernel.counting_classes() != 0) held.emplace_back("counting");
  if (kernel.thread_counting_classes() != 0) held.emplace_back("thread counting");
  if (kernel.read_sysctl_number("kpc.force_all_ctrs").value_or(0) != 0)
    held.emplace_back("all counters");
  if ((trace.info().flags & engine::kperf::kKdebugReady) != 0) held.emplace_back("the trace");
  return held;
}

std::vector<std::string> facts(const Setting& setting) {
  const engine::kperf::Kernel kernel(setting.calls);
  const auto& missing = kernel.missing_function();
  std::vector<std::string> all = {
      fmt::format("macOS: {} {}", kernel.read_sysctl_text("kern.osproductversion"),
                  kernel.read_sysctl_text("kern.osversion")),
      fmt::format("processor: {}, {}", kernel.read_sysctl_text("machdep.cpu.brand_string"),
                  kernel.read_sysctl_text("hw.model")),
      fmt::format("events: {} {}, {} of them, counters {:#x}", setting.database.name,
                  setting.database.marketing_name, setting.database.events.size(),
                  setting.database.config_counters),
      missing ? *missing + ": missing" : "kperf.framework: complete",
      fmt::format("configurable counters before all are forced: {}",
                  kernel.counter_count(kConfigurableClass))};
  for (const char* name : {"hw.nperflevels", "hw.ncpu"})
    if (const auto number = kernel.read_sysctl_number(name); number)
      all.push_back(fmt::format("{}: {}", name, *number));
  return all;
}

}  // namespace lauka::confirm
