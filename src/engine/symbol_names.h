#pragma once

#include "core/function_table.h"

#include <string>
#include <vector>

namespace lauka::engine {

/// Returns the names of a function, demangled and normalized. `symbols`: its symbols, not empty.
FunctionName name_of_symbols(std::vector<std::string> symbols);

}  // namespace lauka::engine
