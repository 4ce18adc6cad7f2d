#include "core/metric.h"
#include "core/text.h"
#include "plan/rows.h"

#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka {
namespace {

struct BuiltIn {
  std::string_view name;
  Unit unit;
  Better better;
  std::string_view expression;
  bool of_one_run = false;
  std::string_view older{};  ///< of processors that lack the events of the other one
};

constexpr auto kBuiltIns = std::to_array<BuiltIn>({
    {"mpki", Unit::Ratio, Better::Less, "1000 * cache-misses / instructions"},
    {"branch_miss_rate", Unit::Fraction, Better::Less, "branch-misses / branches"},
    {"cache_miss_rate", Unit::Fraction, Better::Less, "cache-misses / cache-references"},
    {"cpu_utilization", Unit::Fraction, Better::Neither, "cpu_time / wall_time"},
    {"topdown_retiring", Unit::Fraction, Better::More, "topdown-retiring / slots", false,
     "topdown-slots-retired / topdown-total-slots"},
    {"topdown_bad_speculation", Unit::Fraction, Better::Less, "topdown-bad-spec / slots", false,
     "(topdown-slots-issued - topdown-slots-retired + topdown-recovery-bubbles) / "
     "topdown-total-slots"},
    {"topdown_frontend_bound", Unit::Fraction, Better::Less, "topdown-fe-bound / slots", false,
     "topdown-fetch-bubbles / topdown-total-slots"},
    {"topdown_backend_bound", Unit::Fraction, Better::Less, "topdown-be-bound / slots", false,
     "1 - (topdown-slots-issued + topdown-recovery-bubbles + topdown-fetch-bubbles) / "
     "topdown-total-slots"},
    {"clock", Unit::Ratio, Better::More, "cycles / cpu_time", true},
});

const BuiltIn* find_built_in(std::string_view name) {
  const auto* const found = std::ranges::find(kBuiltIns, name, &BuiltIn::name);
  return found == kBuiltIns.end() ? nullptr : &*found;
}

constexpr std::size_t kMostTerms = 100'000;  // of all formulas of a session

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class Collector {
 public:
  Collector(const Options& options, const CoreUse& cores, bool older)
      : options_(options), cores_(cores), older_(older) {}

  FormulaRequest collect(MetricSelection selection) {
    for (const std::string& row : options_.metric_list) want(name_of_row(row));
    for (const Condition& gate : options_.gates) want(gate.metric);
    if (options_.precision) want(options_.precision_metric);
    for (const OwnMetric& derived : options_.derived) {
      auto expression = parse_expression(derived.text);
      if (expression) add({.metric = derived, .expression = *std::move(expression)});
    }
    if (selection == MetricSelection::All)
      for (const BuiltIn& one : kBuiltIns) want(one.name, false);
    return std::move(request_);
  }

 private:
  bool is_typed(std::string_view name) const {
    return std::ranges::any_of(options_.derived,
                               [name](const OwnMetric& one) { return one.name == name; });
  }

  bool is_reported(std::string_view name) const {
    return std::ranges::any_of(options_.scraped,
                               [name](const OwnMetric& one) { return one.name == name; });
  }

  Formulation* find(std::string_view name) {
    const auto found = std::ranges::find_if(
        request_.formulas, [name](const Formulation& one) { return one.metric.name == name; });
    return found == request_.formulas.end() ? nullptr : &*found;
  }

  /// Adds the built-in formula of that name, if there is one and the user has none.
  void want(std::string_view name, bool is_wanted = true) {
    const BuiltIn* one = find_built_in(name);
    // The CPU time of a region is not measured.
    if (one != nullptr && one->of_one_run && options_.region) return;
    if (one == nullptr || is_typed(name) || is_reported(name) || find(name) != nullptr) return;
    request_.has_older = request_.has_older || (is_wanted && !one->older.empty());
    auto expression =
        parse_expression(older_ && !one->older.empty() ? one->older : one->expression);
    if (!expression) return;
    OwnMetric metric{.name = std::string(name), .better = one->better};
    metric.unit.unit = one->unit;
    add({.metric = std::move(metric),
         .expression = *std::move(expression),
         .is_typed = false,
         .is_wanted = is_wanted,
         .of_one_run = one->of_one_run});
  }

  void add(Formulation formula) {
    for (const std::string& name : names_in(formula.expression)) want(name, formula.is_wanted);
    std::vector<std::string> events = events_of(formula.expression);
    if (formula.is_wanted) {
      for (const std::string& event : events)
        if (!contains(request_.events, event)) request_.events.push_back(event);
      for (std::size_t i = 1; i < events.size(); ++i)
        request_.together.emplace_back(events.front(), events[i]);
    }
    events_.insert_or_assign(formula.metric.name, std::move(events));
    request_.formulas.push_back(std::move(formula));
  }

  /// Returns the events of an expression and of the formulas in it, which were added before.
  std::vector<std::string> events_of(const Expression& expression) const {
    std::vector<std::string> events;
    for (const std::string& name : names_in(expression)) {
      if (const auto other = events_.find(name); other != events_.end()) {
        for (const std::string& event : other->second) add_once(events, event);
        continue;
      }
      if (built_in_metric(name) != nullptr || is_reported(name) || is_by_kind_of_core(name, cores_))
        continue;
      const auto* const derived = std::ranges::find(kDerivedMetrics, name, &DerivedMetric::name);
      if (derived == kDerivedMetrics.end()) {
        add_once(events, name);
      } else {
        add_once(events, event_name_of(derived->numerator));
        add_once(events, event_name_of(derived->denominator));
      }
    }
    return events;
  }

  static void add_once(std::vector<std::string>& names, std::string_view name) {
    if (!contains(names, name)) names.emplace_back(name);
  }

  const Options& options_;
  const CoreUse& cores_;
  bool older_;
  FormulaRequest request_;
  std::map<std::string, std::vector<std::string>, std::less<>> events_;  // by formula
};

/// Returns a part of a formula by its name: a row's name, or an event's portable one.
const Metric* find_part(const std::vector<Metric>& metrics, std::string_view name) {
  auto place = find_metric(metrics, name);
  if (!place && role_of_event(name) != Role::Other)
    place = find_metric(metrics, role_of_event(name));
  return place ? &metrics[*place] : nullptr;
}

std::string subject_of(const Formulation& formula) {
  if (!formula.is_typed) return formula.metric.name;
  return fmt::format("--derive {}", cited(formula.metric.name + "=" + formula.metric.text));
}

Error part_not_measured(const Formulation& formula, std::string_view part,
                        const std::vector<Metric>& metrics) {
  std::vector<std::string_view> names;
  names.reserve(metrics.size());
  for (const Metric& metric : metrics) names.push_back(metric.name);
  const std::string_view meant = nearest(part, names);
  return Error{fmt::format("{} needs {}, which is not measured", subject_of(formula), cited(part)),
               meant.empty() ? "lauka --check says what can be counted here"
                             : fmt::format("did you mean {}?", meant)};
}

/// If its kernel part is not counted, it is divided by the time in user space.
bool is_of_user_space(const std::vector<Metric>& metrics, const EventSet& events) {
  const auto cycles = find_metric(metrics, Role::Cycles);
  if (!cycles || !metrics[*cycles].event) return false;
  const Event& event = events.events.at(*metrics[*cycles].event);
  return event.meaning.find("user") != std::string::npos ||
         event.note.find("user") != std::string::npos;
}

/// Makes the terms of one formula. Formulas used twice are not repeated: a chain of formulas that
/// each use the one before twice has as many terms as formulas, not two to that power.
class SourceMaker {
 public:
  /// `made`: the formulas of the last metrics.
  SourceMaker(const std::vector<const Formulation*>& made, const EventSet& events,
              const std::vector<Metric>& metrics)
      : made_(made), events_(events), metrics_(metrics) {}

