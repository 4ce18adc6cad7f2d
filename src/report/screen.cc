#include "report/screen.h"

#include "core/foreign_text.h"
#include "report/cells.h"
#include "report/lines.h"
#include "report/parameters.h"
#include "report/suite.h"
#include "report/table.h"
#include "report/why.h"
#include "report/width.h"

#include <algorithm>

namespace lauka::report {

std::string screen(const Report& report, const Style& style, bool quiet) {
  return report.is_suite() ? suite_screen(report, style, quiet)
                           : screen(report.benchmarks.front(), style, quiet);
}

std::string screen(const Results& results, const Style& style, bool quiet) {
  const bool counted = std::any_of(results.commands.begin(), results.commands.end(),
                                   [](const CommandResult& command) { return command.runs > 0; });
  if (!counted) return "";
  std::string text = quiet ? "" : table(results, style);
  const std::string scan = quiet ? "" : scan_table(results, style);
  if (!scan.empty()) text += "\n" + scan;
  const std::string why = style.verbose && !quiet ? why_lines(results) : "";
  const std::string below = why + (quiet ? "" : shell_lines(results) + precision_line(results)) +
                            gate_lines(results, style.color);
  if (!text.empty() && !below.empty()) text += "\n";
  for (const std::string& line : lines_of(below))
    text += wrapped(style.ascii ? ascii_of(line) : line, style.width) + "\n";
  return style.ascii ? ascii_of(text) : text;
}

std::string note_lines(const std::vector<std::string>& notes, std::size_t width) {
  std::string lines;
  for (auto note = notes.begin(); note != notes.end(); ++note) {
    if (std::find(notes.begin(), note, *note) == note)
      lines += wrapped_message("note: " + *note, width);
  }
  return lines;
}

}  // namespace lauka::report
