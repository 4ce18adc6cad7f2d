#pragma once

#include "report/ansi.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <string_view>

// The drawings of the page that --export-html writes: SVG inside HTML. Positions from left to right
// are percentages, so that a drawing fills any width while its text keeps its size; nothing needs a
// script.

namespace lauka::report {

/// Text as HTML shows it: control characters made visible, what HTML acts on escaped.
std::string html_text(std::string_view text);

/// The class of a command's colour: the eighth and later ones begin again with the first.
std::string command_class(std::size_t command);

/// The class of a text in that ink: better, worse, unsure or neutral.
std::string_view ink_class(Ink ink);

/// A metric's values, a row for each command: each run a point, the quartiles a box, the median a
/// line in it, whiskers to the last values within Tukey's fences. Empty where no command has a
/// value.
std::string distribution_chart(const Results& results, std::size_t metric);

/// A metric's values in the order of the runs, all commands in one picture, so that drift is seen.
/// Empty as above.
std::string order_chart(const Results& results, std::size_t metric);

/// The deltas of a metric with their intervals, a row for each candidate, around the line of no
/// difference. Empty where there is none that can be drawn.
std::string delta_chart(const Results& results, std::size_t metric);

}  // namespace lauka::report
