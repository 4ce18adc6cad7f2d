#pragma once

#include "core/choices.h"
#include "core/recording.h"
#include "core/result.h"
#include "format/json_text.h"
#include "gate/verdict.h"
#include "results/results.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Writes --export-json, an extension of hyperfine's JSON (1.x and schema 2). docs/schema.json
/// describes it.
void write_json(const Report& report, const Sink& sink);

/// The value of "lauka.format" in new files. It is raised when a key is removed or changes its
/// meaning. Files with the value 1 can still be read.
inline constexpr int kNewestFormat = 2;

/// A session read from a file, or one benchmark of a suite's file.
struct SessionFromFile {
  std::string benchmark{};  ///< name of the benchmark; empty if the file is not of a suite
  Recording recording;
  gate::Findings findings{};
};

struct FileSessions {
  /// Benchmarks of the suite, or the single session; at least one.
  std::vector<SessionFromFile> benchmarks;
  /// Kind of error rate that a suite's gates limit.
  gate::ErrorRate suite_error_rate = gate::ErrorRate::AnyFalseFail;
};

/// Reads the sessions in lauka's or hyperfine's JSON, of which only the sessions are in memory. The
/// error message lacks its subject, the file: "has no commands".
Result<FileSessions> read_sessions(const TextSource& source);
Result<FileSessions> read_sessions(std::string_view text);

}  // namespace lauka
