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
  KdebugFilter filter{kKdebugValueCheck,
                      {kThreadTerminatePid, kThreadCountersData, kNewThread, kExec}};
  std::size_t filter_bytes = sizeof filter;
  if (const int error = remove(); error != 0) return error;
  if (const int error = call_with_value(os::kKdSetBuf, static_cast<int>(records)); error != 0)
    return error;
  if (const int error = call(os::kKdSetup, nullptr, &nothing); error != 0) return error;
  if (const int error = call(os::kKdSetReg, &filter, &filter_bytes); error != 0) return error;
  return call_with_value(os::kKdEnable, 1);
}

int Trace::remove() const {
  std::size_t nothing = 0;
  call_with_value(os::kKdEnable, 0);  // which is refused where there is nothing to switch off
  return call(os::kKdRemove, nullptr, &nothing);
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
