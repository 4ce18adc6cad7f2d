#include "cli/describe.h"
#include "cli/option_table.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::cli {

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kTextColumn = 29;

/// "  -r, --runs N", "      --seed N", "  -S".
std::string usage_with_letter(const OptionInfo& option) {
  if (option.name.empty()) return "  " + option.usage();
  return option.letter == '\0' ? "      " + option.usage()
                               : fmt::format("  -{}, {}", option.letter, option.usage());
}

/// `text` in lines that leave the last column empty.
std::string paragraph(std::string_view text) {
  return fmt::format("{}\n", fmt::join(wrapped(text, kWidth - 1), "\n"));
}

std::string head() {
  std::string out =
      fmt::format("lauka {}.\n\nUsage: lauka [options] [--] COMMAND [COMMAND ...]\n", purpose());
  for (const std::string_view text : description()) out += "\n" + paragraph(text);
  out += "\nExamples:\n";
  for (const std::string_view example : examples()) {
    out += fmt::format("  {}\n", example);
  }
  return out;
}

std::string foot() {
  std::string text = "Exit status: ";
  for (const StatusMeaning& one : exit_statuses()) {
    text += fmt::format("{} {}; ", one.status, one.meaning);
  }
  text.replace(text.size() - 2, 2, ".");
  return "\n" + paragraph(text);
}

void append_option(std::string& out, const OptionInfo& option) {
  std::string margin = usage_with_letter(option);
  if (margin.size() + 1 >= kTextColumn) {
    out += margin + '\n';
    margin.clear();
  }
  for (const std::string_view line : wrapped(option.help, kWidth - kTextColumn)) {
    out += fmt::format("{:{}}{}\n", margin, kTextColumn, line);
    margin.clear();
  }
}

/// An option of the short help, with the fewest words that say what it is for.
struct Brief {
  std::string_view option;  ///< its name, or its letter
  std::string_view text;
};

/// What fits on one screen of 24 lines: the rest is in --help.
constexpr auto kBrief = std::to_array<Brief>({
    {"runs", "exactly N runs of each command"},
    {"duration", "time for each command (default 5s)"},
    {"warmup", "runs that are not timed, first (default 1)"},
    {"S", "run the commands in a shell (sh)"},
    {"command-name", "name to show, once per command"},
    {"prepare", "run CMD before every run"},
    {"ignore-failure", "go on when a run fails"},
    {"parameter-list", "one benchmark per value; {VAR} is replaced"},
    {"parameter-scan", "the same for a range of numbers"},
    {"event", "count these events (-l lists them)"},
    {"metrics", "rows: default, time, all or names"},
    {"fail-if-slower", "exit with 3 when slower by more than PCT %"},
    {"fail-if", "the same for any metric"},
    {"sort", "order of the table"},
    {"export-json", "write all results as JSON"},
    {"export-markdown", "write a table for a pull request"},
    {"export-html", "write a page with charts and tables"},
    {"check", "say what can be measured here, and how well"},
});

std::string brief_line(const Brief& brief) {
  const OptionInfo* option =
      brief.option.size() == 1 ? find_option(brief.option.front()) : find_option(brief.option);
  std::string line = usage_with_letter(*option);
  constexpr std::size_t column = 36;
  line.resize(std::max(column, line.size() + 1), ' ');
  return line.append(brief.text) + "\n";
}

}  // namespace

std::string brief_help() {
  std::string out = "Usage: lauka [options] [--] COMMAND [COMMAND ...]\n\n";
  for (const Brief& brief : kBrief) out += brief_line(brief);
  return out + "\nExample: lauka 'sleep 0.1' 'sleep 0.12'. lauka --help shows all options.\n";
}

std::string help() {
  std::string out = head();
  const OptionInfo* previous = nullptr;
  for (const OptionInfo& option : option_table()) {
    if (previous == nullptr || previous->group != option.group) {
      out += fmt::format("\n{}:\n", title_of(option.group));
    }
    append_option(out, option);
    previous = &option;
  }
  return out + foot();
}

}  // namespace lauka::cli
