#pragma once

#include <cstddef>

namespace lauka::os {

enum class Stream : unsigned char { Output, Error };

bool is_terminal(Stream stream);

/// Columns of the terminal; `otherwise` where it is none or does not say.
std::size_t terminal_width(Stream stream, std::size_t otherwise);

/// Whether something may be drawn and erased there: a terminal that can, and no NO_COLOR.
bool wants_drawing(Stream stream);

/// Whether the locale's characters are UTF-8: LC_ALL, else LC_CTYPE, else LANG names another
/// charset (or C, which is ASCII) where they are not. Where none of them is set, they most likely
/// are.
bool speaks_utf8();

/// Whether colours are wanted where the user did not say: NO_COLOR, then CLICOLOR_FORCE, then
/// whether it is a terminal that can (TERM is not "dumb").
bool wants_color(Stream stream);

}  // namespace lauka::os
