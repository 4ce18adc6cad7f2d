#pragma once

#include "cli/options.h"
#include "core/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

struct Benchmark {
  std::string name;
  Options options{};
  std::vector<Note> notes{};
};

struct Suite {
  Options session_options{};            ///< options of the whole session, such as exports
  std::vector<Benchmark> benchmarks{};  ///< benchmarks that --only and --shard select; may be empty
};

/// Reads a suite from `text`, the content of its file; `typed` has the typed options. A benchmark's
/// own options win over typed options, and typed options over [defaults]. A note, of the first such
/// benchmark, says which typed gates are replaced.
Result<Suite> read_suite(const Options& typed, std::string_view text);

}  // namespace lauka::cli
