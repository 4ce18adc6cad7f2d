#pragma once

#include "core/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::history {

/// The address of a PostgreSQL database.
struct Address {
  std::string name{};  ///< name for messages: scheme, host and database, without secrets
  std::string url{};   ///< address for libpq, in a form that SOCI does not change
  std::vector<std::string> secrets{};  ///< texts that no message may contain
};

/// Reads postgresql://user:password@host:port/database?key=value. Refuses what libpq would refuse
/// with a message that contains the address. The error is a predicate without parts of the address;
/// the caller adds the subject.
Result<Address> parse_address(const std::string& where);

/// Returns the name that messages use for the database at `where`.
std::string name_of_database(const std::string& where);

/// Returns `text` with the secrets of `address` replaced.
std::string without_secrets(std::string text, const Address& address);

/// Read: SQLite's file must exist. Write: it is created if missing. A PostgreSQL database must
/// always exist.
enum class Access : unsigned char { Read, Write };

/// The columns of a row as text; NULL is an empty text.
using Row = std::vector<std::string>;

/// A connection to SQLite or PostgreSQL, through SOCI. Every statement must work in both. Errors
/// are predicates ("cannot be written: ..."); the caller adds the subject.
class Database {
 public:
  /// Opens the database `where`: postgresql://..., or the path of an SQLite file.
  static Result<Database> open(const std::string& where, Access access);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  /// Executes a statement in which `texts` replace :t0, :t1 and so on.
  Result<void> run(const std::string& statement, std::span<const std::string> texts = {});
  /// Executes a query and passes each row, with `columns` texts, to `visit`.
  Result<void> each(const std::string& statement, std::size_t columns,
                    std::span<const std::string> texts,
                    const std::function<void(const Row&)>& visit);
  /// Executes a query and returns all rows, each with `columns` texts.
  Result<std::vector<Row>> ask(const std::string& statement, std::size_t columns,
                               std::span<const std::string> texts = {});

  /// Runs `work` in a transaction, which is committed if `work` succeeds and rolled back if it
  /// returns an error. Conflicting writers wait for each other.
  Result<void> in_transaction(const std::function<Result<void>()>& work);

  /// Prevents other connections from changing the tables' definitions until the transaction ends.
  Result<void> lock_schema();

  /// True if the database has the tables of a history.
  Result<bool> has_history();

  /// Returns the database's name for messages, without secrets.
  const std::string& name() const;

 private:
  struct Connection;
  explicit Database(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

/// Returns the SQL statements of each migration, from the first version on.
std::span<const std::span<const std::string_view>> migrations();

/// Opens the history in a database and upgrades its tables to the newest version. Refuses a history
/// of a newer lauka-history, and with Access::Read a database without a history. Errors name the
/// database.
Result<Database> open_history(const std::string& where, Access access);

}  // namespace lauka::history
