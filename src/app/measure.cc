#include "app/measure.h"

#include "app/call.h"
#include "app/deliver.h"
#include "app/prepare.h"
#include "app/series_entry.h"
#include "app/tuning.h"
#include "cli/describe.h"
#include "cli/option_table.h"
#include "cli/suite.h"
#include "core/sha256.h"
#include "core/text.h"
#include "os/clock.h"
#include "os/control_groups.h"
#include "os/linux_calls.h"
#include "os/signals.h"
#include "os/this_machine.h"
#include "os/users.h"
#include "report/lines.h"
#include "report/screen.h"
#include "report/warning_lines.h"
#include "run/builds.h"
#include "run/fingerprints.h"
#include "run/programs.h"
#include "session/setting_values.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka {

namespace {

constexpr std::size_t kMaxSuiteBytes = std::size_t{4} << 20U;

/// Returns the SHA-256 of a text, in hexadecimal.
std::string hash_text(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.hex_digest();
}

/// Returns a seed that differs between the benchmarks, so that their orders are independent.
std::uint64_t derive_seed(std::uint64_t session, const std::string& benchmark) {
  return session ^ parse_hex(hash_text(benchmark).substr(0, 12)).value_or(0);
}

/// Returns null if the files cannot be made and no plan announces a metric in files.
Result<std::unique_ptr<os::MetricFiles>> open_metric_files(const Call& call) {
  auto files = os::open_metric_files(call.user);
  const bool is_needed = std::ranges::any_of(call.benchmarks, [](const Benchmark& benchmark) {
    return std::ranges::any_of(benchmark.plan.reported_metrics, &OwnMetric::is_from_metrics_file);
  });
  if (files || is_needed) return files;
  return std::unique_ptr<os::MetricFiles>();
}

void say_hints(const Call& call) {
  if (!call.says_hints) return;
  std::vector<std::string> hints;
  for (const Benchmark& benchmark : call.benchmarks)
    for (const std::string& hint : benchmark.plan.hints)
      hints.push_back(benchmark.name.empty() ? hint : cited(benchmark.name) + ": " + hint);
  say_notes(call, hints);
}

/// True if the user sees the output of one of the commands.
bool shows_output_of_commands(const Benchmark& benchmark) {
  return std::ranges::any_of(benchmark.plan.commands, [](const Command& command) {
    return command.output.kind == OutputKind::Inherit;
  });
}

std::unique_ptr<Observer> choose_drawing(const Call& call) {
  const OutputOptions& options = call.options.output;
  // Commands that write to the same terminal would leave pieces of the progress line there.
  const bool is_shared = std::ranges::any_of(call.benchmarks, shows_output_of_commands);
  const bool draws = options.shows_progress && options.verbosity != Verbosity::Quiet &&
                     !is_shared && os::wants_drawing(os::StandardStream::Error);
  if (!draws) return std::make_unique<Observer>();

  const auto draw = [](std::string_view text) {
    static_cast<void>(os::write_to(os::StandardStream::Error, text));
  };
  const auto width = [] { return os::terminal_width(os::StandardStream::Error, 80); };
  return std::make_unique<report::ProgressBar>(draw, width, !os::locale_uses_utf8(),
                                               options.presentation.time_unit);
}

class Announcer final : public Observer {
 public:
  explicit Announcer(const Call& call) : call_(call), drawing_(choose_drawing(call)) {}

  bool wants_progress() const override { return drawing_->wants_progress(); }
  void progress(const Progress& progress) override { drawing_->progress(progress); }
  void building(const BuildProgress& progress) override { drawing_->building(progress); }
  void finished() override { drawing_->finished(); }
  void counts_lost(const Command& command, const CounterLossFile& file) override {
    drawing_->finished();
    say_notes(call_, {report::counter_loss_line(command, file)});
  }

