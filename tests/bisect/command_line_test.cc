#include "bisect/command_line.h"

#include "../must.h"

#include <string>
#include <vector>

namespace lauka::bisect {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("the two words before -- are the ends, and one command follows") {
  const Request request = must(parse(
      Words{"--build", "make -j8", "--work=/tmp/w", "-r", "20", "v1", "main", "--", "./prog x"}));
  CHECK(request.good == "v1");
  CHECK(request.bad == "main");
  CHECK(request.build == "make -j8");
  CHECK(request.work_folder == "/tmp/w");
  CHECK(request.options.run.runs == 20);
  CHECK(request.options.commands.command_lines == Words{"./prog x"});
}

TEST_CASE("the metric is the first one of --metrics, and otherwise the CPU time") {
  CHECK(must(parse(Words{"a", "b", "--", "true"})).metric() == "cpu_time");
  CHECK(must(parse(Words{"--metrics", "peak_rss,wall_time", "a", "b", "--", "true"})).metric() ==
        "peak_rss");
}

TEST_CASE("a search follows first parents and ends with one commit, unless options say otherwise") {
  const Request usual = must(parse(Words{"a", "b", "--", "true"}));
  CHECK(usual.parents == Parents::First);
  CHECK_FALSE(usual.finds_all);

  const Request other = must(
      parse(Words{"--no-first-parent", "--all", "--export-json", "x", "a", "b", "--", "true"}));
  CHECK(other.parents == Parents::All);
  CHECK(other.finds_all);
  CHECK(other.options.output.exports.size() == 1);
}

TEST_CASE("options that make no sense in a search are refused") {
  for (const char* option :
       {"--fail-if=cpu_time > 1", "--fail-if-slower", "--accept=x.toml", "--keep-if-faster",
        "--keep-if=cpu_time < -1", "--series=x.jsonl", "--race", "--precision=1",
        "--baseline=x.json", "--from=x.json", "--suite=x.toml", "--reference=true",
        "--command-name=x", "--export-csv=x.csv", "--tune", "--check", "--cwd=/tmp"}) {
    CAPTURE(option);
    CHECK_FALSE(parse(Words{option, "a", "b", "--", "true"}));
  }
}

TEST_CASE("an option that is refused here is refused as such, whatever lauka says about its use") {
  for (const Words& before :
       {Words{"--race", "-r", "30"}, Words{"-r", "30", "--precision=1"},
        Words{"--parameter-list", "x"}, Words{"--suite=x.toml"}, Words{"-L", "x"}}) {
    CAPTURE(before.back());
    Words words = before;
    words.insert(words.end(), {"a", "b", "--", "true"});
    const auto refused = parse(words);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.find(" cannot be used here, because ") != std::string::npos);
  }
}

TEST_CASE("a command line without ends or command is refused") {
  CHECK_FALSE(parse(Words{}));
  CHECK_FALSE(parse(Words{"a", "b"}));
  CHECK_FALSE(parse(Words{"a", "b", "--"}));
  CHECK_FALSE(parse(Words{"a", "--", "true"}));
  CHECK_FALSE(parse(Words{"-q", "a", "--", "true"}));
  CHECK_FALSE(parse(Words{"a", "b", "--", "true", "false"}));
  CHECK(parse(Words{"--build", "a", "b", "--", "true"}).error().what == "--build needs a value");
}

TEST_CASE("the manual page and the completions have the options that work here, and only those") {
  const std::string page = must(parse(Words{"--man-page"})).answer.value_or("");
  CHECK(page.find("\\-\\-work") != std::string::npos);
  CHECK(page.find("\\-\\-duration") != std::string::npos);
  CHECK(page.find("\\-\\-suite") == std::string::npos);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = must(parse(Words{"--completions", shell})).answer.value_or("");
    CHECK(script.find("lauka-bisect") != std::string::npos);
    CHECK(script.find("export-json") != std::string::npos);
    CHECK(script.find("export-csv") == std::string::npos);
  }
}

}  // namespace
}  // namespace lauka::bisect
