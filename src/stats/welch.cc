#include "stats/welch.h"

namespace lauka::stats {

double welch_degrees(double first, std::size_t first_count, double second,
                     std::size_t second_count) {
  const double first_degrees = static_cast<double>(first_count) - 1.0;
  const double second_degrees = static_cast<double>(second_count) - 1.0;
  const double sum = first + second;
  if (sum <= 0.0) {
    return first_degrees + second_degrees;
  }
  // Shares instead of the squares of the textbook, which underflow for nanoseconds in seconds.
  const double share = first / sum;
  const double rest = second / sum;
  return 1.0 / (share * share / first_degrees + rest * rest / second_degrees);
}

}  // namespace lauka::stats