 private:
  const Call& call_;
  std::unique_ptr<Observer> drawing_;
};

/// Lists the builds to run: all, or with --resume only those that an earlier call has not made.
std::vector<Build> list_builds_to_run(const Call& call) {
  std::vector<const Plan*> plans;
  for (const Benchmark& benchmark : call.benchmarks) plans.push_back(&benchmark.plan);
  std::vector<Build> builds = list_builds(plans);
  if (!call.continues_log) return builds;

  // A build may make other bytes each time, such as a timestamp. The rounds of the earlier call
  // were measured with the builds that are there, so these are kept.
  std::vector<Build> missing_builds = list_missing_builds(plans, call.user);
  const std::size_t kept = builds.size() - missing_builds.size();
  if (kept > 0)
    say_notes(call, {fmt::format("--resume keeps {} from an earlier call", plural(kept, "build"))});
  return missing_builds;
}

/// Returns how many builds may run at the same time.
std::uint64_t find_max_parallel_builds(const Call& call) {
  std::uint64_t most = 1;
  for (const Benchmark& benchmark : call.benchmarks)
    most = std::max(most, benchmark.options.run.build_jobs);
  return most;
}

/// Prints why a build failed. Returns lauka's exit status.
int print_failed_build(const BuildFailed& failed) {
  print_to_standard_error(
      report::failed_build_lines(failed.build.name_in_messages, failed.outcome, failed.output_end,
                                 os::terminal_width(os::StandardStream::Error, 0)));
  return static_cast<int>(ExitStatus::Failed);
}

/// Refuses layouts of a command with the same bytes. They would measure one layout several times.
Result<void> check_layouts_differ(const Call& call) {
  const std::function<int()> pending_interrupt = os::first_interrupt_signal;
  for (const Benchmark& benchmark : call.benchmarks) {
    const auto differ = check_layout_files_differ(benchmark.plan, {call.user, pending_interrupt});
    if (!differ) return with_benchmark_name(differ.error(), benchmark);
  }
  return {};
}

/// Runs the builds of --build, which make each command's program in several layouts of its memory,
/// and checks that the layouts' programs differ. Returns an exit status if the call must end.
std::optional<int> build_layouts(const Call& call) {
  const auto progress_line = choose_drawing(call);
  const std::vector<Build> builds = list_builds_to_run(call);
  const bool needs_shell = !builds.empty();
  if (needs_shell) {
    if (auto has_shell = check_shell("--build"); !has_shell)
      return print_error(has_shell.error(), ExitStatus::Failed);
  }

  const os::MonotonicClock clock;
  const auto show_progress = [&](const BuildProgress& progress) {
    progress_line->building(progress);
  };
  const auto failed_build =
      run_builds(builds, {.max_parallel_builds = find_max_parallel_builds(call),
                          .user = call.user,
                          .clock = clock,
                          .show_progress = show_progress});
  progress_line->finished();

  // An interrupt makes builds fail. The user knows why, so no failed build is shown then.
  if (const int signal = os::first_interrupt_signal(); signal != 0) return status_of_signal(signal);
  if (failed_build) return print_failed_build(*failed_build);
  if (const auto differ = check_layouts_differ(call); !differ)
    return print_error(differ.error(), ExitStatus::Usage);
  return std::nullopt;
}

constexpr std::size_t kMaxLogBytes = std::size_t{1} << 30U;

/// Returns the path of the log of rounds; nullopt if no JSON is exported to a regular file.
std::optional<std::string> choose_log_path(const OutputOptions& options) {
  for (const ExportTarget& target : options.exports)
    if (target.kind == ExportKind::Json && !os::is_standard_output(target.file) &&
        !os::resolve(target.file).descriptor &&
        (!os::is_there(target.file) || os::is_regular_file(target.file)))
      return target.file + ".rounds";
  return std::nullopt;
}

/// Reads the first line of a log; nullopt if the line is missing or cut off, as after a full disk.
Result<std::optional<LogHead>> read_log_head(const std::string& text, const std::string& file,
                                             Seals& seals) {
  const std::size_t end = text.find('\n');
  const std::string_view line = std::string_view(text).substr(0, end);
  if (end == std::string::npos && may_be_cut_head(line)) return std::optional<LogHead>();
  const auto opened = seals.open(line);
  auto head = opened ? parse_head(*opened) : std::nullopt;
  if (head) return head;
  return Error{"--resume: " + cited(file) + " was not written by this version of lauka",
               "start again without --resume"};
}

/// Values with the names that messages give them.
using TextByName = std::vector<std::pair<std::string, std::string>>;

/// Adds the typed options that decide what is measured or how. With other ones, --resume would mix
/// rounds that were measured differently.
void add_options_that_must_match(const Call& call, TextByName& all) {
  for (const CommandLineOption& typed : call.options.command_line_options) {
    const cli::OptionInfo* option = cli::option_of_key(typed.key);
    const bool may_differ = option == nullptr || option->group == cli::OptionSection::Output ||
                            option->name == "resume" || option->name == "suite";
    if (may_differ) continue;
    std::string value;
    for (const std::string& word : typed.words) value += (value.empty() ? "" : " ") + word;
    const std::string name = option->spelling();
    const auto known = std::ranges::find(all, name, &TextByName::value_type::first);
    if (known == all.end())
      all.emplace_back(name, std::move(value));
    else
      known->second += ", " + value;
  }
}

/// Returns the name of command number `c`, with that of its benchmark, for messages about its
/// files.
std::string name_owner(const BenchmarkToRun& run, std::size_t c) {
  return fmt::format("{} in benchmark {}", cited(run.plan.commands[c].name), cited(run.name));
}

/// What --resume compares with what the kept rounds were made of.
struct Origin {
  TextByName settings{};       ///< if they differ, --resume refuses to continue
  TextByName circumstances{};  ///< if they differ, --resume continues with a note
};

/// Adds hashes of the files in the arguments of command number `c`.
void add_hashes_of_arguments(const BenchmarkToRun& run, std::size_t c, const ReadContext& reader,
                             Origin& origin) {
  // A run may change a file of data, but not its own program or script.
  for (const ArgumentFile& file : find_argument_files(run.plan, c, reader))
    (file.is_program ? origin.settings : origin.circumstances)
        .emplace_back(fmt::format("the file {} of {}", cited(file.path), name_owner(run, c)),
                      file.hash);
}

/// Adds hashes of the commands' programs and of the files in their arguments. Leaves out commands
/// with a setup, because the setup may make these files.
void add_hashes_of_files(const BenchmarkToRun& run, const ReadContext& reader, Origin& origin) {
  std::vector<Fingerprint> programs;
  const auto all = static_cast<std::uint32_t>(run.plan.commands.size());
  set_fingerprints(run.plan, reader, {.first = 0, .count = all}, programs);
  for (std::size_t c = 0; c < programs.size(); ++c) {
    if (run.plan.commands[c].hooks[HookKind::Setup]) continue;
    origin.settings.emplace_back("the program of " + name_owner(run, c),
                                 programs[c].executable_sha256);
    add_hashes_of_arguments(run, c, reader, origin);
  }
}

/// Adds the settings of the session and its machine, by the names that messages have.
void add_circumstances(const Call& call, TextByName& circumstances) {
  Circumstances now;
  now.machine = os::this_machine_with_class_facts();
  now.machine.allowance = call.allowance;
  now.priority = os::own_priority();
  const SettingValues values = settings_of_session(now);
  for (const SettingRow& row : kSettings)
    if (values[row.kind]) circumstances.emplace_back(row.title, *values[row.kind]);
}

/// Returns a hash of the metrics, events and commands, which the log of rounds for --resume names
/// only by their positions. If the hash differs from that of the earlier call, values in the log
/// would be taken for those of another metric, for example.
std::string hash_measured_names(const Plan& plan) {
  // The length before each word keeps "ab" "c" apart from "a" "bc".
  Sha256 hash;
  const auto add_word = [&](std::string_view word) {
    hash.add(fmt::format("{}:", word.size()));
    hash.add(word);
  };

  for (const Metric& metric : plan.metrics) add_word(metric.name);

  // A pass is a group of events that are counted together. The log identifies counts only by their
  // position in a pass.
  const EventSet& events = plan.setting.events;
  for (const Pass& pass : events.passes) {
    add_word(fmt::format("pass {}", static_cast<int>(pass.kind)));
    for (const std::size_t index : pass.event_indices) add_word(events.events.at(index).name);
  }

  for (const Command& command : plan.commands)
    for (const std::string& word : command.words) add_word(word);

  return hash.hex_digest();
}

/// Adds the limits that --accept has put in the place of the gates' own limits. When a
/// benchmark's rounds may end depends on its gates, and these limits come from a file that may have
/// changed since.
void add_accepted_limits(const Benchmark& benchmark, TextByName& settings) {
  for (const Gate& gate : benchmark.plan.gates) {
    // An entry that has expired leaves the gate its own limit, which the options or the suite's
    // file give, and these are compared anyway.
    const auto& acceptance = gate.condition.acceptance;
    const bool is_limit_accepted = acceptance && !acceptance->has_expired;
    if (!is_limit_accepted) continue;
    settings.emplace_back(
        fmt::format("the accepted limit of {} in benchmark {}",
                    report::condition_text(gate.condition), cited(benchmark.name)),
        fmt::format("{}", gate.condition.limit.number));
  }
}

/// Describes what the results of this session depend on, for the log of rounds. A later call with
/// --resume refuses to continue the log if the settings differ. If only the circumstances differ,
/// it prints a note.
Origin describe_origin(const Call& call, const std::vector<BenchmarkToRun>& runs,
                       const RunContext& context) {
  Origin origin;
  TextByName& settings = origin.settings;
  settings.emplace_back("lauka", std::string(cli::version()));
  add_options_that_must_match(call, settings);

  // Each setting has the name that a message about a difference gives it. A hash stands for a text
  // that may be long.
  settings.emplace_back("the suite's file", hash_text(call.suite_text));
  for (const Benchmark& benchmark : call.benchmarks) {
    settings.emplace_back("what lauka measures in benchmark " + cited(benchmark.name),
                          hash_measured_names(benchmark.plan));
    add_accepted_limits(benchmark, settings);
  }

  // A changed program is another setting. A changed file of data is only a circumstance, because
  // the runs themselves may have changed it.
  const ReadContext reader{context.user, context.pending_interrupt};
  for (const BenchmarkToRun& run : runs) add_hashes_of_files(run, reader, origin);
  add_circumstances(call, origin.circumstances);
  return origin;
}

/// Returns a sentence if the value `now` was another one or missing; nullopt if it was the same.
std::optional<std::string> describe_difference(const TextByName& then,
                                               const TextByName::value_type& now) {
  const auto& [name, value] = now;
  const auto before = std::ranges::find(then, name, &TextByName::value_type::first);
  const bool is_option = name.starts_with('-');
  if (before != then.end() && before->second == value) return std::nullopt;
  if (!is_option) return name + " is different now";
  if (before == then.end()) return name + " was not given";
  return fmt::format("{} was {}, and is now {}", name, cited(before->second), cited(value));
}

/// Returns a sentence about the first difference; nullopt if there is none.
std::optional<std::string> describe_first_difference(const TextByName& then,
                                                     const TextByName& now) {
  for (const auto& text : now)
    if (auto difference = describe_difference(then, text)) return difference;
  for (const auto& [name, value] : then)
    if (std::ranges::find(now, name, &TextByName::value_type::first) == now.end())
      return name.starts_with('-') ? fmt::format("{} {} was given before", name, value)
                                   : name + " was also measured before";
  return std::nullopt;
}

/// Returns the number of rounds without warm-up and settling rounds, and without rounds of which no
/// run is in the log.
std::uint64_t count_measured_rounds(const FinishedRounds& rounds) {
  if (rounds.first.is_thrown_away() || rounds.runs.empty()) return 0;
  return rounds.runs.back().step.round - rounds.first.round + 1;
}

/// Takes one or several successive rounds from a line of the log, and counts them. The line ends
/// with a seal: a checksum of this line and of all lines before it. Returns false if it has no
/// rounds of this suite.
bool take_rounds_of_line(std::string_view sealed_line, RoundLog& log) {
  const auto line = log.seals.open(sealed_line);
  auto parsed = line ? parse_rounds(*line) : std::nullopt;
  const bool is_of_this_suite = parsed && parsed->first < log.round_keepers.size();
  if (!is_of_this_suite) return false;

  auto& [benchmark, rounds] = *parsed;
  log.earlier_rounds += count_measured_rounds(rounds);
  log.round_keepers[benchmark].rounds_to_replay.push_back(std::move(rounds));
  return true;
}

/// Takes the rounds of an earlier call from the text of its log, and counts them. They are not run
/// again, because their benchmarks replay them. Returns the size of the log's whole lines.
Result<std::size_t> take_rounds_to_replay(const std::string& text, const std::string& file,
                                          Call& call) {
  RoundLog& log = *call.log;

  // The first line, the log's head, was read before. A last line without a line break was not
  // written to its end.
  std::size_t line_number = 1;
  std::size_t line_begin = text.find('\n') + 1;
  const auto find_line_end = [&] { return text.find('\n', line_begin); };

  for (std::size_t line_end = find_line_end(); line_end != std::string::npos;
       line_end = find_line_end()) {
    ++line_number;
    const auto line = std::string_view(text).substr(line_begin, line_end - line_begin);
    if (!take_rounds_of_line(line, log))
      return Error{
          fmt::format("--resume cannot continue, because line {} of {} has no rounds of this suite",
                      line_number, cited(file)),
          "start again without --resume"};

    line_begin = line_end + 1;
  }

  const std::size_t bytes_of_whole_lines = line_begin;
  return bytes_of_whole_lines;
}

/// Returns the settings among `all`.
SettingValues find_settings(const TextByName& all) {
  SettingValues values;
  for (const SettingRow& row : kSettings)
    for (const auto& [name, value] : all)
      if (name == row.title) values[row.kind] = value;
  return values;
}

/// Returns a clause for each setting of the machine or the session that differs by the rules for
/// comparing sessions.
std::vector<std::string> describe_changed_settings(const TextByName& then, const TextByName& now) {
  std::vector<std::string> clauses;
  for (const SettingDifference& setting : find_differences(find_settings(then), find_settings(now)))
    clauses.push_back(fmt::format("{} {}, not {}", row_of(setting.kind).title,
                                  cited(setting.reference_value), cited(setting.candidate_value)));
  return clauses;
}

/// Returns the names of the circumstances that are not settings and have changed: files of data.
std::vector<std::string> list_changed_files(const TextByName& then, const TextByName& now) {
  std::vector<std::string> names;
  for (const auto& [name, value] : now) {
    const bool is_setting =
        std::ranges::find(kSettings, name, &SettingRow::title) != kSettings.end();
    if (is_setting) continue;
    const auto before = std::ranges::find(then, name, &TextByName::value_type::first);
    const bool has_changed = before != then.end() && before->second != value;
    if (has_changed) names.push_back(name);
  }
  return names;
}

/// Prints a note if circumstances are not as they were when the kept rounds were measured.
void say_changed_circumstances(const Call& call, const TextByName& then, const TextByName& now) {
  std::vector<std::string> changes = describe_changed_settings(then, now);

  // Only the hashes of files are known, which would tell a user nothing.
  for (const std::string& file : list_changed_files(then, now))
    changes.push_back(file + " has changed");

  if (!changes.empty())
    say_notes(call, {fmt::format("the kept rounds were measured under different circumstances "
                                 "({}); start again without --resume if that matters",
                                 fmt::join(changes, ", "))});
}

/// Makes the call continue the session of an earlier call, from the text of its log. Returns the
/// size of the part of the log to keep; 0 if the log has no head, so that nothing is kept.
Result<std::size_t> continue_log(const std::string& text, const Origin& origin, Call& call) {
  const std::string& file = call.log->file;
  auto found = read_log_head(text, file, call.log->seals);
  if (!found) return found.error();
  const std::optional<LogHead> head = *std::move(found);
  if (!head) return std::size_t{0};
  if (const auto what = describe_first_difference(head->settings, origin.settings))
    return Error{
        fmt::format("--resume cannot continue with the rounds in {}: {}", cited(file), *what),
        "undo this change, or start again without --resume"};
  say_changed_circumstances(call, head->circumstances, origin.circumstances);
  call.measuring_began = head->measuring_began;
  return take_rounds_to_replay(text, file, call);
}

void say_how_many_rounds_are_kept(const Call& call, const RoundLog& log) {
  if (log.earlier_rounds > 0)
    say_notes(call, {fmt::format("--resume continues after {} kept in {}",
                                 plural(log.earlier_rounds, "round"), cited(log.file))});
  else
    say_notes(call,
              {fmt::format("--resume found no rounds in {}, so the suite starts from the beginning",
                           cited(log.file))});
}

/// Writes the first line of a new log, which says what is measured and how. Each line of the log is
/// sealed: it ends with a checksum of all lines so far.
void append_head(const Call& call, const Origin& origin, RoundLog& log) {
  const LogHead head{.settings = origin.settings,
                     .circumstances = origin.circumstances,
                     .seed = *call.options.run.seed,  // a suite orders its runs by a seed
                     .measuring_began = call.measuring_began};
  log.lines->append(log.seals.seal(to_line(head)));
}

/// Gives each benchmark a function that appends its finished rounds, with the benchmark's number.
void let_benchmarks_append(RoundLog& log) {
  for (std::size_t benchmark = 0; benchmark < log.round_keepers.size(); ++benchmark)
    log.round_keepers[benchmark].append_to_log = [&log, benchmark](const FinishedRounds& rounds) {
      log.lines->append(log.seals.seal(to_line(benchmark, rounds)));
    };
}

/// Begins the log of finished rounds, from which --resume can continue an interrupted suite. With
/// --resume, goes on with the log of the earlier call. `log_file`: the open file.
Result<void> begin_log(std::unique_ptr<os::AppendLog> log_file, const Origin& origin, Call& call) {
  const bool resumes = call.options.suite.resumes;
  RoundLog& log = *call.log;
  log.round_keepers.resize(call.benchmarks.size());

  // Drops the old log, or with --resume what follows its last whole line.
  const Result<std::size_t> bytes_to_keep =
      resumes ? continue_log(log_file->text_at_open(), origin, call) : std::size_t{0};
  if (!bytes_to_keep) return bytes_to_keep.error();
  if (auto cut = log_file->truncate_to(*bytes_to_keep); !cut) return cut;

  log.lines = std::move(log_file);
  const bool is_new = *bytes_to_keep == 0;
  if (is_new) append_head(call, origin, log);
  if (resumes) say_how_many_rounds_are_kept(call, log);
  let_benchmarks_append(log);
  return {};
}

/// Reads the first line of the log of an earlier call; nullopt if the line is missing or cut off.
Result<std::optional<LogHead>> read_head_of_earlier_call(const std::string& log_path) {
  const auto text = os::AppendLog::read(log_path, kMaxLogBytes);
  if (!text) return text.error();

  // The seals are checksums of lines. Those of the other lines are checked when the rounds are
  // read.
  Seals seals;
  return read_log_head(*text, log_path, seals);
}

/// With --resume, takes the seed of the random order of runs from the log, so that the order is
/// that of the interrupted call. Also sets Call::continues_log.
Result<void> take_seed_from_log(Call& call) {
  if (!call.options.suite.resumes) return {};
  const auto log_path = choose_log_path(call.options.output);
  if (!log_path)
    return Error{
        "--resume continues from the rounds that lauka saved beside the --export-json file, so it "
        "needs --export-json",
        "add --export-json FILE as in the call that was interrupted"};

  // With sudo, the log belongs to the user who called sudo, so lauka reads it as this user.
  const os::ActAs log_owner(call.user);
  if (log_owner.error()) return *log_owner.error();
  const auto read_head = read_head_of_earlier_call(*log_path);
  if (!read_head) return read_head.error();

  // The earlier call may have ended before the head was written. Then the suite takes a new seed.
  const std::optional<LogHead>& head = *read_head;
  if (head) {
    call.options.run.seed = head->seed;
    call.continues_log = true;
  }
  return {};
}

/// Opens the log of finished rounds. Returns null if it cannot be opened, but the suite can be
/// measured without it.
Result<std::unique_ptr<os::AppendLog>> open_log(const Call& call, const std::string& path) {
  const Error error_if_in_use{"another lauka is writing its results to " + path,
                              "wait until it has ended, or name another file"};
  auto log_file = os::AppendLog::open(path, kMaxLogBytes, error_if_in_use);

  // With --resume, the log is what the user asked for.
  if (log_file || call.options.suite.resumes) return log_file;
  say_notes(call, {"the finished rounds are not kept for --resume: " + log_file.error().line()});
  return std::unique_ptr<os::AppendLog>();
}

/// Lets a suite keep its finished rounds in a log for --resume, if it exports JSON to a file.
Result<void> begin_to_keep_rounds(Call& call, std::vector<BenchmarkToRun>& runs,
                                  const RunContext& context) {
  const auto log_path = call.is_suite() ? choose_log_path(call.options.output) : std::nullopt;
  if (!log_path) return {};
  const Origin origin = describe_origin(call, runs, context);

  const os::ActAs user(call.user);
  if (user.error()) return *user.error();
  auto log_file = open_log(call, *log_path);
  if (!log_file) return log_file.error();
  if (*log_file == nullptr) return {};
  call.log.emplace().file = *log_path;
  if (auto begun = begin_log(*std::move(log_file), origin, call); !begun) return begun;

  // While a benchmark runs, it replays the rounds of the log and appends its own.
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].rounds = &call.log->round_keepers[i];
  return {};
}

