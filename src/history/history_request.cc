#include "history/history_request.h"

#include "cli/describe.h"
#include "core/numbers.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::history {

namespace {

namespace po = boost::program_options;

constexpr std::size_t kMaxSessions = 1'000'000;

constexpr unsigned kGroupNone = 0;
constexpr unsigned kGroupSeries = 1U << 0U;
constexpr unsigned kGroupLast = 1U << 1U;
constexpr unsigned kGroupCommit = 1U << 2U;

struct CommandInfo {
  std::string_view name;
  Action action;
  std::string_view words;
  std::size_t fewest;
  std::size_t most;
  unsigned groups;
  std::string_view purpose;
  std::size_t last;
};

constexpr std::size_t kAny = 1'000'000;
constexpr auto kCommands = std::to_array<CommandInfo>({
    {"add", Action::Add, "FILE...", 1, kAny, kGroupNone,
     "Adds sessions that lauka --export-json wrote. A session that is already there remains as it "
     "is.",
     0},
    {"list", Action::List, "", 0, 0, kGroupLast | kGroupCommit, "Lists the sessions, newest first.",
     50},
    {"show", Action::Show, "[BENCHMARK]", 0, 1, kGroupSeries | kGroupLast,
     "Shows the value of a benchmark at each commit, with its 95% interval and the change "
     "since the commit before. Lists the benchmarks if you name none.",
     100},
    {"steps", Action::Steps, "[BENCHMARK]", 0, 1, kGroupSeries | kGroupLast | kGroupCommit,
     "Shows at which commits the level of a benchmark changed, and by how much.", 1000},
    {"check", Action::Check, "[BENCHMARK]", 0, 1, kGroupSeries | kGroupLast | kGroupCommit,
     "Exits with status 3 if a benchmark became slower or larger in a step that later commits "
     "confirmed and that nobody acknowledged.",
     200},
    {"ack", Action::Acknowledge, "STEP", 1, 1, kGroupNone,
     "Acknowledges a step that `steps` shows, so that `check` no longer fails because of it.",
     kMaxSessions},
    {"combine", Action::Combine, "[FILE...]", 0, kAny, kGroupSeries | kGroupCommit,
     "Combines the sessions of one commit from several machines into one change from reference to "
     "candidate.",
     1000},
    {"diff", Action::Diff, "FILE FILE", 2, 2, kGroupNone,
     "Lists how the circumstances of two sessions differ: shared libraries, compiler, environment, "
     "priority, limits, kernel and the like.",
     0},
    {"page", Action::Page, "OUT.html", 1, 1, kGroupSeries | kGroupLast,
     "Writes a self-contained page with the history of all benchmarks.", 200},
    {"export", Action::Export, "csv|jsonl|benchfmt|bmf|otava", 1, 1,
     kGroupSeries | kGroupLast | kGroupCommit,
     "Exports the history in a format that other programs can read.", 1'000'000},
    {"forget", Action::Forget, "[SESSION]", 0, 1, kGroupCommit,
     "Deletes sessions from the database for good. The JSON files remain as they are.", 0},
});

const CommandInfo* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &CommandInfo::name);
  return found == kCommands.end() ? nullptr : &*found;
}

template <typename T>
po::typed_value<T>* kept_in(T& place, const char* name) {
  return po::value<T>(&place)->value_name(name);
}

struct TypedRequest {
  Request request{};
  std::string against{};
  std::string fail_if_worse{};
};

