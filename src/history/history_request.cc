#include "history/history_request.h"

#include "cli/describe.h"
#include "core/text.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::history {

namespace {

namespace po = boost::program_options;

using Commands = std::span<const HistoryCommand>;

const HistoryCommand* find_command(Commands commands, std::string_view name) {
  const auto found = std::ranges::find(commands, name, &HistoryCommand::name);
  return found == commands.end() ? nullptr : &*found;
}

/// Describes the value of an option, which parsing writes to `target`.
template <typename T>
po::typed_value<T>* make_value(T& target, const char* placeholder) {
  return po::value<T>(&target)->value_name(placeholder);
}

bool has_group(const HistoryCommand& command, unsigned group) {
  return (command.groups & group) != 0;
}

/// Adds an option, whose value parsing writes to a member of `request`.
void add_option(po::options_description& options, const CommandOption& option, Request& request) {
  const std::string name(option.name);
  const std::string help(option.help);
  auto add = options.add_options();

  if (const auto* is_set = std::get_if<bool Request::*>(&option.place)) {
    add(name.c_str(), po::bool_switch(&(request.**is_set)), help.c_str());
    return;
  }
  auto* value = make_value(request.*std::get<std::string Request::*>(option.place),
                           std::string(option.placeholder).c_str());
  add(name.c_str(), option.is_required ? value->required() : value, help.c_str());
}

/// Adds the options with which the user selects metrics, roles and classes of machines. Parsing
/// writes their values to `wanted`.
void add_series_options(po::options_description& options, const HistoryCommand& command,
                        SeriesSelection& wanted) {
  // If the user names no metric or role, some commands use all of them.
  const bool uses_all_by_default = has_group(command, kGroupAllByDefault);
  const char* const metric_help =
      uses_all_by_default ? "write only this metric; may be repeated (default: all)"
                          : "use only this metric, or all metrics if NAME is 'all'; may be "
                            "repeated (default: wall_time)";
  const char* const role_help =
      uses_all_by_default
          ? "use only the reference, the candidate or the anchor, or all of them (default: all)"
          : "use only the reference, the candidate or the anchor, or all of them (default: "
            "candidate if there is one)";

  auto add = options.add_options();
  add("metric", po::value<std::vector<std::string>>(&wanted.metrics)->value_name("NAME"),
      metric_help);
  add("role", make_value(wanted.role, "ROLE"), role_help);
  add("machine", make_value(wanted.machine_class_prefix, "CLASS"),
      "use only classes of machines whose names begin with CLASS");
}

/// Adds the options with which the user selects sessions by their age or commit.
void add_session_options(po::options_description& options, const HistoryCommand& command,
                         SeriesSelection& wanted) {
  auto add = options.add_options();
  if (has_group(command, kGroupLast))
    add("last", make_value(wanted.max_sessions, "N"),
        fmt::format("use only the N newest sessions (default: {})", command.max_sessions).c_str());
  if (has_group(command, kGroupCommit))
    add("commit", make_value(wanted.commit, "COMMIT"), std::string(command.commit_help).c_str());
}

/// Makes the options of a command for Boost's parser: those that all commands have, those of the
/// groups that the command belongs to, and its own. Parsing writes the values to `request`. Only
/// the value of --against is written to `typed_against`, for parse_against().
po::options_description make_options(const HistoryCommand& command, Request& request,
                                     std::string& typed_against) {
  po::options_description options;
  SeriesSelection& wanted = request.series_selection;
  auto add = options.add_options();

  add("db", make_value(request.database, "DB"),
      "use this file of SQLite (default: lauka-history.db), or postgresql://user@host/database");
  if (has_group(command, kGroupBenchmark))
    add("benchmark", make_value(wanted.benchmark, "NAME"), "write only this benchmark");
  if (has_group(command, kGroupSeries)) add_series_options(options, command, wanted);

  if (has_group(command, kGroupBranch)) {
    add("branch", make_value(wanted.branch, "NAME"), "use only sessions of this branch");
    add("against", make_value(typed_against, "WHAT"),
        "compare with the anchor, the reference or nothing (default: the anchor if there is one)");
  }

  add_session_options(options, command, wanted);
  for (const CommandOption& option : command.options) add_option(options, option, request);
  add("help,h", "show this text");
  return options;
}

/// Returns the shell script with which a completion lists values: it asks lauka-history itself,
/// with the --db of the words that were typed. `list_option`: an option of `lauka-history list`.
cli::ValueLister make_value_lister(std::string_view function_suffix, std::string_view list_option) {
  // bash splits --db=NAME at the "=", so the script sees --db, = and NAME.
  constexpr std::string_view find_database =
      "while [ $# -gt 0 ]; do case $1 in --db=*) db=${1#*=} ;; --db) [ \"$2\" = \"=\" ] && shift; "
      "db=$2 ;; esac; shift; done; lauka-history list ";

  // Drops the headings, and all columns but the first.
  constexpr std::string_view keep_first_column =
      " ${db:+--db \"$db\"} | sed \"1d; s/  .*//\" | sort -u";
  return {.function_suffix = std::string(function_suffix),
          .script = std::string(find_database) + std::string(list_option) +
                    std::string(keep_first_column)};
}

/// Returns what a shell may complete where a placeholder such as "ROLE" or "[BENCHMARK]" stands;
/// empty without a placeholder.
std::vector<cli::ValueWord> find_value_words(std::string_view placeholder) {
  if (placeholder.empty()) return {};
  std::string_view choices = placeholder;
  if (placeholder == "ROLE") choices = "reference|candidate|anchor|all";
  if (placeholder == "WHAT") choices = "anchor|reference|nothing";

  const auto mentions = [&](std::string_view name) {
    return placeholder.find(name) != std::string_view::npos;
  };
  cli::ValueWord word = cli::value_words(choices).front();
  if (mentions("BENCHMARK")) word.listing_script = make_value_lister("benchmarks", "--benchmarks");
  if (mentions("SESSION")) word.listing_script = make_value_lister("sessions", "");
  word.is_file = mentions("FILE") || placeholder == "DB" || placeholder == "OUT.html";
  return {std::move(word)};
}

cli::OptionDescription describe(const po::option_description& option) {
  // Without a letter, Boost returns the long name here.
  const std::string dash_and_letter =
      option.canonical_display_name(po::command_line_style::allow_dash_for_short);
  const bool has_letter = dash_and_letter.size() == 2 && dash_and_letter.front() == '-';
  return {.name = option.long_name(),
          .letter = has_letter ? dash_and_letter.substr(1) : "",
          .value_placeholder = option.format_parameter(),
          .help = option.description(),
          .words = find_value_words(option.format_parameter())};
}

cli::CommandDescription describe(const HistoryCommand& command) {
  cli::CommandDescription description{.name = command.name,
                                      .argument_usage = command.argument_usage,
                                      .purpose = command.purpose,
                                      .argument_words = find_value_words(command.argument_usage),
                                      .groups = {{""}}};

  // The options are only described, so nothing is written to these.
  Request unused_request;
  std::string unused_against;
  const po::options_description options = make_options(command, unused_request, unused_against);
  for (const auto& option : options.options())
    description.groups.front().options.push_back(describe(*option));
  return description;
}

cli::ProgramDescription describe_program(Commands commands) {
  cli::ProgramDescription history{.name = "lauka-history",
                                  .completions_made_by = "lauka-history",
                                  .purpose = "keeps what lauka measured, commit by commit"};
  for (const HistoryCommand& command : commands) history.commands.push_back(describe(command));
  history.options_before_command = {{.name = "db",
                                     .value_placeholder = "DB",
                                     .help = "use this database",
                                     .words = find_value_words("DB")},
                                    {.name = "help", .letter = "h", .help = "list the commands"},
                                    {.name = "version", .letter = "V", .help = "show the version"}};
  history.exit_statuses = {
      {"0", "lauka-history did what you asked for"},
      {"1", "lauka-history could not do what you asked for"},
      {"2", "lauka-history did not understand the command line"},
      {"3", "check or combine --fail-if-worse found that something became worse"}};
  history.see_also = {"lauka (1)"};
  return history;
}

std::string write_command_help(const HistoryCommand& command) {
  return fmt::format("Usage: lauka-history {} [options]{}{}\n\n{}\n{}", command.name,
                     command.argument_usage.empty() ? "" : " ", command.argument_usage,
                     fmt::join(wrapped(command.purpose, 79), "\n"),
                     cli::options_help(describe(command)));
}

std::string write_program_help(Commands commands) {
  std::string text =
      "Usage: lauka-history COMMAND [options]\n\n"
      "Keeps what lauka measured, commit by commit: in a file, or in PostgreSQL for a fleet.\n\n"
      "Commands:\n";
  for (const HistoryCommand& command : commands) {
    // Only the first line of a purpose has the usage before it.
    std::string usage = fmt::format("{} {}", command.name, command.argument_usage);
    for (const auto& line : wrapped(command.purpose, 60))
      text += fmt::format("  {:<37} {}\n", std::exchange(usage, ""), line);
  }
  return text + "\nEach command has the options --help and --db.\n" +
         cli::list_statuses(describe_program(commands));
}

Error make_usage_error(const HistoryCommand& command, const std::string& what) {
  return {what, fmt::format("lauka-history {} --help lists the options", command.name)};
}

Result<ComparedWith> parse_against(const std::string& text) {
  for (const auto& [name, against] :
       {std::pair("", ComparedWith::AnchorIfPresent), std::pair("nothing", ComparedWith::Nothing),
        std::pair("reference", ComparedWith::Reference), std::pair("anchor", ComparedWith::Anchor)})
    if (text == name) return against;
  return Error{"--against " + cited(text) + " is unknown", "write anchor, reference or nothing"};
}

/// Returns what is wrong with the number of arguments or with --last, which several commands have;
/// empty if they are right.
std::string find_fault(const HistoryCommand& command, const Request& request) {
  const std::size_t count = request.command_arguments.size();
  if (count < command.fewest_arguments || count > command.most_arguments)
    return fmt::format("'{}' takes {}", command.name,
                       command.argument_usage.empty() ? "no arguments" : command.argument_usage);

  const std::size_t max_sessions = request.series_selection.max_sessions;
  const bool is_in_range = max_sessions > 0 && max_sessions <= kMaxSessions;
  if (has_group(command, kGroupLast) && !is_in_range)
    return fmt::format("--last must be from 1 to {}", kMaxSessions);
  return {};
}

/// Returns the values of the typed options. Words that are no options are values of
/// `arguments_option`. Throws an exception of Boost if an option is wrong.
po::variables_map parse_words(std::span<const std::string> typed_words,
                              const po::options_description& options,
                              const char* arguments_option) {
  constexpr int any_number_of_words = -1;
  po::positional_options_description arguments;
  arguments.add(arguments_option, any_number_of_words);

  // Boost would guess that --met means --metric. A later version with another option that begins
  // like this would break the user's scripts.
  constexpr int style_without_guessing =
      po::command_line_style::default_style & ~po::command_line_style::allow_guessing;

  po::variables_map values;
  po::store(po::command_line_parser({typed_words.begin(), typed_words.end()})
                .options(options)
                .positional(arguments)
                .style(style_without_guessing)
                .run(),
            values);
  return values;
}

/// Writes the values of typed options to the targets of `options`, and the other words to
/// `arguments`. Returns false, and writes nothing, if the user asks for help. Throws an exception
/// of Boost if an option is wrong or missing.
bool read_words(std::span<const std::string> typed_words, po::options_description options,
                std::vector<std::string>& arguments) {
  // To Boost, arguments without "--" are the values of one more option, whose name is never typed.
  constexpr const char* arguments_option = "words";
  options.add_options()(arguments_option, po::value<std::vector<std::string>>(&arguments));
  po::variables_map values = parse_words(typed_words, options, arguments_option);

  // notify() writes the values. It also complains if a required option is missing, but --help must
  // be answered without it.
  if (values.count("help") > 0) return false;
  po::notify(values);
  return true;
}

/// Returns the request after its command has checked and completed it. `typed_against`: the value
/// of --against.
Result<Request> complete_request(Request request, const std::string& typed_against) {
  const HistoryCommand& command = *request.command;
  const auto against = parse_against(typed_against);
  if (!against) return against.error();
  request.compared_with = *against;

  const std::string fault = find_fault(command, request);
  if (!fault.empty()) return make_usage_error(command, fault);

  // A command with rules of its own checks them, and completes the request.
  if (command.check_and_complete != nullptr) {
    const std::string own_fault = command.check_and_complete(request);
    if (!own_fault.empty()) return make_usage_error(command, own_fault);
  }
  return request;
}

/// Reads what the user typed after the name of a command. Returns a request to carry out the
/// command or, after --help, a request that already has its answer.
Result<Request> parse_command(const HistoryCommand& command,
                              std::span<const std::string> typed_words) {
  Request request{.command = &command};
  request.series_selection.max_sessions = command.max_sessions;  // unless the user types --last
  std::string typed_against;
  try {
    const bool must_run = read_words(typed_words, make_options(command, request, typed_against),
                                     request.command_arguments);
    if (!must_run) return Request{.answer = write_command_help(command)};
  } catch (const po::error& error) {
    return make_usage_error(command, one_line(error.what()));
  }
  return complete_request(std::move(request), typed_against);
}

/// Returns what was typed with the name of the command before --db, because --db is an option of
/// each command.
std::vector<std::string> move_command_to_front(std::span<const std::string> typed) {
  std::vector<std::string> words(typed.begin(), typed.end());
  const std::string first = words.empty() ? "" : words.front();

  std::ptrdiff_t words_before_command = 0;
  if (first == "--db") words_before_command = 2;
  if (first.starts_with("--db=")) words_before_command = 1;

  if (std::ssize(words) > words_before_command) {
    const auto command = words.begin() + words_before_command;
    std::rotate(words.begin(), command, command + 1);
  }
  return words;
}

Error make_unknown_command_error(const std::string& command, Commands commands) {
  std::vector<std::string_view> names;
  names.reserve(commands.size());
  for (const HistoryCommand& one : commands) names.push_back(one.name);
  const std::string_view near = nearest(command, names);
  return {"unknown command " + cited(command), near.empty()
                                                   ? "lauka-history --help lists the commands"
                                                   : fmt::format("did you mean '{}'?", near)};
}

/// Returns what lauka-history answers without running a command: help, its version, or one of the
/// texts that the build uses; nullopt if the words ask for none of these.
std::optional<std::string> answer_without_command(std::span<const std::string> words,
                                                  Commands commands) {
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || first == "help") {
    // "help steps" means "steps --help".
    const HistoryCommand* topic = words.size() > 1 ? find_command(commands, words[1]) : nullptr;
    return topic == nullptr ? write_program_help(commands) : write_command_help(*topic);
  }
  if (first == "--version" || first == "-V")
    return fmt::format("lauka-history {}\n", cli::version());
  if (first == "--man-page") return cli::man_page(describe_program(commands));