/// Lists what the session runs. The programs of all commands are hashed if an export or the file of
/// a series names programs by their hashes. Settings of programs are read if they are compared with
/// those of another command or session, or stored.
std::vector<BenchmarkToRun> list_benchmarks_to_run(const Call& call) {
  const bool is_in_series = call.options.gates.series_file.has_value();
  const bool hashes_all_programs = exports_whole_session(call.options.output) || is_in_series;
  const bool is_compared_or_stored = exports_or_has_baseline(call) || is_in_series;

  std::vector<BenchmarkToRun> runs;
  for (const Benchmark& benchmark : call.benchmarks)
    runs.push_back(
        {.name = benchmark.name,
         .plan = benchmark.plan,
         .engine = *benchmark.chosen.engine,
         .groups = benchmark.groups,
         .hashes_all_programs = hashes_all_programs,
         .reads_program_settings = is_compared_or_stored || benchmark.plan.commands.size() > 1});
  return runs;
}

/// Writes what must be in a file before the first run: the number of a candidate that a series
/// reserves, or the beginning of a suite's log for --resume.
Result<void> write_before_runs(Call& call, std::vector<BenchmarkToRun>& runs,
                               const RunContext& context) {
  if (auto reserved = reserve_in_series(call); !reserved) return reserved;
  return begin_to_keep_rounds(call, runs, context);
}

