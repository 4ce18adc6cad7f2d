#include "core/runs.h"

#include "core/numbers.h"

namespace lauka {

void MetricColumn::reorder(std::span<const std::uint32_t> order) {
  numbers_.reorder(order);
  is_known_.reorder(order);
  is_bound_.reorder(order);
}

void MetricColumn::append(std::size_t first, MetricColumn&& other) {
  numbers_.append(first, std::move(other.numbers_));
  is_known_.append(first, std::move(other.is_known_));
  is_bound_.append(first, std::move(other.is_bound_));
}

std::size_t Runs::add(const RunRow& row) {
  const std::size_t run = size_++;

  commands_.put(run, static_cast<std::uint32_t>(row.command));
  rounds_.put(run, static_cast<std::uint32_t>(row.round));
  passes_.put(run, static_cast<std::uint32_t>(row.pass));
  statuses_.put(run, row.status.value_or(kNoStatus));
  coverages_.put(run, row.instruction_coverage.value_or(kNoCoverage));
  for_each_column([&](auto member, auto& column) { column.put(run, row.*member); }, *this);
  for_each_column_of_details(
      [&](auto member, auto& column) { column.put(run, row.details.*member); }, *this);

  redo_texts_.put(run, find_or_add_text(row.redo_text));

  put_own_counts(run, row.own_process_counts);
  append_to_command(run, row.command);
  return run;
}

void Runs::set_metrics(const std::vector<Metric>& metrics) {
  wall_time_ = find_metric(metrics, Role::WallTime);
  sources_of_percentiles_.clear();
  for (std::size_t m = 0; m < metrics.size(); ++m)
    if (metrics[m].percentile)
      if (const auto source = find_metric(metrics, metrics[m].source_metric()))
        sources_of_percentiles_.emplace_back(m, *source);
}

std::size_t Runs::column_of(std::size_t metric) const {
  for (const auto& [percentile, source] : sources_of_percentiles_)
    if (percentile == metric) return source;
  return metric;
}

MetricColumn& Runs::column_to_set(std::size_t metric) {
  const std::size_t column = column_of(metric);
  if (column >= columns_.size()) columns_.resize(column + 1);
  return columns_[column];
}

double Runs::wall_seconds(std::size_t run) const {
  const auto measured = wall_time_ ? value(run, *wall_time_) : std::nullopt;
  return measured.value_or(other_wall_times_.at(run));
}

RunRow Runs::row(std::size_t run) const {
  RunRow row{.command = commands_.at(run),
             .round = rounds_.at(run),
             .pass = passes_.at(run),
             .own_process_counts = own_counts_of(run)};
  for_each_column([&](auto member, auto& column) { row.*member = column.at(run); }, *this);
  for_each_column_of_details(
      [&](auto member, auto& column) { row.details.*member = column.at(run); }, *this);
  row.wall_seconds = wall_seconds(run);

  if (const int status = statuses_.at(run); status != kNoStatus) row.status = status;
  if (const double coverage = coverages_.at(run); coverage >= 0.0)
    row.instruction_coverage = coverage;
  if (const std::uint32_t text = redo_texts_.at(run); text != 0) row.redo_text = texts_[text - 1];
  return row;
}

void Runs::append_to_command(std::size_t run, std::size_t command) {
  if (command >= of_command_.size()) of_command_.resize(command + 1);
  std::vector<std::uint32_t>& runs = of_command_[command];
  // A long list grows by an eighth, because a session may have a million runs.
  constexpr std::size_t many = 4096;
  if (runs.size() == runs.capacity() && runs.size() > many)
    runs.reserve(runs.size() + runs.size() / 8);
  runs.push_back(static_cast<std::uint32_t>(run));
}

std::uint32_t Runs::find_or_add_text(std::string_view text) {
  // Searching all texts would take quadratic time if each run had its own.
  constexpr std::size_t max_searched = 16;
  if (text.empty()) return 0;
  const std::size_t first = texts_.size() - std::min(texts_.size(), max_searched);
  for (std::size_t i = first; i < texts_.size(); ++i)
    if (texts_[i] == text) return static_cast<std::uint32_t>(i + 1);
  texts_.emplace_back(text);
  return static_cast<std::uint32_t>(texts_.size());
}

void Runs::put_own_counts(std::size_t run, std::span<const NamedCount> counts) {
  if (counts.empty()) return;
  for (const NamedCount& count : counts) {
    const auto next = static_cast<std::uint32_t>(own_count_events_.size());
    const auto [place, is_new] = own_count_event_places_.try_emplace(count.event, next);
    if (is_new) own_count_events_.push_back(count.event);
    own_counts_.push_back({place->second, count.count});
  }

  const std::size_t known = own_count_ends_.size();
  const std::uint32_t before = known == 0 ? 0 : own_count_ends_[known - 1];
  while (own_count_ends_.size() < run) own_count_ends_.push_back(before);
  own_count_ends_.push_back(static_cast<std::uint32_t>(own_counts_.size()));
}

std::vector<NamedCount> Runs::own_counts_of(std::size_t run) const {
  std::vector<NamedCount> counts;
  if (run >= own_count_ends_.size()) return counts;
  const std::size_t begin = run == 0 ? 0 : own_count_ends_[run - 1];
  counts.reserve(own_count_ends_[run] - begin);
  for (std::size_t i = begin; i < own_count_ends_[run]; ++i)
    counts.push_back({own_count_events_[own_counts_[i].event], own_counts_[i].count});
  return counts;
}

void Runs::reorder(std::span<const std::uint32_t> order) {
  Runs sorted;
  for (const std::uint32_t run : order) sorted.append_to_command(sorted.size_++, commands_.at(run));
  of_command_ = std::move(sorted.of_command_);

  for (std::size_t run = 0; !own_count_ends_.empty() && run < order.size(); ++run)
    sorted.put_own_counts(run, own_counts_of(order[run]));
  own_count_ends_ = std::move(sorted.own_count_ends_);
  own_counts_ = std::move(sorted.own_counts_);
  own_count_events_ = std::move(sorted.own_count_events_);
  own_count_event_places_ = std::move(sorted.own_count_event_places_);

  const auto reorder_all = [&](auto&... columns) { (columns.reorder(order), ...); };
  reorder_all(commands_, rounds_, passes_, statuses_, coverages_, redo_texts_);
  const auto reorder_one = [&](auto /*member*/, auto& column) { column.reorder(order); };
  for_each_column(reorder_one, *this);
  for_each_column_of_details(reorder_one, *this);
  for (MetricColumn& column : columns_) column.reorder(order);
}

/// Stores what gets other numbers here: the command, the pass (a group of events that are counted
/// together) and the text of a run.
void Runs::put_renumbered(std::size_t run, const Runs& other, std::size_t run_of_other,
                          const Joining& how) {
  const std::size_t command = how.first_command + other.commands_.at(run_of_other);
  commands_.put(run, static_cast<std::uint32_t>(command));
  passes_.put(run, static_cast<std::uint32_t>(how.first_pass + other.passes_.at(run_of_other)));
  append_to_command(run, command);
  put_own_counts(run, other.own_counts_of(run_of_other));

  // Texts are numbered from 1, because 0 stands for none.
  const std::uint32_t text = other.redo_texts_.at(run_of_other);
  redo_texts_.put(run, text == 0 ? 0 : find_or_add_text(other.texts_[text - 1]));
}

/// Moves the columns whose numbers mean the same in both sessions.
void Runs::append_columns(Runs& other, std::size_t first_run) {
  rounds_.append(first_run, std::move(other.rounds_));
  statuses_.append(first_run, std::move(other.statuses_));
  coverages_.append(first_run, std::move(other.coverages_));
  const auto append_column = [&](auto /*member*/, auto& to, auto& from) {
    to.append(first_run, std::move(from));
  };
  for_each_column(append_column, *this, other);
  for_each_column_of_details(append_column, *this, other);
}

/// Moves the values of the metrics that both sessions have.
void Runs::append_values(Runs& other, std::size_t first_run, const Joining& how) {
  // A percentile has no column of its own, but shares that of the metric that it summarizes. This
  // metric has its own turn.
  for (std::size_t m = 0; m < how.metrics.size(); ++m) {
    const bool has_own_column = column_of(m) == m;
    const std::optional<std::size_t> metric_of_other = how.metrics[m];
    if (!has_own_column || !metric_of_other) continue;

    // Columns are made when their first value is stored, so the last ones may be missing.
    const std::size_t column_of_other = other.column_of(*metric_of_other);
    if (column_of_other < other.columns_.size())
      column_to_set(m).append(first_run, std::move(other.columns_[column_of_other]));
  }
}

// Each property of all runs is stored in a column of its own. Columns are moved as a whole, unless
// they hold numbers that mean something else in this session.
void Runs::append(Runs&& other, const Joining& how) {
  const std::size_t first_run = size_;
  size_ += other.size_;
  for (std::size_t i = 0; i < other.size_; ++i) put_renumbered(first_run + i, other, i, how);
  append_columns(other, first_run);
  append_values(other, first_run, how);
  other = Runs();
}

RunRecorder::RunRecorder(const std::vector<Metric>& metrics, const EventSet& events,
                         std::optional<IgnoreFailure> ignored, std::size_t reported_metrics)
    : events_(events),
      ignored_(std::move(ignored)),
      reported_metrics_(reported_metrics),
      wall_time_(find_metric(metrics, Role::WallTime)) {
  readers_.reserve(metrics.size());
  for (const Metric& metric : metrics) {
    readers_.emplace_back();
    if (!metric.percentile || !find_metric(metrics, metric.source_metric()))
      readers_.back().emplace(metric, events);
  }
  planned_metrics_ = readers_.size();
}

RunRow RunRecorder::make_row(const RunRecord& run) const {
  RunRow row{.command = run.step.command,
             .round = run.step.round,
             .pass = run.step.pass,
             .status = shell_status(run.outcome),
             .ending = ending_of(run.outcome, ignored_),
             .kind = run.step.kind,
             .instruction_coverage = run.instruction_coverage,
             .details = run.details,
             .layout = run.step.layout};

  for (std::size_t i = 0; i < run.own_process_counts.size(); ++i) {
    const std::size_t event = events_.passes.at(run.step.pass).event_indices.at(i);
    if (run.own_process_counts[i])
      row.own_process_counts.push_back({events_.events.at(event).name, *run.own_process_counts[i]});
  }
  return row;
}

/// Adds a reader for each metric that the run reported and the plan did not know. It stands behind
/// those of the planned metrics, and its values behind those of the metrics that were planned to be
/// reported.
void RunRecorder::add_readers_for(const RunRecord& run) {
  while (true) {
    const std::size_t unplanned_metrics = readers_.size() - planned_metrics_;
    const std::size_t index_in_reported = reported_metrics_ + unplanned_metrics;
    if (index_in_reported >= run.reported.size()) break;
    const ReportedValue source{.place = index_in_reported};
    readers_.emplace_back(MetricReader(Metric{.name = {}, .source = source}, {}));
  }
}

/// Stores the run's values of all metrics; of some, only an upper bound is known. Percentiles have
/// no reader, because they use the values of another metric.
void RunRecorder::store_values(const RunRecord& run, std::size_t index, Runs& to) const {
  for (std::size_t m = 0; m < readers_.size(); ++m) {
    if (!readers_[m]) continue;
    if (const auto value = readers_[m]->value(run))
      to.set_value(index, m, *value);
    else if (const auto bound = readers_[m]->bound(run))
      to.set_bound(index, m, *bound);
  }
}

// Stores a run, with its values of all metrics. `reason`, `why`: for a run that was measured again,
// why it was not good enough, as a category and as a text.
void RunRecorder::add(const RunRecord& run, RedoReason reason, std::string_view why, Runs& to) {
  add_readers_for(run);
  RunRow row = make_row(run);
  row.reason = reason;
  row.redo_text = why;

  // The wall time is always stored, even if it is not a value of the metric, as for untimed runs.
  const bool has_wall_time = wall_time_ && readers_[*wall_time_]->value(run);
  if (!has_wall_time) row.wall_seconds = to_seconds(run.usage.wall_ns);
  store_values(run, to.add(row), to);
}

}  // namespace lauka
