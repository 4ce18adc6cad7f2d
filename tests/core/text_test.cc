#include "core/text.h"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
TEST_CASE("numbers are decimal, or hexadecimal with 0x, and nothing else") {
  CHECK(parse_number("60") == 60);
  CHECK(parse_number("0x3c") == 60);
  CHECK(parse_number("0X3C") == 60);
  CHECK(parse_number("18446744073709551615") == ~std::uint64_t{0});
  for (const char* text : {"", "0x", "-1", "+1", " 1", "1 ", "1.5", "abc", "0x1g",
                           "18446744073709551616", "0x10000000000000000"})
    CHECK_MESSAGE(!parse_number(text).has_value(), text);
}

TEST_CASE("names are listed as in a sentence") {
  const std::vector<std::string> names{"a", "b", "c"};
  CHECK(listed(std::span(names).first(1)) == "a");
  CHECK(listed(std::span(names).first(2)) == "a and b");
  CHECK(listed(names, "or") == "a, b or c");
}

TEST_CASE("the nearest names are those with the fewest typing errors") {
  const std::vector<std::string> names{"cycles", "instructions", "branches", "branch-misses"};
  CHECK(nearest_names("cycels", names) == std::vector<std::string>{"cycles"});
  CHECK(nearest_names("INSTRUCTION", names) == std::vector<std::string>{"instructions"});
  CHECK(nearest_names("branch", names) == std::vector<std::string>{"branches", "branch-misses"});
  CHECK(nearest_names("wall_time", names).empty());
}

TEST_CASE("text is broken at blanks, and in a long word after a comma") {
  CHECK(wrapped("one two three", 7) == std::vector<std::string_view>{"one two", "three"});
  CHECK(wrapped("one two three", 0) == std::vector<std::string_view>{"one two three"});
  CHECK(wrapped("a,bb,cc dd", 5) == std::vector<std::string_view>{"a,bb,", "cc dd"});
  CHECK(wrapped("endless word", 3) == std::vector<std::string_view>{"endless", "word"});
  CHECK(wrapped(" endless word", 3) == std::vector<std::string_view>{" endless", "word"});
  CHECK(wrapped("", 3) == std::vector<std::string_view>{""});
}

TEST_CASE("the nearest name is a few slips of the finger away, or none is meant") {
  const std::vector<std::string_view> names = {"runs", "min-runs", "export-csv", "export-runs",
                                               "color"};
  CHECK(nearest("rusn", names) == "runs");              // a swap
  CHECK(nearest("rns", names) == "runs");               // a letter left out
  CHECK(nearest("ruuns", names) == "runs");             // a letter too many
  CHECK(nearest("rune", names) == "runs");              // another letter
  CHECK(nearest("exprot-cvs", names) == "export-csv");  // two swaps
  CHECK(nearest("colour", names) == "color");
  CHECK(nearest("rabs", names).empty());  // two of four letters
  CHECK(nearest("", names).empty());
}

TEST_CASE("an abbreviation is nearer than a slip of the finger, the first of several first") {
  const std::vector<std::string_view> names = {"expert", "export-csv", "export-runs"};
  CHECK(nearest("export", names) == "export-csv");
}

TEST_CASE("the value of a key is on its first line, without blanks and quotes around it") {
  CHECK(find_value("a: 1\nmodel name\t: Some CPU \nmodel name : other\n", "model name", ':') ==
        "Some CPU");
  CHECK(find_value("PRETTY_NAME=\"Some OS 1\"\n", "PRETTY_NAME", '=') == "Some OS 1");
  CHECK(find_value("A='x y'", "A", '=') == "x y");
  CHECK(find_value("A=\"", "A", '=') == "\"");
  CHECK_FALSE(find_value("AB=1\n", "A", '=').has_value());
  CHECK(find_value("A=\n", "A", '=') == "");
}

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
          R"(refused: has a single quote that is not closed; close it, or write \' for the character itself)"});
  CHECK(
      words_of(R"(echo "a\")") ==
      Words{
          R"(refused: has a double quote that is not closed; close it, or write \" for the character itself)"});
  CHECK(
      words_of(R"(echo "a\)") ==
      Words{
          R"(refused: has a double quote that is not closed; close it, or write \" for the character itself)"});
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
                                             {"ls ~", "~"},
                                             {"ls ~/src -l", "~"},
                                             {"cat a.{c,h}", "{c,h}"},
                                             {"echo {1..3}", "{1..3}"},
                                             {"sleep 1 &", "&"},
                                             {"sleep 1& ls", "&"},
                                             {"ls;", ";"},
                                             {"ls ;", ";"},
                                             {"echo `date`", "`"},
                                             {"sh -c echo\\ $HOME", "$HOME"},
                                             {"sh script \"$HOME\"", "$HOME"},
                                             {"grep -c \"$HOME\" sh", "$HOME"}}) {
    CAPTURE(one.text);
    CHECK(shell_syntax_in(one.text) == one.syntax);
  }
  for (const char* text :
       {"ls -l", "awk '{print $1 > \"x\"}'", "echo \"a | b\"", "echo \\$HOME",
        "find . -exec rm {} ;", "echo 5$", "echo 'unterminated", "curl http://x/?a=1&b=2",
        "./old {n}", "git show HEAD~ x~", "awk {print}", "echo '{a,b}'", "sh -c \"echo $(cat n)\"",
        "/bin/bash -ec \"ls `date`\"", "nice -n5 dash -c \"$x\""}) {
    CAPTURE(text);
    CHECK(shell_syntax_in(text).empty());
  }
}

