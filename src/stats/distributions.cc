#include "stats/distributions.h"

#include <algorithm>
#include <limits>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/policies/policy.hpp>

namespace lauka::stats {
namespace {

/// A policy that returns NaN or infinity instead of throwing, and does not compute in long double,
/// which is slow.
using BoostPolicy = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::pole_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>,
    boost::math::policies::promote_double<false>>;

using StudentT = boost::math::students_t_distribution<double, BoostPolicy>;
using ChiSquared = boost::math::chi_squared_distribution<double, BoostPolicy>;
using FisherF = boost::math::fisher_f_distribution<double, BoostPolicy>;
using Normal = boost::math::normal_distribution<double, BoostPolicy>;

}  // namespace

double student_t_quantile_above(double probability, double degrees) {
  // The metrics of a session usually ask for the same quantile one after the other.
  struct Quantile {
    double probability = std::numeric_limits<double>::quiet_NaN();  // differs from each probability
    double degrees = 0.0;
    double value = 0.0;
  };
  thread_local Quantile latest;
  if (latest.probability != probability || latest.degrees != degrees)
    latest = {probability, degrees, quantile(complement(StudentT{degrees}, probability))};
  return latest.value;
}

double student_t_above(double t, double degrees) {
  return cdf(complement(StudentT{degrees}, t));
}

double normal_quantile_above(double probability) {
  return quantile(complement(Normal{}, probability));
}

double normal_above(double z) {
  return cdf(complement(Normal{}, z));
}

double chi_squared_above(double x, double degrees) {
  return cdf(complement(ChiSquared{degrees}, x));
}

double chi_squared_quantile_above(double probability, double degrees) {
  return quantile(complement(ChiSquared{degrees}, probability));
}

double f_above(double x, double numerator_degrees, double denominator_degrees) {
  if (std::isinf(x)) return 0.0;
  return cdf(complement(FisherF{numerator_degrees, denominator_degrees}, x));
}

std::uint64_t normal_rank_position(double values, double variance, double tail, double factor) {
  const double place = values / 2.0 - factor * normal_quantile_above(tail) * std::sqrt(variance);
  return static_cast<std::uint64_t>(std::max(0.0, std::floor(place)));
}

// The weights of the possible tables are relative to the given table's weight, so that no
// factorials are needed. If a weight overflows to infinity, the p value is 0.
double fisher_exact(const CountedShare& share, const CountedShare& other) {
  const std::uint64_t of = share.trials_with_result + other.trials_with_result;
  const std::uint64_t lowest = of > other.trials ? of - other.trials : 0;
  const std::uint64_t highest = std::min(of, share.trials);

  const auto ratio = [&](std::uint64_t k) {
    return static_cast<double>(of - k) * static_cast<double>(share.trials - k) /
           (static_cast<double>(k + 1) * static_cast<double>(other.trials + k + 1 - of));
  };

  constexpr double same = 1.0 + 1e-7;  // R's tolerance for rounding errors
  double all = 1.0;
  double as_unlikely = 1.0;
  const auto add = [&](double weight) {
    all += weight;
    if (weight <= same) as_unlikely += weight;
  };

  double weight = 1.0;
  for (std::uint64_t k = share.trials_with_result; k < highest; ++k) add(weight *= ratio(k));
  weight = 1.0;
  for (std::uint64_t k = share.trials_with_result; k > lowest; --k) add(weight /= ratio(k - 1));

  return as_unlikely / all;
}

}  // namespace lauka::stats
