#include "app/inquiries.h"

#include "app/call.h"
#include "app/deliver.h"
#include "app/prepare.h"
#include "app/series_entry.h"
#include "app/tuning.h"
#include "cli/describe.h"
#include "cores/threads.h"
#include "engine/profile/profile_engine.h"
#include "format/series_file.h"
#include "inquire/check.h"
#include "inquire/lists.h"
#include "inquire/series_answer.h"
#include "os/clock.h"
#include "os/control_groups.h"
#include "os/darwin_calls.h"
#include "os/export_files.h"
#include "os/linux_calls.h"
#include "os/signals.h"
#include "os/this_machine.h"
#include "os/users.h"
#include "plan/make_plan.h"
#include "report/screen.h"

#include <utility>

namespace lauka {
namespace {

using os::StandardStream;

int status_of(const Result<void>& said) {
  return said ? static_cast<int>(ExitStatus::Done) : print_error(said.error(), ExitStatus::Failed);
}

std::optional<int> find_engine(Call& call) {
  Benchmark& benchmark = call.benchmarks.front();
  if (const auto status = status_if_failed(decide_cores(call, benchmark))) return status;
  if (const auto status = status_if_failed(find_user(call))) return status;
  os::watch_for_interrupts();
  return status_if_failed(choose_engine(call, benchmark));
}

int list_events(Call& call) {
  if (const auto status = find_engine(call)) return *status;
  const engine::ChosenEngine& chosen = call.benchmarks.front().chosen;
  std::optional<std::string> note = chosen.note;
  if (const auto defaults = chosen.engine->select({}); !note && defaults && defaults->why_empty)
    note = "no hardware events can be listed: " + defaults->why_empty->line();
  if (note) print_to_standard_error(report::note_lines({*note}));
  return show(inquire::list_events(chosen.engine->catalog(), call.options.inquiry->filter_or_topic,
                                   os::terminal_width(StandardStream::Output, 0)));
}

int list_metrics(Call& call) {
  if (const auto status = find_engine(call)) return *status;
  Benchmark& benchmark = call.benchmarks.front();
  const auto can_count = [&](const std::vector<std::string>& events) {
    return benchmark.chosen.engine->select({events, false}).has_value();
  };
  const auto files = os::open_setting_files();
  const bool has_tree_peak = os::open_memory_groups(files.get()).has_value();
  return show(inquire::list_metrics(
      inquire::list_available_metrics(can_count, has_tree_peak, benchmark.cores.core_plan),
      os::terminal_width(StandardStream::Output, 0)));
}

int show_help(const std::string& topic) {
  if (topic.empty()) return show(cli::help(os::darwin_calls() != nullptr));
  const auto text = cli::help_on(topic);
  return text ? show(*text) : print_error(text.error(), ExitStatus::Usage);
}

int explain_events(Call& call) {
  if (const auto status = find_engine(call)) return *status;
  engine::CounterEngine& engine = *call.benchmarks.front().chosen.engine;
  std::vector<std::string> names = call.options.counting.events;
  if (call.options.counting.adds_default_events) {
    const auto defaults = engine.select({});
    if (!defaults) return print_error(defaults.error(), ExitStatus::Usage);
    names = append_to_default_events(*defaults, names);
  }
  const auto explanation = engine.explain({std::move(names)});
  if (!explanation) return print_error(explanation.error(), ExitStatus::Usage);
  return show(inquire::explain_events(*explanation));
}

/// Returns how to watch threads as the user asks for. `clock` must outlive the result.
inquire::ThreadWatch make_watch(const Inquiry& wanted, const os::Clock& clock) {
  // The watch gets its clock and all other effects as functions, so that tests can replace them.
  return {
      .interval = *wanted.output_interval,
      .max_duration = wanted.measuring_time,
      .utc_minus_now = os::utc_minus_monotonic(),
      .now = [&clock] { return clock.now(); },
      .wait = os::sleep_for,
      .must_stop = [] { return os::first_interrupt_signal() != 0; },
      .write = [](std::string_view text) { return os::write_to(StandardStream::Output, text); }};
}

/// Returns the exit status after the lines about threads were written.
int status_of_watch(const Result<void>& written) {
  // A script must see that the user interrupted lauka.
  if (const int signal = os::first_interrupt_signal(); signal != 0) return status_of_signal(signal);

  // A reader that has had enough, such as head, is no reason to fail.
  if (!os::has_reader(StandardStream::Output)) return static_cast<int>(ExitStatus::Done);
  return status_of(written);
}

/// After each interval, prints a line of JSON about each thread of some processes. Ends with the
/// last process, after the time that the user gave, when interrupted, or when nobody reads the
/// lines.
int print_thread_times_continuously(Call& call) {
  const Inquiry& wanted = *call.options.inquiry;
  // An inquiry has one benchmark, for which the kinds of cores were found.
  const CoreKinds& core_kinds = call.benchmarks.front().cores.session_kinds;

  // The calls of the other operating system are null.
  const auto stream =
      cores::stream_threads(wanted.processes, core_kinds, os::linux_calls(), os::darwin_calls());
  if (!stream) return print_error(stream.error(), ExitStatus::Failed);

  const os::MonotonicClock clock;
  const auto written = inquire::watch_threads(**stream, make_watch(wanted, clock));
  print_to_standard_error(report::note_lines((*stream)->notes()));

  return status_of_watch(written);
}

/// Watches the threads of a process for some time, and shows a table of them.
int show_table_of_threads(const Call& call) {
  const Inquiry& wanted = *call.options.inquiry;
  const auto threads = cores::sample_threads({.process = wanted.processes.front(),
                                              .during = wanted.measuring_time,
                                              .kinds = call.benchmarks.front().cores.session_kinds,
                                              .wait = os::sleep_for},
                                             os::linux_calls(), os::darwin_calls());
  if (!threads) return print_error(threads.error(), ExitStatus::Failed);
  print_to_standard_error(report::note_lines(threads->notes));
  const int status = show(inquire::threads_table(*threads));
  const int signal = os::first_interrupt_signal();
  return status == static_cast<int>(ExitStatus::Done) && signal != 0 ? status_of_signal(signal)
                                                                     : status;
}

int show_threads(Call& call) {
  if (const auto status = status_if_failed(decide_cores(call, call.benchmarks.front())))
    return *status;
  os::watch_for_interrupts();
  return call.options.inquiry->output_interval ? print_thread_times_continuously(call)
                                               : show_table_of_threads(call);
}

/// Opens the JSON export of an answer; null without one. Other exports were refused. An answer is
/// exported with the rights of Call::user.
Result<std::unique_ptr<os::ExportFile>> open_answer(const Call& call) {
  const auto& exports = call.options.output.exports;
  if (exports.empty()) return std::unique_ptr<os::ExportFile>();
  const os::ActAs owner(call.user);
  if (owner.error()) return *owner.error();
  return os::ExportFile::open(exports.front().file);
}

/// Shows and exports an answer. `file`: from open_answer().
Result<void> show_and_export_answer(const Call& call, const std::string& text,
                                    const std::string& json, os::ExportFile* file) {
  Result<void> shown;
  if (call.options.output.verbosity != Verbosity::Quiet)
    shown = os::write_to(choose_stream_for_tables(call.options.output), text);
  if (file == nullptr) return shown;

  const os::ActAs owner(call.user);
  if (owner.error()) return *owner.error();
  file->write(json);
  const auto written = file->commit();
  return shown ? written : shown;
}

/// Returns the facts about this machine for --check. Those that need engines, kinds of cores or
/// settings are added to those of the operating system.
MachineFacts read_facts(const Call& call) {
  MachineFacts facts = os::machine_facts();
  const auto setting_files = os::open_setting_files();
  const auto memory_groups = os::open_memory_groups(setting_files.get());
  // An empty error says that the memory of process trees can be measured.
  facts.why_no_tree_peak = memory_groups ? Error{} : memory_groups.error();

  if (const os::LinuxCalls* linux_calls = os::linux_calls()) {
    facts.profile_source =
        engine::find_profile_clock(call.options.counting.counts_user_space_only, linux_calls);
    for (const CoreKind& kind : cores::detect_linux_kinds(*linux_calls).kinds)
      facts.core_kinds.push_back({kind.name, kind.cpus.size()});
  }
  facts.helpful_switches = tunable_settings();
  return facts;
}

/// Shows and exports the answer to --check. `file`: from open_answer(). Returns the exit status.
int show_check(const Call& call, const MachineFacts& facts, const std::vector<EngineFacts>& engines,
               os::ExportFile* file) {
  const auto lines = inquire::check(facts, engines);
  const std::size_t width = os::terminal_width(choose_stream_for_tables(call.options.output), 0);
  return status_of(show_and_export_answer(call, inquire::check_text(facts, lines, width),
                                          inquire::check_json(facts, engines, lines), file));
}

/// Prepares --check, which must not find settings that a killed lauka left tuned. Returns an exit
/// status if the call must end.
std::optional<int> begin_check(Call& call) {
  if (const auto status = status_if_failed(start_launcher(call), ExitStatus::Failed)) return status;
  if (const auto status = status_if_failed(find_user(call))) return status;
  restore_leftovers(call);
  os::watch_for_interrupts();
  return std::nullopt;
}

/// Answers --check: what can be counted on this machine, and what measurements would suffer from.
int check_machine(Call& call) {
  if (const auto status = begin_check(call)) return *status;

  // The export is opened before the checks, so that an unusable path is refused at once.
  const auto export_file = open_answer(call);
  if (!export_file) return print_error(export_file.error(), ExitStatus::Usage);

  // Engines count events by the kernel's or the processor's interfaces. They are tried before the
  // other checks, because they reset what a killed lauka has left.
  const auto engines = engine::try_engines(call.options.counting.counts_user_space_only,
                                           os::linux_calls(), {.launcher = call.launcher.get()});
  const MachineFacts facts = read_facts(call);

  // An interrupted check is not shown, because its facts may be wrong.
  if (const int signal = os::first_interrupt_signal(); signal != 0) return status_of_signal(signal);

  return show_check(call, facts, engines, export_file->get());
}

int show_series(Call& call) {
  if (const auto status = status_if_failed(find_user(call))) return *status;
  const auto file = open_answer(call);
  if (!file) return print_error(file.error(), ExitStatus::Usage);

  const std::string& path = *call.options.gates.series_file;
  const auto series = read_series_of(call);
  if (!series) return print_error(series.error(), ExitStatus::Usage);

  const std::size_t width = os::terminal_width(choose_stream_for_tables(call.options.output), 0);
  return status_of(show_and_export_answer(call, inquire::series_text(*series, path, width),
                                          series_state_json(*series, path), file->get()));
}

/// Prints the answer to an inquiry, such as --help. Returns lauka's exit status.
int answer(Call& call) {
  switch (call.options.inquiry->kind) {
    case InquiryKind::Help:
      return show_help(call.options.inquiry->filter_or_topic);
    case InquiryKind::BriefHelp:
      return show(cli::brief_help());
    case InquiryKind::Version:
      return show("lauka " + std::string(cli::version()) + "\n");

    case InquiryKind::Threads:
      return show_threads(call);
    case InquiryKind::Check:
      return check_machine(call);
    case InquiryKind::SeriesState:
      return show_series(call);

    case InquiryKind::TuneList:
      return list_tuning(call);
    case InquiryKind::Untune:
      return untune(call);

    case InquiryKind::ListMetrics:
      return list_metrics(call);
    case InquiryKind::ListEvents:
      return list_events(call);
    case InquiryKind::ExplainEvents:
      break;  // answered below, so that the function ends with a return
  }
  return explain_events(call);
}

}  // namespace

int show(const std::string& text) {
  return status_of(os::write_to(StandardStream::Output, text));
}

int answer_inquiry(Call& call) {
  // The functions that choose cores and engines need a benchmark, so the inquiry gets one.
  call.benchmarks.push_back({.options = call.options});

  // The user may have forgotten to quote a command, so that lauka took its options for its own.
  const auto& unquoted = call.options.commands.unquoted_command;
  if (unquoted && !unquoted->note.empty()) say_notes(call, {unquoted->note});

  return answer(call);
}

}  // namespace lauka
