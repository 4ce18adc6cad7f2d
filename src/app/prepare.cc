#include "app/prepare.h"

#include "app/call.h"
#include "app/deliver.h"
#include "app/measure.h"
#include "app/tuning.h"
#include "cli/accepted.h"
#include "cli/option_table.h"
#include "core/reference.h"
#include "core/text.h"
#include "engine/kperf/calling_threads.h"
#include "engine/kperf/kperf_engine.h"
#include "engine/profile/profile_engine.h"
#include "format/json.h"
#include "os/clock.h"
#include "os/control_groups.h"
#include "os/darwin_calls.h"
#include "os/export_files.h"
#include "os/helper_program.h"
#include "os/linux_calls.h"
#include "os/signals.h"
#include "os/users.h"
#include "plan/command_layouts.h"
#include "plan/gates.h"
#include "plan/make_commands.h"
#include "plan/make_plan.h"
#include "report/screen.h"
#include "session/baseline.h"
#include "session/function_metrics.h"
#include "session/join.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka {

namespace {

Result<void> open_event_database(const Call& call, Benchmark& benchmark) {
  const os::ActAs reader(call.user);
  if (reader.error()) return *reader.error();
  const CountingOptions& counting = benchmark.options.counting;
  return assign_or_error(engine::kperf::open_database_engine(*counting.event_database_path,
                                                             counting.counts_user_space_only),
                         benchmark.chosen.engine);
}

/// Opens the groups that measure tree_peak_memory, if it is asked for. Returns the reason if it is
/// left out; empty if it is measured or not asked for. An error if the user named it.
Result<std::string> open_groups_if_asked(Call& call, Benchmark& benchmark) {
  const TreePeakRequest asked = tree_peak_request(benchmark.options);
  if (asked == TreePeakRequest::No) return std::string();
  if (!call.groups) {
    if (!call.settings) call.settings = os::open_setting_files();
    auto groups = os::open_memory_groups(call.settings.get());
    if (!groups && asked == TreePeakRequest::ByName) return groups.error();
    if (!groups) return groups.error().line();
    call.groups = *std::move(groups);
  }
  benchmark.groups = call.groups.get();
  return std::string();
}

cores::CoreRequest make_core_request(const Options& options) {
  if (options.inquiry && options.inquiry->kind != InquiryKind::Threads) return {};
  return {options.counting.core_kinds, options.counting.core_preference,
          options.counting.min_p_share, options.counting.counting_choice == CountingChoice::Apart};
}

/// Sets CountingMethod::engine of the events that `engine` counts with counters.
void set_engine_of_counted(const engine::CounterEngine& engine, EventSet& set) {
  for (Event& event : set.events) {
    const bool is_of_counter = !event.simulated && !event.is_energy && event.role != Role::CoreTime;
    if (is_of_counter && event.method == CountingMethod()) event.method.engine = engine.name();
  }
}

/// Selects the events that the benchmark's engine can count.
Result<EventSet> select_events(const Benchmark& benchmark, EventRequest wanted) {
  // With --region, only a marked part of each run is counted, and the whole run as well if all
  // metrics are shown.
  const bool shows_all = choose_metric_selection(benchmark.options) == MetricSelection::All;
  if (benchmark.options.counting.measures_region)
    wanted.counted_part = shows_all ? CountedPart::RegionAndWhole : CountedPart::Region;

  engine::CounterEngine& engine = *benchmark.chosen.engine;
  auto events = engine.select(wanted);
  if (events) set_engine_of_counted(engine, *events);
  return events;
}

/// Adds the benchmark's notes to its plan. Returns all notes of the plan.
std::vector<Note>& add_notes_to_plan(Benchmark& benchmark) {
  std::vector<Note>& notes = benchmark.plan.setting.events.notes;
  notes.insert(notes.end(), benchmark.notes.begin(), benchmark.notes.end());
  return notes;
}

/// Makes the plan of a benchmark whose engine was chosen.
Result<Plan> make_measured_plan(const Benchmark& benchmark) {
  // make_plan() decides which events are wanted, and asks the engine which it can count.
  const auto select = [&](const EventRequest& wanted) { return select_events(benchmark, wanted); };

  // The clock gives the seed of the random order of runs, unless the user gives one.
  const auto seed = static_cast<std::uint64_t>(os::MonotonicClock().now().count());
  return make_plan(benchmark.options, select,
                   {.clock_seed = seed,
                    .cores = benchmark.cores.core_plan,
                    .has_tree_peak = benchmark.groups != nullptr});
}

/// Adds notes to the plan, which become the session's. They say, among others, which metrics are
/// left out. `why_no_tree_peak`: from open_groups_if_asked().
void complete_notes(const std::string& why_no_tree_peak, Benchmark& benchmark) {
  std::vector<Note>& notes = add_notes_to_plan(benchmark);
  const std::string& why_no_core_times = benchmark.cores.no_times_note;
  if (!why_no_tree_peak.empty()) notes.push_back({"no_tree_memory", why_no_tree_peak});
  if (!why_no_core_times.empty()) notes.push_back({"no_core_times", why_no_core_times});
}

/// Plans a benchmark that will be run: sets its cores, its engine, which counts events, and its
/// plan.
Result<void> plan_measured(Call& call, Benchmark& benchmark) {
  if (auto decided = decide_cores(call, benchmark); !decided) return decided;
  use_tuned_cpus(call, benchmark);
  if (auto chosen = choose_engine(call, benchmark); !chosen) return chosen;
  const auto why_no_tree_peak = open_groups_if_asked(call, benchmark);
  if (!why_no_tree_peak) return why_no_tree_peak.error();

  auto plan = make_measured_plan(benchmark);
  if (!plan) return plan.error();
  benchmark.plan = *std::move(plan);

  if (benchmark.plan.setting.jobs > 1 && !call.launcher->runs_copies())
    return Error{"--jobs works on Linux only",
                 "start the copies in a shell, as in lauka -S './a & ./a & wait'"};

  complete_notes(*why_no_tree_peak, benchmark);
  return {};
}

/// Opens a file ("-": standard input) with the rights of Call::user.
Result<os::InputFile> open_text(const Call& call, const std::string& file, std::string_view what,
                                std::size_t max_bytes) {
  const os::ActAs reader(call.user);
  if (reader.error()) return *reader.error();
  auto input = os::InputFile::open(file == "-" ? "/dev/stdin" : file, max_bytes);
  if (!input) return input.error().about(fmt::format("{} {}", what, cited(file)));
  return input;
}

Result<FileSessions> read_saved_file(const Call& call, const std::string& file,
                                     std::string_view what) {
  constexpr std::size_t max_bytes = std::size_t{1} << 30U;
  auto input = open_text(call, file, what, max_bytes);
  if (!input) return input.error();

  auto read = read_sessions([&] { return input->next(); });
  const std::string subject = fmt::format("{} {}", what, cited(file));
  if (const auto& error = input->error()) return error->about(subject);
  if (!read) return read.error().about(subject);

  for (SessionFromFile& session : read->benchmarks) session.recording.file = file;
  return read;
}

void add_saved_session(SessionFromFile session, Call& call) {
  const std::string& name = session.benchmark;
  auto benchmark = std::ranges::find(call.benchmarks, name, &Benchmark::name);
  if (benchmark == call.benchmarks.end()) {
    call.benchmarks.push_back({.name = name, .options = call.options});
    benchmark = call.benchmarks.end() - 1;
  }
  const gate::Findings& found = session.findings;
  call.gates_may_have_ended_session =
      call.gates_may_have_ended_session ||
      (!session.recording.setting.stop.exact_runs && (!found.verdicts.empty() || found.precision));
  benchmark->has_saved_gates = benchmark->has_saved_gates || !found.verdicts.empty();
  if (benchmark->saved_recordings.empty())
    benchmark->session_result.findings = std::move(session.findings);
  benchmark->saved_recordings.push_back(std::move(session.recording));
}

/// Refuses a mix of suites and plain sessions. Only the benchmarks of a suite have names.
Result<void> check_all_or_none_of_suite(const std::vector<Benchmark>& benchmarks) {
  const auto has_name = [](const Benchmark& benchmark) { return !benchmark.name.empty(); };
  const auto of_suite = std::ranges::find_if(benchmarks, has_name);
  const auto single = std::ranges::find_if_not(benchmarks, has_name);
  if (of_suite == benchmarks.end() || single == benchmarks.end()) return {};
  return Error{fmt::format("--from {} is a suite, but {} is not",
                           cited(of_suite->saved_recordings.front().file),
                           cited(single->saved_recordings.front().file)),
               "show the files in separate calls"};
}

/// Reads the sessions in the files of --from. Sessions of the same name become one benchmark.
/// Sessions without a name become one, too.
Result<void> add_saved_benchmarks(Call& call) {
  // A file may be a pipe, on which lauka could wait for ever, so an interrupt must be able to end
  // the wait.
  os::watch_for_interrupts();

  // The gates of all benchmarks share an error rate: the probability of any false alarm, or the
  // share of false alarms among all (false discovery rate). The kind of rate in the last file
  // counts, unless the user chooses one.
  for (const std::string& file : call.options.saved_session_files) {
    auto sessions = read_saved_file(call, file, "--from");
    if (!sessions) return sessions.error();
    call.gate_error_rate = sessions->suite_error_rate;
    for (SessionFromFile& session : sessions->benchmarks)
      add_saved_session(std::move(session), call);
  }

  if (auto checked = check_all_or_none_of_suite(call.benchmarks); !checked) return checked;

  const bool has_user_chosen_fdr = call.is_suite() && call.options.gates.controls_fdr;
  if (has_user_chosen_fdr) call.gate_error_rate = gate::ErrorRate::ShareOfFalseFails;

  return {};
}

/// Adds notes about entries of --accept that no gate uses.
void note_unused_entries(const std::vector<cli::AcceptedRegression>& entries, Call& call) {
  // The gate of an entry may belong to a benchmark that this call leaves out.
  const bool has_all_benchmarks = !call.options.suite.benchmark_filter && !call.options.suite.shard;
  if (!has_all_benchmarks) return;

  // The notes are about the whole call. They are shown once if any one benchmark has them.
  for (const cli::AcceptedRegression& entry : entries) {
    if (entry.has_gate) continue;
    const std::string what_has_no_gate =
        entry.benchmark.empty() ? "there is" : fmt::format("{} has", cited(entry.benchmark));
    call.benchmarks.front().notes.push_back(
        {"acceptance",
         fmt::format("{} ({}) has no effect, because {} no gate on {}; remove the entry, or "
                     "correct it",
                     entry.entry, entry.reason, what_has_no_gate, entry.condition.metric)});
  }
}

/// Reads the file of --accept, whose entries accept a known regression until some day.
Result<std::vector<cli::AcceptedRegression>> read_accepted_file(const Call& call) {
  constexpr std::size_t max_bytes = std::size_t{1} << 20U;
  const std::string& file = *call.options.gates.accepted_file;
  auto text = read_text(call, file, "--accept", max_bytes);
  if (!text) return text.error();
  return cli::read_accepted(file, *text);
}

/// True if the benchmark has a gate. Conditions for keeping a candidate are no gates.
bool has_gate(const Benchmark& benchmark) {
  return !std::ranges::all_of(benchmark.options.gates.conditions, &Condition::is_for_keeping);
}

/// Applies the file of --accept: gates get the limits of its entries in the place of their own.
Result<void> apply_accepted_limits(Call& call) {
  if (!call.options.gates.accepted_file) return {};
  auto entries = read_accepted_file(call);
  if (!entries) return entries.error();

  // accept_regressions() also marks the entries that have a gate.
  const std::string today = rfc3339(os::utc_now()).substr(0, std::string_view("YYYY-MM-DD").size());
  for (Benchmark& benchmark : call.benchmarks)
    for (Note& note : cli::accept_regressions(*entries, benchmark.name, today,
                                              benchmark.options.gates.conditions))
      benchmark.notes.push_back(std::move(note));
  if (std::ranges::none_of(call.benchmarks, has_gate))
    return Error{"--accept has no effect without a gate",
                 "add --fail-if-slower=PCT or --fail-if 'METRIC > PCT'"};

  note_unused_entries(*entries, call);
  return {};
}

Result<void> plan_saved(const Call& call, Benchmark& benchmark) {
  for (Recording& session : benchmark.saved_recordings)
    if (auto added = add_function_metrics(benchmark.options.gates.conditions,
                                          benchmark.saved_recordings.size() > 1, session);
        !added)
      return added.error();
  auto planned =
      assign_or_error(plan_of_saved(benchmark.options, benchmark.saved_recordings), benchmark.plan);
  if (!planned) return planned;
  std::vector<Note>& notes = add_notes_to_plan(benchmark);
  if (call.gates_may_have_ended_session && !benchmark.plan.gates.empty())
    notes.push_back(
        {"judged_again",
         "this session ended as soon as its own gates or --precision were decided, so new gates "
         "cause more false alarms than --confidence allows; measure with -r to fix the number of "
         "runs beforehand"});
  return {};
}

/// `name`: the benchmark that the file lacks; empty for a plain session.
Error make_not_in_baseline_error(const std::string& file, const std::string& name) {
  if (name.empty())
    return {fmt::format("the baseline {} is a suite", cited(file)),
            "compare it with a suite (--suite)"};
  return {
      fmt::format("the baseline {} does not contain the benchmark {}", cited(file), cited(name)),
      "measure the baseline again"};
}

Result<void> use_baseline_file(const std::string& file, FileSessions& read, Benchmark& benchmark) {
  const auto found = std::ranges::find_if(read.benchmarks, [&](const SessionFromFile& saved) {
    return saved.benchmark.empty() || saved.benchmark == benchmark.name;
  });
  if (found == read.benchmarks.end()) return make_not_in_baseline_error(file, benchmark.name);

  // Only the benchmarks of a suite may share a file of a single session.
  auto session = benchmark.name.empty() ? std::make_shared<Recording>(std::move(found->recording))
                                        : std::make_shared<Recording>(found->recording);
  if (auto added = add_function_metrics(benchmark.options.gates.conditions, true, *session); !added)
    return added.error();
  return use_baseline(benchmark.plan, file, std::move(session));
}

/// Adds notes about benchmarks that the baseline has and the suite lacks, unless --only or --shard
/// selects benchmarks.
void note_missing_benchmarks(const std::string& file, const FileSessions& read, Call& call) {
  if (!call.is_suite() || call.options.suite.benchmark_filter || call.options.suite.shard) return;
  std::vector<std::string> gone;
  for (const SessionFromFile& saved : read.benchmarks)
    if (!saved.benchmark.empty() && std::ranges::find(call.benchmarks, saved.benchmark,
                                                      &Benchmark::name) == call.benchmarks.end())
      gone.push_back(cited(saved.benchmark));
  if (gone.empty()) return;
  for (Benchmark& benchmark : call.benchmarks)
    if (benchmark.options.gates.baseline_file == file)
      benchmark.plan.setting.events.notes.push_back(
          {"", fmt::format("the baseline {} contains {}, which the suite does not contain",
                           cited(file), listed(gone))});
}

/// Reads each baseline file once, because a file may be a pipe.
Result<void> add_baselines(Call& call) {
  std::map<std::string, FileSessions> files;
  for (Benchmark& benchmark : call.benchmarks) {
    if (!benchmark.options.gates.baseline_file) continue;
    const std::string& file = *benchmark.options.gates.baseline_file;
    if (files.count(file) == 0) {
      auto read = read_saved_file(call, file, "the baseline");
      if (!read) return with_benchmark_name(read.error(), benchmark);
      files.emplace(file, *std::move(read));
    }
    if (auto used = use_baseline_file(file, files.at(file), benchmark); !used)
      return with_benchmark_name(used.error(), benchmark);
  }
  for (const auto& [file, read] : files) note_missing_benchmarks(file, read, call);
  return {};
}

/// Divides the error rate among the gates and among the races of the job.
void share_error_rate(Call& call) {
  std::size_t decisions = 0;
  for (const Benchmark& benchmark : call.benchmarks) decisions += count_decisions(benchmark.plan);
  const auto races = std::ranges::count_if(
      call.benchmarks, [](const Benchmark& benchmark) { return benchmark.plan.race.has_value(); });
  for (Benchmark& benchmark : call.benchmarks) {
    benchmark.plan.decisions_sharing_error_rate = decisions;
    if (benchmark.plan.race)
      benchmark.plan.race->races_sharing_error_rate = static_cast<std::size_t>(races);
  }
}

/// Checks the files of a command, except a folder or input that a build may make.
Result<void> check_files(const Command& command, bool builds_folder, bool builds_input) {
  if (command.expected && command.expected->kind == ExpectedOutput::Kind::File) {
    const std::string& path = command.expected->file_or_hash;
    if (const auto text = os::TextFile::open(path, std::nullopt); !text)
      return text.error().about("--expect-output " + cited(path));
  }
  if (!builds_folder)
    if (auto usable = os::check_folder(command.folder); !usable) return usable;
  if (!builds_input && !command.input.empty())
    if (auto readable = os::check_input(command.input); !readable) return readable;
  if (command.output.kind != OutputKind::File) return {};
  return os::check_output(command.output.path);
}

Result<void> check_files(const Plan& plan) {
  for (std::size_t c = 0; c < plan.commands.size(); ++c) {
    for (std::uint32_t layout = 0; layout < plan.setting.layouts; ++layout) {
      const auto command = command_in_layout(plan, c, layout);
      const Command& pattern = plan.commands[c];
      const bool is_built = command->build.has_value();
      if (auto usable = check_files(*command, is_built && mentions_layout(pattern.folder),
                                    is_built && mentions_layout(pattern.input));
          !usable)
        return usable;
    }
  }
  return {};
}

/// True if a benchmark's sampled runs have call paths, or will have.
bool has_call_paths(const Benchmark& benchmark) {
  const CountingOptions& counting = benchmark.options.counting;
  const bool is_saved = std::ranges::any_of(benchmark.saved_recordings, [](const Recording& saved) {
    return std::ranges::any_of(saved.function_tables,
                               [](const FunctionTable& table) { return !table.paths.empty(); });
  });
  return is_saved || (counting.profiling_period && counting.call_graph != CallGraphChoice::None);
}

/// Returns a name as a part of a file's name.
std::string make_file_name_part(std::string_view name) {
  std::string part(name);
  for (char& c : part) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    if (!is_plain) c = '_';
  }
  return part;
}

