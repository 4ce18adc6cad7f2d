#include "has.h"
#include "notes.h"
#include "plan/rows.h"
#include "run/bench.h"
#include "run/output.h"

#include <cstddef>
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
  std::vector<std::vector<RunFile>> batches;
  std::string path(std::size_t place) const override { return "/told/" + std::to_string(place); }
  std::vector<RunFile> collect() override {
    if (batches.empty()) return {};
    std::vector<RunFile> first = std::move(batches.front());
    batches.erase(batches.begin());
    return first;
  }
};

OwnMetric own(std::string_view head, std::string_view pattern = "") {
  auto metric = parse_own_metric(head);
  REQUIRE(metric);
  if (!pattern.empty()) metric->pattern = Pattern::compile(pattern).value();
  return *metric;
}

using Values = ReportedValues::Values;

/// Returns the value of a timed run that printed this, or the error's line.
std::string scraped(const OwnMetric& metric, std::string output, std::string error = "") {
  Plan plan = plan_of({"a"});
  plan.reported_metrics = {metric};
  fakes::FakeLauncher launcher;
  launcher.output = std::move(output);
  launcher.error = std::move(error);
  const StillClock clock;
  ReportedValues reported(plan, launcher, nullptr, clock);
  Values values;
  if (const auto refused = reported.read_values({}, 0, values)) return refused->what;
  if (values.empty() || !values.front()) return "none";
  std::string text = std::to_string(*values.front());
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
  plan.reported_metrics = announced;
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  fakes::FakeLauncher launcher;
  launcher.output = "1";
  FakeFiles files;
  files.batches = {{{0, text}}};
  const StillClock clock;
  ReportedValues reported(plan, launcher, &files, clock);
  reported.collect();
  Values values;
  if (const auto error = reported.read_values({}, 0, values)) return {values, error->what};
  return {values, "", reported.discovered()};
}

/// One command, whose cycles are counted in runs of their own.
Plan counting_plan() {
  Plan plan = plan_of({"a"});
  plan.setting.events.events = {{.name = "cycles", .meaning = "cycles"}};
  plan.setting.events.passes = {{{0}, RoundKind::Counting}};
  plan.metrics = make_metrics(plan.setting.events, MetricSelection::Default, false);
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
        "--scrape 'rate=rate (\\S+)' matches nothing in its output; the output ends with "
        "'first\\nlast\\x1b'");
  CHECK(scraped(rate, "").ends_with("; there is no output"));
  CHECK(scraped(rate, "rate nan") ==
        "--scrape 'rate=rate (\\S+)' found 'nan', which is not a number");
  CHECK(scraped(rate, "rate 1e999")
            .ends_with(" '1e999', which is larger than 1e30 or smaller than 1e-30"));
  CHECK(scraped(own("x", "(a+)+$"), std::string(60, 'a') + "b")
            .starts_with("--scrape 'x=(a+)+$' needs "));
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
            .starts_with("--scrape 'n="));  // it is before the last 64 MB
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
  CHECK(has(read("a nan\n").error, "'a nan'"));
  CHECK(has(read("rate 1\n", {own("rate", "(1)")}).error, "has the name of a metric of --scrape"));
}

TEST_CASE("the values of a session are in its timed runs, and the file is in their environment") {
  Bench bench;
  FakeFiles files;
  bench.metric_files = &files;
  Plan plan = plan_of({"a"});
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  files.batches = {{{0, "n 1\n"}}, {{0, "n 5\n"}}};
  plan.setting.stop.exact_runs = 2;
  const auto session = bench.carry_out(plan).value();
  REQUIRE(session.runs.size() == 2);
  CHECK(bench.launcher.programs().front().launch_variable == "LAUKA_METRICS");
  CHECK(bench.launcher.programs().size() == 1);
  REQUIRE(bench.discovered.size() == 1);
  CHECK(session.runs.value(0, plan.metrics.size()) == 1.0);
  CHECK_FALSE(session.runs.value(0, plan.metrics.size() + 1));
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
  const auto session = bench.carry_out(plan).value();
  REQUIRE(bench.launcher.programs().size() == 1);
  CHECK(bench.launcher.programs()[0].launch_variable == "LAUKA_METRICS");
  std::size_t counted = 0;
  for (std::size_t run = 0; run < session.runs.size(); ++run) {
    if (session.runs.facts(run).kind != RoundKind::Counting) continue;
    ++counted;
    CHECK_FALSE(session.runs.value(run, plan.metrics.size()));
  }
  CHECK(counted > 0);
}

