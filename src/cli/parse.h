#pragma once

#include "cli/options.h"
#include "core/result.h"

namespace lauka::cli {

/// The command line as options: `argv` holds `argc` words, the program's own name first. Refuses
/// what is not understood, out of range or contradictory, naming the culprit. Of an option given
/// more than once the last counts, but for names and events, which add up. -h and -V end the
/// reading: what follows them is not looked at.
Result<Options> parse(int argc, const char* const* argv);

}  // namespace lauka::cli
