#pragma once

#include <string_view>

namespace lauka::cli {

/// "0.1.0", of the project in CMakeLists.txt.
std::string_view version();

}  // namespace lauka::cli
