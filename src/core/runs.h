#pragma once

#include "core/command.h"
#include "core/event.h"
#include "core/metric.h"
#include "core/record.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace lauka {

struct NamedCount {
  std::string event;
  std::uint64_t count = 0;

  bool operator==(const NamedCount&) const = default;
};

/// A run with its wall time, but without its values of other metrics. Fields without a comment mean
/// the same as in RunRecord and Step.
struct RunRow {
  std::size_t command = 0;
  std::size_t round = 0;
  std::size_t pass = 0;
  /// Exit status as a shell reports it; nullopt if unknown, or if the run was not started.
  std::optional<int> status{};
  Ending ending = Ending::Unknown;
  RoundKind kind = RoundKind::Timed;
  std::optional<double> instruction_coverage{};
  /// Counts of the command's own process, without descendants; may be empty.
  std::vector<NamedCount> own_process_counts{};
  RedoReason reason = RedoReason::Other;
  /// Reason for the repetition in words; empty if unknown, or if the run was not repeated.
  std::string_view redo_text{};
  double wall_seconds = 0.0;  ///< wall time; 0 if unknown
  RunDetails details{};
  std::uint32_t layout = 0;

  bool operator==(const RunRow&) const = default;
};

/// What is needed of each run to compare values.
struct RunFacts {
  std::size_t round = 0;
  std::size_t pass = 0;
  std::uint32_t layout = 0;
  RoundKind kind = RoundKind::Timed;
  Ending ending = Ending::Unknown;
};

/// A list that grows by pieces, because a session may have a million runs: a long vector would be
/// copied whenever it grows, and would have room for elements that never come.
template <typename Value>
class PieceList {
 public:
  std::size_t size() const {
    return pieces_.empty() ? 0 : (pieces_.size() - 1) * kPieceSize + pieces_.back().size();
  }
  bool empty() const { return pieces_.empty(); }
  Value operator[](std::size_t place) const {
    return pieces_[place / kPieceSize][place % kPieceSize];
  }

  void push_back(Value value) {
    if (pieces_.empty()) {
      pieces_.emplace_back();  // grows by itself, because a suite has many short lists
    } else if (pieces_.back().size() == kPieceSize) {
      pieces_.emplace_back().reserve(kPieceSize);
    }
    pieces_.back().push_back(value);
  }

 private:
  static constexpr std::size_t kPieceSize = 1024;

  std::vector<std::vector<Value>> pieces_{};
};

/// A value for each run, stored by pieces. A piece in which all values are `usual` takes no memory:
/// a session alternates between blocks of runs, and most metrics have values only in the blocks of
/// one kind.
template <typename Value>
class RunColumn {
 public:
  explicit RunColumn(Value usual = {}) : usual_(usual) {}

  Value at(std::size_t run) const {
    const std::size_t piece = run / kPieceSize;
    const std::size_t place = run % kPieceSize;
    return piece < pieces_.size() && place < pieces_[piece].size() ? pieces_[piece][place] : usual_;
  }

  void put(std::size_t run, Value value) {
    if (is_usual(value) && is_usual(at(run))) return;
    const std::size_t place = run % kPieceSize;
    std::vector<Value>& piece = make_piece(run / kPieceSize);
    while (piece.size() < place) piece.push_back(usual_);
    if (place < piece.size())
      piece[place] = value;
    else
      piece.push_back(value);
  }

  /// Makes run `i` have the value of the run `order[i]` so far.
  void reorder(std::span<const std::uint32_t> order) {
    RunColumn sorted(usual_);
    for (std::size_t run = 0; !pieces_.empty() && run < order.size(); ++run)
      sorted.put(run, at(order[run]));
    *this = std::move(sorted);
  }

  /// Makes the runs from `first` on have the values of the runs of `other`.
  void append(std::size_t first, RunColumn&& other) {
    if (first == 0) {
      *this = std::move(other);
      return;
    }
    const std::size_t end = other.pieces_.size() * kPieceSize;
    for (std::size_t run = 0; run < end; ++run)
      if (const Value value = other.at(run); !is_usual(value)) put(first + run, value);
  }

 private:
  static constexpr std::size_t kPieceSize = 256;

  std::vector<Value>& make_piece(std::size_t index) {
    if (index >= pieces_.size()) pieces_.resize(index + 1);
    std::vector<Value>& piece = pieces_[index];
    // The first piece grows by itself, because a suite has many short sessions.
    if (index > 0 && piece.empty()) piece.reserve(kPieceSize);
    return piece;
  }

