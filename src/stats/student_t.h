#pragma once

namespace lauka::stats {

/// The value that Student's t with `degrees` of freedom (at least 1, fractional under
/// Welch-Satterthwaite) exceeds with `probability` (0..1, exclusive).
double student_t_quantile_above(double probability, double degrees);

/// The probability that Student's t with `degrees` of freedom is at least `t`. Exact in the far
/// tail, too; the lower tail is that of -t.
double student_t_above(double t, double degrees);

}  // namespace lauka::stats
