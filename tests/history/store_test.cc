#include "history/store.h"

#include "history/answer_text.h"
#include "history/database.h"
#include "history/session_record.h"
#include "history/sessions.h"
#include "history/trend.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace lauka::history {
namespace {

SessionRecord record(const MadeSession& session) {
  return read_record(json_of(session)).value();
}

Database open_database(const std::string& where) {
  auto database = open_history(where, Access::CreateMissing);
  REQUIRE_MESSAGE(database.has_value(), database.error().line());
  return *std::move(database);
}

/// Calls `what` with a new database of each kind.
void run_in_each_database(const std::function<void(Database&, Store&, Loader&)>& what) {
  const Scratch scratch;
  for (const std::string& where : databases(scratch)) {
    CAPTURE(where);
    Database database = open_database(where);
    Store store(database);
    Loader loader(database);
    what(database, store, loader);
  }
}

std::string ask_for_first_value(Database& database, const std::string& statement) {
  const auto rows = database.ask(statement, 1);
  REQUIRE_MESSAGE(rows.has_value(), rows.error().line());
  return rows->empty() ? "" : rows->front().front();
}

/// Writes these sessions as lauka-history kept them when its tables were of version 3: times in
/// seconds, no order of adding, no medians.
void write_version_3(const std::string& where, const std::vector<SessionRecord>& sessions) {
  auto database = Database::open(where, Access::CreateMissing).value();
  const auto run = [&](const std::string& statement, const std::vector<std::string>& texts = {}) {
    const auto done = database.run(statement, texts);
    REQUIRE_MESSAGE(done.has_value(), done.error().line());
  };
  const auto name = [&](const std::string& text) {
    if (!text.empty())
      run(fmt::format("INSERT INTO lauka_name VALUES ({},:t0) ON CONFLICT DO NOTHING",
                      text_id(text)),
          {text});
    return text_id(text);
  };
  run("CREATE TABLE lauka_history (version INTEGER NOT NULL)");
  run("INSERT INTO lauka_history VALUES (3)");
  for (const auto& migration : migrations().first(3))
    for (const std::string_view statement : migration) run(std::string(statement));
  for (const SessionRecord& one : sessions) {
    const std::string machine_class = class_of(one.machine);
    const auto seconds = [](UtcTime time) {
      return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
    };
    run(fmt::format("INSERT INTO lauka_machine VALUES ({},:t0,{}) ON CONFLICT DO NOTHING",
                    text_id(machine_class), name(encode_machine(one.machine))),
        {machine_class});
    run(fmt::format("INSERT INTO lauka_session VALUES ({},:t0,{},{},{},{},{},{},{},1,{})",
                    text_id(one.id), seconds(one.began), seconds(one.ended), text_id(machine_class),
                    name(one.machine.name), name(one.label("commit")), name(one.label("branch")),
                    name(one.version), one.results.size()),
        {one.id});
    for (const CommandRecord& result : one.results) {
      const std::int64_t variant = text_id(variant_key(result, machine_class));
      run(fmt::format("INSERT INTO lauka_variant VALUES ({},{},{},{},{}) ON CONFLICT DO NOTHING",
                      variant, name(result.benchmark), name(result.role),
                      name(result.shown_command_name), text_id(machine_class)));
      run(fmt::format(
          "INSERT INTO lauka_point VALUES ({},{},{},{},{},{},'{} 0.01 12 - - - -',{},0)", variant,
          seconds(one.began), text_id(one.id), text_id(one.label("commit")), text_id("main"),
          name(encode_metric_names(result.metrics)), result.metrics[0].mean,
          name(result.anchored_name)));
    }
  }
}

}  // namespace