/// Returns the name of --export-folded's file with `name` in place of "{name}", which users write
/// to get a file for each comparison; nullopt if the file's name has no such place.
std::optional<std::string> fill_in_name(std::string file, const std::string& name) {
  constexpr std::string_view placeholder = "{name}";
  const std::size_t position = file.find(placeholder);
  if (position == std::string::npos) return std::nullopt;
  return file.replace(position, placeholder.size(), make_file_name_part(name));
}

/// Returns a name for the comparison of a command. In a suite, it is the benchmark's name, with the
/// command's only if the benchmark has several `candidates`.
std::string name_comparison(const Benchmark& benchmark, std::size_t command,
                            std::size_t candidates) {
  const std::string& name_of_command = benchmark.plan.commands[command].name;
  if (benchmark.name.empty()) return name_of_command;
  return candidates > 1 ? benchmark.name + "-" + name_of_command : benchmark.name;
}

/// Adds a file for each candidate of benchmark number `b` to `targets`.
void add_folded_targets(const Call& call, std::size_t b, const ExportTarget& pattern,
                        std::vector<ExportTarget>& targets) {
  const Benchmark& benchmark = call.benchmarks[b];
  const std::vector<std::size_t> commands =
      candidates_or_all(benchmark.plan.reference, benchmark.plan.commands.size());
  for (const std::size_t command : commands) {
    ExportTarget& target = targets.emplace_back(pattern);
    target.benchmark = b;
    target.command = command;
    const std::string name = name_comparison(benchmark, command, commands.size());
    target.file = fill_in_name(pattern.file, name).value_or(pattern.file);
  }
}

