#include "bisect/command_line.h"

#include "cli/describe.h"
#include "cli/option_table.h"
#include "cli/parse.h"
#include "core/choices.h"
#include "core/metric.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::bisect {

namespace {

using Words = std::vector<std::string>;

constexpr const char* kUsage = "write lauka-bisect [options] GOOD BAD -- 'COMMAND'";

constexpr const char* kDecidesItself = "lauka-bisect sets the gates of its sessions itself";
constexpr const char* kOneCommand = "lauka-bisect compares commits with a single command";
constexpr const char* kOtherExports = "lauka-bisect writes its result as JSON and Markdown only";
constexpr const char* kHasNoTitle = "lauka-bisect names its result itself";
constexpr const char* kOneSession = "lauka-bisect measures two commits at a time";

/// Options of lauka that are refused, with the reason.
constexpr auto kRefused = std::to_array<std::pair<std::string_view, const char*>>({
    {"fail-if-slower", kDecidesItself},
    {"fail-if", kDecidesItself},
    {"fail-if-inconclusive", kDecidesItself},
    {"fdr", kDecidesItself},
    {"accept", kDecidesItself},
    {"keep-if-faster", kDecidesItself},
    {"keep-if", kDecidesItself},
    {"series", kDecidesItself},
    {"precision", kDecidesItself},
    {"baseline", kOneSession},
    {"anchor", kOneSession},
    {"from", kOneSession},
    {"suite", kOneSession},
    {"only", kOneSession},
    {"shard", kOneSession},
    {"resume", "lauka-bisect always continues an interrupted search"},
    {"race", kOneCommand},
    {"reference", kOneCommand},
    {"reference-name", kOneCommand},
    {"command-name", "lauka-bisect names the commits"},
    {"parameter-list", kOneCommand},
    {"parameter-scan", kOneCommand},
    {"parameter-step-size", kOneCommand},
    {"tune", "lauka-bisect does not tune the machine"},
    {"untune", "lauka-bisect does not tune the machine"},
    {"title", kHasNoTitle},
    {"description", kHasNoTitle},
});

/// Returns the refusal of the option `name`; nullopt if it is not refused.
std::optional<Error> make_refusal(std::string_view name) {
  const auto* const refused =
      std::ranges::find(kRefused, name, [](const auto& row) { return row.first; });
  if (refused == kRefused.end()) return std::nullopt;
  return Error{fmt::format("--{} cannot be used here, because {}", name, refused->second),
               "leave it out"};
}

/// Describes the options that lauka does not have, or that lauka-bisect replaces. The help and the
/// completions show them. `words` says how a shell completes the words of a value.
cli::OptionGroup list_own_options() {
  return {"The search",
          {{.name = "build",
            .value_placeholder = "CMD",
            .help = "build each commit with sh -c CMD, in the root of its worktree",
            .words = {{.word_placeholder = "CMD"}}},
           {.name = "work",
            .value_placeholder = "DIR",
            .help = "make the worktrees in DIR (default: lauka-bisect below .git)",
            .words = {{.word_placeholder = "DIR", .is_folder = true}}},
           {.name = "no-first-parent",
            .help = "search merged branches, too; git chooses the commit in the middle"},
           {.name = "all",
            .help = "if the commit explains less than three quarters of the change, search for the "
                    "rest"},
           {.name = "export-json",
            .value_placeholder = "FILE",
            .help = "write all steps and the answer as JSON (docs/bisect.schema.json)",
            .words = {{.word_placeholder = "FILE", .is_file = true}}},
           {.name = "export-markdown",
            .value_placeholder = "FILE",
            .help = "write the answer and a table of the steps",
            .words = {{.word_placeholder = "FILE", .is_file = true}}},
           {.name = "help", .letter = "h", .help = "show a summary"},
           {.name = "version", .letter = "V", .help = "show the version"}}};
}

/// True if an option of lauka does not work here, or is one that lauka-bisect replaces.
bool is_left_out(const cli::OptionDescription& option, const cli::OptionGroup& own_options) {
  const bool is_refused = make_refusal(option.name).has_value();
  const bool is_export =
      std::ranges::find(kExports, option.name, &ExportRow::option) != kExports.end();
  const cli::OptionInfo* info = cli::find_option(option.name);
  const bool is_about_whole_call = info != nullptr && info->rules.scope == cli::Scope::Call;
  const bool is_replaced =
      std::ranges::find(own_options.options, option.name, &cli::OptionDescription::name) !=
      own_options.options.end();
  return is_refused || is_export || is_about_whole_call || is_replaced;
}

/// Returns lauka's options that work here, too, in their groups.
std::vector<cli::OptionGroup> list_inherited_options(const cli::OptionGroup& own_options) {
  std::vector<cli::OptionGroup> inherited;
  cli::ProgramDescription lauka = cli::lauka_description();
  for (cli::OptionGroup& group : lauka.commands.front().groups) {
    std::erase_if(group.options, [&](const cli::OptionDescription& option) {
      return is_left_out(option, own_options);
    });
    if (!group.options.empty()) inherited.push_back(std::move(group));
  }
  return inherited;
}

/// Returns the exit statuses of lauka-bisect with their meanings.
std::vector<cli::Meaning> list_exit_statuses() {
  return {
      {"0", "the ends do not differ significantly"},
      {"1",
       "an end cannot be built or measured, the runs cannot tell whether the ends differ, or the "
       "machine does not let the search go on"},
      {"2",
       "lauka-bisect did not understand the command line or cannot use the repository, and nothing "
       "was built"},
      {"3", "the commit was found"},
      {"4", "only a range of commits was found, or the last comparison did not confirm the commit"},
      {"128+N", "signal N ended the search"}};
}

/// Describes what follows the program's name: all options, its own ones first, and the arguments.
cli::CommandDescription describe_only_command() {
  cli::CommandDescription only_command{.argument_usage = "GOOD BAD -- COMMAND"};
  const cli::OptionGroup own_options = list_own_options();
  only_command.groups = list_inherited_options(own_options);
  only_command.groups.insert(only_command.groups.begin(), own_options);
  return only_command;
}

/// Describes the program for its manual page, its help and its completions.
cli::ProgramDescription describe_program() {
  cli::ProgramDescription bisect{.name = "lauka-bisect",
                                 .completions_made_by = "lauka-bisect",
                                 .purpose = "names the commit that changed the performance"};
  bisect.paragraphs = {
      "lauka-bisect builds commits in separate worktrees, and runs COMMAND there. It first "
      "compares the two ends, and then halves the range of commits between them again and again. "
      "At the end, it compares the commit that it found with its parent. If a search was "
      "interrupted, call the same command line again to continue it."};
  bisect.examples = {"lauka-bisect --build 'make -j8' HEAD~100 HEAD -- './prog --bench'"};
  bisect.exit_statuses = list_exit_statuses();
  bisect.see_also = {"lauka (1)", "git-bisect (1)"};
  bisect.commands.push_back(describe_only_command());
  return bisect;
}

std::string write_help() {
  const cli::ProgramDescription program = describe_program();
  std::string text = fmt::format("usage: lauka-bisect [options] GOOD BAD -- 'COMMAND'\n\n{}\n\n",
                                 fmt::join(wrapped(program.paragraphs.front(), 79), "\n"));
  text += fmt::format("For example:\n\n  {}\n", program.examples.front());
  text += cli::options_help({.groups = {list_own_options()}});
  text += fmt::format(
      "\n{}\n",
      fmt::join(
          wrapped(
              "Options of lauka for runs, commands, metrics and counters work as in lauka. "
              "--metrics chooses the metric in which lauka-bisect looks for the change (default "
              "cpu_time), and --confidence says how sure the answer must be (default 95).",
              79),
          "\n"));
  return text + cli::list_statuses(program);
}

/// Answers a question about the program; nullopt if there is none.
std::optional<std::string> answer_question(std::span<const std::string> words) {
  if (words.size() == 2 && words[0] == "--completions")
    return cli::completion(describe_program(), words[1]);
  if (words.size() != 1) return std::nullopt;
  const std::string& word = words.front();
  if (word == "--help" || word == "-h") return write_help();
  if (word == "--version" || word == "-V") return fmt::format("lauka-bisect {}\n", cli::version());
  if (word == "--man-page") return cli::man_page(describe_program());
  return std::nullopt;
}

/// Removes the option `name` and its value from `words`, as "--build CMD" or "--build=CMD", and
/// returns the value. If the option is given several times, the last value counts. Returns an empty
/// text if the option is missing.
Result<std::string> take_value(Words& words, std::string_view name) {
  const std::string spelling = "--" + std::string(name);
  const Error missing_value{spelling + " needs a value", kUsage};
  Words others;
  std::string value;

  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_next_word_value = word == spelling;
    const bool has_value_in_word = word.starts_with(spelling + "=");
    if (!is_next_word_value && !has_value_in_word) {
      others.push_back(word);
      continue;
    }

    if (is_next_word_value) ++i;
    if (i == words.size()) return missing_value;
    value = has_value_in_word ? word.substr(spelling.size() + 1) : words[i];
    if (value.empty()) return missing_value;
  }