  bool is_usual(Value value) const {
    // The sign of a zero is exported, too.
    if constexpr (std::is_floating_point_v<Value>)
      return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(usual_);
    else
      return value == usual_;
  }

  Value usual_;
  std::vector<std::vector<Value>> pieces_{};
};

/// A metric's value in each run: a number that is known, or is only an upper bound, or is missing.
class MetricColumn {
 public:
  std::optional<double> value(std::size_t run) const {
    return is_known_.at(run) && !is_bound_.at(run) ? std::optional(numbers_.at(run)) : std::nullopt;
  }
  std::optional<double> bound(std::size_t run) const {
    return is_known_.at(run) && is_bound_.at(run) ? std::optional(numbers_.at(run)) : std::nullopt;
  }

  void set(std::size_t run, double number, bool is_bound) {
    is_known_.put(run, true);
    is_bound_.put(run, is_bound);
    numbers_.put(run, number);
  }

  void reorder(std::span<const std::uint32_t> order);
  void append(std::size_t first, MetricColumn&& other);

 private:
  RunColumn<double> numbers_{};
  RunColumn<bool> is_known_{};
  RunColumn<bool> is_bound_{};
};

/// The runs of a session, in the order in which they were run, with their values of its metrics.
/// The loop appends runs while they end, readers of files fill it, and join() concatenates it, so
/// that all code sees the same runs. It has a column for each field, because a session may have a
/// million runs.
class Runs {
 public:
  Runs() = default;

