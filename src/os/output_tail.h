#pragma once

#include <cstddef>
#include <string>

#include <sys/types.h>

// The end of what a run wrote to standard error. Internal to os/.

namespace lauka::os {

/// The end of a text that comes in pieces.
class OutputTail {
 public:
  void clear() { text_.clear(); }
  void add(const char* bytes, std::size_t count);
  /// Its last lines, whole: at most 20 and about 4 KB.
  std::string last_lines() const;

 private:
  std::string text_;
};

/// The same of a file.
std::string last_lines_of_file(int fd);

}  // namespace lauka::os
