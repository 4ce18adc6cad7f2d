#include "engine/kperf/kernel.h"

#include "os/signals.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

constexpr const char* kFramework = "/System/Library/PrivateFrameworks/kperf.framework/kperf";

/// Returns the errno of a call that returns a negative number on failure; 0 if it succeeded.
int error_of_call(int returned) {
  return returned < 0 ? errno : 0;
}

constexpr std::size_t kMaxRecordsPerRead = 32768;

/// Counters that the power manager of M4 and M5 holds; used if the database names none. Source:
/// XNU, mask 0x38 of the configurable counters.
constexpr CounterMask kHeldByPowerManager = 0xe0;

/// The number of the action by which the kernel samples; the kernel counts them from 1.
constexpr std::uint32_t kSamplingAction = 1;

/// Returns the claim that has the counters, which must be given back even at a sudden end; null:
/// none.
Claim*& holding_claim() {
  // atexit passes no argument. NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static Claim* claim = nullptr;
  return claim;
}

void give_back_held() {
  if (Claim* claim = holding_claim(); claim != nullptr) claim->give_back();
}

Error explain_busy_trace(const Kernel& kernel) {
  const std::string owner = kernel.owner_of_tracing();
  if (owner.empty())
    return {"the kernel's tracing is already in use",
            "quit the program that uses it, such as Instruments"};
  return {fmt::format("{} is using the kernel's tracing", owner), fmt::format("quit {}", owner)};
}

}  // namespace

/// Loads Apple's framework, through which lauka uses the counters. If the framework or one of its
/// functions is missing, sets `missing_part_` to the name of this part, and leaves `framework_`
/// empty. All requests then go to the kernel as sysctls.
Kernel::Kernel(const os::DarwinCalls& calls) : calls_(calls) {
  void* const library = calls_.dlopen(kFramework, os::kLoadLazily);
  if (library == nullptr) missing_part_ = "kperf.framework";

  // The framework is private and may change, so it is used only if it has all of these functions.
  // After the first missing part, no function is looked up any more.
  KperfCalls functions{};
  const auto look_up = [&]<typename Function>(Function*& function, const char* name) {
    if (missing_part_) return;
    function = reinterpret_cast<Function*>(calls_.dlsym(library, name));
    if (function == nullptr) missing_part_ = name;
  };

  look_up(functions.kpc_force_all_ctrs_set, "kpc_force_all_ctrs_set");
  look_up(functions.kpc_set_counting, "kpc_set_counting");
  look_up(functions.kpc_get_counting, "kpc_get_counting");
  look_up(functions.kpc_set_thread_counting, "kpc_set_thread_counting");
  look_up(functions.kpc_get_thread_counting, "kpc_get_thread_counting");
  look_up(functions.kpc_get_counter_count, "kpc_get_counter_count");
  look_up(functions.kpc_set_config, "kpc_set_config");
  look_up(functions.kperf_action_samplers_set, "kperf_action_samplers_set");
  look_up(functions.kperf_action_filter_set_by_pid, "kperf_action_filter_set_by_pid");
  look_up(functions.kperf_sample_set, "kperf_sample_set");
  look_up(functions.kperf_reset, "kperf_reset");

  if (!missing_part_) framework_ = functions;
}

template <typename T>
int Kernel::set(const char* name, const T& value) const {
  T copy = value;
  return error_of_call(calls_.sysctlbyname(name, nullptr, nullptr, &copy, sizeof copy));
}

template <typename T>
int Kernel::get(const char* name, T& value) const {
  std::size_t length = sizeof value;
  return error_of_call(calls_.sysctlbyname(name, &value, &length, nullptr, 0));
}

bool Kernel::has_counters() const {
  std::uint32_t classes = 0;
  const int error = get("kpc.classes", classes);
  return error != ENOENT && error != ENOTSUP;
}

int Kernel::force_all_counters(bool on) const {
  return framework_ ? error_of_call(framework_->kpc_force_all_ctrs_set(int{on}))
                    : set("kpc.force_all_ctrs", int{on});
}

std::uint32_t Kernel::counter_count(std::uint32_t classes) const {
  if (framework_) return framework_->kpc_get_counter_count(classes);
  std::uint32_t count = 0;
  std::size_t length = sizeof count;
  const int got =
      calls_.sysctlbyname("kpc.counter_count", &count, &length, &classes, sizeof classes);
  return got == 0 ? count : 0;
}

int Kernel::set_configuration_words(std::span<const std::uint64_t> words) const {
  std::array<std::uint64_t, 1 + kMaxCountersPerCpu> request{kConfigurableClass};
  std::copy_n(words.begin(), std::min<std::size_t>(words.size(), kMaxCountersPerCpu), &request[1]);
  if (framework_) return error_of_call(framework_->kpc_set_config(kConfigurableClass, &request[1]));
  return set("kpc.config", request);
}

