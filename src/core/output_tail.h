#pragma once

#include <string>
#include <string_view>

namespace lauka {

/// The end of a text that comes in pieces.
class OutputTail {
 public:
  static constexpr int kShown = 4096;  // bytes, about

  void clear() { text_.clear(); }
  void add(std::string_view bytes);

  /// Its last lines, whole: at most 20 and about 4 KB.
  std::string last_lines() const;

 private:
  std::string text_;
};

/// The same of a whole text.
std::string last_lines_of(std::string text);

}  // namespace lauka
