#include "core/text.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka {

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

}  // namespace lauka
