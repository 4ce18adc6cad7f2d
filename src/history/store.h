#pragma once

#include "core/result.h"
#include "history/database.h"
#include "history/session_record.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace lauka::history {

struct AnchorRatio;

/// A command that was measured on one class of machines.
struct MeasuredCommand {
  std::int64_t id = 0;
  std::string benchmark{};
  std::string role{};
  std::string command{};
  std::string machine_class{};
  Machine machine{};
};

struct SessionPoint {
  std::int64_t began = 0;  ///< start of the session in milliseconds since 1970
  /// Number that grows in the order in which sessions were added; 0 if unknown.
  std::int64_t order_added = 0;
  std::int64_t session_row_id = 0;  ///< id in the table lauka_session; 0 without a database
  std::string uuid{};
  /// Commit, with "+dirty" if there were uncommitted changes; empty if unknown.
  std::string commit{};
  std::string branch{};
  /// Name of the command with which `values.ratio_to_anchor` compares; may be empty.
  std::string anchor{};
  MetricRecord values{};
  Endings endings{};
  double link_error = 0.0;  ///< standard error that the conversion of `values.ratio_to_anchor` to
                            ///< the newest anchor added; 0 if not converted
};

struct MetricHistory {
  MeasuredCommand variant{};
  MetricRecord metric{};  ///< name, unit and latest direction; other members are unused
  std::vector<SessionPoint> points{};
  /// How the metric was measured, if other series of the command measured it in another way:
  /// "sampling period 200us"; else empty.
  std::string method_text{};
  std::size_t removed_anchor_ratios = 0;  ///< number of points whose ratio to an anchor was
                                          ///< removed, because it could not be converted to a ratio
                                          ///< to the newest anchor
};

/// A selection from a history. An empty member, except `metrics` and `role`, does not restrict the
/// selection.
struct SeriesSelection {
  std::string benchmark{};
  std::vector<std::string> metrics{};  ///< names of metrics, or "all"; empty: wall_time or, if it
                                       ///< was not measured, the first metric
  std::string role{};  ///< role in a suite; empty: candidate if there is one; "all": every role
  std::string machine_class_prefix{};  ///< class of machines, or its first characters
  std::string branch{};
  std::string commit{};  ///< commit at which the commands were measured, or its beginning
  bool drops_other_commits = false;  ///< true: only points of `commit`
  bool reads_uuids = false;
  /// Largest number of sessions in a series; older sessions are left out.
  std::size_t max_sessions = 1000;
};

/// Returns the series of one session; each series has one point. Ignores members of `wanted` other
/// than `metrics` and `role`.
std::vector<MetricHistory> make_histories(const SessionRecord& session,
                                          const SeriesSelection& wanted);

/// Returns the commit of a session, with "+dirty" if there were uncommitted changes; empty if
/// unknown.
std::string commit_of(const SessionRecord& session);

struct SessionLine {
  std::int64_t began = 0;
  std::string uuid{};
  std::string commit{};
  std::string branch{};
  std::string host{};
  std::string machine_class{};
  std::size_t result_count = 0;
  bool complete = true;
};

/// A history that goes on on another class of machines, because something of the machine changed.
struct HistorySplit {
  MeasuredCommand older{};
  MeasuredCommand newer{};
  std::int64_t began = 0;  ///< start of the first session of `newer`, in milliseconds since 1970
  /// What changed; empty if only what older sessions do not record tells the machines apart.
  std::vector<SettingDifference> differences{};
  std::size_t benchmark_count = 1;  ///< number of commands with the same split
};

class Loader {
 public:
  explicit Loader(Database& database) : database_(database) {}

  /// Returns at most `max_count` sessions, the newest first. An empty `commit` means all commits.
  Result<std::vector<SessionLine>> load_latest_sessions(std::size_t max_count,
                                                        const std::string& commit);

  /// Returns the wanted commands, ordered by benchmark, role, command and class of machines.
  /// Returns an error if no command matches.
  Result<std::vector<MeasuredCommand>> load_variants(const SeriesSelection& wanted);

  /// Returns a series for each wanted metric of a command. Converts ratios to other anchors into
  /// ratios to the newest anchor; removes ratios that cannot be converted.
  Result<std::vector<MetricHistory>> load_series(const MeasuredCommand& variant,
                                                 const SeriesSelection& wanted);

  /// Returns the splits of the wanted histories: commands whose sessions on one class of machines
  /// all follow those on another, which has the same processor. One split for each pair of classes.
  Result<std::vector<HistorySplit>> find_splits(const SeriesSelection& wanted);

