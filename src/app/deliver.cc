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
  const StandardStream stream = choose_stream_for_tables(options);
  const bool has_color = options.color == ColorChoice::Always ||
                         (options.color == ColorChoice::Auto && os::wants_color(stream));
  return {.color = has_color,
          .width = os::terminal_width(stream, 0),
          .verbose = options.verbosity == Verbosity::Verbose,
          .shows_histograms = options.shows_histogram,
          .ascii = !os::locale_uses_utf8(),
          .shows_marks_as_words = options.presentation.marks == MarksChoice::Text};
}

/// Decides whether to tell that there are no hardware counters: always with --verbose or a request
/// for counts, and otherwise at most once per user, on a terminal. Creates a file in lauka's state
/// folder to remember this.
bool decide_to_show_lack_of_counters(const Options& options) {
  return !options.counting.events.empty() || options.counting.engine != EngineChoice::Auto ||
         options.output.verbosity == Verbosity::Verbose ||
         (options.output.verbosity == Verbosity::Normal && os::is_terminal(StandardStream::Error) &&
          os::create_mark_once("no-counters"));
}

bool has_note(const Report& answer, std::string_view kind) {
  return std::ranges::any_of(answer.benchmarks, [kind](const Results& results) {
    return std::ranges::any_of(results.session.notes,
                               [kind](const Note& note) { return note.kind == kind; });
  });
}

/// Returns the kind of notes that are not shown; nullopt if all are shown. A user whose machine has
/// no hardware counters need not be told so in each session.
std::optional<std::string_view> choose_hidden_notes(const Options& options, const Report& answer) {
  if (has_note(answer, kNoCountersNote) && !decide_to_show_lack_of_counters(options))
    return kNoCountersNote;
  return std::nullopt;
}

std::string write_warnings(const Report& answer, const report::Style& style, std::size_t width) {
  std::string warnings;
  for (const std::string& warning : report::screen_warnings(answer, style))
    warnings += report::wrapped_message(warning, width);
  return warnings;
}

/// Shows the tables and verdicts, and then the notes and warnings about them. With --quiet, shows
/// only the verdicts.
Result<void> show_tables(const Options& options, const Report& answer) {
  const bool is_quiet = options.output.verbosity == Verbosity::Quiet;
  const report::Style style = choose_style(options.output);
  const report::ScreenSections text = report::screen_sections(
      answer, style, is_quiet ? report::ScreenContent::VerdictsOnly : report::ScreenContent::All);

  const std::vector<std::string> notes =
      report::note_texts(answer, choose_hidden_notes(options, answer));

  // Without a terminal, the width is 0, and messages are not wrapped.
  const std::size_t width = os::terminal_width(StandardStream::Error, 0);
  const std::string warnings = write_warnings(answer, style, width);

  // The answer comes before what qualifies it. Only a failure to show the answer is an error.
  auto shown = os::write_to(choose_stream_for_tables(options.output), text.tables + text.verdicts);
  if (!is_quiet) print_to_standard_error(report::note_lines(notes, width));
  if (!is_quiet && !warnings.empty()) print_to_standard_error(warnings);
  return shown;
}

/// What failed while a report was shown and exported.
struct DeliveryFailures {
  std::optional<int> exit_status{};  ///< nullopt if nothing failed
  bool has_failed_export = false;
};

/// Writes the report to an export. All errors of writing are returned here.
Result<void> write_export(const Report& report, const os::OpenExport& open_export) {
  const auto write = [&](std::string_view bytes) { open_export.file->write(bytes); };
  const ExportTarget& target = open_export.target;

  // A file of folded stacks is about one command, which its target names.
  if (target.kind == ExportKind::Folded)
    report::write_folded(report, target, write);
  else
    exporter_of(target.kind)(report, write);
  return open_export.file->commit();
}

