#pragma once

#include "cli/options.h"
#include "core/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

/// A benchmark of a suite: a session of its own, but for what is shown and exported of all.
struct Benchmark {
  std::string name;
  Options options{};
};

/// A suite with what was typed beside its file.
struct Suite {
  Options session{};  ///< what concerns all benchmarks: exports, looks, --fail-if-inconclusive
  std::vector<Benchmark> benchmarks{};  ///< those of --only and --shard; a part may have none
};

/// Reads `text`, the suite of `typed`, in which a benchmark's own options win over those that were
/// typed, and these over its [defaults]: where an option is there, all that a weaker place says of
/// it, and of what contradicts it, is left out. Refused as on the command line, with the file, the
/// line, the benchmark and the option before that.
Result<Suite> suite_of(const Options& typed, std::string_view text);

}  // namespace lauka::cli
