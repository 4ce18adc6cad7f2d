// The number of a trace's records read in a second; see scripts/bench records.

#include "engine/kperf/strategy.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <vector>

#include <fmt/core.h>

namespace {

using namespace lauka::engine::kperf;

constexpr std::size_t kThreads = 200'000;
constexpr std::size_t kCpus = 10;
/// As many as are read from the kernel at once.
constexpr std::size_t kPiece = 65'536;
constexpr std::uint64_t kRunner = 1;

KdebugRecord record(std::uint32_t debugid, std::uint64_t thread,
                    std::array<std::uint64_t, 4> arguments) {
  KdebugRecord result;
  result.debugid = debugid;
  result.thread = thread;
  result.arguments = arguments;
  return result;
}

/// The records of a thread's life, as the filter of the exit strategy lets them through.
std::vector<KdebugRecord> life_of(std::uint64_t tid, std::uint64_t creator, std::uint64_t pid) {
  const std::uint64_t unique_id = pid + 10'000;
  return {record(kNewThreadDebugid, creator, {tid, pid, 0, unique_id}),
          record(kThreadTerminateDebugid, tid, {pid, unique_id, 0, 0}),
          record(kThreadCountersDebugid | kFunctionStart, tid, {tid, 2 * tid, 3, 4}),
          record(kThreadCountersDebugid, tid, {5, 6, 7, 8}),
          record(kThreadCountersDebugid | kFunctionEnd, tid, {9, 10, 0, 0})};
}

/// Threads in pairs: one of the command, one of another process. As many at once as there are CPUs,
/// with interleaved records, which is the worst order for the reader.
std::vector<KdebugRecord> make_trace() {
  std::vector<KdebugRecord> records;
  for (std::size_t first = 0; first < kThreads; first += kCpus) {
    std::vector<std::vector<KdebugRecord>> lives;
    for (std::size_t cpu = 0; cpu < kCpus; ++cpu) {
      const std::uint64_t tid = 1000 + first + cpu;
      const bool of_command = cpu % 2 == 0;
      lives.push_back(
          life_of(tid, of_command && tid > 1000 ? 1000 : kRunner, of_command ? 50 : 60));
    }
    for (std::size_t step = 0; step < lives.front().size(); ++step)
      for (const auto& life : lives) records.push_back(life[step]);
  }
  return records;
}

}  // namespace

int main() {
  const std::vector<KdebugRecord> records = make_trace();
  double best = 0;
  for (int turn = 0; turn < 5; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    TraceReader reader(10, true, 50);
    for (std::size_t at = 0; at < records.size(); at += kPiece)
      reader.feed({records.data() + at, std::min(kPiece, records.size() - at)});
    const TraceCounts counts = reader.counts();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // Half of the threads are the command's: the sum of their numbers, 1000, 1002, ...
    const std::uint64_t half = kThreads / 2;
    if (counts.fault || counts.command_sums[0] != half * 1000 + half * (half - 1)) {
      fmt::print("the counts are wrong\n");
      return EXIT_FAILURE;
    }
    const double rate = static_cast<double>(records.size()) / seconds / 1e6;
    fmt::print("{} records of {} threads in {:.3f} s: {:.1f} million records per second\n",
               records.size(), kThreads, seconds, rate);
    best = std::max(best, rate);
  }
  fmt::print("best: {:.1f} million records per second\n", best);
  return EXIT_SUCCESS;
}