/// Lists the files of --export-folded, each of which holds one comparison: a file for each
/// candidate. `pattern`: the target as the user gave it, with {name} in its file's name if there
/// are several.
Result<std::vector<ExportTarget>> list_folded_targets(const Call& call,
                                                      const ExportTarget& pattern) {
  std::vector<ExportTarget> targets;
  for (std::size_t b = 0; b < call.benchmarks.size(); ++b)
    add_folded_targets(call, b, pattern, targets);

  const bool has_placeholder = fill_in_name(pattern.file, "").has_value();
  if (!has_placeholder && targets.size() > 1)
    return Error{fmt::format("--{} {} can hold only one comparison, but there are {}",
                             pattern.option, cited(pattern.file), targets.size()),
                 "write {name} in the file's name, to get a file for each of them"};
  return targets;
}

/// Returns the files to write.
Result<std::vector<ExportTarget>> list_targets(const Call& call) {
  std::vector<ExportTarget> targets;
  for (const ExportTarget& target : call.options.output.exports) {
    if (exports_call_paths(target.kind) && std::ranges::none_of(call.benchmarks, has_call_paths))
      return Error{fmt::format("--{} needs the call paths of sampled runs, but there are none",
                               target.option),
                   "measure with --profile"};
    if (target.kind != ExportKind::Folded) {
      targets.push_back(target);
      continue;
    }

    auto folded = list_folded_targets(call, target);
    if (!folded) return folded.error();
    std::ranges::move(*folded, std::back_inserter(targets));
  }
  return targets;
}

