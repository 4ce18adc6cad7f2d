#include "cli/version.h"

namespace lauka::cli {

std::string_view version() {
  return LAUKA_VERSION;
}

std::string version_line() {
  return "lauka " + std::string(version()) + "\n";
}

}  // namespace lauka::cli
