#include "core/foreign_text.h"
#include "core/text.h"
#include "cores/cores.h"
#include "engine/accounting.h"
#include "engine/choose.h"
#include "engine/kperf/kperf_engine.h"
#include "invocation.h"
#include "os/clock.h"
#include "os/darwin_calls.h"
#include "os/files.h"
#include "os/linux_calls.h"
#include "os/signals.h"
#include "os/terminal.h"
#include "os/users.h"
#include "plan/baseline.h"
#include "plan/labels.h"
#include "plan/saved.h"
#include "report/progress.h"
#include "report/screen.h"
#include "results/read_suite.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka {
namespace {

constexpr const char* kKeepRoot = "use --as-root to keep root";

Result<void> start_launcher(Invocation& call) {
  if (call.launcher) return {};
  auto started = os::start_launcher();
  if (!started) return started.error();
  call.launcher = *std::move(started);
  return {};
}

Result<void> decide_cores(Invocation& call) {
  const Options& options = call.options;
  cores::CoreRequest wanted;
  // What a question that runs nothing does not ask for is not refused.
  if (!options.inquiry || options.inquiry->kind == InquiryKind::Threads)
    wanted = {options.core_kinds, options.cores, options.min_p_share,
              options.counting == CountingChoice::Apart};
  auto decided = cores::decide(wanted, os::linux_calls(), os::darwin_calls());
  if (!decided) return decided.error();
  call.cores = *std::move(decided);
  return {};
}

Result<void> find_user(Invocation& call) {
  auto user = os::user_behind_sudo(call.options.as_root);
  if (!user) return user.error();
  call.user = *std::move(user);
  return {};
}

Result<void> open_database(Invocation& call) {
  const os::ActAs reader(call.user);
  if (!reader.error().empty()) return Error{reader.error(), kKeepRoot};
  auto engine = engine::kperf::open_database_engine(*call.options.kpep, call.options.user_only);
  if (!engine) return engine.error();
  call.chosen.engine = *std::move(engine);
  return {};
}

Result<void> choose_engine(Invocation& call) {
  const Options& options = call.options;
  if (options.kpep) return open_database(call);
  os::watch_for_interrupts();  // before counters are taken, which are to be given back
  engine::OnMacos macos;
  macos.launcher = options.inquiry ? nullptr : call.launcher.get();
  macos.strategy = options.strategy;
  macos.period = options.period;
  auto chosen = engine::choose(options.engine, options.user_only, os::linux_calls(),
                               call.cores.kinds, call.user, macos);
  if (!chosen) return chosen.error();
  call.chosen = *std::move(chosen);
  auto& engine = call.chosen.engine;
  if (options.region && !engine->counts_regions()) {
    const bool are_threads_told =
        os::darwin_calls() != nullptr && engine->name() != row_of(EngineChoice::None).name;
    engine = are_threads_told ? engine::of_calling_threads(std::move(engine))
                              : engine::without_regions(std::move(engine));
  }
  engine = engine::with_energy(std::move(engine), os::linux_calls());
  if (options.counting == CountingChoice::Apart) engine = engine::keep_apart(std::move(engine));
  if (options.inquiry) return {};
  engine =
      cores::with_core_time(std::move(engine), call.cores, os::linux_calls(), os::darwin_calls());
  return {};
}

/// A note where they are wanted along with everything else and cannot be had; empty: none is due.
Result<std::string> open_groups(Invocation& call) {
  const Asked asked = asks_for_tree_peak(call.options);
  if (asked == Asked::No) {
    call.groups.reset();
    return std::string();
  }
  if (call.groups) return std::string();  // those of another benchmark
  auto groups = os::open_memory_groups(os::group_calls());
  if (groups) {
    call.groups = *std::move(groups);
    return std::string();
  }
  if (asked == Asked::ByName) return groups.error();
  return groups.error().line();
}

Result<void> make_plan(Invocation& call) {
  auto note = open_groups(call);
  if (!note) return note.error();
  const auto select = [&](EventRequest wanted) {
    const bool all = selection_of(call.options) == MetricSelection::All;
    if (call.options.region)
      wanted.counted_in = all ? CountedIn::RegionAndWhole : CountedIn::Region;
    return call.chosen.engine->select(wanted);
  };
  const auto seed = static_cast<std::uint64_t>(os::MonotonicClock().now().count());
  auto plan = lauka::make_plan(call.options, select, seed, call.cores.use, call.groups != nullptr);
  if (!plan) return plan.error();
  call.plan = *std::move(plan);
  if (call.plan.jobs > 1 && !call.launcher->runs_copies())
    return Error{"--jobs runs copies of a command on Linux only",
                 "start them from a shell: lauka -S './a & ./a & wait'"};
  if (!note->empty()) call.plan.events.notes.push_back(*std::move(note));
  if (!call.cores.note.empty()) call.plan.events.notes.push_back(call.cores.note);
  return {};
}

/// The sessions of a file, of one or of a suite's benchmarks.
Result<ReadFile> read_saved_file(const Invocation& call, const std::string& file,
                                 std::string_view what) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30U;
  const auto text = read_text(call, file, what, most_bytes);
  if (!text) return text.error();
  auto read = read_file_of_sessions(*text);
  if (!read)
    return Error{fmt::format("{} {} {}", what, cited(file), read.error().what),
                 read.error().remedy};
  for (ReadBenchmark& one : read->benchmarks) one.session.recording.file = file;
  return read;
}

