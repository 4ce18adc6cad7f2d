#include "cli/man_page.h"

#include "cli/about.h"
#include "cli/option_table.h"
#include "cli/values_told.h"
#include "cli/version.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace lauka::cli {

namespace {

/// Text as roff takes it: a backslash, a dash, a dot or quote at the beginning of a line mean
/// something there.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '"') {
      out += "\\(dq";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else if (c == '`') {
      out += "\\(ga";
    } else {
      out += c;
    }
  }
  return out;
}

/// A paragraph, in lines that are no longer than its longest word asks for, as roff takes them.
std::string filled(std::string_view text) {
  constexpr std::size_t width = 78;
  std::string out;
  std::string line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::string longer = line.empty() ? escaped(word) : line + " " + escaped(word);
    if (!line.empty() && longer.size() > width) {
      out += line + "\n";
      line = escaped(word);
    } else {
      line = longer;
    }
  }
  return out + line + "\n";
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string slanted(std::string_view text) {
  return "\\fI" + escaped(text) + "\\fR";
}

std::string value_of(const OptionInfo& option) {
  if (option.value.empty()) {
    return "";
  }
  if (is_value_optional(option)) {
    return "[=" + slanted(option.value) + "]";
  }
  return " " + slanted(option.value);
}

std::string heading_of(const OptionInfo& option) {
  std::string heading;
  if (option.letter != '\0') {
    heading = bold(std::string{'-', option.letter});
  }
  if (!option.name.empty()) {
    heading += (heading.empty() ? "" : ", ") + bold("--" + std::string(option.name));
  }
  return heading + value_of(option);
}

std::string paragraphs(std::span<const std::string_view> texts) {
  std::string out;
  const char* before = "";
  for (const std::string_view text : texts) {
    out += before + filled(text);
    before = ".PP\n";
  }
  return out;
}

std::string options_section() {
  std::string out = ".SH OPTIONS\n";
  const OptionInfo* previous = nullptr;
  for (const OptionInfo& option : option_table()) {
    if (previous == nullptr || previous->group != option.group) {
      out += fmt::format(".SS {}\n", escaped(title_of(option.group)));
    }
    out += ".TP\n" + heading_of(option) + "\n" + filled(option.help);
    previous = &option;
  }
  return out;
}

std::string status_section() {
  std::string out = ".SH EXIT STATUS\n";
  for (const StatusMeaning& one : exit_statuses()) {
    out += ".TP\n" + bold(one.status) + "\n" + filled(one.meaning);
  }
  return out;
}

std::string environment_section() {
  std::string out = ".SH ENVIRONMENT\n";
  for (const VariableMeaning& one : variables()) {
    out += ".TP\n" + bold(one.name) + "\n" + filled(one.meaning);
  }
  return out;
}

std::string examples_section() {
  std::string out = ".SH EXAMPLES\n.nf\n";
  for (const std::string_view example : examples()) {
    out += escaped(example) + "\n";
  }
  return out + ".fi\n";
}

}  // namespace

std::string man_page() {
  std::string out =
      fmt::format(".TH LAUKA 1 \"{}\" \"lauka {}\" \"User Commands\"\n", release_date(), version());
  out += ".SH NAME\nlauka \\- " + escaped(purpose()) + "\n";
  out += ".SH SYNOPSIS\n" + bold("lauka") + " [" + slanted("options") + "] [" + bold("--") + "] " +
         slanted("COMMAND") + " [" + slanted("COMMAND") + " ...]\n";
  out += ".SH DESCRIPTION\n" + paragraphs(description());
  out += options_section() + status_section() + environment_section() + examples_section();
  out += ".SH SEE ALSO\n.BR hyperfine (1),\n.BR perf\\-stat (1),\n.BR valgrind (1)\n";
  return out;
}

}  // namespace lauka::cli
