#include "format/json.h"

#include "format/json_text.h"
#include "report/example.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace lauka::report {
namespace {

using nlohmann::json;

/// Two commands, three rounds; the second run of the candidate was killed at its time limit, and
/// its last one ended with a status that -i names.
Results two_commands(std::optional<double> coverage_of_last = std::nullopt) {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds), metric("user_time", Unit::Seconds),
                             metric("peak_rss", Unit::Bytes), metric("cycles", Unit::Count)};
  set_commands(
      results,
      {command("old", 3,
               {row(0, summary(3, 0.2, 0.1, 0.1, 0.3)), row(1, summary(3, 0.1, 0.0, 0.1, 0.1)),
                row(2, summary(3, 2048, 0, 2048, 2048)), row(3, summary(2, 5, 0, 5, 5))}),
       command("new", 3,
               {row(0, summary(2, 0.5, 0.0, 0.5, 0.5), changed(1.5, 0.25)),
                row(1, summary(2, 0.25, 0.0, 0.25, 0.25)),
                MetricResult{.metric_index = 2, .largest_bound_of_runs = 4096},
                MetricResult{.metric_index = 3}})});
  results.session.commands[1].text = "./new -O2";
  results.commands[1].endings = {3, {{Ending::TimedOut, 137, 1}}};
  results.session.runs = made(
      {{{0, 0, 0, 0, Ending::Succeeded}, {0.1, 0.1, 2048, 5}},
       {{1, 0, 0, 0, Ending::Succeeded}, {0.5, 0.25, std::nullopt, std::nullopt}},
       {{1, 1, 1, 137, Ending::TimedOut}, {std::nullopt, std::nullopt, std::nullopt, std::nullopt}},
       {{0, 1, 1, 0, Ending::Succeeded}, {0.3, 0.1, 2048, std::nullopt}},
       {{0, 2, 0, 0, Ending::Succeeded}, {0.2, 0.1, 2048, 5}},
       {{1, 2, 0, 3, Ending::Succeeded, RoundKind::Timed, coverage_of_last},
        {0.5, 0.25, std::nullopt, std::nullopt}}});
  return results;
}

json document_of(const Results& results) {
  return json::parse(written(write_json, results));
}

}  // namespace

TEST_CASE("readers of hyperfine 1.x find their keys, in seconds and bytes") {
  const json result = document_of(two_commands()).at("results").at(0);
  CHECK(result.at("command") == "old");
  CHECK(result.at("mean") == 0.2);
  CHECK(result.at("stddev") == 0.1);
  CHECK(result.at("median") == 0.2);
  CHECK(result.at("user") == 0.1);
  CHECK(result.at("system") == nullptr);
  CHECK(result.at("min") == 0.1);
  CHECK(result.at("max") == 0.3);
  CHECK(result.at("times") == json({0.1, 0.3, 0.2}));
  CHECK(result.at("exit_codes") == json({0, 0, 0}));
  CHECK(result.at("memory_usage_byte") == json({2048, 2048, 2048}));
  CHECK(result.at("memory_usage_byte").at(0).is_number_integer());
}

TEST_CASE("readers of hyperfine's schema 2 find their keys") {
  const json document = document_of(two_commands());
  CHECK(document.at("schema_version") == 2);
  CHECK(document.at("primary_metric") == "time_wall_clock");
  const json& result = document.at("results").at(0);
  CHECK(result.at("is_reference") == true);
  const json& first = result.at("measurements").at(0);
  CHECK(first.at("time_wall_clock") == json({{"value", 0.1}, {"unit", "second"}}));
  CHECK(first.at("memory_peak_resident") == json({{"value", 2048}, {"unit", "byte"}}));
  CHECK(first.at("cpu_cycles") == json({{"value", 5}}));
  CHECK(first.at("exit_code") == 0);
  const json& wall = result.at("summary").at("time_wall_clock");
  CHECK(wall.at("unit") == "second");
  CHECK(wall.at("count") == 3);
  CHECK(wall.at("median") == 0.2);
  CHECK_MESSAGE(!result.at("summary").contains("cpu_cycles"), "not every run counted them");
  CHECK(document.at("results").at(1).at("name") == "new");
  CHECK_FALSE(document.at("results").at(1).contains("is_reference"));
}

TEST_CASE("a run without a wall time is not in hyperfine's lists, whose places belong together") {
  const json result = document_of(two_commands()).at("results").at(1);
  CHECK(result.at("times") == json({0.5, 0.5}));
  CHECK(result.at("exit_codes") == json({0, 3}));
  CHECK(result.at("measurements").size() == 2);
  CHECK_FALSE(result.contains("memory_usage_byte"));
  CHECK_FALSE(result.at("measurements").at(0).contains("memory_peak_resident"));
  const json& ours = result.at("lauka");
  CHECK(ours.at("runs").size() == 3);
  CHECK(ours.at("metrics").at("wall_time").at("samples") == json({0.5, nullptr, 0.5}));
}

