#include "fakes/darwin/host.h"

#include <algorithm>
#include <array>
#include <stdexcept>

// What other programs did before lauka began, by the calls that they would make.

namespace lauka::darwin {
namespace {

constexpr Pid kEarlierTool = 555;
constexpr Pid kKilledLauka = 700;
constexpr Pid kProfiler = 650;

void need(int error, const std::string& name) {
  if (error != 0) throw std::logic_error("another program's call is refused: " + name);
}

}  // namespace

void Host::call_for(const std::string& name, std::uint32_t value) {
  need(sysctlbyname(name, {nullptr, nullptr, &value, sizeof value}), name);
}

void Host::call_for(const std::string& name, std::uint64_t which, std::uint64_t value) {
  const std::array pair = {which, value};
  need(sysctlbyname(name, {nullptr, nullptr, pair.data(), sizeof pair}), name);
}

void Host::trace_for(const std::vector<int>& name) {
  need(sysctl(name.data(), static_cast<unsigned>(name.size()), {}), "kern.kdebug");
}

void Host::sample_for(unsigned actions) {
  call_for("kperf.action.count", std::max(actions, kernel.sampler.action_count()));
  call_for("kperf.action.samplers", 1, sampler_bit::kThreadInfo);
  call_for("kperf.action.filter_by_pid", 1, 4711);
}

void Host::trace_all_for() {
  trace_for({1, 24, 4, 1});
  trace_for({1, 24, 6});
  trace_for({1, 24, 3, 1});
}

/// A lauka that was killed: counting, words, an action, a timer, a buffer, sampling.
void Host::leave_leftovers() {
  std::vector<std::uint64_t> words = {kConfigurableClass};
  call_for("kpc.force_all_ctrs", 1);
  words.resize(1 + kernel.pmu.config_count(kConfigurableClass), kernel.setup.chip.any_selector());
  need(sysctlbyname("kpc.config",
                    {nullptr, nullptr, words.data(), words.size() * sizeof(std::uint64_t)}),
       "kpc.config");
  call_for("kpc.counting", kFixedClass | kConfigurableClass);
  call_for("kpc.thread_counting", kFixedClass | kConfigurableClass);
  sample_for(3);
  call_for("kperf.timer.count", 2);
  trace_all_for();
  call_for("kperf.sampling", 1);
}

void Host::play_past() {
  const Setup& setup = kernel.setup;
  const auto as = [this](Pid pid, const std::string& name) -> Process& {
    Process& process = kernel.start_beside(pid, 0, name);
    call_as(caller_of(process));
    return process;
  };
  if (setup.earlier_actions > 0) {
    Process& tool = as(kEarlierTool, "xctrace");
    sample_for(setup.earlier_actions);
    call_for("kperf.reset", 1);
    kernel.end_beside(tool);
  }
  if (setup.has_leftovers) {
    Process& killed = as(kKilledLauka, "lauka");
    leave_leftovers();
    kernel.end_beside(killed);
  }
  if (setup.force_is_taken) {
    as(kProfiler, "profiler");
    call_for("kpc.force_all_ctrs", 1);
  }
  if (setup.tracer) {
    Process& tool = as(setup.tracer->pid, setup.tracer->name);
    if (setup.tracer->is_background) call_for("ktrace.init_background", 1);
    // It waits where a tool in the foreground has left the tracing, though that has ended.
    const bool waits = setup.tracer->is_background && setup.has_leftovers;
    if (!setup.is_virtual && !waits) sample_for(1);
    if (!waits) trace_all_for();
    if (setup.tracer->has_ended) kernel.end_beside(tool);
  }
  call_as(std::nullopt);
}

}  // namespace lauka::darwin
