#include "session/candidate_series.h"

#include "core/choices.h"
#include "core/text.h"
#include "gate/lord.h"
#include "gate/schedule.h"
#include "stats/detectable.h"
#include "stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace lauka {

namespace {

/// Efficiency of the signed-rank test in comparison with the test of the mean, for normal values
/// (Hodges and Lehmann, Annals of Mathematical Statistics 27, 1956).
constexpr double kEfficiencyOfRanks = 3.0 / std::numbers::pi;

template <typename Value>
std::optional<Value> upper_median(std::vector<Value> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// What the sessions of a series were like so far.
struct TypicalSession {
  std::size_t rounds = 0;
  std::optional<double> noise{};
};

TypicalSession summarize_sessions(const std::vector<SeriesDecision>& decisions) {
  std::vector<std::size_t> round_counts;
  std::vector<double> noises;
  for (const SeriesDecision& decision : decisions) {
    round_counts.push_back(decision.rounds_at_last_look);
    if (decision.noise) noises.push_back(*decision.noise);
  }
  return {.rounds = upper_median(round_counts).value_or(0), .noise = upper_median(noises)};
}

/// Returns how far a change has to be beyond the limit, as a fraction, so that a look that tests at
/// `level` finds it with the probability kShareThatFinds. The looks test ranks, which takes
/// slightly more rounds than a test of the mean (kEfficiencyOfRanks).
double distance_to_be_found(double level, double noise, std::size_t rounds) {
  const double standard_errors = stats::normal_quantile_above(level) +
                                 stats::normal_quantile_above(1.0 - stats::kShareThatFinds);
  const double standard_error = noise / std::sqrt(static_cast<double>(rounds) * kEfficiencyOfRanks);
  return standard_errors * standard_error;
}

}  // namespace

std::string list_conditions(const SeriesTerms& terms) {
  return fmt::format("{}", fmt::join(terms.conditions, ", "));
}

std::optional<std::string> find_difference(const SeriesTerms& begun, const SeriesTerms& now) {
  const auto describe = [](std::string_view what, const auto& then, const auto& here) {
    return fmt::format("was begun with {} {}, but this call has {}", what, then, here);
  };

  if (begun.confidence != now.confidence)
    return describe("--confidence", 100.0 * begun.confidence, 100.0 * now.confidence);
  if (begun.conditions != now.conditions)
    return describe("the conditions", cited(list_conditions(begun)), cited(list_conditions(now)));
  if (begun.engine != now.engine) return describe("--engine", begun.engine, now.engine);
  if (begun.layouts != now.layouts) return describe("--layouts", begun.layouts, now.layouts);
  if (begun.jobs != now.jobs) return describe("--jobs", begun.jobs, now.jobs);
  return std::nullopt;
}

bool SeriesProgram::has_same_bytes_as(const SeriesProgram& other) const {
  return !executable_sha256.empty() && executable_sha256 == other.executable_sha256 &&
         argument_files_sha256 == other.argument_files_sha256;
}

bool SeriesProgram::has_other_bytes_than(const SeriesProgram& other) const {
  return !executable_sha256.empty() && !other.executable_sha256.empty() &&
         !has_same_bytes_as(other);
}

std::vector<std::size_t> CandidateSeries::list_kept() const {
  std::vector<std::size_t> kept;
  for (const SeriesDecision& decision : kept_decisions()) kept.push_back(decision.number);
  return kept;
}

std::vector<SeriesDecision> CandidateSeries::kept_decisions() const {
  std::vector<SeriesDecision> kept;
  std::ranges::copy_if(decisions, std::back_inserter(kept), &SeriesDecision::is_kept);
  std::ranges::sort(kept, {}, &SeriesDecision::number);
  return kept;
}

double CandidateSeries::next_level(double confidence) const {
  return gate::level_of_candidate(reservations.size() + 1, list_kept(), confidence);
}

std::optional<SeriesProgram> CandidateSeries::expected_reference() const {
  if (const auto kept = kept_decisions(); !kept.empty()) return kept.back().candidate;
  if (decisions.empty()) return std::nullopt;
  return decisions.front().reference;
}

// Estimates how much better the next candidate has to be so that it is probably kept. Assumes that
// its session will be like the earlier ones: with as many rounds, and as much noise. The session
// tests the candidate at several looks at the data so far. The estimate is for the last of them.
KeepingOutlook make_outlook(const CandidateSeries& series) {
  const TypicalSession typical = summarize_sessions(series.decisions);
  // Each candidate has its own significance level, which depends on the earlier decisions.
  KeepingOutlook outlook{.level = series.next_level(series.terms->confidence),
                         .rounds = typical.rounds};

  // Each look tests at its share of the candidate's significance level. With too few rounds, not
  // even the clearest difference reaches that share.
  const double level_of_look = gate::level_of_pocock_look(outlook.level);
  const bool can_be_kept = gate::rank_test_can_decide(outlook.rounds, level_of_look);
  if (!typical.noise || !can_be_kept) return outlook;

  const double limit = series.terms->limit_percent / 100.0;
  const double beyond_limit = distance_to_be_found(level_of_look, *typical.noise, typical.rounds);
  outlook.change = series.terms->keeps_lower ? limit - beyond_limit : limit + beyond_limit;
  return outlook;
}

gate::Decision decision_of(const std::vector<gate::Verdict>& verdicts, int status) {
  if (status == static_cast<int>(ExitStatus::Done)) return gate::Decision::Kept;

  // Why the candidate was not kept: first by a condition for keeping, else by a gate.
  for (const bool keeps : {true, false})
    for (const gate::Verdict& verdict : verdicts)
      if (verdict.condition.is_for_keeping() == keeps && verdict.answer != gate::Answer::Pass)
        return verdict.decision();
  return gate::Decision::Undecided;
}

}  // namespace lauka
