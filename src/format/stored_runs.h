#pragma once

#include "core/metric.h"
#include "session/recording.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka {

/// A value for each run. `otherwise`: value of the runs without a stored value.
template <typename Value>
class RunColumn {
 public:
  explicit RunColumn(Value otherwise) : otherwise_(otherwise) {}

  Value at(std::size_t run) const { return run < values_.size() ? values_[run] : otherwise_; }
  void put(std::size_t run, Value value) {
    if (value == otherwise_ && run >= values_.size()) return;
    if (run >= values_.size()) values_.resize(run + 1, otherwise_);
    values_[run] = value;
  }

 private:
  Value otherwise_;
  std::vector<Value> values_{};
};

/// The runs of one command, read from a file. Fields that are equal in many runs are stored once.
class CommandRuns {
 public:
  std::size_t size() const { return session_positions_.size(); }
  void reserve(std::size_t runs);

  /// Adds a run. `number`: position of the run among the runs of all commands. `why`: text for
  /// RunRow::redo_text.
  void add(std::size_t number, RunRow row, std::string_view why = {});

  /// Sets a metric's value in each run; NaN: missing. `is_wall_time`: true: the values also become
  /// RunRow::wall_seconds.
  void set_values(std::size_t metric, std::vector<double> values, bool is_wall_time);

  void set_value(std::size_t run, std::size_t metric, double value);

  std::uint32_t session_position(std::size_t run) const { return session_positions_[run]; }
  RunFacts facts(std::size_t run) const;

  /// Returns a run's row. RunRow::redo_text points into this object.
  RunRow row(std::size_t run) const;

  std::optional<double> value(std::size_t run, std::size_t metric) const;

 private:
  struct SharedFields {
    RunRow row{};
    std::string redo_text{};

    bool operator==(const SharedFields&) const = default;
  };

  std::uint32_t find_or_add_shared_fields(SharedFields shape);

  std::vector<SharedFields> shared_fields_{};
  std::vector<std::uint32_t> session_positions_{};
  std::vector<std::uint32_t> rounds_{};
  RunColumn<std::uint32_t> shared_fields_indices_{0};
  RunColumn<std::uint32_t> numbers_in_suite_{0};
  RunColumn<std::uint32_t> layouts_{0};
  RunColumn<double> coverages_{-1.0};  // negative: unknown
  RunColumn<double> wall_seconds_{0.0};
  std::optional<std::size_t> wall_time_metric_{};
  std::map<std::size_t, std::vector<double>> values_{};
};

/// The runs of a session, read from a file.
class StoredRuns : public RunTable {
 public:
  /// Upper bounds of values that are unknown, by command and metric.
  using Bounds = std::map<std::pair<std::size_t, std::size_t>, double>;

  StoredRuns(std::vector<CommandRuns> runs, const std::vector<Metric>& metrics, Bounds at_most);

  std::size_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  RunRow row(std::size_t run) const override;
  RunFacts facts(std::size_t run) const override;
  std::optional<double> value(std::size_t run, std::size_t metric) const override;
  std::optional<double> bound(std::size_t run, std::size_t metric) const override;
  std::span<const std::uint32_t> of_command(std::size_t command) const override;

 private:
  struct Place {
    std::uint32_t command = 0;
    std::uint32_t index = 0;
  };

  bool is_in_order() const;
  void sort_runs();
  std::size_t begin_of(std::size_t command) const;
  Place place_of(std::size_t run) const;

  std::vector<CommandRuns> runs_;
  std::vector<std::size_t> ends_{};
  std::vector<std::uint32_t> runs_by_command_{};
  std::vector<Place>
      places_{};  // place of each run in runs_; empty if runs_ is in the session's order
  Bounds bounds_of_unknown_;
  std::vector<RoundKind> metric_kinds_{};
  std::vector<std::size_t> source_metrics_{};
};

}  // namespace lauka
