#pragma once

#include "core/choices.h"
#include "results/suite.h"

// What the exports of exports.h are of a suite.

namespace lauka::report {

/// A column `benchmark` stands before those of a session's own.
void write_suite_csv(const SuiteResults& suite, const Sink& sink);
void write_suite_runs_csv(const SuiteResults& suite, const Sink& sink);

/// One session: "results" has the commands of all benchmarks, each with its "lauka.benchmark" and
/// "lauka.role"; "lauka.benchmarks" has for each what "lauka" has of a session without benchmarks,
/// indices being within the benchmark.
void write_suite_json(const SuiteResults& suite, const Sink& sink);

/// The table of the terminal, and the gates.
void write_suite_markdown(const SuiteResults& suite, const Sink& sink);

/// The same, with the drawings and tables of each benchmark folded below it.
void write_suite_html(const SuiteResults& suite, const Sink& sink);

using SuiteExporter = void (*)(const SuiteResults&, const Sink&);

constexpr SuiteExporter suite_exporter_of(ExportKind kind) {
  switch (kind) {
    case ExportKind::Csv:
      return &write_suite_csv;
    case ExportKind::Markdown:
      return &write_suite_markdown;
    case ExportKind::Runs:
      return &write_suite_runs_csv;
    case ExportKind::Html:
      return &write_suite_html;
    case ExportKind::Json:
      break;
  }
  return &write_suite_json;
}

}  // namespace lauka::report
