#include "cli/accepted.h"

#include "cli/option_table.h"
#include "cli/toml_parser.h"
#include "cli/values.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka::cli {
namespace {

constexpr std::size_t kMaxAccepted = 1000;
constexpr const char* kAcceptShape =
    "write [[accept]] tables with condition, reason and until (docs/ci.md)";
constexpr auto kAcceptKeys =
    std::to_array<std::string_view>({"benchmark", "condition", "reason", "until"});

/// True if both limit the same metric in the same direction, in percent or in the same unit.
bool limit_same_quantity(const Condition& one, const Condition& other) {
  return one.metric == other.metric && one.fails_below_limit == other.fails_below_limit &&
         one.limit.kind == other.limit.kind &&
         (one.limit.needs_reference() || one.limit.unit == other.limit.unit);
}

/// Finds the entry of a benchmark that limits the same as `gate`; end() if there is none.
std::vector<AcceptedRegression>::iterator find_for_gate(std::vector<AcceptedRegression>& entries,
                                                        std::string_view benchmark,
                                                        const Condition& gate) {
  return std::ranges::find_if(entries, [&](const AcceptedRegression& entry) {
    return entry.benchmark == benchmark && limit_same_quantity(entry.condition, gate);
  });
}

/// Returns the entry that is for `gate`; end() if there is none. Sets has_gate of all entries that
/// could be.
std::vector<AcceptedRegression>::iterator mark_and_choose(std::vector<AcceptedRegression>& entries,
                                                          std::string_view benchmark,
                                                          const Condition& gate) {
  // An entry of this benchmark replaces the entry without a benchmark, which is for all of them.
  const auto of_benchmark = find_for_gate(entries, benchmark, gate);
  const auto of_all = find_for_gate(entries, "", gate);
  const auto applied = of_benchmark != entries.end() ? of_benchmark : of_all;

  // An entry that never finds a gate is reported as useless. One that was only replaced here has
  // found its gate.
  if (applied != entries.end()) applied->has_gate = true;
  if (of_all != entries.end()) of_all->has_gate = true;
  return applied;
}

/// True if `accepted`, which limits the same, allows more than `gate`.
bool allows_more(const Condition& accepted, const Condition& gate) {
  return gate.fails_below_limit ? accepted.limit.number < gate.limit.number
                                : accepted.limit.number > gate.limit.number;
}

/// Gives the gate the accepted limit, unless the entry has expired. An expired entry is only noted.
void accept(const AcceptedRegression& accepted, std::string_view today, Condition& gate) {
  Acceptance acceptance{.own_limit = gate.limit,
                        .reason = accepted.reason,
                        .last_day = accepted.last_day,
                        .entry = accepted.entry,
                        .has_expired = accepted.last_day < today};
  if (!acceptance.has_expired) gate.limit = accepted.condition.limit;
  gate.acceptance = std::move(acceptance);
}

/// A key that each [[accept]] table must have.
struct RequiredKey {
  const char* name;
  bool is_missing;
  const char* example;
};

/// Returns an error if a required key is missing.
Result<void> check_is_complete(const AcceptedRegression& accepted) {
  for (const auto& [name, is_missing, example] :
       {RequiredKey{"condition", accepted.condition.metric.empty(), "\"cpu_time > 5\""},
        RequiredKey{"reason", accepted.reason.empty(), "\"new parser\""},
        RequiredKey{"until", accepted.last_day.empty(), "2027-03-01"}})
    if (is_missing)
      return Error{fmt::format("an accepted regression has no {}", name),
                   fmt::format("write {} = {}", name, example)};
  return {};
}

Error make_unknown_key_error(std::string_view key) {
  const std::string_view similar_key = nearest(key, kAcceptKeys);
  return {"unknown key " + cited(key),
          similar_key.empty() ? kAcceptShape : fmt::format("did you mean {}?", similar_key)};
}

/// Reads the value of the key "until". Days in the form of the result can be compared as texts.
Result<std::string> read_last_day(const toml::node& value) {
  const auto* date = value.as_date();
  if (date == nullptr)
    return Error{"until must be a date",
                 "write the last day without quotes, as in until = 2027-03-01"};
  const toml::date& day = date->get();
  return fmt::format("{:04}-{:02}-{:02}", day.year, day.month, day.day);
}

Note make_not_needed_note(const AcceptedRegression& accepted) {
  return {"acceptance", fmt::format("{} ({}) is not needed, because the gate's own limit allows as "
                                    "much; remove the entry",
                                    accepted.entry, accepted.reason)};
}

class AcceptedReader {
 public:
  explicit AcceptedReader(const std::string& file) : file_(file) {}

