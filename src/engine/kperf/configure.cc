#include "engine/kperf/configure.h"

#include "engine/kperf/kernel.h"
#include "os/signals.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace lauka::engine::kperf {

namespace {

/// Records taken with one read: 2 MB.
constexpr std::size_t kPiece = 32768;

}  // namespace

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
  room_.resize(kPiece);
  std::size_t nothing = 0;
  if (const int error = remove(); error != 0) return error;
  // Else each read would wait for every coprocessor, and the filter would have them trace all they
  // can. A kernel without the flag does without it.
  call_with_value(os::kKdSetFlags, static_cast<int>(kKdebugNoCoprocessors));
  if (const int error = call_with_value(os::kKdSetBuf, static_cast<int>(records)); error != 0)
    return error;
  if (const int error = call(os::kKdSetup, nullptr, &nothing); error != 0) return error;
  if (const int error = let_in(); error != 0) return error;
  return call_with_value(os::kKdEnable, 1);
}

int Trace::let_in() const {
  KdebugFilter exact{kKdebugValueCheck,
                     {kThreadTerminatePid, kThreadCountersData, kNewThread, kExec}};
  std::size_t bytes = sizeof exact;
  const int error = call(os::kKdSetReg, &exact, &bytes);
  if (error == 0 || error == EPERM || error == EBUSY) return error;
  // Apple calls that one obsolete. This one lets more in, which the reader passes over.
  std::array<std::uint8_t, kTypefilterBytes> classes{};
  constexpr std::uint32_t counters = kThreadCountersData >> 16U;
  classes.at(counters / 8) = 1U << counters % 8;
  bytes = classes.size();
  return call(os::kKdSetTypefilter, classes.data(), &bytes);
}

int Trace::remove() const {
  std::size_t nothing = 0;
  call_with_value(os::kKdEnable, 0);  // which is refused where there is nothing to switch off
  return call(os::kKdRemove, nullptr, &nothing);
}

bool Trace::is_half_full() const {
  std::size_t milliseconds = 1;  // 0 would wait for ever; on return: whether it is
  return call(os::kKdBufWait, nullptr, &milliseconds) != 0 || milliseconds != 0;
}

int Trace::read(bool& wrapped, const Reader& reader) {
  // A read gives only what is older than its own start; a busy system always has something newer,
  // so that a piece that did not fill the room is the last one.
  for (;;) {
    wrapped = wrapped || (info().flags & kKdebugWrapped) != 0;  // each read clears it
    std::size_t length = room_.size() * sizeof(KdebugRecord);   // bytes in, records out
    if (const int error = call(os::kKdReadTr, room_.data(), &length); error != 0) return error;
    const std::size_t count = length < room_.size() ? length : room_.size();
    if (count > 0) reader({room_.data(), count});
    if (count < room_.size()) return 0;
  }
}

KdebugInfo Trace::info() const {
  KdebugInfo info;
  std::size_t length = sizeof info;
  if (call(os::kKdGetBuf, &info, &length) != 0) return {};
  return info;
}

namespace {

/// The counters that the power manager of M4 and M5 holds where the database does not say: XNU's
/// register for it takes mask 0x38 of the configurable ones.
constexpr CounterMask kHeldByPowerManager = 0xe0;

constexpr std::uint32_t kAction = 1;

/// The claim that is to be given back when the process ends without unwinding its stack.
Claim*& held() {
  // atexit passes nothing. NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static Claim* claim = nullptr;
  return claim;
}

void give_back_held() {
  if (Claim* claim = held(); claim != nullptr) claim->give_back();
}

}  // namespace

std::optional<CounterMask> usable_counters(CounterMask configurable, CounterMask power,
                                           std::uint32_t count) {
  const CounterMask held_back = power != 0 ? power : kHeldByPowerManager;
  for (const CounterMask mask : {configurable, configurable & ~held_back})
    if (static_cast<std::uint32_t>(std::popcount(mask)) == count) return mask;
  return std::nullopt;
}

