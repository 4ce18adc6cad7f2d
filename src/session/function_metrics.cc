#include "session/function_metrics.h"

#include "core/call_paths.h"
#include "core/text.h"
#include "session/baseline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

constexpr double kNsPerSecond = 1e9;

/// A metric of one function that is to be added to a session.
struct AddedMetric {
  std::size_t base_index = 0;  ///< index of the metric of all functions
  std::string name{};
  std::string function{};
  bool is_total = false;  ///< true: the function's sampled time with what it called
};

/// The runs that gave a metric's values by function, in the order of the table's rounds.
struct RoundRuns {
  std::size_t place = 0;  // of the metric in FunctionTable::metrics
  std::vector<std::uint32_t> runs{};
};

RoundRuns find_rounds(const Recording& session, std::size_t command, std::size_t metric) {
  const FunctionTable& table = session.function_tables[command];
  RoundRuns rounds{table.find(session.metrics[metric].name)};
  if (rounds.place == table.metrics.size()) return rounds;
  for (const std::uint32_t run : session.runs.of_command(command))
    if (session.runs.value(run, metric)) rounds.runs.push_back(run);

  // A table with other rounds does not say which run each of them is.
  if (rounds.runs.size() != table.metrics[rounds.place].rounds) rounds.runs.clear();
  return rounds;
}

/// Adds the times of the functions `names`, with what they called, to `sums` by round.
void add_totals(const PathTable& paths, const std::set<std::string_view>& names,
                std::vector<double>& sums) {
  const std::vector<bool> are_through = find_paths_through(
      paths.size(), [&](std::size_t path) { return paths.caller_of(path); },
      [&](std::size_t path) {
        return paths.caller_of(path) != kNoCaller && names.contains(paths.name_of(path));
      });
  for (std::size_t path = 0; path < paths.size(); ++path)
    for (std::size_t round = 0; round < sums.size() && are_through[path]; ++round)
      sums[round] += value_in(paths.values_of(path), round);
}

/// Returns the sums of each metric of `added` by round of a command's table. `rounds`: the
/// command's rounds with each metric. A function that the table lacks is 0.
std::vector<std::vector<double>> sum_by_round(std::span<const AddedMetric> added,
                                              const WantedFunctions& wanted,
                                              const FunctionTable& table,
                                              std::span<const RoundRuns> rounds) {
  std::vector<std::vector<double>> sums;
  for (const RoundRuns& of_metric : rounds) sums.emplace_back(of_metric.runs.size());

  std::vector<std::set<std::string_view>> matching(added.size());
  for (const auto& [name, values] : table.functions)
    for (const std::size_t i : wanted.find(name, table.other_names_of(name))) {
      matching[i].insert(name);
      for (std::size_t round = 0; round < sums[i].size() && !added[i].is_total; ++round)
        sums[i][round] += value_in(values[rounds[i].place], round);
    }

  for (std::size_t i = 0; i < added.size(); ++i)
    if (added[i].is_total) add_totals(table.paths, matching[i], sums[i]);
  return sums;
}

/// Sets the values of the metrics `added`, which follow the session's metrics. A function that a
/// command lacks is 0 in each of its runs.
void set_values(std::span<const AddedMetric> added, const WantedFunctions& wanted,
                Recording& session) {
  for (std::size_t c = 0; c < session.function_tables.size(); ++c) {
    std::vector<RoundRuns> rounds;
    rounds.reserve(added.size());
    for (const AddedMetric& metric : added)
      rounds.push_back(find_rounds(session, c, metric.base_index));

    const auto sums = sum_by_round(added, wanted, session.function_tables[c], rounds);
    for (std::size_t i = 0; i < added.size(); ++i)
      for (std::size_t round = 0; round < sums[i].size(); ++round)
        session.runs.set_value(rounds[i].runs[round], session.metrics.size() + i, sums[i][round]);
  }
}

/// Lists the metrics "METRIC@FUNCTION" of gates that the session lacks but can compute.
std::vector<AddedMetric> list_metrics_to_add(std::span<const Condition> gates,
                                             const Recording& session) {
  std::vector<AddedMetric> added;
  std::set<std::string_view> names;
  for (const Condition& gate : gates) {
    const std::size_t separator = gate.metric.find(kFunctionSeparator);
    if (separator == std::string::npos || find_metric(session.metrics, gate.metric)) continue;
    const std::string_view typed = std::string_view(gate.metric).substr(0, separator);
    const bool is_total = typed == kTotalTime;
    const auto base = find_metric(session.metrics, is_total ? kSampledTime : typed);
    if (base && names.insert(gate.metric).second)
      added.push_back(
          {*base, gate.metric, normalized_function(gate.metric.substr(separator + 1)), is_total});
  }
  return added;
}