  /// Reads the text of the file that --accept names. Each of its [[accept]] tables is an entry, in
  /// which the user accepts a known regression: one gate has another limit until a certain day. A
  /// reader reads one file, because its entries are moved to the result.
  Result<std::vector<AcceptedRegression>> read(std::string_view text) {
    const auto parsed =
        parse_toml(text, {.shape = kAcceptShape, .quoted_example = "reason = \"new parser\""});
    if (const auto* fault = std::get_if<TomlFault>(&parsed))
      return make_error_at(fault->line, fault->error);

    const toml::table& root = std::get<toml::table>(parsed);
    if (auto checked = check_has_only_accept_tables(root); !checked) return checked.error();

    // An empty file is no error. It accepts nothing.
    if (!root.contains("accept")) return std::vector<AcceptedRegression>();

    // The check has shown that this is an array of tables.
    const toml::array& entries = *root["accept"].as_array();
    if (entries.size() > kMaxAccepted)
      return make_error_at(kNoLine, {fmt::format("{} entries are too many", entries.size()),
                                     fmt::format("keep at most {}", kMaxAccepted)});
    for (const toml::node& entry : entries)
      if (auto added = add_entry(*entry.as_table()); !added) return added.error();

    return std::move(accepted_);
  }

 private:
  std::string write_place(std::size_t line) const {
    return one_line(file_) + (line == kNoLine ? "" : fmt::format(":{}", line));
  }

  /// Puts the file and the line before an error.
  Error make_error_at(std::size_t line, const Error& error) const {
    return error.prefixed(write_place(line));
  }

  /// Refuses anything but [[accept]] tables.
  Result<void> check_has_only_accept_tables(const toml::table& root) const {
    for (const auto& [key, node] : root)
      if (key.str() != "accept" || !node.is_array_of_tables())
        return make_error_at(
            line_of_toml(node),
            {fmt::format("{} has no meaning here", cited(key.str())), kAcceptShape});
    return {};
  }

  /// Reads the regression that an [[accept]] table accepts, and appends it to `accepted_`.
  Result<void> add_entry(const toml::table& table) {
    const std::size_t line = line_of_toml(table);
    AcceptedRegression regression{.entry = write_place(line)};
    for (const auto& [key, value] : table) {
      auto was_read = read_value_into(regression, key.str(), value);
      if (!was_read) return make_error_at(line_of_toml(value), was_read.error());
    }

    if (auto complete = check_is_complete(regression); !complete)
      return make_error_at(line, complete.error());

    // Two entries for one gate could allow different limits, and nothing would decide between them.
    const auto earlier = find_for_gate(accepted_, regression.benchmark, regression.condition);
    const bool has_earlier = earlier != accepted_.end();
    if (has_earlier)
      return make_error_at(line,
                           {fmt::format("{} accepts a regression of the same gate", earlier->entry),
                            "keep one of the two entries"});

    accepted_.push_back(std::move(regression));
    return {};
  }

  /// Reads the value of one key into `regression`. The date is the only value that is not a text.
  static Result<void> read_value_into(AcceptedRegression& regression, std::string_view key,
                                      const toml::node& value) {
    if (key == "until") return assign_or_error(read_last_day(value), regression.last_day);
    if (std::ranges::find(kAcceptKeys, key) == kAcceptKeys.end())
      return make_unknown_key_error(key);

    const auto* text = value.as_string();
    if (text == nullptr || trimmed(text->get()).empty())
      return Error{fmt::format("{} must be a text that is not empty", key),
                   fmt::format("write {} in quotes", key)};

    if (key == "benchmark") regression.benchmark = text->get();
    if (key == "reason") regression.reason = text->get();
    if (key != "condition") return {};

    // The condition is written as the value of --fail-if is, and has the same error messages.
    return assign_or_error(read_condition(OptionValue{*find_option("fail-if"), text->get()}),
                           regression.condition);
  }

  std::string file_;
  std::vector<AcceptedRegression> accepted_;
};

}  // namespace

Result<std::vector<AcceptedRegression>> read_accepted(const std::string& file,
                                                      std::string_view text) {
  return AcceptedReader(file).read(text);
}

/// Gives the gates of a benchmark the limits that the user has accepted for the time being. A gate
/// fails if its metric is beyond its limit, so an accepted limit must allow more than the gate's
/// own.
std::vector<Note> accept_regressions(std::vector<AcceptedRegression>& accepted,
                                     std::string_view benchmark, std::string_view today,
                                     std::vector<Condition>& gates) {
  std::vector<Note> notes;
  for (Condition& gate : gates) {
    // A condition for keeping is stored as a gate, but it says what a candidate has to gain, so
    // there is no regression to accept.
    if (gate.is_for_keeping()) continue;

    const auto applied = mark_and_choose(accepted, benchmark, gate);
    if (applied == accepted.end()) continue;
    if (allows_more(applied->condition, gate))
      accept(*applied, today, gate);
    else
      notes.push_back(make_not_needed_note(*applied));
  }
  return notes;
}

}  // namespace lauka::cli
