#include "stats/student_t.h"

#include "stats/boost_policy.h"

#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace lauka::stats {

namespace {

using StudentT = boost::math::students_t_distribution<double, BoostPolicy>;

}  // namespace

double student_t_quantile_above(double probability, double degrees) {
  return quantile(complement(StudentT{degrees}, probability));
}

double student_t_above(double t, double degrees) {
  return cdf(complement(StudentT{degrees}, t));
}

}  // namespace lauka::stats
