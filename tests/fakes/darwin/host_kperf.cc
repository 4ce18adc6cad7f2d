#include "fakes/darwin/host.h"

#include <array>
#include <cerrno>
#include <span>

// kperf's and ktrace's sysctls: facts, 1.2, 3.3, 4.3, 4.4, 4.7.

namespace lauka::darwin {

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
  if (name == "kperf.blessed_pid") {
    if (!kernel.setup.is_root) return EPERM;
    if (io.new_value == nullptr) return give<int>(io, kernel.ktrace.blessed);
    kernel.ktrace.blessed = taken<int>(io).value_or(-1);
    return 0;
  }
  const bool sets = io.new_value != nullptr && io.old_value == nullptr;
  if (!sets && !may_read()) return EPERM;
  if (sets && name == "kperf.reset" && !kernel.sampler.is_configured()) return 0;
  if (sets) {
    if (const int error = may_configure(kKperfPart); error != 0) return error;
  }
  if (name == "kperf.reset") return reset_kperf();
  if (name == "kperf.kdebug.filter") return trigger_filter(io);
  const bool is_pair = name.rfind("kperf.action.", 0) == 0 || name.rfind("kperf.timer.", 0) == 0;
  const bool is_single = name == "kperf.action.count" || name == "kperf.timer.count" ||
                         name == "kperf.timer.pet_timer";
  return is_pair && !is_single ? kperf_pair(name, io) : kperf_number(name, io);
}

int Host::reset_kperf() {
  kernel.sampler.reset();
  kernel.ktrace.give_up(kKperfPart);
  return 0;
}

int Host::kperf_number(const std::string& name, const Io& io) {
  Sampler& sampler = kernel.sampler;
  const auto value = taken<std::uint32_t>(io);
  if (io.new_value != nullptr && !value) return EINVAL;
  if (name == "kperf.action.count")
    return value ? sampler.set_action_count(*value) : give(io, sampler.action_count());
  if (name == "kperf.timer.count")
    return value ? sampler.set_timer_count(*value) : give(io, sampler.timer_count());
  if (name == "kperf.timer.pet_timer")
    return value ? sampler.set_pet_timer(*value) : give(io, sampler.pet_timer());
  if (name == "kperf.lightweight_pet")
    return value ? sampler.set_lightweight(*value != 0)
                 : give<int>(io, sampler.is_lightweight() ? 1 : 0);
  if (name == "kperf.kdebug.action")
    return value ? sampler.set_trigger_action(*value) : give(io, sampler.trigger_action());
  if (name != "kperf.sampling") return ENOENT;
  if (!value) return give<int>(io, sampler.is_sampling() ? 1 : 0);
  const bool was_on = sampler.is_sampling();
  const int error = sampler.set_sampling(*value != 0);
  if (error == 0 && *value != 0 && !was_on) kernel.start_sampling();
  return error;
}

/// Two 64-bit numbers: which one, and its value; to read, the value comes back in the second.
int Host::kperf_pair(const std::string& name, const Io& io) {
  const auto pair = taken<std::array<std::uint64_t, 2>>(io);
  if (!pair) return EINVAL;
  Sampler& sampler = kernel.sampler;
  const auto& [which, value] = *pair;
  if (name.rfind("kperf.timer.", 0) == 0) {
    Sampler::Timer* timer = sampler.timer(which);
    if (timer == nullptr) return EINVAL;
    const bool is_period = name == "kperf.timer.period";
    if (!is_period && name != "kperf.timer.action") return ENOENT;
    if (io.old_value != nullptr) {
      return give(io, std::array{which, is_period ? kernel.mach(timer->period_ns)
                                                  : std::uint64_t{timer->action}});
    }
    return is_period ? sampler.set_period(which, kernel.ns_of_mach(value))
                     : sampler.set_timer_action(which, value);
  }
  Sampler::Action* action = sampler.action(which);
  if (action == nullptr) return EINVAL;
  const bool gets = io.old_value != nullptr;
  if (name == "kperf.action.samplers") {
    return gets ? give(io, std::array<std::uint64_t, 2>{which, action->samplers})
                : sampler.set_samplers(which, static_cast<std::uint32_t>(value));
  }
  if (name == "kperf.action.filter_by_pid") {
    if (gets) return give(io, std::array{which, static_cast<std::uint64_t>(action->pid_filter)});
    action->pid_filter = static_cast<Pid>(value);
    return 0;
  }
  if (name != "kperf.action.userdata") return ENOENT;
  if (gets) return give(io, std::array<std::uint64_t, 2>{which, action->userdata});
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
