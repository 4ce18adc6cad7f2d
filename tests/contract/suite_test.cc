#include "contract/program.h"
#include "contract/schema.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

// --suite: many benchmarks in one session.

namespace lauka::contract {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

std::string benchmark(const std::string& name, const Words& commands,
                      const std::string& lines = "") {
  std::string text = "[[benchmark]]\nname = '" + name + "'\ncommands = [";
  for (const std::string& command : commands) text += "'''" + command + "''', ";
  return text + "]\n" + lines + "\n";
}

/// A folder with a suite.
struct Suite {
  Folder folder;

  explicit Suite(const std::string& text) { std::ofstream(folder.file("s.toml")) << text; }

  Said run(Words more) const {
    Words words = {"--suite", folder.file("s.toml"), "-w0"};
    words.insert(words.end(), more.begin(), more.end());
    return lauka(words);
  }
};

/// Returns the first letters of the benchmarks in --export-runs, in the order of the runs; checks
/// that the numbers are 1, 2, ... in some order.
std::string benchmarks_by_order(const std::string& file) {
  const Words lines = lines_of(text_of(file));
  REQUIRE(lines.size() > 1);
  REQUIRE(lines[0].starts_with("benchmark,order,command,run,"));
  std::string benchmarks(lines.size() - 1, ' ');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t order = std::stoul(lines[i].substr(lines[i].find(',') + 1));
    REQUIRE(order >= 1);
    REQUIRE(order < lines.size());
    REQUIRE(benchmarks[order - 1] == ' ');
    benchmarks[order - 1] = lines[i][0];
  }
  return benchmarks;
}

}  // namespace

TEST_CASE("a suite's page shows percentiles, too") {
  const Suite suite(benchmark("a", {"true", "true 1"}, "runs = 12\npercentiles = [50]"));
  const Said said = suite.run({"-q", "--export-html", "/dev/stdout"});
  CHECK(said.out_has("<th scope=\"row\">wall_time.p50</th>"));
}

TEST_CASE("an inconclusive gate of a suite does not tell the exit status where another one fails") {
  const std::string gate = "scrape = ['x=x=([0-9]+)']\nfail-if = ['x > 5']";
  const Suite suite(benchmark("few", {"echo x=1", "echo x=1"}, "runs = 1\n" + gate) +
                    benchmark("worse", {"echo x=1", "echo x=2"}, "runs = 12\n" + gate));
  const Said said = suite.run({"-v"});
  CHECK(said.status == 3);
  CHECK(said.out_has("inconclusive"));
  CHECK_FALSE(said.out_has("exit status"));
}

TEST_CASE("--suite: a row for each benchmark, and the geometric mean of the changes") {
  const Suite suite(benchmark("first", {"echo 1", "echo 60"}) +
                    benchmark("second", {"echo 1", "echo 60"}, "runs = 8") +
                    benchmark("alone", {"echo 1"}));
  const Said said = suite.run({"-r7", kScrape, "--metrics", "v"});
  CHECK(said.status == 0);
  const Words lines = lines_of(said.out);
  REQUIRE(lines.size() == 6);
  CHECK(has(lines[0], "v "));
  CHECK(has(lines[0], " 3 "));
  CHECK(lines[1].substr(0, 14) == "benchmark     ");
  CHECK(lines[2].starts_with("first "));
  CHECK(has(lines[2], "💩 +"));
  CHECK(lines[3].starts_with("second "));
  CHECK(lines[4].starts_with("alone "));
  CHECK(lines[5].starts_with("geomean of 2 "));
}

