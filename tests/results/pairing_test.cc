#include "results/pairing.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using Side = std::vector<FunctionToPair>;

std::string names_of(const Side& side, const std::vector<std::size_t>& rows) {
  std::string names;
  for (const std::size_t row : rows)
    names.append(names.empty() ? "" : " and ").append(side[row].name);
  return names.empty() ? "-" : names;
}

std::string_view word_of(PairedBy paired_by) {
  constexpr auto words = std::to_array<std::string_view>({"", " (number)", " (order)"});
  return words.at(static_cast<std::size_t>(paired_by));
}

/// Returns each pair as "name: reference > candidate", sorted.
std::vector<std::string> paired(const Side& reference, const Side& candidate) {
  std::vector<std::string> pairs;
  for (const PairedFunction& pair : pair_functions(reference, candidate))
    pairs.push_back(pair.name + ": " + names_of(reference, pair.reference_rows) + " > " +
                    names_of(candidate, pair.candidate_rows) +
                    std::string(word_of(pair.paired_by)));
  std::ranges::sort(pairs);
  return pairs;
}

using Pairs = std::vector<std::string>;

}  // namespace

TEST_CASE("functions of one name are a pair, and others are on one side alone") {
  CHECK(paired({{"main"}, {"old"}}, {{"main"}, {"new"}}) ==
        Pairs{"main: main > main", "new: - > new", "old: old > -"});
  CHECK(paired({}, {{"main"}}) == Pairs{"main: - > main"});
  CHECK(paired({}, {}).empty());
}

TEST_CASE("functions that share one of their names are a pair, which has all names") {
  const Side reference = {{"__libc_malloc"}};
  const Side candidate = {{"malloc", {"__libc_malloc", "cmalloc"}}};
  CHECK(paired(reference, candidate) == Pairs{"malloc: __libc_malloc > malloc"});
  CHECK(paired(candidate, candidate) == Pairs{"malloc: malloc > malloc"});
  const auto pair = pair_functions(reference, candidate).at(0);
  CHECK(pair.other_names == std::vector<std::string>{"__libc_malloc", "cmalloc"});
}

TEST_CASE("functions that one side's linker folded are one function on the other side, too") {
  const Side apart = {{"Neu::step"}, {"Old::step"}, {"main"}};
  const Side folded = {{"Neu::step", {"Old::step"}}, {"main"}};
  CHECK(paired(apart, folded) ==
        Pairs{"Neu::step: Neu::step and Old::step > Neu::step", "main: main > main"});
  CHECK(paired(folded, apart) ==
        Pairs{"Neu::step: Neu::step > Neu::step and Old::step", "main: main > main"});
  CHECK(paired({{"Old::step"}}, folded) ==
        Pairs{"Old::step: Old::step > Neu::step", "main: - > main"});
}

TEST_CASE("a compiler's number is left out where the remaining name is unique") {
  struct Row {
    std::string_view reference;
    std::string_view candidate;
    std::string name;
  };
  const auto rows = std::to_array<Row>({
      {"camlProg__parse_81", "camlProg__parse_85", "camlProg__parse"},
      {"main.work__anon_1234", "main.work__anon_99", "main.work__anon"},
      {"parse__m_u123", "parse__m_u124", "parse__m"},
      {"a::{closure#1}", "a::{closure#2}", "a::{closure}"},
      {"JS:*hot /old/app.js:1:13", "JS:*hot /new/app.js:4:13", "JS:*hot app.js"},
      {"main::{lambda(int)#1}", "main::{lambda(int)#2}", "main::{lambda(int)}"},
      {"nested.0", "nested.1", "nested"},
  });
  for (const Row& row : rows) {
    const Pairs one = {row.name + ": " + std::string(row.reference) + " > " +
                       std::string(row.candidate) + " (number)"};
    CHECK(paired({{row.reference}}, {{row.candidate}}) == one);
  }
  CHECK(paired({{"nested"}}, {{"nested.1"}}) == Pairs{"nested: nested > nested.1 (number)"});
  CHECK(paired({{"f1"}}, {{"f2"}}) == Pairs{"f1: f1 > -", "f2: - > f2"});
}

TEST_CASE("equal programs keep the names that their compiler numbered") {
  const Side side = {{"camlProg__fun_1", {}, 5}, {"camlProg__fun_2", {}, 5}};
  CHECK(paired(side, side) == Pairs{"camlProg__fun_1: camlProg__fun_1 > camlProg__fun_1",
                                    "camlProg__fun_2: camlProg__fun_2 > camlProg__fun_2"});
}

TEST_CASE("functions whose numbers alone tell them apart are paired by order") {
  // A helper that was added at the top took the number of the first, and moved the others.
  const Side reference = {{"caml_x"}, {"camlA__fun_9", {}, 50}, {"camlA__fun_100", {}, 20}};
  const Side candidate = {{"caml_x"}, {"camlA__fun_12", {}, 50}, {"camlA__fun_103", {}, 26}};
  CHECK(paired(reference, candidate) ==
        Pairs{"camlA__fun_103: camlA__fun_100 > camlA__fun_103 (order)",
              "camlA__fun_12: camlA__fun_9 > camlA__fun_12 (order)", "caml_x: caml_x > caml_x"});
}

TEST_CASE("a function that was added among numbered ones is found by the others' counts") {
  const Side reference = {
      {"camlA__fun_1", {}, 100}, {"camlA__fun_2", {}, 20}, {"camlA__fun_3", {}, 70}};
  const Side candidate = {{"camlA__fun_1", {}, 3},
                          {"camlA__fun_2", {}, 100},
                          {"camlA__fun_3", {}, 25},
                          {"camlA__fun_4", {}, 70}};
  CHECK(paired(reference, candidate) == Pairs{"camlA__fun_1: - > camlA__fun_1",
                                              "camlA__fun_2: camlA__fun_1 > camlA__fun_2 (order)",
                                              "camlA__fun_3: camlA__fun_2 > camlA__fun_3 (order)",
                                              "camlA__fun_4: camlA__fun_3 > camlA__fun_4 (order)"});
}

TEST_CASE("a function that took the place of another is not its pair if a later one resembles it") {
  const Side reference = {{"f.1", {}, 100}, {"f.2", {}, 50}};
  const Side candidate = {{"f.2", {}, 50}, {"f.3", {}, 1}};
  CHECK(paired(reference, candidate) ==
        Pairs{"f.1: f.1 > -", "f.2: f.2 > f.2 (order)", "f.3: - > f.3"});
}

TEST_CASE("each row is in one pair, in long lists too") {
  Side reference;
  Side candidate;
  std::vector<std::string> names;
  for (int i = 0; i < 2'400; ++i) names.push_back("camlA__fun_" + std::to_string(i));
  for (int i = 0; i < 1'200; ++i) {
    reference.push_back({names[static_cast<std::size_t>(i)], {}, 1.0});
    candidate.push_back({names[static_cast<std::size_t>(i) + 1'100], {}, 1.0});
  }
  std::vector<int> seen(1'200);
  for (const PairedFunction& pair : pair_functions(reference, candidate))
    for (const std::size_t row : pair.candidate_rows) ++seen[row];
  CHECK(std::ranges::count(seen, 1) == 1'200);
}

}  // namespace lauka
