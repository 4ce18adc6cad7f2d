#include "engine/kperf/strategy.h"
#include "fuzz/targets.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

// The reader of traces. Two kinds of input: records as they are (the traces of tests/data), and a
// short code from which records of the few kinds that matter are made, on few threads and
// processes, so that they meet.

namespace lauka::fuzz {
namespace {

using namespace engine::kperf;

/// The beginning of every input.
struct Head {
  std::uint8_t raw = 0;
  std::uint8_t values = 0;
  std::uint8_t at_exit = 0;
  std::uint8_t unused = 0;
  std::uint32_t pid = 0;
};

/// One record in short, in four-bit fields.
struct Short {
  std::uint8_t kind = 0;
  std::uint8_t thread = 0;
  std::uint8_t first = 0;
  std::uint8_t second = 0;
};

constexpr std::array<std::uint32_t, 8> kKinds = {
    kNewThreadDebugid,       kExecDebugid,
    kThreadTerminateDebugid, kThreadCountersDebugid | kFunctionStart,
    kThreadCountersDebugid,  kThreadCountersDebugid | kFunctionEnd,
    kLostEventsDebugid,      0x0700000c};

/// As many of `T` as `bytes` have room for.
template <typename T>
std::vector<T> read_all(std::string_view bytes) {
  std::vector<T> items(bytes.size() / sizeof(T));
  if (!items.empty()) std::memcpy(items.data(), bytes.data(), items.size() * sizeof(T));
  return items;
}

KdebugRecord record_of(const Short& code) {
  KdebugRecord record;
  // Lost events void everything else: they are rare.
  const std::size_t kind = code.kind % 64 == 6 ? 6 : code.kind % 6;
  record.debugid = kKinds[kind];
  record.thread = code.thread % 16;
  if (record.debugid == kNewThreadDebugid) {
    const std::uint64_t pid = code.second % 8;
    record.arguments = {static_cast<std::uint64_t>(code.first % 16), pid, code.second / 128U,
                        pid + 100};
  } else if (record.debugid == kThreadTerminateDebugid) {
    const std::uint64_t pid = code.first % 8;
    record.arguments = {pid, pid + 100, 0, 0};
  } else {
    record.arguments = {code.first, code.second, code.first, 0};
  }
  return record;
}

void check(const TraceCounts& counts, std::size_t values) {
  require(counts.command_sums.size() == values && counts.tree_sums.size() == values);
  require(counts.threads_command <= counts.threads_tree);
  require(counts.threads_not_ended_command <= counts.threads_not_ended_tree);
  require(counts.threads_not_ended_tree <= counts.threads_tree);
  require(counts.processes_tree >= 1);
  if (counts.fault) return;
  require(counts.threads_command > 0 && counts.threads_not_ended_command == 0);
}

bool same(const TraceCounts& a, const TraceCounts& b) {
  return a.fault == b.fault && a.command_sums == b.command_sums && a.tree_sums == b.tree_sums &&
         a.threads_tree == b.threads_tree;
}

}  // namespace

void records(std::string_view bytes) {
  Head head;
  if (bytes.size() < sizeof head) return;
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes.remove_prefix(sizeof head);

  std::vector<KdebugRecord> all;
  if (head.raw != 0)
    all = read_all<KdebugRecord>(bytes);
  else
    for (const Short& code : read_all<Short>(bytes)) all.push_back(record_of(code));

  const auto target = static_cast<std::int32_t>(head.pid);
  TraceReader at_once(head.values, head.at_exit != 0, target);
  at_once.feed(all);
  TraceReader one_by_one(head.values, head.at_exit != 0, target);
  for (const KdebugRecord& record : all) one_by_one.feed({&record, 1});

  const TraceCounts counts = at_once.counts();
  check(counts, std::clamp<std::size_t>(head.values, 1, kMaxCountersPerCpu));
  require(same(counts, one_by_one.counts()));
  // A complete trace has no end missing.
  if (at_once.target_is_complete()) require(counts.fault != TraceFault::ThreadNotEnded);
}

}  // namespace lauka::fuzz
