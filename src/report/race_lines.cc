#include "report/race_lines.h"

#include "core/text.h"
#include "report/format.h"
#include "report/table.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

std::string format_run_count(std::size_t number) {
  return group_digits(fmt::to_string(number), 3);
}

/// True for "12" and "64k", which read well before a name: "12, 16 threads".
bool begins_with_digit(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

/// Number of names in a race's last line; the table has all.
constexpr std::size_t kMaxNamesOfRace = 10;

/// Returns the names of commands or, if a single command was typed with one parameter, the
/// parameter's values and its name: "12, 16 threads", "opt O2, O3". Of many commands, names the
/// best ones: "12, 16 threads and 54 more".
std::string list_names(const Results& results, std::span<const std::size_t> commands) {
  const std::vector<Command>& all = results.session.commands;
  const std::vector<std::string> parameters = parameter_names(results);
  const bool has_one_parameter = has_single_typed_command(results) && parameters.size() == 1;

  // Instead of "1 more", the last name is written.
  const std::size_t named_count =
      commands.size() > kMaxNamesOfRace + 1 ? kMaxNamesOfRace : commands.size();

  std::vector<std::string> names;
  names.reserve(named_count + 1);
  bool are_numbers = true;
  for (const std::size_t c : commands.first(named_count)) {
    names.push_back(one_line(has_one_parameter ? all[c].parameters.front().value : all[c].name));
    are_numbers = are_numbers && begins_with_digit(names.back());
  }

  std::string more;
  if (named_count < commands.size()) more = fmt::format("{} more", commands.size() - named_count);
  if (!has_one_parameter) {
    if (!more.empty()) names.push_back(more);
    return listed(names);
  }

  const std::string parameter = one_line(parameters.front());
  const std::string values = fmt::format("{}", fmt::join(names, ", "));
  const std::string with_parameter =
      are_numbers ? values + " " + parameter : parameter + " " + values;
  return more.empty() ? with_parameter : with_parameter + " and " + more;
}

bool is_about_time(const Results& results, const gate::RaceResult& race) {
  const auto metric = find_metric(results.session.metrics, race.metric);
  if (!metric) return false;
  const Metric& raced = results.session.metrics[*metric];
  return raced.unit == Unit::Seconds && raced.better == Better::Less;
}

/// Returns "fastest" or, for a metric that is not a time, "best (rate)".
/// Commands that left without a value may be better.
std::string make_superlative(const Results& results, const gate::RaceResult& race) {
  const bool have_all_values = std::ranges::all_of(
      race.exits, [](const gate::RaceExit& exit) { return exit.better_command.has_value(); });
  return (is_about_time(results, race) ? "fastest"
                                       : fmt::format("best ({})", one_line(race.metric))) +
         (have_all_values ? "" : " of those that gave values");
}

std::string describe_confidence(const Results& results) {
  return fmt::format("with {:.6g}% confidence", 100.0 * results.session.confidence);
}

/// Returns what the race has shown about the commands that are left.
std::string describe_outcome(const Results& results, const gate::RaceResult& race) {
  const std::string best = make_superlative(results, race);
  const std::string confidence = describe_confidence(results);
  const auto was_beaten = [](const gate::RaceExit& exit) {
    return exit.better_command.has_value();
  };

  switch (race.end) {
    case gate::RaceEnd::OneLeft:
      return std::ranges::any_of(race.exits, was_beaten)
                 ? fmt::format("{}, {}", best, confidence)
                 : fmt::format(
                       "nothing was compared, because only one command has a run that "
                       "succeeded and gave {}",
                       one_line(race.metric));
    case gate::RaceEnd::Equal:
      return fmt::format("{}, or within {:.6g}% of it, {}", best, 100.0 * race.limit, confidence);
    case gate::RaceEnd::MaxRuns:
      return fmt::format("--max-runs was reached before the race was decided; {}, the {} is one of",
                         confidence, best);
    case gate::RaceEnd::Duration:
      return fmt::format("the time ran out before the race was decided; {}, the {} is one of",
                         confidence, best);
    case gate::RaceEnd::Unfinished:
      break;
  }
  return "the race was cut short with these commands left";
}

}  // namespace

std::string race_line(const Results& results) {
  if (!results.findings.race) return "";
  const gate::RaceResult& race = *results.findings.race;
  return fmt::format("{}: {} ({} of {} runs)\n", describe_outcome(results, race),
                     list_names(results, race.left), format_run_count(race.count_runs()),
                     format_run_count(race.count_runs_without_exits()));
}

std::string suite_race_lines(const Report& suite) {
  std::string lines;
  std::size_t races = 0;
  for (const Results& results : suite.benchmarks) {
    const std::string line = race_line(results);
    if (line.empty()) continue;
    lines += fmt::format("{}: {}", one_line(results.benchmark), line);
    ++races;
  }
  if (races < 2) return lines;
  return lines + fmt::format("{}: the chance that any of these lines is wrong is at most {:.3g}%\n",
                             plural(races, "race"),
                             100.0 * (1.0 - suite.benchmarks.front().session.confidence));
}

std::string race_place_text(const gate::RaceResult& race, std::size_t command) {
  const gate::RaceExit* exit = race.find_exit(command);
  return exit == nullptr ? "–" : fmt::format("round {}", exit->rounds);
}

}  // namespace lauka::report
