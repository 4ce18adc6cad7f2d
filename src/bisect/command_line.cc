#include "bisect/command_line.h"

#include "cli/option_table.h"
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
constexpr const char* kOneCommand = "lauka-bisect compares commits by one command";
constexpr const char* kMakesNoFile = "lauka-bisect only prints its result";
constexpr const char* kOneSession = "lauka-bisect measures two commits at a time";

/// Options of lauka that are refused, with the reason.
constexpr auto kRefused = std::to_array<std::pair<std::string_view, const char*>>({
    {"fail-if-slower", kDecidesItself},
    {"fail-if", kDecidesItself},
    {"fail-if-inconclusive", kDecidesItself},
    {"fdr", kDecidesItself},
    {"precision", kDecidesItself},
    {"baseline", kOneSession},
    {"anchor", kOneSession},
    {"from", kOneSession},
    {"suite", kOneSession},
    {"only", kOneSession},
    {"shard", kOneSession},
    {"resume", "lauka-bisect always goes on with an interrupted search"},
    {"reference", kOneCommand},
    {"reference-name", kOneCommand},
    {"command-name", "lauka-bisect names the commits"},
    {"parameter-list", kOneCommand},
    {"parameter-scan", kOneCommand},
    {"parameter-step-size", kOneCommand},
    {"tune", "lauka-bisect does not tune the machine"},
    {"untune", "lauka-bisect does not tune the machine"},
    {"title", kMakesNoFile},
    {"description", kMakesNoFile},
});

/// Takes the option `name` with its value out of `words`, if it is there.
Result<std::string> take_value(Words& words, std::string_view name) {
  const std::string spelling = "--" + std::string(name);
  std::string value;

  for (auto word = words.begin(); word != words.end();) {
    if (*word == spelling) {
      const auto next = word + 1;
      if (next == words.end()) return Error{spelling + " needs a value", kUsage};
      value = *next;
      word = words.erase(word, next + 1);
    } else if (word->starts_with(spelling + "=")) {
      value = word->substr(spelling.size() + 1);
      word = words.erase(word);
    } else {
      ++word;
      continue;
    }
    if (value.empty()) return Error{spelling + " needs a value", kUsage};
  }
  return value;
}

Result<void> refuse_unfit(const Options& options) {
  for (const CommandLineOption& typed : options.command_line_options) {
    const auto* const refused = std::ranges::find(
        kRefused, typed.key, [](const auto& row) { return std::string_view(row.first); });
    if (refused != kRefused.end())
      return Error{fmt::format("--{} has no place here, because {}", typed.key, refused->second),
                   "leave it out"};
  }

  if (options.inquiry)
    return Error{"lauka-bisect answers no questions about the machine",
                 "ask lauka itself, as in lauka --check"};
  if (!options.output.exports.empty())
    return Error{fmt::format("--{} has no place here, because {}",
                             options.output.exports.front().option, kMakesNoFile),
                 "leave it out"};

  const auto is_given_twice = [](const auto& values) { return values.size() > 1; };
  const CommandOptions& commands = options.commands;
  if (is_given_twice(commands.command_lines))
    return Error{
        fmt::format("there are {}, and {}", plural(commands.command_lines.size(), "command"),
                    kOneCommand),
        "quote the command with its arguments: " + cited(shell_quoted(commands.command_lines))};
  if (is_given_twice(commands.working_folders) || is_given_twice(commands.environment) ||
      is_given_twice(commands.inputs) || is_given_twice(commands.outputs))
    return Error{"an option of the command is given twice", "give it once for all commits"};
  for (const std::string& folder : commands.working_folders)
    if (folder.starts_with('/'))
      return Error{fmt::format("--cwd {} is outside of the commits' worktrees", cited(folder)),
                   "give a path below the root of the repository"};
  return {};
}

}  // namespace

std::string Request::metric() const {
  const auto& listed = options.counting.listed_metrics;
  return listed.empty() ? std::string(metric_name_of(Role::CpuTime)) : listed.front();
}

Result<Request> parse(std::span<const std::string> words) {
  const auto dashes = std::ranges::find(words, "--");
  Words before(words.begin(), dashes);
  if (before.size() == 1 || dashes == words.end()) {
    const auto asks = [&](std::string_view word) {
      return std::ranges::find(before, word) != before.end();
    };
    if (asks("--help") || asks("-h")) return Request{.question = Question::Help};
    if (asks("--version") || asks("-V")) return Request{.question = Question::Version};
  }

  if (dashes == words.end() || dashes + 1 == words.end())
    return Error{"there is no command after --", kUsage};
  if (before.size() < 2) return Error{"GOOD and BAD are missing before --", kUsage};

  Request request;
  request.bad = before.back();
  before.pop_back();
  request.good = before.back();
  before.pop_back();
  for (const std::string& end : {request.good, request.bad})
    if (end.empty() || end.starts_with('-'))
      return Error{fmt::format("{} is where GOOD or BAD should be", cited(end)), kUsage};

  if (auto taken = keep(take_value(before, "build"), request.build); !taken) return taken.error();
  if (auto taken = keep(take_value(before, "work"), request.work_folder); !taken)
    return taken.error();

  before.insert(before.end(), dashes, words.end());
  std::vector<const char*> argv{"lauka-bisect"};
  for (const std::string& word : before) argv.push_back(word.c_str());
  auto options = cli::parse(static_cast<int>(argv.size()), argv.data());
  if (!options) return options.error();
  request.options = *std::move(options);
  if (auto fits = refuse_unfit(request.options); !fits) return fits.error();
  return request;
}

std::string help() {
  return R"(usage: lauka-bisect [options] GOOD BAD -- 'COMMAND'

lauka-bisect names the commit between GOOD and BAD that changed the performance
of COMMAND, for example:

  lauka-bisect --build 'make -j8' HEAD~100 HEAD -- './prog --bench'

It builds commits in worktrees of its own, where COMMAND runs too. It compares
both ends first, and then halves the commits between them. Last, it compares
the commit that it found with its parent. The same command line goes on with a
search that was interrupted.

options:
  --build CMD        build each commit with sh -c CMD, in the root of its worktree
  --work DIR         make the worktrees in DIR (default: lauka-bisect below .git)
  --metrics LIST     search for a change of the first metric (default cpu_time)
  --confidence PCT   how sure the answer must be (default 95)
  -h, --help         show this text
  -V, --version      show the version

Options of lauka for runs, commands and counters work as in lauka, for example
--duration, --timeout, --prepare, --scrape, --event, --engine and --layouts.

exit status:
  0      the ends do not differ significantly
  3      the commit was found
  4      only a range of commits was found
  1      an end cannot be built or measured
  2      the command line or the repository does not fit; nothing was built
  128+N  ended by signal N
)";
}

}  // namespace lauka::bisect
