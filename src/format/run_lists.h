#pragma once

#include "core/runs.h"
#include "format/json_text.h"
#include "format/saved_runs.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

// A session's file has many lists with an item for each run. They are read into columns item by
// item, because a tree of the whole file would take several times the memory of the session.

namespace lauka {

/// A list whose items are numbers, if the file is whole.
class NumberList {
 public:
  std::size_t size() const { return bits_.size(); }

  /// Adds an item. Returns true if it was moved into the list, because it is no number.
  bool take(ParsedJson& item);

  /// Returns an item as it is in the file.
  ParsedJson at(std::size_t index) const;

 private:
  enum class Kind : unsigned char { Real, Unsigned, Signed, Null, Other };

  // Each item has its number's bits (0: it is no number) and the kind by which to read them.
  PieceList<std::uint64_t> bits_{};
  RunColumn<Kind> kinds_{Kind::Real};
  std::map<std::size_t, std::shared_ptr<const ParsedJson>> others_{};  // by index
};

/// The runs of a command in hyperfine's schema 2.
class MeasurementList {
 public:
  std::size_t size() const { return size_; }

  void take(const ParsedJson& run);

  /// Returns the first wall time that is none; null in JSON if it is missing. Returns a null
  /// pointer if all runs have a wall time.
  const ParsedJson* wrong_wall_time() const { return wrong_wall_time_.get(); }

  /// Returns the values of one of kHyperfineMetrics; NaN: missing.
  std::vector<double> values_of(Role role) const;

  std::vector<std::optional<int>> statuses() const;

 private:
  void take_wall_time(const ParsedJson& run);
  void put(Role role, double value);

  std::size_t size_ = 0;
  std::map<Role, RunColumn<double>> values_{};
  RunColumn<std::optional<int>> statuses_{0};
  std::shared_ptr<const ParsedJson> wrong_wall_time_{};
};

/// The lists of a session's file that have an item for each run.
class RunLists final : public ListTaker {
 public:
  std::optional<std::size_t> begin_list(const std::vector<std::string_view>& path) override;
  bool take(std::size_t list, ParsedJson& item) override;

  /// These return the list under a key; a null pointer if there is none.
  const NumberList* numbers_in(const ParsedJson& object, std::string_view key) const;
  const MeasurementList* measurements_in(const ParsedJson& result) const;
  const SavedRuns* runs_in(const ParsedJson& ours) const;

  /// Frees the memory of the list under a key, if there is one. It is empty then.
  void free_list(const ParsedJson& object, std::string_view key);

 private:
  using List =
      std::variant<NumberList, std::unique_ptr<MeasurementList>, std::unique_ptr<SavedRuns>>;

  template <typename Kind>
  const Kind* list_in(const ParsedJson& object, std::string_view key) const;

  std::vector<List> lists_{};
};

/// Returns a number in the range of measured values; NaN for null; nullopt for other JSON.
std::optional<double> read_measured_number(const ParsedJson& value);

/// Returns a number in the range of measured values that is not negative; NaN for other JSON.
double read_value_or_nan(const ParsedJson& value);

/// Returns an exit status from 0 to 255; nullopt for other JSON.
std::optional<int> read_exit_status(const ParsedJson& code);

Ending ending_of_status(const std::optional<int>& status);

/// Returns the index of a layout whose number is stored; at most that of the last layout.
std::uint32_t layout_of_number(std::uint64_t number);

struct ListedRun {
  std::size_t position = 0;  ///< place among the runs of the session
  RunRow row{};
};

/// Reads a run that lauka wrote, without its command. `default_position`: position of a run that
/// does not say it.
ListedRun read_listed_run(const ParsedJson& run, std::size_t default_position);

}  // namespace lauka
