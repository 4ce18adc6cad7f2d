#include "os/machine.h"

#include <cstddef>

#include <sys/sysctl.h>
#include <sys/types.h>

namespace lauka::os {
namespace {

/// A system variable that is a text; empty where there is none of that name.
std::string text_of(const char* name) {
  std::size_t size = 0;
  if (sysctlbyname(name, nullptr, &size, nullptr, 0) != 0 || size == 0) return "";
  std::string text(size, '\0');
  if (sysctlbyname(name, text.data(), &size, nullptr, 0) != 0) return "";
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  return text;
}

}  // namespace

std::string cpu_model() {
  return text_of("machdep.cpu.brand_string");
}

std::string os_name() {
  const std::string version = text_of("kern.osproductversion");
  return version.empty() ? "macOS" : "macOS " + version;
}

}  // namespace lauka::os
