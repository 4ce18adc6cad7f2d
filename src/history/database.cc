#include "history/database.h"

#include "core/foreign_text.h"
#include "core/text.h"
#include "history/address.h"
#include "os/clock.h"
#include "os/files.h"

#include <chrono>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#define BOOST_DLL_USE_STD_FS  // the other one is a library
#include <boost/dll/shared_library.hpp>

#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

// SOCI throws; what it throws ends in this file. All that differs between the two databases is
// here, too: how one is reached, how a transaction begins that will write, and what keeps writers
// apart.

namespace lauka::history {

namespace {

constexpr std::string_view kBusyTimeout = "PRAGMA busy_timeout=60000";  // ms
constexpr int kTriesForLog = 100;
constexpr std::string_view kNoConnection = "Cannot establish connection to the database.";  // SOCI
constexpr std::int64_t kSchemaLock = 0x6c61756b61;  // "lauka"

/// What the database says, in one line: a server's word comes with its own lines and hints.
Error failed(const std::exception& error, std::string_view what = "query failed") {
  std::string text = error.what();
  const auto* of_soci = dynamic_cast<const soci::soci_error*>(&error);
  if (of_soci != nullptr) text = of_soci->get_error_message();
  std::string line;
  for (const std::string_view part : split(text, '\n'))
    if (const auto words = trimmed(part); !words.empty() && words != kNoConnection)
      line += (line.empty() ? "" : " ") + std::string(words);
  const bool is_readonly = line.find("readonly database") != std::string::npos;
  return Error{fmt::format("{}: {}", what, one_line(line)),
               is_readonly ? "its file and folder have to be writable, for readers too" : ""};
}

/// SQLite's part of SOCI takes a path as it is unless there is a '=' in it.
Result<std::string> path_in_words(const std::string& path) {
  if (path.empty()) return Error{"has no name", "write --db FILE"};
  const bool is_plain = path.find('=') == std::string::npos;
  if (!is_plain && path.find('"') != std::string::npos)
    return Error{"has both = and \" in its name", "name another file"};
  const std::string whole = path.front() == '/' ? path : "./" + path;  // never ":memory:"
  return is_plain ? whole : "db=\"" + whole + "\"";
}

}  // namespace

struct Database::Connection {
  std::string name{};
  bool is_server = false;
  boost::dll::shared_library backend{};  // outlives the session
  soci::session session{};