  words = std::move(others);
  return value;
}

/// Takes the option `name` without value out of `words`. Returns true if it is there.
bool take_flag(Words& words, std::string_view name) {
  return std::erase(words, "--" + std::string(name)) > 0;
}

bool has_exporter(const ExportTarget& target) {
  return target.kind == ExportKind::Json || target.kind == ExportKind::Markdown;
}

/// Returns the name of the option that `word` is: "runs" for "--runs=3", "--runs", "-r" and "-r3".
/// Returns an empty name if it is none.
std::string_view name_of_option(std::string_view word) {
  if (word.starts_with("--")) {
    const std::string_view spelling = word.substr(2);
    return spelling.substr(0, spelling.find('='));
  }

  if (word.size() < 2 || word.front() != '-') return {};
  const cli::OptionInfo* const found = cli::find_option(word[1]);
  return found != nullptr ? found->name : std::string_view{};
}

/// Returns the refusal of the first of `words` that is an option which is refused.
std::optional<Error> find_refusal(std::span<const std::string> words) {
  for (const std::string& word : words)
    if (auto refusal = make_refusal(name_of_option(word))) return refusal;
  return std::nullopt;
}

/// Returns the refusal of the first export that lauka-bisect cannot write.
std::optional<Error> refuse_unfit_export(const std::vector<ExportTarget>& exports) {
  const auto unfit_export = std::ranges::find_if_not(exports, has_exporter);
  if (unfit_export == exports.end()) return std::nullopt;
  return Error{
      fmt::format("--{} cannot be used here, because {}", unfit_export->option, kOtherExports),
      "use --export-json or --export-markdown"};
}

