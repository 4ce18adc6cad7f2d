#include "history/history_request.h"

#include "cli/describe.h"
#include "core/text.h"

#include <algorithm>
#include <iterator>
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

template <typename T>
po::typed_value<T>* kept_in(T& place, const char* name) {
  return po::value<T>(&place)->value_name(name);
}

bool has(const HistoryCommand& command, unsigned group) {
  return (command.groups & group) != 0;
}

void add_option(po::options_description& options, const CommandOption& option, Request& to) {
  const std::string name(option.name);
  const std::string help(option.help);
  auto add = options.add_options();

  if (const auto* is_set = std::get_if<bool Request::*>(&option.place)) {
    add(name.c_str(), po::bool_switch(&(to.**is_set)), help.c_str());
    return;
  }
  auto* value = kept_in(to.*std::get<std::string Request::*>(option.place),
                        std::string(option.placeholder).c_str());
  add(name.c_str(), option.is_required ? value->required() : value, help.c_str());
}

/// The options of a command write into `to`, and --against, which must still be parsed, into
/// `against`.
po::options_description make_options(const HistoryCommand& command, Request& to,
                                     std::string& against) {
  po::options_description options;
  SeriesSelection& wanted = to.series_selection;
  auto add = options.add_options();

  add("db", kept_in(to.database, "DB"),
      "use this file of SQLite (default: lauka-history.db), or postgresql://user@host/database");

  if (has(command, kGroupBenchmark))
    add("benchmark", kept_in(wanted.benchmark, "NAME"), "write only this benchmark");

  if (has(command, kGroupSeries)) {
    const bool takes_all = has(command, kGroupAllByDefault);
    add("metric", po::value<std::vector<std::string>>(&wanted.metrics)->value_name("NAME"),
        takes_all ? "write only this metric; may be repeated (default: all)"
                  : "use only this metric, or all metrics if NAME is 'all'; may be repeated "
                    "(default: wall_time)");
    add("role", kept_in(wanted.role, "ROLE"),
        takes_all
            ? "use only the reference, the candidate or the anchor, or all of them (default: all)"
            : "use only the reference, the candidate or the anchor, or all of them (default: "
              "candidate if there is one)");
    add("machine", kept_in(wanted.machine_class_prefix, "CLASS"),
        "use only classes of machines whose names begin with CLASS");
  }

  if (has(command, kGroupBranch)) {
    add("branch", kept_in(wanted.branch, "NAME"), "use only sessions of this branch");
    add("against", kept_in(against, "WHAT"),
        "compare with the anchor, the reference or nothing (default: the anchor if there is one)");
  }

  if (has(command, kGroupLast))
    add("last", kept_in(wanted.max_sessions, "N"),
        fmt::format("use only the N newest sessions (default: {})", command.max_sessions).c_str());
  if (has(command, kGroupCommit))
    add("commit", kept_in(wanted.commit, "COMMIT"), std::string(command.commit_help).c_str());

  for (const CommandOption& option : command.options) add_option(options, option, to);
  add("help,h", "show this text");
  return options;
}

cli::ValueLister listing_of(std::string_view name, std::string_view option) {
  // bash splits --db=NAME at the "=".
  constexpr std::string_view script =
      "while [ $# -gt 0 ]; do case $1 in --db=*) db=${1#*=} ;; --db) [ \"$2\" = \"=\" ] && shift; "
      "db=$2 ;; esac; shift; done; lauka-history list ";
  return {.function_suffix = std::string(name),
          .script = std::string(script) + std::string(option) +
                    " ${db:+--db \"$db\"} | sed \"1d; s/  .*//\" | sort -u"};
}

std::vector<cli::ValueWord> find_value_words(std::string_view shown) {
  if (shown.empty()) return {};
  if (shown == "ROLE") shown = "reference|candidate|anchor|all";
  if (shown == "WHAT") shown = "anchor|reference|nothing";
  cli::ValueWord word = cli::value_words(shown).front();
  if (shown.find("BENCHMARK") != std::string_view::npos)
    word.listing_script = listing_of("benchmarks", "--benchmarks");
  if (shown.find("SESSION") != std::string_view::npos)
    word.listing_script = listing_of("sessions", "");
  word.is_file =
      shown.find("FILE") != std::string_view::npos || shown == "DB" || shown == "OUT.html";
  return {std::move(word)};
}

cli::OptionDescription described(const po::option_description& option) {
  const std::string shorts =
      option.canonical_display_name(po::command_line_style::allow_dash_for_short);
  return {.name = option.long_name(),
          .letter = shorts.size() == 2 && shorts.front() == '-' ? shorts.substr(1) : "",
          .value_placeholder = option.format_parameter(),
          .help = option.description(),
          .words = find_value_words(option.format_parameter())};
}

cli::CommandDescription described(const HistoryCommand& command) {
  cli::CommandDescription all{.name = command.name,
                              .argument_usage = command.argument_usage,
                              .purpose = command.purpose,
                              .argument_words = find_value_words(command.argument_usage),
                              .groups = {{""}}};
  Request unused;
  std::string against;
  const po::options_description options = make_options(command, unused, against);
  for (const auto& option : options.options())
    all.groups.front().options.push_back(described(*option));
  return all;
}

