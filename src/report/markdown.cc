#include "core/text.h"
#include "report/cells.h"
#include "report/exports.h"
#include "report/lines.h"
#include "report/metric_tables.h"
#include "report/screen.h"
#include "report/suite.h"
#include "report/warnings.h"

#include <vector>

namespace lauka::report {

namespace {

void write_markdown_tables(const Results& results, const Sink& sink) {
  if (!is_compact(results)) return write_markdown(markdown_table(results), sink);
  bool is_first = true;
  for (const std::size_t metric : compact_metrics(results, false)) {
    if (!is_first) sink("\n");
    is_first = false;
    sink(markdown_text(compact_title(results, metric)) + "\n\n");
    write_markdown(compact_table(results, metric, Format::Markdown), sink);
  }
}

/// Texts as a list, after an empty line; nothing where there are none.
std::string bullets_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += "- " + markdown_text(text) + "\n";
  return list.empty() ? "" : "\n" + list;
}

/// The lines below the tables, and the warnings.
void write_below_tables(const std::vector<std::vector<std::string>>& lines,
                        const std::vector<std::string>& warnings, const Sink& sink) {
  std::string text;
  for (const std::vector<std::string>& some : lines) text += bullets_of(some);
  if (!warnings.empty()) text += "\nCaveats:\n" + bullets_of(warnings);
  sink(text);
}

void write_suite_markdown(const Report& suite, const Sink& sink) {
  sink(markdown_text(suite_title(suite)) + "\n\n");
  write_markdown(suite_table(suite), sink);
  write_below_tables({lines_of(gates_in_one_line(suite) + suite_gate_lines(suite, false, false))},
                     warning_texts(suite, {}), sink);
}

void write_session_markdown(const Results& results, const Sink& sink) {
  const Style style;
  write_markdown_tables(results, sink);
  write_below_tables(
      {lines_of(summary_lines(results, style)),
       lines_of(precision_line(results) + gate_lines(results, false) + shell_lines(results))},
      warning_texts(results, style), sink);
}

}  // namespace

void write_markdown(const Report& report, const Sink& sink) {
  if (report.is_suite()) {
    write_suite_markdown(report, sink);
  } else {
    write_session_markdown(report.benchmarks.front(), sink);
  }
}

}  // namespace lauka::report
