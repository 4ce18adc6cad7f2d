#include "app/deliver.h"

#include "app/call.h"
#include "app/measure.h"
#include "app/series_entry.h"
#include "cli/describe.h"
#include "format/exporters.h"
#include "os/clock.h"
#include "os/export_files.h"
#include "os/signals.h"
#include "os/this_machine.h"
#include "os/users.h"
#include "plan/command_layouts.h"
#include "plan/make_plan.h"
#include "report/lines.h"
#include "report/screen.h"
#include "report/stacks.h"
#include "report/style.h"
#include "report/suite_screen.h"
#include "results/analyse.h"
#include "results/results.h"
#include "run/programs.h"
#include "session/join.h"
#include "session/make_recording.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka {
namespace {

using os::StandardStream;

report::Style choose_style(const OutputOptions& options) {
  const StandardStream stream = shown_on(options);
  const bool has_color = options.color == ColorChoice::Always ||
                         (options.color == ColorChoice::Auto && os::wants_color(stream));
  return {.color = has_color,
          .width = os::terminal_width(stream, 0),
          .verbose = options.verbosity == Verbosity::Verbose,
          .shows_histograms = options.shows_histogram,
          .ascii = !os::locale_uses_utf8(),
          .shows_marks_as_words = options.presentation.marks == MarksChoice::Text};
}

/// True with --verbose or a request for counts. Else true at most once per user; a file in lauka's
/// state folder records this.
bool must_show_lack_of_counters(const Options& options) {
  return !options.counting.events.empty() || options.counting.engine != EngineChoice::Auto ||
         options.output.verbosity == Verbosity::Verbose ||
         (options.output.verbosity == Verbosity::Normal && os::is_terminal(StandardStream::Error) &&
          os::create_mark_once("no-counters"));
}

/// Shows the tables and verdicts, and then the notes and warnings about them.
Result<void> show_tables(const Options& options, const Report& report) {
  const bool quiet = options.output.verbosity == Verbosity::Quiet;
  const report::Style style = choose_style(options.output);

  const bool lacks_counters = std::ranges::any_of(report.benchmarks, [](const Results& results) {
    return std::ranges::find(results.session.notes, kNoCountersNote, &Note::kind) !=
           results.session.notes.end();
  });
  std::optional<std::string_view> hidden;
  if (lacks_counters && !must_show_lack_of_counters(options)) hidden = kNoCountersNote;
  const std::vector<std::string> notes = report::note_lines(report, hidden);
  const report::ScreenSections text = report::screen_sections(
      report, style, quiet ? report::ScreenContent::VerdictsOnly : report::ScreenContent::All);

  std::string warnings;
  const std::size_t width = os::terminal_width(StandardStream::Error, 0);
  for (const std::string& warning : report::screen_warnings(report, style))
    warnings += report::wrapped_message(warning, width);

  // The answer comes before what qualifies it.
  auto shown = os::write_to(shown_on(options.output), text.tables + text.verdicts);
  if (!quiet) print_to_standard_error(report::note_lines(notes, width));
  if (!quiet && !warnings.empty()) print_to_standard_error(warnings);
  return shown;
}

/// What has failed while a report was shown and exported.
struct DeliveryResult {
  std::optional<int> status_of_failure{};  ///< nullopt if nothing failed
  bool is_exported = true;                 ///< false if a file could not be written
};

/// Shows and exports the report. After a failure, goes on with the next export.
DeliveryResult show_and_write_exports(Call& call, const Report& report) {
  DeliveryResult done;
  const auto note_failure = [&](const Error& error) {
    done.status_of_failure = refuse(error, ExitStatus::Failed);
  };

  if (const auto said = show_tables(call.options, report); !said) note_failure(said.error());
  for (const os::OpenExport& open_export : call.exports) {
    const auto write = [&](std::string_view bytes) { open_export.file->write(bytes); };
    if (open_export.target.kind == ExportKind::Folded)
      report::write_folded(report, open_export.target, write);
    else
      exporter_of(open_export.target.kind)(report, write);
    if (const auto written = open_export.file->commit(); !written) {
      done.is_exported = false;
      note_failure(written.error());
    }
  }
  return done;
}

/// Returns the reason why the saved verdicts do not hold for `joined`; empty if they hold.
std::string_view why_verdicts_are_void(const Benchmark& benchmark, const Recording& joined) {
  if (benchmark.saved_recordings.size() > 1) return "you show several files together";
  if (benchmark.options.gates.baseline_file) return "--baseline is given";
  if (!benchmark.options.saved_reference.empty()) return "--reference is given";
  if (joined.confidence != benchmark.saved_recordings.front().confidence)
    return "--confidence is different from the session's";
  return "";
}

/// Judges `joined` by new conditions, if any. Else returns the saved session's own findings, if
/// they hold, or adds a note to `joined`.
gate::Findings judge_saved(const Benchmark& benchmark, Recording& joined) {
  if (!benchmark.options.gates.conditions.empty())
    return judge(joined, benchmark.plan.gates, benchmark.plan.decisions_sharing_error_rate);
  const std::string_view why = why_verdicts_are_void(benchmark, joined);
  if (why.empty())
    return convert_metric_indices(benchmark.session_result.findings,
                                  benchmark.saved_recordings.front().metrics, joined.metrics);
  if (benchmark.has_saved_gates)
    joined.notes.push_back(
        {"not_judged",
         fmt::format(
             "the saved gates are not judged, because {}; give the gates again to judge them",
             why)});
  return {};
}

Circumstances make_circumstances(const Call& call) {
  const bool is_needed = needs_machine(call);
  const bool is_described = describes_session(call.options.output);
  Machine machine = is_described ? os::this_machine_with_class_facts()
                    : is_needed  ? os::this_machine()
                                 : Machine{};
  if (call.tuning) machine.tuning = settings_in_force(*call.tuning);
  machine.allowance = call.allowance;
  return {std::string(cli::version()),
          call.measuring_began,
          std::move(machine),
          os::utc_now(),
          is_described ? os::new_session_id() : "",
          call.labels,
          call.tuning,
          call.throttling,
          is_needed ? os::own_priority() : std::nullopt};
}

/// Returns the mean in seconds and the number of runs that have a wall time; 0 without such a run.
std::pair<double, std::size_t> find_mean_wall_time(const Recording& session, std::size_t wall_time,
                                                   std::size_t command) {
  double sum = 0.0;
  std::size_t runs = 0;
  for (const std::uint32_t run : session.runs.of_command(command)) {
    const auto value = session.runs.value(run, wall_time);
    if (!value) continue;
    sum += *value;
    ++runs;
  }
  return {runs > 0 ? sum / static_cast<double>(runs) : 0.0, runs};
}

/// Measures the start of a process, if a command's runs took less than kShortRunSeconds on average.
/// Returns nullopt without such a command, if the first command's runs took less than 100 ms in
/// all, or if it would not be shown: for saved sessions, suites, shells and sessions that were cut
/// short, with -q, and if the wall time is not shown.
std::optional<double> measure_start_if_runs_are_short(const Call& call, const Recording& session) {
  constexpr double enough_seconds = 0.1;
  const Benchmark& benchmark = call.benchmarks.front();
  const bool shows_start = !call.reads_saved_sessions() && !call.is_suite() &&
                           call.options.output.verbosity != Verbosity::Quiet &&
                           !benchmark.was_cut_short();

  const auto wall_time = find_metric(session.metrics, Role::WallTime);
  const bool shows_wall_time = wall_time && session.metrics[*wall_time].shown == Shown::Always;
  if (!shows_start || !shows_wall_time || !session.shell.empty()) return std::nullopt;

  bool has_short_command = false;
  for (std::size_t c = 0; c < session.commands.size(); ++c) {
    const auto [mean, runs] = find_mean_wall_time(session, *wall_time, c);
    if (c == 0 && mean * static_cast<double>(runs) < enough_seconds) return std::nullopt;
    if (mean > 0.0 && mean < report::kShortRunSeconds) has_short_command = true;
  }

  if (!has_short_command) return std::nullopt;
  return measure_process_start(benchmark.plan, *call.launcher, call.user,
                               os::first_interrupt_signal);
}

TimerResolutions read_timer_resolutions() {
  return {os::MonotonicClock().resolution(), os::scheduler_tick()};
}

/// Takes the session of a benchmark. Its results still have to be analysed.
Results make_results(const Call& call, Benchmark& benchmark, const TimerResolutions& timers,
                     const Circumstances& now) {
  Results results;
  if (call.reads_saved_sessions()) {
    results.session = join(benchmark.saved_recordings, benchmark.plan);
    results.findings = judge_saved(benchmark, results.session);
  } else {
    SessionResult& just_run = benchmark.session_result;

    // A list of metrics in the command line says what is shown, so nothing is added to it.
    const bool shows_unannounced =
        benchmark.options.counting.metric_selection != MetricSelection::Listed;
    results.session =
        make_recording(benchmark.plan, std::move(just_run.session),
                       {.timers = timers,
                        .circumstances = now,
                        .discovered = {.metrics = std::move(just_run.unannounced_metrics),
                                       .is_shown = shows_unannounced}});
    results.findings = std::move(just_run.findings);
  }
  void_doubtful_verdicts(results.session, results.findings);

  results.benchmark = benchmark.name;
  results.presentation = benchmark.plan.presentation;
  results.is_inconclusive_ok = !call.options.gates.inconclusive_status;
  return results;
}

/// Makes the report of all benchmarks, in which every gate is decided.
Report make_report(Call& call) {
  const Circumstances now =
      call.reads_saved_sessions() ? Circumstances{} : make_circumstances(call);
  const TimerResolutions timers = read_timer_resolutions();

  std::vector<Results> all;
  all.reserve(call.benchmarks.size());
  for (Benchmark& benchmark : call.benchmarks)
    all.push_back(make_results(call, benchmark, timers, now));

  Recording& first = all.front().session;
  first.seconds_of_running_true = measure_start_if_runs_are_short(call, first);
  if (call.launcher) call.launcher->dismiss();  // early, so that it ends during the analysis

  // Without new gates, the gates of a saved session are already settled.
  if (call.is_suite() && call.benchmarks.front().plan.decisions_sharing_error_rate > 0) {
    std::vector<gate::Findings*> findings(all.size());
    std::ranges::transform(all, findings.begin(),
                           [](Results& results) { return &results.findings; });
    gate::fail_gates_by_error_rate(findings, 1.0 - first.confidence, call.gate_error_rate);
  }

  for (Results& results : all) analyse(results);
  return make_report(std::move(all), call.gate_error_rate);
}

/// Returns the exit status that the verdicts decide, unless a benchmark failed or was cut short.
int status_of(const Call& call, const Report& report) {
  int status = exit_status_of(report.verdicts(), call.options.gates.inconclusive_status);
  if (has_failed_throughout(report)) status = static_cast<int>(ExitStatus::Failed);
  for (const Benchmark& benchmark : call.benchmarks) {
    if (!benchmark.was_cut_short()) continue;
    status = exit_status_of(*benchmark.session_result.session.cut_short);
    if (status != static_cast<int>(ExitStatus::Failed)) return status;
  }
  return status;
}

/// Returns the advice for a benchmark of which no timed run has ended.
report::AdviceToEndRuns choose_advice_to_end_runs(const Benchmark& benchmark) {
  const RunOptions& run = benchmark.options.run;
  if (run.timeout || run.end_pattern) return report::AdviceToEndRuns::None;
  return why_no_until(benchmark.options, benchmark.plan) ? report::AdviceToEndRuns::Timeout
                                                         : report::AdviceToEndRuns::TimeoutOrUntil;
}

/// Says of each session that was cut short why it ended.
void say_endings(const Call& call, const Report& report) {
  const bool has_run = std::ranges::any_of(
      report.benchmarks, [](const Results& results) { return results.session.runs.size() > 0; });
  bool has_said_interrupt = false;
  for (const Benchmark& benchmark : call.benchmarks) {
    const Session& session = benchmark.session_result.session;
    if (!session.cut_short) continue;

    // An interrupt ends all benchmarks, but is said only once.
    const bool is_interrupted = std::holds_alternative<Interrupted>(*session.cut_short);
    if (is_interrupted && has_said_interrupt && session.later_failed_hooks.empty()) continue;
    if (is_interrupted) has_said_interrupt = true;

    const std::string subject = benchmark.name.empty() ? "" : benchmark.name + ": ";
    std::vector<std::string> names;
    for (const Command& command : benchmark.plan.commands) names.push_back(subject + command.name);
    if (const auto* failed = std::get_if<RunFailed>(&*session.cut_short))
      names[failed->step.command] = subject + name_in_layout(benchmark.plan, failed->step);

    const report::AdviceToEndRuns advice =
        has_run ? report::AdviceToEndRuns::None : choose_advice_to_end_runs(benchmark);
    print_to_standard_error(report::early_end_lines(session, names, advice,
                                                    os::terminal_width(StandardStream::Error, 0)));
  }
}

/// True if something is piped into lauka that no command gets.
bool ignores_input(const Call& call) {
  const bool has_own = std::ranges::any_of(call.benchmarks, [](const Benchmark& benchmark) {
    return !benchmark.options.commands.inputs.empty();
  });
  return !call.reads_saved_sessions() && !has_own && os::has_waiting_input();
}

void say_how_to_resume(const Call& call) {
  const bool is_interrupted = std::ranges::any_of(call.benchmarks, [](const Benchmark& benchmark) {
    const auto& end = benchmark.session_result.session.cut_short;
    return end && std::holds_alternative<Interrupted>(*end);
  });
  if (call.is_suite() && is_interrupted && call.log)
    say_notes(call, {"add --resume to continue from here"});
}

/// Makes, shows and exports the report. Returns the exit status, and clears `is_exported` if an
/// export failed.
int show_and_export(Call& call, bool& is_exported) {
  const os::ActAs owner(call.user);
  if (owner.error()) return refuse(*owner.error(), ExitStatus::Failed);

  Report report = make_report(call);
  const bool is_cut_short = std::ranges::any_of(call.benchmarks, &Benchmark::was_cut_short);
  const int decided_status = leave_series(call, report, status_of(call, report));
  const DeliveryResult done = show_and_write_exports(call, report);
  if (!done.is_exported) is_exported = false;

  // What is in the file of a series holds, even if nothing can be shown or exported.
  const auto& series = report.benchmarks.front().session.series;
  const bool is_decision_in_file = series && series->decision.has_value();
  const bool keeps_status = is_cut_short || is_decision_in_file;
  int status = decided_status;
  if (!keeps_status) status = done.status_of_failure.value_or(decided_status);

  say_endings(call, report);
  if (ignores_input(call))
    say_notes(call, {"the commands do not get what you pipe into lauka; save it in a file, "
                     "and add --input FILE"});
  for (const std::string& line : report::all_runs_failed_lines(report))
    print_to_standard_error(
        report::wrapped_message(line, os::terminal_width(StandardStream::Error, 0)));
  return status;
}

}  // namespace