/// Lists the outputs of a plan's commands.
std::vector<OutputChoice> list_outputs(const Plan& plan) {
  // All layouts of a command write to the same output, so one of them is enough.
  constexpr std::uint32_t first_layout = 0;
  std::vector<OutputChoice> outputs;
  for (std::size_t c = 0; c < plan.commands.size(); ++c)
    outputs.push_back(command_in_layout(plan, c, first_layout)->output);
  return outputs;
}

/// Returns the first export to standard output; null if there is none.
const ExportTarget* find_export_to_output(const std::vector<ExportTarget>& exports) {
  const auto found = std::ranges::find_if(
      exports, [](const ExportTarget& target) { return os::is_standard_output(target.file); });
  return found == exports.end() ? nullptr : &*found;
}

Error make_mixed_output_error(const ExportTarget& target) {
  return {fmt::format("the export --{} {} would be mixed with the commands' own output",
                      target.option, cited(target.file)),
          "export to a file, or leave out --show-output"};
}

/// Checks the files and outputs of all commands. Returns the files to which the commands write.
Result<std::vector<std::string>> check_files_of_commands(const Call& call) {
  const ExportTarget* export_to_output = find_export_to_output(call.options.output.exports);
  const bool may_be_mixed = export_to_output != nullptr && !call.reads_saved_sessions();
  std::vector<std::string> written_files;
  for (const Benchmark& benchmark : call.benchmarks) {
    if (auto usable = check_files(benchmark.plan); !usable)
      return with_benchmark_name(usable.error(), benchmark);
    for (const OutputChoice& output : list_outputs(benchmark.plan)) {
      if (output.kind == OutputKind::Inherit && may_be_mixed)
        return with_benchmark_name(make_mixed_output_error(*export_to_output), benchmark);
      if (output.kind == OutputKind::File) written_files.push_back(output.path);
    }
  }
  return written_files;
}

