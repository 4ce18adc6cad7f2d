#include "plan/make_plan.h"

#include "core/text.h"
#include "plan/command_layouts.h"
#include "plan/gates.h"
#include "plan/make_commands.h"
#include "plan/plan.h"
#include "plan/race_goal.h"
#include "plan/rows.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// True for names that are no events: built-in formulas, percentiles and the user's own metrics.
bool is_no_event(std::string_view name, const CountingOptions& options) {
  return is_built_in_formula(name) || percentile_in(name) ||
         has_name(options.derived_metrics, name) || has_name(options.scraped_metrics, name);
}

bool do_rows_need_no_events(const CountingOptions& options) {
  std::vector<std::string> others = options.listed_metrics;
  std::erase_if(others,
                [&](const std::string& row) { return is_no_event(name_of_row(row), options); });
  return are_all_built_in(others);
}

std::vector<std::string> list_events_of_gates(const CountingOptions& options,
                                              const GateOptions& gates, const CorePlan& cores) {
  std::vector<std::string> names;
  for (const Condition& gate : gates.conditions) {
    const bool needs_none = built_in_metric(gate.metric) != nullptr ||
                            is_core_kind_metric(gate.metric, cores) ||
                            is_no_event(gate.metric, options);
    if (!needs_none) add_events_of(names, gate.metric);
  }
  return names;
}

CountingOptions add_throughput(CountingOptions options, std::optional<std::uint64_t> jobs) {
  if (!jobs) return options;
  OwnMetric throughput{.name = "throughput", .better = Better::More, .role = Role::Throughput};
  throughput.unit.word = "1/s";
  throughput.formula = fmt::format("{}/wall_time", *jobs);
  options.derived_metrics.insert(options.derived_metrics.begin(), std::move(throughput));
  return options;
}

std::vector<std::string> list_default_events(const EventSet& defaults) {
  std::vector<std::string> names;
  for (const Event& event : defaults.events)
    if (!event.index_for_all_core_kinds) names.push_back(event.name);
  return names;
}

/// The events that gates and formulas need.
struct NeededEvents {
  std::vector<std::string> of_gates;
  FormulaRequest formulas;

  std::vector<std::string> all() const {
    std::vector<std::string> names = of_gates;
    for (const std::string& name : formulas.events) add_once(names, name);
    return names;
  }
};

Error make_no_metric_error(const std::string& name, const std::vector<std::string_view>& names) {
  std::vector<std::string> near;
  for (const std::string_view text : names)
    if (near.size() < 3 && text.find(name) != std::string_view::npos) near.emplace_back(text);
  if (near.empty())
    near = nearest_names(name, std::vector<std::string>(names.begin(), names.end()));
  constexpr std::string_view how_to_list = "lauka --list-metrics lists them";
  constexpr std::string_view how_to_add =
      "if the program reports it, add NAME:lower or NAME:higher to --metrics";
  return {fmt::format("there is no metric {}", cited(name)),
          near.empty() ? fmt::format("{}; {}", how_to_list, how_to_add)
                       : fmt::format("did you mean {}? {}", listed(near, "or"), how_to_list)};
}

/// Returns the names of the metrics that lauka itself defines.
std::vector<std::string_view> list_metric_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kDerivedMetrics) + std::size(kBuiltInMetrics));
  for (const DerivedMetric& metric : kDerivedMetrics) names.push_back(metric.name);
  for (const BuiltInMetric& metric : kBuiltInMetrics) names.push_back(metric.name);
  return names;
}

/// True if `name`, which is no metric, probably is a misspelt one. The name of a portable event,
/// such as "cycles", is spelt correctly even if it is similar.
bool is_misspelt_metric(const std::string& name,
                        const std::vector<std::string_view>& metric_names) {
  return role_of_event(name) == Role::Other && !nearest(name, metric_names).empty();
}

