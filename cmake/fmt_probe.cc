#include <string>
#include <vector>

#include <fmt/format.h>

// What the program uses of fmt: links only where fmt_static.cc holds all of it.
int main(int count, char** words) {
  std::string text = fmt::format("{:>{}} {:.3f} {:.17g} {:+.1f} {:x}", words[0], count, 1.5 * count,
                                 0.1 * count, 2.5, static_cast<unsigned>(count));
  text +=
      fmt::to_string(0.3 * count) + fmt::format("{} {:02} {}", 1.5F, std::string_view(text).size(),
                                                fmt::join(std::vector<int>{1, 2}, ","));
  fmt::format_to(std::back_inserter(text), "{:<8}|{:c}", text, 'x');
  return text.empty() ? 1 : 0;
}
