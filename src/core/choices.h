#pragma once

#include "core/metric.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace lauka {

/// The order of the runs within a round.
enum class Order : unsigned char { Interleaved, Random, Sequential };

enum class EngineChoice : unsigned char {
  Auto,
  Kperf,
  Perf,
  Cachegrind,
  Dhat,
  CachegrindAndDhat,
  None
};

struct EngineRow {
  EngineChoice choice;
  std::string_view name;
  bool runs_in_valgrind = false;
  bool may_count_nothing = false;  ///< false: lauka refuses the engine where it cannot count
};

/// The values of --engine in the order of EngineChoice.
inline constexpr auto kEngines = std::to_array<EngineRow>({
    {.choice = EngineChoice::Auto, .name = "auto", .may_count_nothing = true},
    {EngineChoice::Kperf, "kperf"},
    {EngineChoice::Perf, "perf"},
    {EngineChoice::Cachegrind, "cachegrind", true},
    {EngineChoice::Dhat, "dhat", true},
    {EngineChoice::CachegrindAndDhat, "cachegrind,dhat", true},
    {.choice = EngineChoice::None, .name = "none", .may_count_nothing = true},
});

constexpr const EngineRow& row_of(EngineChoice choice) {
  return kEngines.at(static_cast<std::size_t>(choice));
}

/// True if `choice` includes Cachegrind, which counts events by function.
constexpr bool counts_functions(EngineChoice choice) {
  return choice == EngineChoice::Cachegrind || choice == EngineChoice::CachegrindAndDhat;
}

/// A way to count events with kperf (docs/kperf.md).
enum class KperfStrategyChoice : unsigned char {
  Auto,
  AtExit,                ///< samples each thread when the thread ends
  SampleRunningThreads,  ///< samples running threads periodically
  Machine,               ///< counts the whole machine during a run
};

/// How the callers of sampled code are found.
enum class CallGraphChoice : unsigned char { FramePointers, None };

/// An export's format. Exports are written in the order of this enumeration.
enum class ExportKind : unsigned char {
  Csv,
  Bmf,
  GithubBenchmark,
  Markdown,
  AsciiDoc,
  Org,
  Runs,
  Jsonl,
  Benchfmt,
  Html,
  Folded,
  Speedscope,
  Json
};

/// True if the export has the call paths of sampled runs.
constexpr bool exports_call_paths(ExportKind kind) {
  return kind == ExportKind::Folded || kind == ExportKind::Speedscope;
}

struct ExportRow {
  ExportKind kind;
  std::string_view option;
  std::string_view help;
  std::string_view brief{};  ///< text in -h; empty: the option is missing from -h
};

inline constexpr auto kExports = std::to_array<ExportRow>({
    {ExportKind::Csv, "export-csv", "write a CSV file with a row for each command and metric"},
    {ExportKind::Runs, "export-runs", "write a CSV file with a row for each run"},
    {ExportKind::Json, "export-json",
     "write all results as JSON, which programs made for hyperfine can read",
     "write all results as JSON"},
    {ExportKind::Markdown, "export-markdown", "write a table for a pull request",
     "write a table for a pull request"},
    {ExportKind::AsciiDoc, "export-asciidoc", "write a table in AsciiDoc"},
    {ExportKind::Org, "export-orgmode", "write a table in the format of Emacs's Org mode"},
    {ExportKind::Jsonl, "export-jsonl", "write a line of JSON for each run"},
    {ExportKind::Benchfmt, "export-benchfmt",
     "write a line for each run in Go's benchmark format, for benchstat"},
    {ExportKind::Bmf, "export-bmf", "write every metric in base units, as JSON for Bencher (BMF)"},
    {ExportKind::GithubBenchmark, "export-github-benchmark",
     "write the shown metrics as JSON for github-action-benchmark"},
    {ExportKind::Folded, "export-folded", "write the sampled call stacks, for flame graphs"},
    {ExportKind::Speedscope, "export-speedscope",
     "write the sampled call stacks of each command as JSON for speedscope"},
    {ExportKind::Html, "export-html", "write a page with charts and tables in one file",
     "write a page with charts and tables"},
});

