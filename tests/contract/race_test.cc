#include "contract/program.h"
#include "contract/schema.h"

#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// Races in the built program. What races is what commands print, so that the result is known on any
// machine.

namespace lauka::contract {
namespace {

/// Options of a race by the number that commands print. Two that print the same are equal after 57
/// rounds, and one that prints another number leaves after 10.
std::vector<std::string> race(std::vector<std::string> options,
                              const std::vector<std::string>& commands) {
  options.insert(options.end(), {"-d", "1h", "--metrics", "v", kScrape, "--"});
  options.insert(options.end(), commands.begin(), commands.end());
  return options;
}

const std::vector<std::string> kThree = {"echo 75", "echo 50", "echo 50 again"};

}  // namespace

TEST_CASE("--race ends when one command is left") {
  const Said said = completed(race({"--race"}, {"echo 75", "echo 50", "echo 60"}));
  CHECK(said.out.ends_with("\nbest (v), with 95% confidence: echo 50 (30 of 30 runs)\n"));
}

TEST_CASE("--race ends when the rest are within its limit, and tells who left when") {
  const Said said = completed(race({"--race=1"}, kThree));
  CHECK(
      said.out.ends_with("\nbest (v), or within 1% of it, with 95% confidence: echo 50 and echo "
                         "50 again (124 of 171 runs)\n"));

  // The table is in the order of the result.
  const std::vector<std::string> lines = lines_of(said.out);
  REQUIRE(lines.size() > 4);
  CHECK(has(lines[1], "left in"));
  CHECK(lines[2].starts_with("echo 50 "));
  CHECK(lines[4].starts_with("echo 75 "));
  CHECK(has(lines[4], "round 10"));
}

TEST_CASE("--race names the values of a parameter that are left, and may prefer higher values") {
  const Said said =
      completed({"--race", "-d", "1h", "--metrics", "v", "--scrape", "v:higher=([0-9.]+)", "-L",
                 "threads", "4,12,16", "--", "echo {threads}"});
  CHECK(said.out.ends_with("\nbest (v), with 95% confidence: 16 threads (30 of 30 runs)\n"));
}

TEST_CASE("--race says if the rounds ended before it was decided") {
  const Said said = completed(race({"--race=0", "-M", "20"}, kThree));
  CHECK(has(said.out, "--max-runs was reached before the race was decided"));
  CHECK(has(said.out, ": echo 50 and echo 50 again (50 of 60 runs)\n"));
}

TEST_CASE("--race: all setups run before the first run, and all cleanups after the last") {
  const Folder folder;
  const std::string log = folder.file("log");
  completed(race(
      {"--race", "--setup", "echo setup >> " + log, "--cleanup", "echo cleanup >> " + log},
      {"sh -c 'echo run >> " + log + "; echo 50'", "sh -c 'echo run >> " + log + "; echo 60'"}));
  const std::vector<std::string> lines = lines_of(text_of(log));
  REQUIRE(lines.size() > 4);
  CHECK(lines[0] == "setup");
  CHECK(lines[1] == "setup");
  CHECK(lines[2] == "run");
  CHECK(lines[lines.size() - 3] == "run");
  CHECK(lines.back() == "cleanup");
}

TEST_CASE("--race drops a command whose runs all fail") {
  const Said said =
      completed(race({"--race", "-i"}, {"sh -c 'echo 10; exit 1'", "echo 50", "echo 60"}));
  CHECK(has(said.out, "best (v) of those that gave values, with 95% confidence: echo 50 ("));

  const Said alone = completed(race({"--race", "-i"}, {"sh -c 'echo 10; exit 1'", "echo 50"}));
  CHECK(has(alone.out, "nothing was compared, because only one command has a run that succeeded"));
}

TEST_CASE("--race: a command that fails in some runs beats no other one, and none beats it") {
  const Folder folder;
  const std::string every_second = "sh -c 'echo 10; echo x >>" + folder.file("n") +
                                   "; exit $(($(wc -l <" + folder.file("n") + ") % 2))'";
  for (const char* other : {"echo 5", "echo 50"}) {
    CAPTURE(other);
    const Said said = completed(race({"--race", "-i", "-M", "40"}, {every_second, other}));
    CHECK(has(said.out, "--max-runs was reached before the race was decided"));
  }
}

TEST_CASE("--race: every export has the result") {
  const Folder folder;
  const auto file = [&](const char* name) { return folder.file(name); };
  completed(race({"--race", "--export-json", file("r.json"), "--export-csv", file("r.csv"),
                  "--export-markdown", file("r.md"), "--export-html", file("r.html")},
                 kThree));

  const auto json = nlohmann::json::parse(text_of(file("r.json")));
  check_schema(json);
  const auto& found = json["lauka"]["race"];
  CHECK(found["end"] == "equal");
  CHECK(found["left"] == nlohmann::json{1, 2});
  CHECK(found["exits"][0]["command"] == 0);
  CHECK(found["exits"][0]["rounds"] == 10);
  CHECK(found["runs"] == 124);
  CHECK(found["runs_without_exits"] == 171);

  const std::string csv = text_of(file("r.csv"));
  CHECK(csv_value(csv, "echo 75", "v", "left_in_round") == "10");
  CHECK(csv_value(csv, "echo 50", "v", "left_in_round").empty());
  CHECK(has(text_of(file("r.md")), "- best (v), or within 1% of it, with 95% confidence: "));
  CHECK(has(text_of(file("r.html")), "When each command left the race"));

  // A saved race is shown as it was.
  const Said again = completed({"--from", file("r.json")});
  CHECK(has(again.out, "echo 50 and echo 50 again (124 of 171 runs)"));
}

TEST_CASE("--race in a suite divides the error among the races, and names each winner") {
  const Folder folder;
  std::ofstream(folder.file("s.toml")) << "[defaults]\nrace = 1\nduration = \"1h\"\nmetrics = "
                                          "\"v\"\nscrape = [\"v=([0-9.]+)\"]\n"
                                          "[[benchmark]]\nname = \"a\"\ncommands = [\"echo 50\", "
                                          "\"echo 75\"]\n"
                                          "[[benchmark]]\nname = \"b\"\ncommands = [\"echo 75\", "
                                          "\"echo 50\", \"echo 60\"]\n";
  const Said said =
      completed({"--suite", folder.file("s.toml"), "--export-json", folder.file("s.json")});
  CHECK(has(said.out, "\na: best (v), with 95% confidence: echo 50 ("));
  CHECK(has(said.out, "\nb: best (v), with 95% confidence: echo 50 ("));
  CHECK(has(said.out, "\n2 races: the chance that any of these lines is wrong is at most 5%\n"));
  const auto json = nlohmann::json::parse(text_of(folder.file("s.json")));
  check_schema(json);
  CHECK(json["lauka"]["benchmarks"][0]["race"]["races"] == 2);
}

TEST_CASE("--race in a suite goes on after an interruption, with the commands that were left") {
  const Folder folder;
  const std::string counting = "sh -c 'echo run >> " + folder.file("lost") + "; echo 75'";
  const std::string blocking = "sh -c 'echo run >> " + folder.file("log") + "; test $(wc -l < " +
                               folder.file("log") + ") -lt 30 || test -e " + folder.file("go") +
                               " || exec sleep 600; sleep 0.02; echo 50'";
  std::ofstream(folder.file("s.toml"))
      << "[[benchmark]]\nname = \"a\"\nrace = 1\nduration = \"1h\"\nmetrics = \"v\"\n"
         "scrape = [\"v=([0-9.]+)\"]\ncommands = [\"\"\"" +
             counting + "\"\"\", \"\"\"" + blocking + "\"\"\", \"echo 50\"]\n";
  std::vector<std::string> words = {"--suite", folder.file("s.toml"), "--export-json",
                                    folder.file("s.json")};
  const Said cut = lauka(Start{
      .arguments = words, .interrupt_when = [&] { return has_lines(folder.file("log"), 30); }});
  CHECK(cut.status == 130);
  CHECK(has(cut.out, "the race was cut short"));

  std::ofstream(folder.file("go")) << "";
  words.emplace_back("--resume");
  const Said said = completed(words);
  CHECK(has(said.out, "a: best (v), or within 1% of it, with 95% confidence: "));
  CHECK(has(said.out, " (124 of 171 runs)"));
  // Only the warm-up is repeated.
  CHECK(lines_of(text_of(folder.file("lost"))).size() <= 10 + 2);
}

TEST_CASE("--race works over layouts") {
  const Said said = completed(
      race({"--race", "--layouts", "4", "-M", "80"}, {"echo 50 {layout}", "echo 75 {layout}"}));
  CHECK(has(said.out, "confidence"));
}

TEST_CASE("--race shows how many commands are left while it runs") {
  const Said said = completed_in_terminal(
      race({"--race", "-M", "15"}, {"sh -c 'sleep 0.05; echo 50'", "sh -c 'sleep 0.05; echo 50 a'",
                                    "sh -c 'sleep 0.05; echo 75'"}),
      120);
  CHECK(has(said.out, "3 of 3 left in the race"));
  CHECK(has(said.out, "2 of 3 left in the race"));
}

}  // namespace lauka::contract
