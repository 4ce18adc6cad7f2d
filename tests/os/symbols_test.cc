#include "os/symbols.h"

#include "os/symbol_maps.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::os {
namespace {

using Names = std::vector<std::string>;

/// The symbol of a function "f" whose last parameter has 2^depth times the type P<int, int> in it.
std::string symbol_of_nested(int depth) {
  constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string symbol = "_Z1f1PIiiE";
  for (int i = 0; i < depth; ++i) {
    const std::string last = std::string("S") + digits.at(static_cast<std::size_t>(i)) + "_";
    symbol += "S_I" + last + last + "E";
  }
  return symbol;
}

}  // namespace

TEST_CASE("functions of the kernel begin at their addresses, unless these are hidden") {
  const SymbolMap symbols = parse_kernel_symbols(
      "ffffffff81000000 T _stext\n"
      "ffffffff81000100 t do_work\n"
      "ffffffff81000180 d data\n"
      "ffffffffc0001000 t helper\t[module]\n"
      "broken\n");
  CHECK(find_symbol(symbols, 0xffffffff810000ff) == Names{"_stext"});
  CHECK(find_symbol(symbols, 0xffffffff81000200) == Names{"do_work"});
  CHECK(find_symbol(symbols, 0xffffffffc0001fff) == Names{"helper"});
  CHECK(find_symbol(symbols, 0x1000).empty());
  CHECK(parse_kernel_symbols("0000000000000000 T _stext\n").empty());
}

TEST_CASE("a function of the kernel has all names of its address") {
  const SymbolMap symbols = parse_kernel_symbols(
      "ffffffff81000100 T __memcpy\n"
      "ffffffff81000100 W memcpy\n"
      "ffffffff81000180 T memset\n");
  CHECK(find_symbol(symbols, 0xffffffff81000110) == Names{"__memcpy", "memcpy"});
}

TEST_CASE("a symbol whose name would be longer than the limit stays as it is") {
  if (!can_read_symbols()) return;
  CHECK(demangled(symbol_of_nested(1)) == "f(P<int, int>, P<P<int, int>, P<int, int> >)");
  CHECK(demangled(symbol_of_nested(8)).starts_with("f(P<int, int>, P<"));
  CHECK(demangled(symbol_of_nested(8)).size() <= kMaxDemangled);
  const std::string long_one = symbol_of_nested(27);
  CHECK(long_one.size() < 300);
  CHECK(demangled(long_one) == long_one);
  CHECK(demangled("_ZN1a1bEv") == "a::b()");
}

TEST_CASE("what is neither a C++ nor a Rust symbol stays as it is") {
  for (const std::string symbol : {"main", "_Z", "_ZN", "", "_R", "camlProg__parse_81"})
    CHECK(demangled(symbol) == symbol);
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
  CHECK(find_symbol(symbols, 0x100f) == Names{"first one"});
  CHECK(find_symbol(symbols, 0x1010).empty());
  CHECK(find_symbol(symbols, 0x1021) == Names{"third"});
  CHECK(find_symbol(symbols, 0x1030).empty());
  CHECK(symbols.size() == 2);
}

}  // namespace lauka::os
