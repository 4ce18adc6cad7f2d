#pragma once

#include "core/metric.h"
#include "core/numbers.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace lauka {

/// What the number of a gate's limit means.
enum class LimitKind : unsigned char {
  Change,  ///< a change from the reference, in percent: "5%"
  Value,   ///< a value of the metric itself, in base units: "200ms"
};

/// How a kind of limit is typed, shown and stored.
struct LimitKindRow {
  LimitKind kind;
  /// What follows the number where the limit is typed and shown; empty: a unit of the metric does.
  std::string_view suffix;
  std::string_view key;      ///< key of the number in JSON
  std::string_view own_key;  ///< key of the number if it is an Acceptance::own_limit
  bool needs_reference;      ///< true: the number says how far from the reference the limit is
  Limit low;                 ///< range of the number that the user types
  Limit high;
};

/// The kinds of limits in the order of LimitKind, which is also the order of the keys in JSON.
inline constexpr auto kLimitKinds = std::to_array<LimitKindRow>({
    {LimitKind::Change, "%", "percent", "own_percent", true, {-100.0, false}, {1000.0, true}},
    {LimitKind::Value, "", "bound", "own_bound", false, {0.0, false}, {1e18, true}},
});

constexpr const LimitKindRow& row_of(LimitKind kind) {
  return kLimitKinds.at(static_cast<std::size_t>(kind));
}

/// Returns the kind of the limits that are typed with `suffix`; null if there is none. A number
/// without a suffix is a change.
constexpr const LimitKindRow* find_limit_kind(std::string_view suffix) {
  if (suffix.empty()) return &row_of(LimitKind::Change);
  for (const LimitKindRow& row : kLimitKinds)
    if (row.suffix == suffix) return &row;
  return nullptr;
}

/// What a gate's metric may reach.
struct GateLimit {
  LimitKind kind = LimitKind::Change;
  double number = 0.0;        ///< what `kind` says
  std::string text{};         ///< a value as the user typed it: "200ms"; empty for other kinds
  Unit unit = Unit::Seconds;  ///< unit of a value

  static GateLimit of_change(double percent) { return {.number = percent}; }
  static GateLimit of_value(double value, std::string text = {}, Unit unit = Unit::Seconds) {
    return {LimitKind::Value, value, std::move(text), unit};
  }

  bool is_change() const { return kind == LimitKind::Change; }
  bool needs_reference() const { return row_of(kind).needs_reference; }
  /// Returns the change from the reference's samples as a fraction: 0.05 for "5%". Returns 0 for a
  /// value, which then is each of these samples.
  double fraction() const { return is_change() ? number / 100.0 : 0.0; }

  bool operator==(const GateLimit&) const = default;
};

/// A regression that --accept accepts until a day. Unless it has expired, the gate tests the
/// accepted limit instead of its own.
struct Acceptance {
  GateLimit own_limit{};  ///< the gate's own Condition::limit
  std::string reason{};
  std::string last_day{};  ///< such as "2027-03-01", in UTC
  std::string entry{};     ///< file and line, such as "accepted.toml:3"
  bool has_expired = false;

  bool operator==(const Acceptance&) const = default;
};

/// What a condition is for. Fail: lauka fails a candidate that is shown to be beyond the limit.
/// Keep: lauka keeps a candidate only if it is shown to be within the limit.
enum class ConditionPurpose : unsigned char { Fail, Keep };

/// A gate's metric and limit. A condition for keeping is stored as the gate that must pass:
/// 'ipc > 5' keeps, and fails below the limit.
struct Condition {
  std::string metric;
  GateLimit limit{};
  bool fails_below_limit = false;  ///< true: the gate fails below the limit; false: above the limit
  ConditionPurpose purpose = ConditionPurpose::Fail;
  /// Set if the limit was accepted instead of the gate's own, or if such an entry has expired.
  std::optional<Acceptance> acceptance{};

  bool is_for_keeping() const { return purpose == ConditionPurpose::Keep; }
  /// Returns the sign that the user types between the metric and the limit.
  char sign() const { return fails_below_limit != is_for_keeping() ? '<' : '>'; }

  bool operator==(const Condition&) const = default;
};

struct Gate {
  Condition condition;
  std::size_t metric = 0;
};

/// Returns the condition with the gate's own limit, and without acceptance.
Condition with_own_limit(Condition condition);

}  // namespace lauka
