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

/// Number of commands that a race's last line names. The table has all of them.
constexpr std::size_t kMaxCommandsInLine = 10;

/// Returns the values of a parameter and its name: "12, 16 threads", or "opt O2, O3" if a value
/// does not begin with a digit.
std::string list_values(const std::string& parameter, const std::vector<std::string>& values) {
  const std::string list = fmt::format("{}", fmt::join(values, ", "));
  return std::ranges::all_of(values, begins_with_digit) ? list + " " + parameter
                                                        : parameter + " " + list;
}

std::vector<std::string> get_names(const Results& results, std::span<const std::size_t> commands) {
  std::vector<std::string> names;
  for (const std::size_t command : commands)
    names.push_back(one_line(results.session.commands[command].name));
  return names;
}

/// Returns the value that each of the commands has of its first parameter.
std::vector<std::string> get_values(const Results& results, std::span<const std::size_t> commands) {
  std::vector<std::string> values;
  for (const std::size_t command : commands)
    values.push_back(one_line(results.session.commands[command].parameters.front().value));
  return values;
}

/// Returns the names of commands, which are sorted from the best to the worst. If a single command
/// was typed with one parameter, returns the parameter's values and its name instead: "12, 16
/// threads". Of many commands, names only the best: "12, 16 threads and 54 more".
std::string list_names(const Results& results, std::span<const std::size_t> commands) {
  // "1 more" would be as long as the last name, so the line may have one name above the limit.
  const std::size_t named_count =
      commands.size() > kMaxCommandsInLine + 1 ? kMaxCommandsInLine : commands.size();
  const auto named = commands.first(named_count);
  std::string more;
  if (named_count < commands.size()) more = fmt::format("{} more", commands.size() - named_count);

  const std::vector<std::string> parameters = parameter_names(results);
  const bool differ_by_one_parameter = has_single_typed_command(results) && parameters.size() == 1;
  if (differ_by_one_parameter) {
    const std::string list = list_values(one_line(parameters.front()), get_values(results, named));
    return more.empty() ? list : list + " and " + more;
  }

  std::vector<std::string> names = get_names(results, named);
  if (!more.empty()) names.push_back(more);
  return listed(names);
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

/// Returns the outcome of a race with one command left. A command also drops out of the race if it
/// gives no value to compare.
std::string describe_last_command(const Results& results, const gate::RaceResult& race) {
  const bool was_any_beaten = std::ranges::any_of(
      race.exits, [](const gate::RaceExit& exit) { return exit.better_command.has_value(); });
  if (was_any_beaten)
    return fmt::format("{}, {}", make_superlative(results, race), describe_confidence(results));
  return fmt::format(
      "nothing was compared, because only one command has a run that succeeded and gave {}",
      one_line(race.metric));
}

/// In a race, a command is no longer run once another one was shown to be better. Returns what the
/// race has shown about the commands that remain in it, as a text that their names follow:
/// "fastest, with 95% confidence", or "the time ran out before the race was decided; with 95%
/// confidence, the fastest is one of".
std::string describe_outcome(const Results& results, const gate::RaceResult& race) {
  const std::string superlative = make_superlative(results, race);
  const std::string confidence = describe_confidence(results);

  switch (race.end) {
    case gate::RaceEnd::OneLeft:
      return describe_last_command(results, race);
    case gate::RaceEnd::Equal:
      // The race ends when the remaining commands differ by less than its limit.
      return fmt::format("{}, or within {:.6g}% of it, {}", superlative, 100.0 * race.limit,
                         confidence);
    case gate::RaceEnd::MaxRuns:
      return fmt::format("--max-runs was reached before the race was decided; {}, the {} is one of",
                         confidence, superlative);
    case gate::RaceEnd::Duration:
      return fmt::format("the time ran out before the race was decided; {}, the {} is one of",
                         confidence, superlative);
    case gate::RaceEnd::Unfinished:
      break;
  }

  // A race that was cut short has no answer yet.
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
