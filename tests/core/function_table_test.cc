#include "core/function_table.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {

TEST_CASE("what compilers append to the names of functions is removed") {
  const std::string hash = "0123456789abcdef";
  const auto names = std::to_array<std::pair<std::string, std::string>>({
      {"main", "main"},
      {"parse_number", "parse_number"},
      {"parse.constprop.0", "parse"},
      {"parse.constprop.1", "parse"},
      {"parse.part.0", "parse"},
      {"parse.isra.12", "parse"},
      {"parse.constprop.0.isra.3", "parse"},
      {"parse.cold", "parse"},
      {"parse.part.0.cold", "parse"},
      {"parse.cold.1", "parse"},
      {"parse.lto_priv.0", "parse"},
      {"parse.localalias", "parse"},
      {"parse.llvm.9007428193187459824", "parse"},
      {"parse.__uniq.273834", "parse"},
      {"parse.__uniq.273834.llvm.12", "parse"},
      {"a::parse(int) [clone .constprop.0]", "a::parse(int)"},
      {"a::parse(int) [clone .part.0] [clone .cold]", "a::parse(int)"},
      {"(anonymous namespace)::init(int)", "(anonymous namespace)::init(int)"},
      {"printf(char const*, ...)", "printf(char const*, ...)"},
      {"core::fmt::write::h" + hash, "core::fmt::write"},
      {"_ZN4core3fmt5write17h" + hash + "E", "_ZN4core3fmt5writeE"},
      {"core::fmt::write::h" + hash + ".llvm.1", "core::fmt::write"},
      {"hello::h0", "hello::h0"},
      {"__libc_start_main@@GLIBC_2.34", "__libc_start_main"},
      {"memcpy@GLIBC_2.2.5", "memcpy"},
      {"operator@", "operator"},
      {"__memcpy_avx_unaligned_erms", "memcpy"},
      {"__memcpy_evex_unaligned_erms", "memcpy"},
      {"__memset_sse2_unaligned", "memset"},
      {"__strlen_avx2", "strlen"},
      {"__strlen_avx2_rtm", "strlen"},
      {"__ieee754_exp_fma", "ieee754_exp"},
      {"__sin_fma4", "sin"},
      {"__memmove_chk_avx_unaligned_erms", "memmove_chk"},
      {"strcmp_ifunc", "strcmp"},
      {"decode_ifunc", "decode_ifunc"},
      {"__decode_generic_slow", "__decode_generic_slow"},
      {"__decode_avx2", "__decode_avx2"},
      {"__memcpy_chk", "__memcpy_chk"},
      {"memcpy_avx", "memcpy_avx"},
      {"nested.0", "nested.0"},
      {".cold", ".cold"},
      {"_start", "_start"},
      {"???", std::string(kNoSymbols)},
      {"", std::string(kNoSymbols)},
      {"(below main)", "(below main)"},
      {std::string(10'000, 'x') + ".part.0", std::string(10'000, 'x')},
  });
  for (const auto& [written, normalized] : names) {
    CHECK(normalized_function(written) == normalized);
    CHECK(normalized_function(normalized) == normalized);
  }
}

TEST_CASE("a name without parameters means all overloads") {
  const std::vector<std::string> names = {"parse",         "a::parse",   "call",
                                          "a::operator()", "parse(int)", "(below main)"};
  const WantedFunctions wanted(names);
  const auto meant_by = [&](std::string_view function) {
    std::vector<std::string> found;
    for (const std::size_t place : wanted.find(function)) found.push_back(names[place]);
    return found;
  };
  using Names = std::vector<std::string>;
  CHECK(meant_by("parse") == Names{"parse"});
  CHECK(meant_by("parse(char const*)") == Names{"parse"});
  CHECK(meant_by("parse(int)") == Names{"parse", "parse(int)"});
  CHECK(meant_by("a::parse(int) const") == Names{"a::parse"});
  CHECK(meant_by("call(void (*)(int))") == Names{"call"});
  CHECK(meant_by("a::operator()(int)") == Names{"a::operator()"});
  CHECK(meant_by("(below main)") == Names{"(below main)"});
  CHECK(meant_by("parse_all(int)").empty());
  CHECK(meant_by("b::a::parse(int)").empty());
}