/// The part of a suite that the session belongs to, made where it is not there yet; `call` itself,
/// where it belongs to none.
Invocation& part_of(Invocation& call, const std::string& benchmark) {
  if (benchmark.empty()) return call;
  const auto known = std::find_if(call.parts.begin(), call.parts.end(), [&](const Invocation& one) {
    return one.benchmark == benchmark;
  });
  if (known != call.parts.end()) return *known;
  Invocation& part = call.parts.emplace_back();
  part.options = call.options;
  part.options.exports.clear();
  part.user = call.user;
  part.benchmark = benchmark;
  return part;
}

/// Enters a session that was read; true: its runs went on until its own gates were content.
bool enter_saved(ReadSession session, Invocation& call) {
  const gate::Findings& found = session.findings;
  const bool was_watched =
      !session.recording.setting.stop.exact_runs && (!found.verdicts.empty() || found.precision);
  if (call.saved.empty()) call.found = std::move(session.findings);
  call.saved.push_back(std::move(session.recording));
  return was_watched;
}

Result<void> plan_saved(Invocation& call, bool was_watched) {
  auto plan = plan_of_saved(call.options, call.saved);
  if (!plan) return plan.error();
  call.plan = *std::move(plan);
  if (was_watched && !call.plan.gates.empty())
    call.plan.events.notes.emplace_back(
        "a session that ended when its own gates or --precision were content is judged again: a "
        "gate then fails by chance more often than --confidence says; -r fixes the runs "
        "beforehand");
  return {};
}

Result<void> read_saved(Invocation& call) {
  os::watch_for_interrupts();  // a file may be a named pipe
  bool was_watched = false;
  for (const std::string& file : call.options.from) {
    auto read = read_saved_file(call, file, "--from");
    if (!read) return read.error();
    call.risk = read->risk;
    for (ReadBenchmark& one : read->benchmarks)
      was_watched = enter_saved(std::move(one.session), part_of(call, one.name)) || was_watched;
  }
  if (call.parts.empty()) return plan_saved(call, was_watched);
  if (!call.saved.empty())
    return Error{
        fmt::format("--from {} is a suite, and {} is none",
                    cited(call.parts.front().saved.front().file), cited(call.saved.front().file)),
        "show them apart"};
  if (call.options.controls_fdr) call.risk = gate::Risk::Share;
  for (Invocation& part : call.parts)
    if (auto planned = plan_saved(part, was_watched); !planned)
      return planned.error().of("benchmark " + cited(part.benchmark));
  return {};
}

