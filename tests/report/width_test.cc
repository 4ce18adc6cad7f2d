#include "report/style.h"

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

TEST_CASE("in ASCII what was cut is as wide as before, and a range keeps its dots") {
  CHECK(to_ascii(cut_end("measurement", 8)) == "measure~");
  CHECK(to_ascii(cut_middle("sleep 0.002", 8)) == "slee~002");
  CHECK(to_ascii("1.0ms … 2.0ms") == "1.0ms ... 2.0ms");
}

TEST_CASE("lines are broken between words, and further ones indented") {
  CHECK(wrapped_to_cells("a line that fits", 16) == "a line that fits");
  CHECK(wrapped_to_cells("a line that does not", 0) == "a line that does not");
  CHECK(wrapped_to_cells("a line that does not fit", 12) == "a line that\n  does not\n  fit");
  CHECK(wrapped_to_cells("a word_that_is_far_too_wide stands alone", 12) ==
        "a\n  word_that_is_far_too_wide\n  stands\n  alone");
}

TEST_CASE("no line is broken within a number or a name in quotes") {
  CHECK(wrapped_to_cells("  a line that is indented", 12) == "  a line\n    that is\n    indented");
  CHECK(wrapped_to_cells("took 1.5 ± 0.1 times", 12) == "took\n  1.5 ± 0.1\n  times");
  CHECK(wrapped_to_cells("from 1ms … 2ms", 10) == "from\n  1ms … 2ms");
  CHECK(wrapped_to_cells("see 'sleep 0.1 2': slow", 16) == "see\n  'sleep 0.1 2':\n  slow");
  // Where a name alone is wider than the terminal, it breaks like other text.
  CHECK(wrapped_to_cells("see 'sleep 0.1 2': slow", 11) == "see 'sleep\n  0.1 2':\n  slow");
  CHECK(wrapped_to_cells("the session's end is near", 12) == "the\n  session's\n  end is\n  near");
}

TEST_CASE("colours take no cells of a line that is broken") {
  CHECK(wrapped_to_cells("gate: \x1b[31mfail\x1b[0m: slow", 16) ==
        "gate: \x1b[31mfail\x1b[0m: slow");
  CHECK(wrapped_to_cells("gate: \x1b[31mfail\x1b[0m: slow", 12) ==
        "gate: \x1b[31mfail\x1b[0m:\n  slow");
}

}  // namespace lauka::report
