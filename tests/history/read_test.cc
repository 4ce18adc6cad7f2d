#include "format/session_json.h"
#include "history/session_record.h"
#include "history/sessions.h"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace lauka::history {
namespace {

/// Why a session is refused.
std::string refusal(const std::string& text) {
  const auto record = read_record(text);
  return record ? "" : record.error().line();
}

}  // namespace

TEST_CASE("a session's record has its identity, its circumstances and the summaries of its file") {
  const auto record = read_record(json_of({7, "abc", "CPU", {{"it", {1.0, 2.0, 3.0}}}})).value();
  CHECK(record.id == "00000000-0000-4000-8000-000000000007");
  CHECK(record.began.time_since_epoch().count() == 1000LL * (1'767'225'600 + 4200));
  CHECK((record.ended - record.began) == std::chrono::minutes(5));
  CHECK(record.label("commit") == "abc");
  CHECK(record.machine.cpu_model == "CPU");
  REQUIRE(record.results.size() == 1);
  CHECK(record.results[0].benchmark == "it");
  REQUIRE(record.results[0].metrics.size() == 1);
  const MetricRecord& metric = record.results[0].metrics[0];
  CHECK(metric.name == "wall_time");
  CHECK(metric.unit == Unit::Seconds);
  CHECK(metric.mean == 2.0);
  CHECK(metric.median == 2.0);
  CHECK(metric.mad == 1.0);
  CHECK(metric.stddev == 0.01);
  CHECK(metric.summarized_values == 3);
  CHECK_FALSE(metric.ratio_to_reference);
}

TEST_CASE("the ratio to the reference is taken within rounds, so that drift cancels out") {
  const auto record =
      read_record(json_of({1, "abc", "CPU", {{"old", times_of(1.0)}, {"new", times_of(1.1)}}}))
          .value();
  CHECK_FALSE(record.results[0].metrics[0].ratio_to_reference);
  const auto& ratio = record.results[1].metrics[0].ratio_to_reference;
  REQUIRE(ratio);
  CHECK(ratio->value == doctest::Approx(std::log(1.1)).epsilon(1e-9));
  CHECK(ratio->error.value_or(1.0) < 1e-9);
}

TEST_CASE("a benchmark with layouts is a series of its own, whose values are over layouts") {
  std::string json = json_of({1, "abc", "CPU", {{"it", {1.0, 2.0, 3.0}}}});
  const std::string round = "\"round\"";
  for (std::size_t at = 0; (at = json.find(round, at)) != json.npos;) {
    const std::string layout = "\"layout\": 1, ";
    json.insert(at, layout);
    at += layout.size() + round.size();
  }
  const auto of_runs = read_record(json).value();
  CHECK(of_runs.results[0].benchmark == "it (layouts)");

  const std::string samples = "\"samples\"";
  json.insert(json.find(samples),
              R"("layouts": {"mean": {"value": 2.5, "standard_error": 0.5, "layouts": 4}}, )");
  const auto record = read_record(json).value();
  const MetricRecord& metric = record.results[0].metrics[0];
  CHECK(metric.mean == 2.5);
  CHECK(metric.summarized_values == 4);
  CHECK(metric.stddev == 1.0);  // so that the error of the mean is the one over layouts
  CHECK_FALSE(metric.median);
}

TEST_CASE("values and ratios are of the runs that succeeded") {
  std::string json =
      json_of({1, "abc", "CPU", {{"old", {1.0, 1.0, 1.0, 1.0}}, {"new", {9.0, 2.0, 2.0, 2.0}}}});
  const std::size_t of_new = json.find("\"round\"", json.find("\"new\""));
  json.insert(of_new, R"("outcome": "failed", "exit_code": 1, )");
  const auto record = read_record(json).value();
  const MetricRecord& metric = record.results[1].metrics.at(0);
  CHECK(metric.mean == 2.0);
  CHECK(metric.median == 2.0);
  CHECK(metric.stddev == 0.0);
  CHECK(metric.summarized_values == 3);
  REQUIRE(metric.ratio_to_reference);
  CHECK(metric.ratio_to_reference->value == doctest::Approx(std::log(2.0)));
}

TEST_CASE("a command whose every run failed has no values in the history") {
  std::string json = json_of({1, "abc", "CPU", {{"it", {1.0, 2.0}}}});
  const std::string round = "\"round\"";
  for (std::size_t at = 0; (at = json.find(round, at)) != json.npos;) {
    const std::string outcome = R"("outcome": "failed", )";
    json.insert(at, outcome);
    at += outcome.size() + round.size();
  }
  const auto record = read_record(json).value();
  REQUIRE(record.results.size() == 1);
  CHECK(record.results[0].metrics.empty());
}

TEST_CASE("without rounds in common the reference and a candidate are independent") {
  const std::vector<MadeCommand> commands = {{"old", {1.0, 2.0}}, {"new", {1.1, 2.4}}};
  const auto record =
      read_record(json_of({.commands = commands, .more = R"({"order": "sequential"})"})).value();
  // The errors of the means of two logarithms: half of their difference.
  CHECK(record.results[1].metrics[0].ratio_to_reference->error.value_or(0.0) ==
        doctest::Approx(std::hypot(std::log(2.0) / 2, std::log(2.4 / 1.1) / 2)));
}

TEST_CASE("ratios and deviations that the file has are taken as they are") {
  auto document = nlohmann::json::parse(
      json_of({1, "abc", "CPU", {{"old", times_of(1.0)}, {"new", times_of(1.1)}}}));
  auto& metric = document["results"][1]["lauka"]["metrics"]["wall_time"];
  metric.update({{"median", 5.0},
                 {"mad", 0.5},
                 {"log_ratio_to_reference", {{"value", 0.25}, {"error", 0.125}}}});
  auto record = read_record(document.dump()).value();
  const MetricRecord& taken = record.results[1].metrics[0];
  CHECK(taken.median == 5.0);
  CHECK(taken.mad == 0.5);
  REQUIRE(taken.ratio_to_reference);
  CHECK(taken.ratio_to_reference->value == 0.25);
  CHECK(taken.ratio_to_reference->error == 0.125);
  metric["log_ratio_to_reference"] = nullptr;
  record = read_record(document.dump()).value();
  CHECK_FALSE(record.results[1].metrics[0].ratio_to_reference);
}

TEST_CASE("a result that names its reference is compared with that one") {
  auto document = nlohmann::json::parse(json_of({1,
                                                 "abc",
                                                 "CPU",
                                                 {{"old 1", times_of(1.0)},
                                                  {"new 1", times_of(1.1)},
                                                  {"old 2", times_of(2.0)},
                                                  {"new 2", times_of(2.6)}}}));
  const std::vector<nlohmann::json> references = {nullptr, 0, nullptr, 2};
  for (std::size_t c = 0; c < references.size(); ++c)
    document["results"][c]["lauka"]["reference"] = references[c];
  const auto record = read_record(document.dump()).value();
  const auto& ratio = record.results[3].metrics[0].ratio_to_reference;
  REQUIRE(ratio);
  CHECK(ratio->value == doctest::Approx(std::log(1.3)).epsilon(1e-9));
  CHECK_FALSE(record.results[2].metrics[0].ratio_to_reference);
}

TEST_CASE("in a suite a command is compared with its own benchmark's reference and anchor") {
  const auto record = read_record(json_of({1,
                                           "abc",
                                           "CPU",
                                           {{"./old a", times_of(1.0), "a", "reference"},
                                            {"./new a", times_of(1.2), "a", "candidate"},
                                            {"./v1 a", times_of(0.5), "a", "anchor"},
                                            {"./old b", times_of(3.0), "b", "reference"},
                                            {"./new b", times_of(3.3), "b", "candidate"},
                                            {"./newer b", times_of(3.6), "b", "candidate"}}}))
                          .value();
  const auto ratio = [&](std::size_t place) {
    return *record.results[place].metrics[0].ratio_to_reference;
  };
  CHECK(record.results[1].role == "candidate");
  CHECK(record.results[1].shown_command_name.empty());
  CHECK(std::exp(ratio(1).value) == doctest::Approx(1.2));
  CHECK(std::exp(record.results[1].metrics[0].ratio_to_anchor->value) == doctest::Approx(2.4));
  CHECK(std::exp(record.results[0].metrics[0].ratio_to_anchor->value) == doctest::Approx(2.0));
  CHECK_FALSE(record.results[2].metrics[0].ratio_to_anchor);
  CHECK(std::exp(ratio(4).value) == doctest::Approx(1.1));
  CHECK(std::exp(ratio(5).value) == doctest::Approx(1.2));
  // Two candidates of one benchmark are distinguished by their commands.
  CHECK(record.results[4].shown_command_name == "./new b");
  CHECK(record.results[5].shown_command_name == "./newer b");
}

TEST_CASE("a file without an identity of its own is refused with the reason") {
  const std::string good = json_of({1, "abc", "CPU", {{"it", {1.0}}}});
  CHECK(refusal(good).empty());
  CHECK(refusal("{").find("is not JSON") == 0);
  CHECK(refusal("[]").find("is not a JSON file of lauka") == 0);
  CHECK(refusal(R"({"results": [{"command": "x", "times": [1]}]})")
            .find("was written by hyperfine, which does not identify a session") == 0);
  const auto with = [](const std::string& more) {
    return json_of({1, "abc", "CPU", {{"it", {1.0}}}, more});
  };
  CHECK(refusal(with(R"({"session_id": ""})")).find("has no session_id") == 0);
  CHECK(refusal(with(R"({"session_id": "../x"})"))
            .find("is not a JSON file of lauka (its session_id '../x'") == 0);
  CHECK(refusal(with(R"({"format": 3})")).find("has format 3, which this") == 0);
  CHECK(refusal(with(R"({"sessions": []})")).find("was joined from several sessions") == 0);
  CHECK(refusal(json_of({1, "abc", "CPU", {}})) == "has no commands; export it again");
}

TEST_CASE("times are read with their offset, and what is not a time is refused") {
  CHECK(parse_utc_time("2026-01-01T00:00:00+02:00") == parse_utc_time("2025-12-31T22:00:00Z"));
  CHECK(parse_utc_time("2026-01-01T00:00:00.25-01:30") ==
        parse_utc_time("2026-01-01T01:30:00.250Z"));
  CHECK(parse_utc_time("2026-01-01T00:00:00.1239Z") ==
        parse_utc_time("2026-01-01T00:00:00Z") + std::chrono::milliseconds(123));
  for (const char* text :
       {"2026-01-01T25:00:00Z", "999999999-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
        "2026-01-01T00:00:00", "2026-01-01T00:00:00+2", "2026-01-01 00:00:00Z"})
    CHECK(parse_utc_time(text) == std::chrono::sys_seconds());
}

TEST_CASE("encoded values are decoded to the same numbers") {
  const std::vector<MetricRecord> metrics = {
      {"wall_time", Unit::Seconds, Better::Less, 0.1 + 0.2, 1e-300, 12, LogRatio{-1.0 / 3, 0.0},
       std::nullopt},
      {"my;metric \"x\"\n", Unit::Ratio, Better::More, -1.7976931348623157e308, std::nullopt, 1,
       std::nullopt, LogRatio{5e-324, std::nullopt}, 0.7, 1e-9}};
  auto read = decode_metric_names(encode_metric_names(metrics));
  const std::string numbers = encode_values(metrics, {});
  CHECK(numbers.find_first_not_of("0123456789.+-e; ") == std::string::npos);
  REQUIRE(read.size() == 2);
  for (std::size_t i = 0; i < read.size(); ++i) {
    REQUIRE(decode_values(read[i], i, numbers));
    CHECK(read[i].name == metrics[i].name);
    CHECK(read[i].unit == metrics[i].unit);
    CHECK(read[i].better == metrics[i].better);
    CHECK(read[i].mean == metrics[i].mean);
    CHECK(read[i].stddev == metrics[i].stddev);
    CHECK(read[i].summarized_values == metrics[i].summarized_values);
    CHECK(read[i].median == metrics[i].median);
    CHECK(read[i].mad == metrics[i].mad);
    CHECK(read[i].ratio_to_reference.has_value() == metrics[i].ratio_to_reference.has_value());
    CHECK(read[i].ratio_to_anchor.has_value() == metrics[i].ratio_to_anchor.has_value());
  }
  CHECK(read[0].ratio_to_reference->value == -1.0 / 3);
  CHECK(read[1].ratio_to_anchor->value == 5e-324);
  CHECK_FALSE(decode_values(read[0], 2, numbers));
  // Written by an older lauka-history wrote them.
  REQUIRE(decode_values(read[1], 0, "1 2 3 - - - -"));
  CHECK(read[1].mean == 1.0);
  CHECK_FALSE(read[1].median);
}

TEST_CASE("what another program wrote into the database is not a metric") {
  MetricRecord metric;
  CHECK(decode_metric_names("").empty());
  CHECK(decode_metric_names("[[1, 2, 3]]").empty());
  CHECK_FALSE(decode_values(metric, 0, ""));
  CHECK_FALSE(decode_values(metric, 0, "inf - 1 - - - -"));
  CHECK_FALSE(decode_values(metric, 0, "1 2 3"));
}

TEST_CASE("a text's number is the same everywhere, and never negative") {
  // SHA-256 of "abc" begins with ba7816bf8f01cfea.
  CHECK(text_id("abc") == 0xba7816bf8f01cfea / 2);
  CHECK(text_id("") == 0);
}

}  // namespace lauka::history