  /// Returns the notes of acknowledged steps, by the start of the first session after the step (in
  /// milliseconds since 1970).
  Result<std::map<std::int64_t, std::string>> read_acknowledgements(std::int64_t variant_id,
                                                                    const std::string& metric);

 private:
  /// Returns the known benchmarks with a name like this one.
  std::vector<std::string> find_similar_benchmarks(const std::string& name);
  /// `other_roles`: the roles in which the wanted benchmark was measured.
  Error make_no_variant_error(const SeriesSelection& wanted,
                              const std::set<std::string>& other_roles);
  /// Reads the texts with these ids, as far as they are not known yet, for find_name().
  Result<void> load_names(const std::set<std::int64_t>& ids);
  /// Returns the text with this id; empty if the database lacks it.
  const std::string& find_name(std::int64_t id) const;
  /// Returns the metrics of the layout with this id, without their values. A layout lists the
  /// metrics whose values follow one another in a point.
  const std::vector<MetricRecord>& find_layout(std::int64_t id);
  /// Returns the point in a row of lauka_point, without the values of the metric and the endings.
  SessionPoint make_point(const Row& row, const MetricRecord& metric) const;
  /// Returns the series of the wanted metrics in rows of lauka_point, which are those of a variant.
  std::vector<MetricHistory> make_series(const std::vector<Row>& rows,
                                         const MeasuredCommand& variant,
                                         const std::vector<std::string>& wanted_metrics);
  /// Returns the ratios of a metric between anchors, from rows of lauka_point whose names are
  /// loaded.
  std::vector<AnchorRatio> read_ratios_between_anchors(const std::vector<Row>& rows,
                                                       const std::string& metric) const;
  /// Converts the ratios of each series into ratios to the series' newest anchor. All series must
  /// be of one command on one class of machines.
  Result<void> convert_to_newest_anchors(std::vector<MetricHistory>& series_of_variant);

  Database& database_;
  std::map<std::int64_t, std::string> names_{{0, ""}};  // by id; an empty text has the id 0
  std::map<std::int64_t, std::vector<MetricRecord>> metric_lists_by_id_{};
};

class Store {
 public:
  explicit Store(Database& database) : database_(database) {}

  /// Adds the sessions that the database lacks, in one transaction. Returns the number of added
  /// sessions.
  Result<std::size_t> add(std::span<const SessionRecord> sessions);

  /// See AddResult::new_because_of_settings.
  const std::map<std::string, std::string>& new_because_of_settings() const {
    return new_because_of_settings_;
  }

 private:
  Database& database_;
  Result<void> note_new_because_of_settings(std::span<const SessionRecord> sessions);

  std::set<std::int64_t> shared_row_ids_already_written_{};
  std::map<std::string, std::string> new_because_of_settings_{};
};

/// Reads the session in `file`. The error is a predicate; the caller adds the subject.
Result<SessionRecord> read_session_file(const std::string& file);

struct AddResult {
  std::size_t added_sessions = 0;
  std::size_t already_stored = 0;  ///< number of sessions not added, because the database or an
                                   ///< earlier file had them
  std::size_t refused_files = 0;
  /// Benchmarks, with their settings, that the database got because of other settings than usual,
  /// by the name without settings.
  std::map<std::string, std::string> new_because_of_settings{};
};

/// Adds the sessions in `files`, and calls `report_bad_file` for each refused file. The error is a
/// predicate about the database; the caller adds the subject. Sessions that were added before the
/// error stay.
Result<AddResult> add_files(Database& database, std::span<const std::string> files,
                            const std::function<void(const Error&)>& report_bad_file);

/// The sessions to delete. Exactly one member must be set. `session` is a UUID or its beginning,
/// `commit` a commit or its beginning.
struct ForgetRequest {
  std::string session{};
  std::string commit{};
  /// Date or time in UTC, such as "2026-11-22"; earlier sessions are deleted.
  std::string before_date{};
};

/// Deletes sessions and returns their number. Returns an error if no session matches, or if several
/// sessions match ForgetRequest::session.
Result<std::size_t> forget(Database& database, const ForgetRequest& request);

/// A user's note about a step of a series.
struct StepNote {
  std::int64_t variant = 0;  ///< MeasuredCommand::id
  std::string metric{};
  std::int64_t began = 0;  ///< start of the first session after the step, in ms since 1970
  std::string text{};
};

/// Stores a note; replaces an earlier note about the step.
Result<void> acknowledge(Database& database, const StepNote& note);

}  // namespace lauka::history
