#include "fakes/recorded.h"
#include "has.h"
#include "session/baseline.h"
#include "session/join.h"
#include "session/series.h"
#include "session/setting_values.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using namespace std::chrono_literals;

Metric sampled(std::chrono::nanoseconds period, const char* clock = "cycles") {
  return {.name = "sampled_time",
          .unit = Unit::Seconds,
          .kind = RoundKind::Counting,
          .method = {.sampled = SampledClock{clock, period}},
          .role = Role::SampledTime};
}

/// A session whose baseline has the same command, each with this metric.
Recording with_baseline(const Metric& there, const Metric& here) {
  const auto session = fakes::recorded({"a"}, {1.0});
  session->metrics = {there};
  Recording recording = *fakes::recorded({"a"}, {1.0});
  recording.metrics = {here};
  recording.reference.baseline =
      Baseline{"b.json", session, {0}, find_comparable_metrics_in(*session, recording.metrics)};
  return recording;
}

std::vector<SettingKind> kinds_of(const std::vector<SettingDifference>& differences) {
  std::vector<SettingKind> kinds;
  for (const SettingDifference& difference : differences) kinds.push_back(difference.kind);
  return kinds;
}

}  // namespace

TEST_CASE("how a command was run is told by its options, and the values of variables are hashed") {
  Setting setting;
  setting.jobs = 2;
  setting.until = "ready";
  Command command{"a", "a", {"a"}};
  command.environment = {"TOKEN=secret", "A=1"};
  command.input = "data";
  command.output = {OutputKind::File, "out"};
  const SettingValues values = settings_of_planned(setting, command, {"/bin/sh"});
  CHECK(values[SettingKind::Jobs] == "2");
  CHECK(values[SettingKind::Until] == "ready");
  CHECK(values[SettingKind::OutputCheck] == "none");
  CHECK(values[SettingKind::Shell] == "/bin/sh");
  CHECK(values[SettingKind::Output] == "out");
  CHECK(values[SettingKind::Input] == "data");
  const std::string environment = values[SettingKind::Environment].value_or("");
  CHECK(has(environment, "TOKEN=#"));
  CHECK_FALSE(has(environment, "secret"));

  command.environment = {"A=1", "TOKEN=other"};
  CHECK(settings_of_planned(setting, command, {"/bin/sh"})[SettingKind::Environment] !=
        environment);
}

TEST_CASE("an older file does not know output, input and variables, so they do not differ") {
  Command command{"a", "a", {"a"}};
  const SettingValues saved = settings_of_saved({}, command, {});
  command.input = "data";
  command.environment = {"A=1"};
  CHECK(find_differences(saved, settings_of_planned({}, command, {})).empty());
}

TEST_CASE("samples of another period, clock or level, and of another engine, are not compared") {
  CHECK(find_metric_differences(with_baseline(sampled(5ms), sampled(5ms)), 0, 0).empty());
  const auto differences =
      find_metric_differences(with_baseline(sampled(5ms), sampled(200us)), 0, 0);
  REQUIRE(differences.size() == 1);
  CHECK(differences[0] == SettingDifference{SettingKind::SamplingPeriod, "5ms", "200µs"});
  CHECK(kinds_of(find_metric_differences(with_baseline(sampled(1ms), sampled(1ms, "the CPU clock")),
                                         0, 0)) == std::vector{SettingKind::SampledClock});

  Metric of_perf{.name = "instructions", .kind = RoundKind::Counting, .event = 0};
  of_perf.method.engine = "perf";
  Metric simulated = of_perf;
  simulated.kind = RoundKind::Simulated;
  simulated.method = {};
  CHECK(kinds_of(find_metric_differences(with_baseline(of_perf, simulated), 0, 0)) ==
        std::vector{SettingKind::Region});
  Metric of_kernel = of_perf;
  of_kernel.method.engine = "the kernel";
  CHECK(kinds_of(find_metric_differences(with_baseline(of_perf, of_kernel), 0, 0)) ==
        std::vector{SettingKind::Engine});
  Metric of_region = of_perf;
  of_region.of_region = true;
  CHECK(kinds_of(find_metric_differences(with_baseline(of_perf, of_region), 0, 0)) ==
        std::vector{SettingKind::Region});
  CHECK(find_metric_differences(with_baseline(of_perf, of_perf), 0, 0).empty());
}

TEST_CASE("values of a metric that the baseline measured in another way are no samples") {
  const Recording same = with_baseline(sampled(5ms), sampled(5ms));
  CHECK(make_series(same, 0, pair_of(same, 0).reference).values.size() == 1);
  const Recording other = with_baseline(sampled(5ms), sampled(200us));
  CHECK(make_series(other, 0, pair_of(other, 0).reference).values.empty());
}

TEST_CASE(
    "two joined sessions are compared by their own settings, and one session's commands not") {
  std::vector<Recording> sessions;
  for (const char* const file : {"a.json", "b.json"}) {
    Recording session = *fakes::recorded({"x", "y"}, {1.0, 2.0});
    session.file = file;
    session.metrics.push_back(sampled(file[0] == 'a' ? 1ms : 5ms));
    for (std::size_t run = 0; run < session.runs.size(); ++run) session.runs.set_value(run, 1, 3.0);
    session.circumstances.priority = Priority{file[0] == 'a' ? 0 : 10, "other"};
    for (Command& command : session.commands)
      command.settings[SettingKind::Jobs] = file[0] == 'a' ? "1" : "4";
    session.commands[1].settings[SettingKind::Input] = "data";
    sessions.push_back(std::move(session));
  }
  const auto plan = plan_of_saved({}, sessions);
  REQUIRE(plan);
  const Recording joined = join(sessions, *plan);
  CHECK(find_command_differences(joined, 1).empty());
  CHECK(kinds_of(find_command_differences(joined, 2)) ==
        std::vector{SettingKind::Jobs, SettingKind::Nice});
  const std::size_t metric = *find_metric(joined.metrics, "sampled_time");
  CHECK(find_metric_differences(joined, metric, 1).empty());
  CHECK(kinds_of(find_metric_differences(joined, metric, 2)) ==
        std::vector{SettingKind::SamplingPeriod});
  CHECK_MESSAGE(joined.runs.value(joined.runs.of_command(2)[0], metric).has_value(),
                "values that are not compared are shown all the same");
  CHECK(kinds_of(find_obstacles(joined, metric, 2)) ==
        std::vector{SettingKind::Jobs, SettingKind::SamplingPeriod});
}

TEST_CASE("--from with two files of one session says so") {
  std::vector<Recording> sessions;
  for (const char* const file : {"a.json", "copy.json", "b.json"}) {
    Recording session = *fakes::recorded({file}, {1.0, 2.0});
    session.file = file;
    session.circumstances.session_id = file[0] == 'b' ? "2" : "1";
    sessions.push_back(std::move(session));
  }
  const auto plan = plan_of_saved({}, sessions);
  REQUIRE(plan);
  const std::vector<Note>& notes = plan->setting.events.notes;
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].kind == "same_session");
  CHECK(has(notes[0].text, "'a.json' and 'copy.json' are the same session"));
}

}  // namespace lauka
