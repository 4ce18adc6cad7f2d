#pragma once

#include <cstddef>

namespace lauka::stats {

/// Degrees of freedom of a difference of two independent means (Welch-Satterthwaite; not an
/// integer). `first` and `second` are the squared standard errors, of `first_count` and
/// `second_count` samples (at least two each); where both are 0, the counts alone decide.
double welch_degrees(double first, std::size_t first_count, double second,
                     std::size_t second_count);

}  // namespace lauka::stats
