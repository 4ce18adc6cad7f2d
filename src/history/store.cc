#include "history/store.h"

#include "core/numbers.h"
#include "core/text.h"
#include "format/session_json.h"
#include "history/trend.h"
#include "os/files.h"
#include "session/setting_values.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <future>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

// Uses few statements with many rows, because each statement is a round trip to the database. Rows
// are written in ascending order, and tables in a fixed order, so that two writers of the same rows
// wait for each other without a deadlock.

namespace lauka::history {

namespace {

/// Longer lists of ids are asked for in several queries, so that no query becomes too long.
constexpr std::size_t kMaxIdsOfQuery = 2000;

/// Returns the integer in a column of a row. NULL is an empty text there, and gives 0.
std::int64_t integer_in(const std::string& text) {
  return std::strtoll(text.c_str(), nullptr, 10);
}

/// Returns a subquery for the text whose id is in `column`, because tables have ids for texts.
std::string make_text_subquery(std::string_view column) {
  return fmt::format("(SELECT text FROM lauka_name WHERE id = {})", column);
}

/// A subquery for the class of machines, in a query of a table with a column `machine`.
constexpr std::string_view kMachineClassSubquery =
    "(SELECT class FROM lauka_machine WHERE id = machine)";

/// Returns the indexes, in `metrics`, of the metrics that the user wants to see. `wanted_names`:
/// what the user typed, names or "all"; empty if the user typed none.
std::vector<std::size_t> find_wanted_metrics(const std::vector<MetricRecord>& metrics,
                                             const std::vector<std::string>& wanted_names) {
  std::vector<std::size_t> wanted_indexes;
  const auto add_metrics_named = [&](std::string_view name_or_all) {
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const bool is_named = name_or_all == "all" || metrics[i].name == name_or_all;
      const bool is_new = std::ranges::find(wanted_indexes, i) == wanted_indexes.end();
      if (is_named && is_new) wanted_indexes.push_back(i);
    }
  };

  for (const std::string& name : wanted_names) add_metrics_named(name);

