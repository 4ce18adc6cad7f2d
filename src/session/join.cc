#include "session/join.h"

#include "core/metric.h"
#include "core/recording.h"
#include "core/text.h"
#include "plan/gates.h"
#include "plan/make_commands.h"
#include "plan/make_plan.h"
#include "plan/rows.h"
#include "session/baseline.h"
#include "session/setting_values.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// Adds the events that `all` lacks, and the passes. Returns the place in `all` of each event.
std::vector<std::size_t> add_events(const EventSet& events, EventSet& all) {
  std::vector<std::size_t> places;
  for (const Event& event : events.events) {
    const auto known = std::ranges::find(all.events, event.name, &Event::name);
    places.push_back(static_cast<std::size_t>(known - all.events.begin()));
    if (known == all.events.end()) all.events.push_back(event);
  }
  for (Pass pass : events.passes) {
    for (std::size_t& event : pass.event_indices) event = places.at(event);
    all.passes.push_back(std::move(pass));
  }
  return places;
}

/// Adds the metrics that `all` lacks. `events`: the places in the plan of the session's events.
Result<void> add_metrics(const Recording& session, const std::string& first_file,
                         const std::vector<std::size_t>& events, std::vector<Metric>& all) {
  for (Metric metric : session.metrics) {
    if (const auto known = find_metric(all, metric.name)) {
      if (all[*known].unit == metric.unit) continue;
      return Error{
          fmt::format("{} has {} in '{}', and {} in '{}'", cited(session.file), cited(metric.name),
                      unit_symbol(metric.unit), cited(first_file), unit_symbol(all[*known].unit)),
          "show the files in separate calls"};
    }
    if (metric.event) metric.event = events.at(*metric.event);
    all.push_back(std::move(metric));
  }
  return {};
}

void choose_shown_rows(MetricSelection selection, std::vector<Metric>& metrics) {
  for (Metric& metric : metrics) {
    if (selection == MetricSelection::All) metric.shown = Shown::Always;
    if (selection == MetricSelection::Time)
      metric.shown = metric.unit == Unit::Seconds ? Shown::Always : Shown::Verbose;
  }
}

/// Adds the events and metrics of all sessions to the plan, and the largest number of layouts.
Result<void> add_measurements(const std::vector<Recording>& sessions, Plan& plan) {
  for (const Recording& session : sessions) {
    const std::vector<std::size_t> event_indices =
        add_events(session.setting.events, plan.setting.events);
    auto added = add_metrics(session, sessions.front().file, event_indices, plan.metrics);
    if (!added) return added;
    note_other_methods(session, session.file, "in the files before it", plan);
    plan.setting.layouts = std::max(plan.setting.layouts, session.setting.layouts);
  }
  return {};
}

/// Chooses which metrics are shown, in which order and unit, and adds the percentiles among them.
Result<void> choose_rows(const Options& options, Plan& plan) {
  const CountingOptions& counting = options.counting;
  choose_shown_rows(choose_metric_selection(options), plan.metrics);
  auto added = add_percentiles(counting, options.gates, options.run, plan.metrics);
  if (!added) return added;

  const MetricSelection selection = counting.metric_selection;
  if (selection == MetricSelection::Listed) {
    auto moved = move_rows_to_front(counting.listed_metrics, counting.percentiles, plan.metrics);
    if (!moved) return moved;
  }
  show_times_in(options.output.presentation.time_unit, plan.metrics);

  plan.presentation = options.output.presentation;
  plan.presentation.compact_shows_all_metrics = selection != MetricSelection::Default;
  plan.presentation.hides_all_zero_rows =
      selection == MetricSelection::All && options.output.verbosity != Verbosity::Verbose;
  return {};
}

/// True if a session other than `own` has a command of this name.
bool has_namesake(const std::vector<Recording>& sessions, const Recording& own,
                  const std::string& name) {
  return std::ranges::any_of(sessions, [&](const Recording& session) {
    const auto& there = session.commands;
    return &session != &own && std::ranges::find(there, name, &Command::name) != there.end();
  });
}

