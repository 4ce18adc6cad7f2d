#include "session/make_recording.h"

#include "core/recording.h"
#include "session/baseline.h"
#include "session/setting_values.h"

#include <algorithm>
#include <utility>

namespace lauka {

namespace {

std::vector<Note> list_notes(const Plan& plan, const Session& session) {
  std::vector<Note> notes;
  for (const auto* some : {&plan.setting.events.notes, &session.notes}) {
    for (const Note& note : *some)
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }
  return notes;
}

void add_discovered_metrics(const Plan& plan, const DiscoveredMetrics& discovered,
                            Recording& recording) {
  std::size_t place = plan.reported_metrics.size();
  for (const OwnMetric& metric : discovered.metrics) {
    recording.metrics.push_back(make_metric(metric, ReportedValue{place++}));
    recording.metrics.back().shown = discovered.is_shown ? Shown::Always : Shown::Verbose;
  }
  extend_metric_places_of_baseline(recording);
}

}  // namespace

Recording make_recording(const Plan& plan, Session&& session, RecordingContext context) {
  Recording recording;
  recording.metrics = plan.metrics;
  recording.commands = plan.commands;

  for (std::size_t c = 0; c < session.programs.size(); ++c)
    recording.commands[c].fingerprint = session.programs[c];
  for (std::size_t c = 0; c < session.counter_loss_files.size(); ++c)
    recording.commands[c].lost_counts = session.counter_loss_files[c];

  recording.reference = plan.reference;
  add_discovered_metrics(plan, context.discovered, recording);
  recording.runs = std::exchange(session.runs, {});
  recording.runs.set_metrics(recording.metrics);
  recording.discarded_runs = std::exchange(session.discarded_runs, {});
  recording.discarded_runs.set_metrics(recording.metrics);

  recording.confidence = plan.confidence;
  recording.notes = list_notes(plan, session);
  recording.setting = plan.setting;
  recording.setting.min_share = plan.cores.min_share_on_first_kind;
  recording.circumstances = std::move(context.circumstances);
  recording.timers = context.timers;
  recording.function_tables = std::exchange(session.functions, {});

  recording.complete = !session.cut_short.has_value();
  recording.ended_by_gates = session.ended_by_gates;
  // The run that ended the session is in none of the lists of runs.
  const auto* failed = session.cut_short ? std::get_if<RunFailed>(&*session.cut_short) : nullptr;
  if (failed != nullptr)
    recording.session_ending_run = RunRow{.command = failed->step.command,
                                          .round = failed->step.round,
                                          .pass = failed->step.pass,
                                          .status = shell_status(failed->outcome),
                                          .ending = ending_of(failed->outcome, {}),
                                          .kind = failed->step.kind};

  if (plan.shell) recording.shell = plan.shell->words;
  recording.overheads = session.overheads;
  for (Command& command : recording.commands)
    command.settings = settings_of_planned(recording.setting, command, recording.shell);
  for (std::size_t c = 0; c < session.program_settings.size(); ++c)
    recording.commands[c].settings.add(session.program_settings[c]);
  return recording;
}

}  // namespace lauka
