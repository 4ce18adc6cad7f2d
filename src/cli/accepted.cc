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

/// True if `accepted`, which limits the same, allows more than `gate`.
bool allows_more(const Condition& accepted, const Condition& gate) {
  return gate.fails_below_limit ? accepted.limit.number < gate.limit.number
                                : accepted.limit.number > gate.limit.number;
}

void accept(const AcceptedRegression& accepted, std::string_view today, Condition& gate) {
  Acceptance acceptance{.own_limit = gate.limit,
                        .reason = accepted.reason,
                        .last_day = accepted.last_day,
                        .entry = accepted.entry,
                        .has_expired = accepted.last_day < today};
  if (!acceptance.has_expired) gate.limit = accepted.condition.limit;
  gate.acceptance = std::move(acceptance);
}

class AcceptedReader {
 public:
  explicit AcceptedReader(const std::string& file) : file_(file) {}

  Result<std::vector<AcceptedRegression>> read(std::string_view text) {
    const auto parsed = parse_toml(text, {kAcceptShape, "reason = \"new parser\""});
    if (const auto* fault = std::get_if<TomlFault>(&parsed))
      return add_place(fault->line, fault->error);

    const toml::table& root = std::get<toml::table>(parsed);
    for (const auto& [key, node] : root)
      if (key.str() != "accept" || !node.is_array_of_tables())
        return add_place(line_of_toml(node),
                         {fmt::format("{} has no meaning here", cited(key.str())), kAcceptShape});
    if (!root.contains("accept")) return std::vector<AcceptedRegression>();

    const toml::array& tables = *root["accept"].as_array();
    if (tables.size() > kMaxAccepted)
      return add_place(0, {fmt::format("{} entries are too many", tables.size()),
                           fmt::format("keep at most {}", kMaxAccepted)});
    for (const toml::node& table : tables)
      if (auto added = add(*table.as_table()); !added) return added.error();
    return std::move(accepted_);
  }

 private:
  std::string write_place(std::size_t line) const {
    return one_line(file_) + (line > 0 ? fmt::format(":{}", line) : "");
  }

  Error add_place(std::size_t line, const Error& error) const {
    return error.prefixed(write_place(line));
  }

  Result<void> add(const toml::table& table) {
    const std::size_t line = line_of_toml(table);
    AcceptedRegression accepted{.entry = write_place(line)};
    for (const auto& [key, node] : table) {
      auto taken = take(key.str(), node, accepted);
      if (!taken) return add_place(line_of_toml(node), taken.error());
    }

    struct RequiredKey {
      const char* name;
      bool is_missing;
      const char* example;
    };
    for (const auto& [name, is_missing, example] :
         {RequiredKey{"condition", accepted.condition.metric.empty(), "\"cpu_time > 5\""},
          RequiredKey{"reason", accepted.reason.empty(), "\"new parser\""},
          RequiredKey{"until", accepted.last_day.empty(), "2027-03-01"}})
      if (is_missing)
        return add_place(line, {fmt::format("an accepted regression has no {}", name),
                                fmt::format("write {} = {}", name, example)});

    const auto is_of_same_gate = [&](const AcceptedRegression& other) {
      return other.benchmark == accepted.benchmark &&
             limit_same_quantity(other.condition, accepted.condition);
    };
    const auto same = std::ranges::find_if(accepted_, is_of_same_gate);
    if (same != accepted_.end())
      return add_place(line, {fmt::format("{} accepts a regression of the same gate", same->entry),
                              "keep one of the two entries"});

    accepted_.push_back(std::move(accepted));
    return {};
  }

  static Result<void> take(std::string_view key, const toml::node& value,
                           AcceptedRegression& accepted) {
    if (key == "until") {
      const auto* date = value.as_date();
      if (date == nullptr)
        return Error{"until must be a date",
                     "write the last day without quotes, as in until = 2027-03-01"};
      const toml::date& day = date->get();
      accepted.last_day = fmt::format("{:04}-{:02}-{:02}", day.year, day.month, day.day);
      return {};
    }

    if (std::ranges::find(kAcceptKeys, key) == kAcceptKeys.end()) {
      const std::string_view meant = nearest(key, kAcceptKeys);
      return Error{"unknown key " + cited(key),
                   meant.empty() ? kAcceptShape : fmt::format("did you mean {}?", meant)};
    }

    const auto* text = value.as_string();
    if (text == nullptr || trimmed(text->get()).empty())
      return Error{fmt::format("{} must be a text that is not empty", key),
                   fmt::format("write {} in quotes", key)};
    if (key == "benchmark") accepted.benchmark = text->get();
    if (key == "reason") accepted.reason = text->get();
    if (key == "condition") {
      auto read = read_condition(OptionValue{*find_option("fail-if"), text->get()});
      if (!read) return read.error();
      accepted.condition = *std::move(read);
    }
    return {};
  }

  std::string file_;
  std::vector<AcceptedRegression> accepted_;
};

}  // namespace

Result<std::vector<AcceptedRegression>> read_accepted(const std::string& file,
                                                      std::string_view text) {
  return AcceptedReader(file).read(text);
}

std::vector<Note> accept_regressions(std::vector<AcceptedRegression>& accepted,
                                     std::string_view benchmark, std::string_view today,
                                     std::vector<Condition>& gates) {
  std::vector<Note> notes;
  for (Condition& gate : gates) {
    // A condition for keeping is stored as a gate, but says what a candidate has to gain.
    if (gate.is_for_keeping()) continue;

    // An entry without a benchmark is for all of them, unless one of their own replaces it.
    const auto find_entry = [&](std::string_view of_benchmark) {
      return std::ranges::find_if(accepted, [&](const AcceptedRegression& entry) {
        return entry.benchmark == of_benchmark && limit_same_quantity(entry.condition, gate);
      });
    };
    const auto own = find_entry(benchmark);
    const auto of_all = find_entry("");
    if (of_all != accepted.end()) of_all->has_gate = true;

    const auto entry = own != accepted.end() ? own : of_all;
    if (entry == accepted.end()) continue;

    entry->has_gate = true;
    if (allows_more(entry->condition, gate))
      accept(*entry, today, gate);
    else
      notes.push_back({"acceptance",
                       fmt::format("{} ({}) is not needed, because the gate's own limit allows as "
                                   "much; remove the entry",
                                   entry->entry, entry->reason)});
  }
  return notes;
}

}  // namespace lauka::cli