Result<std::vector<Command>> make_named_commands(const std::vector<std::string>& names,
                                                 const std::vector<Recording>& sessions) {
  std::vector<Command> commands;
  for (const Recording& session : sessions) {
    const std::size_t first = commands.size();
    for (Command command : session.commands) {
      command.typed_command_index += first;
      if (has_namesake(sessions, session, command.name))
        command.name = fmt::format("{} ({})", command.name, session.file);
      commands.push_back(std::move(command));
    }
  }
  if (names.size() > commands.size())
    return make_too_many_names_error(names.size(), commands.size());
  for (std::size_t c = 0; c < names.size(); ++c)
    if (!names[c].empty()) commands[c].name = names[c];
  return commands;
}

std::vector<std::string> list_session_ids(const Recording& session) {
  if (session.origins.empty()) return {session.circumstances.session_id};
  std::vector<std::string> ids;
  for (const OriginSession& origin : session.origins)
    ids.push_back(origin.circumstances.session_id);
  return ids;
}

/// Adds a note for each session that is in two files.
void note_same_sessions(const std::vector<Recording>& sessions, Plan& plan) {
  std::map<std::string, const Recording*> known;
  for (const Recording& session : sessions) {
    for (const std::string& id : list_session_ids(session)) {
      if (id.empty()) continue;
      const auto [first, is_new] = known.emplace(id, &session);
      if (is_new) continue;
      plan.setting.events.notes.push_back(
          {"same_session",
           fmt::format("{} and {} are the same session (session_id {}), so commands would be "
                       "compared with themselves; give files of two different sessions",
                       cited(first->second->file), cited(session.file), id)});
    }
  }
}

Result<void> check_gates_have_values(const std::vector<Recording>& sessions, const Plan& plan) {
  for (const Gate& gate : plan.gates)
    for (const Recording& session : sessions)
      for (const KnownMean& mean : session.means_without_runs)
        if (session.metrics[mean.metric].name == plan.metrics[gate.metric].name)
          return Error{fmt::format("{} has only the mean of {}, but a gate needs its values",
                                   cited(session.file), plan.metrics[gate.metric].name),
                       "gate on wall_time, or measure with lauka --export-json"};
  return {};
}

/// Returns the reference that --reference names, in which `file` is the first session's.
Result<Reference> find_named_reference(const std::string& name,
                                       const std::vector<Command>& commands,
                                       const std::string& file) {
  // All commands are compared with the one that has this name.
  const auto named = find_place_if(commands, [&](const Command& command) {
    return command.name == name || command.text == name;
  });
  if (named) return Reference{.indices = std::vector<std::size_t>(commands.size(), *named)};

  // A name with placeholders, such as "sort {n}", is that of several commands.
  const auto unfilled = find_place_if(
      commands, [&](const Command& command) { return command.unfilled_name == name; });
  if (unfilled) return pair_by_parameters(commands, commands[*unfilled].typed_command_index);

  return Error{fmt::format("--reference {} is not a command of {}", cited(name), cited(file)),
               "write a name as the table shows it, such as " + cited(commands.front().name)};
}

/// Returns the reference of all commands. The first session does not know the commands of the
/// others. They are compared with its first reference, or with the one of the same typed command
/// that has the same parameter values.
Reference extend_reference(const Reference& of_first_session,
                           const std::vector<Command>& commands) {
  const std::size_t first_reference = of_first_session.index_for(0);
  Reference reference = pair_by_parameters(commands, commands[first_reference].typed_command_index);
  reference.anchor_index = of_first_session.anchor_index;
  return reference;
}