/// Runs the benchmarks and stores their results in them. Returns the exit status if lauka has to
/// end; nullopt if all were run.
std::optional<int> measure_benchmarks_in(const RunContext& context, Call& call) {
  std::vector<BenchmarkToRun> runs = list_benchmarks_to_run(call);
  if (auto written = write_before_runs(call, runs, context); !written)
    return print_error(written.error(), ExitStatus::Usage);

  // The seed is for the order of a suite's benchmarks. A single benchmark needs none.
  const std::uint64_t seed = call.options.run.seed.value_or(0);
  auto session_results = run_benchmarks(runs, context, seed);
  if (!session_results) return print_error(session_results.error(), ExitStatus::Failed);
  for (std::size_t i = 0; i < session_results->size(); ++i)
    call.benchmarks[i].session_result = std::move((*session_results)[i]);
  return std::nullopt;
}

/// Runs the benchmarks and stores their results in them. The machine is already tuned, if --tune
/// asks for that. Returns the exit status if lauka has to end; nullopt if all were run.
std::optional<int> measure_benchmarks(Call& call) {
  const os::MonotonicClock clock;
  const auto metric_files = open_metric_files(call);
  if (!metric_files) return print_error(metric_files.error(), ExitStatus::Failed);

  // The commands of a session share what is in this context: the launcher starts them, the observer
  // shows progress, and the tuned machine is watched for throttling.
  Announcer observer(call);
  call.measuring_began = os::utc_now();
  const auto machine = tuned_machine(call);
  const RunContext context{.launcher = *call.launcher,
                           .clock = clock,
                           .observer = observer,
                           .pending_interrupt = os::first_interrupt_signal,
                           .user = call.user,
                           .metric_files = metric_files->get(),
                           .machine = machine.get()};
  return measure_benchmarks_in(context, call);
}

