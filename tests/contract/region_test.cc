#include "contract/program.h"
#include "skip.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <lauka/region.h>

// --region in the built program.

namespace lauka::contract {
namespace {

#ifdef __linux__
constexpr std::uintmax_t kPageSize = sizeof(lauka_region_page_);
#else
constexpr std::uintmax_t kPageSize = 0;  // the header has no page there
#endif

/// lauka --region with these options, on these commands.
Said region(std::vector<std::string> options, const std::vector<std::string>& commands) {
  options.insert(options.begin(), {"--region", "-w0"});
  options.emplace_back("--");
  for (const std::string& command : commands) options.push_back(fixture("region") + " " + command);
  return lauka(options);
}

/// The mean of a metric of `region COMMAND`.
double mean(std::vector<std::string> options, const std::string& metric,
            const std::string& command) {
  options.insert(options.end(), {"-n", "it", "--export-csv", "-"});
  const Said said = region(std::move(options), {command});
  CAPTURE(said.err);
  REQUIRE(said.status == 0);
  return std::strtod(csv_value(said.out, "it", metric, "mean").c_str(), nullptr);
}

/// True if an event can be counted in a region here; otherwise skips.
bool can_count(const std::string& event) {
  const Said said = region({"-r1", "-e", event}, {"turns 1"});
  if (said.status != 0) skip(said.err);
  return said.status == 0;
}

}  // namespace

TEST_CASE("region: its time is the row that is shown first and compared") {
  if (!is_linux()) return;
  const Said said = region({"-r8", "--fail-if-slower=50", "--fail-if", "region_entries > 50"},
                           {"turns 10 once", "turns 10 twice"});
  CAPTURE(said.out);
  CHECK(said.status == 3);
  CHECK(said.out_has("\nregion_entries > 50%: fail: "));
  CHECK(said.out_has("\nregion_time > 50%: "));
  CHECK(said.out_has("\nregion_time "));
  CHECK_FALSE(said.out_has("\nwall_time "));
  const Said all = region({"-r2", "--metrics", "all"}, {"turns 100000 twice"});
  CHECK(all.out_has("\nregion_time "));
  CHECK(all.out_has("\nwall_time "));
  CHECK(all.out_has("\nregion_entries "));
  CHECK_FALSE(all.out_has("\nclock "));
}

TEST_CASE("region: its time is between what the program reads just inside and just outside") {
  if (!is_linux()) return;
  const Folder folder;
  for (const char* how : {"once", "thread", "child"}) {
    CAPTURE(how);
    const Said said =
        region({"-r5", "--scrape", "inner:ns=inside ([0-9]+)", "--scrape",
                "outer:ns=outside ([0-9]+)", "--export-runs", folder.file("runs.csv")},
               {std::string("sleeps 20 ") + how});
    REQUIRE(said.status == 0);
    const std::string csv = text_of(folder.file("runs.csv"));
    const auto column = [&](const char* name) { return column_of(csv, name); };
    const auto times = column("region_time");
    REQUIRE(times.size() == 5);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double time = std::stod(times[i]);
      CHECK(time >= std::stod(column("inner")[i]));
      CHECK(time <= std::stod(column("outer")[i]));
      CHECK(std::stod(column("outer")[i]) <= std::stod(column("wall_time")[i]));
    }
  }
}

