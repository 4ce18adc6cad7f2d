#include "os/symbols.h"

namespace lauka::os {

bool can_read_symbols() {
  return false;
}

OpenedCode open_code(const CodeIdentity& /*identity*/, int /*process*/,
                     const std::optional<User>& /*user*/) {
  return {nullptr, "lauka was built without elfutils"};
}

OpenedCode open_vdso() {
  return {nullptr, "lauka was built without elfutils"};
}

}  // namespace lauka::os
