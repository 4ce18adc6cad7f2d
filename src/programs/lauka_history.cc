#include "core/choices.h"
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
#include <exception>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

// lauka-history is a program of its own, because lauka must stay small and statically linked.

namespace lauka::history {

namespace {

int refuse(const Error& error, ExitStatus status) {
  static_cast<void>(
      os::write_to(os::StandardStream::Error, "lauka-history: " + one_line(error.line()) + "\n"));
  return static_cast<int>(status);
}

report::Style style() {
  const bool is_terminal = os::is_terminal(os::StandardStream::Output);
  return {.color = os::wants_color(os::StandardStream::Output),
          .width = is_terminal ? os::terminal_width(os::StandardStream::Output, 0) : 0,
          .ascii = !os::locale_uses_utf8()};
}

struct Answer {
  std::string text{};
  ExitStatus status = ExitStatus::Done;
};

Answer failed(const Error& error) {
  refuse(error, ExitStatus::Failed);
  return {.status = ExitStatus::Failed};
}

// run() puts the database's name before the errors that these functions return.

Result<Answer> add(Database& database, const Request& request) {
  const auto added = add_files(database, request.command_arguments,
                               [](const Error& error) { refuse(error, ExitStatus::Failed); });
  if (!added) return added.error();
  const std::string there =
      added->already_stored > 0 ? fmt::format(", {} there already", added->already_stored) : "";
  const std::string bad =
      added->refused_files > 0 ? fmt::format(", {} refused", added->refused_files) : "";
  std::string notes;
  for (const auto& [name, with_settings] : added->new_because_of_settings)
    notes +=
        one_line(fmt::format(
            "note: {} was measured with other settings, so it has a separate history for them: {}",
            cited(name), cited(with_settings))) +
        "\n";
  return Answer{fmt::format("{} added to {}{}{}\n{}", plural(added->added_sessions, "session"),
                            one_line(database.name()), there, bad, notes),
                added->refused_files > 0 ? ExitStatus::Failed : ExitStatus::Done};
}

Result<Answer> list(Database& database, const Request& request) {
  Loader loader(database);
  if (request.lists_benchmarks) {
    const auto variants = loader.variants(request.series_selection);
    if (!variants) return variants.error();
    return Answer{benchmarks_text(*variants, style())};
  }
  const auto sessions =
      loader.sessions(request.series_selection.max_sessions, request.series_selection.commit);
  if (!sessions) return sessions.error();
  return Answer{sessions_text(*sessions, style())};
}

Result<void> for_each_series(Loader& loader, const SeriesSelection& wanted,
                             const std::function<Result<void>(MetricHistory)>& visit) {
  const auto variants = loader.variants(wanted);
  if (!variants) return variants.error();

  bool found = false;
  for (const MeasuredCommand& variant : *variants) {
    auto all = loader.series(variant, wanted);
    if (!all) return all.error();
    for (MetricHistory& series : *all) {
      found = true;
      if (auto taken = visit(std::move(series)); !taken) return taken;
    }
  }

  if (!found && !wanted.branch.empty())
    return Error{"there are no sessions of the branch " + cited(wanted.branch),
                 "run lauka-history list to see the branches"};
  if (found) return {};

  // The names of all metrics are read only for the suggestion in the error.
  std::set<std::string> names;
  for (const MeasuredCommand& variant : *variants) {
    const auto all = loader.series(variant, {.metrics = {"all"}});
    if (!all) return all.error();
    for (const MetricHistory& series : *all) names.insert(series.metric.name);
  }
  const std::string wanted_name = wanted.metrics.empty() ? "" : wanted.metrics.front();
  const auto near =
      nearest_names(wanted_name, std::vector<std::string>(names.begin(), names.end()));
  return Error{"there is no metric " + cited(wanted_name),
               near.empty() ? "run lauka-history show BENCHMARK --metric all to see all"
                            : fmt::format("did you mean {}?", listed(near, "or"))};
}

Result<void> for_each_stepped(Database& database, const Request& request,
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
Result<Answer> with_splits(Database& database, const Request& request, Answer answer) {
  if (!request.series_selection.machine_class_prefix.empty()) return answer;
  const auto splits = Loader(database).find_splits(request.series_selection);
  if (!splits) return splits.error();
  answer.text += splits_text(*splits);
  return answer;
}

Result<Answer> show(Database& database, const Request& request) {
  std::string text;
  auto done = for_each_stepped(database, request, [&](const SteppedSeries& stepped) {
    text += (text.empty() ? "" : "\n") + series_text(stepped, style());
  });
  if (!done) return done.error();
  return with_splits(database, request, Answer{text});
}

Result<Answer> steps(Database& database, const Request& request) {
  std::string text;
  std::size_t looked_at = 0;
  std::size_t short_ones = 0;
  std::size_t alarms = 0;
  const bool only_alarms = request.action == Action::Check;

  auto done = for_each_stepped(database, request, [&](SteppedSeries& stepped) {
    ++looked_at;
    if (stepped.trend.observations.size() < stats::kMinForSteps) ++short_ones;
    const auto is_alarm = [](const KnownStep& step) { return step.state == StepState::Alarm; };
    alarms += static_cast<std::size_t>(std::ranges::count_if(stepped.steps, is_alarm));
    if (only_alarms) std::erase_if(stepped.steps, std::not_fn(is_alarm));
    text += steps_text(stepped, style());
  });
  if (!done) return done.error();

  text += fmt::format(
      "lauka-history looked at {} {} and found {}", looked_at,
      looked_at == 1 ? "history" : "histories",
      alarms == 0 ? std::string("no new regressions") : plural(alarms, "new regression"));
  if (short_ones > 0)
    text += fmt::format("; {} are too short, because {} commits are needed", short_ones,
                        stats::kMinForSteps);

  return with_splits(
      database, request,
      Answer{text + "\n", only_alarms && alarms > 0 ? ExitStatus::GateFailed : ExitStatus::Done});
}

Result<Answer> acknowledge_step(Database& database, const Request& request) {
  Loader loader(database);
  bool found = false;

  auto done = for_each_series(
      loader, request.series_selection, [&](const MetricHistory& series) -> Result<void> {
        for (const SessionPoint& point : series.points) {
          if (found || step_id(series, point.began) != request.command_arguments[0]) continue;
          found = true;
          return acknowledge(database, {.variant = series.variant.id,
                                        .metric = series.metric.name,
                                        .began = point.began,
                                        .text = request.note});
        }
        return {};
      });

  if (!done) return done.error();
  if (!found)
    return Error{"has no step " + cited(request.command_arguments[0]),
                 "run lauka-history steps to see all"};
  return Answer{};
}

Result<std::vector<MetricHistory>> series_in_files(const Request& request) {
  std::map<std::string, MetricHistory> all;
  std::set<std::string> ids;
  std::set<std::string> commits;

  for (const std::string& file : request.command_arguments) {
    const auto record = read_session_file(file);
    if (!record) return record.error().prefixed(cited(file));
    if (!ids.insert(record->id).second) continue;
    commits.insert(commit_of(*record));
    for (MetricHistory& series : make_histories(*record, request.series_selection)) {
      const std::string key = series.variant.machine_class + "\n" + title_of(series);
      const auto [place, is_new] = all.emplace(key, series);
      if (!is_new) place->second.points.push_back(series.points.front());
    }
  }

  const auto has_several = [](const auto& entry) {
    const auto& points = entry.second.points;
    return std::ranges::any_of(
        points, [&](const SessionPoint& point) { return point.commit != points.front().commit; });
  };
  if (std::ranges::any_of(all, has_several))
    refuse({fmt::format("note: sessions of {} on the same machine are averaged",
                        plural(commits.size(), "commit")),
            "combine only sessions of the same commit"},
           ExitStatus::Done);

  std::vector<MetricHistory> list;
  list.reserve(all.size());
  for (auto& [key, series] : all) list.push_back(std::move(series));
  return list;
}

Answer combined(std::span<const MetricHistory> all, const Request& request) {
  Answer answer;
  for (const FleetEffect& effect : combine_by_title(all)) {
    answer.text += (answer.text.empty() ? "" : "\n") + fleet_text(effect, style());
    if (request.worse_limit_percent &&
        is_worse_than(effect, *request.worse_limit_percent, request.judges_each_machine))
      answer.status = ExitStatus::GateFailed;
  }
  if (answer.text.empty())
    return failed({"no metric has a confidence interval for its change from a reference",
                   "combine sessions of two commands or of a suite"});
  return answer;
}

Answer combine_files(const Request& request) {
  const auto all = series_in_files(request);
  return all ? combined(*all, request) : failed(all.error());
}

Result<ReadFile> read_file_of_sessions(const std::string& file) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30U;
  const auto text = os::read_file(file, most_bytes);
  if (!text) return text.error().prefixed(cited(file));
  auto sessions = read_sessions(*text);
  if (!sessions) return sessions.error().about(cited(file));
  return ReadFile{file, *std::move(sessions)};
}

Answer diff_files(const Request& request) {
  const auto first = read_file_of_sessions(request.command_arguments[0]);
  if (!first) return failed(first.error());
  const auto second = read_file_of_sessions(request.command_arguments[1]);
  if (!second) return failed(second.error());
  return {diff_text(*first, *second)};
}

Result<Answer> combine_commit(Database& database, const Request& request) {
  Loader loader(database);
  std::vector<MetricHistory> all;
  auto done =
      for_each_series(loader, request.series_selection, [&](MetricHistory series) -> Result<void> {
        all.push_back(std::move(series));
        return {};
      });
  return done ? Result<Answer>(combined(all, request)) : done.error();
}

Result<Answer> write_file(const std::string& target,
                          const std::function<Result<void>(const Sink&)>& write) {
  auto file = os::ExportFile::open(target);
  if (!file) return failed(file.error());
  if (auto done = write([&](std::string_view text) { (*file)->write(text); }); !done)
    return done.error();
  if (auto done = (*file)->commit(); !done) return failed(done.error());
  return Answer{};
}

Result<Answer> write_page(Database& database, const Request& request) {
  const std::string& target = request.command_arguments[0];
  auto written = write_file(target, [&](const Sink& sink) -> Result<void> {
    std::vector<SteppedSeries> all;
    auto done = for_each_stepped(
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
  const auto count = forget(database, request.forget_request);
  if (!count) return count.error();
  return Answer{fmt::format("{} forgotten\n", plural(*count, "session"))};
}

Access access_for(Action action) {
  if (action == Action::Add) return Access::CreateMissing;
  const bool changes = action == Action::Acknowledge || action == Action::Forget;
  return changes ? Access::Change : Access::Read;
}

using Command = Result<Answer> (*)(Database& database, const Request& request);

Command find_command(Action action) {
  switch (action) {
    case Action::Add:
      return add;
    case Action::List:
      return list;
    case Action::Show:
      return show;
    case Action::Acknowledge:
      return acknowledge_step;
    case Action::Combine:
      return combine_commit;
    case Action::Page:
      return write_page;
    case Action::Export:
      return write_table;
    case Action::Forget:
      return forget_sessions;
    case Action::Steps:
    case Action::Check:
    case Action::Diff:
    case Action::PrintAnswer:
      break;
  }
  return steps;
}

int finish(const Answer& answer) {
  if (!answer.text.empty())
    if (auto said = os::write_to(os::StandardStream::Output, answer.text); !said)
      return refuse(said.error(), ExitStatus::Failed);
  return static_cast<int>(answer.status);
}

/// Returns true, after printing errors, if none of the files can be read.
bool refuse_unless_readable(const std::vector<std::string>& files) {
  std::vector<Error> errors;
  for (const std::string& file : files) {
    const auto record = read_session_file(file);
    if (record) return false;
    errors.push_back(record.error().prefixed(cited(file)));
  }
  for (const Error& error : errors) refuse(error, ExitStatus::Failed);
  return true;
}

int run(std::span<const std::string> arguments) {
  const auto request = parse(arguments);
  if (!request) return refuse(request.error(), ExitStatus::Usage);
  if (request->action == Action::PrintAnswer) return finish({request->answer});
  if (request->action == Action::Combine && !request->command_arguments.empty())
    return finish(combine_files(*request));
  if (request->action == Action::Diff) return finish(diff_files(*request));
  if (request->action == Action::Add && request->database.find(':') == std::string::npos &&
      !os::is_regular_file(request->database) && refuse_unless_readable(request->command_arguments))
    return static_cast<int>(ExitStatus::Failed);
  auto database = open_history(request->database, access_for(request->action));
  if (!database) return refuse(database.error(), ExitStatus::Failed);
  const auto answer = find_command(request->action)(*database, *request);
  return answer ? finish(*answer)
                : refuse(answer.error().prefixed("the database " + cited(database->name())),
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
    return lauka::history::refuse(
        {std::string("internal error: ") + error.what(), "please report this"},
        lauka::ExitStatus::Failed);
  }
}
