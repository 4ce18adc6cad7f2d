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

constexpr std::size_t kMaxIds = 2000;

std::int64_t id_in(const std::string& text) {
  return std::strtoll(text.c_str(), nullptr, 10);
}

/// Returns SQL for the text whose id is in `column`.
std::string name_in(std::string_view column) {
  return fmt::format("(SELECT text FROM lauka_name WHERE id = {})", column);
}

constexpr std::string_view kClassOfMachine = "(SELECT class FROM lauka_machine WHERE id = machine)";

std::vector<std::size_t> wanted_metrics(const std::vector<MetricRecord>& layout,
                                        const std::vector<std::string>& names) {
  std::vector<std::size_t> places;
  const auto add = [&](std::string_view name) {
    for (std::size_t i = 0; i < layout.size(); ++i)
      if ((name == "all" || layout[i].name == name) && std::ranges::find(places, i) == places.end())
        places.push_back(i);
  };
  for (const std::string& name : names) add(name);
  if (names.empty()) add(metric_name_of(Role::WallTime));
  if (names.empty() && places.empty() && !layout.empty()) places.push_back(0);
  return places;
}

std::string usual_role(const std::vector<MeasuredCommand>& variants) {
  for (const std::string_view role : {"candidate", "", "reference", "anchor"})
    for (const MeasuredCommand& variant : variants)
      if (variant.role == role) return std::string(role);
  return {};
}

bool has_one_anchor(const MetricHistory& series) {
  std::set<std::string_view> anchors;
  for (const SessionPoint& point : series.points)
    if (point.values.ratio_to_anchor) anchors.insert(point.anchor);
  return anchors.size() < 2;
}

std::optional<LogRatio> to_anchor(std::string_view metric, std::string_view layout,
                                  std::string_view numbers) {
  auto metrics = decode_metric_names(layout);
  for (std::size_t place = 0; place < metrics.size(); ++place)
    if (metrics[place].name == metric && decode_values(metrics[place], place, numbers))
      return metrics[place].ratio_to_anchor;
  return std::nullopt;
}

void relate_to_newest_anchor(MetricHistory& series, std::span<const AnchorRatio> measured) {
  std::string newest;
  for (const SessionPoint& point : series.points)
    if (!point.anchor.empty()) newest = point.anchor;
  const auto links = ratios_to_anchor(newest, measured);
  for (SessionPoint& point : series.points) {
    auto& ratio = point.values.ratio_to_anchor;
    if (!ratio || point.anchor == newest) continue;
    const auto link = links.find(point.anchor);
    if (link == links.end()) {
      ratio.reset();
      ++series.removed_anchor_ratios;
    } else {
      ratio->value += link->second.value;
      point.link_error = link->second.error.value_or(0.0);
      point.anchor = newest;
    }
  }
}

