#include "core/words.h"
#include "plan/plan.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// Whether a shell would take `word` for an assignment (POSIX XCU 2.10.2): NAME=...
bool is_assignment(std::string_view word) {
  const std::size_t end = word.find('=');
  if (end == std::string_view::npos || end == 0 || (word[0] >= '0' && word[0] <= '9')) {
    return false;
  }
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// The words of a command that is run directly.
Result<std::vector<std::string>> words_of(const std::string& text) {
  auto words = split_words(text);
  if (!words) {
    return words.error();
  }
  if (words->empty() || words->front().empty()) {
    return Error{"is empty", "write a program and its arguments"};
  }
  if (is_assignment(words->front())) {
    return Error{"begins with an assignment, which only a shell understands",
                 fmt::format("write {}, or run it by a shell with -S", cited("env " + text))};
  }
  return words;
}

Result<Command> command_of(const Options& options, std::size_t index) {
  const std::string& text = options.commands[index];
  const bool is_named = index < options.names.size() && !options.names[index].empty();
  Command command{.name = is_named ? options.names[index] : text, .text = text, .words = {}};
  if (options.shell && text.find_first_not_of(" \t\n") != std::string::npos) {
    command.words = options.shell->words;
    command.words.insert(command.words.end(), {"-c", text});
    return command;
  }
  auto words = words_of(text);
  if (!words) {
    return Error{fmt::format("command {} {} {}", index + 1, cited(text), words.error().what),
                 words.error().remedy};
  }
  command.words = *std::move(words);
  return command;
}

Result<std::vector<Command>> commands_of(const Options& options) {
  if (options.commands.empty()) {
    return Error{"no command to measure", "write at least one"};
  }
  if (options.names.size() > options.commands.size()) {
    return Error{fmt::format("more names ({}) than commands ({})", options.names.size(),
                             options.commands.size()),
                 "give at most one name per command"};
  }
  std::vector<Command> commands;
  for (std::size_t i = 0; i < options.commands.size(); ++i) {
    auto command = command_of(options, i);
    if (!command) {
      return command.error();
    }
    commands.push_back(*std::move(command));
  }
  return commands;
}

/// Where only times are shown and no event is asked for, nothing is counted.
Result<EventSet> events_of(const Options& options, const SelectEvents& select_events) {
  if (options.metrics == MetricSelection::Time && options.events.empty()) {
    return EventSet{};
  }
  auto events = select_events(options.events, options.single_pass);
  if (!events) {
    return events.error();
  }
  const std::size_t passes = events->timed_passes();
  const auto most_runs = options.runs ? options.runs : options.max_runs;
  // Events that nobody asked for may go uncounted: better than to refuse `-r 1`.
  if (!options.events.empty() && most_runs && *most_runs < passes) {
    return Error{fmt::format("the events need {} passes, more than the {} run{} of each command",
                             passes, *most_runs, *most_runs == 1 ? "" : "s"),
                 fmt::format("allow {} runs, or count fewer events", passes)};
  }
  return events;
}

/// With several passes, each gets a run where the most allowed is not below that.
StopRule stop_rule_of(const Options& options, std::size_t passes) {
  const std::uint64_t most = options.max_runs.value_or(std::max<std::uint64_t>(passes, 1));
  return StopRule{.exact_runs = options.runs,
                  .min_runs = std::max(options.min_runs, std::min<std::uint64_t>(passes, most)),
                  .max_runs = options.max_runs,
                  .budget_per_command = options.duration};
}

Result<void> check_gates(const Plan& plan, bool has_baseline) {
  for (const Condition& gate : plan.gates) {
    const bool is_measured = std::any_of(plan.metrics.begin(), plan.metrics.end(),
                                         [&](const Metric& m) { return m.name == gate.metric; });
    if (!is_measured) {
      return Error{fmt::format("a gate on {}, which is not measured", cited(gate.metric)),
                   "add it with -e, or name another metric"};
    }
  }
  if (!plan.gates.empty() && plan.commands.size() < 2 && !has_baseline) {
    return Error{fmt::format("a gate (--fail-if-slower, --fail-if) has nothing to compare {} with",
                             cited(plan.commands.front().text)),
                 "add another command, --reference COMMAND or --baseline FILE"};
  }
  return {};
}

/// --verbose shows all rows, unless a choice among them was made.
MetricSelection selection_of(const Options& options) {
  const bool widen = options.verbosity == Verbosity::Verbose;
  return widen && options.metrics == MetricSelection::Default ? MetricSelection::All
                                                              : options.metrics;
}

}  // namespace

Result<Plan> make_plan(const Options& options, const SelectEvents& select_events,
                       std::uint64_t clock_seed) {
  auto commands = commands_of(options);
  if (!commands) {
    return commands.error();
  }
  auto events = events_of(options, select_events);
  if (!events) {
    return events.error();
  }
  Plan plan{.commands = *std::move(commands),
            .events = *std::move(events),
            .metrics = {},
            .stop = {},
            .warmup = options.warmup,
            .order = options.order.value_or(Order::Random),
            .seed = options.seed.value_or(clock_seed),
            .timeout = options.timeout,
            .ignore_failure = options.ignore_failure,
            .input = options.input,
            .output = options.output,
            .gates = options.gates,
            .confidence = options.confidence,
            .precision = options.precision};
  plan.metrics = metrics_of(plan.events, selection_of(options), !options.events.empty());
  plan.stop = stop_rule_of(options, plan.events.timed_passes());
  const Result<void> gates = check_gates(plan, options.baseline.has_value());
  if (!gates) {
    return gates.error();
  }
  return plan;
}

}  // namespace lauka
