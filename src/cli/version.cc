#include "cli/version.h"

namespace lauka::cli {

std::string_view version() {
  return LAUKA_VERSION;
}

}  // namespace lauka::cli
