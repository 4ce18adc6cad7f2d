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

/// Writes --export-json. Programs that read the JSON of hyperfine 1.x or its schema 2 can read it.
/// Values that hyperfine does not have are under the keys "lauka"; docs/schema.json describes them.
void write_json(const Report& report, const Sink& sink);

/// Writes --export-bmf (Bencher's JSON): for each command the mean or percentile of each metric,
/// with its interval if known, and the number of failed runs if there are any.
void write_bmf(const Report& report, const Sink& sink);

/// Writes --export-jsonl: one line with a JSON object for each kept run.
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
    case ExportKind::Json:
      break;
  }
  return &write_json;
}

/// The value of "lauka.format" in new files. It is raised when a key is removed or changes its
/// meaning. Files of format 1 can be read, too.
inline constexpr int kNewestFormat = 2;

/// A session read from a file, or one benchmark of a suite's file.
struct SessionFromFile {
  std::string benchmark{};  ///< name of the benchmark; empty if the file is not of a suite
  Recording recording;
  gate::Findings findings{};
};

/// The contents of a file: the benchmarks of a suite, or a single session.
struct ReadFile {
  std::vector<SessionFromFile> benchmarks;      ///< at least one
  gate::ErrorRate risk = gate::ErrorRate::Any;  ///< error rate that the gates of a suite limit
};

/// Reads the sessions in `text`, which is lauka's or hyperfine's JSON. Parts that hyperfine or an
/// older lauka did not write keep their defaults. The text of an error lacks its subject, which
/// callers add.
Result<ReadFile> read_sessions(std::string_view text);

}  // namespace lauka
