#include "cli/help.h"

#include "cli/about.h"
#include "cli/option_table.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace lauka::cli {

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kTextColumn = 29;

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

/// `text` in lines of at most `width` characters.
std::string filled(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

std::string head() {
  std::string out =
      fmt::format("lauka {}.\n\nUsage: lauka [options] [--] COMMAND [COMMAND ...]\n", purpose());
  for (const std::string_view paragraph : description()) {
    out += "\n" + filled(paragraph, kWidth - 1);
  }
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
  return "\n" + filled(text, kWidth - 1);
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