/// Shows the report, and writes it to all exports. A failure is printed and does not prevent the
/// next export, so that the user loses as little as possible.
DeliveryFailures show_and_write_exports(Call& call, const Report& report) {
  DeliveryFailures failures;
  const auto print_failure = [&](const Error& error) {
    failures.exit_status = print_error(error, ExitStatus::Failed);
  };

  if (const auto shown = show_tables(call.options, report); !shown) print_failure(shown.error());

  for (const os::OpenExport& open_export : call.exports) {
    if (const auto written = write_export(report, open_export); !written) {
      failures.has_failed_export = true;
      print_failure(written.error());
    }
  }
  return failures;
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
  const bool is_needed = exports_or_has_baseline(call);
  const bool is_described = exports_whole_session(call.options.output);
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

/// True if a warning about short runs would be shown. It is for a plain session that was just
/// measured, and has one benchmark.
bool may_warn_of_short_runs(const Call& call, const Recording& session) {
  const bool was_measured =
      !call.reads_saved_sessions() && !call.benchmarks.front().was_cut_short();
  const bool is_quiet = call.options.output.verbosity == Verbosity::Quiet;
  const bool has_shell = !session.shell.empty();  // whose start was measured in another way
  return was_measured && !is_quiet && !call.is_suite() && !has_shell;
}

/// True if a command's runs are so short that their wall time is mostly the start of a process, and
/// measuring this start is worth its time.
bool is_start_worth_measuring(const Recording& session, std::size_t wall_time) {
  bool has_short_command = false;
  for (std::size_t c = 0; c < session.commands.size(); ++c) {
    const auto [mean, runs] = find_mean_wall_time(session, wall_time, c);

    // It is not worth its time if the session itself took hardly longer.
    constexpr double min_seconds_of_first_command = 0.1;
    const double seconds_of_command = mean * static_cast<double>(runs);
    if (c == 0 && seconds_of_command < min_seconds_of_first_command) return false;

    const bool is_short = mean > 0.0 && mean < report::kShortRunSeconds;  // 0: no wall time
    has_short_command = has_short_command || is_short;
  }
  return has_short_command;
}

/// Measures how long an empty process takes, for a warning that short runs consist mostly of the
/// start of their process. Returns nullopt if no command is so short, or if nothing would be shown.
std::optional<double> measure_start_if_runs_are_short(const Call& call, const Recording& session) {
  if (!may_warn_of_short_runs(call, session)) return std::nullopt;
  const auto wall_time = find_metric(session.metrics, Role::WallTime);
  const bool shows_wall_time = wall_time && session.metrics[*wall_time].shown == Shown::Always;
  if (!shows_wall_time || !is_start_worth_measuring(session, *wall_time)) return std::nullopt;
  return measure_process_start(call.benchmarks.front().plan, *call.launcher, call.user,
                               os::first_interrupt_signal);
}

TimerResolutions read_timer_resolutions() {
  return {os::MonotonicClock().resolution(), os::scheduler_tick()};
}

/// Moves the session that was measured just now out of the benchmark.
Recording take_measured_session(Benchmark& benchmark, const TimerResolutions& timers,
                                const Circumstances& circumstances) {
  // Commands may report metrics that the plan did not announce. They are shown unless the command
  // line lists the metrics to show.
  SessionResult& just_run = benchmark.session_result;
  const bool shows_unannounced =
      benchmark.options.counting.metric_selection != MetricSelection::Listed;
  return make_recording(benchmark.plan, std::move(just_run.session),
                        {.timers = timers,
                         .circumstances = circumstances,
                         .discovered = {.metrics = std::move(just_run.unannounced_metrics),
                                        .is_shown = shows_unannounced}});
}

/// Moves the session of a benchmark, which was measured just now or read from files, into results,
/// which still have to be analysed. `timers` and `circumstances` are those of a session that was
/// measured just now.
Results take_results(const Call& call, Benchmark& benchmark, const TimerResolutions& timers,
                     const Circumstances& circumstances) {
  Results results;
  if (call.reads_saved_sessions()) {
    // Several files with --from are shown as one session.
    results.session = join(benchmark.saved_recordings, benchmark.plan);
    results.findings = judge_saved(benchmark, results.session);
  } else {
    results.session = take_measured_session(benchmark, timers, circumstances);
    results.findings = std::move(benchmark.session_result.findings);
  }

  // A verdict becomes inconclusive if the runs did not measure what its gate is about.
  void_doubtful_verdicts(results.session, results.findings);

  results.benchmark = benchmark.name;
  results.presentation = benchmark.plan.presentation;
  results.is_inconclusive_ok = !call.options.gates.inconclusive_status.has_value();
  return results;
}

/// Takes the results of all benchmarks, which still have to be analysed.
std::vector<Results> take_results_of_all(Call& call) {
  // A saved session has its own circumstances.
  const Circumstances circumstances =
      call.reads_saved_sessions() ? Circumstances{} : make_circumstances(call);
  const TimerResolutions timers = read_timer_resolutions();

  std::vector<Results> benchmarks;
  benchmarks.reserve(call.benchmarks.size());
  for (Benchmark& benchmark : call.benchmarks)
    benchmarks.push_back(take_results(call, benchmark, timers, circumstances));
  return benchmarks;
}

/// Decides which gates of a suite fail. They share one error rate, so whether one fails can depend
/// on all the others.
void fail_gates_of_suite(gate::ErrorRate kind_of_rate, std::vector<Results>& benchmarks) {
  std::vector<gate::Findings*> findings(benchmarks.size());
  std::ranges::transform(benchmarks, findings.begin(),
                         [](Results& results) { return &results.findings; });
  const double error_rate = 1.0 - benchmarks.front().session.confidence;
  gate::fail_gates_by_error_rate(findings, error_rate, kind_of_rate);
}

/// Takes the results of all benchmarks, decides their gates and analyses them.
Report take_analysed_report(Call& call) {
  std::vector<Results> benchmarks = take_results_of_all(call);

  // This is for sessions of a single benchmark only.
  Recording& first_session = benchmarks.front().session;
  first_session.seconds_of_running_true = measure_start_if_runs_are_short(call, first_session);
  if (call.launcher) call.launcher->dismiss();  // early, so that it ends during the analysis

  // The verdicts of a saved suite were decided before, unless it is given new gates.
  const bool has_gates_to_decide = call.benchmarks.front().plan.decisions_sharing_error_rate > 0;
  if (call.is_suite() && has_gates_to_decide) fail_gates_of_suite(call.gate_error_rate, benchmarks);

  for (Results& results : benchmarks) analyse(results);
  return make_report(std::move(benchmarks), call.gate_error_rate);
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

/// Returns the names of a benchmark's commands for messages. That of a failed command has the
/// layout in which it failed.
std::vector<std::string> list_names_for_messages(const Benchmark& benchmark,
                                                 const EarlyEnd& why_ended) {
  const std::string prefix = benchmark.name.empty() ? "" : benchmark.name + ": ";
  std::vector<std::string> names;
  for (const Command& command : benchmark.plan.commands) names.push_back(prefix + command.name);
  if (const auto* failed = std::get_if<RunFailed>(&why_ended))
    names[failed->step.command] = prefix + name_in_layout(benchmark.plan, failed->step);
  return names;
}

bool has_any_run(const Report& report) {
  return std::ranges::any_of(
      report.benchmarks, [](const Results& results) { return results.session.runs.size() > 0; });
}

/// Prints why the session of a benchmark was cut short.
void say_ending(const Benchmark& benchmark, report::AdviceToEndRuns advice) {
  const Session& session = benchmark.session_result.session;
  print_to_standard_error(
      report::early_end_lines(session, list_names_for_messages(benchmark, *session.cut_short),
                              advice, os::terminal_width(StandardStream::Error, 0)));
}

/// Prints for each session that was cut short why it ended.
void say_endings(const Call& call, const Report& report) {
  const bool has_run = has_any_run(report);
  bool has_said_interrupt = false;
  for (const Benchmark& benchmark : call.benchmarks) {
    const Session& session = benchmark.session_result.session;
    if (!session.cut_short) continue;

    // An interrupt ends all benchmarks, but is said only once. Hooks that failed after it are
    // always said.
    const bool was_interrupted = std::holds_alternative<Interrupted>(*session.cut_short);
    const bool says_nothing_new = has_said_interrupt && session.later_failed_hooks.empty();
    if (was_interrupted && says_nothing_new) continue;
    if (was_interrupted) has_said_interrupt = true;

    // If not even one run has ended, the command may be one that never ends by itself.
    say_ending(benchmark,
               has_run ? report::AdviceToEndRuns::None : choose_advice_to_end_runs(benchmark));
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

/// True if lauka's exit status tells more than that the report could not be shown or exported: why
/// the session was cut short, or how the candidate of a series was decided, which is already in the
/// series' file.
bool does_status_tell_more_than_failures(const Call& call, const Report& report) {
  const auto& series = report.benchmarks.front().session.series;
  const bool is_decision_in_file = series && series->decision.has_value();
  return is_decision_in_file || std::ranges::any_of(call.benchmarks, &Benchmark::was_cut_short);
}

/// Prints why sessions ended early, and what may have gone wrong with the commands.
void say_what_went_wrong(const Call& call, const Report& report) {
  say_endings(call, report);
  if (ignores_input(call))
    say_notes(call, {"the commands do not get what you pipe into lauka; save it in a file, "
                     "and add --input FILE"});
  for (const std::string& line : report::all_runs_failed_lines(report))
    print_to_standard_error(
        report::wrapped_message(line, os::terminal_width(StandardStream::Error, 0)));
}

struct Delivery {
  int exit_status = 0;  ///< of lauka
  bool has_failed_export = false;
};

/// Makes, shows and exports the report, with the rights of the user who called sudo, if any.
Delivery make_and_deliver_report(Call& call) {
  const os::ActAs user(call.user);
  if (user.error()) return {.exit_status = print_error(*user.error(), ExitStatus::Failed)};

  Report report = take_analysed_report(call);
  const int status_of_results = record_in_series(call, report, status_of(call, report));
  const DeliveryFailures failures = show_and_write_exports(call, report);

  int exit_status = status_of_results;
  if (failures.exit_status && !does_status_tell_more_than_failures(call, report))
    exit_status = *failures.exit_status;

  say_what_went_wrong(call, report);
  return {.exit_status = exit_status, .has_failed_export = failures.has_failed_export};
}

}  // namespace

Results analyse_session(Call& call) {
  Results results = take_results(call, call.benchmarks.front(), read_timer_resolutions(), {});
  analyse(results);
  return results;
}

bool exports_whole_session(const OutputOptions& options) {
  return std::ranges::any_of(options.exports, [](const ExportTarget& target) {
    return target.kind == ExportKind::Json || target.kind == ExportKind::Html;
  });
}

void print_to_standard_error(const std::string& text) {
  static_cast<void>(
      os::write_to(StandardStream::Error, os::locale_uses_utf8() ? text : report::to_ascii(text)));
}

int print_error(const Error& error, ExitStatus status) {
  print_to_standard_error(
      report::wrapped_message(error.line(), os::terminal_width(StandardStream::Error, 0)));
  return static_cast<int>(status);
}

StandardStream choose_stream_for_tables(const OutputOptions& options) {
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
  const Delivery delivery = make_and_deliver_report(call);
  end_log(call, !delivery.has_failed_export);
  say_how_to_resume(call);
  return delivery.exit_status;
}

}  // namespace lauka