  // The run time is what most users want. If it was not measured, the first metric takes its place.
  if (wanted_names.empty()) {
    add_metrics_named(metric_name_of(Role::WallTime));
    if (wanted_indexes.empty() && !metrics.empty()) wanted_indexes.push_back(0);
  }
  return wanted_indexes;
}

/// Returns the role that is shown if the user does not ask for one: the first of these roles that a
/// command has.
std::string choose_usual_role(const std::vector<MeasuredCommand>& variants) {
  for (const std::string_view role : {"candidate", "", "reference", "anchor"})
    for (const MeasuredCommand& variant : variants)
      if (variant.role == role) return std::string(role);
  return {};
}

bool has_at_most_one_anchor(const MetricHistory& series) {
  std::set<std::string_view> anchors;
  for (const SessionPoint& point : series.points)
    if (point.values.ratio_to_anchor) anchors.insert(point.anchor);
  return anchors.size() < 2;
}

/// Reads a metric's ratio to the anchor from the columns `layout` and `numbers` of a point; nullopt
/// if the point has no such ratio.
std::optional<LogRatio> decode_ratio_to_anchor(std::string_view metric_name,
                                               std::string_view layout, std::string_view numbers) {
  auto metrics = decode_metric_names(layout);
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (metrics[i].name == metric_name && decode_values(metrics[i], i, numbers))
      return metrics[i].ratio_to_anchor;
  return std::nullopt;
}

/// Returns the anchor of the newest session that has one; empty if none has. The points are in the
/// order of their sessions.
std::string find_newest_anchor(const MetricHistory& series) {
  std::string newest_anchor;
  for (const SessionPoint& point : series.points)
    if (!point.anchor.empty()) newest_anchor = point.anchor;
  return newest_anchor;
}

/// Converts the ratios of a series into ratios to its newest anchor. An anchor is an old build that
/// sessions measure for comparison. Without the conversion, a change of the anchor would look like
/// a change of the command.
void convert_to_newest_anchor(MetricHistory& series,
                              std::span<const AnchorRatio> ratios_between_anchors) {
  const std::string newest_anchor = find_newest_anchor(series);
  const auto ratio_to_newest_by_anchor = ratios_to_anchor(newest_anchor, ratios_between_anchors);
  for (SessionPoint& point : series.points) {
    auto& ratio = point.values.ratio_to_anchor;
    const bool needs_conversion = ratio && point.anchor != newest_anchor;
    if (!needs_conversion) continue;

    // The ratio cannot be converted if no measured ratios lead from its anchor to the newest one.
    const auto found = ratio_to_newest_by_anchor.find(point.anchor);
    if (found == ratio_to_newest_by_anchor.end()) {
      ratio.reset();
      ++series.removed_anchor_ratios;
      continue;
    }

    // Ratios are logarithms, so they are added: command / anchor and anchor / newest. The error
    // that the conversion adds is kept apart.
    const LogRatio& anchor_to_newest = found->second;
    ratio->value += anchor_to_newest.value;
    point.link_error = anchor_to_newest.error.value_or(0.0);
    point.anchor = newest_anchor;
  }
}

/// Returns the latest series of the metric in `all` that measured it in the same way, as far as
/// both are known; adds a series if there is none.
MetricHistory& find_or_add_comparable_series(const MetricRecord& metric,
                                             std::vector<MetricHistory>& all,
                                             const MeasuredCommand& variant) {
  const auto is_comparable = [&](const MetricHistory& series) {
    return series.metric.name == metric.name && series.metric.unit == metric.unit &&
           find_differences(series.metric.method, metric.method).empty();
  };
  const auto found = std::find_if(all.rbegin(), all.rend(), is_comparable);
  if (found != all.rend()) return *found;
  return all.emplace_back(MetricHistory{.variant = variant});
}

/// Returns what tells the method of `series` from those of other series of its metric.
std::string describe_distinguishing_method(const MetricHistory& series,
                                           const std::vector<MetricHistory>& all) {
  std::vector<std::string> parts;
  for (const MetricHistory& other : all) {
    if (other.metric.name != series.metric.name || other.metric.unit != series.metric.unit)
      continue;
    for (const SettingDifference& difference :
         find_differences(other.metric.method, series.metric.method)) {
      std::string part =
          fmt::format("{} {}", row_of(difference.kind).title, difference.candidate_value);
      if (std::ranges::find(parts, part) == parts.end()) parts.push_back(std::move(part));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool are_of_one_command(const MeasuredCommand& a, const MeasuredCommand& b) {
  return std::tie(a.benchmark, a.role, a.command) == std::tie(b.benchmark, b.role, b.command);
}

/// The time from the first to the last session of a command on a class of machines.
struct Period {
  const MeasuredCommand* variant = nullptr;
  std::int64_t first_began = 0;  ///< start of the first session, in milliseconds since 1970
  std::int64_t last_began = 0;   ///< start of the last session
};

/// Returns when each of `variants` was measured, by a single query. The periods refer to
/// `variants`.
Result<std::vector<Period>> ask_for_periods(Database& database,
                                            std::span<const MeasuredCommand> variants) {
  std::vector<std::int64_t> ids;
  for (const MeasuredCommand& variant : variants) ids.push_back(variant.id);

  enum Column : std::size_t { VariantId, FirstBegan, LastBegan, ColumnCount };
  const std::string query = fmt::format(
      "SELECT variant, MIN(began), MAX(began) FROM lauka_point WHERE variant IN ({}) "
      "GROUP BY variant",
      fmt::join(ids, ","));

  std::vector<Period> periods;
  const auto add_period = [&](const Row& row) {
    // The query returns only ids of `variants`, so find() succeeds.
    const MeasuredCommand& variant =
        *std::ranges::find(variants, integer_in(row[VariantId]), &MeasuredCommand::id);
    periods.push_back({.variant = &variant,
                       .first_began = integer_in(row[FirstBegan]),
                       .last_began = integer_in(row[LastBegan])});
  };
  constexpr std::span<const std::string> no_parameters{};
  if (auto asked = database.for_each_row(query, ColumnCount, no_parameters, add_period); !asked)
    return asked.error();
  return periods;
}

/// Returns when each of `variants` was measured, in the order of the first sessions. A variant is a
/// command on a class of machines, and has at least one session.
Result<std::vector<Period>> read_periods(Database& database,
                                         std::span<const MeasuredCommand> variants) {
  std::vector<Period> periods;

  // A query asks for a limited number of variants, so that it does not become too long.
  for (std::size_t i = 0; i < variants.size(); i += kMaxIdsOfQuery) {
    const auto asked_variants = variants.subspan(i, std::min(kMaxIdsOfQuery, variants.size() - i));
    const auto periods_of_asked = ask_for_periods(database, asked_variants);
    if (!periods_of_asked) return periods_of_asked.error();
    periods.insert(periods.end(), periods_of_asked->begin(), periods_of_asked->end());
  }

  std::ranges::sort(periods, {}, &Period::first_began);
  return periods;
}

/// True if a machine may come to differ in this setting by an update, or by the system's settings.
bool may_be_updated(const SettingDifference& difference) {
  switch (difference.kind) {
    case SettingKind::Kernel:
    case SettingKind::Governor:
    case SettingKind::Microcode:
    case SettingKind::Tuning:
    case SettingKind::AllowedCpus:
    case SettingKind::CpuQuota:
    case SettingKind::MemoryLimit:
    case SettingKind::ProcessorFeatures:  // a new kernel may hide features
      return true;
    default:
      return false;
  }
}

/// Returns the split between two periods of a command; nullopt if no update explains that the
/// classes of machines differ, so that they are two machines.
std::optional<HistorySplit> find_split(const Period& older, const Period& newer) {
  // Machines that were used at the same time are two machines, not one that was updated.
  const bool overlap = newer.first_began <= older.last_began;
  if (overlap) return std::nullopt;

  // A difference that no update makes, such as another processor, means another machine.
  auto differences = find_differences(settings_of_session({.machine = older.variant->machine}),
                                      settings_of_session({.machine = newer.variant->machine}));
  const bool may_be_same_machine = std::ranges::all_of(differences, may_be_updated);
  if (!may_be_same_machine) return std::nullopt;

  return HistorySplit{.older = *older.variant,
                      .newer = *newer.variant,
                      .began = newer.first_began,
                      .differences = std::move(differences)};
}

/// Adds a split. An update splits the histories of many commands, but the user is told only once,
/// so further splits by the same update are only counted.
void add_or_count_split(HistorySplit split, std::vector<HistorySplit>& splits) {
  const auto split_by_same_update = std::ranges::find_if(splits, [&](const HistorySplit& other) {
    return other.older.machine_class == split.older.machine_class &&
           other.newer.machine_class == split.newer.machine_class;
  });
  if (split_by_same_update == splits.end()) {
    splits.push_back(std::move(split));
    return;
  }
  ++split_by_same_update->benchmark_count;
  split_by_same_update->began = std::min(split_by_same_update->began, split.began);
}

/// Finds where an update of a machine, such as a new kernel, has split the history of a command.
/// The updated machine counts as another class of machines, so the history goes on as another
/// series. `periods`: when the command was measured on each class, in the order of time.
void add_splits(std::span<const Period> periods, std::vector<HistorySplit>& splits) {
  for (std::size_t i = 1; i < periods.size(); ++i)
    if (auto split = find_split(periods[i - 1], periods[i]))
      add_or_count_split(*std::move(split), splits);
}

constexpr std::size_t kMaxTextsOfStatement = 500;
constexpr std::size_t kMaxBytesOfStatement = std::size_t{256} * 1024;

/// Inserts rows into a table, many with one statement. Rows that the table has already stay as they
/// are.
class RowInserter {
 public:
  /// `table`: the table with its columns, such as "lauka_name (id, text)".
  RowInserter(Database& database, std::string_view table)
      : database_(database), statement_begin_(fmt::format("INSERT INTO {} VALUES ", table)) {}

  /// Adds a row of numbers, such as "(1,2)".
  void add(const std::string& row) {
    rows_ += (rows_.empty() ? "" : ",") + row;
    if (texts_.size() >= kMaxTextsOfStatement || rows_.size() >= kMaxBytesOfStatement) send();
  }

  /// Adds a row with :t in the place of a text, such as "(1,:t)". The text becomes a parameter of
  /// the statement, because it comes from outside and may look like SQL.
  void add_with_text(std::string row, const std::string& text) {
    constexpr std::string_view placeholder = ":t";
    row.replace(row.find(placeholder), placeholder.size(), fmt::format(":t{}", texts_.size()));
    texts_.push_back(text);
    add(row);
  }

  /// Sends the rows that were not sent yet. Returns the first error of all statements; after an
  /// error, no further rows are sent.
  Result<void> finish() {
    send();
    return sent_;
  }

 private:
  void send() {
    if (sent_ && !rows_.empty())
      sent_ = database_.run(statement_begin_ + rows_ + " ON CONFLICT DO NOTHING", texts_);
    rows_.clear();
    texts_.clear();
  }

  Database& database_;
  std::string statement_begin_;
  std::string rows_{};
  std::vector<std::string> texts_{};
  Result<void> sent_{};
};

std::int64_t to_milliseconds(UtcTime time) {
  return time.time_since_epoch().count();
}

/// Returns the ids of the measured commits that begin with `beginning`; none if it is so short that
/// it would match many commits by chance.
Result<std::vector<std::int64_t>> find_commits_that_begin_with(Database& database,
                                                               const std::string& beginning) {
  std::vector<std::int64_t> ids;
  constexpr std::size_t min_length_of_beginning = 4;
  if (beginning.size() < min_length_of_beginning) return ids;

  enum Column : std::size_t { Id, Text, ColumnCount };
  const auto rows = database.ask(
      "SELECT id, text FROM lauka_name WHERE text LIKE :t0 AND EXISTS "
      "(SELECT 1 FROM lauka_session WHERE commit_name = lauka_name.id)",
      ColumnCount, std::vector{beginning + "%"});
  if (!rows) return rows.error();

  // LIKE takes '_' and '%' for wildcards, and ignores case in SQLite, so it may find too much.
  for (const Row& row : *rows)
    if (row[Text].starts_with(beginning)) ids.push_back(integer_in(row[Id]));
  return ids;
}

/// Returns an SQL condition that restricts a query to one commit. The condition is for the column
/// commit_name, which the tables lauka_session and lauka_point have. `commit`: what the user typed,
/// a commit or its beginning. Returns an error if no commit or several commits match.
Result<std::string> make_commit_filter(Database& database, const std::string& commit) {
  // If the user typed the whole commit, its id is known, because it is a hash of the commit.
  const std::string filter_of_whole_commit = fmt::format("commit_name = {}", text_id(commit));
  constexpr std::size_t column_count = 1;
  const auto one_session = database.ask(
      fmt::format("SELECT commit_name FROM lauka_session WHERE {} LIMIT 1", filter_of_whole_commit),
      column_count);
  if (!one_session) return one_session.error();
  if (!one_session->empty()) return filter_of_whole_commit;

  const auto ids = find_commits_that_begin_with(database, commit);
  if (!ids) return ids.error();
  if (ids->empty())
    return Error{"has no session of the commit " + cited(commit),
                 "run lauka-history list to see all sessions"};
  if (ids->size() > 1)
    return Error{"has several commits that begin with " + cited(commit),
                 "write more of the commit"};
  return fmt::format("commit_name = {}", ids->front());
}

/// Returns the SQL condition for the wanted points of a command in lauka_point.
Result<std::string> make_point_filter(Database& database, const MeasuredCommand& variant,
                                      const SeriesSelection& wanted) {
  std::string filter = fmt::format("variant = {}", variant.id);
  if (!wanted.branch.empty()) filter += fmt::format(" AND branch = {}", text_id(wanted.branch));
  if (!wanted.drops_other_commits || wanted.commit.empty()) return filter;
  const auto commit_filter = make_commit_filter(database, wanted.commit);
  return commit_filter ? filter + " AND " + *commit_filter : commit_filter;
}

Result<UtcTime> parse_date(const std::string& text) {
  const bool has_time = text.find('T') != std::string::npos;
  const std::string date_time = has_time ? text : text + "T00:00:00Z";
  const auto time = parse_utc_time(date_time);

  // The parser also takes other forms, such as an offset from UTC. A time that is written like what
  // was typed, with or without a fraction of a second, is a date.
  const auto whole_second = std::chrono::floor<std::chrono::seconds>(time);
  const bool is_written_alike = rfc3339(time) == date_time || rfc3339(whole_second) == date_time;
  const bool has_date = std::ranges::count(text, '-') == 2;
  if (!has_date || time == UtcTime() || !is_written_alike)
    return Error{cited(text) + " is not a date", "write 2026-11-22 or 2026-11-22T18:00:00Z"};
  return time;
}

/// Returns the SQL condition for the sessions to delete. Appends the values of its parameters to
/// `parameter_texts`.
Result<std::string> make_forget_filter(Database& database, const ForgetRequest& what,
                                       std::vector<std::string>& parameter_texts) {
  if (!what.before_date.empty()) {
    const auto time = parse_date(what.before_date);
    if (!time) return time.error();
    return fmt::format("began < {}", to_milliseconds(*time));
  }
  if (!what.commit.empty()) return make_commit_filter(database, what.commit);

  // No UUID has these characters, which LIKE would take for wildcards.
  if (what.session.empty() || what.session.find_first_of("%_") != std::string::npos)
    return Error{"has no such session", "run lauka-history list to see all sessions"};
  parameter_texts.push_back(lower_case(what.session) + "%");
  return std::string("uuid LIKE :t0");
}

/// Deletes the sessions with these ids, such as "1,2,3", and what the database knows about them.
Result<void> delete_sessions_with_ids(Database& database, const std::string& ids) {
  for (const auto& [table, session_column] :
       {std::pair("lauka_point", "session"), std::pair("lauka_label", "session"),
        std::pair("lauka_session", "id")}) {
    auto deleted =
        database.run(fmt::format("DELETE FROM {} WHERE {} IN ({})", table, session_column, ids));
    if (!deleted) return deleted;
  }
  return {};
}

/// Deletes the sessions whose ids are the first columns of `rows`, with few and long statements.
Result<void> delete_sessions(Database& database, const std::vector<Row>& rows) {
  std::string ids;
  for (const Row& row : rows) {
    const std::string& id = row.front();
    ids += (ids.empty() ? "" : ",") + id;
    if (ids.size() < kMaxBytesOfStatement) continue;

    if (auto deleted = delete_sessions_with_ids(database, ids); !deleted) return deleted;
    ids.clear();
  }
  return ids.empty() ? Result<void>() : delete_sessions_with_ids(database, ids);
}

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30U;

// A batch that reaches one of these numbers is added to the database.
constexpr std::size_t kMaxSessionsOfBatch = 200;
constexpr std::size_t kMaxCommandsOfBatch = 4'000;

constexpr unsigned kMaxReaderThreads = 4;
constexpr std::size_t kFilesOfGroup = 16;  // a thread reads a group of files

/// The records in some files, or the errors of the files, in the order of the files.
using RecordGroup = std::vector<Result<SessionRecord>>;

RecordGroup read_records(std::span<const std::string> files) {
  RecordGroup records;
  records.reserve(files.size());
  for (const std::string& file : files) records.push_back(read_session_file(file));
  return records;
}

/// Begins to read files in another thread. If the system has no thread to spare, get() will read
/// them in the thread that calls it.
std::future<RecordGroup> begin_to_read(std::span<const std::string> files) {
  try {
    return std::async(std::launch::async, read_records, files);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, read_records, files);
  }
}

/// Reads the files, and passes the record of each, or its error, to `visit`. Other threads read
/// ahead, but the records come in the order of the files. Stops at the first error of `visit`, and
/// returns it.
Result<void> for_each_record(std::span<const std::string> files,
                             const std::function<Result<void>(Result<SessionRecord>)>& visit) {
  // A thread reads a group of files. While this thread visits the oldest group, each of the others
  // reads another one.
  const std::size_t reader_count =
      std::clamp(std::thread::hardware_concurrency(), 1U, kMaxReaderThreads);
  const std::size_t max_groups = reader_count + 1;
  std::deque<std::future<RecordGroup>> groups_being_read;

  std::size_t files_begun = 0;
  while (files_begun < files.size() || !groups_being_read.empty()) {
    while (files_begun < files.size() && groups_being_read.size() < max_groups) {
      const std::size_t group_size = std::min(kFilesOfGroup, files.size() - files_begun);
      groups_being_read.push_back(begin_to_read(files.subspan(files_begun, group_size)));
      files_begun += group_size;
    }

    RecordGroup oldest_group = groups_being_read.front().get();
    groups_being_read.pop_front();
    for (auto& record_or_error : oldest_group)
      if (auto visited = visit(std::move(record_or_error)); !visited) return visited;
  }
  return {};
}

/// What a row of lauka_point needs besides its session.
struct PointRow {
  std::int64_t variant_id = 0;
  std::size_t session_index = 0;  ///< index into Batch::records
  std::int64_t layout_id = 0;
  std::int64_t anchored_name_id = 0;  ///< text_id of CommandRecord::anchored_name
  std::int64_t anchor_name_id = 0;    ///< text_id of CommandRecord::anchor
  const CommandRecord* result = nullptr;
};

struct MachineRow {
  std::string machine_class{};
  std::int64_t parts_id = 0;  ///< id of the text of encode_machine
};

/// The rows of several sessions, which one transaction adds. Rows that several sessions share are
/// there once, by their ids.
struct Batch {
  std::span<const SessionRecord> records;
  std::int64_t last_order_added = 0;  ///< SessionPoint::order_added of the database's last session
  std::map<std::int64_t, std::string> text_by_id{};
  std::map<std::int64_t, MachineRow> machine_by_id{};
  std::map<std::int64_t, std::string> variant_row_by_id{};
  /// Index into `records`. add_sessions_and_drop_known() removes sessions that the database has.
  std::map<std::int64_t, std::size_t> session_index_by_id{};
  std::vector<std::int64_t> session_ids{};  ///< for each of `records`
  std::vector<PointRow> points{};

  /// Adds a text, and returns its id. An empty text has the id 0 and needs no row.
  std::int64_t add_text(const std::string& text) {
    const std::int64_t id = text_id(text);
    if (id != 0) text_by_id.emplace(id, text);
    return id;
  }

  /// Adds the text that names these metrics, and returns its id. Most commands have the metrics of
  /// the command before, so their text is not encoded again.
  std::int64_t add_layout(const std::vector<MetricRecord>& metrics) {
    const auto is_alike = [](const MetricRecord& a, const MetricRecord& b) {
      return a.name == b.name && a.unit == b.unit && a.better == b.better && a.method == b.method;
    };
    const bool is_known =
        last_metrics != nullptr && std::equal(metrics.begin(), metrics.end(), last_metrics->begin(),
                                              last_metrics->end(), is_alike);
    if (!is_known) last_layout_id = add_text(encode_metric_names(metrics));
    last_metrics = &metrics;
    return last_layout_id;
  }

  std::int64_t order_added_of(std::size_t session_index) const {
    return last_order_added + 1 + static_cast<std::int64_t>(session_index);
  }

  const std::vector<MetricRecord>* last_metrics = nullptr;
  std::int64_t last_layout_id = 0;
};

struct MachineClass {
  std::string name{};
  std::int64_t id = 0;  ///< id of the machine's row
};

/// Adds the row of a machine, which has its class and a text that describes its parts. Returns the
/// class.
MachineClass add_machine(Batch& batch, const Machine& machine) {
  MachineClass machine_class{.name = class_of(machine)};
  machine_class.id = text_id(machine_class.name);
  const std::int64_t parts_id = batch.add_text(encode_machine(machine));
  batch.machine_by_id.emplace(
      machine_class.id, MachineRow{.machine_class = machine_class.name, .parts_id = parts_id});
  return machine_class;
}

/// Adds the texts to which the rows of a session and of its labels refer.
void add_texts_of_session(Batch& batch, const SessionRecord& session) {
  for (const std::string& text :
       {session.machine.name, commit_of(session), session.label("branch"), session.version})
    batch.add_text(text);
  for (const Label& label : session.labels) {
    batch.add_text(label.key);
    batch.add_text(label.value);
  }
}

/// Adds the row of a variant, which is a command on a class of machines. Returns its id.
std::int64_t add_variant(Batch& batch, const CommandRecord& result,
                         const MachineClass& machine_class) {
  const std::int64_t variant_id = text_id(variant_key(result, machine_class.name));
  std::string variant_row = fmt::format(
      "({},{},{},{},{})", variant_id, batch.add_text(result.benchmark), batch.add_text(result.role),
      batch.add_text(result.shown_command_name), machine_class.id);
  batch.variant_row_by_id.emplace(variant_id, std::move(variant_row));
  return variant_id;
}

/// Adds to the batch the rows that the database will need for a session, unless the batch has the
/// same session already. Tables refer to texts by their ids, so the texts get rows, too.
void add_session_to_batch(Batch& batch, std::size_t session_index) {
  const SessionRecord& session = batch.records[session_index];
  const std::int64_t session_id = text_id(session.id);
  batch.session_ids.push_back(session_id);  // of each record, even if a session is repeated
  const bool is_repeated = !batch.session_index_by_id.emplace(session_id, session_index).second;
  if (is_repeated) return;

  const MachineClass machine_class = add_machine(batch, session.machine);
  add_texts_of_session(batch, session);

  // A variant is a command on a class of machines. A point has its values in one session.
  for (const CommandRecord& result : session.results) {
    const std::int64_t variant_id = add_variant(batch, result, machine_class);
    batch.points.push_back({.variant_id = variant_id,
                            .session_index = session_index,
                            .layout_id = batch.add_layout(result.metrics),
                            .anchored_name_id = batch.add_text(result.anchored_name),
                            .anchor_name_id = batch.add_text(result.anchor),
                            .result = &result});
  }
}

constexpr std::string_view kSessionColumns =
    "id, uuid, began, ended, machine, host, commit_name, branch, version, complete, results, added";

/// Returns the values of a session's row, in the order of kSessionColumns. The UUID is the
/// parameter with this number, because a text may look like SQL. All other values are numbers.
std::string make_session_row(const Batch& batch, std::size_t session_index,
                             std::size_t uuid_parameter) {
  const SessionRecord& record = batch.records[session_index];
  return fmt::format("({},:t{},{},{},{},{},{},{},{},{},{},{})", batch.session_ids[session_index],
                     uuid_parameter, to_milliseconds(record.began), to_milliseconds(record.ended),
                     text_id(class_of(record.machine)), text_id(record.machine.name),
                     text_id(commit_of(record)), text_id(record.label("branch")),
                     text_id(record.version), record.complete ? 1 : 0, record.results.size(),
                     batch.order_added_of(session_index));
}

/// Returns SessionPoint::order_added of the session that was added last; 0 if there is none.
Result<std::int64_t> read_last_order_added(Database& database) {
  constexpr std::size_t column_count = 1;
  const auto rows = database.ask("SELECT COALESCE(MAX(added), 0) FROM lauka_session", column_count);
  if (!rows) return rows.error();
  return integer_in(rows->front().front());
}

/// Adds the sessions of a batch to the table lauka_session. Drops the sessions that the table had
/// already from the batch, so that their other rows are not added again.
Result<void> add_sessions_and_drop_known(Database& database, Batch& batch) {
  const auto last_order_added = read_last_order_added(database);
  if (!last_order_added) return last_order_added.error();
  batch.last_order_added = *last_order_added;  // the sessions are numbered from here on

  std::vector<std::string> rows;
  std::vector<std::string> uuids;
  for (const auto& [id, session_index] : batch.session_index_by_id) {
    const std::size_t uuid_parameter = uuids.size();
    rows.push_back(make_session_row(batch, session_index, uuid_parameter));
    uuids.push_back(batch.records[session_index].id);
  }

  // RETURNING gives only the sessions that the database did not have yet.
  std::set<std::int64_t> added_ids;
  constexpr std::size_t column_count = 1;
  auto added = database.for_each_row(
      fmt::format("INSERT INTO lauka_session ({}) VALUES {} ON CONFLICT DO NOTHING RETURNING id",
                  kSessionColumns, fmt::join(rows, ",")),
      column_count, uuids, [&](const Row& row) { added_ids.insert(integer_in(row.front())); });
  if (!added) return added;

  std::erase_if(batch.session_index_by_id,
                [&](const auto& id_and_index) { return !added_ids.contains(id_and_index.first); });
  return {};
}

/// Adds the rows that several sessions may share: texts, machines and variants, as far as
/// `known_ids` does not say that the database has them.
Result<void> add_shared_rows(Database& database, const Batch& batch,
                             const std::set<std::int64_t>& known_ids) {
  RowInserter names(database, "lauka_name (id, text)");
  for (const auto& [id, text] : batch.text_by_id)
    if (!known_ids.contains(id)) names.add_with_text(fmt::format("({},:t)", id), text);
  if (auto added = names.finish(); !added) return added;

  RowInserter machines(database, "lauka_machine (id, class, parts)");
  for (const auto& [id, machine] : batch.machine_by_id)
    if (!known_ids.contains(id))
      machines.add_with_text(fmt::format("({},:t,{})", id, machine.parts_id),
                             machine.machine_class);
  if (auto added = machines.finish(); !added) return added;

  RowInserter variants(database, "lauka_variant (id, benchmark, role, command, machine)");
  for (const auto& [id, row] : batch.variant_row_by_id)
    if (!known_ids.contains(id)) variants.add(row);
  return variants.finish();
}

/// Adds the labels of the sessions, which are names with values.
Result<void> add_labels(Database& database, const Batch& batch) {
  RowInserter labels(database, "lauka_label (session, name, value)");
  for (const auto& [id, session_index] : batch.session_index_by_id)
    for (const Label& label : batch.records[session_index].labels)
      labels.add(fmt::format("({},{},{})", id, text_id(label.key), text_id(label.value)));
  return labels.finish();
}

constexpr std::string_view kPointTable =
    "lauka_point (variant, began, session, commit_name, branch, layout, numbers, name, anchor, "
    "added)";

/// Returns the values of a point, in the order of the columns of kPointTable. The text in quotes
/// needs no parameter, because encode_values() writes no quotes.
std::string make_point_row(const Batch& batch, const PointRow& point) {
  const SessionRecord& session = batch.records[point.session_index];
  const std::string numbers = encode_values(point.result->metrics, point.result->endings);
  return fmt::format("({},{},{},{},{},{},'{}',{},{},{})", point.variant_id,
                     to_milliseconds(session.began), batch.session_ids[point.session_index],
                     text_id(commit_of(session)), text_id(session.label("branch")), point.layout_id,
                     numbers, point.anchored_name_id, point.anchor_name_id,
                     batch.order_added_of(point.session_index));
}

/// Adds the points of the sessions: a point has the metrics of a command in a session.
Result<void> add_points(Database& database, const Batch& batch) {
  RowInserter points(database, kPointTable);
  for (const PointRow& point : batch.points) {
    // add_sessions_and_drop_known() has removed the sessions that the database had already.
    const bool is_new = batch.session_index_by_id.contains(batch.session_ids[point.session_index]);
    if (is_new) points.add(make_point_row(batch, point));
  }
  return points.finish();
}

Error make_unknown_class_error(const std::set<std::string>& known_classes,
                               const std::string& wanted_prefix) {
  const std::vector<std::string> all(known_classes.begin(), known_classes.end());
  const auto near = nearest_names(wanted_prefix, all);
  return {fmt::format("there is no machine of class {}", cited(wanted_prefix)),
          near.empty() ? "there are " + listed(all)
                       : fmt::format("did you mean {}?", listed(near, "or"))};
}

}  // namespace

std::string commit_of(const SessionRecord& session) {
  const std::string commit = session.label("commit");
  return commit.empty() || session.label("dirty") != "yes" ? commit : commit + "+dirty";
}

namespace {

/// Returns the variant of each result of a session, in the same order.
std::vector<MeasuredCommand> list_variants(const SessionRecord& session) {
  std::vector<MeasuredCommand> variants;
  for (const CommandRecord& result : session.results)
    variants.push_back({.benchmark = result.benchmark,
                        .role = result.role,
                        .command = result.shown_command_name,
                        .machine_class = class_of(session.machine),
                        .machine = session.machine});
  return variants;
}

/// Returns the only point of a metric's series in a session that is not in a database.
SessionPoint make_only_point(const SessionRecord& session, const CommandRecord& result,
                             const MetricRecord& metric) {
  return {.began = to_milliseconds(session.began),
          .commit = commit_of(session),
          .branch = session.label("branch"),
          .anchor = result.anchor,
          .values = metric,
          .endings = result.endings};
}

}  // namespace

// Makes the series of a session that is not in a database. Each of them has a single point.
std::vector<MetricHistory> make_histories(const SessionRecord& session,
                                          const SeriesSelection& wanted) {
  const std::vector<MeasuredCommand> variants = list_variants(session);

  // In a suite, a command has a role: candidate, reference or anchor.
  const std::string wanted_role = wanted.role.empty() ? choose_usual_role(variants) : wanted.role;

  // Each result of the session has a variant with the same index.
  std::vector<MetricHistory> histories;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const bool is_wanted = wanted_role == "all" || variants[i].role == wanted_role;
    if (!is_wanted) continue;

    const CommandRecord& result = session.results[i];
    for (const std::size_t metric_index : find_wanted_metrics(result.metrics, wanted.metrics)) {
      const MetricRecord& metric = result.metrics[metric_index];
      MetricHistory series{.variant = variants[i], .metric = metric};
      series.points.push_back(make_only_point(session, result, metric));
      histories.push_back(std::move(series));
    }
  }
  return histories;
}

const std::string& Loader::find_name(std::int64_t id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? names_.at(0) : found->second;
}

Result<void> Loader::load_names(const std::set<std::int64_t>& ids) {
  std::vector<std::int64_t> unknown_ids;
  std::ranges::copy_if(ids, std::back_inserter(unknown_ids),
                       [&](std::int64_t id) { return names_.count(id) == 0; });

  for (std::size_t i = 0; i < unknown_ids.size(); i += kMaxIdsOfQuery) {
    const std::size_t count = std::min(kMaxIdsOfQuery, unknown_ids.size() - i);
    const auto asked_ids = std::span(unknown_ids).subspan(i, count);
    enum Column : std::size_t { Id, Text, ColumnCount };
    auto asked = database_.for_each_row(
        fmt::format("SELECT id, text FROM lauka_name WHERE id IN ({})", fmt::join(asked_ids, ",")),
        ColumnCount, {}, [&](const Row& row) { names_[integer_in(row[Id])] = row[Text]; });
    if (!asked) return asked;
  }
  return {};
}

namespace {

/// The columns of the query for sessions, in its order.
enum SessionColumn : std::size_t {
  SessionBegan,
  SessionUuid,
  SessionCommit,
  SessionBranch,
  SessionHost,
  SessionMachineClass,
  SessionResultCount,
  SessionIsComplete,
  SessionColumnCount
};

SessionLine make_session_line(const Row& row) {
  return {.began = integer_in(row[SessionBegan]),
          .uuid = row[SessionUuid],
          .commit = row[SessionCommit],
          .branch = row[SessionBranch],
          .host = row[SessionHost],
          .machine_class = row[SessionMachineClass],
          .result_count = static_cast<std::size_t>(integer_in(row[SessionResultCount])),
          .complete = row[SessionIsComplete] != "0"};
}

}  // namespace

// Returns the sessions as `lauka-history list` shows them, the newest first.
Result<std::vector<SessionLine>> Loader::load_latest_sessions(std::size_t max_count,
                                                              const std::string& commit) {
  // Without a commit, the sessions of all commits are wanted.
  std::string where_clause;
  if (!commit.empty()) {
    const auto commit_filter = make_commit_filter(database_, commit);
    if (!commit_filter) return commit_filter.error();
    where_clause = " WHERE " + *commit_filter;
  }

  // Sessions that began at the same time are ordered by the column `added`, which numbers the
  // sessions in the order in which they were added.
  const auto rows = database_.ask(
      fmt::format("SELECT began, uuid, {}, {}, {}, {}, results, complete FROM lauka_session{} "
                  "ORDER BY began DESC, added DESC LIMIT {}",
                  make_text_subquery("commit_name"), make_text_subquery("branch"),
                  make_text_subquery("host"), kMachineClassSubquery, where_clause, max_count),
      SessionColumnCount);
  if (!rows) return rows.error();

  std::vector<SessionLine> lines;
  for (const Row& row : *rows) lines.push_back(make_session_line(row));
  return lines;
}

// If the names cannot be read, none is similar.
std::vector<std::string> Loader::find_similar_benchmarks(const std::string& name) {
  std::set<std::string> known_names;
  if (const auto all_variants = load_variants({.role = "all"}))
    for (const MeasuredCommand& variant : *all_variants) known_names.insert(variant.benchmark);
  return nearest_names(name, std::vector<std::string>(known_names.begin(), known_names.end()));
}

// The user has asked for a benchmark that load_variants() did not find. The error names the part of
// the request that excludes it, as far as this is known: the role, the commit, or else its name.
Error Loader::make_no_variant_error(const SeriesSelection& wanted,
                                    const std::set<std::string>& other_roles) {
  const std::string how_to_list = "run lauka-history list --benchmarks to see all";
  if (wanted.benchmark.empty()) return {"there is no such benchmark", how_to_list};

  const std::string what = "no benchmark " + cited(wanted.benchmark);
  if (!other_roles.empty()) {
    const std::vector<std::string> roles(other_roles.begin(), other_roles.end());
    return {what + " in the role " + cited(wanted.role), "write --role " + listed(roles, "or")};
  }
  if (!wanted.commit.empty()) return {what + " at the commit " + cited(wanted.commit), how_to_list};

  // The name may be misspelt, so the error suggests names that are alike.
  const auto similar_names = find_similar_benchmarks(wanted.benchmark);
  return {what, similar_names.empty()
                    ? how_to_list
                    : fmt::format("did you mean {}?", listed(similar_names, "or"))};
}

namespace {

/// Returns the SQL condition for the wanted variants, except that it does not restrict their
/// classes of machines and their roles.
Result<std::string> make_variant_filter(Database& database, const SeriesSelection& wanted) {
  std::string filter = "1 = 1";  // so that each of the following can begin with AND
  if (!wanted.benchmark.empty())
    filter += fmt::format(" AND benchmark = {}", text_id(wanted.benchmark));
  if (wanted.commit.empty()) return filter;

  const auto commit_filter = make_commit_filter(database, wanted.commit);
  if (!commit_filter) return commit_filter.error();
  return filter + fmt::format(
                      " AND id IN (SELECT variant FROM lauka_point WHERE session IN "
                      "(SELECT id FROM lauka_session WHERE {}))",
                      *commit_filter);
}

/// The columns of ask_for_variants(), in its order.
enum VariantColumn : std::size_t {
  VariantId,
  VariantBenchmark,
  VariantRole,
  VariantCommand,
  VariantMachineClass,
  VariantMachineParts,
  VariantColumnCount
};

Result<std::vector<Row>> ask_for_variants(Database& database, const std::string& filter) {
  return database.ask(
      fmt::format("SELECT id, {}, {}, {}, {}, {} FROM lauka_variant WHERE {}",
                  make_text_subquery("benchmark"), make_text_subquery("role"),
                  make_text_subquery("command"), kMachineClassSubquery,
                  make_text_subquery("(SELECT parts FROM lauka_machine WHERE id = machine)"),
                  filter),
      VariantColumnCount);
}

MeasuredCommand make_variant(const Row& row) {
  return {.id = integer_in(row[VariantId]),
          .benchmark = row[VariantBenchmark],
          .role = row[VariantRole],
          .command = row[VariantCommand],
          .machine_class = row[VariantMachineClass],
          .machine = decode_machine(row[VariantMachineParts])};
}

/// Returns the variants in `rows` whose class of machines begins with `class_prefix`. Returns an
/// error if only the prefix excludes all of them, because it is what the user must change.
Result<std::vector<MeasuredCommand>> choose_by_class(const std::vector<Row>& rows,
                                                     const std::string& class_prefix) {
  std::vector<MeasuredCommand> variants;
  std::set<std::string> known_classes;
  for (const Row& row : rows) {
    const std::string& machine_class = row[VariantMachineClass];
    known_classes.insert(machine_class);
    if (machine_class.starts_with(class_prefix)) variants.push_back(make_variant(row));
  }
  if (variants.empty() && !rows.empty() && !class_prefix.empty())
    return make_unknown_class_error(known_classes, class_prefix);
  return variants;
}

std::set<std::string> list_roles(const std::vector<MeasuredCommand>& variants) {
  std::set<std::string> roles;
  for (const MeasuredCommand& variant : variants)
    if (!variant.role.empty()) roles.insert(variant.role);
  return roles;
}

/// Removes the variants that do not have the wanted role. Without one, keeps those with the usual
/// role, and those without a role, which belong to it.
void keep_wanted_role(std::vector<MeasuredCommand>& variants, const std::string& wanted_role) {
  const std::string role = wanted_role.empty() ? choose_usual_role(variants) : wanted_role;
  std::erase_if(variants, [&](const MeasuredCommand& variant) {
    const bool is_wanted = role == "all" || variant.role == role;
    const bool is_usual = wanted_role.empty() && variant.role.empty();
    return !is_wanted && !is_usual;
  });
}

}  // namespace

// A variant is a command on a class of machines. The selection can restrict the benchmark, the
// commit, the class of machines and the role.
Result<std::vector<MeasuredCommand>> Loader::load_variants(const SeriesSelection& wanted) {
  const auto filter = make_variant_filter(database_, wanted);
  if (!filter) return filter.error();
  const auto rows = ask_for_variants(database_, *filter);
  if (!rows) return rows.error();
  auto variants = choose_by_class(*rows, wanted.machine_class_prefix);
  if (!variants) return variants;

  // If no variant has the wanted role, the error names those that they have.
  const std::set<std::string> roles_to_choose_from = list_roles(*variants);
  keep_wanted_role(*variants, wanted.role);
  if (variants->empty()) return make_no_variant_error(wanted, roles_to_choose_from);

  std::ranges::sort(*variants, [](const MeasuredCommand& a, const MeasuredCommand& b) {
    return std::tie(a.benchmark, a.role, a.command, a.machine_class) <
           std::tie(b.benchmark, b.role, b.command, b.machine_class);
  });
  return variants;
}

namespace {

/// The columns of ask_for_points(), in its order.
enum PointColumn : std::size_t {
  PointBegan,
  PointAdded,
  PointSessionId,
  PointCommit,
  PointBranch,
  PointAnchor,
  PointLayout,
  PointNumbers,
  PointUuid,
  PointColumnCount
};

/// Returns the wanted points of a variant, the oldest first. The limit leaves out the oldest
/// points.
Result<std::vector<Row>> ask_for_points(Database& database, const MeasuredCommand& variant,
                                        const SeriesSelection& wanted) {
  const auto filter = make_point_filter(database, variant, wanted);
  if (!filter) return filter.error();
  auto rows = database.ask(
      fmt::format(
          "SELECT began, added, session, commit_name, branch, anchor, layout, numbers, {} "
          "FROM lauka_point WHERE {} ORDER BY began DESC, added DESC, session DESC LIMIT {}",
          wanted.reads_uuids ? "(SELECT uuid FROM lauka_session WHERE id = session)" : "''",
          *filter, wanted.max_sessions),
      PointColumnCount);
  if (rows) std::ranges::reverse(*rows);
  return rows;
}

/// Returns the ids in some columns of the rows.
std::set<std::int64_t> collect_ids(const std::vector<Row>& rows,
                                   std::initializer_list<std::size_t> columns) {
  std::set<std::int64_t> ids;
  for (const Row& row : rows)
    for (const std::size_t column : columns) ids.insert(integer_in(row[column]));
  return ids;
}

/// Adds a newer point to a series. Its session says what the metric is, but the method of the
/// metric adds to what is known already.
void add_point(MetricHistory& series, const MetricRecord& metric, SessionPoint point) {
  SettingValues method = series.metric.method;
  method.add(metric.method);
  series.metric = metric;
  series.metric.method = std::move(method);
  series.points.push_back(std::move(point));
}

}  // namespace

const std::vector<MetricRecord>& Loader::find_layout(std::int64_t id) {
  const auto [known, is_new] = metric_lists_by_id_.try_emplace(id);
  if (is_new) known->second = decode_metric_names(find_name(id));
  return known->second;
}

SessionPoint Loader::make_point(const Row& row, const MetricRecord& metric) const {
  return {.began = integer_in(row[PointBegan]),
          .order_added = integer_in(row[PointAdded]),
          .session_row_id = integer_in(row[PointSessionId]),
          .uuid = row[PointUuid],
          .commit = find_name(integer_in(row[PointCommit])),
          .branch = find_name(integer_in(row[PointBranch])),
          .anchor = find_name(integer_in(row[PointAnchor])),
          .values = metric};
}

std::vector<MetricHistory> Loader::make_series(const std::vector<Row>& rows,
                                               const MeasuredCommand& variant,
                                               const std::vector<std::string>& wanted_metrics) {
  std::vector<MetricHistory> histories;
  for (const Row& row : rows) {
    const auto& layout = find_layout(integer_in(row[PointLayout]));
    for (const std::size_t metric_index : find_wanted_metrics(layout, wanted_metrics)) {
      const MetricRecord& metric = layout[metric_index];
      SessionPoint point = make_point(row, metric);
      if (!decode_values(point.values, metric_index, row[PointNumbers])) continue;
      point.endings = decode_endings(row[PointNumbers]);
      add_point(find_or_add_comparable_series(metric, histories, variant), metric,
                std::move(point));
    }
  }
  return histories;
}

Result<std::vector<MetricHistory>> Loader::load_series(const MeasuredCommand& variant,
                                                       const SeriesSelection& wanted) {
  const auto rows = ask_for_points(database_, variant, wanted);
  if (!rows) return rows.error();
  const auto name_ids = collect_ids(*rows, {PointCommit, PointBranch, PointAnchor, PointLayout});
  if (auto loaded = load_names(name_ids); !loaded) return loaded.error();

  std::vector<MetricHistory> histories = make_series(*rows, variant, wanted.metrics);
  if (auto converted = convert_to_newest_anchors(histories); !converted) return converted.error();
  for (MetricHistory& series : histories)
    series.method_text = describe_distinguishing_method(series, histories);
  return histories;
}

// A variant is a command on a class of machines. An update of a machine may make it another class,
// which splits the history of a command into the series of two variants.
Result<std::vector<HistorySplit>> Loader::find_splits(const SeriesSelection& wanted) {
  const auto variants = load_variants(wanted);
  if (!variants) return variants.error();

  // The variants of one command are neighbours, because load_variants() sorts them by command.
  std::vector<HistorySplit> splits;
  auto next_command = variants->begin();
  while (next_command != variants->end()) {
    const auto first_variant = next_command;
    next_command =
        std::find_if_not(first_variant, variants->end(), [&](const MeasuredCommand& variant) {
          return are_of_one_command(*first_variant, variant);
        });
    const std::span<const MeasuredCommand> variants_of_command(first_variant, next_command);
    const bool has_several_classes = variants_of_command.size() > 1;
    if (!has_several_classes) continue;

    const auto periods = read_periods(database_, variants_of_command);
    if (!periods) return periods.error();
    add_splits(*periods, splits);
  }
  return splits;
}

namespace {

/// The columns of ask_for_anchored_points(), in its order.
enum AnchoredColumn : std::size_t {
  AnchoredName,
  AnchoredAnchor,
  AnchoredLayout,
  AnchoredNumbers,
  AnchoredColumnCount
};

/// Returns the points of the same benchmark and class of machines that measured a command against
/// an anchor, where the command itself is the anchor of other sessions.
Result<std::vector<Row>> ask_for_anchored_points(Database& database,
                                                 const MeasuredCommand& variant) {
  return database.ask(
      fmt::format(
          "SELECT name, anchor, layout, numbers FROM lauka_point WHERE variant IN (SELECT "
          "id FROM lauka_variant WHERE benchmark = {0} AND machine = {1}) AND anchor <> name AND "
          "name IN (SELECT anchor FROM lauka_point WHERE variant IN (SELECT id FROM lauka_variant "
          "WHERE benchmark = {0} AND machine = {1}))",
          text_id(variant.benchmark), text_id(variant.machine_class)),
      AnchoredColumnCount);
}

}  // namespace

std::vector<AnchorRatio> Loader::read_ratios_between_anchors(const std::vector<Row>& rows,
                                                             const std::string& metric) const {
  std::vector<AnchorRatio> ratios;
  for (const Row& row : rows) {
    const std::string& layout = find_name(integer_in(row[AnchoredLayout]));
    const auto ratio = decode_ratio_to_anchor(metric, layout, row[AnchoredNumbers]);
    if (ratio)
      ratios.push_back({.of = find_name(integer_in(row[AnchoredName])),
                        .to = find_name(integer_in(row[AnchoredAnchor])),
                        .ratio = *ratio});
  }
  return ratios;
}

// Sessions compare each command with an anchor, an old build. If a newer anchor has replaced it,
// the ratios before and after that can only be compared through the ratio of the two anchors.
Result<void> Loader::convert_to_newest_anchors(std::vector<MetricHistory>& series_of_variant) {
  if (std::ranges::all_of(series_of_variant, has_at_most_one_anchor)) return {};

  const auto rows = ask_for_anchored_points(database_, series_of_variant.front().variant);
  if (!rows) return rows.error();
  const auto name_ids = collect_ids(*rows, {AnchoredName, AnchoredAnchor, AnchoredLayout});
  if (auto loaded = load_names(name_ids); !loaded) return loaded;

  for (MetricHistory& series : series_of_variant)
    convert_to_newest_anchor(series, read_ratios_between_anchors(*rows, series.metric.name));
  return {};
}

Result<std::map<std::int64_t, std::string>> Loader::read_acknowledgements(
    std::int64_t variant_id, const std::string& metric) {
  enum Column : std::size_t { Began, NoteText, ColumnCount };
  const auto rows = database_.ask(
      fmt::format("SELECT began, {} FROM lauka_acknowledged WHERE variant = {} AND metric = {}",
                  make_text_subquery("note"), variant_id, text_id(metric)),
      ColumnCount);
  if (!rows) return rows.error();
  std::map<std::int64_t, std::string> note_by_began;
  for (const Row& row : *rows) note_by_began[integer_in(row[Began])] = row[NoteText];
  return note_by_began;
}

namespace {

/// Returns the results that were measured with other settings than usual, by the ids of their
/// variants.
std::map<std::int64_t, const CommandRecord*> find_unusual_results(
    std::span<const SessionRecord> sessions) {
  std::map<std::int64_t, const CommandRecord*> result_by_variant;
  for (const SessionRecord& session : sessions) {
    const std::string machine_class = class_of(session.machine);
    for (const CommandRecord& result : session.results) {
      const bool has_unusual_settings = !result.benchmark_without_settings.empty();
      if (has_unusual_settings)
        result_by_variant[text_id(variant_key(result, machine_class))] = &result;
    }
  }
  return result_by_variant;
}

}  // namespace

// A benchmark that was measured with other settings than usual, such as --jobs 2, has a name with
// these settings, and a history of its own. Notes the benchmarks whose history begins for this
// reason, so that the user is told.
Result<void> Store::note_new_because_of_settings(std::span<const SessionRecord> sessions) {
  auto unusual_result_by_variant = find_unusual_results(sessions);
  if (unusual_result_by_variant.empty()) return {};

  std::vector<std::int64_t> variant_ids;
  variant_ids.reserve(unusual_result_by_variant.size());
  for (const auto& [id, result] : unusual_result_by_variant) variant_ids.push_back(id);

  // A variant in the database has a history already, so it is removed.
  constexpr std::size_t column_count = 1;
  auto asked = database_.for_each_row(
      fmt::format("SELECT id FROM lauka_variant WHERE id IN ({})", fmt::join(variant_ids, ",")),
      column_count, {},
      [&](const Row& row) { unusual_result_by_variant.erase(integer_in(row.front())); });
  for (const auto& [id, result] : unusual_result_by_variant)
    new_because_of_settings_[result->benchmark_without_settings] = result->benchmark;
  return asked;
}

namespace {

/// Prepares the rows of sessions. The database stores the points of a variant together, so they are
/// in this order.
Batch make_batch(std::span<const SessionRecord> sessions) {
  Batch batch{.records = sessions};
  for (std::size_t i = 0; i < sessions.size(); ++i) add_session_to_batch(batch, i);
  std::ranges::sort(batch.points, {}, [&](const PointRow& point) {
    return std::pair(point.variant_id, batch.session_ids[point.session_index]);
  });
  return batch;
}

/// Returns the ids of the rows that several sessions may share: texts, machines and variants.
std::vector<std::int64_t> list_shared_row_ids(const Batch& batch) {
  std::vector<std::int64_t> ids;
  for (const auto& [id, text] : batch.text_by_id) ids.push_back(id);
  for (const auto& [id, machine] : batch.machine_by_id) ids.push_back(id);
  for (const auto& [id, row] : batch.variant_row_by_id) ids.push_back(id);
  return ids;
}

}  // namespace

// Adds the sessions with their points, texts, machines, variants and labels. Sessions that the
// database has already are skipped. Returns the number of added sessions.
Result<std::size_t> Store::add(std::span<const SessionRecord> sessions) {
  if (sessions.empty()) return std::size_t{0};
  Batch batch = make_batch(sessions);

  auto committed = database_.in_transaction([&]() -> Result<void> {
    if (auto added = add_sessions_and_drop_known(database_, batch); !added) return added;
    const bool has_new_sessions = !batch.session_index_by_id.empty();
    if (!has_new_sessions) return {};

    // Asks which variants the database lacks, so it must come before add_shared_rows(), which adds
    // them.
    if (auto noted = note_new_because_of_settings(sessions); !noted) return noted;

    if (auto added = add_shared_rows(database_, batch, shared_row_ids_already_written_); !added)
      return added;
    if (auto added = add_labels(database_, batch); !added) return added;
    return add_points(database_, batch);
  });
  if (!committed) return committed.error();

  const std::size_t added_count = batch.session_index_by_id.size();
  if (added_count == 0) return added_count;

  // The next batch need not add the shared rows again. They are remembered only after the
  // transaction, because a failed one takes them back.
  const std::vector<std::int64_t> shared_ids = list_shared_row_ids(batch);
  shared_row_ids_already_written_.insert(shared_ids.begin(), shared_ids.end());
  return added_count;
}

namespace {

/// Returns an error unless the user may have meant so many sessions. A user who typed the beginning
/// of a session's name means one session. A commit or a date may stand for many.
Result<void> check_count_to_forget(const ForgetRequest& request, std::size_t count) {
  if (count == 0) return Error{"has no such session", "run lauka-history list to see all sessions"};
  if (!request.session.empty() && count > 1)
    return Error{fmt::format("has {} sessions whose names begin like this", count),
                 "write more of the name"};
  return {};
}

}  // namespace

// Deletes the sessions in the same transaction that counts them. Returns their number.
Result<std::size_t> forget(Database& database, const ForgetRequest& request) {
  std::vector<std::string> filter_parameters;
  const auto filter = make_forget_filter(database, request, filter_parameters);
  if (!filter) return filter.error();

  std::size_t session_count = 0;
  auto forgotten = database.in_transaction([&]() -> Result<void> {
    constexpr std::size_t column_count = 1;
    const auto id_rows = database.ask("SELECT id FROM lauka_session WHERE " + *filter, column_count,
                                      filter_parameters);
    if (!id_rows) return id_rows.error();

    session_count = id_rows->size();
    if (auto checked = check_count_to_forget(request, session_count); !checked) return checked;
    return delete_sessions(database, *id_rows);
  });

  if (!forgotten) return forgotten.error();
  return session_count;
}

Result<void> acknowledge(Database& database, const StepNote& note) {
  return database.in_transaction([&]() -> Result<void> {
    // An empty text has the id 0, and no row.
    RowInserter names(database, "lauka_name (id, text)");
    for (const std::string* text : {&note.metric, &note.text})
      if (!text->empty()) names.add_with_text(fmt::format("({},:t)", text_id(*text)), *text);
    if (auto added = names.finish(); !added) return added;

    const std::string step_filter = fmt::format("variant = {} AND metric = {} AND began = {}",
                                                note.variant, text_id(note.metric), note.began);
    if (auto deleted = database.run("DELETE FROM lauka_acknowledged WHERE " + step_filter);
        !deleted)
      return deleted;
    return database.run(fmt::format("INSERT INTO lauka_acknowledged VALUES ({},{},{},{})",
                                    note.variant, text_id(note.metric), note.began,
                                    text_id(note.text)));
  });
}

Result<SessionRecord> read_session_file(const std::string& file) {
  const auto text = os::read_file(file, kMaxFileBytes);
  return text ? read_record(*text) : Result<SessionRecord>(text.error());
}

namespace {

/// Adds the sessions in files to a database. A batch of sessions is one transaction, because each
/// transaction waits for the disk. It is limited by its number of sessions and by their number of
/// commands, to save memory.
class FileAdder {
 public:
  FileAdder(Database& database, std::span<const std::string> files,
            const std::function<void(const Error&)>& report_bad_file)
      : store_(database), files_(files), report_bad_file_(report_bad_file) {}

