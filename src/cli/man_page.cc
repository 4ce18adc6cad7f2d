#include "cli/describe.h"
#include "cli/option_table.h"
#include "core/text.h"
#include "core/words.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace lauka::cli {

namespace {

/// Filled by roff anyway; short lines leave room for what escapes add.
std::string paragraphs(std::string_view text) {
  std::string out;
  for (const std::string_view line : wrapped(text, 60)) out += for_roff(line) + "\n";
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + for_roff(text) + "\\fR";
}

std::string slanted(std::string_view text) {
  return "\\fI" + for_roff(text) + "\\fR";
}

std::string value_of(const OptionInfo& option) {
  if (option.value.empty()) return "";
  if (is_value_optional(option)) return "[=" + slanted(option.value) + "]";
  return " " + slanted(option.value);
}

std::string heading_of(const OptionInfo& option) {
  std::string heading;
  if (option.letter != '\0') {
    heading = bold(std::string{'-', option.letter});
  }
  if (!option.name.empty())
    heading += (heading.empty() ? "" : ", ") + bold("--" + std::string(option.name));
  return heading + value_of(option);
}

std::string paragraphs(std::span<const std::string_view> texts) {
  std::string out;
  const char* before = "";
  for (const std::string_view text : texts) {
    out += before + paragraphs(text);
    before = ".PP\n";
  }
  return out;
}

std::string options_section() {
  std::string out = ".SH OPTIONS\n";
  const OptionInfo* previous = nullptr;
  for (const OptionInfo& option : option_table()) {
    if (previous == nullptr || previous->group != option.group) {
      out += fmt::format(".SS {}\n", for_roff(title_of(option.group)));
    }
    out += ".TP\n" + heading_of(option) + "\n" + paragraphs(option.help);
    previous = &option;
  }
  return out;
}

std::string status_section() {
  std::string out = ".SH EXIT STATUS\n";
  for (const StatusMeaning& one : exit_statuses())
    out += ".TP\n" + bold(one.status) + "\n" + paragraphs(one.meaning);
  return out;
}

std::string environment_section() {
  std::string out = ".SH ENVIRONMENT\n";
  for (const VariableMeaning& one : variables())
    out += ".TP\n" + bold(one.name) + "\n" + paragraphs(one.meaning);
  return out;
}

std::string examples_section() {
  std::string out = ".SH EXAMPLES\n.nf\n";
  for (const std::string_view example : examples()) out += for_roff(example) + "\n";
  return out + ".fi\n";
}

}  // namespace

std::string man_page() {
  std::string out =
      fmt::format(".TH LAUKA 1 \"{}\" \"lauka {}\" \"User Commands\"\n", release_date(), version());
  out += ".SH NAME\nlauka \\- " + for_roff(purpose()) + "\n";
  out += ".SH SYNOPSIS\n" + bold("lauka") + " [" + slanted("options") + "] [" + bold("--") + "] " +
         slanted("COMMAND") + " [" + slanted("COMMAND") + " ...]\n";
  out += ".SH DESCRIPTION\n" + paragraphs(description());
  out += options_section() + status_section() + environment_section() + examples_section();
  out += ".SH SEE ALSO\n.BR hyperfine (1),\n.BR perf\\-stat (1),\n.BR valgrind (1)\n";
  return out;
}

}  // namespace lauka::cli