/// Returns the error about an event of a formula that probably was meant as a metric; nullopt if it
/// was not.
std::optional<Error> explain_event_of_formula(const std::string& name,
                                              const std::vector<std::string_view>& metric_names) {
  // Names of events may contain a minus sign, so "wall_time-user_time" is read as one name.
  const std::string before_dash = name.substr(0, name.find('-'));
  const bool lacks_blanks = before_dash != name && built_in_metric(before_dash) != nullptr;
  if (!lacks_blanks && !is_misspelt_metric(name, metric_names)) return std::nullopt;
  return Error{fmt::format("a formula of --derive needs {}, which is not measured", cited(name)),
               lacks_blanks ? "put spaces around a minus sign"
                            : fmt::format("did you mean {}?", nearest(name, metric_names))};
}

/// Explains why the engine refused events. Names in gates and formulas that are no metrics are
/// taken for events, so if one of them probably is a misspelt metric, the user is told so.
/// Otherwise, the engine's own error is the explanation.
Error explain_refusal(const NeededEvents& needed, const Error& engine_error) {
  const std::vector<std::string_view> metric_names = list_metric_names();

  for (const std::string& name : needed.of_gates) {
    const bool is_unknown_to_engine = engine_error.unknown_name == name;
    if (is_unknown_to_engine || is_misspelt_metric(name, metric_names))
      return make_no_metric_error(name, metric_names);
  }

  for (const std::string& name : needed.formulas.events)
    if (auto why = explain_event_of_formula(name, metric_names)) return *std::move(why);

  return engine_error;
}

/// Returns a request for the events `names`. A formula can only be computed if one pass counts all
/// of its events, so their pairs are more important than the pairs that every request has.
EventRequest make_event_request(const std::vector<std::string>& names,
                                const CountingOptions& options, const NeededEvents& needed) {
  EventRequest request{.names = names, .single_pass = options.single_pass};
  const auto& pairs = needed.formulas.event_pairs;
  request.pairs_for_one_pass.insert(request.pairs_for_one_pass.begin(), pairs.begin(), pairs.end());
  return request;
}

/// Lets the engine select the events that it counts by default, and the events `extra_names`. It
/// divides them into passes: the events of one pass are counted in the same runs.
Result<EventSet> select_default_events_plus(const std::vector<std::string>& extra_names,
                                            const CountingOptions& options,
                                            const NeededEvents& needed,
                                            const EventSelector& select_events) {
  // A request without names is for the default events. If others are added, it need not demand a
  // single pass, because the second request, for all events, does.
  const bool has_extra_names = !extra_names.empty();
  const EventRequest for_defaults{.names = {},
                                  .single_pass = options.single_pass && !has_extra_names};
  auto defaults = select_events(for_defaults);
  if (!defaults || !has_extra_names) return defaults;

  // The second request is needed if it adds events or restricts the passes.
  const std::vector<std::string> all_names = append_to_default_events(*defaults, extra_names);
  const bool adds_events = all_names.size() > list_default_events(*defaults).size();
  const bool restricts_passes = options.single_pass || !needed.formulas.event_pairs.empty();
  if (!adds_events && !restricts_passes) return defaults;

  auto all_events = select_events(make_event_request(all_names, options, needed));
  if (all_events)
    all_events->notes.insert(all_events->notes.begin(), defaults->notes.begin(),
                             defaults->notes.end());
  return all_events;
}

/// Lets the engine select the events that options, gates and formulas name and, if `with_defaults`,
/// those that it counts by default. The engine divides them into passes, each of which is counted
/// in other runs.
Result<EventSet> select_wanted_events(const CountingOptions& options, const NeededEvents& needed,
                                      bool with_defaults, const EventSelector& select_events) {
  std::vector<std::string> names = options.events;
  for (const std::string& name : needed.all()) add_once(names, name);
  return with_defaults ? select_default_events_plus(names, options, needed, select_events)
                       : select_events(make_event_request(names, options, needed));
}

