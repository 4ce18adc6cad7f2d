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

/// A command that was measured repeatedly on one class of machines.
struct Variant {
  std::int64_t id = 0;
  std::string benchmark{};
  std::string role{};
  std::string command{};
  std::string machine_class{};
  Machine machine{};
};

/// One metric of a variant in one session.
struct SeriesPoint {
  std::int64_t began = 0;  ///< milliseconds since 1970
  std::int64_t added =
      0;  ///< position of the session in the order in which sessions were added; 0: unknown
  std::int64_t session = 0;  ///< id in the database's table lauka_session
  std::string uuid{};        ///< UUID of the session; empty unless Wanted::uuids is set
  std::string
      commit{};  ///< hash of the commit, with "+dirty" for uncommitted changes; empty: unknown
  std::string branch{};
  std::string
      anchor{};  ///< name of the anchor that `values.to_anchor` refers to; empty: none or unknown
  MetricRecord values{};
  Endings endings{};  ///< endings of the session's runs; empty if no run failed
  double link_error =
      0.0;  ///< standard error of the links by which `values.to_anchor` became a ratio to
            ///< the newest anchor; shared by all points with the same links
};

/// The history of one metric of a variant, from commit to commit.
struct MetricHistory {
  Variant variant{};
  MetricRecord metric{};              ///< latest name, unit and direction of the metric
  std::vector<SeriesPoint> points{};  ///< points in the order measured
  std::size_t unchained = 0;  ///< number of points left out of ratios, because no link leads from
                              ///< their anchor to the newest
};

/// A selection from a history; empty members select everything, but empty `metrics` and `role` the
/// usual one.
struct Wanted {
  std::string benchmark{};
  std::vector<std::string>
      metrics{};          ///< metrics' names; empty: the usual one; "all": every metric
  std::string role{};     ///< empty: the usual one; "all": every role
  std::string machine{};  ///< hash of a class of machines, or its beginning
  std::string branch{};
  std::string commit{};      ///< selects variants that were measured at this commit
  bool only_commit = false;  ///< true: selects only points of that commit
  bool uuids = false;        ///< true: fills SeriesPoint::uuid
  std::size_t last = 1000;   ///< largest number of sessions in a series, the newest ones
};

/// Returns the wanted series of a single session, each with one point.
std::vector<MetricHistory> make_histories(const SessionRecord& session, const Wanted& wanted);

/// Returns the commit of a session, with "+dirty" if there were uncommitted changes; empty:
/// unknown.
std::string commit_of(const SessionRecord& session);

/// A session in the list of `lauka-history list`.
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

/// Reads a history from a database, and caches the names in it.
class Loader {
 public:
  explicit Loader(Database& database) : database_(database) {}

  /// Returns the latest `last` sessions, the newest first. `commit`: only sessions of this commit;
  /// empty: all.
  Result<std::vector<SessionLine>> sessions(std::size_t last, const std::string& commit);

  /// Returns the wanted variants, ordered by benchmark, role, command and class of machines. It is
  /// an error if nothing matches.
  Result<std::vector<Variant>> variants(const Wanted& wanted);

  /// Returns a variant's series, one for each wanted metric and its unit. Converts ratios to older
  /// anchors into ratios to the newest anchor if sessions link the two, and else leaves them out.
  Result<std::vector<MetricHistory>> series(const Variant& variant, const Wanted& wanted);

  /// Returns the notes of acknowledged steps, by the start (milliseconds since 1970) of the first
  /// session after the step.
  Result<std::map<std::int64_t, std::string>> acknowledged(std::int64_t variant,
                                                           const std::string& metric);

 private:
  /// Returns the error for a benchmark without wanted variants; `roles` are the roles that exist.
  Error no_variant(const Wanted& wanted, const std::set<std::string>& roles);
  Result<void> learn(const std::set<std::int64_t>& names);
  const std::string& name(std::int64_t id) const;
  Result<void> chain_anchors(std::vector<MetricHistory>& all);

  Database& database_;
  std::map<std::int64_t, std::string> names_{{0, ""}};
  std::map<std::int64_t, std::vector<MetricRecord>> layouts_{};
};

/// Adds sessions to a database in batches; each session completely, or not at all.
class Store {
 public:
  explicit Store(Database& database) : database_(database) {}

  /// Adds, in one transaction, the sessions that the database lacks. Returns their number. On an
  /// error, none is added.
  Result<std::size_t> add(std::span<const SessionRecord> sessions);

 private:
  Database& database_;
  std::set<std::int64_t> known_{};  ///< ids that are in the database
};

/// Reads the session in `file`. The error is a predicate; the caller adds the subject.
Result<SessionRecord> record_in(const std::string& file);

/// The result of adding files.
struct AddResult {
  std::size_t sessions = 0;
  std::size_t there = 0;  ///< number of sessions that the database already had, or an earlier file
  std::size_t bad = 0;    ///< number of files that could not be read
};

/// Adds files in batches.
class Adder {
 public:
  /// `report_bad` is called for each file that cannot be read; the other files are added.
  Adder(Database& database, std::function<void(const Error&)> report_bad)
      : store_(database), report_bad_(std::move(report_bad)) {}

  /// Adds `files`. The error, about the database, is a predicate; the caller adds the subject.
  /// Files that were added before the error stay.
  Result<AddResult> add(std::span<const std::string> files);

 private:
  Result<void> add_file(const std::string& file, Result<SessionRecord> record);
  Result<void> flush();

  Store store_;
  std::function<void(const Error&)> report_bad_;
  std::vector<SessionRecord> batch_{};
  std::size_t points_ = 0;  // number of points in the batch
  std::size_t files_ = 0;
  AddResult added_{};
};

/// The sessions that `lauka-history forget` deletes; exactly one member is set.
struct ForgetRequest {
  std::string session{};  ///< UUID, or its beginning
  std::string commit{};   ///< hash of a commit, or its beginning
  std::string
      before{};  ///< date or time, UTC, such as "2026-11-22": deletes sessions that began earlier
};

/// Deletes sessions and returns their number. It is an error if none matches, or if several begin
/// with ForgetRequest::session.
Result<std::size_t> forget(Database& database, const ForgetRequest& what);

/// Stores a note about a step, in place of an earlier note; the step is then no longer an alarm.
/// `began`: start of the first session after the step, in milliseconds since 1970.
Result<void> acknowledge(Database& database, std::int64_t variant, const std::string& metric,
                         std::int64_t began, const std::string& note);

}  // namespace lauka::history
