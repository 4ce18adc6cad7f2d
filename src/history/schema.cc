#include "history/schema.h"

#include "core/foreign_text.h"
#include "core/numbers.h"
#include "history/address.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

// Everything that occurs again and again (names of benchmarks, commits, values of labels) is a
// number here, and its text stands once in lauka_name. The numbers are made of the texts (a hash),
// not handed out: so a writer need not ask, and two of them that add the same do not wait for each
// other's answer. 0 is the empty text.
//
// A point is one command of one session with all of its metrics: a row for each metric would be
// five times as many rows, and neither database takes a hundred thousand of those a second.

namespace lauka::history {

namespace {

constexpr auto kFirst = std::to_array<std::string_view>({
    "CREATE TABLE lauka_name (id BIGINT PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE lauka_machine (id BIGINT PRIMARY KEY, class TEXT NOT NULL, parts BIGINT NOT "
    "NULL)",
    "CREATE TABLE lauka_session (id BIGINT PRIMARY KEY, uuid TEXT NOT NULL, began BIGINT NOT NULL, "
    "ended BIGINT NOT NULL, machine BIGINT NOT NULL, host BIGINT NOT NULL, "
    "commit_name BIGINT NOT NULL, branch BIGINT NOT NULL, version BIGINT NOT NULL, "
    "complete INTEGER NOT NULL, results INTEGER NOT NULL)",
    "CREATE INDEX lauka_session_by_commit ON lauka_session (commit_name, began)",
    "CREATE INDEX lauka_session_by_began ON lauka_session (began)",
    "CREATE TABLE lauka_label (session BIGINT NOT NULL, name BIGINT NOT NULL, "
    "value BIGINT NOT NULL, PRIMARY KEY (session, name))",
    "CREATE TABLE lauka_variant (id BIGINT PRIMARY KEY, benchmark BIGINT NOT NULL, "
    "role BIGINT NOT NULL, command BIGINT NOT NULL, machine BIGINT NOT NULL)",
    "CREATE INDEX lauka_variant_by_benchmark ON lauka_variant (benchmark)",
    "CREATE TABLE lauka_point (variant BIGINT NOT NULL, began BIGINT NOT NULL, "
    "session BIGINT NOT NULL, commit_name BIGINT NOT NULL, branch BIGINT NOT NULL, "
    "layout BIGINT NOT NULL, numbers TEXT NOT NULL, PRIMARY KEY (variant, began, session))",
    "CREATE INDEX lauka_point_by_session ON lauka_point (session, variant)",
});

constexpr auto kSecond = std::to_array<std::string_view>({
    "CREATE TABLE lauka_acknowledged (variant BIGINT NOT NULL, metric BIGINT NOT NULL, "
    "began BIGINT NOT NULL, note BIGINT NOT NULL, PRIMARY KEY (variant, metric, began))",
});

// Names, of commands that an anchor stood beside.
constexpr auto kThird = std::to_array<std::string_view>({
    "ALTER TABLE lauka_point ADD COLUMN name BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE lauka_point ADD COLUMN anchor BIGINT NOT NULL DEFAULT 0",
});

// Begins in milliseconds, no longer in seconds, and the order of adding, for those that begin in
// one.
constexpr auto kFourth = std::to_array<std::string_view>({
    "ALTER TABLE lauka_session ADD COLUMN added BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE lauka_point ADD COLUMN added BIGINT NOT NULL DEFAULT 0",
    "CREATE INDEX lauka_session_by_added ON lauka_session (added)",
    "UPDATE lauka_session SET began = began * 1000, ended = ended * 1000",
    "UPDATE lauka_point SET began = began * 1000",
    "UPDATE lauka_acknowledged SET began = began * 1000",
});

constexpr auto kMigrations = std::to_array<Migration>({{kFirst}, {kSecond}, {kThird}, {kFourth}});

/// Of the tables there; 0: they are not made yet.
Result<std::size_t> version_of(Database& database) {
  const auto rows = database.ask("SELECT version FROM lauka_history", 1);
  if (!rows) return rows.error();
  if (rows->empty()) return std::size_t{0};
  const auto version = parse_whole_number(rows->front().front(), 0, 1'000'000'000);
  if (!version) return Error{"has a version that is no number", "take another database"};
  return static_cast<std::size_t>(*version);
}

Result<void> check_version(std::size_t version) {
  if (version <= kMigrations.size()) return {};
  return Error{fmt::format("is of version {}, and this lauka-history knows up to {}", version,
                           kMigrations.size()),
               "take the lauka-history that wrote it"};
}

/// In a transaction that others wait for.
Result<void> bring_up(Database& database) {
  if (auto made =
          database.run("CREATE TABLE IF NOT EXISTS lauka_history (version INTEGER NOT NULL)");
      !made)
    return made;
  const auto version = version_of(database);
  if (!version) return version.error();
  if (auto known = check_version(*version); !known) return known;
  if (*version == kMigrations.size()) return {};
  for (std::size_t next = *version; next < kMigrations.size(); ++next)
    for (const std::string_view statement : kMigrations[next].statements)
      if (auto done = database.run(std::string(statement)); !done) return done;
  const std::string newest = std::to_string(kMigrations.size());
  return database.run(*version == 0 ? "INSERT INTO lauka_history VALUES (" + newest + ")"
                                    : "UPDATE lauka_history SET version = " + newest);
}

Result<void> migrate(Database& database) {
  return database.at_once([&]() -> Result<void> {
    if (auto held = database.hold_schema(); !held) return held;
    return bring_up(database);
  });
}

}  // namespace

std::span<const Migration> migrations() {
  return kMigrations;
}

Result<Database> open_history(const std::string& where, Access access) {
  const auto named = [&](const Error& error, const std::string& name) {
    return error.of("the database " + cited(name));
  };
  auto database = Database::open(where, access);
  if (!database) return named(database.error(), name_of_database(where));
  const auto version = version_of(*database);
  if (version && *version == kMigrations.size()) return database;
  if (access == Access::Write) {
    if (auto done = migrate(*database); !done) return named(done.error(), database->name());
    return database;
  }
  if (!version && version.error().what.find("lauka_history") == std::string::npos)
    return named(version.error(), database->name());
  if (!version)
    return named({"holds no history", "lauka-history add FILE... makes one"}, database->name());
  if (auto known = check_version(*version); !known) return named(known.error(), database->name());
  // Older by now: what reads it expects the newest tables.
  if (auto done = migrate(*database); !done) return named(done.error(), database->name());
  return database;
}

}  // namespace lauka::history
