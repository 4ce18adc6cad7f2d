#include "core/metric.h"
#include "session/baseline.h"
#include "session/recording.h"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace lauka {
namespace {

/// Returns the status of a run that was ended from outside, as a shell reports it.
int status_of(const Outcome& outcome) {
  constexpr int signalled = 128;
  constexpr int kill = 9;  // the same on every system
  if (const auto* end = std::get_if<Exited>(&outcome)) return end->status;
  if (const auto* end = std::get_if<Signalled>(&outcome)) return signalled + end->signal;
  if (const auto* end = std::get_if<Stopped>(&outcome)) return signalled + end->signal;
  return signalled + kill;
}

/// The runs of a session, or those that it ran again.
class SessionRuns : public RunTable {
 public:
  SessionRuns(const Plan& plan, const std::vector<Metric>& metrics, const RunList& runs)
      : events_(plan.events),
        runs_(runs),
        ends_(plan.commands.size() + 1),
        by_command_(size()),
        unpacked_(std::min(size(), kMostUnpacked)) {
    readers_.reserve(metrics.size());
    for (const Metric& metric : metrics) readers_.emplace_back(metric, plan.events);
    // Counting sort: ends_[c] is where the runs of `c` begin, and once they are in, where they end.
    for (std::size_t i = 0; i < size(); ++i) ++ends_[run(i).step.command + 1];
    for (std::size_t c = 1; c < ends_.size(); ++c) ends_[c] += ends_[c - 1];
    for (std::size_t i = 0; i < size(); ++i)
      by_command_[ends_[run(i).step.command]++] = static_cast<std::uint32_t>(i);
  }

  std::size_t size() const override { return runs_.size(); }

  RunRow row(std::size_t index) const override {
    const RunRecord& run = this->run(index);
    RunRow row{run.step.command,
               run.step.round,
               run.step.pass,
               status_of(run.outcome),
               run.step.kind,
               run.coverage,
               {},
               "",
               static_cast<double>(run.usage.wall_ns) / 1e9,
               run.below_overhead,
               run.order};
    for (std::size_t i = 0; i < run.own.size(); ++i) {
      const std::size_t event = events_.passes.at(run.step.pass).events.at(i);
      if (run.own[i]) row.own.push_back({events_.events.at(event).name, *run.own[i]});
    }
    return row;
  }

  std::optional<double> value(std::size_t index, std::size_t metric) const override {
    return readers_[metric].value(run(index));
  }

  std::optional<double> bound(std::size_t index, std::size_t metric) const override {
    return readers_[metric].bound(run(index));
  }

  std::span<const std::uint32_t> of(std::size_t command) const override {
    const std::size_t begin = command == 0 ? 0 : ends_[command - 1];
    return std::span(by_command_).subspan(begin, ends_[command] - begin);
  }

 private:
  struct Unpacked {
    std::optional<std::size_t> index{};
    RunRecord run{};
  };

  /// Caches unpacked runs: all of a short session, the last ones of a long one.
  const RunRecord& run(std::size_t index) const {
    Unpacked& kept = unpacked_[index % unpacked_.size()];
    if (kept.index != index) runs_.read(index, kept.run);
    kept.index = index;
    return kept.run;
  }

  static constexpr std::size_t kMostUnpacked = 256;

  EventSet events_;
  const RunList& runs_;
  std::vector<MetricReader> readers_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint32_t> by_command_;
  mutable std::vector<Unpacked> unpacked_;
};

class RedoneRuns final : public SessionRuns {
 public:
  RedoneRuns(const Plan& plan, const std::vector<Metric>& metrics, const Session& session,
             std::shared_ptr<const RunList> runs)
      : SessionRuns(plan, metrics, *runs), session_(session), runs_(std::move(runs)) {}

  RunRow row(std::size_t index) const override {
    RunRow row = SessionRuns::row(index);
    row.why = session_.redone[index].why;
    return row;
  }

 private:
  const Session& session_;
  std::shared_ptr<const RunList> runs_;
};

/// Each once.
std::vector<std::string> notes_of(const Plan& plan, const Session& session) {
  std::vector<std::string> notes;
  for (const auto* some : {&plan.events.notes, &session.notes}) {
    for (const std::string& note : *some)
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }
  return notes;
}

/// Adds a row for each metric in `discovered`, and looks for it in the baseline.
void add_discovered(const Plan& plan, const Discovered& discovered, Recording& recording) {
  std::size_t place = plan.reported.size();
  for (const OwnMetric& one : discovered.metrics) {
    recording.metrics.push_back(metric_of(one, ReportedValue{place++}));
    recording.metrics.back().shown = discovered.is_shown ? Shown::Always : Shown::Verbose;
  }
  extend_baseline(recording);
}

}  // namespace

Recording recording_of(const Plan& plan, const Session& session, const Timers& timers,
                       Circumstances circumstances, const Discovered& discovered) {
  auto redone = std::make_shared<RunList>();
  for (const RedoneRun& one : session.redone) redone->push_back(one.run);
  Recording recording;
  recording.metrics = plan.metrics;
  recording.measured = plan.commands;
  for (std::size_t c = 0; c < session.programs.size(); ++c)
    recording.measured[c].program = session.programs[c];
  recording.reference = plan.reference;
  add_discovered(plan, discovered, recording);
  recording.runs = std::make_shared<SessionRuns>(plan, recording.metrics, session.runs);
  recording.redone =
      std::make_shared<RedoneRuns>(plan, recording.metrics, session, std::move(redone));
  recording.confidence = plan.confidence;
  recording.notes = notes_of(plan, session);
  recording.setting = {plan.order,
                       plan.seed,
                       plan.warmup,
                       plan.until,
                       plan.jobs,
                       plan.events,
                       plan.stop,
                       plan.order_is_for_hooks,
                       plan.cores.min_share,
                       plan.region};
  recording.circumstances = std::move(circumstances);
  recording.timers = timers;
  recording.complete = !session.cut_short.has_value();
  if (plan.shell) recording.shell = plan.shell->words;
  recording.overheads = session.overheads;
  return recording;
}

}  // namespace lauka
