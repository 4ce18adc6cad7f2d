#include "delivery.h"

#include "cli/version.h"
#include "core/words.h"
#include "cores/kinds.h"
#include "cores/threads.h"
#include "engine/choose.h"
#include "gate/verdict.h"
#include "inquire/check.h"
#include "inquire/threads.h"
#include "os/acting.h"
#include "os/clock.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"
#include "os/machine.h"
#include "os/probe.h"
#include "os/signals.h"
#include "os/terminal.h"
#include "plan/baseline.h"
#include "report/csv.h"
#include "report/ending.h"
#include "report/html.h"
#include "report/json.h"
#include "report/markdown.h"
#include "report/screen.h"
#include "report/warnings.h"
#include "results/analyse.h"
#include "results/baseline.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

namespace lauka {
namespace {

using os::Stream;

/// Where standard error cannot be written, there is nobody left to tell.
void say_on_error(const std::string& text) {
  static_cast<void>(os::say(Stream::Error, text));
}

bool wants_color(ColorChoice choice, Stream stream) {
  return choice == ColorChoice::Always || (choice == ColorChoice::Auto && os::wants_color(stream));
}

/// Where an export takes standard output, it stands there alone.
Stream stream_of(const Options& options) {
  const bool taken = std::any_of(options.exports.begin(), options.exports.end(),
                                 [](const ExportTarget& one) { return one.file == "-"; });
  return taken ? Stream::Error : Stream::Output;
}

/// What makes the bytes of an export, and whether of all runs rather than their summaries.
struct Exporter {
  std::string (*bytes_of)(const Results&);
  bool of_runs;
};

Exporter exporter_of(ExportKind kind) {
  switch (kind) {
    case ExportKind::Csv:
      return {&report::summary_csv, false};
    case ExportKind::Runs:
      return {&report::runs_csv, true};
    case ExportKind::Json:
      return {&report::results_json, true};
    case ExportKind::Markdown:
      return {&report::results_markdown, false};
    case ExportKind::Html:
      break;
  }
  return {&report::results_html, true};
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const Command& command : plan.commands) names.push_back(command.name);
  return names;
}

/// Shows what there is, and below it what weakens it; an error where it cannot be written.
Result<void> show(const Options& options, const Results& results) {
  const bool quiet = options.verbosity == Verbosity::Quiet;
  const Stream stream = stream_of(options);
  const report::Style style = {wants_color(options.color, stream), os::terminal_width(stream, 0),
                               options.verbosity == Verbosity::Verbose, options.histogram};
  if (!quiet) say_on_error(report::note_lines(results.notes));
  auto shown = os::say(stream, report::screen(results, style, quiet));
  if (!quiet) say_on_error(report::warning_lines(results, style));
  return shown;
}

ExitStatus status_of(const std::vector<gate::Verdict>& verdicts, bool fail_if_inconclusive) {
  const auto any = [&](gate::Answer answer) {
    return std::any_of(verdicts.begin(), verdicts.end(),
                       [&](const gate::Verdict& verdict) { return verdict.answer == answer; });
  };
  if (any(gate::Answer::Fail)) return ExitStatus::GateFailed;
  if (fail_if_inconclusive && any(gate::Answer::Inconclusive)) return ExitStatus::GateInconclusive;
  return ExitStatus::Done;
}

/// Refuses an --input or --output file that the commands could not open.
Result<void> check_files(const Plan& plan) {
  if (const auto* input = std::get_if<InputFile>(&plan.input)) {
    if (auto readable = os::check_input(input->path); !readable) return readable;
  }
  for (const Command& command : plan.commands) {
    if (command.output.kind != OutputKind::File) continue;
    if (auto writable = os::check_output(command.output.path); !writable) return writable;
  }
  return {};
}

}  // namespace

int refuse(const Error& error, ExitStatus status) {
  say_on_error("lauka: " + error.line() + "\n");
  return static_cast<int>(status);
}

Result<void> add_baseline(const Options& options, const std::optional<User>& user, Plan& plan) {
  if (!options.baseline) return {};
  const os::ActAs reader(user);
  if (!reader.error().empty()) return Error{reader.error(), "use --as-root to keep root"};
  constexpr std::size_t most_bytes = std::size_t{1} << 30U;
  const std::string subject = "the baseline " + cited(*options.baseline) + " ";
  const auto text = os::read_file(*options.baseline, most_bytes);
  if (!text) return Error{subject + text.error().what, text.error().remedy};
  auto baseline = read_baseline(*text);
  if (!baseline) return Error{subject + baseline.error().what, baseline.error().remedy};
  baseline->file = *options.baseline;
  return use_baseline(plan, *std::move(baseline));
}