TEST_CASE("a session is added once, whole, and comes back as it was") {
  const Scratch scratch;
  for (const std::string& where : databases(scratch)) {
    CAPTURE(where);
    Database database = open_database(where);
    Store store(database);
    const std::vector<SessionRecord> sessions = {
        record({1, "abc", "CPU", {{"old", times_of(1.0)}, {"new", times_of(1.1)}}}),
        record({2, "def", "CPU", {{"old", times_of(2.0)}}}),
        record({2, "def", "CPU", {{"old", times_of(2.0)}}})};
    CHECK(store.add(sessions).value() == 2);
    CHECK(store.add(sessions).value() == 0);
    Database other = open_database(where);
    CHECK(Store(other).add(sessions).value() == 0);
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_session") == "2");
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_point") == "3");
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_label") == "6");

    Loader loader(database);
    const auto variants = loader.load_variants({.benchmark = "new"}).value();
    REQUIRE(variants.size() == 1);
    const auto series = loader.load_series(variants.front(), {}).value();
    REQUIRE(series.size() == 1);
    REQUIRE(series.front().points.size() == 1);
    const SessionPoint& point = series.front().points.front();
    const MetricRecord& before = sessions[0].results[1].metrics[0];
    CHECK(point.commit == "abc");
    CHECK(point.branch == "main");
    CHECK(point.began == sessions[0].began.time_since_epoch().count());
    CHECK(point.values.mean == before.mean);
    CHECK(point.values.ratio_to_reference->value == before.ratio_to_reference->value);
    CHECK(point.values.ratio_to_reference->error == before.ratio_to_reference->error);
    CHECK(variants.front().machine.cpu_model == "CPU");
    const auto lines = loader.load_latest_sessions(10, "").value();
    REQUIRE(lines.size() == 2);
    CHECK(lines.front().commit == "def");
    CHECK(lines.back().uuid == sessions[0].id);
  }
}

TEST_CASE("another session with the identity of one that is there adds nothing to it") {
  run_in_each_database([&](Database& database, Store& store, Loader& /*loader*/) {
    const std::vector one = {record({1, "abc", "CPU", {{"it", {1.0}}}})};
    const std::vector other = {record({1, "abc", "CPU", {{"it", {5.0}}, {"more", {5.0}}}})};
    CHECK(store.add(one).value() == 1);
    CHECK(store.add(other).value() == 0);
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_point") == "1");
    CHECK(ask_for_first_value(database, "SELECT numbers FROM lauka_point").substr(0, 2) == "1 ");
  });
}

TEST_CASE("names may hold anything, in both databases") {
  const std::string hostile = "'); DROP TABLE lauka_point; -- :t0 \"$1\" ?1 \\ %s \t\n é";
  run_in_each_database([&](Database& database, Store& store, Loader& loader) {
    const std::vector sessions = {record({1, hostile, hostile, {{hostile, {1.0}}}})};
    CHECK(store.add(sessions).value() == 1);
    const auto variants = loader.load_variants({.benchmark = hostile}).value();
    CHECK(variants.front().benchmark == hostile);
    const auto series = loader.load_series(variants.front(), {}).value();
    CHECK(series.front().points.front().commit == hostile);
    CHECK(forget(database, {.commit = hostile}).value() == 1);
  });
}

TEST_CASE("classes of machines are never pooled") {
  run_in_each_database([&](Database& /*database*/, Store& store, Loader& loader) {
    const std::vector sessions = {record({1, "abc", "CPU", {{"it", {1.0}}}}),
                                  record({2, "abc", "other CPU", {{"it", {9.0}}}})};
    CHECK(store.add(sessions).value() == 2);
    const auto both = loader.load_variants({.benchmark = "it"}).value();
    REQUIRE(both.size() == 2);
    for (const MeasuredCommand& variant : both)
      CHECK(loader.load_series(variant, {}).value().front().points.size() == 1);
    const std::string chosen = both.back().machine_class.substr(0, 8);
    CHECK(
        loader.load_variants({.benchmark = "it", .machine_class_prefix = chosen}).value().size() ==
        1);
  });
}

