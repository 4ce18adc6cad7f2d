#include "cli/describe.h"
#include "cli/option_details.h"
#include "cli/option_table.h"
#include "cli/parsed.h"
#include "core/text.h"
#include "has.h"

#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("help fits 80 columns, in plain characters, without blanks at the end of a line") {
  for (const std::string& line : lines_of(help())) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
    CHECK(
        line.find_first_not_of(" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                               "abcdefghijklmnopqrstuvwxyz{|}~") == std::string::npos);
    CHECK_FALSE(line.ends_with(' '));
  }
}

TEST_CASE("help is grouped as the contract is") {
  std::string titles;
  for (const std::string& line : lines_of(help())) {
    if (!line.starts_with(' ') && line.ends_with(':')) titles += line;
  }
  CHECK(titles ==
        "Examples:Runs:Commands:What is measured:Deltas and the gate:Output:Exit status:");
}

TEST_CASE("help shows every option with its letter and what it takes") {
  const std::string text = "\n" + help();
  for (const char* usage :
       {"  -r, --runs N  ", "      --seed N  ", "  -S  ", "  -i, --ignore-failure[=CODE,...]\n",
        "      --order random|interleaved|sequential\n", "  -l, --list-events[=TEXT]  ",
        "  -q, --quiet  "}) {
    CAPTURE(usage);
    CHECK(has(text, "\n" + std::string(usage)));
  }
  for (const OptionInfo& option : option_table()) {
    CAPTURE(option.spelling());
    CHECK(has(text, " " + option.usage()));
  }
}

TEST_CASE("a help text goes on in its column on the next line") {
  CHECK(has(help(),
            "  -w, --warmup N             warm up with N untimed runs of each command\n"
            "                             (default 1)\n"));
}

TEST_CASE("the examples in help are understood as they are printed") {
  int examples = 0;
  for (const std::string& line : lines_of(help())) {
    if (!line.starts_with("  lauka ")) continue;
    CAPTURE(line);
    ++examples;
    const std::vector<std::string> words = *split_words(line);
    const auto options = parsed({words.begin() + 1, words.end()}).value();
    CHECK_FALSE(options.inquiry.has_value());
  }
  CHECK(examples == 5);
}

TEST_CASE("each line of help is one sentence") {
  for (const OptionInfo& option : option_table()) {
    CAPTURE(option.help);
    CHECK_FALSE(option.help.empty());
    CHECK_FALSE(has(std::string(option.help), ". "));
    CHECK_FALSE(has(std::string(option.help), ";"));
  }
}

TEST_CASE("help on an option has details and an example, and fits 80 columns") {
  CHECK(help_on("seed").value() ==
        "      --seed N\n"
        "          shuffle the runs with seed N, to repeat an order (default: from the\n"
        "          clock)\n\n"
        "          The seed of a session is in the file that --export-json writes.\n\n"
        "          $ lauka --seed 7 ./old ./new\n");
  for (const OptionInfo& option : option_table()) {
    for (const std::string& line : lines_of(help_on(key_of(option)).value())) {
      CAPTURE(line);
      CHECK(line.size() <= 80);
      CHECK_FALSE(line.ends_with(' '));
    }
  }
}

TEST_CASE("an option has the same help by its name and by its letter, with dashes or without") {
  CHECK(help_on("S").value() == help_on("-S").value());
  CHECK(help_on("--runs").value() == help_on("r").value());
  CHECK(help_on("runs").value() != help_on("r").value());
  CHECK_FALSE(help_on("Z"));
}

TEST_CASE("the command lines on the page for agents are understood") {
  int examples = 0;
  for (const std::string& line : lines_of(help_on("agents").value())) {
    if (!line.starts_with("    lauka ")) continue;
    CAPTURE(line);
    ++examples;
    const std::vector<std::string> words = *split_words(line);
    CHECK(answer_to({words.begin() + 1, words.end()}) == "accepted");
  }
  CHECK(examples > 15);
}

TEST_CASE("the example of an option has the option and is understood") {
  int examples = 0;
  for (const OptionInfo& option : option_table()) {
    const OptionDetails details = details_of(option);
    if (details.example.empty()) continue;
    CAPTURE(details.example);
    ++examples;
    std::string line(details.example);
    if (line.starts_with("sudo ")) line.erase(0, 5);
    const std::vector<std::string> words = *split_words(line);
    CHECK(words.front() == "lauka");
    const bool has_letter = option.letter != '\0' && has(line, std::string(" -") + option.letter);
    CHECK((has_letter || has(line, " " + option.spelling())));
    CHECK(answer_to({words.begin() + 1, words.end()}) == "accepted");
  }
  CHECK(examples > 60);
}

TEST_CASE("-h fits one screen and names real options, each in one line") {
  const auto lines = lines_of(brief_help());
  CHECK(lines.size() <= 24);
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
    CHECK_FALSE(line.ends_with(' '));
  }
  CHECK(has(brief_help(), "  -r, --runs N "));
  CHECK(brief_help().find("  -p, --prepare CMD ") < brief_help().find("      --export-json FILE "));
  CHECK(has(brief_help(), "lauka --help shows all options"));
}

