#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lauka {

/// Adds and checks a seal at the end of each line of a log. A seal depends on the line and on all
/// earlier lines, so that changes are noticed.
class Seals {
 public:
  /// Returns the line, a space and its seal.
  std::string seal(std::string line);

  /// Returns the next line of the log without its seal; nullopt if the seal is wrong.
  std::optional<std::string_view> open(std::string_view sealed);

  /// Returns an object in one line of JSON with its seal as the last member.
  std::string seal_json(std::string_view object);

  /// Returns the next line of a log of JSON without its seal; nullopt if the seal is wrong.
  std::optional<std::string> open_json(std::string_view sealed);

 private:
  std::string latest_;
};

}  // namespace lauka