TEST_CASE("--suite: the geometric mean is of the metric of the rows, in every table and export") {
  const Suite suite(benchmark("first", {"echo 10", "echo 60"}) +
                    benchmark("second", {"echo 10", "echo 60"}));
  Words words = {"-r6", kScrape, "--fail-if", "v > 999"};
  for (const char* const format : {"json", "markdown", "asciidoc", "orgmode", "html"})
    words.insert(words.end(), {std::string("--export-") + format, suite.folder.file(format)});
  const Said said = suite.run(words);
  CHECK(said.status == 0);
  CHECK(said.out.starts_with("v of 2 benchmarks\n"));
  const std::string mean = "+500";
  CHECK(has(said.out.substr(said.out.find("\ngeomean ")), mean));
  for (const char* const format : {"markdown", "asciidoc", "orgmode", "html"}) {
    CAPTURE(format);
    const std::string text = text_of(suite.folder.file(format));
    CHECK(has(text.substr(text.find("geomean")), mean));
  }
  const json means = json::parse(text_of(suite.folder.file("json"))).at("lauka").at("geomeans");
  REQUIRE(means.size() == 1);
  CHECK(means.at(0).at("metric") == "v");
}

TEST_CASE("--suite: --export-runs numbers the runs of all benchmarks in the order they were run") {
  const Suite suite(benchmark("a", {work(1), work(2)}) + benchmark("b", {work(1), work(2)}));
  const std::string csv = suite.folder.file("runs.csv");
  const std::string saved = suite.folder.file("s.json");
  REQUIRE(suite.run({"-r5", "--export-runs", csv, "--export-json", saved}).status == 0);
  const std::string benchmarks = benchmarks_by_order(csv);
  CHECK(benchmarks.size() == 20);
  // Both began before either was over.
  CHECK(benchmarks.find('a') < benchmarks.rfind('b'));
  CHECK(benchmarks.find('b') < benchmarks.rfind('a'));
  const std::string again = suite.folder.file("again.csv");
  completed({"-q", "--from", saved, "--export-runs", again});
  CHECK(text_of(again) == text_of(csv));
}

TEST_CASE("--suite: the rounds of all benchmarks are interleaved") {
  const Folder log;
  const auto reported = [&](const std::string& name) {
    return "echo " + name + " >> " + log.file("log") + "; sleep 0.002";
  };
  const Suite suite("[defaults]\nshell = 'sh'\n" +
                    benchmark("a", {reported("a0"), reported("a1")}) +
                    benchmark("b", {reported("b0"), reported("b1")}) +
                    benchmark("alone", {reported("c0"), reported("c1")}, "order = 'sequential'"));
  REQUIRE(suite.run({"-r4", "--seed", "1"}).status == 0);
  const std::string text = text_of(log.file("log"));
  std::string order;
  for (const std::string& line : lines_of(text)) order += line[0];
  CAPTURE(order);
  std::string others = order;
  others.erase(std::remove(others.begin(), others.end(), 'c'), others.end());
  for (std::size_t lap = 0; lap + 4 <= others.size(); lap += 4)
    CHECK(std::count(others.begin() + static_cast<std::ptrdiff_t>(lap),
                     others.begin() + static_cast<std::ptrdiff_t>(lap + 4), 'a') == 2);
  CHECK(has(order, "cccccccc"));
}

