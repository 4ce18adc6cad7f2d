#include "cli/suite.h"

#include "cli/parsed.h"
#include "has.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka::cli {
namespace {

Options typed_of(Words words) {
  words.insert(words.begin(), {"--suite", "s.toml"});
  const auto options = parsed(words);
  REQUIRE(options);
  return *options;
}

Suite read(const std::string& text, const Words& typed = {}) {
  const auto suite = read_suite(typed_of(typed), text);
  if (!suite) MESSAGE(suite.error().line());
  REQUIRE(suite);
  return *suite;
}

/// Returns the refusal.
std::string line(const std::string& text, const Words& typed = {}) {
  const auto suite = read_suite(typed_of(typed), text);
  return suite ? "accepted" : suite.error().line();
}

/// A benchmark with a command, and these lines.
std::string benchmark(const std::string& name, const std::string& lines = "") {
  return "[[benchmark]]\nname = '" + name + "'\ncommands = ['old', 'new']\n" + lines + "\n";
}

Words names_of(const Suite& suite) {
  Words names;
  for (const Benchmark& one : suite.benchmarks) names.push_back(one.name);
  return names;
}

}  // namespace

TEST_CASE("a benchmark's options win over typed ones, and these over the defaults") {
  const Suite suite = read("[defaults]\nwarmup = 3\nmax-runs = 50\nduration = 9\n" +
                               benchmark("a", "warmup = 1") + benchmark("b"),
                           {"-w2", "--max-runs", "40"});
  REQUIRE(suite.benchmarks.size() == 2);
  CHECK(suite.benchmarks[0].options.run.warmup == 1);
  CHECK(suite.benchmarks[1].options.run.warmup == 2);
  for (const Benchmark& one : suite.benchmarks) {
    CHECK(one.options.run.max_runs == 40);
    CHECK(one.options.run.time_per_command == std::chrono::seconds(9));
    CHECK(one.options.commands.command_lines == Words{"old", "new"});
  }
}

TEST_CASE("one note names the typed gates that gates of the suite's file replace, and where") {
  const std::string text = benchmark("a") + benchmark("b", "fail-if = 'cpu_time > 9'") +
                           benchmark("c", "fail-if = 'wall_time > 9'");
  const Suite suite = read(text, {"--fail-if", "cpu_time > 5", "--fail-if-slower=3"});
  CHECK(suite.benchmarks[0].notes.empty());
  REQUIRE(suite.benchmarks[1].notes.size() == 1);
  CHECK(suite.benchmarks[1].notes[0] ==
        Note{"gate_replaced",
             "the gates in the suite's file replace --fail-if 'cpu_time > 5' in 'b' and 'c'"});
  CHECK(suite.benchmarks[2].notes.empty());
  CHECK(suite.benchmarks[1].options.gates.conditions.size() == 2);
  for (const Benchmark& one : read(text).benchmarks) CHECK(one.notes.empty());
}

TEST_CASE("what contradicts a stronger option is left out with the weaker one") {
  const Suite suite = read("[defaults]\nmin-runs = 20\nshell = 'bash'\nregion = true\n" +
                               benchmark("a") + benchmark("b", "shell = 'none'\nregion = false"),
                           {"-r", "3"});
  CHECK(suite.benchmarks[0].options.run.runs == 3);
  CHECK(suite.benchmarks[0].options.commands.shell->words == Words{"bash"});
  CHECK(suite.benchmarks[0].options.counting.measures_region);
  CHECK_FALSE(suite.benchmarks[1].options.commands.shell);
  CHECK_FALSE(suite.benchmarks[1].options.counting.measures_region);
}

