#include "history/describe.h"

#include "core/words.h"

#include <fmt/format.h>

namespace lauka::history {

namespace {

constexpr std::string_view kMadeFrom =
    "made by lauka-history --completions from what its --help is made of; not to be edited";

bool is_file(std::string_view word) {
  return word.find("FILE") != std::string_view::npos || word == "DB" || word == "OUT.html";
}

/// The words that a value can be, with spaces between them; empty: any.
std::string choices_of(std::string_view parameter) {
  if (parameter == "ROLE") return "reference candidate anchor all";
  if (parameter == "WHAT") return "anchor reference nothing";
  std::string words(parameter.find('|') == std::string_view::npos ? "" : parameter);
  for (char& c : words)
    if (c == '|') c = ' ';
  return words;
}

std::string spellings_of(const OptionSummary& option, std::string_view between) {
  const std::string name = "--" + option.name;
  return option.letter.empty() ? name : fmt::format("-{}{}{}", option.letter, between, name);
}

// bash

constexpr std::string_view kBashBegin = R"sh(
_lauka_history_words() { COMPREPLY+=($(compgen -W "$1" -- "$cur")); }

_lauka_history_files() {
  local file
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$cur")
  compopt -o filenames 2>/dev/null
}

_lauka_history() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' i
  COMPREPLY=()
  # bash takes --role=a for three words.
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)sh";

std::string bash_values(const std::vector<CommandSummary>& commands) {
  std::string cases;
  std::string done = " ";
  for (const CommandSummary& command : commands) {
    for (const OptionSummary& option : command.options) {
      if (option.parameter.empty() || done.find(" " + option.name + " ") != std::string::npos)
        continue;
      done += option.name + " ";
      const std::string words = choices_of(option.parameter);
      const std::string action =
          is_file(option.parameter) ? "_lauka_history_files; "
          : words.empty()           ? ""
                                    : fmt::format("_lauka_history_words {}; ", shell_quoted(words));
      cases += fmt::format("    {}) {}return ;;\n", spellings_of(option, "|"), action);
    }
  }
  return cases;
}

std::string bash(const std::vector<CommandSummary>& commands) {
  std::string names;
  std::string cases;
  for (const CommandSummary& command : commands) {
    names += (names.empty() ? "" : " ") + std::string(command.name);
    std::string options;
    for (const OptionSummary& option : command.options)
      options += (options.empty() ? "" : " ") + spellings_of(option, " ");
    const std::string words = choices_of(command.words);
    cases +=
        fmt::format("    {}) if [[ $cur == -* ]]; then _lauka_history_words {}; else {}; fi ;;\n",
                    command.name, shell_quoted(options),
                    is_file(command.words) ? std::string("_lauka_history_files")
                    : words.empty()        ? std::string(":")
                                           : "_lauka_history_words " + shell_quoted(words));
  }
  std::string alternatives = names;
  for (char& c : alternatives)
    if (c == ' ') c = '|';
  return fmt::format(
      "# bash completion for lauka-history, {}\n{}  case $prev in\n{}  esac\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${{COMP_WORDS[i]}} in {}) command=${{COMP_WORDS[i]}}; break ;; esac\n  done\n"
      "  case $command in\n    '') _lauka_history_words '{} --db --help --version' ;;\n{}  "
      "esac\n}}\n\n"
      "complete -F _lauka_history lauka-history\n",
      kMadeFrom, kBashBegin, bash_values(commands), alternatives, names, cases);
}

// zsh

std::string zsh_value(std::string_view parameter) {
  const std::string words = choices_of(parameter);
  return fmt::format(":{}:{}", backslashed(words.empty() ? parameter : "word", ":[]()\\"),
                     is_file(parameter) ? "_files"
                     : words.empty()    ? " "
                                        : "(" + words + ")");
}

std::string zsh(const std::vector<CommandSummary>& commands) {
  std::string list;
  std::string cases;
  for (const CommandSummary& command : commands) {
    list += fmt::format("    {}\n", shell_quoted(std::string(command.name) + ":" +
                                                 backslashed(command.purpose, ":\\")));
    std::string specs;
    for (const OptionSummary& option : command.options) {
      const std::string rest =
          fmt::format("[{}]{}", backslashed(option.meaning, "[]\\:"),
                      option.parameter.empty() ? "" : zsh_value(option.parameter));
      const std::string_view takes = option.parameter.empty() ? "" : "=";
      specs += " " + shell_quoted(fmt::format("--{}{}{}", option.name, takes, rest));
      if (!option.letter.empty())
        specs += " " + shell_quoted(fmt::format("-{}{}", option.letter, rest));
    }
    if (!command.words.empty()) specs += " " + shell_quoted("*" + zsh_value(command.words));
    cases += fmt::format("    {}) _arguments{} ;;\n", command.name, specs);
  }
  return fmt::format(
      "#compdef lauka-history\n# zsh completion for lauka-history, {}\n\n"
      "local -a commands=(\n{}  )\n"
      "if [[ $words[2] == --db && CURRENT -gt 3 ]]; then\n  words[2,3]=()\n  ((CURRENT -= 2))\n"
      "elif [[ $words[2] == --db=* && CURRENT -gt 2 ]]; then\n  words[2]=()\n  ((CURRENT--))\nfi\n"
      "if ((CURRENT == 2)); then\n  _describe command commands\nelse\n  shift words\n"
      "  ((CURRENT--))\n  case $words[1] in\n{}  esac\nfi\n",
      kMadeFrom, list, cases);
}

// fish

std::string fish_value(std::string_view parameter) {
  const std::string words = choices_of(parameter);
  if (parameter.empty()) return "";
  return is_file(parameter) ? " -r -F" : words.empty() ? " -x" : " -x -a " + shell_quoted(words);
}

std::string fish(const std::vector<CommandSummary>& commands) {
  std::string text = fmt::format(
      "# fish completion for lauka-history, {}\n\ncomplete -c lauka-history -f\n", kMadeFrom);
  std::string none = "not __fish_seen_subcommand_from";
  for (const CommandSummary& command : commands) none += " " + std::string(command.name);
  text += fmt::format("complete -c lauka-history -n '{}' -l db -r -F\n", none);
  for (const CommandSummary& command : commands) {
    text += fmt::format("complete -c lauka-history -n '{}' -a {} -d {}\n", none, command.name,
                        shell_quoted(command.purpose));
    const std::string begin =
        fmt::format("complete -c lauka-history -n '__fish_seen_subcommand_from {}'", command.name);
    if (is_file(command.words)) text += begin + " -F\n";
    if (const std::string words = choices_of(command.words); !words.empty())
      text += begin + " -a " + shell_quoted(words) + "\n";
    for (const OptionSummary& option : command.options)
      text += fmt::format("{}{} -l {}{} -d {}\n", begin,
                          option.letter.empty() ? "" : " -s " + option.letter, option.name,
                          fish_value(option.parameter), shell_quoted(option.meaning));
  }
  return text;
}

}  // namespace