TEST_CASE("--suite: every export has the benchmarks, and --from of the JSON has them again") {
  const Suite suite("[defaults]\nfail-if = 'v > 300'\ntitle = 'T <1>'\n" +
                    benchmark("with, comma", {"echo 10", "echo 20"}) +
                    benchmark("two", {"echo 3", "echo {n}"}, "parameter-list = 'n 1,2'"));
  const Words kinds = {"csv", "runs", "json", "markdown", "html"};
  Words measure = {"-r6", kScrape};
  Words again = {"--from", suite.folder.file("a.json"), "--title", "T <1>"};
  for (const std::string& kind : kinds) {
    measure.insert(measure.end(), {"--export-" + kind, suite.folder.file("a." + kind)});
    again.insert(again.end(), {"--export-" + kind, suite.folder.file("b." + kind)});
  }
  const Said once = suite.run(measure);
  CHECK(once.status == 0);
  const Said twice = completed(again);
  CHECK(twice.out == once.out);
  for (const std::string& kind : kinds) {
    CAPTURE(kind);
    CHECK(text_of(suite.folder.file("b." + kind)) == text_of(suite.folder.file("a." + kind)));
  }
  const std::string csv = text_of(suite.folder.file("a.csv"));
  CHECK(csv.starts_with("benchmark,command,metric,"));
  CHECK(has(csv, "\r\n\"with, comma\","));
  CHECK(has(csv, "parameter_n\r\n"));
  CHECK(text_of(suite.folder.file("a.runs")).starts_with("benchmark,order,command,run,"));
  CHECK(has(text_of(suite.folder.file("a.html")), "<h1>T &lt;1&gt;</h1>"));
  CHECK(has(text_of(suite.folder.file("a.markdown")),
            "v of 2 benchmarks\n\n| benchmark | command | base |"));
  const json document = json::parse(text_of(suite.folder.file("a.json")));
  check_schema(document);
  const json& results = document.at("results");
  REQUIRE(results.size() == 5);
  CHECK(results[0].at("lauka").at("benchmark") == "with, comma");
  CHECK(results[0].at("lauka").at("role") == "reference");
  CHECK(results[4].at("lauka").at("role") == "candidate");
  CHECK(document.at("lauka").at("benchmarks").size() == 2);
  CHECK(document.at("lauka").at("benchmarks")[1].at("gates").size() == 2);
}

TEST_CASE("--suite: each value has a row, compared with the base at the same value") {
  const Suite suite(
      "[defaults]\nmetrics = 'v'\nfail-if = 'v > 5'\n" +
      benchmark("sort {n}", {"echo {n}", "printf {n}"}, "parameter-list = 'n 10,20'") +
      benchmark("scan", {"echo 1{n}", "echo 2{n}"},
                "command-name = ['old', 'new']\nparameter-list = 'n 0,8'"));
  const std::string file = suite.folder.file("a.json");
  const Said said = suite.run({"-r20", kScrape, "--export-json", file});
  CHECK(said.status == 3);
  const Words lines = lines_of(said.out);
  const auto row_of = [&](const std::string& command) {
    const auto row = std::ranges::find_if(
        lines, [&](const std::string& line) { return has(line, "  " + command + "  "); });
    return row == lines.end() ? std::string() : *row;
  };
  CHECK(has(row_of("printf 20"), "sort 20"));
  CHECK(has(row_of("printf 20"), " 20 exact    20 exact "));
  CHECK(has(row_of("printf 20"), "pass, limit 5%"));
  CHECK(has(row_of("new (n = 0)"), "+100%"));
  CHECK(has(row_of("new (n = 8)"), " 18 exact    28 exact "));
  CHECK(has(row_of("new (n = 8)"), "+55.6%"));
  const json document = json::parse(text_of(file));
  check_schema(document);
  CHECK(document.at("results")[7].at("lauka").at("reference") == 2);
  // The rows' ratios are 1, 1, 2 and 28 / 18.
  const json& mean = document.at("lauka").at("geomeans").at(0);
  CHECK(mean.at("percent").get<double>() == doctest::Approx(32.80942));
  CHECK(mean.at("benchmarks") == 3);
}

TEST_CASE("--suite: --sort time lists the shortest base first, --histogram draws each command") {
  const Suite suite(benchmark("long", {"echo 40", "echo 60", "echo 2"}) +
                    benchmark("short", {"echo 1", "echo 2"}));
  const std::string file = suite.folder.file("a.json");
  const std::string md = suite.folder.file("a.md");
  const Said said = suite.run({"-r6", kScrape, "--metrics", "v", "--sort", "time", "--export-json",
                               file, "--export-markdown", md, "--histogram"});
  CHECK(said.status == 0);
  const Words lines = lines_of(said.out);
  REQUIRE(lines.size() > 5);
  CHECK(lines[2].starts_with("short "));
  CHECK(lines[3].starts_with("long "));
  CHECK(has(lines[3], "echo 2"));  // of its candidates the shorter one first
  CHECK(text_of(md).find("`short`") < text_of(md).find("`long`"));
  CHECK(std::count(said.out.begin(), said.out.end(), '\n') > 15);
  CHECK(said.out_has("Command 3 (6 runs): "));
  CHECK(said.out_has("█"));
  const Said as_given = lauka({"--from", file});
  CHECK(lines_of(as_given.out)[2].starts_with("long "));
  CHECK_FALSE(as_given.out_has("█"));
}

