#pragma once

#include "core/event.h"

#include <string>

namespace lauka::inquire {

/// Which event is counted where, pass by pass, and for several passes why one is not enough, as
/// --explain-events shows it.
std::string explain_events(const Explanation& explanation);

}  // namespace lauka::inquire
