#include "contract/program.h"
#include "contract/schema.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// --series: decisions about candidates that share a file. What is decided is what commands print.

namespace lauka::contract {
namespace {

using nlohmann::json;

constexpr double kFirstLevel = 0.9 * 0.05 / 5.591582441177751;

std::vector<std::string> in_series(const std::string& file,
                                   const std::vector<std::string>& options = {}) {
  std::vector<std::string> all{"-r20", "--keep-if", "v < -5", "--series", file};
  all.insert(all.end(), options.begin(), options.end());
  return all;
}

/// Decides about a candidate that prints `of_new`; the reference prints 50.
Said decide(const std::string& file, int of_new) {
  return lauka(with_echoes(in_series(file), 50, of_new));
}

json state_of(const std::string& file) {
  return json::parse(completed({"--series", file, "--export-json", "-"}).out);
}

/// Runs a script for sh in which `decide COMMAND &` starts a decision about COMMAND in the series
/// `file`. Its process is lauka.
void run_script(const Folder& folder, const std::string& file, const std::string& text) {
  const std::string path = folder.file("script");
  std::ofstream(path) << "lauka='" << places::kProgram << "'\nfile='" << file << "'\n"
                      << "decide() { exec \"$lauka\" -q -r20 --no-git --keep-if 'v < -5' --series "
                         "\"$file\" '"
                      << kScrape << "' -- 'echo 50' \"$1\" >/dev/null 2>&1; }\n"
                      << text;
  REQUIRE(std::system(("sh '" + path + "' 2>/dev/null").c_str()) == 0);
}

}  // namespace

TEST_CASE("a series reserves a number and a level for each candidate, and keeps its decision") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");

  const Said kept = decide(file, 40);
  CAPTURE(kept.out);
  CHECK(kept.status == 0);
  CHECK(kept.out_has("with 99.1952% confidence"));
  CHECK(kept.out_has("\ncandidate 1 of " + file + ": kept at a level of 0.008; 1 kept so far\n"));

  const Said equal = decide(file, 50);
  CHECK(equal.status == 5);
  CHECK(equal.out_has("\ncandidate 2 of " + file + ": not kept at a level of 0.0044; 1 kept"));

  const json state = state_of(file);
  CHECK(state.at("tried") == 2);
  CHECK(state.at("kept") == 1);
  CHECK(state.at("decisions").at(0).at("decision") == "kept");
  CHECK(state.at("decisions").at(1).at("decision") == "equal");
  CHECK(state.at("decisions").at(0).at("candidate").at("name") == "echo 40");
}

TEST_CASE("JSON of a session has its place in the series, and --from shows it again") {
  const Folder folder;
  const std::string series = folder.file("tries.jsonl");
  const std::string session = folder.file("session.json");
  CHECK(lauka(with_echoes(in_series(series, {"--export-json", session}), 50, 40)).status == 0);

  const auto document = json::parse(text_of(session));
  check_schema(document);
  const json& place = document.at("lauka").at("series");
  CHECK(place.at("number") == 1);
  CHECK(place.at("level").get<double>() == doctest::Approx(kFirstLevel));
  CHECK(place.at("decision") == "kept");
  CHECK(completed({"--from", session}).out_has(": kept at a level of 0.008; 1 kept so far\n"));
}

TEST_CASE("the state of a series is a table of what was kept, or JSON by its schema") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  CHECK(lauka(with_echoes(in_series(file, {"--label", "try=a"}), 50, 40)).status == 0);
  CHECK(decide(file, 60).status == 5);

  const Said text = completed({"--series", file});
  CAPTURE(text.out);
  CHECK(text.out_has("2 candidates tried, 1 kept\nkeep if v < -5%, at --confidence 95\n"));
  CHECK(text.out_has("try=a"));
  CHECK(text.out_has("lauka -- FIRST LAST"));

  const auto schema =
      json::parse(text_of(std::string(places::kRepository) + "/docs/series.schema.json"));
  for (const std::string& fault : faults(state_of(file), schema)) FAIL_CHECK(fault);
}

