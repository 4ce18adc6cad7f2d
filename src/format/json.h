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

/// --export-json: one document for readers of hyperfine 1.x and of its schema 2, with all that
/// lauka knows under the keys "lauka" (of the document, and of each result). docs/schema.json
/// describes it. Values are in base units; numbers read back as the same double; what is undefined
/// is null, or has no key in hyperfine's part. Of a suite, "results" has the commands of all
/// benchmarks; "lauka.benchmarks" has for each benchmark what "lauka" has of a plain call, with
/// indices within the benchmark.
void write_json(const Report& report, const Sink& sink);

/// --export-bmf: Bencher's JSON: the mean (or percentile) of every metric with its interval.
void write_bmf(const Report& report, const Sink& sink);

/// --export-jsonl: what --export-runs has, an object on a line for each run.
void write_runs_jsonl(const Report& report, const Sink& sink);

/// --export-github-benchmark: customSmallerIsBetter of github-action-benchmark: shown metrics that
/// are better if smaller.
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
    case ExportKind::Json:
      break;
  }
  return &write_json;
}

/// The "format" of lauka's JSON, which is raised when a key changes its meaning or goes. Format 1
/// differed only in parts that are not read.
inline constexpr int kNewestFormat = 2;

/// A session that was read from a file, or a benchmark of one.
struct ReadSession {
  std::string benchmark{};  ///< benchmark's name in a suite; empty: the file holds no suite
  Recording recording;
  gate::Findings findings{};
};

/// The contents of a file: the benchmarks of a suite, or a session alone.
struct ReadFile {
  std::vector<ReadSession> benchmarks;  ///< benchmarks, at least one
  gate::Risk risk = gate::Risk::Any;
};

/// Reads the sessions that `text` holds: all that lauka's --export-json wrote; of files of an older
/// lauka and of hyperfine (1.x or schema 2, wall time only), the part they have. A benchmark of a
/// suite is read as if it were a session alone: its results, and below "lauka" its own values, or
/// the suite's where it has none. The error is a predicate of the file: is not such a JSON, has no
/// command or no sample, or has an impossible value.
Result<ReadFile> read_sessions(std::string_view text);

}  // namespace lauka