/// Returns the latest series of the metric in `all` that measured it in the same way, as far as
/// both are known; adds a series if there is none.
MetricHistory& comparable_series(const MetricRecord& metric, std::vector<MetricHistory>& all,
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
std::string distinguishing_method(const MetricHistory& series,
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
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Returns the periods in the order in which they begin.
Result<std::vector<Period>> read_periods(Database& database,
                                         std::span<const MeasuredCommand> variants) {
  // Asks for some variants at a time, so that no query becomes too long.
  std::vector<Period> periods;
  for (std::size_t i = 0; i < variants.size(); i += kMaxIds) {
    const auto asked_variants = variants.subspan(i, std::min(kMaxIds, variants.size() - i));
    std::vector<std::int64_t> ids;
    for (const MeasuredCommand& variant : asked_variants) ids.push_back(variant.id);

    constexpr std::size_t column_count = 3;
    const std::string query = fmt::format(
        "SELECT variant, MIN(began), MAX(began) FROM lauka_point WHERE variant IN ({}) "
        "GROUP BY variant",
        fmt::join(ids, ","));
    auto asked = database.for_each_row(query, column_count, {}, [&](const Row& row) {
      const auto variant = std::ranges::find(asked_variants, id_in(row[0]), &MeasuredCommand::id);
      periods.push_back({&*variant, id_in(row[1]), id_in(row[2])});
    });
    if (!asked) return asked.error();
  }

  std::ranges::sort(periods, {}, &Period::first);
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

/// Adds the splits between consecutive periods.
void add_splits(std::span<const Period> periods, std::vector<HistorySplit>& splits) {
  for (std::size_t i = 1; i < periods.size(); ++i) {
    const Period& older = periods[i - 1];
    const Period& newer = periods[i];

    // Machines that were used at the same time are two machines, not one that was updated.
    const bool overlap = newer.first <= older.last;
    if (overlap) continue;
    auto differences = find_differences(settings_of_session({.machine = older.variant->machine}),
                                        settings_of_session({.machine = newer.variant->machine}));
    if (!std::ranges::all_of(differences, may_be_updated)) continue;

    // An update splits the histories of many benchmarks, but is one split.
    const auto known = std::ranges::find_if(splits, [&](const HistorySplit& split) {
      return split.older.machine_class == older.variant->machine_class &&
             split.newer.machine_class == newer.variant->machine_class;
    });
    if (known == splits.end()) {
      splits.push_back({*older.variant, *newer.variant, newer.first, std::move(differences)});
    } else {
      ++known->benchmark_count;
      known->began = std::min(known->began, newer.first);
    }
  }
}

constexpr std::size_t kMaxTexts = 500;
constexpr std::size_t kMaxOfStatement = std::size_t{256} * 1024;  // bytes

class Rows {
 public:
  Rows(Database& database, std::string_view into)
      : database_(database), head_(fmt::format("INSERT INTO {} VALUES ", into)) {}

  void add(std::string row, const std::string* text = nullptr) {
    if (text != nullptr) {
      row.replace(row.find(":t"), 2, fmt::format(":t{}", texts_.size()));
      texts_.push_back(*text);
    }
    values_ += (values_.empty() ? "" : ",") + row;
    if (texts_.size() >= kMaxTexts || values_.size() >= kMaxOfStatement) send();
  }

  Result<void> end() {
    send();
    return done_;
  }

 private:
  void send() {
    if (done_ && !values_.empty())
      done_ = database_.run(head_ + values_ + " ON CONFLICT DO NOTHING", texts_);
    values_.clear();
    texts_.clear();
  }

  Database& database_;
  std::string head_;
  std::string values_{};
  std::vector<std::string> texts_{};
  Result<void> done_{};
};

std::int64_t to_milliseconds(UtcTime time) {
  return time.time_since_epoch().count();
}

/// Returns the SQL condition for sessions of `commit`, a commit or its beginning.
Result<std::string> commit_condition(Database& database, const std::string& commit) {
  // The id of a name follows from its text, so that an exact name needs no search.
  const std::string is_commit = fmt::format("commit_name = {}", text_id(commit));
  const auto exact = database.ask(
      fmt::format("SELECT commit_name FROM lauka_session WHERE {} LIMIT 1", is_commit), 1);
  if (!exact) return exact.error();
  if (!exact->empty()) return is_commit;

  constexpr std::size_t min_length_of_beginning = 4;
  std::vector<std::int64_t> ids;
  if (commit.size() >= min_length_of_beginning) {
    const auto rows = database.ask(
        "SELECT id, text FROM lauka_name WHERE text LIKE :t0 AND EXISTS "
        "(SELECT 1 FROM lauka_session WHERE commit_name = lauka_name.id)",
        2, std::vector{commit + "%"});
    if (!rows) return rows.error();

    // LIKE takes '_' and '%' for wildcards, and ignores case in SQLite.
    for (const Row& row : *rows)
      if (row[1].starts_with(commit)) ids.push_back(id_in(row[0]));
  }

  if (ids.empty())
    return Error{"has no session of the commit " + cited(commit),
                 "run lauka-history list to see all sessions"};
  if (ids.size() > 1)
    return Error{"has several commits that begin with " + cited(commit),
                 "write more of the commit"};
  return fmt::format("commit_name = {}", ids.front());
}

Result<std::string> condition_of_points(Database& database, const MeasuredCommand& variant,
                                        const SeriesSelection& wanted) {
  std::string condition = fmt::format("variant = {}", variant.id);
  if (!wanted.branch.empty()) condition += fmt::format(" AND branch = {}", text_id(wanted.branch));
  if (!wanted.drops_other_commits || wanted.commit.empty()) return condition;
  const auto is_commit = commit_condition(database, wanted.commit);
  return is_commit ? condition + " AND " + *is_commit : is_commit;
}

Result<UtcTime> parse_date(const std::string& text) {
  const bool is_date = std::ranges::count(text, '-') == 2;
  const std::string whole = text.find('T') == std::string::npos ? text + "T00:00:00Z" : text;
  const auto time = parse_utc_time(whole);
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  if (!is_date || time == UtcTime() || (rfc3339(time) != whole && rfc3339(second) != whole))
    return Error{cited(text) + " is not a date", "write 2026-11-22 or 2026-11-22T18:00:00Z"};
  return time;
}

Result<std::string> make_condition(Database& database, const ForgetRequest& what,
                                   std::vector<std::string>& texts) {
  if (!what.before_date.empty()) {
    const auto time = parse_date(what.before_date);
    if (!time) return time.error();
    return fmt::format("began < {}", to_milliseconds(*time));
  }
  if (!what.commit.empty()) return commit_condition(database, what.commit);
  if (what.session.empty() || what.session.find_first_of("%_") != std::string::npos)
    return Error{"has no such session", "run lauka-history list to see all sessions"};
  texts.push_back(lower_case(what.session) + "%");
  return std::string("uuid LIKE :t0");
}

Result<void> delete_sessions(Database& database, const std::vector<Row>& rows) {
  std::string ids;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ids += (ids.empty() ? "" : ",") + rows[i][0];
    if (i + 1 < rows.size() && ids.size() < kMaxOfStatement) continue;
    for (const auto& [table, column] :
         {std::pair("lauka_point", "session"), std::pair("lauka_label", "session"),
          std::pair("lauka_session", "id")}) {
      auto gone = database.run(fmt::format("DELETE FROM {} WHERE {} IN ({})", table, column, ids));
      if (!gone) return gone;
    }
    ids.clear();
  }
  return {};
}

constexpr std::size_t kMaxBytes = std::size_t{1} << 30U;
constexpr std::size_t kMaxOfBatch = 200;
constexpr std::size_t kMaxPoints = 4'000;
constexpr unsigned kMaxReaders = 4;
constexpr std::size_t kFilesAhead = 16;

std::vector<Result<SessionRecord>> records_in(std::span<const std::string> files) {
  std::vector<Result<SessionRecord>> records;
  records.reserve(files.size());
  for (const std::string& file : files) records.push_back(read_session_file(file));
  return records;
}

/// Reads files ahead in threads, and passes their records to `visit` in the order of the files.
Result<void> for_each_record(std::span<const std::string> files,
                             const std::function<Result<void>(Result<SessionRecord>)>& visit) {
  const std::size_t max_groups =
      std::clamp(std::thread::hardware_concurrency(), 1U, kMaxReaders) + 1;
  std::deque<std::future<std::vector<Result<SessionRecord>>>> groups_being_read;

  std::size_t files_begun = 0;
  while (files_begun < files.size() || !groups_being_read.empty()) {
    while (files_begun < files.size() && groups_being_read.size() < max_groups) {
      const std::size_t group_size = std::min(kFilesAhead, files.size() - files_begun);
      const auto group = files.subspan(files_begun, group_size);
      try {
        groups_being_read.push_back(std::async(std::launch::async, records_in, group));
      } catch (const std::system_error&) {
        // The system has no thread to spare, so this thread will read the group.
        groups_being_read.push_back(std::async(std::launch::deferred, records_in, group));
      }
      files_begun += group_size;
    }

    auto records = groups_being_read.front().get();
    groups_being_read.pop_front();
    for (auto& record : records)
      if (auto visited = visit(std::move(record)); !visited) return visited;
  }
  return {};
}

struct PointRow {
  std::int64_t variant = 0;
  std::size_t session = 0;
  std::int64_t layout = 0;
  std::int64_t name = 0;
  std::int64_t anchor = 0;
  const CommandRecord* result = nullptr;
};

struct Batch {
  std::span<const SessionRecord> records;
  std::int64_t added_before = 0;
  std::map<std::int64_t, std::string> names{};
  std::map<std::int64_t, std::pair<std::string, std::int64_t>>
      machines{};  // by id: class of machines, and id of the name that holds the encoded machine
  std::map<std::int64_t, std::string> variants{};
  std::map<std::int64_t, std::size_t> sessions{};  // by id: index into `records`. add_sessions()
                                                   // removes sessions that the database has
  std::vector<std::int64_t> ids{};
  std::vector<PointRow> points{};

  std::int64_t name(const std::string& text) {
    const std::int64_t number = text_id(text);
    if (number != 0) names.emplace(number, text);
    return number;
  }

  std::int64_t layout(const std::vector<MetricRecord>& metrics) {
    const auto is_alike = [](const MetricRecord& a, const MetricRecord& b) {
      return a.name == b.name && a.unit == b.unit && a.better == b.better && a.method == b.method;
    };
    if (last == nullptr ||
        !std::equal(metrics.begin(), metrics.end(), last->begin(), last->end(), is_alike))
      last_layout = name(encode_metric_names(metrics));
    last = &metrics;
    return last_layout;
  }

  std::int64_t added(std::size_t place) const {
    return added_before + 1 + static_cast<std::int64_t>(place);
  }

  const std::vector<MetricRecord>* last = nullptr;
  std::int64_t last_layout = 0;
};

/// Adds the rows of a session to the batch, unless the batch already has this session.
void gather(Batch& batch, std::size_t place) {
  const SessionRecord& session = batch.records[place];
  batch.ids.push_back(text_id(session.id));
  const bool is_new = batch.sessions.emplace(batch.ids.back(), place).second;
  if (!is_new) return;

  const std::string machine_class = class_of(session.machine);
  const std::int64_t machine = text_id(machine_class);
  batch.machines.emplace(machine,
                         std::pair(machine_class, batch.name(encode_machine(session.machine))));

  // batch.name() adds a text to the batch, and returns the text's id.
  for (const std::string& text :
       {session.machine.name, commit_of(session), session.label("branch"), session.version})
    batch.name(text);
  for (const Label& label : session.labels) {
    batch.name(label.key);
    batch.name(label.value);
  }

  for (const CommandRecord& result : session.results) {
    const std::int64_t variant = text_id(variant_key(result, machine_class));
    std::string variant_row =
        fmt::format("({},{},{},{},{})", variant, batch.name(result.benchmark),
                    batch.name(result.role), batch.name(result.shown_command_name), machine);
    batch.variants.emplace(variant, std::move(variant_row));
    batch.points.push_back({variant, place, batch.layout(result.metrics),
                            batch.name(result.anchored_name), batch.name(result.anchor), &result});
  }
}

/// Adds the sessions of a batch, and takes those that the database already has out of the batch.
Result<void> add_sessions(Database& database, Batch& batch) {
  // Only the UUIDs come from outside, so they are passed as parameters (:t0, :t1, ...).
  std::vector<std::string> rows;
  std::vector<std::string> uuids;
  for (const auto& [id, place] : batch.sessions) {
    const SessionRecord& record = batch.records[place];
    rows.push_back(fmt::format("({},:t{},{},{},{},{},{},{},{},{},{},{})", id, uuids.size(),
                               to_milliseconds(record.began), to_milliseconds(record.ended),
                               text_id(class_of(record.machine)), text_id(record.machine.name),
                               text_id(commit_of(record)), text_id(record.label("branch")),
                               text_id(record.version), record.complete ? 1 : 0,
                               record.results.size(), batch.added(place)));
    uuids.push_back(record.id);
  }

  // The database returns only the sessions that it did not have yet.
  std::set<std::int64_t> added_ids;
  auto added = database.for_each_row(
      fmt::format("INSERT INTO lauka_session (id, uuid, began, ended, machine, host, commit_name, "
                  "branch, version, complete, results, added) VALUES {} ON CONFLICT DO NOTHING "
                  "RETURNING id",
                  fmt::join(rows, ",")),
      1, uuids, [&](const Row& row) { added_ids.insert(id_in(row[0])); });

  std::erase_if(batch.sessions,
                [&](const auto& session) { return !added_ids.contains(session.first); });
  return added;
}

Result<void> add_shared(Database& database, const Batch& batch,
                        const std::set<std::int64_t>& known) {
  Rows names(database, "lauka_name (id, text)");
  for (const auto& [id, text] : batch.names)
    if (!known.contains(id)) names.add(fmt::format("({},:t)", id), &text);
  if (auto done = names.end(); !done) return done;
  Rows machines(database, "lauka_machine (id, class, parts)");
  for (const auto& [id, machine] : batch.machines)
    if (!known.contains(id))
      machines.add(fmt::format("({},:t,{})", id, machine.second), &machine.first);
  if (auto done = machines.end(); !done) return done;
  Rows variants(database, "lauka_variant (id, benchmark, role, command, machine)");
  for (const auto& [id, row] : batch.variants)
    if (!known.contains(id)) variants.add(row);
  return variants.end();
}

/// Adds the rows that belong to one session each: labels and points.
Result<void> add_own(Database& database, const Batch& batch) {
  Rows labels(database, "lauka_label (session, name, value)");
  for (const auto& [id, place] : batch.sessions)
    for (const Label& label : batch.records[place].labels)
      labels.add(fmt::format("({},{},{})", id, text_id(label.key), text_id(label.value)));
  if (auto added = labels.end(); !added) return added;

  Rows points(
      database,
      "lauka_point (variant, began, session, commit_name, branch, layout, numbers, name, anchor, "
      "added)");
  for (const PointRow& point : batch.points) {
    if (!batch.sessions.contains(batch.ids[point.session])) continue;
    const SessionRecord& session = batch.records[point.session];
    points.add(fmt::format(
        "({},{},{},{},{},{},'{}',{},{},{})", point.variant, to_milliseconds(session.began),
        batch.ids[point.session], text_id(commit_of(session)), text_id(session.label("branch")),
        point.layout, encode_values(point.result->metrics, point.result->endings), point.name,
        point.anchor, batch.added(point.session)));
  }
  return points.end();
}

Error no_machine(const std::vector<Row>& variants, const SeriesSelection& wanted) {
  std::set<std::string> classes;
  for (const Row& variant : variants) classes.insert(variant[4]);
  const std::vector<std::string> all(classes.begin(), classes.end());
  const auto near = nearest_names(wanted.machine_class_prefix, all);
  return {fmt::format("there is no machine of class {}", cited(wanted.machine_class_prefix)),
          near.empty() ? "there are " + listed(all)
                       : fmt::format("did you mean {}?", listed(near, "or"))};
}

}  // namespace

std::string commit_of(const SessionRecord& session) {
  const std::string commit = session.label("commit");
  return commit.empty() || session.label("dirty") != "yes" ? commit : commit + "+dirty";
}

std::vector<MetricHistory> make_histories(const SessionRecord& session,
                                          const SeriesSelection& wanted) {
  std::vector<MeasuredCommand> variants;
  for (const CommandRecord& result : session.results)
    variants.push_back({.benchmark = result.benchmark,
                        .role = result.role,
                        .command = result.shown_command_name,
                        .machine_class = class_of(session.machine),
                        .machine = session.machine});

  const std::string role = wanted.role.empty() ? usual_role(variants) : wanted.role;
  std::vector<MetricHistory> histories;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (role != "all" && variants[i].role != role) continue;
    const CommandRecord& result = session.results[i];
    for (const std::size_t index : wanted_metrics(result.metrics, wanted.metrics)) {
      const MetricRecord& metric = result.metrics[index];
      MetricHistory series{.variant = variants[i], .metric = metric};
      series.points.push_back({.began = to_milliseconds(session.began),
                               .commit = commit_of(session),
                               .branch = session.label("branch"),
                               .anchor = result.anchor,
                               .values = metric,
                               .endings = result.endings});
      histories.push_back(std::move(series));
    }
  }
  return histories;
}

