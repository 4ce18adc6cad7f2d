#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lauka::report {

/// Returns the name of a function in at most `width` cells, so that the function's own name is
/// still there. Takes away, until the name fits: the parameters and the return type, then template
/// arguments (<…>), then the middle.
std::string shortened_function(std::string_view name, std::size_t width);

}  // namespace lauka::report
