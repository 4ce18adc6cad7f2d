#include "contract/program.h"
#include "places.h"
#include "skip.h"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// --engine cachegrind with the real Valgrind, if installed.

namespace lauka::contract {
namespace {

bool has_valgrind() {
  if (std::system("command -v valgrind >/dev/null 2>&1") == 0) return true;  // NOLINT
  skip("valgrind is not installed (scripts/setup --ci brings it)");
  return false;
}

/// Returns Valgrind's own counts of a command: the totals of every program of it, under its own
/// names.
std::map<std::string, long long> by_hand(const std::string& command) {
  const Folder folder;
  const std::string line =
      "env -i PATH=\"$PATH\" valgrind -q --tool=cachegrind --trace-children=yes --cache-sim=yes "
      "--branch-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64 "
      "--log-file=/dev/null --cachegrind-out-file=" +
      folder.file("%p") + " " + command + " >/dev/null";
  REQUIRE(std::system(line.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe): one thread
  std::map<std::string, long long> totals;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    std::vector<std::string> names;
    for (const std::string& written : lines_of(text_of(file.path().string()))) {
      std::istringstream words(written);
      std::string word;
      words >> word;
      if (word == "events:")
        while (words >> word) names.push_back(word);
      if (word == "summary:")
        for (const std::string& name : names) {
          words >> word;
          totals[name] += std::stoll(word);
        }
    }
  }
  return totals;
}

/// lauka's own count of the same, started from the same environment.
long long counted(const std::string& csv, const std::string& metric) {
  return std::stoll(csv_value(csv, "it", metric, "mean"));
}

std::string csv_of(const std::string& command, const std::string& engine = "cachegrind") {
  const Folder folder;
  const std::string target = folder.file("out.csv");
  const std::string line = std::string("env -i PATH=\"$PATH\" ") + places::kProgram +
                           " -qr1 -w0 -n it --engine " + engine + " --export-csv " + target +
                           " -- '" + command + "'";
  REQUIRE(std::system(line.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe): one thread
  return text_of(target);
}

}  // namespace

TEST_CASE("simulated counts are exactly what valgrind by itself counts") {
  if (!has_valgrind()) return;
  const std::string shell_line = "sh -c \"ls / && true; exec echo done\"";
  for (const std::string& command : {std::string("ls /"), shell_line, fixture("tiny")}) {
    CAPTURE(command);
    auto hand = by_hand(command);
    const std::string csv = csv_of(command);
    CHECK(hand["Ir"] > 0);
    CHECK(counted(csv, "instructions") == hand["Ir"]);
    CHECK(counted(csv, "branches") == hand["Bc"] + hand["Bi"]);
    CHECK(counted(csv, "branch-misses") == hand["Bcm"] + hand["Bim"]);
    CHECK(counted(csv, "l1d-cache-misses") == hand["D1mr"] + hand["D1mw"]);
    CHECK(counted(csv, "l1i-cache-misses") == hand["I1mr"]);
    CHECK(counted(csv, "cache-misses") == hand["ILmr"] + hand["DLmr"] + hand["DLmw"]);
  }
}

TEST_CASE("simulated runs have counts and no times, and timed runs have no counts") {
  if (!has_valgrind()) return;
  const Said said =
      completed("-qr2 -w0 --engine cachegrind -e instructions --export-runs -", {"true"});
  const auto lines = lines_of(said.out);
  REQUIRE(lines.size() == 1 + 3 + 2);
  const auto names = fields_of(lines[0]);
  for (std::size_t line = 1; line < lines.size(); ++line) {
    auto fields = fields_of(lines[line]);
    fields.resize(names.size());
    const bool simulated = line <= 3;
    const auto wall =
        static_cast<std::size_t>(std::ranges::find(names, "wall_time") - names.begin());
    REQUIRE(wall < names.size());
    CHECK(fields[wall].empty() == simulated);
    if (simulated)
      for (std::size_t i = wall + 1; i + 1 < names.size(); ++i) CHECK(fields[i].empty());
    CHECK(names.back() == "instructions");
    CHECK(fields.back().empty() != simulated);
  }
}

TEST_CASE("where only simulated counts are shown and gated, nothing is timed") {
  if (!has_valgrind()) return;
  const Folder folder;
  const std::string file = folder.file("out.json");
  const Said said = lauka(
      "--engine cachegrind --metrics instructions --fail-if 'instructions > 0.5' --export-json " +
          file,
      {"true", "ls /"});
  CHECK(said.status == 3);
  CHECK(said.out_has("Benchmark 1 (no timed runs): true\n"));
  CHECK(said.out_has("\ninstructions (simulated) (3 runs) "));
  CHECK_FALSE(said.err_has("warning"));
  const Said again = lauka({"--from", file, "--metrics", "instructions"});
  CHECK(again.status == 3);
  CHECK(again.out_has("\ninstructions (simulated) (3 runs) "));
}

TEST_CASE("a gate on simulated counts is decided") {
  if (!has_valgrind()) return;
  const auto judged = [](const std::string& candidate) {
    return lauka("-d 0.05 -m2 --engine cachegrind -e instructions --fail-if 'instructions > 0.5'",
                 {fixture("work") + " 1", candidate});
  };
  const Said worse = judged(fixture("work") + " 9");
  CHECK(worse.status == 3);
  CHECK(worse.out_has("instructions > 0.5%: fail: "));
  CHECK(judged(fixture("work") + " 1").status == 0);
}

TEST_CASE("nothing is left of a simulation, whether it ends well, fails or is interrupted") {
  if (!has_valgrind()) return;
  const Folder folder;
  const auto run = [&](const std::string& command, const std::function<bool()>& interrupt_when) {
    return lauka({.arguments = words("-r1 -w0 --engine cachegrind -e instructions", {command}),
                  .environment = {{"TMPDIR", folder.path()}},
                  .interrupt_when = interrupt_when});
  };
  CHECK(run("true", {}).status == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
  const Said failed = run("sh -c 'echo why >&2; exit 7'", {});
  CHECK(failed.status == 1);
  CHECK(failed.err_has("status 7"));
  CHECK(failed.err_has("| why"));
  CHECK(std::filesystem::is_empty(folder.path()));
  const Folder log;  // the first run is a simulated one
  CHECK(run(blocks_at(1, log), [&] { return has_lines(log.file("log"), 1); }).status == 130);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("DHAT's counts are exactly what valgrind by itself prints") {
  if (!has_valgrind()) return;
  const Folder folder;
  const std::string log = folder.file("log");
  const std::string command = "sh -c \"ls / && exec ls /\"";
  const std::string line =
      "env -i PATH=\"$PATH\" valgrind --tool=dhat --trace-children=yes --log-file=" + log +
      ".%p --dhat-out-file=/dev/null " + command + " >/dev/null";
  REQUIRE(std::system(line.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe): one thread
  std::vector<long long> sums = {0, 0, 0,
                                 0};  // bytes, blocks, bytes and blocks of the largest peak
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    for (const std::string& written : lines_of(text_of(file.path().string()))) {
      std::string digits;
      for (const char c : written.substr(written.find(':') + 1))
        if (c != ',') digits += c;
      std::istringstream numbers(digits);
      std::string word;
      long long bytes = 0;
      long long blocks = 0;
      numbers >> bytes >> word >> word >> blocks;
      if (written.find("Total: ") != std::string::npos) {
        sums[0] += bytes;
        sums[1] += blocks;
      } else if (written.find("At t-gmax: ") != std::string::npos && bytes > sums[2]) {
        sums[2] = bytes;
        sums[3] = blocks;
      }
    }
  }
  REQUIRE(sums[1] > 0);
  const std::string csv = csv_of(command, "cachegrind,dhat");
  CHECK(counted(csv, "allocated_bytes") == sums[0]);
  CHECK(counted(csv, "allocations") == sums[1]);
  CHECK(counted(csv, "peak_heap") == sums[2]);
  CHECK(counted(csv, "peak_heap_blocks") == sums[3]);
  CHECK(counted(csv, "instructions") > 0);
}

TEST_CASE("a program whose allocations are not seen has no value, and its gate is inconclusive") {
  if (!has_valgrind()) return;
  const Said said = lauka("-r1 -w0 --engine dhat --fail-if 'allocations > 1'", {"true", "true"});
  CHECK(said.status == 0);
  CHECK(said.out_has("allocations > 1%: inconclusive"));
  CHECK(said.err_has("DHAT"));
}

TEST_CASE("a change is in the function that makes it, also of a saved session") {
  if (!has_valgrind()) return;
  const Folder folder;
  const std::string file = folder.file("out.json");
  const Said said = lauka(
      "--engine cachegrind -e instructions --metrics instructions --functions=3 "
      "--fail-if 'instructions > 1' --export-json " +
          file,
      {"ls /", "ls -l /"});
  CHECK(said.status == 3);
  CHECK(said.out_has("\ninstructions by function\n"));
  CHECK(said.out_has(" other functions)"));
  CHECK(said.out_has("\n(total) "));
  CHECK(said.out_has("instructions > 1%: fail: "));
  const Said again =
      lauka({"--from", file, "--functions=3", "--fail-if", "instructions@malloc > -99.9"});
  CHECK(again.out_has("\ninstructions by function\n"));
  CHECK(again.out_has("instructions@malloc > -99.9%: "));
  const Said none = lauka({"--from", file, "--fail-if", "instructions@no_such_function > 1"});
  CHECK(none.status == 2);
  CHECK(none.err_has("'no_such_function'"));
}

TEST_CASE("commands that are compared with a baseline each have their own reference's functions") {
  if (!has_valgrind()) return;
  const Folder folder;
  const std::string file = folder.file("base.json");
  const std::vector<std::string> commands = {"ls /", "true"};
  completed("-q --engine cachegrind --metrics instructions --export-json " + file, commands);
  const Said said =
      lauka("-q --engine cachegrind --metrics instructions --functions=9 --baseline " + file +
                " --export-markdown -",
            commands);
  CHECK(said.status == 0);
  const std::string heading =
      "| function | ls / | ls / | difference | of the change | true | true |";
  CHECK_MESSAGE(said.out_has(heading), said.out);
}

TEST_CASE("a gate on a function that no command has ends after the first simulated runs") {
  if (!has_valgrind()) return;
  const Said said = lauka("--engine cachegrind -e instructions --fail-if 'instructions@exi > 1'",
                          {"true", "true"});
  CHECK(said.status == 1);
  CHECK(said.err_has("'exi'"));
}

TEST_CASE("without a folder for what Valgrind writes nothing is run") {
  if (!has_valgrind()) return;
  const Said said = lauka({.arguments = words("--engine cachegrind", {"true"}),
                           .environment = {{"TMPDIR", "/nonexistent"}}});
  CHECK(said.status == 1);
  CHECK(said.err_has("'/nonexistent'"));
}

TEST_CASE("without Valgrind the package to install is named") {
  const Said said = lauka({.arguments = words("--engine cachegrind", {"/bin/true"}),
                           .environment = {{"PATH", "/nonexistent"}}});
  CHECK(said.status == 2);
  CHECK(said.out.empty());
  CHECK(said.err ==
        "lauka: --engine cachegrind needs Valgrind, which is not in PATH; install the package "
        "valgrind (Debian, Ubuntu: apt-get install valgrind)\n");
}

TEST_CASE("the events that can be simulated are listed without running anything") {
  if (!has_valgrind()) return;
  const Said said = completed({"-lmiss", "--engine", "cachegrind"});
  CHECK(lines_of(said.out).size() == 5);
  CHECK(said.out_has("\nbranch-misses "));
}

}  // namespace lauka::contract