TEST_CASE("a candidate's series is shown where a suite has one, and other roles are asked for") {
  const Scratch scratch;
  Database database = open_database(databases(scratch).front());
  const std::vector sessions = {record(
      {1, "abc", "CPU", {{"./old", {1.0}, "a", "reference"}, {"./new", {2.0}, "a", "candidate"}}})};
  REQUIRE(Store(database).add(sessions));
  Loader loader(database);
  const auto usual = loader.load_variants({.benchmark = "a"}).value();
  REQUIRE(usual.size() == 1);
  CHECK(usual.front().role == "candidate");
  CHECK(loader.load_variants({.benchmark = "a", .role = "reference"}).value().size() == 1);
  CHECK(loader.load_variants({.benchmark = "a", .role = "all"}).value().size() == 2);
  CHECK(loader.load_variants({.benchmark = "b"}).error().line().find("no benchmark 'b'") == 0);
}

TEST_CASE("sessions are forgotten by their name, their commit or their time, with all they had") {
  run_in_each_database([&](Database& database, Store& store, Loader& /*loader*/) {
    std::vector<SessionRecord> sessions;
    for (int i = 0; i < 6; ++i)
      sessions.push_back(
          record({i, fmt::format("{:040x}", i % 3 + 0xabc000), "CPU", {{"it", {1.0}}}}));
    REQUIRE(store.add(sessions).value() == 6);
    CHECK(forget(database, {.session = sessions[0].id}).value() == 1);
    CHECK(forget(database, {.session = "00000000"})
              .error()
              .line()
              .find("has 5 sessions whose names begin like this") == 0);
    CHECK(
        forget(database, {.commit = "ffff"}).error().line().find("has no session of the commit") ==
        0);
    CHECK(forget(database, {.commit = fmt::format("{:040x}", 0xabc001)}).value() == 2);
    CHECK(forget(database, {.before_date = "2026-01-01T00:25:00Z"}).value() == 1);  // number 2
    CHECK(forget(database, {.before_date = "yesterday"})
              .error()
              .line()
              .find("'yesterday' is not a date") == 0);
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_session") == "2");
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_point") == "2");
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_label") == "6");
    // Forgotten sessions can be added again.
    CHECK(store.add(sessions).value() == 4);
  });
}

TEST_CASE("a database of an older version is brought to the newest, a newer one is refused") {
  const Scratch scratch;
  for (const std::string& where : databases(scratch)) {
    CAPTURE(where);
    {
      auto database = Database::open(where, Access::CreateMissing).value();
      REQUIRE(database.run("CREATE TABLE lauka_history (version INTEGER NOT NULL)"));
      REQUIRE(database.run("INSERT INTO lauka_history VALUES (1)"));
      for (const std::string_view statement : migrations().front())
        REQUIRE(database.run(std::string(statement)));
    }
    Database database = open_database(where);
    CHECK(ask_for_first_value(database, "SELECT version FROM lauka_history") ==
          std::to_string(migrations().size()));
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_acknowledged") == "0");
    REQUIRE(database.run("UPDATE lauka_history SET version = 99"));
    for (const Access access : {Access::Read, Access::CreateMissing}) {
      const auto refused = open_history(where, access);
      REQUIRE_FALSE(refused);
      CHECK(has(refused.error().line(),
                "has version 99, but this lauka-history knows only versions up to"));
    }
  }
}