Result<void> refuse_percentiles_in_formulas(const FormulaRequest& formulas) {
  for (const std::string& name : formulas.events)
    if (percentile_in(name))
      return Error{
          fmt::format(
              "a formula of --derive combines values of one run, but {} is computed from all runs",
              cited(name)),
          fmt::format("use {} in the formula", cited(name.substr(0, name.rfind(".p"))))};
  return {};
}

/// Refuses an engine that the user chose and that cannot count anything here.
Result<void> check_engine_can_count(const CountingOptions& options, const EventSet& events,
                                    const EventSelector& select_events) {
  const EngineRow& engine = row_of(options.engine);
  if (engine.may_count_nothing || !events.events.empty()) return {};
  const auto selected = select_events({{"instructions"}, false});
  if (selected) return {};
  return selected.error().prefixed(fmt::format("--engine {}", engine.name));
}

/// Refuses an event in --metrics that was left out because nothing can be counted here.
Result<void> check_listed_events(const CountingOptions& options, const EventSet& events,
                                 const EventSelector& select_events) {
  if (options.metric_selection != MetricSelection::Listed || !events.events.empty()) return {};
  for (const std::string& row : options.listed_metrics) {
    const std::string name(name_of_row(row));
    if (role_of_event(name) == Role::Other) continue;
    if (auto counted = select_events({{name}, false}); !counted) return counted.error();
  }
  return {};
}

/// True if the rows that the user has selected need no events.
bool do_selected_rows_need_no_events(const CountingOptions& options) {
  const MetricSelection selection = options.metric_selection;
  return selection == MetricSelection::Time ||
         (selection == MetricSelection::Listed && do_rows_need_no_events(options));
}

/// Refuses events that need more passes than there may be runs, because each pass needs a run.
Result<void> check_runs_for_passes(const RunOptions& run, std::size_t passes) {
  const auto max_runs = run.runs ? run.runs : run.max_runs;
  if (!max_runs || *max_runs >= passes) return {};
  return Error{fmt::format("the events need {} passes, more than the {} of each command", passes,
                           plural(*max_runs, "run")),
               fmt::format("allow {} runs, or count fewer events", passes)};
}

/// Refuses a selection of events that cannot be counted as the user asked.
Result<void> check_selected_events(const CountingOptions& options, const EventSet& events,
                                   const EventSelector& select_events) {
  if (auto checked = check_engine_can_count(options, events, select_events); !checked)
    return checked;
  return check_listed_events(options, events, select_events);
}

/// Chooses the events to count: those that the user names in options, gates and formulas, and the
/// default events unless the options exclude them. Returns an empty set if none are needed.
Result<EventSet> choose_events(const CountingOptions& options, const RunOptions& run,
                               const NeededEvents& needed, const EventSelector& select_events) {
  if (auto checked = refuse_percentiles_in_formulas(needed.formulas); !checked)
    return checked.error();

  const bool user_names_events = !options.events.empty() || !needed.all().empty();
  const bool rows_need_no_events = do_selected_rows_need_no_events(options);
  if (rows_need_no_events && !user_names_events) return EventSet{};

  // With -e, only the named events are counted, unless it is written with a plus sign.
  const bool with_defaults =
      options.adds_default_events || (options.events.empty() && !rows_need_no_events);
  auto events = select_wanted_events(options, needed, with_defaults, select_events);
  if (!events) return explain_refusal(needed, events.error());
  if (auto checked = check_selected_events(options, *events, select_events); !checked)
    return checked.error();

  // Each pass needs a run. Without enough runs, default events just stay uncounted.
  if (!user_names_events) return events;
  const std::size_t passes = events->count_passes(RoundKind::Timed);
  if (auto enough = check_runs_for_passes(run, passes); !enough) return enough.error();
  return events;
}