  Result<Formula> make(const Formulation& formula) {
    if (auto added = add(formula); !added) return added.error();
    return std::move(source_);
  }

 private:
  /// Recurses once for each --derive at most, up to kMostDerived.
  Result<void> add(const Formulation& formula) {
    for (const ExpressionTerm& term : formula.expression) {
      if (const auto* number = std::get_if<double>(&term)) {
        source_.terms.emplace_back(*number);
      } else if (const auto* operation = std::get_if<Operation>(&term)) {
        source_.terms.emplace_back(*operation);
      } else if (auto added = add_part(formula, std::get<std::string>(term)); !added) {
        return added;
      }
    }
    return {};
  }

  Result<void> add_part(const Formulation& formula, std::string_view name) {
    if (formula.of_one_run && name == metric_name_of(Role::CpuTime) &&
        is_of_user_space(metrics_, events_))
      name = metric_name_of(Role::UserTime);
    const Metric* part = find_part(metrics_, name);
    if (part == nullptr) return part_not_measured(formula, name, metrics_);
    if (const auto known = places_.find(part); known != places_.end()) {
      source_.terms.emplace_back(SameValue{known->second});
      return {};
    }
    const auto from_end = static_cast<std::size_t>(metrics_.data() + metrics_.size() - part);
    if (from_end > made_.size()) {
      source_.terms.insert(source_.terms.end(), part->source.terms.begin(),
                           part->source.terms.end());
    } else if (auto added = add(*made_[made_.size() - from_end]); !added) {
      return added;
    }
    places_.emplace(part, source_.terms.size() - 1);
    return {};
  }

