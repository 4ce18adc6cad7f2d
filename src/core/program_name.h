#pragma once

#include <string>

namespace lauka {

/// Returns the name that messages begin with: "lauka", unless set_program_name() was called.
const std::string& program_name();

/// Changes the name that messages begin with. A program calls this before its first message.
void set_program_name(std::string name);

}  // namespace lauka