Results analyse_session(Call& call) {
  Results results = make_results(call, call.benchmarks.front(), read_timer_resolutions(), {});
  analyse(results);
  return results;
}

bool describes_session(const OutputOptions& options) {
  return std::ranges::any_of(options.exports, [](const ExportTarget& target) {
    return target.kind == ExportKind::Json || target.kind == ExportKind::Html;
  });
}

void print_to_standard_error(const std::string& text) {
  static_cast<void>(
      os::write_to(StandardStream::Error, os::locale_uses_utf8() ? text : report::to_ascii(text)));
}

int refuse(const Error& error, ExitStatus status) {
  print_to_standard_error(
      report::wrapped_message(error.line(), os::terminal_width(StandardStream::Error, 0)));
  return static_cast<int>(status);
}

StandardStream shown_on(const OutputOptions& options) {
  const bool taken = std::ranges::any_of(options.exports, [](const ExportTarget& target) {
    return os::is_standard_output(target.file);
  });
  return taken ? StandardStream::Error : StandardStream::Output;
}

void say_notes(const Call& call, const std::vector<std::string>& notes) {
  if (call.options.output.verbosity == Verbosity::Quiet) return;
  print_to_standard_error(report::note_lines(notes, os::terminal_width(StandardStream::Error, 0)));
}

int deliver(Call& call) {
  bool is_exported = true;
  const int status = show_and_export(call, is_exported);
  end_log(call, is_exported);
  say_how_to_resume(call);
  return status;
}

}  // namespace lauka
