#include "run/gates.h"

#include "plan/baseline.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace lauka {
namespace {

bool is_simulated(const Metric& metric, const EventSet& events) {
  const auto* counted = std::get_if<CountedEvent>(&metric.source);
  return counted != nullptr && events.events.at(counted->event).simulated;
}

/// Which of the reference and the candidate is known by bounds only: more rounds change nothing
/// then.
std::optional<std::size_t> first_with_bounds(const Plan& plan, const MetricSeries& series,
                                             std::size_t candidate) {
  for (const std::size_t command : {plan.baseline ? candidate : 0, candidate}) {
    if (series.of(command).largest_bound) return command;
  }
  return std::nullopt;
}

}  // namespace

GateWatch::GateWatch(const Plan& plan) : plan_(plan), confidence_(plan.confidence) {
  std::vector<std::string> names;
  for (const Condition& condition : plan.gates) {
    const auto metric =
        std::find_if(plan.metrics.begin(), plan.metrics.end(),
                     [&](const Metric& one) { return one.name == condition.metric; });
    if (metric == plan.metrics.end()) continue;  // make_plan refuses such a gate
    const auto known = std::find(names.begin(), names.end(), condition.metric);
    const auto index = static_cast<std::size_t>(known - names.begin());
    if (known == names.end()) {
      names.push_back(condition.metric);
      metrics_.push_back(&*metric);
      series_.emplace_back(*metric, plan.events, plan.commands.size());
    }
    for (std::size_t candidate = first_candidate(plan); candidate < plan.commands.size();
         ++candidate) {
      questions_.push_back(
          {condition, candidate, index, is_simulated(*metric, plan.events), std::nullopt});
    }
  }
  const std::size_t gates = std::max<std::size_t>(questions_.size(), 1);
  levels_ = plan.stop.exact_runs ? gate::levels_of_one_look(confidence_, gates)
                                 : gate::levels_of_five_looks(confidence_, gates);
}

void GateWatch::take(const RunRecord& run) {
  for (MetricSeries& series : series_) series.take(run);
}

void GateWatch::look(gate::Look look) {
  looks_ = look.number;
  if (look.number == 1 && look.last)
    levels_ = gate::levels_of_one_look(confidence_, std::max<std::size_t>(questions_.size(), 1));
  for (Question& question : questions_) {
    if (!question.verdict) question.verdict = decide(question, look);
  }
}

bool GateWatch::is_decided() const {
  return std::all_of(questions_.begin(), questions_.end(),
                     [](const Question& question) { return question.verdict.has_value(); });
}

bool GateWatch::waits_for(bool simulated) const {
  return std::any_of(questions_.begin(), questions_.end(), [&](const Question& question) {
    return question.simulated == simulated && !question.verdict;
  });
}

std::size_t GateWatch::rounds_of_constants() const {
  return questions_.empty() ? 0 : gate::rounds_of_constants(levels_);
}

std::vector<gate::Verdict> GateWatch::close() {
  std::vector<gate::Verdict> verdicts;
  for (Question& question : questions_) {
    if (!question.verdict) {
      // Not a look of the schedule: whatever the numbers say now, it is no answer.
      question.verdict = decide(question, {looks_ + 1, true});
      question.verdict->answer = gate::Answer::Inconclusive;
      question.verdict->decided_by = gate::DecidedBy::Nothing;
    }
    verdicts.push_back(*question.verdict);
  }
  return verdicts;
}

std::optional<gate::Verdict> GateWatch::decide(const Question& question, gate::Look look) const {
  const MetricSeries& series = series_[question.metric];
  const Comparison samples =
      samples_of(plan_, *metrics_[question.metric], series, question.candidate);
  if (samples.is_empty()) {
    const auto too_small = first_with_bounds(plan_, series, question.candidate);
    if (!look.last && !too_small) return std::nullopt;
    gate::Verdict nothing;
    nothing.too_small = too_small;
    nothing.condition = question.condition;
    nothing.candidate = question.candidate;
    nothing.level = levels_.pass;
    nothing.look = look.number;
    return nothing;
  }
  return gate::decide_at_look(question.condition, question.candidate,
                              {samples.reference, samples.candidate, samples.paired}, levels_,
                              look);
}

}  // namespace lauka