TEST_CASE("a history of version 3, whose times were seconds, is all there, and goes on") {
  const Scratch scratch;
  std::vector<SessionRecord> sessions;
  for (int i = 0; i < 21; ++i) {
    const double level = (i < 10 ? 1.0 : 1.1) * (1.0 + 0.001 * (i * 7 % 5));
    sessions.push_back(
        record({i, fmt::format("c{}", i), "CPU", {{"it", std::vector<double>(12, level)}}}));
  }
  const SessionRecord newest = sessions.back();
  sessions.pop_back();
  const std::int64_t variant = text_id(variant_key(newest.results[0], class_of(newest.machine)));
  const std::int64_t step_began = 1'767'225'600 + 600 * 10;
  for (const std::string& where : databases(scratch)) {
    CAPTURE(where);
    write_version_3(where, sessions);
    {
      auto old = Database::open(where, Access::CreateMissing);
      REQUIRE(old->run(
          fmt::format("INSERT INTO lauka_name VALUES ({},'wall_time')", text_id("wall_time"))));
      REQUIRE(old->run(
          fmt::format("INSERT INTO lauka_name VALUES ({},'new parser')", text_id("new parser"))));
      REQUIRE(old->run(fmt::format("INSERT INTO lauka_acknowledged VALUES ({},{},{},{})", variant,
                                   text_id("wall_time"), step_began, text_id("new parser"))));
    }
    // To read it is enough.
    auto database = open_history(where, Access::Read);
    REQUIRE_MESSAGE(database.has_value(), database.error().line());
    CHECK(ask_for_first_value(*database, "SELECT version FROM lauka_history") == "5");
    CHECK(ask_for_first_value(*database, "SELECT MIN(ended - began) FROM lauka_session") ==
          "300000");

    Loader loader(*database);
    const auto lines = loader.load_latest_sessions(100, "").value();
    REQUIRE(lines.size() == 20);
    CHECK(lines.front().began == sessions.back().began.time_since_epoch().count());
    CHECK(lines.back().began == 1'767'225'600'000);
    CHECK(has(sessions_text(lines, {}), "2026-01-01 03:10"));
    CHECK(has(sessions_text(lines, {}), "machine"));
    CHECK_FALSE(has(sessions_text(lines, {.width = 50}), "machine"));
    const auto variants = loader.load_variants({}).value();
    REQUIRE(variants.size() == 1);
    CHECK(variants.front().id == variant);
    auto series = loader.load_series(variants.front(), {}).value();
    REQUIRE(series.front().points.size() == 20);
    for (std::size_t i = 0; i < 20; ++i) {
      const SessionPoint& point = series.front().points[i];
      CHECK(point.began == sessions[i].began.time_since_epoch().count());
      CHECK(point.commit == fmt::format("c{}", i));
      CHECK(point.values.mean == sessions[i].results[0].metrics[0].mean);
    }
    const std::string shown = series_text(
        {series.front(), make_trend(series.front(), ComparedWith::AnchorIfPresent)}, {});
    CHECK(has(shown, "2026-01-01 01:40"));
    const auto stepped =
        find_steps_and_notes(loader, series.front(), ComparedWith::AnchorIfPresent).value();
    REQUIRE(stepped.steps.size() == 1);
    CHECK(stepped.steps[0].state == StepState::Acknowledged);
    CHECK(stepped.steps[0].note == "new parser");
    // Its name in version 3.
    CHECK(
        stepped.steps[0].id ==
        fmt::format("{:08x}", text_id(fmt::format("{} {} wall_time", variant, step_began)) >> 31));

    Store store(*database);
    CHECK(store.add(sessions).value() == 0);
    SessionRecord late = newest;
    late.began = sessions.back().began + std::chrono::milliseconds(123);
    REQUIRE(store.add(std::vector{late}).value() == 1);
    series = loader.load_series(variants.front(), {}).value();
    REQUIRE(series.front().points.size() == 21);
    CHECK(series.front().points.back().commit == "c20");
    CHECK(forget(*database, {.before_date = "2026-01-01T03:10:00.123Z"}).value() == 20);
  }
}

TEST_CASE("what fails in the middle leaves nothing of its batch") {
  run_in_each_database([&](Database& database, Store& store, Loader& /*loader*/) {
    REQUIRE(store.add(std::vector{record({1, "abc", "CPU", {{"it", {1.0}}}})}));
    REQUIRE(database.run("ALTER TABLE lauka_point RENAME TO hidden"));
    CHECK_FALSE(store.add(std::vector{record({2, "new", "CPU", {{"it", {1.0}}}})}));
    REQUIRE(database.run("ALTER TABLE hidden RENAME TO lauka_point"));
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_session") == "1");
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_name WHERE text = 'new'") ==
          "0");
    CHECK(store.add(std::vector{record({2, "new", "CPU", {{"it", {1.0}}}})}).value() == 1);
    CHECK(ask_for_first_value(database, "SELECT count(*) FROM lauka_name WHERE text = 'new'") ==
          "1");
  });
}

