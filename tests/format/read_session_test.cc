#include "format/json.h"
#include "has.h"
#include "report/lines.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

/// Of the first command.
std::vector<double> values_of(const Recording& recording, std::string_view metric) {
  std::vector<double> values;
  for (const std::uint32_t run : recording.runs.of_command(0))
    if (const auto value = recording.runs.value(run, *find_metric(recording.metrics, metric)))
      values.push_back(*value);
  return values;
}

std::string fault(const std::string& text) {
  const auto file = read_sessions(text);
  REQUIRE_FALSE(file.has_value());
  return file.error().line();
}

const std::string kOwn = R"({"schema_version": 2, "results": [
  {"command": "old", "times": [9], "lauka": {"metrics": {
     "wall_time": {"samples": [1.5, null, 2], "at_most": null},
     "peak_rss": {"samples": [null, 5], "at_most": 7},
     "cycles": {"samples": [null, null], "at_most": null}}}}],
  "lauka": {"format": 2, "version": "1.2.3",
            "machine": {"name": "host", "kernel": "6.1", "cpu_model": "CPU 9000", "cpus": 4}}})";

}  // namespace

TEST_CASE("of an older lauka there are the samples of all metrics, and where they were measured") {
  const auto file = read_sessions(kOwn);
  REQUIRE(file);
  const Recording& recording = file->benchmarks.front().recording;
  CHECK(recording.was_written_by_lauka);
  CHECK(recording.circumstances.version == "1.2.3");
  CHECK(recording.circumstances.machine.name == "host");
  CHECK(recording.circumstances.machine.cpu_model == "CPU 9000");
  CHECK(recording.circumstances.machine.cpus == 4);
  REQUIRE(recording.commands.size() == 1);
  CHECK(recording.commands[0].name == "old");
  CHECK(values_of(recording, "wall_time") == std::vector{1.5, 2.0});
  const auto peak = find_metric(recording.metrics, Role::PeakRss).value();
  CHECK(recording.runs.bound(0, peak) == 7.0);
  CHECK(values_of(recording, "cycles").empty());
}

TEST_CASE("a file may come in pieces of any size") {
  for (const std::size_t piece : {1U, 7U, 4096U}) {
    CAPTURE(piece);
    std::string_view rest = kOwn;
    const auto file = read_sessions([&] {
      const std::string_view bytes = rest.substr(0, piece);
      rest.remove_prefix(bytes.size());
      return bytes;
    });
    REQUIRE(file);
    CHECK(values_of(file->benchmarks.front().recording, "wall_time") == std::vector{1.5, 2.0});
  }
}

TEST_CASE("a file without typed facts keeps its text, and what it does not tell is unknown") {
  const auto file = read_sessions(R"json({"schema_version": 2, "results": [
    {"command": "old", "times": [9], "lauka": {
       "metrics": {"wall_time": {"samples": [1.5], "at_most": null},
                   "cycles": {"samples": [7], "at_most": null}},
       "redone_runs": [{"round": 1, "pass": 1, "exit_code": 0, "values": {},
                        "why": "the processor was throttled"}]}}],
    "lauka": {"format": 2, "version": "1",
      "metrics": [{"name": "wall_time", "unit": "s", "better": "less", "note": ""},
                  {"name": "cycles", "unit": "1", "better": "less", "note": "(region) (user)"}],
      "gates": [{"metric": "wall_time", "condition": "wall_time > 200ms", "bound": 0.2,
                 "command": 0, "verdict": "fail"}],
      "notes": ["no hardware counters here; lauka --check says why"]}})json");
  REQUIRE(file);
  const Recording& recording = file->benchmarks.front().recording;
  const Metric& cycles = recording.metrics[find_metric(recording.metrics, "cycles").value()];
  CHECK(cycles.of_region);
  CHECK(cycles.counted_privilege_levels == CountedPrivilegeLevels::Unknown);
  CHECK(cycles.metric_suffix == "(region) (user)");
  REQUIRE(recording.notes.size() == 1);
  CHECK(recording.notes[0].kind == "");
  CHECK(has(recording.notes[0].text, "--check"));
  CHECK(recording.discarded_runs.row(0).reason == RedoReason::Other);
  const auto& verdicts = file->benchmarks.front().findings.verdicts;
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts[0].condition.limit == GateLimit::of_value(0.2));
  CHECK(report::condition_text(verdicts[0].condition) == "wall_time > 200ms");
}

TEST_CASE("of hyperfine 1 there are the times") {
  const auto file =
      read_sessions(R"({"results": [{"command": "a b", "mean": 1, "times": [1, 0.25]}]})");
  REQUIRE(file);
  const Recording& recording = file->benchmarks.front().recording;
  CHECK_FALSE(recording.was_written_by_lauka);
  CHECK(recording.commands[0].name == "a b");
  CHECK(values_of(recording, "wall_time") == std::vector{1.0, 0.25});
}

