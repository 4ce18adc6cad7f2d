#include "os/symbols.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka::os {

TEST_CASE("functions of the kernel begin at their addresses, unless these are hidden") {
  const SymbolMap symbols = parse_kernel_symbols(
      "ffffffff81000000 T _stext\n"
      "ffffffff81000100 t do_work\n"
      "ffffffff81000180 d data\n"
      "ffffffffc0001000 t helper\t[module]\n"
      "broken\n");
  CHECK(find_symbol(symbols, 0xffffffff810000ff) == "_stext");
  CHECK(find_symbol(symbols, 0xffffffff81000200) == "do_work");
  CHECK(find_symbol(symbols, 0xffffffffc0001fff) == "helper");
  CHECK(find_symbol(symbols, 0x1000).empty());
  CHECK(parse_kernel_symbols("0000000000000000 T _stext\n").empty());
}

TEST_CASE(
    "functions that were compiled at run time end where their map says, and may be replaced") {
  const SymbolMap symbols = parse_jit_symbols(
      "1000 10 first one\n"
      "0x1020 20 second\n"
      "1020 8 third\n"
      "2000 0 empty\n"
      "ffffffffffffffff 2 beyond\n"
      "not a line\n"
      "3000");
  CHECK(find_symbol(symbols, 0x100f) == "first one");
  CHECK(find_symbol(symbols, 0x1010).empty());
  CHECK(find_symbol(symbols, 0x1021) == "third");
  CHECK(find_symbol(symbols, 0x1030).empty());
  CHECK(symbols.size() == 2);
}

}  // namespace lauka::os
