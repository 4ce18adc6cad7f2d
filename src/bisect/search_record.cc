#include "bisect/search_record.h"

#include "core/fields.h"
#include "format/field_json.h"
#include "format/json_text.h"

#include <array>

#include <nlohmann/json.hpp>

namespace lauka::bisect {

namespace {

constexpr auto kStepWords = std::to_array<NamedValue<StepAnswer>>({
    {StepAnswer::Before, "before"},
    {StepAnswer::After, "after"},
    {StepAnswer::Undecided, "undecided"},
    {StepAnswer::Untestable, "untestable"},
});
constexpr auto kSearchWords = std::to_array<NamedValue<SearchAnswer>>({
    {SearchAnswer::NoChange, "no_change"},
    {SearchAnswer::Commit, "commit"},
    {SearchAnswer::Range, "range"},
});

}  // namespace

constexpr const auto& words_of(As<StepAnswer> /*type*/) {
  return kStepWords;
}
constexpr const auto& words_of(As<SearchAnswer> /*type*/) {
  return kSearchWords;
}

template <typename Visitor>
void describe_fields(Visitor& visit, Commit& of) {
  visit("commit", of.id);
  visit("date", of.date);
  visit("subject", of.subject);
}

template <typename Visitor>
void describe_fields(Visitor& visit, MeasuredChange& of) {
  auto& bounds = of.change.bounds;
  visit("rounds", of.rounds);
  visit("change", of.change.change);
  visit.as(
      "low", [&] { return low_of(bounds); },
      [&](std::optional<double> low) {
        if (low) bounds.emplace().low = *low;
      });
  visit.as(
      "high", [&] { return high_of(bounds); },
      [&](std::optional<double> high) {
        if (high && bounds) bounds->high = *high;
      });
  visit("exact", of.change.is_exact);
  visit("detectable", of.detectable);
}

template <typename Visitor>
void describe_fields(Visitor& visit, StepRecord& of) {
  describe_fields(visit, of.commit);
  visit("answer", of.answer);
  describe_text_or_null(visit, "reason", of.reason);
  visit("limit", of.limit);
  visit("from_good", of.change);
}

template <typename Visitor>
void describe_fields(Visitor& visit, FunctionRecord& of) {
  visit("function", of.name);
  visit("parent_mean", of.parent_mean);
  visit("commit_mean", of.commit_mean);
}

template <typename Visitor>
void describe_fields(Visitor& visit, SearchRecord& of) {
  visit("good", of.good);
  visit("bad", of.bad);
  visit("commits", of.commit_count);
  visit("ends", of.ends);
  visit("steps", of.steps);
  visit("answer", of.answer);
  visit("suspects", of.suspects);
  visit("parent", of.parent);
  visit("from_parent", of.from_parent);
  describe_text_or_null(visit, "doubt", of.doubt);
  visit.written("share_explained", [&] { return of.share_explained(); });
  describe_text_or_null(visit, "functions_of", of.functions_of);
  visit("functions_unit", of.functions_unit);
  visit("functions", of.functions);
}

template <typename Visitor>
void describe_fields(Visitor& visit, BisectRecord& of) {
  visit("lauka_bisect", of.version);
  visit("metric", of.metric);
  visit("confidence", of.confidence);
  describe_text_or_null(visit, "build", of.build);
  visit("command", of.command);
  visit("first_parent", of.follows_first_parents);
  visit("complete", of.is_complete);
  visit("searches", of.searches);
}

namespace {

template <typename Record>
std::string write_entry(const Record& record) {
  Json json;
  encode(record, json);
  return json_text(json);
}

template <typename Record>
std::optional<Record> parse_entry(std::string_view entry) {
  const auto json = parse_json(entry);
  Record record;
  if (!json || !decode(*json, record)) return std::nullopt;
  return record;
}

}  // namespace

std::optional<double> SearchRecord::share_explained() const {
  if (culprit() == nullptr || !ends || !from_parent) return std::nullopt;
  const auto whole = ends->change.change;
  const auto part = from_parent->change.change;
  return whole && part && *whole != 0.0 ? std::optional(*part / *whole) : std::nullopt;
}

EndsChange to_ends(const stats::Change& change) {
  return {.change = change.change.value_or(0.0), .near_end = near_end_of(change).value_or(0.0)};
}

StepResult to_result(const StepRecord& step, std::size_t commit, const EndsChange& ends) {
  StepResult result{.commit = commit, .answer = step.answer};
  if (step.change) result.level = find_level(ends, step.change->change);
  return result;
}

std::string to_entry(const MeasuredChange& change) {
  return write_entry(change);
}

std::string to_entry(const StepRecord& step) {
  return write_entry(step);
}

std::string to_entry(const SearchRecord& search) {
  return write_entry(search);
}

std::optional<MeasuredChange> parse_change(std::string_view entry) {
  return parse_entry<MeasuredChange>(entry);
}

std::optional<StepRecord> parse_step(std::string_view entry) {
  return parse_entry<StepRecord>(entry);
}

std::optional<SearchRecord> parse_search(std::string_view entry) {
  return parse_entry<SearchRecord>(entry);
}

std::string to_json(const BisectRecord& record) {
  Json json;
  encode(record, json);
  return json_text(json, 2) + "\n";
}

}  // namespace lauka::bisect