/// Opens the files of all exports, and checks the files of all commands. This is done before the
/// first run, so that the user does not wait for results that cannot be written.
Result<void> check_files_and_open_exports(Call& call) {
  // With sudo, files belong to the user who called it.
  const os::ActAs user(call.user);
  if (user.error()) return *user.error();

  // An export may not overwrite what a command writes.
  const auto files_of_commands = check_files_of_commands(call);
  if (!files_of_commands) return files_of_commands.error();
  const auto targets = list_targets(call);
  if (!targets) return targets.error();
  auto open_exports = os::open_exports(*targets, *files_of_commands);
  if (!open_exports) return open_exports.error();
  call.exports = *std::move(open_exports);

  for (const os::OpenExport& open_export : call.exports)
    if (!open_export.file->note().empty()) say_notes(call, {open_export.file->note()});

  return {};
}

/// Returns the folder in which git would find a repository; "" if GIT_DIR is set; nullopt if there
/// is no repository.
std::optional<std::string> find_repository() {
  if (os::read_variable("GIT_DIR")) return "";
  std::error_code error;
  auto folder = std::filesystem::current_path(error);
  if (error) return std::nullopt;
  const std::string ceilings = os::read_variable("GIT_CEILING_DIRECTORIES").value_or("");
  const std::vector<std::string_view> closed = split(ceilings, ':');
  while (!os::is_there(folder / ".git")) {
    const auto parent = folder.parent_path();
    if (parent == folder || std::ranges::find(closed, parent.string()) != closed.end())
      return std::nullopt;
    folder = parent;
  }
  return folder.string();
}

