#pragma once

#include "core/baseline.h"
#include "core/result.h"

#include <string_view>

namespace lauka {

/// The baseline that `text` holds: what lauka's --export-json wrote, or hyperfine's, of 1.x or of
/// schema 2 (wall time only). Its file is left empty. The error is a predicate of the file: that it
/// is no JSON, not of these, has no command or no sample, or holds what cannot be a measured value.
Result<Baseline> read_baseline(std::string_view text);

}  // namespace lauka
