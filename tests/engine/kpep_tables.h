#pragma once

#include "engine/kperf/kpep.h"
#include "places.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace lauka::engine::kperf {

/// The events of a chip ("m1" to "m5") as tests/data/kpep/CHIP.tsv has them.
inline std::vector<KpepEvent> table_of(const std::string& chip) {
  std::ifstream file(std::string(places::kRepository) + "/tests/data/kpep/" + chip + ".tsv");
  std::vector<KpepEvent> events;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string name, number, mask, fixed, alias, description;
    for (std::string* field : {&name, &number, &mask, &fixed, &alias, &description})
      std::getline(fields, *field, '\t');
    KpepEvent& event = events.emplace_back();
    event.name = name;
    event.alias = alias;
    event.description = description;
    event.selector_number = static_cast<std::uint16_t>(std::stoul(number));
    event.mask = static_cast<CounterMask>(std::stoul(mask, nullptr, 2));
    event.is_fixed = fixed == "1";
  }
  return events;
}

/// The masks of the configurable ones.
inline std::vector<CounterMask> configurable_masks(const std::vector<KpepEvent>& events) {
  std::vector<CounterMask> masks;
  for (const KpepEvent& event : events)
    if (!event.is_fixed) masks.push_back(event.mask);
  return masks;
}

}  // namespace lauka::engine::kperf
