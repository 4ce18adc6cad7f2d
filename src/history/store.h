#pragma once

#include "core/result.h"
#include "history/database.h"
#include "history/record.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::history {

/// Puts sessions into a database, many at once: each is in it whole, or not at all.
class Store {
 public:
  explicit Store(Database& database) : database_(database) {}

  /// Adds those that are not there yet, in one transaction; the number of them. An error: none of
  /// them was added.
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
  std::set<std::int64_t> known_{};  ///< names that are in the database for good
};

/// What "forget" takes away; exactly one is set.
struct Forgotten {
  std::string session{};  ///< a UUID, or what one begins with
  std::string commit{};   ///< likewise
  std::string before{};   ///< a date: sessions that began before it
};

/// How many sessions were taken away.
Result<std::size_t> forget(Database& database, const Forgotten& what);

/// Keeps a note to a step, so that it is no alarm any more.
Result<void> acknowledge(Database& database, std::int64_t variant, const std::string& metric,
                         std::int64_t began, const std::string& note);

}  // namespace lauka::history