namespace {

/// Escapes for roff.
std::string dashes_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '-' ? "\\-" : std::string(1, c);
  return out;
}

}  // namespace

TEST_CASE("the values of an option are read from what help shows of them") {
  const auto words_of = [](const char* name) {
    return value_words(find_option(name)->value_placeholder);
  };
  REQUIRE(words_of("color").size() == 1);
  CHECK(words_of("color")[0].choices == std::vector<std::string>{"auto", "always", "never"});
  CHECK(words_of("quiet").empty());
  CHECK(words_of("runs")[0].choices.empty());
  CHECK(words_of("input")[0].choices == std::vector<std::string>{"null"});
  CHECK(words_of("input")[0].is_file);
  CHECK(words_of("export-csv")[0].is_file);
  CHECK(words_of("reference")[0].is_command);
  REQUIRE(words_of("fail-if").size() == 1);
  CHECK(words_of("fail-if")[0].choices.empty());
}

TEST_CASE("every choice that help shows is one that is understood") {
  for (const OptionInfo& option : option_table()) {
    for (const ValueWord& word : value_words(option.value_placeholder)) {
      for (const std::string& choice : word.choices) {
        CAPTURE(option.spelling());
        CAPTURE(choice);
        ParsedOptions draft;
        const std::string& value = choice;
        if (value_words(option.value_placeholder).size() == 1)
          CHECK(option.apply(draft, {option, value}).has_value());
      }
    }
  }
}

TEST_CASE("the manual page has every option with its text") {
  const std::string page = man_page(lauka_description());
  for (const OptionInfo& option : option_table()) {
    CAPTURE(option.spelling());
    CHECK(has(page, "\\fB" + dashes_escaped(option.spelling()) + "\\fR"));
    const std::string first_word(option.help.substr(0, option.help.find(' ')));
    CHECK(has(page, "\n" + dashes_escaped(first_word)));
  }
  for (const Meaning& one : lauka_description().exit_statuses)
    CHECK_MESSAGE(has(page, "\\fB" + dashes_escaped(std::string(one.name)) + "\\fR\n"), one.name);
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS",
                              "ENVIRONMENT", "EXAMPLES", "SEE ALSO"})
    CHECK_MESSAGE(has(page, std::string("\n.SH ") + section + "\n"), section);
}

TEST_CASE("the manual page is roff: no line is a request by accident, no dash is a hyphen") {
  for (const std::string& line : lines_of(man_page(lauka_description()))) {
    CAPTURE(line);
    CHECK(line.size() <= 200);
    if (line.starts_with('.')) {
      const std::string request = line.substr(0, line.find(' '));
      CHECK((request == ".TH" || request == ".SH" || request == ".SS" || request == ".TP" ||
             request == ".PP" || request == ".IP" || request == ".nf" || request == ".fi" ||
             request == ".BR"));
      continue;
    }
    for (std::size_t at = 0; (at = line.find('-', at)) != std::string::npos; ++at)
      CHECK((at > 0 && line[at - 1] == '\\'));
    CHECK_FALSE(line.starts_with('\''));
  }
}

TEST_CASE("the completions of all three shells have every option") {
  const std::string bash = completion(lauka_description(), "bash");
  const std::string zsh = completion(lauka_description(), "zsh");
  const std::string fish = completion(lauka_description(), "fish");
  for (const OptionInfo& option : option_table()) {
    CAPTURE(option.spelling());
    if (!option.name.empty()) {
      const std::string name(option.name);
      CHECK((has(bash, " --" + name + " ") || has(bash, " --" + name + "'")));
      CHECK(has(zsh, "'*--" + name));
      CHECK(has(fish, " -l " + name + " "));
    }
    if (option.letter != '\0') {
      CHECK((has(bash, std::string(" -") + option.letter) ||
             has(bash, std::string("'-") + option.letter)));
      CHECK(has(zsh, std::string("'*-") + option.letter));
      CHECK(has(fish, std::string(" -s ") + option.letter + " "));
    }
  }
  CHECK(has(bash, "--color:1) _lauka_words 'auto always never'"));
  CHECK(has(bash, "--ignore-failure:=) :"));
  CHECK(has(zsh, ":(auto always never)'"));
  CHECK(has(zsh, "'*--ignore-failure=-["));
  CHECK(has(fish, "-l color -x -a 'auto always never'"));
  CHECK(has(fish, "-l export-csv -r -F"));
}

TEST_CASE("a short text is the first sentence") {
  CHECK(first_clause(find_option("runs")->help) == "time each command exactly N times");
  CHECK(first_clause(find_option("engine")->help) == "choose what counts events");
  CHECK(first_clause("sort the rows; by time. Slowly") == "sort the rows");
}

}  // namespace lauka::cli
