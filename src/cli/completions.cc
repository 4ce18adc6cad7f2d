#include "cli/describe.h"
#include "cli/option_table.h"
#include "core/words.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::cli {

namespace {

constexpr std::string_view kMadeFrom = "made by lauka_docs from the option table; not to be edited";

std::string joined(const std::vector<std::string_view>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// "-r" and "--runs", those there are.
std::vector<std::string> spellings_of(const OptionInfo& option) {
  std::vector<std::string> spellings;
  if (option.letter != '\0') {
    spellings.push_back(std::string{'-', option.letter});
  }
  if (!option.name.empty()) spellings.push_back("--" + std::string(option.name));
  return spellings;
}

// bash

/// What completes one word of a value; empty: nothing can be said about it.
std::string bash_action(const ValueWord& word) {
  std::string action;
  if (!word.choices.empty()) {
    action = fmt::format("_lauka_words {}", shell_quoted(joined(word.choices)));
  }
  if (word.is_file) action += action.empty() ? "_lauka_files" : "; _lauka_files";
  if (word.is_command) action += action.empty() ? "_lauka_commands" : "; _lauka_commands";
  return action.empty() ? ":" : action;
}

std::string bash_cases() {
  std::string cases;
  for (const OptionInfo& option : option_table()) {
    const auto words = value_words(option);
    if (words.empty()) continue;
    const std::string names = fmt::format("{}", fmt::join(spellings_of(option), "|"));
    for (std::size_t i = 0; i < words.size(); ++i) {
      // An optional value follows a = only; further words of a value are told by how far back the
      // option stands.
      const std::string place = is_value_optional(option) ? "="
                                : i == 0                  ? "1"
                                                          : fmt::format("{}", i + 1);
      for (const std::string& name : spellings_of(option)) {
        cases += fmt::format("    {}:{}) {}; return 0 ;;\n", name, place, bash_action(words[i]));
      }
    }
  }
  return cases;
}

constexpr std::string_view kBashFunctions = R"sh(
_lauka_words() { COMPREPLY+=($(compgen -W "$1" -- "$cur")); }

_lauka_files() {
  local file
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$cur")
  compopt -o filenames 2>/dev/null
}

_lauka_commands() {
  local IFS=$'\n'
  COMPREPLY+=($(compgen -c -- "$cur"))
  case $cur in */*) _lauka_files ;; esac
}

# The value that is being written, for `option` `place` words back (=: after a =).
_lauka_value() {  # option, place
  case $1:$2 in
)sh";

constexpr std::string_view kBashRest = R"sh(  esac
  return 1
}

_lauka() {
  local cur=${COMP_WORDS[COMP_CWORD]} i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then _lauka_commands; return; fi
  done
  # bash takes --color=a for three words.
  if [[ $cur == = ]]; then
    cur=''
    _lauka_value "${COMP_WORDS[COMP_CWORD - 1]}" = || _lauka_value "${COMP_WORDS[COMP_CWORD - 1]}" 1
    return
  elif ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    _lauka_value "${COMP_WORDS[COMP_CWORD - 2]}" = || _lauka_value "${COMP_WORDS[COMP_CWORD - 2]}" 1
    return
  fi
  for i in 1 2 3; do
    if ((COMP_CWORD > i)) && _lauka_value "${COMP_WORDS[COMP_CWORD - i]}" $i; then return; fi
  done
  if [[ $cur == -* ]]; then
    _lauka_words "$_lauka_options"
  else
    _lauka_commands
  fi
}

complete -F _lauka lauka
)sh";

// zsh

/// ":N:", ":FILE:_files", ":auto|never:(auto never)".
std::string zsh_value(const ValueWord& word) {
  const std::string label = backslashed(word.name, ":[]()\\");
  std::string action = " ";
  if (!word.choices.empty() && word.is_file) {
    action = fmt::format("_alternative \"words\\:word\\:({})\" \"files\\:file\\:_files\"",
                         joined(word.choices));
  } else if (!word.choices.empty()) {
    action = fmt::format("({})", joined(word.choices));
  } else if (word.is_file) {
    action = "_files";
  } else if (word.is_command) {
    action = "_cmdstring";
  }
  return fmt::format(":{}:{}", label, action);
}

std::string zsh_spec(const OptionInfo& option, const std::string& spelling) {
  const auto words = value_words(option);
  std::string spec = "*" + spelling;
  const bool is_letter = spelling.size() == 2;
  if (!words.empty()) {
    if (is_value_optional(option)) {
      spec += is_letter ? "-" : "=-";
    } else if (words.size() == 1) {
      spec += is_letter ? "+" : "=";
    }
  }
  spec += fmt::format("[{}]", backslashed(short_help(option), "[]\\:"));
  for (const ValueWord& word : words)
    spec += is_value_optional(option) ? ":" + zsh_value(word) : zsh_value(word);
  return spec;
}

// fish

std::string fish_value(const ValueWord& word) {
  std::string value;
  if (!word.choices.empty()) {
    value += fmt::format(" -a {}", shell_quoted(joined(word.choices)));
  }
  if (word.is_command) value += " -a '(__fish_complete_command)'";
  return (word.is_file ? " -r -F" : " -x") + value;
}

std::string fish_line(const OptionInfo& option) {
  std::string line = "complete -c lauka";
  if (option.letter != '\0') {
    line += fmt::format(" -s {}", option.letter);
  }
  if (!option.name.empty()) {
    line += fmt::format(" -l {}", option.name);
  }
  const auto words = value_words(option);
  if (!words.empty() && !is_value_optional(option)) line += fish_value(words.front());
  return line + fmt::format(" -d {}\n", shell_quoted(short_help(option)));
}

}  // namespace

std::string bash_completion() {
  std::string options;
  for (const OptionInfo& option : option_table()) {
    for (const std::string& spelling : spellings_of(option))
      options += (options.empty() ? "" : " ") + spelling;
  }
  return fmt::format("# bash completion for lauka, {}\n\n_lauka_options='{}'\n", kMadeFrom,
                     options) +
         std::string(kBashFunctions) + bash_cases() + std::string(kBashRest);
}

std::string zsh_completion() {
  std::string out = fmt::format("#compdef lauka\n# {}\n\n_arguments -s -S \\\n", kMadeFrom);
  for (const OptionInfo& option : option_table()) {
    for (const std::string& spelling : spellings_of(option))
      out += "  " + shell_quoted(zsh_spec(option, spelling)) + " \\\n";
  }
  return out + "  '*:command:_cmdstring'\n";
}

std::string fish_completion() {
  std::string out = fmt::format("# fish completion for lauka, {}\n\n", kMadeFrom);
  out += "complete -c lauka -f -a '(__fish_complete_command)'\n";
  for (const OptionInfo& option : option_table()) out += fish_line(option);
  return out;
}

}  // namespace lauka::cli