/// Reads the file of --suite, and sets Call::suite_text.
Result<cli::Suite> read_suite_file(Call& call) {
  // The file may be a pipe, on which lauka could wait for ever, so an interrupt must be able to end
  // the wait.
  os::watch_for_interrupts();
  auto text = read_text(call, *call.options.suite.suite_path, "--suite", kMaxSuiteBytes);
  if (!text) return text.error();
  auto suite = cli::read_suite(call.options, *text);
  if (suite) call.suite_text = *std::move(text);
  return suite;
}

/// Sets the seed of the session. It is that of an earlier call (--resume), or the user's, or is
/// taken from the clock.
Result<void> set_seed(Call& call) {
  if (auto taken = take_seed_from_log(call); !taken) return taken;
  if (!call.options.run.seed)
    call.options.run.seed = static_cast<std::uint64_t>(os::MonotonicClock().now().count());
  return {};
}

/// Moves the benchmarks of a suite to the call. Each of them gets a seed of its own.
void move_benchmarks(std::vector<cli::Benchmark> benchmarks, Call& call) {
  call.benchmarks.reserve(benchmarks.size());
  for (cli::Benchmark& benchmark : benchmarks) {
    benchmark.options.run.seed = derive_seed(*call.options.run.seed, benchmark.name);
    call.benchmarks.push_back({.name = std::move(benchmark.name),
                               .options = std::move(benchmark.options),
                               .notes = std::move(benchmark.notes)});
  }
}