TEST_CASE("a name that mentions a parameter makes a benchmark of each value") {
  const std::string lists = "parameter-list = [['n', '10,20'], ['m', 'x,y']]";
  const Suite suite = read(benchmark("a {n}", lists) + benchmark("b {n}{m}{n}", lists) +
                           benchmark("c {k}", "parameter-list = 'n 1,2'") +
                           benchmark("d {n}", "parameter-scan = ['n', 1, 3]"));
  CHECK(names_of(suite) == Words{"a 10", "a 20", "b 10x10", "b 10y10", "b 20x20", "b 20y20",
                                 "c {k}", "d 1", "d 2", "d 3"});
  const auto& parameters = suite.benchmarks[1].options.commands.parameters;
  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].values == Words{"20"});
  CHECK(parameters[1].values == Words{"x", "y"});
  CHECK_FALSE(suite.benchmarks[9].options.commands.parameters[0].is_scan);
  CHECK(suite.benchmarks[9].options.commands.parameters[0].values == Words{"3"});
  CHECK(names_of(read(benchmark("a {n}", lists), {"--only", "a 2"})) == Words{"a 20"});
}

TEST_CASE("names that parameters make must be different, and not too many") {
  CHECK(line(benchmark("a 1") + benchmark("a {n}", "parameter-list = 'n 1,2'")) ==
        "s.toml:5: benchmark 'a {n}': there is more than one benchmark 'a 1'; give each benchmark "
        "a name of its own");
  CHECK(line(benchmark("a {n}", "parameter-scan = ['n', 1, 1001]")) ==
        "s.toml:1: benchmark 'a {n}': the parameters in its name make more than 1000 benchmarks; "
        "give fewer values, or leave {n} out of the name");
  CHECK(line(benchmark("a {n}", "parameter-scan = ['n', 0.5, 3]")) == "accepted");
}

TEST_CASE("a list repeats an option, and options of several words take them in either way") {
  const Suite suite = read(benchmark("a",
                                     "prepare = ['one', 'two']\nfail-if = ['cpu_time > 1']\n"
                                     "parameter-list = ['n', '1,2']") +
                           benchmark("b", "parameter-list = 'n 1,2'") +
                           benchmark("c", "parameter-list = [['n', '1,2'], ['m', '3']]") +
                           benchmark("d", "ignore-failure = true\nfail-if-slower = 2.5\njobs = 4"));
  const Options& a = suite.benchmarks[0].options;
  CHECK(a.commands.hooks[HookKind::Prepare] == Words{"one", "two"});
  CHECK(a.gates.conditions.size() == 1);
  REQUIRE(a.commands.parameters.size() == 1);
  CHECK(a.commands.parameters[0].values == Words{"1", "2"});
  CHECK(suite.benchmarks[1].options.commands.parameters.size() == 1);
  CHECK(suite.benchmarks[2].options.commands.parameters.size() == 2);
  const Options& d = suite.benchmarks[3].options;
  CHECK(d.run.ignore_failure->ignores_all);
  CHECK(d.gates.conditions.at(0).limit == GateLimit::of_change(2.5));
  CHECK(d.run.copies_per_run == 4);
}

TEST_CASE("what concerns the whole session belongs in the defaults, or is typed") {
  const Suite suite =
      read("[defaults]\nexport-json = 'a.json'\ntitle = 'T'\nfdr = true\nconfidence = 99\n" +
               benchmark("a"),
           {"--title", "typed"});
  REQUIRE(suite.session_options.output.exports.size() == 1);
  CHECK(suite.session_options.output.exports[0].file == "a.json");
  CHECK(suite.session_options.output.presentation.title == "typed");
  CHECK(suite.session_options.gates.controls_fdr);
  CHECK(suite.benchmarks[0].options.gates.confidence == 0.99);
  for (const char* const option : {"export-csv = 'x'", "color = 'never'", "seed = 1", "fdr = true",
                                   "quiet = true", "confidence = 90", "label = 'a=b'"}) {
    CAPTURE(option);
    CHECK(has(line(benchmark("a", option)), "concerns the whole session"));
  }
}

