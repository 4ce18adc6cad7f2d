#pragma once

#include "cli/parse.h"

#include <string>
#include <vector>

namespace lauka::cli {

using Words = std::vector<std::string>;

/// Reads a command line, without the program's name.
inline Result<Options> parsed(const Words& words) {
  std::vector<const char*> argv = {"lauka"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return parse(static_cast<int>(argv.size()), argv.data());
}

/// The line that refuses a command line; "accepted" if none does.
inline std::string answer_to(const Words& words) {
  const auto options = parsed(words);
  return options ? "accepted" : options.error().line();
}

}  // namespace lauka::cli
