#include "cli/describe.h"
#include "cli/option_table.h"
#include "cli/parse.h"
#include "core/words.h"

#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cli {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
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
    if (!line.starts_with(' ') && line.ends_with(':')) {
      titles += line;
    }
  }
  CHECK(titles == "Examples:Runs:Commands:What is measured:Deltas and the gate:Output:");
}

TEST_CASE("help shows every option with its letter and what it takes") {
  const std::string text = "\n" + help();
  for (const char* usage :
       {"  -r, --runs N  ", "      --seed N  ", "  -S  ", "  -i, --ignore-failure[=CODE,...]\n",
        "      --order random|interleaved|sequential\n", "  -l, --list-events[=TEXT]  ",
        "  -q, --quiet  "}) {
    CAPTURE(usage);
    CHECK(text.find("\n" + std::string(usage)) != std::string::npos);
  }
  for (const OptionInfo& option : option_table()) {
    CAPTURE(option.spelling());
    CHECK(text.find(" " + option.usage()) != std::string::npos);
  }
}

TEST_CASE("a help text goes on in its column on the next line") {
  CHECK(help().find("  -d, --duration TIME        time for each command: 5s, 500ms, 2m; a bare "
                    "number\n                             is seconds (default 5s)\n") !=
        std::string::npos);
}

TEST_CASE("the examples in help are understood as they are printed") {
  int examples = 0;
  for (const std::string& line : lines_of(help())) {
    if (!line.starts_with("  lauka ")) {
      continue;
    }
    CAPTURE(line);
    ++examples;
    const std::vector<std::string> words = *split_words(line);
    std::vector<const char*> argv;
    argv.reserve(words.size());
    for (const std::string& word : words) {
      argv.push_back(word.c_str());
    }
    const auto options = parse(static_cast<int>(argv.size()), argv.data());
    REQUIRE(options.has_value());
    CHECK_FALSE(options->inquiry.has_value());
  }
  CHECK(examples == 5);
}

TEST_CASE("-h fits one screen and names real options, each in one line") {
  const auto lines = lines_of(brief_help());
  CHECK(lines.size() <= 24);
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
    CHECK_FALSE(line.ends_with(' '));
  }
  CHECK(brief_help().find("  -r, --runs N ") != std::string::npos);
  CHECK(brief_help().find("lauka --help shows all options") != std::string::npos);
}

}  // namespace lauka::cli