TEST_CASE("--from of a suite is compared with --baseline, a session or a suite") {
  const Suite slow(benchmark("a", {"echo 60", "echo 60"}) + benchmark("b", {"echo 60", "echo 60"}));
  const Suite fast(benchmark("a", {"echo 1", "echo 1"}) + benchmark("b", {"echo 1", "echo 1"}));
  const std::string now = slow.folder.file("now.json");
  const std::string suite = slow.folder.file("suite.json");
  const std::string session = slow.folder.file("session.json");
  REQUIRE(slow.run({"-r10", kScrape, "--export-json", now}).status == 0);
  REQUIRE(fast.run({"-r10", kScrape, "--export-json", suite}).status == 0);
  completed({"-w0", "-r10", kScrape, "--export-json", session, "echo 1", "echo 1"});
  const std::string gate = "--fail-if=v > 50";
  completed({"--from", now, gate});  // both commands of a benchmark are alike
  for (const std::string& baseline : {session, suite}) {
    CAPTURE(baseline);
    const Said said = lauka({"--from", now, "--baseline", baseline, gate});
    CHECK(said.status == 3);
    CHECK(said.out_has("4 fail"));
    CHECK_FALSE(said.err_has("refused"));
  }
  const std::string refused = refusal({"--from", session, "--baseline", suite});
  CHECK(has(refused, suite));
  CHECK(has(refused, "--suite"));
}

TEST_CASE("--suite: a gate that fails is reported with its benchmark, and ends with 3") {
  const Suite suite(benchmark("same", {"echo 1", "echo 1"}) +
                    benchmark("slow", {"echo 1", "echo 80"}));
  const Said said = suite.run({"-r12", kScrape, "--fail-if", "v > 500"});
  CHECK(said.status == 3);
  CHECK(said.out_has("slow: v > 500%: fail: "));
  CHECK_FALSE(said.out_has("same: v"));
  CHECK(said.out_has("1 fail, 1 pass"));
  const Said lenient = suite.run({"-r12", kScrape, "--fail-if", "v > 500", "--fdr", "-q"});
  CHECK(lenient.status == 3);
  CHECK(lenient.out_has("slow: v > 500%: fail: "));
  CHECK(lenient.out_has("1 fail, 1 pass"));
}

TEST_CASE("--suite: an anchor is measured with base and candidate, and is compared with neither") {
  const Suite suite("[defaults]\ncommand-name = ['old', 'new', 'v1']\nanchor = 'v1'\n" +
                    benchmark("a", {"echo 1", "echo 2", "echo 300"}));
  const Said said = suite.run(
      {"-r12", kScrape, "--fail-if", "v > 150", "--export-json", suite.folder.file("a.json")});
  CHECK(said.status == 0);
  CHECK(said.out_has("1 gate: 1 pass"));
  CHECK(said.out_has("v1 "));
  CHECK(said.out_has("anchor\n"));
  CHECK_FALSE(said.out_has("v1: "));
  const json results = json::parse(text_of(suite.folder.file("a.json"))).at("results");
  CHECK(results[2].at("lauka").at("role") == "anchor");
  CHECK(results[2].at("lauka").at("metrics").at("v").at("delta").is_null());
  CHECK(results[2].at("times").size() == 12);
  CHECK(lauka({"--from", suite.folder.file("a.json")}).out == said.out);
  const Said none = suite.run({"-r2", "--anchor", "x"});
  CHECK(none.status == 2);  // what is typed wins over the defaults
  CHECK(Suite(benchmark("a", {"true"})).run({"--anchor", "x"}).status == 2);
}

