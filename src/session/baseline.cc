#include "session/baseline.h"

#include "core/text.h"
#include "session/series.h"
#include "session/setting_values.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// The partners of commands in a baseline that are found so far.
struct Partners {
  std::vector<std::optional<std::size_t>> of_commands{};
  std::vector<bool> are_taken{};  ///< by the command of the baseline
};

/// Pairs each command that has no partner yet with the first free command that matches it.
void pair_if(const std::vector<Command>& commands, const std::vector<Command>& baseline_commands,
             bool (*is_match)(const Command& ours, const Command& theirs), Partners& partners) {
  for (std::size_t c = 0; c < commands.size(); ++c) {
    for (std::size_t b = 0; b < baseline_commands.size() && !partners.of_commands[c]; ++b) {
      if (partners.are_taken[b] || !is_match(commands[c], baseline_commands[b])) continue;
      partners.of_commands[c] = b;
      partners.are_taken[b] = true;
    }
  }
}

bool have_same_name(const Command& ours, const Command& theirs) {
  return ours.name == theirs.name;
}

/// True for commands with the same parameter values that were typed at the same position.
bool have_same_parameters(const Command& ours, const Command& theirs) {
  return !ours.parameters.empty() && ours.parameters == theirs.parameters &&
         ours.typed_command_index == theirs.typed_command_index;
}

/// Pairs the commands of this session with those of a baseline, so that each is compared with the
/// command that the user most probably means. Returns the index of each command's partner in the
/// baseline; nullopt if it has none. A partner has the same name. Without such a command, it is one
/// with the same parameter values that was typed at the same position, or else the one at the same
/// position, unless that has other values of the parameters.
std::vector<std::optional<std::size_t>> match_commands(
    const std::vector<Command>& commands, const std::vector<Command>& baseline_commands) {
  Partners partners;
  partners.of_commands.resize(commands.size());
  partners.are_taken.resize(baseline_commands.size());
  pair_if(commands, baseline_commands, have_same_name, partners);
  pair_if(commands, baseline_commands, have_same_parameters, partners);

  const std::size_t common_positions = std::min(commands.size(), baseline_commands.size());
  for (std::size_t c = 0; c < common_positions; ++c) {
    const bool are_both_free = !partners.of_commands[c] && !partners.are_taken[c];
    if (are_both_free && !has_other_value(commands[c], baseline_commands[c]))
      partners.of_commands[c] = c;
  }

  return std::move(partners.of_commands);
}

std::string list_names(const std::vector<Command>& commands) {
  constexpr std::size_t max_names = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(commands.size(), max_names); ++i)
    names += (i == 0 ? "" : ", ") + cited(commands[i].name);
  return commands.size() > max_names ? names + ", ..." : names;
}

/// Returns why the command `name` has no partner in a baseline.
Error make_no_command_error(const std::string& file, const Recording& baseline,
                            const std::string& name) {
  const auto namesakes = std::ranges::count(baseline.commands, name, &Command::name);
  if (namesakes == 0)
    return Error{fmt::format("the baseline {} has no command named {}; it contains {}", cited(file),
                             cited(name), list_names(baseline.commands)),
                 "use -n to give the command one of these names, or leave it out"};

  const std::string times =
      namesakes == 1 ? std::string("once") : fmt::format("{} times", namesakes);
  return Error{fmt::format("the baseline {} has {} {}, but this session has a different "
                           "number of commands with that name; the baseline has {}",
                           cited(file), cited(name), times, list_names(baseline.commands)),
               "use -n to give each command a different name of the baseline"};
}

/// Returns how the metrics of a session differ from a metric of the same name that was measured
/// elsewhere; empty if the session lacks the metric.
std::vector<SettingDifference> find_differences_from(const Recording& session,
                                                     const Metric& metric) {
  const auto place = find_metric(session.metrics, metric.source_metric());
  if (!place) return {};
  return find_method_differences(settings_of_metric(session.metrics[*place]),
                                 settings_of_metric(metric));
}

/// Returns the command of the baseline with which a command is compared.
MeasuredCommand find_reference_in(const Baseline& baseline, std::size_t command) {
  return {*baseline.session, baseline.reference_places[command], &baseline.metric_places};
}

/// A metric of which a baseline must have values.
struct NeededMetric {
  std::size_t metric = 0;
  std::string_view needed_by;
};