/// Returns what the commands of the joined sessions are compared with: what --reference names, or
/// else what the first session compared its commands with.
Result<Reference> choose_reference(const Options& options, const std::vector<Recording>& sessions,
                                   const Plan& plan) {
  const Recording& first_session = sessions.front();
  if (!options.saved_reference.empty())
    return find_named_reference(options.saved_reference, plan.commands, first_session.file);

  Reference reference = sessions.size() > 1
                            ? extend_reference(first_session.reference, plan.commands)
                            : first_session.reference;

  // A saved session may have a baseline of its own. A baseline that the user gives now replaces it.
  if (options.gates.baseline_file) reference.baseline.reset();

  // The plan may have other metrics than the saved session, or in another order.
  if (auto& baseline = reference.baseline)
    baseline->metric_places = find_comparable_metrics_in(*baseline->session, plan.metrics);
  return reference;
}

void add_origins(const Recording& session, std::vector<OriginSession>& origins) {
  if (!session.origins.empty()) {
    origins.insert(origins.end(), session.origins.begin(), session.origins.end());
    return;
  }
  origins.push_back({.file = session.file,
                     .command_count = session.commands.size(),
                     .order = session.setting.order,
                     .circumstances = session.circumstances,
                     .layouts = session.setting.layouts});
  for (const Metric& metric : session.metrics)
    if (SettingValues values = settings_of_metric(metric); values != SettingValues())
      origins.back().metric_settings[metric.name] = std::move(values);
}

/// Keeps the shell and its overheads only if all sessions have the same one.
void join_shells(const std::vector<Recording>& sessions, Recording& joined) {
  const bool have_one = std::ranges::all_of(
      sessions, [&](const Recording& session) { return session.shell == sessions.front().shell; });
  if (!have_one) return;
  joined.shell = sessions.front().shell;
  for (const Recording& session : sessions)
    joined.overheads.insert(joined.overheads.end(), session.overheads.begin(),
                            session.overheads.end());
}

/// Returns a session without runs, with what the first session and the plan say of all of them.
Recording begin_joined(const std::vector<Recording>& sessions, const Plan& plan) {
  const Recording& first = sessions.front();
  Recording joined;
  joined.file = first.file;
  joined.metrics = plan.metrics;
  joined.commands = plan.commands;
  joined.reference = plan.reference;
  joined.confidence = plan.confidence;
  joined.setting = first.setting;
  joined.setting.events = plan.setting.events;
  joined.circumstances = first.circumstances;
  joined.timers = first.timers;
  if (sessions.size() == 1) joined.series = first.series;

  joined.runs.set_metrics(joined.metrics);
  joined.discarded_runs.set_metrics(joined.metrics);
  return joined;
}

/// The numbers of commands and passes in the sessions that were joined before. A session's own are
/// numbered behind them.
struct CountsBefore {
  std::size_t commands = 0;
  std::size_t passes = 0;
};

/// Keeps the run that ended the first of the sessions that a run ended.
void join_session_ending_run(const Recording& session, const CountsBefore& before,
                             Recording& joined) {
  if (!session.session_ending_run || joined.session_ending_run) return;
  joined.session_ending_run = session.session_ending_run;
  joined.session_ending_run->command += before.commands;
  joined.session_ending_run->pass += before.passes;
}

void join_means(const Recording& session, const CountsBefore& before, Recording& joined) {
  for (const KnownMean& mean : session.means_without_runs) {
    const auto metric = find_metric(joined.metrics, session.metrics[mean.metric].name);
    joined.means_without_runs.push_back({before.commands + mean.command, *metric, mean.value});
  }
}

/// Adds the tables of functions. Commands of earlier sessions without functions get empty ones.
void join_function_tables(const Recording& session, const CountsBefore& before, Recording& joined) {
  if (session.function_tables.empty()) return;
  joined.function_tables.resize(before.commands);
  joined.function_tables.insert(joined.function_tables.end(), session.function_tables.begin(),
                                session.function_tables.end());
}

/// Moves the runs of `session`.
void join_runs(Recording& session, const CountsBefore& before, Recording& joined) {
  const auto places = find_metrics_in(session, joined.metrics);
  const Runs::Joining joining{before.commands, before.passes, places};
  joined.runs.append(std::exchange(session.runs, {}), joining);
  joined.discarded_runs.append(std::exchange(session.discarded_runs, {}), joining);
}

