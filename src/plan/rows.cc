#include "plan/rows.h"

#include "core/choices.h"
#include "core/text.h"
#include "plan/command_layouts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// A row that --metrics asks for.
struct RowRequest {
  std::string_view name;
  std::string_view unit{};  ///< name of a display unit; may be empty
};

RowRequest split_off_unit(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Error make_unknown_metric_error(std::string_view name, const std::vector<Metric>& metrics) {
  if (auto why = why_not_derived(name, metrics)) return *std::move(why);
  if (name == "default" || name == "time" || name == "all")
    return Error{fmt::format("--metrics {} cannot be combined with names", cited(name)),
                 fmt::format("write --metrics {} alone, or only names", name)};
  return Error{
      fmt::format("--metrics asks for {}, which is not measured", cited(name)),
      make_suggestion(
          name, metrics,
          "if it is an event, add it with -e; if the program reports it, write NAME:lower or "
          "NAME:higher; --metrics all shows everything that is measured")};
}

Result<void> set_display_unit(std::string_view name, Metric& metric) {
  const DisplayUnit* unit = find_display_unit(name);
  if (unit == nullptr || unit->unit != metric.unit) {
    const std::string fitting = list_units_for(metric.unit);
    return Error{fmt::format("--metrics cannot show {} in {}", metric.name, cited(name)),
                 fitting.empty() ? "leave out the unit" : "write one of " + fitting};
  }
  metric.shown_in = unit;
  return {};
}

/// Returns the percentiles that any option names, in percent and without duplicates.
std::vector<double> list_wanted_percentiles(const CountingOptions& options,
                                            const GateOptions& gates) {
  std::vector<double> all = options.percentiles;
  for (const std::string_view name : list_named_metrics(options, gates)) {
    const auto percent = percentile_in(name);
    if (percent && std::ranges::find(all, *percent) == all.end()) all.push_back(*percent);
  }
  return all;
}

/// Returns the fewest runs that give a percentile an interval.
std::size_t count_runs_needed(double percent, double confidence) {
  // The interval may miss the percentile on either of its two sides.
  const double error_per_side = (1.0 - confidence) / 2.0;
  return fewest_runs_for_quantile(percent / 100.0, error_per_side);
}

/// Returns a list such as "p95 needs 93, and p99 473".
std::string list_runs_needed(const std::vector<double>& percentiles, double confidence) {
  std::vector<std::string> needs;
  needs.reserve(percentiles.size());
  for (const double percent : percentiles) {
    const std::string_view verb = needs.empty() ? " needs" : "";
    needs.push_back(fmt::format("{}{} {}", name_of_percentile(percent), verb,
                                count_runs_needed(percent, confidence)));
  }
  return listed(needs);
}

/// Advises how many runs to allow for percentiles that need more than `max_runs`.
Error make_too_few_runs_error(const RunOptions& options, std::uint64_t max_runs, double confidence,
                              const std::vector<double>& percentiles) {
  const auto runs_needed = [&](double percent) { return count_runs_needed(percent, confidence); };
  const bool is_one = percentiles.size() == 1;
  const double most_demanding = std::ranges::max(percentiles, {}, runs_needed);

  // A sweep has a run of each layout (build of the command), and only whole sweeps are useful.
  const auto runs_to_allow =
      round_up_to_sweeps(runs_needed(most_demanding), options.layouts.value_or(1));
  return {fmt::format("{} runs of each command for {} {}% interval{}, more than the {} that {} "
                      "allows",
                      list_runs_needed(percentiles, confidence), is_one ? "its" : "their",
                      100.0 * confidence, is_one ? "" : "s", max_runs,
                      options.runs ? "--runs" : "--max-runs"),
          fmt::format("allow {} runs, or ask for {} nearer to 50", runs_to_allow,
                      is_one ? "a percentile" : "percentiles")};
}

/// An interval for a percentile far from the median needs many runs. Refuses percentiles whose
/// intervals need more runs than the user allows.
std::optional<Error> refuse_if_too_few_runs(const RunOptions& options, double confidence,
                                            std::vector<double> percentiles) {
  const std::optional<std::uint64_t> max_runs = options.runs ? options.runs : options.max_runs;
  if (!max_runs) return std::nullopt;

  // Only percentiles that need too many runs remain.
  std::erase_if(percentiles, [&](double percent) {
    return count_runs_needed(percent, confidence) <= *max_runs;
  });
  if (percentiles.empty()) return std::nullopt;
  return make_too_few_runs_error(options, *max_runs, confidence, percentiles);
}

/// True for NAME[:UNIT]:higher or NAME[:UNIT]:lower, which announces a metric of the program's own.
bool announces_metric(const std::string& row) {
  const std::size_t colon = row.rfind(':');
  return colon != std::string::npos && parse_better(std::string_view(row).substr(colon + 1));
}

std::string_view option_of(const OwnMetric& metric) {
  if (metric.region) return "--region";
  return metric.is_scraped() ? "--scrape" : "--metrics";
}

struct BuiltInFormula {
  std::string_view name;
  Unit unit;
  Better better;
  std::string_view expression;
  bool is_of_one_run = false;
  std::string_view older_expression{};  ///< form with events of older processors; may be empty
  Role role = Role::Other;

  constexpr bool has_older_form() const { return !older_expression.empty(); }

  OwnMetric make_own_metric() const {
    OwnMetric metric{.name = std::string(name), .better = better, .role = role};
    metric.unit.unit = unit;
    return metric;
  }
};

constexpr auto kBuiltInFormulas = std::to_array<BuiltInFormula>({
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
    {"clock", Unit::Ratio, Better::More, "cycles / cpu_time", true, "", Role::Clock},
});

const BuiltInFormula* find_built_in(std::string_view name) {
  const auto* const found = std::ranges::find(kBuiltInFormulas, name, &BuiltInFormula::name);
  return found == kBuiltInFormulas.end() ? nullptr : &*found;
}

constexpr std::size_t kMaxTermsOfAllFormulas = 100'000;

/// Whether a formula that cannot be computed is an error, or is left out.
enum class Requirement : unsigned char { Required, Optional };

class FormulaCollector {
 public:
  FormulaCollector(const FormulaSources& sources, FormulaForm form)
      : options_(sources.counting),
        gates_(sources.gates),
        cores_(sources.cores),
        prefers_older_form_(form == FormulaForm::ForOlderProcessors) {}

  FormulaRequest collect(MetricSelection selection) {
    for (const std::string_view name : list_named_metrics(options_, gates_))
      request_built_in(name, Requirement::Required);
    for (const OwnMetric& derived : options_.derived_metrics) {
      auto expression = parse_expression(derived.formula);
      if (expression) add({.metric = derived, .expression = *std::move(expression)});
    }
    if (selection == MetricSelection::All)
      for (const BuiltInFormula& built_in : kBuiltInFormulas)
        request_built_in(built_in.name, Requirement::Optional);
    return std::move(request_);
  }

 private:
  /// True if a metric of the user's, or a formula collected before, has this name.
  bool is_taken(std::string_view name) const {
    return has_name(options_.derived_metrics, name) || has_name(options_.scraped_metrics, name) ||
           events_of_formulas_.contains(name);
  }

  std::string_view choose_form(const BuiltInFormula& formula) const {
    const bool uses_older_form = prefers_older_form_ && formula.has_older_form();
    return uses_older_form ? formula.older_expression : formula.expression;
  }

  /// Adds the built-in formula `name` to the request, after the formulas that it uses itself. Does
  /// nothing if there is no such formula, or if the name is taken.
  void request_built_in(std::string_view name, Requirement requirement) {
    const BuiltInFormula* built_in = find_built_in(name);
    if (built_in == nullptr || is_taken(name)) return;

    // A formula of this kind divides by the CPU time of its run, but that of a region is not
    // measured.
    if (built_in->is_of_one_run && options_.measures_region) return;

    const bool is_required = requirement == Requirement::Required;
    if (is_required && built_in->has_older_form()) request_.has_older_form = true;
    auto expression = parse_expression(choose_form(*built_in));
    if (!expression) return;

    add({.metric = built_in->make_own_metric(),
         .expression = *std::move(expression),
         .is_by_user = false,
         .is_required = is_required,
         .may_use_times_of_counting_runs = built_in->is_of_one_run});
  }

  void add(FormulaDefinition formula) {
    for (const std::string& name : names_in(formula.expression))
      request_built_in(name, formula.is_required ? Requirement::Required : Requirement::Optional);
    std::vector<std::string> events = list_events(formula.expression);
    if (formula.is_required) {
      for (const std::string& event : events) add_once(request_.events, event);
      for (std::size_t i = 1; i < events.size(); ++i)
        request_.event_pairs.emplace_back(events.front(), events[i]);
    }
    events_of_formulas_.insert_or_assign(formula.metric.name, std::move(events));
    request_.formulas.push_back(std::move(formula));
  }

  std::vector<std::string> list_events(const Expression& expression) const {
    std::vector<std::string> events;
    for (const std::string& name : names_in(expression)) {
      if (const auto other = events_of_formulas_.find(name); other != events_of_formulas_.end()) {
        for (const std::string& event : other->second) add_once(events, event);
        continue;
      }
      const bool needs_none = built_in_metric(name) != nullptr ||
                              has_name(options_.scraped_metrics, name) ||
                              is_core_kind_metric(name, cores_);
      if (!needs_none) add_events_of(events, name);
    }
    return events;
  }

  const CountingOptions& options_;
  const GateOptions& gates_;
  const CorePlan& cores_;
  bool prefers_older_form_;
  FormulaRequest request_;
  std::map<std::string, std::vector<std::string>, std::less<>> events_of_formulas_;
};

/// Returns the metric that a formula means by `name`: one of this name, or else of the event's
/// role. Null if there is none.
const Metric* find_part(const std::vector<Metric>& metrics, std::string_view name) {
  auto place = find_metric(metrics, name);
  if (!place && role_of_event(name) != Role::Other)
    place = find_metric(metrics, role_of_event(name));
  return place ? &metrics[*place] : nullptr;
}

std::string name_in_messages(const FormulaDefinition& formula) {
  if (!formula.is_by_user) return formula.metric.name;
  return fmt::format("--derive {}", cited(formula.metric.name + "=" + formula.metric.formula));
}

Error make_too_many_terms_error(const FormulaDefinition& formula) {
  return {fmt::format("{} and the formulas before it have more than 100,000 parts together",
                      name_in_messages(formula)),
          "use fewer formulas, or shorter ones"};
}

bool are_cycles_of_user_space(const std::vector<Metric>& metrics) {
  const auto cycles = find_metric(metrics, Role::Cycles);
  return cycles && metrics[*cycles].counted_privilege_levels == CountedPrivilegeLevels::UserOnly;
}

/// Makes a formula that may use metrics and earlier formulas. A metric or formula that is used
/// again is replaced by a reference (RepeatedTerm) to its first use.
class FormulaMaker {
 public:
  FormulaMaker(const std::vector<const FormulaDefinition*>& earlier_formulas,
               const std::vector<Metric>& metrics)
      : earlier_formulas_(earlier_formulas), metrics_(metrics) {}

  Result<Formula> make(const FormulaDefinition& formula) {
    if (auto added = add(formula); !added) return added.error();
    return std::move(source_);
  }

 private:
  Result<void> add(const FormulaDefinition& formula) {
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

  /// Adds the terms that compute a part of `formula`: the metric or earlier formula that it calls
  /// `typed_name`.
  Result<void> add_part(const FormulaDefinition& formula, std::string_view typed_name) {
    // Counts of user space alone are divided by the CPU time of user space alone.
    const bool means_user_time = formula.may_use_times_of_counting_runs &&
                                 typed_name == metric_name_of(Role::CpuTime) &&
                                 are_cycles_of_user_space(metrics_);
    const std::string_view name = means_user_time ? metric_name_of(Role::UserTime) : typed_name;

    const Metric* part = find_part(metrics_, name);
    if (part == nullptr)
      return Error{
          fmt::format("{} needs {}, which is not measured", name_in_messages(formula), cited(name)),
          make_suggestion(name, metrics_, "lauka --check says what can be counted here")};

    // A part that occurs again refers to the value that is already computed.
    const auto computed = result_terms_.find(part);
    if (computed != result_terms_.end()) {
      source_.terms.emplace_back(RepeatedTerm{computed->second});
      return {};
    }

    if (auto added = add_terms_of(*part); !added) return added;
    const std::size_t last_term = source_.terms.size() - 1;
    result_terms_.emplace(part, last_term);
    return {};
  }

  /// The last metrics are the formulas that were made before. Their terms cannot be copied, because
  /// a RepeatedTerm refers to an index in its own formula, so they are made again.
  Result<void> add_terms_of(const Metric& part) {
    const auto part_index = static_cast<std::size_t>(&part - metrics_.data());
    const std::size_t first_formula = metrics_.size() - earlier_formulas_.size();
    if (part_index >= first_formula) return add(*earlier_formulas_[part_index - first_formula]);

    source_.terms.insert(source_.terms.end(), part.source.terms.begin(), part.source.terms.end());
    return {};
  }

  const std::vector<const FormulaDefinition*>& earlier_formulas_;
  const std::vector<Metric>& metrics_;
  /// For each part, the index of its last term, which has the value of the part.
  std::map<const Metric*, std::size_t> result_terms_;
  Formula source_;
};

bool are_in_one_pass(const Formula& source, const EventSet& events) {
  return std::ranges::any_of(events.passes,
                             [&](const Pass& pass) { return counts_all(pass, source); });
}

/// True if a formula needs times, or values that the program reports. Both are those of timed runs.
bool needs_timed_runs(const Formula& source) {
  return std::ranges::any_of(source.terms, [](const Formula::Term& term) {
    return std::holds_alternative<UsageFunction>(term) ||
           std::holds_alternative<ReportedValue>(term);
  });
}

/// Returns the reason why no run has all values of a formula; nullopt if some runs have them. A
/// formula combines the values of one run, but events and times may be measured in separate runs.
std::optional<Error> why_no_run_has_all_values(const FormulaDefinition& formula,
                                               const Metric& metric, const EventSet& events) {
  // Without events, a formula needs only what every timed run has.
  if (!metric.source.first_event()) return std::nullopt;

  if (!are_in_one_pass(metric.source, events))
    return Error{fmt::format("{} needs events that are not counted in the same run",
                             name_in_messages(formula)),
                 "count fewer events with -e; --explain-events shows which of them compete"};

  // Counts of other runs cannot be combined with what only timed runs have.
  const RoundKind kind_of_counts = kind_of(metric, events);
  if (kind_of_counts == RoundKind::Timed || !needs_timed_runs(metric.source)) return std::nullopt;

  if (kind_of_counts == RoundKind::Simulated)
    return Error{
        fmt::format("{} needs times and counts of the same run, but the counts are simulated",
                    name_in_messages(formula)),
        "divide counts by counts"};

  // The counts are from counting runs, which have CPU times, too.
  if (formula.may_use_times_of_counting_runs) return std::nullopt;

  return Error{fmt::format("{} needs times and counts of the same run", name_in_messages(formula)),
               "add --counting together"};
}

/// Gives a formula what limits the counts in it, such as the privilege levels of the first one.
void inherit_limits_of_parts(Metric& formula, const std::vector<Metric>& metrics) {
  std::string note;
  for (const Formula::Term& term : formula.source.terms) {
    const auto* counted = std::get_if<CountedEvent>(&term);
    if (counted == nullptr) continue;
    for (const Metric& metric : metrics) {
      if (metric.event != counted->event) continue;
      if (formula.counted_privilege_levels == CountedPrivilegeLevels::Unknown)
        formula.counted_privilege_levels = metric.counted_privilege_levels;
      formula.of_region = formula.of_region || metric.of_region;
      if (formula.method == CountingMethod()) formula.method = metric.method;
      if (note.empty()) note = metric.metric_suffix;
    }
  }
  formula.metric_suffix += (formula.metric_suffix.empty() || note.empty() ? "" : " ") + note;
}

Result<Metric> make_formula_metric(const std::vector<const FormulaDefinition*>& earlier_formulas,
                                   const FormulaDefinition& formula, const EventSet& events,
                                   const std::vector<Metric>& metrics) {
  auto source = FormulaMaker(earlier_formulas, metrics).make(formula);
  if (!source) return source.error();
  Metric metric = make_metric(formula.metric, *std::move(source));
  inherit_limits_of_parts(metric, metrics);
  if (auto why = why_no_run_has_all_values(formula, metric, events)) return *std::move(why);
  metric.kind = kind_of(metric, events);
  return metric;
}

Shown choose_shown(MetricSelection selection, const BuiltInMetric& metric) {
  switch (selection) {
    case MetricSelection::Default:
      return metric.shown;
    case MetricSelection::Time:
      return metric.unit == Unit::Seconds ? Shown::Always : Shown::Verbose;
    case MetricSelection::All:
    case MetricSelection::Listed:
      break;
  }
  return Shown::Always;
}

Metric make_built_in_metric(const BuiltInMetric& metric, MetricSelection selection) {
  return {.name = std::string(metric.name),
          .unit = metric.unit,
          .better = Better::Less,
          .shown = choose_shown(selection, metric),
          .source = metric.read,
          .role = metric.role};
}

/// Returns the event with a role, preferably one that is also counted in the kernel.
std::optional<std::size_t> find_event(const EventSet& set, Role role) {
  const auto find = [&](bool must_count_kernel) {
    return find_place_if(set.events, [&](const Event& event) {
      const bool counts_kernel = event.privilege_levels != CountedPrivilegeLevels::UserOnly;
      return event.role == role && !event.index_for_all_core_kinds &&
             (counts_kernel || !must_count_kernel);
    });
  };
  const auto with_kernel = find(true);
  return with_kernel ? with_kernel : find(false);
}

/// Returns the role of an event's metric. Only one event may have a role, so others that count the
/// same have none (Role::Other). Events of a single function are an exception.
Role choose_role(const EventSet& set, std::size_t event) {
  if (!set.events[event].only_function.empty()) return set.events[event].role;
  const std::size_t whole = set.events[event].index_for_all_core_kinds.value_or(event);
  const Role role = set.events[event].role;
  return find_event(set, role) == whole ? role : Role::Other;
}

Unit unit_of(const Event& event) {
  if (event.is_energy) return Unit::Joules;
  if (event.is_bytes) return Unit::Bytes;
  return event.is_time ? Unit::Seconds : Unit::Count;
}

/// Times and energies are counted in nanoseconds and nanojoules, but shown in seconds and joules.
Formula make_count_formula(const EventSet& set, std::size_t event) {
  const Formula count = CountedEvent{event};
  const bool is_counted_in_billionths = set.events[event].is_time || set.events[event].is_energy;
  return is_counted_in_billionths ? count / 1e9 : count;
}

/// Returns the share of the first core kind, which is usually the fastest, in the sum of the times
/// by core kind.
Metric make_core_share(const EventSet& set, const std::vector<std::size_t>& time_events,
                       MetricSelection selection) {
  const std::size_t first_event = time_events.front();
  const Formula time_on_first_kind = CountedEvent{first_event};
  Formula sum = time_on_first_kind;
  for (std::size_t i = 1; i < time_events.size(); ++i) sum = sum + CountedEvent{time_events[i]};

  // The share is no time, so --metrics time hides it.
  return {.name = share_metric_name(set.events[first_event].core_kind),
          .unit = Unit::Fraction,
          .better = Better::Neither,
          .shown = selection == MetricSelection::Time ? Shown::Verbose : Shown::Always,
          .source = time_on_first_kind / sum,
          .role = Role::CoreShare};
}

/// Adds the CPU times by core kind, such as P and E, and the share of the first kind.
void add_core_metrics(const EventSet& set, MetricSelection selection,
                      std::vector<Metric>& metrics) {
  // The times are stored as events of the set. There are none if lauka does not tell the kinds
  // apart.
  const std::vector<std::size_t> time_events = set.core_time_indices();
  if (time_events.empty()) return;

  for (const std::size_t event : time_events) {
    metrics.push_back(Metric{.name = set.events[event].name,
                             .unit = Unit::Seconds,
                             .better = Better::Neither,
                             .shown = Shown::Always,
                             .source = make_count_formula(set, event),
                             .role = Role::CoreTime,
                             .event = event});
  }
  metrics.push_back(make_core_share(set, time_events, selection));
}

std::string write_metric_suffix(const Event& event) {
  return event.simulated ? "(simulated)" : event.name_suffix;
}

/// Returns the metric of a counted event.
Metric make_event_metric(const EventSet& set, std::size_t index, Shown shown) {
  const Event& event = set.events[index];
  return {.name = event.name,
          .unit = unit_of(event),
          .better = Better::Less,
          .shown = shown,
          .source = make_count_formula(set, index),
          .counted_privilege_levels = event.privilege_levels,
          .of_region = event.of_region,
          .metric_suffix = write_metric_suffix(event),
          .method = event.method,
          .role = choose_role(set, index),
          .event = index,
          .is_part = event.index_for_all_core_kinds.has_value()};
}

/// Adds a metric for each counted event. `shown`: for events that are not only parts of another
/// event.
void add_event_metrics(const EventSet& set, MetricSelection selection, Shown shown,
                       std::vector<Metric>& metrics) {
  for (std::size_t i = 0; i < set.events.size(); ++i) {
    const Event& event = set.events[i];

    // add_core_metrics() adds the times by core kind.
    if (event.role == Role::CoreTime) continue;

    // An event may be counted on each core kind, too. Such parts of the whole have rows only if the
    // user asks for all metrics.
    const bool is_part = event.index_for_all_core_kinds.has_value();
    const bool hides_part = is_part && selection != MetricSelection::All;
    metrics.push_back(make_event_metric(set, i, hides_part ? Shown::Verbose : shown));
  }
}

/// Returns the metric of a ratio of two events; nullopt unless both are counted at the same
/// privilege levels and in the same runs.
std::optional<Metric> make_ratio(const EventSet& set, const DerivedMetric& derived, Shown shown) {
  const auto numerator_index = find_event(set, derived.numerator);
  const auto denominator_index = find_event(set, derived.denominator);
  if (!numerator_index || !denominator_index) return std::nullopt;

  const Event& numerator = set.events[*numerator_index];
  const Event& denominator = set.events[*denominator_index];
  if (numerator.privilege_levels != denominator.privilege_levels) return std::nullopt;

  const Formula source = Formula(CountedEvent{*numerator_index}) / CountedEvent{*denominator_index};
  if (!are_in_one_pass(source, set)) return std::nullopt;

  return Metric{.name = std::string(derived.name),
                .unit = derived.unit,
                .better = derived.better,
                .shown = shown,
                .source = source,
                .counted_privilege_levels = numerator.privilege_levels,
                .of_region = numerator.of_region,
                .metric_suffix = write_metric_suffix(numerator),
                .method = numerator.method,
                .role = derived.role};
}

/// Adds ratios of two events, such as ipc.
void add_ratios_of_events(const EventSet& set, Shown shown, std::vector<Metric>& metrics) {
  for (const DerivedMetric& derived : kDerivedMetrics)
    if (auto ratio = make_ratio(set, derived, shown)) metrics.push_back(*std::move(ratio));
}

/// Returns the error that explains why a ratio of two events is not measured.
Error make_missing_ratio_error(const DerivedMetric& ratio, const std::vector<Metric>& metrics) {
  const std::string_view numerator_event = event_name_of(ratio.numerator);
  const std::string_view denominator_event = event_name_of(ratio.denominator);
  const auto numerator_index = find_metric(metrics, ratio.numerator);
  const auto denominator_index = find_metric(metrics, ratio.denominator);
  if (!numerator_index || !denominator_index)
    return {fmt::format("{} needs {} and {}, which are not counted", ratio.name, denominator_event,
                        numerator_event),
            fmt::format("add -e {},{}; lauka --check says whether they can be counted here",
                        denominator_event, numerator_event)};

  // A modifier in the event's name, such as :u, chooses the levels.
  const bool have_same_levels = metrics[*numerator_index].counted_privilege_levels ==
                                metrics[*denominator_index].counted_privilege_levels;
  if (!have_same_levels)
    return {fmt::format("{} needs {} and {} to be counted at the same privilege levels", ratio.name,
                        denominator_event, numerator_event),
            fmt::format("write -e {},{}, both with the same modifier or without", denominator_event,
                        numerator_event)};

  // The events are counted, but not in the same runs.
  return {fmt::format("{} cannot be measured: there are counters for either {} or {}, not for "
                      "both at once",
                      ratio.name, denominator_event, numerator_event),
          "lauka --check shows who holds the others"};
}

/// Returns the index of the metric that a row of --metrics asks for. An event's name may itself
/// contain colons (cycles:u), so the whole text is looked for before NAME of NAME:UNIT.
Result<std::size_t> find_metric_of_row(std::string_view text, const std::vector<Metric>& metrics) {
  if (const auto index = find_metric(metrics, text)) return *index;
  const std::string_view name = split_off_unit(text).name;
  const auto index = find_metric(metrics, name);
  if (!index) return make_unknown_metric_error(name, metrics);
  return *index;
}

/// Lets a metric be shown in the unit that its row of --metrics gives, if any.
Result<void> set_unit_of_row(std::string_view text, Metric& metric) {
  const std::string_view unit = text == metric.name ? "" : split_off_unit(text).unit;

  // After a colon, an empty unit is not left out but wrong.
  const bool gives_unit = !unit.empty() || text.ends_with(':');
  return gives_unit ? set_display_unit(unit, metric) : Result<void>();
}

/// Moves a metric forward to a place. All others keep their order.
void move_to_place(std::vector<Metric>& metrics, std::size_t metric_index, std::size_t place) {
  const auto target = metrics.begin() + static_cast<std::ptrdiff_t>(place);
  const auto metric = metrics.begin() + static_cast<std::ptrdiff_t>(metric_index);
  std::rotate(target, metric, metric + 1);
}

/// Returns the metric of a percentile. It is computed from the values of the wall time, and has the
/// same unit.
Metric make_percentile(const Metric& wall_time, double percent) {
  Metric metric = wall_time;
  metric.percentile = Percentile{metric.name, percent / 100.0};
  metric.name = name_of_percentile(percent);
  metric.shown = Shown::Always;
  metric.role = Role::Other;  // the role belongs to the wall time alone
  return metric;
}

/// Returns the metric that a row of --metrics announces. Refuses the name of a metric in
/// `reported`.
Result<OwnMetric> read_announced_metric(const std::string& row,
                                        const std::vector<OwnMetric>& reported) {
  auto metric = parse_own_metric(row);
  if (!metric) return metric.error().about("--metrics " + cited(row));
  if (has_name(reported, metric->name))
    return Error{
        fmt::format("--metrics defines {}, but lauka already measures a metric of this name",
                    metric->name),
        "leave out the part after its name"};
  return metric;
}

/// Adds the metrics of --region to those that the program reports.
Result<void> add_region_metrics(std::vector<OwnMetric>& reported) {
  for (OwnMetric& metric : make_region_metrics()) {
    if (has_name(reported, metric.name))
      return Error{fmt::format("{} is the name of a metric of --region", metric.name),
                   "give your metric a name of its own"};
    reported.push_back(std::move(metric));
  }
  return {};
}

}  // namespace

std::string list_units_for(Unit unit) {
  std::string names;
  for (const DisplayUnit& row : kDisplayUnits) {
    if (row.unit != unit || row.name == "us") continue;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

void add_events_of(std::vector<std::string>& names, std::string_view metric) {
  const auto* const derived = std::ranges::find(kDerivedMetrics, metric, &DerivedMetric::name);
  if (derived == kDerivedMetrics.end()) return add_once(names, metric);
  add_once(names, event_name_of(derived->numerator));
  add_once(names, event_name_of(derived->denominator));
}

bool has_name(const std::vector<OwnMetric>& metrics, std::string_view name) {
  return std::ranges::find(metrics, name, &OwnMetric::name) != metrics.end();
}

std::string make_suggestion(std::string_view name, const std::vector<Metric>& metrics,
                            std::string_view otherwise) {
  std::vector<std::string_view> names;
  names.reserve(metrics.size());
  for (const Metric& metric : metrics) names.push_back(metric.name);
  const std::string_view meant = nearest(name, names);
  return meant.empty() ? std::string(otherwise) : fmt::format("did you mean {}?", meant);
}

/// Explains why a ratio of two events, such as ipc, is missing: the events are not counted, or not
/// at the same privilege levels, or not in the same runs.
std::optional<Error> why_not_derived(std::string_view name, const std::vector<Metric>& metrics) {
  for (const DerivedMetric& derived : kDerivedMetrics) {
    const bool is_measured = find_metric(metrics, derived.role).has_value();
    if (name == derived.name && !is_measured) return make_missing_ratio_error(derived, metrics);
  }
  return std::nullopt;
}

bool are_all_built_in(const std::vector<std::string>& list) {
  return std::ranges::all_of(list, [](const std::string& text) {
    return built_in_metric(split_off_unit(text).name) != nullptr;
  });
}

/// Gives --metrics what it promises: tables show the metrics that it names, in the order in which
/// it names them, and then those of --percentiles. All other metrics are only for --verbose.
/// `list`: the rows of --metrics, such as "wall_time:ms".
Result<void> move_rows_to_front(const std::vector<std::string>& list,
                                const std::vector<double>& percentiles,
                                std::vector<Metric>& metrics) {
  std::size_t count_in_front = 0;
  for (const std::string& row : list) {
    const auto metric_index = find_metric_of_row(row, metrics);
    if (!metric_index) return metric_index.error();

    Metric& metric = metrics[*metric_index];
    const bool was_named_before = *metric_index < count_in_front;
    if (was_named_before)
      return Error{fmt::format("--metrics names {} twice", metric.name), "name it once"};

    if (auto set = set_unit_of_row(row, metric); !set) return set;
    move_to_place(metrics, *metric_index, count_in_front);
    ++count_in_front;
  }

  for (const double percent : percentiles) {
    const auto metric_index = find_metric(metrics, name_of_percentile(percent));
    if (!metric_index) continue;

    // The list may have named the percentile, too.
    const bool is_in_front_already = *metric_index < count_in_front;
    if (is_in_front_already) continue;
    move_to_place(metrics, *metric_index, count_in_front);
    ++count_in_front;
  }

  for (std::size_t i = 0; i < metrics.size(); ++i)
    metrics[i].shown = i < count_in_front ? Shown::Always : Shown::Verbose;
  return {};
}

void show_times_in(const DisplayUnit* unit, std::vector<Metric>& metrics) {
  for (Metric& metric : metrics)
    if (metric.unit == Unit::Seconds && metric.shown_in == nullptr) metric.shown_in = unit;
}

/// Adds a metric for each percentile of wall time that an option names, such as wall_time.p95.
Result<void> add_percentiles(const CountingOptions& options, const GateOptions& gates,
                             const RunOptions& run, std::vector<Metric>& metrics) {
  const auto wall_time_index = find_metric(metrics, Role::WallTime);
  if (!wall_time_index) return {};

  const std::vector<double> percentiles = list_wanted_percentiles(options, gates);
  const double confidence = gates.confidence.value_or(kDefaultConfidence);
  if (auto refusal = refuse_if_too_few_runs(run, confidence, percentiles))
    return *std::move(refusal);

  // The percentiles are inserted behind the wall time.
  std::size_t next_index = *wall_time_index + 1;
  for (const double percent : percentiles) {
    const std::string name = name_of_percentile(percent);

    // Two options may name the same percentile. The user's own metrics may have any name.
    const auto namesake_index = find_metric(metrics, name);
    const bool is_added_already = namesake_index && metrics[*namesake_index].percentile;
    if (is_added_already) continue;
    if (namesake_index)
      return Error{fmt::format("--percentiles would add a second metric {}", name),
                   "give the other metric another name"};

    metrics.insert(metrics.begin() + static_cast<std::ptrdiff_t>(next_index),
                   make_percentile(metrics[*wall_time_index], percent));
    ++next_index;
  }
  return {};
}

std::vector<OwnMetric> make_region_metrics() {
  OwnMetric time{.name = std::string(kRegionTime), .region = RegionValue::Time};
  time.unit.unit = Unit::Seconds;
  OwnMetric entries{
      .name = "region_entries", .better = Better::Neither, .region = RegionValue::Entries};
  entries.unit.unit = Unit::Count;
  return {time, entries};
}

void move_region_to_front(MetricSelection selection, std::vector<Metric>& metrics) {
  const auto time = std::ranges::find(metrics, kRegionTime, &Metric::name);
  if (time == metrics.end()) return;
  std::rotate(metrics.begin(), time, time + 1);
  if (selection != MetricSelection::Default) return;
  for (Metric& metric : metrics) {
    const bool is_of_kernel = metric.event == std::nullopt && !metric.source.first_event();
    const bool is_of_whole_run = metric.role != Role::Other && is_of_kernel;
    if (is_of_whole_run || metric.name == "region_entries" || metric.role == Role::CoreTime ||
        metric.role == Role::CoreShare)
      metric.shown = Shown::Verbose;
  }
}

/// Collects the metrics whose values come from the program itself: --scrape finds them in its
/// output, --metrics announces them ("rate:higher"), and --region adds two. Returns the options
/// with all of them in `scraped_metrics`. Two of them cannot have the same name.
Result<CountingOptions> add_announced_metrics(CountingOptions options) {
  std::vector<OwnMetric> reported;
  for (const OwnMetric& metric : options.scraped_metrics) {
    if (has_name(reported, metric.name))
      return Error{fmt::format("--scrape names {} twice", metric.name),
                   "give each metric a name of its own"};
    reported.push_back(metric);
  }

  for (std::string& row : options.listed_metrics) {
    if (!announces_metric(row)) continue;
    auto metric = read_announced_metric(row, reported);
    if (!metric) return metric.error();

    // The metric is defined now, so its row only has to name it.
    row = metric->name;
    reported.push_back(*std::move(metric));
  }

  if (options.measures_region)
    if (auto added = add_region_metrics(reported); !added) return added.error();

  options.scraped_metrics = std::move(reported);
  return options;
}

Result<void> add_reported(const std::vector<OwnMetric>& reported, std::vector<Metric>& metrics) {
  for (std::size_t place = 0; place < reported.size(); ++place) {
    if (find_metric(metrics, reported[place].name))
      return Error{fmt::format("{} {} has the name of another metric", option_of(reported[place]),
                               reported[place].name),
                   "give it a name of its own"};
    metrics.push_back(make_metric(reported[place], ReportedValue{place}));
  }
  return {};
}

bool is_built_in_formula(std::string_view name) {
  return find_built_in(name) != nullptr;
}

std::vector<std::string_view> list_named_metrics(const CountingOptions& options,
                                                 const GateOptions& gates) {
  std::vector<std::string_view> names;
  for (const std::string& row : options.listed_metrics) names.push_back(name_of_row(row));
  for (const Condition& gate : gates.conditions) names.push_back(gate.metric);
  if (gates.max_half_width) names.push_back(gates.precision_metric);
  return names;
}

std::string_view name_of_row(std::string_view text) {
  return text.substr(0, text.find(':'));
}

FormulaRequest request_formulas(const FormulaSources& sources, FormulaForm form) {
  return FormulaCollector(sources, form).collect(sources.selection);
}

/// Adds a metric for each formula, which may use the metrics and the formulas before it. A formula
/// contains the terms of those that it uses, so a few short formulas could become very long. That
/// is why the number of all terms is limited.
Result<void> add_formulas(const FormulaRequest& request, const EventSet& events,
                          std::vector<Metric>& metrics) {
  std::size_t terms_of_all = 0;
  std::vector<const FormulaDefinition*> earlier_formulas;
  for (const FormulaDefinition& formula : request.formulas) {
    // lauka's own formulas were only requested if their names are free.
    if (formula.is_by_user && find_metric(metrics, formula.metric.name))
      return Error{fmt::format("{} has the name of another metric", name_in_messages(formula)),
                   "give it a name of its own"};

    // If a formula cannot be computed, it is left out unless the user asked for it.
    auto metric = make_formula_metric(earlier_formulas, formula, events, metrics);
    if (!metric && formula.is_required) return metric.error();
    if (!metric) continue;

    terms_of_all += metric->source.terms.size();
    if (terms_of_all > kMaxTermsOfAllFormulas) return make_too_many_terms_error(formula);

    metrics.push_back(*std::move(metric));
    earlier_formulas.push_back(&formula);
  }
  return {};
}

/// Returns the metrics that lauka can measure without the user's definitions: what the kernel
/// records for each run, then the CPU times by core kind, the counted events, and ratios of events.
std::vector<Metric> make_metrics(const EventSet& events, MetricSelection selection,
                                 bool events_were_asked_for, bool has_tree_peak) {
  std::vector<Metric> metrics;
  for (const BuiltInMetric& metric : kBuiltInMetrics) {
    // The kernel does not record the memory of a process tree, so it is measured only on request.
    if (metric.name == kTreePeakMemory && !has_tree_peak) continue;
    metrics.push_back(make_built_in_metric(metric, selection));
  }

  add_core_metrics(events, selection, metrics);

  // --metrics time hides events, unless -e names some.
  const bool hides_events = selection == MetricSelection::Time && !events_were_asked_for;
  const Shown shown_of_events = hides_events ? Shown::Verbose : Shown::Always;
  add_event_metrics(events, selection, shown_of_events, metrics);
  add_ratios_of_events(events, shown_of_events, metrics);

  // The kind of run that a metric is measured in follows from its events.
  for (Metric& metric : metrics) metric.kind = kind_of(metric, events);
  return metrics;
}

}  // namespace lauka