const std::string& Loader::name(std::int64_t id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? names_.at(0) : found->second;
}

Result<void> Loader::load_names(const std::set<std::int64_t>& ids) {
  std::vector<std::int64_t> unknown;
  std::ranges::copy_if(ids, std::back_inserter(unknown),
                       [&](std::int64_t id) { return names_.count(id) == 0; });
  for (std::size_t i = 0; i < unknown.size(); i += kMaxIds) {
    const auto some = std::span(unknown).subspan(i, std::min(kMaxIds, unknown.size() - i));
    auto asked = database_.for_each_row(
        fmt::format("SELECT id, text FROM lauka_name WHERE id IN ({})", fmt::join(some, ",")), 2,
        {}, [&](const Row& row) { names_[id_in(row[0])] = row[1]; });
    if (!asked) return asked;
  }
  return {};
}

Result<std::vector<SessionLine>> Loader::sessions(std::size_t last, const std::string& commit) {
  std::string condition;
  if (!commit.empty()) {
    const auto is_commit = commit_condition(database_, commit);
    if (!is_commit) return is_commit.error();
    condition = " WHERE " + *is_commit;
  }

  constexpr std::size_t column_count = 8;
  const auto rows = database_.ask(
      fmt::format("SELECT began, uuid, {}, {}, {}, {}, results, complete FROM lauka_session{} "
                  "ORDER BY began DESC, added DESC LIMIT {}",
                  name_in("commit_name"), name_in("branch"), name_in("host"), kClassOfMachine,
                  condition, last),
      column_count);
  if (!rows) return rows.error();

  std::vector<SessionLine> lines;
  for (const Row& row : *rows)
    lines.push_back({.began = id_in(row[0]),
                     .uuid = row[1],
                     .commit = row[2],
                     .branch = row[3],
                     .host = row[4],
                     .machine_class = row[5],
                     .result_count = static_cast<std::size_t>(id_in(row[6])),
                     .complete = row[7] != "0"});
  return lines;
}

