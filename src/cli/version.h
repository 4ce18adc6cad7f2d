#pragma once

#include <string>
#include <string_view>

namespace lauka::cli {

/// "0.1.0", of the project in CMakeLists.txt.
std::string_view version();

/// What --version prints.
std::string version_line();

}  // namespace lauka::cli
