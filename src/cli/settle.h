#pragma once

#include "cli/option_table.h"

namespace lauka::cli {

/// What can only be decided when all options are read: which contradict each other, and what the
/// number of commands has to be.
Result<Options> settle(Draft draft);

}  // namespace lauka::cli
