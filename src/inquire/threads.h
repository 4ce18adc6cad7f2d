#pragma once

#include "cores/threads.h"

#include <string>

namespace lauka::inquire {

/// A table with a line for each thread and one of totals: for each group of columns user and system
/// time (or their sum) in seconds, cycles, instructions and instructions per cycle; what is not
/// known is "-".
std::string threads_table(const cores::Threads& threads);

}  // namespace lauka::inquire
