#pragma once

#include "core/record.h"

#include <string>
#include <string_view>

namespace lauka::report {

/// How a run ended, as the rest of a sentence whose subject is the run: "exited with status 3",
/// "was killed by SIGSEGV (core dumped)". One line without a full stop.
std::string describe(const Outcome& outcome);

/// What its runs are called: "warm-up", "counting", ...; empty: timed.
std::string_view word_of(RoundKind kind);

}  // namespace lauka::report