Error Loader::no_variant(const SeriesSelection& wanted, const std::set<std::string>& roles) {
  const std::string lists = "run lauka-history list --benchmarks to see all";
  if (wanted.benchmark.empty()) return {"there is no such benchmark", lists};
  const std::string what = "no benchmark " + cited(wanted.benchmark);
  if (!roles.empty())
    return {what + " in the role " + cited(wanted.role),
            "write --role " + listed(std::vector<std::string>(roles.begin(), roles.end()), "or")};
  SeriesSelection any{.role = "all"};
  std::set<std::string> names;
  if (!wanted.commit.empty()) return {what + " at the commit " + cited(wanted.commit), lists};
  if (const auto all = variants(any))
    for (const MeasuredCommand& variant : *all) names.insert(variant.benchmark);
  const auto near =
      nearest_names(wanted.benchmark, std::vector<std::string>(names.begin(), names.end()));
  return {what, near.empty() ? lists : fmt::format("did you mean {}?", listed(near, "or"))};
}

Result<std::vector<MeasuredCommand>> Loader::variants(const SeriesSelection& wanted) {
  std::string condition = "1 = 1";  // so that each of the following can begin with AND
  if (!wanted.benchmark.empty())
    condition += fmt::format(" AND benchmark = {}", text_id(wanted.benchmark));
  if (!wanted.commit.empty()) {
    const auto is_commit = commit_condition(database_, wanted.commit);
    if (!is_commit) return is_commit.error();
    condition += fmt::format(
        " AND id IN (SELECT variant FROM lauka_point WHERE session IN "
        "(SELECT id FROM lauka_session WHERE {}))",
        *is_commit);
  }

  constexpr std::size_t column_count = 6;
  const auto rows = database_.ask(
      fmt::format("SELECT id, {}, {}, {}, {}, {} FROM lauka_variant WHERE {}", name_in("benchmark"),
                  name_in("role"), name_in("command"), kClassOfMachine,
                  name_in("(SELECT parts FROM lauka_machine WHERE id = machine)"), condition),
      column_count);
  if (!rows) return rows.error();

  std::vector<MeasuredCommand> variants;
  for (const Row& row : *rows) {
    const std::string& machine_class = row[4];
    if (!machine_class.starts_with(wanted.machine_class_prefix)) continue;
    variants.push_back({.id = id_in(row[0]),
                        .benchmark = row[1],
                        .role = row[2],
                        .command = row[3],
                        .machine_class = machine_class,
                        .machine = decode_machine(row[5])});
  }

  if (variants.empty() && !rows->empty() && !wanted.machine_class_prefix.empty())
    return no_machine(*rows, wanted);

  std::set<std::string> all_roles;
  for (const MeasuredCommand& variant : variants)
    if (!variant.role.empty()) all_roles.insert(variant.role);

  const std::string role = wanted.role.empty() ? usual_role(variants) : wanted.role;
  std::erase_if(variants, [&](const MeasuredCommand& variant) {
    const bool is_wanted = role == "all" || variant.role == role;

    // Unless a role is asked for, commands without a role belong to the usual one.
    const bool is_usual = wanted.role.empty() && variant.role.empty();
    return !is_wanted && !is_usual;
  });
  if (variants.empty()) return no_variant(wanted, all_roles);

  std::ranges::sort(variants, [](const MeasuredCommand& a, const MeasuredCommand& b) {
    return std::tie(a.benchmark, a.role, a.command, a.machine_class) <
           std::tie(b.benchmark, b.role, b.command, b.machine_class);
  });
  return variants;
}