int deliver_threads(const ShowThreads& wanted, const CoreKinds& kinds) {
  os::watch_for_interrupts();
  const auto threads = cores::threads_of({wanted.process, wanted.during}, kinds, os::sleep_for,
                                         os::linux_calls(), os::darwin_calls());
  if (!threads) return refuse(threads.error(), ExitStatus::Failed);
  say_on_error(report::note_lines(threads->notes));
  const auto said = os::say(Stream::Output, inquire::threads_table(*threads));
  if (!said) return refuse(said.error(), ExitStatus::Failed);
  const int signal = os::interrupt();
  return signal == 0 ? static_cast<int>(ExitStatus::Done) : status_of_signal(signal);
}

Result<std::vector<Export>> open_exports(const Options& options, const Plan& plan,
                                         const std::optional<User>& user) {
  const os::ActAs owner(user);
  if (!owner.error().empty()) return Error{owner.error(), "use --as-root to keep root"};
  if (const auto usable = check_files(plan); !usable) return usable.error();
  std::vector<Export> exports;
  std::vector<std::string> taken;
  for (const Command& command : plan.commands) {
    if (command.output.kind == OutputKind::File)
      taken.push_back(os::canonical_path(command.output.path));
  }
  for (const ExportTarget& target : options.exports) {
    const std::string path = os::canonical_path(target.file);
    if (target.file != "-" && std::find(taken.begin(), taken.end(), path) != taken.end()) {
      return Error{cited(target.file) + " would be written twice", "name different files"};
    }
    taken.push_back(path);
    auto file = os::ExportFile::open(target.file);
    if (!file) return file.error();
    exports.push_back({*std::move(file), exporter_of(target.kind).bytes_of});
  }
  return exports;
}

int deliver(const Options& options, const Plan& plan, const std::optional<User>& user,
            const Carried& carried, std::vector<Export> exports, std::chrono::sys_seconds began) {
  const os::ActAs owner(user);
  if (!owner.error().empty()) return refuse({owner.error(), ""}, ExitStatus::Failed);
  const Session& session = carried.session;
  const bool wants_runs =
      options.histogram ||
      std::any_of(options.exports.begin(), options.exports.end(),
                  [](const ExportTarget& one) { return exporter_of(one.kind).of_runs; });
  const Results results =
      analyse(plan, session, carried.findings, wants_runs ? Detail::Runs : Detail::Summaries,
              {os::MonotonicClock().resolution(), os::scheduler_tick()},
              {std::string(cli::version()), began, os::this_machine()});
  int status = static_cast<int>(status_of(results.verdicts, options.fail_if_inconclusive));
  if (const auto shown = show(options, results); !shown) {
    status = refuse(shown.error(), ExitStatus::Failed);
  }
  for (Export& one : exports) {
    if (const auto written = one.file.commit(one.bytes_of(results)); !written) {
      status = refuse(written.error(), ExitStatus::Failed);
    }
  }
  if (!session.cut_short) return status;
  say_on_error(report::ending_lines(session, names_of(plan)));
  const auto* interrupted = std::get_if<Interrupted>(&*session.cut_short);
  return interrupted != nullptr ? status_of_signal(interrupted->signal)
                                : static_cast<int>(ExitStatus::Failed);
}

int deliver_check(const Options& options, const std::optional<User>& user, os::Launcher& launcher) {
  std::optional<os::ExportFile> file;
  if (!options.exports.empty()) {  // of the JSON: the others are refused
    const os::ActAs owner(user);
    if (!owner.error().empty()) return refuse({owner.error(), ""}, ExitStatus::Failed);
    auto opened = os::ExportFile::open(options.exports.front().file);
    if (!opened) return refuse(opened.error(), ExitStatus::Usage);
    file = *std::move(opened);
  }
  engine::OnMacos macos;
  macos.launcher = &launcher;
  // First, as they reset what a killed run has left, and as root, where lauka is: so they would
  // count.
  const auto engines = engine::try_engines(options.user_only, os::linux_calls(), macos);
  MachineFacts facts = os::machine_facts();
  if (const os::LinuxCalls* calls = os::linux_calls()) {
    for (const CoreKind& kind : cores::find_kinds(*calls).kinds)
      facts.core_kinds.push_back({kind.name, kind.cpus.size()});
  }
  const int signal = os::interrupt();
  if (signal != 0) return status_of_signal(signal);
  const auto lines = inquire::check(facts, engines);
  const Stream stream = stream_of(options);
  Result<void> told;
  if (options.verbosity != Verbosity::Quiet)
    told = os::say(stream, inquire::check_text(facts, lines, os::terminal_width(stream, 0)));
  if (file) {
    const os::ActAs owner(user);
    if (!owner.error().empty()) return refuse({owner.error(), ""}, ExitStatus::Failed);
    const auto written = file->commit(inquire::check_json(facts, engines, lines));
    if (told) told = written;
  }
  return told ? static_cast<int>(ExitStatus::Done) : refuse(told.error(), ExitStatus::Failed);
}

}  // namespace lauka