/// Returns the CPU times by kind of core, such as P and E, as events.
std::vector<Event> list_core_time_events(const CorePlan& cores) {
  std::vector<Event> events;
  for (const std::string& kind : cores.timed_kinds)
    events.push_back({.name = time_metric_name(kind),
                      .meaning = fmt::format("CPU time on {} cores", kind),
                      .is_time = true,
                      .role = Role::CoreTime,
                      .core_kind = kind});
  if (cores.measures_unsplit_time)
    events.push_back({.name = std::string(kUnsplitTime),
                      .meaning =
                          "CPU time of processes that ended between two looks, whose kind of core "
                          "is not known",
                      .is_time = true});
  return events;
}

/// Adds a pass of counting runs that only measure the times by kind of core. Returns its index.
std::size_t add_pass_for_core_times(EventSet& set) {
  // The pass is the last one but never the first, so an empty pass goes before it if needed.
  const std::size_t new_index = core_time_pass(set.passes.size());
  set.passes.resize(new_index);
  set.passes.push_back({.event_indices = {}, .kind = RoundKind::Counting});
  return new_index;
}

/// Returns the indices of all passes of timed runs. Adds a pass to a set without passes, because
/// the times by kind of core need one even if no events are counted.
std::vector<std::size_t> provide_timed_passes(EventSet& set) {
  if (set.passes.empty()) set.passes.emplace_back();

  std::vector<std::size_t> timed_passes;
  for (std::size_t i = 0; i < set.passes.size(); ++i)
    if (set.passes[i].kind == RoundKind::Timed) timed_passes.push_back(i);
  return timed_passes;
}

/// Plans to measure the CPU time that commands spend on each kind of core. The times are stored as
/// events, so they belong to passes: the events of one pass are counted in the same runs.
void add_core_times(Plan& plan) {
  if (plan.cores.timed_kinds.empty()) return;

  EventSet& set = plan.setting.events;
  const std::vector<std::size_t> passes_with_times =
      plan.cores.times_kinds_only_in_counting_runs
          ? std::vector<std::size_t>{add_pass_for_core_times(set)}
          : provide_timed_passes(set);

  for (Event& time : list_core_time_events(plan.cores)) {
    const std::size_t time_index = set.events.size();
    set.events.push_back(std::move(time));
    for (const std::size_t pass : passes_with_times)
      set.passes[pass].event_indices.push_back(time_index);
  }
}

StopRule make_stop_rule(const RunOptions& options, std::size_t passes) {
  // Each pass needs at least one run.
  const std::uint64_t max_runs = options.max_runs.value_or(std::max<std::uint64_t>(passes, 1));
  return StopRule{.exact_runs = options.runs,
                  .min_runs = std::max(options.min_runs, std::min<std::uint64_t>(passes, max_runs)),
                  .max_runs = options.max_runs,
                  .budget_per_command = options.time_per_command};
}

/// Returns Sequential if there are setup or cleanup hooks, because one command's setup may undo
/// another command's setup; else Random.
Order choose_default_order(const CommandOptions& options) {
  const auto surrounds_commands = [&](const HookRow& row) {
    return !row.is_of_a_run() &&
           std::ranges::any_of(options.hooks[row.kind],
                               [](const std::string& line) { return !line.empty(); });
  };
  return std::ranges::any_of(kHookKinds, surrounds_commands) ? Order::Sequential : Order::Random;
}

/// Returns the commands that `name` means: their name, their text, or their name before parameters
/// were filled in.
std::vector<std::size_t> find_commands_named(const std::string& name,
                                             const std::vector<Command>& commands) {
  std::vector<std::size_t> found;
  for (std::size_t c = 0; c < commands.size(); ++c) {
    const Command& command = commands[c];
    if (command.name == name || command.text == name || command.unfilled_name == name)
      found.push_back(c);
  }
  return found;
}

std::string list_names(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const Command& command : commands) names.push_back(cited(command.name));
  return listed(names);
}

