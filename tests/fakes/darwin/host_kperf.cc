#include "fakes/darwin/host.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

// kperf's sysctls: facts, sections 0, 1.2, 4.3, 4.4, 4.7.

namespace lauka::darwin {
namespace {

struct Constant {
  const char* name;
  std::uint64_t value;
  bool is_wide;
};
constexpr auto kLimits = std::to_array<Constant>({
    {"kperf.limits.max_action_count", Sampler::kMostActions, false},
    {"kperf.limits.timer_min_period_ns", 50'000, true},
    {"kperf.limits.timer_min_pet_period_ns", 1'000'000, true},
    {"kperf.limits.timer_min_bg_period_ns", 1'000'000, true},
    {"kperf.limits.timer_min_bg_pet_period_ns", 1'000'000, true},
});

/// A sysctl about one of the actions or timers: the pair of its number and a value.
struct Pair {
  const char* name;
  int (*get)(const Sampler& sampler, std::uint32_t which, std::uint64_t& value);
  int (*set)(Sampler& sampler, std::uint32_t which, std::uint64_t value, bool in_background);
};

/// Of action 0 the values can be read that an action begins with.
int with_action(const Sampler& sampler, std::uint32_t which, Sampler::Action& action) {
  if (which > sampler.action_count()) return EINVAL;
  if (which != 0) action = *sampler.action(which);
  return 0;
}

template <auto Member>
int get_of_action(const Sampler& sampler, std::uint32_t which, std::uint64_t& value) {
  Sampler::Action action;
  const int error = with_action(sampler, which, action);
  value = static_cast<std::uint64_t>(action.*Member);
  return error;
}

template <auto Member>
int get_of_timer(const Sampler& sampler, std::uint32_t which, std::uint64_t& value) {
  const Sampler::Timer* timer = sampler.timer(which);
  if (timer == nullptr) return EINVAL;
  value = timer->*Member;
  return 0;
}

template <auto Set>
int set_of_action(Sampler& sampler, std::uint32_t which, std::uint64_t value, bool /*background*/) {
  return (sampler.*Set)(which, static_cast<std::uint32_t>(value));
}

constexpr auto kPairs = std::to_array<Pair>({
    {"kperf.action.samplers", get_of_action<&Sampler::Action::samplers>,
     set_of_action<&Sampler::set_samplers>},
    {"kperf.action.userdata", get_of_action<&Sampler::Action::userdata>,
     set_of_action<&Sampler::set_userdata>},
    {"kperf.action.ucallstack_depth", get_of_action<&Sampler::Action::user_frames>,
     set_of_action<&Sampler::set_user_frames>},
    {"kperf.action.kcallstack_depth", get_of_action<&Sampler::Action::kernel_frames>,
     set_of_action<&Sampler::set_kernel_frames>},
    {"kperf.action.filter_by_pid", get_of_action<&Sampler::Action::pid_filter>,
     [](Sampler& sampler, std::uint32_t which, std::uint64_t value, bool /*in_background*/) {
       return sampler.set_pid_filter(which, static_cast<Pid>(value));
     }},
    {"kperf.timer.period", get_of_timer<&Sampler::Timer::period>,
     [](Sampler& sampler, std::uint32_t which, std::uint64_t value, bool in_background) {
       return sampler.set_period(which, value, in_background);
     }},
    {"kperf.timer.action", get_of_timer<&Sampler::Timer::action>,
     set_of_action<&Sampler::set_timer_action>},
});

/// A sysctl of one number.
struct Number {
  const char* name;
  std::int64_t (*get)(const Sampler& sampler);
  int (*set)(Sampler& sampler, std::uint32_t value, bool in_background);
};

/// An action of lazy sampling. The kernel gives 1 for one that is not there, which is EPERM.
int set_lazy(const Sampler& sampler, std::int32_t& place, std::uint32_t value) {
  if (value > sampler.action_count()) return EPERM;
  place = static_cast<std::int32_t>(value);
  return 0;
}

constexpr auto kNumbers = std::to_array<Number>({
    {"kperf.action.count", [](const Sampler& s) { return std::int64_t{s.action_count()}; },
     [](Sampler& s, std::uint32_t value, bool) { return s.set_action_count(value); }},
    {"kperf.timer.count", [](const Sampler& s) { return std::int64_t{s.timer_count()}; },
     [](Sampler& s, std::uint32_t value, bool) { return s.set_timer_count(value); }},
    {"kperf.timer.pet_timer", [](const Sampler& s) { return std::int64_t{s.pet_timer()}; },
     [](Sampler& s, std::uint32_t value, bool in_background) {
       return s.set_pet_timer(value, in_background);
     }},
    {"kperf.lightweight_pet", [](const Sampler& s) { return std::int64_t{s.is_lightweight()}; },
     [](Sampler& s, std::uint32_t value, bool) {
       return s.set_lightweight(static_cast<std::int32_t>(value));
     }},
    {"kperf.kdebug.action", [](const Sampler& s) { return std::int64_t{s.trigger_action()}; },
     [](Sampler& s, std::uint32_t value, bool) {
       return s.set_trigger_action(static_cast<std::int32_t>(value));
     }},
    {"kperf.sampling", [](const Sampler& s) { return std::int64_t{s.is_sampling()}; },
     [](Sampler& s, std::uint32_t value, bool) { return s.set_sampling(value); }},
    {"kperf.kdbg_cswitch", [](const Sampler& s) { return std::int64_t{s.rest.switches}; },
     [](Sampler& s, std::uint32_t value, bool) {
       s.rest.switches = static_cast<std::int32_t>(value);
       return 0;
     }},
    {"kperf.pet_idle_rate", [](const Sampler& s) { return std::int64_t{s.rest.idle_rate}; },
     [](Sampler& s, std::uint32_t value, bool) {
       s.rest.idle_rate = static_cast<std::int32_t>(value);
       return 0;
     }},
    {"kperf.lazy.wait_action", [](const Sampler& s) { return std::int64_t{s.rest.wait_action}; },
     [](Sampler& s, std::uint32_t value, bool) { return set_lazy(s, s.rest.wait_action, value); }},
    {"kperf.lazy.cpu_action", [](const Sampler& s) { return std::int64_t{s.rest.cpu_action}; },
     [](Sampler& s, std::uint32_t value, bool) { return set_lazy(s, s.rest.cpu_action, value); }},
});

template <typename Rows>
auto row_of(const Rows& rows, const std::string& name) -> decltype(rows.data()) {
  for (const auto& row : rows)
    if (name == row.name) return &row;
  return nullptr;
}

}  // namespace

int Host::kperf_by_name(const std::string& name, Request& request) {
  if (const Constant* limit = row_of(kLimits, name)) {
    if (request.has_new()) return EPERM;
    const auto value = static_cast<std::int64_t>(limit->value);
    return limit->is_wide ? request.number(value, static_cast<std::uint64_t*>(nullptr))
                          : request.number(value, static_cast<std::uint32_t*>(nullptr));
  }
  if (name == "kperf.blessed_pid")
    return request.has_new() && !caller().is_root ? EPERM : blessed_pid(request);
  const Pair* pair = row_of(kPairs, name);
  const Number* number = row_of(kNumbers, name);
  const bool is_wait = name == "kperf.lazy.wait_time_threshold";
  const bool is_wide = is_wait || name == "kperf.lazy.cpu_time_threshold";
  const bool is_filter = name == "kperf.kdebug.filter";
  const bool is_reset = name == "kperf.reset";
  const bool is_preempt = name == "kperf.blessed_preempt";
  if (pair == nullptr && number == nullptr && !is_wide && !is_filter && !is_reset && !is_preempt)
    return ENOENT;
  // Where there is a buffer for the old value, the right to read is all that is asked for.
  const bool sets = request.has_new() && !request.has_old();
  const int refused =
      sets ? kernel.ktrace.configure(kKperfPart, caller()) : kernel.ktrace.check_read(caller());
  if (refused != 0) return refused;
  if (pair != nullptr) return kperf_pair(*pair->get, *pair->set, request);
  if (is_filter) return trigger_filter(request);
  if (is_reset) return reset_kperf(request);
  if (is_preempt) return request.number(may_preempt_, &may_preempt_);
  Sampler& sampler = kernel.sampler;
  if (is_wide) {
    std::uint64_t& place = is_wait ? sampler.rest.wait_threshold : sampler.rest.cpu_threshold;
    return request.number(static_cast<std::int64_t>(request.has_old() ? place : 0), &place);
  }
  std::uint32_t value = 0;
  const std::int64_t now = request.has_old() ? number->get(sampler) : 0;
  if (const int error = request.number(now, &value); error != 0 || !request.has_new()) return error;
  const bool was_on = sampler.is_sampling();
  const int error = number->set(sampler, value, is_in_background());
  if (!was_on && sampler.is_sampling()) kernel.start_sampling();
  return error;
}

bool Host::is_in_background() const {
  return kernel.ktrace.state() == Ktrace::State::Background;
}

/// Two 64-bit numbers are taken and given, whatever the lengths say, and no length is reported.
int Host::kperf_pair(PairGetter get, PairSetter set, Request& request) {
  if (!request.has_new()) return EFAULT;
  std::array<std::uint64_t, 2> pair{};
  std::memcpy(pair.data(), request.new_bytes(), sizeof pair);
  const auto which = static_cast<std::uint32_t>(pair[0]);
  if (!request.has_old()) return set(kernel.sampler, which, pair[1], is_in_background());
  if (const int error = get(kernel.sampler, which, pair[1]); error != 0) return error;
  std::memcpy(request.old_bytes(), pair.data(), sizeof pair);
  return 0;
}

int Host::trigger_filter(Request& request) {
  if (request.has_old()) {
    const auto& bytes = kernel.sampler.trigger_filter();
    return bytes.empty() ? EINVAL : request.give(bytes.data(), bytes.size());
  }
  if (!request.has_new()) return EINVAL;
  return kernel.sampler.set_trigger_filter(
      {static_cast<const std::uint8_t*>(request.new_bytes()), request.new_length()});
}

int Host::reset_kperf(Request& request) {
  std::int32_t resets = 0;
  if (const int error = request.number(0, &resets); error != 0) return error;
  if (resets != 0) kernel.ktrace.reset(kKperfPart);
  return 0;
}

/// The owner of the tracing, set by hand.
int Host::blessed_pid(Request& request) {
  Ktrace& ktrace = kernel.ktrace;
  if (!request.has_new()) {
    if (const int error = ktrace.check_read(caller()); error != 0) return error;
  } else if (may_preempt_ == 0 && !ktrace.keeps_owner()) {
    if (const int error = ktrace.configure(kKperfPart, caller()); error != 0) return error;
  }
  std::int32_t pid = 0;
  const int error = request.number(ktrace.living_owner(), &pid);
  if (error != 0 || !request.has_new()) return error;
  const Process* process = kernel.find(pid);
  if (process == nullptr || process->life == Life::Zombie) return ktrace.set_owner(pid, nullptr);
  const Caller found = caller_of(*process);
  return ktrace.set_owner(pid, &found);
}

}  // namespace lauka::darwin
