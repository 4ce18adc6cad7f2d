#include "history/database.h"

#include "core/numbers.h"
#include "core/text.h"
#include "os/clock.h"
#include "os/files.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#define BOOST_DLL_USE_STD_FS  // std::filesystem; Boost's is another library
#include <boost/dll/shared_library.hpp>

#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

// The tables store repeated texts as ids; lauka_name has each of these texts once. An id is a hash
// of its text (text_id), so that writers need not query it. A row of lauka_point has all metrics of
// a command in a session, because a row for each metric would mean several times as many rows.

namespace lauka::history {

namespace {

// A parameter without effect. SOCI interprets white space, quotes and the first '=' of an address,
// so the address's query begins and ends with this parameter.
constexpr std::string_view kParameterWithoutEffect = "fallback_application_name=lauka-history";

// Characters that SOCI interprets in an address, so they are percent-encoded there.
constexpr std::string_view kCharsOfSoci = " \t\n\v\f\r'\"";
constexpr std::string_view kCharsOfSociAndEquals = " \t\n\v\f\r'\"=";

/// Returns nullopt if a '%' is not followed by two hexadecimal digits, or stands for a zero byte,
/// which would end the text for libpq.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    const auto code = digits.size() == 2 ? parse_hex(digits) : std::nullopt;
    if (!code || *code == 0) return std::nullopt;
    plain += static_cast<char>(*code);
    i += 2;
  }
  return plain;
}

bool is_well_encoded(std::string_view text) {
  return percent_decoded(text).has_value();
}

/// Encodes each of `chars_to_encode` in `text`.
std::string percent_encoded(std::string_view text, std::string_view chars_to_encode) {
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = chars_to_encode.find(c) == std::string_view::npos;
    if (is_plain)
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

/// Returns the host in "host:port", "[IPv6 address]:port" or a host alone; nullopt if the text is
/// none of these. An IPv6 address keeps its brackets.
std::optional<std::string_view> parse_host(std::string_view host_and_port) {
  std::size_t host_end = std::min(host_and_port.find(':'), host_and_port.size());

  // An IPv6 address has colons itself, so it is in brackets.
  if (host_and_port.starts_with('[')) {
    const std::size_t closing_bracket = host_and_port.find(']');
    const bool is_address_empty = closing_bracket == 1;
    if (closing_bracket == std::string_view::npos || is_address_empty) return std::nullopt;
    host_end = closing_bracket + 1;
  }

  const std::string_view host = host_and_port.substr(0, host_end);
  const std::string_view colon_and_port = host_and_port.substr(host_end);
  if (colon_and_port.empty()) return host;

  // Other text behind a closing bracket is wrong.
  if (colon_and_port.front() != ':') return std::nullopt;

  // A colon without a port is allowed, and means PostgreSQL's usual port.
  constexpr std::int64_t max_port = 65'535;
  const std::string_view port = colon_and_port.substr(1);
  if (!port.empty() && !parse_whole_number(port, 1, max_port)) return std::nullopt;
  return host;
}

/// Returns the hosts in an address, which may list several servers, without their ports; nullopt if
/// one is malformed.
std::optional<std::string> parse_hosts(std::string_view text) {
  std::string hosts;
  for (const std::string_view host_and_port : split(text, ',')) {
    const auto host = parse_host(host_and_port);
    if (!host || !is_well_encoded(*host)) return std::nullopt;
    hosts += (hosts.empty() ? "" : ",") + std::string(*host);
  }
  return hosts;
}

/// Adds a password, as it was typed and as a server's message would show it. Returns false if it is
/// malformed.
bool add_secret(Address& address, std::string_view password) {
  const auto plain = percent_decoded(password);
  if (!plain) return false;
  address.secrets.insert(address.secrets.end(), {std::string(password), *plain});
  return true;
}

/// Adds the parameters of "key=value&key=value". Returns false if one is malformed.
bool add_parameters(Address& address, std::string_view query) {
  for (const std::string_view parameter : split(query, '&')) {
    if (parameter.empty()) continue;
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos) return false;

    const auto key = percent_decoded(parameter.substr(0, equals));
    const std::string_view value = parameter.substr(equals + 1);
    const bool has_second_equals = value.find('=') != std::string_view::npos;
    if (!key || !is_well_encoded(value) || has_second_equals) return false;

    // libpq has several such parameters: password, sslpassword.
    const bool is_secret = key->find("password") != std::string::npos;
    if (is_secret && !add_secret(address, value)) return false;
    address.url += percent_encoded(parameter, kCharsOfSoci) + "&";
  }
  return true;
}

