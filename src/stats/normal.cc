#include "stats/normal.h"

#include "stats/boost_policy.h"

#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/normal.hpp>

namespace lauka::stats {

namespace {

using Normal = boost::math::normal_distribution<double, BoostPolicy>;

}  // namespace

double normal_quantile_above(double probability) {
  return quantile(complement(Normal{}, probability));
}

double normal_above(double z) {
  return cdf(complement(Normal{}, z));
}

}  // namespace lauka::stats