TEST_CASE("--suite: what fails ends its benchmark alone, and lauka with 1") {
  const Suite suite(benchmark("bad", {"true", fixture("fail")}) + benchmark("good", {"true"}));
  const Said said = suite.run({"-r3"});
  CHECK(said.status == 1);
  CHECK(said.err_has("bad: "));
  CHECK(said.out_has("good "));
}

TEST_CASE("--suite: a failed run is shown with what it wrote, though others ran in its batch") {
  const std::string cleanup = "cleanup = 'echo of another >&2'";
  const Suite suite("[defaults]\norder = 'random'\n" + benchmark("a", {"true"}, cleanup) +
                    benchmark("bad", {"sh -c 'echo own words >&2; exit 4'"}) +
                    benchmark("b", {"true"}, cleanup) + benchmark("c", {"true"}, cleanup));
  for (const char* const seed : {"1", "2", "3"}) {
    const Said said = suite.run({"-w0", "-r1", "--seed", seed});
    CHECK(said.status == 1);
    CHECK(said.err_has("own words"));
    CHECK_FALSE(said.err_has("of another"));
  }
}

TEST_CASE("--suite: parts of a suite, measured apart, are one again with --from") {
  const Suite suite(benchmark("a", {work(1), work(2)}) + benchmark("b", {work(1), work(2)}) +
                    benchmark("c", {work(1), work(2)}));
  Words all = {"--from"};
  for (const char* const part : {"1/2", "2/2"}) {
    CAPTURE(part);
    const std::string file = suite.folder.file(std::string(1, part[0]) + ".json");
    CHECK(suite.run({"-r6", "--shard", part, "--export-json", file}).status == 0);
    all.push_back(file);
  }
  const Said said = completed(all);
  for (const char* const name : {"\na ", "\nb ", "\nc "}) CHECK_MESSAGE(said.out_has(name), name);
  CHECK(suite.run({"--shard", "4/4"}).err ==
        "lauka: note: this part of the suite contains no benchmark, so nothing was measured\n");
}

TEST_CASE("--suite: Ctrl-C ends all benchmarks, whose cleanups run") {
  const Folder log;
  const Suite suite("[defaults]\norder = 'random'\n" +
                    benchmark("a", {blocks_at(1, log)}, "cleanup = 'echo gone >> a'") +
                    benchmark("b", {blocks_at(1, log)}));
  const Said said = lauka({.arguments = words("--suite s.toml -w0 --export-json r.json"),
                           .folder = suite.folder.path(),
                           .interrupt_when = [&] { return has_lines(log.file("log"), 1); }});
  CHECK(said.status == 130);
  CHECK(said.err_has("SIGINT"));
  CHECK(said.err_has("--resume"));
  CHECK(exists(suite.folder.file("a")));
}

TEST_CASE("-q: of 1,000 gates those that do not pass have a line, and all are counted") {
  const auto gates = [](int count, const std::string& first = "") {
    std::string list = first;
    for (int limit = 100; limit < 100 + count; ++limit)
      list += (list.empty() ? "'v > " : ", 'v > ") + std::to_string(limit) + "'";
    return "fail-if = [" + list + "]";
  };
  const Suite suite("[defaults]\nwarmup = 0\nruns = 20\nscrape = 'v=([0-9]+)'\n" +
                    benchmark("a", {"echo 50", "echo 50"}, gates(400)) +
                    benchmark("b", {"echo 50", "echo 51"}, gates(400)) +
                    benchmark("c", {"echo 50", "echo 80"}, gates(198, "'v > 10'")) +
                    benchmark("d", {"echo 50", "echo 50"}, "runs = 1\nfail-if = 'v > 1'"));
  const Said said = suite.run({"-q"});
  CHECK(said.status == 3);
  const std::vector<std::string> lines = lines_of(said.out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("c: v > 10%: fail: "));
  CHECK(lines[1].starts_with("d: v > 1%: inconclusive: "));
  CHECK(lines[2].starts_with("1000 gates: 1 fail, 1 inconclusive, 998 pass "));
}