static_assert(kExports.size() == static_cast<std::size_t>(ExportKind::Json) + 1,
              "kExports lacks a kind, or Json is not the last one");

struct ExportTarget {
  ExportKind kind = ExportKind::Csv;
  std::string file;  ///< path; "-" is standard output
  std::string_view option{};
  /// What an export of Folded shows: a benchmark, and one of its commands. If the command has a
  /// reference, the export compares them.
  std::size_t benchmark = 0;
  std::size_t command = 0;

  bool operator==(const ExportTarget&) const = default;
};

using Sink = std::function<void(std::string_view)>;

/// A unit in which values are shown.
struct DisplayUnit {
  std::string_view name;
  Unit unit;
  double in_base_units;  ///< size of the unit in seconds, bytes or counts: 1e-3 for ms
  std::string_view suffix;
};

inline constexpr auto kDisplayUnits = std::to_array<DisplayUnit>({
    {"ns", Unit::Seconds, 1e-9, "ns"},
    {"us", Unit::Seconds, 1e-6, "µs"},
    {"µs", Unit::Seconds, 1e-6, "µs"},
    {"ms", Unit::Seconds, 1e-3, "ms"},
    {"s", Unit::Seconds, 1.0, "s"},
    {"min", Unit::Seconds, 60.0, "min"},
    {"B", Unit::Bytes, 1.0, "B"},
    {"kB", Unit::Bytes, 1e3, "kB"},
    {"MB", Unit::Bytes, 1e6, "MB"},
    {"GB", Unit::Bytes, 1e9, "GB"},
    {"KiB", Unit::Bytes, 1024.0, "KiB"},
    {"MiB", Unit::Bytes, 1048576.0, "MiB"},
    {"GiB", Unit::Bytes, 1073741824.0, "GiB"},
    {"1", Unit::Count, 1.0, ""},
    {"K", Unit::Count, 1e3, "K"},
    {"M", Unit::Count, 1e6, "M"},
    {"G", Unit::Count, 1e9, "G"},
});

/// Finds a display unit by its name; null if unknown.
inline const DisplayUnit* find_display_unit(std::string_view name) {
  const auto found = std::ranges::find(kDisplayUnits, name, &DisplayUnit::name);
  return found == kDisplayUnits.end() ? nullptr : &*found;
}

enum class TableChoice : unsigned char { Auto, Full, Compact };
enum class SortChoice : unsigned char { Command, Time };
enum class MarksChoice : unsigned char { Auto, Emoji, Text };

/// The functions to list, as chosen with --functions.
struct FunctionChoice {
  std::size_t most = 20;  ///< largest number of listed functions; unused if `pattern` is not empty
  std::string pattern{};  ///< regular expression that the listed names match; may be empty

  bool operator==(const FunctionChoice&) const = default;
};

struct Presentation {
  TableChoice table = TableChoice::Auto;
  SortChoice sort = SortChoice::Command;
  MarksChoice marks = MarksChoice::Auto;
  /// Default unit of shown times; null: chosen to fit the values.
  const DisplayUnit* time_unit = nullptr;
  bool compact_shows_all_metrics = false;
  bool hides_all_zero_rows = false;
  std::optional<FunctionChoice> functions{};
  std::optional<std::size_t> paths{};  ///< most lines of the tree of call paths; nullopt: no tree
  std::string title{};
  std::string description{};
};

enum class ExitStatus : int {
  Done = 0,
  Failed = 1,
  Usage = 2,
  GateFailed = 3,
  GateInconclusive = 4,
  NotKept = 5,
};

constexpr int status_of_signal(int signal_number) {
  return 128 + signal_number;
}

}  // namespace lauka
