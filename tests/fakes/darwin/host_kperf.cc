#include "fakes/darwin/host.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

// kperf's and ktrace's sysctls: facts, 1.2, 3.3, 4.3, 4.4, 4.7.

namespace lauka::darwin {
namespace {

/// Whether it is about one of the actions or timers, by its number.
bool is_pair(const std::string& name, const char* family) {
  constexpr std::array single = {"kperf.action.count", "kperf.timer.count",
                                 "kperf.timer.pet_timer"};
  return name.rfind(family, 0) == 0 &&
         std::find(single.begin(), single.end(), name) == single.end();
}

}  // namespace

int Host::may_configure(std::uint32_t part) {
  const auto is_alive = [this](Pid pid) {
    const bool is_other = kernel.setup.tracer && pid == kernel.setup.tracer->owner;
    return is_other || kernel.find(pid) != nullptr;
  };
  const auto reset = [this] {
    kernel.sampler.reset();
    kernel.trace.remove();
  };
  const Process& own = kernel.lauka();
  const int error = kernel.ktrace.configure(part, own, kernel.setup.is_root, is_alive, reset);
  if (error == 0 && part == kKdebugPart) kernel.trace.set_owner(own.pid);
  return error;
}

int Host::kperf_by_name(const std::string& name, const Io& io) {
  if (name == "kperf.limits.timer_min_pet_period_ns") return give<std::uint64_t>(io, 1'000'000);
  if (name == "kperf.limits.timer_min_period_ns") return give<std::uint64_t>(io, 50'000);
  if (name == "kperf.blessed_pid") return blessed_pid(io);
  if (io.new_value == nullptr || io.old_value != nullptr) {
    if (!may_read()) return EPERM;
  } else {
    const bool is_set_up =
        (kernel.ktrace.active & kKperfPart) != 0 || kernel.sampler.is_configured();
    if (name == "kperf.reset" && !is_set_up) return 0;
    if (const int error = may_configure(kKperfPart); error != 0) return error;
  }
  if (name == "kperf.reset") return reset_kperf();
  if (name == "kperf.kdebug.filter") return trigger_filter(io);
  if (is_pair(name, "kperf.action.")) return kperf_action(name, io);
  return is_pair(name, "kperf.timer.") ? kperf_timer(name, io) : kperf_number(name, io);
}

int Host::blessed_pid(const Io& io) {
  if (!kernel.setup.is_root) return EPERM;
  if (io.new_value == nullptr) return give<int>(io, kernel.ktrace.blessed);
  kernel.ktrace.blessed = taken<int>(io).value_or(-1);
  return 0;
}

int Host::reset_kperf() {
  kernel.sampler.reset();
  kernel.ktrace.give_up(kKperfPart);
  return 0;
}

int Host::kperf_number(const std::string& name, const Io& io) {
  struct Number {
    const char* name;
    std::uint32_t (*get)(const Sampler& sampler);
    int (*set)(Sampler& sampler, std::uint32_t value);
  };
  static constexpr auto kNumbers = std::to_array<Number>({
      {"kperf.action.count", [](const Sampler& s) { return s.action_count(); },
       [](Sampler& s, std::uint32_t value) { return s.set_action_count(value); }},
      {"kperf.timer.count", [](const Sampler& s) { return s.timer_count(); },
       [](Sampler& s, std::uint32_t value) { return s.set_timer_count(value); }},
      {"kperf.timer.pet_timer", [](const Sampler& s) { return s.pet_timer(); },
       [](Sampler& s, std::uint32_t value) { return s.set_pet_timer(value); }},
      {"kperf.lightweight_pet", [](const Sampler& s) { return std::uint32_t{s.is_lightweight()}; },
       [](Sampler& s, std::uint32_t value) { return s.set_lightweight(value != 0); }},
      {"kperf.kdebug.action", [](const Sampler& s) { return s.trigger_action(); },
       [](Sampler& s, std::uint32_t value) { return s.set_trigger_action(value); }},
      {"kperf.sampling", [](const Sampler& s) { return std::uint32_t{s.is_sampling()}; },
       [](Sampler& s, std::uint32_t value) { return s.set_sampling(value != 0); }},
  });
  const auto value = taken<std::uint32_t>(io);
  if (io.new_value != nullptr && !value) return EINVAL;
  for (const Number& number : kNumbers) {
    if (name != number.name) continue;
    if (!value) return give(io, number.get(kernel.sampler));
    const bool was_on = kernel.sampler.is_sampling();
    const int error = number.set(kernel.sampler, *value);
    if (!was_on && kernel.sampler.is_sampling()) kernel.start_sampling();
    return error;
  }
  return ENOENT;
}

// Two 64-bit numbers: which one, and its value; to read, the value comes back in the second.

int Host::kperf_timer(const std::string& name, const Io& io) {
  const auto pair = taken<std::array<std::uint64_t, 2>>(io);
  if (!pair) return EINVAL;
  const auto& [which, value] = *pair;
  const Sampler::Timer* timer = kernel.sampler.timer(which);
  if (timer == nullptr) return EINVAL;
  const bool is_period = name == "kperf.timer.period";
  if (!is_period && name != "kperf.timer.action") return ENOENT;
  if (io.old_value != nullptr) {
    const std::uint64_t action = timer->action;
    return give(io, std::array{which, is_period ? kernel.mach(timer->period_ns) : action});
  }
  return is_period ? kernel.sampler.set_period(which, kernel.ns_of_mach(value))
                   : kernel.sampler.set_timer_action(which, value);
}

int Host::kperf_action(const std::string& name, const Io& io) {
  const auto pair = taken<std::array<std::uint64_t, 2>>(io);
  if (!pair) return EINVAL;
  const auto& [which, value] = *pair;
  Sampler::Action* action = kernel.sampler.action(which);
  if (action == nullptr) return EINVAL;
  const auto answer = [&io, &pair](std::uint64_t found) {
    return give(io, std::array{pair->front(), found});
  };
  const bool gets = io.old_value != nullptr;
  if (name == "kperf.action.samplers") {
    return gets ? answer(action->samplers)
                : kernel.sampler.set_samplers(which, static_cast<std::uint32_t>(value));
  }
  if (name == "kperf.action.filter_by_pid") {
    if (gets) return answer(static_cast<std::uint64_t>(action->pid_filter));
    action->pid_filter = static_cast<Pid>(value);
    return 0;
  }
  if (name != "kperf.action.userdata") return ENOENT;
  if (gets) return answer(action->userdata);
  action->userdata = static_cast<std::uint32_t>(value);
  return 0;
}

int Host::trigger_filter(const Io& io) {
  if (io.new_value != nullptr) {
    return kernel.sampler.set_trigger_filter(
        {static_cast<const std::uint8_t*>(io.new_value), io.new_length});
  }
  const auto& bytes = kernel.sampler.trigger_filter();
  return bytes.empty() ? EINVAL : give_bytes(io, bytes.data(), bytes.size());
}

int Host::ktrace_by_name(const std::string& name, const Io& io) const {
  const Ktrace& ktrace = kernel.ktrace;
  const bool is_background = ktrace.state == Ktrace::State::Background;
  if (name == "ktrace.state") return give(io, static_cast<std::uint32_t>(ktrace.state));
  if (name == "ktrace.owning_pid")
    return give<int>(io, ktrace.state == Ktrace::State::Foreground ? ktrace.owner : -1);
  if (name == "ktrace.background_pid") return give<int>(io, is_background ? ktrace.owner : -1);
  if (name == "ktrace.active_mask") return give(io, ktrace.active);
  if (name == "ktrace.configured_by") return give_text(io, ktrace.configured_by);
  return ENOENT;
}

}  // namespace lauka::darwin