TEST_CASE("the JSON has each run's place in the session, counted from 1") {
  const json runs = document_of(two_commands()).at("results").at(1).at("lauka").at("runs");
  CHECK(runs.at(1) == json({{"run", 3},
                            {"kind", "timed"},
                            {"round", 2},
                            {"pass", 2},
                            {"exit_code", 137},
                            {"outcome", "timed_out"},
                            {"coverage", nullptr}}));
  CHECK(runs.at(2) == json({{"run", 6},
                            {"kind", "timed"},
                            {"round", 3},
                            {"pass", 1},
                            {"exit_code", 3},
                            {"outcome", "succeeded"},
                            {"coverage", nullptr}}));
}

TEST_CASE("the JSON has the coverage of a command and of its runs") {
  Results results = two_commands(0.94);
  results.commands[1].coverage = 0.96;
  const json ours = document_of(results).at("results").at(1).at("lauka");
  CHECK(ours.at("coverage") == 0.96);
  CHECK(ours.at("runs").at(2).at("coverage") == 0.94);
}

TEST_CASE("each metric has its ratio to the reference and the deviation of the typical run") {
  const json document = document_of(two_commands());
  const auto of = [&](std::size_t command) {
    return document.at("results").at(command).at("lauka").at("metrics").at("wall_time");
  };
  CHECK(of(0).at("log_ratio_to_reference") == nullptr);
  CHECK(of(0).at("mad") == doctest::Approx(0.1));  // 0.1, 0.3, 0.2
  // Rounds 1 and 3, in which both were measured: 0.5/0.1 and 0.5/0.2.
  const json ratio = of(1).at("log_ratio_to_reference");
  CHECK(ratio.at("value") == doctest::Approx((std::log(5.0) + std::log(2.5)) / 2));
  CHECK(ratio.at("error") == doctest::Approx((std::log(5.0) - std::log(2.5)) / 2));
  CHECK_FALSE(of(1).contains("log_ratio_to_anchor"));
}

TEST_CASE("undefined values are null in lauka's part, and a bound is marked as one") {
  const json ours = document_of(two_commands()).at("results").at(1).at("lauka");
  CHECK(ours.at("command_line") == "./new -O2");
  CHECK(ours.at("failed_runs") == 1);
  const json& bound = ours.at("metrics").at("peak_rss");
  CHECK(bound.at("at_most") == 4096.0);
  CHECK(bound.at("mean") == nullptr);
  CHECK(bound.at("delta") == nullptr);
  CHECK(ours.at("metrics").at("wall_time").at("delta") == json({{"percent", 150.0},
                                                                {"low_percent", 125.0},
                                                                {"high_percent", 175.0},
                                                                {"half_width_percent", 25.0},
                                                                {"basis", "mean"},
                                                                {"significant", true},
                                                                {"mean_percent", 150.0},
                                                                {"mean_low_percent", 125.0},
                                                                {"mean_high_percent", 175.0},
                                                                {"mean_differs", false},
                                                                {"widening", 1.0}}));
}

TEST_CASE("a single run has no deviation") {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds)};
  set_commands(results, {command("a", 1, {row(0, summary(1, 1.5, std::nullopt, 1.5, 1.5))})});
  results.session.runs = made({{{0, 0, 0, 0, Ending::Succeeded}, {1.5}}});
  const json result = document_of(results).at("results").at(0);
  CHECK(result.at("stddev") == nullptr);
  CHECK(result.at("summary").at("time_wall_clock").at("stddev") == nullptr);
  CHECK_FALSE(result.contains("is_reference"));
}

TEST_CASE("a whole sample has all its digits, and the sign of a zero") {
  const auto json_sample = [](std::optional<double> value, Unit unit) {
    std::string text;
    add_sample(value, unit, text);
    return text;
  };
  CHECK(json_sample(3.0, Unit::Seconds) == "3.0");
  CHECK(json_sample(0.0, Unit::Seconds) == "0.0");
  CHECK(json_sample(-0.0, Unit::Seconds) == "-0.0");
  CHECK(json_sample(-2.0, Unit::Ratio) == "-2.0");
  CHECK(json_sample(9007199254740992.0, Unit::Count) == "9007199254740992");
  CHECK(json_sample(1e16, Unit::Count) == "1e+16");
  CHECK(json_sample(2.5, Unit::Count) == "2.5");
  CHECK(json_sample(std::nullopt, Unit::Count) == "null");
}

