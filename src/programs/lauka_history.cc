#include "core/choices.h"
#include "core/foreign_text.h"
#include "core/text.h"
#include "history/add.h"
#include "history/alarms.h"
#include "history/command_line.h"
#include "history/fleet.h"
#include "history/load.h"
#include "history/page.h"
#include "history/schema.h"
#include "history/store.h"
#include "history/tables.h"
#include "history/tell.h"
#include "os/exports.h"
#include "os/files.h"
#include "os/terminal.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

// The history of what lauka measured: a program of its own, since lauka itself is to stay small and
// static. Each command is a function below; what it says is made in history/.

namespace lauka::history {

namespace {

/// Writes one line on standard error; nothing more can be done where that fails.
int refuse(const Error& error, ExitStatus status) {
  static_cast<void>(
      os::say(os::Stream::Error, "lauka-history: " + one_line(error.line()) + "\n").has_value());
  return static_cast<int>(status);
}

int say(const std::string& text, ExitStatus status = ExitStatus::Done) {
  if (auto said = os::say(os::Stream::Output, text); !said)
    return refuse(said.error(), ExitStatus::Failed);
  return static_cast<int>(status);
}

Error named(const Error& error, const Database& database) {
  return error.of("the database " + cited(database.name()));
}

report::Style style() {
  const bool is_terminal = os::is_terminal(os::Stream::Output);
  return {.color = os::wants_color(os::Stream::Output),
          .width = is_terminal ? os::terminal_width(os::Stream::Output, 0) : 0,
          .ascii = !os::speaks_utf8()};
}

int add(Database& database, const Request& request) {
  Adder adder(database, [](const Error& error) { refuse(error, ExitStatus::Failed); });
  const auto added = adder.add(request.words);
  if (!added) return refuse(named(added.error(), database), ExitStatus::Failed);
  const std::string there = added->there > 0 ? fmt::format(", {} there already", added->there) : "";
  const std::string bad = added->bad > 0 ? fmt::format(", {} refused", added->bad) : "";
  return say(fmt::format("{} added to {}{}{}\n", plural(added->sessions, "session"),
                         one_line(database.name()), there, bad),
             added->bad > 0 ? ExitStatus::Failed : ExitStatus::Done);
}

int list(Database& database, const Request& request) {
  Loader loader(database);
  if (request.benchmarks) {
    Wanted wanted = request.wanted;
    wanted.role = "all";
    const auto variants = loader.variants(wanted);
    if (!variants) return refuse(named(variants.error(), database), ExitStatus::Failed);
    return say(benchmarks_text(*variants, style()));
  }
  const auto sessions = loader.sessions(request.wanted.last, request.wanted.commit);
  if (!sessions) return refuse(named(sessions.error(), database), ExitStatus::Failed);
  return say(sessions_text(*sessions, style()));
}

/// Every series that is wanted, one variant after the other: they need not all be in memory.
Result<void> for_each_series(Loader& loader, const Request& request,
                             const std::function<Result<void>(Series)>& take) {
  Wanted wanted = request.wanted;
  const auto variants = loader.variants(wanted);
  if (!variants) return variants.error();
  bool found = false;
  for (const Variant& variant : *variants) {
    auto all = loader.series(variant, wanted);
    if (!all) return all.error();
    for (Series& series : *all) {
      found = true;
      if (auto taken = take(std::move(series)); !taken) return taken;
    }
  }
  if (!found && !wanted.branch.empty())
    return Error{"no sessions on branch " + cited(wanted.branch),
                 "lauka-history list shows the branches"};
  if (!found) return Error{"no such metric", "lauka-history show --metric all shows all"};
  return {};
}

int show(Database& database, const Request& request) {
  Loader loader(database);
  Request wanted = request;
  wanted.wanted.benchmark = request.words[0];
  std::string text;
  auto done = for_each_series(loader, wanted, [&](Series series) -> Result<void> {
    const auto stepped = with_steps(loader, std::move(series), request.against);
    if (!stepped) return stepped.error();
    std::map<std::size_t, std::string> marks;
    for (const KnownStep& known : stepped->steps)
      marks[known.step.at] = "step " + known.id + state_words(known);
    text +=
        (text.empty() ? "" : "\n") + series_text(stepped->series, stepped->trend, style(), marks);
    return {};
  });
  return done ? say(text) : refuse(named(done.error(), database), ExitStatus::Failed);
}

int steps(Database& database, const Request& request) {
  Loader loader(database);
  Request wanted = request;
  if (!request.words.empty()) wanted.wanted.benchmark = request.words[0];
  std::string text;
  std::size_t looked_at = 0;
  std::size_t short_ones = 0;
  std::size_t alarms = 0;
  const bool only_alarms = request.action == Action::Check;
  auto done = for_each_series(loader, wanted, [&](Series series) -> Result<void> {
    auto stepped = with_steps(loader, std::move(series), request.against);
    if (!stepped) return stepped.error();
    ++looked_at;
    if (stepped->trend.commits.size() < stats::kFewestForSteps) ++short_ones;
    const auto is_alarm = [](const KnownStep& step) { return step.state == StepState::Alarm; };
    alarms += static_cast<std::size_t>(
        std::count_if(stepped->steps.begin(), stepped->steps.end(), is_alarm));
    if (only_alarms) {
      auto& known = stepped->steps;
      known.erase(std::remove_if(known.begin(), known.end(),
                                 [&](const KnownStep& step) { return !is_alarm(step); }),
                  known.end());
    }
    text += steps_text(*stepped, style());
    return {};
  });
  if (!done) return refuse(named(done.error(), database), ExitStatus::Failed);
  text += fmt::format(
      "{} series looked at: {}", looked_at,
      alarms == 0 ? std::string("no new regressions") : plural(alarms, "step") + " to the worse");
  if (short_ones > 0)
    text += fmt::format("; {} shorter than the {} commits that it takes", short_ones,
                        stats::kFewestForSteps);
  return say(text + "\n", only_alarms && alarms > 0 ? ExitStatus::GateFailed : ExitStatus::Done);
}

int acknowledge_step(Database& database, const Request& request) {
  Loader loader(database);
  Request wanted = request;
  wanted.wanted.role = "all";
  wanted.wanted.metrics = {"all"};
  bool found = false;
  auto done = for_each_series(loader, wanted, [&](const Series& series) -> Result<void> {
    for (const SeriesPoint& point : series.points) {
      if (found || step_id(series, point.began) != request.words[0]) continue;
      found = true;
      return acknowledge(database, series.variant.id, series.metric.name, point.began,
                         request.note);
    }
    return {};
  });
  if (done && !found)
    done = Error{"has no step " + cited(request.words[0]), "lauka-history steps lists them"};
  return done ? static_cast<int>(ExitStatus::Done)
              : refuse(named(done.error(), database), ExitStatus::Failed);
}

/// The sessions of files that are in no database, as series of their machines.
Result<void> add_files(Fleet& fleet, const Request& request) {
  std::map<std::string, Series> all;
  std::set<std::string> ids;
  std::set<std::string> commits;
  for (const std::string& file : request.words) {
    const auto record = record_in(file);
    if (!record) return record.error().of(cited(file));
    if (!ids.insert(record->id).second) continue;
    commits.insert(commit_of(*record));
    for (Series& series : series_of(*record, request.wanted)) {
      const std::string key = series.variant.machine_class + "\n" + title_of(series);
      const auto [place, is_new] = all.emplace(key, series);
      if (!is_new) place->second.points.push_back(series.points.front());
    }
  }
  const bool has_several = std::ranges::any_of(all, [](const auto& one) {
    const auto& points = one.second.points;
    return points.front().commit != points.back().commit;
  });
  if (has_several && commits.size() > 1)
    refuse({fmt::format("note: of {} on one machine only the latest counts",
                        plural(commits.size(), "commit")),
            "combine sessions of one commit"},
           ExitStatus::Done);
  for (const auto& [key, series] : all) fleet.add(series);
  return {};
}

int say_combined(const Fleet& fleet, const Request& request) {
  std::string text;
  bool is_worse = false;
  for (const FleetEffect& effect : fleet.effects()) {
    text += (text.empty() ? "" : "\n") + fleet_text(effect, style());
    is_worse = is_worse || (request.fail_if_worse &&
                            is_worse_than(effect, *request.fail_if_worse, request.each_machine));
  }
  if (text.empty())
    return refuse({"nothing was measured beside a reference, with an interval",
                   "combine sessions of two commands or of a suite"},
                  ExitStatus::Failed);
  return say(text, is_worse ? ExitStatus::GateFailed : ExitStatus::Done);
}

int combine_files(const Request& request) {
  Fleet fleet;
  if (auto added = add_files(fleet, request); !added)
    return refuse(added.error(), ExitStatus::Failed);
  return say_combined(fleet, request);
}

int combine_commit(Database& database, const Request& request) {
  Loader loader(database);
  Fleet fleet;
  auto done = for_each_series(loader, request, [&](const Series& series) -> Result<void> {
    fleet.add(series);
    return {};
  });
  return done ? say_combined(fleet, request)
              : refuse(named(done.error(), database), ExitStatus::Failed);
}

/// Writes a file whole, or leaves what was there.
int write_file(const std::string& target, const std::function<Result<void>(const Sink&)>& write) {
  auto file = os::ExportFile::open(target);
  if (!file) return refuse(file.error(), ExitStatus::Failed);
  if (auto done = write([&](std::string_view text) { (*file)->write(text); }); !done)
    return refuse(done.error(), ExitStatus::Failed);
  if (auto done = (*file)->commit(); !done) return refuse(done.error(), ExitStatus::Failed);
  return static_cast<int>(ExitStatus::Done);
}

int write_page(Database& database, const Request& request) {
  const std::string& target = request.words[0];
  const int status = write_file(target, [&](const Sink& sink) -> Result<void> {
    Loader loader(database);
    Page page(request.title.empty() ? "Benchmarks, commit by commit" : request.title,
              request.commit_url);
    auto done = for_each_series(loader, request, [&](Series series) -> Result<void> {
      const auto stepped = with_steps(loader, std::move(series), request.against);
      if (!stepped) return stepped.error();
      page.add(*stepped);
      return {};
    });
    if (!done) return named(done.error(), database);
    page.write(sink);
    return {};
  });
  const bool is_file = status == static_cast<int>(ExitStatus::Done) && target != "-";
  return is_file ? say("wrote " + one_line(target) + "\n") : status;
}

int write_table(Database& database, const Request& request) {
  Request wanted = request;
  if (wanted.wanted.metrics.empty()) wanted.wanted.metrics = {"all"};
  if (wanted.wanted.role.empty()) wanted.wanted.role = "all";
  return write_file(request.output, [&](const Sink& sink) -> Result<void> {
    Loader loader(database);
    const auto writer = table_writer(request.words[0], sink);
    auto done = for_each_series(loader, wanted, [&](const Series& series) -> Result<void> {
      std::set<std::int64_t> sessions;
      for (const SeriesPoint& point : series.points) sessions.insert(point.session);
      const auto uuids = loader.uuids(sessions);
      if (!uuids) return uuids.error();
      writer->add(series, *uuids);
      return {};
    });
    if (!done) return named(done.error(), database);
    writer->end();
    return {};
  });
}

int forget_sessions(Database& database, const Request& request) {
  const auto count = forget(database, request.forgotten);
  if (!count) return refuse(named(count.error(), database), ExitStatus::Failed);
  return say(fmt::format("{} forgotten\n", plural(*count, "session")));
}

int run(std::span<const std::string> arguments) {
  const auto request = parse(arguments);
  if (!request) return refuse(request.error(), ExitStatus::Usage);
  if (request->action == Action::Say) return say(request->answer);
  if (request->action == Action::Combine && !request->words.empty()) return combine_files(*request);
  auto database = open_history(request->database,
                               request->action == Action::Add ? Access::Write : Access::Read);
  if (!database) return refuse(database.error(), ExitStatus::Failed);
  switch (request->action) {
    case Action::Add:
      return add(*database, *request);
    case Action::List:
      return list(*database, *request);
    case Action::Show:
      return show(*database, *request);
    case Action::Steps:
    case Action::Check:
      return steps(*database, *request);
    case Action::Acknowledge:
      return acknowledge_step(*database, *request);
    case Action::Combine:
      return combine_commit(*database, *request);
    case Action::Page:
      return write_page(*database, *request);
    case Action::Export:
      return write_table(*database, *request);
    case Action::Forget:
      return forget_sessions(*database, *request);
    case Action::Say:
      break;
  }
  return static_cast<int>(ExitStatus::Done);
}

}  // namespace
}  // namespace lauka::history

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return lauka::history::run(arguments);
  } catch (const std::exception& error) {
    return lauka::history::refuse(
        {std::string("internal error: ") + error.what(), "please report it"},
        lauka::ExitStatus::Failed);
  }
}
