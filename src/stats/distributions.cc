#include "stats/distributions.h"

#include "stats/latest_answer.h"

#include <algorithm>

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

// In a table of Fisher's exact test, k of the trials of `share` have the result, and `results - k`
// of the others. The probabilities of tables (of the hypergeometric distribution) are computed as
// weights relative to the given table's, each from its neighbour's, so that no factorials are
// needed.
constexpr double kGivenWeight = 1.0;

/// Returns the weight of the table with k + 1, divided by that of the table with k.
double weight_ratio_to_next(const CountedShare& share, const CountedShare& other, std::uint64_t k) {
  const std::uint64_t results = share.trials_with_result + other.trials_with_result;
  return static_cast<double>(results - k) * static_cast<double>(share.trials - k) /
         (static_cast<double>(k + 1) * static_cast<double>(other.trials + k + 1 - results));
}

/// Sums of the weights of tables; at first, there is only the given one.
struct TableWeights {
  double sum = kGivenWeight;
  double sum_of_unlikely = kGivenWeight;  ///< of tables that are at most as probable as that one

  void add(double weight) {
    constexpr double as_unlikely_as_given =
        kGivenWeight + 1e-7;  // R's tolerance for rounding errors
    sum += weight;
    if (weight <= as_unlikely_as_given) sum_of_unlikely += weight;
  }
};

}  // namespace

double student_t_quantile_above(double probability, double degrees) {
  thread_local LatestAnswer latest;
  return latest.find(probability, degrees, [](double above, double with_degrees) {
    return quantile(complement(StudentT{with_degrees}, above));
  });
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

// Returns the p value of the test if a result (such as a failure) is equally frequent in two groups
// of trials. A table says how many of all results each group has. The p value is the sum of the
// probabilities of all tables that are at most as probable as the given one.
double fisher_exact(const CountedShare& share, const CountedShare& other) {
  // In each table, k of the trials of `share` have the result. A group cannot have more results
  // than trials, which limits k.
  const std::uint64_t results = share.trials_with_result + other.trials_with_result;
  const std::uint64_t lowest_k = results > other.trials ? results - other.trials : 0;
  const std::uint64_t highest_k = std::min(results, share.trials);

  // A weight is a table's probability relative to that of the given one, which is already in the
  // sums. The others are reached from it, first with rising k and then with falling k.
  TableWeights weights;
  double weight = kGivenWeight;
  for (std::uint64_t k = share.trials_with_result; k < highest_k; ++k) {
    weight *= weight_ratio_to_next(share, other, k);
    weights.add(weight);
  }

  weight = kGivenWeight;
  for (std::uint64_t k = share.trials_with_result; k > lowest_k; --k) {
    weight /= weight_ratio_to_next(share, other, k - 1);
    weights.add(weight);
  }

  // If a weight overflows to infinity, the given table is so improbable that the p value is 0.
  return weights.sum_of_unlikely / weights.sum;
}

}  // namespace lauka::stats
