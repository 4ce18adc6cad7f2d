# PCRE2 with characters of 8 bits: PCRE2::8BIT. Debian's package brings no CMake files.
lauka_choose_library(PCRE2 PCRE2::8BIT REQUIRED NAME PCRE2 DEBIAN libpcre2-dev
  HEADERS pcre2.h=PCRE2_INCLUDE_DIR LIBRARIES pcre2-8=PCRE2_LIBRARY
  HEAD "#define PCRE2_CODE_UNIT_WIDTH 8\n#include <pcre2.h>"
  BODY "pcre2_match_data_free(pcre2_match_data_create(1, nullptr));")