/// Of a suite: the benchmark of the same name.
Result<void> add_baseline(Invocation& call) {
  if (!call.options.baseline) return {};
  const std::string& file = *call.options.baseline;
  auto read = read_saved_file(call, file, "the baseline");
  if (!read) return read.error();
  auto& all = read->benchmarks;
  const auto found = std::find_if(all.begin(), all.end(), [&](const ReadBenchmark& one) {
    return one.name.empty() || one.name == call.benchmark;
  });
  if (found == all.end())
    return Error{call.benchmark.empty() ? fmt::format("the baseline {} is a suite", cited(file))
                                        : fmt::format("the baseline {} lacks the benchmark {}",
                                                      cited(file), cited(call.benchmark)),
                 call.benchmark.empty() ? "compare a suite with it (--suite)" : "measure it again"};
  return use_baseline(call.plan, file,
                      std::make_shared<Recording>(std::move(found->session.recording)));
}

/// Refuses an --input or --output file that the commands could not open, and a folder that they
/// could not enter.
Result<void> check_files(const Plan& plan) {
  if (const auto* input = std::get_if<InputFile>(&plan.input)) {
    if (auto readable = os::check_input(input->path); !readable) return readable;
  }
  for (const Command& command : plan.commands) {
    if (auto usable = os::check_folder(command.folder); !usable) return usable;
    if (command.output.kind != OutputKind::File) continue;
    if (auto writable = os::check_output(command.output.path); !writable) return writable;
  }
  return {};
}

/// Refuses a file that an output is to be compared with and cannot be read.
Result<void> check_expected(const Invocation& call) {
  const auto texts = os::text_files(call.user);
  for (const Command& command : call.plan.commands) {
    if (!command.expected || command.expected->kind != ExpectedOutput::Kind::File) continue;
    const std::string& path = command.expected->text;
    if (const auto text = texts->open(path); !text)
      return Error{fmt::format("--expect-output {} {}", cited(path), text.error().what),
                   text.error().remedy};
  }
  return {};
}

/// With the rights of the user whom the commands are run as: the files then belong to that user,
/// and root is led by no link to where the user could not write.
Result<void> open_exports(Invocation& call) {
  for (Invocation& part : call.parts) {
    if (auto usable = open_exports(part); !usable)
      return usable.error().of("benchmark " + cited(part.benchmark));
  }
  if (auto readable = check_expected(call); !readable) return readable;
  const os::ActAs owner(call.user);
  if (!owner.error().empty()) return Error{owner.error(), kKeepRoot};
  if (auto usable = check_files(call.plan); !usable) return usable;
  std::vector<std::string> outputs;
  const auto add_outputs = [&](const Plan& plan) {
    for (const Command& command : plan.commands)
      if (command.output.kind == OutputKind::File) outputs.push_back(command.output.path);
  };
  add_outputs(call.plan);
  for (const Invocation& part : call.parts) add_outputs(part.plan);
  auto exports = os::open_exports(call.options.exports, outputs);
  if (!exports) return exports.error();
  call.exports = *std::move(exports);
  if (call.options.verbosity == Verbosity::Quiet) return {};
  for (const os::OpenExport& one : call.exports)
    if (!one.file->note().empty()) say_on_error(report::note_lines({one.file->note()}));
  return {};
}

/// Says if git may find a repository here, without starting it.
bool may_be_in_repository() {
  if (os::variable("GIT_DIR")) return true;
  std::error_code error;
  auto folder = std::filesystem::current_path(error);
  if (error) return false;
  while (!os::is_there(folder / ".git")) {
    if (folder == folder.root_path()) return false;
    folder = folder.parent_path();
  }
  return true;
}

