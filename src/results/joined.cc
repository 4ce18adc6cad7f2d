#include "results/joined.h"

#include "core/foreign_text.h"
#include "plan/baseline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace lauka {
namespace {

/// The runs of several sessions in a row. Their commands and passes are counted on.
class JoinedRuns : public RunTable {
 public:
  explicit JoinedRuns(std::size_t commands) : of_command_(commands) {}

  /// `metrics`: where the table has each of the joined session's.
  void add(std::shared_ptr<const RunTable> runs, std::size_t commands, std::size_t passes,
           const std::vector<std::optional<std::size_t>>& metrics) {
    for (std::size_t c = 0; c < commands; ++c)
      for (const std::uint32_t run : runs->of(c))
        of_command_[next_.command + c].push_back(static_cast<std::uint32_t>(next_.run + run));
    Part part = next_;
    part.runs = std::move(runs);
    part.metrics = metrics;
    next_.run += part.runs->size();
    next_.command += commands;
    next_.pass += passes;
    parts_.push_back(std::move(part));
  }

  std::size_t size() const override { return next_.run; }

  RunRow row(std::size_t run) const override {
    const Part& part = part_of(run);
    RunRow row = part.runs->row(run - part.run);
    row.command += part.command;
    row.pass += part.pass;
    return row;
  }

  std::optional<double> value(std::size_t run, std::size_t metric) const override {
    const Part& part = part_of(run);
    const auto& place = part.metrics[metric];
    return place ? part.runs->value(run - part.run, *place) : std::nullopt;
  }

  std::optional<double> bound(std::size_t run, std::size_t metric) const override {
    const Part& part = part_of(run);
    const auto& place = part.metrics[metric];
    return place ? part.runs->bound(run - part.run, *place) : std::nullopt;
  }

  std::span<const std::uint32_t> of(std::size_t command) const override {
    return of_command_[command];
  }

 private:
  struct Part {
    std::size_t run = 0;  // the first of its own, as the next two
    std::size_t command = 0;
    std::size_t pass = 0;
    std::shared_ptr<const RunTable> runs{};
    std::vector<std::optional<std::size_t>> metrics{};
  };

  const Part& part_of(std::size_t run) const {
    const auto after =
        std::upper_bound(parts_.begin(), parts_.end(), run,
                         [](std::size_t r, const Part& part) { return r < part.run; });
    return *(after - 1);
  }

  std::vector<Part> parts_;
  Part next_;
  std::vector<std::vector<std::uint32_t>> of_command_;
};

void add_origins(const Recording& session, std::vector<Origin>& origins) {
  if (session.origins.empty())
    origins.push_back(
        {session.file, session.measured.size(), session.setting.order, session.circumstances});
  else
    origins.insert(origins.end(), session.origins.begin(), session.origins.end());
}

/// Of each command, where every session has a shell, and the same.
void join_shells(const std::vector<Recording>& sessions, Recording& joined) {
  const bool have_one = std::all_of(
      sessions.begin(), sessions.end(),
      [&](const Recording& session) { return session.shell == sessions.front().shell; });
  if (!have_one) return;
  joined.shell = sessions.front().shell;
  for (const Recording& session : sessions)
    joined.overheads.insert(joined.overheads.end(), session.overheads.begin(),
                            session.overheads.end());
}

}  // namespace

Recording join(const std::vector<Recording>& sessions, const Plan& plan) {
  const Recording& first = sessions.front();
  Recording joined;
  joined.file = first.file;
  joined.metrics = plan.metrics;
  joined.measured = plan.commands;
  joined.reference = plan.reference;
  joined.confidence = plan.confidence;
  joined.setting = first.setting;
  joined.setting.events = plan.events;
  joined.circumstances = first.circumstances;
  joined.timers = first.timers;
  auto runs = std::make_shared<JoinedRuns>(plan.commands.size());
  auto redone = std::make_shared<JoinedRuns>(plan.commands.size());
  for (const Recording& session : sessions) {
    const std::size_t commands = session.measured.size();
    const std::size_t passes = session.setting.events.passes.size();
    const auto places = places_in(session, plan.metrics);
    runs->add(session.runs, commands, passes, places);
    redone->add(session.redone, commands, passes, places);
    joined.notes.insert(joined.notes.end(), session.notes.begin(), session.notes.end());
    if (!session.complete)
      joined.notes.push_back(cited(session.file) + " was cut short: it has the runs before that");
    joined.timers.clock_step = std::max(joined.timers.clock_step, session.timers.clock_step);
    joined.complete = joined.complete && session.complete;
    joined.by_lauka = joined.by_lauka && session.by_lauka;
    if (sessions.size() > 1 || !session.origins.empty()) add_origins(session, joined.origins);
  }
  joined.notes.insert(joined.notes.end(), plan.events.notes.begin(), plan.events.notes.end());
  joined.runs = std::move(runs);
  joined.redone = std::move(redone);
  join_shells(sessions, joined);
  return joined;
}

gate::Findings moved(gate::Findings findings, const std::vector<Metric>& from,
                     const std::vector<Metric>& to) {
  const auto place_of = [&](std::size_t metric) { return *find_metric(to, from[metric].name); };
  for (gate::Verdict& verdict : findings.verdicts) verdict.metric = place_of(verdict.metric);
  for (gate::GatedInterval& one : findings.intervals) one.metric = place_of(one.metric);
  return findings;
}

}  // namespace lauka