/// Finds the command that --anchor names. The anchor is an old build, which sessions of different
/// days have in common. It is measured like the others, but no gate applies to it.
Result<void> add_anchor(const GateOptions& options, Plan& plan) {
  if (!options.anchor_command) return {};

  const auto named_commands = find_commands_named(*options.anchor_command, plan.commands);
  const std::string what = "--anchor " + cited(*options.anchor_command);
  if (named_commands.empty())
    return Error{what + " is not the name of a command", "they are " + list_names(plan.commands)};
  if (named_commands.size() > 1)
    return Error{what + " is the name of more than one command",
                 "give each command a name of its own with -n"};

  // Gates compare the candidates with the reference, so it cannot be left out of the gates.
  const std::size_t anchor_index = named_commands.front();
  if (plan.reference.is_reference(anchor_index))
    return Error{what + " is the reference", "put the anchor after the base and the candidate"};

  plan.reference.anchor_index = anchor_index;
  return {};
}

Result<void> add_precision(const GateOptions& options, Plan& plan) {
  if (!options.max_half_width) return {};
  const auto place = find_metric(plan.metrics, options.precision_metric);
  if (!place)
    return Error{
        fmt::format("--precision names {}, which is not measured", cited(options.precision_metric)),
        make_suggestion(options.precision_metric, plan.metrics,
                        "--metrics all shows what is measured")};
  const Metric& metric = plan.metrics[*place];
  if (metric.kind != RoundKind::Timed) {
    return Error{fmt::format("--precision cannot wait for {}, which is counted in separate runs",
                             metric.name),
                 "ask for a precision of wall_time or cpu_time, or add --counting together"};
  }
  plan.precision = PrecisionGoal{*options.max_half_width, *place};
  return {};
}

Result<void> check_run_options(const Options& options, const Plan& plan) {
  if (options.run.end_pattern)
    if (auto why = why_no_until(options, plan)) return *std::move(why);
  const auto& expected = options.commands.expected_outputs;
  const bool is_same = std::ranges::find(expected, ExpectedOutput::Kind::Same,
                                         &ExpectedOutput::kind) != expected.end();
  if (is_same && plan.commands.size() < 2)
    return Error{
        "--expect-output same has nothing to compare with, because there is only one command",
        "add another command, or name a FILE with the output"};
  return {};
}

Result<void> add_judgement(const Options& options, Plan& plan) {
  if (auto anchor = add_anchor(options.gates, plan); !anchor) return anchor;
  if (auto gates =
          add_gates(options.gates.conditions, options.gates.baseline_file.has_value(), plan);
      !gates)
    return gates;
  if (auto precision = add_precision(options.gates, plan); !precision) return precision;
  if (auto race = add_race(options.run, plan); !race) return race;
  return check_run_options(options, plan);
}

/// What decides which metrics a plan has, besides its events.
struct MetricSources {
  const Options& options;
  const CountingOptions& counting;
  const FormulaRequest& formulas;
  bool has_tree_peak = false;
};

/// Adds the metrics that options define, in an order in which a formula may use all metrics
/// before it.
Result<void> add_defined_metrics(const MetricSources& sources, Plan& plan) {
  if (auto added = add_reported(plan.reported_metrics, plan.metrics); !added) return added;
  if (auto added = add_formulas(sources.formulas, plan.setting.events, plan.metrics); !added)
    return added;
  return add_percentiles(sources.counting, sources.options.gates, sources.options.run,
                         plan.metrics);
}

/// Moves the metrics to the front that the user has asked for.
Result<void> move_metrics_to_front(const MetricSources& sources, Plan& plan) {
  const CountingOptions& counting = sources.counting;
  if (counting.measures_region)
    move_region_to_front(choose_metric_selection(sources.options), plan.metrics);
  if (counting.metric_selection != MetricSelection::Listed) return {};
  return move_rows_to_front(counting.listed_metrics, counting.percentiles, plan.metrics);
}

