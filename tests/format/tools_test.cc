#include "core/choices.h"
#include "core/text.h"
#include "format/exporters.h"
#include "format/speedscope.h"
#include "report/call_path_example.h"
#include "report/example.h"
#include "report/exports.h"
#include "results/analyse.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// Exports for other tools: benchstat, Bencher, github-action-benchmark, and lines of JSON.

namespace lauka::report {
namespace {

using nlohmann::json;

MadeRun run(std::size_t command, std::size_t round, std::vector<std::optional<double>> values) {
  return {{.command = command, .round = round, .status = 0, .ending = Ending::Succeeded},
          std::move(values)};
}

Results benchmark(std::string name, const std::vector<double>& base, double ratio) {
  Results results;
  results.benchmark = std::move(name);
  results.session.metrics = {metric("wall_time", Unit::Seconds)};
  std::vector<MadeRun> runs;
  for (std::size_t i = 0; i < base.size(); ++i) {
    runs.push_back(run(0, i, {base[i]}));
    runs.push_back(run(1, i, {base[i] * ratio}));
  }
  results.session.runs = made(std::move(runs));
  set_commands(results,
               {command("./old " + results.benchmark, base.size(),
                        {row(0, summary(base.size(), 1, 1, 1, 1))}),
                command("./new " + results.benchmark, base.size(),
                        {row(0, summary(base.size(), 1, 1, 1, 1), changed(ratio - 1, 0.001))})});
  return results;
}

/// The samples of each name and unit, by the rules of benchstat's reader.
std::map<std::pair<std::string, std::string>, std::vector<double>> samples_in(
    const std::string& text) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("Benchmark")) continue;
    std::istringstream fields(line.substr(9));
    std::string name;
    std::string iterations;
    fields >> name >> iterations;
    CHECK(iterations == "1");
    for (std::string value, unit; fields >> value >> unit;)
      samples[{name, unit}].push_back(std::strtod(value.c_str(), nullptr));
  }
  return samples;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

TEST_CASE("benchstat's rules find the deltas and the geometric mean that a suite shows") {
  const Report suite = make_report(
      {benchmark("parse it", {0.4, 0.5, 0.43}, 0.5), benchmark("load", {0.1, 0.11, 0.13}, 1.25),
       benchmark("a/b", {2, 2.5, 1.9}, 0.9)},
      gate::ErrorRate::AnyFalseFail);
  const auto samples = samples_in(written(write_benchfmt, suite));
  CHECK(samples.size() == 6);
  std::map<std::string, double> center;  // benchstat: the median, and the geometric mean of them
  for (const auto& [key, values] : samples) {
    CHECK(key.second == "sec/op");
    CHECK(values.size() == 3);
    center[key.first] = median(values);
  }
  double logarithms = 0;
  for (const std::string name : {"parse_it", "load", "a_b"})
    logarithms +=
        std::log(center.at(name + "/role=candidate") / center.at(name + "/role=reference"));
  CHECK(center.at("load/role=candidate") / center.at("load/role=reference") ==
        doctest::Approx(1.25));
  CHECK(std::expm1(logarithms / 3) == doctest::Approx(*suite.geomeans.at(0).change.change));
}

TEST_CASE("benchfmt: a line per run, with what can be compared as a key") {
  Results results;
  results.session.circumstances.machine.cpu_model = "M3";
  results.session.metrics = {metric("wall_time", Unit::Seconds), metric("peak_rss", Unit::Bytes),
                             metric("ipc", Unit::Ratio, Better::More)};
  set_commands(results,
               {command("./a -5", 1, {}), command("./a -5", 1, {}), command("./b 8", 1, {})});
  results.session.commands[2].unfilled_name = "./b {n}";
  results.session.commands[2].parameters = {{.name = "n", .value = "8"}};
  results.session.runs = made({run(0, 0, {0.25, 4e6, std::nullopt}), run(1, 0, {0.5, 5e6, 1.5}),
                               run(2, 0, {0.75, std::nullopt, std::nullopt}),
                               run(2, 1, {std::nullopt, std::nullopt, std::nullopt})});
  CHECK(written(write_benchfmt, results) ==
        "cpu: M3\n"
        "Unit ipc better=higher\n"
        "Benchmark/command=._a__5 1 0.25 sec/op 4000000 peak_rss-B\n"
        "Benchmark/command=._a_-5#2 1 0.5 sec/op 5000000 peak_rss-B 1.5 ipc\n"
        "Benchmark/command=._b_{n}/n=8 1 0.75 sec/op\n");
  CHECK(benchfmt_word("a\u00a0b\u3000c\td/e") == "a_b_c\\td_e");
}