/// Adds the query of an address to the URL. Returns false if a parameter is malformed.
bool add_query(Address& address, std::string_view query) {
  // SOCI interprets the beginning and the end of a query. A parameter that changes nothing stands
  // there, so that the parameters of the user are safe between the two.
  address.url += "?" + std::string(kParameterWithoutEffect) + "&";
  if (!add_parameters(address, query)) return false;
  address.url += kParameterWithoutEffect;
  return true;
}

/// Adds the password of "user:password" to the secrets, if there is one. Returns false if the user
/// or the password is malformed.
bool add_secret_of_user(Address& address, std::string_view user_and_password) {
  const std::size_t colon = user_and_password.find(':');
  if (!is_well_encoded(user_and_password.substr(0, colon))) return false;
  const bool has_password = colon != std::string_view::npos;
  return !has_password || add_secret(address, user_and_password.substr(colon + 1));
}

/// Adds the hosts, without their ports, and the database of "host:port/database" to the name that
/// messages show. Returns false if the text is malformed.
bool add_to_name(Address& address, std::string_view host_and_database) {
  // Refuses a password that contains '@' or '/', because a part of the password would be taken for
  // the host or the database.
  if (host_and_database.find('@') != std::string_view::npos) return false;

  const std::size_t host_end = std::min(host_and_database.find('/'), host_and_database.size());
  const auto hosts = parse_hosts(host_and_database.substr(0, host_end));
  const std::string_view slash_and_database = host_and_database.substr(host_end);
  if (!hosts || !is_well_encoded(slash_and_database)) return false;
  address.name += *hosts + std::string(slash_and_database);
  return true;
}

/// Adds what follows "postgresql://" to `address`: everything to the URL that SOCI gets, the hosts
/// and the database to the name that messages show, and the passwords to the secrets that messages
/// must not show. Returns false if the text is malformed.
bool add_parts(Address& address, std::string_view text) {
  // The text is "user:password@host/database?query", and each part may be missing.
  const std::size_t user_end = text.find_first_of("@/");
  const bool has_user = user_end != std::string_view::npos && text[user_end] == '@';
  if (has_user && !add_secret_of_user(address, text.substr(0, user_end))) return false;

  const std::size_t host_begin = has_user ? user_end + 1 : 0;
  const std::size_t query_mark = std::min(text.find('?', host_begin), text.size());
  if (!add_to_name(address, text.substr(host_begin, query_mark - host_begin))) return false;

  // SOCI interprets some characters, so the URL has them percent-encoded.
  address.url += percent_encoded(text.substr(0, query_mark), kCharsOfSociAndEquals);
  const bool has_query = query_mark < text.size();
  return add_query(address, has_query ? text.substr(query_mark + 1) : "");
}

std::string scheme_of(const std::string& where) {
  return lower_case(where.substr(0, where.find(':')));
}

bool is_postgresql(const std::string& scheme) {
  return scheme == "postgresql" || scheme == "postgres";
}

// Lets SQLite wait while another process writes, for so many milliseconds.
constexpr std::string_view kSetBusyTimeout = "PRAGMA busy_timeout=60000";
constexpr int kMaxTriesToSetLogMode = 100;

/// SOCI's line above the reason that the server gave. It says no more than our own words.
constexpr std::string_view kLineWithoutReason = "Cannot establish connection to the database.";

/// The number of PostgreSQL's advisory lock for migrations: "lauka" in ASCII, so that other
/// programs hardly use it.
constexpr std::int64_t kSchemaLock = 0x6c61756b61;