/// True if a command of the benchmark is built in several layouts, which place its code differently
/// in memory.
bool has_layouts(const Benchmark& benchmark) {
  return benchmark.plan.setting.layouts > 1;
}

/// Returns how long lauka and its commands had to wait so far because their quota of CPU time was
/// used up (throttling). Empty if nothing will show it, if there is no quota, and on macOS.
std::vector<QuotaWait> read_throttling_if_shown(const OutputOptions& options) {
  const bool is_shown = options.verbosity != Verbosity::Quiet || exports_whole_session(options);
  const os::LinuxCalls* linux_calls = os::linux_calls();  // null on macOS
  if (linux_calls == nullptr || !is_shown) return {};
  return os::read_throttling(*linux_calls);
}

/// Tunes the machine if the user asks for it, runs the benchmarks, and restores the machine.
/// Returns the exit status if lauka has to end; nullopt if all were run.
std::optional<int> measure_on_tuned_machine(Call& call) {
  const std::vector<QuotaWait> throttling_before = read_throttling_if_shown(call.options.output);

  // If begin_tuning() fails, it has changed nothing that must be restored.
  if (auto begun = begin_tuning(call); !begun)
    return print_error(begun.error(), ExitStatus::Failed);
  const auto status_if_ended = measure_benchmarks(call);
  if (!throttling_before.empty())
    call.throttling =
        longest_quota_wait(throttling_before, os::read_throttling(*os::linux_calls()));
  end_tuning(call);
  compare_tuned_with_untuned_runs(call);
  return status_if_ended;
}

}  // namespace

