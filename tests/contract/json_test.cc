#include "contract/program.h"
#include "contract/schema.h"
#include "places.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// --export-json: its schema, and the two versions of hyperfine whose readers it serves.

namespace lauka::contract {
namespace {

using nlohmann::json;

const json& schema() {
  static const json kSchema =
      json::parse(text_of(std::string(places::kRepository) + "/docs/schema.json"));
  return kSchema;
}

json exported(std::vector<std::string> arguments) {
  const Folder folder;
  arguments.insert(arguments.begin(), {"-q", "--export-json", folder.file("out.json")});
  lauka(std::move(arguments));
  return json::parse(text_of(folder.file("out.json")));
}

// NOLINTBEGIN(misc-no-recursion): as deep as the document
/// True if `ours` has each key of `theirs`, with a value of the same type.
void check_has_all(const json& ours, const json& theirs, const std::string& place) {
  for (const auto& [key, value] : theirs.items()) {
    std::string there = place;
    there += "/" + key;
    INFO(there);
    REQUIRE(ours.contains(key));
    const json& mine = ours.at(key);
    CHECK(std::string(mine.type_name()) == value.type_name());
    if (value.is_object()) check_has_all(mine, value, there);
    if (value.is_array() && !value.empty()) {
      REQUIRE_FALSE(mine.empty());
      CHECK(std::string(mine.at(0).type_name()) == value.at(0).type_name());
      if (value.at(0).is_object()) check_has_all(mine.at(0), value.at(0), there + "/0");
    }
  }
}

// NOLINTEND(misc-no-recursion)

json recorded(const std::string& name) {
  return json::parse(text_of(data(name)));
}

}  // namespace

TEST_CASE("what --export-json writes is as docs/schema.json says") {
  check_schema(exported({"-r3", "--", fixture("burn") + " 2ms", "true"}));
  check_schema(exported({"-r1", "--", "true"}));
  check_schema(exported({"-r12", "--order", "sequential", "--fail-if-slower=5", "--fail-if",
                         "peak_rss > 1", "-n", "old", "--", "true", "true"}));
  check_schema(exported({"-d", "10ms", "--precision", "90", "--", "true", "true"}));
}

TEST_CASE("the JSON of a session that was cut short is as docs/schema.json says") {
  const json failed = exported({"-r3", "-w0", "--", fixture("fail") + " status 3"});
  check_schema(failed);
  CHECK(failed.at("lauka").at("complete") == false);
  const json killed =
      exported({"-r2", "-w0", "-i", "--timeout", "10ms", "--", fixture("hang"), "true"});
  check_schema(killed);
  CHECK(killed.at("results").at(0).at("times").empty());
  CHECK(killed.at("results").at(0).at("lauka").at("runs").size() == 2);
}

TEST_CASE("the schema's test finds what is missing, wrong or not documented") {
  json document = exported({"-r2", "--", "true", "true"});
  REQUIRE(faults(document, schema()).empty());
  json broken = document;
  broken["results"][0].erase("times");
  broken["lauka"]["order"] = "alphabetical";
  broken["lauka"]["seed"] = "7";
  broken["results"][1]["lauka"]["metrics"]["wall_time"]["delta"].erase("significant");
  broken["lauka"]["surprise"] = 1;
  broken["results"][1]["lauka"]["runs"][0]["round"] = 0;
  CHECK(faults(broken, schema()).size() >= 6);
  CHECK(faults(json(1), json({{"maxLength", 1}})).size() == 1);
  CHECK(faults(json("b"), json({{"pattern", "^a$"}})).size() == 1);
  CHECK(faults(json("a"), json({{"pattern", "^a$"}})).empty());
}

TEST_CASE("a file has every key, of the same type, that hyperfine 1 writes") {
  json theirs = recorded("hyperfine-1.json");
  theirs["results"][0].erase("parameters");  // none here
  const json ours = exported({"-r3", "--", fixture("touch_memory") + " 50MB", "true"});
  check_has_all(ours, theirs, "");
  CHECK(ours.at("results").at(0).at("memory_usage_byte").at(0).is_number_unsigned());
}

TEST_CASE("a file has every key, of the same type, that hyperfine's schema 2 has") {
  json theirs = recorded("hyperfine-2.json");
  for (json& result : theirs["results"]) result.erase("parameters");  // none here
  theirs["metadata"].erase("hyperfine_version");                      // lauka_version
  const json ours =
      exported({"-r3", "-n", "a", "-n", "b", "--", fixture("touch_memory") + " 50MB", "true"});
  check_has_all(ours, theirs, "");
}

TEST_CASE("the parameters of a command are exported as hyperfine 2 has them") {
  const json document = exported({"-r1", "-L", "n", "1,2", "--", "echo {n}", "true"});
  check_schema(document);
  CHECK(document.at("results").at(0).at("parameters") == json({{"n", {{"value", "1"}}}}));
  CHECK_FALSE(document.at("results").at(1).contains("parameters"));
  CHECK(document.at("results").at(2).at("parameters") == json({{"n", {{"value", "2"}}}}));
}

TEST_CASE("the shell and what its start takes are exported") {
  const json document = exported({"-S", "-r1", "--", "true"});
  check_schema(document);
  CHECK(document.at("lauka").at("shell") == "sh");
  const json& overhead = document.at("results").at(0).at("lauka").at("shell_overhead");
  CHECK(overhead.at("wall_time").get<double>() > 0.0);
  const json direct = exported({"-r1", "--", "true"});
  CHECK(direct.at("lauka").at("shell") == nullptr);
  CHECK(direct.at("results").at(0).at("lauka").at("shell_overhead") == nullptr);
}

TEST_CASE("the exported numbers equal the CSV's") {
  const Folder folder;
  lauka("-q -r5 -n a -n b --export-json " + folder.file("o.json") + " --export-csv " +
            folder.file("o.csv"),
        {fixture("burn") + " 2ms", "true"});
  const json document = json::parse(text_of(folder.file("o.json")));
  const std::string csv = text_of(folder.file("o.csv"));
  const json& b = document.at("results").at(1);
  CHECK(b.at("mean").get<double>() == std::stod(csv_value(csv, "b", "wall_time", "mean")));
  CHECK(b.at("stddev").get<double>() == std::stod(csv_value(csv, "b", "wall_time", "stddev")));
  CHECK(b.at("lauka").at("metrics").at("cpu_time").at("delta").at("low_percent").get<double>() ==
        std::stod(csv_value(csv, "b", "cpu_time", "delta_low_percent")));
}

TEST_CASE("--export-json - writes to standard output, alone") {
  const Said said = lauka("-r2 --export-json -", {"true"});
  CHECK(json::parse(said.out).at("schema_version") == 2);
  CHECK(said.err_has("wall_time"));
}

TEST_CASE("the order of the runs is exported, and repeats with the exported seed") {
  const json first = exported(words("-r8", {"true", "true", "true"}));
  const json second = exported(
      words("-r8 --seed " + first.at("lauka").at("seed").dump(), {"true", "true", "true"}));
  for (std::size_t c = 0; c < 3; ++c)
    CHECK(first.at("results").at(c).at("lauka").at("runs") ==
          second.at("results").at(c).at("lauka").at("runs"));
}

}  // namespace lauka::contract
