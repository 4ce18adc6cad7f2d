#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace lauka {

// What the user chose and other rooms carry out.

/// What counts events.
enum class EngineChoice : unsigned char { Auto, Kperf, Perf, Cachegrind, None };

/// A choice of --engine.
struct EngineRow {
  EngineChoice choice;
  std::string_view name;
  std::string_view help{};   ///< what follows its name in the option's help; may be empty
  bool is_an_extra = false;  ///< a program to be installed: that it is not there spoils nothing
};

/// In the order in which help lists them. `engine/choose.cc` has what makes each.
inline constexpr auto kEngines = std::to_array<EngineRow>({
    {EngineChoice::Auto, "auto", "takes the best that works here (default)"},
    {EngineChoice::Kperf, "kperf"},
    {EngineChoice::Perf, "perf"},
    {EngineChoice::Cachegrind, "cachegrind",
     "simulates them with Valgrind, in a few extra runs that are not timed", true},
    {EngineChoice::None, "none"},
});

constexpr const EngineRow& row_of(EngineChoice choice) {
  return kEngines.at(static_cast<std::size_t>(choice));
}

/// How kperf counts (docs/kperf.md); Auto takes the best that sees a known command whole here.
enum class StrategyChoice : unsigned char {
  Auto,
  AtExit,   ///< a sample as each thread ends
  Pet,      ///< the same, and one of each running thread every period
  Machine,  ///< the whole machine, before and after
};

/// In the order in which they are written, the smallest first: a full disk takes the fewest then.
enum class ExportKind : unsigned char { Csv, Markdown, Runs, Html, Json };

/// An export: its option, and what help and -h say of it.
struct ExportRow {
  ExportKind kind;
  std::string_view option;  ///< without dashes
  std::string_view help;
  std::string_view brief{};  ///< empty: -h does not have it
};

/// In the order in which help lists them. `report/exports.h` has what writes each.
inline constexpr auto kExports = std::to_array<ExportRow>({
    {ExportKind::Csv, "export-csv", "write a row per command and metric; - is standard output"},
    {ExportKind::Runs, "export-runs", "write a row per run, likewise"},
    {ExportKind::Json, "export-json",
     "write all results as JSON, which programs made for hyperfine can read (docs/schema.json)",
     "write all results as JSON"},
    {ExportKind::Markdown, "export-markdown", "write a table for a pull request",
     "write a table for a pull request"},
    {ExportKind::Html, "export-html", "write a page with charts and tables, in one file",
     "write a page with charts and tables"},
});

struct ExportTarget {
  ExportKind kind = ExportKind::Csv;
  std::string file;           ///< "-" is standard output
  std::string_view option{};  ///< as typed, without dashes

  bool operator==(const ExportTarget&) const = default;
};

/// Takes the bytes of an export piece by piece, in order. What they are written to remembers its
/// own failure, so nobody who writes has to look for one.
using Sink = std::function<void(std::string_view)>;

}  // namespace lauka
