#include "os/output_tail.h"

#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr std::size_t kEndShown = 4096;
constexpr int kLinesShown = 20;

/// Whole lines of the last bytes of `text`.
std::string last_lines(std::string text) {
  if (text.size() > kEndShown) {
    text.erase(0, text.size() - kEndShown);
    const std::size_t first_end = text.find('\n');
    if (first_end != std::string::npos && first_end + 1 < text.size()) text.erase(0, first_end + 1);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t begin = text.size();
  for (int line = 0; line < kLinesShown && begin != std::string::npos && begin > 0; ++line) {
    begin = text.rfind('\n', begin - 1);
  }
  if (begin != std::string::npos && begin > 0) text.erase(0, begin + 1);
  return text;
}

}  // namespace

void OutputTail::add(const char* bytes, std::size_t count) {
  text_.append(bytes, count);
  if (text_.size() > 2 * kEndShown) text_.erase(0, text_.size() - kEndShown);
}

std::string OutputTail::last_lines() const {
  return os::last_lines(text_);
}

std::string last_lines_of_file(int fd) {
  struct stat file {};
  if (fstat(fd, &file) != 0) return "";
  std::string text(2 * kEndShown, '\0');
  const off_t from = file.st_size > off_t{2 * kEndShown} ? file.st_size - off_t{2 * kEndShown} : 0;
  const ssize_t got = pread(fd, text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return last_lines(std::move(text));
}

}  // namespace lauka::os