/// Makes the error that suggests functions with similar names.
Error make_unknown_function_error(const std::string& unknown,
                                  const std::set<std::string>& function_names) {
  const std::vector<std::string> similar = nearest_names(
      unknown, std::vector<std::string>(function_names.begin(), function_names.end()));
  return Error{.what = fmt::format("no command has the function {}", cited(unknown)),
               .remedy = similar.empty()
                             ? "leave out the gate, and list the functions with --functions"
                             : fmt::format("did you mean {}?", listed(similar, "or")),
               .unknown_name = unknown,
               .has_similar = !similar.empty()};
}

/// The names of the functions in tables, and which of the wanted functions are among them.
struct KnownFunctions {
  std::set<std::string> names{};
  std::vector<bool> are_found{};  ///< by the index of the wanted function
};

/// Adds the functions of a table. A function may have several names for the same code.
void add_functions(const FunctionTable& table, const WantedFunctions& wanted,
                   KnownFunctions& known) {
  for (const auto& [name, values] : table.functions) {
    const std::vector<std::string> other_names = table.other_names_of(name);
    known.names.insert(name);
    known.names.insert(other_names.begin(), other_names.end());
    for (const std::size_t index : wanted.find(name, other_names)) known.are_found[index] = true;
  }
}

/// Returns an error about the first of the functions that gates are on, if neither this session nor
/// the baseline has it: probably the user mistyped its name. Ignores empty names, which stand for
/// all functions together.
std::optional<Error> find_unknown_function(std::span<const std::string> gated_functions,
                                           std::span<const FunctionTable> tables,
                                           std::span<const FunctionTable> baseline_tables = {}) {
  const WantedFunctions wanted(gated_functions);
  KnownFunctions known;
  known.are_found.resize(gated_functions.size());
  for (const auto& tables_of_session : {tables, baseline_tables})
    for (const FunctionTable& table : tables_of_session) add_functions(table, wanted, known);

  for (std::size_t i = 0; i < gated_functions.size(); ++i)
    if (!gated_functions[i].empty() && !known.are_found[i])
      return make_unknown_function_error(gated_functions[i], known.names);
  return std::nullopt;
}

bool is_always_zero(const Series& series) {
  const Comparison succeeded = pair_samples(series, series, false);
  return std::ranges::all_of(succeeded.candidate, [](double value) { return value == 0.0; });
}

/// Returns the metric of a function. It is like that of all functions, but no event counts it
/// alone.
Metric make_function_metric(const AddedMetric& added, const std::vector<Metric>& metrics) {
  Metric metric = metrics[added.base_index];
  metric.name = added.name;
  metric.event.reset();

  // Metrics are looked up by their roles. Without one, this metric cannot be taken for that of all
  // functions. Sampled time keeps its role, by which gates know that its values are from samples.
  if (metric.role != Role::SampledTime) metric.role = Role::Other;
  return metric;
}

}  // namespace

// Lets gates on functions be judged for saved sessions, which have tables of functions but may lack
// the metric of a single function.
Result<void> add_function_metrics(std::span<const Condition> gates, bool may_lack_functions,
                                  Recording& session) {
  if (session.function_tables.empty()) return {};
  const std::vector<AddedMetric> metrics_to_add = list_metrics_to_add(gates, session);
  if (metrics_to_add.empty()) return {};

  std::vector<std::string> functions;
  functions.reserve(metrics_to_add.size());
  for (const AddedMetric& metric : metrics_to_add) functions.push_back(metric.function);
  if (!may_lack_functions) {
    auto error = find_unknown_function(functions, session.function_tables);
    if (error) return *std::move(error);
  }

  // The values are stored at the indices that the metrics get below.
  set_values(metrics_to_add, WantedFunctions(functions), session);
  for (const AddedMetric& metric : metrics_to_add)
    session.metrics.push_back(make_function_metric(metric, session.metrics));
  return {};
}

namespace {

bool has_samples(const FunctionTable& table) {
  return !std::ranges::all_of(table.functions, [](const auto& row) {
    return std::ranges::all_of(row.second, &RoundValues::empty);
  });
}

/// True for a time that includes what the function called, so that it is known only from call
/// paths.
bool is_total_time_of_function(const Metric& metric) {
  return metric.name.starts_with(std::string(kTotalTime) + kFunctionSeparator);
}

/// True if a command's call paths say too little about total times.
bool says_too_little_of_totals(const MeasuredCommand& of) {
  if (of.index >= of.session.function_tables.size()) return true;
  const FunctionTable& table = of.session.function_tables[of.index];
  return (table.paths.empty() && has_samples(table)) || lacks_callers(table.paths);
}

/// Returns NoCallers if a side's call paths say too little about total times; else None.
gate::Hindrance find_missing_callers(const Recording& session, const gate::Verdict& verdict) {
  const Pair pair = pair_of(session, verdict.candidate);
  const bool candidate_lacks_callers =
      says_too_little_of_totals(find_measured(session, pair.candidate));
  const bool reference_lacks_callers =
      verdict.condition.limit.needs_reference() &&
      says_too_little_of_totals(find_measured(session, pair.reference));
  if (!candidate_lacks_callers && !reference_lacks_callers) return {};
  return {.obstacle = gate::Obstacle::NoCallers,
          .side = gate::side_of(reference_lacks_callers, candidate_lacks_callers)};
}

}  // namespace