/// Returns a message of SOCI without the name of a function before it, such as
/// "sqlite3_statement_backend::prepare: ".
std::string_view without_function_name(std::string_view message) {
  constexpr std::string_view separator = ": ";
  const std::size_t end = message.find(separator);
  if (end == std::string_view::npos) return message;
  const bool is_function = message.substr(0, end).find("::") != std::string_view::npos;
  return is_function ? message.substr(end + separator.size()) : message;
}

Error make_database_error(const std::exception& error, std::string_view what = "query failed") {
  // what() of SOCI's errors adds the context, such as the statement, which is not the user's.
  std::string text = error.what();
  const auto* soci_error = dynamic_cast<const soci::soci_error*>(&error);
  if (soci_error != nullptr) text = soci_error->get_error_message();

  std::string reason;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view words = without_function_name(trimmed(line));
    if (words.empty() || words == kLineWithoutReason) continue;
    reason += (reason.empty() ? "" : " ") + std::string(words);
  }

  const bool is_readonly = reason.find("readonly database") != std::string::npos;
  return Error{fmt::format("{}: {}", what, one_line(reason)),
               is_readonly ? "make its file and folder writable" : ""};
}

/// Returns what SOCI's SQLite backend takes for the database in the file `path`. `parameters`: of
/// an SQLite URI, such as "mode=ro".
Result<std::string> make_sqlite_address(const std::string& path, std::string_view parameters) {
  if (path.empty()) return Error{"has no name", "write --db FILE"};

  // ":memory:" is special, and a path may not begin with two slashes in a URI.
  const std::string uri_path = path.front() == '/' ? path : "./" + path;

  // These characters end the path in a URI, or are interpreted by SOCI.
  constexpr std::string_view chars_to_encode = "%?#=\" \t\n\r";
  return fmt::format("db=\"file:{}?{}\"", percent_encoded(uri_path, chars_to_encode), parameters);
}

// A migration of a published version stays as it is, because databases have had it already.

