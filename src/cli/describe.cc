#include "cli/describe.h"

#include "cli/option_details.h"
#include "cli/page_files.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::cli {

namespace {

/// True for a word that is typed as it is, such as "auto". A placeholder has capitals: "FILE".
bool is_literal_choice(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

/// Returns the shell script that lists the values for a placeholder, each once and without what
/// lauka prints beside it; nullopt for a placeholder whose values cannot be listed.
std::optional<ValueLister> find_value_lister(std::string_view placeholder) {
  if (placeholder == "[+]EVENT,...")
    return ValueLister{"events",
                       "{ lauka -l; lauka -l --engine cachegrind,dhat; } | "
                       "sed \"/^event /d; s/ .*//\" | sort -u",
                       true};
  if (placeholder == "LIST")
    return ValueLister{"metrics",
                       "printf \"%s\\n\" default time all; "
                       "lauka --list-metrics | sed -n \"1d; /^$/q; s/ .*//p\"",
                       true};
  return std::nullopt;
}

/// Finds what may be typed for one placeholder, such as "auto|always|never" or "FILE|null".
ValueWord describe_value_word(std::string_view placeholder) {
  ValueWord word{.word_placeholder = std::string(placeholder),
                 .listing_script = find_value_lister(placeholder)};
  const auto parts = split(placeholder, '|');
  for (const std::string_view part : parts) {
    if (parts.size() > 1 && is_literal_choice(part)) word.choices.emplace_back(part);
    word.is_file = word.is_file || part == "FILE";
    word.is_folder = word.is_folder || part == "DIR";
    word.is_command = word.is_command || part == "CMD" || part == "COMMAND" || part == "SHELL";
  }
  return word;
}

constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kTextColumn = 29;     // where the texts of --help begin
constexpr std::size_t kDetailsColumn = 10;  // where the texts of --help OPTION begin
constexpr std::size_t kRoffWidth = 60;      // width of lines in the source of the manual page

OptionDescription describe_option(const OptionInfo& option) {
  const OptionDetails details = details_of(option);
  return {.name = std::string(option.name),
          .letter = option.letter == '\0' ? "" : std::string(1, option.letter),
          .value_placeholder = std::string(option.value_placeholder),
          .value_is_optional = is_value_optional(option),
          .help = std::string(option.help),
          .details = details.text,
          .example = details.example,
          .needs_macos = option.rules.needs_macos,
          .words = value_words(option.value_placeholder)};
}

/// Returns "  -r, --runs N". Without a letter, the name still stands below other names.
std::string write_usage_with_letter(const OptionDescription& option) {
  const std::string usage =
      write_usage(option.spelling(), option.value_placeholder, option.value_is_optional);
  if (option.name.empty()) return "  " + usage;
  return option.letter.empty() ? "      " + usage : fmt::format("  -{}, {}", option.letter, usage);
}

std::string write_paragraph(std::string_view text) {
  return fmt::format("{}\n", fmt::join(wrapped(text, kHelpWidth - 1), "\n"));
}

void append_option(std::string& out, const OptionDescription& option) {
  std::string margin = write_usage_with_letter(option);
  if (margin.size() + 1 >= kTextColumn) {
    out += margin + '\n';
    margin.clear();
  }
  for (const std::string_view line : wrapped(option.help, kHelpWidth - kTextColumn)) {
    out += fmt::format("{:{}}{}\n", margin, kTextColumn, line);
    margin.clear();
  }
}

void append_option_with_details(std::string& out, const OptionDescription& option) {
  out += (out.empty() ? "" : "\n") + write_usage_with_letter(option) + "\n";
  const auto append = [&out](std::string_view text) {
    for (const std::string_view line : wrapped(text, kHelpWidth - kDetailsColumn))
      out += fmt::format("{:{}}{}\n", "", kDetailsColumn, line);
  };

  append(option.help);
  if (!option.details.empty()) {
    out += "\n";
    append(option.details);
  }

  // An example is not wrapped, so that it can be copied.
  if (!option.example.empty())
    out += fmt::format("\n{:{}}$ {}\n", "", kDetailsColumn, option.example);
}

/// Escapes a line for roff. A dot or quote at its beginning would make the line a request, so
/// "\&", which prints nothing, precedes it. The escapes stand for the plain characters, which roff
/// would print as typographic ones, such as a hyphen for a minus.
std::string escape_for_roff(std::string_view text) {
  static constexpr std::string_view kCharacters = "\\-'\"^~`";
  static constexpr std::array kEscapes = {"\\e",   "\\-",   "\\(aq", "\\(dq",
                                          "\\(ha", "\\(ti", "\\(ga"};
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    const std::size_t place = kCharacters.find(c);
    out += place == std::string_view::npos ? std::string(1, c) : kEscapes.at(place);
  }
  return out;
}

std::string write_roff_lines(std::string_view text) {
  std::string out;
  for (const std::string_view line : wrapped(text, kRoffWidth)) out += escape_for_roff(line) + "\n";
  return out;
}

std::string write_bold(std::string_view text) {
  return "\\fB" + escape_for_roff(text) + "\\fR";
}

std::string write_slanted(std::string_view text) {
  return "\\fI" + escape_for_roff(text) + "\\fR";
}

std::string write_man_heading(const OptionDescription& option) {
  std::string heading;
  for (const std::string& spelling : option.spellings())
    heading += (heading.empty() ? "" : ", ") + write_bold(spelling);
  if (option.value_placeholder.empty()) return heading;
  return heading + (option.value_is_optional ? "[=" + write_slanted(option.value_placeholder) + "]"
                                             : " " + write_slanted(option.value_placeholder));
}

std::string write_man_options(const CommandDescription& command) {
  std::string out;
  for (const OptionGroup& group : command.groups) {
    if (!group.title.empty()) out += fmt::format(".SS {}\n", escape_for_roff(group.title));
    for (const OptionDescription& option : group.options) {
      out += ".TP\n" + write_man_heading(option) + "\n" + write_roff_lines(option.help);
      if (!option.details.empty()) out += ".IP\n" + write_roff_lines(option.details);
      if (!option.example.empty())
        out += ".IP\n" + write_roff_lines(fmt::format("Example: {}", option.example));
    }
  }
  return out;
}

/// Returns the usage line. A program without commands takes several arguments, also after "--".
std::string write_man_synopsis(const ProgramDescription& program,
                               const CommandDescription& command) {
  std::string out = write_bold(program.name);
  if (!command.name.empty()) out += " " + write_bold(command.name);
  out += " [" + write_slanted("options") + "]";
  if (command.name.empty()) out += " [" + write_bold("--") + "]";
  if (!command.argument_usage.empty()) out += " " + write_slanted(command.argument_usage);
  if (command.name.empty()) out += " [" + write_slanted(command.argument_usage) + " ...]";
  return out + "\n";
}

/// True for a program without commands, which is described as a single command without a name.
bool has_no_commands(const ProgramDescription& program) {
  return program.commands.front().name.empty();
}

std::string write_man_commands(const ProgramDescription& program) {
  if (has_no_commands(program))
    return ".SH OPTIONS\n" + write_man_options(program.commands.front());
  std::string out = ".SH COMMANDS\n";
  for (const CommandDescription& command : program.commands) {
    out += fmt::format(".SS {}{}{}\n", command.name, command.argument_usage.empty() ? "" : " ",
                       escape_for_roff(command.argument_usage));
    out += write_roff_lines(command.purpose) + write_man_options(command);
  }
  return out;
}

std::string write_man_meanings(std::string_view title, const std::vector<Meaning>& meanings) {
  if (meanings.empty()) return "";
  std::string out = fmt::format(".SH {}\n", title);
  for (const Meaning& meaning : meanings)
    out += ".TP\n" + write_bold(meaning.name) + "\n" + write_roff_lines(meaning.meaning);
  return out;
}

std::string put_backslash_before(std::string_view special_characters, std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (special_characters.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// Returns the end of the comment at the top of a completion script.
std::string write_origin_note(const ProgramDescription& program) {
  return fmt::format("made by {} from the option table; not to be edited",
                     program.completions_made_by);
}

std::string list_choices(const ValueWord& word) {
  return fmt::format("{}", fmt::join(word.choices, " "));
}

template <typename Visit>
void for_each_option(const CommandDescription& command, const Visit& visit) {
  for (const OptionGroup& group : command.groups)
    for (const OptionDescription& option : group.options) visit(option);
}

std::string join_spellings(const CommandDescription& command) {
  std::string all;
  for_each_option(command, [&](const OptionDescription& option) {
    all += fmt::format("{}{}", all.empty() ? "" : " ", fmt::join(option.spellings(), " "));
  });
  return all;
}

// The completion scripts of two programs may be loaded into one shell, so the names of their
// functions begin with the program's name. The templates below write "_@" instead of this prefix.
constexpr std::string_view kPrefixPlaceholder = "_@";

/// Replaces each "_@" by the prefix of the program's shell functions, such as "_lauka_history".
std::string fill_in_function_prefix(const ProgramDescription& program, std::string script) {
  std::string prefix = "_" + program.name;
  std::ranges::replace(prefix, '-', '_');
  for (std::size_t at = script.find(kPrefixPlaceholder); at != std::string::npos;
       at = script.find(kPrefixPlaceholder, at + prefix.size()))
    script.replace(at, kPrefixPlaceholder.size(), prefix);
  return script;
}

// The command that does nothing: there is nothing to complete.
constexpr const char* kNoBashAction = ":";

/// Returns the shell commands that complete the word at an index of `words`.
std::string write_bash_action(const std::vector<ValueWord>& words, std::size_t index) {
  if (index >= words.size()) return kNoBashAction;
  const ValueWord& word = words[index];
  std::vector<std::string> actions;
  if (!word.choices.empty()) actions.push_back("_@_words " + shell_quoted(list_choices(word)));
  if (word.listing_script)
    actions.push_back(fmt::format("_@_{}", word.listing_script->function_suffix));
  if (word.is_file) actions.emplace_back("_@_files f");
  if (word.is_folder) actions.emplace_back("_@_files d");
  if (word.is_command) actions.emplace_back("_@_commands");
  return actions.empty() ? kNoBashAction : fmt::format("{}", fmt::join(actions, "; "));
}

/// Returns the cases of the shell function in kBashValueBegin: "--runs:1" is the first word of the
/// value of --runs.
std::string write_bash_value_cases(const ProgramDescription& program) {
  std::string cases;
  const auto add_cases = [&](const OptionDescription& option) {
    for (std::size_t i = 0; i < option.words.size(); ++i) {
      // An optional value is found by the "=" before it, a word of a required value by its distance
      // from the option.
      const std::string place = option.value_is_optional ? "=" : fmt::format("{}", i + 1);
      for (const std::string& name : option.spellings()) {
        const std::string line = fmt::format("    {}:{}) {}; return 0 ;;\n", name, place,
                                             write_bash_action(option.words, i));

        // Several commands may have the same option.
        if (cases.find(line) == std::string::npos) cases += line;
      }
    }
  };
  for (const CommandDescription& command : program.commands) for_each_option(command, add_cases);
  return cases;
}

constexpr std::string_view kBashFunctions = R"sh(
_@_words() { COMPREPLY+=($(compgen -W "$1" -- "$cur")); }

_@_files() {  # f, or d: folders only
  local file
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -"$1" -- "$cur")
  compopt -o filenames 2>/dev/null
}

_@_commands() {
  local IFS=$'\n'
  COMPREPLY+=($(compgen -c -- "$cur"))
  case $cur in */*) _@_files f ;; esac
}

# The words that a script prints; "," if the value is a list of them.
_@_listed() {  # script, ","
  local word before=''
  if [[ ${2-} == , ]]; then
    case $cur in *,*) before=${cur%,*}, ;; +*) before=+ ;; esac
    compopt -o nospace 2>/dev/null
  fi
  while IFS= read -r word; do
    word=$before$(printf %q "$word")
    if [[ $word == "$cur"* ]]; then COMPREPLY+=("$word"); fi
  done < <(sh -c "$1" sh "${COMP_WORDS[@]}" 2>/dev/null)
}
)sh";

constexpr std::string_view kBashValueBegin = R"sh(
# The value that is being written, for `option` `place` words back (=: after a =).
_@_value() {  # option, place
  case $1:$2 in
)sh";

// The end of the function in kBashValueBegin, and the beginning of the main function.
constexpr std::string_view kBashMainBegin = R"sh(  esac
  return 1
}

_@() {
  local cur=${COMP_WORDS[COMP_CWORD]} i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then _@_commands; return; fi
  done
  # bash takes --color=a for three words.
  if [[ $cur == = ]]; then
    cur=''
    _@_value "${COMP_WORDS[COMP_CWORD - 1]}" = || _@_value "${COMP_WORDS[COMP_CWORD - 1]}" 1
    return
  elif ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    _@_value "${COMP_WORDS[COMP_CWORD - 2]}" = || _@_value "${COMP_WORDS[COMP_CWORD - 2]}" 1
    return
  fi
  for i in 1 2 3; do
    if ((COMP_CWORD > i)) && _@_value "${COMP_WORDS[COMP_CWORD - i]}" $i; then return; fi
  done
)sh";

/// The definition of a function in a shell's language, with {} for the end of the function's name,
/// and {} for the arguments that it passes on: the script, and "," for a list.
using DefinitionForm = fmt::format_string<const std::string&, std::string>;

std::string write_value_lister(const ValueLister& lister, DefinitionForm definition_form) {
  std::string arguments = shell_quoted(lister.script);
  if (lister.is_comma_separated) arguments += " ,";
  return fmt::format(definition_form, lister.function_suffix, std::move(arguments));
}

/// Returns definitions of shell functions, one for each kind of value that a script can list, such
/// as the names of events. The completion calls them for the value that is being typed.
std::string write_value_listers(const ProgramDescription& program, DefinitionForm definition_form) {
  std::string functions;
  const auto add_listers = [&](const std::vector<ValueWord>& words) {
    for (const ValueWord& word : words) {
      if (!word.listing_script) continue;

      // Several options may have values of the same kind, for which one function is enough.
      const std::string function = write_value_lister(*word.listing_script, definition_form);
      const bool is_new = functions.find(function) == std::string::npos;
      if (is_new) functions += function;
    }
  };

  for (const CommandDescription& command : program.commands) {
    add_listers(command.argument_words);
    for_each_option(command, [&](const OptionDescription& option) { add_listers(option.words); });
  }
  return functions;
}

/// Returns the end of the main shell function, which completes a word that is no option's value.
std::string write_bash_word_completion(const ProgramDescription& program) {
  if (has_no_commands(program))
    return "  if [[ $cur == -* ]]; then\n    _@_words \"$_@_options\"\n  else\n    _@_commands\n"
           "  fi\n";
  std::vector<std::string_view> names;
  std::string cases;
  for (const CommandDescription& command : program.commands) {
    names.push_back(command.name);
    cases += fmt::format("    {}) if [[ $cur == -* ]]; then _@_words {}; else {}; fi ;;\n",
                         command.name, shell_quoted(join_spellings(command)),
                         write_bash_action(command.argument_words, 0));
  }
  return fmt::format(
      "  local command=''\n  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${{COMP_WORDS[i]}} in {}) command=${{COMP_WORDS[i]}}; break ;; esac\n  done\n"
      "  case $command in\n    '') _@_words \"{} $_@_options\" ;;\n{}  esac\n",
      fmt::join(names, "|"), fmt::join(names, " "), cases);
}

std::string write_bash_completion(const ProgramDescription& program) {
  // Where no command was typed yet, only these options are offered.
  const CommandDescription before_command{.groups = {{"", program.options_before_command}}};
  const CommandDescription& offered =
      has_no_commands(program) ? program.commands.front() : before_command;

  std::string script =
      fmt::format("# bash completion for {}, {}\n\n_@_options='{}'\n", program.name,
                  write_origin_note(program), join_spellings(offered));
  script += kBashFunctions;
  script += write_value_listers(program, "_@_{}() {{ _@_listed {}; }}\n");
  script.append(kBashValueBegin).append(write_bash_value_cases(program));
  script.append(kBashMainBegin).append(write_bash_word_completion(program)).append("}\n");
  script += "\ncomplete -F _@ ";
  return fill_in_function_prefix(program, std::move(script)) + program.name + "\n";
}

/// Returns ":MESSAGE:ACTION" for _arguments of zsh, such as ":FILE:_files".
std::string write_zsh_value(const ValueWord& word) {
  const std::string choices = list_choices(word);
  std::string action = " ";  // a blank: zsh shows the message, but completes nothing
  if (!choices.empty() && word.is_file) {
    action = fmt::format("_alternative \"words\\:word\\:({})\" \"files\\:file\\:_files\"", choices);
  } else if (!choices.empty()) {
    action = fmt::format("({})", choices);
  } else if (word.listing_script) {
    action = fmt::format("_@_{}", word.listing_script->function_suffix);
  } else if (word.is_folder) {
    action = "_files -/";
  } else if (word.is_file) {
    action = "_files";
  } else if (word.is_command) {
    action = "_cmdstring";
  }
  return fmt::format(":{}:{}", put_backslash_before(":[]()\\", word.word_placeholder), action);
}

/// Returns the sign after the option's spelling that tells zsh where the value may be; empty if
/// there is none, or several words, which zsh expects after the option without a sign.
std::string_view find_zsh_sign(const OptionDescription& option, std::string_view spelling) {
  // An optional value must be in the same word as the option. Any other single value may also be
  // the next word.
  const bool is_letter = spelling.size() == 2;
  if (option.value_is_optional) return is_letter ? "-" : "=-";
  if (option.words.size() == 1) return is_letter ? "+" : "=";
  return "";
}

/// Returns what _arguments, the function of zsh that completes options, must know about an option:
/// '*--runs=[number of runs]:N: '.
std::string write_zsh_spec(const OptionDescription& option, const std::string& spelling) {
  // After "*", zsh offers the option again although it was typed.
  std::string spec = "*" + spelling;
  spec += find_zsh_sign(option, spelling);
  spec += fmt::format("[{}]", put_backslash_before("[]\\:", first_clause(option.help)));

  // Each word of the value begins with a colon. With a second colon, the word may be missing.
  for (const ValueWord& word : option.words)
    spec += option.value_is_optional ? ":" + write_zsh_value(word) : write_zsh_value(word);
  return spec;
}

/// Returns the arguments of _arguments for a command, each option's between `before` and `after`.
std::string write_zsh_specs(const CommandDescription& command, std::string_view before,
                            std::string_view after) {
  std::string specs;
  for_each_option(command, [&](const OptionDescription& option) {
    for (const std::string& spelling : option.spellings())
      specs.append(before).append(shell_quoted(write_zsh_spec(option, spelling))).append(after);
  });
  for (const ValueWord& word : command.argument_words)
    specs.append(before).append(shell_quoted("*" + write_zsh_value(word)));
  return specs;
}

// The shell function that the listers of values call.
constexpr std::string_view kZshListFunction = R"sh(local -a typed=("${words[@]}")

# The words that a script prints; "," if the value is a list of them.
_@_listed() {  # script, ","
  local -a found=("${(@f)$(sh -c "$1" sh "${typed[@]}" 2>/dev/null)}") suffix
  if [[ ${2-} == , ]]; then
    suffix=(-S '')
    compset -P '*,' || compset -P '+'
  fi
  compadd "${suffix[@]}" -a found
}
)sh";

/// Returns a line for each command, with its purpose, as zsh's _describe reads them.
std::string list_zsh_commands(const ProgramDescription& program) {
  std::string lines;
  for (const CommandDescription& command : program.commands)
    lines += fmt::format("    {}\n", shell_quoted(std::string(command.name) + ":" +
                                                  put_backslash_before(":\\", command.purpose)));
  return lines;
}

/// Returns a case for each command, which completes the command's options and arguments.
std::string write_zsh_cases(const ProgramDescription& program) {
  std::string cases;
  for (const CommandDescription& command : program.commands)
    cases += fmt::format("    {}) _arguments -s -S{} ;;\n", command.name,
                         write_zsh_specs(command, " ", ""));
  return cases;
}

/// Returns the part of the script that completes a program with commands.
std::string complete_zsh_with_commands(const ProgramDescription& program) {
  // Only one option may stand before the command: "--db FILE add" or "--db=FILE add". The script
  // drops it from zsh's list of words, so that the command is always the second one. CURRENT is
  // the index, from 1, of the word that is being typed.
  const std::string option_before = program.options_before_command.front().spelling();
  return fmt::format(
      "local -a commands=(\n{}  )\n"
      "if [[ $words[2] == {} && CURRENT -gt 3 ]]; then\n  words[2,3]=()\n"
      "  ((CURRENT -= 2))\n"
      "elif [[ $words[2] == {}=* && CURRENT -gt 2 ]]; then\n  words[2]=()\n"
      "  ((CURRENT--))\nfi\n"
      "if ((CURRENT == 2)); then\n  _describe command commands\nelse\n  shift words\n"
      "  ((CURRENT--))\n  case $words[1] in\n{}  esac\nfi\n",
      list_zsh_commands(program), option_before, option_before, write_zsh_cases(program));
}

/// Returns the completion script for zsh. "_@" in it stands for the prefix of the program's shell
/// functions, which fill_in_function_prefix() inserts at the end.
std::string write_zsh_completion(const ProgramDescription& program) {
  const std::string listers = write_value_listers(program, "_@_{}() {{ _@_listed {}; }}\n");
  const std::string head = fmt::format("#compdef {}\n# {}\n\n{}{}\n", program.name,
                                       write_origin_note(program), kZshListFunction, listers);

  // lauka itself has no commands such as "add", so its only CommandDescription has all options.
  // With -s, letters may share a dash ("-qr 10"). With -S, no option follows "--".
  if (has_no_commands(program)) {
    const std::string specs = write_zsh_specs(program.commands.front(), "  ", " \\\n");
    return fill_in_function_prefix(program, head + "_arguments -s -S \\\n" + specs + "\n");
  }

  return fill_in_function_prefix(program, head + complete_zsh_with_commands(program));
}

// The flags of fish's command "complete" that are written below:
//   -c PROGRAM, -s LETTER, -l NAME  what is completed: a program, and an option of it
//   -d TEXT                         the description that is shown
//   -n COMMAND                      the completion applies only if COMMAND succeeds
//   -a WORDS                        the possible words; "(COMMAND)" stands for COMMAND's output
//   -f, -F                          no file names are offered; file names are offered in any case
//   -r, -x                          the option needs a value; -x is -r with -f

/// Returns the flags that offer the possible words; empty if none are known, or only file names.
std::string write_fish_words(const ValueWord& word) {
  std::string flags;
  if (!word.choices.empty()) flags += " -a " + shell_quoted(list_choices(word));
  if (word.listing_script)
    flags += fmt::format(" -a '(_@_{})'", word.listing_script->function_suffix);
  if (word.is_folder)
    flags +=
        " -a '(__fish_complete_directories (string replace -r \"^-[^=]*=\" \"\" -- "
        "(commandline -ct)))'";
  if (word.is_command) flags += " -a '(__fish_complete_command)'";
  return flags;
}

/// Returns the flags for an option's value. fish completes only the first word of a value.
std::string write_fish_value(const OptionDescription& option) {
  if (option.words.empty()) return "";
  const ValueWord& word = option.words.front();
  if (option.value_is_optional) return " -f" + write_fish_words(word);
  return (word.is_file ? " -r -F" : " -x") + write_fish_words(word);
}

/// Returns the end of a line, which follows "complete -c PROGRAM" and conditions.
std::string write_fish_option(const OptionDescription& option) {
  std::string flags;
  if (!option.letter.empty()) flags += " -s " + option.letter;
  if (!option.name.empty()) flags += " -l " + option.name;
  flags += write_fish_value(option);
  return flags + fmt::format(" -d {}\n", shell_quoted(first_clause(option.help)));
}

std::string write_fish_options(const CommandDescription& command, const std::string& line_begin) {
  std::string lines;
  for_each_option(command, [&](const OptionDescription& option) {
    lines += line_begin + write_fish_option(option);
  });
  return lines;
}

// The shell function that the listers of values call.
constexpr std::string_view kFishListFunction =
    R"sh(# The words that a script prints; "," if the value is a list of them.
function _@_listed  # script, ","
  set -l token (string replace -r "^-[^=]*=" "" -- (commandline -ct))
  set -l before
  test "$argv[2]" = , && set before (string match -r "^(?:.*,|\+)" -- $token)
  for word in (sh -c $argv[1] sh (commandline -opc) 2>/dev/null)
    echo "$before$word"
  end
end
)sh";

/// Returns the lines for lauka itself, which has no commands such as "add". Its arguments are
/// command lines of the shell. `complete`: the beginning of each line.
std::string complete_fish_without_commands(const ProgramDescription& program,
                                           const std::string& complete) {
  // A word that begins with a dash, such as --tune=, is an option, not a command line.
  return complete +
         " -f -n 'not string match -q -- \"-*\" (commandline -ct)'"
         " -a '(__fish_complete_command)'\n" +
         write_fish_options(program.commands.front(), complete);
}

/// Returns the condition that the user has typed none of the commands yet.
std::string write_fish_condition_before_command(const ProgramDescription& program) {
  std::string condition = " -n 'not __fish_seen_subcommand_from";
  for (const CommandDescription& command : program.commands)
    condition += " " + std::string(command.name);
  return condition + "'";
}

/// Returns the lines for the arguments and options of a command, which are offered after it.
std::string complete_fish_after_command(const CommandDescription& command,
                                        const std::string& complete) {
  const std::string after_command =
      fmt::format("{} -n '__fish_seen_subcommand_from {}'", complete, command.name);
  std::string lines;
  for (const ValueWord& word : command.argument_words) {
    if (word.is_file) lines += after_command + " -F\n";
    const std::string words = write_fish_words(word);
    if (!words.empty()) lines += after_command + words + "\n";
  }
  return lines + write_fish_options(command, after_command);
}

/// Returns the lines for a program with commands. `complete`: the beginning of each line.
std::string complete_fish_with_commands(const ProgramDescription& program,
                                        const std::string& complete) {
  // File names are offered only where a line below asks for them.
  std::string lines = complete + " -f\n";

  const std::string before_command = complete + write_fish_condition_before_command(program);
  for (const OptionDescription& option : program.options_before_command)
    lines += before_command + write_fish_option(option);

  for (const CommandDescription& command : program.commands) {
    lines += fmt::format("{} -a {} -d {}\n", before_command, command.name,
                         shell_quoted(command.purpose));
    lines += complete_fish_after_command(command, complete);
  }
  return lines;
}

/// Returns the completion script for fish, which is a list of "complete" commands. Each adds words
/// that fish offers, with the conditions under which it offers them. "_@" stands for the prefix of
/// the program's shell functions, which fill_in_function_prefix() inserts at the end.
std::string write_fish_completion(const ProgramDescription& program) {
  const std::string complete = "complete -c " + program.name;
  const std::string listers = write_value_listers(program, "function _@_{}; _@_listed {}; end\n");
  std::string out = fmt::format("# fish completion for {}, {}\n\n{}{}\n", program.name,
                                write_origin_note(program), kFishListFunction, listers);

  out += has_no_commands(program) ? complete_fish_without_commands(program, complete)
                                  : complete_fish_with_commands(program, complete);
  return fill_in_function_prefix(program, std::move(out));
}

struct Topic {
  std::string_view name;
  bool (*has_option)(const OptionInfo& option);  ///< null if there is a page
  std::string_view closing_text;                 ///< printed after the options; may be empty
  std::string_view page{};  ///< text that is printed as it is, instead of options; may be empty
};

bool is_of_suite(const OptionInfo& option) {
  return option.rules.needs_suite || option.name == "suite";
}

template <OptionSection section>
bool is_in_section(const OptionInfo& option) {
  return option.group == section && !is_of_suite(option);
}

constexpr auto kTopics = std::to_array<Topic>({
    {"runs", is_in_section<OptionSection::Runs>, ""},
    {"commands", is_in_section<OptionSection::Commands>, ""},
    {"metrics", is_in_section<OptionSection::Measured>,
     "lauka --list-metrics lists the metrics, and lauka --list-events lists the events."},
    {"suite", is_of_suite,
     "The file may have a table [defaults] with options by their long names. For each benchmark it "
     "has a table [[benchmark]] with its name, its commands and its own options. docs/suites.md "
     "shows such a file."},
    {"gates", is_in_section<OptionSection::Gate>, ""},
    {"output", is_in_section<OptionSection::Output>, ""},
    {"history", [](const OptionInfo& option) { return option.name == "export-json"; },
     "lauka-history add FILE keeps such a file in a database. lauka-history --help lists the "
     "commands that show what is in it."},
    {"agents", nullptr, "", page_files::kAgentsMd},
});

Error make_unknown_topic_error(std::string_view topic) {
  std::vector<std::string> names;
  names.reserve(kTopics.size());
  for (const Topic& offered : kTopics) names.emplace_back(offered.name);
  return {fmt::format("there is no help on {}", cited(topic)),
          fmt::format("name an option, or one of the topics {}", listed(names, "or"))};
}

/// Returns the page of a topic, or the help on all of its options.
std::string write_topic(const Topic& topic) {
  // The text of an embedded page begins with a line break that the page itself does not have.
  if (!topic.page.empty()) return std::string(topic.page.substr(1));

  std::string out;
  for (const OptionInfo& option : option_table())
    if (topic.has_option(option)) append_option_with_details(out, describe_option(option));
  if (!topic.closing_text.empty()) out += "\n" + write_paragraph(topic.closing_text);
  return out;
}

/// Returns the section of the manual page with the paragraphs, if there are any.
std::string write_man_description(const ProgramDescription& program) {
  std::string section;
  if (!program.paragraphs.empty()) section = ".SH DESCRIPTION\n";
  std::string separator;  // stands before each paragraph but the first
  for (const std::string_view text : program.paragraphs) {
    section += separator + write_roff_lines(text);
    separator = ".PP\n";
  }
  return section;
}

/// Returns the section of the manual page with the examples, if there are any.
std::string write_man_examples(const ProgramDescription& program) {
  if (program.examples.empty()) return "";
  std::string section = ".SH EXAMPLES\n.nf\n";
  for (const std::string_view example : program.examples)
    section += escape_for_roff(example) + "\n";
  return section + ".fi\n";
}

/// Returns the section of the manual page with other manual pages, such as "perf-stat (1)".
std::string write_man_see_also(const ProgramDescription& program) {
  std::string section = ".SH SEE ALSO\n";
  for (const std::string_view page : program.see_also) {
    const bool is_last = page == program.see_also.back();
    section += fmt::format(".BR {}{}\n", escape_for_roff(page), is_last ? "" : ",");
  }
  return section;
}

constexpr auto kExitStatuses = std::to_array<Meaning>({
    {"0", "lauka measured everything, and every gate passed or was inconclusive"},
    {"1", "a command failed, or lauka could not measure it"},
    {"2",
     "lauka did not understand the command line, or this machine cannot measure what you asked "
     "for; lauka ran nothing"},
    {"3", "a gate failed"},
    {"4",
     "a gate was inconclusive (only with --fail-if-inconclusive, which can choose another "
     "status)"},
    {"5", "the second command was not kept (only with --keep-if or --keep-if-faster)"},
    {"128+N", "signal N ended lauka"},
});

constexpr auto kEnvironmentVariables = std::to_array<Meaning>({
    {"NO_COLOR", "If it is set, --color auto shows no colour, and lauka shows no progress bar."},
    {"CLICOLOR_FORCE",
     "If it is set to anything but 0, --color auto shows colour even if the output is not a "
     "terminal."},
    {"LAUKA_ITERATION",
     "lauka sets it for --prepare and --conclude, to tell them which run they belong to."},
    {"LAUKA_METRICS",
     "lauka sets it for each run, to the path of a file. The run may append lines NAME VALUE "
     "[UNIT] [higher|lower] [sum|mean|last] to this file. Each NAME becomes a metric."},
    {"PATH", "lauka looks for commands without a slash in these folders."},
    {"TMPDIR",
     "While it measures, lauka keeps the files of LAUKA_METRICS and of the engines cachegrind "
     "and dhat in this folder (default /dev/shm, or else /tmp)."},
});

/// Describes the options of lauka, which belong to its only command.
CommandDescription describe_only_command() {
  CommandDescription only_command{
      .argument_usage = "COMMAND",
      .argument_words = {{.word_placeholder = "command", .is_command = true}}};
  constexpr auto titles = std::to_array<std::string_view>(
      {"Runs", "Commands", "What is measured", "Deltas and the gate", "Output"});
  for (const OptionInfo& option : option_table()) {
    const std::string_view title = titles.at(static_cast<std::size_t>(option.group));
    if (only_command.groups.empty() || only_command.groups.back().title != title)
      only_command.groups.push_back({title});
    only_command.groups.back().options.push_back(describe_option(option));
  }
  return only_command;
}

}  // namespace

std::vector<ValueWord> value_words(std::string_view value) {
  if (value.empty()) return {};
  if (value.front() == '\'') return {describe_value_word(value)};
  std::vector<ValueWord> words;
  for (const std::string_view name : split(value, ' ')) words.push_back(describe_value_word(name));
  return words;
}

std::string first_clause(std::string_view help) {
  const std::size_t end =
      std::min({help.find("; "), help.find(". "), help.find(" ("), help.size()});
  return std::string(help.substr(0, end));
}

std::string OptionDescription::spelling() const {
  return name.empty() ? "-" + letter : "--" + name;
}

std::vector<std::string> OptionDescription::spellings() const {
  std::vector<std::string> all;
  if (!letter.empty()) all.push_back("-" + letter);
  if (!name.empty()) all.push_back("--" + name);
  return all;
}

std::string options_help(const CommandDescription& command) {
  std::string out;
  for (const OptionGroup& group : command.groups) {
    out += fmt::format("\n{}:\n", group.title.empty() ? "Options" : group.title);
    for (const OptionDescription& option : group.options) append_option(out, option);
  }
  return out;
}

/// Answers --help TOPIC. A topic, such as "gates", has several options or a page of its own.
Result<std::string> help_on(std::string_view topic) {
  const auto* const known_topic = std::ranges::find(kTopics, topic, &Topic::name);
  if (known_topic != kTopics.end()) return write_topic(*known_topic);

  // Any other word must name an option: "r", "-r", "runs" or "--runs".
  const std::size_t dashes = topic.starts_with("--") ? 2 : 0;
  const OptionInfo* option =
      topic.size() == 1 ? find_option(topic.front()) : option_of_key(topic.substr(dashes));
  if (option == nullptr) return make_unknown_topic_error(topic);

  std::string out;
  append_option_with_details(out, describe_option(*option));
  return out;
}

std::string help(bool on_macos) {
  ProgramDescription lauka = lauka_description();
  for (OptionGroup& group : lauka.commands.front().groups)
    std::erase_if(group.options,
                  [&](const OptionDescription& option) { return option.needs_macos && !on_macos; });
  std::string out = fmt::format("lauka {}.\n\nUsage: lauka [options] [--] COMMAND [COMMAND ...]\n",
                                lauka.purpose);
  for (const std::string_view text : lauka.paragraphs) out += "\n" + write_paragraph(text);
  out += "\nExamples:\n";
  for (const std::string_view example : lauka.examples) out += fmt::format("  {}\n", example);
  out += options_help(lauka.commands.front());
  return out + list_statuses(lauka) +
         "\nlauka --help OPTION explains an option and gives an example.\n"
         "lauka --help agents is a page for programs that call lauka.\n";
}

std::string brief_help() {
  std::string out = "Usage: lauka [options] [--] COMMAND [COMMAND ...]\n\n";
  for (const OptionInfo& option : option_table()) {
    if (option.rules.brief_help_text.empty()) continue;
    std::string line = write_usage_with_letter(describe_option(option));
    constexpr std::size_t brief_text_column = 36;
    line.resize(std::max(brief_text_column, line.size() + 1), ' ');
    out += line.append(option.rules.brief_help_text) + "\n";
  }
  return out + "\nExample: lauka 'sleep 0.1' 'sleep 0.12'. lauka --help shows all options.\n";
}

std::string list_statuses(const ProgramDescription& program) {
  std::string out = "\nExit status:\n";
  constexpr std::size_t indent = 2;
  constexpr std::size_t meaning_column = 9;
  for (const Meaning& meaning : program.exit_statuses) {
    std::string_view status = meaning.name;  // empty after the first line
    for (const std::string_view line : wrapped(meaning.meaning, kHelpWidth - meaning_column))
      out += fmt::format("{:{}}{:<{}}{}\n", "", indent, std::exchange(status, ""),
                         meaning_column - indent, line);
  }
  return out;
}

/// Returns the manual page in the language of roff: .TH is the title line, .SH begins a section,
/// .br a line and .PP a paragraph, .nf and .fi surround lines that are not filled, and .BR prints
/// its first argument in bold.
std::string man_page(const ProgramDescription& program) {
  std::string out = fmt::format(".TH {} 1 \"{}\" \"lauka {}\" \"User Commands\"\n",
                                upper_case(program.name), program.date, version());
  out += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", escape_for_roff(program.name),
                     escape_for_roff(program.purpose));

  std::string separator;  // stands before each command but the first
  for (const CommandDescription& command : program.commands) {
    out += separator + write_man_synopsis(program, command);
    separator = ".br\n";
  }

  return out + write_man_description(program) + write_man_commands(program) +
         write_man_meanings("EXIT STATUS", program.exit_statuses) +
         write_man_meanings("ENVIRONMENT", program.environment_variables) +
         write_man_examples(program) + write_man_see_also(program);
}

std::string completion(const ProgramDescription& program, std::string_view shell) {
  if (shell == "bash") return write_bash_completion(program);
  if (shell == "zsh") return write_zsh_completion(program);
  return shell == "fish" ? write_fish_completion(program) : "";
}

ProgramDescription lauka_description() {
  ProgramDescription lauka{.name = "lauka",
                           .date = "2026-11-22",
                           .completions_made_by = "lauka_docs",
                           .purpose = "compares the performance of commands"};

  lauka.paragraphs = {
      "Each COMMAND is one argument. lauka splits it into words as a shell does, but runs it "
      "without a shell. The first command is the reference, and lauka shows how each later one "
      "differs from it. Everything after -- is a command."};

  lauka.examples = {
      "lauka 'sleep 0.1' 'sleep 0.12'",
      "lauka -r 20 -n short -n long -- 'ls /' 'ls -l /'",
      "lauka -d 1s -S 'ls / | sort' 'ls / | sort -r'",
      "lauka -r 10 --fail-if-slower=50 --reference 'sleep 0.1' 'sleep 0.11'",
      "lauka -qr 10 --metrics all --export-csv - true",
  };

  lauka.exit_statuses.assign(kExitStatuses.begin(), kExitStatuses.end());
  lauka.environment_variables.assign(kEnvironmentVariables.begin(), kEnvironmentVariables.end());
  lauka.see_also = {"hyperfine (1)", "perf-stat (1)", "valgrind (1)"};

  // lauka has no subcommands. All of its options belong to one command without a name.
  lauka.commands.push_back(describe_only_command());
  return lauka;
}

std::string_view version() {
  return LAUKA_VERSION;
}

}  // namespace lauka::cli
