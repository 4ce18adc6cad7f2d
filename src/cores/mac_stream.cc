#include "cores/mac_threads.h"
#include "cores/seen_moves.h"
#include "cores/thread_stream.h"
#include "cores/threads.h"

#include <cerrno>
#include <map>
#include <utility>

namespace lauka::cores {
namespace {

using std::chrono::nanoseconds;

class MacStream final : public ThreadStream {
 public:
  MacStream(const std::vector<std::int32_t>& processes, std::vector<std::string> levels,
            const os::DarwinCalls& calls)
      : ThreadStream(processes.size()),
        calls_(calls),
        kinds_(std::move(levels)),
        base_(os::timebase_of(calls)) {
    for (const std::int32_t process : processes) watched_.push_back({process, {}});
  }

  const std::vector<std::string>& kinds() const override { return kinds_; }

  std::vector<std::string> notes() const override {
    if (was_counted_ || !read_before()) return {};
    return {no_counts_in_virtual_machine()};
  }

 private:
  struct Thread {
    std::string name;
    LevelCounts counts;
    SeenMoves moves;
    bool was_seen = true;
  };
  struct Watched {
    std::int32_t process;
    std::map<std::uint64_t, Thread> threads;
  };

  bool read_process(std::size_t place, nanoseconds now,
                    std::vector<ThreadSample>& samples) override {
    Watched& process = watched_[place];
    for (auto& [id, thread] : process.threads) thread.was_seen = false;
    const ThreadIds ids = thread_ids(calls_, process.process);
    for (const std::uint64_t id : ids.ids) {
      CountsOfThread counts = thread_counts(calls_, process.process, id, kinds_.size());
      if (counts.error != 0) continue;  // it has ended in the meantime
      const auto [known, is_new] = process.threads.try_emplace(id);
      Thread& thread = known->second;
      thread.was_seen = true;
      if (is_new) {
        thread.name = thread_name(calls_, process.process, id);
        thread.counts.resize(kinds_.size());
      }
      const std::uint64_t moves = moves_in(thread, counts.levels);
      if (read_before()) {
        samples.push_back(sample_of(process.process, id, thread, counts.levels, now));
        samples.back().is_new = is_new;
        if (kinds_.size() > 1) samples.back().moves = moves;
      }
      thread.counts = std::move(counts.levels);
    }
    end_unseen(process, now, samples);
    return static_cast<bool>(ids);
  }

  /// A thread takes its counts along: of its last part nothing is known.
  void end_unseen(Watched& process, nanoseconds now, std::vector<ThreadSample>& samples) const {
    for (auto thread = process.threads.begin(); thread != process.threads.end();) {
      if (thread->second.was_seen) {
        ++thread;
        continue;
      }
      samples.push_back({.process = process.process,
                         .thread = thread->first,
                         .name = thread->second.name,
                         .interval = now - read_before().value_or(now),
                         .has_ended = true});
      samples.back().by_kind.resize(kinds_.size());
      thread = process.threads.erase(thread);
    }
  }

  /// The kernel tells the time on each kind of core, not how often a thread came there.
  static std::uint64_t moves_in(Thread& thread, const LevelCounts& now) {
    std::uint32_t kinds = 0;
    for (std::size_t level = 0; level < now.size() && level < 32; ++level) {
      const os::ThreadCounts& then = thread.counts[level];
      const bool was_there =
          now[level].user_time + now[level].system_time > then.user_time + then.system_time;
      if (was_there) kinds |= 1U << level;
    }
    return thread.moves.see(kinds);
  }

  double seconds(std::uint64_t mach) const {
    return static_cast<double>(mach) * base_.numerator / base_.denominator / 1e9;
  }

  ThreadSample sample_of(std::int32_t process, std::uint64_t id, const Thread& thread,
                         const LevelCounts& now, nanoseconds time) {
    ThreadSample sample{
        .process = process, .thread = id, .name = thread.name, .interval = time - *read_before()};
    SampledPart& all = sample.all;
    all.user_seconds = all.system_seconds = all.cpu_seconds = 0.0;
    for (const os::ThreadCounts& level : now) was_counted_ = was_counted_ || level.cycles > 0;
    for (std::size_t level = 0; level < kinds_.size(); ++level) {
      const os::ThreadCounts& then = thread.counts[level];
      SampledPart& part = sample.by_kind.emplace_back();
      part.user_seconds = seconds(now[level].user_time - then.user_time);
      part.system_seconds = seconds(now[level].system_time - then.system_time);
      part.cpu_seconds = *part.user_seconds + *part.system_seconds;
      *all.user_seconds += *part.user_seconds;
      *all.system_seconds += *part.system_seconds;
      *all.cpu_seconds += *part.cpu_seconds;
      if (!was_counted_) continue;
      part.cycles = now[level].cycles - then.cycles;
      part.instructions = now[level].instructions - then.instructions;
      part.joules = static_cast<double>(now[level].energy_nj - then.energy_nj) / 1e9;
      all.cycles = all.cycles.value_or(0) + *part.cycles;
      all.instructions = all.instructions.value_or(0) + *part.instructions;
      all.joules = all.joules.value_or(0.0) + *part.joules;
    }
    return sample;
  }

  const os::DarwinCalls& calls_;
  std::vector<std::string> kinds_;
  os::Timebase base_;
  std::vector<Watched> watched_;
  bool was_counted_ = false;
};

}  // namespace

Result<std::unique_ptr<ThreadStream>> stream_darwin_threads(
    const std::vector<std::int32_t>& processes, const os::DarwinCalls& calls) {
  std::vector<std::string> levels = level_names(calls);
  if (levels.empty()) return no_kinds_of_core();
  for (const std::int32_t process : processes)
    if (auto able = check_mac_process(calls, process, levels.size()); !able) return able.error();
  return std::unique_ptr<ThreadStream>(
      std::make_unique<MacStream>(processes, std::move(levels), calls));
}

}  // namespace lauka::cores
