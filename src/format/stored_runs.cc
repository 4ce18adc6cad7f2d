#include "format/stored_runs.h"

#include "format/sections.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace lauka {

namespace {

std::uint32_t saturated(std::size_t number) {
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(number, most));
}

}  // namespace

void CommandRuns::reserve(std::size_t runs) {
  session_positions_.reserve(runs);
  rounds_.reserve(runs);
}

void CommandRuns::add(std::size_t number, RunRow row, std::string_view why) {
  const std::size_t run = size();
  session_positions_.push_back(saturated(number));
  rounds_.push_back(saturated(row.round));
  numbers_in_suite_.put(run, std::exchange(row.number_in_suite, 0));
  layouts_.put(run, std::exchange(row.layout, 0));
  coverages_.put(run, std::exchange(row.instruction_coverage, std::nullopt).value_or(-1.0));
  wall_seconds_.put(run, std::exchange(row.wall_seconds, 0.0));
  row.round = 0;
  row.redo_text = {};
  shared_fields_indices_.put(run, find_or_add_shared_fields({std::move(row), std::string(why)}));
}

/// Returns the index of `shape` in shared_fields_, to which it is added if it is not among the
/// latest elements. Searching all elements would take quadratic time.
std::uint32_t CommandRuns::find_or_add_shared_fields(SharedFields shape) {
  constexpr std::size_t most_looked_at = 16;
  const std::size_t first = shared_fields_.size() - std::min(shared_fields_.size(), most_looked_at);
  const auto found = std::find(shared_fields_.begin() + static_cast<std::ptrdiff_t>(first),
                               shared_fields_.end(), shape);
  const auto index = static_cast<std::uint32_t>(std::distance(shared_fields_.begin(), found));
  if (found == shared_fields_.end()) shared_fields_.push_back(std::move(shape));
  return index;
}

void CommandRuns::set_values(std::size_t metric, std::vector<double> values, bool is_wall_time) {
  if (is_wall_time) wall_time_metric_ = metric;
  values_[metric] = std::move(values);
}

void CommandRuns::set_value(std::size_t run, std::size_t metric, double value) {
  std::vector<double>& values = values_[metric];
  values.resize(std::max(values.size(), run + 1), kNoValue);
  values[run] = value;
}

RunRow CommandRuns::row(std::size_t run) const {
  const SharedFields& shape = shared_fields_[shared_fields_indices_.at(run)];
  RunRow row = shape.row;
  row.redo_text = shape.redo_text;
  row.round = rounds_[run];
  row.number_in_suite = numbers_in_suite_.at(run);
  row.layout = layouts_.at(run);
  if (const double coverage = coverages_.at(run); coverage >= 0.0)
    row.instruction_coverage = coverage;
  row.wall_seconds = wall_seconds_.at(run);
  if (wall_time_metric_)
    row.wall_seconds = value(run, *wall_time_metric_).value_or(row.wall_seconds);
  return row;
}

RunFacts CommandRuns::facts(std::size_t run) const {
  const RunRow& shared = shared_fields_[shared_fields_indices_.at(run)].row;
  return {rounds_[run], shared.pass, layouts_.at(run), shared.kind, shared.ending};
}

std::optional<double> CommandRuns::value(std::size_t run, std::size_t metric) const {
  const auto found = values_.find(metric);
  if (found == values_.end() || run >= found->second.size()) return std::nullopt;
  const double value = found->second[run];
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

StoredRuns::StoredRuns(std::vector<CommandRuns> runs, const std::vector<Metric>& metrics,
                       Bounds at_most)
    : runs_(std::move(runs)), bounds_of_unknown_(std::move(at_most)) {
  std::size_t total = 0;
  for (const CommandRuns& of_command : runs_) ends_.push_back(total += of_command.size());
  runs_by_command_.resize(total);
  std::iota(runs_by_command_.begin(), runs_by_command_.end(), 0U);
  if (!is_in_order()) sort_runs();
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    metric_kinds_.push_back(metrics[m].kind);
    source_metrics_.push_back(find_metric(metrics, metrics[m].source_metric()).value_or(m));
  }
}

bool StoredRuns::is_in_order() const {
  std::uint32_t latest = 0;
  for (const CommandRuns& of_command : runs_)
    for (std::size_t run = 0; run < of_command.size(); ++run)
      if (of_command.session_position(run) <
          std::exchange(latest, of_command.session_position(run)))
        return false;
  return true;
}

void StoredRuns::sort_runs() {
  std::vector<Place> places(runs_by_command_.size());
  for (std::size_t run = 0; run < places.size(); ++run) places[run] = place_of(run);
  std::ranges::stable_sort(places, {}, [&](const Place& place) {
    return runs_[place.command].session_position(place.index);
  });
  for (std::size_t run = 0; run < places.size(); ++run)
    runs_by_command_[begin_of(places[run].command) + places[run].index] =
        static_cast<std::uint32_t>(run);
  for (std::size_t c = 0; c < runs_.size(); ++c)
    std::sort(runs_by_command_.begin() + static_cast<std::ptrdiff_t>(begin_of(c)),
              runs_by_command_.begin() + static_cast<std::ptrdiff_t>(ends_[c]));
  places_ = std::move(places);
}

std::size_t StoredRuns::begin_of(std::size_t command) const {
  return command == 0 ? 0 : ends_[command - 1];
}

StoredRuns::Place StoredRuns::place_of(std::size_t run) const {
  if (!places_.empty()) return places_[run];
  const auto command = static_cast<std::uint32_t>(
      std::distance(ends_.begin(), std::ranges::upper_bound(ends_, run)));
  return {command, static_cast<std::uint32_t>(run - begin_of(command))};
}

RunRow StoredRuns::row(std::size_t run) const {
  const Place place = place_of(run);
  return runs_[place.command].row(place.index);
}

RunFacts StoredRuns::facts(std::size_t run) const {
  const Place place = place_of(run);
  return runs_[place.command].facts(place.index);
}

std::optional<double> StoredRuns::value(std::size_t run, std::size_t metric) const {
  if (metric >= source_metrics_.size()) return std::nullopt;
  const Place place = place_of(run);
  return runs_[place.command].value(place.index, source_metrics_[metric]);
}

std::optional<double> StoredRuns::bound(std::size_t run, std::size_t metric) const {
  if (value(run, metric)) return std::nullopt;
  const RunRow row = this->row(run);
  if (row.kind != metric_kinds_[metric]) return std::nullopt;
  const auto found = bounds_of_unknown_.find({row.command, metric});
  return found == bounds_of_unknown_.end() ? std::nullopt : std::optional(found->second);
}

std::span<const std::uint32_t> StoredRuns::of_command(std::size_t command) const {
  const std::size_t begin = begin_of(command);
  return std::span(runs_by_command_).subspan(begin, ends_[command] - begin);
}

}  // namespace lauka