TEST_CASE("a failed command leaves a candidate without a decision, which counts as tried") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  CHECK(lauka({"-r3", "--keep-if-faster", "--series", file, "--", "true", "false"}).status == 1);
  const json state = state_of(file);
  CHECK(state.at("tried") == 1);
  CHECK(state.at("kept") == 0);
  CHECK(state.at("without_decision") == 1);
  CHECK(completed({"--series", file}).out_has("1 without a decision, which counts as not kept"));
}

TEST_CASE("a gate that fails keeps nothing in a series") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  CHECK(lauka(with_echoes(in_series(file, {"--fail-if", "value(v) < 45"}), 50, 40)).status == 3);
  CHECK(state_of(file).at("decisions").at(0).at("decision") == "fail");
}

TEST_CASE("a call with other terms is refused before it tries anything") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  CHECK(decide(file, 40).status == 0);

  const std::string other_confidence =
      refusal(with_echoes(in_series(file, {"--confidence", "99"}), 50, 40));
  check_order(other_confidence, {"was begun with --confidence 95", "99", "another file"});
  const std::string other_condition =
      refusal(with_echoes({"-r20", "--keep-if", "v < -6", "--series", file}, 50, 40));
  check_order(other_condition, {"the conditions 'keep if v < -5%'", "'keep if v < -6%'"});
  check_order(refusal(with_echoes(in_series(file, {"--jobs", "2"}), 50, 40)), {"--jobs 1", "2"});
  CHECK(state_of(file).at("tried") == 1);
}

TEST_CASE("a file that is no series, or is damaged, is refused and left as it is") {
  const Folder folder;
  const std::string foreign = folder.file("foreign");
  std::ofstream(foreign) << "my notes\n";
  CHECK(has(refusal(with_echoes(in_series(foreign), 50, 40)), "is not a series"));
  CHECK(text_of(foreign) == "my notes\n");

  const std::string file = folder.file("tries.jsonl");
  CHECK(decide(file, 40).status == 0);
  std::string text = text_of(file);
  text.replace(text.find("\"kept\""), 6, "\"fail\"");
  std::ofstream(file) << text;
  CHECK(has(refusal(with_echoes(in_series(file), 50, 40)), "is damaged in line 3"));
  CHECK(has(refusal({"--series", file}), "is damaged in line 3"));
  CHECK(text_of(file) == text);
}

TEST_CASE("a missing file is no series to show, and is not made") {
  const Folder folder;
  const std::string file = folder.file("none");
  CHECK(has(refusal({"--series", file}), "there is no series"));
  CHECK_FALSE(exists(file));
}

TEST_CASE("an unfinished last line is removed with a note") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  CHECK(decide(file, 40).status == 0);
  std::ofstream(file, std::ios::app) << "{\"kind\":\"rese";
  CHECK(state_of(file).at("tried") == 1);
  const Said next = decide(file, 40);
  CHECK(next.err_has("was incomplete"));
  CHECK(state_of(file).at("tried") == 2);
}

TEST_CASE("a number of runs that is too small for the level is noted") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  const Said few = lauka(with_echoes({"-r5", "--keep-if", "v < -5", "--series", file}, 50, 40));
  CHECK(few.err_has("5 runs are too few to keep a candidate at a level of 0.008"));
  CHECK_FALSE(decide(file, 40).err_has("too few to keep"));
}

