#pragma once

#include "core/choices.h"
#include "core/metric.h"
#include "report/table.h"
#include "results/results.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

/// Writes --export-csv: one row per command and metric, including metrics that only --verbose
/// shows. The values of a metric are in base units, which the column `unit` names. Unknown fields
/// are empty.
void write_summary_csv(const Report& report, const Sink& sink);

/// Writes --export-runs (CSV): one row for each run in Recording::runs. Numbers of runs, rounds and
/// passes begin at 1.
void write_runs_csv(const Report& report, const Sink& sink);

/// Writes --export-markdown for a pull request: tables, verdicts and warnings.
void write_markdown(const Report& report, const Sink& sink);

/// Writes a table of any kind in Markdown.
void write_markdown(const Table& table, const Sink& sink);

/// Returns a line of Markdown that shows `text` as it is.
std::string markdown_text(std::string_view text);

void write_asciidoc(const Report& report, const Sink& sink);
void write_orgmode(const Report& report, const Sink& sink);

/// Writes --export-benchfmt: a line in Go's benchmark format for each run that has values.
void write_benchfmt(const Report& report, const Sink& sink);

using Exporter = void (*)(const Report&, const Sink&);

/// Returns `text` as a CSV field (RFC 4180). Makes control characters visible, and puts an
/// apostrophe before text that a spreadsheet could take for a formula.
std::string csv_field(std::string_view text);

std::string_view role_of(const Reference& reference, std::size_t command);

/// The name of a command for programs that store results, such as Bencher. Outside suites,
/// `benchmark` and `role` are empty.
struct ExportedCommandName {
  std::string benchmark{};
  std::string role{};
  std::string command{};  ///< name of the command; in a suite, empty if no other command
                          ///< has the role
  /// "#2" for the second command of the same role and name; empty for the first command.
  std::string duplicate_suffix{};

  /// Returns the name as text: "parse candidate", "old", "old#2".
  std::string text() const;
};

std::vector<ExportedCommandName> exported_command_names(const Results& results);

/// Returns `text` as a part of a name in Go's benchmark format: blanks and slashes become
/// underscores.
std::string benchfmt_word(std::string_view text);

/// Tells apart texts that benchfmt_word() makes equal: "echo x/y" and "echo x y".
class BenchfmtNames {
 public:
  /// Returns benchfmt_word(text), with "#2", "#3" ... if another text has this word.
  std::string word_of(const std::string& text) { return name_of(text, benchfmt_word(text)); }

  /// Returns `name`, with a number if it was returned for another `key`.
  std::string name_of(const std::string& key, const std::string& name);

 private:
  std::map<std::string, std::string> names_by_key_{};
  std::set<std::string> names_in_use_{};
};

/// Returns a metric as a unit in Go's benchmark format: "sec/op" for wall time; otherwise the name,
/// with -sec or -B for seconds or bytes.
std::string benchfmt_unit(std::string_view metric, Unit unit);

}  // namespace lauka::report