TEST_CASE("region: pages that it touches are its faults, in threads and children, too") {
  if (!is_linux() || !can_count("page-faults")) return;
  for (const char* how : {"once", "twice", "thread", "old_thread", "child", "in_child"}) {
    CAPTURE(how);
    const double faults =
        mean({"-r1", "-e", "page-faults"}, "page-faults", std::string("pages 2000 ") + how);
    const double expected = std::string(how) == "twice" ? 4000 : 2000;
    CHECK(faults >= expected);
    CHECK(faults < expected + 200);  // a thread or a child needs some
  }
  const double whole = mean({"-r1", "-e", "page-faults", "--metrics", "all"},
                            "page-faults (whole run)", "pages 2000");
  CHECK(whole > 10'000);
}

TEST_CASE("region: instructions of a known loop are exact to a constant (needs counters)") {
  if (!is_linux() || !can_count("instructions:u")) return;
  const auto of = [](const std::string& turns) {
    return mean({"-r1", "-e", "instructions:u"}, "instructions:u", "turns " + turns);
  };
  const double none = of("0");
  CHECK(none < 1000);
  CHECK(of("1000000") - none == doctest::Approx(2e6).epsilon(1e-5));
}

TEST_CASE("region: what was not marked as it should be is reported, and the session ends with 1") {
  if (!is_linux()) return;
  const Said never = region({"-r2"}, {"turns 10 never"});
  CHECK(never.status == 1);
  CHECK(never.err_has("did not call"));
  const Said open = region({"-r2"}, {"turns 10 open"});
  CHECK(open.status == 1);
  CHECK(open.err_has("still open"));
  const Said stray = region({"-r2"}, {"turns 10 stray"});
  CHECK(stray.status == 1);
  CHECK(stray.err_has("_end without"));
  const Said ignored = region({"-r2", "-i"}, {"turns 10 open"});
  CHECK(ignored.status == 0);
  CHECK(ignored.out_has("region_time (0 runs)"));
  CHECK(ignored.err_has("2 runs"));
}

TEST_CASE("region: what does not go with it is refused") {
  if (!is_linux()) return;
  const Said simulated = region({"--engine", "cachegrind"}, {"turns 1"});
  CHECK(simulated.status == 2);
  CHECK(simulated.err_has("--engine cachegrind"));
  CHECK(simulated.err_has("--region"));
  const Said taken = region({"--scrape", "region_time=(.)"}, {"turns 1"});
  CHECK(taken.status == 2);
  CHECK(taken.err_has("region_time"));
  CHECK(region({"--fail-if", "clock > 5"}, {"turns 1"}).status == 2);
}

TEST_CASE("region: a run whose child was killed while it entered has no value, and that is said") {
  if (!is_linux()) return;
  const Said said = region({"-r1"}, {"turns 1 killed"});
  CHECK(said.status == 1);
  CHECK(said.err_has("for more than a second"));
  const Said ignored = region({"-r1", "-i", "-n", "it", "--export-csv", "-"}, {"turns 1 killed"});
  CHECK(ignored.status == 0);
  CHECK(csv_value(ignored.out, "it", "region_time", "mean").empty());
  CHECK(ignored.err_has("for more than a second"));
}

TEST_CASE("region: a gate on its events is inconclusive if the baseline has those of whole runs") {
  if (!is_linux() || !can_count("page-faults")) return;
  const Folder folder;
  const std::string command = fixture("region") + " pages 10";
  completed("-r2 -w0 -e page-faults --export-json " + folder.file("whole.json"), {command});
  const Said said = completed("--region -r2 -w0 -e page-faults --baseline " +
                                  folder.file("whole.json") + " --fail-if 'page-faults > 5'",
                              {command});
  CHECK(said.out_has("page-faults > 5%: inconclusive: "));
  CHECK(said.out_has("measured part: whole runs for "));
}

TEST_CASE("region: without lauka the calls do nothing, whatever LAUKA_REGION says") {
  const Folder folder;
  const std::string file = folder.file("precious");
  const std::string text(512, 'x');
  std::ofstream(file) << text;
  for (const char* value : {"", "7", "1", "-1", "999999", "nonsense", "99999999999999999999"}) {
    CAPTURE(value);
    const std::string command = "LAUKA_REGION='" + std::string(value) + "' '" + fixture("region") +
                                "' turns 10 stray 7<>'" + file + "' >/dev/null";
    CHECK(std::system(command.c_str()) == 0);
  }
  // Of the size that lauka's has.
  for (const std::uintmax_t size : {std::uintmax_t{0}, kPageSize, std::uintmax_t{4096}}) {
    std::filesystem::resize_file(file, size);
    const std::string before = text_of(file);
    const std::string command =
        "LAUKA_REGION=7 '" + fixture("region") + "' turns 10 stray 7<>'" + file + "' >/dev/null";
    CHECK(std::system(command.c_str()) == 0);
    CHECK(text_of(file) == before);
  }
}

}  // namespace lauka::contract
