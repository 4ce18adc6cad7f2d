#pragma once

#include "core/result.h"
#include "gate/verdict.h"
#include "results/read_session.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// A benchmark of a suite that was read from a file.
struct ReadBenchmark {
  std::string name;  ///< empty: the file holds no suite, but a session
  ReadSession session;
};

/// What a file holds: the benchmarks of a suite, or a session alone.
struct ReadFile {
  std::vector<ReadBenchmark> benchmarks;  ///< at least one
  gate::Risk risk = gate::Risk::Any;
};

/// As read_session, for either.
Result<ReadFile> read_file_of_sessions(std::string_view text);

}  // namespace lauka
