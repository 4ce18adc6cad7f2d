#include "core/foreign_text.h"
#include "inquire/answers.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace lauka::inquire {
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