TEST_CASE("--only and --shard leave some of the benchmarks, and parts are disjoint and all") {
  std::string text;
  for (const char* const name : {"a1", "a2", "b1", "b2", "b3"}) text += benchmark(name);
  CHECK(names_of(read(text, {"--only", "^b"})) == Words{"b1", "b2", "b3"});
  CHECK(names_of(read(text, {"--shard", "1/2"})) == Words{"a1", "b1", "b3"});
  CHECK(names_of(read(text, {"--shard", "2/2"})) == Words{"a2", "b2"});
  CHECK(names_of(read(text, {"--shard", "2/2", "--only", "b"})) == Words{"b2"});
  CHECK(names_of(read(text, {"--shard", "6/7"})).empty());
  CHECK(line(text, {"--only", "c"}) ==
        "--only 'c' matches no benchmark of 's.toml'; they are 'a1', 'a2', 'b1', 'b2' and 'b3'");
  for (int i = 0; i < 17; ++i) text += benchmark("d" + std::to_string(i));
  CHECK(has(line(text, {"--only", "c"}), "'d13', 'd14' and 2 more"));
}

TEST_CASE("what a suite's file cannot have is refused with file, line and benchmark") {
  const auto starts = [](const std::string& text, const std::string& with) {
    CHECK(line(text).substr(0, with.size()) == with);
  };
  starts("", "s.toml: has no benchmark; write [defaults] and [[benchmark]]");
  starts("x = 1", "s.toml:1: 'x' has no meaning here; ");
  starts("benchmark = 3", "s.toml:1: 'benchmark' has no meaning here; ");
  starts("[[benchmark]\n", "s.toml:1: is not valid TOML: ");
  for (const char* const broken : {"[[[a]]]", "[[[benchmark]]\nname = 'a'", "[[="})
    starts(broken, "s.toml: is not valid TOML, because something in it is in the wrong place; ");
  starts(std::string("a\0b", 3), "s.toml: is not valid TOML, because it contains a zero byte");
  starts("[[benchmark]]\ncommands = ['a']", "s.toml:1: a benchmark has no name; ");
  starts("[[benchmark]]\nname = ''", "s.toml:2: name must not be empty; ");
  starts("[[benchmark]]\nname = 'a'", "s.toml:1: benchmark 'a': there are no commands; ");
  starts("[[benchmark]]\nname = 'a'\ncommands = [1]",
         "s.toml:3: benchmark 'a': commands must be a list of command lines; ");
  starts(benchmark("a") + benchmark("a"),
         "s.toml:6: benchmark 'a': another benchmark has the same name; ");
  starts("[defaults]\ncommands = ['a']\n" + benchmark("a"), "s.toml:2: [defaults] has commands; ");
  starts(benchmark("a", "runz = 3"),
         "s.toml:4: benchmark 'a': unknown option 'runz'; did you mean runs?");
  starts(benchmark("a", "runs = 'x'"), "s.toml:4: benchmark 'a': --runs 'x' is not");
  starts(benchmark("a", "runs = true"), "s.toml:4: benchmark 'a': --runs needs a value; ");
  starts(benchmark("a", "region = 3"), "s.toml:4: benchmark 'a': --region takes no value; ");
  starts(benchmark("a", "prepare = [['a']]"),
         "s.toml:4: benchmark 'a': --prepare needs a list of values; ");
  starts(benchmark("a", "parameter-list = 'n'"),
         "s.toml:4: benchmark 'a': --parameter-list needs 2 words; ");
  starts(benchmark("a", "prepare = 1979-05-27"),
         "s.toml:4: 'prepare' has a kind of value that no option takes; ");
  starts(benchmark("a", "from = 'x'"),
         "s.toml:4: benchmark 'a': --from cannot be set in a suite's file; ");
  starts(benchmark("a", "runs = 3\nmin-runs = 4"),
         "s.toml:1: benchmark 'a': --runs and --min-runs cannot be combined; ");
  CHECK(line(benchmark("a"), {"--fail-if-inconclusive"}) ==
        "s.toml: --fail-if-inconclusive has no effect without a gate; add fail-if-slower = 1 or "
        "fail-if = \"METRIC > PCT\"");
}

