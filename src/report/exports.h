#pragma once

#include "core/choices.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

// A suite's tables begin with a column `benchmark`.

/// --export-csv: one row per command and metric, hidden ones included. Base units, named in the
/// column `unit` (s, B, 1, ratio); shortest digits that read back as the same double; undefined
/// fields are empty. A bound has `max` only. Each variable has a column at the end, parameter_NAME.
/// Lines end as RFC 4180 has it; csv_field() writes the fields.
void write_summary_csv(const Report& report, const Sink& sink);

/// --export-runs: one row per kept run, in the order run; run, round and pass count from 1.
/// `status` is the exit status, or 128 + signal.
void write_runs_csv(const Report& report, const Sink& sink);

/// --export-markdown: for a pull request. One table of the rows that the terminal shows, or the
/// table of a suite; a line for each candidate and gate; and the warnings. Names are code.
void write_markdown(const Report& report, const Sink& sink);

/// --export-asciidoc, --export-orgmode: the same in these languages.
void write_asciidoc(const Report& report, const Sink& sink);
void write_orgmode(const Report& report, const Sink& sink);

/// --export-html: one self-contained page: the verdict, an overview of all commands, each metric
/// drawn (distribution, deltas, runs over time), and the tables. A suite's page has its table, and
/// folded below it the drawings and tables of each benchmark. The size of a page does not grow with
/// the number of runs.
void write_html(const Report& report, const Sink& sink);

/// Writes Go's benchmark format for --export-benchfmt, one line per run. In a plain call a name has
/// the key `command` and one key per parameter. In a suite it has the key `role`, and `command` too
/// if several commands share the role. The unit of wall time is sec/op; of other metrics, the
/// metric's name with -sec or -B.
void write_benchfmt(const Report& report, const Sink& sink);

using Exporter = void (*)(const Report&, const Sink&);

/// Returns `text` as a field of CSV by RFC 4180: quoted if it has a comma or a quote. Control
/// characters are made visible, and what a spreadsheet would take for a formula (it begins with =,
/// +, - or @ and is no number) gets an apostrophe.
std::string csv_field(std::string_view text);

/// "reference", "candidate" or "anchor".
std::string_view role_of(const Reference& reference, std::size_t command);

/// The identity of a command in programs that keep results.
struct ToolName {
  std::string benchmark{};  ///< benchmark's name in a suite
  std::string role{};       ///< role in the suite
  std::string command{};    ///< command's name; in a suite only if several commands have the role
  std::string twin{};       ///< "#2" if an earlier one has the same name, else empty

  /// "parse candidate", "./old".
  std::string text() const;
};

/// The names of all commands, in order.
std::vector<ToolName> tool_names(const Results& results);

/// `text` as a part of a name in Go's benchmark format: blanks and slashes become underscores.
std::string benchfmt_word(std::string_view text);

/// A metric as a unit of that format: "sec/op" of the wall time, "cpu_time-sec", "peak_rss-B".
std::string benchfmt_unit(std::string_view metric, Unit unit);

/// Writes a page up to its heading; `style` is added to the CSS of all pages.
void write_page_begin(const std::string& title, std::string_view style, const Sink& sink);
/// Writes its end; `script` is added to the script of all pages, which names the run under the
/// pointer.
void write_page_end(std::string_view script, const Sink& sink);

}  // namespace lauka::report
