#include "history/store.h"

#include "core/numbers.h"
#include "core/text.h"
#include "format/sections.h"
#include "history/encoding.h"
#include "history/load.h"
#include "os/files.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <future>
#include <map>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

// Few statements of many rows, because round trips to the database take the time. Numbers are part
// of the statements, texts are bound. Rows are written in ascending order, and tables in one order:
// two writers that add the same wait for each other in turn, without a deadlock.

namespace lauka::history {

namespace {

constexpr std::size_t kMostTexts = 500;                            // bound in one statement
constexpr std::size_t kMostOfStatement = std::size_t{256} * 1024;  // of a statement

/// Statements "INSERT INTO table (columns) VALUES row, row ..." of rows that are added one by one.
class Rows {
 public:
  Rows(Database& database, std::string_view into)
      : database_(database), head_(fmt::format("INSERT INTO {} VALUES ", into)) {}

  Result<void> add(const std::string& row, std::span<const std::string> texts = {}) {
    values_ += (values_.empty() ? "" : ",") + row;
    texts_.insert(texts_.end(), texts.begin(), texts.end());
    return texts_.size() >= kMostTexts || values_.size() >= kMostOfStatement ? flush()
                                                                             : Result<void>();
  }

  /// The place of the next text that is bound.
  std::size_t next_text() const { return texts_.size(); }

  Result<void> flush() {
    if (values_.empty()) return {};
    auto done = database_.run(head_ + values_ + " ON CONFLICT DO NOTHING", texts_);
    values_.clear();
    texts_.clear();
    return done;
  }

 private:
  Database& database_;
  std::string head_;
  std::string values_{};
  std::vector<std::string> texts_{};
};

std::int64_t milliseconds_of(TimeOfDay time) {
  return time.time_since_epoch().count();
}

/// Reads a date, or date and time: "2026-11-22", "2026-11-22T18:00:00Z"; UTC.
Result<TimeOfDay> parse_date(const std::string& text) {
  const bool is_date = std::ranges::count(text, '-') == 2;
  const std::string whole = text.find('T') == std::string::npos ? text + "T00:00:00Z" : text;
  const auto time = time_of(whole);
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  if (!is_date || time == TimeOfDay() || (rfc3339(time) != whole && rfc3339(second) != whole))
    return Error{cited(text) + " is not a date", "write 2026-11-22 or 2026-11-22T18:00:00Z"};
  return time;
}

/// The condition that picks the sessions; `texts` are bound in it.
Result<std::string> condition_of(Database& database, const Forgotten& what,
                                 std::vector<std::string>& texts) {
  if (!what.before.empty()) {
    const auto time = parse_date(what.before);
    if (!time) return time.error();
    return fmt::format("began < {}", milliseconds_of(*time));
  }
  if (!what.commit.empty()) {
    const auto number = find_commit(database, what.commit);
    if (!number) return number.error();
    return fmt::format("commit_name = {}", *number);
  }
  for (const char c : what.session)
    if (c == '%' || c == '_') return Error{"has no such session", "lauka-history list has them"};
  texts.push_back(lower_case(what.session) + "%");
  return std::string("uuid LIKE :t0");
}

/// Deletes sessions, whose ids are first in `rows`, with all that they have.
Result<void> delete_sessions(Database& database, const std::vector<Row>& rows) {
  std::string ids;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ids += (ids.empty() ? "" : ",") + rows[i][0];
    if (i + 1 < rows.size() && ids.size() < kMostOfStatement) continue;
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

constexpr std::size_t kMostBytes = std::size_t{1} << 30U;  // of a file
constexpr std::size_t kMostOfBatch = 200;                  // sessions in a transaction
constexpr std::size_t kMostPoints = 4'000;                 // commands in one
constexpr unsigned kMostReaders = 4;                       // threads
constexpr std::size_t kFilesAhead = 16;                    // for each

std::vector<Result<SessionRecord>> records_in(std::span<const std::string> files) {
  std::vector<Result<SessionRecord>> records;
  records.reserve(files.size());
  for (const std::string& file : files) records.push_back(record_in(file));
  return records;
}

}  // namespace

/// A row of lauka_point.
struct PointRow {
  std::int64_t variant = 0;
  std::size_t session = 0;
  std::int64_t layout = 0;
  std::int64_t name = 0;
  std::int64_t anchor = 0;
  const BenchmarkRecord* result = nullptr;
};

struct Store::Batch {
  std::map<std::int64_t, std::string> names{};
  std::map<std::int64_t, std::pair<std::string, std::int64_t>> machines{};  // class and parts
  std::map<std::int64_t, std::string> variants{};                           // rows
  std::map<std::int64_t, std::size_t> sessions{};
  std::vector<std::int64_t> ids{};  // of the sessions
  std::vector<PointRow> points{};

