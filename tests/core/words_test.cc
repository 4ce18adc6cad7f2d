#include "core/text.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {

namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
  const auto words = split_words(text);
  return words ? *words : Words{"refused: " + words.error().line()};
}

}  // namespace

// The expected words are what `printf '[%s]' TEXT` of dash 0.5.12 shows, but for expansions and
// operators, which are plain characters here.
TEST_CASE("blanks and newlines separate words") {
  CHECK(words_of("./old") == Words{"./old"});
  CHECK(words_of("  ./new \t -O2\n in.txt ") == Words{"./new", "-O2", "in.txt"});
  CHECK(words_of("").empty());
  CHECK(words_of(" \t\n").empty());
}

TEST_CASE("single quotes protect everything between them") {
  CHECK(words_of(R"('a b' 'c\d' '"')") == Words{"a b", R"(c\d)", "\""});
  CHECK(words_of("a'b c'd") == Words{"ab cd"});
}

TEST_CASE("in double quotes a backslash protects only what is special there") {
  CHECK(words_of(R"("a b" "\$\`\"\\")") == Words{"a b", R"($`"\)"});
  CHECK(words_of(R"("a\nb" "it's" "\'")") == Words{R"(a\nb)", "it's", R"(\')"});
  CHECK(words_of("\"a\\\nb\"") == Words{"ab"});
}

TEST_CASE("outside quotes a backslash protects any character, and a continued line vanishes") {
  CHECK(words_of(R"(a\ b \'c \\ \")") == Words{"a b", "'c", "\\", "\""});
  CHECK(words_of("a\\\nb") == Words{"ab"});
  CHECK(words_of("\\\n").empty());
}

TEST_CASE("quotes alone are an empty word") {
  CHECK(words_of("''") == Words{""});
  CHECK(words_of("a '' \"\" b") == Words{"a", "", "", "b"});
}

TEST_CASE("nothing is expanded and no operator is seen") {
  CHECK(words_of("echo $HOME *.c ~ #x `ls` a|b > c & $(d)") ==
        Words{"echo", "$HOME", "*.c", "~", "#x", "`ls`", "a|b", ">", "c", "&", "$(d)"});
}

TEST_CASE("an unterminated quote is refused with what to write instead") {
  CHECK(
      words_of("echo 'a") ==
      Words{
          R"(refused: has an unterminated single quote; close it, or write \' for the character itself)"});
  CHECK(
      words_of(R"(echo "a\")") ==
      Words{
          R"(refused: has an unterminated double quote; close it, or write \" for the character itself)"});
  CHECK(
      words_of(R"(echo "a\)") ==
      Words{
          R"(refused: has an unterminated double quote; close it, or write \" for the character itself)"});
  CHECK(words_of("echo a\\") ==
        Words{R"(refused: ends in a backslash; write \\ for the character itself)"});
}

TEST_CASE("a word is shown as one would type it") {
  CHECK(shell_quoted("./new-2.0_x") == "./new-2.0_x");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("it's") == R"('it'\''s')");
  CHECK(shell_quoted("$HOME") == "'$HOME'");
  CHECK(shell_quoted(Words{"./new", "a b", ""}) == "./new 'a b' ''");
}

TEST_CASE("words that are shown and split again are the same words") {
  const Words all = {"", " ", "'", "\"", "\\", "a'b\"c\\d $e `f`\n\tg", "~", "ünï", "-", "--"};
  CHECK(words_of(shell_quoted(all)) == all);
}

TEST_CASE("shell syntax is found where a shell would act on it") {
  struct Found {
    const char* text;
    const char* syntax;
  };
  for (const Found& one : std::vector<Found>{{"ls | wc", "|"},
                                             {"a && b", "&&"},
                                             {"a || b", "||"},
                                             {"cd x; ls", ";"},
                                             {"ls > out", ">"},
                                             {"ls 2>/dev/null", ">"},
                                             {"wc <in", "<"},
                                             {"ls *.c", "*"},
                                             {"echo $HOME/x", "$HOME"},
                                             {"echo \"$HOME\"", "$HOME"},
                                             {"echo $(date)", "$("},
                                             {"echo ${x}", "${"},
                                             {"echo `date`", "`"}}) {
    CAPTURE(one.text);
    CHECK(shell_syntax_in(one.text) == one.syntax);
  }
  for (const char* text : {"ls -l", "awk '{print $1 > \"x\"}'", "echo \"a | b\"", "echo \\$HOME",
                           "find . -exec rm {} ;", "echo 5$", "echo 'unterminated",
                           "curl http://x/?a=1&b=2", "./old {n}"}) {
    CAPTURE(text);
    CHECK(shell_syntax_in(text).empty());
  }
}

}  // namespace lauka