void join_notes(const Recording& session, Recording& joined) {
  joined.notes.insert(joined.notes.end(), session.notes.begin(), session.notes.end());
  if (!session.complete)
    joined.notes.push_back(
        {"was_cut_short",
         cited(session.file) + " was cut short, and has only the runs before that"});
}

/// Joins the properties of which `joined` has one for all sessions.
void join_properties(const Recording& session, Recording& joined) {
  joined.setting.layouts = std::max(joined.setting.layouts, session.setting.layouts);
  joined.timers.clock_step = std::max(joined.timers.clock_step, session.timers.clock_step);
  joined.complete = joined.complete && session.complete;
  joined.ended_by_gates = joined.ended_by_gates || session.ended_by_gates;
  joined.was_written_by_lauka = joined.was_written_by_lauka && session.was_written_by_lauka;
}

}  // namespace

// The plan is that of one session with the commands of all saved sessions, so that they are shown
// and judged like a session that is measured now.
Result<Plan> plan_of_saved(const Options& options, const std::vector<Recording>& sessions) {
  Plan plan;
  auto commands = make_named_commands(options.commands.names, sessions);
  if (!commands) return commands.error();
  plan.commands = *std::move(commands);

  if (auto added = add_measurements(sessions, plan); !added) return added.error();
  note_same_sessions(sessions, plan);
  if (auto chosen = choose_rows(options, plan); !chosen) return chosen.error();
  plan.confidence = options.gates.confidence.value_or(sessions.front().confidence);

  // The reference depends on the commands, and the gates depend on the reference.
  auto reference = choose_reference(options, sessions, plan);
  if (!reference) return reference.error();
  plan.reference = *std::move(reference);

  // A saved session may have a baseline of its own. Then the references of its commands are in the
  // baseline, and not among the commands of the session.
  const bool has_baseline = options.gates.baseline_file || !plan.reference.index_in_session(0);
  if (auto added = add_gates(options.gates.conditions, has_baseline, plan); !added)
    return added.error();
  if (auto checked = check_gates_have_values(sessions, plan); !checked) return checked.error();
  return plan;
}

// Adds one session after the other to a session that has no runs at first.
Recording join(std::vector<Recording>& sessions, const Plan& plan) {
  Recording joined = begin_joined(sessions, plan);

  // A single session that was not joined earlier needs no list of the sessions that it comes from.
  const bool are_several = sessions.size() > 1;
  CountsBefore before;
  for (Recording& session : sessions) {
    join_session_ending_run(session, before, joined);
    join_means(session, before, joined);
    join_function_tables(session, before, joined);
    join_runs(session, before, joined);
    join_notes(session, joined);
    join_properties(session, joined);
    const bool was_joined_earlier = !session.origins.empty();
    if (are_several || was_joined_earlier) add_origins(session, joined.origins);

    before.commands += session.commands.size();
    before.passes += session.setting.events.passes.size();
  }

  const std::vector<Note>& notes_of_plan = plan.setting.events.notes;
  joined.notes.insert(joined.notes.end(), notes_of_plan.begin(), notes_of_plan.end());

  // If any session has functions, each command has a table, which may be empty.
  const std::size_t command_count = before.commands;
  if (!joined.function_tables.empty()) joined.function_tables.resize(command_count);
  join_shells(sessions, joined);
  return joined;
}

gate::Findings convert_metric_indices(gate::Findings findings, const std::vector<Metric>& from,
                                      const std::vector<Metric>& to) {
  const auto place_of = [&](std::size_t metric) { return *find_metric(to, from[metric].name); };
  for (gate::Verdict& verdict : findings.verdicts) verdict.metric = place_of(verdict.metric);
  for (gate::GatedMetricTails& interval : findings.gated_metric_tails)
    interval.metric = place_of(interval.metric);
  return findings;
}

}  // namespace lauka