TEST_CASE("--suite: what is wrong is reported before anything is run, with status 2") {
  const Folder folder;
  const Suite suite(benchmark("a", {"touch " + folder.file("x")}) +
                    benchmark("b", {"true"}, "runs = 'x'"));
  const Said said = suite.run({});
  CHECK(said.status == 2);
  CHECK(lines_of(said.err).size() == 1);
  CHECK(said.err_has("s.toml:8: benchmark 'b': --runs 'x' "));
  CHECK_FALSE(exists(folder.file("x")));
  CHECK(lauka({"--suite", folder.file("none")}).err_has("cannot be read"));
  CHECK(lauka({"--suite", folder.file("none")}).status == 2);
}

TEST_CASE("--resume: a suite that was interrupted goes on, and has every round once") {
  const Folder log;
  const std::string shows =
      "sh -c 'sleep 0.04; echo 1'";  // rounds of 2 ms and more are kept singly
  const Suite suite(benchmark("a", {blocks_at(4, log), "sleep 0.04"}) +
                    benchmark("b", {shows, shows}, "scrape = 'v=(.)'\nfail-if = 'v > 500'"));
  const std::string json_file = suite.folder.file("r.json");
  const std::string runs_file = suite.folder.file("runs.csv");
  Words words = contract::words("-w0 -r6 --suite " + suite.folder.file("s.toml") +
                                " --export-json " + json_file + " --export-runs " + runs_file);
  const Said cut = lauka({.arguments = words,
                          .interrupt_when = [&] { return has_lines(log.file("log"), 4); },
                          .interrupt_signal = 9});
  CHECK(cut.status == 128 + 9);
  REQUIRE(exists(json_file + ".rounds"));
  CHECK_FALSE(exists(json_file));
  const std::string kept = text_of(json_file + ".rounds");
  // Part of a line, as after a crash.
  std::ofstream(json_file + ".rounds", std::ios::app) << "{\"benchmark\":0,\"fir";
  words.emplace_back("--resume");
  std::ofstream(log.file("go")).close();
  const Said said = completed(words);
  CHECK(said.err_has("lauka: note: --resume "));
  CHECK_FALSE(exists(json_file + ".rounds"));
  const json document = json::parse(text_of(json_file));
  for (const json& result : document.at("results")) CHECK(result.at("times").size() == 6);
  // Finished rounds are not run again; the one that was under way is.
  CHECK(lines_of(text_of(log.file("log"))).size() == 6 + 1);
  CHECK(document.at("lauka").at("benchmarks")[1].at("gates")[0].at("verdict") == "pass");
  // Runs from before the end keep their place between the other benchmark's.
  const std::string first_lap = benchmarks_by_order(runs_file).substr(0, 4);
  CHECK((first_lap == "aabb" || first_lap == "bbaa"));

  std::ofstream(json_file + ".rounds") << kept;
  Words others = words;
  others.insert(others.begin(), "-i");
  const std::string refused = refusal(others);
  CHECK(has(refused, json_file + ".rounds"));
  CHECK(has(refused, "--ignore-failure"));
  CHECK(text_of(json_file + ".rounds") == kept);
  CHECK(has(refusal({"--suite", suite.folder.file("s.toml"), "--resume"}), "--export-json"));
}

TEST_CASE("--suite: where rounds cannot be kept that is said, and a link's file stays as it is") {
  const Suite suite(benchmark("a", {"true", "true"}));
  const std::string json_file = suite.folder.file("r.json");
  std::ofstream(suite.folder.file("other")) << "mine\n";
  std::filesystem::create_symlink("other", json_file + ".rounds");
  Words words = {"--suite", suite.folder.file("s.toml"), "-w0", "-r2", "--export-json", json_file};
  const Said said = completed(words);
  CHECK(said.err_has("--resume"));
  CHECK(exists(json_file));
  words.emplace_back("--resume");
  CHECK(lauka(words).status == 2);
  CHECK(text_of(suite.folder.file("other")) == "mine\n");
}

