#include "stats/rank_tests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

// Wilcoxon 1945. counts[s] is the number of subsets of the ranks that add up to s. Mid-ranks are
// multiples of one half, so all ranks are doubled if there are ties. With 50 ranks, every count is
// below 2^50 and therefore exact in a double.

namespace lauka::stats {
namespace {

constexpr std::size_t kMaxDoubledSum = kMaxExactRanks * (kMaxExactRanks + 1);
using Counts = std::array<double, kMaxDoubledSum + 1>;

/// Sets counts[s], for s up to `max_sum`, to the number of subsets of `ranks` that add up to s.
void count_subsets(std::span<const std::size_t> ranks, std::size_t max_sum, Counts& counts) {
  std::fill_n(counts.begin(), max_sum + 1, 0.0);
  counts[0] = 1.0;
  std::size_t largest_sum = 0;  // of the ranks so far
  for (const std::size_t rank : ranks) {
    if (rank > max_sum) continue;
    largest_sum = std::min(largest_sum + rank, max_sum);
    for (std::size_t sum = largest_sum; sum >= rank; --sum) counts[sum] += counts[sum - rank];
  }
}

double magnitude(double value) {
  return std::abs(value);
}

/// Returns the doubled mid-ranks of values sorted by magnitude. Neighbours whose magnitudes differ
/// by less than kRoundingError are ties.
std::vector<std::size_t> double_mid_ranks(std::span<const double> ascending) {
  std::vector<std::size_t> ranks(ascending.size());
  for (std::size_t first = 0; first < ascending.size();) {
    std::size_t end = first + 1;
    while (end < ascending.size() &&
           magnitude(ascending[end]) - magnitude(ascending[end - 1]) < kRoundingError)
      ++end;
    std::fill(ranks.begin() + static_cast<std::ptrdiff_t>(first),
              ranks.begin() + static_cast<std::ptrdiff_t>(end), first + 1 + end);
    first = end;
  }
  return ranks;
}

/// Returns the exact tails. All arguments are doubled: the ranks, W (`positive`) and the sum of all
/// ranks (`total`).
TailProbabilities count_exact_tails(std::vector<std::size_t> ranks, std::size_t positive,
                                    std::size_t total) {
  // Without ties, no rank ends in one half, and there are only half as many sums to count.
  const auto is_whole = [](std::size_t doubled_rank) { return doubled_rank % 2 == 0; };
  if (std::ranges::all_of(ranks, is_whole)) {
    for (std::size_t& rank : ranks) rank /= 2;
    positive /= 2;
    total /= 2;
  }

  // With fair signs, the distribution is symmetric around total / 2, so only its lower tail is
  // counted.
  const std::size_t lower_sum = std::min(positive, total - positive);
  Counts counts;  // NOLINT(cppcoreguidelines-pro-type-member-init): count_subsets fills it
  count_subsets(ranks, lower_sum, counts);

  double at_most = 0.0;
  for (std::size_t sum = 0; sum <= lower_sum; ++sum) at_most += counts[sum];

  // Both tails contain the observed sum.
  const double subsets = std::ldexp(1.0, static_cast<int>(ranks.size()));
  const double smaller = at_most / subsets;
  const double larger = (subsets - at_most + counts[lower_sum]) / subsets;
  if (positive == lower_sum) return {.above = larger, .below = smaller};
  return {.above = smaller, .below = larger};
}

/// Returns the normal tails, with a continuity correction, of a rank statistic whose distance from
/// its middle is `distance`.
TailProbabilities normal_tails(double distance, double deviation) {
  return {.above = normal_above((distance - 0.5) / deviation),
          .below = normal_above(-(distance + 0.5) / deviation)};
}

TailProbabilities normal_tails(std::span<const std::size_t> ranks, double positive_sum) {
  const auto count = static_cast<double>(ranks.size());
  double squares = 0.0;
  for (const std::size_t doubled : ranks) {
    const double rank = static_cast<double>(doubled) / 2.0;
    squares += rank * rank;
  }
  return normal_tails(positive_sum - count * (count + 1.0) / 4.0, std::sqrt(squares / 4.0));
}

struct Sample {
  double value = 0.0;
  bool of_candidate = false;
};

std::vector<Sample> pool_samples(std::span<const double> reference,
                                 std::span<const double> candidate, double ratio) {
  std::vector<Sample> samples;
  samples.reserve(reference.size() + candidate.size());
  for (const double value : reference) samples.push_back({ratio * value, false});
  for (const double value : candidate) samples.push_back({value, true});
  std::ranges::sort(samples, {}, &Sample::value);
  return samples;
}

std::size_t find_end_of_tie(const std::vector<Sample>& ascending, std::size_t first) {
  std::size_t end = first + 1;
  while (end < ascending.size() &&
         is_rounding_error(ascending[end].value - ascending[end - 1].value,
                           ascending[end].value + ascending[end - 1].value))
    ++end;
  return end;
}

/// Returns the widened place, which is never narrower than the plain one, and at least 1 if that
/// is.
std::uint64_t choose_widened_place(std::uint64_t plain, std::uint64_t widened) {
  return std::min(plain, std::max<std::uint64_t>(widened, 1));
}

}  // namespace

SignedRank signed_rank(std::span<const double> reference, std::span<const double> candidate,
                       double ratio) {
  std::vector<double> relative_differences;
  relative_differences.reserve(reference.size());
  for (std::size_t round = 0; round < reference.size(); ++round) {
    const double threshold = ratio * reference[round];
    const double sum = candidate[round] + threshold;
    const double difference = candidate[round] - threshold;
    if (!is_rounding_error(difference, sum)) relative_differences.push_back(difference / sum);
  }
  if (relative_differences.empty()) return {};

  std::ranges::sort(relative_differences, {}, magnitude);
  std::vector<std::size_t> ranks = double_mid_ranks(relative_differences);
  std::size_t doubled_sum = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (relative_differences[i] > 0.0) doubled_sum += ranks[i];

  const std::size_t count = ranks.size();
  SignedRank result{.ranked_rounds = count, .positive_sum = static_cast<double>(doubled_sum) / 2.0};
  if (count <= kMaxExactRanks)
    result.tails = count_exact_tails(std::move(ranks), doubled_sum, count * (count + 1));
  else
    result.tails = normal_tails(ranks, result.positive_sum);
  return result;
}

std::uint64_t signed_rank_place(std::size_t count, double probability, double widening) {
  const auto place_by_normal = [&](double factor) {
    const auto n = static_cast<double>(count);
    const double walsh_averages = n * (n + 1.0) / 2.0;
    const double variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0;
    return normal_rank_position(walsh_averages, variance, probability, factor);
  };

  // Only the normal distribution can be widened.
  if (widening > 1.0)
    return choose_widened_place(signed_rank_place(count, probability), place_by_normal(widening));
  if (count > kMaxExactRanks) return place_by_normal(1.0);

  // Only the lower half of all rank sums matters.
  std::vector<std::size_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  const std::size_t middle = count * (count + 1) / 4;
  Counts counts;  // NOLINT(cppcoreguidelines-pro-type-member-init): count_subsets fills it
  count_subsets(ranks, middle, counts);

  // Each of the 2^count subsets of ranks is equally likely. The place is the number of rank sums,
  // from 0 on, that are together no likelier than `probability`.
  const double allowed_subsets = probability * std::ldexp(1.0, static_cast<int>(count));
  double subsets = 0.0;
  for (std::size_t place = 0; place <= middle; ++place) {
    subsets += counts[place];
    if (subsets > allowed_subsets) return place;
  }
  return middle;
}

MannWhitney mann_whitney(std::span<const double> reference, std::span<const double> candidate,
                         double ratio) {
  const std::vector<Sample> samples = pool_samples(reference, candidate, ratio);
  double rank_sum = 0.0;
  double tie_term = 0.0;
  for (std::size_t first = 0; first < samples.size();) {
    const std::size_t end = find_end_of_tie(samples, first);
    const double mid_rank = static_cast<double>(first + 1 + end) / 2.0;
    for (std::size_t i = first; i < end; ++i)
      if (samples[i].of_candidate) rank_sum += mid_rank;

    const auto tied = static_cast<double>(end - first);
    tie_term += tied * tied * tied - tied;  // 0 for a value without ties
    first = end;
  }

  const auto n_r = static_cast<double>(reference.size());
  const auto n_c = static_cast<double>(candidate.size());
  const double n = n_r + n_c;
  MannWhitney result{.u = rank_sum - n_c * (n_c + 1.0) / 2.0};

  // Ties make the variance of u smaller. If all values are tied, it is 0, and u says nothing.
  const double middle = n_c * n_r / 2.0;
  const double variance = n_c * n_r / 12.0 * (n + 1.0 - tie_term / (n * (n - 1.0)));
  if (variance > 0.0) result.tails = normal_tails(result.u - middle, std::sqrt(variance));
  return result;
}

TailProbabilities rank_sum_tails(std::span<const double> earlier, std::span<const double> later) {
  std::vector<double> ascending(earlier.begin(), earlier.end());
  ascending.insert(ascending.end(), later.begin(), later.end());
  std::ranges::sort(ascending);

  // Returns the doubled mid-rank. Only equal values are ties, because the scale of rounding errors
  // is unknown.
  const auto rank_of = [&](double value) {
    const auto [first, end] = std::equal_range(ascending.begin(), ascending.end(), value);
    return static_cast<std::size_t>((first - ascending.begin()) + (end - ascending.begin()) + 1);
  };

  std::size_t sum_of_later = 0;
  for (const double value : later) sum_of_later += rank_of(value);

  // Counts the draws of k values by their rank sum: ways[k][sum]. k counts down, so that no value
  // is drawn twice.
  const std::size_t drawn = later.size();
  const std::size_t max_sum = 2 * drawn * ascending.size();
  std::vector<std::vector<double>> ways(drawn + 1, std::vector<double>(max_sum + 1, 0.0));
  ways[0][0] = 1.0;
  for (const double value : ascending) {
    const std::size_t rank = rank_of(value);
    for (std::size_t k = drawn; k > 0; --k)
      for (std::size_t sum = max_sum; sum >= rank; --sum) ways[k][sum] += ways[k - 1][sum - rank];
  }

  double all = 0.0;
  double above = 0.0;
  double below = 0.0;
  for (std::size_t sum = 0; sum <= max_sum; ++sum) {
    all += ways[drawn][sum];
    if (sum >= sum_of_later) above += ways[drawn][sum];
    if (sum <= sum_of_later) below += ways[drawn][sum];
  }

  return {.above = above / all, .below = below / all};
}

std::uint64_t mann_whitney_place(std::size_t reference, std::size_t candidate, double probability,
                                 double widening) {
  const auto n_r = static_cast<double>(reference);
  const auto n_c = static_cast<double>(candidate);
  const auto place_by_normal = [&](double factor) {
    return normal_rank_position(n_r * n_c, n_r * n_c * (n_r + n_c + 1.0) / 12.0, probability,
                                factor);
  };
  return widening > 1.0 ? choose_widened_place(place_by_normal(1.0), place_by_normal(widening))
                        : place_by_normal(1.0);
}

}  // namespace lauka::stats
