#include "contract/program.h"
#include "contract/schema.h"

#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// --baseline, with files of lauka and of both versions of hyperfine.

namespace lauka::contract {
using nlohmann::json;

TEST_CASE("a candidate is compared with the runs of an earlier file, and gated against them") {
  const Folder folder;
  const std::string old = folder.file("old.json");
  completed("-q -r10 -n it --export-json " + old, {work(50)});
  const Said worse =
      lauka("-r10 -n it --baseline " + old + " --fail-if 'cpu_time > 20' --export-json " +
                folder.file("new.json"),
            {work(100)});
  CHECK(worse.status == 3);
  CHECK(worse.out_has("Deltas are against " + old + ", measured earlier.\n"));
  CHECK(worse.out_has("cpu_time > 20%: fail: more than 20% higher, with confidence (measured "));
  CHECK(worse.err_has("deltas against a baseline include"));
  CHECK_FALSE(worse.err_has("under other conditions"));
  const json document = json::parse(text_of(folder.file("new.json")));
  check_schema(document);
  CHECK(document.at("lauka").at("paired") == false);
  CHECK(document.at("lauka").at("baseline").at("commands") == json({"it"}));
  CHECK(document.at("lauka").at("gates").at(0).at("command") == 0);
  const Said better = completed(
      {"-q", "-r10", "-n", "it", "--baseline", old, "--fail-if", "cpu_time > 20", "--", work(30)});
  CHECK(better.out_has("cpu_time > 20%: pass: at most 20% higher, with confidence (measured "));
}

TEST_CASE("what is another machine, kernel, processor or lauka than the baseline's is named") {
  const Folder folder;
  completed("-q -r2 --export-json " + folder.file("a.json"), {"true"});
  json document = json::parse(text_of(folder.file("a.json")));
  document["lauka"]["machine"]["name"] = "elsewhere";
  document["lauka"]["machine"]["kernel"] = "0.01";
  document["lauka"]["machine"]["cpu_model"] = "8086";
  document["lauka"]["version"] = "0.0.1";
  std::ofstream(folder.file("b.json")) << document;
  const Said said = lauka("-r5 --baseline " + folder.file("b.json"), {"true"});
  for (const char* there :
       {"machine 'elsewhere'", "kernel '0.01'", "processor '8086'", "lauka '0.0.1'"})
    CHECK_MESSAGE(said.err_has(there), there);
}

TEST_CASE("hyperfine's files are baselines of wall time, of either version") {
  for (const char* file : {"hyperfine-1.json", "hyperfine-2.json"}) {
    CAPTURE(file);
    const Said said = completed({"-r5", "-n", "old", "-n", "new", "--baseline", data(file),
                                 "--fail-if-slower=1000", "--", "true", "true"});
    CHECK(said.out_has("old: wall_time > 1000%: pass: "));
    CHECK(said.out_has("new: wall_time > 1000%: pass: "));
    CHECK(said.err_has("does not say which machine"));
  }
}

TEST_CASE("a file that is not a baseline, or lacks something, is refused before anything runs") {
  const Folder folder;
  const std::string mark = folder.file("ran");
  std::ofstream(folder.file("foreign")) << "{\"benchmarks\": []}";
  const std::string touch = "touch " + mark;
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--baseline", "/nosuch", "--", touch}, "'/nosuch' cannot be read"},
      {{"--baseline", folder.file("foreign"), "--", touch}, "neither lauka's nor hyperfine's"},
      {{"--baseline", data("hyperfine-1.json"), "--", touch, touch, "third"}, "lacks 'third'"},
      {{"--baseline", data("hyperfine-1.json"), "--fail-if", "cpu_time > 1", "--", touch},
       "has no cpu_time of 'old'"},
      {{"--baseline", data("hyperfine-1.json"), "--reference", "true", "--", touch},
       "contradict each other"},
  };
  for (const auto& [arguments, reason] : cases) {
    const std::string said = refusal(arguments);
    CHECK(lines_of(said).size() == 1);
    CHECK(has(said, reason));
  }
  CHECK_FALSE(std::ifstream(mark).good());
}

}  // namespace lauka::contract
