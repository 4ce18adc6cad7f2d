#include "core/settings.h"

#include "core/text.h"

#include <algorithm>

namespace lauka {

void SettingValues::add(const SettingValues& others) {
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (others.all_.at(i)) all_.at(i) = others.all_.at(i);
}

std::vector<SettingDifference> find_differences(const SettingValues& reference,
                                                const SettingValues& candidate) {
  std::vector<SettingDifference> differences;
  for (const SettingRow& row : kSettings) {
    const auto& there = reference[row.kind];
    const auto& here = candidate[row.kind];
    if (there && here && *there != *here) differences.push_back({row.kind, *there, *here});
  }
  return differences;
}

std::vector<std::string> words_of_only_one(std::string_view a, std::string_view b) {
  const auto words_of_a = blank_separated(a);
  const auto words_of_b = blank_separated(b);
  std::vector<std::string> words;
  const auto add = [&](const auto& all, const auto& others) {
    for (const std::string_view word : all)
      if (std::ranges::find(others, word) == others.end()) words.emplace_back(word);
  };
  add(words_of_a, words_of_b);
  add(words_of_b, words_of_a);
  return words;
}

}  // namespace lauka
