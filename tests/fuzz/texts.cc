#include "cli/option_table.h"
#include "cli/options.h"
#include "cli/parse.h"
#include "cli/values.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/numbers.h"
#include "core/own_metric.h"
#include "core/text.h"
#include "format/json.h"
#include "fuzz/targets.h"
#include "plan/make_plan.h"
#include "plan/rounds.h"
#include "plan/rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

// Typed text, and files named by users.

namespace lauka::fuzz {
namespace {

void check_session(const Recording& session) {
  require(!session.commands.empty());
  for (std::size_t run = 0; run < session.runs.size(); ++run) {
    require(session.runs.row(run).command < session.commands.size());
    for (std::size_t metric = 0; metric < session.metrics.size(); ++metric) {
      const double value = session.runs.value(run, metric).value_or(0.0);
      require(is_in_numeric_range(value));
    }
  }
}

/// Standard error gets one line, not a book, with nothing in it that steers.
void check_line(const Error& error) {
  const std::string line = message_line(error.line());
  require(line.size() < 70'000 && line.find('\n') == line.size() - 1);
  require(one_line(line.substr(0, line.size() - 1)).size() == line.size() - 1);
}

/// An engine that has every event.
Result<EventSet> select_all(const EventRequest& wanted) {
  EventSet set;
  for (const std::string& name : wanted.names) {
    set.passes.push_back(Pass{{set.events.size()}});
    set.events.push_back(Event{name, name});
  }
  return set;
}

/// The same, in one pass.
Result<EventSet> select_at_once(const EventRequest& wanted) {
  EventSet set;
  for (const std::string& name : wanted.names) {
    if (set.passes.empty()) set.passes.emplace_back();
    set.passes.back().event_indices.push_back(set.events.size());
    set.events.push_back({.name = name, .meaning = name, .role = role_of_event(name)});
  }
  return set;
}

const cli::OptionInfo& option(std::string_view name) {
  return *cli::find_option(name);
}

}  // namespace

void words(std::string_view bytes) {
  if (const auto split = split_words(bytes)) {
    const auto again = split_words(shell_quoted(*split));
    require(again.has_value() && *again == *split);
  } else {
    check_line(split.error());
  }
  const std::string shown = one_line(bytes);
  require(one_line(shown) == shown);
  for (const char c : shown) require(static_cast<unsigned char>(c) >= 0x20 && c != '\x7f');
  require(cited(bytes).size() <= 4 * 402 + 8);
}

void numbers(std::string_view bytes) {
  static_cast<void>(parse_whole_number(bytes, 3, 1'000'000));
  if (const auto value = parse_decimal(bytes, {-1.0, true}, {1e9, false}))
    require(*value >= -1.0 && *value < 1e9);
  if (const auto time = parse_duration(bytes)) require(time->count() > 0 && *time <= kMaxDuration);
  if (const auto cpus = parse_cpu_list(bytes))
    require(parse_cpu_list(cpu_list_text(*cpus)) == cpus);
  const auto parts = parts_of(bytes);
  if (parts.size() < 3) return;
  constexpr std::size_t most = 1000;
  const auto values = list_decimals(parts[0], parts[1], parts[2], most);
  if (!values) return check_line(values.error());
  require(!values->empty() && values->size() <= most);
  for (const std::string& value : *values) require(is_decimal(value));
}

void options(std::string_view bytes) {
  std::vector<std::string> all = {"lauka"};
  for (const std::string_view part : parts_of(bytes)) all.emplace_back(part);
  std::vector<const char*> argv;
  for (const std::string& word : all) argv.push_back(word.c_str());
  const auto parsed = cli::parse(static_cast<int>(argv.size()), argv.data());
  if (!parsed) return check_line(parsed.error());
  if (parsed->inquiry) return;
  require(!parsed->commands.command_lines.empty());
  const auto plan = make_plan(*parsed, select_all, {.clock_seed = 1});
  if (!plan) return check_line(plan.error());
  require(!plan->commands.empty() && !plan->metrics.empty());
  require(steps_of_round(*plan, RoundKind::Timed, 0, list_commands(*plan)).size() ==
          plan->commands.size());
}

void gates(std::string_view bytes) {
  const std::string value(bytes);
  const auto gate = cli::read_condition({option("fail-if"), value});
  if (!gate) return check_line(gate.error());
  require(!gate->metric.empty() && std::isfinite(gate->limit.number));
  if (!gate->limit.needs_reference()) require(gate->limit.number > 0);
}

void metrics(std::string_view bytes) {
  const std::string value(bytes);
  const auto names = cli::read_event_or_metric_names({option("metrics"), value});
  if (!names) return check_line(names.error());
  auto rows = make_metrics({}, MetricSelection::Listed, false);
  const std::size_t before = rows.size();
  const auto listed = move_rows_to_front(*names, {}, rows);
  if (!listed) return check_line(listed.error());
  require(rows.size() >= before);
}

void formulas(std::string_view bytes) {
  const std::string value(bytes);
  const auto derived = cli::read_derived_metric({option("derive"), value});
  if (!derived) return check_line(derived.error());
  Options options;
  options.commands.command_lines = {"a"};
  options.counting.derived_metrics = {*derived};
  const auto plan = make_plan(options, select_at_once, {.clock_seed = 1});
  if (!plan) return check_line(plan.error());
  RunRecord run;
  run.usage = {.wall_ns = 3, .user_ns = 2, .system_ns = 1};
  run.counts.assign(plan->setting.events.events.size(), 7);
  for (const Metric& metric : plan->metrics) {
    const auto measured = MetricReader(metric, plan->setting.events).value(run);
    require(!measured || is_in_numeric_range(*measured));
  }
}

void reported(std::string_view bytes) {
  std::size_t begin = 0;
  while (begin <= bytes.size()) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const auto line = parse_reported_line(bytes.substr(begin, end - begin));
    begin = end + 1;
    if (!line) {
      check_line(line.error());
      continue;
    }
    require(is_valid_own_metric_name(line->metric.name));
    const auto value = parse_own_value(line->value, line->metric.unit);
    if (value) require(is_in_numeric_range(*value));
    if (!value) check_line(value.error());
  }
}

void baseline(std::string_view bytes) {
  const auto read = read_sessions(bytes);
  if (!read) return check_line(read.error());
  for (const SessionFromFile& one : read->benchmarks) check_session(one.recording);
}

}  // namespace lauka::fuzz