/// Asks git of the folder. Nothing that it could do on the way is to be done: it writes no index,
/// and starts no monitor.
Result<void> ask_git(Invocation& call) {
  constexpr auto most = std::chrono::seconds(5);
  call.labels = with_given(call.options.labels, {});
  if (!call.options.asks_git || !tells_of_session(call.options) || !may_be_in_repository())
    return {};
  os::ProgramSpec git{.words = {"git", "--no-optional-locks", "-c", "core.fsmonitor=false",
                                "status", "--porcelain=v2", "--branch", "--untracked-files=no"}};
  git.user = call.user;
  call.git = std::make_unique<os::ProgramAside>();
  call.git->begin(git, most);
  return {};
}

}  // namespace

const Stage kLauncherStarted = {start_launcher, ExitStatus::Failed};
const Stage kCoresDecided = {decide_cores, ExitStatus::Usage};
const Stage kUserFound = {find_user, ExitStatus::Usage};
const Stage kEngineChosen = {choose_engine, ExitStatus::Usage};
const Stage kPlanMade = {make_plan, ExitStatus::Usage};
const Stage kGitAsked = {ask_git, ExitStatus::Failed};
const Stage kSavedRead = {read_saved, ExitStatus::Usage};
const Stage kBaselineAdded = {add_baseline, ExitStatus::Usage};
const Stage kExportsOpened = {open_exports, ExitStatus::Usage};

void find_labels(Invocation& call) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20U;
  if (!call.git) return;
  const std::string status = call.git->take(most_bytes);
  call.git.reset();
  call.labels = with_given(std::move(call.labels), labels_of_git(status));
}

std::optional<int> pass(std::span<const Stage> stages, Invocation& call) {
  for (const Stage& stage : stages) {
    const auto made = stage.make(call);
    if (made) continue;
    // A stage may wait: for a named pipe, or for what is tried.
    if (const int signal = os::interrupt(); signal != 0) return status_of_signal(signal);
    const bool is_part = !call.benchmark.empty();
    return refuse(is_part ? made.error().of("benchmark " + cited(call.benchmark)) : made.error(),
                  stage.if_refused);
  }
  return std::nullopt;
}

Result<std::string> read_text(const Invocation& call, const std::string& file,
                              std::string_view what, std::size_t most_bytes) {
  const os::ActAs reader(call.user);
  if (!reader.error().empty()) return Error{reader.error(), kKeepRoot};
  auto text = os::read_file(file == "-" ? "/dev/stdin" : file, most_bytes);
  if (!text)
    return Error{fmt::format("{} {} {}", what, cited(file), text.error().what),
                 text.error().remedy};
  return text;
}

Result<std::unique_ptr<os::ToldFiles>> open_told_files(const Invocation& call) {
  auto files = os::open_told_files(call.user);
  const auto& told = call.plan.told;
  const bool is_needed =
      std::any_of(told.begin(), told.end(), [](const OwnMetric& one) { return one.is_written(); });
  if (files || is_needed) return files;
  return std::unique_ptr<os::ToldFiles>();
}

std::unique_ptr<Observer> choose_observer(const Options& options, const Plan& plan) {
  // What the commands write to the same terminal would leave pieces of the bar behind.
  const bool is_shared = std::any_of(
      plan.commands.begin(), plan.commands.end(),
      [](const Command& command) { return command.output.kind == OutputKind::Inherit; });
  const bool draws = options.progress && options.verbosity != Verbosity::Quiet && !is_shared &&
                     os::wants_drawing(os::Stream::Error);
  if (!draws) return std::make_unique<NoObserver>();
  const auto draw = [](std::string_view text) {
    static_cast<void>(os::say(os::Stream::Error, text));
  };
  const auto width = [] { return os::terminal_width(os::Stream::Error, 80); };
  return std::make_unique<report::ProgressBar>(draw, width, !os::speaks_utf8(),
                                               options.presentation.time_unit);
}

}  // namespace lauka
