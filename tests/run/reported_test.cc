#include "run/bench.h"
#include "run/output.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

/// Gives what the test says.
class FakeFiles final : public os::MetricFiles {
 public:
  std::vector<std::vector<Written>> batches;
  std::string path(std::size_t place) const override { return "/told/" + std::to_string(place); }
  std::vector<Written> collect() override {
    if (batches.empty()) return {};
    std::vector<Written> first = std::move(batches.front());
    batches.erase(batches.begin());
    return first;
  }
};

OwnMetric own(std::string_view head, std::string text = "") {
  auto metric = parse_own_metric(head);
  REQUIRE(metric);
  metric->text = std::move(text);
  return *metric;
}

using Values = std::vector<std::optional<double>>;

/// Returns the value of a timed run that printed this, or the error's line.
std::string scraped(const OwnMetric& metric, std::string output, std::string error = "") {
  Plan plan = plan_of({"a"});
  plan.reported = {metric};
  fakes::FakeLauncher launcher;
  launcher.output = std::move(output);
  launcher.error = std::move(error);
  ReportedValues reported(plan, launcher, nullptr);
  REQUIRE(reported.prepare());
  const auto values = reported.read_values({}, 0);
  if (!values) return values.error().what;
  if (values->empty() || !values->front()) return "none";
  std::string text = std::to_string(*values->front());
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

/// The values of a timed run that wrote this to its file.
struct Read {
  Values values;
  std::string error{};
  std::vector<OwnMetric> discovered{};
};

Read read(const std::string& text, const std::vector<OwnMetric>& announced = {}) {
  Plan plan = plan_of({"a"});
  plan.reported = announced;
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  fakes::FakeLauncher launcher;
  FakeFiles files;
  files.batches = {{{0, text}}};
  ReportedValues reported(plan, launcher, &files);
  reported.collect();
  const auto values = reported.read_values({}, 0);
  if (!values) return {{}, values.error().what};
  return {*values, "", reported.discovered()};
}

/// One command, whose cycles are counted in runs of their own.
Plan counting_plan() {
  Plan plan = plan_of({"a"});
  plan.events.events = {{.name = "cycles", .meaning = "cycles"}};
  plan.events.passes = {{{0}, RoundKind::Counting}};
  plan.metrics = make_metrics(plan.events, MetricSelection::Default, false);
  return plan;
}

}  // namespace

TEST_CASE("the last match in standard output is a run's value, else that in standard error") {
  const OwnMetric rate = own("rate:higher", "rate ([0-9.,e]+)");
  CHECK(scraped(rate, "rate 1\nrate 1,234.5\n", "rate 9\n") == "1234.5");
  CHECK(scraped(rate, "nothing\n", "rate 9\n") == "9.");
  CHECK(scraped(own("took:ms", "took (\\S+)"), "took 12.5ms") == "0.0125");
  CHECK(scraped(own("took:ms", "took (\\S+)"), "took 12.5") == "0.0125");
}

TEST_CASE("a run whose output has no value is reported with what it wrote and the expression") {
  const OwnMetric rate = own("rate", "rate (\\S+)");
  CHECK(scraped(rate, "first\nlast\x1b\n") ==
        "--scrape 'rate=rate (\\S+)' matches nothing that it wrote; that ends with "
        "'first\\nlast\\x1b'");
  CHECK(scraped(rate, "") ==
        "--scrape 'rate=rate (\\S+)' matches nothing that it wrote; it wrote nothing");
  CHECK(scraped(rate, "rate nan") ==
        "--scrape 'rate=rate (\\S+)' found 'nan', which is not a number");
  CHECK(scraped(rate, "rate 1e999") ==
        "--scrape 'rate=rate (\\S+)' found '1e999', which is beyond 1e30, or below 1e-30");
  CHECK(scraped(own("x", "(a+)+$"), std::string(60, 'a') + "b") ==
        "--scrape 'x=(a+)+$' takes too many steps");
}

