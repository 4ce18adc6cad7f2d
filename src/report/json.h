#pragma once

#include "results/results.h"

#include <string>

namespace lauka::report {

/// --export-json: one document for readers of hyperfine 1.x and of its schema 2, with all that
/// lauka knows under the keys "lauka" (of the document, and of each result). docs/schema.json has
/// its shape. Base units; numbers read back as the same double; null, or no key in hyperfine's
/// part, where something is undefined. Needs Results::runs.
std::string results_json(const Results& results);

}  // namespace lauka::report