TEST_CASE("a server that goes away in the middle leaves nothing of its batch, and a clear line") {
  const Scratch scratch;
  for (const std::string& where : databases(scratch)) {
    if (where.find("postgresql:") != 0) continue;
    Database watcher = open_database(where);
    {
      Database database = open_database(where);
      Store store(database);
      REQUIRE(store.add(std::vector{record({1, "abc", "CPU", {{"it", {1.0}}}})}));
      // The connection ends while a statement of the batch waits for a table.
      const std::string pid = ask_for_first_value(database, "SELECT pg_backend_pid()");
      REQUIRE(watcher.run(fmt::format(
          "CREATE FUNCTION go_away() RETURNS trigger AS $$ BEGIN PERFORM pg_terminate_backend({}); "
          "RETURN NEW; END $$ LANGUAGE plpgsql",
          pid)));
      REQUIRE(
          watcher.run("CREATE TRIGGER away BEFORE INSERT ON lauka_point FOR EACH ROW EXECUTE "
                      "FUNCTION go_away()"));
      const auto gone = store.add(std::vector{record({2, "new", "CPU", {{"it", {1.0}}}})});
      REQUIRE_FALSE(gone);
      CHECK(gone.error().line().find("query failed: ") == 0);
      CHECK(gone.error().line().find('\n') == std::string::npos);
      CHECK_FALSE(store.add(std::vector{record({3, "more", "CPU", {{"it", {1.0}}}})}));
    }
    REQUIRE(watcher.run("DROP TRIGGER away ON lauka_point"));
    CHECK(ask_for_first_value(watcher, "SELECT count(*) FROM lauka_session") == "1");
    CHECK(ask_for_first_value(watcher, "SELECT count(*) FROM lauka_name WHERE text = 'new'") ==
          "0");
    Store again(watcher);
    CHECK(again.add(std::vector{record({2, "new", "CPU", {{"it", {1.0}}}})}).value() == 1);
    CHECK(ask_for_first_value(watcher, "SELECT count(*) FROM lauka_point") == "2");
  }
}

TEST_CASE("a benchmark of a session with five metrics takes less than 2 kB") {
  const Scratch scratch;
  for (const std::string& where : databases(scratch)) {
    CAPTURE(where);
    Database database = open_database(where);
    Store store(database);
    std::vector<SessionRecord> sessions;
    constexpr int count = 40;
    constexpr int benchmarks = 50;
    for (int i = 0; i < count; ++i) {
      SessionRecord session = record({i, fmt::format("{:040x}", i), "CPU", {{"it", {1.0}}}});
      session.results.clear();
      for (int b = 0; b < benchmarks; ++b) {
        CommandRecord result{.benchmark = fmt::format("benchmark {}", b)};
        for (const char* const name :
             {"wall_time", "cpu_time", "peak_rss", "cycles", "instructions"}) {
          const double value = 1.0 / (3 + i + b);
          result.metrics.push_back({name, Unit::Count, Better::Less, value, value / 7, 10,
                                    LogRatio{value / 3, value / 9},
                                    LogRatio{value / 3, value / 9}});
        }
        session.results.push_back(std::move(result));
      }
      sessions.push_back(std::move(session));
    }
    REQUIRE(store.add(sessions).value() == count);
    const bool is_server = where.find("postgresql:") == 0;
    const double bytes = std::stod(ask_for_first_value(
        database, is_server ? "SELECT pg_database_size(current_database())"
                            : "SELECT page_count * 4096 FROM pragma_page_count()"));
    const double empty = is_server ? 8e6 : 0.0;  // the size of a new database
    CHECK((bytes - empty) / (count * benchmarks) < 2000);
  }
}

