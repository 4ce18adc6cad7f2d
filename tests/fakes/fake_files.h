#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Files that are only in a map, by their paths.

namespace lauka::fakes {

using Files = std::map<std::string, std::string>;

/// Returns the contents of a file; nullopt if missing.
inline std::optional<std::string> text_in(const Files& files, const std::string& path) {
  const auto found = files.find(path);
  if (found == files.end()) return std::nullopt;
  return found->second;
}

/// Returns the names in a folder.
inline std::vector<std::string> names_in(const Files& files, const std::string& folder) {
  std::set<std::string> names;
  for (const auto& [file, text] : files)
    if (file.starts_with(folder + "/"))
      names.insert(
          file.substr(folder.size() + 1, file.find('/', folder.size() + 1) - folder.size() - 1));
  return {names.begin(), names.end()};
}

}  // namespace lauka::fakes