  const std::vector<const Formulation*>& made_;
  const EventSet& events_;
  const std::vector<Metric>& metrics_;
  std::map<const Metric*, std::size_t> places_;  // of their values
  Formula source_;
};

bool has_event(const Formula::Term& term) {
  return std::holds_alternative<CountedEvent>(term);
}

/// True if a timed run has the term without counting.
bool is_of_timed_runs(const Formula::Term& term) {
  return std::holds_alternative<UsageReader>(term) || std::holds_alternative<ReportedValue>(term);
}

/// True if a pass counts all events of `source`.
bool are_in_one_pass(const Formula& source, const EventSet& events) {
  return std::ranges::any_of(events.passes, [&](const Pass& pass) {
    return std::ranges::all_of(source.terms, [&](const Formula::Term& term) {
      const auto* counted = std::get_if<CountedEvent>(&term);
      return counted == nullptr ||
             std::ranges::find(pass.events, counted->event) != pass.events.end();
    });
  });
}

/// Returns why no run has all parts of `metric`; nullopt if one has.
std::optional<Error> why_of_no_run(const Formulation& formula, const Metric& metric,
                                   const EventSet& events) {
  const auto& terms = metric.source.terms;
  if (std::ranges::none_of(terms, has_event)) return std::nullopt;
  if (!are_in_one_pass(metric.source, events))
    return Error{fmt::format("{} needs events that are not counted at once", subject_of(formula)),
                 "count fewer events with -e; --explain-events shows which compete"};
  const bool is_mixed = std::ranges::any_of(terms, is_of_timed_runs);
  const RoundKind kind = kind_of(metric, events);
  if (!is_mixed || kind == RoundKind::Timed) return std::nullopt;
  if (kind == RoundKind::Simulated)
    return Error{fmt::format("{} needs times and counts of the same run, and the counts are "
                             "simulated",
                             subject_of(formula)),
                 "divide counts by counts"};
  if (formula.of_one_run) return std::nullopt;
  return Error{fmt::format("{} needs times and counts of the same run", subject_of(formula)),
               "add --counting together"};
}

/// Returns the note of its first part that has one: "(simulated)".
std::string note_of_parts(const Formula& source, const std::vector<Metric>& metrics) {
  for (const Formula::Term& term : source.terms) {
    const auto* counted = std::get_if<CountedEvent>(&term);
    if (counted == nullptr) continue;
    for (const Metric& metric : metrics)
      if (metric.event == counted->event && !metric.note.empty()) return metric.note;
  }
  return "";
}

Result<Metric> row_of(const std::vector<const Formulation*>& made, const Formulation& formula,
                      const EventSet& events, const std::vector<Metric>& metrics) {
  auto source = SourceMaker(made, events, metrics).make(formula);
  if (!source) return source.error();
  Metric metric = metric_of(formula.metric, *std::move(source));
  const std::string note = note_of_parts(metric.source, metrics);
  metric.note += (metric.note.empty() || note.empty() ? "" : " ") + note;
  if (auto why = why_of_no_run(formula, metric, events)) return *std::move(why);
  metric.kind = kind_of(metric, events);
  return metric;
}

}  // namespace

bool is_built_in_formula(std::string_view name) {
  return find_built_in(name) != nullptr;
}

std::string_view name_of_row(std::string_view text) {
  return text.substr(0, text.find(':'));
}

FormulaRequest formulas_of(const Options& options, MetricSelection selection, const CoreUse& cores,
                           bool older) {
  return Collector(options, cores, older).collect(selection);
}

Result<void> add_formulas(const FormulaRequest& request, const EventSet& events,
                          std::vector<Metric>& metrics) {
  std::size_t terms = 0;
  std::vector<const Formulation*> made;
  for (const Formulation& formula : request.formulas) {
    if (formula.is_typed && find_metric(metrics, formula.metric.name))
      return Error{fmt::format("{} has the name of another metric", subject_of(formula)),
                   "give it a name of its own"};
    auto metric = row_of(made, formula, events, metrics);
    if (!metric) {
      if (formula.is_wanted) return metric.error();
      continue;
    }
    terms += metric->source.terms.size();
    if (terms > kMostTerms)
      return Error{fmt::format("{} and the formulas before it are made of more than 100,000 parts, "
                               "those of the formulas in them included",
                               subject_of(formula)),
                   "use fewer formulas, or shorter ones"};
    metrics.push_back(*std::move(metric));
    made.push_back(&formula);
  }
  return {};
}

}  // namespace lauka