  // For an unknown shell there is no text, and the user gets the error about an unknown command.
  if (first == "--completions" && words.size() == 2) {
    std::string script = cli::completion(describe_program(commands), words[1]);
    if (!script.empty()) return script;
  }
  return std::nullopt;
}

}  // namespace

Result<Request> parse(std::span<const std::string> typed, Commands commands) {
  // The user may type --db before the command.
  const std::vector<std::string> arguments = move_command_to_front(typed);
  if (arguments.empty())
    return Error{"there is no command to carry out", "lauka-history --help lists the commands"};

  if (auto answer = answer_without_command(arguments, commands))
    return Request{.answer = *std::move(answer)};

  const std::string& first = arguments.front();
  const HistoryCommand* command = find_command(commands, first);
  if (command == nullptr) return make_unknown_command_error(first, commands);
  const auto words_after_command = std::span(arguments).subspan(1);
  return parse_command(*command, words_after_command);
}

std::string fault_in_commit_url(const std::string& url) {
  if (url.empty()) return {};
  if (url.find("{}") == std::string::npos)
    return "--commit-url " + cited(url) + " has no {} for the commit";
  // A browser would execute a link that begins with javascript:.
  if (url.starts_with("https://") || url.starts_with("http://")) return {};
  return "--commit-url " + cited(url) + " begins neither with https:// nor with http://";
}

}  // namespace lauka::history
