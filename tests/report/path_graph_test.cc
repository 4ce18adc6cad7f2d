#include "report/path_graph.h"

#include "has.h"
#include "report/call_path_example.h"
#include "report/exports.h"
#include "report/html.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

std::string page_of(Results results) {
  std::string page;
  write_html({{std::move(results)}}, [&](std::string_view text) { page += text; });
  return page;
}

/// Returns an attribute of the only graph.
std::string attribute(const std::string& html, const std::string& name) {
  const std::string begin = " data-" + name + "=\"";
  const std::size_t at = html.find(begin);
  if (at == std::string::npos) return "(missing)";
  const std::size_t from = at + begin.size();
  return html.substr(from, html.find('"', from) - from);
}

}  // namespace

TEST_CASE("the page has the call paths of both commands, and names those that differ for certain") {
  const std::string page = page_of(grown_through_first());
  const std::string graph = call_path_graphs(grown_through_first());
  CHECK(has(page, graph));
  CHECK(has(page, "document.querySelectorAll(\".icicle\")"));

  CHECK(has(attribute(graph, "commands"), "|./old\n"));
  CHECK(has(attribute(graph, "commands"), "|./new"));
  CHECK(has(graph, "<pre class=\"names\" hidden>new\nmain\nfirst\nwork\nsecond\nthird</pre>"));
  // The program, main, first, its work, second, its work, third, its work.
  CHECK(attribute(graph, "parent") == "-1 0 1 2 1 4 1 6");
  CHECK(attribute(graph, "name") == "0 1 2 3 4 3 5 3");
  CHECK(attribute(graph, "times") ==
        "101500 101500 50500 50500 30500 30500 20500 20500|"
        "113500 113500 62500 62500 30500 30500 20500 20500");
  CHECK(attribute(graph, "sure") == "0 1 2 3");
  CHECK(has(attribute(graph, "half-width"), " "));
}

TEST_CASE(
    "the page draws a single command's paths without a difference, and none without samples") {
  const std::string graph =
      call_path_graphs(results_of_tables({table_of_paths("old", {50, 30, 20})}));
  CHECK(has(attribute(graph, "commands"), "|./old"));
  CHECK(attribute(graph, "times") == "101500 101500 50500 50500 30500 30500 20500 20500");
  CHECK(attribute(graph, "sure") == "(missing)");

  Results without = grown_through_first();
  for (FunctionTable& table : without.session.function_tables) table.paths = {};
  CHECK(call_path_graphs(without).empty());
  CHECK_FALSE(has(page_of(std::move(without)), ".icicle\")"));
}

TEST_CASE("a function's name cannot end the element that holds it") {
  Results results = results_of_tables({table_of_paths("a</pre><b>", {50, 30, 20})});
  const std::string graph = call_path_graphs(results);
  CHECK(has(graph, "hidden>a&lt;/pre&gt;&lt;b&gt;\nmain\n"));
}

}  // namespace lauka::report
