#pragma once

#include "cli/options.h"
#include "core/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

/// A benchmark of a suite: a session of its own, except for tables and exports.
struct Benchmark {
  std::string name;
  Options options{};
};

/// A suite, from its file and the command line.
struct Suite {
  Options session{};                    ///< shared: exports, looks, --fail-if-inconclusive
  std::vector<Benchmark> benchmarks{};  ///< selected by --only and --shard; may be empty
};

/// Reads `text`, the suite of `typed`, in which a benchmark's own options win over those that were
/// typed, and these over its [defaults]: an option cancels itself, and what contradicts it, in
/// weaker places. Refuses as on the command line, with the file, line, benchmark and option; also
/// what is not valid TOML, tables of other names, values of other kinds (dates, tables), lists in
/// lists in lists, and too many benchmarks.
Result<Suite> read_suite(const Options& typed, std::string_view text);

}  // namespace lauka::cli