void add_of_command(po::options_description& options, const CommandInfo& command,
                    TypedRequest& to) {
  Request& request = to.request;
  auto add = options.add_options();

  if (command.action == Action::List)
    add("benchmarks", po::bool_switch(&request.lists_benchmarks),
        "list the benchmarks instead of the sessions");
  if (command.action == Action::Acknowledge)
    add("note", kept_in(request.note, "TEXT")->required(),
        "say why the step is acceptable (required)");

  if (command.action == Action::Combine) {
    add("fail-if-worse", kept_in(to.fail_if_worse, "PCT"),
        "exit with status 3 if the change is significantly worse by more than PCT percent");
    add("each-machine", po::bool_switch(&request.judges_each_machine),
        "judge each class of machines separately, too (needs --fail-if-worse)");
  }

  if (command.action == Action::Page) {
    add("commit-url", kept_in(request.commit_url, "URL"),
        "link each commit to this address: 'https://host/repo/commit/{}'");
    add("title", kept_in(request.title, "TEXT"), "set the title of the page");
  }

  if (command.action == Action::Export)
    add("output,o", kept_in(request.output, "FILE"), "write to FILE (default: standard output)");
  if (command.action == Action::Forget)
    add("before", kept_in(request.forget_request.before_date, "DATE"),
        "delete all sessions that began before DATE, such as 2026-11-22 (UTC)");
}

