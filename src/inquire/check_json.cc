#include "inquire/answers.h"
#include "report/json_machine.h"

#include <nlohmann/json.hpp>

namespace lauka::inquire {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const EngineFacts& engine) {
  Json json;
  json["name"] = row_of(engine.engine).name;
  json["counts"] = !engine.missing.has_value();
  json["events"] = engine.events;
  json["notes"] = engine.notes;
  if (!engine.counters.empty()) json["counters"] = Json::array();
  for (const CounterFacts& counters : engine.counters)
    json["counters"].push_back({{"pmu", counters.pmu},
                                {"listed", counters.listed},
                                {"free", counters.free},
                                {"alive", counters.alive}});
  json["why_not"] = engine.missing ? Json(engine.missing->what) : Json(nullptr);
  json["remedy"] = engine.missing ? Json(engine.missing->remedy) : Json(nullptr);
  return json;
}

}  // namespace

std::string check_json(const MachineFacts& facts, std::span<const EngineFacts> engines,
                       std::span<const CheckLine> lines) {
  Json document;
  document["machine"] = report::json_of(facts.machine);
  document["engines"] = Json::array();
  for (const EngineFacts& engine : engines) document["engines"].push_back(json_of(engine));
  document["checks"] = Json::array();
  for (const CheckLine& line : lines) {
    document["checks"].push_back(
        {{"topic", line.topic},
         {"standing", name_of(line.standing)},
         {"finding", line.finding},
         {"remedy", line.remedy.empty() ? Json(nullptr) : Json(line.remedy)}});
  }
  return report::dumped(Json{{"check", document}}, 2) + "\n";
}

}  // namespace lauka::inquire
