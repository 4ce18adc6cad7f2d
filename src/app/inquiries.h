#pragma once

#include "app/call.h"

#include <string>

namespace lauka {

/// Answers `call.options.inquiry`. Returns the exit status.
int answer_inquiry(Call& call);

int show(const std::string& text);

}  // namespace lauka