// All values of a function are 0 if a command lacks it, or if no sample has hit it. Such zeros do
// not show that the function takes no time, so they are returned as an obstacle to the gate.
gate::Hindrance find_missing_function(const Recording& session, const gate::Verdict& verdict,
                                      const Series& reference, const Series& candidate) {
  const Metric& metric = session.metrics[verdict.metric];
  const bool is_sampled = metric.role == Role::SampledTime;
  const bool is_of_function = metric.name.find(kFunctionSeparator) != std::string::npos;
  if (!is_sampled && !is_of_function) return {};

  const bool uses_reference = verdict.condition.limit.needs_reference();
  const bool is_reference_zero = uses_reference && is_always_zero(reference);
  const bool is_candidate_zero = is_always_zero(candidate);
  const bool are_all_values_zero = is_candidate_zero && (is_reference_zero || !uses_reference);
  if (is_sampled && are_all_values_zero) return {.obstacle = gate::Obstacle::NoSamples};

  // Total times are computed from call paths, of which many may lack the callers.
  if (is_total_time_of_function(metric)) {
    gate::Hindrance hindrance = find_missing_callers(session, verdict);
    if (hindrance.obstacle != gate::Obstacle::None) return hindrance;
  }

  const bool is_a_side_zero = is_reference_zero || is_candidate_zero;
  if (!is_of_function || !is_a_side_zero) return {};
  return {.obstacle = gate::Obstacle::NoFunction,
          .side = gate::side_of(is_reference_zero, is_candidate_zero)};
}

void FunctionTableBuilder::add(const Step& step, const std::vector<FunctionCounts>& functions,
                               const std::vector<std::size_t>& uncounted) {
  std::vector<std::string> metrics;
  double per_unit = 1.0;
  for (const std::size_t index : plan_.setting.events.passes.at(step.pass).event_indices) {
    const Event& event = plan_.setting.events.events[index];
    if (event.is_time) per_unit = kNsPerSecond;
    const bool is_counted = std::ranges::find(uncounted, index) == uncounted.end();
    if (event.only_function.empty()) metrics.push_back(is_counted ? event.name : std::string());
  }
  tables_[step.command].add_round(metrics, functions, per_unit);
}

void FunctionTableBuilder::add_paths(const Step& step, std::span<const PathCounts> paths) {
  const EventSet& events = plan_.setting.events;
  const bool is_sampled = std::ranges::any_of(
      events.passes.at(step.pass).event_indices,
      [&](std::size_t event) { return events.events[event].role == Role::SampledTime; });
  if (is_sampled) tables_[step.command].paths.add_round(paths, kNsPerSecond);
}

std::optional<Note> FunctionTableBuilder::note_left_out_paths() const {
  const bool has_left_out = std::ranges::any_of(
      tables_, [](const FunctionTable& table) { return table.paths.has_left_out_paths(); });
  if (!has_left_out) return std::nullopt;
  return Note{"too_many_paths",
              fmt::format("a command has over {} call paths, so lauka shows the samples of further "
                          "paths below {}; give --call-graph none to do without call paths",
                          PathTable::kMaxPaths, kTooManyPaths)};
}

std::optional<Error> FunctionTableBuilder::find_unknown() {
  const bool has_all = std::ranges::none_of(
      tables_, [](const FunctionTable& table) { return table.functions.empty(); });
  if (is_checked_ || !has_all) return std::nullopt;
  is_checked_ = true;
  std::vector<std::string> wanted;
  for (const Event& event : plan_.setting.events.events) wanted.push_back(event.only_function);
  const auto earlier = find_in_baseline(plan_.reference, 0);
  return find_unknown_function(
      wanted, tables_,
      earlier ? std::span<const FunctionTable>(earlier->session.function_tables)
              : std::span<const FunctionTable>());
}

std::vector<FunctionTable> FunctionTableBuilder::close() {
  const bool has_none = std::ranges::all_of(tables_, &FunctionTable::empty);
  return has_none ? std::vector<FunctionTable>() : std::move(tables_);
}

}  // namespace lauka
