#pragma once

#include <string>

namespace lauka::os {

/// Goes on as another program of this installation, with the same words: one beside this program or
/// in ../libexec/lauka. Returns only where there is none.
void go_on_as(const std::string& program, const char* const* argv);

}  // namespace lauka::os