TEST_CASE("a file that nests deeply or has too much in it is refused") {
  const std::string deep = "x = " + std::string(5000, '[') + std::string(5000, ']');
  CHECK(has(line(deep), "is not valid TOML"));
  std::string many;
  for (int i = 0; i < 1001; ++i) many += benchmark(std::to_string(i));
  CHECK(has(line(many), "1001 benchmarks are too many"));
}

TEST_CASE("options of suites are refused without one, and with what runs no suite") {
  CHECK(answer_to({"--only", "a", "x"}) ==
        "--only has no effect without --suite; add --suite FILE, or leave it out");
  CHECK(answer_to({"--fdr", "x"}).starts_with("--fdr has no effect without --suite; "));
  CHECK(answer_to({"--fdr", "--from", "x"}) == "accepted");
  CHECK(answer_to({"--suite", "a", "x"}) ==
        "the commands of --suite are in its file, so 'x' has no effect; leave it out");
  CHECK(answer_to({"--suite", "a", "--from", "x"}).starts_with("--suite and --from "));
  CHECK(
      answer_to({"--suite", "a", "--check"}) ==
      "--suite takes measurements, but options such as --check run nothing; use only one of them");
  CHECK(answer_to({"--suite", "a", "--suite", "b"}) ==
        "--suite 'b' would be a second suite; measure one suite at a time");
  for (const char* const shard : {"1", "0/2", "3/2", "a/b", "1/", "/2"})
    CHECK(answer_to({"--suite", "a", "--shard", shard}) ==
          "--shard '" + std::string(shard) +
              "' is not I/N; write, for example, --shard 2/5 for the second of five parts");
}

TEST_CASE("as-root is typed, never read from a file") {
  for (const char* const lines : {"as-root = true", "as-root = false"}) {
    CHECK(line("[defaults]\n" + std::string(lines) + "\n" + benchmark("a")) ==
          "s.toml:2: --as-root gives root's rights, so a suite's file cannot ask for it; remove it "
          "here, and give it on the command line if the commands must run as root");
    CHECK(line(benchmark("a", lines)).starts_with("s.toml:4: benchmark 'a': --as-root gives "));
  }
  CHECK(read(benchmark("a"), {"--as-root"}).session_options.run.as_root);
}

TEST_CASE("keys with many dots are refused before the library calls itself for each") {
  const std::string dots = [] {
    std::string key;
    for (int i = 0; i < 200'000; ++i) key += "a.";
    return key + "a";
  }();
  const std::string refused =
      "it has a key with more than 16 dots; write [defaults] and [[benchmark]] tables "
      "(docs/suites.md)";
  CHECK(line(benchmark("a") + dots + " = 1") == "s.toml:5: " + refused);
  CHECK(line("[" + dots + "]\n") == "s.toml:1: " + refused);
  CHECK(line("a = { " + dots + " = 1 }\n") == "s.toml:1: " + refused);
  CHECK(line("# '\n'x\n" + dots + " = 1\n") == "s.toml:3: " + refused);
  CHECK(line("a = '''\n'''\n" + dots + " = 1\n") == "s.toml:3: " + refused);
  CHECK(line("a = \"\\\"\"\n" + dots + " = 1\n") == "s.toml:2: " + refused);
}

TEST_CASE("dots in text, in comments and in numbers are no keys") {
  const std::string dots(500, '.');
  const Suite suite = read("# " + dots + "\n" +
                           benchmark("a", "conclude = [\"echo \\\"" + dots + "\", 'b" + dots +
                                              "', \"\"\"\n" + dots + "\"\"\"]"));
  CHECK(suite.benchmarks[0].options.commands.hooks[HookKind::Conclude] ==
        Words{"echo \"" + dots, "b" + dots, dots});
  std::string numbers = "1.5";
  for (int i = 0; i < 30; ++i) numbers += ", 1.5";
  CHECK(read(benchmark("a", "conclude = [" + numbers + "]"))
            .benchmarks[0]
            .options.commands.hooks[HookKind::Conclude]
            .size() == 31);
}

}  // namespace lauka::cli