TEST_CASE("in a batch of several benchmarks, each run's file belongs to its benchmark") {
  Bench bench;
  FakeFiles files;
  bench.metric_files = &files;
  files.batches = {{{0, "n 10\n"}, {1, "n 20\n"}}};
  std::vector<Plan> plans = {plan_of({"a"}, 1), plan_of({"b"}, 1)};
  std::vector<BenchmarkToRun> parts;
  for (Plan& plan : plans) {
    plan.reported_metrics = {own("n")};
    plan.metrics = {make_metric(plan.reported_metrics[0], ReportedValue{0})};
    parts.push_back({plan.commands.front().name, plan, bench.engine});
  }
  const auto measured = run_benchmarks(parts, bench.context(), 1).value();
  REQUIRE(bench.launcher.requests() == 1);
  const bool is_a_first = bench.launcher.log() == "a(/told/0) b(/told/1)";
  if (!is_a_first) CHECK(bench.launcher.log() == "b(/told/0) a(/told/1)");
  CHECK(measured[0].session.runs.value(0, 0) == (is_a_first ? 10.0 : 20.0));
  CHECK(measured[1].session.runs.value(0, 0) == (is_a_first ? 20.0 : 10.0));
}

TEST_CASE("a run without a match ends the session, with -i it has no value") {
  Bench bench;
  Plan plan = plan_of({"a"});
  plan.reported_metrics = {own("rate", "rate (\\d+)")};
  bench.launcher.output = "none";
  auto session = bench.carry_out(plan);
  REQUIRE(session);
  REQUIRE(session->cut_short);
  check_order(std::get<Error>(*session->cut_short).what,
              {"'a': --scrape 'rate=rate (\\d+)' ", " 'none'"});
  CHECK(bench.launcher.programs().front().output.is_stored_during_run);
  Bench ignoring;
  plan.ignore_failure = IgnoreFailure{.ignores_all = true};
  plan.reported_metrics.insert(plan.reported_metrics.begin(), own("first", "1(\\d)"));
  plan.metrics = {make_metric(plan.reported_metrics[0], ReportedValue{0})};
  ignoring.launcher.output = "none of 12";
  session = ignoring.carry_out(plan);
  REQUIRE(session);
  CHECK_FALSE(session->cut_short);
  CHECK(session->runs.size() == 2);
  CHECK_FALSE(session->runs.value(0, 0));  // not even the value of the first pattern
}

namespace {

using os::OutputStream;

AwaitedLine awaited(const std::string& text) {
  auto pattern = Pattern::compile(text, Pattern::Groups::NotNeeded);
  REQUIRE(pattern);
  static const StillClock clock;
  return AwaitedLine(*std::move(pattern), clock);
}

StoredOutput stored(const std::string& text, std::size_t piece) {
  OutputStore store(os::TextFile::make().value());
  for (std::size_t at = 0; at < text.size(); at += piece)
    store.receive(OutputStream::Output, std::string_view(text).substr(at, piece));
  store.receive(OutputStream::Error, "no part of it");
  return store.take().value();
}

/// Returns the first difference when both are received in pieces; "same" if they are equal.
std::string describe_difference(const std::string& expected, const std::string& got,
                                std::size_t piece = 1'000'000) {
  return describe_difference(stored(expected, piece), stored(got, piece)).value_or("same");
}

}  // namespace

TEST_CASE("a line counts when its line break is there, on each stream by itself") {
  AwaitedLine line = awaited("^ready$");
  CHECK(line.receive(OutputStream::Output, "not ready\nrea"));
  CHECK(line.receive(OutputStream::Error, "dy\n"));
  CHECK(line.receive(OutputStream::Output, "dy"));
  CHECK_FALSE(line.receive(OutputStream::Output, "\nmore"));
  CHECK_FALSE(line.error());
  line.begin();
  CHECK(line.receive(OutputStream::Output, "ady\n"));
  CHECK_FALSE(line.receive(OutputStream::Error, "ready\r\n"));
}