Claim::~Claim() {
  give_back();
}

int Claim::hold() {
  if (has_counters_) return 0;
  static const bool will_give_back = [] {
    os::on_sudden_end(give_back_held);
    return std::atexit(give_back_held) == 0;  // where it fails, unwinding gives back
  }();
  static_cast<void>(will_give_back);
  give_back_held();
  const int error = kernel_.force_all_counters(true);
  has_counters_ = error == 0;
  if (has_counters_) held() = this;
  return error;
}

Result<void> Claim::take_counters() {
  const auto refused = [this](Asked asked, int error) { return reason_of(asked, error, kernel_); };
  if (const int error = hold(); error != 0) return refused(Asked::Force, error);
  had_leftovers_ = kernel_.thread_counting() != 0 || kernel_.counting() != 0;
  if (const int error = kernel_.set_thread_counting(0); error == EPERM || error == EBUSY)
    return refused(Asked::Count, error);
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
  return values_ == kFixedCounters + words_.size() && is_as_programmed() ? 0 : EAGAIN;
}

int Claim::try_words(std::span<const std::uint64_t> words) {
  int error = set_words(words);
  if (error == 0 && !has_words()) error = EPERM;
  kernel_.set_counting(0);
  return error;
}

int Claim::set_words(std::span<const std::uint64_t> words) {
  // macOS 26 takes new words only when counting is switched on, so it is off before.
  kernel_.set_thread_counting(0);
  kernel_.set_counting(0);
  classes_ = words.empty() ? kFixedClass : kBothClasses;
  words_.assign(words.begin(), words.end());
  if (!words.empty()) {
    if (const int error = kernel_.set_words(words); error != 0) return error;
  }
  return kernel_.set_counting(classes_);
}

bool Claim::has_words() const {
  if (words_.empty()) return true;
  std::vector<std::uint64_t> now;
  if (kernel_.get_words(now) != 0) return false;
  // A word comes back with the privilege levels that are in effect: it is the selector that says
  // what is counted. M1 and M2 keep 8 bits of it, and would count another event.
  return std::ranges::equal(now, words_, [](std::uint64_t a, std::uint64_t b) {
    return (a & kSelectorBits) == (b & kSelectorBits);
  });
}

bool Claim::is_as_programmed() const {
  return kernel_.counting() == classes_ &&
         kernel_.thread_counting() == (by_thread_ ? classes_ : 0) && has_words();
}

int Claim::start_sampling(const Sampling& sampling) {
  // Whoever may configure may reset; another's living owner refuses all of it, and keeps its state.
  if (const int error = stop_sampling(); error == EPERM || error == EBUSY) return error;
  has_tracing_ = true;
  const int error = begin_sampling(sampling);
  if (error != 0) end_sampling();
  return error;
}

int Claim::begin_sampling(const Sampling& sampling) {
  if (const int error = kernel_.make_action(); error != 0) return error;
  if (const int error = kernel_.set_action(kAction, kSampleThreadCounters); error != 0)
    return error;
  if (sampling.at_exit) {
    if (const int error = kernel_.trigger_at_thread_end(kAction); error != 0) return error;
  }
  if (sampling.period_ns) {
    if (const int error = kernel_.start_pet(*sampling.period_ns, kAction); error != 0) return error;
  }
  if (const int error = trace_.set_up(sampling.records); error != 0) return error;
  return kernel_.set_sampling(true);
}

int Claim::stop_sampling() const {
  // Errors but the last are ignored: it may be off already.
  kernel_.set_sampling(false);
  trace_.remove();
  kernel_.stop_trigger();
  kernel_.stop_pet();
  return kernel_.reset_sampling();
}

void Claim::end_sampling() {
  if (has_tracing_) stop_sampling();
  has_tracing_ = false;
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
  if (held() == this) held() = nullptr;
}

}  // namespace lauka::engine::kperf
