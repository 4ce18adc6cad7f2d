#include "core/reference.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using Indices = std::vector<std::size_t>;

Command command_of(std::size_t typed, std::vector<Parameter> parameters = {}) {
  Command made;
  made.parameters = std::move(parameters);
  made.typed_command_index = typed;
  return made;
}

Parameter n_is(const std::string& value) {
  return {"n", value};
}

Parameter m_is(const std::string& value) {
  return {"m", value};
}

Indices references_of(const std::vector<Command>& commands, std::size_t typed = 0) {
  const Reference reference = pair_by_parameters(commands, typed);
  Indices all;
  for (std::size_t c = 0; c < commands.size(); ++c) all.push_back(reference.index_for(c));
  return all;
}

}  // namespace

TEST_CASE("each command is compared with the first typed one at the same value") {
  const std::vector<Command> commands = {command_of(0, {n_is("1")}), command_of(1, {n_is("1")}),
                                         command_of(0, {n_is("2")}), command_of(1, {n_is("2")})};
  CHECK(references_of(commands) == Indices{0, 0, 2, 2});
  const Reference reference = pair_by_parameters(commands, 0);
  CHECK(reference.is_reference(0));
  CHECK(reference.is_reference(2));
  CHECK_FALSE(reference.is_candidate(2));
  CHECK(reference.is_candidate(3));
  CHECK_FALSE(reference.is_for_tables_only);
}

TEST_CASE("a reference without the parameter is the one of every value") {
  CHECK(references_of({command_of(0), command_of(1, {n_is("1")}), command_of(1, {n_is("2")})}) ==
        Indices{0, 0, 0});
}

TEST_CASE("with two parameters both must be the same, in any order") {
  CHECK(references_of({command_of(0, {n_is("1"), m_is("a")}), command_of(1, {m_is("a"), n_is("1")}),
                       command_of(0, {n_is("2"), m_is("a")}), command_of(1, {m_is("a"), n_is("2")}),
                       command_of(0, {n_is("1"), m_is("b")}),
                       command_of(1, {m_is("b"), n_is("1")})}) == Indices{0, 0, 2, 2, 4, 4});
}

TEST_CASE("a reference that has one of two parameters serves every value of the other") {
  CHECK(references_of({command_of(0, {n_is("1")}), command_of(1, {n_is("1"), m_is("a")}),
                       command_of(0, {n_is("2")}), command_of(1, {n_is("2"), m_is("a")}),
                       command_of(1, {n_is("1"), m_is("b")})}) == Indices{0, 0, 2, 2, 0});
}

TEST_CASE("one typed command over several values has a reference for its table only") {
  const std::vector<Command> commands = {command_of(0, {n_is("1")}), command_of(0, {n_is("2")})};
  const Reference reference = pair_by_parameters(commands, 0);
  CHECK(reference.is_for_tables_only);
  CHECK(reference.index_for(1) == 0);
  CHECK(reference.is_candidate(1));
  CHECK_FALSE(pair_by_parameters({commands.data(), 1}, 0).is_for_tables_only);
}

TEST_CASE("the reference may be any typed command") {
  CHECK(references_of({command_of(0, {n_is("1")}), command_of(1, {n_is("1")}),
                       command_of(0, {n_is("2")}), command_of(1, {n_is("2")})},
                      1) == Indices{1, 1, 3, 3});
}

TEST_CASE(
    "a command that lacks the reference's parameter is said to, and compared with the first") {
  const std::vector<Command> commands = {command_of(0, {n_is("1")}), command_of(1),
                                         command_of(0, {n_is("2")})};
  const Reference reference = pair_by_parameters(commands, 0);
  CHECK(reference.index_for(1) == 0);
  CHECK(missing_parameter(reference, commands, 1) == "n");
  CHECK(missing_parameter(reference, commands, 2).empty());
}

TEST_CASE("a value that no reference has is compared with nothing") {
  const std::vector<Command> commands = {command_of(0, {n_is("1")}), command_of(1, {n_is("1")}),
                                         command_of(1, {n_is("3")})};
  const Reference reference = pair_by_parameters(commands, 0);
  CHECK(reference.is_candidate(1));
  CHECK_FALSE(reference.is_candidate(2));
  CHECK_FALSE(reference.is_reference(2));
}

TEST_CASE("references are followed by their candidates, and a baseline makes one group of all") {
  Reference reference;
  reference.indices = {0, 1, 0, 1};
  CHECK(order_by_group(reference, 4) == Indices{0, 2, 1, 3});
  reference.baseline.emplace();
  CHECK(order_by_group(reference, 4) == Indices{0, 1, 2, 3});
}

TEST_CASE("an anchor is neither reference nor candidate") {
  Reference reference;
  reference.anchor_index = 2;
  CHECK(reference.is_reference(0));
  CHECK(reference.is_candidate(1));
  CHECK_FALSE(reference.is_candidate(2));
  CHECK_FALSE(reference.is_reference(2));
}

}  // namespace lauka
