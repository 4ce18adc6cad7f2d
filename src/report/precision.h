#pragma once

#include "results/results.h"

#include <string>

namespace lauka::report {

/// One line: the precision reached, or how far it came and what ended it. Empty where none was
/// asked for.
std::string precision_line(const Results& results);

}  // namespace lauka::report
