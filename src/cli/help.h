#pragma once

#include <string>

namespace lauka::cli {

/// What --help shows, at most 80 columns wide: made from the option table.
std::string help();

}  // namespace lauka::cli