TEST_CASE("benchfmt: commands whose names are equal after cleaning have names of their own") {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds)};
  set_commands(results, {command("echo x/y", 1, {}), command("echo x y", 1, {}),
                         command("echo x_y", 1, {})});
  results.session.runs = made({run(0, 0, {0.25}), run(1, 0, {0.5}), run(2, 0, {0.75})});
  CHECK(written(write_benchfmt, results) ==
        "Benchmark/command=echo_x_y 1 0.25 sec/op\n"
        "Benchmark/command=echo_x_y#2 1 0.5 sec/op\n"
        "Benchmark/command=echo_x_y#3 1 0.75 sec/op\n");
}

TEST_CASE("benchfmt: benchmarks whose names are equal after cleaning keep their roles apart") {
  const Report suite =
      make_report({benchmark("a b", {0.4, 0.5, 0.43}, 0.5), benchmark("a/b", {2, 2.5, 1.9}, 0.9)},
                  gate::ErrorRate::AnyFalseFail);
  const auto samples = samples_in(written(write_benchfmt, suite));
  CHECK(samples.size() == 4);
  CHECK(samples.contains({"a_b#2/role=candidate", "sec/op"}));
}

TEST_CASE("Bencher's JSON has each command's metrics with their intervals") {
  // Student's t for 95% and 8 degrees is 2.306: 0.0076 * 2.306 / 3 = 0.005842.
  const json document = json::parse(written(exporter_of(ExportKind::Bmf), manual_example()));
  CHECK(document.size() == 2);
  const json& wall = document.at("./build-old").at("wall_time");
  CHECK(wall.at("value") == 0.591);
  CHECK(wall.at("lower_value").get<double>() == doctest::Approx(0.591 - 0.005842).epsilon(1e-6));
  CHECK(wall.at("upper_value").get<double>() == doctest::Approx(0.591 + 0.005842).epsilon(1e-6));
  CHECK(document.at("./build-new -O2").size() == 3);
}

TEST_CASE("Bencher's JSON has the intervals over layouts, where there are layouts") {
  const Results results = example_over_layouts(changed(0.003, 0.009), changed(0.031, 0.002));
  const json document = json::parse(written(exporter_of(ExportKind::Bmf), results));
  const json& wall = document.at("./build-old").at("wall_time");
  CHECK(wall.at("value") == 0.591);
  CHECK(wall.at("lower_value").get<double>() == doctest::Approx(0.95 * 0.591).epsilon(1e-6));
  CHECK(wall.at("upper_value").get<double>() == doctest::Approx(1.05 * 0.591).epsilon(1e-6));

  // Fewer than four layouts have no interval, and their runs say nothing about other layouts.
  Results few = results;
  few.commands[0].rows[0].layouts = std::make_shared<const LayoutResult>();
  CHECK_FALSE(
      json::parse(written(exporter_of(ExportKind::Bmf), few))["./build-old"]["wall_time"].contains(
          "lower_value"));
}

TEST_CASE("names for trackers are unique, and a suite's stay the same from commit to commit") {
  Results twice = manual_example();
  twice.session.commands[1].name = twice.session.commands[0].name;
  CHECK(exported_command_names(twice)[1].text() == "./build-old#2");
  Results suite = benchmark("parse", {1, 2}, 1);
  CHECK(exported_command_names(suite)[1].text() == "parse candidate");
  add_command(command("./newer", 2, {}), suite);
  CHECK(exported_command_names(suite)[1].text() == "parse candidate ./new parse");
  CHECK(exported_command_names(suite)[0].text() == "parse reference");
}

TEST_CASE("github-action-benchmark gets the metrics shown that are better when smaller") {
  Results results = manual_example();
  results.session.metrics[1].shown = Shown::Verbose;
  results.session.metrics[2].better = Better::More;
  const json entries = json::parse(written(exporter_of(ExportKind::GithubBenchmark), results));
  CHECK(entries.size() == 2);
  CHECK(entries.at(0) == json{{"name", "./build-old wall_time"},
                              {"unit", "s"},
                              {"value", 0.591},
                              {"range", "± 0.0076"},
                              {"extra", "9 runs"}});
}