int Kernel::get_words(const char* name, std::uint64_t request, std::size_t most,
                      std::vector<std::uint64_t>& words) const {
  words.assign(most, 0);
  std::size_t length = most * sizeof words[0];
  const int error =
      error_of_call(calls_.sysctlbyname(name, words.data(), &length, &request, sizeof request));
  words.resize(error == 0 ? std::min(length / sizeof words[0], most) : 0);
  return error;
}

int Kernel::read_configuration_words(std::vector<std::uint64_t>& words) const {
  return get_words("kpc.config", kConfigurableClass, kMaxCountersPerCpu, words);
}

int Kernel::set_counting(std::uint32_t classes) const {
  return framework_ ? error_of_call(framework_->kpc_set_counting(classes))
                    : set("kpc.counting", classes);
}

int Kernel::set_thread_counting(std::uint32_t classes) const {
  return framework_ ? error_of_call(framework_->kpc_set_thread_counting(classes))
                    : set("kpc.thread_counting", classes);
}

std::uint32_t Kernel::counting_classes() const {
  return framework_ ? framework_->kpc_get_counting()
                    : read_sysctl_number("kpc.counting").value_or(0);
}

std::uint32_t Kernel::thread_counting_classes() const {
  constexpr std::uint32_t refused = 0xffffffff;
  const std::uint32_t classes = framework_ ? framework_->kpc_get_thread_counting()
                                           : read_sysctl_number("kpc.thread_counting").value_or(0);
  return classes == refused ? 0 : classes;
}

int Kernel::machine_counters(std::size_t cpus, std::vector<std::uint64_t>& values) const {
  const int error =
      get_words("kpc.counters", kBothClasses | kAllCpus, 1 + cpus * kMaxCountersPerCpu, values);
  if (!values.empty()) values.erase(values.begin());
  return error;
}

int Kernel::raise_to_one(const char* name) const {
  const int error = set(name, std::uint32_t{1});
  return error == EINVAL && read_sysctl_number(name).value_or(0) >= 1 ? 0 : error;
}

int Kernel::set_action(std::uint32_t action, std::uint32_t samplers) const {
  constexpr std::int32_t any_pid = -1;
  using Words = std::array<std::uint64_t, 2>;
  int error = framework_ ? error_of_call(framework_->kperf_action_samplers_set(action, samplers))
                         : set("kperf.action.samplers", Words{action, samplers});
  if (error != 0) return error;
  return framework_ ? error_of_call(framework_->kperf_action_filter_set_by_pid(action, any_pid))
                    : set("kperf.action.filter_by_pid",
                          Words{action, static_cast<std::uint64_t>(any_pid)});
}

int Kernel::set_sampling(bool on) const {
  const auto value = std::uint32_t{on};
  return framework_ ? error_of_call(framework_->kperf_sample_set(value))
                    : set("kperf.sampling", value);
}

int Kernel::reset_sampling() const {
  return framework_ ? error_of_call(framework_->kperf_reset())
                    : set("kperf.reset", std::uint32_t{1});
}

int Kernel::sample_running_threads(std::uint64_t period_ns, std::uint32_t action) const {
  os::Timebase timebase;
  if (calls_.mach_timebase_info(&timebase) != 0 || timebase.numerator == 0) return EINVAL;
  const std::uint64_t ticks = period_ns * timebase.denominator / timebase.numerator;
  constexpr std::uint64_t timer = 0;
  int error = raise_to_one("kperf.timer.count");
  if (error == 0) error = set("kperf.timer.period", std::array{timer, ticks});
  // Must come before kperf.timer.pet_timer, which takes over the timer's present action.
  if (error == 0) error = set("kperf.timer.action", std::array<std::uint64_t, 2>{timer, action});
  if (error == 0) error = set("kperf.timer.pet_timer", std::uint32_t{timer});
  return error != 0 ? error : set("kperf.lightweight_pet", std::uint32_t{1});
}

int Kernel::trigger_at_thread_end(std::uint32_t action) const {
  KdebugTrigger trigger;
  trigger.codes[0] = kMatchEvent;
  trigger.debugid = kThreadTerminateDebugid;
  if (const int error = set("kperf.kdebug.filter", trigger); error != 0) return error;
  return set("kperf.kdebug.action", action);
}

std::optional<std::uint32_t> Kernel::read_sysctl_number(const char* name) const {
  std::uint32_t value = 0;
  if (get(name, value) != 0) return std::nullopt;
  return value;
}