TEST_CASE("a name that a compiler numbered is taken apart") {
  using Numbers = std::vector<std::uint64_t>;
  struct Row {
    std::string_view name;
    std::string_view without;
    Numbers numbers;
  };
  const auto rows = std::to_array<Row>({
      {"camlProg__parse_81", "camlProg__parse", {81}},
      {"camlProg.parse_81", "camlProg.parse", {81}},
      {"camlDune__exe__Main__fun_1_2_code", "camlDune__exe__Main__fun", {1, 2}},
      {"caml_alloc_1", "caml_alloc_1", {}},
      {"fmt.format__anon_1234", "fmt.format__anon", {1234}},
      {"main.main__struct_12.run", "main.main__struct.run", {12}},
      {"parse__m_u123", "parse__m", {123}},
      {"parse_u123", "parse_u123", {}},
      {"a::parse::{closure#1}", "a::parse::{closure}", {1}},
      {"a::{closure#1}::{closure#20}", "a::{closure}::{closure}", {1, 20}},
      {"main::{lambda(int)#2}::operator()(int) const",
       "main::{lambda(int)}::operator()(int) const",
       {2}},
      {"JS:*hot /path/app.js:1:13", "JS:*hot app.js", {1, 13}},
      {"LazyCompile:~get node:fs:2500:20", "LazyCompile:~get node:fs", {2500, 20}},
      {"JS:*hot", "JS:*hot", {}},
      {"main.main.func1", "main.main.func", {1}},
      {"main.main.func1.2", "main.main.func", {1, 2}},
      {"main._omp_fn.0", "main._omp_fn", {0}},
      {"___Z4mainv_block_invoke_2", "___Z4mainv_block_invoke", {2}},
      {"nested.0", "nested", {0}},
      {"LApp$$Lambda$7;::run", "LApp$$Lambda;::run", {7}},
      {"f1", "f1", {}},
      {"parse_81", "parse_81", {}},
      {"a::parse2(int)", "a::parse2(int)", {}},
      {"operator#", "operator#", {}},
      {".5", ".5", {}},
      {"(libx.so.1: no symbols)", "(libx.so.1: no symbols)", {}},
      {"parse.99999999999999999999", "parse.99999999999999999999", {}},
      {"", "", {}},
  });
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(split_numbers(row.name).without_numbers == row.without);
    CHECK(split_numbers(row.name).numbers == row.numbers);
  }
}

TEST_CASE("the name of a function is the one that a programmer would write") {
  using Names = std::vector<std::string>;
  CHECK(make_function_name({"__libc_malloc", "malloc", "__libc_malloc"}) ==
        FunctionName{"malloc", {"__libc_malloc"}});
  CHECK(make_function_name({"memmove", "memcpy"}) == FunctionName{"memcpy", {"memmove"}});
  CHECK(make_function_name({"step.1", "b::step(int)"}).name == "b::step(int)");
  CHECK(make_function_name({"_start"}) == FunctionName{"_start", {}});
  CHECK(make_function_name({"c", "b", "a"}).other_names == Names{"b", "c"});
}

TEST_CASE("any name of a function is wanted, and a name without numbers means all numbers") {
  const std::vector<std::string> names = {"__libc_malloc", "f", "camlProg__parse", "run"};
  const WantedFunctions wanted(names);
  using Places = std::vector<std::size_t>;
  CHECK(wanted.find("malloc", std::vector<std::string>{"__libc_malloc"}) == Places{0});
  CHECK(wanted.find("malloc").empty());
  // f(int) and f(long) were folded into one function, which is counted once.
  CHECK(wanted.find("f(int)", std::vector<std::string>{"f(long)"}) == Places{1});
  CHECK(wanted.find("camlProg__parse_81") == Places{2});
  CHECK(wanted.find("camlProg__parse_all_81").empty());
  CHECK(wanted.find("run.1", std::vector<std::string>{"f(int)"}) == Places{1, 3});
}

TEST_CASE("a table keeps the other names of functions, and ignores counts without a metric") {
  FunctionTable table;
  table.add_round(std::vector<std::string>{"instructions", ""},
                  std::vector<FunctionCounts>{{"malloc", {10, 99}, {"__libc_malloc"}}});
  table.add_round(std::vector<std::string>{"instructions", "cache-misses"},
                  std::vector<FunctionCounts>{{"malloc", {10, 1}, {"__libc_malloc"}}});
  CHECK(table.metrics == std::vector<FunctionMetric>{{"instructions", 2}, {"cache-misses", 1}});
  CHECK(table.functions.at("malloc") == std::vector<RoundValues>{{10}, {1}});
  CHECK(table.other_names_of("malloc") == std::vector<std::string>{"__libc_malloc"});
  CHECK(table.other_names_of("main").empty());
}

TEST_CASE("a function has one value if it never varies, else a value for each round") {
  const std::vector<std::string> metrics = {"instructions", "branches"};
  FunctionTable table;
  CHECK(table.empty());
  table.add_round(metrics, std::vector<FunctionCounts>{{"f", {10, 1}}, {"g", {5, 0}}});
  table.add_round(metrics, std::vector<FunctionCounts>{{"f", {10, 2}}, {"h", {0, 7}}});
  table.add_round(metrics, std::vector<FunctionCounts>{{"f", {10, 2}}, {"g", {5, 0}}});
  REQUIRE(table.metrics == std::vector<FunctionMetric>{{"instructions", 3}, {"branches", 3}});
  const auto& functions = table.functions;
  CHECK(functions.at("f") == std::vector<RoundValues>{{10}, {1, 2, 2}});
  CHECK(functions.at("g") == std::vector<RoundValues>{{5, 0, 5}, {}});
  CHECK(functions.at("h") == std::vector<RoundValues>{{}, {0, 7, 0}});
  CHECK(mean_of(functions.at("f")[0], 3) == 10.0);
  CHECK(mean_of(functions.at("g")[0], 3) == doctest::Approx(10.0 / 3));
  CHECK(mean_of(functions.at("g")[1], 3) == 0.0);
  CHECK(value_in(functions.at("h")[1], 1) == 7.0);
  CHECK(table.find("branches") == 1);
  CHECK(table.find("cycles") == 2);
}

}  // namespace lauka
