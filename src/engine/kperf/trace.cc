#include "engine/kperf/trace.h"

#include <array>
#include <cerrno>
#include <cstddef>

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

}  // namespace lauka::engine::kperf
