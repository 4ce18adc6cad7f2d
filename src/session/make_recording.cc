#include "session/make_recording.h"

#include "core/recording.h"
#include "session/baseline.h"
#include "session/setting_values.h"

#include <algorithm>
#include <optional>
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

/// Returns the planned commands with what the session has seen of their programs and processes.
std::vector<Command> describe_commands(const Setting& setting, std::vector<Command> commands,
                                       const std::vector<std::string>& shell,
                                       const Session& session) {
  for (std::size_t c = 0; c < session.programs.size(); ++c)
    commands[c].fingerprint = session.programs[c];
  for (std::size_t c = 0; c < session.counter_loss_files.size(); ++c)
    commands[c].lost_counts = session.counter_loss_files[c];

  for (Command& command : commands) command.settings = settings_of_planned(setting, command, shell);
  for (std::size_t c = 0; c < session.program_settings.size(); ++c)
    commands[c].settings.add(session.program_settings[c]);
  return commands;
}

/// Returns the facts of the run that ended the session, which is in none of the lists of runs. A
/// failure that is ignored does not end a session, so here none is.
RunRow make_run_row(const RunFailed& failed) {
  return {.command = failed.step.command,
          .round = failed.step.round,
          .pass = failed.step.pass,
          .status = shell_status(failed.outcome),
          .ending = ending_of(failed.outcome, std::nullopt),
          .kind = failed.step.kind};
}

/// Moves the runs and tables of the session. The runs need to know all metrics, also those of which
/// the plan did not know.
void take_runs(Session& session, Recording& recording) {
  recording.runs = std::exchange(session.runs, {});
  recording.runs.set_metrics(recording.metrics);
  recording.discarded_runs = std::exchange(session.discarded_runs, {});
  recording.discarded_runs.set_metrics(recording.metrics);
  recording.function_tables = std::exchange(session.functions, {});
}

void record_end(const Session& session, Recording& recording) {
  recording.complete = !session.cut_short.has_value();
  recording.ended_by_gates = session.ended_by_gates;
  if (session.cut_short)
    if (const auto* failed = std::get_if<RunFailed>(&*session.cut_short))
      recording.session_ending_run = make_run_row(*failed);
}

}  // namespace

// A recording is what is analysed, shown and saved: the plan, and what the session measured. The
// runs and tables of functions are large, so they are moved out of the session.
Recording make_recording(const Plan& plan, Session&& session, RecordingContext context) {
  Recording recording;
  recording.setting = plan.setting;
  recording.setting.min_share = plan.cores.min_share_on_first_kind;
  recording.confidence = plan.confidence;
  recording.circumstances = std::move(context.circumstances);
  recording.timers = context.timers;
  recording.notes = list_notes(plan, session);
  if (plan.shell) recording.shell = plan.shell->words;
  recording.overheads = session.overheads;
  recording.commands =
      describe_commands(recording.setting, plan.commands, recording.shell, session);

  // Programs may have reported metrics that the plan does not know.
  recording.metrics = plan.metrics;
  recording.reference = plan.reference;
  add_discovered_metrics(plan, context.discovered, recording);
  take_runs(session, recording);
  record_end(session, recording);
  return recording;
}

}  // namespace lauka
