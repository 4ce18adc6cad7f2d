#pragma once

#include "core/choices.h"
#include "core/result.h"
#include "history/load.h"

#include <map>
#include <string>
#include <string_view>

namespace lauka::history {

/// Writes the points of one series after the other for other programs.
class TableWriter : NonCopyable {
 public:
  virtual ~TableWriter() = default;

  /// Writes a series; `uuids` has the session of each point.
  virtual void add(const Series& series, const std::map<std::int64_t, std::string>& uuids) = 0;

  /// Writes what needs all series.
  virtual void end() {}
};

/// Returns the writer of a format of `lauka-history export`:
/// csv: a row per point, base units, shortest digits that read back as the same number;
/// jsonl: the same as an object in a line each;
/// benchfmt: Go's benchmark format, the labels as its configuration;
/// bmf: Bencher's, of the last point of each series;
/// otava: CSV with a row per session and a column per series, as Apache Otava reads it.
std::unique_ptr<TableWriter> table_writer(std::string_view format, const Sink& sink);

}  // namespace lauka::history
