#pragma once

#include "cli/options.h"
#include "core/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

/// A benchmark of a suite: like a session of its own, except for tables and exports.
struct Benchmark {
  std::string name;
  Options options{};
};

/// A suite, from its file and the command line.
struct Suite {
  Options session{};  ///< options that all benchmarks share, such as exports, appearance and
                      ///< --fail-if-inconclusive
  std::vector<Benchmark> benchmarks{};  ///< benchmarks selected by --only and --shard; may be empty
};

/// Reads the suite in `text`; `typed` is the command line. A benchmark's own options win over typed
/// options, and these over [defaults]: an option cancels itself, and options that contradict it, in
/// weaker places. Refuses what the command line refuses, and names file, line, benchmark and
/// option. Also refuses invalid TOML, unknown tables, values of other kinds (dates, tables), lists
/// nested three deep, too many benchmarks, options or values, and an --only that matches no
/// benchmark.
Result<Suite> read_suite(const Options& typed, std::string_view text);

}  // namespace lauka::cli
