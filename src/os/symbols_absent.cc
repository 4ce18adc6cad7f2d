#include "os/symbols.h"

namespace lauka::os {

bool can_read_symbols() {
  return false;
}

OpenedCode open_code(const CodeIdentity& /*identity*/, int /*process*/,
                     const std::optional<User>& /*user*/) {
  return {nullptr, "lauka was built without elfutils and libiberty"};
}

OpenedCode open_vdso() {
  return {nullptr, "lauka was built without elfutils and libiberty"};
}

std::string demangled(const std::string& symbol) {
  return symbol;
}

}  // namespace lauka::os
