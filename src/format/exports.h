#pragma once

#include "core/choices.h"
#include "report/exports.h"
#include "results/results.h"

namespace lauka {

/// --export-json: one document for readers of hyperfine 1.x and of its schema 2, with all that
/// lauka knows under the keys "lauka" (of the document, and of each result). docs/schema.json has
/// its shape. Base units; numbers read back as the same double; null, or no key in hyperfine's
/// part, where something is undefined. Of a suite, "results" has the commands of all benchmarks,
/// each with its "lauka.benchmark" and "lauka.role"; "lauka.benchmarks" has for each what "lauka"
/// has of a plain call, indices being within the benchmark.
void write_json(const Report& report, const Sink& sink);

/// --export-bmf: Bencher's JSON, of all metrics: the mean with its interval, or a percentile with
/// its own, in base units.
void write_bmf(const Report& report, const Sink& sink);

/// --export-jsonl: what --export-runs has, an object on a line for each run, with the values under
/// "metrics".
void write_runs_jsonl(const Report& report, const Sink& sink);

/// --export-github-benchmark: customSmallerIsBetter of github-action-benchmark: shown metrics that
/// are better if smaller, in base units.
void write_github_benchmark(const Report& report, const Sink& sink);

constexpr report::Exporter exporter_of(ExportKind kind) {
  if (kind == ExportKind::Csv) return &report::write_summary_csv;
  if (kind == ExportKind::Markdown) return &report::write_markdown;
  if (kind == ExportKind::AsciiDoc) return &report::write_asciidoc;
  if (kind == ExportKind::Org) return &report::write_orgmode;
  if (kind == ExportKind::Bmf) return &write_bmf;
  if (kind == ExportKind::GithubBenchmark) return &write_github_benchmark;
  if (kind == ExportKind::Jsonl) return &write_runs_jsonl;
  if (kind == ExportKind::Benchfmt) return &report::write_benchfmt;
  if (kind == ExportKind::Runs) return &report::write_runs_csv;
  return kind == ExportKind::Html ? &report::write_html : &write_json;
}

}  // namespace lauka
