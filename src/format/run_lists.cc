#include "format/run_lists.h"

#include "core/own_metric.h"
#include "core/text.h"
#include "format/field_json.h"
#include "format/hyperfine.h"
#include "format/sections.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

namespace lauka {

namespace {

enum class ListKind : unsigned char { Numbers, Measurements, Runs };

/// The keys around a list, from the outermost to its own. An empty key stands for the items of a
/// list, and "*" for any key.
struct ListPlace {
  std::array<std::string_view, 8> path;
  ListKind kind;
};

constexpr auto kListPlaces = std::to_array<ListPlace>({
    {{"results", "", "times"}, ListKind::Numbers},
    {{"results", "", "exit_codes"}, ListKind::Numbers},
    {{"results", "", "memory_usage_byte"}, ListKind::Numbers},
    {{"results", "", "measurements"}, ListKind::Measurements},
    {{"results", "", "lauka", "runs"}, ListKind::Runs},
    {{"results", "", "lauka", "metrics", "*", "samples"}, ListKind::Numbers},
    {{"results", "", "lauka", "metrics", "*", "layouts"}, ListKind::Numbers},
    {{"lauka", "baseline", "samples", "", "*", "samples"}, ListKind::Numbers},
    {{"lauka", "baseline", "samples", "", "*", "layouts"}, ListKind::Numbers},
    {{"lauka", "benchmarks", "", "baseline", "samples", "", "*", "samples"}, ListKind::Numbers},
    {{"lauka", "benchmarks", "", "baseline", "samples", "", "*", "layouts"}, ListKind::Numbers},
});

bool is_at(const ListPlace& place, const std::vector<std::string_view>& path) {
  // No place ends with an empty key: the empty ones at the end of its array are not part of it.
  const std::span<const std::string_view> keys(place.path);
  const auto length = static_cast<std::size_t>(
      std::find_if(keys.rbegin(), keys.rend(), [](auto key) { return !key.empty(); }).base() -
      keys.begin());
  return std::ranges::equal(keys.first(length), path, [](auto expected, auto key) {
    return expected == "*" || expected == key;
  });
}

/// Returns the number of a list whose items were taken; nullopt for other JSON.
std::optional<std::size_t> taken_list_in(const ParsedJson& object, std::string_view key) {
  const ParsedJson* value = member(object, key);
  return value != nullptr ? number_of_taken_list(*value) : std::nullopt;
}

std::vector<NamedCount> read_own_counts(const ParsedJson& run) {
  std::vector<NamedCount> counts;
  for_each_member(part_in(run, "own"), [&](const std::string& event, const ParsedJson& there) {
    std::uint64_t count = 0;
    if (decode_value(there, count)) counts.push_back({event, count});
  });
  return counts;
}

/// Returns how a run ended. The file says so only if the run did not exit with status 0.
Ending read_ending(const ParsedJson& run, const std::optional<int>& status) {
  const std::string stored_ending = text_in(run, "outcome");
  return stored_ending.empty() ? ending_of_status(status) : parse_ending(stored_ending);
}

}  // namespace

// A list with a number for each run is long, so little more than the 64 bits of a number is kept. A
// null is a missing value. Any other JSON, which only damaged files have, is moved to others_.
// Returns true if the item was moved.
bool NumberList::take(ParsedJson& item) {
  const std::size_t index = bits_.size();
  std::uint64_t bits = 0;
  Kind kind = Kind::Other;

  if (item.is_number_unsigned()) {
    bits = item.get<std::uint64_t>();
    kind = Kind::Unsigned;
  } else if (item.is_number_integer()) {
    bits = std::bit_cast<std::uint64_t>(item.get<std::int64_t>());
    kind = Kind::Signed;
  } else if (item.is_number_float()) {
    bits = std::bit_cast<std::uint64_t>(item.get<double>());
    kind = Kind::Real;
  } else if (item.is_null()) {
    kind = Kind::Null;
  } else {
    others_.emplace(index, std::make_shared<const ParsedJson>(std::move(item)));
  }

  bits_.push_back(bits);
  kinds_.put(index, kind);
  const bool was_moved = kind == Kind::Other;
  return was_moved;
}

ParsedJson NumberList::at(std::size_t index) const {
  const std::uint64_t bits = bits_[index];
  switch (kinds_.at(index)) {
    case Kind::Unsigned:
      return bits;
    case Kind::Signed:
      return std::bit_cast<std::int64_t>(bits);
    case Kind::Real:
      return std::bit_cast<double>(bits);
    case Kind::Other:
      return *others_.at(index);
    case Kind::Null:
      break;
  }
  return nullptr;
}

void MeasurementList::take(const ParsedJson& run) {
  take_wall_time(run);
  for (const HyperfineMetric& metric : kHyperfineMetrics) {
    const ParsedJson& quantity = part_in(run, metric.hyperfine_key);
    if (metric.our_role == Role::WallTime || !is_object(quantity)) continue;
    if (text_in(quantity, "unit") == metric.unit)
      put(metric.our_role, read_value_or_nan(part_in(quantity, "value")));
  }

  statuses_.put(size_, read_exit_status(part_in(run, "exit_code")));
  ++size_;
}

void MeasurementList::take_wall_time(const ParsedJson& run) {
  if (wrong_wall_time_) return;
  const ParsedJson& quantity = part_in(run, "time_wall_clock");
  const bool has_unit = text_in(quantity, "unit") == "second";
  const ParsedJson value = has_unit ? part_in(quantity, "value") : ParsedJson();

  const double seconds = read_value_or_nan(value);
  if (std::isnan(seconds))
    wrong_wall_time_ = std::make_shared<const ParsedJson>(value);
  else
    put(Role::WallTime, seconds);
}

void MeasurementList::put(Role role, double value) {
  values_.try_emplace(role, kNoValue).first->second.put(size_, value);
}

std::vector<double> MeasurementList::values_of(Role role) const {
  std::vector<double> values(size_, kNoValue);
  const auto column = values_.find(role);
  for (std::size_t run = 0; column != values_.end() && run < size_; ++run)
    values[run] = column->second.at(run);
  return values;
}

std::vector<std::optional<int>> MeasurementList::statuses() const {
  std::vector<std::optional<int>> statuses(size_);
  for (std::size_t run = 0; run < size_; ++run) statuses[run] = statuses_.at(run);
  return statuses;
}

std::optional<std::size_t> RunLists::begin_list(const std::vector<std::string_view>& path) {
  const auto place =
      std::ranges::find_if(kListPlaces, [&](const ListPlace& row) { return is_at(row, path); });
  if (place == kListPlaces.end()) return std::nullopt;

  switch (place->kind) {
    case ListKind::Numbers:
      lists_.emplace_back(NumberList());
      break;
    case ListKind::Measurements:
      lists_.emplace_back(std::make_unique<MeasurementList>());
      break;
    case ListKind::Runs:
      lists_.emplace_back(std::make_unique<SavedRuns>());
      break;
  }
  return lists_.size() - 1;
}

bool RunLists::take(std::size_t list, ParsedJson& item) {
  if (auto* numbers = std::get_if<NumberList>(&lists_[list])) return numbers->take(item);

  if (auto* measurements = std::get_if<std::unique_ptr<MeasurementList>>(&lists_[list])) {
    (*measurements)->take(item);
  } else {
    SavedRuns& runs = *std::get<std::unique_ptr<SavedRuns>>(lists_[list]);
    ListedRun run = read_listed_run(item, 0);
    runs.add(run.position, std::move(run.row));
  }
  return false;
}

template <typename Kind>
const Kind* RunLists::list_in(const ParsedJson& object, std::string_view key) const {
  const auto list = taken_list_in(object, key);
  return list ? std::get_if<Kind>(&lists_[*list]) : nullptr;
}

const NumberList* RunLists::numbers_in(const ParsedJson& object, std::string_view key) const {
  return list_in<NumberList>(object, key);
}

const MeasurementList* RunLists::measurements_in(const ParsedJson& result) const {
  const auto* list = list_in<std::unique_ptr<MeasurementList>>(result, "measurements");
  return list != nullptr ? list->get() : nullptr;
}

const SavedRuns* RunLists::runs_in(const ParsedJson& ours) const {
  const auto* list = list_in<std::unique_ptr<SavedRuns>>(ours, "runs");
  return list != nullptr ? list->get() : nullptr;
}

void RunLists::free_list(const ParsedJson& object, std::string_view key) {
  if (const auto list = taken_list_in(object, key)) lists_[*list] = NumberList();
}

std::optional<double> read_measured_number(const ParsedJson& value) {
  if (value.is_null()) return kNoValue;
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return is_in_numeric_range(number) ? std::optional(number) : std::nullopt;
}

double read_value_or_nan(const ParsedJson& value) {
  const double number = read_measured_number(value).value_or(kNoValue);
  return number >= 0.0 ? number : kNoValue;
}

std::optional<int> read_exit_status(const ParsedJson& code) {
  constexpr int most = 255;
  if (!code.is_number_integer()) return std::nullopt;
  const auto status = code.get<std::int64_t>();
  return status >= 0 && status <= most ? std::optional(static_cast<int>(status)) : std::nullopt;
}

Ending ending_of_status(const std::optional<int>& status) {
  if (!status) return Ending::Unknown;
  return *status == 0 ? Ending::Succeeded : Ending::Failed;
}

std::uint32_t layout_of_number(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(number, 1, kMaxLayouts) - 1);
}

// A run that does not say its position among the session's runs gets the default one.
ListedRun read_listed_run(const ParsedJson& run, std::size_t default_position) {
  // Numbers in the file begin at 1, and indices at 0.
  const auto index_in = [&](std::string_view key, std::size_t default_index) {
    return unsigned_in(run, key).value_or(default_index + 1) - 1;
  };
  ListedRun listed{.position = index_in("run", default_position)};
  RunRow& row = listed.row;

  row.round = index_in("round", 0);
  row.pass = index_in("pass", 0);
  row.kind = value_in(kKindWords, text_in(run, "kind"));
  row.layout = layout_of_number(unsigned_in(run, "layout").value_or(1));

  // An exit status has 8 bits.
  if (const auto status = unsigned_in(run, "exit_code"))
    row.status = static_cast<int>(*status & 0xffU);
  row.ending = read_ending(run, row.status);

  row.instruction_coverage = number_in(run, "coverage");
  row.wall_seconds = number_in(run, metric_name_of(Role::WallTime)).value_or(0.0);

  // Each detail of a run is a member under a key of its own.
  for_each_detail(row.details, FieldDecoder(run));
  row.own_process_counts = read_own_counts(run);
  return listed;
}

}  // namespace lauka
