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

/// The address of a database on a PostgreSQL server.
struct Address {
  std::string name{};                  ///< name for messages: scheme, host and database, no secrets
  std::string url{};                   ///< address for libpq, in a form that SOCI does not change
  std::vector<std::string> secrets{};  ///< no message may repeat these
};

/// Reads postgresql://user:password@host:port/database?key=value. Refuses what libpq would refuse
/// with a message that repeats it: this error, a predicate of the database, cites nothing of it.
Result<Address> parse_address(const std::string& where);

/// Returns the name of a database at `where` for messages.
std::string name_of_database(const std::string& where);

/// Returns `text` without the secrets of `address`.
std::string without_secrets(std::string text, const Address& address);

/// Read: a missing database is an error. Write: it is created.
enum class Access : unsigned char { Read, Write };

/// A row's columns as text; NULL is empty.
using Row = std::vector<std::string>;

/// A connection to SQLite or PostgreSQL, through SOCI; every statement works in both. Errors are
/// predicates of the database ("cannot be written: ...").
class Database {
 public:
  /// Opens `where`: postgresql://..., or the path of SQLite's file.
  static Result<Database> open(const std::string& where, Access access);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  /// Executes one statement; `texts` are bound to :t0, :t1 and so on.
  Result<void> run(const std::string& statement, std::span<const std::string> texts = {});
  /// Executes a query and passes each row, `columns` texts (NULL: empty), to `visit`.
  Result<void> each(const std::string& statement, std::size_t columns,
                    std::span<const std::string> texts,
                    const std::function<void(const Row&)>& visit);
  /// Executes a query and returns all rows.
  Result<std::vector<Row>> ask(const std::string& statement, std::size_t columns,
                               std::span<const std::string> texts = {});

  /// Runs `work` in a transaction: committed if this returns without an error, else rolled back.
  /// Writers that conflict wait for each other.
  Result<void> in_transaction(const std::function<Result<void>()>& work);

  /// Inside a transaction: keeps others from changing the tables' definitions until it ends.
  Result<void> lock_schema();

  /// Returns true if it has a history's tables.
  Result<bool> has_history();

  /// Returns its name for messages: without a password.
  const std::string& name() const;

 private:
  struct Connection;
  explicit Database(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

/// Lists the statements of each migration, from the first version on.
std::span<const std::span<const std::string_view>> migrations();

/// Opens the history in a database and brings its tables to the newest version. Refuses one of a
/// newer lauka-history, and to read one without a history. An error names the database.
Result<Database> open_history(const std::string& where, Access access);

}  // namespace lauka::history