cli::ProgramDescription description(Commands commands) {
  cli::ProgramDescription history{.name = "lauka-history",
                                  .completions_made_by = "lauka-history",
                                  .purpose = "keeps what lauka measured, commit by commit"};
  for (const HistoryCommand& command : commands) history.commands.push_back(described(command));
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

std::string write_help(const HistoryCommand& command) {
  return fmt::format("Usage: lauka-history {} [options]{}{}\n\n{}\n{}", command.name,
                     command.argument_usage.empty() ? "" : " ", command.argument_usage,
                     fmt::join(wrapped(command.purpose, 79), "\n"),
                     cli::options_help(described(command)));
}

std::string help(Commands commands) {
  std::string text =
      "Usage: lauka-history COMMAND [options]\n\n"
      "Keeps what lauka measured, commit by commit: in a file, or in PostgreSQL for a fleet.\n\n"
      "Commands:\n";
  for (const HistoryCommand& command : commands) {
    std::string usage = fmt::format("{} {}", command.name, command.argument_usage);
    for (const auto& line : wrapped(command.purpose, 60))
      text += fmt::format("  {:<37} {}\n", std::exchange(usage, ""), line);
  }
  return text + "\nEach command has the options --help and --db.\n" +
         cli::list_statuses(description(commands));
}

Error wrong(const HistoryCommand& command, const std::string& what) {
  return {what, fmt::format("lauka-history {} --help lists the options", command.name)};
}

Result<ComparedWith> parse_against(const std::string& text) {
  for (const auto& [name, against] :
       {std::pair("", ComparedWith::AnchorIfPresent), std::pair("nothing", ComparedWith::Nothing),
        std::pair("reference", ComparedWith::Reference), std::pair("anchor", ComparedWith::Anchor)})
    if (text == name) return against;
  return Error{"--against " + cited(text) + " is unknown", "write anchor, reference or nothing"};
}

/// Returns what is wrong with what several commands have; empty if it is right.
std::string fault_in(const HistoryCommand& command, const Request& request) {
  const std::size_t count = request.command_arguments.size();
  if (count < command.fewest_arguments || count > command.most_arguments)
    return fmt::format("'{}' takes {}", command.name,
                       command.argument_usage.empty() ? "no arguments" : command.argument_usage);

  const std::size_t last = request.series_selection.max_sessions;
  if (has(command, kGroupLast) && (last == 0 || last > kMaxSessions))
    return fmt::format("--last must be from 1 to {}", kMaxSessions);
  return {};
}

/// Reads what the user typed after the name of a command.
Result<Request> parse_command(const HistoryCommand& command,
                              std::span<const std::string> arguments) {
  Request request{.command = &command};
  std::string typed_against;
  request.series_selection.max_sessions = command.max_sessions;

  po::options_description options = make_options(command, request, typed_against);
  options.add_options()("words", po::value<std::vector<std::string>>(&request.command_arguments));
  po::positional_options_description positional;
  positional.add("words", -1);  // any number of them

  try {
    constexpr int style =
        po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::variables_map values;
    po::store(po::command_line_parser({arguments.begin(), arguments.end()})
                  .options(options)
                  .positional(positional)
                  .style(style)
                  .run(),
              values);

    // Asked before notify(), which would complain of a required option that is missing.
    if (values.count("help") > 0) return Request{.answer = write_help(command)};
    po::notify(values);
  } catch (const po::error& error) {
    return wrong(command, one_line(error.what()));
  }

  const auto against = parse_against(typed_against);
  if (!against) return against.error();
  request.compared_with = *against;

  const std::string fault = fault_in(command, request);
  if (!fault.empty()) return wrong(command, fault);

  // Some commands have rules of their own.
  if (command.settle != nullptr) {
    const std::string own_fault = command.settle(request);
    if (!own_fault.empty()) return wrong(command, own_fault);
  }
  return request;
}

std::vector<std::string> with_command_first(std::span<const std::string> typed) {
  std::vector<std::string> words(typed.begin(), typed.end());
  const std::string first = words.empty() ? "" : words.front();
  const std::ptrdiff_t before = first == "--db" ? 2 : first.starts_with("--db=") ? 1 : 0;
  if (std::ssize(words) > before)
    std::rotate(words.begin(), words.begin() + before, words.begin() + before + 1);
  return words;
}

Error unknown(const std::string& command, Commands commands) {
  std::vector<std::string_view> names;
  names.reserve(commands.size());
  for (const HistoryCommand& one : commands) names.push_back(one.name);
  const std::string_view near = nearest(command, names);
  return {"unknown command " + cited(command), near.empty()
                                                   ? "lauka-history --help lists the commands"
                                                   : fmt::format("did you mean '{}'?", near)};
}

}  // namespace

Result<Request> parse(std::span<const std::string> typed, Commands commands) {
  const std::vector<std::string> arguments = with_command_first(typed);
  if (arguments.empty())
    return Error{"there is no command to carry out", "lauka-history --help lists the commands"};

  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    const HistoryCommand* topic =
        arguments.size() > 1 ? find_command(commands, arguments[1]) : nullptr;
    if (topic == nullptr) return Request{.answer = help(commands)};
    return Request{.answer = write_help(*topic)};
  }
  if (first == "--version" || first == "-V")
    return Request{.answer = fmt::format("lauka-history {}\n", cli::version())};

  // The build uses --man-page and --completions.
  if (first == "--man-page") return Request{.answer = cli::man_page(description(commands))};
  if (first == "--completions" && arguments.size() == 2) {
    std::string text = cli::completion(description(commands), arguments[1]);
    if (!text.empty()) return Request{.answer = std::move(text)};
  }

  const HistoryCommand* command = find_command(commands, first);
  if (command == nullptr) return unknown(first, commands);
  return parse_command(*command, std::span(arguments).subspan(1));
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