TEST_CASE("of hyperfine's schema 2 there are the measurements' wall times, and the name") {
  const auto file = read_sessions(R"({"schema_version": 2, "results": [
      {"command": "./a --long", "name": "a", "measurements": [
        {"time_wall_clock": {"value": 0.5, "unit": "second"}, "exit_code": 0},
        {"time_wall_clock": {"value": 0.75, "unit": "second"}, "exit_code": 0}]}]})");
  REQUIRE(file);
  const Recording& recording = file->benchmarks.front().recording;
  CHECK(recording.commands[0].name == "a");
  CHECK(values_of(recording, "wall_time") == std::vector{0.5, 0.75});
}

TEST_CASE("a file that is not a session is refused with what it is") {
  CHECK(fault("") == "is not JSON, or it is incomplete; export it again");
  CHECK(fault(kOwn.substr(0, 200)) == "is not JSON, or it is incomplete; export it again");
  CHECK(fault("[1]") ==
        "is not a JSON file of lauka or hyperfine (it has no list of results); make such a "
        "file with lauka --export-json FILE");
  CHECK(has(fault(R"({"results": [{"command": "a", "mean": 1}]})"), "it has no times of 'a'"));
  CHECK(has(fault(R"({"results": [{"times": [1]}]})"), "it has a result without a command"));
  CHECK(has(fault(R"({"results": [{"command": "a", "measurements": [{"time_wall_clock":
              {"value": 5, "unit": "millisecond"}}]}]})"),
            "it has no times of 'a'"));
  CHECK(fault(R"({"results": []})") == "has no commands; export it again");
}

TEST_CASE("a sample that cannot be a measured value is named") {
  for (const std::string value : {"-1", "\"5\"", "true", "[1]"}) {
    const std::string line =
        fault(R"({"results": [{"command": "a", "times": [1, )" + value + "]}]}");
    CHECK(line == "has " + value + " among the samples of 'a'; export it again");
  }
}

TEST_CASE("of a run that has no wall time, hyperfine's file is refused with the first such run") {
  const auto with = [](const std::string& first, const std::string& second) {
    return R"({"schema_version": 2, "results": [{"command": "a", "measurements": [
        {"time_wall_clock": )" +
           first + R"(}, {"time_wall_clock": )" + second + "}]}]}";
  };
  const std::string good = R"({"value": 1, "unit": "second"})";
  const std::string negative = R"({"value": -1, "unit": "second"})";
  const std::string in_ms = R"({"value": 1, "unit": "ms"})";
  CHECK(read_sessions(with(good, good)));
  CHECK(fault(with(negative, in_ms)) == "has -1 among the samples of 'a'; export it again");
  CHECK(has(fault(with(in_ms, negative)), "it has no times of 'a'"));
  CHECK(has(fault(with(good, "null")), "it has no times of 'a'"));
}

TEST_CASE("a file of a lauka whose format is another one is refused") {
  CHECK(fault(R"({"results": [], "lauka": {"format": 3, "version": "9.0"}})") ==
        "was written by lauka 9.0; export it again");
}

TEST_CASE("values that no measurement has are refused, 0 is not") {
  for (const char* value : {"1e-320", "9e-31", "1.1e30", "1e308", "-1"}) {
    CAPTURE(value);
    CHECK(has(fault(std::string(R"({"results": [{"command": "a", "times": [1, )") + value + "]}]}"),
              " among the samples of 'a'; export it again"));
  }
  CHECK(read_sessions(R"({"results": [{"command": "a", "times": [0, 1e-30, 1e30]}]})"));
}

TEST_CASE("a session is read sixteen levels deep, and refusals are short") {
  const auto nested = [](std::size_t depth) {
    return R"({"more": )" + std::string(depth, '[') + std::string(depth, ']') +
           R"(, "results": [{"command": "a", "times": [1]}]})";
  };
  CHECK(read_sessions(nested(15)));
  CHECK(fault(nested(17)) == "is nested more than 16 levels deep; export it again");
  CHECK(fault(nested(1'000'000)) == "is nested more than 16 levels deep; export it again");
  const std::string text(1'000'000, 'x');
  CHECK(fault(R"({"results": [{"command": "a", "times": [")" + text + R"("]}]})").size() < 200);
  CHECK(fault(R"({"results": [{"command": ")" + text + R"("}]})").size() < 1000);
}

