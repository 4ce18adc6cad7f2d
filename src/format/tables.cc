#include "format/tables.h"

#include <cmath>
#include <limits>

namespace lauka {

double fraction_of_percent(double percent) {
  const double near = percent / 100.0;
  constexpr double far = std::numeric_limits<double>::infinity();
  for (const double value : {near, std::nextafter(near, -far), std::nextafter(near, far)})
    if (100.0 * value == percent) return value;
  return near;
}

std::vector<std::optional<double>> fractions_of(const stats::Delta& delta) {
  std::vector<std::optional<double>> fractions;
  for (const stats::Change* change :
       {static_cast<const stats::Change*>(&delta), &delta.change_of_mean})
    fractions.insert(fractions.end(),
                     {change->change, low_of(change->bounds), high_of(change->bounds)});
  return fractions;
}

void set_fractions(stats::Delta& delta, const std::vector<std::optional<double>>& fractions) {
  std::size_t place = 0;
  const auto next = [&] {
    const std::size_t at = place++;
    return at < fractions.size() ? fractions[at] : std::nullopt;
  };

  for (stats::Change* change : {static_cast<stats::Change*>(&delta), &delta.change_of_mean}) {
    change->change = next();
    const auto low = next();
    const auto high = next();
    if (low && high) change->bounds = {*low, *high};
  }
}

std::vector<StoredDifference> stored_differences(const std::vector<SettingDifference>& all) {
  std::vector<StoredDifference> stored;
  stored.reserve(all.size());
  for (const SettingDifference& difference : all)
    stored.push_back({std::string(row_of(difference.kind).key), difference.reference_value,
                      difference.candidate_value});
  return stored;
}

std::vector<SettingDifference> differences_of(const std::vector<StoredDifference>& stored) {
  std::vector<SettingDifference> all;
  all.reserve(stored.size());
  for (const StoredDifference& difference : stored) {
    const auto* const row = std::ranges::find(kSettings, difference.setting, &SettingRow::key);
    if (row != kSettings.end())
      all.push_back({row->kind, difference.reference, difference.candidate});
  }
  return all;
}

}  // namespace lauka