/// Adds the metrics to a plan that already has events, in the order in which tables show them.
Result<void> add_metrics(const MetricSources& sources, Plan& plan) {
  const Options& options = sources.options;
  const CountingOptions& counting = sources.counting;
  const bool events_were_asked_for = !counting.events.empty();

  // The CPU times by core kind become events, for which make_metrics() makes metrics.
  add_core_times(plan);
  plan.metrics = make_metrics(plan.setting.events, choose_metric_selection(options),
                              events_were_asked_for, sources.has_tree_peak);
  if (auto added = add_defined_metrics(sources, plan); !added) return added;
  if (auto moved = move_metrics_to_front(sources, plan); !moved) return moved;

  // The compact table has only the first metric, unless the user has asked for certain ones.
  plan.presentation.compact_shows_all_metrics =
      counting.metric_selection != MetricSelection::Default || events_were_asked_for;
  // --metrics all has many rows, so those with only zeros are left to --verbose.
  plan.presentation.hides_all_zero_rows = counting.metric_selection == MetricSelection::All &&
                                          options.output.verbosity != Verbosity::Verbose;

  show_times_in(options.output.presentation.time_unit, plan.metrics);
  return {};
}

/// The events of a plan, and the formulas that use them.
struct ChosenEvents {
  EventSet events;
  FormulaRequest formulas;
};

/// Chooses the events of a plan. An older processor may lack those of a formula's usual form, so
/// another form may take its place.
Result<ChosenEvents> choose_events_of_plan(const Options& options, const CountingOptions& counting,
                                           const CorePlan& cores,
                                           const EventSelector& select_events) {
  const FormulaSources sources{.counting = counting,
                               .gates = options.gates,
                               .cores = cores,
                               .selection = choose_metric_selection(options)};
  NeededEvents needed{list_events_of_gates(counting, options.gates, cores),
                      request_formulas(sources, FormulaForm::Usual)};
  auto events = choose_events(counting, options.run, needed, select_events);
  if (events) return ChosenEvents{*std::move(events), std::move(needed.formulas)};

  if (needed.formulas.has_older_form) {
    needed.formulas = request_formulas(sources, FormulaForm::ForOlderProcessors);
    if (auto others = choose_events(counting, options.run, needed, select_events))
      return ChosenEvents{*std::move(others), std::move(needed.formulas)};
  }
  return events.error();
}

void take_counting_options(const CountingOptions& options, Plan& plan) {
  plan.events_were_asked_for = !options.events.empty();
  plan.setting.measures_region = options.measures_region;
  plan.reported_metrics = options.scraped_metrics;
}

/// Gives a plan the options on runs. `clock_seed`: the seed without --seed.
void take_run_options(const Options& options, std::uint64_t clock_seed, Plan& plan) {
  const RunOptions& run = options.run;
  plan.setting.warmup_runs = run.warmup;
  // The setups of a race all run first, because its commands alternate.
  plan.setting.order =
      run.order.value_or(run.race_limit ? Order::Random : choose_default_order(options.commands));
  plan.setting.order_for_hooks = !run.order && plan.setting.order == Order::Sequential;
  plan.setting.seed = run.seed.value_or(clock_seed);
  plan.timeout = run.timeout;
  plan.ignore_failure = run.ignore_failure;
  plan.compiled_end_pattern = run.end_pattern;
  if (run.end_pattern) plan.setting.until = run.end_pattern->text();
  plan.setting.jobs = static_cast<std::uint32_t>(run.copies_per_run.value_or(1));
  plan.setting.layouts = static_cast<std::uint32_t>(run.layouts.value_or(1));
}

/// Gives a plan, which already has commands, the options that are not on runs.
void take_other_options(const Options& options, Plan& plan) {
  plan.confidence = options.gates.confidence.value_or(kDefaultConfidence);
  plan.shell = options.commands.shell;
  plan.presentation = options.output.presentation;
  plan.suggested_line =
      options.commands.unquoted_command ? options.commands.unquoted_command->quoted_line : "";
  plan.hints = make_hints(options, plan.commands);
}

/// Adds to a plan, which already has events and options, what depends on them.
Result<void> complete_plan(const MetricSources& sources, Plan& plan) {
  if (auto added = add_metrics(sources, plan); !added) return added;
  plan.setting.stop =
      make_stop_rule(sources.options.run, plan.setting.events.count_passes(RoundKind::Timed));
  return add_judgement(sources.options, plan);
}

}  // namespace

