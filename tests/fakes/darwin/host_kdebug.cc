#include "fakes/darwin/host.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

// The trace's sysctl: facts, sections 0 and 5.3.

namespace lauka::darwin {
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
  kThreadMap = 12,
  kWriteTr = 17,
  kWriteMap = 18,
  kCurrentThreadMap = 21,
  kSetTypefilter = 22,
  kBufWait = 23,
  kWriteTr3 = 28,
};

constexpr std::uint64_t kSlowNs = 100'000'000;

struct MapEntry {
  std::uint64_t thread = 0;
  std::int32_t valid = 0;
  std::array<char, 20> command{};
};
static_assert(sizeof(MapEntry) == 32);

bool has_value(int operation) {
  constexpr std::array with_value = {kSetFlags, kClearFlags, kEnable,  kSetBuf,
                                     kWriteTr,  kWriteMap,   kWriteTr3};
  return std::find(with_value.begin(), with_value.end(), operation) != with_value.end();
}

}  // namespace

/// `name` begins behind {CTL_KERN, KERN_KDEBUG}. On success the length that is told is the one that
/// was given, unless the operation has another.
int Host::kdebug(const int* name, unsigned length, Request& request) {
  if (length == 0) return ENOTSUP;
  const int operation = name[0];
  if (has_value(operation) && length < 2) return EINVAL;
  request.tell(request.room());
  if (operation == kGetBuf || operation == kCurrentThreadMap) {
    if (const int error = kernel.ktrace.check_read(caller()); error != 0) return error;
    return operation == kGetBuf ? trace_info(request) : thread_map(request);
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
      return kernel.trace.enable(value, static_cast<std::uint32_t>(threads_now().size()));
    case kSetBuf:
      kernel.trace.set_buffer(static_cast<std::uint32_t>(value));
      return 0;
    default:
      return EBADF;  // they write to a descriptor, of which the model has none
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
    case kThreadMap:
      return thread_map(request);
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

/// As much of it as there is room for.
int Host::trace_info(Request& request) {
  const Pid owner = kernel.ktrace.living_owner();
  const TraceInfo info = kernel.trace.info(owner == 0 ? -1 : owner);
  const std::size_t bytes = std::min(request.room(), sizeof info);
  if (bytes == 0) return 0;
  if (!request.has_old()) return EFAULT;
  std::memcpy(request.old_bytes(), &info, bytes);
  return 0;
}

/// Bytes in, records out. What is written while the records are copied stays for the next read.
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

std::vector<const Thread*> Host::threads_now() const {
  std::vector<const Thread*> all;
  for (const auto& process : kernel.processes()) {
    for (const auto& thread : process->threads) all.push_back(thread.get());
  }
  return all;
}

int Host::thread_map(Request& request) const {
  std::vector<MapEntry> map;
  for (const Thread* thread : threads_now()) {
    MapEntry entry{thread->tid, thread->process->pid, {}};
    thread->process->name.copy(entry.command.data(), entry.command.size() - 1);
    map.push_back(entry);
  }
  const std::size_t bytes = map.size() * sizeof(MapEntry);
  if (request.has_old())
    std::memcpy(request.old_bytes(), map.data(), std::min(request.room(), bytes));
  request.tell(bytes);
  return 0;
}

}  // namespace lauka::darwin
