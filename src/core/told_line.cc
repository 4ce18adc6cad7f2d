#include "core/told_line.h"

#include "core/foreign_text.h"
#include "core/text.h"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace lauka {
namespace {

constexpr const char* kToldExample = "write, for example, 'requests 1234 higher sum'";

std::optional<Combine> combine_of(std::string_view word) {
  if (word == "sum") return Combine::Sum;
  if (word == "mean") return Combine::Mean;
  if (word == "last") return Combine::Last;
  return std::nullopt;
}

}  // namespace

Result<ToldLine> parse_told_line(std::string_view line) {
  std::vector<std::string_view> words = blank_separated(line);
  if (words.size() < 2) return Error{"is not NAME VALUE", kToldExample};
  if (!is_own_name(words[0]))
    return Error{fmt::format("has {} for a name", cited(words[0])),
                 "begin it with a letter, and go on with letters, digits, _ . - / or %"};
  ToldLine told{.metric = {.name = std::string(words[0])}, .value = words[1]};
  words.erase(words.begin(), words.begin() + 2);
  if (!words.empty() && (told.combine = combine_of(words.back()))) words.pop_back();
  if (!words.empty()) {
    told.better = better_of(words.back());
    told.metric.better = told.better.value_or(told.metric.better);
    if (told.better) words.pop_back();
  }
  if (words.empty()) {
    const std::string_view suffix = told.value.substr(told.value.find_last_of("0123456789.") + 1);
    const OwnUnit unit = own_unit_of(suffix);
    if (suffix.size() < told.value.size() && unit.unit != Unit::Ratio) told.metric.unit = unit;
    return told;
  }
  const std::string_view unit = words.front();
  if (words.size() > 1 || !is_unit_word(unit))
    return Error{fmt::format("has {}, which is no unit, higher, lower, sum, mean or last",
                             cited(words.back())),
                 kToldExample};
  told.metric.unit = own_unit_of(unit);
  return told;
}

}  // namespace lauka
