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

void write_markup_tables(const Results& results, const Markup& markup, const Sink& sink) {
  if (!is_compact(results)) return write_table(markup_table(results, markup), markup, sink);
  bool is_first = true;
  for (const std::size_t metric : compact_metrics(results, false)) {
    if (!is_first) sink("\n");
    is_first = false;
    sink(markup.text(compact_title(results, metric)) + "\n\n");
    write_table(compact_table(results, metric, Format::Markdown), markup, sink);
  }
}

/// Texts as a list, after an empty line; nothing where there are none.
std::string bullets_of(const std::vector<std::string>& texts, const Markup& markup) {
  std::string list;
  for (const std::string& text : texts)
    list += std::string(markup.bullet) + markup.text(text) + "\n";
  return list.empty() ? "" : "\n" + list;
}

/// The lines below the tables, and the warnings.
void write_below_tables(const std::vector<std::vector<std::string>>& lines,
                        const std::vector<std::string>& warnings, const Markup& markup,
                        const Sink& sink) {
  std::string text;
  for (const std::vector<std::string>& some : lines) text += bullets_of(some, markup);
  if (!warnings.empty()) text += "\nCaveats:\n" + bullets_of(warnings, markup);
  sink(text);
}

void write_suite_markup(const Report& suite, const Markup& markup, const Sink& sink) {
  sink(markup.text(suite_title(suite)) + "\n\n");
  write_table(suite_table(suite), markup, sink);
  write_below_tables({lines_of(gates_in_one_line(suite) + suite_gate_lines(suite, false, false))},
                     warning_texts(suite, {}), markup, sink);
}

void write_session_markup(const Results& results, const Markup& markup, const Sink& sink) {
  const Style style;
  write_markup_tables(results, markup, sink);
  write_below_tables(
      {lines_of(summary_lines(results, style)),
       lines_of(precision_line(results) + gate_lines(results, false) + shell_lines(results))},
      warning_texts(results, style), markup, sink);
}

void write_markup(const Report& report, Markup markup, const Sink& sink) {
  if (report.benchmarks.front().presentation.marks == MarksChoice::Emoji) {
    markup.better = "⚡ ";
    markup.worse = "💩 ";
  }
  if (report.is_suite()) {
    write_suite_markup(report, markup, sink);
  } else {
    write_session_markup(report.benchmarks.front(), markup, sink);
  }
}

}  // namespace

void write_markdown(const Report& report, const Sink& sink) {
  write_markup(report, kMarkdown, sink);
}

void write_asciidoc(const Report& report, const Sink& sink) {
  write_markup(report, kAsciiDoc, sink);
}

void write_orgmode(const Report& report, const Sink& sink) {
  write_markup(report, kOrg, sink);
}

}  // namespace lauka::report
