#pragma once

#include "core/result.h"
#include "gate/verdict.h"
#include "session/recording.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Of lauka's JSON, the newest that is read here ("format"); 1 differed in what is not read.
inline constexpr int kNewestFormat = 2;

/// A session that was read from a file, or a benchmark of one.
struct ReadSession {
  std::string benchmark{};  ///< its name in a suite; empty: the file holds no suite
  Recording recording;
  gate::Findings findings{};
};

/// The session that `text` holds: what lauka's --export-json wrote, whole; of an older lauka, which
/// wrote less, and of hyperfine (1.x or schema 2, wall time only) what there is. The error is a
/// predicate of the file: that it is no JSON, not of these, has no command or no sample, or holds
/// what cannot be a measured value.
Result<ReadSession> read_session(std::string_view text);

/// What a file holds: the benchmarks of a suite, or a session alone.
struct ReadFile {
  std::vector<ReadSession> benchmarks;  ///< at least one
  gate::Risk risk = gate::Risk::Any;
};

/// As read_session, for either. A benchmark is read as the session that it would be alone: its
/// results, and below "lauka" what the whole suite has, with the benchmark's own over it.
Result<ReadFile> read_file_of_sessions(std::string_view text);

}  // namespace lauka
