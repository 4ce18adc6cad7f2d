#pragma once

#include "core/result.h"
#include "history/database.h"
#include "history/record.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka::history {

/// A command that was measured again and again on one class of machines.
struct Variant {
  std::int64_t id = 0;
  std::string benchmark{};
  std::string role{};
  std::string command{};
  std::string machine_class{};
  Machine machine{};
};

/// One session's values of one metric of a variant.
struct SeriesPoint {
  std::int64_t began = 0;    ///< milliseconds since 1970
  std::int64_t added = 0;    ///< position in the order of adding
  std::int64_t session = 0;  ///< lauka_session.id
  std::string uuid{};        ///< session's UUID; empty unless Wanted asks for it
  std::string commit{};      ///< commit, with "+dirty" if the tree was; empty: unknown
  std::string branch{};
  std::string anchor{};  ///< anchor of the ratio; empty: none or unknown
  MetricRecord values{};
  Endings endings{};        ///< endings of the session's runs; empty if no run failed
  double link_error = 0.0;  ///< standard error of the chain to `to_anchor`, shared by all points
};

/// The values of one metric of a variant, from session to session, on one class of machines.
struct MetricHistory {
  Variant variant{};
  MetricRecord metric{};              ///< metric with its latest name, unit and direction
  std::vector<SeriesPoint> points{};  ///< points in the order measured
  std::size_t unchained = 0;          ///< number of points whose anchor has no link
};

/// A selection of a history; empty members select everything.
struct Wanted {
  std::string benchmark{};
  std::vector<std::string> metrics{};  ///< empty: the usual one; "all": each
  std::string role{};
  std::string machine{};  ///< class, or its beginning
  std::string branch{};
  std::string commit{};      ///< variants that were measured at it
  bool only_commit = false;  ///< true: no other points than that commit's
  bool uuids = false;        ///< each point has the UUID of its session
  std::size_t last = 1000;   ///< most sessions of each series
};

/// Returns the wanted metric histories of one session alone: one point each.
std::vector<MetricHistory> make_histories(const SessionRecord& session, const Wanted& wanted);

/// The commit of a session, with "+dirty" where its tree was.
std::string commit_of(const SessionRecord& session);

/// A session in a line.
struct SessionLine {
  std::int64_t began = 0;
  std::string uuid{};
  std::string commit{};
  std::string branch{};
  std::string host{};
  std::string machine_class{};
  std::size_t results = 0;
  bool complete = true;
};

/// Queries a database; it caches names.
class Loader {
 public:
  explicit Loader(Database& database) : database_(database) {}

  /// Returns the latest sessions, newest first. `commit`: only that one's.
  Result<std::vector<SessionLine>> sessions(std::size_t last, const std::string& commit);

  /// Returns the wanted variants, by benchmark, role and command; an error if nothing matches.
  Result<std::vector<Variant>> variants(const Wanted& wanted);

  /// Returns the histories of the wanted metrics of a variant. Ratios to older anchors become
  /// ratios to the newest one if a session had both; else they are left out.
  Result<std::vector<MetricHistory>> series(const Variant& variant, const Wanted& wanted);

  /// Returns the notes of acknowledged steps, by the start of a step's later side.
  Result<std::map<std::int64_t, std::string>> acknowledged(std::int64_t variant,
                                                           const std::string& metric);

 private:
  /// Returns the refusal if a benchmark has no variant; `roles` are the existing ones.
  Error no_variant(const Wanted& wanted, const std::set<std::string>& roles);
  Result<void> learn(const std::set<std::int64_t>& names);
  const std::string& name(std::int64_t id) const;
  Result<void> chain_anchors(std::vector<MetricHistory>& all);

  Database& database_;
  std::map<std::int64_t, std::string> names_{{0, ""}};
  std::map<std::int64_t, std::vector<MetricRecord>> layouts_{};
};

/// Adds sessions to a database, many at once: each whole, or not at all.
class Store {
 public:
  explicit Store(Database& database) : database_(database) {}

  /// Adds the sessions that are missing, in one transaction; returns their number. On an error
  /// none was added.
  Result<std::size_t> add(std::span<const SessionRecord> sessions);

 private:
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
  Result<void> add_file(const std::string& file, Result<SessionRecord> record);
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
  std::string commit{};   ///< hash of a commit, or its beginning
  std::string
      before{};  ///< date, "2026-11-22": sessions that began earlier; empty: another member selects
};

/// Deletes sessions; returns their number.
Result<std::size_t> forget(Database& database, const Forgotten& what);

/// Stores a note for a step, so that it is no longer an alarm.
Result<void> acknowledge(Database& database, std::int64_t variant, const std::string& metric,
                         std::int64_t began, const std::string& note);

}  // namespace lauka::history
