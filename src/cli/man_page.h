#pragma once

#include <string>

namespace lauka::cli {

/// The manual page lauka(1), made from what --help is made of.
std::string man_page();

}  // namespace lauka::cli