TEST_CASE("sessions that begin at the same time keep the order in which they were added") {
  run_in_each_database([&](Database& /*database*/, Store& store, Loader& loader) {
    for (int i = 0; i < 8; ++i) {
      auto made =
          read_record(json_of({i, fmt::format("c{}", i), "CPU", {{"it", times_of(1.0)}}})).value();
      made.began = std::chrono::sys_seconds(std::chrono::seconds(1'767'225'600));
      REQUIRE(store.add(std::vector{std::move(made)}));
    }
    const auto variants = loader.load_variants({}).value();
    const auto series = loader.load_series(variants.front(), {}).value();
    std::string order;
    for (const SessionPoint& point : series.front().points) order += point.commit;
    CHECK(order == "c0c1c2c3c4c5c6c7");
    std::string table;
    const auto otava =
        table_writer("otava", [&](std::string_view text) { table += std::string(text); });
    otava.add(series.front());
    otava.end();
    std::size_t at = 0;
    for (int i = 0; i < 8; ++i) {
      CAPTURE(table);
      const std::size_t next = table.find(fmt::format("2026-01-01T00:00:00.000Z,c{},", i));
      CHECK(next != std::string::npos);
      CHECK(next > at);
      at = next;
    }
  });
}

TEST_CASE("sessions of one second are reported in the order in which they began") {
  const Scratch scratch;
  Database database = open_database(scratch.file("history.db"));
  Store store(database);
  for (int i = 7; i >= 0; --i) {
    auto made = record({i, fmt::format("c{}", i), "CPU", {{"it", times_of(1.0)}}});
    made.began = UtcTime(std::chrono::milliseconds(1'767'225'600'000 + 100 * i));
    REQUIRE(store.add(std::vector{std::move(made)}));
  }
  Loader loader(database);
  const auto series = loader.load_series(loader.load_variants({}).value().front(), {}).value();
  std::string order;
  for (const SessionPoint& point : series.front().points) order += point.commit;
  CHECK(order == "c0c1c2c3c4c5c6c7");
}

TEST_CASE("an address is called by scheme, host and database") {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"postgresql://host/db", "postgresql://host/db"},
      {"postgres://user@host:5432/db", "postgres://host/db"},
      {"POSTGRES://user:a:b?c=d@host/db", "postgres://host/db"},
      {"postgresql://user:pw@[::1]:5432,b:1/db?sslmode=require", "postgresql://[::1],b/db"},
      {"postgresql://%2Frun%2Fpg/db", "postgresql://%2Frun%2Fpg/db"},
      {"postgresql:///db?host=/run&password=p@q", "postgresql:///db"},
      {"postgresql://", "postgresql://"},
      {"postgresql://u:p@a@host/db", "postgresql://..."},
      {"postgresql://u:p/a@host/db", "postgresql://..."},
      {"postgresql://u:99999", "postgresql://..."},
      {"postgresql://u:p%0@host/db", "postgresql://..."},
      {"postgresql:/u:p@host/db", "postgresql://..."},
      {"mysql://u:p@host/db", "mysql://..."},
      {"u@p://x", "u://..."},
      {"a:b.db", "a:b.db"},
      {"/tmp/history.db", "/tmp/history.db"}};
  for (const auto& one : names) {
    CAPTURE(one.first);
    CHECK(name_of_database(one.first) == one.second);
  }
}

TEST_CASE("SOCI is given an address that it leaves as it is, with all that it has") {
  const auto url = [](const std::string& where) { return parse_address(where).value().url; };
  const std::string nothing = "fallback_application_name=lauka-history";
  // libpq takes the last of two parameters of one name, whose value is not the user's own.
  CHECK(url("postgresql://user@host/db") == "postgresql://user@host/db?" + nothing + "&" + nothing);
  CHECK(url("Postgres://u:a=b c'\"@h/d?host=/my run&x=%20&") ==
        "postgres://u:a%3Db%20c%27%22@h/d?" + nothing + "&host=/my%20run&x=%20&" + nothing);
}

TEST_CASE("what a message repeats of an address's password is taken out, coded or not") {
  const auto address = parse_address("postgresql://u:a%40b@h/d?sslpassword=q").value();
  CHECK(without_secrets("u a%40b a@b a@ba@b q", address) == "u ... ... ...... ...");
}

}  // namespace lauka::history
