#include "engine/symbol_names.h"

#include "os/symbols.h"

#include <utility>

namespace lauka::engine {

FunctionName name_of_symbols(std::vector<std::string> symbols) {
  for (std::string& symbol : symbols) symbol = normalized_function(os::demangled(symbol));
  return make_function_name(std::move(symbols));
}

}  // namespace lauka::engine
