#include "contract/valgrind.h"

#include "contract/program.h"

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
  CHECK(said.out_has("Benchmark 1 (3 simulated runs): true\n"));
  CHECK(said.out_has("\ninstructions (simulated)  "));
  CHECK(said.out_has(" exact"));
  CHECK(said.out_has("; 3 simulated rounds)"));
  CHECK_FALSE(said.out_has(" ± 0"));
  CHECK_FALSE(said.err_has("warning"));
  const Said again = lauka({"--from", file, "--metrics", "instructions"});
  CHECK(again.status == 3);
  CHECK(again.out_has("Benchmark 1 (3 simulated runs): true\n"));
  CHECK(again.out_has("\ninstructions (simulated)  "));
  CHECK(again.out_has(" exact; 3 simulated rounds)"));
}

TEST_CASE("exact counts have no notes about too few runs, their order or a baseline") {
  if (!has_valgrind()) return;
  const Folder folder;
  const std::string file = folder.file("out.json");
  const std::string counted = "--engine cachegrind --metrics instructions -r 1 ";
  const Said sequential =
      lauka(counted + "--order sequential --export-json " + file, {"true", "ls /"});
  CHECK(sequential.status == 0);
  CHECK(sequential.out_has("ls /: instructions is "));
  CHECK(sequential.out_has(" times higher than in true (exact)\n"));
  CHECK(sequential.err.empty());
  const Said compared = lauka(counted + "--baseline " + file, {"true", "ls /"});
  CHECK(compared.status == 0);
  CHECK(compared.out_has("is exactly the same as in itself in "));
  CHECK_FALSE(compared.err_has("deltas against a baseline"));
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
