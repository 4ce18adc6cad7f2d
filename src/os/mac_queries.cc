#include "os/mac_queries.h"

#include <algorithm>
#include <array>

namespace lauka::os {

std::optional<std::string> sysctl_text(const DarwinCalls& calls, const std::string& name) {
  std::array<char, 256> bytes{};
  std::size_t length = bytes.size() - 1;
  if (calls.sysctlbyname(name.c_str(), bytes.data(), &length, nullptr, 0) != 0) return std::nullopt;
  return bytes.data();
}

std::optional<std::int64_t> sysctl_number(const DarwinCalls& calls, const std::string& name) {
  std::int64_t value = 0;
  std::size_t length = sizeof value;
  if (calls.sysctlbyname(name.c_str(), &value, &length, nullptr, 0) != 0) return std::nullopt;
  if (length == sizeof(std::int32_t)) return static_cast<std::int32_t>(value);
  return length == sizeof value ? std::optional(value) : std::nullopt;
}

std::vector<pid_t> find_children(const DarwinCalls& calls, pid_t parent) {
  for (std::size_t room = 64;; room *= 2) {
    std::vector<pid_t> children(room);
    const int count = calls.proc_listchildpids(parent, children.data(),
                                               static_cast<int>(room * sizeof children[0]));
    if (count >= static_cast<int>(room)) continue;
    children.resize(static_cast<std::size_t>(std::max(count, 0)));
    return children;
  }
}

}  // namespace lauka::os
