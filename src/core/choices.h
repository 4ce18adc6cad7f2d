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

// Choices of the user that several rooms read.

/// A counter engine.
enum class EngineChoice : unsigned char {
  Auto,
  Kperf,
  Perf,
  Cachegrind,
  Dhat,
  CachegrindAndDhat,
  None
};

/// A choice of --engine.
struct EngineRow {
  EngineChoice choice;
  std::string_view name;
  std::string_view help{};   ///< text after the name in the option's help; may be empty
  bool is_an_extra = false;  ///< true for a program of its own, which may not be installed
};

/// The values of --engine in the order of --help, which is also the order of EngineChoice. `choose`
/// in engine/engine.cc makes the engines.
inline constexpr auto kEngines = std::to_array<EngineRow>({
    {EngineChoice::Auto, "auto", "takes the best that works here (default)"},
    {EngineChoice::Kperf, "kperf"},
    {EngineChoice::Perf, "perf"},
    {EngineChoice::Cachegrind, "cachegrind",
     "simulates them with Valgrind, in a few extra runs that are not timed", true},
    {EngineChoice::Dhat, "dhat", "counts allocations with Valgrind, likewise", true},
    {EngineChoice::CachegrindAndDhat, "cachegrind,dhat", "does both", true},
    {EngineChoice::None, "none"},
});

constexpr const EngineRow& row_of(EngineChoice choice) {
  return kEngines.at(static_cast<std::size_t>(choice));
}

/// True if the engine gives counts for each function of a program.
constexpr bool counts_functions(EngineChoice choice) {
  return choice == EngineChoice::Cachegrind || choice == EngineChoice::CachegrindAndDhat;
}

/// True if the engine runs programs under Valgrind.
constexpr bool is_simulated(EngineChoice choice) {
  return choice == EngineChoice::Cachegrind || choice == EngineChoice::Dhat ||
         choice == EngineChoice::CachegrindAndDhat;
}

/// A way to count with kperf (docs/kperf.md). Auto takes the best way that counts a known command
/// completely.
enum class StrategyChoice : unsigned char {
  Auto,
  AtExit,   ///< samples each thread as it ends
  Pet,      ///< samples each thread as it ends, and each running thread once per period
  Machine,  ///< reads the counters of the whole machine before and after a run
};

/// A format of results. Exports are written in this order, the smallest first: on a full disk most
/// of them still succeed.
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
  Json
};

/// A format of results: its option, and the option's texts in --help and -h.
struct ExportRow {
  ExportKind kind;
  std::string_view option;  ///< option's name without dashes
  std::string_view help;
  std::string_view brief{};  ///< text in -h; empty: the option is missing from -h
};

/// The export formats in the order of --help. `report/exports.h` declares a writer for each.
inline constexpr auto kExports = std::to_array<ExportRow>({
    {ExportKind::Csv, "export-csv", "write a row per command and metric; - is standard output"},
    {ExportKind::Runs, "export-runs", "write a row per run, likewise"},
    {ExportKind::Json, "export-json",
     "write all results as JSON, which programs made for hyperfine can read (docs/schema.json)",
     "write all results as JSON"},
    {ExportKind::Markdown, "export-markdown", "write a table for a pull request",
     "write a table for a pull request"},
    {ExportKind::AsciiDoc, "export-asciidoc", "the same in AsciiDoc"},
    {ExportKind::Org, "export-orgmode", "the same in Emacs's Org"},
    {ExportKind::Jsonl, "export-jsonl", "write a line of JSON per run"},
    {ExportKind::Benchfmt, "export-benchfmt",
     "write a line per run in Go's benchmark format (benchstat -col /command FILE; of a suite, "
     "-col /role)"},
    {ExportKind::Bmf, "export-bmf", "write Bencher's JSON (BMF): every metric, in base units"},
    {ExportKind::GithubBenchmark, "export-github-benchmark",
     "write the metrics shown for github-action-benchmark (customSmallerIsBetter), without those "
     "that are better when larger"},
    {ExportKind::Html, "export-html", "write a page with charts and tables, in one file",
     "write a page with charts and tables"},
});

struct ExportTarget {
  ExportKind kind = ExportKind::Csv;
  std::string file;           ///< "-" is standard output
  std::string_view option{};  ///< option's name as typed, without dashes

  bool operator==(const ExportTarget&) const = default;
};

/// Receives an export's bytes piece by piece, in order. A file remembers its first write error, so
/// writers need not check for errors.
using Sink = std::function<void(std::string_view)>;

/// A unit in which tables show values.
struct DisplayUnit {
  std::string_view name;    ///< name as typed
  Unit unit;                ///< unit of the metrics that can be shown in this display unit
  double size;              ///< size in base units
  std::string_view suffix;  ///< suffix as shown
};

/// The display units, grouped by the metric's unit, each group from the smallest to the largest.
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

/// Finds the display unit with that name; null if unknown.
inline const DisplayUnit* find_display_unit(std::string_view name) {
  const auto found = std::ranges::find(kDisplayUnits, name, &DisplayUnit::name);
  return found == kDisplayUnits.end() ? nullptr : &*found;
}

/// Choices of layout for tables and exports; they do not affect the measurement.
enum class TableChoice : unsigned char { Auto, Full, Compact };
enum class SortChoice : unsigned char { Command, Time };
enum class MarksChoice : unsigned char { Auto, Emoji, Text };

/// The functions that --functions lists: the `most` largest differences, or all that match a
/// pattern.
struct FunctionRows {
  std::size_t most = 20;  ///< number of functions, if `pattern` is empty
  std::string pattern{};  ///< regular expression for names of functions; empty: lists the `most`
                          ///< largest differences

  bool operator==(const FunctionRows&) const = default;
};

struct Presentation {
  TableChoice table = TableChoice::Auto;
  SortChoice sort = SortChoice::Command;
  MarksChoice marks =
      MarksChoice::Auto;  ///< Auto: emoji in UTF-8 terminals, words in Markdown, HTML and the like
  const DisplayUnit* time_unit =
      nullptr;  ///< display unit of times for which the user set none; null: fits each value
  bool every_row =
      false;  ///< true if the user chose the rows: a compact table then shows all of them
  bool hides_zeros = false;                 ///< true: tables leave out rows that are 0 in each run
  std::optional<FunctionRows> functions{};  ///< nullopt: no table of functions
  std::string title{};                      ///< title of the page
  std::string description{};                ///< text below the page's title
};

/// Lauka's exit statuses. If signal N ends lauka, the status is 128 + N.
enum class ExitStatus : int {
  Done = 0,
  Failed = 1,
  Usage = 2,
  GateFailed = 3,
  GateInconclusive = 4,
};

constexpr int status_of_signal(int signal_number) {
  return 128 + signal_number;
}

}  // namespace lauka
