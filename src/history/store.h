#pragma once

#include "core/result.h"
#include "history/database.h"
#include "history/record.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka::history {

/// Adds sessions to a database, many at once: each whole, or not at all.
class Store {
 public:
  explicit Store(Database& database) : database_(database) {}

  /// Adds the sessions that are missing, in one transaction; returns their number. On an error
  /// none was added.
  Result<std::size_t> add(std::span<const SessionRecord> sessions);

 private:
  struct Batch;

  static void gather(Batch& batch, const SessionRecord& session, std::size_t place);
  Result<std::vector<bool>> add_sessions(const Batch& batch,
                                         std::span<const SessionRecord> sessions,
                                         std::int64_t added_before);
  Result<void> add_names(const Batch& batch);
  Result<void> add_machines(const Batch& batch);
  Result<void> add_labels(const Batch& batch, std::span<const SessionRecord> sessions,
                          const std::vector<bool>& is_new);
  Result<void> add_points(const Batch& batch, std::span<const SessionRecord> sessions,
                          const std::vector<bool>& is_new, std::int64_t added_before);

  Database& database_;
  std::set<std::int64_t> known_{};  ///< ids that are committed in the database
};

/// Reads the session in `file`. The error is a predicate of it.
Result<SessionRecord> record_in(const std::string& file);

/// The result of adding files.
struct Added {
  std::size_t sessions = 0;
  std::size_t there = 0;  ///< already
  std::size_t bad = 0;
};

/// Adds files a batch at a time.
class Adder {
 public:
  /// `report_bad` is called for each file that cannot be read; the others are added.
  Adder(Database& database, std::function<void(const Error&)> report_bad)
      : store_(database), report_bad_(std::move(report_bad)) {}

  /// Adds `files`. The error is a predicate of the database; what was added before it stays.
  Result<Added> add(std::span<const std::string> files);

 private:
  Result<void> take(const std::string& file, Result<SessionRecord> record);
  Result<void> flush();

  Store store_;
  std::function<void(const Error&)> report_bad_;
  std::vector<SessionRecord> batch_{};
  std::size_t points_ = 0;  // in the batch
  std::size_t files_ = 0;
  Added added_{};
};

/// Selects what "forget" deletes; exactly one is set.
struct Forgotten {
  std::string session{};  ///< a UUID, or the beginning of one
  std::string commit{};   ///< likewise
  std::string before{};   ///< a date: sessions that began before it
};

/// Deletes sessions; returns their number.
Result<std::size_t> forget(Database& database, const Forgotten& what);

/// Stores a note for a step, so that it is no longer an alarm.
Result<void> acknowledge(Database& database, std::int64_t variant, const std::string& metric,
                         std::int64_t began, const std::string& note);

}  // namespace lauka::history
