#pragma once

#include "session/candidate_series.h"

#include <cstddef>
#include <string>

namespace lauka::inquire {

/// Returns the state of a series with terms: its numbers, a table of what was kept, and what the
/// next candidate needs. `file`: the name of its file. Sentences are wrapped for a terminal of
/// `terminal_width` cells; 0: not wrapped.
std::string series_text(const CandidateSeries& series, const std::string& file,
                        std::size_t terminal_width);

}  // namespace lauka::inquire