std::string Kernel::owner_of_tracing() const {
  constexpr std::uint32_t foreground = 1;
  if (read_sysctl_number("ktrace.state").value_or(0) != foreground) return "";
  const auto pid = static_cast<std::int32_t>(read_sysctl_number("ktrace.owning_pid").value_or(0));
  std::array<char, 256> bytes{};
  if (pid <= 0 || calls_.proc_name(pid, bytes.data(), bytes.size() - 1) <= 0) return "";
  return fmt::format("{} (process {})", bytes.data(), pid);
}

/// Turns an errno of the kernel into a reason and a remedy. EACCES and EBUSY mean different things
/// for different requests.
Error explain_refusal(KernelRequest request, int error, const Kernel& kernel) {
  if (error == EPERM)
    return {"counting events needs root",
            "run 'sudo lauka ...', which still runs the commands as you"};
  if (error == ENOENT || error == ENOTSUP)
    return {.what = "this kernel has no counters, as is usual in a virtual machine", .remedy = ""};

  if (error == EACCES && request == KernelRequest::TakeCounters)
    return {"another process, such as Instruments, holds the counters", "quit it"};

  if (error == EBUSY && request == KernelRequest::Trace) return explain_busy_trace(kernel);
  if (error == EBUSY)
    return {"a system service holds the counters", "try again later, or restart the Mac"};

  return {fmt::format("the kernel refused to count: {}", std::generic_category().message(error)),
          "please report this"};
}

int Trace::call(int operation, void* value, std::size_t* length) const {
  std::array name = {os::kCtlKern, os::kKernKdebug, operation};
  return calls_.sysctl(name.data(), name.size(), value, length, nullptr, 0) < 0 ? errno : 0;
}

int Trace::call_with_value(int operation, int value) const {
  std::array name = {os::kCtlKern, os::kKernKdebug, operation, value};
  std::size_t length = 0;
  return calls_.sysctl(name.data(), name.size(), nullptr, &length, nullptr, 0) < 0 ? errno : 0;
}

int Trace::set_up(std::uint32_t records) {
  buffer_.resize(kMaxRecordsPerRead);
  std::size_t nothing = 0;
  if (const int error = remove(); error != 0) return error;
  // Each read would wait for the coprocessors. Older kernels refuse the flag.
  call_with_value(os::kKdSetFlags, static_cast<int>(kKdebugNoCoprocessors));
  int error = call_with_value(os::kKdSetBuf, static_cast<int>(records));
  if (error == 0) error = call(os::kKdSetup, nullptr, &nothing);
  if (error == 0) error = set_record_filter();
  return error != 0 ? error : call_with_value(os::kKdEnable, 1);
}

int Trace::set_record_filter() const {
  KdebugFilter exact_filter{
      kKdebugValueCheck,
      {kThreadTerminateDebugid, kThreadCountersDebugid, kNewThreadDebugid, kExecDebugid}};
  std::size_t bytes = sizeof exact_filter;
  const int error = call(os::kKdSetReg, &exact_filter, &bytes);
  if (error == 0 || error == EPERM || error == EBUSY) return error;
  // Apple calls kKdSetReg obsolete. The newer type filter also admits records that TraceReader
  // ignores.
  std::array<std::uint8_t, kTypefilterBytes> classes{};
  constexpr std::uint32_t counters = kThreadCountersDebugid >> 16U;
  classes.at(counters / 8) = 1U << counters % 8;
  bytes = classes.size();
  return call(os::kKdSetTypefilter, classes.data(), &bytes);
}

int Trace::remove() const {
  std::size_t nothing = 0;
  call_with_value(os::kKdEnable, 0);
  return call(os::kKdRemove, nullptr, &nothing);
}

bool Trace::is_half_full() const {
  std::size_t milliseconds = 1;  // 0 would wait for ever; on return, 0 means less than half full
  return call(os::kKdBufWait, nullptr, &milliseconds) != 0 || milliseconds != 0;
}

int Trace::read(bool& wrapped, const RecordSink& reader) {
  for (;;) {
    wrapped = wrapped || (info().flags & kKdebugWrapped) != 0;  // each read clears the flag
    std::size_t length = buffer_.size() * sizeof(KdebugRecord);
    if (const int error = call(os::kKdReadTr, buffer_.data(), &length); error != 0) return error;
    const std::size_t count = length < buffer_.size() ? length : buffer_.size();
    if (count > 0) reader({buffer_.data(), count});
    if (count < buffer_.size()) return 0;
  }
}

KdebugInfo Trace::info() const {
  KdebugInfo info;
  std::size_t length = sizeof info;
  if (call(os::kKdGetBuf, &info, &length) != 0) return {};
  return info;
}

