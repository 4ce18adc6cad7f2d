#include "core/foreign_text.h"
#include "core/text.h"
#include "inquire/answers.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace lauka::inquire {

namespace {

// Names are ASCII (they come from the kernel's tables and sysfs), so bytes are cells.
constexpr std::size_t kGap = 2;
/// Narrower than this, a description is not worth a column of its own.
constexpr std::size_t kNarrowest = 24;
/// Names longer than this (of PMUs with long names) do not widen the column for all.
constexpr std::size_t kWidestName = 32;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

bool matches(const CatalogEntry& entry, std::string_view filter) {
  return contains(entry.name, filter) || contains(entry.alias, filter) ||
         contains(entry.description, filter);
}

struct ListWidths {
  std::size_t name;
  std::size_t alias;
  std::size_t counters;

  std::size_t before_description() const { return name + alias + counters + 3 * kGap; }
};

/// A database or a table of the kernel may hold anything.
CatalogEntry shown(const CatalogEntry& entry) {
  return {one_line(entry.name), one_line(entry.alias), one_line(entry.counters),
          one_line(entry.description)};
}

ListWidths widths_of(const std::vector<CatalogEntry>& entries, const CatalogEntry& header) {
  ListWidths widths{header.name.size(), header.alias.size(), header.counters.size()};
  for (const CatalogEntry& entry : entries) {
    if (entry.name.size() <= kWidestName) widths.name = std::max(widths.name, entry.name.size());
    widths.alias = std::max(widths.alias, entry.alias.size());
    widths.counters = std::max(widths.counters, entry.counters.size());
  }
  return widths;
}

void add_line(std::string& text, std::string_view line) {
  const std::size_t end = line.find_last_not_of(' ');
  text += line.substr(0, end == std::string_view::npos ? 0 : end + 1);
  text += '\n';
}

void add_entry(std::string& text, const CatalogEntry& entry, const ListWidths& widths,
               std::size_t columns) {
  const std::string front = fmt::format("{:<{}}  {:<{}}  {:<{}}  ", entry.name, widths.name,
                                        entry.alias, widths.alias, entry.counters, widths.counters);
  if (columns == 0) {
    add_line(text, front + entry.description);
    return;
  }
  // Too little room beside the columns: the description goes below, indented.
  const bool beside = widths.before_description() + kNarrowest <= columns;
  const std::size_t indent = beside ? widths.before_description() : 4;
  const std::size_t room = columns > indent + 8 ? columns - indent : 8;
  const std::vector<std::string_view> lines = wrapped(entry.description, room);
  const bool fits_beside = beside && front.size() == indent;
  if (!fits_beside) add_line(text, front);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const std::string margin = i == 0 && fits_beside ? front : std::string(indent, ' ');
    add_line(text, margin + std::string(lines[i]));
  }
  if (fits_beside && entry.description.empty()) add_line(text, front);
}

}  // namespace

std::string list_events(const Catalog& catalog, std::string_view filter, std::size_t columns) {
  if (catalog.empty()) return "no event can be counted here\n";
  std::vector<CatalogEntry> chosen;
  for (const CatalogEntry& entry : catalog)
    if (matches(entry, filter)) chosen.push_back(shown(entry));
  if (chosen.empty())
    return fmt::format("no event that can be counted here contains {}\n", cited(filter));
  const CatalogEntry header{"event", "alias", "counters", "description"};
  const ListWidths widths = widths_of(chosen, header);
  std::string text;
  add_entry(text, header, widths, columns);
  for (const CatalogEntry& entry : chosen) add_entry(text, entry, widths, columns);
  return text;
}

namespace {

struct Widths {
  std::size_t counter = 0;
  std::size_t event = 0;
};

Widths widths_of(const Explanation& explanation) {
  Widths widths;
  for (const auto& pass : explanation.passes) {
    for (const ExplainedSeat& seat : pass) {
      widths.counter = std::max(widths.counter, seat.counter.size());
      widths.event = std::max(widths.event, seat.event.size());
    }
  }
  return widths;
}

/// Events are what the user typed and what a database or a table of the kernel holds.
Explanation shown(Explanation explanation) {
  for (auto& pass : explanation.passes) {
    for (ExplainedSeat& seat : pass)
      seat = {one_line(seat.counter), one_line(seat.event), one_line(seat.detail)};
  }
  return explanation;
}

void add_seat(std::string& text, const ExplainedSeat& seat, const Widths& widths) {
  text += "  ";
  if (widths.counter > 0) text += fmt::format("{:<{}}  ", seat.counter, widths.counter);
  if (seat.event.empty())
    text += "-";
  else if (seat.detail.empty() || seat.detail == seat.event)
    text += seat.event;
  else
    text += fmt::format("{:<{}}  {}", seat.event, widths.event, seat.detail);
  text += '\n';
}

}  // namespace

std::string explain_events(const Explanation& found) {
  const Explanation explanation = shown(found);
  std::string text;
  for (const std::string& note : explanation.notes) text += one_line(note) + '\n';
  const std::size_t passes = explanation.passes.size();
  if (passes == 0) return text + "no events to count\n";
  if (passes == 1) {
    text += "1 pass: every run counts all of these\n";
  } else {
    text += fmt::format(
        "{} passes: the runs take turns, and each run counts the events of one pass\n", passes);
    if (explanation.competition)
      text += fmt::format("fewer are not possible: {}\n", one_line(*explanation.competition));
  }
  const Widths widths = widths_of(explanation);
  for (std::size_t i = 0; i < passes; ++i) {
    if (passes > 1) text += fmt::format("\npass {}\n", i + 1);
    for (const ExplainedSeat& seat : explanation.passes[i]) add_seat(text, seat, widths);
  }
  return text;
}

}  // namespace lauka::inquire
