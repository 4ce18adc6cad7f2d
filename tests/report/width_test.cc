#include "report/width.h"

#include <doctest/doctest.h>

namespace lauka::report {

TEST_CASE("a character takes the cells that a terminal gives it") {
  CHECK(display_width("") == 0);
  CHECK(display_width("wall_time") == 9);
  CHECK(display_width("±") == 1);
  CHECK(display_width("…") == 1);
  CHECK(display_width("σ") == 1);
  CHECK(display_width("µ") == 1);
  CHECK(display_width("−") == 1);
  CHECK(display_width("⚡") == 2);
  CHECK(display_width("💩") == 2);
  CHECK(display_width("漢字") == 4);
  CHECK(display_width("한글") == 4);
  CHECK(display_width("ｆｕｌｌ") == 8);
  CHECK(display_width("ﾊﾝｶｸ") == 4);
}

TEST_CASE("marks that combine with the character before take no cell") {
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("a\u200Bb") == 2);
  CHECK(display_width("⚡\uFE0F") == 2);
  CHECK(display_width("\u0915\u094D") == 1);
}

TEST_CASE("each byte that is not UTF-8 takes one cell") {
  CHECK(display_width("\xFF\xFE") == 2);
  CHECK(display_width("a\xE2\x82") == 3);         // cut off in the middle of €
  CHECK(display_width("\xC0\xAF") == 2);          // overlong
  CHECK(display_width("\xED\xA0\x80") == 3);      // a surrogate
  CHECK(display_width("\xF4\x90\x80\x80") == 4);  // beyond U+10FFFF
  CHECK(display_width("\xE0\x80\xAF") == 3);      // overlong
  CHECK(display_width("\xE0\x9F\xBF") == 3);      // overlong U+07FF
  CHECK(display_width("\xF0\x80\x80\xAF") == 4);  // overlong
}

TEST_CASE("what is too wide loses its end") {
  CHECK(cut_end("./build-old", 11) == "./build-old");
  CHECK(cut_end("./build-old", 8) == "./build…");
  CHECK(cut_end("漢字漢字", 6) == "漢字…");
  CHECK(cut_end("漢字漢字", 7) == "漢字漢…");
  CHECK(cut_end("abc", 1) == "…");
  CHECK(cut_end("abc", 0) == "");
}

TEST_CASE("a long name loses its middle") {
  CHECK(cut_middle("./build --with=this --size=1", 28) == "./build --with=this --size=1");
  CHECK(cut_middle("./build --with=this --size=1", 11) == "./bui…ize=1");
  CHECK(cut_middle("漢字漢字漢字", 7) == "漢…字");
  CHECK(cut_middle("abcdefe\u0301", 5) == "ab…fe\u0301");
  CHECK(cut_middle("abcde\u0301f", 3) == "a…f");
  CHECK(cut_middle("abcdef", 2) == "a…");
  CHECK(cut_middle("abcdef", 0) == "");
}

TEST_CASE("a text on one line cannot steer the terminal") {
  CHECK(one_line("sh -c 'a\n\tb'") == "sh -c 'a\\n\\tb'");
  CHECK(one_line("\x1b[31mred\x7f") == "\\x1b[31mred\\x7f");
  CHECK(one_line("\u009b31m") == "\\x9b31m");
  CHECK(one_line("ünï ⚡ \xFF") == "ünï ⚡ \xFF");
}

}  // namespace lauka::report
