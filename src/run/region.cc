#include "run/region.h"

#include <algorithm>
#include <cstddef>

namespace lauka {

std::optional<Error> why_no_region(const os::Ended& ended) {
  const os::RegionUse use = ended.region.value_or(os::RegionUse{});
  if (use.stray > 0)
    return Error{"it called lauka_region_end without a lauka_region_begin before it",
                 "call the two in pairs"};
  if (use.entries == 0)
    return Error{
        "it did not call lauka_region_begin, or something that started it had closed its "
        "descriptors",
        "include lauka/region.h and mark the region; or use -i to go on without it"};
  if (use.is_open)
    return Error{"its region was still open when it ended",
                 "call lauka_region_end before the program ends"};
  if (use.time_ns > ended.usage.wall_ns)
    return Error{"it noted more time in its region than it took",
                 "see that nothing else writes to the memory that it shares with lauka"};
  return std::nullopt;
}

void add_region(const Plan& plan, const os::RegionUse& use,
                std::vector<std::optional<double>>& told) {
  for (std::size_t place = 0; place < plan.told.size(); ++place) {
    const auto& value = plan.told[place].region;
    if (!value) continue;
    told.resize(std::max(told.size(), place + 1));
    told[place] = *value == RegionValue::Time ? static_cast<double>(use.time_ns) / 1e9
                                              : static_cast<double>(use.entries);
  }
}

}  // namespace lauka
