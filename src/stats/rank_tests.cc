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

/// Sets counts[s], for s up to `most`, to the number of subsets of `ranks` that add up to s.
void count_subsets(std::span<const std::size_t> ranks, std::size_t most, Counts& counts) {
  std::fill_n(counts.begin(), most + 1, 0.0);
  counts[0] = 1.0;
  std::size_t reached = 0;
  for (const std::size_t rank : ranks) {
    if (rank > most) continue;
    reached = std::min(reached + rank, most);
    for (std::size_t sum = reached; sum >= rank; --sum) counts[sum] += counts[sum - rank];
  }
}

double magnitude(double value) {
  return std::abs(value);
}

/// Returns the doubled mid-ranks of values sorted by magnitude. Neighbours whose magnitudes differ
/// by less than kRoundingError are ties.
std::vector<std::size_t> doubled_ranks(std::span<const double> ascending) {
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
TailProbabilities counted_tails(std::vector<std::size_t> ranks, std::size_t positive,
                                std::size_t total) {
  const bool untied = std::ranges::all_of(ranks, [](std::size_t rank) { return rank % 2 == 0; });
  if (untied) {
    for (std::size_t& rank : ranks) rank /= 2;
    positive /= 2;
    total /= 2;
  }

  // With fair signs, the distribution is symmetric around total / 2.
  const std::size_t most = std::min(positive, total - positive);
  Counts counts;  // NOLINT(cppcoreguidelines-pro-type-member-init): count_subsets fills it
  count_subsets(ranks, most, counts);

  double at_most = 0.0;
  for (std::size_t sum = 0; sum <= most; ++sum) at_most += counts[sum];

  const double all = std::ldexp(1.0, static_cast<int>(ranks.size()));
  const double smaller = at_most / all;
  const double larger = (all - at_most + counts[most]) / all;
  return positive == most ? TailProbabilities{.above = larger, .below = smaller}
                          : TailProbabilities{.above = smaller, .below = larger};
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

std::vector<Sample> pooled(std::span<const double> reference, std::span<const double> candidate,
                           double ratio) {
  std::vector<Sample> samples;
  samples.reserve(reference.size() + candidate.size());
  for (const double value : reference) samples.push_back({ratio * value, false});
  for (const double value : candidate) samples.push_back({value, true});
  std::ranges::sort(samples, {}, &Sample::value);
  return samples;
}

std::size_t end_of_tie(const std::vector<Sample>& ascending, std::size_t first) {
  std::size_t end = first + 1;
  while (end < ascending.size() &&
         is_rounding_error(ascending[end].value - ascending[end - 1].value,
                           ascending[end].value + ascending[end - 1].value))
    ++end;
  return end;
}

std::uint64_t widened_place(std::uint64_t plain, std::uint64_t widened) {
  return std::min(plain, std::max<std::uint64_t>(widened, 1));
}

}  // namespace

SignedRank signed_rank(std::span<const double> reference, std::span<const double> candidate,
                       double ratio) {
  std::vector<double> differences;
  differences.reserve(reference.size());
  for (std::size_t round = 0; round < reference.size(); ++round) {
    const double at_threshold = ratio * reference[round];
    const double sum = candidate[round] + at_threshold;
    const double difference = candidate[round] - at_threshold;
    if (!is_rounding_error(difference, sum)) differences.push_back(difference / sum);
  }
  if (differences.empty()) return {};

  std::ranges::sort(differences, {}, magnitude);
  std::vector<std::size_t> ranks = doubled_ranks(differences);
  std::size_t positive = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) positive += differences[i] > 0.0 ? ranks[i] : 0;

  SignedRank result{.ranked_rounds = ranks.size(),
                    .positive_sum = static_cast<double>(positive) / 2.0};
  result.tails = ranks.size() <= kMaxExactRanks
                     ? counted_tails(std::move(ranks), positive,
                                     result.ranked_rounds * (result.ranked_rounds + 1))
                     : normal_tails(ranks, result.positive_sum);
  return result;
}

std::uint64_t signed_rank_place(std::size_t count, double probability, double widening) {
  const auto n = static_cast<double>(count);

  const auto by_normal = [&](double factor) {
    return normal_rank_position(n * (n + 1.0) / 2.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0,
                                probability, factor);
  };

  if (widening > 1.0)
    return widened_place(signed_rank_place(count, probability), by_normal(widening));
  if (count > kMaxExactRanks) return by_normal(1.0);

  std::vector<std::size_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  const std::size_t middle = count * (count + 1) / 4;
  Counts counts;  // NOLINT(cppcoreguidelines-pro-type-member-init): count_subsets fills it
  count_subsets(ranks, middle, counts);

  const double allowed = probability * std::ldexp(1.0, static_cast<int>(count));
  double at_most = 0.0;
  for (std::size_t place = 0; place <= middle; ++place) {
    at_most += counts[place];
    if (at_most > allowed) return place;
  }
  return middle;
}

MannWhitney mann_whitney(std::span<const double> reference, std::span<const double> candidate,
                         double ratio) {
  const std::vector<Sample> samples = pooled(reference, candidate, ratio);
  double rank_sum = 0.0;
  double tie_term = 0.0;
  for (std::size_t first = 0; first < samples.size();) {
    const std::size_t end = end_of_tie(samples, first);
    const double mid_rank = static_cast<double>(first + 1 + end) / 2.0;
    for (std::size_t i = first; i < end; ++i) rank_sum += samples[i].of_candidate ? mid_rank : 0.0;
    const auto tied = static_cast<double>(end - first);
    tie_term += tied * tied * tied - tied;
    first = end;
  }

  const auto n_r = static_cast<double>(reference.size());
  const auto n_c = static_cast<double>(candidate.size());
  const double n = n_r + n_c;
  MannWhitney result{.u = rank_sum - n_c * (n_c + 1.0) / 2.0};
  const double variance = n_c * n_r / 12.0 * (n + 1.0 - tie_term / (n * (n - 1.0)));
  if (variance > 0.0) result.tails = normal_tails(result.u - n_c * n_r / 2.0, std::sqrt(variance));
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

  std::size_t seen = 0;
  for (const double value : later) seen += rank_of(value);

  const std::size_t drawn = later.size();
  const std::size_t most = 2 * drawn * ascending.size();

  // Counts the draws of k values by their rank sum. k counts down, so that no value is drawn twice.
  std::vector<std::vector<double>> ways(drawn + 1, std::vector<double>(most + 1, 0.0));
  ways[0][0] = 1.0;
  for (const double value : ascending) {
    const std::size_t rank = rank_of(value);
    for (std::size_t k = drawn; k > 0; --k)
      for (std::size_t s = most; s >= rank; --s) ways[k][s] += ways[k - 1][s - rank];
  }

  double all = 0.0;
  TailProbabilities tails{.above = 0.0, .below = 0.0};
  for (std::size_t s = 0; s <= most; ++s) {
    all += ways[drawn][s];
    if (s >= seen) tails.above += ways[drawn][s];
    if (s <= seen) tails.below += ways[drawn][s];
  }

  return {.above = tails.above / all, .below = tails.below / all};
}

std::uint64_t mann_whitney_place(std::size_t reference, std::size_t candidate, double probability,
                                 double widening) {
  const auto n_r = static_cast<double>(reference);
  const auto n_c = static_cast<double>(candidate);
  const auto place = [&](double factor) {
    return normal_rank_position(n_r * n_c, n_r * n_c * (n_r + n_c + 1.0) / 12.0, probability,
                                factor);
  };
  return widening > 1.0 ? widened_place(place(1.0), place(widening)) : place(1.0);
}

}  // namespace lauka::stats
