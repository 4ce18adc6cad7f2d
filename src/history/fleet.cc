#include "history/fleet.h"

#include "history/text.h"
#include "history/trend.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/metric_tables.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace lauka::history {

namespace {

constexpr double kFleetConfidence = 0.95;
constexpr std::size_t kFewMachines = 4;  // below, how much they differ is hardly known

stats::Change change_of(double value, double low, double high) {
  return {.change = std::expm1(value),
          .bounds = stats::ChangeBounds{std::expm1(low), std::expm1(high)}};
}

stats::Change change_of(const MachineEffect& machine) {
  const double reach = reach95(machine.error, machine.degrees);
  return change_of(machine.value, machine.value - reach, machine.value + reach);
}

/// Describes how much the machines differ.
std::string differences_in_words(const FleetEffect& effect) {
  const stats::CombinedEffect& combined = *effect.combined;
  const std::size_t count = effect.machines.size();
  if (count == 1) return "one class of machines: nothing is known of others";
  std::string text =
      combined.between > 0.0
          ? fmt::format("it differs between machines by {} (standard deviation)",
                        report::signed_percent(std::expm1(combined.between), 1).substr(1))
          : "the machines differ no more than their own errors";
  constexpr double smallest = 0.001;
  text += fmt::format(
      "; I² {:.0f}%, p {}", 100 * combined.heterogeneity,
      combined.p_same < smallest ? std::string("< 0.001") : fmt::format("{:.3f}", combined.p_same));
  if (count < kFewMachines)
    text +=
        fmt::format("; {} machines are few to judge that, which makes the interval wide", count);
  return text;
}

}  // namespace

void Fleet::add(const Series& series) {
  FleetEffect& effect = effects_[title_of(series)];
  effect.title = title_of(series);
  effect.better = series.metric.better;
  std::vector<SessionPart> ratios;
  for (const SeriesPoint& point : series.points) {
    const auto& ratio = point.values.to_reference;
    if (ratio && ratio->error > 0.0)
      ratios.push_back({*ratio, point.values.runs});
    else
      ++effect.left_out;
  }
  if (ratios.empty()) return;
  const double between = raise_small_errors(ratios);
  const Merged mean = merge_sessions(ratios, between);
  effect.machines.push_back(
      {series.variant, ratios.size(), mean.ratio.value, *mean.ratio.error, mean.degrees});
}

std::vector<FleetEffect> Fleet::effects() const {
  std::vector<FleetEffect> all;
  for (const auto& [title, gathered] : effects_) {
    FleetEffect effect = gathered;
    std::vector<stats::Effect> found;
    for (const MachineEffect& machine : effect.machines)
      found.push_back({machine.value, machine.error * machine.error, machine.degrees});
    effect.combined = stats::combine(found, kFleetConfidence);
    if (effect.combined) all.push_back(std::move(effect));
  }
  return all;
}

std::string fleet_text(const FleetEffect& effect, const report::Style& style) {
  const stats::CombinedEffect& combined = *effect.combined;
  Drawing ends;
  ends.include(0.0, 0.0);
  for (const MachineEffect& machine : effect.machines)
    ends.include(machine.value, reach95(machine.error, machine.degrees));
  ends.include(combined.bounds.low, 0.0);
  ends.include(combined.bounds.high, 0.0);
  report::Table table = table_with_drawing({"", "", ""});
  for (const MachineEffect& machine : effect.machines) {
    const double reach = reach95(machine.error, machine.degrees);
    table.rows.push_back(
        {{"  " + machine.variant.machine_class},
         {machine_text(machine.variant.machine)},
         {report::delta_text(change_of(machine))},
         {ends.of(machine.value, machine.value - reach, machine.value + reach, style.ascii)}});
  }
  table.rows.push_back(
      {{"  all", report::Ink::Bold},
       {effect.machines.size() == 1
            ? std::string("one class of machines")
            : fmt::format("{} classes of machines", effect.machines.size())},
       {report::delta_text(change_of(combined.value, combined.bounds.low, combined.bounds.high))},
       {ends.of(combined.value, combined.bounds.low, combined.bounds.high, style.ascii)}});
  std::string text =
      effect.title + ": change from the reference\n" + report::terminal_text(table, style);
  std::string note = "  " + differences_in_words(effect);
  if (effect.left_out > 0)
    note += fmt::format("; {} without an interval left out", effect.left_out);
  return text + report::dim_note(style.ascii ? report::ascii_of(note) : note, style);
}

std::string fleet_html(const FleetEffect& effect) {
  using report::html_text;
  const stats::CombinedEffect& combined = *effect.combined;
  std::vector<report::ChangeRow> rows;
  const auto add = [&](const std::string& name, const stats::Change& change) {
    rows.push_back(report::change_row(html_text(name), name, change, effect.better));
  };
  for (const MachineEffect& machine : effect.machines)
    add(machine_line(machine.variant), change_of(machine));
  add("all of them", change_of(combined.value, combined.bounds.low, combined.bounds.high));
  return report::change_chart(std::move(rows)) + "<p class=\"aside\">" +
         html_text(differences_in_words(effect)) + "</p>\n";
}

bool is_worse_than(const FleetEffect& effect, double percent, bool each) {
  const double limit = std::log1p(percent / 100.0);
  const auto worse = [&](double low, double high) {
    if (effect.better == Better::Less) return low > limit;
    return effect.better == Better::More && high < -limit;
  };
  if (!each) return worse(effect.combined->bounds.low, effect.combined->bounds.high);
  return std::ranges::any_of(effect.machines, [&](const auto& machine) {
    const double reach = reach95(machine.error, machine.degrees);
    return worse(machine.value - reach, machine.value + reach);
  });
}

}  // namespace lauka::history