TEST_CASE("of a very long line the first 16 KB are looked at, whatever is in it") {
  AwaitedLine line = awaited("end$");
  const std::string many(1'000'000, '\0');
  for (int i = 0; i < 20; ++i) CHECK(line.receive(OutputStream::Output, many));
  CHECK(line.receive(OutputStream::Output, "end\n"));
  CHECK_FALSE(line.receive(OutputStream::Output, "end\n"));
  CHECK(line.receive(OutputStream::Output, many + "end\n"));
  CHECK(line.output_end().size() <= 4096);
}

TEST_CASE("an expression that needs too many steps to match ends the run, and is reported") {
  AwaitedLine line = awaited("(a+)+$");
  CHECK_FALSE(line.receive(OutputStream::Output, std::string(60, 'a') + "b\n"));
  REQUIRE(line.error());
  CHECK(line.error()->what == "needs too many steps to match");
}

TEST_CASE("how long an expression may take is measured by the session's clock") {
  class FastClock final : public os::Clock {
   public:
    std::chrono::nanoseconds now() const override { return now_ += std::chrono::minutes(1); }

   private:
    mutable std::chrono::nanoseconds now_{};
  };
  const FastClock clock;
  AwaitedLine line(Pattern::compile("ready$", Pattern::Groups::NotNeeded).value(), clock);
  CHECK_FALSE(line.receive(OutputStream::Output, "not yet\n"));
  REQUIRE(line.error());
  CHECK(line.error()->what == "needs too many steps to match");
  Plan plan = plan_of({"a"});
  plan.reported_metrics = {own("rate", "rate (\\d+)")};
  fakes::FakeLauncher launcher;
  launcher.output = "rate 1\n";
  Values values;
  CHECK(ReportedValues(plan, launcher, nullptr, clock).read_values({}, 0, values));
}

TEST_CASE("the first difference is reported with its line, in whatever pieces the output comes") {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
    CAPTURE(piece);
    CHECK(describe_difference("a\nb\nc\n", "a\nb\nc\n", piece) == "same");
    CHECK(describe_difference("", "", piece) == "same");
    CHECK(describe_difference("a\nbcd\n", "a\nbxd\ny\n", piece) ==
          "line 2: expected 'bcd', got 'bxd' (6 bytes expected, 8 written)");
    check_order(describe_difference("a\n", "a", piece),
                {"line 1: ", "'a\\n'", "'a'", "2 bytes", "1 "});
    check_order(describe_difference("a", "a\n", piece),
                {"line 1: ", "'a'", "'a\\n'", "1 byte ", "2 "});
    check_order(describe_difference("a\n", "", piece),
                {"line 1: ", "'a'", "the end", "2 bytes", "0 "});
    check_order(describe_difference("", "\x1b[2J\n", piece),
                {"line 1: ", "the end", "'\\x1b[2J'", "0 bytes", "5 "});
    check_order(describe_difference("a\nb\n", "a\n", piece),
                {"line 2: ", "'b'", "the end", "4 bytes", "2 "});
  }
}

TEST_CASE("of a long line what is around the difference is shown") {
  const std::string before(1000, 'x');
  const std::string after(1000, 'y');
  CHECK(describe_difference(before + "1" + after, before + "2" + after, 100) ==
        "line 1: expected …'" + std::string(40, 'x') + "1" + std::string(59, 'y') + "', got …'" +
            std::string(40, 'x') + "2" + std::string(59, 'y') +
            "' (2001 bytes expected, 2001 written)");
}

TEST_CASE("beyond 64 MB outputs are compared by their hash") {
  const std::string large(std::size_t{64} << 20U, 'x');
  CHECK(describe_difference(large + "a", large + "a") == "same");
  CHECK(describe_difference(large + "a", large + "b") ==
        "beyond the first 64 MB (67108865 bytes expected, 67108865 written)");
  check_order(describe_difference(large + "a", large), {"(67108865 ", " 67108864 "});
  check_order(describe_difference(large, large + "b"), {"(67108864 ", " 67108865 "});
}

