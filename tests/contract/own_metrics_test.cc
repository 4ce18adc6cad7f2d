#include "contract/program.h"
#include "contract/schema.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// Metrics of the user's own, in the built program.

namespace lauka::contract {
namespace {

/// The values of a column of --export-runs.
std::vector<double> column(const std::string& csv, const std::string& name) {
  std::vector<double> values;
  for (const std::string& value : column_of(csv, name))
    if (!value.empty()) values.push_back(std::stod(value));
  return values;
}

}  // namespace

TEST_CASE("own metrics: a formula is worked out in each run, shown, exported and gated") {
  const Folder folder;
  const Said said = completed(
      "-r5 --derive 'busy:%=cpu_time / wall_time' --derive 'idle:ms=wall_time - cpu_time' --derive "
      "'cost:$=idle * 0.5 + 1' --export-runs " +
          folder.file("runs.csv") + " --export-json " + folder.file("it.json") +
          " --fail-if 'cost > 900'",
      {fixture("burn") + " 3ms", fixture("burn") + " 6ms"});
  CHECK(said.out_has("\nbusy "));
  CHECK(said.out_has("\ncost ($) "));
  const std::string csv = text_of(folder.file("runs.csv"));
  const auto wall = column(csv, "wall_time");
  const auto cpu = column(csv, "cpu_time");
  const auto busy = column(csv, "busy");
  const auto cost = column(csv, "cost");
  REQUIRE(wall.size() == 10);
  REQUIRE(cost.size() == 10);
  for (std::size_t i = 0; i < wall.size(); ++i) {
    CHECK(busy[i] == doctest::Approx(cpu[i] / wall[i]).epsilon(1e-12));
    CHECK(cost[i] == doctest::Approx((wall[i] - cpu[i]) * 0.5 + 1).epsilon(1e-12));
  }
  // It can be compared with later.
  completed({"-r3", "--derive", "cost:$=(wall_time - cpu_time) * 0.5 + 1", "-n",
             fixture("burn") + " 6ms", "--baseline", folder.file("it.json"), "--fail-if",
             "cost > 900", "--", fixture("burn") + " 6ms"});
}

TEST_CASE("own metrics: what a program prints is scraped in each run, and comes to --output") {
  const Folder folder;
  const Said said = completed(
      "-r4 -w1 -n it --scrape 'rate:higher=rate ([0-9.,]+)' --scrape 'took:ms=took (\\S+)' "
      "--derive 'product=rate*took' --export-runs " +
          folder.file("runs.csv") + " --output " + folder.file("out"),
      {"sh -c 'echo rate 1; echo rate 1,234.5; echo took 12.5ms >&2'"});
  CHECK(said.out_has("\ntook "));
  CHECK(said.out_has("12.5ms"));
  const std::string csv = text_of(folder.file("runs.csv"));
  CHECK(column(csv, "rate") == std::vector<double>(4, 1234.5));
  CHECK(column(csv, "took") == std::vector<double>(4, 0.0125));
  CHECK(column(csv, "product")[0] == doctest::Approx(15.43125));
  CHECK(text_of(folder.file("out")) == "rate 1\nrate 1,234.5\ntook 12.5ms\n");
  const Said inherited = lauka("-q -r2 -w0 --scrape 'n=n=(.)' --show-output", {"echo n=3"});
  CHECK(inherited.out.starts_with("n=3\nn=3\n"));
}

TEST_CASE("own metrics: a run without a match ends the session, and with -i has no value") {
  const std::string said = failure("-r3 --scrape 'rate=rate (.*)'", {"echo hello"});
  CHECK(has(said, "'echo hello'"));
  CHECK(has(said, "--scrape 'rate=rate (.*)'"));
  const Said ignoring = completed("-r3 -i --scrape 'rate=rate (.*)'", {"echo hello"});
  CHECK(ignoring.out_has("\nrate (0 runs) "));
  CHECK(lauka("--scrape 'rate=rate .*'", {"echo hello"}).status == 2);
}

TEST_CASE("own metrics: output without a line break, NULs and an explosive expression do no harm") {
  const Said zeros = completed("-q -r1 -w0 -S --export-csv - --scrape 'n=n=(\\d+)'",
                               {"echo n=7; head -c 3000000 /dev/zero"});
  CHECK(zeros.out_has(",n,ratio,1,7,"));
  CHECK(has(
      failure("-q -r1 -w0 -S --scrape 'n=((a+)+)[bc]'", {"head -c 100000 /dev/zero | tr '\\0' a"}),
      "--scrape 'n=((a+)+)[bc]'"));
}

TEST_CASE("own metrics: loops that count by themselves (lauka/counters.h) hand their values over") {
  for (const char* way : {"epochs", "loop"}) {
    CAPTURE(way);
    const Folder folder;
    completed({"-q", "-r3", "--scrape", "printed:ns=turn: ([0-9.]+) ns", "--export-runs",
               folder.file("runs.csv"), "--", fixture("counted_loop") + " " + way});
    const std::string csv = text_of(folder.file("runs.csv"));
    const auto printed = column(csv, "printed");
    const auto handed_over = column(csv, "turn_time");
    REQUIRE(printed.size() == 3);
    REQUIRE(handed_over.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(handed_over[i] > 0);
      CHECK(std::abs(handed_over[i] - printed[i]) < 0.001e-9);  // printed with three digits
    }
  }
}

TEST_CASE("own metrics: what a program writes to LAUKA_METRICS appears by itself") {
  const Folder folder;
  const std::string command =
      "sh -c 'echo served 100 higher >> $LAUKA_METRICS; echo part 1 ms sum >> $LAUKA_METRICS; "
      "echo part 2 ms >> $LAUKA_METRICS'";
  const Said said = completed("-r5 --export-runs " + folder.file("runs.csv") + " --export-json " +
                                  folder.file("it.json") + " -n it",
                              {command});
  CHECK(said.out_has("\nserved "));
  CHECK(said.out_has("3.00ms"));
  const std::string csv = text_of(folder.file("runs.csv"));
  CHECK(column(csv, "served") == std::vector<double>(5, 100.0));
  CHECK(column(csv, "part")[4] == doctest::Approx(0.003));
  const Said later = lauka("-r5 --baseline " + folder.file("it.json") +
                               " --metrics wall_time,served:higher --fail-if 'served < -5' -n it",
                           {"sh -c 'echo served 50 >> $LAUKA_METRICS'"});
  CAPTURE(later.err);
  CHECK(later.status == 3);
  CHECK(later.out_has("served < -5%: fail"));
}

TEST_CASE("own metrics: where wall time does not differ, the headline is about the one that does") {
  const Folder folder;
  const std::string file = folder.file("it.json");
  completed("-r6 -w0 --export-json " + file + " --scrape 'rate:higher=(.+)' -n old -n new",
            {"echo 100", "echo 31"});
  auto session = nlohmann::json::parse(text_of(file));
  for (auto& result : session.at("results")) {
    result.at("times") = std::vector(6, 0.25);
    result.at("lauka").at("metrics").at("wall_time").at("samples") = std::vector(6, 0.25);
  }
  std::ofstream(file) << session;
  for (const std::string& gate : {std::string(), std::string(" --fail-if 'rate < -5'")}) {
    const Said said = lauka("--from " + file + gate, {});
    CAPTURE(said.out);
    CHECK(said.status == (gate.empty() ? 0 : 3));
    CHECK(said.out_has("\nnew: rate is 3.2"));
    CHECK_FALSE(said.out_has("in wall time"));
  }
}

TEST_CASE("own metrics: a line that cannot be read ends the session with its number") {
  CHECK(has(failure("-r2", {"sh -c 'echo served many >> $LAUKA_METRICS'"}),
            "line 1 of LAUKA_METRICS, 'served many'"));
  completed("-r2 -i", {"sh -c 'echo served many >> $LAUKA_METRICS'"});
  CHECK(has(failure("-r2", {"sh -c 'mkdir $LAUKA_METRICS'"}), "LAUKA_METRICS"));
}

TEST_CASE("own metrics: what a process writes after its run counts for no run") {
  const Folder folder;
  const std::string names = folder.file("names");
  // The hook is in the place of a process that goes on: it writes to the files of all runs so far.
  completed({"-q", "-r5", "--export-runs", folder.file("runs.csv"), "--conclude",
             "for f in $(cat " + names + "); do echo n 1000 >> $f; done", "--",
             "sh -c 'echo n 1 >> $LAUKA_METRICS; echo $LAUKA_METRICS >> " + names + "'"});
  CHECK(column(text_of(folder.file("runs.csv")), "n") == std::vector<double>(5, 1.0));
  const std::vector<std::string> all = lines_of(text_of(names));
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
  for (const std::string& name : all) CHECK(name.size() == all.front().size());
}

TEST_CASE("own metrics: the file is fresh for each run, and nothing is left of it") {
  const Folder folder;
  completed(Start{.arguments = {"-q", "-r20", "-n", "it", "--export-runs", folder.file("runs.csv"),
                                "--", "sh -c 'echo n 1 sum >> $LAUKA_METRICS'"},
                  .environment = {{"TMPDIR", folder.path()}}});
  CHECK(column(text_of(folder.file("runs.csv")), "n") == std::vector<double>(20, 1.0));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

// --percentiles, and why a candidate is faster, in the built program.

namespace {

using Json = nlohmann::json;

}  // namespace

TEST_CASE("percentiles: rows with intervals, in every export, and gates on them") {
  const Folder folder;
  const Said said =
      completed("-r 36 -w0 --percentiles 50,90 --export-json " + folder.file("it.json") +
                    " --export-csv " + folder.file("it.csv") + " --export-runs " +
                    folder.file("runs.csv") + " --export-markdown " + folder.file("it.md") +
                    " --export-html " + folder.file("it.html") +
                    " --fail-if 'wall_time.p90 > 10000s' --fail-if 'wall_time.p50 < 1ns'",
                {fixture("burn") + " 1ms", fixture("burn") + " 2ms"});
  CHECK(said.out_has("\nwall_time.p50 "));
  CHECK(said.out_has("\nwall_time.p90 "));
  CHECK(said.out_has("wall_time.p90 > 10000s: pass: "));
  CHECK(said.out_has("wall_time.p50 < 1ns: pass: "));
  const Json json = Json::parse(text_of(folder.file("it.json")));
  check_schema(json);
  for (const Json& result : json["results"]) {
    std::vector<double> times = result["times"].get<std::vector<double>>();
    std::sort(times.begin(), times.end());
    const Json& metrics = result["lauka"]["metrics"];
    // Places 29 and 36 of 36, and 12 and 25, by binomial sums; the quantiles are NumPy's type 7.
    const Json& p90 = metrics["wall_time.p90"]["percentile"];
    CHECK(p90["value"].get<double>() == doctest::Approx(times[31] + 0.5 * (times[32] - times[31])));
    CHECK(p90["low"] == times[28]);
    CHECK(p90["high"] == times[35]);
    const Json& p50 = metrics["wall_time.p50"]["percentile"];
    CHECK(p50["low"] == times[11]);
    CHECK(p50["high"] == times[24]);
  }
  CHECK(json["results"][1]["lauka"]["metrics"]["wall_time.p50"]["delta"]["basis"] == "quantile");
  CHECK_FALSE(has(text_of(folder.file("runs.csv")), "wall_time.p90"));
  const Said saved = completed({"--from", folder.file("it.json"), "--percentiles", "90,75"});
  CHECK(saved.out_has("\nwall_time.p75 "));
  CHECK(saved.out_has("\nwall_time.p90 "));
  for (const char* file : {"it.csv", "it.md", "it.html"})
    CHECK_MESSAGE(has(text_of(folder.file(file)), "wall_time.p90"), file);
  const Said later = completed({"-r36", "-w0", "--baseline", folder.file("it.json"), "--fail-if",
                                "wall_time.p50 > 900", "-n", fixture("burn") + " 1ms", "--",
                                fixture("burn") + " 1ms"});
  CHECK(later.out_has("wall_time.p50 > 900%: "));
}

TEST_CASE("percentiles: too few runs are refused before the first, or reported in the row") {
  const std::string few = refusal("-r35 --percentiles 90", {fixture("burn")});
  for (const char* part : {"wall_time.p90", "36 runs", "35", "--runs"})
    CHECK_MESSAGE(has(few, part), part);
  const std::string fewer = refusal("-r15 --percentiles 50,90,99", {fixture("burn")});
  for (const char* part : {"wall_time.p90", "36", "wall_time.p99", "368"})
    CHECK_MESSAGE(has(fewer, part), part);
  const Said after = completed("-m3 -d1ms -w0 --percentiles 99.9 --fail-if 'wall_time.p99.9 > 1'",
                               {fixture("burn") + " 3ms", fixture("burn") + " 3ms"});
  CHECK(after.out_has("n/a (needs "));
  CHECK(after.out_has("wall_time.p99.9 > 1%: inconclusive"));
  for (const char* wrong : {"", "x", "0", "100", "50,,90", "-1", "1e1", "nan", "50;90"}) {
    const Said refused = lauka({"--percentiles", wrong, "--", fixture("burn")});
    CAPTURE(wrong);
    CHECK(refused.status == 2);
    CHECK(refused.err.find("lauka: --percentiles ") == 0);
    CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
  }
}

TEST_CASE("why: --verbose, the page and the JSON take a delta apart") {
  const Folder folder;
  const Said said = completed("-v -r8 -w0 --engine none --export-json " + folder.file("it.json") +
                                  " --export-html " + folder.file("it.html"),
                              {fixture("burn") + " 6ms", fixture("burn") + " 1ms"});
  CHECK(said.out_has("\nwhy: "));
  CHECK(has(text_of(folder.file("it.html")), "<p>why: "));
  const Json json = Json::parse(text_of(folder.file("it.json")));
  check_schema(json);
  CHECK(json["results"][0]["lauka"]["why"].is_null());
  const Json& why = json["results"][1]["lauka"]["why"];
  double product = 1.0;
  for (const Json& factor : why["factors"]) product *= factor["of_wall_time"].get<double>();
  const Json& delta = json["results"][1]["lauka"]["metrics"]["wall_time"]["delta"];
  CHECK(product == doctest::Approx(1.0 + delta["percent"].get<double>() / 100.0).epsilon(1e-9));
  CHECK(why["factors"][0]["part"] == "cpu_time");
  const Said quiet = completed("-r2 -w0", {fixture("burn") + " 1ms", fixture("burn") + " 1ms"});
  CHECK_FALSE(quiet.out_has("why: "));
}

}  // namespace lauka::contract
