#pragma once

#include "core/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::history {

struct Address {
  std::string name{};
  std::string url{};  ///< address for SOCI and libpq, which may include a password
  /// Each password, as typed and percent-decoded; must not appear in messages.
  std::vector<std::string> secrets{};
};

/// Reads postgresql://user:password@host:port/database?key=value. The error is a predicate without
/// any part of the address, because the address may include a password.
Result<Address> parse_address(const std::string& where);

/// Returns the name of the database at `where` for messages, without secrets.
std::string name_of_database(const std::string& where);

/// Returns `text` with "..." in place of the secrets of `address`.
std::string without_secrets(std::string text, const Address& address);

enum class Access : unsigned char {
  Read,           ///< needs no right to write
  Change,         ///< a missing SQLite file is an error
  CreateMissing,  ///< as Change, but a missing SQLite file is created
};

/// The values of a row as texts; NULL is an empty text.
using Row = std::vector<std::string>;

/// A connection to SQLite or PostgreSQL, through SOCI, which copies share. Errors are predicates
/// ("cannot be opened: ..."); the caller adds the subject.
class Database {
 public:
  /// Opens the database `where`: postgresql://..., or the path of an SQLite file.
  static Result<Database> open(const std::string& where, Access access);

  /// Executes a statement in which `texts` replace :t0, :t1 and so on.
  Result<void> run(const std::string& statement, std::span<const std::string> texts = {});
  /// Executes a query with `columns` columns and passes each row to `visit`.
  Result<void> for_each_row(const std::string& statement, std::size_t columns,
                            std::span<const std::string> texts,
                            const std::function<void(const Row&)>& visit);
  /// Executes a query with `columns` columns and returns all rows.
  Result<std::vector<Row>> ask(const std::string& statement, std::size_t columns,
                               std::span<const std::string> texts = {});

  /// Runs `work` in a transaction. Rolls back if `work` returns an error.
  Result<void> in_transaction(const std::function<Result<void>()>& work);

  /// Waits for other processes' migrations, and prevents new migrations until the transaction ends.
  /// Must be called in a transaction.
  Result<void> lock_schema();

  /// True if the database has a table lauka_history.
  Result<bool> has_history();

  const std::string& name() const;

 private:
  struct Connection;
  explicit Database(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  std::shared_ptr<Connection> connection_;
};

/// Returns the SQL statements of each migration, the oldest migration first.
std::span<const std::span<const std::string_view>> migrations();

/// Opens the history in a database, and migrates its tables to the newest version, for which also
/// Access::Read needs the right to write. Refuses a history of a newer lauka-history. Refuses a
/// database without a history, unless `access` is CreateMissing.
Result<Database> open_history(const std::string& where, Access access);

}  // namespace lauka::history
