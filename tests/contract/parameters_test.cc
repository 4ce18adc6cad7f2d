#include "contract/program.h"
#include "contract/schema.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// -L, -P, -D.

namespace lauka::contract {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

/// Prints {n}, but 4 instead of 2.
const std::string kDoublesTwo = "sh -c 'if [ {n} = 2 ]; then echo 4; else echo {n}; fi'";

/// Options for commands that print numbers at the values 1, 2 and 3 of n.
Words at_three_values(Words more) {
  Words options = {"-r20", kScrape, "--metrics", "v", "-L", "n", "1,2,3"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

/// The words that the runs left in the log, in the order run.
std::string seen(Words options, const std::vector<std::string>& commands) {
  const Folder folder;
  options.insert(options.end(), {"-q", "-r1", "-w0", "--order=interleaved", "--"});
  for (const std::string& command : commands)
    options.push_back("sh -c 'echo " + command + " >> " + folder.file("log") + "'");
  const Said said = lauka(options);
  if (said.status != 0) return said.err;
  std::string all;
  for (const std::string& line : lines_of(text_of(folder.file("log"))))
    all += (all.empty() ? "" : " ") + line;
  return all;
}

}  // namespace

TEST_CASE("-L measures each value, and two of them all combinations; -P counts, exactly, by -D") {
  CHECK(seen({"-L", "n", "1,2"}, {"a{n}", "b{n}"}) == "a1 b1 a2 b2");
  CHECK(seen({"--parameter-list", "n", "1,2", "-L", "m", "x,y"}, {"{n}{m}"}) == "1x 2x 1y 2y");
  CHECK(seen({"-P", "n", "0.1", "0.4", "-D", "0.1"}, {"{n}"}) == "0.1 0.2 0.3 0.4");
}

TEST_CASE("the parameters are in the CSV and in the names") {
  const Folder folder;
  completed("-r1 -q -n sleep --export-csv " + folder.file("out.csv") + " -L n 1,2 -L m a,b",
            {"echo {n}{m}"});
  const std::string csv = text_of(folder.file("out.csv"));
  CHECK(lines_of(csv).at(0).ends_with(",failed_runs,parameter_n,parameter_m"));
  CHECK(lines_of(csv).at(1).starts_with("\"sleep (n = 1, m = a)\",wall_time,"));
  CHECK(lines_of(csv).at(1).ends_with(",1,a"));
}

TEST_CASE("equal programs pass a gate at all values of a parameter") {
  const Said said =
      completed(at_three_values({"--fail-if", "v > 5", "--", "echo {n}", "printf {n}"}));
  for (const char* name : {"printf 1", "printf 2", "printf 3"})
    CHECK_MESSAGE(said.out_has(name + std::string(": v > 5%: pass: ")), said.out);
  CHECK_FALSE(said.out_has("echo 2: v > 5%"));
}

TEST_CASE("a gate that fails at one of three values fails, and names the value") {
  const Said said = lauka(at_three_values(
      {"-n", "old", "-n", "new", "--fail-if", "v > 5", "--", "echo {n}", kDoublesTwo}));
  CHECK(said.status == 3);
  CHECK_MESSAGE(said.out_has("new (n = 1): v > 5%: pass: "), said.out);
  CHECK_MESSAGE(said.out_has("new (n = 2): v > 5%: fail: "), said.out);
  CHECK_MESSAGE(said.out_has("new (n = 3): v > 5%: pass: "), said.out);
}

TEST_CASE("gates are listed value by value") {
  const Said said = completed(at_three_values(
      {"--fail-if", "v > 5", "--fail-if", "v < -5", "--", "echo {n}", "printf {n}"}));
  Words gates;
  for (const std::string& line : lines_of(said.out))
    if (has(line, "%: pass: ")) gates.push_back(line.substr(0, line.find("%")));
  CHECK(gates == Words{"printf 1: v > 5", "printf 1: v < -5", "printf 2: v > 5", "printf 2: v < -5",
                       "printf 3: v > 5", "printf 3: v < -5"});
}

TEST_CASE("one command over several values has no gate without --reference, and nothing runs") {
  const Folder folder;
  const std::string said = refusal(
      {"-L", "n", "10,20", "--fail-if", "cpu_time > 5", "--", "touch " + folder.file("{n}")});
  CHECK_MESSAGE(has(said, "has nothing to compare 'touch "), said);
  CHECK_MESSAGE(has(said, "; add --reference COMMAND; if it has {n}, each value"), said);
  CHECK_FALSE(exists(folder.file("10")));
  completed({"-q", "-r1", "-L", "n", "10,20", "--", "touch " + folder.file("{n}")});
  CHECK(exists(folder.file("10")));
}

TEST_CASE("a gate on a value is decided for every value of a single command, and names it") {
  const Said said =
      lauka({"-q", "-r20", "-L", "n", "1,2", "--fail-if", "wall_time < 100s", "--", "true {n}"});
  CHECK(said.status == 3);
  CHECK_MESSAGE(said.out_has("true 1: wall_time < 100s: fail: "), said.out);
  CHECK_MESSAGE(said.out_has("true 2: wall_time < 100s: fail: "), said.out);
}

TEST_CASE(
    "a reference without the parameter runs once per round, and every value is compared with it") {
  const Folder folder;
  const std::string file = folder.file("runs.csv");
  const Said said = lauka(at_three_values(
      {"--reference", "echo 2", "--fail-if", "v > 5", "--export-runs", file, "--", "printf {n}"}));
  CHECK(said.status == 3);
  CHECK_MESSAGE(said.out_has("printf 1: v > 5%: pass: "), said.out);
  CHECK_MESSAGE(said.out_has("printf 2: v > 5%: pass: "), said.out);
  CHECK_MESSAGE(said.out_has("printf 3: v > 5%: fail: "), said.out);
  const Words commands = column_of(text_of(file), "command");
  CHECK(std::ranges::count(commands, "echo 2") == 20);
}

TEST_CASE("a reference with the parameter is compared at the same value") {
  const Said said = completed(
      at_three_values({"--reference", "echo {n}", "--fail-if", "v > 5", "--", "printf {n}"}));
  CHECK_MESSAGE(said.out_has("printf 3: v > 5%: pass: "), said.out);
}

TEST_CASE("with two parameters each combination has its own reference") {
  const Said said = completed({"-r20", kScrape, "-L", "n", "1,5", "-L", "m", "1,9", "--fail-if",
                               "v > 5", "--", "echo {n}{m}", "printf {n}{m}"});
  CHECK_MESSAGE(said.out_has("printf 11: v > 5%: pass: "), said.out);
  CHECK_MESSAGE(said.out_has("printf 59: v > 5%: pass: "), said.out);
}

TEST_CASE("exports have the deltas from the reference at the same value") {
  const Folder folder;
  const std::string csv = folder.file("a.csv");
  const std::string file = folder.file("a.json");
  completed(at_three_values({"-q", "--export-csv", csv, "--export-json", file, "-n", "old", "-n",
                             "new", "--", "echo {n}", kDoublesTwo}));
  const std::string text = text_of(csv);
  CHECK(csv_value(text, "new (n = 1)", "v", "delta_percent") == "0");
  CHECK(csv_value(text, "new (n = 2)", "v", "delta_percent") == "100");
  CHECK(csv_value(text, "new (n = 3)", "v", "delta_percent") == "0");
  CHECK(csv_value(text, "old (n = 3)", "v", "delta_percent").empty());
  const json document = json::parse(text_of(file));
  check_schema(document);
  const json& results = document.at("results");
  REQUIRE(results.size() == 6);
  for (std::size_t c = 0; c < results.size(); c += 2) {
    CHECK(results[c].at("lauka").at("reference") == nullptr);
    CHECK(results[c].at("is_reference") == true);
    CHECK(results[c + 1].at("lauka").at("reference") == c);
    CHECK_FALSE(results[c + 1].contains("is_reference"));
  }
}

TEST_CASE("a saved session keeps its pairs, in tables, gates and exports") {
  const Folder folder;
  const std::string file = folder.file("a.json");
  const std::string again = folder.file("b.json");
  const Said once = lauka(at_three_values({"--fail-if", "v > 5", "--export-json", file, "-n", "old",
                                           "-n", "new", "--", "echo {n}", kDoublesTwo}));
  REQUIRE(once.status == 3);
  const Said twice = lauka({"--from", file, "--metrics", "v", "--export-json", again});
  CHECK(twice.status == 3);
  CHECK(twice.out == once.out);
  CHECK(text_of(again) == text_of(file));
  const Said gated = lauka({"--from", file, "--fail-if", "v > 150"});
  CHECK_MESSAGE(gated.status == 0, gated.out);
  CHECK_MESSAGE(gated.out_has("new (n = 3): v > 150%: pass: "), gated.out);
}

TEST_CASE("--from: a saved scan needs a reference for its gates, one value or another session") {
  const Folder folder;
  const std::string old = folder.file("old.json");
  const std::string file = folder.file("new.json");
  completed(at_three_values({"-q", "--export-json", old, "--", "echo {n}"}));
  completed(at_three_values({"-q", "--export-json", file, "--", kDoublesTwo}));
  CHECK(has(refusal({"--from", old, "--fail-if", "v > 5"}), "; add --reference COMMAND"));
  const Said one = lauka({"--from", old, "--fail-if", "v > 5", "--reference", "echo 2"});
  CHECK(one.status == 3);
  CHECK_MESSAGE(one.out_has("echo 1: v > 5%: pass: "), one.out);
  CHECK_MESSAGE(one.out_has("echo 3: v > 5%: fail: "), one.out);
  const Said both = lauka({"--from", old, file, "--fail-if", "v > 5"});
  CHECK(both.status == 3);
  CHECK_MESSAGE(both.out_has("[ 2 = 2 ]; then echo 4; else echo 2; fi': v > 5%: fail: "), both.out);
  CHECK_MESSAGE(both.out_has("[ 3 = 2 ]; then echo 4; else echo 3; fi': v > 5%: pass: "), both.out);
}

TEST_CASE("the typed pattern names a saved reference at all of its values") {
  const Folder folder;
  const std::string file = folder.file("a.json");
  completed(at_three_values({"-q", "--export-json", file, "--", "echo {n}", "printf {n}"}));
  const Said said = completed({"--from", file, "--reference", "printf {n}", "--fail-if", "v > 5"});
  CHECK_MESSAGE(said.out_has("echo 3: v > 5%: pass: "), said.out);
}

TEST_CASE("a baseline is matched by the names with their values") {
  const Folder folder;
  const std::string file = folder.file("a.json");
  completed(at_three_values({"-q", "--export-json", file, "--", "echo {n}"}));
  const Said said =
      completed(at_three_values({"--baseline", file, "--fail-if", "v > 5", "--", "echo {n}"}));
  CHECK_MESSAGE(said.out_has("echo 3: v > 5%: pass: "), said.out);
}

TEST_CASE("the table marks a reference for each value, and a line compares each pair") {
  const Said said =
      completed(at_three_values({"-n", "old", "-n", "new", "--", "echo {n}", kDoublesTwo}));
  Words rows;
  for (const std::string& line : lines_of(said.out))
    if (line.starts_with("old (") || line.starts_with("new (")) rows.push_back(line);
  REQUIRE_MESSAGE(rows.size() == 9, said.out);
  for (std::size_t i = 0; i < 6; i += 2) {
    CHECK(has(rows[i], "  reference"));
    CHECK_FALSE(has(rows[i + 1], "  reference"));
  }
  CHECK(has(rows[3], "+100%"));
  CHECK(has(rows[6], "new (n = 1)"));
  CHECK(has(rows[6], "old (n = 1)"));
  CHECK(has(rows[7], "old (n = 2)"));
  CHECK(has(rows[8], "old (n = 3)"));
}

TEST_CASE("more than ten values are counted in one line") {
  const Said said = completed(
      {"-r20", kScrape, "--metrics", "v", "-P", "n", "1", "12", "--", "echo {n}", kDoublesTwo});
  CHECK_MESSAGE(said.out_has("at 0 of 12 values in v, and higher at 1\n"), said.out);
}

}  // namespace lauka::contract