  /// `metrics`: of the session. A percentile has the values of the metric that it summarizes.
  explicit Runs(const std::vector<Metric>& metrics) { set_metrics(metrics); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Appends a run without values of metrics, and returns its index.
  std::size_t add(const RunRow& row);

  /// Sets the value of a metric (index into the session's metrics) in a run.
  void set_value(std::size_t run, std::size_t metric, double value) {
    column_to_set(metric).set(run, value, false);
  }
  /// Sets an upper bound of a value that is not known itself.
  void set_bound(std::size_t run, std::size_t metric, double bound) {
    column_to_set(metric).set(run, bound, true);
  }

  /// Says what the metrics are, of which columns may have values already.
  void set_metrics(const std::vector<Metric>& metrics);

  /// Returns a run's row. RunRow::redo_text is valid until a run is added.
  RunRow row(std::size_t run) const;

  /// Returns a part of row(run), faster.
  RunFacts facts(std::size_t run) const {
    return {rounds_.at(run), passes_.at(run), layouts_.at(run), kinds_.at(run), endings_.at(run)};
  }

  /// Returns the run's wall time; 0 if unknown.
  double wall_seconds(std::size_t run) const;

  /// Returns the run's value of a metric; nullopt if unknown.
  std::optional<double> value(std::size_t run, std::size_t metric) const {
    const MetricColumn* column = find_column(metric);
    return column != nullptr ? column->value(run) : std::nullopt;
  }

  /// Returns an upper bound of the run's value of a metric, if only a bound is known; else nullopt.
  std::optional<double> bound(std::size_t run, std::size_t metric) const {
    const MetricColumn* column = find_column(metric);
    return column != nullptr ? column->bound(run) : std::nullopt;
  }

  /// Returns the indices of a command's runs, ascending. They are valid until a run is added.
  std::span<const std::uint32_t> of_command(std::size_t command) const {
    return command < of_command_.size() ? std::span(of_command_[command])
                                        : std::span<const std::uint32_t>();
  }

  /// Makes run `i` the run that has the index `order[i]` so far. `order` has each index once.
  void reorder(std::span<const std::uint32_t> order);

  struct Joining {
    std::size_t first_command = 0;  ///< index of the other session's first command in this one
    std::size_t first_pass = 0;
    /// For each metric of this session, its index in the other one; nullopt if that lacks it.
    std::span<const std::optional<std::size_t>> metrics{};
  };
  /// Appends the runs of another session, which has none afterwards.
  void append(Runs&& other, const Joining& how);

 private:
  struct OwnCount {
    std::uint32_t event = 0;  // index into own_count_events_
    std::uint64_t count = 0;
  };

  static constexpr int kNoStatus = std::numeric_limits<int>::min();
  static constexpr double kNoCoverage = -1.0;

  /// Calls use(member, columns ...) for each member of RunRow that is stored as it is, with its
  /// column in each of `stores`.
  template <typename Use, typename... Stores>
  static void for_each_column(const Use& use, Stores&... stores) {
    use(&RunRow::layout, stores.layouts_...);
    use(&RunRow::kind, stores.kinds_...);
    use(&RunRow::ending, stores.endings_...);
    use(&RunRow::reason, stores.redo_reasons_...);
    use(&RunRow::wall_seconds, stores.other_wall_times_...);
  }
  /// Does the same for the members of RunDetails.
  template <typename Use, typename... Stores>
  static void for_each_column_of_details(const Use& use, Stores&... stores) {
    use(&RunDetails::below_overhead, stores.are_below_overhead_...);
    use(&RunDetails::number_in_suite, stores.numbers_in_suite_...);
    use(&RunDetails::outlived, stores.outlived_...);
  }

  MetricColumn& column_to_set(std::size_t metric);
  std::size_t column_of(std::size_t metric) const;
  const MetricColumn* find_column(std::size_t metric) const {
    const std::size_t column = column_of(metric);
    return column < columns_.size() ? &columns_[column] : nullptr;
  }
  void append_to_command(std::size_t run, std::size_t command);
  void put_own_counts(std::size_t run, std::span<const NamedCount> counts);
  std::vector<NamedCount> own_counts_of(std::size_t run) const;
  std::uint32_t find_or_add_text(std::string_view text);
  void append_columns(Runs& other, std::size_t first_run);
  void append_values(Runs& other, std::size_t first_run, const Joining& how);
  void put_renumbered(std::size_t run, const Runs& other, std::size_t run_of_other,
                      const Joining& how);

  std::size_t size_ = 0;
  RunColumn<std::uint32_t> commands_{};
  RunColumn<std::uint32_t> rounds_{};
  RunColumn<std::uint32_t> passes_{};
  RunColumn<std::uint32_t> layouts_{};
  RunColumn<RoundKind> kinds_{RoundKind::Timed};
  RunColumn<Ending> endings_{Ending::Succeeded};
  RunColumn<int> statuses_{0};
  RunColumn<double> coverages_{kNoCoverage};
  RunColumn<double> other_wall_times_{};  // of runs without a value of the metric wall_time
  RunColumn<bool> are_below_overhead_{};
  RunColumn<std::uint32_t> numbers_in_suite_{};
  RunColumn<std::uint32_t> outlived_{};
  RunColumn<RedoReason> redo_reasons_{RedoReason::Other};
  RunColumn<std::uint32_t> redo_texts_{};  // 0: none; else an index into texts_, plus 1
  std::vector<std::string> texts_{};

  /// For runs with counts of their own process, the place after their counts in own_counts_. The
  /// other runs have the same place as the run before them, or are behind the last one.
  PieceList<std::uint32_t> own_count_ends_{};
  PieceList<OwnCount> own_counts_{};
  std::vector<std::string> own_count_events_{};
  std::map<std::string, std::uint32_t> own_count_event_places_{};  // indices into own_count_events_

  std::vector<MetricColumn> columns_{};  // by the index of the metric
  std::vector<std::pair<std::size_t, std::size_t>>
      sources_of_percentiles_{};  // by percentiles: (own, source)
  std::optional<std::size_t> wall_time_{};
  std::vector<std::vector<std::uint32_t>> of_command_{};
};

/// Appends finished runs to a store, with their values of a plan's metrics.
class RunRecorder {
 public:
  /// `metrics`, `events`, `ignored` (failures that are successes): of the plan. `events` must
  /// outlive the object. `reported_metrics`: number of the metrics that the plan expects programs
  /// to report. The values of others, in RunRecord::reported behind these, are of the metrics that
  /// follow `metrics`.
  RunRecorder(const std::vector<Metric>& metrics, const EventSet& events,
              std::optional<IgnoreFailure> ignored, std::size_t reported_metrics);

  void add(const RunRecord& run, Runs& to) { add(run, RedoReason::Other, {}, to); }
  void add(const RedoneRun& redone, Runs& to) { add(redone.run, redone.reason, redone.why, to); }

 private:
  void add(const RunRecord& run, RedoReason reason, std::string_view why, Runs& to);
  RunRow make_row(const RunRecord& run) const;
  void add_readers_for(const RunRecord& run);
  void store_values(const RunRecord& run, std::size_t index, Runs& to) const;

  const EventSet& events_;
  std::optional<IgnoreFailure> ignored_;
  std::size_t planned_metrics_ = 0;
  std::size_t reported_metrics_;
  std::optional<std::size_t> wall_time_;
  std::vector<std::optional<MetricReader>> readers_{};  // by metric; nullopt for percentiles
};

}  // namespace lauka