/// Starts git with options that keep it from writing the index and from starting a monitor.
std::unique_ptr<os::HelperProgram> ask_git(const Call& call,
                                           const std::vector<std::string>& words) {
  constexpr auto max_time = std::chrono::seconds(5);
  os::ProgramSpec git{.words = {"git", "--no-optional-locks", "-c", "core.fsmonitor=false"}};
  git.words.insert(git.words.end(), words.begin(), words.end());
  git.user = call.user;
  auto running_git = std::make_unique<os::HelperProgram>();
  running_git->begin(git, max_time);
  return running_git;
}

/// Asks git before the runs, because runs may change commit and branch.
void ask_git_for_head(Call& call) {
  call.labels = merge_labels(call.options.output.labels, {});
  const bool has_use =
      exports_whole_session(call.options.output) || call.options.gates.series_file.has_value();
  if (!call.options.output.takes_labels_from_git || !has_use) return;
  auto repository = find_repository();
  if (!repository) return;
  call.git = GitQuestion{*std::move(repository), ask_git(call, {"rev-parse", "--revs-only", "HEAD",
                                                                "--symbolic-full-name", "HEAD"})};
}

Result<void> make_plans(Call& call) {
  for (Benchmark& benchmark : call.benchmarks) {
    const auto made =
        call.reads_saved_sessions() ? plan_saved(call, benchmark) : plan_measured(call, benchmark);
    if (made) continue;
    const Error error = with_benchmark_name(made.error(), benchmark);
    const auto& unquoted = benchmark.options.commands.unquoted_command;
    return unquoted && !unquoted->tip.empty() ? cli::with_second_remedy(error, unquoted->tip)
                                              : error;
  }
  return {};
}