Result<std::vector<MetricHistory>> Loader::series(const MeasuredCommand& variant,
                                                  const SeriesSelection& wanted) {
  const auto condition = condition_of_points(database_, variant, wanted);
  if (!condition) return condition.error();

  // The columns of the query, in its order.
  enum Column : std::size_t {
    Began,
    Added,
    SessionId,
    Commit,
    Branch,
    Anchor,
    Layout,
    Numbers,
    Uuid,
    Count
  };
  auto rows = database_.ask(
      fmt::format(
          "SELECT began, added, session, commit_name, branch, anchor, layout, numbers, {} "
          "FROM lauka_point WHERE {} ORDER BY began DESC, added DESC, session DESC LIMIT {}",
          wanted.reads_uuids ? "(SELECT uuid FROM lauka_session WHERE id = session)" : "''",
          *condition, wanted.max_sessions),
      Count);
  if (!rows) return rows.error();

  std::set<std::int64_t> ids_of_names;
  for (const Row& row : *rows)
    for (const Column column : {Commit, Branch, Anchor, Layout})
      ids_of_names.insert(id_in(row[column]));
  if (auto learnt = load_names(ids_of_names); !learnt) return learnt.error();

  // The newest came first, for the limit.
  std::ranges::reverse(*rows);

  std::vector<MetricHistory> histories;
  for (const Row& row : *rows) {
    // A layout lists the metrics whose values follow one another in `numbers`.
    const auto [known, is_new_layout] = metric_lists_by_id_.try_emplace(id_in(row[Layout]));
    std::vector<MetricRecord>& layout = known->second;
    if (is_new_layout) layout = decode_metric_names(name(known->first));

    for (const std::size_t metric : wanted_metrics(layout, wanted.metrics)) {
      SessionPoint point{.began = id_in(row[Began]),
                         .order_added = id_in(row[Added]),
                         .session_row_id = id_in(row[SessionId]),
                         .uuid = row[Uuid],
                         .commit = name(id_in(row[Commit])),
                         .branch = name(id_in(row[Branch])),
                         .anchor = name(id_in(row[Anchor])),
                         .values = layout[metric]};
      if (!decode_values(point.values, metric, row[Numbers])) continue;
      point.endings = decode_endings(row[Numbers]);

      // The newest session says what the metric is, but its method adds to what is known already.
      MetricHistory& series = comparable_series(layout[metric], histories, variant);
      SettingValues method = series.metric.method;
      method.add(layout[metric].method);
      series.metric = layout[metric];
      series.metric.method = std::move(method);
      series.points.push_back(std::move(point));
    }
  }

  if (auto chained = chain_anchors(histories); !chained) return chained.error();
  for (MetricHistory& series : histories)
    series.method_text = distinguishing_method(series, histories);
  return histories;
}