TEST_CASE("--resume: rounds of a program that was rebuilt since are refused") {
  const Folder programs;
  const std::string program = programs.file("it");
  const auto build = [&](const std::string& text) {
    std::ofstream(program) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::all);
  };
  build(blocks_at(3, programs));
  const Suite suite(benchmark("a", {program, "sleep 0.05"}));
  const std::string json_file = suite.folder.file("r.json");
  Words words = {"--suite", suite.folder.file("s.toml"), "-w0", "-r5", "--export-json", json_file};
  REQUIRE(lauka({.arguments = words,
                 .interrupt_when = [&] { return has_lines(programs.file("log"), 3); },
                 .interrupt_signal = 9})
              .status == 128 + 9);
  words.emplace_back("--resume");
  std::ofstream(programs.file("go")).close();
  build(blocks_at(4, programs));
  CHECK(has(refusal(words), "benchmark 'a'"));
  build(blocks_at(3, programs));
  completed(words);
}

TEST_CASE("--resume: builds that are there are kept, as building again makes other bytes") {
  const Folder programs;
  std::ofstream(programs.file("body")) << "#!/bin/sh\n" << blocks_at(6, programs) << "\n";
  const std::string program = programs.file("it-{layout}");
  const std::string build = "echo {layout} >>" + programs.file("built") + "; (cat " +
                            programs.file("body") + "; echo \"# $(date +%s%N) $$\") >" + program +
                            "; chmod +x " + program;
  const Suite suite(benchmark("a", {program, "sh -c 'sleep 0.05 # {layout}'"},
                              "layouts = 4\nbuild = '''" + build + "'''"));
  const std::string json_file = suite.folder.file("r.json");
  Words words = {"--suite", suite.folder.file("s.toml"), "-w0", "-r8", "--export-json", json_file};
  REQUIRE(lauka({.arguments = words,
                 .interrupt_when = [&] { return has_lines(programs.file("log"), 6); },
                 .interrupt_signal = 9})
              .status == 128 + 9);
  CHECK(lines_of(text_of(programs.file("built"))).size() == 4);
  words.emplace_back("--resume");
  std::ofstream(programs.file("go")).close();
  const Said said = completed(words);
  CHECK(said.err_has("--resume keeps "));
  CHECK(lines_of(text_of(programs.file("built"))).size() == 4);
  CHECK(exists(json_file));
}

TEST_CASE("--resume: rounds of a script that was edited since are refused, and data is noted") {
  const Folder programs;
  const std::string script = programs.file("it");
  const auto write_script = [&](const std::string& text) { std::ofstream(script) << text << "\n"; };
  write_script(blocks_at(3, programs));
  std::ofstream(programs.file("data")) << "1\n";
  const Suite suite(benchmark("a", {"sh " + script + " " + programs.file("data"), "sleep 0.05"}));
  Words words = {"--suite",       suite.folder.file("s.toml"), "-w0", "-r5",
                 "--export-json", suite.folder.file("r.json")};
  REQUIRE(lauka({.arguments = words,
                 .interrupt_when = [&] { return has_lines(programs.file("log"), 3); },
                 .interrupt_signal = 9})
              .status == 128 + 9);
  words.emplace_back("--resume");
  std::ofstream(programs.file("go")).close();
  write_script(blocks_at(4, programs));
  CHECK(has(refusal(words), "the file '" + script + "' of '"));
  write_script(blocks_at(3, programs));
  std::ofstream(programs.file("data")) << "2\n";
  const Said said = completed(words);
  CHECK(said.err_has("the kept rounds were measured under different circumstances (the file '" +
                     programs.file("data")));
}

