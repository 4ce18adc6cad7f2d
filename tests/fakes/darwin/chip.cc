#include "fakes/darwin/chip.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace lauka::darwin {
namespace {

constexpr std::uint16_t kWithoutPowerManagers = 0x3fc & ~0xe0;  // it keeps PMC5, 6 and 7

/// Events that later databases have and the lists of macOS 15.4 have not, on any board.
bool is_listed(const std::string& name) {
  constexpr std::array unlisted = {"SCHEDULE_EMPTY",
                                   "INST_SIMD_ALU_VEC",
                                   "SCHEDULE_UOP_ANY",
                                   "LDST_UNIT_OLD_L1D_CACHE_MISS",
                                   "LDST_UNIT_WAITING_OLD_L1D_CACHE_MISS",
                                   "LD_UNIT_WAITING_YOUNG_L1D_CACHE_MISS",
                                   "MAP_DISPATCH_BUBBLE_SLOT",
                                   "MAP_RECOVERY",
                                   "MAP_STALL_NONRECOVERY"};
  const bool is_of_arm = name.rfind("ARM_", 0) == 0;
  const bool is_of_sme = name.rfind("SME_", 0) == 0 || name.find("_SME_") != std::string::npos;
  return !is_of_arm && !is_of_sme &&
         std::find(unlisted.begin(), unlisted.end(), name) == unlisted.end();
}

std::vector<ChipEvent> events_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("no table " + path);
  std::vector<ChipEvent> events;
  std::string line;
  std::getline(file, line);  // the heads of the columns
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::array<std::string, 4> field;
    for (std::string& text : field) std::getline(fields, text, '\t');
    const auto number = static_cast<std::uint16_t>(std::stoul(field[1]));
    const auto mask = static_cast<std::uint16_t>(std::stoul(field[2], nullptr, 2));
    events.push_back({field[0], number, mask, field[3] == "1", is_listed(field[0])});
  }
  return events;
}

}  // namespace

const ChipEvent* Chip::event(std::uint16_t number) const {
  const auto found = std::find_if(events.begin(), events.end(), [number](const ChipEvent& event) {
    return !event.fixed && event.number == number;
  });
  return found == events.end() ? nullptr : &*found;
}

std::uint16_t Chip::any_selector() const {
  const auto found = std::find_if(events.begin(), events.end(), [](const ChipEvent& event) {
    return !event.fixed && event.listed;
  });
  return found->number;
}

bool Chip::lists(std::uint16_t number) const {
  return std::any_of(events.begin(), events.end(), [number](const ChipEvent& event) {
    return !event.fixed && event.listed && event.number == number;
  });
}

Chip chip_named(const std::string& name, const std::string& tables) {
  std::vector<Chip> chips = {
      {"m1", "Apple M1", "a14", 0x1b588bb3, 4, 4, 0xff},
      {"m2", "Apple M2 Pro", "a15", 0xda33d83d, 6, 4, 0xff},
      {"m3", "Apple M3", "as1", 0xfa33415e, 4, 4},
      {"m4", "Apple M4", "as4", 0x6f5129ac, 4, 6, 0xffff, kWithoutPowerManagers},
      {"m5", "Apple M5", "as5", 0x1d5a87e8, 4, 6, 0xffff, kWithoutPowerManagers},
  };
  for (Chip& chip : chips) {
    if (chip.name != name) continue;
    std::string path = tables;
    path.append("/").append(name).append(".tsv");
    chip.events = events_of(path);
    return chip;
  }
  throw std::runtime_error("no chip " + name);
}

}  // namespace lauka::darwin