Result<std::vector<HistorySplit>> Loader::find_splits(const SeriesSelection& wanted) {
  const auto all = variants(wanted);
  if (!all) return all.error();
  std::vector<HistorySplit> splits;
  for (auto begin = all->begin(); begin != all->end();) {
    const auto end = std::find_if_not(begin, all->end(), [&](const MeasuredCommand& variant) {
      return are_of_one_command(*begin, variant);
    });
    const std::span<const MeasuredCommand> same(begin, end);
    begin = end;
    if (same.size() < 2) continue;
    const auto periods = read_periods(database_, same);
    if (!periods) return periods.error();
    add_splits(*periods, splits);
  }
  return splits;
}

Result<void> Loader::chain_anchors(std::vector<MetricHistory>& all) {
  if (std::ranges::all_of(all, has_one_anchor)) return {};

  // A session that measured one of these anchors against another one links the two. In its row, the
  // name of the command is an anchor of other rows.
  const MeasuredCommand& variant = all.front().variant;
  const auto rows = database_.ask(
      fmt::format(
          "SELECT name, anchor, layout, numbers FROM lauka_point WHERE variant IN (SELECT "
          "id FROM lauka_variant WHERE benchmark = {0} AND machine = {1}) AND anchor <> name AND "
          "name IN (SELECT anchor FROM lauka_point WHERE variant IN (SELECT id FROM lauka_variant "
          "WHERE benchmark = {0} AND machine = {1}))",
          text_id(variant.benchmark), text_id(variant.machine_class)),
      4);
  if (!rows) return rows.error();

  std::set<std::int64_t> names;
  for (const Row& row : *rows) names.insert({id_in(row[0]), id_in(row[1]), id_in(row[2])});
  if (auto learnt = load_names(names); !learnt) return learnt;

  for (MetricHistory& series : all) {
    std::vector<AnchorRatio> ratios;
    for (const Row& row : *rows) {
      const std::string& measured_anchor = name(id_in(row[0]));
      const std::string& its_anchor = name(id_in(row[1]));
      const std::string& layout = name(id_in(row[2]));
      const auto ratio = to_anchor(series.metric.name, layout, row[3]);
      if (ratio) ratios.push_back({measured_anchor, its_anchor, *ratio});
    }
    relate_to_newest_anchor(series, ratios);
  }
  return {};
}

