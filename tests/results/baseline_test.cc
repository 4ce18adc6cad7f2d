#include "results/baseline.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

std::string fault(const std::string& text) {
  const auto baseline = read_baseline(text);
  REQUIRE_FALSE(baseline.has_value());
  return baseline.error().line();
}

const std::string kOwn = R"({"schema_version": 2, "results": [
  {"command": "old", "times": [9], "lauka": {"metrics": {
     "wall_time": {"samples": [1.5, null, 2], "at_most": null},
     "peak_rss": {"samples": [null, 5], "at_most": 7},
     "cycles": {"samples": [null, null], "at_most": null}}}}],
  "lauka": {"format": 1, "version": "1.2.3",
            "machine": {"name": "host", "kernel": "6.1", "cpu_model": "CPU 9000", "cpus": 4}}})";

}  // namespace

TEST_CASE("a baseline has the samples of all metrics that lauka measured, and where") {
  const auto baseline = read_baseline(kOwn);
  REQUIRE(baseline);
  CHECK(baseline->by_lauka);
  CHECK(baseline->version == "1.2.3");
  CHECK(baseline->machine.name == "host");
  CHECK(baseline->machine.cpu_model == "CPU 9000");
  CHECK(baseline->machine.cpus == 4);
  REQUIRE(baseline->commands.size() == 1);
  CHECK(baseline->commands[0].name == "old");
  REQUIRE(baseline->commands[0].values_of("wall_time") != nullptr);
  CHECK(*baseline->commands[0].values_of("wall_time") == std::vector{1.5, 2.0});
  CHECK_MESSAGE(baseline->commands[0].values_of("peak_rss") == nullptr, "a bound");
  CHECK(baseline->commands[0].values_of("cycles") == nullptr);
}

TEST_CASE("of hyperfine 1 a baseline has the times") {
  const auto baseline =
      read_baseline(R"({"results": [{"command": "a b", "mean": 1, "times": [1, 0.25]}]})");
  REQUIRE(baseline);
  CHECK_FALSE(baseline->by_lauka);
  CHECK(baseline->commands[0].name == "a b");
  CHECK(*baseline->commands[0].values_of("wall_time") == std::vector{1.0, 0.25});
}

TEST_CASE("of hyperfine's schema 2 a baseline has the measurements' wall times, and the name") {
  const auto baseline = read_baseline(R"({"schema_version": 2, "results": [
      {"command": "./a --long", "name": "a", "measurements": [
        {"time_wall_clock": {"value": 0.5, "unit": "second"}, "exit_code": 0},
        {"time_wall_clock": {"value": 0.75, "unit": "second"}, "exit_code": 0}]}]})");
  REQUIRE(baseline);
  CHECK(baseline->commands[0].name == "a");
  CHECK(*baseline->commands[0].values_of("wall_time") == std::vector{0.5, 0.75});
}

TEST_CASE("what is no baseline is told as what it is") {
  CHECK(fault("") == "is no JSON, or not all of it; make it again");
  CHECK(fault(kOwn.substr(0, 200)) == "is no JSON, or not all of it; make it again");
  CHECK(fault("[1]") ==
        "is neither lauka's nor hyperfine's JSON (no list of results); make one with lauka "
        "--export-json FILE");
  CHECK(fault(R"({"results": [{"command": "a", "mean": 1}]})").find("no times of 'a'") !=
        std::string::npos);
  CHECK(fault(R"({"results": [{"times": [1]}]})").find("a result without a command") !=
        std::string::npos);
  CHECK(fault(R"({"results": [{"command": "a", "measurements": [{"time_wall_clock":
              {"value": 5, "unit": "millisecond"}}]}]})")
            .find("no times of 'a'") != std::string::npos);
  CHECK(fault(R"({"results": []})") == "holds no command; make it again");
  CHECK(fault(R"({"results": [{"command": "a", "times": []}]})") ==
        "holds no run of 'a'; make it again");
}

TEST_CASE("a sample that cannot be a measured value is named") {
  for (const std::string value : {"-1", "\"5\"", "true", "[1]"}) {
    const std::string line =
        fault(R"({"results": [{"command": "a", "times": [1, )" + value + "]}]}");
    CHECK(line == "has " + value + " among the samples of 'a'; make it again");
  }
}

TEST_CASE("a file of a lauka whose format is another one is refused") {
  CHECK(fault(R"({"results": [], "lauka": {"format": 2, "version": "9.0"}})") ==
        "is of another lauka (9.0); make it again with this one");
}

}  // namespace lauka
