#pragma once

#include "core/result.h"
#include "gate/verdict.h"
#include "session/recording.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// The newest "format" of lauka's JSON that is read here; format 1 differed only in unread parts.
inline constexpr int kNewestFormat = 2;

/// A session that was read from a file, or a benchmark of one.
struct ReadSession {
  std::string benchmark{};  ///< its name in a suite; empty: the file holds no suite
  Recording recording;
  gate::Findings findings{};
};

/// Reads the session that `text` holds: what lauka's --export-json wrote, whole; of files of an
/// older lauka and of hyperfine (1.x or schema 2, wall time only), the part they have. The error is
/// a predicate of the file: not such a JSON, has no command or no sample, or has an impossible
/// value.
Result<ReadSession> read_session(std::string_view text);

/// The contents of a file: the benchmarks of a suite, or a session alone.
struct ReadFile {
  std::vector<ReadSession> benchmarks;  ///< at least one
  gate::Risk risk = gate::Risk::Any;
};

/// Reads either kind. A benchmark is read as if it were a session alone: its results, and below
/// "lauka" the suite's values, overridden by its own.
Result<ReadFile> read_file_of_sessions(std::string_view text);

}  // namespace lauka
