#pragma once

#include "results/results.h"

#include <string>
#include <string_view>

namespace lauka::report {

/// --export-html: one page that needs nothing else, no script either: what came out, the tables,
/// and each metric drawn (distribution, order of the runs, deltas). Light or dark as the reader's
/// system is. Needs Detail::Runs.
std::string results_html(const Results& results);

/// What the page looks like, as CSS.
std::string_view html_style();

}  // namespace lauka::report