TEST_CASE("a number is written with the fewest digits that read back as it, always as a decimal") {
  CHECK(json_real(1.088198208) == "1.088198208");  // the library: 1.0881982079999999
  CHECK(json_real(2.0) == "2.0");
  CHECK(json_real(-0.0) == "-0.0");
  CHECK(json_real(0.0001) == "0.0001");
  CHECK(json_real(0.00001) == "1e-05");
  CHECK(json_real(999999999999999.0) == "999999999999999.0");
  CHECK(json_real(std::numeric_limits<double>::infinity()) == "null");
  for (const double value : {0.1 + 0.2, 1.0 / 3.0, 5e-324, 1e15, 1.5e15, 9007199254740991.0, 1e22,
                             123456.789, std::numeric_limits<double>::max()}) {
    CAPTURE(value);
    CHECK(json_real(value) == json(value).dump());
    CHECK(json::parse(json_real(value)).get<double>() == value);
  }
}

TEST_CASE("the session has the machine, the order and how each gate was decided") {
  Results results = two_commands();
  results.session.setting = {Order::Sequential, 18446744073709551615U, 3, {}};
  results.session.setting.events = {{{"cycles", "perf cycles", false}}, {{{0}}, {{}}}, {}};
  results.session.circumstances = {"1.2.3",
                                   UtcTime(std::chrono::milliseconds(951782400'007)),
                                   {"host", "Linux", "Debian", "6.1", "x86_64", "CPU 9000", 2}};
  results.findings.verdicts = {{.condition = {"wall_time", GateLimit::of_change(5.0)},
                                .candidate = 1,
                                .answer = gate::Answer::Fail,
                                .delta = changed(1.5, 0.25),
                                .rounds = 20,
                                .p_value_of_fail = 0.001,
                                .p_value_of_pass = 0.999,
                                .spendable_error = 0.05,
                                .look = 3,
                                .decided_by = gate::DecidedBy::Ranks}};
  results.warnings = {{NotInterleaved{true}}};
  results.session.notes = {{"no_counters", "a note"}};
  results.are_all_deltas_paired = false;
  results.session.complete = false;
  const json document = document_of(results);
  CHECK(document.at("metadata").at("start_time") == "2000-02-29T00:00:00.007Z");
  const json& session = document.at("lauka");
  CHECK(session.at("version") == "1.2.3");
  CHECK(session.at("machine").at("cpu_model") == "CPU 9000");
  CHECK(session.at("order") == "sequential");
  CHECK(session.at("seed").get<std::uint64_t>() == 18446744073709551615U);
  CHECK(session.at("warmup_runs") == 3);
  CHECK(session.at("paired") == false);
  CHECK(session.at("complete") == false);
  CHECK(session.at("passes") == json::parse(R"([["cycles"], []])"));
  CHECK(session.at("notes") == json({"a note"}));
  CHECK(session.at("note_kinds") == json({"no_counters"}));
  CHECK(session.at("warnings").at(0).at("kind") == "sequential_order");
  const json& gate = session.at("gates").at(0);
  CHECK(gate.at("verdict") == "fail");
  CHECK(gate.at("command") == 1);
  CHECK(gate.at("name") == "new");
  CHECK(gate.at("percent") == 5.0);
  CHECK(gate.at("look") == 3);
  CHECK(gate.at("decided_by") == "ranks");
  CHECK(gate.at("delta").at("high_percent") == 175.0);
  CHECK(gate.at("condition") == "wall_time > 5%");
  CHECK(gate.at("below") == false);
  CHECK(gate.at("bound") == nullptr);
  CHECK(gate.at("times_as_many") == nullptr);
}

TEST_CASE("names of all kinds are JSON strings; what is not UTF-8 is replaced") {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds)};
  set_commands(results, {command("say \"hi\"\n\tgröße \\ \x01", 0, {}), command("\xff!", 0, {})});
  const json document = document_of(results);
  CHECK(document.at("results").at(0).at("command") == "say \"hi\"\n\tgröße \\ \x01");
  CHECK(document.at("results").at(1).at("command") == "\xef\xbf\xbd!");
}

TEST_CASE("plain values are on one line, so that people can read the file too") {
  const std::string text = written(write_json, two_commands());
  CHECK(has(text, "\n      \"times\": [0.1, 0.3, 0.2],\n"));
  CHECK(has(text, "\n          \"time_wall_clock\": {\"value\": 0.1, \"unit\": \"second\"},\n"));
  CHECK(text.back() == '\n');
}

TEST_CASE("a session without a counted run is a whole document") {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds)};
  set_commands(results, {command("a", 0, {MetricResult{}})});
  const json result = document_of(results).at("results").at(0);
  CHECK(result.at("mean") == nullptr);
  CHECK(result.at("times") == json::array());
  CHECK(result.at("summary") == json::object());
}

}  // namespace lauka::report
