#pragma once

#include "cli/options.h"
#include "core/result.h"

namespace lauka::cli {

/// Parses the command line; argv[0] is the program's name. Does not apply options after -h, -V or
/// --help.
Result<Options> parse(int argc, const char* const* argv);

}  // namespace lauka::cli
