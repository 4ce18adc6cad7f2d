#include "plan/make_commands.h"

#include "core/numbers.h"
#include "core/text.h"
#include "plan/placeholders.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka {

namespace {

/// True if a shell would take `word` for an assignment, NAME=... (POSIX XCU 2.10.2).
bool is_assignment(std::string_view word) {
  const std::size_t end = word.find('=');
  if (end == std::string_view::npos || end == 0 || is_digit(word[0])) return false;
  return std::ranges::all_of(word.substr(0, end),
                             [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

Result<std::vector<std::string>> make_words(const std::string& text) {
  auto words = split_words(text);
  if (!words) return words.error();
  if (words->empty() || words->front().empty())
    return Error{"is empty", "write a program and its arguments"};
  if (is_assignment(words->front()))
    return Error{"begins with an assignment, which only a shell understands",
                 fmt::format("write {}, or use -S to run it in a shell", cited("env " + text))};
  return words;
}

constexpr std::size_t kMaxCommands = 10'000;

struct Variable {
  std::string name;
  std::vector<std::string> values;
};

/// A command to measure: a typed command with a value for each variable that it mentions.
struct Combination {
  std::size_t typed = 0;  ///< index of the typed command
  std::vector<Parameter> parameters{};
};

std::string text_of(const std::string& text) {
  return text;
}
std::string text_of(const std::vector<std::string>& variables) {
  return shell_quoted(variables);
}

/// Calls `take` with each option that may be set once for all commands or once per command: its
/// name, its values, and a function that returns the part of a command that a value sets.
template <typename Take>
void for_each_list(const CommandOptions& options, const Take& take) {
  for (const HookRow& row : kHookKinds) {
    const auto hook_of = [&row](Command& command) -> std::optional<std::string>& {
      return command.hooks[row.kind];
    };
    take(row.name, options.hooks[row.kind], hook_of);
  }
  take("build", options.build_commands, std::mem_fn(&Command::build));
  take("env", options.environment, std::mem_fn(&Command::environment));
  take("cwd", options.working_folders, std::mem_fn(&Command::folder));
  take("input", options.inputs, std::mem_fn(&Command::input));
  take("expect-output", options.expected_outputs, std::mem_fn(&Command::expected));
  take("output", options.outputs, std::mem_fn(&Command::output));
}

/// A setting by which commands of the same name (namesakes) may differ.
struct NamedSetting {
  std::string_view label;
  std::string (*value_in)(const Command&);
};

/// Returns a setting of a command with its label, as "cwd build"; nullopt if the command does not
/// have it, or if all its namesakes have the same.
std::optional<std::string> describe_if_different(const NamedSetting& setting,
                                                 const Command& command,
                                                 const std::vector<Command*>& namesakes) {
  const std::string own_value = setting.value_in(command);
  const auto has_other_value = [&](const Command* other) {
    return setting.value_in(*other) != own_value;
  };
  if (own_value.empty() || std::ranges::none_of(namesakes, has_other_value)) return std::nullopt;
  return fmt::format("{} {}", setting.label, own_value);
}

/// Returns the variables of a command that at least one of its namesakes lacks.
std::vector<std::string> list_different_variables(const Command& command,
                                                  const std::vector<Command*>& namesakes) {
  std::vector<std::string> different;
  for (const std::string& variable : command.environment) {
    const auto lacks_variable = [&](const Command* other) {
      return std::ranges::find(other->environment, variable) == other->environment.end();
    };
    if (std::ranges::any_of(namesakes, lacks_variable)) different.push_back(variable);
  }
  return different;
}

/// Returns what distinguishes a command from its namesakes.
std::vector<std::string> list_differences(const Command& command,
                                          const std::vector<Command*>& namesakes) {
  std::vector<std::string> differences;
  const auto add_if_different = [&](const NamedSetting& setting) {
    if (auto described = describe_if_different(setting, command, namesakes))
      differences.push_back(*std::move(described));
  };

  add_if_different({"cwd", [](const Command& one) { return one.folder; }});
  for (std::string& variable : list_different_variables(command, namesakes))
    differences.push_back(std::move(variable));
  add_if_different({"input", [](const Command& one) { return one.input; }});
  add_if_different({"output", [](const Command& one) { return one.output.path; }});
  return differences;
}

/// Adds to the names of commands with the same name what distinguishes the commands.
void rename_namesakes(std::vector<Command>& commands) {
  std::map<std::string_view, std::vector<Command*>> namesakes;
  for (Command& command : commands) namesakes[command.name].push_back(&command);
  std::vector<std::pair<Command*, std::string>> renamed;
  for (const auto& [name, group] : namesakes) {
    if (group.size() == 1) continue;
    for (Command* command : group)
      if (const auto parts = list_differences(*command, group); !parts.empty())
        renamed.emplace_back(command, fmt::format("{} ({})", name, fmt::join(parts, ", ")));
  }
  for (auto& [command, name] : renamed) command->name = std::move(name);
}

std::string_view option_of(const ParameterOption& option) {
  return option.is_scan ? "--parameter-scan" : "--parameter-list";
}

Result<std::vector<std::string>> read_values(const ParameterOption& option) {
  if (!option.is_scan) return option.values;
  const bool is_whole = (option.min + option.max).find('.') == std::string::npos;
  const std::string scan =
      fmt::format("--parameter-scan {} {} {}", option.name, option.min, option.max);
  if (option.step.empty() && !is_whole)
    return Error{scan + " needs a step", "give a step, such as -D 0.5"};
  auto values =
      list_decimals(option.min, option.max, option.step.empty() ? "1" : option.step, kMaxCommands);
  if (!values) return values.error().prefixed(scan);
  return values;
}

/// Moves to the next combination of values, the first variable fastest. Returns false after the
/// last one.
bool advance_to_next_values(std::vector<std::size_t>& value_indices,
                            const std::vector<Variable>& variables) {
  for (std::size_t v = 0; v < value_indices.size(); ++v) {
    if (++value_indices[v] < variables[v].values.size()) return true;
    value_indices[v] = 0;
  }
  return false;
}

/// Returns a key that combinations of a command share if the variables that it uses have the same
/// values.
std::vector<std::size_t> make_key(std::size_t command, const std::vector<std::size_t>& used,
                                  const std::vector<std::size_t>& value_indices) {
  std::vector<std::size_t> key = {command};
  for (const std::size_t v : used) key.push_back(value_indices[v]);
  return key;
}

/// Returns the variables with the indices `used`, with their present values.
std::vector<Parameter> present_values(const std::vector<Variable>& variables,
                                      const std::vector<std::size_t>& used,
                                      const std::vector<std::size_t>& value_indices) {
  std::vector<Parameter> values;
  values.reserve(used.size());
  for (const std::size_t v : used)
    values.push_back({.name = variables[v].name, .value = variables[v].values[value_indices[v]]});
  return values;
}

Result<std::vector<Variable>> read_variables(const std::vector<ParameterOption>& options) {
  std::vector<Variable> variables;
  for (const ParameterOption& option : options) {
    if (option.name.empty() || option.name.find_first_of("{}") != std::string::npos) {
      return Error{fmt::format("{} {} cannot be the name of a variable", option_of(option),
                               cited(option.name)),
                   "write the name without braces here and with braces in the command: -L n 1,2 "
                   "'./old {n}'"};
    }
    if (std::ranges::find(variables, option.name, &Variable::name) != variables.end())
      return Error{fmt::format("the variable {} is given twice", cited(option.name)),
                   "use each name once"};
    auto values = read_values(option);
    if (!values) return values.error();
    variables.push_back({option.name, *std::move(values)});
  }
  return variables;
}

class CommandMaker {
 public:
  explicit CommandMaker(const CommandOptions& options)
      : options_(options), typed_count_(options.command_lines.size()) {}

  Result<std::vector<Command>> make() {
    const auto variables = read_variables(options_.parameters);
    if (!variables) return variables.error();
    const auto combinations = make_combinations(*variables);
    if (!combinations) return combinations.error();
    measured_count_ = combinations->size();
    for (const Variable& variable : *variables)
      if (const auto used = check_is_used(variable); !used) return used.error();
    if (const auto numbers = check_option_counts(); !numbers) return numbers.error();
    std::vector<Command> commands;
    commands.reserve(measured_count_);
    for (std::size_t i = 0; i < combinations->size(); ++i) {
      auto command = make_command((*combinations)[i], i);
      if (!command) return command.error();
      commands.push_back(*std::move(command));
    }
    rename_namesakes(commands);
    return commands;
  }

 private:
  /// True if the typed command, or an option in for_each_list() that applies to it, mentions
  /// `variable`. An option given once for all, or once per measured command, applies to all typed
  /// commands.
  bool mentions_variable(std::size_t typed, const Variable& variable) const {
    bool found = mentions(options_.command_lines[typed], variable.name);
    for_each_list(options_, [&](std::string_view /*name*/, const auto& given, const auto&) {
      const bool is_per_command = given.size() == typed_count_ && typed_count_ > 1;
      for (std::size_t i = 0; i < given.size(); ++i)
        if (!is_per_command || i == typed)
          found = found || mentions(text_of(given[i]), variable.name);
    });
    return found;
  }

  /// Refuses parameters that could make more than kMaxCommands commands.
  Result<void> check_number_of_combinations(const std::vector<Variable>& variables) const {
    std::size_t count = typed_count_;
    for (const Variable& variable : variables) {
      // Divides the limit, because the product of all numbers could overflow.
      if (variable.values.size() > kMaxCommands / count)
        return Error{fmt::format("the parameters make more than {} commands", kMaxCommands),
                     "give fewer values"};
      count *= variable.values.size();
    }
    return {};
  }

  /// Returns the indices of the variables that each typed command mentions.
  std::vector<std::vector<std::size_t>> list_used_variables(
      const std::vector<Variable>& variables) const {
    std::vector<std::vector<std::size_t>> used(typed_count_);
    for (std::size_t command = 0; command < typed_count_; ++command)
      for (std::size_t v = 0; v < variables.size(); ++v)
        if (mentions_variable(command, variables[v])) used[command].push_back(v);
    return used;
  }

  /// Combines each typed command with the values of the variables that it mentions. A command that
  /// mentions none occurs once. The combinations are ordered by the values of the variables, of
  /// which the first varies fastest. Those with the same values are in the order typed.
  Result<std::vector<Combination>> make_combinations(const std::vector<Variable>& variables) const {
    if (auto checked = check_number_of_combinations(variables); !checked) return checked.error();
    const std::vector<std::vector<std::size_t>> used_variables = list_used_variables(variables);

    std::vector<Combination> combinations;
    std::set<std::vector<std::size_t>> known_keys;
    // The index of the present value of each variable.
    std::vector<std::size_t> value_indices(variables.size(), 0);
    do {
      for (std::size_t command = 0; command < typed_count_; ++command) {
        // Other values of a variable that the command does not use would only repeat the command.
        const std::vector<std::size_t>& used = used_variables[command];
        const bool is_new = known_keys.insert(make_key(command, used, value_indices)).second;
        if (is_new)
          combinations.push_back(
              {.typed = command, .parameters = present_values(variables, used, value_indices)});
      }
    } while (advance_to_next_values(value_indices, variables));

    return combinations;
  }

  Result<void> check_is_used(const Variable& variable) const {
    for (std::size_t typed = 0; typed < typed_count_; ++typed)
      if (mentions_variable(typed, variable)) return {};
    return Error{fmt::format("no command uses the variable {}", cited(variable.name)),
                 fmt::format("write {{{}}} where its value belongs", variable.name)};
  }

  Result<void> check_option_counts() const {
    const std::size_t names = options_.names.size();
    if (names > typed_count_ && names != measured_count_)
      return make_too_many_names_error(names, measured_count_);
    Result<void> fits;
    for_each_list(options_, [&](std::string_view name, const auto& given, const auto&) {
      const std::size_t count = given.size();
      if (fits && count > 1 && count != typed_count_ && count != measured_count_)
        fits = Error{fmt::format("--{} is given {} times for {}", name, count,
                                 plural(measured_count_, "command")),
                     "give it once for all commands, or once per command"};
    });
    return fits;
  }

  /// Returns the index of that of an option's `count` values which a measured command has. The user
  /// gives an option once for all commands, once for each typed command, or once for each measured
  /// one.
  std::size_t choose_value_index(std::size_t count, std::size_t typed, std::size_t measured) const {
    if (count == 1) return 0;
    return count == typed_count_ ? typed : measured;
  }

  /// Sets all parts of a command that options set for it, with the values of its parameters filled
  /// in.
  void set_parts(const Combination& combination, std::size_t measured, Command& command) const {
    for_each_list(options_, [&](std::string_view, const auto& values, const auto& part_of) {
      if (values.empty()) return;
      const auto& value = values.at(choose_value_index(values.size(), combination.typed, measured));

      // A hook or a build that is empty, or that the parameters make empty, does not exist.
      auto& part = part_of(command);
      if constexpr (std::is_same_v<decltype(part), std::optional<std::string>&>)
        part = fill_in_or_none(value, combination.parameters);
      else
        part = fill_in(value, combination.parameters);
    });
  }

  /// Makes the command number `measured` of those that are measured.
  Result<Command> make_command(const Combination& combination, std::size_t measured) const {
    Command command;
    command.text = fill_in(options_.command_lines[combination.typed], combination.parameters);
    command.name = make_name(combination, measured);
    command.parameters = combination.parameters;
    command.typed_command_index = combination.typed;
    command.unfilled_name = unfilled_name_of(combination.typed);
    set_parts(combination, measured, command);

    auto words = make_argv(command.text);
    if (!words)
      return words.error().about(fmt::format("command {} {}", measured + 1, cited(command.text)));
    command.words = *std::move(words);
    return command;
  }

  Result<std::vector<std::string>> make_argv(const std::string& text) const {
    if (!options_.shell || text.find_first_not_of(" \t\n") == std::string::npos)
      return make_words(text);
    // The shell would run nothing, and exit with status 0.
    if (text.starts_with('-'))
      return Error{"begins with a hyphen, so the shell would take it for an option",
                   "lauka's own options belong before --"};
    std::vector<std::string> words = options_.shell->words;
    words.insert(words.end(), {"-c", text});
    return words;
  }

  std::string make_name(const Combination& combination, std::size_t measured) const {
    const bool is_per_measured = options_.names.size() > typed_count_;
    if (is_per_measured && !options_.names[measured].empty())
      return fill_in(options_.names[measured], combination.parameters);
    const std::string& name = unfilled_name_of(combination.typed);
    std::string hidden;
    for (const Parameter& parameter : combination.parameters) {
      if (mentions(name, parameter.name)) continue;
      hidden += (hidden.empty() ? "" : ", ") + parameter.name + " = " + parameter.value;
    }
    return fill_in(name, combination.parameters) + (hidden.empty() ? "" : " (" + hidden + ")");
  }

  const std::string& unfilled_name_of(std::size_t typed) const {
    const bool is_named = options_.names.size() <= typed_count_ && typed < options_.names.size() &&
                          !options_.names[typed].empty();
    return is_named ? options_.names[typed] : options_.command_lines[typed];
  }

  const CommandOptions& options_;
  std::size_t typed_count_;
  std::size_t measured_count_ = 0;
};

std::string write_name_and_unit(const OwnMetric& metric) {
  return metric.unit.word.empty() ? metric.name : metric.name + ":" + metric.unit.word;
}

/// True if the name or unit suggests that higher values are better.
bool is_rate(const OwnMetric& metric) {
  constexpr auto words = std::to_array<std::string_view>({"rate", "ops", "throughput", "/s"});
  const std::string head = lower_case(write_name_and_unit(metric));
  return std::ranges::any_of(
      words, [&](std::string_view word) { return head.find(word) != std::string::npos; });
}

void add_hints_about_shells(const CommandOptions& options, std::vector<std::string>& hints) {
  std::set<std::string> hinted;
  for (const std::string& text : options.command_lines) {
    const std::string syntax = options.shell ? "" : shell_syntax_in(text);
    if (syntax.empty() || !hinted.insert(syntax).second) continue;
    hints.push_back(
        fmt::format("{} has {} without quotes, which the program gets unchanged; use -S to run the "
                    "command in a shell",
                    cited(text), syntax));
  }
}

void add_hints_about_duration(const std::vector<CommandLineOption>& typed,
                              std::chrono::nanoseconds duration, std::vector<std::string>& hints) {
  constexpr std::chrono::seconds longest(1000);
  for (const CommandLineOption& option : typed) {
    if (option.key != "duration" || option.words.empty() || duration < longest) continue;
    const std::string& number = option.words.front();
    if (!std::ranges::all_of(number, is_digit)) continue;
    hints.push_back(
        fmt::format("--duration {} means {} minutes for each command; did you mean {}ms?", number,
                    duration / std::chrono::minutes(1), number));
  }
}

void add_hints_about_scraped(const CountingOptions& options, std::vector<std::string>& hints) {
  for (const OwnMetric& metric : options.scraped_metrics) {
    if (!metric.is_scraped()) continue;
    if (is_rate(metric) && metric.better == Better::Less && !metric.has_direction)
      hints.push_back(
          fmt::format("lower values of {} count as better; if higher is better, write {}:higher",
                      cited(metric.name), write_name_and_unit(metric)));
    if (!metric.unit.is_known())
      hints.push_back(
          fmt::format("the unit {} of {} is unknown, so its values are not converted; units such "
                      "as ms, s, MiB and % are known",
                      cited(metric.unit.word), cited(metric.name)));
  }
}

/// Returns `word` with hyphens in place of a dash at its beginning, such as "–r"; empty if `word`
/// begins with no such dash.
std::string replace_leading_dash(std::string_view word) {
  for (const auto& [dash, plain] :
       {std::pair("\u2013", "-"), std::pair("\u2014", "--"), std::pair("\u2212", "-")})
    if (word.starts_with(dash)) return plain + std::string(word.substr(std::strlen(dash)));
  return "";
}

void add_hints_about_names(const CommandOptions& options, std::vector<std::string>& hints) {
  for (const std::string& name : options.names)
    if (!name.empty() && options.parameters.empty() && std::ranges::all_of(name, is_digit))
      hints.push_back(fmt::format(
          "-n {0} gives a command the name {0}; if you mean {0} runs, write -r {0}", name));
}

void add_hint_about_two_shells(const std::vector<CommandLineOption>& typed,
                               std::vector<std::string>& hints) {
  std::vector<std::string> shells;
  for (const CommandLineOption& option : typed)
    if (option.key == "shell" && !option.words.empty()) shells.push_back(option.words.front());
  if (shells.size() > 1 && shells.front() != shells.back())
    hints.push_back(
        fmt::format("all commands are run in the last --shell, {}; to compare shells, write "
                    "each shell into its command: '{} -c ...'",
                    cited(shells.back()), shells.front()));
}

void add_hint_about_output(const std::vector<Command>& commands, std::vector<std::string>& hints) {
  for (const Command& command : commands) {
    const std::string_view text = command.text;
    const std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
    const std::string_view program = word.substr(word.rfind('/') + 1);
    const bool is_grep = program == "grep" || program == "egrep" || program == "fgrep";
    if (!is_grep || command.output.kind != OutputKind::Null || !shell_syntax_in(text).empty())
      continue;
    hints.push_back(
        fmt::format("{} may stop at its first match, as GNU grep does if its output is /dev/null; "
                    "use --output pipe to measure all of its work",
                    cited(text)));
    return;
  }
}

/// A word that was typed as a command, and what the user probably meant by it.
struct IntendedCommand {
  /// Name of the missing program; if it begins with a dot, the end of the name.
  std::string_view name_or_ending;
  std::string_view advice;
  bool is_of_file = false;  ///< true if the program is a file, which belongs after the advice
};

constexpr std::string_view kNoSubcommands =
    "lauka has no subcommands; write lauka COMMAND [COMMAND ...]";

constexpr auto kIntendedCommands = std::to_array<IntendedCommand>({
    {"help", "write lauka --help"},
    {"version", "write lauka --version"},
    {"check", "write lauka --check"},
    {"list-events", "write lauka --list-events"},
    {"list-metrics", "write lauka --list-metrics"},
    {"time", "leave it out, because lauka times every command"},
    {"run", kNoSubcommands},
    {"bench", kNoSubcommands},
    {"measure", kNoSubcommands},
    {"report", "lauka has no subcommands; write --from FILE to show a saved session"},
    {"history", "lauka has no subcommands; lauka-history shows the history"},
    {".toml", "to measure the suite that it describes, write --suite", true},
    {".json", "to show the session in it, write --from", true},
});

/// Returns what the user meant by a missing program; null if that is not known.
const IntendedCommand* find_intended_command(std::string_view program) {
  for (const IntendedCommand& intended : kIntendedCommands) {
    const std::string_view name = intended.name_or_ending;
    if (name.starts_with('.') ? program.ends_with(name) : program == name) return &intended;
  }
  return nullptr;
}

bool is_one_word(const Command& command) {
  return command.text.find_first_of(" \t\n") == std::string::npos;
}

/// Joins commands that were probably meant as a single command, as in "lauka grep x FILE". Empty if
/// `failed` is the index of the first command, or if this command or an earlier command has several
/// words.
std::string join_one_word_commands(const std::vector<Command>& commands, std::size_t failed) {
  const std::span before(commands.data(), failed + 1);
  if (failed == 0 || !std::ranges::all_of(before, is_one_word)) return "";
  std::string joined;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Command& command = commands[i];
    if (i > failed && (!is_one_word(command) || !command.parameters.empty())) break;
    joined += (joined.empty() ? "" : " ") + command.text;
  }
  return joined;
}

/// Returns the advice on a word that was typed as a command, with the value of the option that it
/// names. After "help", the next command is the topic.
std::string write_advice(const IntendedCommand& intended, const Plan& plan, std::size_t failed) {
  const Command& command = plan.commands[failed];
  const bool has_topic = command.text == "help" && failed + 1 < plan.commands.size();
  std::string value;
  if (intended.is_of_file)
    value = command.words.front();
  else if (has_topic)
    value = plan.commands[failed + 1].text;
  return std::string(intended.advice) + (value.empty() ? "" : " " + shell_quoted(value));
}

/// Returns what to type instead of a command whose program does not exist; empty if that is not
/// known. `failed`: index of the command.
std::string find_suggestion(const Plan& plan, std::size_t failed) {
  const std::string& program = plan.commands[failed].words.front();

  // The user typed a word that means an option, such as "help".
  if (const IntendedCommand* intended = find_intended_command(program); intended != nullptr)
    return write_advice(*intended, plan, failed);

  // The user typed an option with a long dash.
  if (const std::string option = replace_leading_dash(program); !option.empty())
    return "an option begins with a plain hyphen; write " + option;

  // The user typed an option after "--".
  const std::string& line_with_quotes = plan.suggested_line;
  const bool forgot_quotes = !line_with_quotes.empty();
  if (program.starts_with('-')) {
    const std::string advice_on_quotes =
        forgot_quotes ? "quote the command as " + line_with_quotes + "; " : "";
    return advice_on_quotes + "lauka's own options belong before --";
  }

  // The user forgot quotes, so that an argument of the command became a command.
  const std::string joined = join_one_word_commands(plan.commands, failed);
  if (joined.empty()) return "";
  return "if it is an argument, quote it together with its program, as " +
         (forgot_quotes ? line_with_quotes : cited(joined));
}

}  // namespace

Error make_too_many_names_error(std::size_t names, std::size_t commands) {
  return Error{
      fmt::format("there are {} (-n) for {}", plural(names, "name"), plural(commands, "command")),
      "give at most one name per command"};
}

Result<std::vector<Command>> make_commands(const CommandOptions& options) {
  return CommandMaker(options).make();
}

/// Guesses why the program of a command does not exist, and suggests what to type instead.
/// `failed`: index of the command.
Error add_suggestion(Error error, const Plan& plan, std::size_t failed) {
  // With a shell, the missing program is the shell itself, so -S, which would only be another
  // shell, is not suggested.
  if (plan.shell && !error.unknown_name.empty())
    return {error.what, "name a shell in PATH, write its path, or use -N to run without a shell"};
  if (plan.shell) return error;

  const std::string suggestion = find_suggestion(plan, failed);
  if (suggestion.empty()) return error;
  return {error.what, suggestion};
}

std::vector<std::string> make_hints(const Options& options, const std::vector<Command>& commands) {
  std::vector<std::string> hints;
  add_hints_about_shells(options.commands, hints);
  if (options.commands.unquoted_command && !options.commands.unquoted_command->note.empty())
    hints.push_back(options.commands.unquoted_command->note);
  if (!options.commands.unquoted_command) add_hints_about_names(options.commands, hints);
  add_hint_about_two_shells(options.command_line_options, hints);
  add_hints_about_duration(options.command_line_options, options.run.time_per_command, hints);
  add_hints_about_scraped(options.counting, hints);
  add_hint_about_output(commands, hints);
  return hints;
}

std::vector<Label> labels_of_git_head(std::string_view head) {
  constexpr std::string_view branches = "refs/heads/";
  std::vector<Label> labels;
  for (const std::string_view line : split(head, '\n')) {
    if (labels.empty() && !line.empty())
      labels.push_back({"commit", std::string(line)});
    else if (line.starts_with(branches))
      labels.push_back({"branch", std::string(line.substr(branches.size()))});
  }
  return labels;
}

std::vector<Label> merge_labels(std::vector<Label> given, const std::vector<Label>& found) {
  for (const Label& label_found : found)
    if (std::ranges::find(given, label_found.key, &Label::key) == given.end())
      given.push_back(label_found);
  std::ranges::sort(given, {}, &Label::key);
  return given;
}

}  // namespace lauka