TEST_CASE("a run is a line of JSON, without what was not measured in it") {
  const Report suite = make_report({benchmark("parse", {0.5}, 2)}, gate::ErrorRate::AnyFalseFail);
  CHECK(
      written(exporter_of(ExportKind::Jsonl), suite) ==
      R"({"benchmark":"parse","command":"./old parse","run":1,"round":1,"pass":1,"status":0,"outcome":"succeeded",)"
      R"("metrics":{"wall_time":0.5}})"
      "\n"
      R"({"benchmark":"parse","command":"./new parse","run":2,"round":1,"pass":1,"status":0,"outcome":"succeeded",)"
      R"("metrics":{"wall_time":1.0}})"
      "\n");
  Results results = manual_example();
  results.session.metrics[2].unit = Unit::Count;
  results.session.runs = made({run(0, 0, {std::nullopt, std::nullopt, 7})});
  const json line = json::parse(written(exporter_of(ExportKind::Jsonl), results));
  CHECK_FALSE(line.contains("benchmark"));
  CHECK(line.at("metrics") == json{{"core_active_cycle", 7}});
}

TEST_CASE("AsciiDoc: the table of the Markdown, with nothing in names that it would act on") {
  Results results = manual_example();
  results.session.metrics.resize(1);
  for (CommandResult& one : results.commands) one.rows.resize(1);
  results.session.commands[1].name = "a|b *c* -- {d} it's";
  CHECK(written(write_asciidoc, results) ==
        "[%header,cols=\"<,<,>,>,>,>\"]\n"
        "|===\n"
        "| command\n| measurement\n| mean ± σ\n| min … max\n| outliers\n| delta\n"
        "\n"
        "| `./build-old` +\n9 runs\n| wall_time\n| 591.0ms ± 7.6ms\n| 583.0ms … 605.0ms\n| 0 (0%)\n"
        "| \n"
        "\n"
        "| `a&#124;b &#42;c&#42; -&#45; &#123;d&#125; it&#39;s` +\n9 runs\n| wall_time\n"
        "| 130.0ms ± 8.3ms\n| 125.0ms … 141.0ms\n| 0 (0%)\n| *better −78.0% ± 0.5%*\n"
        "\n"
        "|===\n"
        "\n"
        "* a&#124;b &#42;c&#42; -&#45; &#123;d&#125; it&#39;s ran 4.55 ± 0.04 times faster than "
        "./build-old\n");
}

TEST_CASE("Org: the same, where an underscore would lower what follows it") {
  Results results = manual_example();
  results.session.metrics.resize(1);
  for (CommandResult& one : results.commands) one.rows.resize(1);
  results.session.commands[1].name = "a|b x=1 /tmp/c";
  CHECK(
      written(write_orgmode, results) ==
      "| command | measurement | mean ± σ | min … max | outliers | delta |\n"
      "|---+---+---+---+---+---|\n"
      "| =./build-old=, 9 runs | =wall_time= | 591.0ms ± 7.6ms | 583.0ms … 605.0ms | 0 (0%) |  |\n"
      "| a\\vert{}b x=1 \\slash{}tmp/c, 9 runs | =wall_time= | 130.0ms ± 8.3ms | 125.0ms … "
      "141.0ms | 0 (0%) | *better −78.0% ± 0.5%* |\n"
      "\n"
      "- a\\vert{}b x=1 \\slash{}tmp/c ran 4.55 ± 0.04 times faster than ./build-old\n");
  results.session.commands[1].name = "x=1 y";
  CHECK(has(written(write_orgmode, results), "| ~x=1 y~, 9 runs |"));
}

TEST_CASE("speedscope gets a profile for each command, whose weights add up to its time") {
  const auto file = json::parse(written(write_speedscope, grown_through_first()));
  CHECK(file["$schema"] == "https://www.speedscope.app/file-format-schema.json");
  REQUIRE(file["profiles"].size() == 2);
  const auto& profile = file["profiles"][1];
  CHECK(profile["name"] == "./new");
  CHECK(profile["unit"] == "microseconds");
  CHECK(profile["endValue"] == 113'500);
  REQUIRE(profile["samples"].size() == 3);
  CHECK(profile["weights"][0] == 62'500);
  std::string stack;
  for (const auto& frame : profile["samples"][0])
    stack += file["shared"]["frames"][frame.get<std::size_t>()]["name"].get<std::string>() + ";";
  CHECK(stack == "new;main;first;work;");
}

}  // namespace lauka::report