  std::int64_t name(const std::string& text) {
    const std::int64_t number = text_id(text);
    if (number != 0) names.emplace(number, text);
    return number;
  }

  std::int64_t layout(const std::vector<MetricRecord>& metrics) {
    const auto is_alike = [](const MetricRecord& a, const MetricRecord& b) {
      return a.name == b.name && a.unit == b.unit && a.better == b.better;
    };
    if (last == nullptr ||
        !std::equal(metrics.begin(), metrics.end(), last->begin(), last->end(), is_alike))
      last_layout = name(encode_layout(metrics));
    last = &metrics;
    return last_layout;
  }

  // Most commands have the same metrics as the one before.
  const std::vector<MetricRecord>* last = nullptr;
  std::int64_t last_layout = 0;
};

Result<void> Store::add_names(const Batch& batch) {
  Rows rows(database_, "lauka_name (id, text)");
  for (const auto& [id, text] : batch.names) {
    if (known_.count(id) > 0) continue;
    if (auto done = rows.add(fmt::format("({},:t{})", id, rows.next_text()), std::span(&text, 1));
        !done)
      return done;
  }
  return rows.flush();
}

Result<void> Store::add_machines(const Batch& batch) {
  Rows machines(database_, "lauka_machine (id, class, parts)");
  for (const auto& [id, machine] : batch.machines) {
    if (known_.count(id) > 0) continue;
    const std::string row = fmt::format("({},:t{},{})", id, machines.next_text(), machine.second);
    if (auto done = machines.add(row, std::span(&machine.first, 1)); !done) return done;
  }
  if (auto done = machines.flush(); !done) return done;
  Rows variants(database_, "lauka_variant (id, benchmark, role, command, machine)");
  for (const auto& [id, row] : batch.variants) {
    if (known_.count(id) > 0) continue;
    if (auto done = variants.add(row); !done) return done;
  }
  return variants.flush();
}

Result<std::vector<bool>> Store::add_sessions(const Batch& batch,
                                              std::span<const SessionRecord> sessions,
                                              std::int64_t added_before) {
  std::string values;
  std::vector<std::string> texts;
  for (const auto& [id, place] : batch.sessions) {
    const SessionRecord& one = sessions[place];
    values += fmt::format("{}({},:t{},{},{},{},{},{},{},{},{},{},{})", values.empty() ? "" : ",",
                          id, texts.size(), milliseconds_of(one.began), milliseconds_of(one.ended),
                          text_id(class_of(one.machine)), text_id(one.machine.name),
                          text_id(commit_of(one)), text_id(one.label("branch")),
                          text_id(one.version), one.complete ? 1 : 0, one.results.size(),
                          added_before + 1 + static_cast<std::int64_t>(place));
    texts.push_back(one.id);
  }
  std::vector<bool> is_new(sessions.size(), false);
  auto asked = database_.each(
      "INSERT INTO lauka_session (id, uuid, began, ended, machine, host, commit_name, branch, "
      "version, complete, results, added) VALUES " +
          values + " ON CONFLICT DO NOTHING RETURNING id",
      1, texts, [&](const Row& row) {
        const auto found = batch.sessions.find(std::strtoll(row[0].c_str(), nullptr, 10));
        if (found != batch.sessions.end()) is_new[found->second] = true;
      });
  if (!asked) return asked.error();
  return is_new;
}

void Store::gather(Batch& batch, const SessionRecord& session, std::size_t place) {
  batch.ids.push_back(text_id(session.id));
  if (!batch.sessions.emplace(batch.ids.back(), place).second) return;  // twice among these
  const std::string machine_class = class_of(session.machine);
  const std::int64_t machine = text_id(machine_class);
  batch.machines.emplace(machine,
                         std::pair(machine_class, batch.name(encode_machine(session.machine))));
  for (const std::string& text :
       {session.machine.name, commit_of(session), session.label("branch"), session.version})
    batch.name(text);
  for (const Label& label : session.labels) {
    batch.name(label.key);
    batch.name(label.value);
  }
  for (const BenchmarkRecord& result : session.results) {
    const std::int64_t variant = text_id(variant_key(result, machine_class));
    batch.variants.emplace(
        variant, fmt::format("({},{},{},{},{})", variant, batch.name(result.benchmark),
                             batch.name(result.role), batch.name(result.command), machine));
    batch.points.push_back({variant, place, batch.layout(result.metrics), batch.name(result.name),
                            batch.name(result.anchor), &result});
  }
}

Result<void> Store::add_labels(const Batch& batch, std::span<const SessionRecord> sessions,
                               const std::vector<bool>& is_new) {
  Rows labels(database_, "lauka_label (session, name, value)");
  for (const auto& [id, place] : batch.sessions) {
    if (!is_new[place]) continue;
    for (const Label& label : sessions[place].labels) {
      const std::string row =
          fmt::format("({},{},{})", id, text_id(label.key), text_id(label.value));
      if (auto one = labels.add(row); !one) return one;
    }
  }
  return labels.flush();
}

Result<void> Store::add_points(const Batch& batch, std::span<const SessionRecord> sessions,
                               const std::vector<bool>& is_new, std::int64_t added_before) {
  Rows points(
      database_,
      "lauka_point (variant, began, session, commit_name, branch, layout, numbers, name, anchor, "
      "added)");
  for (const PointRow& point : batch.points) {
    const SessionRecord& session = sessions[point.session];
    if (!is_new[point.session]) continue;
    const std::string row = fmt::format(
        "({},{},{},{},{},{},'{}',{},{},{})", point.variant, milliseconds_of(session.began),
        batch.ids[point.session], text_id(commit_of(session)), text_id(session.label("branch")),
        point.layout, encode_values(point.result->metrics), point.name, point.anchor,
        added_before + 1 + static_cast<std::int64_t>(point.session));
    if (auto one = points.add(row); !one) return one;
  }
  return points.flush();
}

Result<std::size_t> Store::add(std::span<const SessionRecord> sessions) {
  if (sessions.empty()) return std::size_t{0};
  Batch batch;
  for (std::size_t place = 0; place < sessions.size(); ++place)
    gather(batch, sessions[place], place);
  std::ranges::sort(batch.points, [&](const PointRow& a, const PointRow& b) {
    return std::pair(a.variant, batch.ids[a.session]) < std::pair(b.variant, batch.ids[b.session]);
  });
  std::size_t added = 0;
  auto done = database_.in_transaction([&]() -> Result<void> {
    const auto newest = database_.ask("SELECT COALESCE(MAX(added), 0) FROM lauka_session", 1);
    if (!newest) return newest.error();
    const std::int64_t before = std::strtoll(newest->front().front().c_str(), nullptr, 10);
    const auto is_new = add_sessions(batch, sessions, before);
    if (!is_new) return is_new.error();
    added = static_cast<std::size_t>(std::ranges::count(*is_new, true));
    if (added == 0) return {};
    if (auto names = add_names(batch); !names) return names;
    if (auto machines = add_machines(batch); !machines) return machines;
    if (auto labels = add_labels(batch, sessions, *is_new); !labels) return labels;
    return add_points(batch, sessions, *is_new, before);
  });
  if (!done) return done.error();
  if (added == 0) return added;
  for (const auto& [id, text] : batch.names) known_.insert(id);
  for (const auto& [id, machine] : batch.machines) known_.insert(id);
  for (const auto& [id, row] : batch.variants) known_.insert(id);
  return added;
}

Result<std::size_t> forget(Database& database, const Forgotten& what) {
  std::vector<std::string> texts;
  const auto condition = condition_of(database, what, texts);
  if (!condition) return condition.error();
  std::size_t count = 0;
  auto done = database.in_transaction([&]() -> Result<void> {
    const auto rows =
        database.ask("SELECT id, uuid FROM lauka_session WHERE " + *condition, 2, texts);
    if (!rows) return rows.error();
    count = rows->size();
    if (count == 0) return Error{"has no such session", "lauka-history list shows what there is"};
    if (!what.session.empty() && count > 1)
      return Error{fmt::format("has {} sessions that begin so", count), "write more of its name"};
    return delete_sessions(database, *rows);
  });
  if (!done) return done.error();
  return count;
}

Result<void> acknowledge(Database& database, std::int64_t variant, const std::string& metric,
                         std::int64_t began, const std::string& note) {
  return database.in_transaction([&]() -> Result<void> {
    Rows names(database, "lauka_name (id, text)");
    for (const std::string* text : {&metric, &note})
      if (const std::int64_t number = text_id(*text); number != 0)
        if (auto done =
                names.add(fmt::format("({},:t{})", number, names.next_text()), std::span(text, 1));
            !done)
          return done;
    if (auto done = names.flush(); !done) return done;
    const std::string which =
        fmt::format("variant = {} AND metric = {} AND began = {}", variant, text_id(metric), began);
    if (auto gone = database.run("DELETE FROM lauka_acknowledged WHERE " + which); !gone)
      return gone;
    return database.run(fmt::format("INSERT INTO lauka_acknowledged VALUES ({},{},{},{})", variant,
                                    text_id(metric), began, text_id(note)));
  });
}

Result<SessionRecord> record_in(const std::string& file) {
  const auto text = os::read_file(file, kMostBytes);
  return text ? record_of(*text) : Result<SessionRecord>(text.error());
}

// Reading takes longer than the database does: a few files for each processor are read ahead.
Result<Added> Adder::add(std::span<const std::string> files) {
  const std::size_t ahead = std::clamp(std::thread::hardware_concurrency(), 1U, kMostReaders) + 1;
  std::deque<std::future<std::vector<Result<SessionRecord>>>> reading;
  for (std::size_t begun = 0, next = 0; next < files.size();) {
    for (; begun < files.size() && reading.size() < ahead; begun += kFilesAhead) {
      const auto some = files.subspan(begun, std::min(kFilesAhead, files.size() - begun));
      try {
        reading.push_back(std::async(std::launch::async, records_in, some));
      } catch (const std::system_error&) {  // no thread can be started: the file is read when it is
                                            // needed
        reading.push_back(std::async(std::launch::deferred, records_in, some));
      }
    }
    auto records = reading.front().get();
    reading.pop_front();
    for (auto& record : records)
      if (auto done = take(files[next++], std::move(record)); !done) return done.error();
  }
  if (auto done = flush(); !done) return done.error();
  added_.there = files_ - added_.bad - added_.sessions;
  return added_;
}

Result<void> Adder::take(const std::string& file, Result<SessionRecord> record) {
  ++files_;
  if (!record) {
    ++added_.bad;
    report_bad_(record.error().of(cited(file)));
    return {};
  }
  points_ += record->results.size();
  batch_.push_back(*std::move(record));
  return batch_.size() >= kMostOfBatch || points_ >= kMostPoints ? flush() : Result<void>();
}

Result<void> Adder::flush() {
  if (batch_.empty()) return {};
  const auto added = store_.add(batch_);
  if (!added)
    return Error{fmt::format("{}; {} of {} were added before that", added.error().line(),
                             added_.sessions, plural(files_, "file")),
                 "add them again"};
  added_.sessions += *added;
  batch_.clear();
  points_ = 0;
  return {};
}

}  // namespace lauka::history