/// Returns the metrics that gates and --precision need. Values that the baseline measured in
/// another way are no reason to refuse it. A gate on them is inconclusive, and says why.
std::vector<NeededMetric> list_needed_metrics(const Plan& plan, const Recording& baseline) {
  std::vector<NeededMetric> needed;
  const auto is_measured_otherwise = [&](std::size_t metric) {
    return !find_differences_from(baseline, plan.metrics[metric]).empty();
  };
  for (const Gate& gate : plan.gates)
    if (gate.condition.limit.needs_reference() && !is_measured_otherwise(gate.metric))
      needed.push_back({.metric = gate.metric, .needed_by = "a gate"});

  // --precision measures until the interval of a delta is narrow enough, so it needs the delta.
  if (plan.precision)
    needed.push_back({.metric = plan.precision->metric, .needed_by = "--precision"});
  return needed;
}

/// Refuses a baseline that lacks values that a gate or --precision needs, so that the user hears
/// about it before the session and not after it.
Result<void> check_metrics(const Plan& plan, const Baseline& baseline) {
  const std::vector<NeededMetric> needed_metrics = list_needed_metrics(plan, *baseline.session);
  for (std::size_t command = 0; command < plan.commands.size(); ++command) {
    const MeasuredCommand reference = find_reference_in(baseline, command);
    for (const auto& [metric, needed_by] : needed_metrics) {
      const bool has_values = !make_series_of_reference(reference, metric).values.empty();
      if (has_values) continue;

      return Error{
          fmt::format("the baseline {} has no {} of {}, which {} needs", cited(baseline.file),
                      plan.metrics[metric].name, cited(reference.command().name), needed_by),
          baseline.session->was_written_by_lauka
              ? "measure the baseline again with it"
              : "make the baseline with lauka --export-json, because hyperfine's files "
                "have values of few metrics only"};
    }
  }
  return {};
}

Result<void> check_units(const Plan& plan, const Baseline& baseline) {
  for (std::size_t m = 0; m < plan.metrics.size(); ++m) {
    if (!baseline.metric_places[m]) continue;
    const Metric& in_baseline = baseline.session->metrics[*baseline.metric_places[m]];
    if (plan.metrics[m].unit == in_baseline.unit) continue;
    return Error{fmt::format("the baseline {} has {} in '{}', not in '{}'", cited(baseline.file),
                             in_baseline.name, unit_symbol(in_baseline.unit),
                             unit_symbol(plan.metrics[m].unit)),
                 "export it again"};
  }
  return {};
}

/// Returns the place of a metric in a session; nullopt if the session lacks it or measured it in
/// another way.
std::optional<std::size_t> find_comparable_place(const Recording& session, const Metric& metric) {
  if (!find_differences_from(session, metric).empty()) return std::nullopt;
  return find_metric(session.metrics, metric.source_metric());
}

/// Refuses a baseline of which only one side has layouts, if runs would be made to compare the two,
/// or if the file does not say how it was measured. A gate is inconclusive, and says why.
Result<void> check_layouts(const Plan& plan, const Baseline& baseline) {
  const bool has_layouts = plan.setting.layouts > 1;
  if (!plan.precision && baseline.session->was_written_by_lauka) return {};
  if ((baseline.session->setting.layouts > 1) == has_layouts) return {};
  return Error{fmt::format("the baseline {} has {}", cited(baseline.file),
                           has_layouts ? "one build of each command, not layouts"
                                       : "layouts, but this session has one build"),
               has_layouts ? "measure it with --layouts, too" : "measure with --layouts here, too"};
}

/// Adds a note for each command whose reference has another name, as the user may have meant
/// another one.
void note_matches_by_position(const std::vector<Command>& commands, const Baseline& baseline,
                              std::vector<Note>& notes) {
  for (std::size_t c = 0; c < commands.size(); ++c) {
    const std::string& name = commands[c].name;
    const std::string& name_in_baseline = find_reference_in(baseline, c).command().name;
    if (name_in_baseline == name) continue;
    notes.push_back(
        {"matched_by_place",
         fmt::format("{} is compared with {}, which has the same position in the baseline {}, "
                     "because no command there has the same name",
                     cited(name), cited(name_in_baseline), cited(baseline.file))});
  }
}

/// Returns the place in the baseline of each command's reference.
Result<std::vector<std::size_t>> find_reference_places(const std::vector<Command>& commands,
                                                       const std::string& file,
                                                       const Recording& baseline) {
  std::vector<std::size_t> places;
  const auto partners = match_commands(commands, baseline.commands);
  for (std::size_t c = 0; c < commands.size(); ++c) {
    if (!partners[c]) return make_no_command_error(file, baseline, commands[c].name);
    if (baseline.runs.of_command(*partners[c]).empty())
      return Error{fmt::format("the baseline {} has no runs of {}", cited(file),
                               cited(baseline.commands[*partners[c]].name)),
                   "export it again"};
    places.push_back(*partners[c]);
  }
  return places;
}

