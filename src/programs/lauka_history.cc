#include "core/choices.h"
#include "core/numbers.h"
#include "core/text.h"
#include "history/answer_text.h"
#include "history/database.h"
#include "history/history_request.h"
#include "history/page.h"
#include "history/session_diff.h"
#include "history/store.h"
#include "history/trend.h"
#include "os/export_files.h"
#include "os/files.h"
#include "os/signals.h"

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

// lauka-history is a program of its own, because lauka must stay small and statically linked.

namespace lauka::history {

namespace {

/// Prints an error or a note, and returns the status for main().
int report_error(const Error& error, ExitStatus status) {
  static_cast<void>(
      os::write_to(os::StandardStream::Error, "lauka-history: " + one_line(error.line()) + "\n"));
  return static_cast<int>(status);
}

report::Style choose_style() {
  const bool is_terminal = os::is_terminal(os::StandardStream::Output);
  return {.color = os::wants_color(os::StandardStream::Output),
          .width = is_terminal ? os::terminal_width(os::StandardStream::Output, 0) : 0,
          .ascii = !os::locale_uses_utf8()};
}

/// Reports an error whose subject is not the database, so that run() does not name the database.
Answer report_and_fail(const Error& error) {
  report_error(error, ExitStatus::Failed);
  return {.status = ExitStatus::Failed};
}

// run() puts the database's name before the errors that these functions return.

Result<Answer> add_sessions(Database& database, const Request& request) {
  const auto added = add_files(database, request.command_arguments,
                               [](const Error& error) { report_error(error, ExitStatus::Failed); });
  if (!added) return added.error();
  const std::string stored_text =
      added->already_stored > 0 ? fmt::format(", {} there already", added->already_stored) : "";
  const std::string refused_text =
      added->refused_files > 0 ? fmt::format(", {} refused", added->refused_files) : "";
  std::string notes;
  for (const auto& [name, with_settings] : added->new_because_of_settings)
    notes +=
        one_line(fmt::format(
            "note: {} was measured with other settings, so it has a separate history for them: {}",
            cited(name), cited(with_settings))) +
        "\n";
  return Answer{fmt::format("{} added to {}{}{}\n{}", plural(added->added_sessions, "session"),
                            one_line(database.name()), stored_text, refused_text, notes),
                added->refused_files > 0 ? ExitStatus::Failed : ExitStatus::Done};
}

Result<Answer> list_sessions_or_benchmarks(Database& database, const Request& request) {
  Loader loader(database);
  if (request.lists_benchmarks) {
    const auto variants = loader.load_variants(request.series_selection);
    if (!variants) return variants.error();
    return Answer{benchmarks_text(*variants, choose_style())};
  }
  const auto sessions = loader.load_latest_sessions(request.series_selection.max_sessions,
                                                    request.series_selection.commit);
  if (!sessions) return sessions.error();
  return Answer{sessions_text(*sessions, choose_style())};
}

/// Returns the names of all metrics of some commands.
Result<std::vector<std::string>> list_metric_names(Loader& loader,
                                                   const std::vector<MeasuredCommand>& commands) {
  std::set<std::string> names;
  for (const MeasuredCommand& command : commands) {
    const auto all_series = loader.load_series(command, {.metrics = {"all"}});
    if (!all_series) return all_series.error();
    for (const MetricHistory& series : *all_series) names.insert(series.metric.name);
  }
  return std::vector<std::string>(names.begin(), names.end());
}

/// Returns the error that there is no wanted series. If the user's metric is unknown, suggests one
/// with a similar name. `commands`: those that match the selection.
Error make_error_of_no_series(Loader& loader, const SeriesSelection& wanted,
                              const std::vector<MeasuredCommand>& commands) {
  if (!wanted.branch.empty())
    return Error{"there are no sessions of the branch " + cited(wanted.branch),
                 "run lauka-history list to see the branches"};

  const auto known_names = list_metric_names(loader, commands);
  if (!known_names) return known_names.error();
  const std::string wanted_name = wanted.metrics.empty() ? "" : wanted.metrics.front();
  const auto near_names = nearest_names(wanted_name, *known_names);
  std::string remedy = "run lauka-history show BENCHMARK --metric all to see all";
  if (!near_names.empty()) remedy = fmt::format("did you mean {}?", listed(near_names, "or"));
  return Error{"there is no metric " + cited(wanted_name), remedy};
}

/// Calls `visit` with each wanted series: the values of one metric of one command, session by
/// session. Returns an error if there is no such series.
Result<void> for_each_series(Loader& loader, const SeriesSelection& wanted,
                             const std::function<Result<void>(MetricHistory)>& visit) {
  const auto commands = loader.load_variants(wanted);
  if (!commands) return commands.error();

  bool has_visited = false;
  for (const MeasuredCommand& command : *commands) {
    auto series_by_metric = loader.load_series(command, wanted);
    if (!series_by_metric) return series_by_metric.error();
    for (MetricHistory& series : *series_by_metric) {
      has_visited = true;
      if (auto visited = visit(std::move(series)); !visited) return visited;
    }
  }

  if (!has_visited) return make_error_of_no_series(loader, wanted, *commands);
  return {};
}

Result<void> for_each_series_with_steps(Database& database, const Request& request,
                                        const std::function<void(SteppedSeries&)>& visit) {
  Loader loader(database);
  return for_each_series(
      loader, request.series_selection, [&](MetricHistory series) -> Result<void> {
        auto stepped = find_steps_and_notes(loader, std::move(series), request.compared_with);
        if (!stepped) return stepped.error();
        visit(*stepped);
        return {};
      });
}

/// Returns `answer` with notes about splits of the wanted histories.
Result<Answer> add_notes_on_splits(Database& database, const Request& request, Answer answer) {
  if (!request.series_selection.machine_class_prefix.empty()) return answer;
  const auto splits = Loader(database).find_splits(request.series_selection);
  if (!splits) return splits.error();
  answer.text += write_split_notes(*splits);
  return answer;
}

Result<Answer> show_series(Database& database, const Request& request) {
  if (request.lists_benchmarks) return list_sessions_or_benchmarks(database, request);

  std::string text;
  auto done = for_each_series_with_steps(database, request, [&](const SteppedSeries& stepped) {
    text += (text.empty() ? "" : "\n") + series_text(stepped, choose_style());
  });
  if (!done) return done.error();
  return add_notes_on_splits(database, request, Answer{text});
}

enum class StepsToShow : unsigned char { All, Alarms };

struct FoundSteps {
  std::string text{};
  std::size_t alarms = 0;
};

/// The numbers of histories that were looked at, and of what was found in them.
struct StepCounts {
  std::size_t histories = 0;
  std::size_t too_short = 0;  ///< histories that are too short for steps
  std::size_t alarms = 0;
};

std::string write_summary(const StepCounts& counts) {
  const std::string findings =
      counts.alarms > 0 ? plural(counts.alarms, "new regression") : "no new regressions";
  std::string text = fmt::format("lauka-history looked at {} {} and found {}", counts.histories,
                                 counts.histories == 1 ? "history" : "histories", findings);
  if (counts.too_short > 0)
    text += fmt::format("; {} are too short, because {} commits are needed", counts.too_short,
                        stats::kMinForSteps);
  return text + "\n";
}

/// Looks for steps in the wanted histories, and describes them. A step is a commit from which on
/// the values have another level. A step that needs the attention of the user is an alarm.
Result<FoundSteps> find_wanted_steps(Database& database, const Request& request,
                                     StepsToShow shown) {
  std::string text;
  StepCounts counts;
  const auto is_alarm = [](const KnownStep& step) { return step.state == StepState::Alarm; };
  const auto add_history = [&](SteppedSeries& history) {
    ++counts.histories;
    if (history.trend.observations.size() < stats::kMinForSteps) ++counts.too_short;
    counts.alarms += static_cast<std::size_t>(std::ranges::count_if(history.steps, is_alarm));

    if (shown == StepsToShow::Alarms) std::erase_if(history.steps, std::not_fn(is_alarm));
    text += steps_text(history, choose_style());
  };
  if (auto done = for_each_series_with_steps(database, request, add_history); !done)
    return done.error();
  return FoundSteps{.text = text + write_summary(counts), .alarms = counts.alarms};
}

Result<Answer> show_steps(Database& database, const Request& request) {
  auto found = find_wanted_steps(database, request, StepsToShow::All);
  if (!found) return found.error();
  return add_notes_on_splits(database, request, Answer{std::move(found->text)});
}

Result<Answer> check_for_alarms(Database& database, const Request& request) {
  auto found = find_wanted_steps(database, request, StepsToShow::Alarms);
  if (!found) return found.error();
  return add_notes_on_splits(database, request,
                             Answer{std::move(found->text),
                                    found->alarms > 0 ? ExitStatus::GateFailed : ExitStatus::Done});
}

/// Stores the user's note about the step with the id that was typed, so that `check` no longer
/// fails because of the step. The id of a step is made of its series and of the time when the first
/// session after the step began. So each session has an id, and no statistics are needed to find
/// the one that was typed.
Result<Answer> acknowledge_step(Database& database, const Request& request) {
  Loader loader(database);
  const std::string& wanted_id = request.command_arguments[0];
  bool has_found_step = false;

  const auto acknowledge_in = [&](const MetricHistory& series) -> Result<void> {
    if (has_found_step) return {};  // an earlier series had the step
    const auto has_wanted_id = [&](const SessionPoint& session) {
      return step_id(series, session.began) == wanted_id;
    };
    const auto first_after_step = std::ranges::find_if(series.points, has_wanted_id);
    if (first_after_step == series.points.end()) return {};

    has_found_step = true;
    return acknowledge(database, {.variant = series.variant.id,
                                  .metric = series.metric.name,
                                  .began = first_after_step->began,
                                  .text = request.note});
  };

  if (auto done = for_each_series(loader, request.series_selection, acknowledge_in); !done)
    return done.error();
  if (!has_found_step)
    return Error{"has no step " + cited(wanted_id), "run lauka-history steps to see all"};
  return Answer{};
}

using SeriesByKey = std::map<std::string, MetricHistory>;

/// Adds the points of a session to the series of earlier sessions. Begins those that are not there.
void add_points(const SessionRecord& session, const SeriesSelection& wanted,
                SeriesByKey& series_by_key) {
  // The series of one session have one point each.
  for (const MetricHistory& of_session : make_histories(session, wanted)) {
    const std::string key = of_session.variant.machine_class + "\n" + title_of(of_session);
    const auto [entry, is_first_of_series] = series_by_key.emplace(key, of_session);
    MetricHistory& series = entry->second;
    if (!is_first_of_series) series.points.push_back(of_session.points.front());
  }
}

bool has_several_commits(const SeriesByKey::value_type& entry) {
  const auto& points = entry.second.points;
  const auto& first_commit = points.front().commit;
  return std::ranges::any_of(
      points, [&](const SessionPoint& point) { return point.commit != first_commit; });
}

/// Tells the user if several of `commits` are averaged. The mean of different commits is no value
/// of a program.
void tell_if_commits_are_averaged(const SeriesByKey& series_by_key,
                                  const std::set<std::string>& commits) {
  if (std::ranges::any_of(series_by_key, has_several_commits))
    report_error({fmt::format("note: sessions of {} on the same machine are averaged",
                              plural(commits.size(), "commit")),
                  "combine only sessions of the same commit"},
                 ExitStatus::Done);
}

/// Reads the sessions in the files that the user named. Returns one series for each metric of each
/// command and class of machines, with a point for each session.
Result<std::vector<MetricHistory>> read_series_in_files(const Request& request) {
  SeriesByKey series_by_key;
  std::set<std::string> ids_of_read_sessions;
  std::set<std::string> commits;

  for (const std::string& file : request.command_arguments) {
    const auto session = read_session_file(file);
    if (!session) return session.error().prefixed(cited(file));

    // If two files have the same session, it counts once.
    const bool is_new_session = ids_of_read_sessions.insert(session->id).second;
    if (!is_new_session) continue;
    commits.insert(commit_of(*session));
    add_points(*session, request.series_selection, series_by_key);
  }

  tell_if_commits_are_averaged(series_by_key, commits);

  std::vector<MetricHistory> all_series;
  all_series.reserve(series_by_key.size());
  for (auto& [key, series] : series_by_key) all_series.push_back(std::move(series));
  return all_series;
}

Answer combine_series(std::span<const MetricHistory> all, const Request& request) {
  Answer answer;
  for (const FleetEffect& effect : combine_by_title(all)) {
    answer.text += (answer.text.empty() ? "" : "\n") + fleet_text(effect, choose_style());
    if (request.worse_limit_percent &&
        is_worse_than(effect, *request.worse_limit_percent, request.judges_each_machine))
      answer.status = ExitStatus::GateFailed;
  }
  if (answer.text.empty())
    return report_and_fail({"no metric has a confidence interval for its change from a reference",
                            "combine sessions of two commands or of a suite"});
  return answer;
}

std::optional<Answer> combine_files(const Request& request) {
  if (request.command_arguments.empty()) return std::nullopt;
  const auto all = read_series_in_files(request);
  return all ? combine_series(*all, request) : report_and_fail(all.error());
}

Result<ReadFile> read_file_of_sessions(const std::string& file) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30U;
  const auto text = os::read_file(file, most_bytes);
  if (!text) return text.error().prefixed(cited(file));
  auto sessions = read_sessions(*text);
  if (!sessions) return sessions.error().about(cited(file));
  return ReadFile{file, *std::move(sessions)};
}

std::optional<Answer> diff_files(const Request& request) {
  const auto first = read_file_of_sessions(request.command_arguments[0]);
  if (!first) return report_and_fail(first.error());
  const auto second = read_file_of_sessions(request.command_arguments[1]);
  if (!second) return report_and_fail(second.error());
  return Answer{diff_text(*first, *second)};
}

Result<Answer> combine_commit(Database& database, const Request& request) {
  Loader loader(database);
  std::vector<MetricHistory> all;
  auto done =
      for_each_series(loader, request.series_selection, [&](MetricHistory series) -> Result<void> {
        all.push_back(std::move(series));
        return {};
      });
  return done ? Result<Answer>(combine_series(all, request)) : done.error();
}

Result<Answer> write_file(const std::string& target,
                          const std::function<Result<void>(const Sink&)>& write) {
  auto file = os::ExportFile::open(target);
  if (!file) return report_and_fail(file.error());
  if (auto done = write([&](std::string_view text) { (*file)->write(text); }); !done)
    return done.error();
  if (auto done = (*file)->commit(); !done) return report_and_fail(done.error());
  return Answer{};
}

Result<Answer> write_page(Database& database, const Request& request) {
  const std::string& target = request.command_arguments[0];
  auto written = write_file(target, [&](const Sink& sink) -> Result<void> {
    std::vector<SteppedSeries> all;
    auto done = for_each_series_with_steps(
        database, request, [&](SteppedSeries& stepped) { all.push_back(std::move(stepped)); });
    if (done)
      write_history_page(request.title.empty() ? "Benchmarks, commit by commit" : request.title,
                         request.commit_url, all, sink);
    return done;
  });
  if (written && written->status == ExitStatus::Done && !os::is_standard_output(target))
    written->text = "wrote " + one_line(target) + "\n";
  return written;
}

Result<Answer> write_table(Database& database, const Request& request) {
  return write_file(request.output, [&](const Sink& sink) -> Result<void> {
    Loader loader(database);
    const auto writer = table_writer(request.command_arguments[0], sink);
    auto done = for_each_series(loader, request.series_selection,
                                [&](const MetricHistory& series) -> Result<void> {
                                  writer.add(series);
                                  return {};
                                });
    if (done) writer.end();
    return done;
  });
}

Result<Answer> forget_sessions(Database& database, const Request& request) {
  const auto count = forget(database, {.session = request.first_argument(),
                                       .commit = request.series_selection.commit,
                                       .before_date = request.before_date});
  if (!count) return count.error();
  return Answer{fmt::format("{} forgotten\n", plural(*count, "session"))};
}

/// Prints an answer, and returns the exit status.
int print_answer(const Answer& answer) {
  if (!answer.text.empty())
    if (auto said = os::write_to(os::StandardStream::Output, answer.text); !said)
      return report_error(said.error(), ExitStatus::Failed);
  return static_cast<int>(answer.status);
}

/// Refuses to create a database for files of which none can be read.
std::optional<Answer> refuse_if_unreadable(const Request& request) {
  const bool is_server = request.database.find(':') != std::string::npos;
  if (is_server || os::is_regular_file(request.database)) return std::nullopt;

  std::vector<Error> errors;
  for (const std::string& file : request.command_arguments) {
    const auto record = read_session_file(file);
    if (record) return std::nullopt;
    errors.push_back(record.error().prefixed(cited(file)));
  }
  for (const Error& error : errors) report_error(error, ExitStatus::Failed);
  return Answer{.status = ExitStatus::Failed};
}

// HistoryCommand::check_and_complete: each returns what is wrong with a request; empty if it is
// right.

std::string default_to_all_series(Request& request) {
  SeriesSelection& wanted = request.series_selection;
  if (wanted.metrics.empty()) wanted.metrics = {"all"};
  if (wanted.role.empty()) wanted.role = "all";
  return {};
}

std::string take_first_argument_as_benchmark(Request& request) {
  request.series_selection.benchmark = request.first_argument();
  return {};
}

std::string check_and_complete_show(Request& request) {
  request.lists_benchmarks = request.first_argument().empty();
  return request.lists_benchmarks ? default_to_all_series(request)
                                  : take_first_argument_as_benchmark(request);
}

std::string check_and_complete_combine(Request& request) {
  if (!request.worse_limit_text.empty()) {
    const auto percent = parse_decimal(request.worse_limit_text, {0.0, true}, {1000.0, true});
    if (!percent)
      return "--fail-if-worse " + cited(request.worse_limit_text) + " " + percent.error().what;
    request.worse_limit_percent = *percent;
  }
  if (request.judges_each_machine && !request.worse_limit_percent)
    return "--each-machine has no effect without --fail-if-worse";

  SeriesSelection& wanted = request.series_selection;
  const bool has_files = !request.command_arguments.empty();
  if (!has_files && wanted.commit.empty())
    return "'combine' needs files, or --commit COMMIT to use sessions from the database";
  if (has_files && !(wanted.commit + wanted.machine_class_prefix).empty())
    return "--commit and --machine choose sessions of the database, not files";
  wanted.drops_other_commits = true;
  return {};
}

std::string check_and_complete_page(Request& request) {
  return fault_in_commit_url(request.commit_url);
}

std::string check_and_complete_export(Request& request) {
  const auto formats = split(request.command->argument_usage, '|');
  if (std::ranges::find(formats, request.first_argument()) == formats.end())
    return "the format " + cited(request.first_argument()) + " is unknown";
  request.series_selection.drops_other_commits = true;
  request.series_selection.reads_uuids = true;
  return default_to_all_series(request);
}

std::string check_and_complete_forget(Request& request) {
  const std::array are_missing = {request.first_argument().empty(),
                                  request.series_selection.commit.empty(),
                                  request.before_date.empty()};
  if (std::ranges::count(are_missing, false) == 1) return {};
  return "'forget' needs exactly one of SESSION, --commit and --before";
}

// The options that only one command has.

constexpr auto kListOptions = std::to_array<CommandOption>({
    {"benchmarks", "", "list the benchmarks instead of the sessions", &Request::lists_benchmarks},
});
constexpr auto kAcknowledgeOptions = std::to_array<CommandOption>({
    {"note", "TEXT", "say why the step is acceptable (required)", &Request::note, true},
});
constexpr auto kCombineOptions = std::to_array<CommandOption>({
    {"fail-if-worse", "PCT",
     "exit with status 3 if the change is significantly worse by more than PCT percent",
     &Request::worse_limit_text},
    {"each-machine", "", "judge each class of machines separately, too (needs --fail-if-worse)",
     &Request::judges_each_machine},
});
constexpr auto kPageOptions = std::to_array<CommandOption>({
    {"commit-url", "URL", "link each commit to this address: 'https://host/repo/commit/{}'",
     &Request::commit_url},
    {"title", "TEXT", "set the title of the page", &Request::title},
});
constexpr auto kExportOptions = std::to_array<CommandOption>({
    {"output,o", "FILE", "write to FILE (default: standard output)", &Request::output},
});
constexpr auto kForgetOptions = std::to_array<CommandOption>({
    {"before", "DATE", "delete all sessions that began before DATE, such as 2026-11-22 (UTC)",
     &Request::before_date},
});

constexpr std::size_t kAnyNumber = 1'000'000;  // of arguments
constexpr unsigned kGroupsOfSteps = kGroupSeries | kGroupBranch | kGroupLast | kGroupCommit;
constexpr auto kCommands = std::to_array<HistoryCommand>({
    {.name = "add",
     .argument_usage = "FILE...",
     .fewest_arguments = 1,
     .most_arguments = kAnyNumber,
     .purpose = "Adds sessions that lauka --export-json wrote. A session that is already there "
                "remains as it is.",
     .access = Access::CreateMissing,
     .answer_without_database = refuse_if_unreadable,
     .answer = add_sessions},
    {.name = "list",
     .groups = kGroupLast | kGroupCommit,
     .purpose = "Lists the sessions, newest first.",
     .max_sessions = 50,
     .options = kListOptions,
     .check_and_complete = default_to_all_series,
     .answer = list_sessions_or_benchmarks},
    {.name = "show",
     .argument_usage = "[BENCHMARK]",
     .most_arguments = 1,
     .groups = kGroupSeries | kGroupBranch | kGroupLast,
     .purpose = "Shows the value of a benchmark at each commit, with its 95% interval and the "
                "change since the commit before. Lists the benchmarks if you name none.",
     .max_sessions = 100,
     .check_and_complete = check_and_complete_show,
     .answer = show_series},
    {.name = "steps",
     .argument_usage = "[BENCHMARK]",
     .most_arguments = 1,
     .groups = kGroupsOfSteps,
     .purpose = "Shows at which commits the level of a benchmark changed, and by how much.",
     .max_sessions = 1000,
     .check_and_complete = take_first_argument_as_benchmark,
     .answer = show_steps},
    {.name = "check",
     .argument_usage = "[BENCHMARK]",
     .most_arguments = 1,
     .groups = kGroupsOfSteps,
     .purpose = "Exits with status 3 if a benchmark became slower or larger in a step that later "
                "commits confirmed and that nobody acknowledged.",
     .max_sessions = 200,
     .check_and_complete = take_first_argument_as_benchmark,
     .answer = check_for_alarms},
    {.name = "ack",
     .argument_usage = "STEP",
     .fewest_arguments = 1,
     .most_arguments = 1,
     .purpose = "Acknowledges a step that `steps` shows, so that `check` no longer fails because "
                "of it.",
     .max_sessions = kMaxSessions,
     .options = kAcknowledgeOptions,
     .check_and_complete = default_to_all_series,
     .access = Access::Change,
     .answer = acknowledge_step},
    {.name = "combine",
     .argument_usage = "[FILE...]",
     .most_arguments = kAnyNumber,
     .groups = kGroupSeries | kGroupCommit,
     .purpose = "Combines the sessions of one commit from several machines into one change from "
                "reference to candidate.",
     .max_sessions = 1000,
     .options = kCombineOptions,
     .check_and_complete = check_and_complete_combine,
     .answer_without_database = combine_files,
     .answer = combine_commit},
    {.name = "diff",
     .argument_usage = "FILE FILE",
     .fewest_arguments = 2,
     .most_arguments = 2,
     .purpose = "Lists how the circumstances of two sessions differ: shared libraries, compiler, "
                "environment, priority, limits, kernel and the like.",
     .answer_without_database = diff_files},
    {.name = "page",
     .argument_usage = "OUT.html",
     .fewest_arguments = 1,
     .most_arguments = 1,
     .groups = kGroupBenchmark | kGroupSeries | kGroupBranch | kGroupLast,
     .purpose = "Writes a self-contained page with the history of all benchmarks.",
     .max_sessions = 200,
     .options = kPageOptions,
     .check_and_complete = check_and_complete_page,
     .answer = write_page},
    {.name = "export",
     .argument_usage = "csv|jsonl|benchfmt|bmf|otava",
     .fewest_arguments = 1,
     .most_arguments = 1,
     .groups = kGroupBenchmark | kGroupSeries | kGroupAllByDefault | kGroupBranch | kGroupLast |
               kGroupCommit,
     .purpose = "Exports the history in a format that other programs can read.",
     .max_sessions = kMaxSessions,
     .options = kExportOptions,
     .check_and_complete = check_and_complete_export,
     .answer = write_table},
    {.name = "forget",
     .argument_usage = "[SESSION]",
     .most_arguments = 1,
     .groups = kGroupCommit,
     .purpose = "Deletes sessions from the database for good. The JSON files remain as they are.",
     .options = kForgetOptions,
     .commit_help = "delete all sessions of this commit",
     .check_and_complete = check_and_complete_forget,
     .access = Access::Change,
     .answer = forget_sessions},
});

int run(std::span<const std::string> arguments) {
  const auto request = parse(arguments, kCommands);
  if (!request) return report_error(request.error(), ExitStatus::Usage);
  if (request->command == nullptr) return print_answer({request->answer});

  const HistoryCommand& command = *request->command;
  if (command.answer_without_database != nullptr)
    if (const auto answer = command.answer_without_database(*request)) return print_answer(*answer);

  auto database = open_history(request->database, command.access);
  if (!database) return report_error(database.error(), ExitStatus::Failed);
  const auto answer = command.answer(*database, *request);
  return answer ? print_answer(*answer)
                : report_error(answer.error().prefixed("the database " + cited(database->name())),
                               ExitStatus::Failed);
}

}  // namespace
}  // namespace lauka::history

int main(int argc, char** argv) {
  lauka::os::ignore_file_size_signal();
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return lauka::history::run(arguments);
  } catch (const std::exception& error) {
    return lauka::history::report_error(
        {std::string("internal error: ") + error.what(), "please report this"},
        lauka::ExitStatus::Failed);
  }
}
