#include "fakes/darwin/host.h"

#include <array>
#include <cerrno>
#include <cstring>

// The trace's sysctl: facts, 5.3.

namespace lauka::darwin {
namespace {

constexpr int kSetFlags = 1;
constexpr int kClearFlags = 2;
constexpr int kEnable = 3;
constexpr int kSetBuf = 4;
constexpr int kGetBuf = 5;
constexpr int kSetup = 6;
constexpr int kRemove = 7;
constexpr int kSetReg = 8;
constexpr int kReadTr = 10;
constexpr int kThreadMap = 12;
constexpr int kCurrentThreadMap = 21;
constexpr int kSetTypefilter = 22;
constexpr int kBufWait = 23;

constexpr std::uint64_t kSlowNs = 100'000'000;

struct MapEntry {
  std::uint64_t thread = 0;
  std::int32_t valid = 0;
  std::array<char, 20> command{};
};
static_assert(sizeof(MapEntry) == 32);

}  // namespace

int Host::kdebug(const int* name, unsigned length, const Io& io) {
  const int operation = name[2];
  const bool has_value = operation <= kSetBuf;
  if (length < (has_value ? 4U : 3U)) return EINVAL;
  if (operation == kGetBuf) {
    const TraceInfo info = kernel.trace.info();
    if (io.old_length == nullptr || *io.old_length < sizeof info) return EINVAL;
    return give(io, info);
  }
  if (operation == kCurrentThreadMap) return thread_map(io);
  if (const int error = may_configure(kKdebugPart); error != 0) return error;
  switch (operation) {
    case kSetFlags:
    case kClearFlags:
      return 0;
    case kEnable:
      return name[3] == 0 || name[3] == 1 ? kernel.trace.enable(name[3] == 1) : EINVAL;
    case kSetBuf:
      return kernel.trace.set_buffer(static_cast<std::uint32_t>(name[3]));
    case kSetup:
      kernel.pass(kSlowNs);
      return kernel.trace.set_up();
    case kRemove:
      kernel.pass(kSlowNs);
      kernel.trace.remove();
      kernel.trace.set_owner(-1);
      kernel.ktrace.give_up(kKdebugPart);
      return 0;
    case kSetReg: {
      std::array<std::uint32_t, 5> filter{};
      if (io.old_value == nullptr || *io.old_length < sizeof filter) return EINVAL;
      std::memcpy(filter.data(), io.old_value, sizeof filter);
      return kernel.trace.set_filter(filter);
    }
    case kReadTr:
      return read_trace(io);
    case kThreadMap:
      return thread_map(io);
    case kSetTypefilter: {
      if (io.old_value == nullptr || *io.old_length != Trace::kTypefilterBytes) return EINVAL;
      std::array<std::uint8_t, Trace::kTypefilterBytes> bits{};
      std::memcpy(bits.data(), io.old_value, bits.size());
      kernel.trace.set_typefilter(bits);
      return 0;
    }
    case kBufWait:
      return wait_for_buffer(io);
    default:
      return EINVAL;
  }
}

/// Bytes in, records out. What is written while the records are copied stays for the next read.
int Host::read_trace(const Io& io) {
  if (!kernel.trace.is_made() || io.old_value == nullptr || io.old_length == nullptr) return EINVAL;
  const std::size_t capacity = *io.old_length / sizeof(Record);
  if (capacity == 0) return EINVAL;
  const auto records = kernel.trace.read(capacity, kernel.mach(kernel.now_ns()));
  if (!records.empty()) std::memcpy(io.old_value, records.data(), records.size() * sizeof(Record));
  *io.old_length = records.size();
  kernel.pass(20 * records.size());
  return 0;
}

int Host::wait_for_buffer(const Io& io) {
  if (io.old_length == nullptr) return EINVAL;
  const std::uint64_t ns = *io.old_length * 1'000'000;
  const bool reached =
      kernel.wait_until([this] { return kernel.trace.threshold_is_reached(); }, ns);
  *io.old_length = reached ? 1 : 0;
  return 0;
}

int Host::thread_map(const Io& io) const {
  std::vector<MapEntry> map;
  for (const auto& process : kernel.processes()) {
    for (const auto& thread : process->threads) {
      MapEntry entry{thread->tid, process->pid, {}};
      process->name.copy(entry.command.data(), entry.command.size() - 1);
      map.push_back(entry);
    }
  }
  if (io.old_length == nullptr) return EINVAL;
  const std::size_t room = *io.old_length / sizeof(MapEntry);
  if (io.old_value != nullptr)
    std::memcpy(io.old_value, map.data(), std::min(room, map.size()) * sizeof(MapEntry));
  *io.old_length = map.size() * sizeof(MapEntry);
  return 0;
}

}  // namespace lauka::darwin