std::optional<CounterMask> usable_counters(CounterMask configurable, CounterMask power,
                                           std::uint32_t count) {
  const CounterMask held_back = power != 0 ? power : kHeldByPowerManager;
  for (const CounterMask mask : {configurable, configurable & ~held_back})
    if (static_cast<std::uint32_t>(std::popcount(mask)) == count) return mask;
  return std::nullopt;
}

int Claim::ensure_held() {
  if (has_counters_) return 0;
  give_back_held();
  const int error = kernel_.force_all_counters(true);
  has_counters_ = error == 0;
  if (has_counters_) holding_claim() = this;
  return error;
}

Result<void> Claim::take_counters() {
  const auto make_refusal = [this](KernelRequest asked, int error) {
    return explain_refusal(asked, error, kernel_);
  };
  static_cast<void>(std::atexit(give_back_held));
  os::set_forced_end_action(give_back_held);
  if (const int error = ensure_held(); error != 0)
    return make_refusal(KernelRequest::TakeCounters, error);
  had_leftovers_ = kernel_.thread_counting_classes() != 0 || kernel_.counting_classes() != 0;
  if (const int error = kernel_.set_thread_counting(0); error == EPERM || error == EBUSY)
    return make_refusal(KernelRequest::Count, error);
  kernel_.set_counting(0);
  stop_sampling();
  return {};
}

int Claim::program(std::span<const std::uint64_t> words, bool by_thread) {
  if (const int error = set_words(words); error != 0) return error;
  by_thread_ = by_thread;
  if (const int error = kernel_.set_thread_counting(by_thread ? classes_ : 0); error != 0)
    return error;
  values_ = kernel_.counter_count(classes_);
  return values_ == kFixedCounterCount + words_.size() && is_as_programmed() ? 0 : EAGAIN;
}

int Claim::try_words(std::span<const std::uint64_t> words) {
  int error = set_words(words);
  if (error == 0 && !kernel_keeps_words()) error = EPERM;
  kernel_.set_counting(0);
  return error;
}

int Claim::set_words(std::span<const std::uint64_t> words) {
  // macOS 26 applies new words only when counting is switched on.
  kernel_.set_thread_counting(0);
  kernel_.set_counting(0);
  classes_ = words.empty() ? kFixedClass : kBothClasses;
  words_.assign(words.begin(), words.end());
  const int error = words.empty() ? 0 : kernel_.set_configuration_words(words);
  return error != 0 ? error : kernel_.set_counting(classes_);
}

bool Claim::kernel_keeps_words() const {
  if (words_.empty()) return true;
  std::vector<std::uint64_t> now;
  if (kernel_.read_configuration_words(now) != 0) return false;
  return std::ranges::equal(now, words_, [](std::uint64_t a, std::uint64_t b) {
    return (a & kSelectorBits) == (b & kSelectorBits);
  });
}

bool Claim::is_as_programmed() const {
  return kernel_.counting_classes() == classes_ &&
         kernel_.thread_counting_classes() == (by_thread_ ? classes_ : 0) && kernel_keeps_words();
}

int Claim::start_sampling(const Sampling& sampling) {
  if (const int error = stop_sampling(); error == EPERM || error == EBUSY) return error;
  has_tracing_ = true;
  const int error = begin_sampling(sampling);
  if (error != 0) end_sampling();
  return error;
}

int Claim::begin_sampling(const Sampling& sampling) {
  int error = kernel_.raise_to_one("kperf.action.count");
  if (error == 0) error = kernel_.set_action(kSamplingAction, kSampleThreadCounters);
  if (error == 0 && sampling.samples_ending_threads)
    error = kernel_.trigger_at_thread_end(kSamplingAction);
  if (error == 0 && sampling.period_ns)
    error = kernel_.sample_running_threads(*sampling.period_ns, kSamplingAction);
  if (error == 0) error = trace_.set_up(sampling.trace_records);
  return error != 0 ? error : kernel_.set_sampling(true);
}

int Claim::stop_sampling() const {
  kernel_.set_sampling(false);
  trace_.remove();
  kernel_.set("kperf.kdebug.action", std::uint32_t{0});
  kernel_.set("kperf.lightweight_pet", std::uint32_t{0});
  return kernel_.reset_sampling();
}

void Claim::pause() {
  end_sampling();
  kernel_.set_thread_counting(0);
  kernel_.set_counting(0);
}

void Claim::give_back() {
  end_sampling();
  if (has_counters_) {
    kernel_.set_counting(0);
    kernel_.set_thread_counting(0);
    kernel_.force_all_counters(false);
  }
  has_counters_ = false;
  if (holding_claim() == this) holding_claim() = nullptr;
}

}  // namespace lauka::engine::kperf
