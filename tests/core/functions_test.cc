#include "core/functions.h"

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
  CHECK(meant_by("parse(int)") == Names{"parse(int)", "parse"});
  CHECK(meant_by("a::parse(int) const") == Names{"a::parse"});
  CHECK(meant_by("call(void (*)(int))") == Names{"call"});
  CHECK(meant_by("a::operator()(int)") == Names{"a::operator()"});
  CHECK(meant_by("(below main)") == Names{"(below main)"});
  CHECK(meant_by("parse_all(int)").empty());
  CHECK(meant_by("b::a::parse(int)").empty());
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
