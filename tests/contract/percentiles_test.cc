#include "contract/program.h"
#include "contract/schema.h"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// --percentiles, and why a candidate is faster, in the built program.

namespace lauka::contract {
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
  CHECK(said.out_has("wall_time.p90 > 10000s: pass: at most 10000s"));
  CHECK(said.out_has("wall_time.p50 < 1ns: pass: at least 1ns"));
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
                                "wall_time.p50 > 100000", "-n", fixture("burn") + " 1ms", "--",
                                fixture("burn") + " 1ms"});
  CHECK(later.out_has("wall_time.p50 > 100000%: pass"));
}

TEST_CASE("percentiles: too few runs are refused before the first, or reported in the row") {
  CHECK(refusal("-r35 --percentiles 90", {fixture("burn")}) ==
        "lauka: wall_time.p90 needs 36 runs of each command for its 95% interval, more than the 35 "
        "that --runs allows; allow 36 runs, or ask for a percentile nearer to 50\n");
  CHECK(lauka("-r15 --percentiles 50,90,99", {fixture("burn")})
            .err_has("wall_time.p90 needs 36 and wall_time.p99 368 runs"));
  const Said after = completed("-m3 -d1ms -w0 --percentiles 99.9 --fail-if 'wall_time.p99.9 > 1'",
                               {fixture("burn") + " 3ms", fixture("burn") + " 3ms"});
  CHECK(after.out_has("n/a (needs "));
  CHECK(after.out_has("are too few; it needs "));
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
  CHECK(said.out_has(" less CPU time"));  // after its factor, or its interval
  CHECK(said.out_has("; instructions and cycles were not counted\n"));
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
  const Said quiet = lauka("-r2 -w0", {fixture("burn") + " 1ms", fixture("burn") + " 1ms"});
  CHECK_FALSE(quiet.out_has("why: "));
}

}  // namespace lauka::contract