  /// The error is a predicate, too, and has nothing secret.
  Result<void> open_server(const Address& address);
  void open_file(const std::string& words, Access access);
};

// Of PostgreSQL's part, SOCI's and libpq with its twenty libraries, only who has such an address
// needs any.
Result<void> Database::Connection::open_server(const Address& address) {
  std::error_code none;
  backend.load(LAUKA_SOCI_POSTGRESQL, none, boost::dll::load_mode::search_system_folders);
  if (!backend.is_loaded())
    return Error{"needs SOCI's part for PostgreSQL, " LAUKA_SOCI_POSTGRESQL
                 ", which cannot be loaded",
                 "install it (Debian: apt install 'libsoci-postgresql4*')"};
  is_server = true;
  try {
    session.open(*backend.get<const soci::backend_factory*()>("factory_postgresql")(), address.url);
    // What the server warns of would stand on standard error beside lauka-history's own line.
    // (SOCI keeps the type to itself, so there is nothing to ask for it.)
    auto* of_session = static_cast<soci::postgresql_session_backend*>(session.get_backend());
    backend.get<decltype(PQsetNoticeProcessor)>("PQsetNoticeProcessor")(
        of_session->conn_, [](void* /*unused*/, const char* /*text*/) {}, nullptr);
    session.once << "SET client_min_messages TO warning";
  } catch (const std::exception& error) {
    Error said = failed(error, "cannot be reached");
    said.what = without_secrets(said.what, address);
    return said;
  }
  return {};
}

void Database::Connection::open_file(const std::string& words, Access access) {
  session.open(*soci::factory_sqlite3(), words);
  session.once << std::string(kBusyTimeout);
  if (access == Access::Read) return;
  // Who switches first makes the others wait without asking the timeout.
  std::string mode;
  for (int tries = 0; mode != "wal" && tries < kTriesForLog; ++tries) {
    if (tries > 0) os::sleep_for(std::chrono::milliseconds(20));
    try {
      session.once << "PRAGMA journal_mode=WAL", soci::into(mode);
    } catch (const soci::sqlite3_soci_error& error) {
      if (error.result() != SQLITE_BUSY || tries + 1 == kTriesForLog) throw;
    }
  }
  session.once << "PRAGMA synchronous=FULL";
}

Database::Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Database::Database(Database&& other) noexcept = default;
Database& Database::operator=(Database&& other) noexcept = default;
Database::~Database() = default;

const std::string& Database::name() const {
  return connection_->name;
}

Result<Database> Database::open(const std::string& where, Access access) {
  auto connection = std::make_unique<Connection>();
  connection->name = name_of_database(where);
  if (is_address(where)) {
    const auto address = address_in(where);
    if (!address) return address.error();
    if (auto opened = connection->open_server(*address); !opened) return opened.error();
    return Database(std::move(connection));
  }
  if (access == Access::Read && !os::is_there(where))
    return Error{"is not there", "lauka-history add FILE... makes it"};
  // SQLite would make its journals beside a device.
  if (os::is_there(where) && !os::is_regular_file(where))
    return Error{"is no regular file", "name another one with --db"};
  const auto words = path_in_words(where);
  if (!words) return words.error();
  try {
    connection->open_file(*words, access);
  } catch (const std::exception& error) {
    return failed(error, "cannot be opened");
  }
  return Database(std::move(connection));
}

Result<void> Database::run(const std::string& statement, std::span<const std::string> texts) {
  return each(statement, 0, texts, [](const Row& /*row*/) {});
}

Result<void> Database::each(const std::string& statement, std::size_t columns,
                            std::span<const std::string> texts,
                            const std::function<void(const Row&)>& take) {
  try {
    soci::statement prepared(connection_->session);
    prepared.alloc();
    for (const std::string& text : texts) prepared.exchange(soci::use(text));
    Row row(columns);
    std::vector<soci::indicator> is_there(columns, soci::i_ok);
    for (std::size_t i = 0; i < columns; ++i) prepared.exchange(soci::into(row[i], is_there[i]));
    prepared.prepare(statement);
    prepared.define_and_bind();
    if (columns == 0) {
      prepared.execute(true);
      return {};
    }
    prepared.execute(false);
    while (prepared.fetch()) {
      for (std::size_t i = 0; i < columns; ++i)
        if (is_there[i] == soci::i_null) row[i].clear();
      take(row);
    }
  } catch (const std::exception& error) {
    return failed(error);
  }
  return {};
}

Result<std::vector<Row>> Database::ask(const std::string& statement, std::size_t columns,
                                       std::span<const std::string> texts) {
  std::vector<Row> rows;
  auto asked = each(statement, columns, texts, [&](const Row& row) { rows.push_back(row); });
  if (!asked) return asked.error();
  return rows;
}

Result<void> Database::at_once(const std::function<Result<void>()>& work) {
  // SQLite would else refuse a writer that has read before another wrote.
  if (auto begun = run(connection_->is_server ? "BEGIN" : "BEGIN IMMEDIATE"); !begun) return begun;
  auto done = work();
  if (done) done = run("COMMIT");
  // A connection that is gone takes its transaction with it.
  if (!done) static_cast<void>(run("ROLLBACK").has_value());
  return done;
}

Result<void> Database::hold_schema() {
  if (!connection_->is_server) return {};  // its writers are one at a time
  return each(fmt::format("SELECT pg_advisory_xact_lock({})", kSchemaLock), 1, {},
              [](const Row& /*row*/) {});
}

}  // namespace lauka::history