po::options_description make_options(const CommandInfo& command, TypedRequest& to) {
  po::options_description options;
  SeriesSelection& wanted = to.request.series_selection;
  auto add = options.add_options();

  add("db", kept_in(to.request.database, "DB"),
      "use this file of SQLite (default: lauka-history.db), or postgresql://user@host/database");

  if ((command.groups & kGroupSeries) != 0) {
    const bool is_export = command.action == Action::Export;
    if (command.action == Action::Page || is_export)
      add("benchmark", kept_in(wanted.benchmark, "NAME"), "write only this benchmark");

    add("metric", po::value<std::vector<std::string>>(&wanted.metrics)->value_name("NAME"),
        is_export ? "write only this metric; may be repeated (default: all)"
                  : "use only this metric, or all metrics if NAME is 'all'; may be repeated "
                    "(default: wall_time)");
    add("role", kept_in(wanted.role, "ROLE"),
        is_export
            ? "use only the reference, the candidate or the anchor, or all of them (default: all)"
            : "use only the reference, the candidate or the anchor, or all of them (default: "
              "candidate if there is one)");
    add("machine", kept_in(wanted.machine_class_prefix, "CLASS"),
        "use only classes of machines whose names begin with CLASS");

    if (command.action != Action::Combine) {
      add("branch", kept_in(wanted.branch, "NAME"), "use only sessions of this branch");
      add("against", kept_in(to.against, "WHAT"),
          "compare with the anchor, the reference or nothing (default: the anchor if there is "
          "one)");
    }
  }

  if ((command.groups & kGroupLast) != 0)
    add("last", kept_in(wanted.max_sessions, "N"),
        fmt::format("use only the N newest sessions (default: {})", command.last).c_str());
  if ((command.groups & kGroupCommit) != 0)
    add("commit", kept_in(wanted.commit, "COMMIT"),
        command.action == Action::Forget ? "delete all sessions of this commit"
                                         : "use only what was measured at this commit");

  add_of_command(options, command, to);
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

cli::CommandDescription described(const CommandInfo& command) {
  cli::CommandDescription all{.name = command.name,
                              .argument_usage = command.words,
                              .purpose = command.purpose,
                              .argument_words = find_value_words(command.words),
                              .groups = {{""}}};
  TypedRequest unused;
  const po::options_description options = make_options(command, unused);
  for (const auto& option : options.options())
    all.groups.front().options.push_back(described(*option));
  return all;
}

cli::ProgramDescription description() {
  cli::ProgramDescription history{.name = "lauka-history",
                                  .completions_made_by = "lauka-history",
                                  .purpose = "keeps what lauka measured, commit by commit"};
  for (const CommandInfo& command : kCommands) history.commands.push_back(described(command));
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

std::string write_help(const CommandInfo& command) {
  return fmt::format("Usage: lauka-history {} [options]{}{}\n\n{}\n{}", command.name,
                     command.words.empty() ? "" : " ", command.words,
                     fmt::join(wrapped(command.purpose, 79), "\n"),
                     cli::options_help(described(command)));
}

std::string help() {
  std::string text =
      "Usage: lauka-history COMMAND [options]\n\n"
      "Keeps what lauka measured, commit by commit: in a file, or in PostgreSQL for a fleet.\n\n"
      "Commands:\n";
  for (const CommandInfo& info : kCommands) {
    std::string usage = fmt::format("{} {}", info.name, info.words);
    for (const auto& line : wrapped(info.purpose, 60))
      text += fmt::format("  {:<37} {}\n", std::exchange(usage, ""), line);
  }
  return text + "\nEach command has the options --help and --db.\n" +
         cli::list_statuses(description());
}

Error wrong(const CommandInfo& command, const std::string& what) {
  return {what, fmt::format("lauka-history {} --help lists the options", command.name)};
}

Result<ComparedWith> parse_against(const std::string& text) {
  for (const auto& [name, against] :
       {std::pair("", ComparedWith::AnchorIfPresent), std::pair("nothing", ComparedWith::Nothing),
        std::pair("reference", ComparedWith::Reference), std::pair("anchor", ComparedWith::Anchor)})
    if (text == name) return against;
  return Error{"--against " + cited(text) + " is unknown", "write anchor, reference or nothing"};
}

/// Returns what is wrong with the web address of a commit; empty if it is right.
std::string fault_in_commit_url(const std::string& url) {
  if (url.empty()) return {};
  if (url.find("{}") == std::string::npos)
    return "--commit-url " + cited(url) + " has no {} for the commit";
  // A browser would execute a link that begins with javascript:.
  if (url.starts_with("https://") || url.starts_with("http://")) return {};
  return "--commit-url " + cited(url) + " begins neither with https:// nor with http://";
}

/// Returns what is wrong with the request; empty if it is right.
std::string fault_in(const CommandInfo& command, const Request& request) {
  const SeriesSelection& wanted = request.series_selection;
  const std::size_t count = request.command_arguments.size();

  if (count < command.fewest || count > command.most)
    return fmt::format("'{}' takes {}", command.name,
                       command.words.empty() ? "no arguments" : command.words);

  if ((command.groups & kGroupLast) != 0 &&
      (wanted.max_sessions == 0 || wanted.max_sessions > kMaxSessions))
    return fmt::format("--last must be from 1 to {}", kMaxSessions);
  if (request.judges_each_machine && !request.worse_limit_percent)
    return "--each-machine has no effect without --fail-if-worse";

  if (command.action == Action::Export) {
    const auto formats = split(command.words, '|');
    if (std::ranges::find(formats, request.command_arguments[0]) == formats.end())
      return "the format " + cited(request.command_arguments[0]) + " is unknown";
  }

  if (command.action == Action::Forget) {
    const auto& [session, commit, before_date] = request.forget_request;
    const std::array is_missing = {session.empty(), commit.empty(), before_date.empty()};
    if (std::ranges::count(is_missing, false) != 1)
      return "'forget' needs exactly one of SESSION, --commit and --before";
  }

  if (command.action == Action::Combine && count == 0 && wanted.commit.empty())
    return "'combine' needs files, or --commit COMMIT to use sessions from the database";
  if (command.action == Action::Combine && count > 0 &&
      !(wanted.commit + wanted.machine_class_prefix).empty())
    return "--commit and --machine choose sessions of the database, not files";

  return fault_in_commit_url(request.commit_url);
}

void complete(Request& request) {
  SeriesSelection& wanted = request.series_selection;
  const Action action = request.action;
  const std::string word =
      request.command_arguments.empty() ? "" : request.command_arguments.front();

  if (action == Action::Show || action == Action::Steps || action == Action::Check)
    wanted.benchmark = word;
  if (action == Action::Forget) {
    request.forget_request.commit = wanted.commit;
    request.forget_request.session = word;
  }

  if (action == Action::Show && word.empty()) {
    request.action = Action::List;
    request.lists_benchmarks = true;
  }

  if (request.action == Action::List || action == Action::Acknowledge || action == Action::Export) {
    if (wanted.metrics.empty()) wanted.metrics = {"all"};
    if (wanted.role.empty()) wanted.role = "all";
  }

  wanted.drops_other_commits = action == Action::Combine || action == Action::Export;
  wanted.reads_uuids = action == Action::Export;
}

Result<Request> parse_command(const CommandInfo& command, std::span<const std::string> arguments) {
  TypedRequest typed;
  typed.request.action = command.action;
  typed.request.series_selection.max_sessions = command.last;

  po::options_description options = make_options(command, typed);
  options.add_options()("words",
                        po::value<std::vector<std::string>>(&typed.request.command_arguments));
  po::positional_options_description positional;
  positional.add("words", -1);

  try {
    constexpr int style =
        po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::variables_map found;
    po::store(po::command_line_parser({arguments.begin(), arguments.end()})
                  .options(options)
                  .positional(positional)
                  .style(style)
                  .run(),
              found);
    // notify() would complain of a required option that is missing.
    if (found.count("help") > 0) return Request{.answer = write_help(command)};
    po::notify(found);
  } catch (const po::error& error) {
    return wrong(command, one_line(error.what()));
  }

  const auto against = parse_against(typed.against);
  if (!against) return against.error();
  typed.request.compared_with = *against;

  if (!typed.fail_if_worse.empty()) {
    const auto percent = parse_decimal(typed.fail_if_worse, {0.0, true}, {1000.0, true});
    if (!percent)
      return wrong(command,
                   "--fail-if-worse " + cited(typed.fail_if_worse) + " " + percent.error().what);
    typed.request.worse_limit_percent = *percent;
  }

  complete(typed.request);
  if (const auto fault = fault_in(command, typed.request); !fault.empty())
    return wrong(command, fault);
  return std::move(typed.request);
}

std::vector<std::string> with_command_first(std::span<const std::string> typed) {
  std::vector<std::string> words(typed.begin(), typed.end());
  const std::string first = words.empty() ? "" : words.front();
  const std::ptrdiff_t before = first == "--db" ? 2 : first.starts_with("--db=") ? 1 : 0;
  if (std::ssize(words) > before)
    std::rotate(words.begin(), words.begin() + before, words.begin() + before + 1);
  return words;
}

Error unknown(const std::string& command) {
  std::vector<std::string_view> names;
  names.reserve(kCommands.size());
  for (const CommandInfo& info : kCommands) names.push_back(info.name);
  const std::string_view near = nearest(command, names);
  return {"unknown command " + cited(command), near.empty()
                                                   ? "lauka-history --help lists the commands"
                                                   : fmt::format("did you mean '{}'?", near)};
}

}  // namespace

Result<Request> parse(std::span<const std::string> typed) {
  const std::vector<std::string> arguments = with_command_first(typed);
  if (arguments.empty())
    return Error{"there is no command to carry out", "lauka-history --help lists the commands"};

  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    const CommandInfo* command = arguments.size() > 1 ? find_command(arguments[1]) : nullptr;
    return Request{.answer = command == nullptr ? help() : write_help(*command)};
  }
  if (first == "--version" || first == "-V")
    return Request{.answer = fmt::format("lauka-history {}\n", cli::version())};

  // The build uses --man-page and --completions.
  if (first == "--man-page") return Request{.answer = cli::man_page(description())};
  if (first == "--completions" && arguments.size() == 2)
    if (std::string text = cli::completion(description(), arguments[1]); !text.empty())
      return Request{.answer = std::move(text)};

  const CommandInfo* command = find_command(first);
  if (command == nullptr) return unknown(first);
  return parse_command(*command, std::span(arguments).subspan(1));
}

}  // namespace lauka::history
