#include "format/function_json.h"
#include "must.h"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace lauka {
namespace {

std::string written(const FunctionTable& table) {
  std::string text;
  const Sink sink = [&](std::string_view piece) { text += piece; };
  JsonWriter json(sink);
  json.open('{');
  put_functions(json, "functions", table);
  json.close();
  return text;
}

Result<FunctionTable> read(const std::string& text) {
  return read_functions(ParsedJson::parse(text), "functions");
}

}  // namespace

TEST_CASE("functions are written with one value where they never vary, and read back") {
  FunctionTable table;
  const std::vector<std::string> metrics = {"branches", "instructions"};
  table.add_round(metrics, std::vector<FunctionCounts>{{"f(int)", {1, 10}}, {"g", {0, 3}}});
  table.add_round(metrics, std::vector<FunctionCounts>{{"f(int)", {1, 12}}, {"g", {0, 3}}});
  const std::string text = written(table);
  CHECK(text.find(R"x({"name": "f(int)", "branches": 1, "instructions": [10, 12]})x") !=
        std::string::npos);
  CHECK(text.find(R"({"name": "g", "instructions": 3})") != std::string::npos);
  const FunctionTable back = must(read(text));
  CHECK(back.metrics == table.metrics);
  CHECK(back.functions == table.functions);
}

TEST_CASE("the other names of a function are written and read back") {
  FunctionTable table;
  table.add_round(std::vector<std::string>{"instructions"},
                  std::vector<FunctionCounts>{{"malloc", {7}, {"__libc_malloc", "m\"x"}}});
  const std::string text = written(table);
  CHECK(text.find(R"x({"name": "malloc", "other_names": ["__libc_malloc", "m\"x"], )x"
                  R"x("instructions": 7})x") != std::string::npos);
  const FunctionTable back = must(read(text));
  CHECK(back.other_names == table.other_names);
  CHECK(back.functions == table.functions);
}

TEST_CASE("call paths are written after the rows, callers first, and read back") {
  FunctionTable table;
  const std::vector<std::string> metrics = {std::string(kSampledTime)};
  for (const std::uint64_t count : {1U, 2U}) {
    table.add_round(metrics, std::vector<FunctionCounts>{{"f", {count}}, {"main", {0}}});
    table.paths.add_round(
        std::vector<PathCounts>{
            {kNoCaller, "prog", 0}, {0, "main", 0}, {1, "f", count}, {2, "f", 3}},
        1.0);
  }
  const std::string text = written(table);
  CHECK(text.find(R"({"frame": 2, "caller": 1, "sampled_time": [1, 2]})") != std::string::npos);
  CHECK(text.find(R"({"frame": 2, "caller": 2, "sampled_time": 3})") != std::string::npos);

  const FunctionTable back = must(read(text));
  REQUIRE(back.paths.size() == table.paths.size());
  CHECK(back.paths.rounds() == 2);
  for (std::size_t path = 0; path < table.paths.size(); ++path) {
    CHECK(back.paths.caller_of(path) == table.paths.caller_of(path));
    CHECK(back.paths.name_of(path) == table.paths.name_of(path));
    CHECK(back.paths.values_of(path) == table.paths.values_of(path));
  }
}

TEST_CASE("call paths that cannot be are refused") {
  const auto refused = [](const std::string& frames, const std::string& paths) {
    return !read(R"({"functions": {"metrics": {"sampled_time": 2}, "rows": [], "frames": )" +
                 frames + R"(, "paths": )" + paths + "}}");
  };
  CHECK_FALSE(refused(R"(["p", "f"])", R"([{"frame": 0}, {"frame": 1, "caller": 0}])"));
  CHECK(refused(R"(["p", 7])", R"([])"));
  CHECK(refused(R"(["p"])", R"([{"frame": 1}])"));
  CHECK(refused(R"(["p"])", R"([{"caller": 0}])"));
  CHECK(refused(R"(["p"])", R"([{"frame": 0, "caller": 0}])"));
  CHECK(refused(R"(["p"])", R"([{"frame": 0}, {"frame": 0}])"));
  CHECK(refused(R"(["p"])", R"([{"frame": 0, "caller": -1}])"));
  CHECK(refused(R"(["p"])", R"([{"frame": 0, "sampled_time": [1, 2, 3]}])"));
}

TEST_CASE("call paths longer than any sample are refused with that reason") {
  const auto said_of = [](int frames) {
    std::string paths = R"({"frame": 0})";
    for (int i = 1; i < frames; ++i)
      paths += R"(, {"frame": 1, "caller": )" + std::to_string(i - 1) + "}";
    const auto read_back =
        read(R"({"functions": {"metrics": {"sampled_time": 2}, "rows": [], "frames": ["p", "f"], )"
             R"("paths": [)" +
             paths + "]}}");
    return read_back ? std::string() : read_back.error().line();
  };
  CHECK(said_of(8192).empty());
  CHECK(said_of(8193).find("call path of more than 8192 frames") != std::string::npos);
}

TEST_CASE("a session without functions has no key for them") {
  CHECK(written({}).find("functions") == std::string::npos);
  CHECK(must(read("{}")).empty());
}

TEST_CASE("functions with values that cannot be are refused") {
  const auto of = [](const std::string& row,
                     const std::string& metrics = R"({"instructions": 2})") {
    return R"({"functions": {"metrics": )" + metrics + R"(, "rows": [)" + row + "]}}";
  };
  CHECK(read(of(R"({"name": "f", "instructions": [1, 2]})")).has_value());
  for (const std::string& text :
       {of(R"({"name": "f", "instructions": [1]})"), of(R"({"name": "f", "instructions": "1"})"),
        of(R"({"name": "f", "instructions": [1, null]})"), of("", "[]"),
        of("", R"({"instructions": -1})"), of("", R"({"instructions": 1e9})")})
    CHECK_MESSAGE(!read(text).has_value(), text);
}

}  // namespace lauka
