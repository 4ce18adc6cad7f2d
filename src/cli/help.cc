#include "cli/help.h"

#include "cli/option_table.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace lauka::cli {

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kTextColumn = 29;

constexpr std::string_view kHead =
    "lauka compares the performance of commands.\n"
    "\n"
    "Usage: lauka [options] [--] COMMAND [COMMAND ...]\n"
    "\n"
    "Each COMMAND is one argument, split into words as a shell does and run without\n"
    "one. The first is the reference; each later one is shown with its difference\n"
    "from it. After -- everything is a command.\n"
    "\n"
    "Examples:\n"
    "  lauka 'sleep 0.1' 'sleep 0.12'\n"
    "  lauka -r 20 -n short -n long -- 'ls /' 'ls -l /'\n"
    "  lauka -d 1s -S 'ls / | sort' 'ls / | sort -r'\n"
    "  lauka -r 10 --fail-if-slower=50 --reference 'sleep 0.1' 'sleep 0.11'\n"
    "  lauka -qr 10 --metrics all --export-csv - true\n";

constexpr std::string_view kFoot =
    "\n"
    "Exit status: 0 done, gates passed or inconclusive; 1 a command failed, or it\n"
    "could not be measured; 2 the command line cannot be understood, nothing was\n"
    "run; 3 a gate failed; 4 a gate was inconclusive, under --fail-if-inconclusive;\n"
    "128+N ended by signal N.\n";

/// "  -r, --runs N", "      --seed N", "  -S".
std::string usage_with_letter(const OptionInfo& option) {
  if (option.name.empty()) {
    return "  " + option.usage();
  }
  return option.letter == '\0' ? "      " + option.usage()
                               : fmt::format("  -{}, {}", option.letter, option.usage());
}

/// Appends `text` to `out`, whose last line is `column` wide, broken between words; further lines
/// begin at kTextColumn.
void append_wrapped(std::string& out, std::size_t column, std::string_view text) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > kTextColumn && column + 1 + word.size() > kWidth) {
      out += '\n';
      column = 0;
    }
    const std::size_t gap = column < kTextColumn ? kTextColumn - column : 1;
    out.append(gap, ' ');
    out += word;
    column += gap + word.size();
  }
  out += '\n';
}

void append_option(std::string& out, const OptionInfo& option) {
  const std::string usage = usage_with_letter(option);
  out += usage;
  std::size_t column = usage.size();
  if (column + 1 >= kTextColumn) {
    out += '\n';
    column = 0;
  }
  append_wrapped(out, column, option.help);
}

}  // namespace

std::string help() {
  std::string out(kHead);
  const OptionInfo* previous = nullptr;
  for (const OptionInfo& option : option_table()) {
    if (previous == nullptr || previous->group != option.group) {
      out += fmt::format("\n{}:\n", title_of(option.group));
    }
    append_option(out, option);
    previous = &option;
  }
  out += kFoot;
  return out;
}

}  // namespace lauka::cli
