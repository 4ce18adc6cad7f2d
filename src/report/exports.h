#pragma once

#include "core/choices.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

// The tables of a suite begin with a column `benchmark`.

/// Writes --export-csv: one row per command and metric, hidden metrics included. Values are in base
/// units, which the column `unit` names (s, B, 1, ratio), with the shortest digits that read back
/// as the same double. Undefined fields are empty; an upper bound has only `max`. Columns
/// parameter_NAME at the end have the parameters. Lines end as in RFC 4180; csv_field() writes the
/// fields.
void write_summary_csv(const Report& report, const Sink& sink);

/// Writes --export-runs: one row per kept run, benchmark by benchmark, in the order run. Run, round
/// and pass are counted from 1. `status` is the exit status, or 128 + signal; empty: unknown.
void write_runs_csv(const Report& report, const Sink& sink);

/// Writes --export-markdown, for a pull request: a table of the rows that the terminal shows, or
/// the table of a suite; a line for each candidate and gate; and the warnings. Names are formatted
/// as code.
void write_markdown(const Report& report, const Sink& sink);

/// Writes --export-asciidoc: the contents of write_markdown in AsciiDoc.
void write_asciidoc(const Report& report, const Sink& sink);
/// Writes --export-orgmode: the contents of write_markdown in Emacs's Org.
void write_orgmode(const Report& report, const Sink& sink);

/// Writes --export-html, a self-contained page: the verdict, an overview of all commands, charts of
/// each metric (distribution, deltas, runs over time), and the tables. The page of a suite has its
/// table, and below it, folded, the charts and tables of each benchmark. The size of a page does
/// not grow with the number of runs.
void write_html(const Report& report, const Sink& sink);

/// Writes --export-benchfmt, Go's benchmark format, with one line per run. In a plain call, a name
/// has the key `command` and one key per parameter. In a suite, it has the key `role`, and also
/// `command` if several commands have the role. The unit of wall time is sec/op; the unit of
/// another metric is its name with -sec or -B.
void write_benchfmt(const Report& report, const Sink& sink);

/// A function that writes an export.
using Exporter = void (*)(const Report&, const Sink&);

/// Returns `text` as a CSV field (RFC 4180): in quotes if it contains a comma or quote. Makes
/// control characters visible, and puts an apostrophe before text that a spreadsheet would take for
/// a formula (it begins with =, +, - or @ and is not a number).
std::string csv_field(std::string_view text);

/// Returns "reference", "candidate" or "anchor".
std::string_view role_of(const Reference& reference, std::size_t command);

/// The name of a command in programs that store results.
struct ToolName {
  std::string benchmark{};  ///< name of the benchmark in a suite; else empty
  std::string role{};       ///< role in a suite; else empty
  std::string
      command{};       ///< name of the command; in a suite only if several commands have the role
  std::string twin{};  ///< "#2" if an earlier command has the same name; else empty

  /// Returns "parse candidate", or "./old".
  std::string text() const;
};

/// Returns the names of all commands, in order.
std::vector<ToolName> tool_names(const Results& results);

/// Returns `text` as a part of a name in Go's benchmark format: blanks and slashes become
/// underscores.
std::string benchfmt_word(std::string_view text);

/// Returns a metric as a unit in Go's benchmark format: "sec/op" for wall time, "cpu_time-sec",
/// "peak_rss-B".
std::string benchfmt_unit(std::string_view metric, Unit unit);

/// Writes a page up to its heading. `style` is added to the CSS that all pages have.
void write_page_begin(const std::string& title, std::string_view style, const Sink& sink);
/// Writes the end of a page. `script` is added to the script that all pages have, which names the
/// run under the pointer.
void write_page_end(std::string_view script, const Sink& sink);

}  // namespace lauka::report
