#pragma once

#include <string>

namespace lauka {

/// Where the numbers were taken. What the system does not tell is empty, or 0.
struct Machine {
  std::string name{};          ///< the host's
  std::string system{};        ///< "Linux", "Darwin"
  std::string os{};            ///< with its version: "Debian GNU/Linux 12 (bookworm)", "macOS 14.5"
  std::string kernel{};        ///< its release
  std::string architecture{};  ///< "x86_64", "arm64"
  std::string cpu_model{};
  unsigned cpus = 0;  ///< logical ones, online
};

}  // namespace lauka
