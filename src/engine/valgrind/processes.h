#pragma once

#include "engine/valgrind/valgrind_engine.h"

#include <string>

namespace lauka::engine::valgrind {

/// Returns a function that returns `text` in one piece.
Pieces pieces_of(std::string text);

}  // namespace lauka::engine::valgrind
