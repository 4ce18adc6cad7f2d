#pragma once

namespace lauka::os {

/// A descriptor that lauka opens must never be taken for standard input, output or error. What was
/// closed stays unwritable, so that an export to it is an error and not lost.
void fill_standard_descriptors();

}  // namespace lauka::os
