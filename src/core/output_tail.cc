#include "core/output_tail.h"

#include <algorithm>
#include <cstddef>

namespace lauka {
namespace {

constexpr std::size_t kEndShown = OutputTail::kShown;
constexpr int kLinesShown = 20;

}  // namespace

std::string last_lines_of(std::string text) {
  if (text.size() > kEndShown) {
    text.erase(0, text.size() - kEndShown);
    const std::size_t first_end = text.find('\n');
    if (first_end != std::string::npos && first_end + 1 < text.size()) text.erase(0, first_end + 1);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t begin = text.size();
  for (int line = 0; line < kLinesShown && begin != std::string::npos && begin > 0; ++line)
    begin = text.rfind('\n', begin - 1);
  if (begin != std::string::npos && begin > 0) text.erase(0, begin + 1);
  return text;
}

void OutputTail::add(std::string_view bytes) {
  text_ += bytes.substr(bytes.size() - std::min(bytes.size(), 2 * kEndShown));
  if (text_.size() > 2 * kEndShown) text_.erase(0, text_.size() - kEndShown);
}

std::string OutputTail::last_lines() const {
  return last_lines_of(text_);
}

}  // namespace lauka