  /// Takes the session in the next file, or the error of the file, which does not keep the other
  /// files from being added. Adds the batch if it is full.
  Result<void> take(Result<SessionRecord> record) {
    const std::string& file = files_[files_read_];
    ++files_read_;
    if (!record) {
      ++result_.refused_files;
      report_bad_file_(record.error().prefixed(cited(file)));
      return {};
    }

    commands_in_batch_ += record->results.size();
    batch_.push_back(*std::move(record));
    const bool is_full =
        batch_.size() >= kMaxSessionsOfBatch || commands_in_batch_ >= kMaxCommandsOfBatch;
    return is_full ? add_batch() : Result<void>();
  }

  /// Adds the sessions that were taken and not added yet. Earlier batches stay in the database if
  /// one fails, so the error says how many sessions that is.
  Result<void> add_batch() {
    const auto added = store_.add(batch_);
    if (!added)
      return Error{
          fmt::format("{}; before that, lauka-history had read {} and added {} of them",
                      added.error().line(), plural(files_read_, "file"), result_.added_sessions),
          "add the files again"};

    result_.added_sessions += *added;
    batch_.clear();
    commands_in_batch_ = 0;
    return {};
  }

  /// Returns what was done; must be called after all files were taken and added.
  AddResult finish() {
    result_.new_because_of_settings = store_.new_because_of_settings();
    result_.already_stored = files_.size() - result_.refused_files - result_.added_sessions;
    return std::move(result_);
  }

 private:
  Store store_;
  std::span<const std::string> files_;
  const std::function<void(const Error&)>& report_bad_file_;
  AddResult result_{};
  std::size_t files_read_ = 0;
  std::vector<SessionRecord> batch_{};
  std::size_t commands_in_batch_ = 0;
};

}  // namespace

Result<AddResult> add_files(Database& database, std::span<const std::string> files,
                            const std::function<void(const Error&)>& report_bad_file) {
  FileAdder adder(database, files, report_bad_file);

  // A file has one session. The records come in the order of the files.
  auto added = for_each_record(
      files, [&](Result<SessionRecord> record) { return adder.take(std::move(record)); });

  // The last batch is not full.
  if (added) added = adder.add_batch();
  if (!added) return added.error();
  return adder.finish();
}

}  // namespace lauka::history
