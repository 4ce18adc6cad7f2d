#include "fakes/darwin/host.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

namespace lauka::darwin {

// sysctls about the machine, and the way to the others.

namespace {

constexpr int kArm64 = 0x100000c;
constexpr int kArm64e = 2;
constexpr int kCtlKern = 1;
constexpr int kKernKdebug = 24;

}  // namespace

int Host::sysctlbyname(const std::string& name, const Io& io) {
  Request request(io);
  const bool is_of_counters = name.rfind("kpc.", 0) == 0 || name.rfind("kperf.", 0) == 0;
  if (is_of_counters && kernel.setup.is_virtual) return ENOENT;
  if (name.rfind("kpc.", 0) == 0) return request.finish(kpc_by_name(name, request));
  if (name.rfind("kperf.", 0) == 0) return request.finish(kperf_by_name(name, request));
  if (name.rfind("ktrace.", 0) == 0) return request.finish(ktrace_by_name(name, request));
  if (name.rfind("hw.perflevel", 0) == 0) return request.finish(perflevel_by_name(name, request));
  return request.finish(facts_by_name(name, request));
}

int Host::sysctl(const int* name, unsigned length, const Io& io) {
  Request request(io);
  if (length < 2 || name[0] != kCtlKern || name[1] != kKernKdebug) return ENOENT;
  return request.finish(kdebug(name + 2, length - 2, request));
}

int Host::facts_by_name(const std::string& name, Request& request) const {
  const Chip& chip = kernel.setup.chip;
  const bool is_virtual = kernel.setup.is_virtual;
  const int cpus = static_cast<int>(chip.cpus());
  const std::map<std::string, int> numbers = {
      {"hw.cputype", kArm64},
      {"hw.cpusubtype", kArm64e},
      {"hw.cpufamily", static_cast<int>(chip.family)},
      {"hw.nperflevels", is_virtual ? 1 : 2},
      {"hw.ncpu", cpus},
      {"hw.logicalcpu", cpus},
      {"hw.logicalcpu_max", cpus},
      {"hw.physicalcpu", cpus},
      {"hw.activecpu", cpus},
      {"kern.hv_vmm_present", is_virtual ? 1 : 0},
      {"kern.monotonic.supported", is_virtual ? 0 : 1},
      {"kern.cpc.secure", kernel.setup.pmu.user_only ? 1 : 0},
  };
  const std::map<std::string, std::string> texts = {
      {"machdep.cpu.brand_string", chip.marketing_name},
      {"hw.model", "Mac14,9"},
      {"kern.osproductversion", rules.os_version},
      {"kern.osrelease", "24.4.0"},
  };
  if (name == "hw.memsize")
    return request.number(std::int64_t{16} << 30U, static_cast<std::uint64_t*>(nullptr));
  if (const auto text = texts.find(name); text != texts.end()) return request.give(text->second);
  const auto number = numbers.find(name);
  if (number == numbers.end()) return ENOENT;
  return request.number(number->second, static_cast<std::int32_t*>(nullptr));
}

int Host::perflevel_by_name(const std::string& name, Request& request) const {
  const Chip& chip = kernel.setup.chip;
  const bool is_performance = name.rfind("hw.perflevel0.", 0) == 0;
  const bool is_efficiency = name.rfind("hw.perflevel1.", 0) == 0 && !kernel.setup.is_virtual;
  if (!is_performance && !is_efficiency) return ENOENT;
  const std::string what = name.substr(name.rfind('.') + 1);
  if (what == "name") return request.give(is_performance ? "Performance" : "Efficiency");
  const unsigned cpus = is_performance ? chip.performance_cpus : chip.efficiency_cpus;
  for (const char* count : {"logicalcpu", "physicalcpu", "logicalcpu_max", "physicalcpu_max"})
    if (what == count) return request.number(cpus, static_cast<std::int32_t*>(nullptr));
  return ENOENT;
}

Request::Request(const Io& io) : io_(io), room_(io.old_length == nullptr ? 0 : *io.old_length) {}

int Request::give(const void* bytes, std::size_t count) {
  if (has_old()) {
    if (room_ - reported_ < count) return ENOMEM;
    std::memcpy(static_cast<char*>(io_.old_value) + reported_, bytes, count);
  }
  reported_ += count;
  return 0;
}

int Request::take(void* bytes, std::size_t count) {
  if (!has_new()) return 0;
  if (io_.new_length - taken_ < count) return EINVAL;
  std::memcpy(bytes, static_cast<const char*>(io_.new_value) + taken_, count);
  taken_ += count;
  return 0;
}

/// Eight bytes are taken for a number of four as well, if it fits.
template <typename T>
int Request::small_number(std::int64_t value, T* place) {
  const auto small = static_cast<std::int32_t>(value);
  if (const int error = give(&small, sizeof small); error != 0 || !has_new()) return error;
  if (place == nullptr) return EPERM;
  if (io_.new_length != sizeof(std::int64_t)) return take(place, sizeof *place);
  std::int64_t wide = 0;
  if (const int error = take(&wide, sizeof wide); error != 0) return error;
  if (wide != static_cast<std::int32_t>(wide)) return ERANGE;
  *place = static_cast<T>(wide);
  return 0;
}

int Request::number(std::int64_t value, std::int32_t* place) {
  return small_number(value, place);
}

int Request::number(std::int64_t value, std::uint32_t* place) {
  return small_number(value, place);
}

/// Four bytes are given and taken for a number of eight as well, if it fits.
int Request::number(std::int64_t value, std::uint64_t* place) {
  const auto small = static_cast<std::int32_t>(value);
  const bool gives_small = room_ == sizeof small;
  if (gives_small && small != value) return ERANGE;
  const int error = gives_small ? give(&small, sizeof small) : give(&value, sizeof value);
  if (error != 0 || !has_new()) return error;
  if (place == nullptr) return EPERM;
  if (io_.new_length != sizeof small) return take(place, sizeof *place);
  std::int32_t taken = 0;
  if (const int wrong = take(&taken, sizeof taken); wrong != 0) return wrong;
  *place = static_cast<std::uint64_t>(taken);
  return 0;
}

int Request::finish(int error) const {
  const bool has_length = error == 0 || error == ENOMEM;
  if (has_length && io_.old_length != nullptr) *io_.old_length = reported_;
  return error;
}

// ktrace's sysctls: facts, section 0 and 3.3.

Caller caller_of(const Process& process) {
  return {process.pid, process.unique_id, process.name, process.user == 0};
}

void Host::call_as(std::optional<Caller> who) {
  caller_ = std::move(who);
  Process* process = caller_ ? kernel.find(caller_->pid) : nullptr;
  if (process != nullptr) kernel.make_buffers(*process);
}

Caller Host::caller() const {
  return caller_ ? *caller_ : caller_of(*kernel.processes().at(1));
}

int Host::ktrace_by_name(const std::string& name, Request& request) {
  Ktrace& ktrace = kernel.ktrace;
  if (name == "ktrace.init_background") {
    if (request.has_new() && !caller().is_root) return EPERM;
    return request.has_new() ? ktrace.register_background(caller()) : EINVAL;
  }
  const bool is_text = name == "ktrace.configured_by";
  std::int64_t number = 0;
  if (name == "ktrace.state")
    number = static_cast<std::int64_t>(ktrace.state());
  else if (name == "ktrace.active_mask")
    number = ktrace.active();
  else if (name == "ktrace.owning_pid")
    number = ktrace.owner();
  else if (name == "ktrace.background_pid")
    number = ktrace.background();
  else if (!is_text)
    return ENOENT;
  if (request.has_new()) return EPERM;
  return is_text ? request.give(ktrace.configured_by())
                 : request.number(number, static_cast<std::int32_t*>(nullptr));
}

// kpc's sysctls: facts, sections 0, 1.2, 3.

namespace {

constexpr std::uint32_t kAllCpus = 0x80000000;
constexpr std::int64_t kPmuVersion = 2;

}  // namespace

int Host::kpc_by_name(const std::string& name, Request& request) {
  const bool is_classes = name == "kpc.classes";
  const bool is_count = name == "kpc.counter_count" || name == "kpc.config_count";
  const bool is_version = name == "kpc.pmu_version";
  const bool is_setting =
      name == "kpc.force_all_ctrs" || name == "kpc.counting" || name == "kpc.thread_counting";
  const bool is_array =
      name == "kpc.config" || name == "kpc.counters" || name == "kpc.thread_counters";
  if (!is_classes && !is_count && !is_version && !is_setting && !is_array) return ENOENT;
  if ((is_classes || is_version) && request.has_new()) return EPERM;
  if (!is_classes && !is_count) {
    if (const int error = kernel.ktrace.check_read(caller()); error != 0) return error;
  }
  if (kernel.setup.cpmu_is_busy) return EBUSY;
  if (request.has_new() && !request.has_old()) kernel.settle_all();
  constexpr std::int64_t classes = kFixedClass | kConfigurableClass | kRawClass;
  if (is_classes || is_version)
    return request.number(is_classes ? classes : kPmuVersion, static_cast<std::int32_t*>(nullptr));
  if (is_count) return kpc_count(name == "kpc.counter_count", request);
  if (is_setting) return kpc_setting(name, request);
  if (name == "kpc.config") return kpc_words(request);
  return name == "kpc.counters" ? kpc_counters(request) : kpc_thread_counters(request);
}

int Host::kpc_count(bool of_counters, Request& request) {
  std::uint32_t classes = 0;
  if (const int error = request.take(&classes, sizeof classes); error != 0) return error;
  const std::uint32_t count =
      of_counters ? kernel.pmu.counter_count(classes) : kernel.pmu.config_count(classes);
  return request.give(&count, sizeof count);
}

int Host::kpc_setting(const std::string& name, Request& request) {
  Pmu& pmu = kernel.pmu;
  const bool forces = name == "kpc.force_all_ctrs";
  const bool of_threads = name == "kpc.thread_counting";
  const std::uint32_t now = forces       ? (pmu.forced_by() != 0 ? 1 : 0)
                            : of_threads ? pmu.thread_counting()
                                         : pmu.counting();
  std::uint32_t value = 0;
  if (const int error = request.number(now, &value); error != 0 || !request.has_new()) return error;
  if (forces) return pmu.force(caller().unique_id, value != 0);
  if (!of_threads) {
    pmu.set_counting(value);
    return 0;
  }
  Process* process = kernel.find(caller().pid);
  const bool has_thread = process != nullptr && !process->threads.empty();
  kernel.set_thread_counting(value, has_thread ? process->threads.front().get() : nullptr);
  return 0;
}

/// New: the classes, to read; the classes and the words, to set.
int Host::kpc_words(Request& request) {
  std::uint64_t classes = 0;
  if (const int error = request.take(&classes, sizeof classes); error != 0) return error;
  const auto wanted = static_cast<std::uint32_t>(classes);
  std::vector<std::uint64_t> words(kernel.pmu.config_count(wanted));
  const std::size_t bytes = words.size() * sizeof(std::uint64_t);
  if (words.empty()) return EINVAL;
  int error = request.take(words.data(), bytes);
  if (error == 0) error = kernel.pmu.set_words(wanted, words);
  if (error != 0 && error != EINVAL) return error;
  // Too few words are ignored if the value is only read.
  if (!request.has_old()) return error;
  error = kernel.pmu.words(wanted, words);
  return error != 0 ? error : request.give(words.data(), bytes);
}

/// Returns the number of the caller's CPU, then the values, CPU by CPU, but only as many as CPUs
/// have answered, from the first place on.
int Host::kpc_counters(Request& request) {
  std::uint32_t classes = 0;
  if (const int error = request.take(&classes, sizeof classes); error != 0) return error;
  kernel.settle_all();
  const auto counters = kernel.pmu.counters_of(classes);
  const unsigned own = kernel.setup.chip.performance_cpus - 1;
  const bool of_all = (classes & kAllCpus) != 0;
  std::vector<std::uint64_t> values = {own};
  std::size_t answered = 0;
  for (unsigned cpu = 0; cpu < kernel.setup.chip.cpus(); ++cpu) {
    if (!of_all && cpu != own) continue;
    const bool is_off = kernel.setup.cpus_off.count(cpu) != 0;
    for (const std::size_t i : counters) {
      values.push_back(is_off ? 0 : kernel.pmu.cpu_counters(cpu).at(i));
      if (!is_off) ++answered;
    }
  }
  if (answered == 0) return EINVAL;
  return request.give(values.data(), (1 + answered) * sizeof(std::uint64_t));
}

/// Returns those of the calling thread, which must have a buffer by now; it keeps that when
/// counting ends.
int Host::kpc_thread_counters(Request& request) {
  std::uint32_t tid = 0;
  if (const int error = request.take(&tid, sizeof tid); error != 0) return error;
  const Process* process = kernel.find(caller().pid);
  const Thread* thread =
      process == nullptr || process->threads.empty() ? nullptr : process->threads.front().get();
  if (tid != 0 || thread == nullptr || !thread->buffer) return EINVAL;
  std::vector<std::uint64_t> values;
  for (const std::size_t i : kernel.pmu.thread_counters()) values.push_back(thread->buffer->at(i));
  return request.give(values.data(), values.size() * sizeof(std::uint64_t));
}

// kperf's sysctls: facts, sections 0, 1.2, 4.3, 4.4, 4.7.

namespace {

struct Constant {
  const char* name;
  std::uint64_t value;
  bool is_wide;
};
constexpr auto kLimits = std::to_array<Constant>({
    {"kperf.limits.max_action_count", Sampler::kMaxActions, false},
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

/// Sets an action of lazy sampling. For a missing action the kernel returns 1, which is EPERM.
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
  // With a buffer for the old value, only the right to read is needed.
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

/// Sets the owner of the tracing by hand.
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

// The trace's sysctl: facts, sections 0 and 5.3.

namespace {

enum Operation : std::uint8_t {
  kSetFlags = 1,
  kClearFlags = 2,
  kEnable = 3,
  kSetBuf = 4,
  kGetBuf = 5,
  kSetup = 6,
  kRemove = 7,
  kSetReg = 8,
  kGetReg = 9,
  kReadTr = 10,
  kSetTypefilter = 22,
  kBufWait = 23,
};

constexpr std::uint64_t kSlowNs = 100'000'000;

bool has_value(int operation) {
  return operation >= kSetFlags && operation <= kSetBuf;
}

}  // namespace

/// `name` begins after {CTL_KERN, KERN_KDEBUG}. On success the length returned is the one given,
/// unless the operation has another.
int Host::kdebug(const int* name, unsigned length, Request& request) {
  if (length == 0) return ENOTSUP;
  const int operation = name[0];
  if (has_value(operation) && length < 2) return EINVAL;
  request.tell(request.room());
  if (operation == kGetBuf) {
    const int error = kernel.ktrace.check_read(caller());
    return error != 0 ? error : trace_info(request);
  }
  if (const int error = kernel.ktrace.configure(kKdebugPart, caller()); error != 0) return error;
  return has_value(operation) ? set_trace(operation, name[1]) : use_trace(operation, request);
}

int Host::set_trace(int operation, int value) {
  switch (operation) {
    case kSetFlags:
      kernel.trace.set_flags(static_cast<std::uint32_t>(value));
      return 0;
    case kClearFlags:
      kernel.trace.clear_flags(static_cast<std::uint32_t>(value));
      return 0;
    case kEnable:
      return kernel.trace.enable(value, static_cast<std::uint32_t>(threads_now()));
    default:
      kernel.trace.set_buffer(static_cast<std::uint32_t>(value));
      return 0;
  }
}

int Host::use_trace(int operation, Request& request) {
  switch (operation) {
    case kSetup:
      kernel.pass(kSlowNs);
      kernel.trace.set_up();
      return 0;
    case kRemove:
      kernel.pass(kSlowNs);
      kernel.ktrace.reset(kKdebugPart);
      return 0;
    case kSetReg: {
      std::array<std::uint32_t, 5> filter{};
      if (!request.has_old() || request.room() < sizeof filter) return EINVAL;
      std::memcpy(filter.data(), request.old_bytes(), sizeof filter);
      return rules.filter_is_obsolete ? EINVAL : kernel.trace.set_filter(filter);
    }
    case kGetReg:
      return EINVAL;
    case kReadTr:
      return read_trace(request);
    case kSetTypefilter: {
      std::array<std::uint8_t, Trace::kTypefilterBytes> bits{};
      if (request.room() != bits.size()) return EINVAL;
      if (!request.has_old()) return EFAULT;
      std::memcpy(bits.data(), request.old_bytes(), bits.size());
      kernel.trace.set_typefilter(bits);
      return 0;
    }
    case kBufWait:
      return wait_for_buffer(request);
    default:
      return ENOTSUP;
  }
}

/// Returns as much of it as there is room for.
int Host::trace_info(Request& request) {
  const Pid owner = kernel.ktrace.living_owner();
  const TraceInfo info = kernel.trace.info(owner == 0 ? -1 : owner);
  const std::size_t bytes = std::min(request.room(), sizeof info);
  if (bytes == 0) return 0;
  if (!request.has_old()) return EFAULT;
  std::memcpy(request.old_bytes(), &info, bytes);
  return 0;
}

/// Bytes in, records out. Records written during the copy stay for the next read.
int Host::read_trace(Request& request) {
  const std::size_t capacity = request.room() / sizeof(Record);
  if (!kernel.trace.is_made() || capacity == 0) return EINVAL;
  const auto records = kernel.trace.read(capacity, kernel.mach(kernel.now_ns()));
  if (!records.empty() && !request.has_old()) return EINVAL;
  if (!records.empty())
    std::memcpy(request.old_bytes(), records.data(), records.size() * sizeof(Record));
  request.tell(records.size());
  kernel.pass(20 * records.size());
  return 0;
}

/// Milliseconds in; out, whether half of the units are in use.
int Host::wait_for_buffer(Request& request) {
  const std::uint64_t ns = request.room() * 1'000'000;
  const auto is_reached = [this] { return kernel.trace.threshold_is_reached(); };
  request.tell(kernel.wait_until(is_reached, ns) ? 1 : 0);
  return 0;
}

std::size_t Host::threads_now() const {
  std::size_t all = 0;
  for (const auto& process : kernel.processes()) all += process->threads.size();
  return all;
}

}  // namespace lauka::darwin
