#include "os/variable.h"

#include <cstdlib>

namespace lauka::os {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace lauka::os
