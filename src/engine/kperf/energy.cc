#include "engine/kperf/energy.h"

#include "engine/text.h"

#include <string>
#include <vector>

namespace lauka::engine::kperf {
namespace {

constexpr std::string_view kName = "energy";
constexpr std::string_view kMeaning =
    "energy of the command's own process, without its children, by the kernel's accounting";

}  // namespace

bool is_energy_name(std::string_view name) {
  return same_ignoring_case(name, kName);
}

bool take_energy(std::vector<std::string>& names) {
  return std::erase_if(names, is_energy_name) > 0;
}

CatalogEntry energy_entry() {
  return {std::string(kName), std::string(kName), "accounting", std::string(kMeaning)};
}

void add_energy(EventSet& set) {
  const std::size_t index = set.events.size();
  Event& event = set.events.emplace_back();
  event.name = kName;
  event.meaning = kMeaning;
  event.is_energy = true;
  if (set.passes.empty()) set.passes.emplace_back();
  for (Pass& pass : set.passes) pass.events.push_back(index);
}

void add_energy(Explanation& explanation) {
  if (explanation.passes.empty()) explanation.passes.emplace_back();
  for (auto& seats : explanation.passes)
    seats.push_back({"kernel", std::string(kName), std::string(kMeaning)});
}

std::optional<std::uint64_t> energy_of(const os::Ended& ended) {
  if (!ended.totals) return std::nullopt;
  return ended.totals->energy_nj;
}

}  // namespace lauka::engine::kperf