Result<std::map<std::int64_t, std::string>> Loader::read_acknowledgements(
    std::int64_t variant, const std::string& metric) {
  const auto rows = database_.ask(
      fmt::format("SELECT began, {} FROM lauka_acknowledged WHERE variant = {} AND metric = {}",
                  name_in("note"), variant, text_id(metric)),
      2);
  if (!rows) return rows.error();
  std::map<std::int64_t, std::string> notes;
  for (const Row& row : *rows) notes[id_in(row[0])] = row[1];
  return notes;
}

Result<void> Store::note_new(std::span<const SessionRecord> sessions) {
  std::map<std::int64_t, const CommandRecord*> result_by_variant;
  for (const SessionRecord& session : sessions) {
    const std::string machine_class = class_of(session.machine);
    for (const CommandRecord& result : session.results)
      if (!result.benchmark_without_settings.empty())
        result_by_variant[text_id(variant_key(result, machine_class))] = &result;
  }
  if (result_by_variant.empty()) return {};

  std::vector<std::int64_t> ids;
  ids.reserve(result_by_variant.size());
  for (const auto& [id, result] : result_by_variant) ids.push_back(id);

  // Leaves those that the database does not have yet.
  auto asked = database_.for_each_row(
      fmt::format("SELECT id FROM lauka_variant WHERE id IN ({})", fmt::join(ids, ",")), 1, {},
      [&](const Row& row) { result_by_variant.erase(id_in(row[0])); });
  for (const auto& [id, result] : result_by_variant)
    new_[result->benchmark_without_settings] = result->benchmark;
  return asked;
}