TEST_CASE("a text on one line cannot steer the terminal") {
  CHECK(one_line("sh -c 'a\n\tb'") == "sh -c 'a\\n\\tb'");
  CHECK(one_line("\x1b[31mred\x7f\r") == "\\x1b[31mred\\x7f\\x0d");
  CHECK(one_line("\u009b31m") == "\\x9b31m");
  CHECK(one_line(std::string("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("what turns the direction of a text, ends its line or hides in it is shown") {
  CHECK(one_line("a\u202Eb\u2066c\u200Fd\u061Ce") == "a\\u202eb\\u2066c\\u200fd\\u061ce");
  CHECK(one_line("a\u2028b\u2029c") == "a\\u2028b\\u2029c");
  CHECK(one_line("\uFEFFa\U000E0041") == "\\ufeffa\\U000e0041");
}

TEST_CASE("bytes that are not UTF-8 are shown, one by one") {
  CHECK(one_line("a\xFF") == "a\\xff");
  CHECK(one_line("\xC0\xAF") == "\\xc0\\xaf");                    // overlong
  CHECK(one_line("\xED\xA0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(one_line("\xF4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  CHECK(one_line("\xE2\x82") == "\\xe2\\x82");                    // cut off in the middle of €
}

TEST_CASE("what people write stays as it is, and so does what was shown before") {
  CHECK(one_line("ünï ⚡ 漢字 e\u0301 👩\u200D💻 −") == "ünï ⚡ 漢字 e\u0301 👩\u200D💻 −");
  const std::string shown = one_line("\x1b[1m\\n\u202E\xFF");
  CHECK(one_line(shown) == shown);
}

TEST_CASE("a text that is cited in a message stays on its line") {
  CHECK(cited("./old -x") == "'./old -x'");
  CHECK(cited("sh -c 'exit 0'") == R"("sh -c 'exit 0'")");
  CHECK(cited(R"(sh -c 'echo "a"')") == R"('sh -c 'echo "a"'')");
  CHECK(cited("a\nb\tc\x1b[1m\x7f") == R"('a\nb\tc\x1b[1m\x7f')");
}

TEST_CASE("a text that is cited in a message loses its middle where it is longer than 400 bytes") {
  const std::string at_most(400, 'a');
  CHECK(cited(at_most) == "'" + at_most + "'");
  CHECK(cited("a" + std::string(1'000'000, 'b') + "c") ==
        "'a" + std::string(199, 'b') + "…" + std::string(199, 'b') + "c'");
}

TEST_CASE("a middle is taken out between characters") {
  CHECK(without_middle("aüb", 4) == "aüb");
  CHECK(without_middle("äöüß", 6) == "ä…ß");
  CHECK(without_middle("abcdef", 4) == "ab…ef");
  CHECK(without_middle(std::string(9, '\x80'), 4) == "…");
}

TEST_CASE("a message is one line, whatever was put into it") {
  CHECK(message_line("9\x1b[2J\n\nlauka: all fine") == "lauka: 9\\x1b[2J\\n\\nlauka: all fine\n");
  CHECK(message_line(std::string(5'000'000, 'x')).size() < 17'000);
}

TEST_CASE("the end of a text is its last lines, whole") {
  CHECK(last_lines_of("").empty());
  CHECK(last_lines_of("a\nb\n\n") == "a\nb");
  std::string lines;
  for (int i = 1; i <= 100; ++i) lines += std::to_string(i) + "\n";
  const std::string shown = last_lines_of(lines);
  CHECK(shown.starts_with("81\n82\n"));
  CHECK(shown.ends_with("\n100"));
  // Of a long one its whole lines; of a single long line, its end.
  const std::string wide(3'000, 'x');
  CHECK(last_lines_of("y" + wide + "\nz" + wide) == "z" + wide);
  CHECK(last_lines_of(wide + wide).size() == OutputTail::kShown);
}

TEST_CASE("a text that comes in pieces has the same end, and little is kept of it") {
  OutputTail tail;
  std::string whole;
  for (int i = 0; i < 5'000; ++i) {
    const std::string piece = "line " + std::to_string(i) + "\n";
    tail.add(piece);
    whole += piece;
  }
  CHECK(tail.last_lines() == last_lines_of(whole));
  tail.add(std::string(100'000, 'x'));
  CHECK(tail.last_lines() == std::string(OutputTail::kShown, 'x'));
  tail.clear();
  CHECK(tail.last_lines().empty());
}

TEST_CASE("of a text that comes in pieces no line is shown in part") {
  OutputTail tail;
  std::string whole;
  for (int i = 0; i < 100; ++i) {
    const std::string piece = std::to_string(i) + std::string(300, 'x') + "\n";
    tail.add(piece);
    whole += piece;
    REQUIRE(tail.last_lines() == last_lines_of(whole));
  }
}

}  // namespace lauka
