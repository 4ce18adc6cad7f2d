#pragma once

#include "fakes/darwin/kernel.h"

namespace lauka::darwin {

/// Programs of the model are text files whose first line is "# model" and whose others are the
/// steps of script.h. sh and its -c are the model's own: they exec the words after it.
Kernel::Loader loader_of_files();

}  // namespace lauka::darwin
