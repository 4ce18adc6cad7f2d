#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace lauka {

// What the user chose and other rooms carry out.

/// What counts events.
enum class EngineChoice : unsigned char { Auto, Kperf, Perf, Cachegrind, None };

/// How kperf counts (docs/kperf.md); Auto takes the best that sees a known command whole here.
enum class StrategyChoice : unsigned char {
  Auto,
  AtExit,   ///< a sample as each thread ends
  Pet,      ///< the same, and one of each running thread every period
  Machine,  ///< the whole machine, before and after
};

/// In the order in which they are written, the smallest first: a full disk takes the fewest then.
enum class ExportKind : unsigned char { Csv, Markdown, Runs, Html, Json };

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
