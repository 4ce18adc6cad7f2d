#pragma once

#include "core/result.h"
#include "history/record.h"

#include <string_view>

namespace lauka::history {

/// What a history keeps of the session that `text` holds, which lauka's --export-json wrote. The
/// error is a predicate of the file: that it is no such JSON, holds what cannot be a measured
/// value, or has no identity of its own, as hyperfine's has none and several joined sessions have.
Result<SessionRecord> record_of(std::string_view text);

}  // namespace lauka::history