/// Chooses the engine that counts events in whole runs.
Result<engine::ChosenEngine> choose_counting_engine(const Call& call, const Benchmark& benchmark) {
  const CountingOptions& counting = benchmark.options.counting;
  const bool is_inquiry = benchmark.options.inquiry.has_value();
  const bool is_of_suite = !benchmark.name.empty();

  engine::MacosEngineOptions macos;
  macos.launcher = is_inquiry ? nullptr : call.launcher.get();
  macos.strategy = counting.strategy;
  macos.macos_sampling_period = counting.thread_sampling_period;
  macos.gives_counters_back = is_of_suite;  // a suite's benchmarks take turns with the counters

  return engine::choose({.choice = counting.engine,
                         .counts_user_space_only = counting.counts_user_space_only,
                         .calls = os::linux_calls(),
                         .kinds = benchmark.cores.session_kinds,
                         .user = call.user,
                         .macos = macos});
}

/// Returns an engine for --region, with which only a marked part of each run is counted.
engine::OwnedEngine make_region_engine(engine::OwnedEngine engine) {
  if (engine->counts_regions()) return engine;

  // On macOS, the threads that run the part can count for themselves. Elsewhere, no events are
  // counted, because counts of whole runs would be mistaken for counts of the part.
  const bool is_macos = os::darwin_calls() != nullptr;
  const bool may_count = engine->name() != row_of(EngineChoice::None).name;
  return is_macos && may_count ? engine::with_calling_thread_counts(std::move(engine))
                               : engine::make_uncounting_engine(std::move(engine));
}

/// Returns an engine that also samples runs (--profile), and measures their time on each kind of
/// core.
engine::OwnedEngine make_run_engine(engine::OwnedEngine engine, const Benchmark& benchmark,
                                    const std::optional<User>& user) {
  const CountingOptions& counting = benchmark.options.counting;
  if (const auto period = counting.profiling_period)
    engine = engine::with_profile(std::move(engine),
                                  {.period = *period,
                                   .call_graph = counting.call_graph,
                                   .user_only = counting.counts_user_space_only,
                                   .user = user},
                                  os::linux_calls());
  return cores::add_core_time_measurement(std::move(engine), benchmark.cores, os::linux_calls(),
                                          os::darwin_calls());
}

}  // namespace

Result<void> start_launcher(Call& call) {
  if (call.launcher) return {};
  return assign_or_error(os::start_launcher(restore_after_lauka), call.launcher);
}

Result<void> decide_cores(const Call& call, Benchmark& benchmark) {
  const cores::CoreRequest request = make_core_request(benchmark.options);
  const Benchmark& first = call.benchmarks.front();
  // Asking the system again would give the same answer.
  if (&first != &benchmark && request == make_core_request(first.options)) {
    benchmark.cores = first.cores;
    return {};
  }
  return assign_or_error(cores::plan_core_use(request, os::linux_calls(), os::darwin_calls()),
                         benchmark.cores);
}

Result<void> find_user(Call& call) {
  return assign_or_error(os::user_behind_sudo(call.options.run.as_root), call.user);
}