/// Returns an error if there are several commands, or several values of a command's setting. lauka
/// has lists of these settings, for several commands.
std::optional<Error> refuse_second_value(const CommandOptions& commands) {
  const auto has_several = [](const auto& values) { return values.size() > 1; };
  if (has_several(commands.command_lines))
    return Error{
        fmt::format("there are {}, and {}", plural(commands.command_lines.size(), "command"),
                    kOneCommand),
        "quote the command with its arguments: " + cited(shell_quoted(commands.command_lines))};
  if (has_several(commands.working_folders) || has_several(commands.environment) ||
      has_several(commands.inputs) || has_several(commands.outputs))
    return Error{"an option of the command is given twice", "give it once for all commits"};
  return std::nullopt;
}

/// Returns an error if lauka-bisect cannot do what an option of lauka asks for. It compares pairs
/// of commits by one command, in worktrees of its own.
Result<void> refuse_unfit(const Options& options) {
  for (const CommandLineOption& typed : options.command_line_options)
    if (auto refusal = make_refusal(typed.key)) return *std::move(refusal);

  // Options such as --check ask about the machine, and measure nothing.
  if (options.inquiry)
    return Error{"lauka-bisect answers no questions about the machine",
                 "ask lauka itself, as in lauka --check"};

  if (auto unfit = refuse_unfit_export(options.output.exports)) return *std::move(unfit);
  if (auto second = refuse_second_value(options.commands)) return *std::move(second);

  // The folder is one below each commit's worktree.
  for (const std::string& folder : options.commands.working_folders)
    if (folder.starts_with('/'))
      return Error{fmt::format("--cwd {} is outside of the commits' worktrees", cited(folder)),
                   "give a path below the root of the repository"};
  return {};
}