TEST_CASE("--suite: rounds stay until the exports are written, and --resume then runs nothing") {
  const Folder folder;
  const Suite logged(benchmark("a", {"sh -c 'echo >> " + folder.file("log") + "'"}));
  const std::string json_file = logged.folder.file("r.json");
  Words words = {"-r4", "--export-json", json_file};
  Words full = words;
  full.insert(full.end(), {"--export-csv", "/dev/full"});
  const Said lost = logged.run(full);
  CHECK(lost.status == 1);
  CHECK(lost.err_has(json_file + ".rounds"));
  REQUIRE(exists(json_file + ".rounds"));
  std::filesystem::remove(json_file);
  words.emplace_back("--resume");
  const Said said = logged.run(words);
  CHECK(said.status == 0);
  CHECK(said.err_has("--resume continues after 4 rounds kept in '" + json_file));
  CHECK(lines_of(text_of(folder.file("log"))).size() == 4);
  CHECK(exists(json_file));
  CHECK_FALSE(exists(json_file + ".rounds"));
}

TEST_CASE("--resume: rounds that somebody edited, or that have another owner, are refused") {
  const Suite suite(benchmark("a", {"true", "true"}));
  const std::string json_file = suite.folder.file("r.json");
  const std::string log = json_file + ".rounds";
  // With this seed a round begins with the second command, whose place is edited below.
  Words words = {"-r4", "--seed", "1", "--export-json", json_file};
  Words full = words;
  full.insert(full.end(), {"--export-csv", "/dev/full"});
  REQUIRE(suite.run(full).status == 1);
  const std::string kept = text_of(log);
  words.emplace_back("--resume");
  const auto refused = [&](const std::string& from, const std::string& to) {
    CAPTURE(to);
    std::string edited = kept;
    const std::size_t at = edited.rfind(from);
    REQUIRE(at != std::string::npos);
    std::ofstream(log) << edited.replace(at, from.size(), to);
    const Said said = suite.run(words);
    CHECK(said.status == 2);
    CHECK(said.err_has(log));
    CHECK(lines_of(said.err).size() == 1);
  };
  refused("\"runs\":[[[1,", "\"runs\":[[[77,");
  refused("\"benchmark\":0", "\"benchmark\":7");
  refused("\"paces\":[", "\"paces\":[[[1,0.1],[0,0.0],[1,0.1]],");
  refused("\"steps\":", "\"steps\":4000000000");
  refused("\"time\":", "\"time\":-");
  refused("{", "x{");
  std::ofstream(log) << kept;
  if (geteuid() == 0) {
    REQUIRE(chown(log.c_str(), 54321, 54321) == 0);
    const Said said = suite.run(words);
    CHECK(said.status == 2);
    CHECK(said.err_has(log));
    CHECK(said.err_has("another user"));
    REQUIRE(chown(log.c_str(), 0, 0) == 0);
  }
  CHECK(suite.run(words).status == 0);
}

TEST_CASE("a suite with a baseline shows the base's values, and names a benchmark that is gone") {
  const Suite both(benchmark("kept", {"sh -c 'echo v=100'", "sh -c 'echo v=200'"}) +
                   benchmark("gone", {"sh -c 'echo v=1'", "sh -c 'echo v=2'"}));
  const std::string old = both.folder.file("old.json");
  CHECK(
      both.run({"-r2", "--scrape", "v=v=(\\d+)", "--metrics", "v", "--export-json", old}).status ==
      0);
  const Suite one(benchmark("kept", {"sh -c 'echo v=100'", "sh -c 'echo v=300'"}));
  const Said said = one.run({"-r2", "--scrape", "v=v=(\\d+)", "--metrics", "v", "--baseline", old});
  CAPTURE(said.err);
  CHECK(said.status == 0);
  CHECK(said.err_has("'gone'"));
  const Words lines = lines_of(said.out);
  const auto row =
      std::ranges::find_if(lines, [](const std::string& line) { return has(line, "300"); });
  REQUIRE(row != lines.end());
  CHECK(has(*row, "200"));
  CHECK_FALSE(one.run({"-r2", "--only", "kept", "--scrape", "v=v=(\\d+)", "--metrics", "v",
                       "--baseline", old})
                  .err_has("'gone'"));
}

}  // namespace lauka::contract