// An engine counts events, such as the processor's cycles, in the runs of a benchmark.
Result<void> choose_engine(const Call& call, Benchmark& benchmark) {
  const CountingOptions& counting = benchmark.options.counting;

  // The user may name a database of macOS that describes a processor's events. It answers only
  // inquiries, so it needs no counters, and nothing is added to it.
  if (counting.event_database_path) return open_event_database(call, benchmark);

  auto chosen = choose_counting_engine(call, benchmark);
  if (!chosen) return chosen.error();
  benchmark.chosen = *std::move(chosen);

  // Each of the following engines wraps the one before, and adds something to it. Energy is
  // measured if the machine can measure it. Counting can slow a run down, so the user may ask for
  // counting in separate runs.
  auto& engine = benchmark.chosen.engine;
  if (counting.measures_region) engine = make_region_engine(std::move(engine));
  engine = engine::with_energy(std::move(engine), os::linux_calls());
  if (counting.counting_choice == CountingChoice::Apart)
    engine = engine::separate_counting(std::move(engine));

  // An inquiry asks what can be counted, and runs nothing that could be sampled or timed.
  if (!benchmark.options.inquiry) engine = make_run_engine(std::move(engine), benchmark, call.user);
  return {};
}

Error with_benchmark_name(const Error& error, const Benchmark& benchmark) {
  return benchmark.name.empty() ? error : error.prefixed("benchmark " + cited(benchmark.name));
}

std::optional<int> status_if_failed(const Result<void>& made, ExitStatus if_refused) {
  if (made) return std::nullopt;
  if (const int signal = os::first_interrupt_signal(); signal != 0) return status_of_signal(signal);
  return print_error(made.error(), if_refused);
}

std::optional<int> add_benchmarks(Call& call) {
  if (!call.reads_saved_sessions())
    if (const auto status = status_if_failed(start_launcher(call), ExitStatus::Failed))
      return status;
  if (const auto status = status_if_failed(find_user(call))) return status;
  if (call.reads_saved_sessions()) return status_if_failed(add_saved_benchmarks(call));
  restore_leftovers(call);
  if (!call.options.suite.suite_path) {
    call.benchmarks.push_back({.options = call.options});
    return std::nullopt;
  }
  if (const auto status = status_if_failed(add_suite(call))) return status;
  if (!call.benchmarks.empty()) return std::nullopt;
  print_to_standard_error(report::note_lines(
      {"this part of the suite contains no benchmark, so nothing was measured"}));
  return static_cast<int>(ExitStatus::Done);
}

std::optional<int> prepare(Call& call) {
  if (const auto status = status_if_failed(apply_accepted_limits(call))) return status;
  if (const auto status = status_if_failed(choose_tuning(call))) return status;
  os::watch_for_interrupts();  // before engines take counters, which must be released
  if (const auto status = status_if_failed(make_plans(call))) return status;
  if (!call.reads_saved_sessions()) ask_git_for_head(call);
  if (const auto status = status_if_failed(add_baselines(call))) return status;
  share_error_rate(call);
  return status_if_failed(check_files_and_open_exports(call));
}

std::vector<Label> await_head_labels(Call& call) {
  constexpr std::size_t max_bytes = 4096;
  if (!call.git) return {};
  const auto answer = call.git->program->wait(max_bytes);
  const std::string folder = std::move(call.git->repository);
  call.git.reset();
  if (succeeded(answer.outcome)) return labels_of_git_head(answer.output);
  const bool is_foreign = !folder.empty() && (os::belongs_to_another(folder, call.user) ||
                                              os::belongs_to_another(folder + "/.git", call.user));
  if (std::holds_alternative<Exited>(answer.outcome) && is_foreign)
    say_notes(
        call,
        {fmt::format(
            "git names neither commit nor branch, because the repository {0} belongs to another "
            "user; run 'git config --global --add safe.directory {0}' to trust it, or use --no-git",
            shell_quoted(folder))});
  return {};
}

void add_git_labels(Call& call, std::vector<Label> head) {
  if (head.empty()) return;
  const auto git = ask_git(call, {"status", "--porcelain", "--untracked-files=no"});
  const auto answer = git->wait(1);
  if (!succeeded(answer.outcome)) {
    say_notes(call, {"git did not say whether files have changed, so the session has neither "
                     "commit nor branch; use --label to give them"});
    return;
  }
  head.push_back({"dirty", answer.output.empty() ? "no" : "yes"});
  call.labels = merge_labels(std::move(call.labels), head);
}

Result<std::string> read_text(const Call& call, const std::string& file, std::string_view what,
                              std::size_t max_bytes) {
  auto input = open_text(call, file, what, max_bytes);
  if (!input) return input.error();
  auto text = input->rest();
  return text ? text : text.error().about(fmt::format("{} {}", what, cited(file)));
}

}  // namespace lauka