/// Returns the number of a command's reference (find_measured). References in a baseline are
/// numbered behind the session's own commands.
std::size_t number_of_reference(const Reference& reference, std::size_t commands,
                                std::size_t command) {
  return reference.index_in_session(command).value_or(commands + command);
}

stats::LayoutSamplePair samples_with_layouts(const Comparison& samples) {
  return {.reference = {samples.reference, samples.reference_layouts},
          .candidate = {samples.candidate, samples.candidate_layouts},
          .paired = samples.paired};
}

/// An obstacle that applies to a side by itself.
struct ObstacleOfSide {
  gate::Obstacle obstacle;
  bool (*applies_to)(const Series& side);
};

/// The obstacles, the most fundamental one first. A build (layout) with a failed run is left out,
/// so too few builds may remain.
constexpr auto kObstaclesOfSides = std::to_array<ObstacleOfSide>({
    {gate::Obstacle::NoSuccess, [](const Series& side) { return side.has_only_failed_runs(); }},
    {gate::Obstacle::NoValue, [](const Series& side) { return !side.has_values_to_compare(); }},
    {gate::Obstacle::UpperBounds,
     [](const Series& side) { return side.largest_bound.has_value(); }},
    {gate::Obstacle::FewLayouts, [](const Series& side) { return !side.failed_layouts.empty(); }},
});

}  // namespace

void note_other_methods(const Recording& session, const std::string& file, std::string_view here,
                        Plan& plan) {
  std::map<std::string, std::vector<std::string>> names;
  for (const Metric& metric : plan.metrics) {
    if (metric.percentile) continue;
    std::string methods;
    for (const SettingDifference& difference : find_differences_from(session, metric))
      methods += fmt::format("{}{} {} in {}, and {} {}", methods.empty() ? "" : ", ",
                             row_of(difference.kind).title, difference.reference_value, cited(file),
                             difference.candidate_value, here);
    if (!methods.empty()) names[std::move(methods)].push_back(metric.name);
  }
  for (const auto& [methods, metrics] : names)
    plan.setting.events.notes.push_back(
        {"other_levels",
         fmt::format("{}: {}; such values are not compared", listed(metrics), methods)});
}

std::vector<std::optional<std::size_t>> find_metrics_in(const Recording& session,
                                                        const std::vector<Metric>& metrics) {
  std::vector<std::optional<std::size_t>> places;
  places.reserve(metrics.size());
  for (const Metric& metric : metrics)
    places.push_back(find_metric(session.metrics, metric.source_metric()));
  return places;
}

std::vector<std::optional<std::size_t>> find_comparable_metrics_in(
    const Recording& session, const std::vector<Metric>& metrics) {
  std::vector<std::optional<std::size_t>> places;
  places.reserve(metrics.size());
  for (const Metric& metric : metrics) places.push_back(find_comparable_place(session, metric));
  return places;
}

// Chooses what the plan's commands are compared with. Whatever would make the comparison fail after
// the session is refused here, while nothing has been run yet.
Result<void> use_baseline(Plan& plan, const std::string& file,
                          const std::shared_ptr<const Recording>& session) {
  Baseline baseline{.file = file, .session = session};
  auto reference_places = find_reference_places(plan.commands, file, *session);
  if (!reference_places) return reference_places.error();
  baseline.reference_places = *std::move(reference_places);

  if (auto checked = check_layouts(plan, baseline); !checked) return checked;

  // check_metrics() and check_units() need to know which metrics can be compared.
  baseline.metric_places = find_comparable_metrics_in(*session, plan.metrics);
  if (auto checked = check_metrics(plan, baseline); !checked) return checked;
  if (auto checked = check_units(plan, baseline); !checked) return checked;

  note_matches_by_position(plan.commands, baseline, plan.setting.events.notes);
  note_other_methods(*session, file, "here", plan);
  plan.reference.baseline = std::move(baseline);
  return {};
}

void extend_metric_places_of_baseline(Recording& recording) {
  auto& baseline = recording.reference.baseline;
  if (!baseline) return;
  for (std::size_t m = baseline->metric_places.size(); m < recording.metrics.size(); ++m) {
    const auto place = find_comparable_place(*baseline->session, recording.metrics[m]);
    const bool is_same =
        place && baseline->session->metrics[*place].unit == recording.metrics[m].unit;
    baseline->metric_places.push_back(is_same ? place : std::nullopt);
  }
}

