#pragma once

#include "core/choices.h"
#include "core/result.h"
#include "gate/verdict.h"
#include "report/exports.h"
#include "results/results.h"
#include "session/recording.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Writes --export-json: a document for readers of hyperfine 1.x and of its schema 2. What only
/// lauka knows is under the keys "lauka" of the document and of each result; docs/schema.json
/// describes it. Values are in base units; numbers read back as the same double. An undefined value
/// is null, or missing in hyperfine's part. For a suite, "results" has the commands of all
/// benchmarks, and "lauka.benchmarks" has for each benchmark what "lauka" has for a plain call,
/// with indices within the benchmark.
void write_json(const Report& report, const Sink& sink);

/// Writes --export-bmf (Bencher's JSON): the mean or percentile of every metric, with its interval
/// if known, and the number of failed runs.
void write_bmf(const Report& report, const Sink& sink);

/// Writes --export-jsonl: an object per run and line, with the values of --export-runs.
void write_runs_jsonl(const Report& report, const Sink& sink);

/// Writes --export-github-benchmark (customSmallerIsBetter of github-action-benchmark): the metrics
/// shown that are better if smaller.
void write_github_benchmark(const Report& report, const Sink& sink);

/// Returns the function that writes an export.
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
    case ExportKind::Json:
      break;
  }
  return &write_json;
}

/// The "format" of lauka's JSON. It is raised when a key is removed or changes its meaning. Format
/// 1 differed only in parts that are never read.
inline constexpr int kNewestFormat = 2;

/// A session from a file, or one benchmark of a suite's file.
struct ReadSession {
  std::string benchmark{};  ///< name of the benchmark; empty if the file is not of a suite
  Recording recording;
  gate::Findings findings{};
};

/// The contents of a file: the benchmarks of a suite, or a single session.
struct ReadFile {
  std::vector<ReadSession> benchmarks;  ///< sessions; at least one
  gate::Risk risk = gate::Risk::Any;    ///< error rate that the gates share
};

/// Reads the sessions in `text`: everything that lauka's --export-json wrote; from files of an
/// older lauka and of hyperfine (1.x or schema 2, wall time only), the part that they have. A
/// benchmark of a suite is read like a session of its own: its results, and its values under
/// "lauka", or the suite's values if it has none. Refuses text in another format, without a command
/// or sample, or with an impossible value. The error is a predicate; the caller adds the subject.
Result<ReadFile> read_sessions(std::string_view text);

}  // namespace lauka