constexpr auto kFirstMigration = std::to_array<std::string_view>({
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

constexpr auto kSecondMigration = std::to_array<std::string_view>({
    "CREATE TABLE lauka_acknowledged (variant BIGINT NOT NULL, metric BIGINT NOT NULL, "
    "began BIGINT NOT NULL, note BIGINT NOT NULL, PRIMARY KEY (variant, metric, began))",
});

constexpr auto kThirdMigration = std::to_array<std::string_view>({
    "ALTER TABLE lauka_point ADD COLUMN name BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE lauka_point ADD COLUMN anchor BIGINT NOT NULL DEFAULT 0",
});

constexpr auto kFourthMigration = std::to_array<std::string_view>({
    "ALTER TABLE lauka_session ADD COLUMN added BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE lauka_point ADD COLUMN added BIGINT NOT NULL DEFAULT 0",
    "CREATE INDEX lauka_session_by_added ON lauka_session (added)",
    "UPDATE lauka_session SET began = began * 1000, ended = ended * 1000",
    "UPDATE lauka_point SET began = began * 1000",
    "UPDATE lauka_acknowledged SET began = began * 1000",
});

// Since version 5, the names of metrics may say how the metrics were measured, which an older
// lauka-history cannot read.
constexpr std::array<std::string_view, 0> kFifthMigration{};

constexpr auto kMigrations = std::to_array<std::span<const std::string_view>>(
    {kFirstMigration, kSecondMigration, kThirdMigration, kFourthMigration, kFifthMigration});

/// The oldest version whose tables queries can read.
constexpr std::size_t kOldestReadable = 4;

/// Returns 0 for a history whose table has no version yet.
Result<std::size_t> read_version(Database& database) {
  const auto rows = database.ask("SELECT version FROM lauka_history", 1);
  if (!rows) return rows.error();
  if (rows->empty()) return std::size_t{0};
  const auto version = parse_whole_number(rows->front().front(), 0, 1'000'000'000);
  if (!version) return Error{"has a version that is not a number", "use another database"};
  return static_cast<std::size_t>(*version);
}

Result<void> check_version(std::size_t version) {
  if (version <= kMigrations.size()) return {};
  return Error{fmt::format("has version {}, but this lauka-history knows only versions up to {}",
                           version, kMigrations.size()),
               "use the lauka-history that wrote it"};
}

/// Carries out the migrations that a database of this version has not had.
Result<void> migrate_from(std::size_t version, Database& database) {
  // The version is the number of migrations that the database has had.
  for (std::size_t migration = version; migration < kMigrations.size(); ++migration)
    for (const std::string_view statement : kMigrations[migration])
      if (auto done = database.run(std::string(statement)); !done) return done;

  // The version of a new database is 0, and has no row yet.
  const bool is_new = version == 0;
  const std::string newest = std::to_string(kMigrations.size());
  return database.run(is_new ? "INSERT INTO lauka_history VALUES (" + newest + ")"
                             : "UPDATE lauka_history SET version = " + newest);
}

/// Brings the tables of a database to the newest version; makes them if there are none. The caller
/// must have begun a transaction.
Result<void> migrate(Database& database) {
  if (auto locked = database.lock_schema(); !locked) return locked;
  if (auto made =
          database.run("CREATE TABLE IF NOT EXISTS lauka_history (version INTEGER NOT NULL)");
      !made)
    return made;

  // The caller has read the version without a lock, and another process may have migrated since.
  const auto version = read_version(database);
  if (!version) return version.error();
  if (auto known = check_version(*version); !known) return known;
  if (*version == kMigrations.size()) return {};
  return migrate_from(*version, database);
}

/// True for the address of a server, also one that lauka-history does not support, such as
/// "mysql://..."; false for the path of a file.
bool is_server_address(const std::string& where) {
  if (where.find(':') == std::string::npos) return false;
  return is_postgresql(scheme_of(where)) || where.find("://") != std::string::npos;
}

}  // namespace

Result<Address> parse_address(const std::string& where) {
  const std::string scheme = scheme_of(where);
  if (!is_postgresql(scheme))
    return Error{"has an address that lauka-history does not support",
                 "write postgresql://user@host/database, or FILE"};
  constexpr std::string_view separator = "://";
  Address address{.name = scheme + "://", .url = scheme + "://"};
  const std::string_view rest = std::string_view(where).substr(scheme.size());
  if (!rest.starts_with(separator) || !add_parts(address, rest.substr(separator.size())))
    return Error{
        "has an address that cannot be read",
        "write postgresql://user@host/database, and put the password into PGPASSWORD or ~/.pgpass; "
        "if the address must contain the password, write its % @ / ? as %25 %40 %2F %3F"};
  return address;
}

std::string name_of_database(const std::string& where) {
  if (!is_server_address(where)) return where;
  const auto address = parse_address(where);
  return address ? address->name : where.substr(0, where.find_first_of(":/@")) + "://...";
}

std::string without_secrets(std::string text, const Address& address) {
  constexpr std::string_view replacement = "...";
  for (const std::string& secret : address.secrets) {
    if (secret.empty()) continue;

    // Searches on behind the replacement, in which a secret of dots would be found again.
    for (std::size_t at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + replacement.size()))
      text.replace(at, secret.size(), replacement);
  }
  return text;
}

struct Database::Connection {
  std::string name{};
  bool is_server = false;
  boost::dll::shared_library backend{};  // must outlive the session
  soci::session session{};

  Result<void> open_server(const Address& address);
  Result<void> open_file(const std::string& path, Access access);

 private:
  Result<void> open_file_to_read(const std::string& path);
  /// Opens a file that nobody is writing, without the right to write to its folder.
  Result<void> open_file_without_log(const std::string& path);
  Result<void> open_file_with(const std::string& path, std::string_view uri_parameters);
};

namespace {

/// Loads SOCI's backend for PostgreSQL at run time, because it needs libpq and its many libraries.
Result<void> load_postgresql_backend(boost::dll::shared_library& backend) {
  std::error_code ignored;
  backend.load(LAUKA_SOCI_POSTGRESQL, ignored, boost::dll::load_mode::search_system_folders);
  if (backend.is_loaded()) return {};
  return Error{"needs SOCI's PostgreSQL backend, " LAUKA_SOCI_POSTGRESQL ", which cannot be loaded",
               "install it, on Debian with apt install 'libsoci-postgresql4*'"};
}

/// Makes libpq ignore the server's warnings, which it would print on standard error.
void ignore_notices(const boost::dll::shared_library& backend, soci::session& session) {
  auto* session_backend = static_cast<soci::postgresql_session_backend*>(session.get_backend());
  auto& set_notice_processor = backend.get<decltype(PQsetNoticeProcessor)>("PQsetNoticeProcessor");
  const auto ignore_notice = [](void* /*unused*/, const char* /*text*/) {};
  set_notice_processor(session_backend->conn_, ignore_notice, nullptr);
}

/// Lets others read while lauka-history writes, with a write-ahead log. A database that SQLite does
/// not switch to such a log can be used, too. Throws an exception of SOCI if SQLite fails.
void use_write_ahead_log(soci::session& session) {
  // While another process switches the mode, SQLite fails at once, in spite of its timeout, so
  // lauka-history tries again.
  constexpr std::chrono::milliseconds time_between_tries{20};
  std::string log_mode;
  for (int tries = 0; log_mode != "wal" && tries < kMaxTriesToSetLogMode; ++tries) {
    if (tries > 0) os::sleep_for(time_between_tries);
    try {
      session.once << "PRAGMA journal_mode=WAL", soci::into(log_mode);
    } catch (const soci::sqlite3_soci_error& error) {
      const bool was_last_try = tries + 1 == kMaxTriesToSetLogMode;
      if (error.result() != SQLITE_BUSY || was_last_try) throw;
    }
  }
}

/// True if SQLite may have failed to read because it needs to write to the file's folder.
bool may_need_to_write(const soci::sqlite3_soci_error& error) {
  constexpr int primary_bits = 0xff;  // SQLite's other bits give details
  const int primary_result = error.result() & primary_bits;
  return primary_result == SQLITE_CANTOPEN || primary_result == SQLITE_READONLY;
}

}  // namespace

// Connects to a PostgreSQL server. SOCI, the library that talks to databases, has a backend for
// each kind of database.
Result<void> Database::Connection::open_server(const Address& address) {
  if (auto loaded = load_postgresql_backend(backend); !loaded) return loaded;

  is_server = true;
  try {
    auto& get_factory = backend.get<const soci::backend_factory*()>("factory_postgresql");
    session.open(*get_factory(), address.url);
    ignore_notices(backend, session);

    // Nobody reads messages below warnings, so the server need not send them.
    session.once << "SET client_min_messages TO warning";
  } catch (const std::exception& error) {
    // The message may repeat the address, which may include a password.
    Error why = make_database_error(error, "cannot be reached");
    why.what = without_secrets(why.what, address);
    return why;
  }

  return {};
}

Result<void> Database::Connection::open_file_with(const std::string& path,
                                                  std::string_view uri_parameters) {
  const auto address = make_sqlite_address(path, uri_parameters);
  if (!address) return address.error();
  session.close();
  session.open(*soci::factory_sqlite3(), *address);
  session.once << std::string(kSetBusyTimeout);
  return {};
}

// Throws an exception of SOCI if SQLite fails.
Result<void> Database::Connection::open_file(const std::string& path, Access access) {
  if (access == Access::Read) return open_file_to_read(path);

  const bool may_create = access == Access::CreateMissing;
  const std::string_view mode_parameter = may_create ? "mode=rwc" : "mode=rw";
  if (auto opened = open_file_with(path, mode_parameter); !opened) return opened;

  // The file keeps its log mode, so only the command that may create the file sets it.
  if (!may_create) return {};
  use_write_ahead_log(session);

  // A transaction that lauka-history has reported as done must survive a power failure.
  session.once << "PRAGMA synchronous=FULL";
  return {};
}

// Throws an exception of SOCI if SQLite fails.
Result<void> Database::Connection::open_file_to_read(const std::string& path) {
  if (auto opened = open_file_with(path, "mode=ro"); !opened) return opened;

  // Opening reads nothing, so a query must show whether the file can be read.
  int unused_table_count = 0;
  try {
    session.once << "SELECT count(*) FROM sqlite_master", soci::into(unused_table_count);
  } catch (const soci::sqlite3_soci_error& error) {
    if (!may_need_to_write(error)) throw;
    return open_file_without_log(path);
  }
  return {};
}

// Readers of a database with a write-ahead log share a file next to it, which needs the right to
// write to the folder. Without a log, nobody is writing, and the file alone can be read.
Result<void> Database::Connection::open_file_without_log(const std::string& path) {
  const bool has_log = os::is_there(path + "-wal");
  if (has_log)
    return Error{"is being written, and only users who may write to its folder can read it now",
                 "wait until nobody writes to it, or copy the database file and the file beside "
                 "it that ends in -wal"};

  // With `immutable`, SQLite trusts that nobody writes, and needs no shared file.
  return open_file_with(path, "mode=ro&immutable=1");
}

const std::string& Database::name() const {
  return connection_->name;
}

namespace {

/// Returns an error if the file cannot be an SQLite database, or is missing and must not be
/// created.
Result<void> check_file(const std::string& path, Access access) {
  const bool is_there = os::is_there(path);
  if (!is_there && access != Access::CreateMissing)
    return Error{"does not exist", "run lauka-history add FILE... to make it"};

  // SQLite would create journal files next to a device.
  if (is_there && !os::is_regular_file(path))
    return Error{"is not a regular file", "name another one with --db"};
  return {};
}

}  // namespace

// `where`: the address of a PostgreSQL server, or the path of an SQLite file.
Result<Database> Database::open(const std::string& where, Access access) {
  auto connection = std::make_shared<Connection>();
  connection->name = name_of_database(where);

  if (is_server_address(where)) {
    const auto address = parse_address(where);
    if (!address) return address.error();
    if (auto opened = connection->open_server(*address); !opened) return opened.error();
    return Database(std::move(connection));
  }

  if (auto checked = check_file(where, access); !checked) return checked.error();

  // Lets names of files be URIs, because open_file() writes the mode of access into a URI. SQLite
  // accepts this setting only before its first use, and later calls need not repeat it.
  constexpr int on = 1;
  sqlite_api::sqlite3_config(SQLITE_CONFIG_URI, on);

  try {
    if (auto opened = connection->open_file(where, access); !opened) return opened.error();
  } catch (const std::exception& error) {
    return make_database_error(error, "cannot be opened");
  }

  return Database(std::move(connection));
}

Result<void> Database::run(const std::string& statement, std::span<const std::string> texts) {
  return for_each_row(statement, 0, texts, [](const Row& /*row*/) {});
}

namespace {

/// The row of a query into which SOCI writes. Each fetch overwrites it.
struct FetchedRow {
  Row texts;
  std::vector<soci::indicator> indicators;

  explicit FetchedRow(std::size_t columns) : texts(columns), indicators(columns, soci::i_ok) {}
};

/// Prepares a statement, whose parameters are `texts` and whose columns are written to `row`. In
/// SOCI, "to exchange" is to bind: use() an input of the statement, into() a column.
void prepare(soci::statement& prepared, const std::string& statement,
             std::span<const std::string> texts, FetchedRow& row) {
  prepared.alloc();
  for (const std::string& text : texts) prepared.exchange(soci::use(text));
  for (std::size_t i = 0; i < row.texts.size(); ++i)
    prepared.exchange(soci::into(row.texts[i], row.indicators[i]));

  prepared.prepare(statement);
  prepared.define_and_bind();
}

/// Passes the rows of an executed query to `visit`.
void fetch_rows(soci::statement& executed, FetchedRow& row,
                const std::function<void(const Row&)>& visit) {
  while (executed.fetch()) {
    // For a NULL, SOCI sets only the indicator, and leaves the text of the previous row.
    for (std::size_t i = 0; i < row.texts.size(); ++i)
      if (row.indicators[i] == soci::i_null) row.texts[i].clear();
    visit(row.texts);
  }
}

}  // namespace

Result<void> Database::for_each_row(const std::string& statement, std::size_t columns,
                                    std::span<const std::string> texts,
                                    const std::function<void(const Row&)>& visit) {
  try {
    soci::statement prepared(connection_->session);
    FetchedRow row(columns);
    prepare(prepared, statement, texts, row);

    // A query passes its rows on in fetch(). A statement without columns, such as INSERT, has
    // nothing to fetch, so execute() must carry it out.
    const bool has_columns = columns > 0;
    const bool exchanges_data = !has_columns;
    prepared.execute(exchanges_data);
    if (has_columns) fetch_rows(prepared, row, visit);
  } catch (const std::exception& error) {
    return make_database_error(error);
  }
  return {};
}

Result<std::vector<Row>> Database::ask(const std::string& statement, std::size_t columns,
                                       std::span<const std::string> texts) {
  std::vector<Row> rows;
  auto asked =
      for_each_row(statement, columns, texts, [&](const Row& row) { rows.push_back(row); });
  if (!asked) return asked.error();
  return rows;
}

Result<void> Database::in_transaction(const std::function<Result<void>()>& work) {
  // BEGIN IMMEDIATE, because SQLite otherwise refuses to write in a transaction that has read, if
  // another transaction has written since.
  if (auto begun = run(connection_->is_server ? "BEGIN" : "BEGIN IMMEDIATE"); !begun) return begun;
  auto done = work();
  if (done) done = run("COMMIT");
  // Ignores an error here, because the database rolls back by itself if the connection is lost.
  if (!done) static_cast<void>(run("ROLLBACK").has_value());
  return done;
}

Result<void> Database::lock_schema() {
  if (!connection_->is_server) return {};  // SQLite has a single writer at a time
  return for_each_row(fmt::format("SELECT pg_advisory_xact_lock({})", kSchemaLock), 1, {},
                      [](const Row& /*row*/) {});
}

Result<bool> Database::has_history() {
  const auto rows =
      ask(connection_->is_server
              ? "SELECT count(*) FROM pg_class WHERE oid = to_regclass('lauka_history')"
              : "SELECT count(*) FROM sqlite_master WHERE name = 'lauka_history'",
          1);
  if (!rows) return rows.error();
  return rows->front().front() != "0";
}

std::span<const std::span<const std::string_view>> migrations() {
  return kMigrations;
}

namespace {

/// Returns why a database has no version: it has no history yet, or reading the version failed.
Error explain_missing_version(Database& database, const Error& reading_error) {
  const auto has_history = database.has_history();
  const bool is_history_missing = has_history && !*has_history;
  if (is_history_missing)
    return {"has no history", "run lauka-history add FILE... to add sessions"};
  return reading_error;
}

/// Opens a database, and migrates its tables to the newest version. A reader gets somewhat older
/// tables as they are. The error is a predicate.
Result<Database> open_usable(const std::string& where, Access access) {
  auto database = Database::open(where, access);
  if (!database) return database;

  // The version says which tables and columns the database has.
  const auto version = read_version(*database);
  const bool is_up_to_date = version && *version == kMigrations.size();
  if (is_up_to_date) return database;

  // Without a version, there is no history yet, or reading failed. CreateMissing makes a history by
  // the migrations below.
  if (!version && access != Access::CreateMissing)
    return explain_missing_version(*database, version.error());

  // Refuses the tables of a newer lauka-history.
  if (version) {
    if (auto known = check_version(*version); !known) return known.error();
  }

  // The oldest tables must be migrated for a reader, too, which needs the right to write.
  if (access == Access::Read) {
    const bool is_readable = version && *version >= kOldestReadable;
    if (is_readable) return database;

    database = Database::open(where, Access::Change);
    if (!database) return database;
  }

  if (auto migrated = database->in_transaction([&] { return migrate(*database); }); !migrated)
    return migrated.error();
  return database;
}

}  // namespace

Result<Database> open_history(const std::string& where, Access access) {
  auto database = open_usable(where, access);
  if (!database) return database.error().prefixed("the database " + cited(name_of_database(where)));
  return database;
}

}  // namespace lauka::history