MetricSelection choose_metric_selection(const Options& options) {
  const bool widen = options.output.verbosity == Verbosity::Verbose;
  return widen && options.counting.metric_selection == MetricSelection::Default
             ? MetricSelection::All
             : options.counting.metric_selection;
}

TreePeakRequest tree_peak_request(const Options& options) {
  const auto named = list_named_metrics(options.counting, options.gates);
  if (std::ranges::find(named, kTreePeakMemory) != named.end() ||
      std::ranges::any_of(options.counting.derived_metrics, [](const OwnMetric& metric) {
        return metric.formula.find(kTreePeakMemory) != std::string::npos;
      }))
    return TreePeakRequest::ByName;
  // --verbose must not change how runs are made.
  return options.counting.metric_selection == MetricSelection::All ? TreePeakRequest::WithAll
                                                                   : TreePeakRequest::No;
}

std::vector<std::string> append_to_default_events(const EventSet& defaults,
                                                  const std::vector<std::string>& names) {
  std::vector<std::string> all = list_default_events(defaults);
  for (const std::string& name : names) add_once(all, name);
  return all;
}

/// Returns the error if --until is combined with an option that it rules out; else nullopt. --until
/// ends a run as soon as the command has written a certain line, so no option may need the rest of
/// the run or of its output.
std::optional<Error> why_no_until(const Options& options, const Plan& plan) {
  if (plan.setting.jobs > 1)
    return Error{
        "--until ends a run at the first line that matches, so --jobs would not wait for the other "
        "copies",
        "use only one of them"};

  if (std::ranges::any_of(options.counting.scraped_metrics, &OwnMetric::is_scraped))
    return Error{
        "--until cannot be combined with --scrape, which reads the output only after the run",
        "use only one of them; a program can also write its metrics to the file that LAUKA_METRICS "
        "names"};

  if (!options.commands.expected_outputs.empty())
    return Error{"--until ends runs early, so --expect-output has no complete output to compare",
                 "use only one of them"};

  // Only Valgrind has simulated passes.
  if (plan.setting.events.count_passes(RoundKind::Simulated) > 0)
    return Error{"--until ends runs early, but Valgrind counts only runs that end by themselves",
                 fmt::format("use only one of --until and --engine {}",
                             row_of(options.counting.engine).name)};

  return std::nullopt;
}

// Decides everything before the first run. The order matters: the last steps use the commands,
// events and options that a plan already has.
Result<Plan> make_plan(const Options& options, const EventSelector& select_events,
                       const PlanCircumstances& here) {
  // --jobs, --metrics and --region define metrics, too.
  const auto counting =
      add_announced_metrics(add_throughput(options.counting, options.run.copies_per_run));
  if (!counting) return counting.error();

  auto commands = make_commands(options.commands);
  if (!commands) return commands.error();
  if (auto layouts = check_layouts(options, *commands); !layouts) return layouts.error();

  auto chosen = choose_events_of_plan(options, *counting, here.cores, select_events);
  if (!chosen) return chosen.error();

  // The first command is the reference. If commands are repeated with several values of a
  // parameter, there is a reference for each value.
  Plan plan;
  plan.commands = *std::move(commands);
  plan.reference = pair_by_parameters(plan.commands, plan.commands.front().typed_command_index);
  plan.setting.events = std::move(chosen->events);
  plan.cores = here.cores;
  take_counting_options(*counting, plan);
  take_run_options(options, here.clock_seed, plan);
  take_other_options(options, plan);

  const MetricSources sources{.options = options,
                              .counting = *counting,
                              .formulas = chosen->formulas,
                              .has_tree_peak = here.has_tree_peak};
  if (auto completed = complete_plan(sources, plan); !completed) return completed.error();
  return plan;
}

}  // namespace lauka