TEST_CASE("a match is found wherever it is, also across the pieces that are looked at") {
  const OwnMetric n = own("n", "^n=(\\d+) ends$");
  for (const std::size_t behind : {std::size_t{0}, std::size_t{65'530}, std::size_t{65'536},
                                   std::size_t{1'114'106}, std::size_t{3'000'000}}) {
    CAPTURE(behind);
    const std::string text = std::string(100'000, 'x') + "\nn=1 ends\nn=42 ends\n";
    CHECK(scraped(n, text + std::string(behind, '.')) == "42.");
  }
  // Not at the beginning of a line, although at the beginning of a piece.
  CHECK(scraped(n, std::string(65'536, 'x') + "n=1 ends\n" + std::string(65'527, '.'))
            .starts_with("--scrape"));
}

TEST_CASE("a plain expression gets through output of any size without a line break") {
  const OwnMetric n = own("n", "(\\d+) req");
  CHECK(scraped(n, "12 req" + std::string(std::size_t{64} << 20U, 'x'))
            .starts_with("--scrape 'n="
                         "(\\d+) req' matches nothing"));  // it is before the last 64 MB
  CHECK(scraped(n, std::string(std::size_t{60} << 20U, 'x') + "12 req" +
                       std::string(9'000'000, 'q')) == "12.");
  CHECK(scraped(own("n", "(\\d+) .*req"), "1 req 7 " + std::string(600'000, 'q')) == "1.");
}

TEST_CASE("what a run writes to its file are its values; several of a name are one") {
  const Read one = read(
      "requests 3\nlatency 2 ms\nlatency 4ms\nbytes 1 kB sum\nbytes 2 kB\n\n"
      "state 1 last\nstate 7\n");
  CHECK(one.error.empty());
  REQUIRE(one.discovered.size() == 4);
  CHECK(one.discovered[1].name == "latency");
  REQUIRE(one.values.size() == 4);
  CHECK(*one.values[0] == 3.0);
  CHECK(*one.values[1] == doctest::Approx(0.003));
  CHECK(*one.values[2] == doctest::Approx(3000.0));
  CHECK(*one.values[3] == 7.0);
  CHECK(*read("n 50 1\nn 60 1 higher\n").values[0] == 55.0);
  CHECK(read("n 50\nn 60 higher\n").discovered[0].better == Better::More);
  CHECK(*read("t 3ms\n").values[0] == doctest::Approx(0.003));
}

TEST_CASE("an announced metric has its place, and its unit") {
  const Read one = read("other 1\ntook 12.5\n", {own("took:ms:lower")});
  REQUIRE(one.values.size() == 2);
  CHECK(*one.values[0] == doctest::Approx(0.0125));
  CHECK(one.discovered.size() == 1);
}

TEST_CASE("a line that cannot be read is reported with its number") {
  CHECK(read("a 1\nb two\n").error == "line 2 of LAUKA_METRICS, 'b two', is not a number");
  CHECK(read("wall_time 1\n").error ==
        "line 1 of LAUKA_METRICS, 'wall_time 1', has the name of another metric");
  CHECK(read("a nan\n").error == "line 1 of LAUKA_METRICS, 'a nan', is not a number");
  CHECK(read("rate 1\n", {own("rate", "(x)")}).error.find("--scrape looks for") !=
        std::string::npos);
}

TEST_CASE("the values of a session are in its timed runs, and the file is in their environment") {
  Bench bench;
  FakeFiles files;
  bench.metric_files = &files;
  Plan plan = plan_of({"a"});
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  files.batches = {{{0, "n 1\n"}}, {{0, "n 5\n"}}};
  plan.stop.exact_runs = 2;
  const auto session = bench.carry_out(plan);
  REQUIRE(session);
  REQUIRE(session->runs.size() == 2);
  CHECK(bench.launcher.programs().front().launch_variable == "LAUKA_METRICS");
  CHECK(bench.launcher.programs().size() == 1);
  REQUIRE(bench.discovered.size() == 1);
  CHECK(session->runs[0].reported.size() == 1);
}

TEST_CASE("runs that only count do not get the file, which would have its part in the counts") {
  Bench bench;
  FakeFiles files;
  bench.metric_files = &files;
  const Plan plan = counting_plan();
  REQUIRE(bench.carry_out(plan));
  REQUIRE(bench.launcher.programs().size() == 2);
  CHECK(bench.launcher.programs()[0].launch_variable == "LAUKA_METRICS");
  CHECK(bench.launcher.programs()[1].launch_variable.empty());
}

TEST_CASE("where it is written to they get it, too, and what they write is no value") {
  Bench bench;
  FakeFiles files;
  bench.metric_files = &files;
  const Plan plan = counting_plan();
  files.batches = {{{0, "n 1\n"}}, {{0, "n 1\n"}}, {{0, "n 1\n"}}, {{0, "n 1\n"}}};
  const auto session = bench.carry_out(plan);
  REQUIRE(session);
  REQUIRE(bench.launcher.programs().size() == 1);
  CHECK(bench.launcher.programs()[0].launch_variable == "LAUKA_METRICS");
  std::size_t counted = 0;
  for (const RunRecord& run : session->runs) {
    if (run.step.kind != RoundKind::Counting) continue;
    ++counted;
    CHECK(run.reported.empty());
  }
  CHECK(counted > 0);
}

TEST_CASE("a run without a match ends the session, with -i it has no value") {
  Bench bench;
  Plan plan = plan_of({"a"});
  plan.reported = {own("rate", "rate (\\d+)")};
  bench.launcher.output = "none";
  auto session = bench.carry_out(plan);
  REQUIRE(session);
  REQUIRE(session->cut_short);
  CHECK(std::get<Error>(*session->cut_short).what ==
        "'a': --scrape 'rate=rate (\\d+)' matches nothing that it wrote; that ends with 'none'");
  CHECK(bench.launcher.programs().front().output.kept);
  Bench ignoring;
  plan.ignore_failure = IgnoreFailure{.any = true};
  ignoring.launcher.output = "none";
  session = ignoring.carry_out(plan);
  REQUIRE(session);
  CHECK_FALSE(session->cut_short);
  CHECK(session->runs.size() == 2);
}

}  // namespace lauka
