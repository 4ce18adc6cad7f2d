#include "gate/job.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace lauka::gate {
namespace {

/// The places of `p`, the smallest first.
std::vector<std::size_t> ascending(std::span<const double> p) {
  std::vector<std::size_t> places(p.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  return places;
}

std::vector<bool> first_of(const std::vector<std::size_t>& places, std::size_t count) {
  std::vector<bool> rejected(places.size(), false);
  for (std::size_t i = 0; i < count; ++i) rejected[places[i]] = true;
  return rejected;
}

}  // namespace

std::vector<bool> holm(std::span<const double> p, double error) {
  const auto places = ascending(p);
  std::size_t count = 0;
  while (count < p.size() && p[places[count]] <= error / static_cast<double>(p.size() - count))
    ++count;
  return first_of(places, count);
}

std::vector<bool> benjamini_hochberg(std::span<const double> p, double error) {
  const auto places = ascending(p);
  const auto all = static_cast<double>(p.size());
  std::size_t count = p.size();
  while (count > 0 && p[places[count - 1]] > error * static_cast<double>(count) / all) --count;
  return first_of(places, count);
}

void settle_job(std::span<Findings* const> findings, double error, Risk risk) {
  std::vector<Verdict*> verdicts;
  for (Findings* one : findings)
    for (Verdict& verdict : one->verdicts) verdicts.push_back(&verdict);
  const double alone = error / static_cast<double>(std::max<std::size_t>(verdicts.size(), 1));
  std::vector<double> p;
  p.reserve(verdicts.size());
  for (const Verdict* verdict : verdicts)
    p.push_back(verdict->answer == Answer::Fail ? std::min(verdict->p_of_fail, alone)
                                                : verdict->p_of_fail);
  const auto rejected = risk == Risk::Any ? holm(p, error) : benjamini_hochberg(p, error);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    Verdict& verdict = *verdicts[i];
    if (!rejected[i] || verdict.answer != Answer::Inconclusive) continue;
    verdict.answer = Answer::Fail;
    verdict.decided_by = DecidedBy::Both;
    verdict.times_as_many.reset();
  }
}

}  // namespace lauka::gate