/// Removes GOOD and BAD from the end of `words`, and returns a request with these ends.
Result<Request> take_ends(Words& words) {
  if (words.size() < 2) return Error{"GOOD and BAD are missing before --", kUsage};

  Request request;
  request.bad = words.back();
  words.pop_back();
  request.good = words.back();
  words.pop_back();
  for (const std::string& end : {request.good, request.bad})
    if (end.empty() || end.starts_with('-'))
      return Error{fmt::format("{} is where GOOD or BAD should be", cited(end)), kUsage};
  return request;
}

/// Removes lauka-bisect's own words from those before the command, and returns what they ask for.
Result<Request> take_own_words(Words& words) {
  auto request = take_ends(words);
  if (!request) return request;

  if (auto taken = assign_or_error(take_value(words, "build"), request->build); !taken)
    return taken.error();
  if (auto taken = assign_or_error(take_value(words, "work"), request->work_folder); !taken)
    return taken.error();
  if (take_flag(words, "no-first-parent")) request->parents = Parents::All;
  request->finds_all = take_flag(words, "all");
  return request;
}

/// Returns the error to show if lauka's parser refuses a command line. If it complains about an
/// option that cannot be used here anyway, its advice would not help. The user gets the reason why
/// the option is refused instead. `before_command`: the words that precede "--".
Error choose_error(const Error& of_parser, std::span<const std::string> before_command) {
  return find_refusal(before_command).value_or(of_parser);
}

/// Returns what lauka's parser makes of `words`, which follow the program's name.
Result<Options> parse_as_lauka(const Words& words) {
  std::vector<const char*> argv{"lauka-bisect"};
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(word.c_str());
  return cli::parse(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

std::string Request::metric() const {
  const auto& listed = options.counting.listed_metrics;
  return listed.empty() ? std::string(metric_name_of(Role::CpuTime)) : listed.front();
}

// Takes lauka-bisect's own words out of the command line, and gives the rest to lauka's parser.
Result<Request> parse(std::span<const std::string> words) {
  // A question such as --help needs no commits and no command.
  if (auto answer = answer_question(words)) return Request{.answer = *std::move(answer)};

  // The command line has the options, GOOD and BAD, then "--" and the command.
  const auto separator = std::ranges::find(words, "--");
  const bool has_command = separator != words.end() && separator + 1 != words.end();
  if (!has_command) return Error{"there is no command after --", kUsage};
  Words lauka_words(words.begin(), separator);
  auto request = take_own_words(lauka_words);
  if (!request) return request;

  // The options that are left are lauka's, and so is the command.
  lauka_words.insert(lauka_words.end(), separator, words.end());
  auto parsed = parse_as_lauka(lauka_words);
  const std::span<const std::string> before_command(words.begin(), separator);
  if (!parsed) return choose_error(parsed.error(), before_command);
  request->options = *std::move(parsed);

  if (auto fits = refuse_unfit(request->options); !fits) return fits.error();
  return request;
}

}  // namespace lauka::bisect