std::string man_page(const std::vector<CommandSummary>& commands, std::string_view version) {
  std::string page = fmt::format(
      ".TH LAUKA-HISTORY 1 \"\" \"lauka {}\" \"User Commands\"\n.SH NAME\nlauka\\-history \\- "
      "keeps what lauka measured, commit by commit\n.SH SYNOPSIS\n",
      version);
  for (const CommandSummary& one : commands)
    page += fmt::format(".B lauka\\-history {} [options]{}{}\n.br\n", one.name,
                        one.words.empty() ? "" : " ", for_roff(one.words));
  page += ".SH COMMANDS\n";
  for (const CommandSummary& one : commands) {
    page += fmt::format(".SS {}{}{}\n{}\n", one.name, one.words.empty() ? "" : " ",
                        for_roff(one.words), for_roff(one.purpose));
    for (const OptionSummary& option : one.options)
      page += fmt::format(".TP\n.B {}\n{}\n",
                          for_roff(spellings_of(option, ", ") +
                                   (option.parameter.empty() ? "" : " " + option.parameter)),
                          for_roff(option.meaning));
  }
  return page +
         ".SH EXIT STATUS\n0 done; 1 failed; 2 the command line is wrong; 3 check, or combine "
         "\\-\\-fail\\-if\\-worse, found something worse.\n.SH SEE ALSO\n.BR lauka (1)\n";
}

std::string completions(const std::vector<CommandSummary>& commands, std::string_view shell) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  return shell == "fish" ? fish(commands) : "";
}

}  // namespace lauka::history
