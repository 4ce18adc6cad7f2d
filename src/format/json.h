#pragma once

#include "core/choices.h"
#include "core/recording.h"
#include "core/result.h"
#include "format/json_text.h"
#include "format/speedscope.h"
#include "gate/verdict.h"
#include "report/exports.h"
#include "report/html.h"
#include "report/stacks.h"
#include "results/results.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Writes --export-json, an extension of hyperfine's JSON (1.x and schema 2). docs/schema.json
/// describes it.
void write_json(const Report& report, const Sink& sink);

/// Writes --export-bmf (Bencher's JSON): for each command, the known means and percentiles of its
/// metrics, with their intervals if known, and the number of failed runs if it is not 0.
void write_bmf(const Report& report, const Sink& sink);

/// Writes --export-jsonl: one line with a JSON object for each run in Recording::runs.
void write_runs_jsonl(const Report& report, const Sink& sink);

/// Writes --export-github-benchmark (customSmallerIsBetter of github-action-benchmark). Contains
/// only metrics that are shown without --verbose and for which smaller is better.
void write_github_benchmark(const Report& report, const Sink& sink);

constexpr report::Exporter exporter_of(ExportKind kind) {
  switch (kind) {
    case ExportKind::Csv:
      return &report::write_summary_csv;
    case ExportKind::Markdown:
      return &report::write_markdown;
    case ExportKind::AsciiDoc:
      return &report::write_asciidoc;
    case ExportKind::Org:
      return &report::write_orgmode;
    case ExportKind::Bmf:
      return &write_bmf;
    case ExportKind::GithubBenchmark:
      return &write_github_benchmark;
    case ExportKind::Jsonl:
      return &write_runs_jsonl;
    case ExportKind::Benchfmt:
      return &report::write_benchfmt;
    case ExportKind::Runs:
      return &report::write_runs_csv;
    case ExportKind::Html:
      return &report::write_html;
    case ExportKind::Folded:
      return &report::write_first_folded;
    case ExportKind::Speedscope:
      return &write_speedscope;
    case ExportKind::Json:
      break;
  }
  return &write_json;
}

/// The value of "lauka.format" in new files. It is raised when a key is removed or changes its
/// meaning. Files with the value 1 can still be read.
inline constexpr int kNewestFormat = 2;

/// A session read from a file, or one benchmark of a suite's file.
struct SessionFromFile {
  std::string benchmark{};  ///< name of the benchmark; empty if the file is not of a suite
  Recording recording;
  gate::Findings findings{};
};

struct FileSessions {
  /// Benchmarks of the suite, or the single session; at least one.
  std::vector<SessionFromFile> benchmarks;
  /// Kind of error rate that a suite's gates limit.
  gate::ErrorRate suite_error_rate = gate::ErrorRate::AnyFalseFail;
};

/// Reads the sessions in lauka's or hyperfine's JSON, of which only the sessions are in memory. The
/// error message lacks its subject, the file: "has no commands".
Result<FileSessions> read_sessions(const TextSource& source);
Result<FileSessions> read_sessions(std::string_view text);

}  // namespace lauka