Result<std::size_t> Store::add(std::span<const SessionRecord> sessions) {
  if (sessions.empty()) return std::size_t{0};
  Batch batch{.records = sessions};
  for (std::size_t place = 0; place < sessions.size(); ++place) gather(batch, place);

  // The database stores the points of a variant together, so they are added in this order.
  std::ranges::sort(batch.points, {}, [&](const PointRow& point) {
    return std::pair(point.variant, batch.ids[point.session]);
  });

  std::size_t added_count = 0;
  auto committed = database_.in_transaction([&]() -> Result<void> {
    const auto last_number = database_.ask("SELECT COALESCE(MAX(added), 0) FROM lauka_session", 1);
    if (!last_number) return last_number.error();
    batch.added_before = id_in(last_number->front().front());

    // Leaves only the new sessions in the batch.
    if (auto added = add_sessions(database_, batch); !added) return added;
    added_count = batch.sessions.size();
    if (added_count == 0) return {};

    // note_new() asks which variants the database lacks, so it comes before add_shared(), which
    // adds them.
    if (auto noted = note_new(sessions); !noted) return noted;

    if (auto shared = add_shared(database_, batch, shared_row_ids_already_written_); !shared)
      return shared;
    return add_own(database_, batch);
  });

  if (!committed) return committed.error();
  if (added_count == 0) return added_count;

  // Learns the rows only now, because a failed transaction takes them back.
  const auto learn = [&](const auto& rows) {
    for (const auto& [id, row] : rows) shared_row_ids_already_written_.insert(id);
  };
  learn(batch.names);
  learn(batch.machines);
  learn(batch.variants);

  return added_count;
}

Result<std::size_t> forget(Database& database, const ForgetRequest& what) {
  std::vector<std::string> texts;
  const auto condition = make_condition(database, what, texts);
  if (!condition) return condition.error();

  std::size_t count = 0;
  auto forgotten = database.in_transaction([&]() -> Result<void> {
    const auto rows =
        database.ask("SELECT id, uuid FROM lauka_session WHERE " + *condition, 2, texts);
    if (!rows) return rows.error();

    count = rows->size();
    if (count == 0)
      return Error{"has no such session", "run lauka-history list to see all sessions"};

    // The beginning of a session's name must stand for one session.
    if (!what.session.empty() && count > 1)
      return Error{fmt::format("has {} sessions whose names begin like this", count),
                   "write more of the name"};
    return delete_sessions(database, *rows);
  });

  if (!forgotten) return forgotten.error();
  return count;
}

Result<void> acknowledge(Database& database, const StepNote& note) {
  return database.in_transaction([&]() -> Result<void> {
    Rows names(database, "lauka_name (id, text)");
    for (const std::string* text : {&note.metric, &note.text})
      if (!text->empty()) names.add(fmt::format("({},:t)", text_id(*text)), text);
    if (auto done = names.end(); !done) return done;
    const std::string which = fmt::format("variant = {} AND metric = {} AND began = {}",
                                          note.variant, text_id(note.metric), note.began);
    if (auto gone = database.run("DELETE FROM lauka_acknowledged WHERE " + which); !gone)
      return gone;
    return database.run(fmt::format("INSERT INTO lauka_acknowledged VALUES ({},{},{},{})",
                                    note.variant, text_id(note.metric), note.began,
                                    text_id(note.text)));
  });
}

Result<SessionRecord> read_session_file(const std::string& file) {
  const auto text = os::read_file(file, kMaxBytes);
  return text ? read_record(*text) : Result<SessionRecord>(text.error());
}

Result<AddResult> add_files(Database& database, std::span<const std::string> files,
                            const std::function<void(const Error&)>& report_bad) {
  Store store(database);
  AddResult result;
  std::size_t files_read = 0;

  // A batch of sessions is one transaction, because each transaction waits for the disk.
  std::vector<SessionRecord> batch;
  std::size_t command_records_in_batch = 0;

  const auto add_batch = [&]() -> Result<void> {
    const auto added = store.add(batch);
    if (!added)
      return Error{
          fmt::format("{}; before that, lauka-history had read {} and added {} of them",
                      added.error().line(), plural(files_read, "file"), result.added_sessions),
          "add the files again"};

    result.added_sessions += *added;
    batch.clear();
    command_records_in_batch = 0;
    return {};
  };

  auto added = for_each_record(files, [&](Result<SessionRecord> record) -> Result<void> {
    const std::string& file = files[files_read++];
    if (!record) {
      ++result.refused_files;
      report_bad(record.error().prefixed(cited(file)));
      return {};
    }

    command_records_in_batch += record->results.size();
    batch.push_back(*std::move(record));
    const bool is_full = batch.size() >= kMaxOfBatch || command_records_in_batch >= kMaxPoints;
    return is_full ? add_batch() : Result<void>();
  });

  if (added) added = add_batch();
  if (!added) return added.error();

  result.new_because_of_settings = store.new_because_of_settings();
  result.already_stored = files.size() - result.refused_files - result.added_sessions;
  return result;
}

}  // namespace lauka::history
