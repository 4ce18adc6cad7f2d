#include "stats/mann_whitney.h"

#include "stats/equality.h"
#include "stats/normal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace lauka::stats {

namespace {

struct Sample {
  double value = 0.0;
  bool of_candidate = false;
};

std::vector<Sample> pooled(std::span<const double> reference, std::span<const double> candidate,
                           double ratio) {
  std::vector<Sample> samples;
  samples.reserve(reference.size() + candidate.size());
  for (const double value : reference) {
    samples.push_back({ratio * value, false});
  }
  for (const double value : candidate) {
    samples.push_back({value, true});
  }
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.value < b.value; });
  return samples;
}

/// The end of the samples that are tied with the one at `first`.
std::size_t end_of_tie(const std::vector<Sample>& ascending, std::size_t first) {
  std::size_t end = first + 1;
  while (end < ascending.size() &&
         is_rounding_error(ascending[end].value - ascending[end - 1].value,
                           ascending[end].value + ascending[end - 1].value)) {
    ++end;
  }
  return end;
}

}  // namespace

MannWhitney mann_whitney(std::span<const double> reference, std::span<const double> candidate,
                         double ratio) {
  const std::vector<Sample> samples = pooled(reference, candidate, ratio);
  double rank_sum = 0.0;
  double tie_term = 0.0;  // sum of t^3 - t
  for (std::size_t first = 0; first < samples.size();) {
    const std::size_t end = end_of_tie(samples, first);
    const double mid_rank = static_cast<double>(first + 1 + end) / 2.0;
    for (std::size_t i = first; i < end; ++i) {
      rank_sum += samples[i].of_candidate ? mid_rank : 0.0;
    }
    const auto tied = static_cast<double>(end - first);
    tie_term += tied * tied * tied - tied;
    first = end;
  }

  const auto n_r = static_cast<double>(reference.size());
  const auto n_c = static_cast<double>(candidate.size());
  const double n = n_r + n_c;
  MannWhitney result{.u = rank_sum - n_c * (n_c + 1.0) / 2.0};
  const double variance = n_c * n_r / 12.0 * (n + 1.0 - tie_term / (n * (n - 1.0)));
  if (variance <= 0.0) {
    return result;  // all are tied: nothing speaks for either side
  }
  const double distance = result.u - n_c * n_r / 2.0;
  const double deviation = std::sqrt(variance);
  result.tails = {.above = normal_above((distance - 0.5) / deviation),
                  .below = normal_above(-(distance + 0.5) / deviation)};
  return result;
}

}  // namespace lauka::stats
