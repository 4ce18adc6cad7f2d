#pragma once

#include <string>

namespace lauka {

/// Says that the test case that is running leaves out what follows, since this machine lacks
/// something. ctest counts the program as skipped then, and scripts/check skips looks whether that
/// was to be expected. Return after it.
void skip(const std::string& why);

}  // namespace lauka
