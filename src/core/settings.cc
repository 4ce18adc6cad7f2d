#include "core/settings.h"

#include "core/text.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lauka {

namespace {

using Entries = std::multimap<std::string, std::string>;

/// Returns the entries of a list by name; none of kNoSetting, and of a text that is not quoted
/// correctly.
Entries entries_of(const std::string& text) {
  Entries entries;
  const auto words = split_words(text);
  if (!words || text == kNoSetting) return entries;
  for (const std::string& word : *words) {
    const std::size_t equals = std::min(word.find('='), word.size());
    entries.emplace(word.substr(0, equals), word.substr(std::min(equals + 1, word.size())));
  }
  return entries;
}

/// Returns the entries of `all` that `others` does not have.
Entries entries_without(const Entries& all, Entries others) {
  Entries left;
  for (const auto& entry : all) {
    const auto [first, last] = others.equal_range(entry.first);
    const auto same = std::find(first, last, entry);
    if (same == last)
      left.insert(entry);
    else
      others.erase(same);
  }
  return left;
}

/// Returns the entries of the reference as differences. Two values of one name are one difference,
/// with both values, whose entry is removed from `only_in_candidate`. But if a name occurs several
/// times on a side, nothing says which of its values belong together, so each is a difference of
/// its own.
std::vector<EntryDifference> take_pairs(const Entries& only_in_reference,
                                        Entries& only_in_candidate) {
  std::vector<EntryDifference> differences;
  for (const auto& [name, value] : only_in_reference) {
    EntryDifference& entry =
        differences.emplace_back(EntryDifference{.name = name, .reference_value = value});
    const bool is_clear_pair =
        only_in_reference.count(name) == 1 && only_in_candidate.count(name) == 1;
    if (!is_clear_pair) continue;
    entry.candidate_value = std::move(only_in_candidate.find(name)->second);
    only_in_candidate.erase(name);
  }
  return differences;
}

}  // namespace

void SettingValues::add(const SettingValues& others) {
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (others.all_.at(i)) all_.at(i) = others.all_.at(i);
}

std::vector<SettingDifference> find_differences(const SettingValues& reference,
                                                const SettingValues& candidate) {
  std::vector<SettingDifference> differences;
  for (const SettingRow& row : kSettings) {
    const auto& reference_text = reference[row.kind];
    const auto& candidate_text = candidate[row.kind];
    if (reference_text && candidate_text && *reference_text != *candidate_text)
      differences.push_back({row.kind, *reference_text, *candidate_text});
  }
  return differences;
}

// Some settings are lists of entries, such as environment variables: "LANG=C PATH=/bin". A reader
// of a report wants to know which entries differ.
std::vector<EntryDifference> find_differing_entries(const SettingDifference& difference) {
  const Entries in_reference = entries_of(difference.reference_value);
  const Entries in_candidate = entries_of(difference.candidate_value);
  Entries only_in_candidate = entries_without(in_candidate, in_reference);
  std::vector<EntryDifference> differences =
      take_pairs(entries_without(in_reference, in_candidate), only_in_candidate);
  for (const auto& [name, value] : only_in_candidate)
    differences.push_back({.name = name, .candidate_value = value});
  std::ranges::stable_sort(differences, {}, &EntryDifference::name);
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