TEST_CASE("a reference that is not the last kept candidate is noted, and recorded") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  const auto write = [&](const std::string& name, int value) {
    std::ofstream(folder.file(name)) << value << "\n";
    return "cat " + folder.file(name);
  };
  const auto decide_between = [&](const std::string& best, const std::string& candidate) {
    auto options = in_series(file, {kScrape, "--", best, candidate});
    return lauka(options);
  };

  const std::string best = write("best", 50);
  CHECK(decide_between(best, write("first", 40)).status == 0);
  // The loop forgot to move the candidate.
  const Said forgotten = decide_between(best, write("second", 60));
  CHECK(forgotten.err_has("the last kept candidate"));
  CHECK(state_of(file).at("decisions").at(1).at("other_reference") == true);

  const Said moved = decide_between(write("best", 40), write("third", 60));
  CHECK_FALSE(moved.err_has("the last kept candidate"));
  CHECK(state_of(file).at("decisions").at(2).at("other_reference") == false);
}

TEST_CASE("a decision that cannot be written is status 1, and the candidate is not kept") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  // The first run of the candidate damages the file.
  const std::string candidate = "sh -c 'echo damage >>" + file + "; echo 40'";
  const Said said = lauka(in_series(file, {kScrape, "--", "echo 50", candidate}));
  CHECK(said.status == 1);
  CHECK(said.err_has("the candidate is not kept"));
  CHECK(said.out_has("not kept, undecided: the decision is not in the file of the series"));
}

TEST_CASE("--series needs a condition for keeping, and commands go with one") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  CHECK(has(refusal({"--series", file, "--", "true", "true"}), "add --keep-if-faster"));
  CHECK(has(refusal({"--series", file, "--keep-if-faster"}), "no command"));
  CHECK(has(refusal({"--series", file, "--export-csv", "-"}), "--export-json only"));
  CHECK_FALSE(exists(file));
}

TEST_CASE("ten calls at once lose nothing, and share no number") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  run_script(folder, file,
             "for i in 1 2 3 4 5 6 7 8 9 10; do decide \"echo 4$((i % 10))\" & done; wait\n");

  const json state = state_of(file);
  CHECK(state.at("tried") == 10);
  CHECK(state.at("without_decision") == 0);
  std::set<int> numbers;
  std::set<std::string> candidates;
  for (const json& decision : state.at("decisions")) {
    numbers.insert(decision.at("number").get<int>());
    candidates.insert(decision.at("candidate").at("name").get<std::string>());
  }
  CHECK(numbers.size() == 10);
  CHECK(candidates.size() == 10);
}

TEST_CASE("kills leave every acknowledged decision in the file, whole and once") {
  const Folder folder;
  const std::string file = folder.file("tries.jsonl");
  // Four writers in turns; each call has its own candidate, and some are killed.
  run_script(
      folder, file,
      "cd '" + folder.path() +
          "'\n"
          "writer() {\n"
          "  for i in 1 2 3 4 5; do\n"
          "    decide \"echo 40 $1 $i\" & pid=$!\n"
          "    sleep 0.$((($1 * 37 + $i * 53) % 90 + 10))\n"
          "    [ $((($1 + $i) % 2)) = 0 ] && kill -9 $pid\n"
          "    wait $pid; status=$?\n"
          "    [ $status = 0 ] || [ $status = 5 ] && echo \"echo 40 $1 $i\" >>acknowledged.$1\n"
          "  done\n"
          "}\n"
          "for w in 1 2 3 4; do writer $w & done; wait\n");

  const json state = state_of(file);
  std::multiset<std::string> decided;
  for (const json& decision : state.at("decisions"))
    decided.insert(decision.at("candidate").at("name").get<std::string>());
  std::size_t acknowledged = 0;
  for (int writer = 1; writer <= 4; ++writer) {
    const std::string list = folder.file("acknowledged." + std::to_string(writer));
    if (!exists(list)) continue;
    for (const std::string& name : lines_of(text_of(list))) {
      CAPTURE(name);
      CHECK(decided.count(name) == 1);
      ++acknowledged;
    }
  }
  CHECK(acknowledged > 0);
  CHECK(state.at("tried").get<std::size_t>() >= acknowledged);
}

}  // namespace lauka::contract
