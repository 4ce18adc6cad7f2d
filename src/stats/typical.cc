// Hodges & Lehmann 1963. The k-th smallest of n(n+1)/2 Walsh averages, or of n*m differences, is
// found without listing them, where they are many: how many are at most x takes one walk over the
// sorted values with two places, so x is bisected until the doubles between its ends run out. The
// count uses the values as they would be computed, so what is found is one of them, to the last bit
// but one.

#include "stats/delta.h"
#include "stats/rank_tests.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace lauka::stats {

namespace {

constexpr int kHalvingsOfShift = 200;       // a range of doubles about 1 runs out after some 60
constexpr std::uint64_t kMostListed = 256;  // that are sorted sooner than they are searched

/// Returns the logarithms, ascending; empty if one is not defined.
std::vector<double> sorted_logs(std::span<const double> samples) {
  std::vector<double> logs;
  logs.reserve(samples.size());
  for (const double sample : samples) {
    if (sample <= 0.0) return {};
    logs.push_back(std::log(sample));
  }
  std::ranges::sort(logs);
  return logs;
}

/// Returns logarithms of candidate / reference, ascending; of the ratio, because the difference of
/// two logarithms would round twice.
std::vector<double> sorted_log_ratios(std::span<const double> reference,
                                      std::span<const double> candidate) {
  std::vector<double> logs;
  logs.reserve(reference.size());
  for (std::size_t round = 0; round < reference.size(); ++round) {
    if (reference[round] <= 0.0 || candidate[round] <= 0.0) return {};
    logs.push_back(std::log(candidate[round] / reference[round]));
  }
  std::ranges::sort(logs);
  return logs;
}

/// (a_i + a_j) / 2 for i <= j.
struct WalshAverages {
  std::vector<double> ascending;

  std::uint64_t count() const {
    const std::uint64_t n = ascending.size();
    return n * (n + 1) / 2;
  }
  double least() const { return ascending.front(); }
  double largest() const { return ascending.back(); }

  std::vector<double> listed() const {
    std::vector<double> all;
    all.reserve(count());
    for (std::size_t low = 0; low < ascending.size(); ++low)
      for (std::size_t high = low; high < ascending.size(); ++high)
        all.push_back((ascending[low] + ascending[high]) / 2.0);
    return all;
  }

  std::uint64_t at_most(double limit) const {
    std::uint64_t count = 0;
    std::size_t end = ascending.size();  // partners of `low` are below it
    for (std::size_t low = 0; low < end; ++low) {
      while (end > low && (ascending[low] + ascending[end - 1]) / 2.0 > limit) --end;
      count += end - low;
    }
    return count;
  }
};

/// b_j - a_i for all i and j.
struct Differences {
  std::vector<double> a;
  std::vector<double> b;

  std::uint64_t count() const { return std::uint64_t{a.size()} * b.size(); }
  double least() const { return b.front() - a.back(); }
  double largest() const { return b.back() - a.front(); }

  std::vector<double> listed() const {
    std::vector<double> all;
    all.reserve(count());
    for (const double from : a)
      for (const double to : b) all.push_back(to - from);
    return all;
  }

  std::uint64_t at_most(double limit) const {
    std::uint64_t count = 0;
    std::size_t end = 0;
    for (const double value : a) {
      while (end < b.size() && b[end] - value <= limit) ++end;
      count += end;
    }
    return count;
  }
};

/// Values in ascending order.
template <typename Values>
class Ascending {
 public:
  explicit Ascending(const Values& values) : values_(values) {
    if (values.count() > kMostListed) return;
    listed_ = values.listed();
    std::ranges::sort(listed_);
  }

  /// The one in place `place`, from 1.
  double at(std::uint64_t place) const {
    if (!listed_.empty()) return listed_[place - 1];
    double below = std::nextafter(values_.least(), -HUGE_VAL);
    double reached = values_.largest();
    for (int i = 0; i < kHalvingsOfShift; ++i) {
      const double middle = std::midpoint(below, reached);
      if (middle <= below || middle >= reached) break;
      (values_.at_most(middle) >= place ? reached : below) = middle;
    }
    return reached;
  }

 private:
  const Values& values_;
  std::vector<double> listed_{};
};

template <typename Values>
std::optional<TypicalChange> change_of(const Values& values, std::uint64_t place) {
  if (place == 0) return std::nullopt;
  const std::uint64_t count = values.count();
  const Ascending ascending(values);
  double middle = ascending.at((count + 1) / 2);
  if (count % 2 == 0) middle = std::midpoint(middle, ascending.at(count / 2 + 1));
  return TypicalChange{.change = std::expm1(middle),
                       .bounds = {.low = std::expm1(ascending.at(place)),
                                  .high = std::expm1(ascending.at(count + 1 - place))}};
}

/// The mean of the logarithms, as ranks say nothing of so few rounds.
LogRatio log_ratio_of_few(std::span<const double> reference, std::span<const double> candidate,
                          bool paired) {
  if (paired) {
    const Moments ratios = moments(sorted_log_ratios(reference, candidate));
    LogRatio ratio{.value = ratios.mean};
    if (ratios.variance)
      ratio.error = std::sqrt(*ratios.variance / static_cast<double>(ratios.count));
    return ratio;
  }
  const Moments to = moments(sorted_logs(reference));
  const Moments of = moments(sorted_logs(candidate));
  LogRatio ratio{.value = of.mean - to.mean};
  if (of.variance && to.variance)
    ratio.error = std::sqrt(*of.variance / static_cast<double>(of.count) +
                            *to.variance / static_cast<double>(to.count));
  return ratio;
}

}  // namespace

std::optional<TypicalChange> typical_change(std::span<const double> reference,
                                            std::span<const double> candidate, bool paired,
                                            double tail) {
  if (paired) {
    const WalshAverages averages{sorted_log_ratios(reference, candidate)};
    if (averages.ascending.empty()) return std::nullopt;
    return change_of(averages, signed_rank_place(reference.size(), tail));
  }
  const Differences differences{sorted_logs(reference), sorted_logs(candidate)};
  if (differences.a.empty() || differences.b.empty()) return std::nullopt;
  return change_of(differences, mann_whitney_place(reference.size(), candidate.size(), tail));
}

std::optional<LogRatio> log_ratio(std::span<const double> reference,
                                  std::span<const double> candidate, bool paired) {
  constexpr std::size_t fewest_for_ranks = 6;                // as the table's deltas
  constexpr double tail_of_one_error = 0.15865525393145705;  // of the normal distribution, below -1
  const auto is_positive = [](double sample) { return sample > 0.0; };
  if (reference.empty() || candidate.empty() || !std::ranges::all_of(reference, is_positive) ||
      !std::ranges::all_of(candidate, is_positive))
    return std::nullopt;
  const bool has_ranks = std::min(reference.size(), candidate.size()) >= fewest_for_ranks;
  const auto typical =
      has_ranks ? typical_change(reference, candidate, paired, tail_of_one_error) : std::nullopt;
  if (!typical) return log_ratio_of_few(reference, candidate, paired);
  if (typical->change <= -1.0) return std::nullopt;
  LogRatio ratio{.value = std::log1p(typical->change)};
  if (typical->bounds.low > -1.0 && std::isfinite(typical->bounds.high))
    ratio.error = (std::log1p(typical->bounds.high) - std::log1p(typical->bounds.low)) / 2.0;
  return ratio;
}

}  // namespace lauka::stats
