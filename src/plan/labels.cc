#include "plan/labels.h"

#include "core/text.h"

#include <algorithm>
#include <string>

namespace lauka {

std::vector<Label> labels_of_git(std::string_view status) {
  std::vector<Label> labels;
  bool is_dirty = false;
  for (const std::string_view line : split(status, '\n')) {
    const auto words = blank_separated(line);
    if (words.empty()) continue;
    if (words[0] != "#") is_dirty = true;
    if (words.size() < 3 || words[0] != "#") continue;
    if (words[1] == "branch.oid" && words[2] != "(initial)")
      labels.push_back({"commit", std::string(words[2])});
    if (words[1] == "branch.head" && words[2] != "(detached)")
      labels.push_back({"branch", std::string(words[2])});
  }
  if (!labels.empty()) labels.push_back({"dirty", is_dirty ? "yes" : "no"});
  return labels;
}

std::vector<Label> with_given(std::vector<Label> given, const std::vector<Label>& found) {
  for (const Label& one : found) {
    const bool is_given =
        std::ranges::any_of(given, [&](const Label& label) { return label.key == one.key; });
    if (!is_given) given.push_back(one);
  }
  std::ranges::sort(given, [](const Label& a, const Label& b) { return a.key < b.key; });
  return given;
}

}  // namespace lauka