TEST_CASE("a hash is of standard output alone") {
  OutputStore hash(os::TextFile::make().value());
  hash.receive(OutputStream::Output, "ab");
  hash.receive(OutputStream::Error, "x");
  hash.receive(OutputStream::Output, "c");
  const auto stored = hash.take().value();
  CHECK(stored.hash == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(stored.bytes == 3);
}

namespace {

os::Ended ended_with(const os::RegionUse& use) {
  os::Ended ended{Exited{0}, {.wall_ns = 1000}};
  ended.region = use;
  return ended;
}

std::string why(const os::RegionUse& use) {
  const auto error = why_region_is_invalid(ended_with(use));
  return error ? error->what : "";
}

/// A session of two runs of one command that note this.
Session session_of(const os::RegionUse& use, bool ignores_failures, const Pass& pass = {}) {
  Bench bench;
  bench.launcher.adjust = [&](os::ProgramId, os::Ended& ended) { ended.region = use; };
  Plan plan = plan_of({"it"});
  plan.setting.measures_region = true;
  plan.reported_metrics = make_region_metrics();
  plan.setting.events.events.resize(pass.event_indices.size());
  if (!pass.event_indices.empty()) plan.setting.events.passes = {pass};
  for (std::size_t place = 0; place < plan.reported_metrics.size(); ++place)
    plan.metrics.push_back(make_metric(plan.reported_metrics[place], ReportedValue{place}));
  add_count_metrics(plan);
  if (ignores_failures) plan.ignore_failure = IgnoreFailure{.ignores_all = true};
  auto session = bench.carry_out(plan);
  REQUIRE(session.has_value());
  REQUIRE_FALSE(bench.launcher.programs().empty());
  CHECK(bench.launcher.programs().front().has_region);
  return *std::move(session);
}

}  // namespace

TEST_CASE("what a run noted of its region is its value") {
  const Session session = session_of({.entries = 3, .time_ns = 250}, false);
  CHECK_FALSE(session.cut_short);
  REQUIRE(session.runs.size() == 2);
  CHECK(session.runs.value(0, 0).value() == doctest::Approx(250e-9));
  CHECK(session.runs.value(0, 1) == 3.0);
}

TEST_CASE("no region, one left open, an end alone and more time than there was are refused") {
  CHECK(why({.entries = 1, .time_ns = 1000}).empty());
  CHECK(why({}).starts_with("it did not call lauka_region_begin"));
  CHECK(why({.entries = 1, .is_open = true}) == "its region was still open when it ended");
  CHECK(why({.entries = 1, .unmatched_ends = 1}) ==
        "it called lauka_region_end without lauka_region_begin");
  CHECK(why({.entries = 1, .time_ns = 1000, .lock_timeouts = 1})
            .starts_with(
                "one of its processes was beginning or ending a region for more than a second"));
  CHECK(why({.entries = 1, .time_ns = 1001}) ==
        "it reported more time in its region than the whole run took");
  os::Ended nothing{Exited{0}, {}};
  CHECK(why_region_is_invalid(nothing).has_value());
}

TEST_CASE("a run without a region ends the session and names the command") {
  const Session session = session_of({.entries = 1, .is_open = true}, false);
  REQUIRE(session.cut_short);
  const auto* error = std::get_if<Error>(&*session.cut_short);
  REQUIRE(error != nullptr);
  CHECK(error->what.starts_with("'it': "));
  CHECK(session.runs.empty());
}

TEST_CASE("with -i a run without a region has neither its time nor counts, and that is reported") {
  const Session session = session_of({.entries = 1, .is_open = true}, true, Pass{{0}});
  CHECK_FALSE(session.cut_short);
  REQUIRE(session.runs.size() == 2);
  for (std::size_t metric = 0; metric <= make_region_metrics().size(); ++metric)
    CHECK_FALSE(session.runs.value(0, metric));
  const std::string note = note_of(session.notes, "runs_uncounted");
  CHECK(note.starts_with("'it': "));
  CHECK(has(note, "2 runs"));
}

TEST_CASE("the time of the region is the first row, and what is of the whole run is hidden") {
  EventSet events;
  events.events = {{.name = "cycles", .meaning = "", .role = Role::Cycles}};
  events.passes = {Pass{{0}}};
  std::vector<Metric> metrics = make_metrics(events, MetricSelection::Default, false);
  for (const OwnMetric& own : make_region_metrics()) metrics.push_back(make_metric(own, 0.0));
  move_region_to_front(MetricSelection::Default, metrics);
  CHECK(metrics.front().name == "region_time");
  CHECK(metrics.front().unit == Unit::Seconds);
  for (const Metric& metric : metrics) {
    CAPTURE(metric.name);
    const bool is_shown = metric.name == "region_time" || metric.name == "cycles";
    CHECK((metric.shown == Shown::Always) == is_shown);
  }
}

}  // namespace lauka
