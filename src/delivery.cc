#include "cli/describe.h"
#include "core/foreign_text.h"
#include "invocation.h"
#include "os/clock.h"
#include "os/machine.h"
#include "os/terminal.h"
#include "os/users.h"
#include "report/exports.h"
#include "report/lines.h"
#include "report/screen.h"
#include "report/suite.h"
#include "report/warnings.h"
#include "report/width.h"
#include "results/analyse.h"
#include "results/joined.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace lauka {
namespace {

using os::Stream;

bool wants_color(ColorChoice choice, Stream stream) {
  return choice == ColorChoice::Always || (choice == ColorChoice::Auto && os::wants_color(stream));
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const Command& command : plan.commands) names.push_back(command.name);
  return names;
}

report::Style style_of(const Options& options) {
  const Stream stream = shown_on(options);
  return {wants_color(options.color, stream), os::terminal_width(stream, 0),
          options.verbosity == Verbosity::Verbose, options.histogram, !os::speaks_utf8()};
}

/// What is shown, and what stands around it on standard error.
struct Shown {
  std::string text;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;
};

/// Shows what there is, and below it what weakens it; an error where it cannot be written.
Result<void> show(const Options& options, const Shown& what) {
  const bool quiet = options.verbosity == Verbosity::Quiet;
  const std::size_t width = os::terminal_width(Stream::Error, 0);
  if (!quiet) say_on_error(report::note_lines(what.notes, width));
  auto shown = os::say(shown_on(options), what.text);
  std::string warnings;
  for (const std::string& warning : what.warnings)
    warnings += report::wrapped_message("warning: " + warning, width);
  if (!quiet && !warnings.empty()) say_on_error(warnings);
  return shown;
}

Shown shown_of(const Options& options, const Report& report) {
  const report::Style style = style_of(options);
  return {report::screen(report, style, options.verbosity == Verbosity::Quiet),
          report::notes_of(report), report::warning_texts(report, style)};
}

}  // namespace

bool tells_of_session(const Options& options) {
  return std::any_of(options.exports.begin(), options.exports.end(), [](const ExportTarget& one) {
    return one.kind == ExportKind::Json || one.kind == ExportKind::Html;
  });
}

void say_on_error(const std::string& text) {
  static_cast<void>(os::say(Stream::Error, os::speaks_utf8() ? text : report::ascii_of(text)));
}

int refuse(const Error& error, ExitStatus status) {
  say_on_error(report::wrapped_message(error.line(), os::terminal_width(Stream::Error, 0)));
  return static_cast<int>(status);
}

Stream shown_on(const Options& options) {
  const bool taken = std::any_of(options.exports.begin(), options.exports.end(),
                                 [](const ExportTarget& one) { return one.file == "-"; });
  return taken ? Stream::Error : Stream::Output;
}

void tell_before(const Options& options, const Plan& plan) {
  if (options.verbosity == Verbosity::Quiet) return;
  say_on_error(report::note_lines(plan.hints, os::terminal_width(Stream::Error, 0)));
}

int put_out(Invocation& call, const Report& report, int status, bool keeps_status) {
  const auto say_why = [&](const Error& error) {
    const int failed = refuse(error, ExitStatus::Failed);
    if (!keeps_status) status = failed;
  };
  if (const auto said = show(call.options, shown_of(call.options, report)); !said)
    say_why(said.error());
  for (const os::OpenExport& one : call.exports) {
    report::exporter_of(one.kind)(report, [&](std::string_view bytes) { one.file->write(bytes); });
    if (const auto written = one.file->commit(); !written) {
      call.has_lost_export = true;
      say_why(written.error());
    }
  }
  return status;
}

namespace {

/// What was decided about the only one of the saved sessions while it went on, where that still
/// holds: compared with the same, with the same confidence.
gate::Findings findings_of_saved(const Invocation& call, const Recording& joined,
                                 std::size_t gates_of_job) {
  if (!call.options.gates.empty()) return judge(joined, call.plan.gates, gates_of_job);
  const Recording& first = call.saved.front();
  const bool is_same = call.saved.size() == 1 && !call.options.baseline &&
                       call.options.from_reference.empty() && joined.confidence == first.confidence;
  return is_same ? moved(call.found, first.metrics, joined.metrics) : gate::Findings{};
}

}  // namespace

Circumstances circumstances_of(const Invocation& call, TimeOfDay began) {
  // To know the machine's class takes a look at many files.
  const Machine machine =
      tells_of_session(call.options) ? os::this_machine_whole() : os::this_machine();
  return {std::string(cli::version()), began,      machine, os::time_of_day(),
          os::new_session_id(),        call.labels};
}

int deliver(Invocation& call, const SessionResult& measured, TimeOfDay began) {
  const os::ActAs owner(call.user);
  if (!owner.error().empty()) return refuse({owner.error(), ""}, ExitStatus::Failed);
  const Session& session = measured.session;
  const Results results = analyse(call.plan, session, measured.findings,
                                  {os::MonotonicClock().resolution(), os::scheduler_tick()},
                                  circumstances_of(call, began));
  const int status =
      put_out(call, {{results}},
              exit_status_of(session, results.verdicts, call.options.fail_if_inconclusive),
              session.cut_short.has_value());
  if (session.cut_short) {
    say_on_error(
        report::ending_lines(session, names_of(call.plan), os::terminal_width(Stream::Error, 0)));
  }
  return status;
}

Results results_of_saved(Invocation& call, std::size_t gates_of_job) {
  Recording joined = join(call.saved, call.plan);
  gate::Findings findings = findings_of_saved(call, joined, gates_of_job);
  Results results = analyse(std::move(joined), std::move(findings));
  results.presentation = call.plan.presentation;
  return results;
}

int deliver_saved(Invocation& call) {
  if (!call.parts.empty()) return deliver_saved_suite(call);
  const os::ActAs owner(call.user);
  if (!owner.error().empty()) return refuse({owner.error(), ""}, ExitStatus::Failed);
  const Results results = results_of_saved(call, 0);
  return put_out(call, {{results}},
                 exit_status_of(results.verdicts, call.options.fail_if_inconclusive), false);
}

}  // namespace lauka