TEST_CASE("of hyperfine 1 there are exit statuses, means of CPU time, memory and parameters") {
  const auto file = read_sessions(R"({"results": [
      {"command": "work", "user": 0.5, "system": 0.25, "times": [1, 2, 3],
       "exit_codes": [0, 139, 1], "memory_usage_byte": [10, 20, 30], "parameters": {"n": "1"}},
      {"command": "work", "user": -1, "system": null, "times": [1, 2, 3],
       "exit_codes": [0, null, 0], "parameters": {"n": "2"}}]})");
  REQUIRE(file);
  const Recording& recording = file->benchmarks.front().recording;
  CHECK(count_endings(recording.runs, 0).failed_run_groups ==
        std::vector<FailureGroup>{{Ending::Failed, 139, 1}, {Ending::Failed, 1, 1}});
  CHECK(count_endings(recording.runs, 1).runs_with_ending == 2);
  CHECK_FALSE(recording.runs.row(4).status.has_value());
  CHECK(recording.runs.row(4).ending == Ending::Unknown);
  CHECK(values_of(recording, "peak_rss") == std::vector{10.0, 20.0, 30.0});
  CHECK(values_of(recording, "user_time").empty());
  REQUIRE(recording.means_without_runs.size() == 3);
  CHECK(recording.means_without_runs[0].value == 0.75);  // of their sum, the CPU time
  CHECK(recording.commands[0].name == "work (n = 1)");
  CHECK(recording.commands[1].name == "work (n = 2)");
  CHECK(recording.commands[1].parameters[0].value == "2");
  CHECK(recording.commands[1].typed_command_index == 0);
}

TEST_CASE("of hyperfine's schema 2 there are the values of each run, and statuses") {
  const auto file = read_sessions(R"({"schema_version": 2, "results": [
      {"command": "sleep 1", "parameters": {"n": {"value": "1"}}, "measurements": [
        {"time_wall_clock": {"value": 0.5, "unit": "second"},
         "time_user": {"value": 0.25, "unit": "second"}, "exit_code": 9},
        {"time_wall_clock": {"value": 0.75, "unit": "second"},
         "memory_peak_resident": {"value": 64, "unit": "byte"}, "exit_code": 0}]},
      {"command": "sleep 2", "parameters": {"n": {"value": "2"}}, "measurements": []}]})");
  REQUIRE(file);
  const Recording& recording = file->benchmarks.front().recording;
  CHECK(values_of(recording, "user_time") == std::vector{0.25});
  CHECK(values_of(recording, "peak_rss") == std::vector{64.0});
  CHECK_FALSE(find_metric(recording.metrics, Role::SystemTime).has_value());
  CHECK(recording.runs.row(0).status == 9);
  CHECK(recording.runs.row(1).ending == Ending::Succeeded);
  CHECK(recording.commands[0].name == "sleep 1");
  CHECK(recording.commands[1].unfilled_name == "sleep {n}");
}

TEST_CASE("runs are read whatever differs between them, in the order run") {
  const std::string runs =
      R"(7, [{"run": 9}], {"run": 4, "kind": "timed", "round": 2, "exit_code": 3}, {"run": 2,
         "kind": "counting", "round": 1, "exit_code": 0, "own": {"cycles": 5}},
         {"run": 1, "kind": "timed", "round": 1, "exit_code": null},
         {"run": 3, "kind": "counting", "round": 1, "exit_code": 0, "own": {"cycles": 6}})";
  const auto file = read_sessions(
      R"({"results": [{"command": "a", "lauka": {"metrics": {"cycles": {"samples":
          [70, 80, 4, 2, 1, 3]}}, "runs": [)" +
      runs + R"(]}}], "lauka": {"format": 2, "events": [{"name": "cycles"}]}})");
  REQUIRE(file);
  const Runs& table = file->benchmarks.front().recording.runs;
  REQUIRE(table.size() == 6);
  CHECK(values_of(file->benchmarks.front().recording, "cycles") ==
        std::vector{70.0, 80.0, 1.0, 2.0, 3.0, 4.0});
  CHECK(table.row(3).kind == RoundKind::Counting);
  CHECK(table.row(3).own_process_counts.at(0).count == 5);
  CHECK(table.row(4).own_process_counts.at(0).count == 6);
  CHECK(table.row(5).kind == RoundKind::Timed);
  CHECK(table.row(5).round == 1);
  CHECK(table.row(5).own_process_counts.empty());
}

TEST_CASE(
    "a file with too many commands or metrics, or too long a name, is refused with its number") {
  const auto with = [](const std::string& first, int count, const auto& item, const char* end) {
    std::string text = first;
    for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + item(std::to_string(i));
    return text + end;
  };
  const auto command = [](const std::string& i) {
    return R"({"command": "c)" + i + R"(", "times": [1]})";
  };
  CHECK(read_sessions(with(R"({"results": [)", 10'000, command, "]}")));
  CHECK(has(fault(with(R"({"results": [)", 10'001, command, "]}")), "10001 commands"));
  const auto metric = [](const std::string& i) { return "\"m" + i + R"(": {"samples": [1]})"; };
  CHECK(has(fault(with(R"({"results": [{"command": "a", "lauka": {"metrics": {)", 10'001, metric,
                       R"(}}}], "lauka": {"format": 2}})")),
            "10000 metrics"));
  const std::string name((std::size_t{1} << 20U) + 1, 'x');
  CHECK(has(fault(R"({"results": [{"command": ")" + name + R"(", "times": [1]}]})"),
            "1048577 bytes"));
}

}  // namespace lauka