// A suite is a file of several benchmarks. They are run in one session, which has options, too.
Result<void> add_suite(Call& call) {
  auto suite = read_suite_file(call);
  if (!suite) return suite.error();

  // From here on, the options of the call are those of the session: the file's, completed by the
  // command line's. What the user typed is kept, because --resume compares it.
  suite->session_options.command_line_options = std::move(call.options.command_line_options);
  call.options = std::move(suite->session_options);
  if (auto set = set_seed(call); !set) return set;

  // The gates of all benchmarks share an error rate: the probability of any false alarm, or the
  // share of false alarms among all (false discovery rate).
  call.gate_error_rate = call.options.gates.controls_fdr ? gate::ErrorRate::ShareOfFalseFails
                                                         : gate::ErrorRate::AnyFalseFail;
  move_benchmarks(std::move(suite->benchmarks), call);
  return {};
}

bool exports_or_has_baseline(const Call& call) {
  return !call.options.output.exports.empty() ||
         std::ranges::any_of(call.benchmarks, [](const Benchmark& benchmark) {
           return benchmark.options.gates.baseline_file.has_value();
         });
}

// Runs the benchmarks, on a tuned machine if the user asks for it. What tuning or the runs may
// change, such as the branch in git, is read before them. Returns an exit status if lauka must end
// now, without showing results.
std::optional<int> measure(Call& call) {
  say_hints(call);
  std::vector<Label> commit_and_branch = await_head_labels(call);

  // All layouts are built now, so that no compiler runs on the tuned machine or between the runs.
  if (std::ranges::any_of(call.benchmarks, has_layouts)) {
    if (const auto status_of_builds = build_layouts(call)) return status_of_builds;
  }

  // The limits on what lauka may use, such as its CPUs, are read before tuning, which may change
  // the CPUs.
  const os::LinuxCalls* linux_calls = os::linux_calls();  // null on macOS
  if (linux_calls != nullptr && exports_or_has_baseline(call))
    call.allowance = os::read_allowance(*linux_calls);

  const auto status_if_ended = measure_on_tuned_machine(call);

  // If lauka ends now, no results are shown, so they need no labels.
  if (!status_if_ended) add_git_labels(call, std::move(commit_and_branch));
  return status_if_ended;
}

void end_log(Call& call, bool is_exported) {
  if (!call.log) return;
  os::AppendLog& lines = *call.log->lines;
  const bool is_whole = std::ranges::none_of(call.benchmarks, &Benchmark::was_cut_short);
  // A failed export has freed its disk space, so the lines may fit now.
  const bool is_kept = lines.flush();
  const os::ActAs owner(call.user);
  if (is_whole && is_exported) {
    if (!owner.error()) lines.remove();
  } else if (!is_kept) {
    say_notes(call, {"the finished rounds could not be kept for --resume"});
  } else if (is_whole) {
    say_notes(call,
              {fmt::format("all rounds are kept in {}; make room, and use --resume to export them",
                           cited(call.log->file))});
  }
}

}  // namespace lauka
