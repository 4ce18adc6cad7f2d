#pragma once

#include "core/choices.h"
#include "history/trend.h"

#include <span>
#include <string>

namespace lauka::history {

/// Writes a self-contained HTML page about the series that have values. `commit_url` is the web
/// address of a commit, with {} for the commit; empty: no links.
void write_history_page(const std::string& title, const std::string& commit_url,
                        std::span<const SteppedSeries> all_series, const Sink& sink);

}  // namespace lauka::history