MeasuredCommand find_measured(const Recording& session, std::size_t number) {
  const std::size_t commands = session.commands.size();
  if (number < commands) return {session, number};
  return find_reference_in(*session.reference.baseline, number - commands);
}

std::optional<MeasuredCommand> find_in_baseline(const Reference& reference, std::size_t command) {
  if (!reference.baseline) return std::nullopt;
  return find_reference_in(*reference.baseline, command);
}

const std::string* earlier_file(const Recording& session) {
  const auto& baseline = session.reference.baseline;
  return baseline ? &baseline->file : nullptr;
}

Pair pair_of(const Recording& session, std::size_t command) {
  const Order order =
      session.origins.empty() ? session.setting.order : origin_of(session, command).order;
  return {.reference = number_of_reference(session.reference, session.commands.size(), command),
          .candidate = command,
          .is_within_rounds = order != Order::Sequential && are_of_one_session(session, command)};
}

Pair pair_of(const Plan& plan, std::size_t command) {
  return {.reference = number_of_reference(plan.reference, plan.commands.size(), command),
          .candidate = command,
          .is_within_rounds = plan.setting.order != Order::Sequential &&
                              plan.reference.index_in_session(command).has_value()};
}

std::vector<Pair> list_pairs(const Recording& session) {
  std::vector<Pair> pairs;
  for (std::size_t c = 0; c < session.commands.size(); ++c)
    if (session.reference.is_candidate(c)) pairs.push_back(pair_of(session, c));
  return pairs;
}

Comparison collect_gate_samples(const Condition& condition, const Pair& pair,
                                std::span<const Series> series) {
  return condition.limit.needs_reference()
             ? collect_samples(pair, series)
             : gate::samples_against_limit(condition, series[pair.candidate]);
}

// The answer explains to the user why a gate is inconclusive, and tells a session that is under way
// that it need not wait for further rounds. Only the first obstacle that is found counts.
gate::Hindrance find_hindrance(const gate::Verdict& verdict, const Pair& pair,
                               std::span<const Series> series) {
  const bool uses_reference = verdict.condition.limit.needs_reference();
  for (const auto& [obstacle, applies_to] : kObstaclesOfSides) {
    const bool applies_to_reference = uses_reference && applies_to(series[pair.reference]);
    const bool applies_to_candidate = applies_to(series[pair.candidate]);
    if (applies_to_reference || applies_to_candidate)
      return {.obstacle = obstacle,
              .side = gate::side_of(applies_to_reference, applies_to_candidate)};
  }
  return {};
}

bool are_of_one_session(const Recording& session, std::size_t candidate) {
  const auto reference = session.reference.index_in_session(candidate);
  return reference && (session.origins.empty() ||
                       &origin_of(session, candidate) == &origin_of(session, *reference));
}

const Circumstances& circumstances_of(const Recording& session, std::size_t number) {
  const MeasuredCommand of = find_measured(session, number);
  return of.session.origins.empty() ? of.session.circumstances
                                    : origin_of(of.session, of.index).circumstances;
}

/// The commands of joined sessions follow one another in the order of their sessions.
const OriginSession& origin_of(const Recording& session, std::size_t command) {
  auto origin = session.origins.begin();
  for (; command >= origin->command_count; ++origin) command -= origin->command_count;
  return *origin;
}

std::uint32_t count_layouts(const Recording& session, std::size_t number) {
  const MeasuredCommand of = find_measured(session, number);
  return of.session.origins.empty() ? of.session.setting.layouts
                                    : origin_of(of.session, of.index).layouts;
}

Comparison collect_samples(const Pair& pair, std::span<const Series> series) {
  return pair_samples(series[pair.reference], series[pair.candidate], pair.is_within_rounds);
}

stats::Delta estimate_delta(const Comparison& samples, const stats::IntervalTails& tails,
                            std::optional<double> share) {
  if (samples.has_layouts())
    return stats::delta_over_layouts(samples_with_layouts(samples), tails, share);
  return stats::estimate_delta(
      {.reference = samples.reference, .candidate = samples.candidate, .paired = samples.paired},
      tails, share);
}

std::optional<stats::LayoutEstimate> mean_over_layouts(const Series& series) {
  const Comparison own = pair_samples(series, series, true);
  return stats::mean_over_layouts({own.candidate, own.candidate_layouts});
}

std::optional<stats::LayoutEstimate> log_ratio_over_layouts(const Comparison& samples,
                                                            std::optional<double> share) {
  return stats::log_ratio_over_layouts(samples_with_layouts(samples), share);
}

}  // namespace lauka
