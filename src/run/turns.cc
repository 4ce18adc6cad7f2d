#include "core/text.h"
#include "os/signals.h"
#include "run/kept_rounds.h"
#include "run/runner.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <utility>

namespace lauka {
namespace {

using std::chrono::nanoseconds;

/// The progress of all parts, each of which knows only its own.
class SuiteProgress {
 public:
  SuiteProgress(Observer& shown, const os::Clock& clock, std::size_t parts)
      : shown_(shown), clock_(clock), began_(clock.now()), left_(parts), open_(parts) {}

  bool wants_progress() const { return shown_.wants_progress(); }

  void progress(std::size_t part, const std::string& name, Progress progress) {
    left_[part] = progress.remaining;
    progress.command = name;
    progress.elapsed = clock_.now() - began_;
    progress.remaining = remaining();
    const auto elapsed = std::chrono::duration<double>(progress.elapsed).count();
    const auto left =
        std::chrono::duration<double>(progress.remaining.value_or(nanoseconds(0))).count();
    progress.done = progress.remaining && elapsed + left > 0.0 ? elapsed / (elapsed + left) : 0.0;
    shown_.progress(progress);
  }

  void finished(std::size_t part) {
    left_[part] = nanoseconds(0);
    if (--open_ == 0) shown_.finished();
  }

 private:
  /// A part without progress takes as long as the others do.
  std::optional<nanoseconds> remaining() const {
    nanoseconds known{};
    std::int64_t known_parts = 0;
    for (const auto& one : left_) {
      known += one.value_or(nanoseconds(0));
      known_parts += one ? 1 : 0;
    }
    if (known_parts == 0) return std::nullopt;
    return known + known / known_parts * (static_cast<std::int64_t>(left_.size()) - known_parts);
  }

  Observer& shown_;
  const os::Clock& clock_;
  nanoseconds began_;
  std::vector<std::optional<nanoseconds>> left_;
  std::size_t open_;
};

class PartObserver final : public Observer {
 public:
  PartObserver(SuiteProgress& all, std::size_t part, std::string name)
      : all_(all), part_(part), name_(std::move(name)) {}

  bool wants_progress() const override { return all_.wants_progress(); }
  void progress(const Progress& progress) override {
    Progress ours = progress;
    shown_ =
        name_ + ": " + std::string(ours.difference ? ours.difference->candidate : ours.command);
    if (ours.difference) ours.difference->candidate = shown_;
    all_.progress(part_, shown_, ours);
  }
  void finished() override { all_.finished(part_); }

 private:
  SuiteProgress& all_;
  std::size_t part_;
  std::string name_;
  std::string shown_{};
};

/// The rest of a lap, shuffled; a part that has ended meanwhile is skipped.
class Laps {
 public:
  explicit Laps(std::uint64_t seed) : random_(seed) {}

  std::size_t next(std::span<const std::size_t> waiting) {
    for (;;) {
      if (lap_.empty()) shuffle(waiting);
      const std::size_t part = lap_.back();
      lap_.pop_back();
      if (std::ranges::binary_search(waiting, part)) return part;
    }
  }

 private:
  /// Our own, as in plan/order: the same on every system.
  void shuffle(std::span<const std::size_t> waiting) {
    lap_.assign(waiting.begin(), waiting.end());
    for (std::size_t i = lap_.size(); i > 1; --i) std::swap(lap_[i - 1], lap_[random_() % i]);
  }

  std::mt19937_64 random_;
  std::vector<std::size_t> lap_;
};

/// Returns the number of the latest run among those that --resume found; 0 without any.
std::uint32_t latest_kept(std::span<const BenchmarkRun> runs) {
  std::uint32_t latest = 0;
  for (const BenchmarkRun& run : runs) {
    if (run.context.rounds == nullptr) continue;
    for (const KeptRounds& rounds : run.context.rounds->finished)
      for (const RunRecord& one : rounds.runs) latest = std::max(latest, one.order);
  }
  return latest;
}

/// Runs all of them, one at a time; laps decide which one continues.
void take_turns(std::span<BenchmarkRun> runs, const std::vector<std::unique_ptr<ReadyRun>>& ready,
                std::uint64_t seed, std::vector<std::optional<SessionResult>>& results) {
  std::vector<std::function<void(const os::Yield&)>> activities;
  for (std::size_t i = 0; i < runs.size(); ++i)
    activities.emplace_back([&, i](const os::Yield& yield) {
      if (runs[i].plan.order != Order::Sequential) runs[i].context.let_others = yield;
      results[i] = ready[i]->run();
    });
  Laps laps(seed);
  os::take_turns(activities, [&](auto waiting) { return laps.next(waiting); });
}

}  // namespace

Result<std::vector<SessionResult>> carry_out(std::span<BenchmarkRun> runs, std::uint64_t seed) {
  const RunContext& any = runs.front().context;
  SuiteProgress progress(any.observer, any.clock, runs.size());
  std::uint32_t order = latest_kept(runs);
  std::vector<std::unique_ptr<PartObserver>> observers;
  std::vector<std::unique_ptr<ReadyRun>> ready;
  for (BenchmarkRun& run : runs) {
    if (!run.name.empty()) {
      run.context.order = &order;
      observers.push_back(std::make_unique<PartObserver>(progress, observers.size(), run.name));
      run.context.observer = *observers.back();
    }
    auto made = make_ready(run.plan, run.context);
    if (!made)
      return run.name.empty() ? made.error() : made.error().of("benchmark " + cited(run.name));
    ready.push_back(*std::move(made));
  }
  std::vector<std::optional<SessionResult>> results(runs.size());
  if (runs.size() == 1) {
    results.front() = ready.front()->run();
  } else {
    take_turns(runs, ready, seed, results);
  }
  std::vector<SessionResult> all;
  all.reserve(results.size());
  for (auto& result : results) all.push_back(*std::move(result));
  return all;
}

}  // namespace lauka
